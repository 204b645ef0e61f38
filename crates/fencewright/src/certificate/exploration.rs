//! A proof by looking at everything: the plain machine has so many states, and none is bad.
//!
//! For programs that a basis cannot be had for, such as those with unbounded integers that stay finite. To check that a
//! list of states is closed takes as long as to find it, so that the certificate holds their number only.

use std::collections::{HashSet, VecDeque};

use crate::memory::{Dialect, Job, Machine, Model, weakened};
use crate::program::{Placement, Program};
use crate::system::{Outcome, State, System, starts};

use super::Subject;
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
    let steps = &mut Steps::new(monitor);
    let weakened = of_messages(program, model);
    let program = weakened.as_ref().unwrap_or(program);
    model.with(dialect, Visiting { program, placement, size: Size::UNKNOWN, steps })
}

/// Checks that there are so many states, and that none is bad.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    n_states: u64,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let size = Size::claimed(n_states);
    let weakened = of_messages(program, subject.model);
    let program = weakened.as_ref().unwrap_or(program);
    let visiting = Visiting { program, placement, size, steps };
    subject.model.with(subject.dialect(), visiting).and_then(|found| size.is(found))
}

/// What is visited instead where a machine of messages keeps all that has happened.
fn of_messages(program: &Program, model: Model) -> Option<Program> {
    model.messaging().and_then(|_| weakened(program))
}

/// How many states there may be.
#[derive(Clone, Copy)]
pub(super) struct Size {
    claimed: Option<u64>,
}

impl Size {
    /// As many as are looked at.
    pub(super) const UNKNOWN: Self = Self { claimed: None };

    /// A certificate says so.
    pub(super) fn claimed(n_states: u64) -> Self {
        Self { claimed: Some(n_states) }
    }

    /// There are at least so many. What is found out to be wrong is not gone on with.
    pub(super) fn admits(self, n_states: usize) -> Result<(), Failure> {
        match self.claimed {
            Some(claimed) if n_states as u64 > claimed => {
                Failure::refused(format!("it claims {claimed} states, but there are more"))
            }
            _ if n_states > MAX_STATES => Failure::refused(format!("there are more than {MAX_STATES} states")),
            _ => Ok(()),
        }
    }

    /// There are so many.
    pub(super) fn is(self, n_states: u64) -> Result<(), Failure> {
        match self.claimed {
            Some(claimed) if n_states != claimed => {
                Failure::refused(format!("it claims {claimed} states, but there are {n_states}"))
            }
            _ => Ok(()),
        }
    }
}

struct Visiting<'a, 's> {
    program: &'a Program,
    placement: &'a Placement,
    size: Size,
    steps: &'a mut Steps<'s>,
}

impl Job for Visiting<'_, '_> {
    type Output = Result<u64, Failure>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        visit(&System::new(self.program, self.placement, machine), self.size, self.steps)
    }
}

/// About how many bytes it takes to keep a state, and to have it wait.
pub(super) fn bytes_of<M: Machine>(system: &System<'_, M>, state: &State<M::State>) -> u64 {
    let processes = system.flow.program.processes();
    let n_registers: usize = processes.iter().map(|it| it.registers.len()).sum();
    let n_locations = system.flow.program.locations().len();
    let n_waiting: usize = processes.indices().map(|it| system.machine.shown(&state.memory, it).pending().len()).sum();
    2 * (256 + 96 * processes.len() + 8 * (n_registers + 2 * n_locations) + 48 * n_waiting) as u64
}

fn visit<M: Machine>(system: &System<'_, M>, size: Size, steps: &mut Steps<'_>) -> Result<u64, Failure> {
    let program = system.flow.program;
    let Some(starts) = starts(program) else { return Failure::refused("a variable starts with any integer") };
    let mut bytes = 0;
    let mut seen = HashSet::new();
    // The first first, so that buffers which grow without end are short for long.
    let mut todo = VecDeque::new();
    for start in starts {
        let state = system.initial(&start);
        if seen.insert(state.clone()) {
            bytes += bytes_of(system, &state);
            todo.push_back(state);
        }
        size.admits(seen.len())?;
    }
    while let Some(state) = todo.pop_front() {
        steps.step(bytes)?;
        if system.violated(&state).is_some() {
            return Failure::refused("a state violates a property");
        }
        for (_, outcome) in system.steps(&state) {
            match outcome {
                Outcome::Next(next) if !seen.contains(&next) => {
                    seen.insert(next.clone());
                    bytes += bytes_of(system, &next);
                    todo.push_back(next);
                    size.admits(seen.len())?;
                }
                Outcome::Next(_) => {}
                Outcome::Fault(_) => return Failure::refused("a step goes wrong"),
                Outcome::Overflow => return Failure::refused("a value needs more than 64 bits"),
            }
        }
    }
    Ok(seen.len() as u64)
}
