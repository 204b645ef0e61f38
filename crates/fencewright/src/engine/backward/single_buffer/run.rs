//! From a path of the single-buffer search to a run of the store-buffer semantics.
//!
//! The path is executed on concrete values; where a constraint left messages out, a pointer that moves on passes them.
//! [`history`](crate::engine::backward::history) says when what happens in TSO.

use crate::engine::automaton::{Letter, RegisterFree, StateId};
use crate::engine::backward::facts::writes;
use crate::engine::backward::history::History;
use crate::engine::backward::single_buffer::constraint::{ABSENT, Constraint};
use crate::engine::backward::single_buffer::system::{Rule, RuleKind};
use crate::engine::backward::snapshot::STAR;
use crate::engine::backward::timeline::{Beginning, Timeline};
use crate::engine::run::Path;
use crate::memory::Internal;
use crate::program::ProcessId;
use crate::system::{Action, Fault, Step};
use crate::util::IndexVec;

/// The run that a path from an initial constraint stands for, and what it goes wrong with, if a step goes wrong; `None`
/// if the path contradicts itself.
pub(super) fn unroll(
    program: &RegisterFree,
    first: &Constraint,
    path: &[(Rule, &Constraint)],
) -> Option<(Path, Option<Fault>)> {
    let beginning = beginning(program, first);
    let mut machine = Machine {
        program,
        states: beginning.states.clone(),
        history: History::new(beginning.memory.clone(), program.processes.len()),
        timeline: Timeline::default(),
    };
    for (now, (rule, next)) in path.iter().enumerate() {
        machine.follow(now, *rule, next)?;
    }
    Some(machine.timeline.path(&beginning, program))
}

fn beginning(program: &RegisterFree, first: &Constraint) -> Beginning {
    let state = |(process, &state): (ProcessId, &StateId)| match state {
        ABSENT => *program.processes[process].initial.keys().next().expect("a process starts somewhere"),
        state => state,
    };
    let memory = first.channel.newest().memory.iter().zip(program.initial.iter());
    let memory = memory.map(|(&cell, initial)| if cell == STAR { initial[0] } else { cell });
    Beginning { states: first.states.iter_enumerated().map(state).collect(), memory: memory.collect() }
}

/// The single-buffer machine on concrete values.
struct Machine<'a> {
    program: &'a RegisterFree,
    states: IndexVec<ProcessId, StateId>,
    history: History,
    timeline: Timeline,
}

impl Machine<'_> {
    /// Takes a rule so that it leads into a constraint.
    fn follow(&mut self, now: usize, rule: Rule, next: &Constraint) -> Option<()> {
        let process = rule.process;
        match rule.kind {
            RuleKind::Step(edge) => self.take(now, process, edge),
            RuleKind::Append(edge, followers) => {
                self.history.catch_up(followers);
                self.take(now, process, edge);
                self.history.catch_up(followers);
            }
            RuleKind::Update => self.history.update(process).then_some(())?,
        }
        while !next.covers(&self.configuration()) {
            let has_moved = rule.kind == RuleKind::Update && self.history.update(process);
            has_moved.then_some(())?;
        }
        Some(())
    }

    /// The configuration as a constraint that only it and larger ones fulfill.
    fn configuration(&self) -> Constraint {
        Constraint { states: self.states.clone(), channel: self.history.channel(|_, _| false) }
    }

    fn take(&mut self, now: usize, process: ProcessId, id: u32) {
        let edge = &self.program.processes[process].edges[id as usize];
        let flushed = self.history.next_flush(now);
        let written = writes(&edge.letter);
        let (time, header) = match &edge.letter {
            Letter::Write(x, _) => {
                self.timeline.step(flushed, Step { process, action: Action::Internal(Internal::Arrives(*x)) });
                (self.history.view(process, now), Some((process, *x)))
            }
            Letter::Atomic(_) if !written.is_empty() => (flushed, None),
            Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => {
                (self.history.view(process, now), None)
            }
        };
        self.timeline.edge(time, self.program, process, id);
        self.states[process] = edge.to;
        if !written.is_empty() {
            self.history.append(&written, header);
        }
    }
}
