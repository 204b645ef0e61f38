//! The bad situations are in the basis, or excluded by the facts.
//!
//! From the local states that the checker has listed: for every combination of them (and of memory) that a property
//! forbids, their classes with empty buffers. A bad run may let all stores reach memory and drop all messages before it
//! ends; that changes no local state, and a final property looks at memory only when that is done. Processes that a
//! situation does not name may be anywhere.

use std::collections::BTreeSet;

use crate::program::{LocationId, PointId, ProcessId, Property, PropertyKind, RegisterId, Situation, StateVar, Value};
use crate::system::Control;
use crate::util::{Idx, IndexVec};

use super::basis::Class;
use super::locals::{LocalState, Offers, Values};
use super::quotient::Quotient;
use super::verify::{Failure, Steps};

/// A class, or any, and the registers of one of its local states that a condition looks at.
type Seen = (Option<Class>, Vec<(RegisterId, Value)>);

/// Whether a choice of classes and of memory is bad.
type IsBad<'a> = dyn Fn(&[&Seen], &[(LocationId, Value)]) -> bool + 'a;

/// Whether classes, or any, with this in memory are covered, or excluded by the facts.
type IsCovered<'a> = dyn Fn(&[Option<Class>], &[(LocationId, Value)]) -> bool + 'a;

/// What bad situations are looked for in.
#[derive(Clone, Copy)]
pub(super) struct Targets<'a> {
    pub(super) quotient: &'a Quotient,
    /// What each location can hold.
    pub(super) values: &'a Values,
    /// Whether processes that a situation does not name are left open; otherwise each of their classes is tried.
    pub(super) leaves_open: bool,
    /// What must hold of each situation.
    pub(super) is_covered: &'a IsCovered<'a>,
    /// The processes in the places of constraints. What others do is not known.
    pub(super) who: &'a [ProcessId],
}

/// Whether it is known of a situation who is in it: these processes are, and nobody else writes what it looks at.
pub(super) fn is_known(
    property: &Property,
    situation: &Situation,
    who: &[ProcessId],
    foreign: &BTreeSet<LocationId>,
) -> bool {
    let mut is_known = property.kind == PropertyKind::Final || situation.at.iter().all(|it| who.contains(&it.0));
    situation.condition.for_each_var(&mut |variable| match variable {
        StateVar::Register(process, _) => is_known &= who.contains(process),
        StateVar::Memory(x) => is_known &= !foreign.contains(x),
    });
    is_known
}

impl Targets<'_> {
    /// Checks that every bad situation that is known is covered.
    pub(super) fn check(&self, offers: &Offers<'_>, steps: &mut Steps<'_>) -> Result<(), Failure> {
        for (id, property) in offers.flow.program.properties().iter_enumerated() {
            let known = property.situations.iter().filter(|it| is_known(property, it, self.who, offers.foreign));
            for situation in known {
                let what = format!("property {}", id.index());
                self.check_situation(situation, steps).map_err(|it| it.within(&what))?;
            }
        }
        for place in self.quotient.processes.indices() {
            self.check_broken(place, steps)?;
        }
        Ok(())
    }

    /// Checks that it is covered if one of the processes goes wrong.
    pub(super) fn check_broken(&self, place: ProcessId, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let broken = self.quotient.processes[place].locals.iter();
        let broken = broken.filter(|(state, _)| matches!(state, LocalState::Broken(_)));
        let broken: BTreeSet<Seen> = broken.map(|(_, class)| (Some(*class), Vec::new())).collect();
        let mut choices = self.anywhere();
        choices[place] = broken.into_iter().collect();
        self.check_all(&choices, &[], &|_, _| true, steps).map_err(|it| it.within("a step that goes wrong"))
    }

    fn anywhere(&self) -> IndexVec<ProcessId, Vec<Seen>> {
        self.quotient.processes.iter().map(|it| self.seen(&it.locals, None, &[])).collect()
    }

    fn seen(&self, locals: &[(LocalState, Class)], points: Option<&[PointId]>, registers: &[RegisterId]) -> Vec<Seen> {
        match self.leaves_open && points.is_none() && registers.is_empty() {
            true => vec![(None, Vec::new())],
            false => seen(locals, points, registers),
        }
    }

    /// Checks that a situation of the processes is covered.
    pub(super) fn check_situation(&self, situation: &Situation, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let mut registers: Vec<(ProcessId, RegisterId)> = Vec::new();
        let mut memory: BTreeSet<LocationId> = BTreeSet::new();
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, register) => registers.push((*process, *register)),
            StateVar::Memory(x) => drop(memory.insert(*x)),
        });
        let choices = self.who.iter().zip(&self.quotient.processes).map(|(&process, it)| {
            let points = situation.points_of(process);
            let mine = registers.iter().filter(|(owner, _)| *owner == process).map(|(_, register)| *register);
            self.seen(&it.locals, points, &mine.collect::<Vec<_>>())
        });
        let choices: IndexVec<ProcessId, Vec<Seen>> = choices.collect();
        let memory: Vec<LocationId> = memory.into_iter().collect();
        let holds = |chosen: &[&Seen], cells: &[(LocationId, Value)]| {
            let value_of = |variable: &StateVar| match variable {
                StateVar::Register(process, register) => {
                    let place = self.who.iter().position(|it| it == process);
                    let known = place.map_or(&[][..], |place| &chosen[place].1);
                    known.iter().find(|it| it.0 == *register).map_or(0, |it| it.1)
                }
                StateVar::Memory(x) => cells.iter().find(|it| it.0 == *x).map_or(0, |it| it.1),
            };
            situation.condition.eval(&value_of).is_ok_and(|value| value != 0)
        };
        self.check_all(&choices, &memory, &holds, steps)
    }

    /// Checks every combination for which `is_bad` holds.
    fn check_all(
        &self,
        choices: &IndexVec<ProcessId, Vec<Seen>>,
        memory: &[LocationId],
        is_bad: &IsBad<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<(), Failure> {
        let values: Vec<Vec<Value>> = memory.iter().map(|x| self.values[*x].iter().copied().collect()).collect();
        let sizes: Vec<usize> = choices.iter().map(Vec::len).chain(values.iter().map(Vec::len)).collect();
        let mut at = sizes.iter().all(|&size| size > 0).then(|| vec![0; sizes.len()]);
        while let Some(numbers) = at {
            steps.step(0)?;
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
        let classes: Vec<Option<Class>> = chosen.iter().map(|seen| seen.0).collect();
        if (self.is_covered)(&classes, cells) {
            return Ok(());
        }
        let name = |class: &Option<Class>| class.map_or_else(|| "*".to_owned(), |class| class.to_string());
        let classes = classes.iter().map(name).collect::<Vec<_>>().join(", ");
        Failure::refused(format!("a bad situation is in no element: classes [{classes}], memory {cells:?}"))
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
            out.insert((
                Some(*class),
                registers.iter().map(|register| (*register, values[register.index()])).collect(),
            ));
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
