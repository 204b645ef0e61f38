//! How the exact engine fares as threads are added: five locks with two to five threads, without and with fences.
//!
//! ```text
//! cargo bench -p fencewright --bench growth
//! cargo bench -p fencewright --bench growth -- --model pso --timeout 10s
//! ```
//!
//! A row is one command in a process of its own, on one thread, stopped after a minute or at 4 GB; what meets a limit
//! says so, and larger versions of it are not tried.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

mod command;

use std::ops::RangeInclusive;

use command::{Fencewright, Measured, more_arguments};

/// What is measured: the program, and what it is defined with besides the number of threads.
const PROGRAMS: &[(&str, &[&str])] =
    &[("dekker", &[]), ("burns", &[]), ("ticket", &[]), ("clh", &[]), ("bakery", &["MAX=2"]), ("bakery", &[])];
const N_THREADS: RangeInclusive<u32> = 2..=5;

/// Unless the command line says something else.
const DEFAULTS: &[(&str, &str)] =
    &[("--engine", "load-buffer"), ("--model", "tso"), ("--timeout", "60s"), ("--memory", "4G")];

fn main() {
    let fencewright = Fencewright::build();
    let more = more_arguments();
    println!(
        "{:<12} {:<8} {:>7} {:<8} {:>10} {:>10} {:>9} {:>8}",
        "program", "fences", "threads", "verdict", "kept", "explored", "seconds", "MB"
    );
    for (program, defines) in PROGRAMS {
        for (fences, define) in [("none", "FENCED=0"), ("fenced", "FENCED=1")] {
            for n_threads in N_THREADS {
                let threads = format!("N={n_threads}");
                let all: Vec<&str> = defines.iter().copied().chain([define, &threads]).collect();
                let it = measure(&fencewright, program, &all, &more);
                row(&[&[*program][..], defines].concat().join(" "), fences, n_threads, &it);
                if it.verdict == "unknown" {
                    break;
                }
            }
        }
    }
}

fn measure(fencewright: &Fencewright, program: &str, defines: &[&str], more: &[String]) -> Measured {
    let file = format!("benches/programs/growth/{program}.fw");
    let mut arguments = vec!["check", &file];
    arguments.extend(defines.iter().flat_map(|define| ["-D", define]));
    let is_said = |option: &str| more.iter().any(|it| it == option);
    arguments.extend(DEFAULTS.iter().filter(|it| !is_said(it.0)).flat_map(|it| [it.0, it.1]));
    arguments.extend(more.iter().map(String::as_str));
    fencewright.best_of(1, &arguments)
}

fn row(program: &str, fences: &str, n_threads: u32, it: &Measured) {
    let verdict = if it.verdict == "unknown" { "limit" } else { &it.verdict };
    println!(
        "{program:<12} {fences:<8} {n_threads:>7} {verdict:<8} {:>10} {:>10} {:>9.3} {:>8.1}",
        it.kept.unwrap_or(0),
        it.explored,
        it.seconds,
        it.peak_rss as f64 / 1e6
    );
}
