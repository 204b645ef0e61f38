//! Ranges that are wide, but whose values are only copied, compared and counted, are not enumerated: `auto` decides
//! such programs.

use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::memory::Model;
use fencewright::watch::Unlimited;

/// A seqlock over `0..255` whose writer has these registers, goes on as long as this holds, and does this.
fn seqlock(registers: &str, condition: &str, body: &str) -> String {
    format!(
        "shared seq: 0..255 = 0;
        shared a, b: 0..255 = 0;
        thread Writer {{
            {registers}
            while ({condition}) {{ {body} }}
        }}
        thread Reader {{
            loop {{
                let before = seq;
                if (before % 2 == 0) {{
                    let x = a;
                    let y = b;
                    if (seq == before) {{ assert(x == y); }}
                }}
            }}
        }}"
    )
}

fn is_safe(text: &str, model: Model) -> bool {
    let program = fencewright::parse("t.fw", text).unwrap_or_else(|it| panic!("{it}"));
    let options = Options::default();
    let answer = Auto.check(&Task::new(&program, model, &options), &Unlimited).expect("it takes the program");
    match answer.verdict {
        Verdict::Safe => true,
        Verdict::Unsafe(_) => false,
        Verdict::Unknown(reason) => panic!("{model}: {reason}\n{text}"),
    }
}

fn check(text: &str) {
    assert_eq!([Model::Sc, Model::Tso, Model::Pso].map(|model| is_safe(text, model)), [true, true, false], "{text}");
}

#[test]
fn a_seqlock_of_any_data() {
    let body = "v = any; seq = s + 1; a = v; b = v; s = s + 2; seq = s;";
    check(&seqlock("let v: 0..255 = 0; let s: 0..255 = 0;", "s < 254", body));
}

#[test]
fn a_seqlock_that_counts_rounds() {
    check(&seqlock("let k: 0..127 = 0;", "k < 127", "k = k + 1; seq = 2 * k - 1; a = k; b = k; seq = 2 * k;"));
}

#[test]
fn a_seqlock_that_halves() {
    check(&seqlock("let s: 0..255 = 0;", "s < 254", "seq = s + 1; a = s / 2; b = s / 2; s = s + 2; seq = s;"));
}

#[test]
fn the_end_of_a_range_is_found() {
    let body = "seq = s + 1; a = s; b = s; s = s + 2; seq = s;";
    let text = seqlock("let s: 0..255 = 0;", "s < 255", body);
    assert!(!is_safe(&text, Model::Sc), "256 is not in 0..255");
}
