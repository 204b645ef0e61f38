//! Configurations: where processes are, what waits in their buffers, and what is known of all values.
//!
//! ```text
//!    variables:   0 │ memory … │ registers of all processes … │ what waits, process by process …
//! ```

use crate::numeric::{Bound, Term, Zone};
use crate::program::{Domain, Initial, LocationId, ProcessId, Program, RegisterId, Value};
use crate::system::Control;
use crate::util::{Idx, IndexVec};

use super::buffer::{Buffer, Shape};
use super::data::Data;

/// Which variable is what.
#[derive(Debug)]
pub(super) struct Layout {
    n_locations: usize,
    /// The first register of each process, and how many there are.
    registers: IndexVec<ProcessId, (usize, usize)>,
    /// Memory and registers end here.
    pub(super) n_base: usize,
}

impl Layout {
    pub(super) fn new(program: &Program) -> Self {
        let mut n_base = 1 + program.locations().len();
        let registers = program.processes().iter().map(|process| {
            let first = n_base;
            n_base += process.registers.len();
            (first, process.registers.len())
        });
        Self { n_locations: program.locations().len(), registers: registers.collect(), n_base }
    }

    pub(super) fn location(&self, x: LocationId) -> usize {
        1 + x.index()
    }

    pub(super) fn register(&self, process: ProcessId, register: RegisterId) -> usize {
        self.registers[process].0 + register.index()
    }

    /// The variable of a location, if there is such a location.
    pub(super) fn find_location(&self, x: LocationId) -> Option<usize> {
        (x.index() < self.n_locations).then(|| self.location(x))
    }

    /// The variable of a register, if there is such a register.
    pub(super) fn find_register(&self, process: ProcessId, register: RegisterId) -> Option<usize> {
        let (first, n_registers) = *self.registers.get(process)?;
        (register.index() < n_registers).then(|| first + register.index())
    }
}

/// Where processes are and what waits, values aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) controls: IndexVec<ProcessId, Control>,
    pub(super) shapes: IndexVec<ProcessId, Shape>,
}

impl Key {
    /// The variable of the first value that waits for a process.
    pub(super) fn first_value(&self, process: ProcessId, layout: &Layout) -> usize {
        let before: usize = self.shapes.iter().take(process.index()).map(Shape::n_values).sum();
        layout.n_base + before
    }
}

/// A set of configurations of the semantics.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    pub(super) key: Key,
    pub(super) data: Data,
}

impl Configuration {
    /// How a program starts.
    pub(super) fn initial(program: &Program, layout: &Layout) -> Self {
        let mut zone = Zone::all(layout.n_base);
        let mut start = |variable: usize, bounds: Option<(Value, Value)>| {
            let is_possible = bounds.is_none_or(|bounds| within(&mut zone, variable, bounds));
            debug_assert!(is_possible, "what a variable holds at the start is a value");
        };
        for (x, location) in program.locations().iter_enumerated() {
            start(layout.location(x), initial_bounds(location.initial, location.domain));
        }
        for (process, it) in program.processes().iter_enumerated() {
            for (register, it) in it.registers.iter_enumerated() {
                start(layout.register(process, register), initial_bounds(it.initial, it.domain));
            }
        }
        let controls = program.processes().iter().map(|process| Control::At(process.entry)).collect();
        let shapes = IndexVec::filled(program.processes().len(), Shape::default());
        Self { key: Key { controls, shapes }, data: Data::new(zone) }
    }

    /// What waits for a process, each value a variable.
    pub(super) fn buffer(&self, process: ProcessId, layout: &Layout) -> Buffer {
        self.key.shapes[process].buffer(self.key.first_value(process, layout))
    }

    /// Variables that are always there get new values, all at once, and a process another buffer.
    pub(super) fn assigned(
        &self,
        values: &[(usize, Term)],
        buffer: Option<(ProcessId, &Buffer)>,
        layout: &Layout,
    ) -> Self {
        let mut terms: Vec<Term> = (0..layout.n_base).map(Term::var).collect();
        values.iter().for_each(|&(variable, term)| terms[variable] = term);
        let mut key = self.key.clone();
        for process in self.key.shapes.indices() {
            match buffer {
                Some((changed, buffer)) if changed == process => {
                    terms.extend(buffer.values());
                    key.shapes[process] = buffer.shape();
                }
                Some(_) | None => terms.extend(self.buffer(process, layout).values()),
            }
        }
        Self { key, data: self.data.after(&terms) }
    }

    /// The same with more known of values.
    pub(super) fn with_data(&self, data: Data) -> Self {
        Self { key: self.key.clone(), data }
    }

    /// The same with a process elsewhere.
    pub(super) fn at(mut self, process: ProcessId, control: Control) -> Self {
        self.key.controls[process] = control;
        self
    }
}

/// A variable is in a range; false if it cannot be.
#[must_use]
pub(super) fn within(zone: &mut Zone, variable: usize, (lo, hi): (Value, Value)) -> bool {
    zone.add(variable, 0, Bound::at_most(hi)) && zone.add(0, variable, Bound::ZERO.shifted(-i128::from(lo)))
}

/// The least and the greatest value at the start, if there are such.
fn initial_bounds(initial: Initial, domain: Domain) -> Option<(Value, Value)> {
    match initial {
        Initial::Value(value) => Some((value, value)),
        Initial::Any => domain.bounds(),
    }
}
