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

use crate::engine::automaton::{Atomic, Datum, FastMap, Letter, LetterEdge};
use crate::engine::backward::lag::choices::{Act, Choice};
use crate::engine::backward::lag::system::{LoadBuffers, Rule, RuleKind};
use crate::engine::backward::lag::values::Values;
use crate::engine::backward::timeline::{Beginning, Timeline};
use crate::engine::run::Path;
use crate::memory::Internal;
use crate::program::{LocationId, ProcessId};
use crate::system::{Action, Fault, Step};
use crate::util::IndexVec;

/// The run that rules lead through, and what its last step goes wrong with, if it does.
pub(in crate::engine::backward) fn warp(
    system: &LoadBuffers<'_>,
    beginning: &Beginning,
    rules: &[Rule],
) -> (Path, Option<Fault>) {
    let program = system.program;
    let mut machine = Machine {
        system,
        memory: beginning.memory.clone(),
        buffers: program.processes.iter().map(|_| VecDeque::new()).collect(),
        stages: program.processes.iter().map(|_| FastMap::default()).collect(),
        timeline: Timeline::default(),
        n_flushes: 0,
    };
    for (i, rule) in rules.iter().enumerate() {
        machine.step(i + 1, *rule);
    }
    machine.settle(rules.len() + 1);
    machine.timeline.path(beginning, program)
}

/// A message with the step that pushed it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Message {
    is_own: bool,
    location: LocationId,
    value: Datum,
    pushed: usize,
}

/// The load-buffer machine on concrete values.
struct Machine<'a> {
    system: &'a LoadBuffers<'a>,
    memory: IndexVec<LocationId, Datum>,
    /// Oldest first.
    buffers: IndexVec<ProcessId, VecDeque<Message>>,
    /// Stores in the stage, oldest first.
    stages: IndexVec<ProcessId, FastMap<LocationId, VecDeque<Datum>>>,
    timeline: Timeline,
    n_flushes: usize,
}

impl Machine<'_> {
    fn step(&mut self, now: usize, rule: Rule) {
        let process = rule.process;
        match rule.kind {
            RuleKind::Propagate(x) => self.push(now, process, false, (x, self.memory[x])),
            RuleKind::Delete(x) => self.delete(process, x),
            RuleKind::Nop(choice) | RuleKind::ReadOwn(choice) => self.take(now, process, choice),
            RuleKind::ReadHead(choice) => {
                self.uncover(process, choice);
                self.take(now, process, choice);
            }
            RuleKind::Drained(choice) => {
                self.buffers[process].clear();
                self.take(now, process, choice);
                if let Some((x, value)) = self.written(process, choice) {
                    self.write(now, process, x, value);
                }
            }
            RuleKind::Write(choice) => {
                let (x, value) = self.written(process, choice).expect("the rule is for writes");
                self.take(now, process, choice);
                self.write(now, process, x, value);
                self.push(now, process, true, (x, value));
            }
            RuleKind::Store(choice) => {
                let (x, value) = self.written(process, choice).expect("the rule is for writes");
                self.take(now, process, choice);
                self.stages[process].entry(x).or_default().push_back(value);
            }
            RuleKind::Serialize { location, values, is_last, pushes } => {
                if !pushes {
                    self.buffers[process].clear();
                }
                self.serialize(now, process, location, (values, is_last, pushes));
            }
        }
    }

    /// Stores that no rule told of leave the stage: a situation may ask that none is pending.
    fn settle(&mut self, now: usize) {
        for process in self.system.processes() {
            let mut pending: Vec<LocationId> = self.stages[process].keys().copied().collect();
            pending.sort_unstable();
            for x in pending {
                self.serialize(now, process, x, (Values::ANY, true, false));
            }
        }
    }

    fn choice(&self, process: ProcessId, choice: u32) -> &Choice {
        &self.system.choices[process].all[choice as usize]
    }

    fn edge(&self, process: ProcessId, edge: u32) -> &LetterEdge {
        &self.system.program.processes[process].edges[edge as usize]
    }

    fn push(&mut self, now: usize, process: ProcessId, is_own: bool, (location, value): (LocationId, Datum)) {
        self.buffers[process].push_back(Message { is_own, location, value, pushed: now });
    }

    fn written(&self, process: ProcessId, choice: u32) -> Option<(LocationId, Datum)> {
        match self.edge(process, self.choice(process, choice).edges[0]).letter {
            Letter::Write(x, value) => Some((x, value)),
            Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => None,
        }
    }

    /// Stores leave the stage: those that a larger configuration has in front, then the one that the rule is about.
    fn serialize(&mut self, now: usize, process: ProcessId, x: LocationId, rule: (Values, bool, bool)) {
        let (values, is_last, pushes) = rule;
        while let Some(store) = self.stages[process].get_mut(&x).and_then(VecDeque::pop_front) {
            self.write(now, process, x, store);
            if pushes {
                self.push(now, process, true, (x, store));
            }
            let is_empty = self.stages[process][&x].is_empty();
            if is_empty || (!is_last && self.system.encoding.contains(x, values, store)) {
                return;
            }
        }
    }

    /// A store reaches memory.
    fn write(&mut self, now: usize, process: ProcessId, x: LocationId, value: Datum) {
        self.memory[x] = value;
        if self.system.machine.lags {
            // A serialization may let several stores out, in their order.
            self.n_flushes += 1;
            let step = Step { process, action: Action::Internal(Internal::Arrives(x)) };
            self.timeline.step((now, 1, self.n_flushes), step);
        }
    }

    /// Drops the messages before the one that a read wants to be the oldest.
    fn uncover(&mut self, process: ProcessId, choice: u32) {
        let &Act::Read(x, values) = &self.choice(process, choice).act else { unreachable!("the rule is for reads") };
        while let Some(oldest) = self.buffers[process].front()
            && !(!oldest.is_own && oldest.location == x && self.system.encoding.contains(x, values, oldest.value))
        {
            self.buffers[process].pop_front();
        }
    }

    /// Drops the messages up to the newest own one of a location.
    fn delete(&mut self, process: ProcessId, x: LocationId) {
        let buffer = &mut self.buffers[process];
        if let Some(at) = buffer.iter().rposition(|message| message.is_own && message.location == x) {
            buffer.drain(..=at);
        }
    }

    fn take(&mut self, now: usize, process: ProcessId, choice: u32) {
        let taken = self.taken(process, choice);
        let view = self.buffers[process].front().map_or(now, |oldest| oldest.pushed);
        self.timeline.edge((view, 0, now), self.system.program, process, taken);
        if let Letter::Atomic(Atomic { writes, .. }) = self.edge(process, taken).letter.clone() {
            writes.into_iter().for_each(|(x, value)| self.memory[x] = value);
        }
    }

    /// The edge of a choice that fits what there is to find; the first if the rules do not fit together.
    fn taken(&self, process: ProcessId, choice: u32) -> u32 {
        let edges = &self.choice(process, choice).edges;
        let fits = |&&edge: &&u32| match &self.edge(process, edge).letter {
            Letter::Read(x, value) => self.found(process, *x) == *value,
            Letter::Atomic(Atomic { guards, .. }) => guards.iter().all(|&(x, value)| self.memory[x] == value),
            Letter::Nop | Letter::Write(..) | Letter::Fence(_) => true,
        };
        *edges.iter().find(fits).unwrap_or(&edges[0])
    }

    /// What a process finds when it reads.
    fn found(&self, process: ProcessId, x: LocationId) -> Datum {
        let staged = self.stages[process].get(&x).and_then(VecDeque::back);
        let buffer = &self.buffers[process];
        let own = || buffer.iter().rev().find(|it| it.is_own && it.location == x).map(|it| &it.value);
        let head = || buffer.front().filter(|it| it.location == x).map(|it| &it.value);
        *staged.or_else(own).or_else(head).unwrap_or(&self.memory[x])
    }
}
