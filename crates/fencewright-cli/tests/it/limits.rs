//! Limits are promises: whatever a program is like, every command ends near its `--timeout` and `--memory`, with a
//! result line.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// So much later than asked is too late; and by so much more memory.
const GRACE: Duration = Duration::from_secs(1);

/// Programs that are small to write and large to look at. `LINES` stands for so many copies of a line.
const HOSTILE: &[(&str, &str, &str, usize)] = &[
    (
        "wide_ranges.fw",
        "shared x, y: 0..63 = 0;
         thread A { loop { let a = y; x = a; if (a < 63) { x = a + 1; } } }
         thread B { loop { let b = x; y = b; if (b < 63) { y = b + 1; } } }
         thread C { let c = x; let d = y; assert(c + d < 126); }\n",
        "",
        0,
    ),
    (
        "any_of_a_billion.fw",
        "shared x: 0..1000000000 = any; thread A { let a = x; assert(a >= 0); } thread B { x = 1; }\n",
        "",
        0,
    ),
    ("any_cells.fw", "shared x[12]: 0..9 = any; thread A { let a = x[3]; assert(a >= 0); }\n", "", 0),
    (
        "any_at_once.fw",
        "shared x: 0..9 = 0; thread A { let a: 0..2000000000 = any; if (a > 5) { x = 1; } }
         thread B { let b = x; assert(b < 2); }\n",
        "",
        0,
    ),
    (
        "choices_in_a_block.fw",
        "shared x: 0..100 = 0; thread A { atomic { LINES } } thread B { let b = x; assert(b <= 40); }\n",
        "choose { x += 1; } or { x += 0; }\n",
        40,
    ),
    (
        "any_in_blocks.fw",
        "shared x, y: 0..9 = 0; thread A { LINES } thread B { LINES } thread C { let c = x; assert(c <= 9); }\n",
        "atomic { let r: 0..9 = any; x = r; y = r; }\n",
        40,
    ),
    (
        "unrolled.fw",
        "shared x, y: 0..3 = 0; thread A { for k in 0..9999 { x = 1; y = 1; } }
         thread B { for k in 0..9999 { y = 2; x = 2; } } forbid x == 1 && y == 2 at end;\n",
        "",
        0,
    ),
    (
        "rows.litmus",
        "X86 rows\n{ x=0; y=0; }\n P0 | P1 ;\nLINESexists (x=1 /\\ y=1)\n",
        " MOV [x],$1 | MOV [y],$1 ;\n",
        20_000,
    ),
    (
        "growing_integers.fw",
        "shared x, y: int = 0; thread A { loop { let a: int = x; y = a + 1; x = a + 2; } }
         thread B { loop { let b: int = y; x = b + 1; y = b + 3; } }
         thread C { let c: int = x; let d: int = y; assert(c + 7 >= d); }\n",
        "",
        0,
    ),
    (
        "many_threads.fw",
        "shared f[7]: 0..2 = 0;
         thread P(i: 0..6) {
             loop { f[i] = 1; f[(i + 1) % 7] = 2; let a = f[(i + 2) % 7]; if (a == 2) { f[i] = 0; } }
         }
         thread Q { let a = f[0]; let b = f[1]; let c = f[2]; let d = f[3]; assert(a + b + c + d < 8); }\n",
        "",
        0,
    ),
];

/// Whether one of many like runs is made: each takes as long as its limit, so every second is, others for other seeds.
fn is_taken(number: usize) -> bool {
    let seed: usize = std::env::var("FENCEWRIGHT_SEED").map_or(1, |it| it.parse().expect("a seed is a number"));
    (number + seed).is_multiple_of(2)
}

/// Each with its text.
fn hostile() -> impl Iterator<Item = (&'static str, String)> {
    HOSTILE.iter().map(|(name, text, line, n)| (*name, text.replace("LINES", &line.repeat(*n))))
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

/// Ten thousand stores that may all wait at once: a buffer is not copied for each of them.
#[test]
fn long_threads_need_little_memory() {
    let stores: String = (0..10_000).map(|i| format!("{} = {};\n", ["x", "y"][i % 2], i % 4)).collect();
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("long.fw");
    let text = format!("shared x, y: 0..3;\nthread A {{\n{stores}}}\nforbid x == 3 && y == 3 at end;\n");
    fs::write(&path, text).expect("a file can be written");
    for model in ["tso", "pso"] {
        let output = Command::new(env!("CARGO_BIN_EXE_fencewright"))
            .args(["check", "--model", model, "--memory", "2G", "--format", "json"])
            .arg(&path)
            .output()
            .expect("the command starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let line: serde_json::Value = serde_json::from_str(said.lines().next().unwrap_or_default()).expect(&said);
        assert_eq!(line["verdict"], "safe", "{said}");
        assert!(line["stats"]["peak_rss_bytes"].as_u64().unwrap_or(0) < 500 << 20, "{said}");
    }
}

/// Four questions that each could take for ever have one second together.
#[test]
fn questions_share_the_time() {
    let text = "shared x[6]: 0..5;
         thread P(i: 0..5) {
             loop { while (x[i] != x[(i + 1) % 6]) { } x[i] = (x[(i + 2) % 6] + 1) % 6; x[(i + 3) % 6] = i; }
         }
         forbid hang;\n";
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("questions.fw");
    fs::write(&path, text).expect("a file can be written");
    let started = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_fencewright"))
        .args(["check", "--model", "pso", "--engine", "explicit", "--ask", "safety,hang,race,robust"])
        .args(["--timeout", "1s", "--memory", "1G", "--format", "json"])
        .arg(&path)
        .output()
        .expect("the command starts");
    let (took, said) = (started.elapsed(), String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(took < Duration::from_secs(1) + GRACE + GRACE, "{took:?} {said}");
    assert_eq!(said.lines().count(), 4, "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn each_engine_keeps_to_time_and_memory() {
    let engines = ["explicit", "coherence", "load-buffer", "zones", "predicates", "numeric"];
    let all = hostile().flat_map(|(name, text)| engines.map(|engine| (name, text.clone(), engine)));
    for (_, (name, text, engine)) in all.enumerate().filter(|(number, _)| is_taken(*number)) {
        keeps_its_limits(&["check", "--model", "pso", "--engine", engine], name, &text);
    }
}

#[test]
fn repairs_and_certificates_keep_to_time_and_memory() {
    for (name, text) in hostile() {
        keeps_its_limits(&["fence", "--model", "tso"], name, &text);
        keeps_its_limits(&["certify", "--model", "tso"], name, &text);
    }
}

#[test]
fn outcomes_keep_to_time_and_memory() {
    for (name, text) in hostile() {
        keeps_its_limits(&["outcomes", "--model", "pso"], name, &text);
        keeps_its_limits(&["outcomes", "--model", "tso", "--engine", "load-buffer"], name, &text);
    }
}
