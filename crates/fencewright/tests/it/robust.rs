//! Robustness of programs that people know.

use fencewright::certificate::{self, Claim, Proof, verify};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::robust::{Attacks, ROBUST, Robust, RobustTrace, ask_robust, beside_sooner};
use fencewright::engine::{Asked, Engine, Options, Question, Task, Verdict, ask, named};
use fencewright::expectation::{Expected, Held, hold_robust};
use fencewright::memory::Model;
use fencewright::program::{Program, PropertyKind};
use fencewright::prove::{certify_robust, certify_robust_trace};
use fencewright::report::{Fullness, trace_text, violated};
use fencewright::source::Style;
use fencewright::watch::{Budget, Unlimited};

use crate::common::expectation::{expecting, root};

const ATTACKS: Attacks = Attacks { others: &Auto };

fn program(text: &str) -> Program {
    fencewright::parse("robust.fw", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn asked(engine: &dyn Engine, question: &dyn Question, program: &Program, model: Model) -> Asked {
    let options = Options::default();
    ask(engine, question, &Task::new(program, model, &options), &Unlimited).expect("it is taken")
}

fn is_robust(text: &str, model: Model) -> (bool, bool) {
    let program = program(text);
    let [state, trace] = [asked(&Auto, &Robust, &program, model), asked(&ATTACKS, &RobustTrace, &program, model)];
    let [state, trace] = [state, trace].map(|it| matches!(it.answer.verdict, Verdict::Safe));
    (state, trace)
}

#[test]
fn auto_says_what_the_headers_say() {
    let mut n_held = 0;
    for (path, program, robust) in expecting(|it| it.robust) {
        for (model, question, expected, line) in robust {
            let options = Options::default();
            let budget = Budget { monitor: &Unlimited, max: 200_000 };
            let engine = named("auto").expect("it is there");
            let held = hold_robust(question, expected, engine, &Task::new(&program, model, &options), &budget);
            assert!(matches!(held, Held::Yes(_)), "{}:{line}: {held:?}", path.display());
            n_held += 1;
        }
    }
    assert!(n_held >= 22, "{n_held}");
}

#[test]
fn what_the_headers_say_is_certified() {
    let mut n_proved = 0;
    for (path, program, robust) in expecting(|it| it.robust) {
        for (model, question, expected, line) in robust {
            let (options, place) = (Options::default(), format!("{}:{line}", path.display()));
            let task = Task::new(&program, model, &options);
            let found = match question {
                ROBUST => certify_robust(&Auto, &task, &Unlimited),
                _ => certify_robust_trace(&Auto, &task, &Unlimited),
            };
            let (proved, _) = found.unwrap_or_else(|it| panic!("{place}: {it}"));
            let verdict = proved.answer.verdict;
            let certificate = proved.certificate.unwrap_or_else(|| panic!("{place}: {verdict:?}"));
            assert_eq!(certificate.subject.question.name(), question, "{place}");
            assert_eq!(verify(&program, &certificate, &Unlimited), Ok(()), "{place}");
            let is_safe = matches!(certificate.claim, Claim::Safe(..));
            assert_eq!(is_safe, expected == Expected::Safe, "{place}");
            n_proved += usize::from(is_safe);
        }
    }
    assert!(n_proved >= 10, "{n_proved}");
}

/// Not robust by traces, but by states: what is new is proved not to be reached.
#[test]
fn states_are_certified_where_there_is_an_attack() {
    let unread = program(
        "shared x, y: 0..1;
        thread P { x = 1; let r = y; r = 0; y = 1; } thread Q { y = 1; x = 1; } forbid false at end;",
    );
    let options = Options::default();
    for model in Model::BUFFERED {
        let task = Task::new(&unread, model, &options);
        let (proved, _) = certify_robust(&Auto, &task, &Unlimited).expect("it is taken");
        let certificate = proved.certificate.unwrap_or_else(|| panic!("{:?}", proved.answer.verdict));
        assert!(!matches!(certificate.claim, Claim::Safe(_, Proof::Attacks(_)) | Claim::Unsafe(..)));
        assert_eq!(verify(&unread, &certificate, &Unlimited), Ok(()), "{model}");
        let mut forged = certificate;
        forged.subject.question = certificate::Question::RobustTrace;
        assert!(verify(&unread, &forged, &Unlimited).is_err(), "{model}: its executions are others");
    }
}

#[test]
fn attacks_settle_where_listing_what_is_new_takes_long() {
    for (name, model, is_robust) in [
        ("increasing_sequence_40", Model::Tso, true),
        ("szymanski_fenced", Model::Pso, true),
        ("chase_lev", Model::Tso, false),
    ] {
        let path = root().join(format!("examples/papers/{name}.fw"));
        let program = program(&std::fs::read_to_string(path).expect("the example is there"));
        let (options, budget) = (Options::default(), Budget { monitor: &Unlimited, max: 300_000 });
        let asked = ask_robust(&Auto, &Task::new(&program, model, &options), &budget).expect("it is taken");
        assert_eq!(asked.answer.engine, "attacks", "{name}");
        assert_eq!(matches!(asked.answer.verdict, Verdict::Safe), is_robust, "{name}");
        assert_eq!(matches!(asked.answer.verdict, Verdict::Unsafe(_)), !is_robust, "{name}");
    }
}

/// Where there is no attack under any model asked, `fence` need not know what is new.
#[test]
fn nothing_is_listed_where_no_attack_is_possible() {
    let (options, engine) = (Options::default(), named("auto").expect("it is there"));
    let message = program(&MESSAGE_PASSING.replace("FENCE", ""));
    let task = Task::new(&message, Model::Tso, &options);
    let n_listed = |models: &[Model]| {
        let asked = beside_sooner(engine, &task, models, &Unlimited).unwrap_or_else(|it| panic!("{it:?}"));
        let robust = asked.properties().iter().find(|it| it.kind == PropertyKind::Robust).expect("it is asked");
        robust.situations.len()
    };
    assert_eq!(n_listed(&[Model::Tso]), 0);
    assert!(n_listed(&[Model::Tso, Model::Pso]) > 0, "under PSO the stores change places");
}

const STORE_BUFFERING: &str = "shared x, y: 0..1;
thread P { x = 1; FENCE let r = y; }
thread Q { y = 1; FENCE let s = x; }
forbid false at end;";

const MESSAGE_PASSING: &str = "shared x, y: 0..1;
thread P { x = 1; FENCE y = 1; }
thread Q { let r = y; let s = x; }
forbid false at end;";

#[test]
fn fences_make_litmus_tests_robust() {
    let with = |text: &str, fence: &str| text.replace("FENCE", fence);
    assert_eq!(is_robust(&with(STORE_BUFFERING, ""), Model::Sc), (true, true));
    assert_eq!(is_robust(&with(STORE_BUFFERING, ""), Model::Tso), (false, false));
    assert_eq!(is_robust(&with(STORE_BUFFERING, "fence(store);"), Model::Pso), (false, false));
    assert_eq!(is_robust(&with(STORE_BUFFERING, "fence;"), Model::Pso), (true, true));
    assert_eq!(is_robust(&with(MESSAGE_PASSING, ""), Model::Tso), (true, true));
    assert_eq!(is_robust(&with(MESSAGE_PASSING, ""), Model::Pso), (false, false));
    assert_eq!(is_robust(&with(MESSAGE_PASSING, "fence(store);"), Model::Pso), (true, true));
}

/// Nobody looks at what is read: another graph, but the same control.
#[test]
fn robust_by_states_need_not_be_robust_by_traces() {
    let unread = "shared x, y: 0..1;
        thread P { x = 1; let r = y; r = 0; y = 1; } thread Q { y = 1; x = 1; } forbid false at end;";
    assert_eq!(is_robust(unread, Model::Pso), (true, false));
}

/// An atomic block waits for all buffers, so it is never what overtakes; but it makes a delay show.
#[test]
fn atomic_blocks_help_and_do_not_attack() {
    let text = "shared x, y: 0..1; thread P { x = 1; MIDDLE let r = y; }
        thread Q { let s: 0..1 = 0; atomic { y = 1; s = x; } } forbid false at end;";
    assert_eq!(is_robust(&text.replace("MIDDLE", ""), Model::Tso), (false, false));
    assert_eq!(is_robust(&text.replace("MIDDLE", "atomic { y = y; }"), Model::Tso), (true, true));
}

#[test]
fn the_circle_is_told() {
    let asked = asked(&ATTACKS, &RobustTrace, &program(&STORE_BUFFERING.replace("FENCE ", "")), Model::Tso);
    let Verdict::Unsafe(run) = asked.answer.verdict else { panic!("it is not robust") };
    let text = trace_text(&asked.program, &run, Fullness::Compact, Style::Plain);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let circle = "P reads y (line 2) before its store to x (line 2) is visible; Q then writes y (line 3) and reads the \
                  old x (line 3).";
    assert!(text.contains(circle), "{text}");
    assert!(text.contains("no bug by itself"), "{text}");
}

#[test]
fn what_is_new_is_told() {
    let asked = asked(&Auto, &Robust, &program(&STORE_BUFFERING.replace("FENCE ", "")), Model::Tso);
    let Verdict::Unsafe(run) = &asked.answer.verdict else { panic!("it is not robust") };
    let violated = violated(&asked.program, run);
    assert_eq!(violated.kind, "robust");
    assert_eq!(violated.text, "P is behind line 2 with r = 0 while Q is behind line 3 with s = 0");
}

/// What goes wrong is a question of safety; so is what needs too many values.
#[test]
fn what_cannot_be_said_is_refused() {
    let options = Options::default();
    let breaks = program("shared x: 0..1; thread P { x = 1; x = x + 1; } forbid false at end;");
    let task = Task::new(&breaks, Model::Tso, &options);
    for refusal in [ask(&Auto, &Robust, &task, &Unlimited), ask(&ATTACKS, &RobustTrace, &task, &Unlimited)] {
        assert!(refusal.is_err_and(|it| it.reason.contains("goes wrong")));
    }
    let endless = program("shared x, y: int; thread P { loop { x = x + 1; } } forbid false at end;");
    let task = Task::new(&endless, Model::Tso, &options);
    assert!(ask(&Auto, &Robust, &task, &Unlimited).is_err());
    let budget = Budget { monitor: &Unlimited, max: 1_000 };
    let traces = ask(&ATTACKS, &RobustTrace, &task, &budget).expect("it is taken");
    assert!(matches!(traces.answer.verdict, Verdict::Unknown(_)));
}
