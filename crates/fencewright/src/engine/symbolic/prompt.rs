//! Processes none of whose stores waits when they look at memory, so that stores may reach memory at once.
//!
//! What such a process does between a store and the moment the store reaches memory is its own affair: all of it can be
//! put off until then, and nobody sees the difference. So its buffer need not be kept at all, however long it grows.
//! Stores have to reach memory in the order in which they are made: under PSO, all are to one location.

use std::collections::BTreeSet;

use crate::engine::symbolic::flow::{Act, ProcessFlow, StateId};
use crate::memory::{Model, PsoRmw};
use crate::program::{FenceKind, LocationId};

/// Whether a process is such a one.
pub fn is_prompt(flow: &ProcessFlow, model: Model, rmw: PsoRmw) -> bool {
    reaches_in_order(flow, model) && {
        let waiting = may_wait(flow, model, rmw);
        let looks_while_waiting = |act: &Act, from: StateId| match act {
            Act::Load(_) => waiting.contains(&from),
            Act::Atomic(own) => waiting.contains(&from) && !drains(*own, model, rmw),
            Act::Local | Act::Store(..) | Act::Fence(_) => false,
        };
        !flow.steps.iter().any(|step| looks_while_waiting(&step.act, step.from))
    }
}

fn reaches_in_order(flow: &ProcessFlow, model: Model) -> bool {
    let stored = flow.steps.iter().filter_map(|step| match step.act {
        Act::Store(x, _) => Some(x),
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
    });
    let stored: BTreeSet<LocationId> = stored.collect();
    match model {
        Model::Sc | Model::Tso => true,
        Model::Pso => stored.len() <= 1,
    }
}

/// The states in which a store may wait.
fn may_wait(flow: &ProcessFlow, model: Model, rmw: PsoRmw) -> BTreeSet<StateId> {
    let mut waiting = BTreeSet::new();
    let mut has_grown = true;
    while has_grown {
        has_grown = false;
        for step in &flow.steps {
            let waits = match step.act {
                Act::Store(..) => true,
                Act::Fence(FenceKind::Full) => false,
                Act::Atomic(own) => waiting.contains(&step.from) && !drains(own, model, rmw),
                Act::Local | Act::Load(_) | Act::Fence(FenceKind::StoreStore) => waiting.contains(&step.from),
            };
            has_grown |= waits && waiting.insert(step.to);
        }
    }
    waiting
}

/// Whether an atomic step waits for all stores.
fn drains(own: Option<LocationId>, model: Model, rmw: PsoRmw) -> bool {
    match model {
        Model::Sc | Model::Tso => true,
        Model::Pso => own.is_none() || rmw == PsoRmw::All,
    }
}
