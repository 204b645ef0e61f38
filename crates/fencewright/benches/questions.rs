//! What the other questions cost beside that of safety.
//!
//! ```text
//! cargo bench -p fencewright --bench questions
//! ```
//!
//! Every program of the papers under TSO and PSO: hangs and robustness by states may take 5 times what the check of
//! safety takes and 20 ms, robustness by traces 50 ms for two threads; Burns' and the bakery lock with 3 and 4 threads
//! 10 s. Then the outcomes of all litmus tests, together. Rows above their bar are printed.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

mod command;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use command::{Fencewright, more_arguments};

const MODELS: &[&str] = &["tso", "pso"];

/// Longer is not waited for.
const PATIENCE: &str = "15s";

/// What is slower was disturbed.
const N_RUNS: u32 = 3;

fn main() {
    let fencewright = Fencewright::build();
    let wanted = more_arguments();
    let is_wanted = |name: &str| wanted.iter().all(|word| name.contains(word.as_str()));
    let (mut n_rows, mut n_above) = (0, 0);
    println!("{:<64} {:>8} {:>8} {:<8}", "question", "seconds", "bar", "verdict");
    let mut judge = |asked: &[&str], bar: f64| {
        let found = fencewright.best_of(N_RUNS, &[&["check", "--timeout", PATIENCE], asked].concat());
        n_rows += 1;
        if found.seconds > bar || found.verdict == "unknown" {
            n_above += 1;
            println!("{:<64} {:>8.3} {bar:>8.3} {:<8}", asked.join(" "), found.seconds, found.verdict);
        }
        found.seconds
    };
    for file in listed("examples/papers", "fw").into_iter().filter(|it| is_wanted(it)) {
        for model in MODELS {
            let asked = |question| [file.as_str(), "--model", model, "--ask", question];
            let safety = judge(&asked("safety"), f64::INFINITY);
            judge(&asked("hang"), 5.0 * safety + 0.02);
            judge(&asked("robust"), 5.0 * safety + 0.02);
            judge(&asked("robust=trace"), 0.05);
        }
    }
    for program in ["burns", "bakery"] {
        for (n, model) in ["N=3", "N=4"].into_iter().flat_map(|n| MODELS.iter().map(move |model| (n, model))) {
            let file = format!("benches/programs/growth/{program}.fw");
            let asked = [&file, "-D", n, "-D", "FENCED=1", "--model", model, "--ask", "robust=trace"];
            if is_wanted(&file) {
                judge(&asked, 10.0);
            }
        }
    }
    println!("{n_rows} rows, {n_above} above their bar");
    if wanted.is_empty() {
        outcomes(&fencewright);
    }
}

/// The outcomes of all litmus tests at once.
fn outcomes(fencewright: &Fencewright) {
    let files = listed("examples/litmus/x86", "litmus");
    let started = Instant::now();
    let mut command = Command::new(fencewright.path());
    command.arg("outcomes").args(&files).args(["--model", "sc,tso,pso", "--threads", "1"]).current_dir(root());
    let output = command.output().expect("the command can be started");
    let seconds = started.elapsed().as_secs_f64();
    println!("outcomes of {} litmus tests: {seconds:.3} s, {}; the bar is 0.5 s", files.len(), output.status);
}

/// The files of a folder with an ending.
fn listed(folder: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the examples can be listed");
    let names = entries.map(|it| it.expect("the examples can be listed").file_name().to_string_lossy().into_owned());
    let is_meant = |name: &String| Path::new(name).extension().is_some_and(|it| it == ending);
    let mut files: Vec<String> = names.filter(is_meant).map(|name| format!("{folder}/{name}")).collect();
    files.sort();
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
