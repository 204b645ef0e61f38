//! What people and programs are shown.

use expect_test::{Expect, expect};

use super::{MP, PETERSON, SB, program, report, report_on, stopped};
use fencewright::engine::StopReason;
use fencewright::memory::Model;
use fencewright::report::{Command, Human, Json};

fn check(text: &str, model: Model, expected: &Expect) {
    expected.assert_eq(&report(&Human, Command::Check, text, model));
}

fn check_trace(text: &str, model: Model, expected: &Expect) {
    expected.assert_eq(&report(&Human, Command::Trace, text, model));
}

#[test]
fn store_buffering_is_blamed_on_a_load() {
    check(
        SB,
        Model::Sc,
        &expect![[r#"
        t.fw: safe under sc
    "#]],
    );
    check_trace(
        SB,
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: P.a == 0 && Q.b == 0 at end (line 10)
        line   P                                             Q
           3   x = 1 → buffer [x=1]
           4   reads y = 0 (from memory)
           7                                                 y = 1 → buffer [y=1]
           8                                                 reads x = 0 (from memory)
               ⇣ x = 1 reaches memory
                                                             ⇣ y = 1 reaches memory
          ✗ P.a == 0 && Q.b == 0 at end (line 10)
            memory: x=1, y=1
          Q loaded x (line 8) while its store to y (line 7) was still in its buffer: the load overtook the
          store.
    "#]],
    );
}

#[test]
fn message_passing_under_pso_is_blamed_on_a_store() {
    check(
        MP,
        Model::Tso,
        &expect![[r#"
        t.fw: safe under tso
    "#]],
    );
    check(
        MP,
        Model::Pso,
        &expect![[r#"
        t.fw: unsafe under pso: assert(data == 1) (line 8)
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
}

#[test]
fn peterson_is_shown_with_how_it_starts() {
    check_trace(
        PETERSON,
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: P(0)@critical && P(1)@critical (line 12)
          starts with turn = 0
        line   P(0)                                          P(1)
           5   flag[0] = 1 → buffer [flag[0]=1]
           6   turn = 1 → buffer [flag[0]=1, turn=1]
           7   reads flag[1] = 0 (from memory)
               · at critical
           5                                                 flag[1] = 1 → buffer [flag[1]=1]
           6                                                 turn = 0 → buffer [flag[1]=1, turn=0]
           7                                                 reads flag[0] = 0 (from memory)
                                                             · at critical
          ✗ P(0)@critical && P(1)@critical (line 12)
            still in the buffer of P(0): [flag[0]=1, turn=1]
            still in the buffer of P(1): [flag[1]=1, turn=0]
            memory: flag[0]=0, flag[1]=0, turn=0
          P(1) loaded flag[0] (line 7) while its store to flag[1] (line 5) was still in its buffer: the load
          overtook the store.
    "#]],
    );
}

#[test]
fn a_run_without_reordering_blames_nobody() {
    let lost_update = "shared n: int;\nthread P(i: 0..1) {\n    n += 1;\n}\nforbid n == 1 at end;\n";
    check(
        lost_update,
        Model::Sc,
        &expect![[r#"
        t.fw: unsafe under sc: n == 1 at end (line 5)
        line   P(0)                                          P(1)
           3   reads n = 0 (from memory)
           3                                                 reads n = 0 (from memory)
           3   n = 1 → memory
           3                                                 n = 1 → memory
          ✗ n == 1 at end (line 5)
          No store was delayed: this run is possible under sequential consistency; fences cannot help.
    "#]],
    );
    check(
        lost_update,
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: n == 1 at end (line 5)
        line   P(0)                                          P(1)
           3   reads n = 0 (from memory)
           3   n = 1 → buffer
           3                                                 reads n = 0 (from memory)
               ⇣ n = 1 reaches memory
           3                                                 n = 1 → buffer
                                                             ⇣ n = 1 reaches memory
          ✗ n == 1 at end (line 5)
          No store was delayed: this run is possible under sequential consistency; fences cannot help.
    "#]],
    );
}

#[test]
fn delays_that_nobody_sees_are_not_blamed() {
    let alone = "shared x, y: 0..1;\nthread T {\n    x = 1;\n    let r = y;\n    assert(r == 1);\n}\n";
    check_trace(
        alone,
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: assert(r == 1) (line 5)
        line   T
           3   x = 1 → buffer [x=1]
           4   reads y = 0 (from memory)
           5   assert(r == 1) ✗
          ✗ assert(r == 1) (line 5)
            still in the buffer of T: [x=1]
            memory: x=0, y=0
          The delayed stores do no harm: what was loaded is possible under sequential consistency; fences
          cannot help.
    "#]],
    );
}

#[test]
fn own_stores_seen_early_are_blamed() {
    // `n6` of Owens, Sarkar, Sewell 2009: the thread sees its own store before the other thread's, memory after it.
    let n6 = "shared x, y: 0..2;\nthread P {\n    x = 1;\n    let a = x;\n    let b = y;\n}\nthread Q {\n    \
              y = 2;\n    x = 2;\n}\nforbid P.a == 1 && P.b == 0 && x == 1 at end;\n";
    check(
        n6,
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: P.a == 1 && P.b == 0 && x == 1 at end (line 11)
        line   P                                             Q
           3   x = 1 → buffer
           4   reads x = 1 (from its own buffer)
           5   reads y = 0 (from memory)
           8                                                 y = 2 → buffer
           9                                                 x = 2 → buffer
                                                             ⇣ y = 2 reaches memory
                                                             ⇣ x = 2 reaches memory
               ⇣ x = 1 reaches memory
          ✗ P.a == 1 && P.b == 0 && x == 1 at end (line 11)
          P loaded y (line 5) while its store to x (line 3) was still in its buffer: the load overtook the
          store.
    "#]],
    );
}

#[test]
fn atomic_updates_under_pso_overtake_stores() {
    let rmw = "shared x, l: 0..1;\nthread P {\n    x = 1;\n    let o = swap(l, 1);\n}\nthread Q {\n    \
               assume(l == 1);\n    assert(x == 1);\n}\n";
    check(
        rmw,
        Model::Pso,
        &expect![[r#"
            t.fw: unsafe under pso: assert(x == 1) (line 8)
            line   P                                             Q
               3   x = 1 → buffer
               4   atomic: l = 0 → 1
               7                                                 reads l = 1 (from memory)
               8                                                 reads x = 0 (from memory)
               8                                                 assert(x == 1) ✗
              ✗ assert(x == 1) (line 8)
                still in the buffer of P: [x=1]
              P updated l (line 4) while its store to x (line 3) was still in its buffer: the update overtook
              the store.
        "#]],
    );
}

#[test]
fn faults_say_what_is_outside() {
    check(
        "shared x: 0..1;\nthread T {\n    let r: 0..5 = any;\n    x = r;\n}\n",
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: x = 2 outside 0..1 (line 4)
          starts with T.r = 2
        line   T
           4   x = r; ✗
          ✗ x = 2 outside 0..1 (line 4)
          No store was delayed: this run is possible under sequential consistency; fences cannot help.
    "#]],
    );
    check(
        "shared a[2]: 0..1;\nthread T {\n    let r: 0..5 = any;\n    a[r] = 1;\n}\n",
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: index 2 outside a[2] (line 4)
          starts with T.r = 2
        line   T
           4   a[r] = 1; ✗
          ✗ index 2 outside a[2] (line 4)
          No store was delayed: this run is possible under sequential consistency; fences cannot help.
    "#]],
    );
    check(
        "shared x: 0..9;\nthread T {\n    let r: 0..1 = any;\n    x = 4 / r;\n}\n",
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: division by zero in x = 4 / r (line 4)
          starts with T.r = 0
        line   T
           4   x = 4 / r; ✗
          ✗ division by zero in x = 4 / r (line 4)
          No store was delayed: this run is possible under sequential consistency; fences cannot help.
    "#]],
    );
}

#[test]
fn fences_locked_blocks_and_booleans_are_named() {
    let text = "shared b: bool;\nshared n: 0..3;\nthread T {\n    b = true;\n    fence(store);\n    n = 1;\n    \
                fence;\n    atomic {\n        n = n + 1;\n    }\n    assert(n == 1);\n}\n";
    check_trace(
        text,
        Model::Pso,
        &expect![[r#"
        t.fw: unsafe under pso: assert(n == 1) (line 11)
        line   T
           4   b = true → buffer [b=true]
           5   store fence → buffer
           6   n = 1 → buffer [b=true, |, n=1]
               ⇣ b = true reaches memory
               ⇣ the store fence is passed
               ⇣ n = 1 reaches memory
           7   fence: the buffer is empty
           8   atomic block: n = 2
          11   reads n = 2 (from memory)
          11   assert(n == 1) ✗
          ✗ assert(n == 1) (line 11)
            memory: b=true, n=2
          No store was delayed: this run is possible under sequential consistency; fences cannot help.
    "#]],
    );
}

#[test]
fn many_threads_are_a_list() {
    let text = "shared n: 0..9;\nthread P(i: 0..4) {\n    fetch_add(n, 1);\n}\nforbid n == 5 at end;\n";
    check(
        text,
        Model::Tso,
        &expect![[r#"
        t.fw: unsafe under tso: n == 5 at end (line 5)
           3   P(0)  atomic: n = 0 → 1
           3   P(1)  atomic: n = 1 → 2
           3   P(2)  atomic: n = 2 → 3
           3   P(3)  atomic: n = 3 → 4
           3   P(4)  atomic: n = 4 → 5
          ✗ n == 5 at end (line 5)
          No store was delayed: this run is possible under sequential consistency; fences cannot help.
    "#]],
    );
}

#[test]
fn unknown_comes_with_reason_and_advice() {
    let texts = [StopReason::Timeout, StopReason::BufferBound(3), StopReason::Interrupted]
        .map(|reason| report_on(&Human, Command::Check, &program(SB), Model::Tso, stopped(reason)));
    expect![[r#"
        t.fw: unknown under tso: the time limit was reached
          = help: give it more time with `--timeout`
        t.fw: unknown under tso: no violation with up to 3 buffered stores per thread
          = help: search further with `--bound N`, or put a fence on the loop that stores
        t.fw: unknown under tso: interrupted
    "#]]
    .assert_eq(&texts.concat());
}

#[test]
fn json_names_every_step() {
    check_json(
        MP,
        Model::Pso,
        &expect![[r#"
        {"schema":"fencewright/1","command":"check",
        "file":"t.fw","model":"pso","question":"safety","engine":"explicit","verdict":"unsafe",
        "reason":null,"advice":null,"property":{"kind":"assertion","name":null,"text":"assert(data == 1)","line":8},
        "properties":[{"kind":"assertion","name":null,"text":"assert(data == 1)","line":8,"verdict":"unsafe"}],
        "start":[],"trace":[
        {"step":1,"process":"Producer","action":"store","line":3,"column":5,
        "location":"data","value":1,"effect":"buffer","text":"data = 1;"},
        {"step":2,"process":"Producer","action":"store","line":4,"column":5,
        "location":"ready","value":1,"effect":"buffer","text":"ready = 1;"},
        {"step":3,"process":"Producer","action":"flush",
        "location":"ready","value":1},
        {"step":4,"process":"Consumer","action":"load","line":7,"column":12,
        "location":"ready","value":1,"effect":"memory","text":"ready"},
        {"step":5,"process":"Consumer","action":"local","line":7,"column":12,"text":"ready == 1"},
        {"step":6,"process":"Consumer","action":"load","line":8,"column":12,
        "location":"data","value":0,"effect":"memory","text":"data"},
        {"step":7,"process":"Consumer","action":"local","line":8,"column":12,"text":"assert(data == 1)","fault":true}],
        "stats":{"seconds":0.25,"explored":0,"kept":0,"bytes":0,"shortest":true,"peak_rss_bytes":null}}
    "#]],
    );
    check_json(
        MP,
        Model::Tso,
        &expect![[r#"
        {"schema":"fencewright/1","command":"check",
        "file":"t.fw","model":"tso","question":"safety","engine":"explicit","verdict":"safe",
        "reason":null,"advice":null,"property":null,
        "properties":[{"kind":"assertion","name":null,"text":"assert(data == 1)","line":8,"verdict":"safe"}],
        "start":null,"trace":null,
        "stats":{"seconds":0.25,"explored":0,"kept":0,"bytes":0,"shortest":false,"peak_rss_bytes":null}}
    "#]],
    );
}

/// The line is broken here and there, for the reader of this file.
fn check_json(text: &str, model: Model, expected: &Expect) {
    let mut line = report(&Json, Command::Check, text, model);
    for field in ["\"file\"", "\"reason\"", "\"properties\"", "\"start\"", "{\"step\"", "\"location\"", "\"stats\""] {
        line = line.replace(field, &format!("\n{field}"));
    }
    expected.assert_eq(&line);
}
