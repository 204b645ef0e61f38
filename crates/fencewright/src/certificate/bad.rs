//! The bad situations are in the basis, or excluded by the facts.
//!
//! From the local states that the checker has listed: for every combination of them (and of memory) that a property
//! forbids, their classes with empty buffers. A bad run may let all stores reach memory and drop all messages before it
//! ends; that changes no local state, and a final property looks at memory only when that is done. Processes that a
//! situation does not name may be anywhere.

use std::collections::BTreeSet;

use crate::program::{LocationId, PointId, ProcessId, Program, RegisterId, Situation, StateVar, Value};
use crate::system::Control;
use crate::util::{Idx, IndexVec};

use super::basis::{Basis, Class, Constraint};
use super::facts::Facts;
use super::locals::LocalState;
use super::order::Index;
use super::quotient::Quotient;
use super::verify::{Failure, Steps};

/// A class, and the registers of one of its local states that a condition looks at.
type Seen = (Class, Vec<(RegisterId, Value)>);

/// Whether a choice of classes and of memory is bad.
type IsBad<'a> = dyn Fn(&[&Seen], &[(LocationId, Value)]) -> bool + 'a;

/// Checks that every bad situation is covered.
pub(super) fn check(
    program: &Program,
    quotient: &Quotient,
    basis: &Basis,
    facts: &Facts<'_>,
    index: &Index<'_>,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let mut targets = Targets { quotient, basis, facts, index, steps };
    for (id, property) in program.properties().iter_enumerated() {
        for situation in &property.situations {
            let what = format!("property {}", id.index());
            targets.check_situation(situation).map_err(|it| it.within(&what))?;
        }
    }
    for (process, it) in quotient.processes.iter_enumerated() {
        let broken = it.locals.iter().filter(|(state, _)| matches!(state, LocalState::Broken(_)));
        let broken: BTreeSet<Seen> = broken.map(|(_, class)| (*class, Vec::new())).collect();
        let mut choices = targets.anywhere();
        choices[process] = broken.into_iter().collect();
        targets.check_all(&choices, &[], &|_, _| true).map_err(|it| it.within("a step that goes wrong"))?;
    }
    Ok(())
}

struct Targets<'a, 's> {
    quotient: &'a Quotient,
    basis: &'a Basis,
    facts: &'a Facts<'a>,
    index: &'a Index<'a>,
    steps: &'a mut Steps<'s>,
}

impl Targets<'_, '_> {
    fn anywhere(&self) -> IndexVec<ProcessId, Vec<Seen>> {
        let seen = self.quotient.processes.iter().map(|it| seen(&it.locals, None, &[]));
        seen.collect()
    }

    fn check_situation(&mut self, situation: &Situation) -> Result<(), Failure> {
        let mut registers: Vec<(ProcessId, RegisterId)> = Vec::new();
        let mut memory: BTreeSet<LocationId> = BTreeSet::new();
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, register) => registers.push((*process, *register)),
            StateVar::Memory(x) => drop(memory.insert(*x)),
        });
        let choices = self.quotient.processes.iter_enumerated().map(|(process, it)| {
            let points = situation.points_of(process);
            let mine = registers.iter().filter(|(owner, _)| *owner == process).map(|(_, register)| *register);
            seen(&it.locals, points, &mine.collect::<Vec<_>>())
        });
        let choices: IndexVec<ProcessId, Vec<Seen>> = choices.collect();
        let memory: Vec<LocationId> = memory.into_iter().collect();
        let holds = |chosen: &[&Seen], cells: &[(LocationId, Value)]| {
            let value_of = |variable: &StateVar| match variable {
                StateVar::Register(process, register) => {
                    let known = &chosen[process.index()].1;
                    known.iter().find(|it| it.0 == *register).map_or(0, |it| it.1)
                }
                StateVar::Memory(x) => cells.iter().find(|it| it.0 == *x).map_or(0, |it| it.1),
            };
            situation.condition.eval(&value_of).is_ok_and(|value| value != 0)
        };
        self.check_all(&choices, &memory, &holds)
    }

    /// Checks every combination for which `is_bad` holds.
    fn check_all(
        &mut self,
        choices: &IndexVec<ProcessId, Vec<Seen>>,
        memory: &[LocationId],
        is_bad: &IsBad<'_>,
    ) -> Result<(), Failure> {
        let values: Vec<Vec<Value>> = memory.iter().map(|x| self.basis.values[*x].iter().copied().collect()).collect();
        let sizes: Vec<usize> = choices.iter().map(Vec::len).chain(values.iter().map(Vec::len)).collect();
        let mut at = sizes.iter().all(|&size| size > 0).then(|| vec![0; sizes.len()]);
        while let Some(numbers) = at {
            self.steps.step(0)?;
            let (states, cells) = numbers.split_at(choices.len());
            let chosen: Vec<&Seen> = choices.iter().zip(states).map(|(options, &i)| &options[i]).collect();
            let cells = cells.iter().zip(&values).zip(memory).map(|((&i, values), x)| (*x, values[i]));
            let cells: Vec<(LocationId, Value)> = cells.collect();
            if is_bad(&chosen, &cells) {
                self.check_covered(&chosen, &cells)?;
            }
            at = next(numbers, &sizes);
        }
        Ok(())
    }

    fn check_covered(&self, chosen: &[&Seen], cells: &[(LocationId, Value)]) -> Result<(), Failure> {
        let n_processes = chosen.len();
        let mut target = Constraint {
            classes: chosen.iter().map(|seen| seen.0).collect(),
            buffers: IndexVec::filled(n_processes, Vec::new()),
            stores: IndexVec::filled(n_processes, std::collections::BTreeMap::new()),
            memory: IndexVec::filled(self.basis.values.len(), None),
        };
        cells.iter().for_each(|(x, value)| target.memory[*x] = Some(*value));
        if !self.facts.sharpen(&mut target) || self.index.covers(&target) {
            return Ok(());
        }
        let classes: Vec<Class> = chosen.iter().map(|seen| seen.0).collect();
        Failure::refused(format!("a bad situation is in no element: classes {classes:?}, memory {cells:?}"))
    }
}

/// The classes of local states at some points, with some registers, each once.
fn seen(locals: &[(LocalState, Class)], points: Option<&[PointId]>, registers: &[RegisterId]) -> Vec<Seen> {
    let mut out = BTreeSet::new();
    for (state, class) in locals {
        let LocalState::Here(control, values) = state else { continue };
        let is_there = match (points, control) {
            (None, _) => true,
            (Some(points), Control::At(point)) => points.contains(point),
            (Some(_), Control::Ready(_) | Control::Done(_)) => false,
        };
        if is_there {
            out.insert((*class, registers.iter().map(|register| (*register, values[register.index()])).collect()));
        }
    }
    out.into_iter().collect()
}

/// The next combination, the last number fastest.
fn next(mut numbers: Vec<usize>, sizes: &[usize]) -> Option<Vec<usize>> {
    for (number, &size) in numbers.iter_mut().zip(sizes).rev() {
        *number += 1;
        if *number < size {
            return Some(numbers);
        }
        *number = 0;
    }
    None
}
