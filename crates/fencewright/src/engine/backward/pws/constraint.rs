//! Constraints of partial write serialization, and the order on them.
//!
//! A configuration has a local state for each process, [`Stores`] that nobody else sees yet, and a [`Channel`] of
//! snapshots, to which stores go when they are serialized and in which each process has a pointer:
//!
//! ```text
//!    process p ──▶ store buffer of x ──┐
//!              ──▶ store buffer of y ──┴─▶ [x=0,y=0]q  [x=0,y=1]p  [x=1,y=1]own(p,x)
//! ```
//!
//! A process reads a location in its store buffer; where that is empty, in its own message; where it has none, at its
//! pointer. So a message is own of a process and location only while its store buffer of the location is empty: until
//! then, what will be own has not been serialized yet. The paper compares the last writes of all processes and
//! locations; this order relates more, and everything that the paper says of its order holds of it too.
//!
//! The newest message may have no mark, if more stores to its location are pending behind it.
//!
//! A constraint stands for all configurations above it. `*` in a snapshot or a store buffer stands for any value.

use crate::engine::automaton::{Datum, StateId};
use crate::engine::backward::channel::Channel;
use crate::engine::backward::processes::Processes;
use crate::engine::backward::pws::stores::Stores;
use crate::engine::backward::snapshot::may_be;
use crate::program::{LocationId, ProcessId};
use crate::util::IndexVec;

/// A constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constraint {
    /// Where each process is.
    pub states: IndexVec<ProcessId, StateId>,
    /// What is not serialized yet.
    pub stores: Stores,
    /// What is.
    pub channel: Channel,
}

impl Constraint {
    /// Whether it stands for all that `other` stands for.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.states == other.states
            && self.stores.is_below(&other.stores)
            && self.channel.is_below(&other.channel, Processes::ALL)
    }

    /// Makes a process find a value; `false` if it cannot.
    pub(super) fn find(&mut self, process: ProcessId, x: LocationId, value: Datum) -> bool {
        let mut stores = self.stores.get(process, x).to_vec();
        let Some(newest) = stores.last_mut() else { return self.channel.find(process, x, value) };
        let may_find = may_be(*newest, value);
        *newest = value;
        self.stores.set(process, x, stores);
        may_find
    }
}
