//! Templates with thresholds: what is kept of data.
//!
//! A template is the form of a predicate, `□ ≤ c`, `-□ ≤ c` or `□ - □ ≤ c`, for every variable that there is: memory,
//! registers and what waits in buffers. Its thresholds are the constants `c`. To abstract a zone is to raise each bound
//! to the next threshold, and to drop it where there is none. So a predicate that was found for a register holds of
//! the store that it goes into, and of the location that the store reaches, without being found again; and a zone that
//! was abstracted is one of finitely many.
//!
//! 0 is a threshold from the start. So whatever is a copy of something is known to be one, and the refinement need not
//! tell copies apart ([`trace`](super::trace)).

use std::collections::BTreeSet;

use crate::engine::predicates::bad::Bad;
use crate::engine::predicates::machine::Machine;
use crate::engine::symbolic::difference::Sum;
use crate::engine::symbolic::effect::Var;
use crate::engine::symbolic::flow::{Act, Step};
use crate::numeric::{Bound, Zone};
use crate::program::{Domain, Initial, Value};

/// Thresholds for each template.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    /// Of one variable against zero, from above and from below.
    single: BTreeSet<Value>,
    /// Of two variables.
    pair: BTreeSet<Value>,
}

/// What every program starts with: equal, less, by one more.
const FIRST: [Value; 3] = [-1, 0, 1];

impl Templates {
    /// Those that a program's own constants suggest.
    pub fn new(machine: &Machine<'_>, bad: &Bad) -> Self {
        let mut templates = Self { single: FIRST.into(), pair: FIRST.into() };
        let program = machine.program;
        program.locations().iter().for_each(|it| templates.add_domain(it.initial, it.domain));
        for process in program.processes() {
            process.registers.iter().for_each(|it| templates.add_domain(it.initial, it.domain));
        }
        machine.flows.iter().flat_map(|flow| &flow.steps).for_each(|step| templates.add_step(step));
        bad.guards().for_each(|it| templates.add_condition(it.left == 0 || it.right == 0, it.bound.value()));
        templates
    }

    /// Adds a threshold; whether it is new.
    pub fn add(&mut self, is_single: bool, threshold: Value) -> bool {
        if is_single { self.single.insert(threshold) } else { self.pair.insert(threshold) }
    }

    /// The thresholds for one variable and for two.
    pub fn thresholds(&self) -> (&BTreeSet<Value>, &BTreeSet<Value>) {
        (&self.single, &self.pair)
    }

    /// What is kept of a zone.
    pub fn abstracted(&self, zone: &Zone) -> Zone {
        zone.loosened(|i, j, bound| {
            let Some(value) = bound.value() else { return Bound::NONE };
            let thresholds = if i == 0 || j == 0 { &self.single } else { &self.pair };
            thresholds.range(value..).next().map_or(Bound::NONE, |&threshold| Bound::at_most(threshold))
        })
    }

    fn add_domain(&mut self, initial: Initial, domain: Domain) {
        let initial = match initial {
            Initial::Value(value) => Some(value),
            Initial::Any => None,
        };
        let bounds = domain.bounds().into_iter().flat_map(|(lo, hi)| [lo, hi]);
        initial.into_iter().chain(bounds).for_each(|value| self.add_constant(true, value));
    }

    fn add_step(&mut self, step: &Step) {
        for guard in &step.effect.when {
            self.add_condition(guard.left.is_none() || guard.right.is_none(), Some(guard.bound));
        }
        let stored = match step.act {
            Act::Store(_, sum) => Some(sum),
            Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
        };
        let assigned = step.effect.registers.values().chain(step.effect.memory.values()).copied().chain(stored);
        assigned.for_each(|Sum { var, plus }: Sum<Var>| self.add_constant(var.is_none(), plus));
        step.effect.picks.iter().for_each(|&(lo, hi)| [lo, hi].into_iter().for_each(|it| self.add_constant(true, it)));
    }

    /// A difference may be this.
    fn add_constant(&mut self, is_single: bool, value: Value) {
        self.add(is_single, value);
        value.checked_neg().map(|negated| self.add(is_single, negated));
    }

    /// A difference may be at most this, or not.
    fn add_condition(&mut self, is_single: bool, bound: Option<Value>) {
        let Some(bound) = bound else { return };
        self.add(is_single, bound);
        bound.checked_neg().and_then(|it| it.checked_sub(1)).map(|opposite| self.add(is_single, opposite));
    }
}
