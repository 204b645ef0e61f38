//! What the engines that search forward, state by state, share: packed states, their successors, breadth-first search.
//!
//! ```text
//!   │ local state of P₀ │ local state of P₁ │ … │ what the component knows of memory │
//!   └────────────── one word each ──────────────┴─────────── a few words ────────────┘
//! ```
//!
//! Local states are interned by the [automaton](crate::engine::automaton). All else is a [`Component`], so that the
//! search is written once for store buffers as the semantics has them, for buffers of which less is kept (`coherence`),
//! and for any memory that is a [`Machine`](crate::memory::Machine). No engine lives here.
//!
//! | file | idea |
//! |---|---|
//! | [`component`] | what a state knows beside the local states, as a trait |
//! | [`buffered`] | store buffers, interned, before memory that is packed by the bit: a component |
//! | [`machine`] | the states of a machine, interned: a component for every memory model |
//! | [`interner`] | a word for each of many things |
//! | [`expand`] | the successors of a state; steps that may run ahead |
//! | [`symmetry`] | interchangeable processes |
//! | [`covering`] | states that stand for others |
//! | [`finals`] | final states, collected |
//! | [`states`], [`search`], [`sequential`], [`parallel`] | the search |

mod buffered;
mod component;
mod covering;
mod expand;
mod finals;
mod interner;
mod machine;
mod parallel;
mod search;
mod sequential;
mod states;
mod symmetry;

use crate::engine::automaton::FastMap;

pub(super) use buffered::{BufferId, Buffered, Discipline, Label, Leaving, Rules, Stored};
pub(super) use component::Component;
pub(super) use covering::Covering;
pub(super) use expand::{Badness, Expander, Shared, Sink};
pub(super) use finals::Finals;
pub(super) use interner::Interner;
pub(super) use machine::MachineStates;
pub(super) use parallel::run as run_on_threads;
pub(super) use search::{Budget, End, Outcome};
pub(super) use sequential::Sequential;
pub(super) use states::{StateSet, hash_of};
