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
//! A semantics is a [`WellStructured`] system, which is all that the theory asks; that it is [`Indexed`] is for speed,
//! and one that is [`Generalizing`] gives up completeness for an end. The [`Search`] and its [`antichain`] know nothing
//! else.
//!
//! | file | idea |
//! |---|---|
//! | [`search`], [`antichain`] | the search, and the constraints so far |
//! | [`load_buffer`], [`single_buffer`], [`pws`] | an engine each: semantics that are equivalent to the store buffers |
//! | [`multiset`] | an engine for any number of threads |
//! | [`potential`] | an engine for release/acquire: what threads can still read |
//! | [`lag`] | the semantics of `load_buffer` and `multiset` |
//! | [`facts`], [`bad`] | what holds of all runs; what is bad |
//! | [`channel`], [`snapshot`], [`timeline`], [`history`] | the channel of snapshots of `single_buffer` and `pws` |
//! | [`symmetry`], [`processes`], [`key`], [`words`] | interchangeable processes, sets of them, hashes, words |
//! | [`told`], [`resting`] | from a search to an answer; from local states to those of a search |

mod antichain;
mod bad;
mod channel;
mod facts;
mod history;
mod key;
mod lag;
pub mod load_buffer;
pub mod multiset;
pub mod potential;
mod processes;
pub mod pws;
mod resting;
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

pub use resting::Resting;
pub use search::{End, Search};
pub use words::{WordId, Words};

/// A well-structured transition system, with as much as the decision needs. All threads of a search share it.
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
}

/// How constraints are found again: which buckets may hold one that covers another, and which comes first.
pub trait Indexed: WellStructured {
    /// What is compared first: constraints of which neither outline is within the other do not entail each other. For a
    /// fixed number of processes, those that are left open.
    type Outline: Clone + PartialEq + fmt::Debug + Send + Sync;

    /// The outline of a constraint.
    fn outline(&self, constraint: &Self::Constraint) -> Self::Outline;
    /// Whether a constraint with the larger outline may cover one with the smaller.
    fn is_within(&self, smaller: &Self::Outline, larger: &Self::Outline) -> bool;
    /// The bucket of the constraints with this outline, which its own is within, that may cover the constraint.
    /// Constraints with the same outline and different buckets do not entail each other.
    fn bucket(&self, constraint: &Self::Constraint, outline: &Self::Outline) -> u64;
    /// Others that stand for the same as a constraint: one that covers one of them covers it.
    fn images(&self, _constraint: &Self::Constraint) -> Vec<Self::Constraint> {
        Vec::new()
    }
    /// All buckets of the constraints with this outline that may cover the constraint, where they have several.
    fn buckets(&self, constraint: &Self::Constraint, outline: &Self::Outline, out: &mut Vec<u64>) {
        out.push(self.bucket(constraint, outline));
    }
    /// A few bits by which most pairs are told not to entail each other: a constraint has those of all that cover it.
    fn signature(&self, _constraint: &Self::Constraint) -> u64 {
        0
    }
    /// Lighter constraints are looked at first.
    fn weight(&self, constraint: &Self::Constraint) -> u32;
    /// The bytes of one constraint, roughly.
    fn bytes(&self) -> u64;
    /// What a predecessor takes, for [`heed`](crate::watch::heed).
    fn work_of_predecessor(&self) -> u32 {
        4
    }
    /// The monitor is asked after so many constraints.
    fn poll_every(&self) -> u64 {
        256
    }
}

/// For searches that would not end otherwise.
pub trait Generalizing: Indexed {
    /// A constraint that covers this one and more, to be kept in its place: what is proved then is proved, but a way
    /// from an initial configuration may be none. `kept` is in the same bucket.
    fn generalized<'k>(
        &self,
        newcomer: &Self::Constraint,
        kept: &mut dyn Iterator<Item = &'k Self::Constraint>,
    ) -> Option<Self::Constraint>
    where
        Self: 'k;
}
