//! Which variable of a zone stands for what.
//!
//! ```text
//!    view of a process:  0 │ memory … │ registers … │ what a load finds │ what havocs pick …
//!    constraint:         0 │ memory … │ registers of all … │ messages and pending stores, process by process …
//! ```

use crate::engine::symbolic::difference::Sum;
use crate::engine::symbolic::effect::{Effect, Var};
use crate::numeric::Term;
use crate::program::{LocationId, ProcessId, Program, RegisterId, StateVar};
use crate::util::{Idx, IndexVec};

/// The variables of one process by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    n_locations: usize,
    n_registers: usize,
}

impl View {
    /// So many locations and registers.
    pub(crate) fn new(n_locations: usize, n_registers: usize) -> Self {
        Self { n_locations, n_registers }
    }

    /// How many variables there are without what is loaded and picked.
    pub(crate) fn n_variables(self) -> usize {
        1 + self.n_locations + self.n_registers
    }

    /// How many variables an effect needs besides.
    pub(crate) fn n_extra(self, effect: &Effect) -> usize {
        1 + effect.picks.len()
    }

    /// A location.
    pub(crate) fn location(self, x: LocationId) -> usize {
        1 + x.index()
    }

    /// The location that a variable stands for.
    pub(crate) fn location_at(self, variable: usize) -> Option<LocationId> {
        (1..=self.n_locations).contains(&variable).then(|| LocationId::from_usize(variable - 1))
    }

    /// A register.
    pub(crate) fn register(self, register: RegisterId) -> usize {
        1 + self.n_locations + register.index()
    }

    /// What a load finds.
    pub(crate) fn loaded(self) -> usize {
        self.n_variables()
    }

    /// What a havoc picks.
    pub(crate) fn picked(self, i: usize) -> usize {
        self.n_variables() + 1 + i
    }

    /// A variable of an effect.
    pub(crate) fn variable(self, variable: Var) -> usize {
        match variable {
            Var::Register(register) => self.register(register),
            Var::Memory(x) => self.location(x),
            Var::Loaded => self.loaded(),
            Var::Picked(i) => self.picked(i),
        }
    }

    /// A sum of an effect.
    pub(crate) fn term(self, sum: Sum<Var>) -> Term {
        Term { base: sum.var.map_or(0, |it| self.variable(it)), plus: sum.plus }
    }
}

/// The variables of a constraint that are there whatever is in the buffers.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    n_locations: usize,
    /// The first register of each process.
    registers: IndexVec<ProcessId, usize>,
    n_base: usize,
}

impl Layout {
    /// The variables of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let n_locations = program.locations().len();
        let mut n_base = 1 + n_locations;
        let registers = program.processes().iter().map(|process| {
            let first = n_base;
            n_base += process.registers.len();
            first
        });
        Self { n_locations, registers: registers.collect(), n_base }
    }

    /// How many there are; messages come behind them.
    pub(crate) fn n_base(&self) -> usize {
        self.n_base
    }

    /// A location.
    pub(crate) fn location(&self, x: LocationId) -> usize {
        1 + x.index()
    }

    /// A register.
    pub(crate) fn register(&self, process: ProcessId, register: RegisterId) -> usize {
        self.registers[process] + register.index()
    }

    /// What a variable that is always there stands for; `None` for the constant 0.
    pub(crate) fn what(&self, variable: usize) -> Option<StateVar> {
        let at = variable.checked_sub(1)?;
        if at < self.n_locations {
            return Some(StateVar::Memory(LocationId::from_usize(at)));
        }
        let (process, first) = self.registers.iter_enumerated().rfind(|(_, first)| **first <= variable)?;
        Some(StateVar::Register(process, RegisterId::from_usize(variable - first)))
    }

    /// What a variable in the view of a process is here.
    pub(crate) fn of_view(&self, process: ProcessId, variable: usize) -> usize {
        match variable.checked_sub(1 + self.n_locations) {
            None => variable,
            Some(register) => self.registers[process] + register,
        }
    }
}
