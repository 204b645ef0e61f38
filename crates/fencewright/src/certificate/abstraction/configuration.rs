//! Configurations: where processes are, what waits in their buffers, and what is known of all values.
//!
//! ```text
//!    variables:   0 │ memory … │ registers of all processes … │ what waits, process by process …
//! ```
//!
//! Where some threads are looked at against any behavior of the others, the others have no registers, and locations
//! that they may write no variable: nothing is ever known of these.

use std::collections::BTreeSet;

use crate::numeric::{Bound, Term, Zone};
use crate::program::{Domain, Initial, LocationId, ProcessId, Program, RegisterId, Value};
use crate::system::Control;
use crate::util::{Idx, IndexVec};

use super::buffer::{Buffer, Shape};
use super::data::Data;

/// Who is looked at. Others may do anything.
#[derive(Clone, Debug)]
pub(in crate::certificate) struct Known {
    /// These threads take steps; the others are gone.
    pub(in crate::certificate) threads: Vec<ProcessId>,
    /// Locations that others may write, of which nothing is known. A load finds any value there, and what is stored
    /// does not matter.
    pub(in crate::certificate) foreign: BTreeSet<LocationId>,
}

impl Known {
    /// All that there is.
    pub(super) fn all(program: &Program) -> Self {
        Self { threads: program.processes().indices().collect(), foreign: BTreeSet::new() }
    }
}

/// Which variable is what.
#[derive(Debug)]
pub(super) struct Layout {
    /// Those of which something is known.
    locations: IndexVec<LocationId, Option<usize>>,
    /// The first register of each process, and how many there are; none of a process that is not looked at.
    registers: IndexVec<ProcessId, (usize, usize)>,
    /// Memory and registers end here.
    pub(super) n_base: usize,
}

impl Layout {
    pub(super) fn new(program: &Program, known: &Known) -> Self {
        let mut n_base = 1;
        let mut take = |n_variables: usize| {
            n_base += n_variables;
            n_base - n_variables
        };
        let locations = program.locations().indices();
        let locations = locations.map(|x| (!known.foreign.contains(&x)).then(|| take(1))).collect();
        let registers = program.processes().iter_enumerated().map(|(process, it)| {
            let n_registers = if known.threads.contains(&process) { it.registers.len() } else { 0 };
            (take(n_registers), n_registers)
        });
        let registers = registers.collect();
        Self { locations, registers, n_base }
    }

    /// The variable of what memory holds at a location; `None` if nothing is known of it, or there is no such location.
    pub(super) fn location(&self, x: LocationId) -> Option<usize> {
        self.locations.get(x).copied().flatten()
    }

    pub(super) fn register(&self, process: ProcessId, register: RegisterId) -> usize {
        self.registers[process].0 + register.index()
    }

    /// The variable of a register, if there is such a register, and its process is looked at.
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
    pub(super) fn initial(program: &Program, known: &Known, layout: &Layout) -> Self {
        let mut zone = Zone::all(layout.n_base);
        let mut start = |variable: usize, bounds: Option<(Value, Value)>| {
            let is_possible = bounds.is_none_or(|bounds| within(&mut zone, variable, bounds));
            debug_assert!(is_possible, "what a variable holds at the start is a value");
        };
        for (x, location) in program.locations().iter_enumerated() {
            if let Some(variable) = layout.location(x) {
                start(variable, initial_bounds(location.initial, location.domain));
            }
        }
        for &process in &known.threads {
            for (register, it) in program.processes()[process].registers.iter_enumerated() {
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
