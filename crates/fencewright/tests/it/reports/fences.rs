//! What people and programs are told of fences.

use expect_test::{Expect, expect};

use super::{MP, PETERSON, SB, program};
use fencewright::engine::{self, Options, StopReason, Task};
use fencewright::frontend::rewrite::Spelling;
use fencewright::memory::Model;
use fencewright::report::{Detail, FenceFinding, Human, Json, Look, Report};
use fencewright::source::Style;
use fencewright::synth::{By, Outcome, Place, Request, Synthesis, candidates, synthesize};
use fencewright::watch::Unlimited;

/// The text of a report on what synthesis finds, after something has been done to that.
pub(super) fn report(
    report: &dyn Report,
    text: &str,
    (model, place, by): (Model, Place, By),
    change: impl Fn(&mut Synthesis),
) -> String {
    let program = program(text);
    let candidates = candidates(&program, &place, by).expect("the labels exist");
    let options = Options::default();
    let task = Task::new(&program, model, &options);
    let request = Request::all(&candidates);
    let engine = engine::named("explicit").expect("the engine is there");
    let mut synthesis = synthesize(engine, &task, &request, &Unlimited).expect("the engine takes every program");
    change(&mut synthesis);
    let finding = FenceFinding {
        command: fencewright::report::Command::Fence,
        file: "t.fw",
        program: &program,
        models: &[model],
        question: engine::SAFETY,
        candidates: &candidates,
        answer: Ok(&synthesis),
        repairs: &[],
        orders: &[],
        spelling: Spelling::FW,
        diff: None,
        seconds: 0.25,
        peak_rss: None,
        certificate: None,
        notes: &[],
    };
    report.fences(&finding, Look { style: Style::Plain, detail: Detail::Normal, width: Look::WIDTH })
}

fn check(text: &str, model: Model, place: Place, by: By, expected: &Expect) {
    expected.assert_eq(&report(&Human, text, (model, place, by), |_| {}));
}

#[test]
fn a_set_shows_where_its_fences_stand() {
    check(
        PETERSON,
        Model::Pso,
        Place::AfterStores,
        By::Source,
        &expect![[r#"
        t.fw: fixed under pso by 2 fences
             5 |         flag[i] = 1;
             + |         fence(store);
             6 |         turn = 1 - i;
             + |         fence;
          No other minimal set exists.
    "#]],
    );
    check(
        PETERSON,
        Model::Tso,
        Place::AfterStores,
        By::Process,
        &expect![[r#"
        t.fw: fixed under tso by 2 fences
             6 |         turn = 1 - i;
             + |         fence;    // in P(0), P(1)
          No other minimal set exists.
    "#]],
    );
    check(
        PETERSON,
        Model::Tso,
        Place::BeforeLoads,
        By::Source,
        &expect![[r#"
        t.fw: fixed under tso by 1 fence
             + |         fence;    // before `flag[1 - i]`
             7 |         while (flag[1 - i] == 1 && turn == 1 - i) {}
          No other minimal set exists.
    "#]],
    );
}

#[test]
fn nothing_to_do_and_nothing_that_helps() {
    check(
        MP,
        Model::Tso,
        Place::AfterStores,
        By::Source,
        &expect![[r#"
        t.fw: correct under tso: no fence is needed
    "#]],
    );
    check(
        MP,
        Model::Pso,
        Place::BeforeLoads,
        By::Source,
        &expect![[r#"
            t.fw: unfixable under pso: no fence at these places prevents assert(data == 1) (line 8)
              = help: allow other places with `--place anywhere`, and all kinds
            line   Producer                                      Consumer
               3   data = 1 → buffer
               4   ready = 1 → buffer
                   ⇣ ready = 1 reaches memory
               7                                                 reads ready = 1 (from memory)
               8                                                 reads data = 0 (from memory)
               8                                                 assert(data == 1) ✗
              ✗ assert(data == 1) (line 8)
                still in the buffer of Producer: [data=1]
              Producer's store to ready (line 4) reached memory before its store to data (line 3): the later
              store overtook the earlier one.
        "#]],
    );
    check(
        &SB.replace("P.a == 0", "P.a == 1"),
        Model::Tso,
        Place::AfterStores,
        By::Source,
        &expect![[r#"
            t.fw: unfixable under tso: no fence helps, it is unsafe under sc: P.a == 1 && Q.b == 0 at end (line 10)
            line   P                                             Q
               7                                                 y = 1 → memory
               8                                                 reads x = 0 (from memory)
               3   x = 1 → memory
               4   reads y = 1 (from memory)
              ✗ P.a == 1 && Q.b == 0 at end (line 10)
              No store was delayed: this run is possible under sequential consistency; fences cannot help.
        "#]],
    );
}

#[test]
fn what_could_not_be_decided_is_said() {
    let stop = |synthesis: &mut Synthesis| {
        synthesis.stopped = Some(StopReason::BufferBound(3));
        synthesis.is_complete = false;
    };
    let found = report(&Human, SB, (Model::Tso, Place::AfterStores, By::Source), stop);
    expect![[r#"
        t.fw: fixed under tso by 2 fences
             3 |     x = 1;
             + |     fence;
             7 |     y = 1;
             + |     fence;
          There may be other sets; some could not be decided: no violation with up to 3 buffered stores per thread.
          = help: search further with `--bound N`, or put a fence on the loop that stores
    "#]]
    .assert_eq(&found);
    let unknown = |synthesis: &mut Synthesis| {
        stop(synthesis);
        synthesis.outcome = Outcome::Unknown(StopReason::BufferBound(3));
    };
    let found = report(&Human, SB, (Model::Tso, Place::AfterStores, By::Source), unknown);
    expect![[r#"
        t.fw: unknown under tso: no violation with up to 3 buffered stores per thread
          = help: search further with `--bound N`, or put a fence on the loop that stores
    "#]]
    .assert_eq(&found);
}

#[test]
fn a_json_line_has_the_sets() {
    let found = report(&Json, PETERSON, (Model::Pso, Place::AfterStores, By::Source), |_| {});
    let line: serde_json::Value = serde_json::from_str(&found).expect("a line is JSON");
    assert_eq!((&line["verdict"], &line["complete"]), (&"fixed".into(), &true.into()));
    let expected = expect![[r#"
        [
          {
            "cost": 80,
            "fences": [
              {
                "column": 9,
                "kind": "store-store",
                "line": 5,
                "position": "after",
                "process": "P",
                "text": "flag[i] = 1;"
              },
              {
                "column": 9,
                "kind": "full",
                "line": 6,
                "position": "after",
                "process": "P",
                "text": "turn = 1 - i;"
              }
            ]
          }
        ]"#]];
    expected.assert_eq(&serde_json::to_string_pretty(&line["fence_sets"]).expect("it was JSON"));
}
