//! The papers' tables, made again with our programs and engines.
//!
//! ```text
//!   papers.toml ─▶ papers ─╮
//!   examples ─▶ programs ──┼─▶ single_buffer, pso_reach, … ─▶ Grid ─▶ form
//!   engines ─▶ ask ────────╯              judge ─▶ exit code
//! ```
//!
//! A table is one line in [`ALL`]. Each of its rows is one program with one engine (and one model), under one limit of
//! time; engines that do not take a model have no row there.

mod ask;
mod coherence_infer;
mod coherence_verify;
mod form;
mod grid;
mod judge;
mod making;
mod papers;
mod predicates;
mod programs;
mod pso_fences;
mod pso_reach;
mod robust_buffers;
mod single_buffer;

use fencewright::engine::{self, Engine, Options};
use fencewright::watch::Monitor;

pub use form::Form;
pub use grid::Grid;
pub use judge::Worth;
pub use papers::Papers;

/// A table that can be made.
#[derive(Clone, Copy)]
pub struct Table {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// The engines that are asked if nobody chooses.
    pub engines: &'static [&'static str],
    /// Makes it.
    pub make: fn(&Papers, &Setting<'_>) -> Made,
}

/// Every table.
pub const ALL: &[Table] = &[
    Table { name: single_buffer::NAME, about: "fence sets under TSO", engines: EXACT, make: single_buffer::make },
    Table { name: pso_reach::NAME, about: "verdicts under TSO and PSO", engines: EXACT, make: pso_reach::make },
    Table { name: pso_fences::NAME, about: "fence sets under TSO and PSO", engines: EXACT, make: pso_fences::make },
    Table {
        name: coherence_verify::NAME,
        about: "proofs by abstract store buffers",
        engines: COHERENCE,
        make: coherence_verify::make,
    },
    Table {
        name: coherence_infer::NAME,
        about: "fences from an avoid formula",
        engines: COHERENCE,
        make: coherence_infer::make,
    },
    Table {
        name: predicates::NAME,
        about: "fences of each process on unbounded integers",
        engines: predicates::ENGINES,
        make: predicates::make,
    },
    Table {
        name: robust_buffers::NAME,
        about: "proofs by abstract interpretation of buffers as variables",
        engines: NUMERIC,
        make: robust_buffers::make,
    },
];

/// For tables that compare abstractions.
const COHERENCE: &[&str] = &["coherence"];

/// For the table that compares translations.
const NUMERIC: &[&str] = &["numeric"];

/// Those that decide every program of the papers, if they are there.
const EXACT: &[&str] = &["load-buffer", "single-buffer", "pws"];

/// Who searches, and how.
pub struct Setting<'a> {
    /// Who.
    pub engines: Vec<&'static dyn Engine>,
    /// How.
    pub options: Options,
    /// Watches one row, of which this is the title.
    pub watch: &'a dyn Fn(String) -> Box<dyn Monitor + 'a>,
    /// Whether somebody has asked to stop.
    pub is_asked: &'a dyn Fn() -> bool,
}

/// A table, and what it is worth.
pub struct Made {
    /// The table.
    pub grid: Grid,
    /// What it is worth.
    pub worth: Worth,
}

impl Table {
    /// The engines that are asked if nobody chooses, as far as they are there.
    pub fn engines(&self) -> Vec<&'static dyn Engine> {
        self.engines.iter().filter_map(|name| engine::named(name)).collect()
    }
}

impl Setting<'_> {
    /// Watches one row.
    fn watch(&self, table: &str, program: &str, engine: &dyn Engine) -> Box<dyn Monitor + '_> {
        (self.watch)(format!("{table}: {program} with {}", engine.name()))
    }

    /// Whether there is to be no further answer.
    fn is_stopped(&self) -> bool {
        (self.is_asked)()
    }

    /// The engines, until somebody asks to stop.
    fn engines(&self) -> impl Iterator<Item = &'static dyn Engine> {
        self.engines.iter().copied().take_while(|_| !self.is_stopped())
    }
}
