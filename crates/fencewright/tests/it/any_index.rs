//! Any number of threads with an index, `const N = any;`: locks, what is refused, and a law on random programs.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test --release -p fencewright --test it any_index:: -- --nocapture` tries more.

use fencewright::engine::explicit::Explicit;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict};
use fencewright::frontend::{self, fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::Source;
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::{Budget, Unlimited};

use crate::common::law::{n_programs, seed};
use crate::common::random::Random;

fn lowered(text: &str, n: Option<i64>) -> Result<Program, Vec<String>> {
    let defines: Vec<(String, i64)> = n.map(|n| ("N".to_owned(), n)).into_iter().collect();
    let lowered = frontend::parse(&fw::Fw, &Source::new("any.fw", text), &defines);
    let mistakes = lowered.diagnostics.iter().map(|it| it.message.clone()).collect();
    lowered.program.ok_or(mistakes)
}

fn program(text: &str) -> Program {
    lowered(text, None).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{text}"))
}

fn verdict(text: &str, model: Model) -> Verdict {
    let (program, options) = (program(text), Options::default());
    Auto.check(&Task::new(&program, model, &options), &Unlimited).expect("it is taken").verdict
}

/// Flags, and a body with a fence where `FENCE` stands.
fn lock(shared: &str, body: &str) -> String {
    format!(
        "const N = any; {shared}
         thread P(i: 0..N-1) {{ loop {{ {body} }} }}
         forbid P(i)@critical && P(j)@critical for i in 0..N-2, j in i+1..N-1;"
    )
}

fn dekker() -> String {
    let body = "start: flag[i] = 1; FENCE
        for k in 0..N-1 { if (k != i && flag[k] == 1) { flag[i] = 0; goto start; } }
        critical: flag[i] = 0;";
    lock("shared flag[N]: 0..1 = 0;", body)
}

fn burns() -> String {
    let body = "start: flag[i] = 0;
        for k in 0..i-1 { if (flag[k] == 1) { goto start; } }
        flag[i] = 1; FENCE
        for k in 0..i-1 { if (flag[k] == 1) { goto start; } }
        for k in i+1..N-1 { while (flag[k] == 1) {} }
        critical: flag[i] = 0;";
    lock("shared flag[N]: 0..1 = 0;", body)
}

fn bakery(max: usize) -> String {
    let body = format!(
        "let max: 0..{max} = 0; let n: 0..{max};
         start: choosing[i] = 1; FENCE max = 0;
         for k in 0..N-1 {{ if (k != i) {{ n = number[k]; if (n > max) {{ max = n; }} }} }}
         if (max == {max}) {{ choosing[i] = 0; goto start; }}
         number[i] = max + 1; FENCE choosing[i] = 0; FENCE
         for k in 0..N-1 {{
             if (k != i) {{
                 while (choosing[k] == 1) {{}}
                 do {{ n = number[k]; }} while (n != 0 && (n < max + 1 || n == max + 1 && k < i));
             }}
         }}
         critical: number[i] = 0; FENCE"
    );
    lock(&format!("shared choosing[N]: 0..1 = 0; shared number[N]: 0..{max} = 0;"), &body)
}

#[test]
fn locks_are_safe_for_every_number_of_threads() {
    for (name, text) in [("dekker", dekker()), ("burns", burns()), ("bakery", bakery(2))] {
        for model in [Model::Tso, Model::Pso] {
            let fenced = verdict(&text.replace("FENCE", "fence;"), model);
            assert!(matches!(fenced, Verdict::Safe), "{name} under {model}: {fenced:?}");
            let Verdict::Unsafe(run) = verdict(&text.replace("FENCE", ""), model) else { panic!("{name}: no run") };
            let instance = run.instance.expect("it is a run of an instance");
            assert_eq!(instance.counts().collect::<Vec<_>>(), [("P", 2)], "{name} under {model}");
        }
    }
}

/// The locks with integers without a range, and that what is wrong is not proved.
#[test]
fn other_threads_may_write_integers() {
    let text = bakery(2).replace("0..2", "int").replace("if (max == 2) { choosing[i] = 0; goto start; }", "");
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let fenced = verdict(&text.replace("FENCE", "fence;"), model);
        assert!(matches!(fenced, Verdict::Safe), "under {model}: {fenced:?}");
    }
    // Whoever waits only for smaller numbers does not wait for an equal one.
    let wrong = text.replace(" || n == max + 1 && k < i", "").replace("FENCE", "fence;");
    assert!(matches!(verdict(&wrong, Model::Sc), Verdict::Unsafe(_)));
    let sum = "const N = any; shared a[N]: int = 0;
        thread P(i: 0..N-1) { let s: int = 0;
            for k in 0..N-1 { if (k != i) { s = s + a[k]; } } a[i] = 1; if (s == 9) { nine: ; } }
        forbid P(i)@nine for i in 0..N-1;";
    assert!(!matches!(verdict(sum, Model::Sc), Verdict::Safe), "there are nine ones with ten threads");
}

/// A thread has others before and behind it, which neither the first nor the last has: what such a thread writes is
/// written by nobody while there are two.
#[test]
fn what_takes_three_threads_is_never_proved() {
    let text = |body: &str| {
        format!(
            "const N = any; shared a[N]: 0..1 = 0; shared x: 0..1 = 0;
             thread P(i: 0..N-1) {{ let r: 0..1 = 0; {body} }}"
        )
    };
    let behind = text("for k in i+1..N-1 { a[k] = 1; } for k in 0..i-1 { if (a[k] == 1) { r = 1; } } assert(r == 0);");
    let between = text("for k in 0..i-1 { for l in i+1..N-1 { x = 1; } } r = x; assert(r == 0);");
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let Verdict::Unsafe(run) = verdict(&behind, model) else { panic!("no run under {model}") };
        let instance = run.instance.expect("it is a run of an instance");
        assert_eq!(instance.counts().collect::<Vec<_>>(), [("P", 3)], "under {model}");
        // A fence beside the store could not be told of the program, in which it is never made: there is no run.
        let unknown = verdict(&between, model);
        assert!(matches!(unknown, Verdict::Unknown(_)), "under {model}: {unknown:?}");
    }
}

#[test]
fn fences_are_found_for_every_number_of_threads() {
    for (name, text, n_sets) in [("dekker", dekker(), 1), ("burns", burns(), 1)] {
        let (program, options) = (program(&text.replace("FENCE", "")), Options::default());
        let task = Task::new(&program, Model::Tso, &options);
        let all = candidates(&program, &Place::AfterStores, By::Source).expect("no labels are asked for");
        let found = synthesize(&Auto, &task, &Request::all(&all), &Unlimited).expect("it is taken");
        let Outcome::Fixed(sets) = &found.outcome else { panic!("{name}: {:?}", found.outcome) };
        assert_eq!((sets.len(), found.is_complete), (n_sets, true), "{name}");
    }
}

#[test]
fn what_counts_threads_is_refused() {
    let refuse = |body: &str, property: &str, because: &str| {
        let text = format!(
            "const N = any; shared flag[N]: 0..3 = 0; shared turn: 0..3;
             thread P(i: 0..N-1) {{ {body} critical: ; }}
             forbid {property};"
        );
        let mistakes = lowered(&text, None).expect_err(&text);
        assert!(mistakes.iter().any(|it| it.contains(because)), "{text}: {mistakes:?}");
        assert!(lowered(&text, Some(3)).is_ok(), "{text}");
    };
    let pair = "P(i)@critical && P(j)@critical for i in 0..N-2, j in i+1..N-1";
    refuse("turn = i;", pair, "an index is a value");
    refuse("if (i == 0) { turn = 1; }", pair, "an index is a value");
    refuse("flag[(i + 1) % N] = 1;", pair, "the cell of a thread is computed");
    refuse("flag[turn] = 1;", pair, "the cell of a thread is computed");
    refuse("for k in 1..N-1 { flag[k] = 1; }", pair, "threads are counted");
    refuse("for k in 0..N-1 { for l in 0..N-1 { if (k < l) { turn = 1; } } }", pair, "two other threads are compared");
    refuse("for k in 0..N-1 { if (flag[k] == 1) { break; } }", pair, "is left");
    refuse("let r: 0..N = 0; turn = r;", pair, "an index is a value");
    refuse("turn = 1;", "P(0)@critical && P(1)@critical", "one thread is named");
    refuse("turn = 1;", "turn == 1 at end", "the end of all threads");
}

#[test]
fn a_function_counts_all_threads() {
    let text = "const N = any; shared flag[N]: 0..1 = 0;
        fn count() { let c: 0..7 = 0; for k in 0..N-1 { if (flag[k] == 1 && c < 7) { c = c + 1; } } return c; }
        thread P(i: 0..N-1) { let c: 0..7 = 0; flag[i] = 1; c = count(); if (c >= 6) { crowd: ; } }
        forbid P(i)@crowd for i in 0..N-1;";
    assert!(!matches!(verdict(text, Model::Sc), Verdict::Safe), "there are six with six threads");
}

#[test]
fn three_threads_at_once_are_not_asked_about() {
    let text = "const N = any; shared flag[N]: 0..1 = 0; thread P(i: 0..N-1) { flag[i] = 1; a: ; } forbid #P@a >= 3;";
    let (program, options) = (program(text), Options::default());
    let refused = Auto.check(&Task::new(&program, Model::Tso, &options), &Unlimited).expect_err("three are named");
    assert!(refused.reason.contains("more than two threads"), "{}", refused.reason);
    assert!(Explicit::DEFAULT.check(&Task::new(&program, Model::Tso, &options), &Unlimited).is_err());
}

/// A thread that goes through others in some ways.
fn random_text(random: &mut Random) -> String {
    let mut body = String::new();
    for _ in 0..2 + random.below(4) {
        let array = ["a", "b"][random.below(2)];
        let (value, range) = (random.below(2), ["0..N-1", "0..i-1", "i+1..N-1"][random.below(3)]);
        let compared = ["k != i", "k < i", "k > i"][random.below(3)];
        let action = match random.below(3) {
            0 => "goto start;".to_owned(),
            1 => format!("{}[i] = {};", ["a", "b"][random.below(2)], random.below(2)),
            _ => format!("r = {};", random.below(2)),
        };
        body += &match random.below(6) {
            0 | 1 => format!("{array}[i] = {value};\n"),
            2 => "fence;\n".to_owned(),
            3 => format!("for k in {range} {{ if ({compared} && {array}[k] == {value}) {{ {action} }} }}\n"),
            4 => format!("for k in {range} {{ while ({compared} && {array}[k] == {value}) {{}} }}\n"),
            _ => format!("if (r == {value}) {{ {array}[i] = 1; }}\n"),
        };
    }
    let property = [
        "P(i)@c && P(j)@c for i in 0..N-2, j in i+1..N-1",
        "#P@c >= 2",
        "P(i)@c && P(j)@d for i in 0..N-1, j in i+1..N-1",
        "P(i)@c && a[i] == 0 for i in 0..N-1",
        "P(i)@c && a[j] == 1 for i in 0..N-1, j in i+1..N-1",
    ][random.below(5)];
    let assertion = if random.chance(30) { "assert(r == 0);" } else { "" };
    format!(
        "const N = any; shared a[N], b[N]: 0..1 = 0;
         thread P(i: 0..N-1) {{ let r: 0..1 = 0;\nstart: ;\n{body}{assertion}\nc: b[i] = 0;\nd: a[i] = 0;\n}}
         forbid {property};"
    )
}

/// What is safe for every number is safe for one, two, three and four.
#[test]
fn every_number_is_one_two_three_and_four() {
    let (mut n_safe, mut n_unsafe, mut n_unknown) = (0, 0, 0);
    for i in 0..(n_programs() / 4).max(1) {
        let text = random_text(&mut Random(seed().wrapping_mul(1_000_003).wrapping_add(i)));
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let (program, options) = (program(&text), Options::default());
            let budget = Budget { monitor: &Unlimited, max: 20_000 };
            let answer = Auto.check(&Task::new(&program, model, &options), &budget).expect("it is taken");
            match answer.verdict {
                Verdict::Safe => n_safe += 1,
                Verdict::Unsafe(_) => n_unsafe += 1,
                Verdict::Unknown(_) => n_unknown += 1,
            }
            if matches!(answer.verdict, Verdict::Safe) {
                (1..=4).for_each(|n| hold(&text, n, model));
            }
        }
    }
    println!("any index: {n_safe} safe, {n_unsafe} unsafe, {n_unknown} unknown");
}

/// So many threads have no bad run that can be found.
fn hold(text: &str, n: i64, model: Model) {
    let program = match lowered(text, Some(n)) {
        Ok(program) => program,
        // With one thread, pairs have no range.
        Err(mistakes) => return assert!(n == 1, "{mistakes:?}\n{text}"),
    };
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 20_000 };
    let found = Explicit::DEFAULT.check(&Task::new(&program, model, &options), &budget).expect("it is taken");
    match found.verdict {
        Verdict::Unsafe(_) => panic!("unsafe with {n} threads under {model}:\n{text}"),
        Verdict::Safe | Verdict::Unknown(StopReason::Constraints(_)) => {}
        Verdict::Unknown(reason) => assert!(!matches!(reason, StopReason::Defect(_)), "{reason}"),
    }
}
