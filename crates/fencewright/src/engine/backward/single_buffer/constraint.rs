//! Constraints of the single-buffer semantics, and the order on them.
//!
//! A configuration has a local state for each process and one [`Channel`] of snapshots for all, the single buffer, in
//! which each process has a pointer. The newest message is always marked: its writer either points at it or has it as
//! own.
//!
//! A constraint stands for all configurations above it. `*` in a snapshot stands for any value; a process may be
//! *absent*, which stands for any local state and any marks of it.

use crate::engine::automaton::StateId;
use crate::engine::backward::channel::Channel;
use crate::engine::backward::processes::Processes;
use crate::program::ProcessId;
use crate::util::IndexVec;

/// Any local state, any marks.
pub(super) const ABSENT: StateId = StateId::MAX;

/// A constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constraint {
    /// Where each process is, or [`ABSENT`].
    pub states: IndexVec<ProcessId, StateId>,
    /// The single buffer.
    pub channel: Channel,
}

impl Constraint {
    /// The processes that are not absent.
    pub(super) fn present(&self) -> Processes {
        let present = self.states.iter_enumerated().filter(|(_, state)| **state != ABSENT);
        present.map(|(process, _)| process).collect()
    }

    /// Whether it stands for all that `other` stands for.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let states = self.states.iter().zip(other.states.iter());
        states.into_iter().all(|(&mine, &its)| mine == ABSENT || mine == its)
            && self.channel.is_below(&other.channel, self.present())
    }
}
