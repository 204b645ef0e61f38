//! States per second of the explicit engine, beside SPIN's on the same algorithms if SPIN is installed.
//!
//! ```text
//! cargo bench -p fencewright
//! ```
//!
//! The engine runs with all reductions, and, to compare like with like, without those that SPIN does not have either
//! (`-DNOREDUCE`). SPIN's model has a step for each statement and no registers folded in, so it has more states; what
//! is compared is the rate.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use fencewright::engine::{Options, Task, Verdict, named, reduction};
use fencewright::frontend::{self, fw::Fw};
use fencewright::memory::Model;
use fencewright::program::{Placement, Program};
use fencewright::source::Source;
use fencewright::watch::Unlimited;

/// Small programs have small state spaces: these are the algorithms with as many threads or tickets as it takes.
const PROGRAMS: &[&str] = &["peterson", "bakery", "ticket"];

fn main() {
    println!(
        "{:<10} {:<5} {:<22} {:>12} {:>9} {:>10} {:>8}",
        "program", "model", "how", "states", "seconds", "M/s", "B/state"
    );
    for name in PROGRAMS {
        let whole = program(name);
        row(name, "sc", "all reductions", &measure(&whole, Model::Sc, &[], 1));
        let plain = measure(&whole, Model::Sc, &["local-steps", "run-ahead", "symmetry"], 1);
        row(name, "sc", "plain", &plain);
        row(name, "sc", "plain, 2 threads", &measure(&whole, Model::Sc, &["local-steps", "run-ahead", "symmetry"], 2));
        match spin(name) {
            Some(spin) => {
                row(name, "sc", "SPIN -O2 -DNOREDUCE", &spin);
                println!("{name:<10} sc    plain/SPIN             {:>43.2}×", plain.rate() / spin.rate());
            }
            None => println!("{name:<10} sc    SPIN is not installed"),
        }
        row(name, "tso", "fenced, all reductions", &fenced(&whole));
    }
}

/// What one search took.
struct Measured {
    states: u64,
    seconds: f64,
    bytes: Option<u64>,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.states as f64 / self.seconds / 1e6
    }
}

fn row(name: &str, model: &str, how: &str, it: &Measured) {
    let per_state = it.bytes.map_or("-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / it.states as f64));
    println!(
        "{name:<10} {model:<5} {how:<22} {:>12} {:>9.3} {:>10.2} {per_state:>8}",
        it.states,
        it.seconds,
        it.rate()
    );
}

fn program(name: &str) -> Program {
    let path = root().join("benches/programs").join(name).with_extension("fw");
    let text = std::fs::read_to_string(&path).expect("a program of the benchmark can be read");
    frontend::parse(&Fw, &Source::new(name, text), &[]).program.expect("a program of the benchmark is right")
}

fn measure(program: &Program, model: Model, without: &[&str], threads: usize) -> Measured {
    check(program, &Placement::NONE, model, without, threads)
}

/// Under TSO, with a full fence after every store, so that all states are explored.
fn fenced(program: &Program) -> Measured {
    use fencewright::program::{FenceKind, Op, Position, Side};
    let stores = program.edges().iter_enumerated().filter(|(_, edge)| matches!(edge.op, Op::Store(..)));
    let fences = stores.map(|(edge, _)| (Position { edge, side: Side::After }, FenceKind::Full)).collect();
    check(program, &fences, Model::Tso, &[], 1)
}

fn check(program: &Program, placement: &Placement, model: Model, without: &[&str], threads: usize) -> Measured {
    let without = without.iter().filter_map(|name| reduction(name)).collect();
    let options = Options { threads, without, ..Options::default() };
    let start = Instant::now();
    let engine = named("explicit").expect("the engine is registered");
    let answer = engine.check(&Task { program, placement, model, options: &options }, &Unlimited);
    let seconds = start.elapsed().as_secs_f64();
    let answer = answer.expect("the program is finite");
    assert!(matches!(answer.verdict, Verdict::Safe), "the benchmark explores safe programs whole");
    Measured { states: answer.stats.explored, seconds, bytes: Some(answer.stats.bytes) }
}

/// Runs SPIN on the same algorithm.
fn spin(name: &str) -> Option<Measured> {
    let folder = std::env::temp_dir().join(format!("fencewright-spin-{}", std::process::id()));
    std::fs::create_dir_all(&folder).ok()?;
    let model = root().join("benches/promela").join(name).with_extension("pml");
    let run =
        |program: &str, arguments: &[&str]| Command::new(program).args(arguments).current_dir(&folder).output().ok();
    run("spin", &["-a", model.to_str()?]).filter(|output| output.status.success())?;
    let flags = ["-O2", "-DNOREDUCE", "-DSAFETY", "-DMEMLIM=12000", "-w", "-o", "pan", "pan.c"];
    run("gcc", &flags).filter(|output| output.status.success())?;
    let pan = folder.join("pan");
    let output = run(pan.to_str()?, &["-m10000000", "-w26"])?;
    std::fs::remove_dir_all(&folder).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |line: &str, at: usize| line.split_whitespace().nth(at)?.parse::<f64>().ok();
    let states = text.lines().find(|line| line.contains("states, stored")).and_then(|line| number(line, 0))?;
    let seconds = text.lines().find(|line| line.contains("elapsed time")).and_then(|line| number(line, 3))?;
    Some(Measured { states: states as u64, seconds, bytes: None })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
