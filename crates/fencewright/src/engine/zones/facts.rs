//! Facts about the flow of one process each, that prune the search: see [`backward::facts`](crate::engine::backward).
//!
//! | fact | says |
//! |---|---|
//! | lag region | where a process can have anything in its load buffer |
//! | last writes (TSO) | the locations of newest-own messages, in which order: a suffix of the last writes |
//! | pending stores (PSO) | which stores can be pending |
//! | sole writer | a location that no other process writes |
//! | live registers | a register whose value can still matter |
//!
//! If a configuration violates one, so does every larger one.

use std::collections::BTreeSet;

use crate::engine::symbolic::flow::{Act, ProcessFlow, Step};
use crate::engine::symbolic::live::live;
use crate::engine::symbolic::writers::stored;
use crate::memory::{Buffering, PsoRmw};
use crate::program::{FenceKind, LocationId, ProcessId, Program, RegisterId};

/// What the memory model lets a process do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// Its view may lag behind memory.
    pub lags: bool,
    /// Its stores wait, by location, before they reach memory; what an atomic update waits for then.
    pub stage: Option<PsoRmw>,
}

impl Machine {
    /// What a process may do whose stores wait like this.
    pub(super) fn new(buffering: Buffering) -> Self {
        match buffering {
            Buffering::None => Self { lags: false, stage: None },
            Buffering::Fifo => Self { lags: true, stage: None },
            Buffering::PerLocation(rmw) => Self { lags: true, stage: Some(rmw) },
        }
    }

    /// Whether an atomic step waits until no store to a location is pending.
    pub(super) fn waits_for(self, own: Option<LocationId>, x: LocationId) -> bool {
        match self.stage {
            None => false,
            Some(PsoRmw::All) => true,
            Some(PsoRmw::Location) => own.is_none_or(|own| own == x),
        }
    }
}

/// The facts of one process, by state.
#[derive(Debug)]
pub(super) struct ProcessFacts {
    /// A step leaves the state that may wait while the process's view ages: the only place to sample memory.
    pub samples: Vec<bool>,
    /// A load leads to the state.
    pub has_read: Vec<bool>,
    /// The locations that it stores to.
    pub stored: Vec<LocationId>,
    /// Lag region.
    pub may_lag: Vec<bool>,
    /// Last writes; `None` where there are too many, and under PSO.
    pub last_writes: Option<Vec<BTreeSet<Vec<LocationId>>>>,
    /// Pending stores, by location; everything is false without a store stage.
    pub may_pend: Vec<Vec<bool>>,
    /// The registers that are live.
    pub live: Vec<BTreeSet<RegisterId>>,
}

/// More sequences of last writes than this in a process are not worth it.
const MAX_LAST_WRITES: usize = 20_000;

impl ProcessFacts {
    /// The facts of a process.
    pub(super) fn new(program: &Program, process: ProcessId, flow: &ProcessFlow, machine: Machine) -> Self {
        let samples: fn(&Act) -> bool = match machine.stage {
            None => is_store,
            Some(_) => is_store_fence,
        };
        let stored: BTreeSet<LocationId> = flow.steps.iter().filter_map(|step| stored(&step.act)).collect();
        let locations = program.locations().indices();
        let may_pend = locations.map(|x| match machine.stage {
            None => vec![false; flow.controls.len()],
            Some(_) => may_pend(flow, x, machine),
        });
        let may_lag = if machine.lags { may_lag(flow, samples) } else { vec![false; flow.controls.len()] };
        Self {
            samples: any_step(flow, &flow.outgoing, samples),
            has_read: any_step(flow, &flow.incoming, is_load),
            stored: stored.into_iter().collect(),
            may_lag,
            last_writes: if machine.stage.is_none() { last_writes(flow) } else { None },
            may_pend: may_pend.collect(),
            live: live(program, process, flow),
        }
    }
}

fn is_store(act: &Act) -> bool {
    stored(act).is_some()
}

fn is_store_fence(act: &Act) -> bool {
    *act == Act::Fence(FenceKind::StoreStore)
}

fn is_load(act: &Act) -> bool {
    match act {
        Act::Load(_) => true,
        Act::Local | Act::Store(..) | Act::Fence(_) | Act::Atomic(_) => false,
    }
}

/// Whether a step waits for an empty load buffer.
fn drains(act: &Act) -> bool {
    match act {
        Act::Fence(FenceKind::Full) | Act::Atomic(_) => true,
        Act::Fence(FenceKind::StoreStore) | Act::Local | Act::Load(_) | Act::Store(..) => false,
    }
}

fn any_step(flow: &ProcessFlow, steps: &[Vec<u32>], is_it: impl Fn(&Act) -> bool) -> Vec<bool> {
    steps.iter().map(|steps| steps.iter().any(|&step| is_it(&flow.steps[step as usize].act))).collect()
}

/// Lag region: a message is sampled or pushed where the view may age, and is of use only as long as a load may come, or
/// has just come, with no drain between.
fn may_lag(flow: &ProcessFlow, samples: fn(&Act) -> bool) -> Vec<bool> {
    let forward = |step: &Step| (step.from, step.to);
    let has_lagged = spread(flow, any_step(flow, &flow.outgoing, samples), forward);
    let will_read = spread(flow, any_step(flow, &flow.outgoing, is_load), |step| (step.to, step.from));
    let has_read = any_step(flow, &flow.incoming, is_load);
    has_lagged.iter().zip(will_read).zip(has_read).map(|((&lagged, will), has)| lagged && (will || has)).collect()
}

/// The states that can be reached from some without a drain.
fn spread(flow: &ProcessFlow, mut reached: Vec<bool>, ends: impl Fn(&Step) -> (u32, u32)) -> Vec<bool> {
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (from, to) in flow.steps.iter().filter(|step| !drains(&step.act)).map(&ends) {
            if reached[from as usize] && !reached[to as usize] {
                reached[to as usize] = true;
                has_changed = true;
            }
        }
    }
    reached
}

/// Last writes.
fn last_writes(flow: &ProcessFlow) -> Option<Vec<BTreeSet<Vec<LocationId>>>> {
    let mut at: Vec<BTreeSet<Vec<LocationId>>> = vec![BTreeSet::new(); flow.controls.len()];
    let mut todo: Vec<(u32, Vec<LocationId>)> = vec![(0, Vec::new())];
    let mut n_all = 0;
    while let Some((state, writes)) = todo.pop() {
        if !at[state as usize].insert(writes.clone()) {
            continue;
        }
        n_all += 1;
        if n_all > MAX_LAST_WRITES {
            return None;
        }
        for step in flow.outgoing[state as usize].iter().map(|&step| &flow.steps[step as usize]) {
            let next = match step.act {
                Act::Store(x, _) => writes.iter().copied().filter(|&y| y != x).chain([x]).collect(),
                Act::Fence(FenceKind::Full) | Act::Atomic(_) => Vec::new(),
                Act::Fence(FenceKind::StoreStore) | Act::Local | Act::Load(_) => writes.clone(),
            };
            todo.push((step.to, next));
        }
    }
    Some(at)
}

/// Pending stores: whether a store to a location may have come since the process last waited for it.
fn may_pend(flow: &ProcessFlow, x: LocationId, machine: Machine) -> Vec<bool> {
    let mut at = vec![false; flow.controls.len()];
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for step in &flow.steps {
            let pends = match step.act {
                Act::Store(y, _) => y == x || at[step.from as usize],
                Act::Fence(_) => false,
                Act::Atomic(own) => !machine.waits_for(own, x) && at[step.from as usize],
                Act::Local | Act::Load(_) => at[step.from as usize],
            };
            has_changed |= pends && !at[step.to as usize];
            at[step.to as usize] |= pends;
        }
    }
    at
}
