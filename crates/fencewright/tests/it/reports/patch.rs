//! Repaired texts.

use expect_test::{Expect, expect};

use super::{PETERSON, SB};
use fencewright::frontend::{self, Frontend, fw, litmus, rmm};
use fencewright::program::{FenceKind, Placement, Program};
use fencewright::report::patch::{Original, Patched, Unwritable, patch, patch_as_fw};
use fencewright::source::Source;
use fencewright::synth::{By, Place, candidates};

/// The text with fences at the candidates with these numbers.
fn patched(
    frontend: &dyn Frontend,
    text: &str,
    (place, by): (&Place, By),
    fences: &[(usize, FenceKind)],
) -> Result<Patched, Unwritable> {
    let source = Source::new("t.fw", text);
    let program: Program = frontend::parse(frontend, &source, &[]).program.expect("the program is good");
    let candidates = candidates(&program, place, by).expect("the labels exist");
    let positions = |&(i, kind): &(usize, FenceKind)| {
        let candidate = candidates.iter().nth(i).expect("there are so many candidates");
        candidate.positions.iter().map(move |&position| (position, kind)).collect::<Vec<_>>()
    };
    let placement: Placement = fences.iter().flat_map(positions).collect();
    patch(&Original { frontend, defines: &[], program: &program }, &placement)
}

fn check(text: &str, place: &Place, fences: &[(usize, FenceKind)], expected: &Expect) {
    let found = patched(&fw::Fw, text, (place, By::Source), fences);
    expected.assert_eq(&found.map_or_else(|it| format!("{}\nhelp: {}\n", it.message, it.help), |it| it.text));
}

fn check_diff(text: &str, fences: &[(usize, FenceKind)], expected: &Expect) {
    let found = patched(&fw::Fw, text, (&Place::AfterStores, By::Source), fences).expect("the text has a place for it");
    expected.assert_eq(&found.diff.expect("the text is `.fw`"));
}

#[test]
fn a_fence_gets_a_line_of_its_own() {
    let text = SB.replace("x = 1;", "x = 1; // publish");
    check(
        &text,
        &Place::AfterStores,
        &[(0, FenceKind::Full), (1, FenceKind::StoreStore)],
        &expect![[r#"
            shared x, y: 0..1;
            thread P {
                x = 1; // publish
                fence;
                let a = y;
            }
            thread Q {
                y = 1;
                fence(store);
                let b = x;
            }
            forbid P.a == 0 && Q.b == 0 at end;
        "#]],
    );
    check(
        SB,
        &Place::BeforeLoads,
        &[(1, FenceKind::Full)],
        &expect![[r#"
            shared x, y: 0..1;
            thread P {
                x = 1;
                let a = y;
            }
            thread Q {
                y = 1;
                fence;
                let b = x;
            }
            forbid P.a == 0 && Q.b == 0 at end;
        "#]],
    );
}

#[test]
fn statements_on_one_line_stay_there() {
    let text = "shared x, y: 0..1;\nthread P { if (y == 0) {x = 1;} else { x = 0; y = 1; } assert(x < 2); }\n";
    let fences = [(0, FenceKind::Full), (1, FenceKind::Full), (2, FenceKind::Full)];
    check(
        text,
        &Place::AfterStores,
        &fences,
        &expect![[r#"
            shared x, y: 0..1;
            thread P { if (y == 0) {x = 1; fence;} else { x = 0; fence; y = 1; fence; } assert(x < 2); }
        "#]],
    );
    check(
        text,
        &Place::BeforeLoads,
        &[(0, FenceKind::Full), (1, FenceKind::Full)],
        &expect![[r#"
            shared x, y: 0..1;
            thread P { fence; if (y == 0) {x = 1;} else { x = 0; y = 1; } fence; assert(x < 2); }
        "#]],
    );
}

#[test]
fn two_fences_may_meet() {
    let text = "shared x, y, z: 0..1;\nthread P {x = 1;if (z == 0) {y = 1;}}\n";
    let all = [(0, FenceKind::StoreStore), (1, FenceKind::Full), (2, FenceKind::Full)];
    let program = super::program(text);
    let stores = candidates(&program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let loads = candidates(&program, &Place::BeforeLoads, By::Source).expect("no labels are asked for");
    let positions = stores.iter().chain(&loads).flat_map(|it| it.positions.clone());
    let placement: Placement = positions.zip(all).map(|(position, (_, kind))| (position, kind)).collect();
    let original = Original { frontend: &fw::Fw, defines: &[], program: &program };
    let found = patch(&original, &placement).expect("the text has a place for them");
    expect![[r#"
        shared x, y, z: 0..1;
        thread P {x = 1; fence(store);fence; if (z == 0) {y = 1; fence;}}
    "#]]
    .assert_eq(&found.text);
}

#[test]
fn a_statement_of_several_lines_is_one_statement() {
    check(
        "shared x: 0..1;\nthread P {\n    x =\n        1; // one\n    assert(x <= 1);\n}\n",
        &Place::AfterStores,
        &[(0, FenceKind::Full)],
        &expect![[r#"
            shared x: 0..1;
            thread P {
                x =
                    1; // one
                fence;
                assert(x <= 1);
            }
        "#]],
    );
}

#[test]
fn a_condition_has_no_place_for_a_fence() {
    // Before the loop is not before each round of it.
    check(
        PETERSON,
        &Place::BeforeLoads,
        &[(0, FenceKind::Full)],
        &expect![[r#"
            the fence before `flag[1 - i]` at line 7 cannot be written as a statement
            help: move the load into a statement of its own, or use `--place after-stores`
        "#]],
    );
    // The second load comes after the first.
    check(
        "shared x, y: 0..1;\nthread P {\n    let a = x + y;\n    assert(a < 3);\n}\n",
        &Place::BeforeLoads,
        &[(1, FenceKind::Full)],
        &expect![[r#"
            the fence before `y` at line 3 cannot be written as a statement
            help: move the load into a statement of its own, or use `--place after-stores`
        "#]],
    );
}

#[test]
fn a_fence_stands_at_a_label() {
    let text = "shared x, y: 0..1;\nthread P {\n    x = 1;\nhere:\n    let a = y;\n    assert(a < 2);\n}\n";
    check(
        text,
        &Place::Labels(vec!["here".to_owned()]),
        &[(0, FenceKind::Full)],
        &expect![[r#"
            shared x, y: 0..1;
            thread P {
                x = 1;
            here:
                fence;
                let a = y;
                assert(a < 2);
            }
        "#]],
    );
}

#[test]
fn members_share_their_text() {
    let by_process = (&Place::AfterStores, By::Process);
    let wrong = patched(&fw::Fw, PETERSON, by_process, &[(2, FenceKind::Full)]).expect_err("one member only");
    assert_eq!(wrong.message, "the fence at line 6 is for `P(0)` and not for `P(1)`, but they share that line");
    let both = patched(&fw::Fw, PETERSON, by_process, &[(2, FenceKind::Full), (3, FenceKind::Full)]);
    assert!(both.expect("both members").text.contains("        turn = 1 - i;\n        fence;\n"));
}

#[test]
fn a_diff_has_hunks() {
    check_diff(
        SB,
        &[(0, FenceKind::Full), (1, FenceKind::Full)],
        &expect![[r#"
            --- a/t.fw
            +++ b/t.fw
            @@ -1,10 +1,12 @@
             shared x, y: 0..1;
             thread P {
                 x = 1;
            +    fence;
                 let a = y;
             }
             thread Q {
                 y = 1;
            +    fence;
                 let b = x;
             }
             forbid P.a == 0 && Q.b == 0 at end;
        "#]],
    );
    let far = format!("{}thread P {{ x = 1; }}{}shared x: 0..1;", "\n".repeat(5), "\n".repeat(9));
    let text = far.clone() + "\nthread Q {\nx = 0;}";
    check_diff(
        &text,
        &[(0, FenceKind::Full), (1, FenceKind::StoreStore)],
        &expect![[r#"
            --- a/t.fw
            +++ b/t.fw
            @@ -3,7 +3,7 @@
             
             
             
            -thread P { x = 1; }
            +thread P { x = 1; fence; }
             
             
             
            @@ -14,4 +14,4 @@
             
             shared x: 0..1;
             thread Q {
            -x = 0;}
            \ No newline at end of file
            +x = 0; fence(store);}
            \ No newline at end of file
        "#]],
    );
}

#[test]
fn line_ends_are_kept() {
    let text = SB.replace('\n', "\r\n");
    let found = patched(&fw::Fw, &text, (&Place::AfterStores, By::Source), &[(0, FenceKind::Full)]);
    let found = found.expect("the text has a place for it").text;
    assert!(found.contains("    x = 1;\r\n    fence;\r\n    let a = y;\r\n"), "{found:?}");
    assert_eq!(found.matches('\n').count(), found.matches("\r\n").count());
}

const LITMUS: &str = "X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ; (* both store *)
 L:          | MOV EAX,[x] ;
 MOV EAX,[y] |             ;
exists (0:EAX=0 /\\ 1:EAX=0)
";

const RMM: &str = "forbidden A B
data x = 0 : [0:1] y = 0 : [0:1]
process registers $r = 0 : [0:1]
text
  write: x := 1; /* first */
  read: $r := y;
  if $r = 0 then write: x := 0;
  A: nop
process registers $r = 0 : [0:1]
text
  either { write: y := 1 or nop };
  B: nop
";

fn check_in(frontend: &dyn Frontend, text: &str, place: &Place, fences: &[(usize, FenceKind)], expected: &Expect) {
    let found = patched(frontend, text, (place, By::Source), fences);
    match found {
        Ok(found) => expected.assert_eq(&found.diff.expect("the text was changed in its own language")),
        Err(it) => expected.assert_eq(&format!("{}\n{}\n", it.message, it.help)),
    }
}

#[test]
fn a_litmus_test_gets_rows() {
    check_in(
        &litmus::Litmus,
        LITMUS,
        &Place::AfterStores,
        &[(0, FenceKind::Full), (1, FenceKind::StoreStore)],
        &expect![[r#"
            --- a/t.fw
            +++ b/t.fw
            @@ -2,6 +2,7 @@
             { x=0; y=0; }
              P0          | P1          ;
              MOV [x],$1  | MOV [y],$1  ; (* both store *)
            + MFENCE      | SFENCE      ;
              L:          | MOV EAX,[x] ;
              MOV EAX,[y] |             ;
             exists (0:EAX=0 /\ 1:EAX=0)
        "#]],
    );
    check_in(
        &litmus::Litmus,
        LITMUS,
        &Place::BeforeLoads,
        &[(0, FenceKind::Full)],
        &expect![[r#"
        --- a/t.fw
        +++ b/t.fw
        @@ -2,6 +2,7 @@
         { x=0; y=0; }
          P0          | P1          ;
          MOV [x],$1  | MOV [y],$1  ; (* both store *)
        +             | MFENCE      ;
          L:          | MOV EAX,[x] ;
          MOV EAX,[y] |             ;
         exists (0:EAX=0 /\ 1:EAX=0)
    "#]],
    );
}

#[test]
fn a_row_goes_between_a_label_and_its_instruction_only_if_they_are_in_two_cells() {
    check_in(
        &litmus::Litmus,
        LITMUS,
        &Place::BeforeLoads,
        &[(1, FenceKind::Full)],
        &expect![[r#"
        --- a/t.fw
        +++ b/t.fw
        @@ -3,5 +3,6 @@
          P0          | P1          ;
          MOV [x],$1  | MOV [y],$1  ; (* both store *)
          L:          | MOV EAX,[x] ;
        + MFENCE      |             ;
          MOV EAX,[y] |             ;
         exists (0:EAX=0 /\ 1:EAX=0)
    "#]],
    );
    let labelled =
        LITMUS.replace(" L:          | MOV EAX,[x] ;\n MOV EAX,[y] |             ;", " L: MOV EAX,[y] | MOV EAX,[x] ;");
    check_in(
        &litmus::Litmus,
        &labelled,
        &Place::BeforeLoads,
        &[(0, FenceKind::Full)],
        &expect![[r#"
        the fence before `[y]` at line 5 cannot be written as a statement
        a cell holds its label and its instruction, with nothing between; use another `--place`
    "#]],
    );
}

#[test]
fn a_program_for_memorax_gets_statements() {
    let all = [(0, FenceKind::Full), (1, FenceKind::StoreStore), (2, FenceKind::Full)];
    check_in(
        &rmm::Rmm,
        RMM,
        &Place::AfterStores,
        &all,
        &expect![[r#"
        --- a/t.fw
        +++ b/t.fw
        @@ -3,10 +3,11 @@
         process registers $r = 0 : [0:1]
         text
           write: x := 1; /* first */
        +  fence;
           read: $r := y;
        -  if $r = 0 then write: x := 0;
        +  if $r = 0 then { write: x := 0; sfence };
           A: nop
         process registers $r = 0 : [0:1]
         text
        -  either { write: y := 1 or nop };
        +  either { write: y := 1; fence or nop };
           B: nop
    "#]],
    );
    check_in(
        &rmm::Rmm,
        RMM,
        &Place::BeforeLoads,
        &[(0, FenceKind::Full)],
        &expect![[r#"
        --- a/t.fw
        +++ b/t.fw
        @@ -3,6 +3,7 @@
         process registers $r = 0 : [0:1]
         text
           write: x := 1; /* first */
        +  fence;
           read: $r := y;
           if $r = 0 then write: x := 0;
           A: nop
    "#]],
    );
}

#[test]
fn an_imported_program_can_be_printed() {
    let program = frontend::parse(&litmus::Litmus, &Source::new("t.litmus", LITMUS), &[]).program.expect("it is good");
    let candidates = candidates(&program, &Place::AfterStores, By::Source).expect("there are no labels");
    let first = candidates.iter().next().expect("there is a store");
    let placement: Placement = first.positions.iter().map(|&position| (position, FenceKind::Full)).collect();
    let original = Original { frontend: &litmus::Litmus, defines: &[], program: &program };
    let found = patch_as_fw(&original, &placement).expect("the text has a place for it");
    assert!(found.text.contains("    x = 1;\n    fence;\n"), "{}", found.text);
    assert_eq!((found.language, found.diff, found.edits.len()), ("fw", None, 0));
}
