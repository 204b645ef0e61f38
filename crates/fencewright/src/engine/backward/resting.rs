//! In which state of a search a local state of the program comes to rest: for certificates, which know no search.

use std::collections::BTreeMap;

use crate::engine::automaton::{Automaton, LocalState, RegisterFree, StateId};
use crate::program::{ProcessId, Value};
use crate::system::{Control, Fault};
use crate::util::IndexVec;

/// Tells in which state of the search a local state comes to rest.
#[derive(Debug)]
pub struct Resting<'a> {
    automaton: Automaton<'a>,
    ids: IndexVec<ProcessId, BTreeMap<u32, StateId>>,
    /// A state of each process in which it has gone wrong, if it can.
    broken: IndexVec<ProcessId, Option<StateId>>,
}

impl<'a> Resting<'a> {
    /// The states of a program that was searched.
    pub(super) fn new(automaton: Automaton<'a>, program: &RegisterFree) -> Self {
        let ids = program.processes.indices().map(|process| {
            program.standing(process).into_iter().map(|(local, state)| (local.to_word(), state)).collect()
        });
        let broken = program.processes.iter().map(|process| {
            let found = process.states.iter().position(|info| info.fault.is_some());
            found.map(|id| id as StateId)
        });
        Self { automaton, ids: ids.collect(), broken: broken.collect() }
    }

    /// A state of a process that went wrong, whatever it was.
    pub fn any_broken(&self, process: ProcessId) -> Option<StateId> {
        self.broken[process]
    }

    /// The state of a process that is here; `None` if it can be several, or none that the search knows.
    pub fn here(&self, process: ProcessId, control: Control, registers: Vec<Value>) -> Option<StateId> {
        self.rest(process, self.automaton.normal(process, control, registers))
    }

    /// The state of a process that went wrong.
    pub fn broken(&self, process: ProcessId, fault: Fault) -> Option<StateId> {
        self.rest(process, LocalState::Broken(fault))
    }

    fn rest(&self, process: ProcessId, start: LocalState) -> Option<StateId> {
        let state =
            |local: &LocalState| self.ids[process].get(&self.automaton.intern(local.clone()).to_word()).copied();
        let settled = self.automaton.settled(start);
        let (first, others) = settled.split_first()?;
        let found = state(first)?;
        others.iter().all(|it| state(it) == Some(found)).then_some(found)
    }
}
