//! The basis of a safe search as a proof: states of the search become classes of local states.

use std::collections::{BTreeMap, BTreeSet};

use crate::certificate::basis::Class;
use crate::certificate::{Basis, Constraint, LocalState, Message, MessageKind, Pending, ProcessProof, local_states};
use crate::engine::automaton::Merging;
use crate::engine::backward::load_buffer::proof::{Resting, Sought, ToldElement, ToldProcess, seek as search};
use crate::engine::{StopReason, Task};
use crate::program::{LocationId, ProcessId, Value};
use crate::util::{Idx, IndexVec};
use crate::watch::{Monitor, Progress, Stop};

use super::{Scaled, reason};

/// A basis, unless the search merges local states in a way that is no map on them.
pub(super) fn seek(
    task: &Task<'_>,
    merging: Merging,
    max_constraints: u64,
    monitor: &dyn Monitor,
) -> Result<Option<Basis>, StopReason> {
    let buffering = task.buffering().map_err(|it| StopReason::Unproved(it.reason))?;
    let capped = Capped { monitor, max: max_constraints };
    let (told, resting) = match search(task, merging, &capped) {
        Err(unsupported) => return Err(StopReason::Unproved(unsupported.reason)),
        Ok(Sought::Stopped(reason)) => return Err(reason),
        Ok(Sought::Unsafe) => {
            let what = "a program that was found safe has a path to a bad situation".to_owned();
            return Err(StopReason::Defect(what));
        }
        Ok(Sought::Safe(told, resting)) => (told, resting),
    };
    let values = told.values.iter().map(|values| values.iter().copied().collect()).collect();
    let locals = local_states(task.program, task.placement, buffering, &values, &Scaled(monitor))
        .map_err(|failure| reason(failure, StopReason::Unproved))?;
    let mut processes = IndexVec::new();
    for (process, states) in locals.iter_enumerated() {
        let Some(classes) = classes(process, states, &resting) else { return Ok(None) };
        processes.push(process_proof(&told.processes[process], classes));
    }
    let elements = told.elements.iter().map(element).collect();
    Ok(Some(Basis { values, processes, elements }))
}

fn classes(
    process: ProcessId,
    states: &BTreeSet<LocalState>,
    resting: &Resting<'_>,
) -> Option<BTreeMap<LocalState, Class>> {
    let class = |state: &LocalState| match state {
        LocalState::Here(control, registers) => resting.here(process, *control, registers.clone()),
        LocalState::Broken(fault) => resting.broken(process, *fault),
    };
    states.iter().map(|state| class(state).map(|class| (state.clone(), class))).collect()
}

fn process_proof(told: &ToldProcess, classes: BTreeMap<LocalState, Class>) -> ProcessProof {
    let by_class = |all: &[BTreeSet<Value>]| (0..).zip(all.iter().cloned()).collect();
    let mut pending = BTreeMap::new();
    for (x, states) in told.pending.iter().enumerate() {
        let pend = |(any, newest): &(BTreeSet<_>, BTreeSet<_>)| Pending { any: any.clone(), newest: newest.clone() };
        let some = (0..).zip(states).filter(|(_, (any, _))| !any.is_empty());
        pending.extend(some.map(|(class, it)| ((class, LocationId::from_usize(x)), pend(it))));
    }
    ProcessProof {
        classes,
        last_writes: told.last_writes.as_ref().map(|states| (0..).zip(states.iter().cloned()).collect()),
        pending: (!told.pending.is_empty()).then_some(pending),
        sole: told.sole.iter().map(|(x, held)| (*x, by_class(held))).collect(),
    }
}

fn element(told: &ToldElement) -> Constraint {
    let message = |&(is_own, location, value): &(bool, LocationId, _)| {
        let kind = if is_own { MessageKind::Own } else { MessageKind::Sample };
        Message { kind, location, value }
    };
    Constraint {
        classes: told.states.clone().into(),
        buffers: told.buffers.iter().map(|word| word.iter().map(message).collect()).collect(),
        stores: told.stores.clone().into(),
        memory: told.memory.clone().into(),
    }
}

/// Stops a search after so many constraints.
struct Capped<'a> {
    monitor: &'a dyn Monitor,
    max: u64,
}

impl Monitor for Capped<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let is_over = progress.explored > self.max;
        self.monitor.poll(progress).or_else(|| is_over.then_some(Stop::Spent(self.max)))
    }
}
