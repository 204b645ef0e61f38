//! The basis of a safe search for release/acquire as a proof.

use crate::certificate::potentials::{Element, Letter, List, Message, Strength, Which, Writer};
use crate::certificate::{Potentials, Proof, local_states};
use crate::engine::automaton::Merging;
use crate::engine::backward::potential::proof::{
    About, Sought, ToldElement, ToldLetter, ToldWhich, ToldWriter, seek as search,
};
use crate::engine::{RestsOn, StopReason, Task};
use crate::memory::{Buffering, Messaging, weakened};
use crate::program::ProcessId;
use crate::system::Flow;
use crate::util::IndexVec;
use crate::watch::Monitor;

use super::basis::classes;
use super::mergings::first_accepted;
use super::{Scaled, reason};

/// Asks the search over what threads can still read.
pub(super) struct Prover;

impl super::Prover for Prover {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Basis
    }

    fn proves(&self, task: &Task<'_>, _before: &[StopReason]) -> bool {
        task.model.messaging().is_some()
    }

    /// Where stores race, what is said of strong release/acquire says nothing of release/acquire, but what is said of
    /// weak release/acquire does.
    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        match (basis(task, About::Strong, monitor), task.model.messaging()) {
            (Err(StopReason::Unproved(_)), Some(Messaging::Inserted)) => basis(task, About::Weak, monitor),
            (found, _) => found,
        }
    }
}

/// A basis, from the search that merges most of those whose states are a map on local states.
fn basis(task: &Task<'_>, about: About, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let weakened = weakened(task.program);
    let weak = Task { program: weakened.as_ref().unwrap_or(task.program), ..*task };
    first_accepted(task, monitor, |merging| {
        Ok(seek(&weak, about, merging, monitor)?.map(|basis| Proof::Potentials(Box::new(basis))))
    })
}

/// A basis, unless the search merges local states in a way that is no map on them.
fn seek(
    task: &Task<'_>,
    about: About,
    merging: Merging,
    monitor: &dyn Monitor,
) -> Result<Option<Potentials>, StopReason> {
    let (told, resting) = match search(task, about, merging, monitor) {
        Err(unsupported) => return Err(StopReason::Unproved(unsupported.reason)),
        Ok(Sought::Stopped(reason)) => return Err(reason),
        Ok(Sought::Unsafe) => return Err(unsafe_reason(task, about)),
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
    let strength = match about {
        About::Strong => Strength::Strong,
        About::Weak => Strength::Weak,
    };
    Ok(Some(Potentials { strength, values, classes: of_processes, elements }))
}

/// Why the search has found something.
fn unsafe_reason(task: &Task<'_>, about: About) -> StopReason {
    match (task.model.messaging(), about) {
        (Some(Messaging::Inserted), About::Strong) => StopReason::Unproved("stores race".to_owned()),
        (_, About::Weak) => StopReason::Unproved("stores race, and messages without an order allow more".to_owned()),
        (Some(Messaging::Appended) | None, About::Strong) => {
            StopReason::Defect("a program that was found safe has a path to a bad situation".to_owned())
        }
    }
}

pub(super) fn element(told: &ToldElement) -> Element {
    let list = |list: &Vec<ToldLetter>| -> List { list.iter().map(letter).collect() };
    let lists = |lists: &Vec<Vec<ToldLetter>>| lists.iter().map(list).collect();
    Element { classes: told.states.iter().copied().collect(), lists: told.lists.iter().map(lists).collect() }
}

fn letter(told: &ToldLetter) -> Letter {
    let message = match told {
        ToldLetter::Message(message) => message,
        ToldLetter::Marker(place) => return Letter::Marker(*place),
    };
    let writer = match message.writer {
        ToldWriter::Start => Writer::Start,
        ToldWriter::Process(process) => Writer::Process(process),
        ToldWriter::Any => Writer::Any,
    };
    let which = match message.which {
        ToldWhich::Any => Which::Any,
        ToldWhich::Last => Which::Last,
        ToldWhich::UpdatedBy(process) => Which::UpdatedBy(process),
    };
    Letter::Message(Message { writer, place: message.place, value: message.value, which })
}
