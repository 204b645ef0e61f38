//! Translated programs in the hands of other tools: SPIN gives the verdict that the example states, Z3 gives it for the
//! Horn clauses, and gcc takes the C without a warning.
//!
//! Needs the Debian packages `spin`, `gcc`, `libc6-dev` and `z3`. Where they are missing a test says so and is skipped,
//! unless `FENCEWRIGHT_REQUIRE_TOOLS` is set.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fencewright::frontend;
use fencewright::memory::{Buffering, Dialect, Model};
use fencewright::program::{Placement, Program};
use fencewright::source::Source;
use fencewright::translate::{Flushes, Method, Overflow, Repeats, Request, print, translate};

use crate::common::expectation::{Expectations, Expected, examples, root};
use crate::common::law::is_taken;

/// Small, and of all kinds: locks, queues, litmus tests with fences and atomic updates, arrays, assertions.
const FOR_SPIN: &[&str] = &[
    "peterson_fenced.fw",
    "classic/message_passing.fw",
    "classic/message_passing_fenced.fw",
    "litmus/2_2w.fw",
    "litmus/corr_two_stores.fw",
    "litmus/mp.fw",
    "litmus/mp_rmw.fw",
    "litmus/mp_rmw_data.fw",
    "litmus/mp_store_fence_po.fw",
    "litmus/mp_store_fence_rmw.fw",
    "litmus/n6.fw",
    "litmus/r_store_fence_mfence.fw",
    "litmus/s.fw",
    "litmus/sb.fw",
    "litmus/sb_mfences.fw",
    "litmus/sb_rmw_po.fw",
    "litmus/wrc.fw",
    "litmus/isa2.fw",
    "litmus/sb_rmws.fw",
    "papers/robust_example.fw",
    "papers/sober.fw",
    "papers/sober_fenced.fw",
    "traps/t01_rmw_mp.fw",
    "traps/t02_marker_rmw.fw",
    "traps/t16_initial_any.fw",
    "traps/t22_drain_after_end.fw",
];

#[test]
fn spin_gives_the_verdict_of_the_example() {
    if !["spin", "gcc"].iter().all(|tool| is_there(tool)) {
        return;
    }
    let folder = Folder::new("spin");
    let mut wrong = Vec::new();
    for (i, name) in FOR_SPIN.iter().enumerate() {
        let (program, expectations) = example(&root().join("examples").join(name));
        for (j, model) in [Model::Tso, Model::Pso].into_iter().enumerate().filter(|(j, _)| is_taken(i + j)) {
            let expected = expectations.verdicts.iter().find(|it| it.0 == model).expect("the header names the model").1;
            // A pan takes a while to compile, so that the methods take turns.
            let method = Method::ALL[(i + j) % 2];
            // What goes wrong must be real, and what is safe must be so without a look away.
            let overflow = match expected {
                Expected::Unsafe => Overflow::Stop,
                Expected::Safe => Overflow::Violation,
            };
            let found = spin(&folder, &text(&program, model, method, overflow, "promela"));
            if found != Ok(expected) {
                wrong.push(format!("{name}, {model}, {method:?}: {found:?}, but it is {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A buffer that is too small is told apart from safe and from unsafe.
#[test]
fn spin_sees_an_overflow() {
    if !["spin", "gcc"].iter().all(|tool| is_there(tool)) {
        return;
    }
    let folder = Folder::new("overflow");
    let (program, _) = example(&root().join("examples/traps/t11_overflow.fw"));
    let placement = &Placement::NONE;
    let flushes = Flushes::WhereNoticed;
    for method in Method::ALL {
        let with = |overflow| {
            let request = Request {
                program: &program,
                placement,
                buffering: Buffering::Fifo,
                method,
                bound: Some(1),
                flushes,
                overflow,
                repeats: Repeats::Kept,
            };
            print::named("promela")
                .expect("there is such a printer")
                .print(&translate(&request))
                .expect("it can be said")
        };
        assert_eq!(spin(&folder, &with(Overflow::Stop)), Ok(Expected::Safe), "no violation without overflow");
        assert_eq!(spin(&folder, &with(Overflow::Violation)), Err("overflow".to_owned()));
    }
}

#[test]
fn gcc_takes_the_c_of_every_example() {
    if !is_there("gcc") {
        return;
    }
    let folder = Folder::new("c");
    let mut n_files = 0;
    for (model, method) in [Model::Tso, Model::Pso].into_iter().flat_map(|it| Method::ALL.map(|method| (it, method))) {
        // Each example is taken under one of the models at least; all four together where all is wanted.
        let turn = usize::from(model == Model::Pso) + usize::from(method == Method::Guided);
        let mut files = Vec::new();
        for (i, path) in examples(&root()).into_iter().enumerate().filter(|(i, _)| is_taken(i + turn)) {
            let (program, _) = example(&path);
            if let Some(text) = try_text(&program, model, method, Overflow::Violation, "c") {
                let file = folder.0.join(format!("{i}.c"));
                std::fs::write(&file, text).expect("the file can be written");
                files.push(file);
            }
        }
        n_files += files.len();
        let output = Command::new("gcc").args(["-Wall", "-Werror", "-fsyntax-only"]).args(&files).output();
        let output = output.expect("gcc can be run");
        assert!(output.status.success(), "{model}, {method:?}: {}", tail(&output));
    }
    assert!(n_files >= 390, "only {n_files} texts can be said in C");
}

/// Small enough for Spacer, some over unbounded integers.
const FOR_Z3: &[&str] = &[
    "classic/message_passing.fw",
    "integers/published_double.fw",
    "integers/transfer.fw",
    "litmus/corr_two_stores.fw",
    "litmus/mp.fw",
    "litmus/mp_rmw.fw",
    "litmus/sb.fw",
    "litmus/sb_mfences.fw",
    "litmus/sb_rmws.fw",
    "papers/sober.fw",
    "traps/t16_initial_any.fw",
];

/// Z3 finds a solution of the Horn clauses where the example is safe, and a refutation where it is not.
#[test]
fn z3_gives_the_verdict_of_the_example() {
    if !is_there("z3") {
        return;
    }
    let folder = Folder::new("z3");
    for (i, name) in FOR_Z3.iter().enumerate() {
        let (program, expectations) = example(&root().join("examples").join(name));
        for (j, model) in [Model::Tso, Model::Pso].into_iter().enumerate().filter(|(j, _)| is_taken(i + j)) {
            let expected = expectations.verdicts.iter().find(|it| it.0 == model).expect("the header names the model").1;
            let overflow = match expected {
                Expected::Unsafe => Overflow::Stop,
                Expected::Safe => Overflow::Violation,
            };
            let file = folder.0.join(format!("t{j}.smt2"));
            std::fs::write(&file, text(&program, model, Method::Guided, overflow, "smt2"))
                .expect("the file can be written");
            let output = Command::new("z3").arg("-T:300").arg(&file).output().expect("z3 can be run");
            let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let wanted = match expected {
                Expected::Safe => "sat",
                Expected::Unsafe => "unsat",
            };
            assert_eq!(found, wanted, "{name}, {model}: {}", tail(&output));
        }
    }
}

#[test]
fn horn_clauses_are_well_formed() {
    let mut n_examples = 0;
    for path in examples(&root()) {
        let (program, _) = example(&path);
        for (model, method) in [(Model::Tso, Method::Guided), (Model::Pso, Method::Direct)] {
            let Some(text) = try_text(&program, model, method, Overflow::Violation, "smt2") else { continue };
            n_examples += 1;
            well_formed(&text).unwrap_or_else(|why| panic!("{}, {model}: {why}", path.display()));
        }
    }
    assert!(n_examples >= 780, "only {n_examples} texts");
}

/// Runs a verifier generated by SPIN through the whole state space.
fn spin(folder: &Folder, text: &str) -> Result<Expected, String> {
    std::fs::write(folder.0.join("t.pml"), text).expect("the file can be written");
    let run = |program: &str, arguments: &[&str]| {
        let output =
            Command::new(program).args(arguments).current_dir(&folder.0).output().expect("the tool can be run");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() { Ok(text) } else { Err(format!("{program}: {}", tail(&output))) }
    };
    run("spin", &["-a", "t.pml"])?;
    run("gcc", &["-O0", "-w", "-DSAFETY", "-DMEMLIM=512", "-DVECTORSZ=4096", "-o", "pan", "pan.c"])?;
    let pan = folder.0.join("pan");
    let output = run(&pan.display().to_string(), &["-E", "-m100000"])?;
    let is_complete = !output.contains("max search depth too small") && !output.contains("not completed");
    match (output.contains("errors: 0"), output.contains("assertion violated")) {
        (true, false) if is_complete => Ok(Expected::Safe),
        (false, true) if output.contains("!(overflow)") => Err("overflow".to_owned()),
        (false, true) => Ok(Expected::Unsafe),
        _ => Err(output),
    }
}

fn example(path: &Path) -> (Program, Expectations) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| panic!("{} is there", path.display()));
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
    let frontend = frontend::by_extension(extension).expect("a front end reads this");
    let parsed = frontend::parse(frontend, &Source::new("example", text.as_str()), &[]);
    let program = parsed.program.expect("the suite has read the example");
    (program, Expectations::read(&text).expect("the suite has looked at the header"))
}

fn text(program: &Program, model: Model, method: Method, overflow: Overflow, to: &str) -> String {
    try_text(program, model, method, overflow, to).expect("the language can say it")
}

fn try_text(program: &Program, model: Model, method: Method, overflow: Overflow, to: &str) -> Option<String> {
    let placement = &Placement::NONE;
    let flushes = Flushes::WhereNoticed;
    let buffering = model.buffering(Dialect::default()).expect("ours has buffers");
    let request =
        Request { program, placement, buffering, method, bound: None, flushes, overflow, repeats: Repeats::Kept };
    print::named(to).expect("there is such a printer").print(&translate(&request)).ok()
}

/// Whether a tool can be run; where it must be there, it is.
fn is_there(tool: &str) -> bool {
    let is_there = Command::new(tool).arg("--version").output().is_ok();
    let is_required = std::env::var_os("FENCEWRIGHT_REQUIRE_TOOLS").is_some();
    assert!(is_there || !is_required, "`{tool}` is required: apt-get install spin gcc libc6-dev z3");
    if !is_there {
        eprintln!("skipped: `{tool}` is not installed");
    }
    is_there
}

fn tail(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.chars().take(3_000).collect()
}

/// A folder that is there as long as the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fencewright-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Parentheses match, every symbol is known where it stands, and `state` has as many arguments everywhere.
fn well_formed(text: &str) -> Result<(), String> {
    const KNOWN: &str = "set-logic HORN declare-fun state Bool Int assert forall => and or not = <= >= < > + - * div \
        ite true false check-sat";
    let known: BTreeSet<&str> = KNOWN.split_whitespace().collect();
    let code: String = text.lines().map(|line| line.split(';').next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let spaced = code.replace('(', " ( ").replace(')', " ) ");
    let (mut depth, mut bound, mut arity) = (0_usize, BTreeSet::new(), None);
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    for (i, &token) in tokens.iter().enumerate() {
        match token {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1).ok_or("one `)` too many")?,
            "assert" => bound.clear(),
            "state" if i > 0 && tokens[i - 1] == "(" => {
                let n = n_arguments(&tokens[i + 1..]);
                if *arity.get_or_insert(n) != n {
                    return Err(format!("`state` with {n} arguments"));
                }
            }
            _ if known.contains(token) || token.parse::<u64>().is_ok() => {}
            // A binding: `(name Sort)`.
            _ if tokens[i - 1] == "(" && ["Int", "Bool"].contains(&tokens[i + 1]) => drop(bound.insert(token)),
            _ if bound.contains(token) => {}
            _ => return Err(format!("`{token}` is not known")),
        }
    }
    if depth == 0 && arity.is_some() { Ok(()) } else { Err("one `)` too few, or no clause".to_owned()) }
}

fn n_arguments(tokens: &[&str]) -> usize {
    let (mut depth, mut n) = (0, 0);
    for &token in tokens {
        match token {
            "(" => depth += 1,
            ")" if depth == 0 => return n,
            ")" => depth -= 1,
            _ => {}
        }
        n += usize::from(depth == 0);
    }
    n
}
