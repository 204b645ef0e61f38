//! Races of the examples: what their headers say, by every engine that takes them, and what is said of them.

use std::fs;

use fencewright::engine::data_race::{ask_race, told};
use fencewright::engine::{Asked, Engine, Options, Task, Verdict, named};
use fencewright::expectation::hold_race;
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Position, Program, Side};
use fencewright::report::{Fullness, trace_text};
use fencewright::source::Style;
use fencewright::util::Idx;
use fencewright::watch::Unlimited;

use crate::common::expectation::{expecting, hold_by_all, root};

fn program(text: &str) -> Program {
    fencewright::parse("t.fw", text).unwrap_or_else(|it| panic!("{it}"))
}

fn auto() -> &'static dyn Engine {
    named("auto").expect("it is there")
}

fn asked(program: &Program, model: Model) -> Asked {
    let options = Options::default();
    ask_race(auto(), &Task::new(program, model, &options), &Unlimited).expect("it is taken")
}

#[test]
fn every_engine_says_what_the_headers_say() {
    let mut n_held = 0;
    for (path, program, races) in expecting(|it| it.races) {
        for (model, expected, line) in races {
            let options = Options::default();
            let task = Task::new(&program, model, &options);
            n_held += hold_by_all(&path, line, |engine, budget| hold_race(expected, engine, &task, budget));
        }
    }
    assert!(n_held >= 80, "{n_held}");
}

/// What is said of the race of a program under a model.
fn said(text: &str, model: Model) -> String {
    let asked = asked(&program(text), model);
    let Verdict::Unsafe(run) = &asked.answer.verdict else { panic!("{text}: {:?}", asked.answer.verdict) };
    assert!(told(&asked.program, run).is_some(), "{text}");
    trace_text(&asked.program, run, Fullness::Compact, Style::Plain)
}

const MESSAGE: &str = "shared plain d: 0..1;\nshared f: 0..1;\n";

#[test]
fn the_order_that_is_too_weak_is_named() {
    let check = |writer: &str, reader: &str, expected: &[&str]| {
        let text = format!("{MESSAGE}thread P {{\n{writer}\n}}\nthread Q {{\n{reader}\n}}\n");
        let said = said(&text, Model::Sc).split_whitespace().collect::<Vec<_>>().join(" ");
        for words in expected {
            assert!(said.contains(words), "{text}: `{words}` is missing in {said}");
        }
    };
    let unordered = "Nothing orders the write of d by P (line 4) before the read by Q";
    let writer = "d = 1;\nstore(f, 1, relaxed);";
    let reader = "if (load(f, acquire) == 1) {\nlet _r = d;\n}";
    check(writer, reader, &[unordered, "P wrote f (line 5) with `relaxed`"]);
    let reader = "if (load(f, relaxed) == 1) {\nlet _r = d;\n}";
    check(writer, reader, &["P wrote f (line 5) with `relaxed`", "Q read f (line 8) with `relaxed`"]);
    check("d = 1;\nf = 1;", reader, &[unordered, "Q read f (line 8) with `relaxed`"]);
    check("d = 1;", "d = 0;", &["Q has read nothing since then that P wrote after it."]);
    check("d = 1;", "atomic {\nlet _r = d;\n}", &[unordered]);
}

#[test]
fn two_accesses_at_once_are_a_race_of_the_model() {
    let text = fs::read_to_string(root().join("examples/races/peterson_plain.fw")).expect("the example is there");
    assert!(matches!(asked(&program(&text), Model::Sc).answer.verdict, Verdict::Safe));
    for model in Model::BUFFERED {
        let said = said(&text, model);
        assert!(said.contains("at once"), "{said}");
    }
}

#[test]
fn a_run_of_sc_is_shown_as_one_of_the_model() {
    for model in Model::ALL {
        let text = format!("{MESSAGE}thread P {{ d = 1; store(f, 1, release); }} thread Q {{ d = 0; f = 1; }}");
        let asked = asked(&program(&text), model);
        let Verdict::Unsafe(run) = asked.answer.verdict else { panic!("under {model}") };
        assert_eq!(run.model, model);
    }
}

#[test]
fn blocks_are_in_one_order_and_cells_are_told_apart() {
    let is_safe = |text: &str| match asked(&program(text), Model::Sc).answer.verdict {
        Verdict::Safe => true,
        Verdict::Unsafe(_) => false,
        Verdict::Unknown(why) => panic!("{text}: {why}"),
    };
    assert!(is_safe("shared plain d: 0..1; thread P { atomic { d = 1; } } thread Q { atomic { d = 0; } }"));
    assert!(!is_safe("shared plain d: 0..1; thread P { atomic { d = 1; } } thread Q { d = 0; }"));
    assert!(is_safe("shared plain a[2]: 0..1; thread P(i: 0..1) { let j = any(0..1); assume(j == i); a[j] = 1; }"));
    assert!(!is_safe("shared plain a[2]: 0..1; thread P(i: 0..1) { let j = any(0..1); a[j] = 1; }"));
    assert!(is_safe("shared plain d: 0..1; thread P { d = 1; } thread Q {}"));
    assert!(is_safe(
        "shared plain d: 0..1; thread P { let r = d; assert(r == 0); } thread Q { let r = d; assert(r < 1); }"
    ));
    assert!(is_safe("shared d: 0..1; thread P { d = 1; } thread Q { d = 0; }"));
    // A run that goes wrong races no further.
    assert!(is_safe("shared plain d: 0..1; thread P { assert(false); d = 1; } thread Q { d = 1; }"));
}

#[test]
fn many_accesses_are_followed_one_at_a_time() {
    // Who gets the lock writes seventy cells, which only whoever had it before has written.
    let text = |order: &str| {
        format!(
            "shared plain a[70]: 0..1; shared lock: 0..1; thread P(i: 0..1) {{ while (swap(lock, 1, acquire) == 1) \
             {{}} for k in 0..69 {{ a[k] = 1; }} store(lock, 0, {order}); }}"
        )
    };
    let verdict = |order| asked(&program(&text(order)), Model::Sc).answer.verdict;
    assert!(matches!(verdict("release"), Verdict::Safe));
    assert!(matches!(verdict("relaxed"), Verdict::Unsafe(_)));
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let refused = |program: &Program, placement: &Placement| {
        let options = Options::default();
        let task = Task { placement, ..Task::new(program, Model::Sc, &options) };
        ask_race(auto(), &task, &Unlimited).map(|_| ()).expect_err("it is refused")
    };
    let many = program("shared plain a[2500]: 0..1; thread P(i: 0..1) { let k = any(0..2499); a[k] = 1; }");
    assert!(refused(&many, &Placement::NONE).reason.contains("too much plain data"));
    let outside = program("shared plain d: 0..1; thread P { let i = any(0..1); d = i + 1; } thread Q { d = 1; }");
    let options = Options::default();
    let said = ask_race(auto(), &Task::new(&outside, Model::Sc, &options), &Unlimited);
    assert!(matches!(said.map(|it| it.answer.verdict), Err(_) | Ok(Verdict::Unsafe(_))));
    let fenced = program("shared plain d: 0..1; thread P { d = 1; } thread Q { d = 0; }");
    let position = Position { edge: Idx::from_usize(0), side: Side::After };
    let placement = [(position, FenceKind::Full)].into_iter().collect();
    assert!(refused(&fenced, &placement).reason.contains("fences laid over"));
}
