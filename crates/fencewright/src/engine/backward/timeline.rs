//! What happens in a run of the store buffers, each with its time: sorted, it is the run.

use crate::engine::automaton::{RegisterFree, StateId};
use crate::engine::backward::snapshot::Snapshot;
use crate::engine::run::{Logged, Path};
use crate::program::ProcessId;
use crate::system::{Fault, Start, Step};
use crate::util::IndexVec;

/// When something happens: the time, what comes first at that time, then the order in which it was found.
pub(super) type Time = (usize, u8, usize);

/// What happens, in any order.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    events: Vec<Event>,
}

#[derive(Debug)]
struct Event {
    time: Time,
    logged: Logged,
    fault: Option<Fault>,
}

impl Timeline {
    /// An edge of a process is taken.
    pub(super) fn edge(&mut self, time: Time, program: &RegisterFree, process: ProcessId, id: u32) {
        let automaton = &program.processes[process];
        let edge = &automaton.edges[id as usize];
        let to = &automaton.states[edge.to as usize];
        let logged = Logged { step: edge.step, rest: Some(to.local), edge: Some(id) };
        self.events.push(Event { time, logged, fault: to.fault });
    }

    /// A step that leaves its process where it is.
    pub(super) fn step(&mut self, time: Time, step: Step) {
        self.events.push(Event { time, logged: Logged { step, rest: None, edge: None }, fault: None });
    }

    /// The path from a beginning through all that happens, up to the first fault.
    pub(super) fn path(mut self, beginning: &Beginning, program: &RegisterFree) -> (Path, Option<Fault>) {
        self.events.sort_by_key(|event| event.time);
        let at_fault = self.events.iter().position(|event| event.fault.is_some());
        let fault = at_fault.and_then(|at| self.events[at].fault);
        self.events.truncate(at_fault.map_or(usize::MAX, |at| at + 1));
        let steps = self.events.iter().map(|event| event.logged).collect();
        let states = || beginning.states.iter_enumerated().map(|(process, state)| (&program.processes[process], state));
        let rests = states().map(|(automaton, &state)| automaton.states[state as usize].local).collect();
        let memory = beginning.memory.iter_enumerated().map(|(x, &cell)| program.values[x][usize::from(cell)]);
        let start = Start {
            memory: memory.collect(),
            registers: states().map(|(automaton, state)| automaton.initial[state].clone()).collect(),
        };
        (Path { start, rests, steps }, fault)
    }
}

/// The states and values that a run starts with.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// Of each process.
    pub states: IndexVec<ProcessId, StateId>,
    /// Of each location.
    pub memory: Snapshot,
}
