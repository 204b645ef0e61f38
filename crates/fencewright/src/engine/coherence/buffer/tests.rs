//! The rules of the abstract buffer on tiny cases; `x` and `y` are locations, `!` marks the newest of several values.

use super::{Buffer, Datum, Store};
use crate::engine::coherence::{Abstraction, Precision};
use crate::engine::packed::Label;
use crate::program::{LocationId, Value};
use crate::util::Idx;

const NAMES: [&str; 2] = ["x", "y"];

/// After these stores.
fn buffer(abstraction: Abstraction, k: u32, stores: &[(&str, Value)]) -> Buffer {
    let mut buffer = Buffer::default();
    for &(name, value) in stores {
        buffer.store((location(name), (value, Label::NONE)), Precision { abstraction, k });
    }
    buffer
}

fn location(name: &str) -> LocationId {
    LocationId::from_usize(NAMES.iter().position(|it| *it == name).expect("a location has a name"))
}

/// `[x1 y2] x{1 2!}`: the ordered part, then the set.
fn text(buffer: &Buffer) -> String {
    let store = |store: &Store| format!("{}{}", NAMES[store.0.index()], store.1.0);
    let oldest: Vec<_> = buffer.oldest.iter().map(store).collect();
    let rest = buffer.rest.iter().map(|it| {
        let mark = |value: &Datum| format!("{}{}", value.0, if *value == it.newest { "!" } else { "" });
        let values: Vec<_> = it.values.iter().map(mark).collect();
        format!(" {}{{{}}}", NAMES[it.location.index()], values.join(" "))
    });
    format!("[{}]{}", oldest.join(" "), rest.collect::<String>())
}

fn check_flushes(abstraction: Abstraction, k: u32, stores: &[(&str, Value)], expected: &[&str]) {
    let found = buffer(abstraction, k, stores).flushes(abstraction);
    let found: Vec<_> =
        found.iter().map(|((x, (value, _)), left)| format!("{}{value}: {}", NAMES[x.index()], text(left))).collect();
    assert_eq!(found, expected);
}

fn check_stores(k: u32, stores: &[(&str, Value)], expected: &str) {
    assert_eq!(text(&buffer(Abstraction::Fd, k, stores)), expected);
}

#[test]
fn the_oldest_stores_are_in_order_and_the_rest_is_a_set() {
    check_stores(0, &[("x", 1)], "[] x{1!}");
    check_stores(2, &[("x", 1), ("x", 2)], "[x1 x2]");
    check_stores(2, &[("x", 1), ("y", 2), ("x", 3), ("y", 1), ("x", 1)], "[x1 y2] x{1! 3} y{1!}");
}

/// Trap T10.
#[test]
fn a_store_goes_to_the_set_while_there_is_one() {
    let precision = Precision { abstraction: Abstraction::Fd, k: 1 };
    let (_, mut left) = buffer(Abstraction::Fd, 1, &[("x", 1), ("x", 2)]).flushes(Abstraction::Fd).remove(0);
    left.store((location("x"), (3, Label::NONE)), precision);
    assert_eq!(text(&left), "[] x{2 3!}");
}

#[test]
fn the_ordered_part_leaves_first() {
    check_flushes(Abstraction::Fd, 1, &[("x", 1), ("x", 2)], &["x1: [] x{2!}"]);
    check_flushes(Abstraction::Pd, 1, &[("x", 1), ("x", 2)], &["x1: [] x{2!}"]);
}

/// Traps T12 (a value may stay) and T15 (the newest one leaves last).
#[test]
fn a_value_stays_in_the_set_or_leaves_it() {
    let two = [("x", 1), ("x", 2)];
    check_flushes(Abstraction::Fd, 0, &two, &["x1: [] x{1 2!}", "x1: [] x{2!}", "x2: [] x{1 2!}"]);
    check_flushes(Abstraction::Fd, 0, &[("x", 2)], &["x2: [] x{2!}", "x2: []"]);
}

#[test]
fn each_location_has_a_newest_store() {
    let stores = [("x", 1), ("y", 5)];
    check_flushes(
        Abstraction::Fd,
        0,
        &stores,
        &["x1: [] x{1!} y{5!}", "x1: [] y{5!}", "y5: [] x{1!} y{5!}", "y5: [] x{1!}"],
    );
    let newest = |k| buffer(Abstraction::Fd, k, &[("x", 1), ("x", 2)]).newest();
    assert_eq!([0, 1, 2].map(newest), [0, 1, 2].map(|_| vec![(location("x"), (2, Label::NONE))]));
}

/// FLUSH-NE and FLUSH-E: the newest may be all that there was.
#[test]
fn a_set_of_what_may_wait_leaves_with_its_newest() {
    let two = [("x", 1), ("x", 2)];
    check_flushes(Abstraction::Pd, 0, &two, &["x1: [] x{1 2!}", "x2: [] x{1 2!}", "x2: []"]);
}

#[test]
fn a_set_covers_its_parts_with_the_same_newest() {
    let of =
        |values: &[Value]| buffer(Abstraction::Pd, 0, &values.iter().map(|&value| ("x", value)).collect::<Vec<_>>());
    assert!(of(&[1, 2]).covers(&of(&[2])) && !of(&[2]).covers(&of(&[1, 2])));
    assert!(!of(&[1, 2]).covers(&of(&[1])), "another newest");
    assert!(!of(&[1]).covers(&of(&[])) && !of(&[]).covers(&of(&[1])), "emptiness is kept");
    assert_eq!(of(&[1, 2]).outline(), of(&[2]).outline());
}

#[test]
fn without_recency_any_store_may_be_the_newest() {
    let guesses = buffer(Abstraction::Set, 0, &[("x", 1), ("x", 2), ("y", 1)]).guesses();
    assert_eq!(guesses.iter().map(text).collect::<Vec<_>>(), ["[] x{1! 2} y{1!}"]);
}
