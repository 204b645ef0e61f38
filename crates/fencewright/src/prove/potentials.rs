//! The basis of a safe search for release/acquire as a proof.

use crate::certificate::potentials::{Element, Letter, Writer};
use crate::certificate::{Claim, Potentials, Proof, local_states};
use crate::engine::automaton::Merging;
use crate::engine::backward::potential::proof::{Sought, ToldElement, ToldLetter, ToldWriter, seek as search};
use crate::engine::{RestsOn, StopReason, Task};
use crate::memory::{Buffering, Messaging, weakened};
use crate::program::ProcessId;
use crate::system::Flow;
use crate::util::IndexVec;
use crate::watch::Monitor;

use super::basis::{MERGINGS, classes};
use super::{Scaled, checked, reason};

/// Asks the search over what threads can still read.
pub(super) struct Prover;

impl super::Prover for Prover {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Basis
    }

    fn proves(&self, task: &Task<'_>, _before: &[StopReason]) -> bool {
        task.model.messaging().is_some()
    }

    /// A basis, from the search that merges most of those whose states are a map on local states.
    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        let mut refused = StopReason::Unproved("local states have no classes".to_owned());
        let weakened = weakened(task.program);
        let weak = Task { program: weakened.as_ref().unwrap_or(task.program), ..*task };
        for merging in MERGINGS {
            let Some(basis) = seek(&weak, merging, monitor)? else { continue };
            let proof = Proof::Potentials(Box::new(basis));
            match checked(task, Claim::Safe(task.placement.clone(), proof.clone()), monitor) {
                Ok(_) => return Ok(proof),
                Err(reason @ StopReason::Defect(_)) => refused = reason,
                Err(reason) => return Err(reason),
            }
        }
        // The last search merges nothing, so that there is no excuse.
        Err(refused)
    }
}

/// A basis, unless the search merges local states in a way that is no map on them.
fn seek(task: &Task<'_>, merging: Merging, monitor: &dyn Monitor) -> Result<Option<Potentials>, StopReason> {
    let (told, resting) = match search(task, merging, monitor) {
        Err(unsupported) => return Err(StopReason::Unproved(unsupported.reason)),
        Ok(Sought::Stopped(reason)) => return Err(reason),
        Ok(Sought::Unsafe) => return Err(unsafe_reason(task)),
        Ok(Sought::Safe(told, resting)) => (told, resting),
    };
    let values = told.values.iter().map(|values| values.iter().copied().collect()).collect();
    let flow = Flow { program: task.program, placement: task.placement };
    let of: Vec<ProcessId> = task.program.processes().indices().collect();
    let locals = local_states(flow, &of, Buffering::Fifo, &values, &Scaled(monitor))
        .map_err(|failure| reason(failure, StopReason::Unproved))?;
    let mut of_processes = IndexVec::new();
    for (&process, states) in of.iter().zip(&locals) {
        let Some(classes) = classes(process, states, &resting) else { return Ok(None) };
        of_processes.push(classes);
    }
    let elements = told.elements.iter().map(element).collect();
    Ok(Some(Potentials { values, classes: of_processes, elements }))
}

/// Why the search has found something.
fn unsafe_reason(task: &Task<'_>) -> StopReason {
    match task.model.messaging() {
        Some(Messaging::Inserted) => {
            StopReason::Unproved("stores race, and such programs have no certificate under release/acquire".to_owned())
        }
        Some(Messaging::Appended) | None => {
            StopReason::Defect("a program that was found safe has a path to a bad situation".to_owned())
        }
    }
}

fn element(told: &ToldElement) -> Element {
    let letter = |&ToldLetter { writer, place, value, is_last }: &ToldLetter| {
        let writer = match writer {
            ToldWriter::Start => Writer::Start,
            ToldWriter::Process(process) => Writer::Process(process),
            ToldWriter::Any => Writer::Any,
        };
        Letter { writer, place, value, is_last }
    };
    let lists = |lists: &Vec<Vec<ToldLetter>>| lists.iter().map(|list| list.iter().map(letter).collect()).collect();
    Element { classes: told.states.iter().copied().collect(), lists: told.lists.iter().map(lists).collect() }
}
