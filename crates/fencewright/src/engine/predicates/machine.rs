//! The abstract machine: control and buffers exactly as [`waiting`](super::waiting) keeps them, data as assignments.
//!
//! What a transition does to data does not depend on data: it is a guard, and for each variable afterwards a sum over
//! those before. So one definition serves the search over templates, the path of an alarm and, with nothing summed up
//! in the buffers, the exact model.
//!
//! ```text
//!    variables:   0 │ memory … │ registers of all … │ what waits, process by process … │ what the transition picks …
//! ```

use std::collections::BTreeSet;

use crate::engine::predicates::waiting::{How, Leaving, Rules, Shape, Value, Waiting};
use crate::engine::symbolic::difference::{Remainder, Sum};
use crate::engine::symbolic::effect::{Effect, Var};
use crate::engine::symbolic::flow::{Act, ProcessFlow, StateId, Step};
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::linear::Linear;
use crate::engine::symbolic::writers::Writers;
use crate::memory::Buffering;
use crate::numeric::{Bound, Row, Term, Zone, excludes};
use crate::program::{self, FenceKind, LocationId, ProcessId, Program};
use crate::util::{Idx, IndexVec};

/// Where processes are and what waits, values aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Skeleton {
    /// Where each process is.
    pub states: Box<[StateId]>,
    /// What waits for each.
    pub shapes: Box<[Shape]>,
}

/// A transition, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Whose it is.
    pub process: ProcessId,
    /// What it does.
    pub kind: RuleKind,
}

/// What a transition does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// A step of the flow.
    Step(u32),
    /// A store leaves.
    Leaves(LocationId, How),
}

/// `left - right ≤ bound`, by variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    /// What is bounded.
    pub left: usize,
    /// Relative to this.
    pub right: usize,
    /// By this.
    pub bound: Bound,
}

/// What data must be.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition {
    /// Differences.
    pub guards: Vec<Guard>,
    /// Remainders.
    pub remainders: Vec<Remainder<usize>>,
    /// Linear constraints that are none.
    pub rows: Vec<Row>,
}

/// A transition, whatever the data is.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    /// Its name.
    pub rule: Rule,
    /// Where it leads.
    pub to: Skeleton,
    /// How many variables it picks; they come behind the others.
    pub n_picked: usize,
    /// When it can happen.
    pub when: Condition,
    /// What must not fall by it.
    pub rises: Vec<Rise>,
    /// What each variable afterwards is.
    pub terms: Vec<Term>,
}

/// A value that must not be below another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rise {
    /// Since this is said to rise.
    pub what: Rising,
    /// The one that is there.
    pub there: Term,
    /// The one that comes.
    pub value: Term,
}

/// What is said to rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rising {
    /// The stores to a location that wait in a buffer.
    Stores(LocationId),
    /// What memory holds.
    Memory(LocationId),
}

impl Rise {
    /// Whether it may fall all the same.
    pub(super) fn may_fall(&self, mut before: Zone) -> bool {
        before.add_difference(self.value, self.there, -1)
    }
}

/// The abstract machine of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine<'a> {
    /// The program.
    pub program: &'a Program,
    /// The flow of each process.
    pub flows: &'a IndexVec<ProcessId, ProcessFlow>,
    /// Which variable is what.
    pub layout: &'a Layout,
    /// How store buffers behave.
    pub rules: Rules<'a>,
    /// What becomes of the stores of each process.
    pub storing: &'a IndexVec<ProcessId, Storing>,
    /// Who writes each location.
    pub writers: &'a IndexVec<LocationId, Writers>,
    /// The locations of which memory never holds less than before.
    pub growing: &'a BTreeSet<LocationId>,
}

/// What becomes of the stores of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Storing {
    /// They wait.
    Waits,
    /// They reach memory at once. In these states a store might wait, so that loads find anything.
    AtOnce {
        /// The states; none if the process never loads there.
        stale: BTreeSet<StateId>,
    },
}

impl Storing {
    /// The states in which loads find anything.
    pub(super) fn stale(&self) -> Option<&BTreeSet<StateId>> {
        match self {
            Self::Waits => None,
            Self::AtOnce { stale } => Some(stale),
        }
    }
}

impl Skeleton {
    /// How many variables there are besides those that are always there.
    fn n_waiting(&self) -> usize {
        self.shapes.iter().map(Shape::n_values).sum()
    }

    fn n_waiting_before(&self, process: ProcessId) -> usize {
        self.shapes[..process.index()].iter().map(Shape::n_values).sum()
    }
}

impl Condition {
    /// The data of a zone for which this holds, and all of some constraints; larger, where a zone cannot say it.
    pub(super) fn admitted(&self, mut zone: Zone, known: &[Row]) -> Option<Zone> {
        let is_possible = self.guards.iter().all(|it| zone.add(it.left, it.right, it.bound));
        let mut remainders = self.remainders.iter();
        let is_possible = is_possible && remainders.all(|it| zone.add_remainder(it.variable, it.modulus, it.remainder));
        is_possible.then_some(())?;
        let linear: Vec<Row> = known.iter().chain(&self.rows).cloned().collect();
        if linear.is_empty() {
            return Some(zone);
        }
        // What one says of a variable may help another.
        for _ in 0..2 {
            linear.iter().all(|row| row.narrow(&mut zone)).then_some(())?;
        }
        (!excludes(&zone, &linear)).then_some(zone)
    }
}

impl Transition {
    /// The data before it where it can happen, and what it picks.
    pub(super) fn before(&self, zone: &Zone, known: &[Row]) -> Option<Zone> {
        self.when.admitted(zone.extended(self.n_picked), known)
    }

    /// The data afterwards; exact if only differences are taken.
    pub(super) fn after(&self, zone: &Zone) -> Option<Zone> {
        self.before(zone, &[]).map(|before| before.after(&self.terms))
    }
}

impl Machine<'_> {
    /// How the store buffer of a process behaves.
    pub(super) fn rules_of(&self, process: ProcessId) -> Rules<'_> {
        match self.storing[process] {
            Storing::Waits => self.rules,
            Storing::AtOnce { .. } => Rules { order: Buffering::None, ..self.rules },
        }
    }

    /// Where a run starts.
    pub(super) fn initial(&self) -> Skeleton {
        let n = self.flows.len();
        Skeleton { states: vec![0; n].into(), shapes: vec![Shape::default(); n].into() }
    }

    /// Every transition that control and buffers allow.
    pub(super) fn transitions(&self, from: &Skeleton) -> Vec<Transition> {
        self.flows.indices().flat_map(|process| self.transitions_of(from, process)).collect()
    }

    /// Those of one process.
    pub(super) fn transitions_of(&self, from: &Skeleton, process: ProcessId) -> Vec<Transition> {
        let waiting = self.waiting(from, process);
        let picked = Term::var(self.layout.n_base() + from.n_waiting());
        let leaving = waiting.leaving(self.rules_of(process), picked);
        let mut out: Vec<Transition> = leaving.iter().map(|it| self.flush(from, process, it)).collect();
        let outgoing = &self.flows[process].outgoing[from.states[process.index()] as usize];
        out.extend(outgoing.iter().filter_map(|&id| self.step(from, (process, id), waiting.clone())));
        out
    }

    fn waiting(&self, from: &Skeleton, process: ProcessId) -> Waiting {
        let first = self.layout.n_base() + from.n_waiting_before(process);
        Waiting::new(&from.shapes[process.index()], (first..).map(Term::var))
    }

    fn flush(&self, from: &Skeleton, process: ProcessId, leaving: &Leaving) -> Transition {
        let picked = self.layout.n_base() + from.n_waiting();
        let mut terms: Vec<Term> = (0..self.layout.n_base()).map(Term::var).collect();
        let bounds = self.program.locations()[leaving.location].domain.bounds();
        let any = || bounds.into_iter().flat_map(|it| within(picked, it));
        let (value, guards) = match leaving.value {
            Value::Is(value) => (value, Vec::new()),
            Value::Any => (Term::var(picked), any().collect()),
            Value::Between(first, last) => {
                let between = [at_most(first, Term::var(picked)), at_most(Term::var(picked), last)];
                (Term::var(picked), any().chain(between).collect())
            }
        };
        terms[self.layout.location(leaving.location)] = value;
        let rises = self.growths(&terms).collect();
        let rule = Rule { process, kind: RuleKind::Leaves(leaving.location, leaving.how) };
        let (to, terms) = self.with_waiting(from, process, &leaving.rest, terms);
        let when = Condition { guards, ..Condition::default() };
        Transition { rule, to, n_picked: usize::from(leaving.how == How::Some), when, rises, terms }
    }

    fn step(&self, from: &Skeleton, (process, id): (ProcessId, u32), mut waiting: Waiting) -> Option<Transition> {
        let step = &self.flows[process].steps[id as usize];
        let rules = self.rules_of(process);
        let first_picked = self.layout.n_base() + from.n_waiting();
        // What a stale load finds is picked behind what havocs pick.
        let (stale, found) = (self.stale(process, step), first_picked + step.effect.picks.len());
        let loaded = match step.act {
            Act::Load(_) if stale.is_some() => Term::var(found),
            Act::Load(x) => waiting.load(x, rules.keep).unwrap_or(Term::var(self.layout.location(x))),
            Act::Local | Act::Store(..) | Act::Fence(_) | Act::Atomic(_) => Term::constant(0),
        };
        let variable = |it: Var| match it {
            Var::Register(register) => self.layout.register(process, register),
            Var::Memory(x) => self.layout.location(x),
            Var::Loaded => loaded.base,
            Var::Picked(i) => first_picked + i,
        };
        let term = |sum: Sum<Var>| Term { base: sum.var.map_or(0, variable), plus: sum.plus };
        let mut terms: Vec<Term> = (0..self.layout.n_base()).map(Term::var).collect();
        let mut rises = Vec::new();
        match step.act {
            Act::Local | Act::Load(_) => {}
            Act::Fence(FenceKind::Full) => waiting.is_empty().then_some(())?,
            Act::Fence(FenceKind::StoreStore) => waiting.mark(rules.order),
            Act::Atomic(own) => waiting.may_act(own, rules).then_some(())?,
            Act::Store(x, sum) if rules.order == Buffering::None => terms[self.layout.location(x)] = term(sum),
            Act::Store(x, sum) => {
                let newest = waiting.load(x, rules.keep).filter(|_| rules.rising.contains(&x));
                rises.extend(newest.map(|there| Rise { what: Rising::Stores(x), there, value: term(sum) }));
                waiting.store(x, term(sum), rules);
            }
        }
        for (&register, &sum) in &step.effect.registers {
            terms[self.layout.register(process, register)] = term(sum);
        }
        for (&x, &sum) in &step.effect.memory {
            terms[self.layout.location(x)] = term(sum);
        }
        rises.extend(self.growths(&terms));
        let mut when = condition(&step.effect, variable);
        when.guards.extend(stale.into_iter().flat_map(|x| self.once_held(x, found)));
        let (mut to, terms) = self.with_waiting(from, process, &waiting, terms);
        to.states[process.index()] = step.to;
        let rule = Rule { process, kind: RuleKind::Step(id) };
        let n_picked = step.effect.picks.len() + usize::from(stale.is_some());
        Some(Transition { rule, to, n_picked, when, rises, terms })
    }

    /// When memory may once have held a value at a location: no more than it holds now, if that grows.
    fn once_held(&self, x: LocationId, value: usize) -> Vec<Guard> {
        let bounds = self.program.locations()[x].domain.bounds().into_iter().flat_map(|it| within(value, it));
        let held = Term::var(self.layout.location(x));
        bounds.chain(self.growing.contains(&x).then(|| at_most(Term::var(value), held))).collect()
    }

    /// What must not fall where memory becomes this.
    fn growths(&self, terms: &[Term]) -> impl Iterator<Item = Rise> {
        self.growing.iter().filter_map(|&x| {
            let cell = self.layout.location(x);
            let (there, value) = (Term::var(cell), terms[cell]);
            (value != there).then_some(Rise { what: Rising::Memory(x), there, value })
        })
    }

    /// All locations of which a step finds anything if this becomes of stores.
    pub(super) fn stale_locations(&self, storing: &IndexVec<ProcessId, Storing>) -> BTreeSet<LocationId> {
        let machine = Machine { storing, ..*self };
        let steps =
            self.flows.iter_enumerated().flat_map(|(process, flow)| flow.steps.iter().map(move |it| (process, it)));
        steps.filter_map(|(process, step)| machine.stale(process, step)).collect()
    }

    /// The location of which a step finds anything, if there is one: others write it, and a store might wait.
    fn stale(&self, process: ProcessId, step: &Step) -> Option<LocationId> {
        let Act::Load(x) = step.act else { return None };
        let is_stale = self.storing[process].stale().is_some_and(|it| it.contains(&step.from));
        (is_stale && !self.writers[x].is_only(process)).then_some(x)
    }

    /// Where a transition leads that leaves this waiting for a process, and all terms.
    fn with_waiting(
        &self,
        from: &Skeleton,
        process: ProcessId,
        waiting: &Waiting,
        mut terms: Vec<Term>,
    ) -> (Skeleton, Vec<Term>) {
        let mut to = from.clone();
        to.shapes[process.index()] = waiting.shape();
        let first = self.layout.n_base() + from.n_waiting_before(process);
        let behind = first + from.shapes[process.index()].n_values();
        terms.extend((self.layout.n_base()..first).map(Term::var));
        terms.extend(waiting.values());
        terms.extend((behind..self.layout.n_base() + from.n_waiting()).map(Term::var));
        (to, terms)
    }
}

/// When an effect is possible.
fn condition(effect: &Effect, variable: impl Fn(Var) -> usize) -> Condition {
    let differences = effect.when.differences.iter().map(|it| Guard {
        left: it.left.map_or(0, &variable),
        right: it.right.map_or(0, &variable),
        bound: Bound::at_most(it.bound),
    });
    let picks = effect.picks.iter().enumerate().flat_map(|(i, &it)| within(variable(Var::Picked(i)), it));
    let linear = effect.when.rows.iter().filter_map(|row| row_of(row, &variable));
    let remainders = effect.when.remainders.iter().map(|it| it.of(&variable));
    Condition { guards: picks.chain(differences).collect(), remainders: remainders.collect(), rows: linear.collect() }
}

/// `linear ≤ 0`, by variables; none where numbers are too large, which is weaker.
pub(super) fn row_of<V: Copy + Ord>(linear: &Linear<V>, variable: impl Fn(V) -> usize) -> Option<Row> {
    let coefficients = linear.coefficients.iter().map(|&(it, factor)| (variable(it), i128::from(factor)));
    Row::new(coefficients, -i128::from(linear.plus))
}

/// One is at most another.
fn at_most(less: Term, more: Term) -> Guard {
    Guard {
        left: less.base,
        right: more.base,
        bound: Bound::ZERO.shifted(i128::from(more.plus) - i128::from(less.plus)),
    }
}

/// A variable is in a range.
fn within(variable: usize, (lo, hi): (program::Value, program::Value)) -> [Guard; 2] {
    let below = Bound::ZERO.shifted(-i128::from(lo));
    [Guard { left: variable, right: 0, bound: Bound::at_most(hi) }, Guard { left: 0, right: variable, bound: below }]
}
