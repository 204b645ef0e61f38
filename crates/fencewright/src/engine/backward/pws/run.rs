//! From a path of the search to a run of the store-buffer semantics.
//!
//! The path is executed on concrete values. Where a constraint left messages out, a pointer that moves on passes them;
//! where it left stores out, they are serialized before the one that the rule is about.
//! [`history`](crate::engine::backward::history) says when what happens in PSO. A store-store fence passes here when
//! the stores before it are serialized; in PSO it passes at the time of its process, which may be before they are
//! flushed, and its marker leaves when the last of them is.

use crate::engine::automaton::{Datum, Letter, RegisterFree, StateId};
use crate::engine::backward::facts::writes;
use crate::engine::backward::history::History;
use crate::engine::backward::pws::constraint::Constraint;
use crate::engine::backward::pws::stores::Stores;
use crate::engine::backward::pws::system::{Rule, RuleKind};
use crate::engine::backward::snapshot::STAR;
use crate::engine::backward::timeline::{Beginning, Timeline};
use crate::engine::run::Path;
use crate::memory::Internal;
use crate::program::{LocationId, ProcessId};
use crate::system::{Action, Fault, Step};
use crate::util::IndexVec;

/// The run that a path from an initial constraint stands for, and what it goes wrong with, if a step goes wrong; `None`
/// if the path contradicts itself.
pub(super) fn unroll(
    program: &RegisterFree,
    first: &Constraint,
    path: &[(Rule, &Constraint)],
) -> Option<(Path, Option<Fault>)> {
    let memory = first.channel.newest().memory.iter().zip(program.initial.iter());
    let memory = memory.map(|(&cell, initial)| if cell == STAR { initial[0] } else { cell });
    let beginning = Beginning { states: first.states.clone(), memory: memory.collect() };
    let mut machine = Machine {
        program,
        states: beginning.states.clone(),
        stores: Stores::default(),
        history: History::new(beginning.memory.clone(), program.processes.len()),
        timeline: Timeline::default(),
    };
    for (now, (rule, next)) in path.iter().enumerate() {
        machine.follow(now, *rule, next)?;
    }
    Some(machine.timeline.path(&beginning, program))
}

/// Partial write serialization on concrete values.
struct Machine<'a> {
    program: &'a RegisterFree,
    states: IndexVec<ProcessId, StateId>,
    stores: Stores,
    history: History,
    timeline: Timeline,
}

impl Machine<'_> {
    /// Takes a rule so that it leads into a constraint: as it is, or several times.
    fn follow(&mut self, now: usize, rule: Rule, next: &Constraint) -> Option<()> {
        self.take(now, rule)?;
        while !next.covers(&self.configuration()) {
            match rule.kind {
                RuleKind::Serialize(..) | RuleKind::Update => self.take(now, rule)?,
                RuleKind::Step(_) | RuleKind::Append(..) => return None,
            }
        }
        Some(())
    }

    /// The configuration as a constraint that only it and larger ones fulfill.
    fn configuration(&self) -> Constraint {
        let channel = self.history.channel(|process, x| self.stores.is_pending(process, x));
        Constraint { states: self.states.clone(), stores: self.stores.clone(), channel }
    }

    fn take(&mut self, now: usize, rule: Rule) -> Option<()> {
        let process = rule.process;
        match rule.kind {
            RuleKind::Step(edge) => {
                self.timeline.edge(self.history.view(process, now), self.program, process, edge);
                self.step(process, edge);
            }
            RuleKind::Append(edge, followers) => {
                self.history.catch_up(followers);
                self.timeline.edge(self.history.next_flush(now), self.program, process, edge);
                let written = self.step(process, edge);
                self.history.append(&written, None);
                self.history.catch_up(followers);
            }
            RuleKind::Serialize(x, followers) => {
                self.history.catch_up(followers);
                let (oldest, later) =
                    self.stores.get(process, x).split_first().map(|(&it, rest)| (it, rest.to_vec()))?;
                self.stores.set(process, x, later);
                let step = Step { process, action: Action::Internal(Internal::Arrives(x)) };
                self.timeline.step(self.history.next_flush(now), step);
                self.history.append(&[(x, oldest)], Some((process, x)));
                self.history.catch_up(followers);
            }
            RuleKind::Update => self.history.update(process).then_some(())?,
        }
        Some(())
    }

    /// Goes along an edge, and stores what it stores; what an atomic one writes.
    fn step(&mut self, process: ProcessId, edge: u32) -> Vec<(LocationId, Datum)> {
        let edge = &self.program.processes[process].edges[edge as usize];
        self.states[process] = edge.to;
        if let Letter::Write(x, value) = edge.letter {
            let stores = [self.stores.get(process, x), &[value]].concat();
            self.stores.set(process, x, stores);
        }
        writes(&edge.letter)
    }
}
