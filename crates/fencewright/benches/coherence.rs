//! States per second and bytes per state of the engine `coherence`, on one thread.
//!
//! ```text
//! cargo bench -p fencewright --bench coherence
//! ```
//!
//! The bars: a million abstract states per second on the bounded bakery, and less than 100 bytes for each state of
//! Peterson's algorithm under PSO. The bakery has a full fence after every store, so that all states are explored.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

use std::path::Path;
use std::time::Instant;

use fencewright::engine::coherence::{ABSTRACTION, K};
use fencewright::engine::{Abstraction, Options, Task, Verdict, named, reduction};
use fencewright::frontend::{self, fw::Fw};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Op, Placement, Position, Program, Side};
use fencewright::source::Source;
use fencewright::watch::Unlimited;

fn main() {
    println!(
        "{:<26} {:<6} {:<12} {:<10} {:>10} {:>8} {:>6} {:>8}",
        "program", "model", "abstraction", "how", "states", "seconds", "M/s", "B/state"
    );
    let bakery = program("benches/programs/bakery.fw");
    let fences = fences_after_stores(&bakery);
    for model in [Model::Tso, Model::Pso] {
        row("bakery, 3 threads", (&bakery, &fences), model, (Abstraction::Fd, 1), &["symmetry", "run-ahead"]);
        row("bakery, 3 threads", (&bakery, &fences), model, (Abstraction::Fd, 1), &[]);
        row("bakery, 3 threads", (&bakery, &fences), model, (Abstraction::Pd, 1), &[]);
    }
    let peterson = program("examples/papers/peterson_2fences.fw");
    for k in [0, 1, 2] {
        let plain = ["symmetry", "run-ahead", "local-steps"];
        row("peterson", (&peterson, &Placement::NONE), Model::Pso, (Abstraction::Fd, k), &plain);
        row("peterson", (&peterson, &Placement::NONE), Model::Pso, (Abstraction::Fd, k), &[]);
    }
}

/// One search.
fn row(
    name: &str,
    (program, placement): (&Program, &Placement),
    model: Model,
    (abstraction, k): (Abstraction, u32),
    without: &[&str],
) {
    let how = if without.is_empty() { "reduced" } else { "plain" };
    let without = without.iter().filter_map(|name| reduction(name)).collect();
    let options = Options { without, ..Options::default() };
    let options = options.with_name(&ABSTRACTION, abstraction.name()).with_count(&K, k);
    let engine = named("coherence").expect("the engine is registered");
    let started = Instant::now();
    let answer = engine.check(&Task { program, placement, model, options: &options }, &Unlimited);
    let seconds = started.elapsed().as_secs_f64();
    let answer = answer.expect("the program is finite");
    assert!(matches!(answer.verdict, Verdict::Safe), "the benchmark explores safe programs whole");
    println!(
        "{name:<26} {:<6} {:<12} {how:<10} {:>10} {seconds:>8.3} {:>6.2} {:>8.1}",
        model.name(),
        format!("{}, k = {k}", abstraction.name()),
        answer.stats.explored,
        answer.stats.explored as f64 / seconds / 1e6,
        answer.stats.bytes as f64 / answer.stats.kept as f64
    );
}

fn fences_after_stores(program: &Program) -> Placement {
    let stores = program.edges().iter_enumerated().filter(|(_, edge)| matches!(edge.op, Op::Store(..)));
    stores.map(|(edge, _)| (Position { edge, side: Side::After }, FenceKind::Full)).collect()
}

fn program(path: &str) -> Program {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path));
    let source = Source::new(path, text.expect("a program of the benchmark can be read"));
    frontend::parse(&Fw, &source, &[]).program.expect("a program of the benchmark is right")
}
