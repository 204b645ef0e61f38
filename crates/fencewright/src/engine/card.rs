//! The card of an engine: everything that others may want to know of it before they ask it.
//!
//! The command line makes its flags, its help and its "this engine has no `--k`" from the cards, synthesis reads there
//! how an engine finds fences. Nobody compares names.

use std::cmp::Ordering;

use super::{Options, Setting, Unsupported};

/// Everything that others may want to know of an engine before they ask it.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The parts of it that can be switched off without changing a verdict.
    pub reductions: &'static [Reduction],
    /// What it may be told.
    pub settings: &'static [&'static Setting],
    /// What is wrong with its settings beside each other, if something is.
    pub contradiction: fn(&Options) -> Option<Unsupported>,
    /// How it finds fences, if nobody says how.
    pub repairs: Repairs,
    /// What its `safe` rests on, which a certificate can be made of.
    pub rests_on: RestsOn,
    /// Whether it has others answer, and hands on what it is told.
    pub asks_others: bool,
}

impl Card {
    /// Whether it has a use for what a flag says.
    pub fn has(&self, flag: &str) -> bool {
        self.asks_others || self.settings.iter().any(|it| it.flag == flag)
    }
}

/// What the `safe` of an engine rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestsOn {
    /// All states.
    States,
    /// All states behind store buffers of which less is kept.
    Buffers,
    /// The least constraints from which something bad can be reached.
    Basis,
    /// The least multisets of threads from which something bad can be reached.
    Multisets,
    /// The least constraints of some threads at a time, against any behavior of the others.
    Projections,
    /// Relations between numbers.
    Grid,
    /// Something else, or what another engine says.
    Other,
}

/// How an engine finds fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repairs {
    /// By its bad runs, one after the other.
    ByRuns,
    /// First by what its abstraction says that fences avoid.
    ByAvoiding,
    /// By its runs, and where those give no set, from all fences down as long as a proof goes through.
    ByPruning,
}

/// A part of an engine that saves work and changes no verdict. Reductions of one name are switched off together.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// Its name, for `--without`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
}

impl PartialEq for Reduction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Reduction {}

impl PartialOrd for Reduction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reduction {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(other.name)
    }
}

impl Reduction {
    const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about }
    }
}

/// Reductions that more than one engine has.
impl Reduction {
    /// Of local states.
    pub const DEAD_REGISTERS: Self = Self::new("dead-registers", "registers that are never read again are reset");
    /// Of local states.
    pub const LOCAL_STEPS: Self = Self::new("local-steps", "steps on registers only run at once");
    /// Of local states.
    pub const BISIMILAR: Self = Self::new("bisimilar", "local states that behave alike are one");
    /// Of packed states.
    pub const RUN_AHEAD: Self =
        Self::new("run-ahead", "stores into the buffer, and the like, run ahead of other threads");
    /// Of packed states.
    pub const SYMMETRY: Self = Self::new("symmetry", "states that differ in which of like threads is which are one");
    /// Of constraints.
    pub const UPDATE_STEPS: Self = Self::new("update-steps", "pointers move only along with a write or after reads");
    /// Of constraints.
    pub const LAG_REGION: Self = Self::new("lag-region", "a thread's view lags only between a write and a read");
    /// Of constraints.
    pub const LAST_WRITES: Self = Self::new("last-writes", "own writes in a buffer are the last ones, in their order");
    /// Of constraints.
    pub const SINGLE_WRITER: Self =
        Self::new("single-writer", "memory that one thread writes holds what it wrote last");
    /// Of constraints.
    pub const SUFFIX_EQUALITY: Self =
        Self::new("suffix-equality", "after the last write to a location all snapshots agree on it");
    /// Of constraints.
    pub const ABSENT: Self = Self::new("absent", "threads that do not matter are left open");
}
