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
mod papers;
mod predicates;
mod programs;
mod pso_fences;
mod pso_reach;
mod robust_buffers;
mod single_buffer;

use fencewright::engine::{self, Engine, Options};
use fencewright::watch::Limits;

use crate::code::Code;
use crate::console::Console;
use crate::monitor::Watch;

pub use form::Form;
pub use grid::Grid;
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
    pub engines: Vec<&'static dyn Engine>,
    pub options: Options,
    /// For each row.
    pub limits: Limits,
    pub console: &'a Console,
}

/// A table, and what it is worth.
pub struct Made {
    pub grid: Grid,
    pub code: Code,
}

impl Table {
    /// The engines that are asked if nobody chooses, as far as they are there.
    pub fn engines(&self) -> Vec<&'static dyn Engine> {
        self.engines.iter().filter_map(|name| engine::named(name)).collect()
    }
}

impl Setting<'_> {
    /// Watches one row.
    fn watch(&self, table: &str, program: &str, engine: &dyn Engine) -> Watch<'_> {
        Watch::start(self.limits, format!("{table}: {program} with {}", engine.name()), self.console)
    }
}
