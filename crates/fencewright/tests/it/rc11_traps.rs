//! What is easily got wrong about views, one small program each (x, y, z start at 0, `?` is any value).
//!
//! Each was made for a mistake that was put into the rules, and shows it.

use fencewright::engine::robust::RobustTrace;
use fencewright::engine::views::Views;
use fencewright::engine::{Engine, Options, Task, Verdict, ask};
use fencewright::memory::{Model, ReleaseSequence};
use fencewright::watch::Unlimited;

use crate::common::law::program_of;

/// `W x 1 rlx; R y ? | F sc`, as a program. A read of a value goes on only if it finds that.
fn text(short: &str) -> String {
    let mut out = String::from("shared x, y, z: 0..2 = 0;\n");
    for (t, thread) in short.split('|').enumerate() {
        out.push_str(&format!("thread T{t} {{\n"));
        for (i, op) in thread.split(';').enumerate() {
            out.push_str(&statement(&op.split_whitespace().collect::<Vec<_>>(), i));
        }
        out.push_str("}\n");
    }
    out
}

fn order(words: &[&str], at: usize) -> &'static str {
    match words.get(at).copied().unwrap_or("rlx") {
        "rlx" => "relaxed",
        "acq" => "acquire",
        "rel" => "release",
        "acq_rel" => "acq_rel",
        "sc" => "seq_cst",
        other => panic!("no order: {other}"),
    }
}

fn statement(words: &[&str], i: usize) -> String {
    match *words {
        ["W", x, value, ..] => format!("    store({x}, {value}, {});\n", order(words, 3)),
        ["R", x, "?", ..] => format!("    let r{i} = load({x}, {});\n", order(words, 3)),
        ["R", x, value, ..] => {
            format!("    let r{i} = load({x}, {});\n    assume(r{i} == {value});\n", order(words, 3))
        }
        ["U", x, old, new, ..] => format!("    assume(cas({x}, {old}, {new}, {}));\n", order(words, 4)),
        ["F", ..] => format!("    fence({});\n", order(words, 1)),
        _ => panic!("no statement: {words:?}"),
    }
}

fn is_robust(short: &str, sequence: ReleaseSequence) -> bool {
    let program = program_of(text(short)).unwrap_or_else(|wrong| panic!("{short}: {wrong}"));
    let options = Options { threads: 1, ..Options::default() };
    let task = Task::new(&program, Model::Rc11(sequence), &options);
    match ask(&Views, &RobustTrace, &task, &Unlimited).expect("it is taken").answer.verdict {
        Verdict::Safe => true,
        Verdict::Unsafe(_) => false,
        Verdict::Unknown(reason) => panic!("{short}: {reason}"),
    }
}

fn check(name: &str, robust: bool, short: &str) {
    assert_eq!(is_robust(short, ReleaseSequence::Updates), robust, "{name}: {short}");
}

#[test]
fn only_a_last_write_that_every_order_knows_makes_a_read_weak() {
    check("R1", true, "W x 1 rlx | R x ? acq | W x 1 rlx");
}

#[test]
fn orders_of_sequential_consistency_go_through_reads_writes_and_relaxed_sources() {
    check("R2", false, "W y 2 rlx; R x ? | W x 2 rlx; R y ?");
    check("R3", false, "R y ? rlx; W x 1 | W x 1 rlx; W y 1 rel");
    check("R4", false, "W x 1 rel; W y 2 rel | W y 1 rel; W x 2 rel");
}

#[test]
fn nothing_is_written_between_an_update_and_its_source() {
    check("R5", true, "W x 1 rel; W y 1 rel | U y 0 1 acq; W x 2 rel");
    check("R6", true, "W x 1 rlx; U y 0 1 acq; W z 1 rel | W z 1 rel; U y 0 1 acq_rel");
}

#[test]
fn a_relaxed_read_moves_on() {
    check("R7", true, "W x 1; W x 2 | R x ?; R x ?");
}

#[test]
fn fences_collect_and_hand_on() {
    check("R8", true, "W x 1; W y 1 rel | R y 1 rlx; F acq; R x ?");
    check("R9", true, "W x 1; F rel; W y 1 rlx | R y 1 acq; R x ?");
    check("R9", false, "W x 1; W y 1 rlx; F rel | R y 1 acq; R x ?");
}

#[test]
fn updates_carry_a_release_on_and_stores_do_not() {
    check("R10", true, "W x 1; W y 1 rel | U y 1 2 rlx | R y 2 acq; R x ?");
    check("R11", false, "W x 1; W y 1 rel | R y 1; W y 2 rlx | R y 2 acq; R x ?");
    let own = "W x 1; W y 1 rel; W y 2 rlx | R y 2 acq; R x ?";
    check("R11", false, own);
    assert!(is_robust(own, ReleaseSequence::OwnStores), "R11: {own}");
}

#[test]
fn seq_cst_fences_order_through_reads_and_through_writes() {
    check("R12", true, "W x 1; F sc; R y ? | W y 1; F sc; R x ?");
    check("R12", true, "W x 1 | W y 1 | R x ?; F sc; R y ? | R y ?; F sc; R x ?");
    check("R13", true, "W x 1; F sc; W y 2 | W y 1; F sc; W x 2");
}

#[test]
fn the_order_of_fences_is_none_of_sequential_consistency() {
    check("R14", true, "F sc; R x ? | W x 1; R y ? | W y 1; F sc");
    check("R15", false, "W z 1; F sc; R x ? | W x 1; R y ? | W y 1; F sc; R z ?");
    // What a fence elsewhere came before is learned by a fence, and not by the access that meets it.
    check("R15", false, "W x 1; F sc; R y ? | W y 1; R x ?");
    check("R15", false, "W x 1; F sc; W y 1 | R y 1; R x ?; F sc");
}

#[test]
fn neither_updates_nor_loads_alone_are_fences() {
    check("R16", false, "U x 0 1 acq_rel; R y ? acq | U y 0 1 acq_rel; R x ? acq");
    // The same where fences are followed.
    check("R16", false, "U x 0 1 acq_rel; R y ? acq; F sc | U y 0 1 acq_rel; R x ? acq; F sc");
    check("R16", false, "W x 1 rlx; R y ? sc | W y 1 rlx; R x ? sc");
    check("SB", true, "W x 1 sc; R y ? sc | W y 1 sc; R x ? sc");
    // A seq_cst load of what a relaxed store wrote is behind no seq_cst store before that.
    check("R18", false, "W z 1 sc; W x 1 sc | R x 1; W x 2 | R x 2 sc; R z ? sc");
    check("R18", true, "W z 1 sc; W x 1 sc | R x 1; W x 2 sc | R x 2 sc; R z ? sc");
}

/// Where old values are read, the value says little of what is learned: some write of it that told nothing counts.
#[test]
fn an_old_value_tells_no_more_than_the_least_of_its_writes() {
    let short = "W y 2 rel; W y 1 rlx; W y 1 rlx; W x 1 | U y 0 1 rlx; R x ?; R y ? acq; R y ? acq";
    let options = Options { threads: 1, ..Options::default() };
    for (i, x) in [(1, 0), (1, 1)] {
        for (first, second) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let forbidden = format!("forbid T1.r{i} == {x} && T1.r2 == {first} && T1.r3 == {second} at end;\n");
            let program = program_of(text(short) + &forbidden).expect("it is right");
            let task = Task::new(&program, Model::Rc11(ReleaseSequence::Updates), &options);
            let views = Views.check(&task, &Unlimited).expect("it is taken").verdict;
            let graphs = fencewright::engine::explicit::Explicit::DEFAULT.check(&task, &Unlimited);
            let graphs = graphs.expect("it is taken").verdict;
            let is_safe = |it: &Verdict| matches!(it, Verdict::Safe);
            assert!(!is_safe(&views) || is_safe(&graphs), "R17: {forbidden}");
        }
    }
}

/// Whether a thread may find 0 in `x` at the end of its reads.
fn may_miss_x(short: &str) -> bool {
    let program = program_of(text(short) + "forbid T1.r2 == 0 at end;\n").expect("it is right");
    let options = Options { threads: 1, ..Options::default() };
    let task = Task::new(&program, Model::Rc11(ReleaseSequence::Updates), &options);
    matches!(Views.check(&task, &Unlimited).expect("it is taken").verdict, Verdict::Unsafe(_))
}

/// Of two writes of the same value the first tells of `x` and the second does not: whoever reads the value may know
/// nothing of `x`.
#[test]
fn an_old_value_that_was_written_twice_may_be_either() {
    let short = "W x 1; W y 1 rel; W y 2; W y 1; W y 2; W z 1 | R z 1; R y 1 acq; R x ?";
    assert!(may_miss_x(short), "R17: {short}");
}

#[test]
fn a_relaxed_read_of_an_old_value_learns_nothing() {
    let short = "W x 1; W y 1 rel; W y 2; W z 1 | R z 1; R y 1; R x ?";
    assert!(may_miss_x(short), "R19: {short}");
    assert!(!may_miss_x(&short.replace("R y 1;", "R y 1 acq;")), "R19: {short}");
}
