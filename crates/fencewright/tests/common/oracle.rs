//! The oracle: plain search of the reference semantics, nothing else.

use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

use fencewright::memory::{Model, Operational, Pso, Sc, Tso};
use fencewright::program::{Placement, Program, Value};
use fencewright::system::{Control, Dialect, Outcome, State, System, starts};

/// What the oracle says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    Safe,
    Unsafe,
    /// More states than the oracle cares to see.
    TooLarge,
}

/// Whether a bad situation is reachable, by looking at every state.
pub fn truth(program: &Program, placement: &Placement, model: Model, dialect: Dialect, max_states: usize) -> Truth {
    match model {
        Model::Sc => search(&System::new(program, placement, Sc), max_states),
        Model::Tso => search(&System::new(program, placement, Tso), max_states),
        Model::Pso => search(&System::new(program, placement, Pso { rmw: dialect.pso_rmw }), max_states),
    }
}

/// The values that the first registers of all processes can have together; `None` beyond `max_states`.
pub fn first_registers(program: &Program, model: Model, max_states: usize) -> Option<BTreeSet<Vec<Value>>> {
    let mut found = BTreeSet::new();
    let placement = &Placement::NONE;
    let is_complete = match model {
        Model::Sc => visit(&System::new(program, placement, Sc), max_states, |it| note(&mut found, it)),
        Model::Tso => visit(&System::new(program, placement, Tso), max_states, |it| note(&mut found, it)),
        Model::Pso => {
            let model = Pso { rmw: Dialect::default().pso_rmw };
            visit(&System::new(program, placement, model), max_states, |it| note(&mut found, it))
        }
    };
    (is_complete == Truth::Safe).then_some(found)
}

/// Where processes are, their registers, and memory.
pub type Configuration = (Vec<Control>, Vec<Vec<Value>>, Vec<Value>);

/// Everything that can be reached; `None` beyond `max_states`, or if something goes wrong inside a step.
pub fn configurations(
    program: &Program,
    model: Model,
    dialect: Dialect,
    max_states: usize,
) -> Option<BTreeSet<Configuration>> {
    let placement = &Placement::NONE;
    match model {
        Model::Sc => collect(&System::new(program, placement, Sc), max_states),
        Model::Tso => collect(&System::new(program, placement, Tso), max_states),
        Model::Pso => collect(&System::new(program, placement, Pso { rmw: dialect.pso_rmw }), max_states),
    }
}

fn collect<O: Operational>(system: &System<'_, O>, max_states: usize) -> Option<BTreeSet<Configuration>>
where
    O::Memory: Hash,
{
    let mut found = BTreeSet::new();
    let is_complete = visit(system, max_states, |state| {
        let controls = state.controls.iter().copied().collect();
        let registers = state.registers.iter().cloned().collect();
        found.insert((controls, registers, system.model.contents(&state.memory).to_vec()));
        false
    });
    (is_complete == Truth::Safe).then_some(found)
}

fn note<M>(found: &mut BTreeSet<Vec<Value>>, state: &State<M>) -> bool {
    found.insert(state.registers.iter().map(|registers| registers[0]).collect());
    false
}

fn search<O: Operational>(system: &System<'_, O>, max_states: usize) -> Truth
where
    O::Memory: Hash,
{
    visit(system, max_states, |state| system.violated(state).is_some())
}

/// Looks at every state until one is bad.
fn visit<O: Operational>(
    system: &System<'_, O>,
    max_states: usize,
    mut is_bad: impl FnMut(&State<O::Memory>) -> bool,
) -> Truth
where
    O::Memory: Hash,
{
    let initial = starts(system.flow.program).expect("generated programs have finite domains");
    let mut todo: Vec<_> = initial.map(|start| system.initial(&start)).collect();
    let mut seen: HashSet<_> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        if is_bad(&state) {
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
                Outcome::Fault(_) => return Truth::Unsafe,
                Outcome::Overflow => unreachable!("generated programs have small values"),
            }
        }
    }
    Truth::Safe
}
