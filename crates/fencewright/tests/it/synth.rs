//! Candidates, clauses and the loop of fence synthesis on known programs.

use std::collections::BTreeSet;

use fencewright::engine::backward::load_buffer::clauses;
use fencewright::engine::{Options, StopReason, Task, named};
use fencewright::frontend::{self, fw};
use fencewright::memory::Model::{self, Pso, Tso};
use fencewright::program::{FenceKind, Placement, Program, Side};
use fencewright::source::Source;
use fencewright::synth::{
    By, CandidateId, Costs, Elements, Method, Outcome, Place, Request, Synthesis, Wanted, candidates, synthesize,
};
use fencewright::util::Idx;
use fencewright::watch::{Monitor, Part, Progress, Stop, Unlimited};

use crate::common::expectation::root;

const SB: &str = "\
shared x, y: 0..1;
thread P {
    x = 1;
    let a = y;
}
thread Q {
    y = 1;
    let b = x;
}
forbid P.a == 0 && Q.b == 0 at end;
";

/// `W x 1; W y 1; R x 1; mf; R x 2 | W x 2; mf; R y 0`: the load of x is served from the buffer, and so overtakes the
/// store to y although both come from there.
const T6: &str = "\
shared x, y: 0..2;
thread P {
    x = 1;
    y = 1;
    let a = x;
    fence;
    let b = x;
}
thread Q {
    x = 2;
    fence;
    let c = y;
}
forbid P.a == 1 && P.b == 2 && Q.c == 0 at end;
";

/// `W x 1; W y 1 | R y 1; R x 0`
const T7: &str = "\
shared x, y: 0..1;
thread P {
    x = 1;
    y = 1;
}
thread Q {
    let a = y;
    let b = x;
}
forbid Q.a == 1 && Q.b == 0 at end;
";

/// Under TSO by both methods.
fn check(text: &str, model: Model, place: &Place, expected: &str) {
    let methods: &[Method] = if model == Pso { &[Method::Loop] } else { &[Method::Loop, Method::Labelled] };
    for &method in methods {
        assert_eq!(
            sets_by(text, model, &Ask { method, place, by: By::Process, kinds: &FenceKind::ALL }),
            expected,
            "{method:?}"
        );
    }
}

#[test]
fn store_buffering_needs_a_full_fence_in_each() {
    for model in [Tso, Pso] {
        check(SB, model, &Place::AfterStores, "P 3> full + Q 7> full");
        check(SB, model, &Place::BeforeLoads, "P 4< full + Q 8< full");
        check(SB, model, &Place::Anywhere, "P 3> full + Q 7> full");
    }
}

#[test]
fn an_own_load_overtakes_later_stores() {
    check(T6, Tso, &Place::AfterStores, "P 4> full");
    check(T6, Tso, &Place::BeforeLoads, "P 5< full");
    check(T6, Pso, &Place::AfterStores, "P 4> full");
}

#[test]
fn stores_overtake_stores_under_pso() {
    check(T7, Tso, &Place::AfterStores, "correct");
    check(T7, Pso, &Place::AfterStores, "P 3> store-store");
    assert_eq!(sets(T7, Pso, &Place::AfterStores, By::Process, &[FenceKind::Full]), "P 3> full");
    check(T7, Pso, &Place::BeforeLoads, "NoCandidate");
}

#[test]
fn kinds_that_do_not_help_are_no_answer() {
    for method in [Method::Loop, Method::Labelled] {
        let ask = Ask { method, place: &Place::AfterStores, by: By::Process, kinds: &[FenceKind::StoreStore] };
        assert_eq!(sets_by(SB, Tso, &ask), "NoCandidate");
    }
}

/// One search finds what a run at a time finds, and needs no more checks than there are clauses and sets, besides one
/// under SC and one without fences.
#[test]
fn the_labelled_search_finds_all_clauses() {
    for (name, by, n_clauses, n_sets) in [
        ("bakery_bounded2", By::Process, 4, 4),
        ("dijkstra", By::Process, 2, 1),
        ("kessel", By::Process, 4, 1),
        ("lamport_fast", By::Process, 4, 1),
        ("peterson", By::Source, 1, 1),
        ("szymanski", By::Process, 3, 2),
    ] {
        let path = root().join(format!("examples/papers/{name}.fw"));
        let program = program(&std::fs::read_to_string(path).expect("the example is there"));
        let [one_by_one, at_once] = [Method::Loop, Method::Labelled].map(|method| {
            let ask = Ask { method, place: &Place::AfterStores, by, kinds: &FenceKind::ALL };
            answer(&program, Tso, &ask)
        });
        assert!(one_by_one.is_complete && at_once.is_complete, "{name}");
        let [expected, found] = [&one_by_one, &at_once].map(|it| match &it.outcome {
            Outcome::Fixed(sets) => sets,
            other @ (Outcome::Correct | Outcome::Unfixable(..) | Outcome::Unknown(_)) => panic!("{name}: {other:?}"),
        });
        assert_eq!(found, expected, "{name}");
        assert_eq!(found.len(), n_sets, "{name}");
        let clauses: BTreeSet<_> = at_once.clauses.iter().map(|it| &it.elements).collect();
        let includes = |it: &Elements, other: &Elements| other.keys().all(|id| it.contains_key(id));
        let is_minimal = |it: &&&Elements| !clauses.iter().any(|other| other != *it && includes(it, other));
        assert_eq!(clauses.iter().filter(is_minimal).count(), n_clauses, "{name}");
        assert!(at_once.checks <= 2 + (n_clauses + n_sets) as u64, "{name}: {} checks", at_once.checks);
    }
}

/// It meets its limit like every search, and says so.
#[test]
fn the_labelled_search_can_be_stopped() {
    struct AtOnce;
    impl Monitor for AtOnce {
        fn poll(&self, progress: &Progress) -> Option<Stop> {
            (progress.queued > 0).then_some(Stop::Asked)
        }
    }
    let path = root().join("examples/papers/lamport_fast.fw");
    let program = program(&std::fs::read_to_string(path).expect("the example is there"));
    let candidates = candidates(&program, &Place::AfterStores, By::Process).expect("no labels are asked for");
    let optional =
        candidates.iter_enumerated().flat_map(|(id, it)| it.positions.iter().map(move |&at| (at, 1 << id.index())));
    let options = Options::default();
    let task = Task::new(&program, Tso, &options);
    let found = clauses(&task, &optional.collect(), &AtOnce).expect("the engine takes the program");
    assert_eq!(found.stopped, Some(StopReason::Interrupted));
}

#[test]
fn the_labelled_search_refuses_what_it_cannot_do() {
    let refusal = |text: &str, model| {
        let program = program(text);
        let candidates = candidates(&program, &Place::AfterStores, By::Process).expect("no labels are asked for");
        let (options, costs) = (Options::default(), Costs::default());
        let task = Task::new(&program, model, &options);
        let (wanted, method) = (Wanted::All, Method::Labelled);
        let request = Request { candidates: &candidates, kinds: &FenceKind::ALL, costs: &costs, wanted, method };
        let engine = named("explicit").expect("the engine is there");
        synthesize(engine, &task, &request, &Unlimited).expect_err("it is refused").reason
    };
    assert_eq!(refusal(T7, Pso), "the labelled search takes no store-store fences, which PSO has");
    let many = SB.replace("    x = 1;\n", &"    x = 1;\n".repeat(65));
    assert_eq!(refusal(&many, Tso), "the labelled search takes no more than 64 places for fences");
}

/// A fence that the task lays over the program is there, whatever is optional.
#[test]
fn a_fence_that_is_there_is_not_optional() {
    let program = program(SB);
    let candidates = candidates(&program, &Place::AfterStores, By::Process).expect("no labels are asked for");
    let there =
        |n: usize| candidates.iter().take(n).flat_map(|it| it.positions.iter().map(|&at| (at, FenceKind::Full)));
    let options = Options::default();
    for (n_there, expected) in [(0, vec![1, 2]), (1, vec![2]), (2, vec![])] {
        let placement: Placement = there(n_there).collect();
        let optional =
            candidates.iter_enumerated().flat_map(|(id, it)| it.positions.iter().map(move |&at| (at, 1 << id.index())));
        let task = Task { program: &program, placement: &placement, model: Tso, options: &options };
        let found = clauses(&task, &optional.collect(), &Unlimited).expect("the engine takes the program");
        assert_eq!(found.clauses, expected);
    }
}

#[test]
fn an_atomic_update_overtakes_stores_under_pso() {
    let text = "\
shared data, lock: 0..1 = 0;
thread P {
    data = 1;
    swap(lock, 1);
}
thread Q {
    let a = lock;
    let b = data;
}
forbid Q.a == 1 && Q.b == 0 at end;
";
    check(text, Tso, &Place::Anywhere, "correct");
    check(text, Pso, &Place::AfterStores, "P 3> store-store");
    check(text, Pso, &Place::Anywhere, "P 3> store-store");
}

#[test]
fn unsafe_under_sc_has_no_answer() {
    check(&SB.replace("P.a == 0", "P.a == 1"), Tso, &Place::AfterStores, "UnsafeUnderSc");
    check(&SB.replace("P.a == 0", "P.a == 1"), Model::Sc, &Place::AfterStores, "UnsafeUnderSc");
    check(SB, Model::Sc, &Place::AfterStores, "correct");
}

#[test]
fn a_family_shares_its_fences_by_source() {
    let text = "\
shared flag[2]: 0..1 = 0;
shared turn: 0..1 = any;
thread P(i: 0..1) {
    flag[i] = 1;
    turn = 1 - i;
    assume(flag[1 - i] == 0 || turn == i);
critical:
    ;
}
forbid P(0)@critical && P(1)@critical;
";
    let by = |by, model| sets(text, model, &Place::AfterStores, by, &FenceKind::ALL);
    assert_eq!(by(By::Source, Tso), "P 5> full");
    assert_eq!(by(By::Process, Tso), "P(0) 5> full + P(1) 5> full");
    assert_eq!(by(By::Source, Pso), "P 4> store-store + P 5> full");
}

#[test]
fn a_load_that_goes_wrong_is_a_load() {
    let text = "\
shared x, y: 0..1;
shared z: 0..2;
thread P {
    x = 1;
    let a = y;
    if (a == 0) {
        let r: 0..1 = z;
    }
}
thread Q {
    y = 1;
    fence;
    let b = x;
    if (b == 0) {
        z = 2;
    }
}
";
    check(text, Tso, &Place::AfterStores, "P 4> full");
    check(text, Tso, &Place::BeforeLoads, "P 5< full");
}

const FAMILY: &str = "\
shared x, y: 0..1;
fn put(shared l) {
    l = 1;
}
thread P(i: 0..1) {
    put(x);
    for k in 0..1 {
        y = 1;
    }
    loop {
    here:
        let a = x;
        if (a == 1 && y == 0) {}
        cas(y, 0, 1);
    }
}
";

fn check_candidates(place: &Place, by: By, expected: &[(u32, Side, &str, usize, u64)]) {
    let program = program(FAMILY);
    let found = candidates(&program, place, by).expect("the labels exist");
    let line = |start| program.source().line_of(start);
    let found: Vec<_> = found
        .iter()
        .map(|it| (line(it.span.start), it.side, it.owner.as_str(), it.positions.len(), it.weight))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn copies_of_a_place_come_together() {
    check_candidates(&Place::AfterStores, By::Source, &[(3, Side::After, "P", 2, 2), (8, Side::After, "P", 4, 4)]);
    let by_process = [
        (3, Side::After, "P(0)", 1, 1),
        (3, Side::After, "P(1)", 1, 1),
        (8, Side::After, "P(0)", 2, 2),
        (8, Side::After, "P(1)", 2, 2),
    ];
    check_candidates(&Place::AfterStores, By::Process, &by_process);
}

#[test]
fn a_fence_in_a_loop_weighs_more() {
    let loads = [(12, Side::Before, "P", 2, 20), (13, Side::Before, "P", 2, 20)];
    check_candidates(&Place::BeforeLoads, By::Source, &loads);
    check_candidates(&Place::Labels(vec!["here".to_owned()]), By::Source, &[(12, Side::Before, "P", 2, 20)]);
}

#[test]
fn anywhere_has_each_place_once() {
    let all = [
        (3, Side::After, "P", 2, 2),
        (8, Side::After, "P", 4, 4),
        (12, Side::Before, "P", 2, 20),
        (13, Side::Before, "P", 2, 20),
        (14, Side::Before, "P", 4, 20),
    ];
    check_candidates(&Place::Anywhere, By::Source, &all);
    let program = program("shared x, y: 0..1;\nthread P {\n    x = 1;\n    let a = y;\n    assert(a < 2);\n}\n");
    assert_eq!(candidates(&program, &Place::Anywhere, By::Source).expect("there are no labels").len(), 1);
}

#[test]
fn a_label_must_exist() {
    let wrong = candidates(&program(FAMILY), &Place::Labels(vec!["there".to_owned()]), By::Source);
    assert_eq!(wrong.expect_err("there is no such label").known, ["here"]);
}

#[test]
fn loops_nest() {
    let text = "\
shared x: 0..9;
thread T {
    x = 0;
    loop {
        x = 1;
        while (x == 3) {
            x = 2;
            do {
                x = 3;
            } while (x == 3);
        }
        while (any) {
            x = 2;
        }
        x = 1;
    }
}
";
    let program = program(text);
    for candidate in &candidates(&program, &Place::AfterStores, By::Source).expect("no labels are asked for") {
        let text = program.source().slice(candidate.span);
        let depth = text.trim_start_matches("x = ").trim_end_matches(';').parse().expect("it is a number");
        assert_eq!(candidate.weight, 10_u64.pow(depth), "{text}");
    }
}

/// The program of a text that is known to be good.
fn program(text: &str) -> Program {
    let lowered = frontend::parse(&fw::Fw, &Source::new("t.fw", text), &[]);
    lowered.program.unwrap_or_else(|| panic!("{:?}", lowered.diagnostics))
}

/// What is asked for.
struct Ask<'a> {
    method: Method,
    place: &'a Place,
    by: By,
    kinds: &'a [FenceKind],
}

/// What comes out.
fn answer(program: &Program, model: Model, ask: &Ask<'_>) -> Synthesis {
    let &Ask { method, place, by, kinds } = ask;
    let candidates = candidates(program, place, by).expect("the labels exist");
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let request = Request { candidates: &candidates, kinds, costs: &Costs::default(), wanted: Wanted::All, method };
    let engine = named("explicit").expect("the engine is there");
    synthesize(engine, &task, &request, &Unlimited).expect("the engine takes every program")
}

/// What comes out, in words: for each set the lines, with `>` after and `<` before, and the kinds.
fn sets(text: &str, model: Model, place: &Place, by: By, kinds: &[FenceKind]) -> String {
    sets_by(text, model, &Ask { method: Method::Auto, place, by, kinds })
}

fn sets_by(text: &str, model: Model, ask: &Ask<'_>) -> String {
    let program = program(text);
    let candidates = candidates(&program, ask.place, ask.by).expect("the labels exist");
    let fence = |(&id, kind): (&CandidateId, &FenceKind)| {
        let candidate = &candidates[id];
        let line = program.source().line_of(candidate.span.start);
        let side = match candidate.side {
            Side::Before => '<',
            Side::After => '>',
        };
        format!("{} {line}{side} {}", candidate.owner, kind.name())
    };
    match answer(&program, model, ask).outcome {
        Outcome::Correct => "correct".to_owned(),
        Outcome::Fixed(sets) => {
            let sets = sets.iter().map(|set| set.fences.0.iter().map(fence).collect::<Vec<_>>().join(" + "));
            sets.collect::<Vec<_>>().join(" | ")
        }
        Outcome::Unfixable(_, why) => format!("{why:?}"),
        Outcome::Unknown(reason) => reason.to_string(),
    }
}

#[test]
fn who_watches_hears_of_engines_and_sets() {
    struct Heard(std::sync::Mutex<Vec<String>>);
    impl Monitor for Heard {
        fn poll(&self, _progress: &Progress) -> Option<Stop> {
            None
        }
        fn begins(&self, part: Part<'_>) {
            let text = match part {
                Part::Engine(name) => name.to_owned(),
                Part::Fences(words) => words.to_owned(),
            };
            self.0.lock().expect("nobody panics").push(text);
        }
    }
    let program = program(SB);
    let candidates = candidates(&program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let options = Options::default();
    let heard = Heard(std::sync::Mutex::default());
    let engine = named("explicit").expect("the engine is there");
    let answer = synthesize(engine, &Task::new(&program, Tso, &options), &Request::all(&candidates), &heard);
    assert!(answer.is_ok());
    let heard = heard.0.into_inner().expect("nobody panics");
    let last: Vec<&str> = heard.iter().map(String::as_str).rev().take(2).collect();
    assert_eq!(last, ["explicit", "fences at 3, 7"]);
    assert!(heard.contains(&"no fence".to_owned()));
}
