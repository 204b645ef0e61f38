//! A proof by looking at everything: the plain machine has so many states, and none is bad.
//!
//! For programs that a basis cannot be had for, such as those with unbounded integers that stay finite. To check that a
//! list of states is closed takes as long as to find it, so that the certificate holds their number only.

use std::collections::HashSet;

use crate::memory::{Dialect, Job, Machine, Model};
use crate::program::{Placement, Program};
use crate::system::{Outcome, System, starts};

use super::verify::{Failure, Steps};
use crate::watch::Monitor;

/// More states than this are not looked at.
pub const MAX_STATES: usize = 2_000_000;

/// The number of states of the plain machine, none of which is bad.
///
/// # Errors
/// One is bad, or there are too many.
pub fn explore(
    program: &Program,
    placement: &Placement,
    model: Model,
    dialect: Dialect,
    monitor: &dyn Monitor,
) -> Result<u64, Failure> {
    visit_all(program, placement, model, dialect, &mut Steps::new(monitor))
}

pub(super) fn visit_all(
    program: &Program,
    placement: &Placement,
    model: Model,
    dialect: Dialect,
    steps: &mut Steps<'_>,
) -> Result<u64, Failure> {
    model.with(dialect, Visiting { program, placement, steps })
}

struct Visiting<'a, 's> {
    program: &'a Program,
    placement: &'a Placement,
    steps: &'a mut Steps<'s>,
}

impl Job for Visiting<'_, '_> {
    type Output = Result<u64, Failure>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        visit(&System::new(self.program, self.placement, machine), self.steps)
    }
}

fn visit<M: Machine>(system: &System<'_, M>, steps: &mut Steps<'_>) -> Result<u64, Failure> {
    let program = system.flow.program;
    let Some(starts) = starts(program) else { return Failure::refused("a variable starts with any integer") };
    let n_registers: usize = program.processes().iter().map(|it| it.registers.len()).sum();
    let bytes_each = 2 * (256 + 48 * program.processes().len() + 8 * (n_registers + 2 * program.locations().len()));
    let mut seen = HashSet::new();
    let mut todo = Vec::new();
    for start in starts {
        let state = system.initial(&start);
        if seen.insert(state.clone()) {
            todo.push(state);
        }
        check_size(seen.len())?;
    }
    while let Some(state) = todo.pop() {
        steps.step((seen.len() * bytes_each) as u64)?;
        if system.violated(&state).is_some() {
            return Failure::refused("a state violates a property");
        }
        for (_, outcome) in system.steps(&state) {
            match outcome {
                Outcome::Next(next) if !seen.contains(&next) => {
                    seen.insert(next.clone());
                    todo.push(next);
                    check_size(seen.len())?;
                }
                Outcome::Next(_) => {}
                Outcome::Fault(_) => return Failure::refused("a step goes wrong"),
                Outcome::Overflow => return Failure::refused("a value needs more than 64 bits"),
            }
        }
    }
    Ok(seen.len() as u64)
}

fn check_size(n_states: usize) -> Result<(), Failure> {
    match n_states > MAX_STATES {
        true => Failure::refused(format!("there are more than {MAX_STATES} states")),
        false => Ok(()),
    }
}
