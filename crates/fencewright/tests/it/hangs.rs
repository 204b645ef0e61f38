//! Hangs of the examples: what their headers say, by every engine that takes them; repairs; and what is said of them.

use std::collections::BTreeMap;
use std::fs;

use fencewright::certificate::{Claim, Witness, digest, verify};
use fencewright::engine::hang::{Hang, Others};
use fencewright::engine::{Asked, Engine, Options, Question, Task, Verdict, ask, named};
use fencewright::expectation::{Expected, hold_dead_wait, hold_hang};
use fencewright::memory::Model;
use fencewright::program::{CopyCounts, FenceKind, Placement, Program};
use fencewright::prove::certify_hang;
use fencewright::report::{Fullness, trace_text};
use fencewright::source::Style;
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::{Budget, Unlimited};

use crate::common::expectation::{examples, expecting, hold_by_all, root};
use crate::common::law::is_taken;

fn program(text: &str) -> Program {
    fencewright::parse("t.fw", text).unwrap_or_else(|it| panic!("{it}"))
}

fn example(name: &str) -> Program {
    program(&fs::read_to_string(root().join("examples").join(name)).expect("the example is there"))
}

fn auto() -> &'static dyn Engine {
    named("auto").expect("it is there")
}

fn asked(program: &Program, model: Model, hang: &Hang) -> Asked {
    let options = Options::default();
    ask(auto(), hang, &Task::new(program, model, &options), &Unlimited).expect("it is taken")
}

#[test]
fn every_engine_says_what_the_headers_say() {
    let mut n_held = 0;
    for (path, program, hangs) in expecting(|it| it.hangs) {
        for (model, expected, line) in hangs {
            let options = Options::default();
            let task = Task::new(&program, model, &options);
            n_held += hold_by_all(&path, line, |engine, budget| hold_hang(expected, engine, &task, budget));
        }
    }
    assert!(n_held >= 60, "{n_held}");
}

#[test]
fn every_engine_says_who_waits_while_others_go_on() {
    let mut n_held = 0;
    for (path, program, dead_waits) in expecting(|it| it.dead_waits) {
        for (model, expected, line) in dead_waits {
            let options = Options::default();
            let task = Task::new(&program, model, &options);
            n_held += hold_by_all(&path, line, |engine, budget| hold_dead_wait(expected, engine, &task, budget));
        }
    }
    assert!(n_held >= 12, "{n_held}");
}

#[test]
fn who_goes_on_is_said() {
    let hang = Hang { others: Others::GoOn, ..Hang::default() };
    let told = |name| {
        let asked = asked(&example(name), Model::Tso, &hang);
        let Verdict::Unsafe(run) = asked.answer.verdict else { panic!("a thread waits for ever") };
        trace_text(&asked.program, &run, Fullness::Compact, Style::Plain)
    };
    let text = told("hangs/dead_wait.fw");
    assert!(text.contains("✗ Sleeper waits for ever (line 19)"), "{text}");
    assert!(text.contains("Waker goes on, and never writes what is waited for."), "{text}");
    assert!(text.contains("Nobody is left to write wake."), "{text}");
    let text = told("hangs/lost_wake_up.fw");
    assert!(text.contains("✗ Sleeper waits for ever (line 16)"), "who can still end does not wait: {text}");
}

#[test]
fn what_the_headers_say_is_certified() {
    let mut n_proved = 0;
    for (path, program, hangs) in expecting(|it| it.hangs) {
        for (model, expected, line) in hangs {
            let may_wait = program.no_hang().map_or(Vec::new(), |it| it.except.clone());
            let (options, place) = (Options::default(), format!("{}:{line}", path.display()));
            let task = Task::new(&program, model, &options);
            let found = certify_hang(auto(), &Hang::new(may_wait), &task, &Unlimited);
            let (proved, _) = found.unwrap_or_else(|it| panic!("{place}: {it}"));
            let verdict = proved.answer.verdict;
            let certificate = proved.certificate.unwrap_or_else(|| panic!("{place}: {verdict:?}"));
            assert_eq!(verify(&program, &certificate, &Unlimited), Ok(()), "{place}");
            let is_safe = matches!(certificate.claim, Claim::Safe(..));
            assert_eq!(is_safe, expected == Expected::Safe, "{place}");
            n_proved += usize::from(is_safe);
        }
    }
    assert!(n_proved >= 10, "{n_proved}");
}

#[test]
fn a_queue_lock_needs_two_store_fences_lest_it_hangs() {
    let program = example("classic/mcs_lock.fw");
    let options = Options::default();
    let task = Task::new(&program, Model::Pso, &options);
    let asking = Hang::default().reduce(&task, &Unlimited).unwrap_or_else(|_| panic!("it is taken")).program;
    let places = candidates(&asking, &Place::AfterStores, By::Source).expect("no labels are named");
    let request = Request { kinds: &[FenceKind::StoreStore], ..Request::all(&places) };
    let task = Task { program: &asking, ..task };
    let found = synthesize(auto(), &task, &request, &Unlimited).expect("it is taken");
    let Outcome::Fixed(sets) = &found.outcome else { panic!("{:?}", found.outcome) };
    assert_eq!(sets.iter().map(|set| set.fences.0.len()).collect::<Vec<_>>(), [2]);
}

#[test]
fn who_waits_for_what_is_said() {
    let asked = asked(&example("hangs/deadlock.fw"), Model::Tso, &Hang::default());
    let Verdict::Unsafe(run) = asked.answer.verdict else { panic!("it hangs") };
    let text = trace_text(&asked.program, &run, Fullness::Compact, Style::Plain);
    assert!(text.contains("✗ P and Q wait for ever (line 13)"), "{text}");
    assert!(text.contains("P goes round line 13 for ever, reading b = true."), "{text}");
    assert!(text.contains("This is a deadlock: each waits for what another would have to write first."), "{text}");
}

/// A thread that has chosen to wait, although it could go on elsewhere, waits.
#[test]
fn who_has_chosen_to_wait_waits() {
    let text = "shared go, up: bool;
thread P { up = true; while (!go) {} }
thread Q { choose { assume(!up); } or { assume(up); } go = true; }
forbid hang;";
    let asked = asked(&program(text), Model::Sc, &Hang::default());
    let Verdict::Unsafe(run) = asked.answer.verdict else { panic!("it hangs") };
    let text = trace_text(&asked.program, &run, Fullness::Compact, Style::Plain);
    assert!(text.contains("✗ P and Q wait for ever (line 2)"), "{text}");
    assert!(text.contains("Q waits at line 3 for ever, where up = true."), "{text}");
}

/// Whoever waits for a value that no range bounds.
#[test]
fn threads_with_unbounded_data_hang_or_do_not() {
    let ticket = |passes: &str| {
        let text = format!(
            "shared next, serving: int = 0;
thread P(i: 0..1) {{ loop {{ let my = fetch_add(next, 1); while (serving != my) {{}} {passes} }} }}
forbid false at end;"
        );
        asked(&program(&text), Model::Tso, &Hang::default()).answer.verdict
    };
    assert!(matches!(ticket("serving = my + 1;"), Verdict::Safe));
    assert!(matches!(ticket("if (my != 1) { serving = my + 1; }"), Verdict::Unsafe(_)));
    let refused = |text: &str| {
        let (program, options) = (program(text), Options::default());
        let refused = ask(auto(), &Hang::default(), &Task::new(&program, Model::Tso, &options), &Unlimited);
        refused.err().map(|it| it.reason).unwrap_or_default()
    };
    let counting = "shared x: int = 0; thread P { let i: int = 0; while (x == 0) { i = i + 1; } x = i; } forbid hang;";
    let why = refused(counting);
    assert!(why.contains("line 1 is where a thread with unbounded data goes round, and counts"), "{why}");
    // Nobody ever sets x to -1, and there is no end of what Q may hold.
    let block = "shared x, y: int = 0;
thread P { atomic { assume(x == -1); x = 0; } }
thread Q { let i: int = 0; loop { choose { i = i + 1; y = i; } or { break; } } }
forbid hang;";
    let why = refused(block);
    assert!(why.contains("line 2 is an atomic block that waits, in a program with unbounded data"), "{why}");
}

/// With unbounded data a hang cannot be claimed away, nor claimed from what the checker only takes to be possible.
#[test]
fn certificates_of_hangs_with_unbounded_data_prove_absence_only() {
    let ticket = |passes: &str| {
        program(&format!(
            "shared next, serving: int = 0;
thread P(i: 0..1) {{ loop {{ let my = fetch_add(next, 1); while (serving != my) {{}} {passes} }} }}
forbid false at end;"
        ))
    };
    let options = Options::default();
    let [safe, hanging] = [ticket("serving = my + 1;"), ticket("if (my != 1) { serving = my + 1; }")];
    let task = Task::new(&safe, Model::Tso, &options);
    let (proved, _) = certify_hang(auto(), &Hang::default(), &task, &Unlimited).expect("it is taken");
    let mut certificate = proved.certificate.expect("there is a proof");
    assert_eq!(verify(&safe, &certificate, &Unlimited), Ok(()));
    certificate.subject.program = digest(&hanging);
    assert!(verify(&hanging, &certificate, &Unlimited).is_err());
    let task = Task::new(&hanging, Model::Tso, &options);
    let (proved, _) = certify_hang(auto(), &Hang::default(), &task, &Unlimited).expect("it is taken");
    let Verdict::Unsafe(run) = proved.answer.verdict else { panic!("it hangs") };
    assert!(proved.certificate.is_none());
    certificate.claim = Claim::Unsafe(Placement::NONE, Witness { copies: CopyCounts::new(), trace: run.trace });
    let why = verify(&hanging, &certificate, &Unlimited).expect_err("it may be more than hangs").to_string();
    assert!(why.contains("only that a program does not hang can be certified"), "{why}");
}

#[test]
fn threads_that_may_wait_do_not_hang() {
    let server = example("hangs/server.fw");
    let may_wait = vec![("Server".to_owned(), "waiting".to_owned())];
    assert!(matches!(asked(&server, Model::Pso, &Hang::new(may_wait)).answer.verdict, Verdict::Safe));
    assert!(matches!(asked(&server, Model::Pso, &Hang::default()).answer.verdict, Verdict::Unsafe(_)));
}

#[test]
fn whoever_can_go_round_elsewhere_is_not_where_it_may_wait() {
    let inner = program(
        "shared x: 0..1; thread S { loop { waiting: let a = x; loop { let r = x; if (r == 1) { break; } \
         choose { break; } or { ; } } } } forbid false at end;",
    );
    let may_wait = vec![("S".to_owned(), "waiting".to_owned())];
    assert!(matches!(asked(&inner, Model::Tso, &Hang::new(may_wait)).answer.verdict, Verdict::Unsafe(_)));
}

#[test]
fn a_thread_that_only_stores_runs_and_does_not_wait() {
    let running = program("shared x: 0..1; thread P { loop { x = 1; } } forbid false at end;");
    assert!(matches!(asked(&running, Model::Tso, &Hang::default()).answer.verdict, Verdict::Safe));
    let waiting = program("shared x: 0..1; thread P { while (x == 0) { } } forbid false at end;");
    assert!(matches!(asked(&waiting, Model::Tso, &Hang::default()).answer.verdict, Verdict::Unsafe(_)));
}

/// What is read for an `assume` that does not hold is read again; but what was done in between stays done.
#[test]
fn an_assume_is_a_wait() {
    let waits = "shared go, done: 0..1; thread P { assume(go == 1); done = 1; } thread Q { go = 1; } forbid hang;";
    assert!(matches!(asked(&program(waits), Model::Tso, &Hang::default()).answer.verdict, Verdict::Safe));
    let late =
        "shared go, done: 0..1; thread P { let r = go; done = 1; assume(r == 1); } thread Q { go = 1; } forbid hang;";
    assert!(matches!(asked(&program(late), Model::Sc, &Hang::default()).answer.verdict, Verdict::Unsafe(_)));
}

#[test]
fn nobody_waits_for_what_its_only_writer_has_written_over() {
    let text = "shared flag[2]: bool; shared turn: 0..1;
thread P(i: 0..1) { loop { flag[i] = true; turn = i; flag[i] = false; while (flag[1 - i]) {} } }
forbid false at end;";
    let (program, options) = (program(text), Options::default());
    let reduced = Hang::default().reduce(&Task::new(&program, Model::Pso, &options), &Unlimited);
    let asked = reduced.unwrap_or_else(|it| panic!("{it:?}")).program;
    assert!(asked.properties().iter().all(|it| it.situations.is_empty()), "{:?}", asked.properties());
}

/// The page names every example that hangs, or of which that is not known, and no other.
#[test]
fn the_page_says_which_examples_hang() {
    let page = fs::read_to_string(root().join("docs/hangs.md")).expect("the page is there");
    let mut told = BTreeMap::new();
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        told.insert(cells[0].trim_end_matches('`').to_owned(), [cells[1], cells[2], cells[3]]);
        assert!(cells[4].len() > " the same |".len() - 3, "a reason: {row}");
    }
    let mut wrong = Vec::new();
    let folders = ["classic", "papers", "hangs", "robust", "races", "invariants", "rmm"];
    let locks = ["bakery", "burns", "dekker", "dijkstra", "lamport", "linux_ticket", "peterson", "ticket_lock"];
    for (number, path) in examples(&root()).iter().enumerate() {
        let name = path.strip_prefix(root().join("examples")).expect("it is below").display().to_string();
        let expected = told.remove(&name);
        let is_lock = name.strip_prefix("integers/").is_some_and(|name| locks.iter().any(|it| name.starts_with(it)));
        let is_meant = is_lock || folders.iter().any(|it| name.starts_with(it));
        if !is_meant || !(expected.is_some() || is_taken(number)) {
            continue;
        }
        let source = fs::read_to_string(path).expect("an example is text");
        let program = fencewright::parse(&name, &source).unwrap_or_else(|it| panic!("{it}"));
        let hang = Hang::new(program.no_hang().map_or(Vec::new(), |it| it.except.clone()));
        let found = Model::ALL.map(|model| {
            let options = Options::default();
            let max = if program.has_unbounded_data() { 20_000 } else { 100_000 };
            let budget = Budget { monitor: &Unlimited, max };
            match ask(auto(), &hang, &Task::new(&program, model, &options), &budget).map(|it| it.answer.verdict) {
                Ok(Verdict::Safe) => "–",
                Ok(Verdict::Unsafe(_)) => "hangs",
                Ok(Verdict::Unknown(_)) | Err(_) => "?",
            }
        });
        // What takes long with unbounded data may be known with more patience than the page had.
        let may_be_known = |it: (&str, &str)| it == ("–", "?") && program.has_unbounded_data();
        let expected = expected.unwrap_or(["–"; 3]);
        if found.into_iter().zip(expected).any(|it| it.0 != it.1 && !may_be_known(it)) {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(told.is_empty(), "there is no {told:?}");
}
