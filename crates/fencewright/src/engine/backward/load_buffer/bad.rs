//! The bad situations of a program as constraints: named processes in local states that fit, memory as asked, all
//! buffers empty (a bad configuration can drop all its messages), everything else open.

use crate::engine::automaton::{RegisterFree, StateId};
use crate::engine::backward::Words;
use crate::engine::backward::load_buffer::constraint::{ABSENT, STAR};
use crate::engine::backward::load_buffer::system::Constraint;
use crate::program::{LocationId, ProcessId, Program, Situation, StateVar, Value};
use crate::util::Idx;

/// The bad constraints, with so many words before memory. With `absent`, processes that do not matter are left open.
pub fn bad_constraints(
    source: &Program,
    program: &RegisterFree,
    n_before_memory: usize,
    absent: bool,
) -> Vec<Constraint> {
    let maker = Maker { program, n_before_memory, absent };
    let mut out = Vec::new();
    for situation in source.properties().iter().flat_map(|property| &property.situations) {
        maker.of_situation(situation, &mut out);
    }
    for (process, automaton) in program.processes.iter_enumerated() {
        for (state, info) in automaton.states.iter().enumerate() {
            if info.fault.is_some() {
                let choice = [(process, vec![state as StateId])];
                maker.each(&choice, &[], &mut |states, _| out.push(maker.constraint(states, &[])));
            }
        }
    }
    out
}

struct Maker<'a> {
    program: &'a RegisterFree,
    n_before_memory: usize,
    absent: bool,
}

impl Maker<'_> {
    fn of_situation(&self, situation: &Situation, out: &mut Vec<Constraint>) {
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
        self.each(&choices, &memory, &mut |states, cells| {
            let value_of = |variable: &StateVar| self.value(variable, states, cells);
            if situation.condition.eval(&value_of).is_ok_and(|value| value != 0) {
                out.push(self.constraint(states, cells));
            }
        });
    }

    /// The states of a process that a situation does not exclude.
    fn fitting(&self, situation: &Situation, process: ProcessId) -> Vec<StateId> {
        let points = situation.at.iter().find(|(named, _)| *named == process).map(|(_, points)| points);
        let states = self.program.processes[process].states.iter().enumerate();
        let fits = states.filter(|(_, info)| match points {
            Some(points) => info.point.is_some_and(|point| points.contains(&point)),
            None => info.fault.is_none(),
        });
        fits.map(|(state, _)| state as StateId).collect()
    }

    fn value(&self, variable: &StateVar, states: &[(ProcessId, StateId)], cells: &[(LocationId, u32)]) -> Value {
        match variable {
            StateVar::Register(process, register) => {
                let state = states.iter().find(|it| it.0 == *process).expect("its process is named").1;
                self.program.processes[*process].states[state as usize].registers[register.index()]
            }
            StateVar::Memory(x) => {
                let cell = cells.iter().find(|it| it.0 == *x).expect("its location is named").1;
                self.program.values[*x][cell as usize]
            }
        }
    }

    /// Calls `visit` with every choice of states and of memory.
    fn each(
        &self,
        choices: &[(ProcessId, Vec<StateId>)],
        memory: &[LocationId],
        visit: &mut impl FnMut(&[(ProcessId, StateId)], &[(LocationId, u32)]),
    ) {
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
            let values = 0..self.program.values[x].len() as u32;
            let with = |cells: &Vec<_>, value| [&cells[..], &[(x, value)]].concat();
            cells = cells.iter().flat_map(|chosen| values.clone().map(move |it| with(chosen, it))).collect();
        }
        for states in &states {
            cells.iter().for_each(|cells| visit(states, cells));
        }
    }

    fn constraint(&self, states: &[(ProcessId, StateId)], cells: &[(LocationId, u32)]) -> Constraint {
        let n_processes = self.program.processes.len();
        let mut constraint = vec![ABSENT; n_processes];
        constraint.resize(self.n_before_memory, Words::EMPTY);
        constraint.resize(self.n_before_memory + self.program.values.len(), STAR);
        for (process, state) in states {
            constraint[process.index()] = *state;
        }
        for (x, value) in cells {
            constraint[self.n_before_memory + x.index()] = *value;
        }
        constraint.into()
    }
}
