//! The bad situations of a program, for a search to start from: named processes in local states that fit, memory as
//! asked, everything else open. All buffers are empty: a bad configuration can drain them and is still bad.

use crate::engine::automaton::{Datum, RegisterFree, StateId};
use crate::program::{LocationId, ProcessId, Program, Situation, StateVar, Value};
use crate::util::Idx;

/// A bad situation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bad {
    /// Where processes are; one that is not named may be anywhere.
    pub states: Vec<(ProcessId, StateId)>,
    /// What memory holds; a location that is not named may hold anything.
    pub memory: Vec<(LocationId, Datum)>,
}

/// The bad situations. With `absent`, processes that do not matter are left open.
pub(super) fn bad_situations(source: &Program, program: &RegisterFree, absent: bool) -> Vec<Bad> {
    let maker = Maker { program, absent };
    let mut out = Vec::new();
    for situation in source.properties().iter().flat_map(|property| &property.situations) {
        maker.of_situation(situation, &mut out);
    }
    for (process, automaton) in program.processes.iter_enumerated() {
        for (state, info) in automaton.states.iter().enumerate() {
            if info.fault.is_some() {
                let choice = [(process, vec![state as StateId])];
                maker.each(&choice, &[], &mut |bad| out.push(bad));
            }
        }
    }
    out
}

struct Maker<'a> {
    program: &'a RegisterFree,
    absent: bool,
}

impl Maker<'_> {
    fn of_situation(&self, situation: &Situation, out: &mut Vec<Bad>) {
        let mut named: Vec<ProcessId> = situation.at.iter().map(|(process, _)| *process).collect();
        let mut memory: Vec<LocationId> = Vec::new();
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, _) => named.push(*process),
            StateVar::Memory(x) => memory.push(*x),
        });
        named.sort_unstable();
        named.dedup();
        memory.sort_unstable();
        memory.dedup();
        let choices: Vec<_> = named.iter().map(|&process| (process, self.fitting(situation, process))).collect();
        self.each(&choices, &memory, &mut |bad| {
            let value_of = |variable: &StateVar| self.value(variable, &bad);
            if situation.condition.eval(&value_of).is_ok_and(|value| value != 0) {
                out.push(bad);
            }
        });
    }

    /// The states of a process that a situation does not exclude.
    fn fitting(&self, situation: &Situation, process: ProcessId) -> Vec<StateId> {
        let states = self.program.processes[process].states.iter().enumerate();
        let fits = states.filter(|(_, info)| info.fault.is_none() && situation.admits(process, info.point));
        fits.map(|(state, _)| state as StateId).collect()
    }

    fn value(&self, variable: &StateVar, bad: &Bad) -> Value {
        match variable {
            StateVar::Register(process, register) => {
                let state = bad.states.iter().find(|it| it.0 == *process).expect("its process is named").1;
                self.program.processes[*process].states[state as usize].registers[register.index()]
            }
            StateVar::Memory(x) => {
                let cell = bad.memory.iter().find(|it| it.0 == *x).expect("its location is named").1;
                self.program.values[*x][usize::from(cell)]
            }
        }
    }

    /// Calls `visit` with every choice of states and of memory.
    fn each(&self, choices: &[(ProcessId, Vec<StateId>)], memory: &[LocationId], visit: &mut impl FnMut(Bad)) {
        let mut choices = choices.to_vec();
        if !self.absent {
            for process in self.program.processes.indices() {
                if choices.iter().all(|choice| choice.0 != process) {
                    let all = 0..self.program.processes[process].states.len() as StateId;
                    choices.push((process, all.collect()));
                }
            }
        }
        let mut states = vec![Vec::new()];
        for (process, options) in &choices {
            let with = |states: &Vec<_>, state| [&states[..], &[(*process, state)]].concat();
            states = states.iter().flat_map(|chosen| options.iter().map(move |&it| with(chosen, it))).collect();
        }
        let mut cells = vec![Vec::new()];
        for &x in memory {
            let values = 0..self.program.values[x].len() as Datum;
            let with = |cells: &Vec<_>, value| [&cells[..], &[(x, value)]].concat();
            cells = cells.iter().flat_map(|chosen| values.clone().map(move |it| with(chosen, it))).collect();
        }
        for states in &states {
            cells.iter().for_each(|memory| visit(Bad { states: states.clone(), memory: memory.clone() }));
        }
    }
}
