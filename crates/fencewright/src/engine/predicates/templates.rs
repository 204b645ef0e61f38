//! Templates with thresholds: what is kept of data.
//!
//! A template is the form of a predicate, `□ ≤ c`, `-□ ≤ c` or `□ - □ ≤ c`, for every variable that there is: memory,
//! registers and what waits in buffers. Its thresholds are the constants `c`. To abstract a zone is to raise each bound
//! to the next threshold, and to drop it where there is none. So a predicate that was found for a register holds of
//! the store that it goes into, and of the location that the store reaches, without being found again; and a zone that
//! was abstracted is one of finitely many.
//!
//! A constraint that is no difference is kept as it is, as long as it follows: it is a [`Predicate`] then, and the
//! configuration says whether it is known. Exact refutations tell ([`Row`]).
//!
//! 0 is a threshold from the start. So whatever is a copy of something is known to be one, and the refinement need not
//! tell copies apart ([`trace`](super::trace)).

use std::collections::BTreeSet;

use crate::engine::predicates::bad::Bad;
use crate::engine::predicates::machine::{Condition, Machine, Rising, Skeleton, Transition};
use crate::engine::predicates::site::{Predicate, base_sites, sites};
use crate::engine::symbolic::difference::Sum;
use crate::engine::symbolic::effect::{ANY, Var};
use crate::engine::symbolic::flow::{Act, Step};
use crate::engine::symbolic::layout::Layout;
use crate::numeric::{Bound, Row, Zone, entails};
use crate::program::{Domain, Initial, Value};

/// Thresholds for each template.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates {
    /// Of one variable against zero, from above and from below.
    single: BTreeSet<Value>,
    /// Of two variables.
    pair: BTreeSet<Value>,
    /// What is no difference.
    predicates: Vec<Predicate>,
}

/// What is kept of data.
#[derive(Clone, Debug)]
pub(super) struct Data {
    /// Bounds at thresholds.
    pub zone: Zone,
    /// The predicates that are known to hold; ascending.
    known: Vec<usize>,
}

impl Data {
    /// Whether all that the other one stands for, this one does.
    pub(super) fn includes(&self, other: &Self) -> bool {
        self.known.iter().all(|it| other.known.binary_search(it).is_ok()) && self.zone.includes(&other.zone)
    }
}

/// Something to keep of data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wanted {
    /// A threshold for all that bounds one variable.
    Single(Value),
    /// A threshold for all differences.
    Pair(Value),
    /// A predicate.
    Predicate(Predicate),
}

/// What every program starts with: equal, less, by one more.
const FIRST: [Value; 3] = [-1, 0, 1];

impl Templates {
    /// Those that a program's own constants suggest.
    pub(super) fn new(machine: &Machine<'_>, bad: &Bad) -> Self {
        let mut templates = Self { single: FIRST.into(), pair: FIRST.into(), predicates: Vec::new() };
        let program = machine.program;
        program.locations().iter().for_each(|it| templates.add_domain(it.initial, it.domain));
        for process in program.processes() {
            process.registers.iter().for_each(|it| templates.add_domain(it.initial, it.domain));
        }
        machine.flows.iter().flat_map(|flow| &flow.steps).for_each(|step| templates.add_step(step));
        bad.conditions().for_each(|it| templates.add_bounds(it));
        templates
    }

    /// Keeps more of data; whether that is new.
    pub(super) fn want(&mut self, wanted: Wanted) -> bool {
        match wanted {
            Wanted::Single(threshold) => self.single.insert(threshold),
            Wanted::Pair(threshold) => self.pair.insert(threshold),
            Wanted::Predicate(predicate) if self.predicates.contains(&predicate) => false,
            Wanted::Predicate(predicate) => {
                self.predicates.push(predicate);
                true
            }
        }
    }

    /// Keeps whether a condition on memory and registers holds.
    pub(super) fn want_condition(&mut self, condition: &Condition, layout: &Layout) {
        self.add_bounds(condition);
        let sites = base_sites(layout);
        for row in &condition.rows {
            self.want(Wanted::Predicate(Predicate::new(row, &sites)));
            row.negated().map(|row| self.want(Wanted::Predicate(Predicate::new(&row, &sites))));
        }
    }

    /// What is kept of how data starts.
    pub(super) fn first(&self, machine: &Machine<'_>, initial: &Zone) -> Data {
        let sites = sites(machine.layout, &machine.initial());
        let known = self
            .predicates
            .iter()
            .enumerate()
            .filter(|(_, it)| it.row(&sites).is_some_and(|row| entails(initial, &[], &row)));
        let known = known.map(|it| it.0).collect();
        Data { zone: self.abstracted(initial), known }
    }

    /// What is kept of data after a transition, without some variables; `None` if it cannot happen.
    pub(super) fn after(
        &self,
        machine: &Machine<'_>,
        at: &Skeleton,
        data: &Data,
        transition: &Transition,
    ) -> Option<After> {
        let premises = self.known_rows(machine, at, data);
        let before = transition.before(&data.zone, &premises)?;
        let known = if self.predicates.is_empty() {
            Vec::new()
        } else {
            let sites = sites(machine.layout, &transition.to);
            let all = [&premises[..], &transition.when.rows].concat();
            let follows = |predicate: &Predicate| {
                let row = predicate.row(&sites).and_then(|row| before_assignment(&row, transition));
                row.is_some_and(|row| premises.contains(&row) || entails(&before, &all, &row))
            };
            (0..self.predicates.len()).filter(|&it| follows(&self.predicates[it])).collect()
        };
        let falls = transition.rises.iter().find(|rise| rise.may_fall(before.clone())).map(|rise| rise.what);
        Some(After { zone: before.after(&transition.terms), known, falls })
    }

    /// What is kept of data.
    pub(super) fn kept(&self, after: After) -> Data {
        Data { zone: self.abstracted(&after.zone), known: after.known }
    }

    /// The predicates that are known, by variables.
    pub(super) fn known_rows(&self, machine: &Machine<'_>, at: &Skeleton, data: &Data) -> Vec<Row> {
        if data.known.is_empty() {
            return Vec::new();
        }
        let sites = sites(machine.layout, at);
        data.known.iter().filter_map(|&it| self.predicates[it].row(&sites)).collect()
    }

    /// The thresholds for one variable and for two.
    pub(super) fn thresholds(&self) -> (&BTreeSet<Value>, &BTreeSet<Value>) {
        (&self.single, &self.pair)
    }

    /// What is kept that is no difference.
    pub(super) fn predicates(&self) -> &[Predicate] {
        &self.predicates
    }

    /// What is kept of a zone.
    fn abstracted(&self, zone: &Zone) -> Zone {
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
        for guard in &step.effect.when.differences {
            self.add_condition(guard.left.is_none() || guard.right.is_none(), Some(guard.bound));
        }
        let stored = match step.act {
            Act::Store(_, sum) => Some(sum),
            Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
        };
        let assigned = step.effect.registers.values().chain(step.effect.memory.values()).copied().chain(stored);
        assigned.for_each(|Sum { var, plus }: Sum<Var>| self.add_constant(var.is_none(), plus));
        let picks = step.effect.picks.iter().filter(|&&it| it != ANY);
        picks.for_each(|&(lo, hi)| [lo, hi].into_iter().for_each(|it| self.add_constant(true, it)));
    }

    fn add_bounds(&mut self, condition: &Condition) {
        for guard in &condition.guards {
            self.add_condition(guard.left == 0 || guard.right == 0, guard.bound.value());
        }
    }

    fn add(&mut self, is_single: bool, threshold: Value) -> bool {
        self.want(if is_single { Wanted::Single(threshold) } else { Wanted::Pair(threshold) })
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

/// Data after a transition, before it is abstracted.
#[derive(Debug)]
pub(super) struct After {
    /// Exact, if only differences are taken.
    pub zone: Zone,
    known: Vec<usize>,
    /// What is said to rise, and may fall.
    pub falls: Option<Rising>,
}

/// What holds before a transition if a row holds after it.
fn before_assignment(row: &Row, transition: &Transition) -> Option<Row> {
    let terms = row.coefficients().iter().map(|&(variable, factor)| (transition.terms[variable], factor));
    let shift = terms
        .clone()
        .try_fold(0_i128, |sum, (term, factor)| sum.checked_add(i128::from(term.plus).checked_mul(factor)?));
    Row::new(terms.map(|(term, factor)| (term.base, factor)), row.bound().checked_sub(shift?)?)
}

#[cfg(test)]
mod tests {
    use super::{Data, before_assignment};
    use crate::engine::predicates::machine::{Condition, Rule, RuleKind, Skeleton, Transition};
    use crate::numeric::{Row, Term, Zone};
    use crate::program::ProcessId;
    use crate::util::Idx;

    #[test]
    fn what_knows_less_includes_what_knows_more() {
        let data = |known: &[usize]| Data { zone: Zone::all(2), known: known.to_vec() };
        assert!(data(&[1]).includes(&data(&[0, 1])) && data(&[]).includes(&data(&[0])));
        assert!(!data(&[0]).includes(&data(&[1])) && !data(&[0, 1]).includes(&data(&[1])));
    }

    #[test]
    fn a_row_is_moved_before_an_assignment() {
        let rule = Rule { process: ProcessId::from_usize(0), kind: RuleKind::Step(0) };
        let to = Skeleton { states: Box::default(), shapes: Box::default() };
        // (x, y) := (y + 3, 5)
        let terms = vec![Term::constant(0), Term { base: 2, plus: 3 }, Term::constant(5)];
        let step = Transition { rule, to, n_picked: 0, when: Condition::default(), rises: Vec::new(), terms };
        // 2x + y ≤ 20 after it if 2y + 11 ≤ 20 before it.
        let after = Row::new([(1, 2), (2, 1)], 20).expect("it fits");
        assert_eq!(before_assignment(&after, &step), Row::new([(2, 2)], 9));
    }
}
