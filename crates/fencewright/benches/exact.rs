//! The exact engines on the papers' programs: the whole command against a bar, constraints beside the feasibility
//! study's.
//!
//! ```text
//! cargo bench -p fencewright --bench exact
//! cargo bench -p fencewright --bench exact -- --engine single-buffer
//! ```
//!
//! A row is one command in a process of its own, on one thread, the best of five. The study kept constraints in one
//! prototype (`kept`) and counted those looked at in another (`explored`, with fences and all static facts).
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

mod command;

use command::{Fencewright, Measured, more_arguments};

const N_RUNS: u32 = 5;

/// What the command is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Check,
    /// All minimal sets of both kinds, for each process apart.
    Fence,
}

/// One row.
struct Case {
    verb: Verb,
    model: &'static str,
    program: String,
    bar_ms: u64,
    bar_mb: Option<u64>,
    study: Study,
}

/// Constraints of the feasibility study.
#[derive(Clone, Copy, Default)]
struct Study {
    kept: Option<u64>,
    explored: Option<u64>,
}

/// A program, and what the study kept without and with fences, and explored with fences; 0 where it has no figure.
type Program = (&'static str, [u64; 3]);

/// Programs that need fences under TSO; `_fenced` has them.
const TSO: &[Program] = &[
    ("peterson", [281, 113, 7]),
    ("dekker_simple", [61, 39, 1]),
    ("dekker", [128, 110, 1]),
    ("burns", [60, 42, 0]),
    ("dijkstra", [1141, 221, 0]),
    ("szymanski", [488, 308, 19]),
    ("kessel", [0, 0, 0]),
    ("lamport_fast", [1367, 241, 1103]),
    ("bakery_bounded2", [1612, 496, 500]),
    ("bakery_bounded3", [3405, 1015, 0]),
    ("bakery_bounded4", [5857, 1718, 0]),
];

/// Programs that need none under TSO, with their bar of `check` in milliseconds.
const TSO_SAFE: &[(Program, u64)] = &[
    (("alternating_bit", [196, 0, 0]), 10),
    (("sense_reversing_barrier", [88, 0, 0]), 10),
    (("tournament_barrier", [0, 0, 0]), 10),
    (("clh_queue_lock", [2646, 0, 0]), 50),
    (("producer_consumer_v2_n3", [321, 0, 0]), 100),
    (("producer_consumer_v2_n4", [1063, 0, 0]), 100),
    (("increasing_sequence_40", [2541, 0, 0]), 100),
];

/// Programs that need fences under PSO, the ending of the text that has them, and its bar in milliseconds.
const PSO: &[(Program, &str, u64)] = &[
    (("peterson", [196, 1024, 194]), "_fenced_pso", 20),
    (("dekker", [37, 371, 1]), "_fenced", 20),
    (("burns", [37, 98, 0]), "_fenced", 20),
    (("dijkstra", [1212, 835, 0]), "_fenced", 20),
    (("szymanski", [287, 2554, 151]), "_fenced", 20),
    (("lamport_fast", [4463, 23982, 0]), "_fenced_pso", 200),
    (("bakery_bounded2", [354, 5311, 88]), "_fenced", 20),
    (("bakery_bounded3", [592, 15488, 0]), "_fenced", 20),
    (("bakery_bounded4", [896, 33711, 0]), "_fenced", 200),
];

fn main() {
    let fencewright = Fencewright::build();
    let more = more_arguments();
    println!(
        "{:<6} {:<5} {:<28} {:<9} {:>8} {:>8} {:>9} {:>8} {:>7} {:>7} {:>6} {:>7}",
        "verb", "model", "program", "verdict", "kept", "study", "explored", "study", "bar ms", "ms", "MB", ""
    );
    let n_missed = cases().iter().filter(|case| !row(case, &fencewright, &more)).count();
    println!("{n_missed} of {} bars missed", cases().len());
}

fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    for &(program, [unfenced, fenced, explored]) in TSO {
        out.push(Case::new(Verb::Check, "tso", program, 10).with(unfenced, 0));
        out.push(Case::new(Verb::Check, "tso", &format!("{program}_fenced"), 10).with(fenced, explored));
        out.push(Case::new(Verb::Fence, "tso", program, 100));
    }
    for &((program, [kept, _, _]), bar) in TSO_SAFE {
        let limited = (program == "clh_queue_lock").then_some(50);
        out.push(Case { bar_mb: limited, ..Case::new(Verb::Check, "tso", program, bar).with(kept, 0) });
        out.push(Case::new(Verb::Fence, "tso", program, 100));
    }
    for &((program, [unfenced, fenced, explored]), ending, bar) in PSO {
        out.push(Case::new(Verb::Check, "pso", program, 20).with(unfenced, 0));
        out.push(Case::new(Verb::Check, "pso", &format!("{program}{ending}"), bar).with(fenced, explored));
        out.push(Case::new(Verb::Fence, "pso", program, 1_000));
    }
    for (program, kept) in [("clh_queue_lock", 12524), ("clh_queue_lock_fenced_pso", 30956)] {
        out.push(Case { bar_mb: Some(200), ..Case::new(Verb::Check, "pso", program, 1_000).with(kept, 0) });
    }
    out.push(Case::new(Verb::Fence, "pso", "clh_queue_lock", 20_000));
    out
}

impl Case {
    fn new(verb: Verb, model: &'static str, program: &str, bar_ms: u64) -> Self {
        Self { verb, model, program: program.to_owned(), bar_ms, bar_mb: None, study: Study::default() }
    }

    /// The study's figures; 0 where it has none.
    fn with(self, kept: u64, explored: u64) -> Self {
        let figure = |it: u64| Some(it).filter(|&it| it > 0);
        Self { study: Study { kept: figure(kept), explored: figure(explored) }, ..self }
    }

    fn arguments<'a>(&'a self, file: &'a str) -> Vec<&'a str> {
        let mut arguments = match self.verb {
            Verb::Check => vec!["check"],
            Verb::Fence => vec!["fence", "--all", "--by", "process"],
        };
        arguments.extend(["--model", self.model, file]);
        arguments
    }
}

/// Prints a row; whether the bar is met.
fn row(case: &Case, fencewright: &Fencewright, more: &[String]) -> bool {
    let file = format!("examples/papers/{}.fw", case.program);
    let mut arguments = case.arguments(&file);
    match more {
        [] => arguments.extend(["--engine", "load-buffer"]),
        more => arguments.extend(more.iter().map(String::as_str)),
    }
    let it = fencewright.best_of(N_RUNS, &arguments);
    let is_decided = !it.verdict.starts_with("unknown");
    let is_small = case.bar_mb.is_none_or(|bar| it.peak_rss <= bar * 1_000_000);
    let is_met = is_decided && is_small && it.seconds * 1e3 <= case.bar_ms as f64;
    print(case, &it, is_met);
    is_met
}

fn print(case: &Case, it: &Measured, is_met: bool) {
    let optional = |it: Option<u64>| it.map_or("-".to_owned(), |it| it.to_string());
    let verb = match case.verb {
        Verb::Check => "check",
        Verb::Fence => "fence",
    };
    println!(
        "{verb:<6} {:<5} {:<28} {:<9} {:>8} {:>8} {:>9} {:>8} {:>7} {:>7.1} {:>6.1} {:>7}",
        case.model,
        case.program,
        it.verdict,
        optional(it.kept),
        optional(case.study.kept),
        it.explored,
        optional(case.study.explored),
        case.bar_ms,
        it.seconds * 1e3,
        it.peak_rss as f64 / 1e6,
        if is_met { "" } else { "missed" }
    );
}
