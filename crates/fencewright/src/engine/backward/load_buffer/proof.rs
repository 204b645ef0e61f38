//! The basis of a safe search of the listed threads, in plain terms: for certificates.

use crate::engine::automaton::{Automaton, Merging, RegisterFree, Unmade};
use crate::engine::backward::lag::constraint::ABSENT;
use crate::engine::backward::lag::proof::told_facts;
use crate::engine::backward::lag::system::{LoadBuffers, Machine, Reducing};
use crate::engine::backward::{End, Resting, Search};
use crate::engine::{Task, Unsupported};
use crate::program::ProcessId;
use crate::util::Idx;
use crate::watch::Monitor;

pub use crate::engine::backward::lag::proof::{Cell, LastWrites, Sought, Told, ToldElement, ToldProcess};

/// Searches for a proof.
///
/// # Errors
/// The engine does not take the task.
pub fn seek<'a>(task: &Task<'a>, merging: Merging, monitor: &dyn Monitor) -> Result<Sought<'a>, Unsupported> {
    task.is_closed()?;
    let machine = Machine::of(task.buffering()?);
    let automaton = Automaton::new(task, merging);
    let program = match RegisterFree::new(task, &automaton, monitor) {
        Ok(program) => program,
        Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
        Err(Unmade::Stopped(stop)) => return Ok(Sought::Stopped(stop.into())),
    };
    // A process that is left open may have any buffer, a renamed constraint may be any of its like, a set of values any
    // of them, and own writes that are left out may be anywhere: none of that is closed rule by rule.
    let reducing = Reducing {
        view_steps: true,
        lag_region: true,
        last_writes: true,
        single_writer: true,
        absent: false,
        value_sets: false,
        read_back: false,
        symmetry: false,
    };
    let mut search = match LoadBuffers::new(task.program, &program, machine, reducing, monitor) {
        Ok(system) => Search::new(system),
        Err(stop) => return Ok(Sought::Stopped(stop.into())),
    };
    Ok(match search.run(task.options.threads, monitor) {
        End::Unsafe(_) => Sought::Unsafe,
        End::Stopped(reason) => Sought::Stopped(reason),
        End::Safe => Sought::Safe(Box::new(told(&search)), Box::new(Resting::new(automaton, &program))),
    })
}

fn told(search: &Search<LoadBuffers<'_>>) -> Told {
    let system = search.system();
    let elements = search.basis().map(|constraint| {
        let processes = || system.program.processes.indices();
        debug_assert!(processes().all(|process| constraint[process.index()] != ABSENT), "no process is left open");
        let memory = system.memory(constraint);
        let load = |process: ProcessId| {
            system.word(constraint, process).into_iter().map(|it| system.told_message(it)).collect()
        };
        let locations = system.program.values.indices();
        ToldElement {
            kinds: Vec::new(),
            states: processes().map(|process| constraint[process.index()]).collect(),
            buffers: processes().map(load).collect(),
            stores: processes().map(|it| system.told_stores(|x| constraint[system.store(it, x)])).collect(),
            memory: locations.map(|x| system.told_cell(x, memory[x.index()])).collect(),
        }
    });
    Told { elements: elements.collect(), ..told_facts(system) }
}
