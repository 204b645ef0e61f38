//! How long the front ends take on a long program and on a lot of garbage.
//!
//! ```text
//! cargo bench -p fencewright --bench frontends
//! ```
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

use std::time::Instant;

use fencewright::frontend::{self, ALL};
use fencewright::source::Source;

fn main() {
    println!("{:<8} {:<30} {:>10} {:>9} {:>7}", "format", "input", "bytes", "seconds", "errors");
    measure("fw", "10,000 valid lines", &long_program(10_000));
    for frontend in ALL {
        for (name, text) in garbage() {
            measure(frontend.name(), name, &text);
        }
    }
}

fn measure(format: &str, name: &str, text: &str) {
    let frontend = frontend::named(format).expect("the front end is registered");
    let start = Instant::now();
    let parsed = frontend::parse(frontend, &Source::new("bench", text), &[]);
    let seconds = start.elapsed().as_secs_f64();
    let n_errors = parsed.diagnostics.iter().filter(|it| it.is_error()).count();
    println!("{format:<8} {name:<30} {:>10} {seconds:>9.3} {n_errors:>7}", text.len());
}

/// Threads of twenty lines each, as many as are allowed, and functions for the rest.
fn long_program(n_lines: usize) -> String {
    let mut text = "shared x, y: 0..3 = 0;\n".to_owned();
    let mut line = 0;
    let mut n_functions = 0;
    while line < n_lines {
        text += &format!("fn f{n_functions}(shared l) {{\n");
        for i in 0..9 {
            text += &format!("    l = {};\n    if (l == {}) {{ fence; }}\n", i % 4, (i + 1) % 4);
        }
        text += "}\n";
        n_functions += 1;
        line += 20;
    }
    text += "thread T {\n";
    for i in 0..n_functions {
        text += &format!("    f{i}(x);\n    f{i}(y);\n");
    }
    text + "}\nforbid x == 1 at end;\n"
}

fn garbage() -> Vec<(&'static str, String)> {
    let size = 10 << 20;
    let fill = |pattern: &str| pattern.repeat(size / pattern.len());
    vec![
        ("10 MB of one letter", fill("a")),
        ("10 MB of braces", fill("{")),
        ("10 MB of words", fill("shared thread x = 1 ; } ")),
        ("10 MB of odd characters", fill("§%\u{0}é\"'`")),
        ("10 MB of comment openers", fill("/*(*")),
        ("10 MB of lines", fill("x = 1;\n")),
    ]
}
