//! Candidates, clauses and the loop of fence synthesis on known programs.

use fencewright::engine::{Options, Task, Unlimited, named};
use fencewright::frontend::{self, fw};
use fencewright::memory::Model::{self, Pso, Tso};
use fencewright::program::{FenceKind, Placement, Program, Side};
use fencewright::source::Source;
use fencewright::synth::{
    By, CandidateId, Costs, Method, Outcome, Place, Request, Synthesis, Wanted, candidates, synthesize,
};

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

fn check(text: &str, model: Model, place: &Place, expected: &str) {
    assert_eq!(sets(text, model, place, By::Process, &FenceKind::ALL), expected);
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
    assert_eq!(sets(SB, Tso, &Place::AfterStores, By::Process, &[FenceKind::StoreStore]), "NoCandidate");
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

/// What comes out.
fn answer(program: &Program, model: Model, place: &Place, by: By, kinds: &[FenceKind]) -> Synthesis {
    let candidates = candidates(program, place, by).expect("the labels exist");
    let options = Options::default();
    let task = Task { program, placement: &Placement::NONE, model, options: &options };
    let request =
        Request { candidates: &candidates, kinds, costs: &Costs::default(), wanted: Wanted::All, method: Method::Auto };
    let engine = named("explicit").expect("the engine is there");
    synthesize(engine, &task, &request, &Unlimited).expect("the engine takes every program")
}

/// What comes out, in words: for each set the lines, with `>` after and `<` before, and the kinds.
fn sets(text: &str, model: Model, place: &Place, by: By, kinds: &[FenceKind]) -> String {
    let program = program(text);
    let candidates = candidates(&program, place, by).expect("the labels exist");
    let fence = |(&id, kind): (&CandidateId, &FenceKind)| {
        let candidate = &candidates[id];
        let line = program.source().line_of(candidate.span.start);
        let side = match candidate.side {
            Side::Before => '<',
            Side::After => '>',
        };
        format!("{} {line}{side} {}", candidate.owner, kind.name())
    };
    match answer(&program, model, place, by, kinds).outcome {
        Outcome::Correct => "correct".to_owned(),
        Outcome::Fixed(sets) => {
            let sets = sets.iter().map(|set| set.fences.0.iter().map(fence).collect::<Vec<_>>().join(" + "));
            sets.collect::<Vec<_>>().join(" | ")
        }
        Outcome::Unfixable(_, why) => format!("{why:?}"),
        Outcome::Unknown(reason) => reason.to_string(),
    }
}
