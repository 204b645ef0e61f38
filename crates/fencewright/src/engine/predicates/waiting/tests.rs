//! The rules of abstract buffers, one at a time.

use std::collections::BTreeSet;

use super::{How, Keep, Rules, Value, Waiting};
use crate::memory::{Buffering, PsoRmw};
use crate::numeric::Term;
use crate::program::LocationId;
use crate::util::Idx;

const X: usize = 0;
const Y: usize = 1;

static NONE: BTreeSet<LocationId> = BTreeSet::new();

/// What is picked where a value is not known.
const ANY: Term = Term::var(7);

const fn rules(order: Buffering, keep: Keep, k: usize) -> Rules<'static> {
    Rules { order, keep, k, rising: &NONE }
}

const PSO: Buffering = Buffering::PerLocation(PsoRmw::Location);

fn location(x: usize) -> LocationId {
    LocationId::from_usize(x)
}

/// What waits after these stores.
fn after(stores: &[(usize, i64)], rules: Rules<'_>) -> Waiting {
    let mut waiting = Waiting::default();
    stores.iter().for_each(|&(x, value)| waiting.store(location(x), Term::constant(value), rules));
    waiting
}

/// What may leave: how, to where, with which value.
fn leaving(waiting: &Waiting, rules: Rules<'_>) -> Vec<(How, usize, Option<i64>)> {
    let value = |it: Value| match it {
        Value::Is(term) => Some(term.plus),
        Value::Any | Value::Between(..) => None,
    };
    let leaving = waiting.leaving(rules, ANY);
    let mut all: Vec<_> = leaving.iter().map(|it| (it.how, it.location.index(), value(it.value))).collect();
    all.sort_unstable();
    all
}

/// What waits after the store that may leave in this way.
fn without(waiting: &Waiting, rules: Rules<'_>, how: How) -> Waiting {
    waiting.leaving(rules, ANY).into_iter().find(|it| it.how == how).expect("it may leave").rest
}

fn load(waiting: &Waiting, x: usize, rules: Rules<'_>) -> Option<i64> {
    waiting.load(location(x), rules.keep).map(|it| it.plus)
}

#[test]
fn the_newest_are_kept_and_leave_last() {
    let rules = rules(Buffering::Fifo, Keep::Newest, 1);
    let waiting = after(&[(X, 1), (Y, 5), (X, 2)], rules);
    assert_eq!([load(&waiting, X, rules), load(&waiting, Y, rules)], [Some(2), Some(5)]);
    let summed = [(How::Some, X, None), (How::Some, Y, None), (How::Last, X, Some(1)), (How::Last, Y, Some(5))];
    assert_eq!(leaving(&waiting, rules), summed);
    let waiting = without(&without(&waiting, rules, How::Last), rules, How::Last);
    assert_eq!(leaving(&waiting, rules), [(How::Exact, X, Some(2))]);
    assert!(without(&waiting, rules, How::Exact).is_empty());
}

#[test]
fn the_oldest_are_kept_and_leave_first() {
    let rules = rules(Buffering::Fifo, Keep::Oldest, 1);
    let waiting = after(&[(X, 1), (X, 2)], rules);
    assert_eq!(load(&waiting, X, rules), Some(2));
    assert_eq!(leaving(&waiting, rules), [(How::Exact, X, Some(1))]);
    // There is room again, but what comes now comes behind what is summed up.
    let mut waiting = without(&waiting, rules, How::Exact);
    waiting.store(location(X), Term::constant(3), rules);
    assert_eq!(leaving(&waiting, rules), [(How::Some, X, None), (How::Last, X, Some(3))]);
}

#[test]
fn with_nothing_in_order_a_store_may_leave_before_the_last() {
    for keep in [Keep::Newest, Keep::Oldest] {
        let rules = rules(Buffering::Fifo, keep, 0);
        let waiting = after(&[(X, 1), (X, 2)], rules);
        assert_eq!(leaving(&waiting, rules), [(How::Some, X, None), (How::Last, X, Some(2))]);
        assert_eq!(load(&waiting, X, rules), Some(2));
        assert_eq!(load(&waiting, Y, rules), None);
    }
}

#[test]
fn locations_overtake_each_other_under_pso_only() {
    let stores = [(Y, 1), (X, 1), (X, 2)];
    let [tso, pso] = [Buffering::Fifo, PSO].map(|order| rules(order, Keep::Newest, 4));
    assert_eq!(leaving(&after(&stores, tso), tso), [(How::Exact, Y, Some(1))]);
    assert_eq!(leaving(&after(&stores, pso), pso), [(How::Exact, X, Some(1)), (How::Exact, Y, Some(1))]);
    // Only stores to the same location are counted.
    let pso = Rules { k: 1, ..pso };
    let one = after(&stores, pso);
    assert_eq!(leaving(&one, pso), [(How::Exact, Y, Some(1)), (How::Some, X, None), (How::Last, X, Some(1))]);
}

#[test]
fn a_marker_holds_back_what_comes_behind_it() {
    let rules = rules(PSO, Keep::Newest, 4);
    let mut waiting = Waiting::default();
    waiting.mark(PSO);
    assert!(waiting.is_empty(), "a marker that holds nothing back leaves at once");
    waiting.store(location(X), Term::constant(1), rules);
    waiting.mark(PSO);
    waiting.mark(PSO);
    waiting.store(location(Y), Term::constant(2), rules);
    assert_eq!(leaving(&waiting, rules), [(How::Exact, X, Some(1))]);
    let other = Some(location(2));
    assert!(!waiting.may_act(other, rules), "a marker is in every buffer");
    let waiting = without(&waiting, rules, How::Exact);
    assert_eq!(leaving(&waiting, rules), [(How::Exact, Y, Some(2))]);
    assert!(waiting.may_act(other, rules) && !waiting.may_act(Some(location(Y)), rules));
    assert!(!waiting.may_act(None, rules));
    let all = Rules { order: Buffering::PerLocation(PsoRmw::All), ..rules };
    assert!(!waiting.may_act(other, all));
}

#[test]
fn what_rises_leaves_in_order() {
    let rising = BTreeSet::from([location(X)]);
    let rules = Rules { rising: &rising, ..rules(Buffering::Fifo, Keep::Newest, 1) };
    let waiting = after(&[(X, 1), (X, 3), (Y, 5), (X, 4), (Y, 6)], rules);
    let some = |waiting: &Waiting, x: usize| {
        let leaving = waiting.leaving(rules, ANY).into_iter();
        leaving.filter(|it| it.how == How::Some).find(|it| it.location == location(x)).expect("it may leave")
    };
    // Of Y nothing is known but the last; of X that the first was 1, the last 4.
    assert_eq!(some(&waiting, Y).value, Value::Any);
    let first = some(&waiting, X);
    assert_eq!(first.value, Value::Between(Term::constant(1), Term::constant(4)));
    // What comes next is not below what has left.
    assert_eq!(some(&first.rest, X).value, Value::Between(ANY, Term::constant(4)));
    assert_eq!(load(&first.rest, X, rules), Some(4));
    let shape = first.rest.shape();
    let again = Waiting::new(&shape, first.rest.values());
    assert_eq!((again.shape(), again.values().collect::<Vec<_>>()), (shape, first.rest.values().collect()));
}
