//! The same program in C and as `.fw`, line by line: the same verdicts, and the same fences in the same lines.
//!
//! Each file under `tests/pairs` has both beside each other, `C ||| .fw`, so that a line is the same line in both.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fencewright::engine::{Options, Task, Verdict};
use fencewright::frontend::{Frontend, fw, parse_with};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Program};
use fencewright::source::{NoFiles, Source, Style, render};
use fencewright::synth::{By, Costs, Method, Outcome, Place, Request, Wanted, candidates, synthesize};
use fencewright::watch::{Budget, Unlimited};
use fencewright_c::C;

use crate::examples::auto;

/// The first lines in C; `.fw` has as many empty ones.
const HEAD: &str = "#include <assert.h>
#include <stdatomic.h>
#define R(x) atomic_load_explicit(&x, memory_order_relaxed)
#define W(x, v) atomic_store_explicit(&x, v, memory_order_relaxed)
#define REL(x, v) atomic_store_explicit(&x, v, memory_order_release)
#define SC(x, v) atomic_store_explicit(&x, v, memory_order_seq_cst)
#define X(x, v) atomic_exchange_explicit(&x, v, memory_order_relaxed)
#define ADD(x, v) atomic_fetch_add_explicit(&x, v, memory_order_relaxed)
#define CAS(x, old, new) __sync_val_compare_and_swap(&x, old, new)
#define FULL atomic_thread_fence(memory_order_seq_cst)
#define STORES atomic_thread_fence(memory_order_release)
";

/// The lines of a fence set, and the kinds.
type Lines = BTreeSet<(u32, FenceKind)>;

fn read(frontend: &dyn Frontend, name: &str, text: &str) -> Program {
    let lowered = parse_with(frontend, &Source::new(name, text), &mut NoFiles, &[]);
    let said: Vec<_> = lowered.diagnostics.iter().map(|it| render(&lowered.source, it, Style::Plain)).collect();
    lowered.program.unwrap_or_else(|| panic!("{name}: {}\n{text}", said.join("\n")))
}

fn both(name: &str, text: &str) -> (Program, Program) {
    let (mut c, mut own) = (HEAD.to_owned(), "\n".repeat(HEAD.lines().count()));
    for line in text.lines().skip(1) {
        let (left, right) = line.split_once("|||").unwrap_or((line, ""));
        c += &format!("{}\n", left.trim_end());
        own += &format!("{}\n", right.trim());
    }
    (read(&C, name, &c), read(&fw::Fw, name, &own))
}

fn verdict(program: &Program, model: Model) -> &'static str {
    let options = Options::default();
    let answer = auto().check(&Task::new(program, model, &options), &Unlimited).expect("it is taken");
    match answer.verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}

/// All minimal sets; none if there is none, or fences do not help.
fn fences(program: &Program, model: Model) -> BTreeSet<Lines> {
    let options = Options::default();
    let places = candidates(program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let (costs, kinds) = (Costs::default(), &FenceKind::ALL);
    let request = Request { candidates: &places, kinds, costs: &costs, wanted: Wanted::All, method: Method::Auto };
    let budget = Budget { monitor: &Unlimited, max: 100_000 };
    let found = synthesize(auto(), &Task::new(program, model, &options), &request, &budget).expect("it is taken");
    assert!(found.is_complete);
    let Outcome::Fixed(sets) = &found.outcome else { return BTreeSet::new() };
    let line = |edge| program.source().line_of(program.edges()[edge].span.start);
    let lines = |it: fencewright::program::Placement| it.iter().map(|(at, kind)| (line(at.edge), kind)).collect();
    sets.iter().map(|set| lines(set.fences.placement(&places))).collect()
}

#[test]
fn c_and_fw_have_the_same_verdicts_and_fences() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("it is there").map(|it| it.expect("it is there").path()).collect();
    paths.sort();
    assert!(paths.len() >= 40, "{} pairs", paths.len());
    let (mut n_unsafe, mut n_sets) = (0, 0);
    for path in paths {
        let name = path.file_stem().expect("it has a name").to_string_lossy();
        let (c, own) = both(&name, &fs::read_to_string(&path).expect("it is text"));
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let (ours, theirs) = (verdict(&c, model), verdict(&own, model));
            assert_eq!(ours, theirs, "{name} under {model}");
            assert_ne!(ours, "unknown", "{name} under {model}");
            if ours == "unsafe" && model != Model::Sc {
                let (ours, theirs) = (fences(&c, model), fences(&own, model));
                assert_eq!(ours, theirs, "fences of {name} under {model}");
                n_sets += ours.len();
            }
            n_unsafe += usize::from(ours == "unsafe");
        }
    }
    assert!(n_unsafe > 40 && n_sets > 40, "{n_unsafe} unsafe, {n_sets} sets");
}
