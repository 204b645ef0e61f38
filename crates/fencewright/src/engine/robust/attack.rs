//! An attack: one thread delays a store, goes on, and others make its delay show.
//!
//! ```text
//!   attacker:  x = 1 (delayed) … reads y from memory
//!   helper:                                  y = 1   reads x: the old value
//!              ╰───── program order ─────▶╰─ before ─▶╰─ before the store of x arrives ─▶ back to the first
//! ```
//!
//! If some execution graph is none of sequential consistency, then so is one with a single delaying thread, whose other
//! threads act as under sequential consistency. All that counts of it: the newest delayed store to each location, which
//! the attacker reads back; what has been touched in memory *after* (by something that comes behind the first delayed
//! store in program order, or behind such an access); and who has joined in. The attack is done when the location of
//! the first delayed store is touched: that access comes before the store arrives, and after it in every other order.
//!
//! Where stores wait in one queue, everything behind the first delayed store is delayed, too, so the attacker can only
//! overtake by loads, and may as well stop once somebody has joined in. Where they wait by location, stores and updates
//! of other locations overtake as well, until a store-store fence was passed.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Buffering, PsoRmw};
use crate::program::{LocationId, ProcessId, Value};

/// What has been done to a location after the first delayed store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Touch {
    Read,
    Written,
}

/// An attack under way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Attack {
    /// Who delays stores.
    pub attacker: ProcessId,
    /// Where the first of them goes.
    target: LocationId,
    /// The newest of them to each location.
    delayed: BTreeMap<LocationId, Value>,
    /// What has been touched after the first of them.
    after: BTreeMap<LocationId, Touch>,
    /// Who else has touched something after it.
    helpers: BTreeSet<ProcessId>,
    /// Whether a store-store fence keeps the attacker's stores from overtaking.
    is_sealed: bool,
}

/// What a step reads and writes in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Touching {
    pub reads: Vec<LocationId>,
    pub writes: Vec<LocationId>,
}

impl Attack {
    /// A thread delays a store.
    pub(super) fn begun(attacker: ProcessId, x: LocationId, value: Value) -> Self {
        Self {
            attacker,
            target: x,
            delayed: BTreeMap::from([(x, value)]),
            after: BTreeMap::new(),
            helpers: BTreeSet::new(),
            is_sealed: false,
        }
    }

    /// Whether the delay shows.
    pub(super) fn is_done(&self) -> bool {
        self.after.contains_key(&self.target)
    }

    /// What the attacker finds in its own buffer.
    pub(super) fn own(&self, x: LocationId) -> Option<Value> {
        self.delayed.get(&x).copied()
    }

    /// Whether it makes sense that the attacker goes on.
    pub(super) fn goes_on(&self, buffering: Buffering) -> bool {
        match buffering {
            Buffering::None | Buffering::Fifo => self.helpers.is_empty(),
            Buffering::PerLocation(_) => true,
        }
    }

    /// Whether a store of the attacker may reach memory at once.
    pub(super) fn may_store(&self, buffering: Buffering, x: LocationId) -> bool {
        match buffering {
            Buffering::None | Buffering::Fifo => false,
            Buffering::PerLocation(_) => !self.is_sealed && !self.delayed.contains_key(&x),
        }
    }

    /// Whether the attacker may update a location.
    pub(super) fn may_update(&self, buffering: Buffering, x: LocationId) -> bool {
        match buffering {
            Buffering::PerLocation(PsoRmw::Location) => self.may_store(buffering, x),
            Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => false,
        }
    }

    /// The attacker delays another store.
    pub(super) fn delaying(&self, x: LocationId, value: Value) -> Self {
        let mut next = self.clone();
        next.delayed.insert(x, value);
        next
    }

    /// The attacker passes a store-store fence.
    pub(super) fn sealed(&self) -> Self {
        Self { is_sealed: true, ..self.clone() }
    }

    /// The attacker touches memory before its delayed stores get there.
    pub(super) fn overtaken(&self, touching: &Touching) -> Self {
        let mut next = self.clone();
        for &x in &touching.reads {
            next.after.entry(x).or_insert(Touch::Read);
        }
        next.after.extend(touching.writes.iter().map(|&x| (x, Touch::Written)));
        next
    }

    /// Another thread touches memory; `None` where that need not come after the first delayed store, so that it may as
    /// well be done before.
    pub(super) fn joined(&self, process: ProcessId, touching: &Touching) -> Option<Self> {
        let is_after = self.helpers.contains(&process)
            || touching.reads.iter().any(|x| self.after.get(x) == Some(&Touch::Written))
            || touching.writes.iter().any(|x| self.after.contains_key(x));
        is_after.then(|| {
            let mut next = self.overtaken(touching);
            next.helpers.insert(process);
            next
        })
    }
}
