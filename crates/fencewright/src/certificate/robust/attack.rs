//! The rules of an attack, one for each kind of step.
//!
//! If an execution is none of sequential consistency, then there is one in which a single thread, the *attacker*,
//! delays stores, and all others act as under sequential consistency (Bouajjani, Derevenetc, Meyer, _Checking and
//! Enforcing Robustness against TSO_, ESOP 2013). The attacker delays a store to `x`; what it reads or writes in memory
//! from then on comes *behind* that store, and so does what others do with what was touched behind it. Who touches `x`
//! behind it, before it gets to memory, closes a circle.
//!
//! | | the attacker | others |
//! |---|---|---|
//! | local | free | free |
//! | load of `y` | its newest delayed store; else memory: `y` is read behind | if behind, or after a write behind |
//! | store to `y` | delayed; or *at once*: `y` is written behind | if behind, or after a touch behind |
//! | update of `y` | as a load and a store at once | as a load, and a store if it writes |
//! | block | never | as its loads and stores |
//! | full fence | never | free |
//!
//! *At once* needs buffers per location, no delayed store to `y`, and no store-store fence since the first; for
//! updates, that they wait for their location only. Others need not act but behind the store: what is not can be done
//! before it. With one queue for all stores the attacker has nothing left to do once others are behind it, and stops.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Buffering, PsoRmw};
use crate::program::{LocationId, ProcessId, Value};

/// A thread delays stores, and others act behind the first of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attack {
    pub(super) attacker: ProcessId,
    /// Where the first of its delayed stores goes.
    first: LocationId,
    /// Its newest delayed store to each location.
    pub(super) delayed: BTreeMap<LocationId, Value>,
    /// Whether a store-store fence keeps all its stores behind the first.
    has_passed_fence: bool,
    /// What was read or written behind it.
    touched: BTreeSet<LocationId>,
    /// What was written behind it.
    written: BTreeSet<LocationId>,
    /// The others that act behind it.
    behind: BTreeSet<ProcessId>,
}

impl Attack {
    pub(super) fn begins(attacker: ProcessId, x: LocationId, value: Value) -> Self {
        Self {
            attacker,
            first: x,
            delayed: BTreeMap::from([(x, value)]),
            has_passed_fence: false,
            touched: BTreeSet::new(),
            written: BTreeSet::new(),
            behind: BTreeSet::new(),
        }
    }

    pub(super) fn succeeds(&self) -> bool {
        self.touched.contains(&self.first)
    }

    /// Whether the attacker has stopped.
    pub(super) fn is_over_for_attacker(&self, buffering: Buffering) -> bool {
        match buffering {
            Buffering::None | Buffering::Fifo => !self.behind.is_empty(),
            Buffering::PerLocation(_) => false,
        }
    }

    /// Whether a store of the attacker may overtake those that are delayed.
    pub(super) fn may_overtake(&self, buffering: Buffering, x: LocationId) -> bool {
        match buffering {
            Buffering::None | Buffering::Fifo => false,
            Buffering::PerLocation(_) => !self.has_passed_fence && !self.delayed.contains_key(&x),
        }
    }

    /// Whether an update of the attacker may.
    pub(super) fn may_update(&self, buffering: Buffering, x: LocationId) -> bool {
        match buffering {
            Buffering::PerLocation(PsoRmw::Location) => self.may_overtake(buffering, x),
            Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => false,
        }
    }

    pub(super) fn delays(&self, x: LocationId, value: Value) -> Self {
        let mut next = self.clone();
        next.delayed.insert(x, value);
        next
    }

    pub(super) fn passes_store_fence(&self) -> Self {
        Self { has_passed_fence: true, ..self.clone() }
    }

    /// The attacker reads and writes memory.
    pub(super) fn goes_on(&self, reads: &[LocationId], writes: &[LocationId]) -> Self {
        let mut next = self.clone();
        next.touched.extend(reads.iter().chain(writes));
        next.written.extend(writes);
        next
    }

    /// Another thread does; `None` if that is not behind the first delayed store.
    pub(super) fn joined_by(&self, p: ProcessId, reads: &[LocationId], writes: &[LocationId]) -> Option<Self> {
        let follows = self.behind.contains(&p)
            || reads.iter().any(|x| self.written.contains(x))
            || writes.iter().any(|x| self.touched.contains(x));
        follows.then(|| {
            let mut next = self.goes_on(reads, writes);
            next.behind.insert(p);
            next
        })
    }
}
