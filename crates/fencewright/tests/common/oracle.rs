//! The oracle: plain search of the reference semantics, nothing else.

use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasherDefault;

use fencewright::memory::{Dialect, Job, Machine, Model};
use fencewright::program::{Placement, Program, Value};
use fencewright::system::{Control, Outcome, State, System, starts};
use rustc_hash::FxHasher;

/// What the oracle says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Safe,
    Unsafe,
    /// More states than the oracle cares to see.
    TooLarge,
}

/// Whether a bad situation is reachable, by looking at every state.
pub(crate) fn truth(
    program: &Program,
    placement: &Placement,
    model: Model,
    dialect: Dialect,
    max_states: usize,
) -> Truth {
    model.with(dialect, Searching { program, placement, max_states })
}

struct Searching<'a> {
    program: &'a Program,
    placement: &'a Placement,
    max_states: usize,
}

impl Job for Searching<'_> {
    type Output = Truth;

    fn run<M: Machine>(self, machine: M) -> Truth {
        let system = System::new(self.program, self.placement, machine);
        visit(&system, self.max_states, |state| system.violated(state).is_some())
    }
}

/// The values that the first registers of all processes can have together; `None` beyond `max_states`.
pub(crate) fn first_registers(program: &Program, model: Model, max_states: usize) -> Option<BTreeSet<Vec<Value>>> {
    let found = configurations(program, model, Dialect::default(), max_states)?;
    Some(found.into_iter().map(|(_, registers, _)| registers.iter().map(|registers| registers[0]).collect()).collect())
}

/// Where processes are, their registers, and memory.
pub(crate) type Configuration = (Vec<Control>, Vec<Vec<Value>>, Vec<Value>);

/// Everything that can be reached; `None` beyond `max_states`, or if something goes wrong inside a step.
pub(crate) fn configurations(
    program: &Program,
    model: Model,
    dialect: Dialect,
    max_states: usize,
) -> Option<BTreeSet<Configuration>> {
    model.with(dialect, Collecting { program, max_states })
}

struct Collecting<'a> {
    program: &'a Program,
    max_states: usize,
}

impl Job for Collecting<'_> {
    type Output = Option<BTreeSet<Configuration>>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let placement = Placement::NONE;
        let system = System::new(self.program, &placement, machine);
        let mut found = BTreeSet::new();
        let is_complete = visit(&system, self.max_states, |state| {
            let controls = state.controls.iter().copied().collect();
            let registers = state.registers.iter().cloned().collect();
            found.insert((controls, registers, system.contents(&state.memory).as_slice().to_vec()));
            false
        });
        (is_complete == Truth::Safe).then_some(found)
    }
}

/// Looks at every state until one is bad; a step that goes wrong is.
pub(crate) fn visit<M: Machine>(
    system: &System<'_, M>,
    max_states: usize,
    mut is_bad: impl FnMut(&State<M::State>) -> bool,
) -> Truth {
    visit_all(system, max_states, |seen| match seen {
        Seen::State(state) => is_bad(state),
        Seen::Fault => true,
    })
}

/// What a search comes by.
enum Seen<'a, S> {
    State(&'a State<S>),
    Fault,
}

fn visit_all<M: Machine>(
    system: &System<'_, M>,
    max_states: usize,
    mut is_bad: impl FnMut(Seen<'_, M::State>) -> bool,
) -> Truth {
    let initial = starts(system.flow.program).expect("generated programs have finite domains");
    let mut todo: Vec<_> = initial.map(|start| system.initial(&start)).collect();
    let mut seen: HashSet<_, BuildHasherDefault<FxHasher>> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        if is_bad(Seen::State(&state)) {
            return Truth::Unsafe;
        }
        if seen.len() > max_states {
            return Truth::TooLarge;
        }
        for (_, outcome) in system.steps(&state) {
            match outcome {
                Outcome::Next(next) => {
                    if seen.insert(next.clone()) {
                        todo.push(next);
                    }
                }
                Outcome::Fault(_) if is_bad(Seen::Fault) => return Truth::Unsafe,
                Outcome::Fault(_) => {}
                Outcome::Overflow => unreachable!("generated programs have small values"),
            }
        }
    }
    Truth::Safe
}

/// Registers and memory where runs end: all processes at their end, nothing pending. `None` beyond `max_states`. A run
/// that goes wrong has no end.
pub(crate) fn finals(program: &Program, model: Model, dialect: Dialect, max_states: usize) -> Option<BTreeSet<Final>> {
    model.with(dialect, Ending { program, max_states })
}

/// The registers of all processes, and memory.
pub(crate) type Final = (Vec<Vec<Value>>, Vec<Value>);

struct Ending<'a> {
    program: &'a Program,
    max_states: usize,
}

impl Job for Ending<'_> {
    type Output = Option<BTreeSet<Final>>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let placement = Placement::NONE;
        let system = System::new(self.program, &placement, machine);
        let has_ended = |control: &Control| control.point().is_some_and(|it| self.program.points()[it].is_end);
        let mut finals = BTreeSet::new();
        let is_complete = visit_all(&system, self.max_states, |seen| {
            if let Seen::State(state) = seen
                && state.controls.iter().all(has_ended)
                && system.machine.is_settled(&state.memory)
            {
                let registers = state.registers.iter().cloned().collect();
                finals.insert((registers, system.contents(&state.memory).as_slice().to_vec()));
            }
            false
        });
        (is_complete == Truth::Safe).then_some(finals)
    }
}
