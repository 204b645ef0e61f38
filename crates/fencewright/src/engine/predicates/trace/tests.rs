//! Ways that are feasible have integers; those that are not say what keeps them out.

use super::{Solved, Ssa};
use crate::engine::predicates::machine::{Condition, Guard, Rule, RuleKind, Skeleton, Transition};
use crate::engine::predicates::templates::Wanted;
use crate::engine::symbolic::layout::Layout;
use crate::numeric::{Bound, Row, Term, Zone};
use crate::program::{Builder, Domain, Initial, Location, ProcessId};
use crate::source::{Source, Span};
use crate::util::Idx;

/// Variables 1 and 2 are the locations `x` and `y`, which start with 0.
fn start() -> (Layout, Ssa) {
    let mut builder = Builder::new(Source::new("t.fw", ""));
    for name in ["x", "y"] {
        let (domain, initial) = (Domain::Int, Initial::Value(0));
        builder.location(Location { name: name.to_owned(), domain, initial, span: Span::default() });
    }
    let layout = Layout::new(builder.so_far());
    let mut zone = Zone::all(layout.n_base());
    assert!((1..3).all(|i| zone.equate(Term::var(i), Term::constant(0))));
    (layout, Ssa::new(&zone, &nowhere()))
}

fn nowhere() -> Skeleton {
    Skeleton { states: Box::default(), shapes: Box::default() }
}

/// A step that assigns these terms to the locations under a condition.
fn step(layout: &Layout, terms: [Term; 2], when: Condition) -> Transition {
    let mut all: Vec<Term> = (0..layout.n_base()).map(Term::var).collect();
    all[1..3].copy_from_slice(&terms);
    let rule = Rule { process: ProcessId::from_usize(0), kind: RuleKind::Step(0) };
    Transition { rule, to: nowhere(), n_picked: 0, when, rises: Vec::new(), terms: all }
}

fn differences(guards: &[(usize, usize, i64)]) -> Condition {
    let guard = |&(left, right, bound): &(usize, usize, i64)| Guard { left, right, bound: Bound::at_most(bound) };
    Condition { guards: guards.iter().map(guard).collect(), ..Condition::default() }
}

/// `x` and `y` grow by one, twice; then this holds.
fn grown(end: &Condition) -> Solved {
    let (layout, mut ssa) = start();
    let more = |i: usize| Term { base: i, plus: 1 };
    for _ in 0..2 {
        ssa.take(&step(&layout, [more(1), more(2)], Condition::default()));
    }
    ssa.end(end);
    ssa.solved(&layout)
}

#[test]
fn a_feasible_way_has_integers() {
    let Solved::Integers(values) = grown(&differences(&[(1, 2, 0)])) else { panic!("it is feasible") };
    assert!(values.ends_with(&[1, 1, 2, 2]), "{values:?}");
}

#[test]
fn a_negative_cycle_gives_the_bounds_at_each_cut() {
    // x ≤ 1 in the end: it is at least 0, then 1, then 2.
    let Solved::Refuted(wanted) = grown(&differences(&[(1, 0, 1)])) else { panic!("it is not feasible") };
    assert_eq!(wanted, [Wanted::Single(-2), Wanted::Single(-1), Wanted::Single(0)]);
}

#[test]
fn a_refutation_gives_sums_at_each_cut() {
    // x + y ≤ 3 in the end.
    let end = Condition { rows: vec![Row::new([(1, 1), (2, 1)], 3).expect("it fits")], ..Condition::default() };
    let Solved::Refuted(wanted) = grown(&end) else { panic!("it is not feasible") };
    let n_predicates = wanted.iter().filter(|it| matches!(it, Wanted::Predicate(_))).count();
    assert_eq!(n_predicates, 3, "{wanted:?}");
}

#[test]
fn integers_are_found_for_sums() {
    let end = Condition { rows: vec![Row::new([(1, -2), (2, -3)], -10).expect("it fits")], ..Condition::default() };
    assert!(matches!(grown(&end), Solved::Integers(_)));
}
