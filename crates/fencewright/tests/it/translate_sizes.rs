//! How many slots the buffers of a translated program have, and whether they can overflow.

use fencewright::memory::{Dialect, Model, PsoRmw};

use fencewright::program::Placement;
use fencewright::translate::{
    DEFAULT_BOUND, Flushes, MAX_SLOTS, Method, Overflow, Repeats, Request, Translated, translate,
};
use fencewright::util::IndexVec;

use crate::common::law::program_of;

const MEMORY: &str = "shared x, y, z: 0..1; shared a[2]: 0..1;";

fn translated(body: &str, model: Model, pso_rmw: PsoRmw, bound: Option<u32>) -> Translated {
    let program =
        program_of(format!("{MEMORY} thread T {{ {body} }} forbid x == 1 at end;")).expect("the text is right");
    let (method, flushes, overflow) = (Method::Guided, Flushes::WhereNoticed, Overflow::Violation);
    let placement = &Placement::NONE;
    translate(&Request {
        program: &program,
        placement,
        buffering: model.buffering(Dialect { pso_rmw }).expect("ours has buffers"),
        method,
        bound,
        flushes,
        overflow,
        repeats: Repeats::Kept,
    })
}

/// The slots of the largest buffer under TSO, and under PSO; no overflow.
fn check(body: &str, tso: u32, pso: u32) {
    for (model, expected) in [(Model::Tso, tso), (Model::Pso, pso)] {
        let translated = translated(body, model, PsoRmw::Location, None);
        assert_eq!(translated.slots, IndexVec::from(vec![expected]), "{body}, {model}");
        assert_eq!(translated.overflow, None, "{body}, {model}");
    }
}

#[test]
fn the_longest_path_counts() {
    check("x = 1; y = 1; x = 0;", 3, 2);
    check("if (z == 1) { x = 1; } else { x = 1; y = 1; }", 2, 1);
    check("let r = z; a[r] = 1; a[0] = 1;", 2, 2);
}

#[test]
fn what_waits_for_empty_buffers_drains_them() {
    check("x = 1; fence; y = 1;", 1, 1);
    check("x = 1; fence(store); x = 0;", 2, 2);
    check("x = 1; atomic { y = 1; } x = 0;", 1, 1);
    check("loop { x = 1; y = 1; fence; }", 2, 1);
    check("x = 1; swap(x, 0); x = 1;", 1, 1);
    check("x = 1; swap(y, 0); x = 1;", 1, 2);
    assert_eq!(translated("x = 1; swap(y, 0); x = 1;", Model::Pso, PsoRmw::All, None).slots.as_slice(), [1]);
}

#[test]
fn a_loop_that_only_stores_may_overflow() {
    for model in [Model::Tso, Model::Pso] {
        let endless = translated("loop { x = 1; }", model, PsoRmw::Location, None);
        assert_eq!(endless.slots.as_slice(), [DEFAULT_BOUND]);
        assert!(endless.overflow.is_some());
        let bounded = translated("loop { x = 1; }", model, PsoRmw::Location, Some(2));
        assert_eq!(bounded.slots.as_slice(), [2]);
    }
}

#[test]
fn fewer_slots_than_stores_may_overflow_and_more_are_not_made() {
    let few = translated("x = 1; x = 0; x = 1;", Model::Tso, PsoRmw::Location, Some(2));
    assert_eq!((few.slots.as_slice(), few.overflow.is_some()), (&[2][..], true));
    let many = translated("x = 1;", Model::Tso, PsoRmw::Location, Some(9));
    assert_eq!((many.slots.as_slice(), many.overflow.is_some()), (&[1][..], false));
    let very_many = translated(&"x = 1;".repeat(100), Model::Tso, PsoRmw::Location, None);
    assert_eq!((very_many.slots.as_slice(), very_many.overflow.is_some()), (&[MAX_SLOTS][..], true));
}

#[test]
fn under_sc_there_are_no_buffers() {
    let none = translated("x = 1; let r = x; fence;", Model::Sc, PsoRmw::Location, None);
    assert_eq!(none.slots.as_slice(), [0]);
    assert!(none.roles.iter().all(Vec::is_empty));
}
