//! The oracle: plain search of the reference semantics, nothing else.

use std::collections::HashSet;
use std::hash::Hash;

use fencewright::memory::{Model, Operational, Pso, Sc, Tso};
use fencewright::program::{Placement, Program};
use fencewright::system::{Dialect, Outcome, System, starts};

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

fn search<O: Operational>(system: &System<'_, O>, max_states: usize) -> Truth
where
    O::Memory: Hash,
{
    let initial = starts(system.flow.program).expect("generated programs have finite domains");
    let mut todo: Vec<_> = initial.map(|start| system.initial(&start)).collect();
    let mut seen: HashSet<_> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        if system.violated(&state).is_some() {
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
