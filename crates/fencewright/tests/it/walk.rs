//! A walk by hand goes where replay goes: every run that an engine finds can be walked, choice by choice, to the same
//! states and the same violation, and every choice of a walk is a step of the semantics.

use fencewright::memory::{Dialect, Model};
use fencewright::program::Program;
use fencewright::report::{variables, walk_view};
use fencewright::system::{Event, Next, Run, Start, Step, Violation, Walk, WalkError, walk};
use fencewright::{Verdict, check, parse};

fn example(name: &str) -> Program {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    program(&std::fs::read_to_string(path).expect("the example is there"))
}

fn program(text: &str) -> Program {
    parse("t.fw", text).expect("it is a program")
}

fn violating_run(program: &Program, model: Model) -> Box<Run> {
    match check(program, model).expect("an engine takes it").verdict {
        Verdict::Unsafe(run) => run,
        Verdict::Safe | Verdict::Unknown(_) => panic!("it is unsafe under {model}"),
    }
}

fn go(program: &Program, model: Model, start: &Start, choices: &[usize]) -> Result<Walk, WalkError> {
    walk(program, model, Dialect::default(), start, choices)
}

fn step_of(next: &Next) -> Step {
    match next {
        Next::Possible(event) => event.step,
        Next::Overflow(step) => *step,
    }
}

fn same(one: &Event, other: &Event) -> bool {
    (one.step, one.effect) == (other.step, other.effect)
        && (&one.shown, &one.memory, &one.registers) == (&other.shown, &other.memory, &other.registers)
}

#[test]
fn every_run_can_be_walked() {
    let cases = [
        ("peterson.fw", Model::Tso),
        ("peterson.fw", Model::Pso),
        ("litmus/sb.fw", Model::Tso),
        ("litmus/mp.fw", Model::Pso),
        ("litmus/mp_rmw.fw", Model::Pso),
        ("traps/t16_initial_any.fw", Model::Tso),
    ];
    for (name, model) in cases {
        let program = example(name);
        let run = violating_run(&program, model);
        let mut choices = Vec::new();
        for (i, event) in run.events.iter().enumerate() {
            let here = go(&program, model, &run.trace.start, &choices).expect("it is a walk");
            assert_eq!(here.events.len(), i);
            let choice = here.next.iter().position(|it| step_of(it) == event.step);
            choices.push(choice.unwrap_or_else(|| panic!("{name}: step {i} is not offered")));
            let Next::Possible(offered) = &here.next[choices[i]] else { panic!("{name}: nothing overflows") };
            assert!(same(offered, event), "{name}: step {i} is offered as something else");
        }
        let end = go(&program, model, &run.trace.start, &choices).expect("it is a walk");
        assert!(end.events.iter().zip(&run.events).all(|(one, other)| same(one, other)), "{name}");
        assert_eq!(end.violation, Some(run.trace.violation), "{name}");
        assert!(walk_view(&program, &end).violated.is_some(), "{name}");
    }
}

#[test]
fn a_step_that_goes_wrong_ends_the_walk() {
    let program = program("shared x: 0..1;\nthread P {\n    assert(x == 1);\n}\n");
    let (start, _) = variables(&program, &[]);
    let mut choices = Vec::new();
    let end = loop {
        let here = go(&program, Model::Tso, &start, &choices).expect("it is a walk");
        if here.next.is_empty() {
            break here;
        }
        choices.push(0);
        assert!(choices.len() < 10, "it goes on behind the end");
    };
    assert!(matches!(end.violation, Some(Violation::Fault(_))), "{:?}", end.violation);
    let n_steps = choices.len();
    choices.push(0);
    assert_eq!(go(&program, Model::Tso, &start, &choices).err(), Some(WalkError::NoChoice(n_steps)));
}

#[test]
fn what_is_not_possible_is_refused() {
    let program = program("shared x: 0..1 = any;\nthread P { x = 1; }\nforbid x == 0 at end;\n");
    let (start, found) = variables(&program, &[1]);
    assert_eq!((found[0].name.as_str(), found[0].range, found[0].value), ("x", Some((0, 1)), 1));
    assert_eq!(go(&program, Model::Tso, &start, &[7]).err(), Some(WalkError::NoChoice(0)));
    let (wrong, _) = variables(&program, &[2]);
    assert_eq!(go(&program, Model::Tso, &wrong, &[]).err(), Some(WalkError::NotInitial));
}

#[test]
fn the_outcomes_of_any_are_told_apart_and_counted() {
    let few = program("thread P { let a = any(0..2); assert(a < 3); }\n");
    let (start, _) = variables(&few, &[]);
    let here = go(&few, Model::Tso, &start, &[]).expect("it is a walk");
    let texts: Vec<String> = walk_view(&few, &here).next.into_iter().map(|it| it.text).collect();
    assert_eq!(texts, ["a = 0", "a = 1", "a = 2"]);
    for text in [
        "thread P { let a = any(0..1000000000); assert(a >= 0); }\n",
        "thread P { let a: 0..199; let b: 0..199; atomic { a = any; b = any; } assert(a + b >= 0); }\n",
    ] {
        let many = program(text);
        let (start, _) = variables(&many, &[]);
        assert!(matches!(go(&many, Model::Tso, &start, &[]), Err(WalkError::TooManyOutcomes(_))), "{text}");
    }
}

#[test]
fn a_value_beyond_64_bits_is_shown_and_cannot_be_chosen() {
    let text = "thread P { let a: int = 9223372036854775807; a = a + 1; assert(a > 0); }\n";
    let program = program(text);
    let (start, _) = variables(&program, &[]);
    let mut choices = Vec::new();
    loop {
        let here = go(&program, Model::Tso, &start, &choices).expect("it is a walk");
        let [next] = &walk_view(&program, &here).next[..] else { panic!("one step is possible after {choices:?}") };
        choices.push(0);
        if !next.is_possible {
            break;
        }
        assert!(choices.len() < 10, "the value fits");
    }
    assert!(matches!(go(&program, Model::Tso, &start, &choices), Err(WalkError::NoChoice(_))));
}
