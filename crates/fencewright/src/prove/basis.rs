//! The basis of a safe search as a proof: states of the search become classes of local states.

use std::collections::{BTreeMap, BTreeSet};

use crate::certificate::basis::Class;
use crate::certificate::{
    Basis, Constraint, LocalState, Message, MessageKind, ProcessProof, Proof, Waiting, local_states,
};
use crate::engine::automaton::Merging;
use crate::engine::backward::Resting;
use crate::engine::backward::load_buffer::proof::{Sought, Told, ToldElement, ToldProcess, seek as search};
use crate::engine::{RestsOn, StopReason, Task};
use crate::program::{LocationId, ProcessId, Value};
use crate::system::Flow;
use crate::util::{Idx, IndexVec};
use crate::watch::Monitor;

use super::mergings::first_accepted;
use super::{Capped, Scaled, observed, reason};

/// Asks the load-buffer search.
pub(super) struct Prover {
    max_constraints: u64,
}

impl Prover {
    /// For a basis that is not too large.
    pub(super) const QUICK: Self = Self { max_constraints: 200_000 };
    /// For one of any size, where there are too many states besides.
    pub(super) const PATIENT: Self = Self { max_constraints: u64::MAX };
}

impl super::Prover for Prover {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Basis
    }

    fn proves(&self, _task: &Task<'_>, before: &[StopReason]) -> bool {
        let is_quick = self.max_constraints < u64::MAX;
        is_quick || before.iter().any(|reason| matches!(reason, StopReason::Constraints(_)))
    }

    /// A basis, from the search that merges most of those whose states are a map on local states.
    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        first_accepted(task, monitor, |merging| {
            let sought = observed(task, |task| seek(task, merging, self.max_constraints, monitor))?;
            Ok(sought.map(|basis| Proof::Basis(Box::new(basis))))
        })
    }
}

/// A basis, unless the search merges local states in a way that is no map on them.
fn seek(
    task: &Task<'_>,
    merging: Merging,
    max_constraints: u64,
    monitor: &dyn Monitor,
) -> Result<Option<Basis>, StopReason> {
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
    let of: Vec<ProcessId> = task.program.processes().indices().collect();
    let Some(processes) = proofs(task, &of, (&told, &resting), &values, monitor)? else { return Ok(None) };
    let elements = told.elements.iter().map(element).collect();
    Ok(Some(Basis { values, processes, elements }))
}

/// What is known of some processes, unless the search merges their local states in a way that is no map on them.
pub(super) fn proofs(
    task: &Task<'_>,
    of: &[ProcessId],
    (told, resting): (&Told, &Resting<'_>),
    values: &IndexVec<LocationId, BTreeSet<Value>>,
    monitor: &dyn Monitor,
) -> Result<Option<IndexVec<ProcessId, ProcessProof>>, StopReason> {
    let buffering = task.buffering().map_err(|it| StopReason::Unproved(it.reason))?;
    let flow = Flow { program: task.program, placement: task.placement };
    let locals = local_states(flow, of, buffering, values, &Scaled(monitor))
        .map_err(|failure| reason(failure, StopReason::Unproved))?;
    let mut proofs = IndexVec::new();
    for (&process, states) in of.iter().zip(&locals) {
        let Some(classes) = classes(process, states, resting) else { return Ok(None) };
        proofs.push(process_proof(&told.processes[process], classes));
    }
    Ok(Some(proofs))
}

/// The state in which each local state comes to rest, as its class; nothing if one may come to rest in several.
pub(super) fn classes(
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

pub(super) fn process_proof(told: &ToldProcess, classes: BTreeMap<LocalState, Class>) -> ProcessProof {
    let by_class = |all: &[BTreeSet<Value>]| (0..).zip(all.iter().cloned()).collect();
    let mut pending = BTreeMap::new();
    for (x, states) in told.pending.iter().enumerate() {
        let pend = |(any, newest): &(BTreeSet<_>, BTreeSet<_>)| Waiting { any: any.clone(), newest: newest.clone() };
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

pub(super) fn element(told: &ToldElement) -> Constraint {
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
