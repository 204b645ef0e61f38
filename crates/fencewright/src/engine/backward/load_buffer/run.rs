//! From rules of the load-buffer semantics to a run of the store-buffer semantics: the time-warp sort.
//!
//! A write is in memory as soon as it is executed here, which is when TSO would flush it; a process that has messages
//! in its buffer sees memory as it was when the oldest was sampled, so its steps happened, in TSO, at that time:
//!
//! ```text
//!    step i of a process            ⟶  at (sampling time of its oldest message, or i if it has none)
//!    write (or store leaving the stage) at step j  ⟶  flushed at j
//! ```
//!
//! Sorted by these times, the steps are a run of the store-buffer machine.

use std::collections::VecDeque;

use crate::engine::automaton::{FastMap, Letter, RegisterFree, StateId};
use crate::engine::backward::load_buffer::constraint::{Message, may_be};
use crate::engine::backward::load_buffer::system::{Rule, RuleKind};
use crate::engine::run::{Logged, Path};
use crate::memory::Flush;
use crate::program::{LocationId, ProcessId};
use crate::system::{Action, Fault, Start, Step};
use crate::util::IndexVec;

/// A path of the store-buffer semantics, and what it goes wrong with, if a step goes wrong.
pub struct Warped {
    /// The path.
    pub path: Path,
    /// The fault of its last step.
    pub fault: Option<Fault>,
}

/// The initial values and states that a run starts with.
#[derive(Debug)]
pub struct Beginning {
    /// Of each process.
    pub states: IndexVec<ProcessId, StateId>,
    /// Of each location.
    pub memory: IndexVec<LocationId, u32>,
}

/// The run that rules lead through.
pub fn warp(program: &RegisterFree, beginning: &Beginning, rules: &[Rule]) -> Warped {
    let mut machine = Machine {
        program,
        memory: beginning.memory.clone(),
        buffers: program.processes.iter().map(|_| VecDeque::new()).collect(),
        stages: program.processes.iter().map(|_| FastMap::default()).collect(),
        events: Vec::new(),
    };
    for (i, rule) in rules.iter().enumerate() {
        machine.step(i + 1, *rule);
    }
    machine.events.sort_by_key(|event| event.time);
    let at_fault = machine.events.iter().position(|event| event.fault.is_some());
    let fault = at_fault.and_then(|at| machine.events[at].fault);
    machine.events.truncate(at_fault.map_or(usize::MAX, |at| at + 1));
    let info = |process: ProcessId, state: StateId| &program.processes[process].states[state as usize];
    let states: Vec<(ProcessId, StateId)> = beginning.states.iter_enumerated().map(|(p, &state)| (p, state)).collect();
    let start = Start {
        memory: beginning.memory.iter_enumerated().map(|(x, &cell)| program.values[x][cell as usize]).collect(),
        registers: states.iter().map(|(process, state)| program.processes[*process].initial[state].clone()).collect(),
    };
    let rests = states.iter().map(|&(process, state)| info(process, state).local).collect();
    let steps = machine.events.iter().map(|event| event.logged).collect();
    Warped { path: Path { start, rests, steps }, fault }
}

/// When an event happens in TSO: the time, flushes after steps, then the order here.
type Time = (usize, u8, usize);

struct Event {
    time: Time,
    logged: Logged,
    fault: Option<Fault>,
}

/// The load-buffer machine on concrete values.
struct Machine<'a> {
    program: &'a RegisterFree,
    memory: IndexVec<LocationId, u32>,
    /// Messages with the step that pushed them, oldest first.
    buffers: IndexVec<ProcessId, VecDeque<(Message, usize)>>,
    /// Stores in the stage, oldest first.
    stages: IndexVec<ProcessId, FastMap<LocationId, VecDeque<u32>>>,
    events: Vec<Event>,
}

impl Machine<'_> {
    fn step(&mut self, now: usize, rule: Rule) {
        let process = rule.process;
        match rule.kind {
            RuleKind::Propagate(x) => {
                let sample = Message::sample(x, self.memory[x]);
                self.buffers[process].push_back((sample, now));
            }
            RuleKind::Delete => self.delete(process),
            RuleKind::Nop(edge) | RuleKind::ReadOwn(edge) => self.take(now, process, edge),
            RuleKind::ReadHead(edge) => {
                self.uncover(process, edge);
                self.take(now, process, edge);
            }
            RuleKind::Drained(edge) => {
                self.buffers[process].clear();
                self.take(now, process, edge);
                if let Letter::Write(x, value) = self.program.processes[process].edges[edge as usize].letter {
                    self.write(now, process, x, u32::from(value));
                }
            }
            RuleKind::Write(edge) => {
                let (x, value) = self.written(process, edge);
                self.take(now, process, edge);
                self.write(now, process, x, value);
                self.buffers[process].push_back((Message::own(x, value), now));
            }
            RuleKind::Store(edge) => {
                let (x, value) = self.written(process, edge);
                self.take(now, process, edge);
                self.stages[process].entry(x).or_default().push_back(value);
            }
            RuleKind::Serialize { location, value, is_last, pushes } => {
                if !pushes {
                    self.buffers[process].clear();
                }
                self.serialize(now, process, location, (value, is_last, pushes));
            }
        }
    }

    fn written(&self, process: ProcessId, edge: u32) -> (LocationId, u32) {
        match self.program.processes[process].edges[edge as usize].letter {
            Letter::Write(x, value) => (x, u32::from(value)),
            Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => {
                unreachable!("the rule is for writes")
            }
        }
    }

    /// Stores leave the stage: those that a larger configuration has in front, then the one that the rule is about.
    fn serialize(&mut self, now: usize, process: ProcessId, x: LocationId, rule: (u32, bool, bool)) {
        let (value, is_last, pushes) = rule;
        while let Some(store) = self.stages[process].get_mut(&x).and_then(VecDeque::pop_front) {
            self.write(now, process, x, store);
            if pushes {
                self.buffers[process].push_back((Message::own(x, store), now));
            }
            let is_empty = self.stages[process][&x].is_empty();
            if is_empty || (!is_last && may_be(value, store)) {
                return;
            }
        }
    }

    /// A store reaches memory.
    fn write(&mut self, now: usize, process: ProcessId, x: LocationId, value: u32) {
        self.memory[x] = value;
        let step = Step { process, action: Action::Flush(Flush::Store(x)) };
        self.events.push(Event { time: (now, 1, self.events.len()), logged: Logged { step, rest: None }, fault: None });
    }

    /// Drops the messages before the one that a read wants to be the oldest.
    fn uncover(&mut self, process: ProcessId, edge: u32) {
        let Letter::Read(x, value) = self.program.processes[process].edges[edge as usize].letter else {
            unreachable!("the rule is for reads")
        };
        let wanted = Message::sample(x, u32::from(value));
        while self.buffers[process].front().is_some_and(|(oldest, _)| *oldest != wanted) {
            self.buffers[process].pop_front();
        }
    }

    /// Drops the messages up to the oldest one that no newer own message shadows.
    fn delete(&mut self, process: ProcessId) {
        let buffer = &mut self.buffers[process];
        while let Some((oldest, _)) = buffer.pop_front() {
            if oldest.is_own() && !buffer.iter().any(|(later, _)| later.is_own_of(oldest.location())) {
                return;
            }
        }
    }

    fn take(&mut self, now: usize, process: ProcessId, edge: u32) {
        let automaton = &self.program.processes[process];
        let edge = &automaton.edges[edge as usize];
        let view = self.buffers[process].front().map_or(now, |(_, pushed)| *pushed);
        let to = &automaton.states[edge.to as usize];
        let logged = Logged { step: edge.step, rest: Some(to.local) };
        self.events.push(Event { time: (view, 0, now), logged, fault: to.fault });
        if let Letter::Atomic(atomic) = &edge.letter {
            for (x, value) in &atomic.writes {
                self.memory[*x] = u32::from(*value);
            }
        }
    }
}
