//! From a path of the single-buffer search to a run of the store-buffer semantics.
//!
//! The path is executed on concrete values; where a constraint left messages out, a pointer that moves on passes them.
//! The position of a message in the buffer is the time at which TSO flushes it, and the position of a process's pointer
//! is the time at which it takes a step:
//!
//! ```text
//!    message j                        ⟶  flushed at the beginning of time j
//!    step of a process that is at k   ⟶  at time k, in the order of the path
//!    atomic step that appends j       ⟶  at the beginning of time j: it is its own flush
//! ```
//!
//! Sorted by these times, the steps are a run of the store-buffer machine: all that a process sees at time k is message
//! k, which is memory then, and its own writes right of k, which are stored and not yet flushed.

use crate::engine::automaton::{Letter, RegisterFree, StateId};
use crate::engine::backward::single_buffer::constraint::{ABSENT, Constraint, Message, Processes, STAR, Snapshot};
use crate::engine::backward::single_buffer::system::{Rule, RuleKind, writes};
use crate::engine::run::{Logged, Path};
use crate::memory::Flush;
use crate::program::{LocationId, ProcessId};
use crate::system::{Action, Fault, Start, Step};
use crate::util::IndexVec;

/// A path of the store-buffer semantics, and what it goes wrong with, if a step goes wrong.
#[derive(Debug)]
pub struct Unrolled {
    /// The path.
    pub path: Path,
    /// The fault of its last step.
    pub fault: Option<Fault>,
}

/// The run that a path from an initial constraint stands for; `None` if the path contradicts itself.
pub fn unroll(program: &RegisterFree, first: &Constraint, path: &[(Rule, &Constraint)]) -> Option<Unrolled> {
    let mut machine = Machine::new(program, first);
    let start = machine.start();
    let rests = machine.states.iter_enumerated();
    let rests = rests.map(|(process, &state)| program.processes[process].states[state as usize].local).collect();
    for (now, (rule, next)) in path.iter().enumerate() {
        machine.follow(now, *rule, next)?;
    }
    let mut events = machine.events;
    events.sort_by_key(|event| event.time);
    let at_fault = events.iter().position(|event| event.fault.is_some());
    let fault = at_fault.and_then(|at| events[at].fault);
    events.truncate(at_fault.map_or(usize::MAX, |at| at + 1));
    let steps = events.iter().map(|event| event.logged).collect();
    Some(Unrolled { path: Path { start, rests, steps }, fault })
}

/// When an event happens in TSO: the time, flushes before steps, then the order of the path.
type Time = (usize, u8, usize);

struct Event {
    time: Time,
    logged: Logged,
    fault: Option<Fault>,
}

/// The single-buffer machine on concrete values.
struct Machine<'a> {
    program: &'a RegisterFree,
    states: IndexVec<ProcessId, StateId>,
    /// Snapshots with their headers, oldest first; atomic steps have none, since nobody reads them as own.
    buffer: Vec<(Snapshot, Option<(ProcessId, LocationId)>)>,
    pointers: IndexVec<ProcessId, usize>,
    events: Vec<Event>,
}

impl<'a> Machine<'a> {
    fn new(program: &'a RegisterFree, first: &Constraint) -> Self {
        let state = |(process, &state): (ProcessId, &StateId)| match state {
            ABSENT => *program.processes[process].initial.keys().next().expect("a process starts somewhere"),
            state => state,
        };
        let memory = first.newest().memory.iter().zip(program.initial.iter());
        let memory = memory.map(|(&cell, initial)| if cell == STAR { initial[0] } else { cell }).collect();
        Self {
            program,
            states: first.states.iter_enumerated().map(state).collect(),
            buffer: vec![(memory, None)],
            pointers: IndexVec::filled(program.processes.len(), 0),
            events: Vec::new(),
        }
    }

    fn start(&self) -> Start {
        let memory = self.buffer[0].0.iter_enumerated();
        let states = self.states.iter_enumerated();
        Start {
            memory: memory.map(|(x, &cell)| self.program.values[x][usize::from(cell)]).collect(),
            registers: states.map(|(process, state)| self.program.processes[process].initial[state].clone()).collect(),
        }
    }

    /// Takes a rule so that it leads into a constraint.
    fn follow(&mut self, now: usize, rule: Rule, next: &Constraint) -> Option<()> {
        let process = rule.process;
        match rule.kind {
            RuleKind::Step(edge) => self.take(now, process, edge),
            RuleKind::Append(edge, followers) => {
                self.catch_up(followers);
                self.take(now, process, edge);
                self.catch_up(followers);
            }
            RuleKind::Update => self.pointers[process] += 1,
        }
        while !next.covers(&self.configuration()) {
            let may_update = rule.kind == RuleKind::Update && self.pointers[process] + 1 < self.buffer.len();
            if !may_update {
                return None;
            }
            self.pointers[process] += 1;
        }
        Some(())
    }

    /// Moves pointers to the newest message.
    fn catch_up(&mut self, processes: Processes) {
        let newest = self.buffer.len() - 1;
        for (process, pointer) in self.program.processes.indices().zip(self.pointers.iter_mut()) {
            if processes.contains(process) {
                *pointer = newest;
            }
        }
    }

    /// The configuration as a constraint that only it and larger ones fulfill.
    fn configuration(&self) -> Constraint {
        let messages = self.buffer.iter().enumerate().map(|(at, (memory, header))| {
            let points = |process: &ProcessId| self.pointers[*process] == at;
            let pointers = self.program.processes.indices().filter(points);
            let is_own = |header: &(ProcessId, LocationId)| {
                at > self.pointers[header.0] && self.buffer[at + 1..].iter().all(|later| later.1 != Some(*header))
            };
            Message {
                pointers: pointers.fold(Processes::default(), Processes::with),
                own: header.filter(is_own),
                memory: memory.clone(),
            }
        });
        Constraint { states: self.states.clone(), word: messages.collect() }
    }

    fn take(&mut self, now: usize, process: ProcessId, taken: u32) {
        let automaton = &self.program.processes[process];
        let edge = &automaton.edges[taken as usize];
        let to = &automaton.states[edge.to as usize];
        let next = self.buffer.len();
        let view = (self.pointers[process], 1, now);
        let appended = (next, 0, now);
        let written = writes(&edge.letter);
        let time = match &edge.letter {
            Letter::Atomic(_) if !written.is_empty() => appended,
            Letter::Nop | Letter::Read(..) | Letter::Write(..) | Letter::Fence(_) | Letter::Atomic(_) => view,
        };
        self.states[process] = edge.to;
        let logged = Logged { step: edge.step, rest: Some(to.local), edge: Some(taken) };
        self.events.push(Event { time, logged, fault: to.fault });
        let header = match edge.letter {
            Letter::Write(x, _) => {
                let step = Step { process, action: Action::Flush(Flush::Store(x)) };
                self.events.push(Event {
                    time: appended,
                    logged: Logged { step, rest: None, edge: None },
                    fault: None,
                });
                Some((process, x))
            }
            Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => None,
        };
        if !written.is_empty() {
            let mut memory = self.buffer[next - 1].0.clone();
            for (x, value) in written {
                memory[x] = value;
            }
            self.buffer.push((memory, header));
        }
    }
}
