//! The backward search of well-structured transition systems, written once.
//!
//! Abdulla, Čerāns, Jonsson, Tsay, _General decidability theorems for infinite-state systems_, LICS 1996: if larger
//! configurations can do all that smaller ones can, the set of configurations that can reach a bad one is upward closed
//! and has a finite basis. The search computes that basis: from the bad constraints it adds minimal predecessors until
//! nothing new comes, or an initial configuration is among them.
//!
//! ```text
//!    bad ◀── pre ── c₁ ◀── pre ── c₂ …      kept: an antichain; a constraint below which another is kept adds nothing
//! ```
//!
//! A semantics is a [`WellStructured`] system; the [`Search`] and its [`antichain`] know nothing else.

mod antichain;
mod bad;
mod channel;
mod facts;
mod history;
mod key;
pub mod load_buffer;
mod processes;
pub mod pws;
mod search;
pub mod single_buffer;
mod snapshot;
mod symmetry;
mod timeline;
#[cfg(test)]
mod tiny;
mod told;
mod words;

use std::fmt;

pub use search::{End, Search};
pub use words::{WordId, Words};

/// What the search needs to know of a system. All threads of a search share it.
pub trait WellStructured: Sync {
    /// A finite description of an upward-closed set.
    type Constraint: Clone + fmt::Debug + Send + Sync;
    /// What leads from a predecessor to its successor.
    type Rule: Copy + fmt::Debug + Send + Sync;

    /// The bad configurations.
    fn bad(&self) -> Vec<Self::Constraint>;
    /// Appends the minimal predecessors, each with the rule that leads back.
    fn predecessors(&self, of: &Self::Constraint, out: &mut Vec<(Self::Rule, Self::Constraint)>);
    /// Whether every configuration of `smaller` is one of `larger`.
    fn entails(&self, smaller: &Self::Constraint, larger: &Self::Constraint) -> bool;
    /// Whether an initial configuration is in the set.
    fn is_initial(&self, constraint: &Self::Constraint) -> bool;
    /// The processes that a constraint leaves open, as a set of bits.
    fn open(&self, constraint: &Self::Constraint) -> u64;
    /// The key under which a constraint is that covers this one and leaves these processes open, if there is one.
    /// Constraints that leave the same processes open and have different keys do not entail each other.
    fn key(&self, constraint: &Self::Constraint, open: u64) -> u64;
    /// A few bits by which most pairs are told not to entail each other: a constraint has those of all that cover it.
    fn signature(&self, _constraint: &Self::Constraint) -> u64 {
        0
    }
    /// A constraint that covers this one and more, to be kept in its place, for searches that would not end otherwise:
    /// what they prove is proved, but a way from an initial configuration may be none. `kept` has the same key.
    fn generalized<'k>(
        &self,
        _newcomer: &Self::Constraint,
        _kept: &mut dyn Iterator<Item = &'k Self::Constraint>,
    ) -> Option<Self::Constraint>
    where
        Self: 'k,
    {
        None
    }
    /// Lighter constraints are looked at first.
    fn weight(&self, constraint: &Self::Constraint) -> u32;
    /// The bytes of one constraint, roughly.
    fn bytes(&self) -> u64;
    /// The monitor is asked after so many constraints.
    fn poll_every(&self) -> u64 {
        256
    }
}
