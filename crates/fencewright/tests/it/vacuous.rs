//! A `safe` that is empty says so, and one that is not says nothing.

use fencewright::engine::{Options, Task, unreached};
use fencewright::memory::Model;
use fencewright::report::vacuous;
use fencewright::watch::Unlimited;

fn warnings(text: &str, model: Model) -> Vec<String> {
    let program = fencewright::parse("t.fw", text).unwrap_or_else(|it| panic!("{it}"));
    let options = Options::default();
    let unreached = unreached(&Task::new(&program, model, &options), &Unlimited).expect("the program is small");
    let said = vacuous(&program, model, &unreached);
    said.iter().map(|it| format!("{} {}", program.source().line_of(it.span.start), it.message)).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(warnings(text, Model::Tso), expected, "{text}");
}

#[test]
fn a_label_that_no_run_reaches() {
    check(
        "shared go: 0..1;\nthread P { if (go == 1) { l: skip; } }\nthread Q { here: skip; }\n\
         forbid P@l && Q@here;\nforbid P@end && Q@end && P@l;\nforbid P@end && Q@here;",
        &["4 no run reaches `P@l` under tso"],
    );
}

#[test]
fn a_thread_that_never_gets_past_a_line() {
    check(
        "shared go: 0..1;\nthread P(i: 0..1) {\n    skip;\n    assume(go == 1);\n    go = 0;\n}\nforbid go == 1 at end;",
        &["4 `P(0)` and `P(1)` never get past this under tso", "7 `P(0)` and `P(1)` end in no run under tso"],
    );
    check(
        "shared go: 0..1;\nthread P {\n    while (go == 0) {\n        skip;\n    }\n    go = 0;\n}\nforbid P@end;",
        &["3 `P` never gets past this under tso", "8 no run reaches `P@end` under tso"],
    );
}

#[test]
fn a_dead_branch_of_a_loop_is_no_end() {
    let text = "shared go: 0..1;\nthread P {\n    loop {\n        if (go == 1) {\n            go = 0;\n        }\n    }\n}\n\
                forbid P.r == 1;";
    check(&text.replace("    loop", "    let r: 0..1 = 0;\n    loop"), &[]);
}

#[test]
fn what_only_a_weak_model_reaches_is_reached() {
    let text = "shared x, y: 0..1;\nthread P { x = 1; let a = y; assume(a == 0); l: skip; }\n\
                thread Q { y = 1; let b = x; assume(b == 0); l: skip; }\nthread R { assume(x == 1 && y == 1); }\n\
                forbid P@end && Q@end && P.a == 1;";
    assert_eq!(warnings(text, Model::Tso), [""; 0]);
    let both = "shared x, y: 0..1;\nthread P { y = 1; assume(x == 1); x = 0; }\n\
                thread Q { let b = y; x = 1; let c = y; assume(b == 1 && c == 0); l: skip; }\nforbid Q@l;";
    assert_eq!(warnings(both, Model::Sc)[1..], ["4 no run reaches `Q@l` under sc"]);
}
