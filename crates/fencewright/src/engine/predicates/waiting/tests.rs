//! The rules of abstract buffers, one at a time.

use super::{How, Keep, Order, Rules, Waiting};
use crate::memory::PsoRmw;
use crate::numeric::Term;
use crate::program::LocationId;
use crate::util::Idx;

const X: usize = 0;
const Y: usize = 1;

const fn rules(order: Order, keep: Keep, k: usize) -> Rules {
    Rules { order, keep, k }
}

const PSO: Order = Order::Pso(PsoRmw::Location);

fn location(x: usize) -> LocationId {
    LocationId::from_usize(x)
}

/// What waits after these stores.
fn after(stores: &[(usize, i64)], rules: Rules) -> Waiting {
    let mut waiting = Waiting::default();
    stores.iter().for_each(|&(x, value)| waiting.store(location(x), Term::constant(value), rules));
    waiting
}

/// What may leave: how, to where, with which value.
fn leaving(waiting: &Waiting, rules: Rules) -> Vec<(How, usize, Option<i64>)> {
    let mut all: Vec<_> =
        waiting.leaving(rules).iter().map(|it| (it.how, it.location.index(), it.value.map(|it| it.plus))).collect();
    all.sort_unstable();
    all
}

/// What waits after the store that may leave in this way.
fn without(waiting: &Waiting, rules: Rules, how: How) -> Waiting {
    waiting.leaving(rules).into_iter().find(|it| it.how == how).expect("it may leave").rest
}

fn load(waiting: &Waiting, x: usize, rules: Rules) -> Option<i64> {
    waiting.load(location(x), rules.keep).map(|it| it.plus)
}

#[test]
fn the_newest_are_kept_and_leave_last() {
    let rules = rules(Order::Tso, Keep::Newest, 1);
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
    let rules = rules(Order::Tso, Keep::Oldest, 1);
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
        let rules = rules(Order::Tso, keep, 0);
        let waiting = after(&[(X, 1), (X, 2)], rules);
        assert_eq!(leaving(&waiting, rules), [(How::Some, X, None), (How::Last, X, Some(2))]);
        assert_eq!(load(&waiting, X, rules), Some(2));
        assert_eq!(load(&waiting, Y, rules), None);
    }
}

#[test]
fn locations_overtake_each_other_under_pso_only() {
    let stores = [(Y, 1), (X, 1), (X, 2)];
    let [tso, pso] = [Order::Tso, PSO].map(|order| rules(order, Keep::Newest, 4));
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
    let all = Rules { order: Order::Pso(PsoRmw::All), ..rules };
    assert!(!waiting.may_act(other, all));
}
