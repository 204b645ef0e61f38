//! Processes whose stores reach memory at once in an abstraction, and what that costs.
//!
//! What a process does between a store and the moment the store reaches memory can be put off until then, if it does
//! not look at memory: nobody sees the difference. So the buffer of such a *prompt* process need not be kept at all,
//! however long it grows. If it does load while a store may wait, it loads too late then, and finds, one may say,
//! anything that the location has ever held: a *late* process. Where only the process itself writes, it finds what it
//! wrote last all the same. Stores have to reach memory in the order in which they
//! are made: under PSO, all are to one location.

use std::collections::BTreeSet;

use crate::engine::symbolic::flow::{Act, ProcessFlow, StateId};
use crate::memory::{Buffering, PsoRmw};
use crate::program::{FenceKind, LocationId};

/// The states in which a store of the process may wait, if what it does then can be put off.
pub(crate) fn waiting_states(flow: &ProcessFlow, buffering: Buffering) -> Option<BTreeSet<StateId>> {
    let waiting = may_wait(flow, buffering);
    let cannot_wait = |act: &Act| match act {
        Act::Atomic(own) => !drains(*own, buffering),
        Act::Local | Act::Load(_) | Act::Store(..) | Act::Fence(_) => false,
    };
    let is_stuck = flow.steps.iter().any(|step| waiting.contains(&step.from) && cannot_wait(&step.act));
    (!is_stuck && reaches_in_order(flow, buffering)).then_some(waiting)
}

/// Whether a process loads in one of these states what others write.
pub(crate) fn loads_in(flow: &ProcessFlow, states: &BTreeSet<StateId>, is_own: impl Fn(LocationId) -> bool) -> bool {
    flow.steps.iter().any(|step| match step.act {
        Act::Load(x) => states.contains(&step.from) && !is_own(x),
        Act::Local | Act::Store(..) | Act::Fence(_) | Act::Atomic(_) => false,
    })
}

fn reaches_in_order(flow: &ProcessFlow, buffering: Buffering) -> bool {
    let stored = flow.steps.iter().filter_map(|step| match step.act {
        Act::Store(x, _) => Some(x),
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
    });
    let stored: BTreeSet<LocationId> = stored.collect();
    match buffering {
        Buffering::None | Buffering::Fifo => true,
        Buffering::PerLocation(_) => stored.len() <= 1,
    }
}

fn may_wait(flow: &ProcessFlow, buffering: Buffering) -> BTreeSet<StateId> {
    let mut waiting = BTreeSet::new();
    let mut has_grown = true;
    while has_grown {
        has_grown = false;
        for step in &flow.steps {
            let waits = match step.act {
                Act::Store(..) => true,
                Act::Fence(FenceKind::Full) => false,
                Act::Atomic(own) => waiting.contains(&step.from) && !drains(own, buffering),
                Act::Local | Act::Load(_) | Act::Fence(FenceKind::StoreStore) => waiting.contains(&step.from),
            };
            has_grown |= waits && waiting.insert(step.to);
        }
    }
    waiting
}

/// Whether an atomic step waits for all stores.
fn drains(own: Option<LocationId>, buffering: Buffering) -> bool {
    match buffering {
        Buffering::None | Buffering::Fifo => true,
        Buffering::PerLocation(rmw) => own.is_none() || rmw == PsoRmw::All,
    }
}
