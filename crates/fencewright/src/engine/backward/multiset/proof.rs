//! The basis of a safe search of multisets, in plain terms: for certificates.

use crate::engine::automaton::{Automaton, Merging, RegisterFree, Unmade};
use crate::engine::backward::lag::proof::told_facts;
use crate::engine::backward::lag::system::{LoadBuffers, Machine, Reducing};
use crate::engine::backward::{End, Resting, Search};
use crate::engine::{Task, Unsupported};
use crate::watch::Monitor;

pub use crate::engine::backward::lag::proof::{Sought, Told};

use super::kinds::Kinds;
use super::search;
use super::system::Multisets;

/// Searches for a proof.
///
/// # Errors
/// The engine does not take the task.
pub fn seek<'a>(task: &Task<'a>, merging: Merging, monitor: &dyn Monitor) -> Result<Sought<'a>, Unsupported> {
    let machine = Machine::of(task.buffering()?);
    let automaton = Automaton::new(task, merging);
    let program = match RegisterFree::new(task, &automaton, monitor) {
        Ok(program) => program,
        Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
        Err(Unmade::Stopped(stop)) => return Ok(Sought::Stopped(stop.into())),
    };
    let kinds = Kinds::new(task.program, &program)?;
    let system = match LoadBuffers::new(task.program, &program, machine, REDUCING, monitor) {
        Ok(inner) => Multisets::new(inner, &kinds, None),
        Err(stop) => return Ok(Sought::Stopped(stop.into())),
    };
    let mut seeking = Search::new(system);
    Ok(match search(&mut seeking, task.options.threads, monitor) {
        End::Unsafe(_) => Sought::Unsafe,
        End::Stopped(reason) => Sought::Stopped(reason),
        End::Safe => Sought::Safe(Box::new(told(&seeking)), Box::new(Resting::new(automaton, &program))),
    })
}

/// Sets of values and own writes that are left out are not closed rule by rule. Own messages are dropped anywhere, so
/// that a newcomer whose load buffer is empty stands for all.
const REDUCING: Reducing = Reducing {
    view_steps: false,
    lag_region: true,
    last_writes: true,
    single_writer: true,
    absent: true,
    value_sets: false,
    read_back: false,
    symmetry: false,
};

fn told(search: &Search<Multisets<'_>>) -> Told {
    let elements = search.basis().map(|constraint| search.system().told(constraint)).collect();
    Told { elements, ..told_facts(search.system().inner()) }
}
