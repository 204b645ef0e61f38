//! The ranges of registers that are declared without one.
//!
//! A flow-insensitive interval fixpoint: a register holds the join of all that is ever assigned to it. Conditions do
//! not narrow it, so `if (r < 3) { r = r + 1; }` has no finite answer; then the user must say the range.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::hir::LocalId;
use crate::program::{Domain, Expr, Initial, Micro, Op, Place, Program, RegisterId, Value};
use crate::source::Span;
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

use super::cfg::{Cfg, Slot};
use super::flow;
use super::intervals::{Interval, eval};
use super::wraps;

/// What is assigned.
enum Assigned<'c> {
    Value(&'c Expr<RegisterId>),
    Known(Interval),
}

struct Assignment<'c> {
    register: RegisterId,
    assigned: Assigned<'c>,
    span: Span,
}

/// What was inferred.
pub(super) struct Inferred {
    /// The domain of each register.
    pub domains: IndexVec<RegisterId, Domain>,
    /// Registers without a finite range, and where they grow.
    pub unbounded: Vec<(LocalId, Span)>,
}

/// The domain of each register.
pub(super) fn infer(program: &Program, cfg: &Cfg) -> Inferred {
    let assignments = collect(program, cfg);
    let mut values: IndexVec<RegisterId, Interval> = cfg.slots.indices().map(|it| first(cfg, it)).collect();
    let mut growing = Vec::new();
    for _ in 0..n_rounds(cfg, assignments.len()) {
        growing = round(&assignments, &mut values);
        if growing.is_empty() {
            break;
        }
    }
    let large = assignments.iter().enumerate().filter(|(_, it)| values[it.register] == Interval::TooLarge);
    growing.extend(large.map(|(i, _)| i));
    let unbounded = if growing.is_empty() { Vec::new() } else { unbounded(cfg, &assignments, &growing) };
    Inferred { domains: cfg.slots.indices().map(|it| domain(cfg, it, values[it])).collect(), unbounded }
}

/// The domain of each register, from what it holds at each point; one without bounds holds any integer.
pub(super) fn by_flow(program: &Program, cfg: &mut Cfg) -> IndexVec<RegisterId, Domain> {
    let flow = flow::registers(program, cfg);
    cfg.unbounded = wraps::settle(program, &flow, cfg);
    let domains = cfg.slots.indices().map(|it| domain(cfg, it, flow.values(it))).collect();
    wraps::drop_held(&flow, cfg);
    domains
}

/// The work of one inference, in assignments looked at.
const MAX_WORK: usize = 20_000_000;

/// How many rounds are made before it is said that there is no end to it.
fn n_rounds(cfg: &Cfg, n_assignments: usize) -> usize {
    let n_inferred = cfg.slots.iter().filter(|slot| is_inferred(slot)).count();
    (n_inferred * 4 + 20).min(MAX_WORK / n_assignments.max(1) + 20)
}

fn is_inferred(slot: &Slot) -> bool {
    slot.domain.is_none() && !slot.is_boolean
}

/// The values of a register before anything is assigned.
fn first(cfg: &Cfg, register: RegisterId) -> Interval {
    let slot = &cfg.slots[register];
    match (slot.domain, slot.initial) {
        (Some(domain), _) => Interval::of(domain),
        (None, _) if slot.is_boolean => Interval::bounds(0, 1),
        (None, Some(Initial::Value(value))) => Interval::bounds(value, value),
        (None, Some(Initial::Any) | None) => Interval::Empty,
    }
}

fn domain(cfg: &Cfg, register: RegisterId, values: Interval) -> Domain {
    let slot = &cfg.slots[register];
    if let Some(domain) = slot.domain {
        return domain;
    }
    if slot.is_boolean {
        return Domain::Bool;
    }
    match values {
        Interval::Bounded(lo, hi) => {
            let clamp = |it: i128| Value::try_from(it).unwrap_or(if it < 0 { Value::MIN } else { Value::MAX });
            Domain::Range(clamp(lo), clamp(hi))
        }
        Interval::Empty => Domain::Range(0, 0),
        Interval::All | Interval::TooLarge => Domain::Int,
    }
}

/// One round of the fixpoint; the assignments that still made a register grow.
fn round(assignments: &[Assignment<'_>], values: &mut IndexVec<RegisterId, Interval>) -> Vec<usize> {
    let mut growing = Vec::new();
    for (i, assignment) in assignments.iter().enumerate() {
        heed(2);
        let new = match &assignment.assigned {
            Assigned::Value(expr) => eval(expr, &|register| values[register]),
            Assigned::Known(interval) => *interval,
        };
        let old = values[assignment.register];
        let joined = old.join(new);
        if joined != old {
            values[assignment.register] = joined;
            growing.push(i);
        }
    }
    growing
}

/// All assignments to registers whose range is not declared.
fn collect<'c>(program: &Program, cfg: &'c Cfg) -> Vec<Assignment<'c>> {
    let mut assignments = Vec::new();
    for arc in &cfg.arcs {
        let span = arc.span;
        let mut add = |register, assigned| assignments.push(Assignment { register, assigned, span });
        match &arc.op {
            Op::Assign(register, expr) => add(*register, Assigned::Value(expr)),
            Op::Havoc(register, lo, hi) => add(*register, Assigned::Known(Interval::bounds(*lo, *hi))),
            Op::Load(register, place) | Op::Rmw { place, into: Some(register), .. } => {
                add(*register, Assigned::Known(of_place(program, place)));
            }
            Op::Locked(body) => body.iter().for_each(|it| collect_micro(program, it, &mut add)),
            Op::Assume(_) | Op::Assert(_) | Op::Store(..) | Op::Rmw { into: None, .. } | Op::Fence(_) => {}
        }
    }
    assignments.retain(|it| is_inferred(&cfg.slots[it.register]));
    assignments
}

fn collect_micro<'c>(program: &Program, micro: &'c Micro, add: &mut dyn FnMut(RegisterId, Assigned<'c>)) {
    match micro {
        Micro::Assign(register, expr) => add(*register, Assigned::Value(expr)),
        Micro::Havoc(register, lo, hi) => add(*register, Assigned::Known(Interval::bounds(*lo, *hi))),
        Micro::Load(register, place) => add(*register, Assigned::Known(of_place(program, place))),
        Micro::Choose(branches) => branches.iter().flatten().for_each(|it| collect_micro(program, it, add)),
        Micro::Assume(_) | Micro::Assert(_) | Micro::Store(..) => {}
    }
}

fn of_place(program: &Program, place: &Place) -> Interval {
    let location = match place {
        Place::Fixed(location) => *location,
        Place::Cell(array, _) => program.arrays()[*array].first,
    };
    Interval::of(program.locations()[location].domain)
}

/// No more registers of one process are told.
const MAX_REPORTED: usize = 20;

/// The registers that feed themselves; those that only follow are left out, unless there are no others.
fn unbounded(cfg: &Cfg, assignments: &[Assignment<'_>], growing: &[usize]) -> Vec<(LocalId, Span)> {
    let mut places: BTreeMap<RegisterId, (LocalId, Span)> = BTreeMap::new();
    for assignment in growing.iter().map(|&i| &assignments[i]) {
        if let Some(local) = cfg.slots[assignment.register].local {
            places.entry(assignment.register).or_insert((local, assignment.span));
        }
    }
    let sources = sources(assignments, cfg.slots.len());
    let known = places.keys().copied().take(MAX_REPORTED);
    let roots: Vec<RegisterId> = known.filter(|it| depends_on_itself(&sources, *it)).collect();
    let roots = if roots.is_empty() { places.keys().copied().take(1).collect() } else { roots };
    roots.into_iter().map(|register| places[&register]).collect()
}

/// The registers that the values of each register come from.
fn sources(assignments: &[Assignment<'_>], n: usize) -> Vec<BTreeSet<RegisterId>> {
    let mut sources: Vec<BTreeSet<RegisterId>> = vec![BTreeSet::new(); n];
    for assignment in assignments {
        if let Assigned::Value(expr) = assignment.assigned {
            expr.for_each_var(&mut |it| {
                sources[assignment.register.index()].insert(*it);
            });
        }
    }
    sources
}

fn depends_on_itself(sources: &[BTreeSet<RegisterId>], register: RegisterId) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![register];
    while let Some(it) = todo.pop() {
        heed(2);
        for &source in &sources[it.index()] {
            if source == register {
                return true;
            }
            if seen.insert(source) {
                todo.push(source);
            }
        }
    }
    false
}
