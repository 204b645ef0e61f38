//! Bisimilar states of a process, merged.
//!
//! Two states are one if no property tells them apart and the same letters lead to states that are one:
//!
//! ```text
//!    q3 ── r(x,0) ──▶ q5        {q3,q4} ── r(x,0) ──▶ {q5,q6}
//!    q4 ── r(x,0) ──▶ q6   ⟹
//! ```
//!
//! The [`partition`](super::partition) starts from what properties see and is refined until nothing splits. A path
//! through merged states is a path through the states themselves, step by step: [`Unmerged`] finds it.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::automaton::partition::{coarsest, numbered};
use crate::engine::automaton::{Letter, LetterEdge, LocalId, ProcessAutomaton, StateId, StateInfo};
use crate::engine::run::Path;
use crate::program::{PointId, ProcessId, Program, RegisterId, StateVar, Value};
use crate::system::Fault;
use crate::util::{Idx, IndexVec};

/// The states of a process before they were merged.
#[derive(Debug)]
pub(crate) struct Unmerged {
    process: ProcessAutomaton,
    class_of: Vec<StateId>,
}

impl Unmerged {
    /// The states with those that stand for them.
    pub(super) fn classes(&self) -> impl Iterator<Item = (LocalId, StateId)> {
        self.process.states.iter().zip(&self.class_of).map(|(info, &class)| (info.local, class))
    }
}

/// What properties can tell of a state.
type Seen = (Option<Fault>, Option<PointId>, Vec<Value>);

/// The process with bisimilar states merged, and what it was before.
pub(super) fn merged(program: &Program, id: ProcessId, process: ProcessAutomaton) -> (ProcessAutomaton, Unmerged) {
    let seen = Seeing::new(program, id);
    let first = numbered(process.states.iter().map(|info| seen.of(info)));
    let letters = numbered(process.edges.iter().map(|edge| edge.letter.clone().ordered()));
    let leads = |edges: &Vec<u32>| {
        edges.iter().map(|&edge| (letters[edge as usize], process.edges[edge as usize].to)).collect()
    };
    let class_of = coarsest(&first, &process.outgoing.iter().map(leads).collect::<Vec<_>>());
    (quotient(&process, &class_of), Unmerged { process, class_of })
}

fn n_classes(class_of: &[StateId]) -> usize {
    class_of.iter().max().map_or(0, |&last| last as usize + 1)
}

/// What properties look at in a process.
struct Seeing {
    points: BTreeSet<PointId>,
    registers: BTreeSet<RegisterId>,
}

impl Seeing {
    fn new(program: &Program, id: ProcessId) -> Self {
        let mut seeing = Self { points: BTreeSet::new(), registers: BTreeSet::new() };
        for situation in program.properties().iter().flat_map(|property| &property.situations) {
            let named = situation.at.iter().filter(|(process, _)| *process == id);
            named.for_each(|(_, points)| seeing.points.extend(points));
            situation.condition.for_each_var(&mut |variable| match variable {
                StateVar::Register(process, register) if *process == id => {
                    seeing.registers.insert(*register);
                }
                StateVar::Register(..) | StateVar::Memory(_) => {}
            });
        }
        seeing
    }

    fn of(&self, info: &StateInfo) -> Seen {
        let values = self.registers.iter().filter_map(|register| info.registers.get(register.index()));
        (info.fault, info.point.filter(|point| self.points.contains(point)), values.copied().collect())
    }
}

/// The first state of each class stands for it.
fn quotient(process: &ProcessAutomaton, class_of: &[StateId]) -> ProcessAutomaton {
    let n_states = n_classes(class_of);
    let mut firsts: Vec<usize> = Vec::new();
    for (state, &class) in class_of.iter().enumerate() {
        if class as usize == firsts.len() {
            firsts.push(state);
        }
    }
    let mut merged = ProcessAutomaton {
        states: firsts.iter().map(|&state| process.states[state].clone()).collect(),
        initial: BTreeMap::new(),
        edges: Vec::new(),
        incoming: vec![Vec::new(); n_states],
        outgoing: vec![Vec::new(); n_states],
    };
    for (state, registers) in &process.initial {
        merged.initial.entry(class_of[*state as usize]).or_insert_with(|| registers.clone());
    }
    let mut known: BTreeSet<(StateId, StateId, Letter)> = BTreeSet::new();
    for &edge in firsts.iter().flat_map(|&state| &process.outgoing[state]) {
        let edge = &process.edges[edge as usize];
        let (from, to) = (class_of[edge.from as usize], class_of[edge.to as usize]);
        if known.insert((from, to, edge.letter.clone().ordered())) {
            let id = merged.edges.len() as u32;
            merged.incoming[to as usize].push(id);
            merged.outgoing[from as usize].push(id);
            merged.edges.push(LetterEdge { from, to, letter: edge.letter.clone(), step: edge.step });
        }
    }
    merged
}

/// A path through merged states as one through the states themselves.
pub(super) fn unmerged(
    merged: &IndexVec<ProcessId, ProcessAutomaton>,
    unmerged: &IndexVec<ProcessId, Unmerged>,
    mut path: Path,
) -> Option<Path> {
    let mut at: IndexVec<ProcessId, StateId> = IndexVec::new();
    for (process, before) in unmerged.iter_enumerated() {
        let (registers, rest) = (&path.start.registers[process], &mut path.rests[process.index()]);
        let class = |state: StateId| &merged[process].states[before.class_of[state as usize] as usize];
        let is_start =
            |(state, initial): &(&StateId, &Vec<Value>)| *initial == registers && class(**state).local == *rest;
        let (&start, _) = before.process.initial.iter().find(is_start)?;
        *rest = before.process.states[start as usize].local;
        at.push(start);
    }
    for logged in &mut path.steps {
        let Some(taken) = logged.edge else { continue };
        let process = logged.step.process;
        let (taken, before) = (&merged[process].edges[taken as usize], &unmerged[process]);
        let letter = taken.letter.clone().ordered();
        let is_it = |edge: &&LetterEdge| {
            before.class_of[edge.to as usize] == taken.to && edge.letter.clone().ordered() == letter
        };
        let outgoing = &before.process.outgoing[at[process] as usize];
        let edge = outgoing.iter().map(|&edge| &before.process.edges[edge as usize]).find(is_it)?;
        logged.step = edge.step;
        logged.rest = Some(before.process.states[edge.to as usize].local);
        at[process] = edge.to;
    }
    Some(path)
}
