//! Configurations: where processes are, what waits in their buffers, and a zone over all values.
//!
//! ```text
//!    variables of the zone:   0 │ memory … │ registers of all processes … │ what waits, process by process …
//! ```

use crate::numeric::{Bound, Term, Zone};
use crate::program::{Domain, Initial, LocationId, ProcessId, Program, RegisterId, Value};
use crate::system::Control;
use crate::util::{Idx, IndexVec};

use super::buffer::{Buffer, Shape};

/// Which variable of a zone is what.
#[derive(Debug)]
pub(super) struct Layout {
    /// The first register of each process.
    registers: IndexVec<ProcessId, usize>,
    /// Memory and registers end here.
    pub(super) n_base: usize,
}

impl Layout {
    pub(super) fn new(program: &Program) -> Self {
        let mut n_base = 1 + program.locations().len();
        let registers = program.processes().iter().map(|process| {
            let first = n_base;
            n_base += process.registers.len();
            first
        });
        Self { registers: registers.collect(), n_base }
    }

    pub(super) fn location(&self, x: LocationId) -> usize {
        1 + x.index()
    }

    pub(super) fn register(&self, process: ProcessId, register: RegisterId) -> usize {
        self.registers[process] + register.index()
    }
}

/// Where processes are and what waits, values aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) controls: IndexVec<ProcessId, Control>,
    pub(super) shapes: IndexVec<ProcessId, Shape>,
}

/// A set of configurations of the semantics.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    pub(super) key: Key,
    pub(super) zone: Zone,
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
        Self { key: Key { controls, shapes }, zone }
    }

    /// What waits for a process, each value a variable of the zone.
    pub(super) fn buffer(&self, process: ProcessId, layout: &Layout) -> Buffer {
        let before: usize = self.key.shapes.iter().take(process.index()).map(Shape::n_values).sum();
        self.key.shapes[process].buffer(layout.n_base + before)
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
        Self { key, zone: self.zone.after(&terms) }
    }

    /// The same with less data.
    pub(super) fn with_zone(&self, zone: Zone) -> Self {
        Self { key: self.key.clone(), zone }
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
