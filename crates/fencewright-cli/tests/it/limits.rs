//! Limits are promises: whatever a program is like, every command ends near its `--timeout` and `--memory`, with a
//! result line.

use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// So much later than asked is too late; and by so much more memory.
const GRACE: Duration = Duration::from_secs(1);

/// Programs that are small to write and large to look at.
fn hostile() -> Vec<(&'static str, String)> {
    let lines = |line: &str, n: usize| line.repeat(n);
    let any_registers = (0..12).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "    let r{i}: 0..9 = any;");
        text
    });
    let sum = (0..12).map(|i| format!("r{i}")).collect::<Vec<_>>().join(" + ");
    vec![
        (
            "wide_ranges.fw",
            "shared x, y: 0..63 = 0;\n\
             thread A { loop { let a = y; x = a; if (a < 63) { x = a + 1; } } }\n\
             thread B { loop { let b = x; y = b; if (b < 63) { y = b + 1; } } }\n\
             thread C { let c = x; let d = y; assert(c + d < 126); }\n"
                .to_owned(),
        ),
        (
            "any_of_a_billion.fw",
            "shared x: 0..1000000000 = any;\nthread A { let a = x; assert(a >= 0); }\nthread B { x = 1; }\n".to_owned(),
        ),
        (
            "any_registers.fw",
            format!("shared x: 0..9 = 0;\nthread A {{\n{any_registers}    x = r0;\n    assert({sum} >= 0);\n}}\n"),
        ),
        (
            "any_at_once.fw",
            "shared x: 0..9 = 0;\nthread A { let a: 0..2000000000 = any; if (a > 5) { x = 1; } }\n\
             thread B { let b = x; assert(b < 2); }\n"
                .to_owned(),
        ),
        (
            "choices_in_a_block.fw",
            format!(
                "shared x: 0..100 = 0;\nthread A {{\n    atomic {{\n{}    }}\n}}\nthread B {{ let b = x; assert(b <= 40); }}\n",
                lines("        choose { x += 1; } or { x += 0; }\n", 40)
            ),
        ),
        (
            "any_in_blocks.fw",
            format!(
                "shared x: 0..9 = 0;\nthread A {{\n{0}}}\nthread B {{\n{0}}}\nthread C {{ let c = x; assert(c <= 9); }}\n",
                lines("    atomic { x = any; }\n", 40)
            ),
        ),
        (
            "unrolled.fw",
            "shared x, y: 0..3 = 0;\nthread A { for k in 0..9999 { x = 1; y = 1; } }\n\
             thread B { for k in 0..9999 { y = 2; x = 2; } }\nforbid x == 1 && y == 2 at end;\n"
                .to_owned(),
        ),
        (
            "rows.litmus",
            format!(
                "X86 rows\n{{ x=0; y=0; }}\n P0 | P1 ;\n{}exists (x=1 /\\ y=1)\n",
                lines(" MOV [x],$1 | MOV [y],$1 ;\n", 20_000)
            ),
        ),
        (
            "growing_integers.fw",
            "shared x, y: int = 0;\nthread A { loop { let a: int = x; y = a + 1; x = a + 2; } }\n\
             thread B { loop { let b: int = y; x = b + 1; y = b + 3; } }\n\
             thread C { let c: int = x; let d: int = y; assert(c + 7 >= d); }\n"
                .to_owned(),
        ),
        (
            "many_threads.fw",
            "shared f[7]: 0..2 = 0;\n\
             thread P(i: 0..6) { loop { f[i] = 1; f[(i + 1) % 7] = 2; let a = f[(i + 2) % 7]; if (a == 2) { f[i] = 0; } } }\n\
             forbid f[0] == 2 && f[1] == 2 && f[2] == 2 && f[3] == 1 && f[4] == 1 at end;\n"
                .to_owned(),
        ),
    ]
}

fn keeps_its_limits(verb: &[&str], name: &str, text: &str) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join(name);
    fs::write(&path, text).expect("a file can be written");
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_fencewright"))
        .args(verb)
        .args(["--timeout", "300ms", "--memory", "300M", "--format", "json"])
        .arg(&path)
        .output()
        .expect("the command starts");
    let took = started.elapsed();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let what = format!("{verb:?} {name}: {said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(took < Duration::from_millis(300) + GRACE + GRACE, "{took:?} {what}");
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{:?} {what}", output.status);
    let line: serde_json::Value = serde_json::from_str(said.lines().next().unwrap_or_default()).expect(&what);
    let bytes = line["stats"]["peak_rss_bytes"].as_u64().unwrap_or(0);
    assert!(bytes < (300 << 20) * 5 / 4, "{bytes} bytes {what}");
}

#[test]
fn checks_keep_to_time_and_memory() {
    for (name, text) in hostile() {
        for model in ["sc", "tso", "pso"] {
            keeps_its_limits(&["check", "--model", model], name, &text);
        }
    }
}

#[test]
fn each_engine_keeps_to_time_and_memory() {
    for (name, text) in hostile() {
        for engine in ["explicit", "coherence", "load-buffer", "zones", "predicates", "numeric"] {
            keeps_its_limits(&["check", "--model", "pso", "--engine", engine], name, &text);
        }
    }
}

#[test]
fn repairs_and_certificates_keep_to_time_and_memory() {
    for (name, text) in hostile() {
        keeps_its_limits(&["fence", "--model", "tso"], name, &text);
        keeps_its_limits(&["certify", "--model", "tso"], name, &text);
    }
}
