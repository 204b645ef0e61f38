//! Engines: one search each, all answering the same question.
//!
//! An engine takes a [`Task`] and gives an [`Answer`]. `Safe` holds for unbounded buffers and loops; an `Unsafe`
//! carries a run that has been replayed on the reference semantics; everything else is `Unknown` and says why.

pub mod automaton;
pub mod backward;
pub mod coherence;
pub mod explicit;
pub mod numeric;
mod packed;
pub mod portfolio;
pub mod predicates;
mod run;
mod symbolic;
mod verdict;
pub mod zones;

use std::collections::BTreeSet;

use crate::memory::{Buffering, Dialect, Model};
use crate::program::{Placement, Program};
use crate::translate::Method;
use crate::watch::Monitor;

pub use coherence::{Abstraction, Values};
pub use numeric::Numbers;
pub use predicates::Keep;
pub use verdict::{Answer, Stats, StopReason, Unsupported, Verdict};

/// Every engine. The suite, the command line and the help iterate over this list, and nothing else knows them all.
pub const ALL: &[&dyn Engine] = &[
    &explicit::Explicit::DEFAULT,
    &backward::load_buffer::LoadBuffer,
    &backward::single_buffer::SingleBufferEngine,
    &backward::pws::Pws,
    &coherence::Coherence::DEFAULT,
    &zones::ZonesEngine,
    &predicates::Predicates,
    &numeric::Numeric,
];

/// The name of the engine that is used when nobody chooses.
pub const AUTO: &str = "auto";

/// The engine with this name; `auto` is the one that is used when nobody chooses.
pub fn named(name: &str) -> Option<&'static dyn Engine> {
    match name {
        AUTO => Some(&portfolio::Auto),
        _ => ALL.iter().copied().find(|engine| engine.name() == name),
    }
}

/// One way to decide whether a program is correct.
pub trait Engine: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// What it does, in one line.
    fn about(&self) -> &'static str;
    /// The parts of it that can be switched off without changing a verdict.
    fn reductions(&self) -> &'static [Reduction];
    /// Decides whether a bad situation can be reached.
    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported>;
}

/// A part of an engine that saves work and changes no verdict.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// Its name, for `--without`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
}

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Program,
    /// The fences laid over it.
    pub placement: &'a Placement,
    /// The memory model.
    pub model: Model,
    /// How to go about it.
    pub options: &'a Options,
}

impl Task<'_> {
    /// How stores wait under the model, for the engines that are about that.
    ///
    /// # Errors
    /// The model has no store buffers.
    pub fn buffering(&self) -> Result<Buffering, Unsupported> {
        self.model.buffering(self.options.dialect).ok_or_else(|| Unsupported {
            reason: format!("this engine is for models with store buffers, and {} has none", self.model),
            help: "use `--engine explicit`, which takes every model".to_owned(),
        })
    }
}

/// How to go about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Variants of the semantics.
    pub dialect: Dialect,
    /// How many threads may work at once; at least one.
    pub threads: usize,
    /// Names of reductions that are switched off.
    pub without: BTreeSet<String>,
    /// For engines that bound the store buffers: search up to this many buffered stores per process, whatever it costs.
    pub buffer_bound: Option<u32>,
    /// For engines that abstract from the store buffers: what they keep of their unordered part.
    pub abstraction: Abstraction,
    /// For the same: keep exactly this many stores in order, instead of as many as it takes.
    pub k: Option<u32>,
    /// For the one with predicates: which stores these are.
    pub keep: Keep,
    /// For the same: what they keep of unbounded integers.
    pub values: Values,
    /// For the engine that interprets the translated program: what it knows of numbers.
    pub domain: Numbers,
    /// For the same: how store buffers are written down.
    pub buffers: Method,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            threads: 1,
            without: BTreeSet::new(),
            buffer_bound: None,
            abstraction: Abstraction::default(),
            k: None,
            keep: Keep::default(),
            values: Values::default(),
            domain: Numbers::default(),
            buffers: Method::default(),
        }
    }
}

impl Options {
    /// Whether a reduction is on.
    pub fn is_on(&self, reduction: &str) -> bool {
        !self.without.contains(reduction)
    }
}
