//! Inputs that are made to break the limits: long, deep, wide or forged, for every command that reads. Each ends near
//! its `--timeout` and within its `--memory`, and says how.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What is asked for, and by how much it may be missed where machines are busy.
const TIME: &str = "100ms";
const ENOUGH: Duration = Duration::from_millis(100 + 1_000 + 1_000);
const MEMORY: u64 = 300 << 20;

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// Runs the command within the limits; what it says and the most memory that was seen.
fn within(folder: &Path, arguments: &[&str]) -> (Output, Duration, u64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
    command.current_dir(folder).args(arguments).args(["--timeout", TIME, "--memory", "300M"]);
    let started = Instant::now();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let path = format!("/proc/{}/status", child.id());
    let waiting = thread::spawn(|| Child::wait_with_output(child));
    let mut most = 0;
    while !waiting.is_finished() {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        most = most.max(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024);
        thread::sleep(Duration::from_millis(2));
    }
    let output = waiting.join().expect("nothing panics").expect("it can be waited for");
    (output, started.elapsed(), most)
}

/// Runs the command on a text; its code, and what it says.
fn held(verb: &[&str], name: &str, text: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a directory can be made");
    fs::write(folder.path().join(name), text).expect("a file can be written");
    let arguments = [verb, &[name]].concat();
    let (output, took, most) = within(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let what = format!("{arguments:?}: {}", said.chars().take(2_000).collect::<String>());
    assert!(took < ENOUGH, "{took:?} {what}");
    assert!(most < MEMORY / 4 * 5, "{most} bytes {what}");
    (output.status.code(), said)
}

/// A limit is met: the code says so, and a line.
fn is_stopped(verb: &[&str], name: &str, text: &str) {
    let (code, said) = held(verb, name, text);
    assert_eq!(code, Some(3), "{verb:?} {name}: {said}");
    assert!(said.contains("limit was reached"), "{verb:?} {name}: {said}");
}

/// It is answered or refused, in time.
fn is_answered(verb: &[&str], name: &str, text: &str) {
    let (code, said) = held(verb, name, text);
    assert!(matches!(code, Some(0..=3)), "{verb:?} {name}: {code:?} {said}");
}

const CHECK: &[&str] = &["check", "--model", "pso"];

fn rows() -> String {
    let rows = " MOV [x],$1 | MOV [y],$1 ;\n".repeat(100_000);
    format!("X86 rows\n{{ x=0; y=0; }}\n P0 | P1 ;\n{rows}exists (x=1 /\\ y=1)\n")
}

/// So many copies of a body, by `for`, in two threads.
fn copies(n: usize) -> String {
    let thread =
        |name: &str| format!("thread {name} {{ for i in 0..{n} {{ for j in 0..99 {{ x = j % 4; y = i % 4; }} }} }}\n");
    format!("shared x, y: 0..3;\n{}{}forbid x == 1 && y == 1 at end;\n", thread("A"), thread("B"))
}

/// Functions that call each other twice, so deep.
fn calls(depth: usize) -> String {
    let functions = lines(depth, |i| format!("fn f{}() {{ f{i}(); f{i}(); }}\n", i + 1));
    format!(
        "shared x, y: 0..1;\nfn f0() {{ x = 1; let a = y; y = 0; }}\n{functions}\
         thread A {{ f{depth}(); }}\nthread B {{ f{depth}(); }}\n"
    )
}

fn many_stores() -> String {
    let names: Vec<String> = (0..40).map(|i| format!("x{i}")).collect();
    let thread = |name: &str, by: usize| {
        let body = lines(1_500, |i| format!("x{} = {}; let r{i} = x{};\n", i * by % 40, i % 2, i * 7 % 40));
        format!("thread {name} {{ {body} }}\n")
    };
    let forbidden = "forbid A.r9 == 1 && B.r9 == 1 && A.r700 == 0 && B.r901 == 1 at end;\n";
    format!("shared {}: 0..1;\n{}{}{forbidden}", names.join(", "), thread("A", 1), thread("B", 3))
}

#[test]
fn what_is_long_is_not_read_to_its_end() {
    is_stopped(&["import"], "rows.litmus", &rows());
    is_stopped(&["translate"], "rows.litmus", &rows());
    let comments = "// a comment\n".repeat(3_000_000);
    is_stopped(&["fmt", "--check"], "comments.fw", &format!("shared x: 0..1;\n{comments}thread A {{ x = 1; }}\n"));
    let choices = "or { x = 1; } ".repeat(80_000);
    is_stopped(
        CHECK,
        "choices.fw",
        &format!("shared x: 0..1; thread A {{ loop {{ choose {{ x = 0; }} {choices} }} }}"),
    );
    is_stopped(&["translate"], "calls.fw", &calls(16));
}

#[test]
fn what_is_deep_is_refused_or_answered() {
    let sum = vec!["1"; 100_000].join(" + ");
    is_answered(CHECK, "sum.fw", &format!("shared x: 0..1; thread A {{ x = ({sum}) % 2; }}"));
    let open = "(".repeat(100_000);
    is_answered(&["fmt"], "open.fw", &format!("shared x: 0..1; thread A {{ x = {open}; }}"));
    let elses = " else if (x == 0) { x = 0; }".repeat(30_000);
    is_answered(&["import"], "elses.fw", &format!("shared x: 0..1; thread A {{ if (x == 1) {{ x = 1; }}{elses} }}"));
    let chosen = lines(10_000, |i| format!("y == {} ? {} : ", i % 10, i % 9));
    is_answered(CHECK, "chosen.fw", &format!("shared x, y: 0..9; thread A {{ x = {chosen}1; }}"));
    let condition = (0..10_000).map(|i| format!("(0:EAX={i} /\\ x=1)")).collect::<Vec<_>>().join(" \\/ ");
    is_answered(
        &["import"],
        "condition.litmus",
        &format!("X86 c\n{{ }}\n P0 ;\n MOV EAX,[x] ;\nexists ({condition})\n"),
    );
    let nested = lines(40, |i| format!("macro m{}(a) m{i}(a); m{i}((a)) endmacro\n", i + 1));
    let head = "forbidden CS CS\ndata\n x = 0 : [0:1]\nmacro m0(a) write: x := a endmacro\n";
    is_answered(CHECK, "macros.rmm", &format!("{head}{nested}process\ntext\n m40(1);\n CS: nop\n"));
}

#[test]
fn what_is_wide_meets_a_limit() {
    is_stopped(&["check", "--model", "tso"], "copies.fw", &copies(299));
    is_stopped(&["translate", "--to", "smt2"], "copies.fw", &copies(299));
    is_stopped(&["fence", "--place", "anywhere"], "stores.fw", &many_stores());
    is_stopped(&["certify", "--output", "-"], "stores.fw", &many_stores());
    is_stopped(&["test"], "stores.fw", &format!("// expect pso: safe\n{}", many_stores()));
    let block = lines(20_000, |i| format!("x[{}] = (x[{}] + 1) % 4; ", i % 40, i * 7 % 40));
    let block = format!("shared x[40]: 0..3; thread A {{ loop {{ atomic {{ {block} }} }} }} thread B {{ x[3] = 1; }}");
    is_stopped(&["check", "--model", "tso"], "block.fw", &format!("{block} forbid x[0] == 3 && x[1] == 2 at end;"));
    let many = "thread P(i: 0..63) { loop { let a = x[i % 8]; x[(i + 1) % 8] = a; critical: x[i % 3] = 1; } }";
    let pairs = "forbid P(i)@critical && P(j)@critical for i in 0..62, j in i+1..63;";
    is_answered(CHECK, "threads.fw", &format!("shared x[8]: 0..7; {many} {pairs}"));
    let properties = lines(4_000, |i| format!("forbid p{i}: A.a == {} && x == {} at end;\n", i % 8, 100 + i));
    is_answered(CHECK, "properties.fw", &format!("shared x: 0..7; thread A {{ let a = x; x = a; }}\n{properties}"));
    let name = "long".repeat(50_000);
    let uses = format!("{name} = 1; ").repeat(20);
    is_answered(&["translate"], "names.fw", &format!("shared {name}: 0..1; thread A {{ {uses} }}"));
    let arrays = lines(1_000, |i| format!("shared a{i}[60]: 0..3 = any;\n"));
    is_answered(CHECK, "arrays.fw", &format!("{arrays}thread A {{ a0[1] = 1; }}"));
}

#[test]
fn files_that_include_each_other_are_read_once() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    for i in 0..40 {
        let next = (i + 1) % 40;
        let text = format!("include \"f{next}.fw\";\ninclude \"./f{next}.fw\";\nshared x{i}: 0..1;\n");
        fs::write(folder.path().join(format!("f{i}.fw")), text).expect("a file can be written");
    }
    fs::write(folder.path().join("main.fw"), "include \"f0.fw\";\nthread A { x3 = 1; }\n").expect("it can be written");
    let (output, took, _) = within(folder.path(), &["check", "--quiet", "main.fw"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "main.fw: safe under tso\n");
    assert!(took < ENOUGH, "{took:?}");
}

/// A certificate, with lines that begin like this replaced.
fn forged(program: &Path, engine: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fencewright"))
        .args(["certify", "--model", "tso", "--engine", engine, "--output", "-"])
        .arg(program)
        .output()
        .expect("the command starts");
    let text = String::from_utf8(output.stdout).expect("a certificate is text");
    text.lines().map(|line| change(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

#[test]
fn forged_certificates_are_read_and_checked_within_the_limits() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let bakery = examples.join("integers/bakery_unbounded_fenced.fw");
    let thresholds = (-9_000..9_000).map(|it: i32| it.to_string()).collect::<Vec<_>>().join(" ");
    let many = forged(&bakery, "auto", |line| {
        let word = line.split(' ').next().filter(|it| ["single", "pair"].contains(it))?;
        Some(format!("{word} {thresholds}"))
    });
    let program = bakery.display().to_string();
    is_stopped(&["verify", &program], "thresholds.cert", &many);
    let dekker = examples.join("classic/dekker_fenced.fw");
    let element = |line: &str| line.starts_with("element").then(|| format!("{line}\n").repeat(1_000_000));
    let program = dekker.display().to_string();
    is_stopped(&["verify", &program], "elements.cert", &forged(&dekker, "load-buffer", element));
}

#[test]
fn what_comes_after_a_file_that_takes_too_long_is_answered() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    fs::write(folder.path().join("a.fw"), calls(14)).expect("a file can be written");
    fs::write(folder.path().join("b.fw"), copies(299)).expect("a file can be written");
    fs::write(folder.path().join("c.fw"), "shared x: 0..1; thread A { x = 1; }").expect("a file can be written");
    let (output, _, _) = within(folder.path(), &["check", "--quiet", "a.fw", "b.fw", "c.fw"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("c.fw: safe under tso\n"), "{said}");
    assert_eq!(output.status.code(), Some(3), "{said}");
}

#[test]
fn what_was_not_read_to_its_end_is_told_to_machines_too() {
    let (_, said) = held(&["check", "--format", "json"], "rows.litmus", &rows());
    let line: serde_json::Value = serde_json::from_str(said.lines().next().unwrap_or_default()).expect("it is JSON");
    assert_eq!(line["verdict"], "unknown");
    assert_eq!(line["reason"], "the time limit was reached");
    assert!(line["diagnostics"][0]["message"].as_str().is_some_and(|it| it.contains("was not read to its end")));
}
