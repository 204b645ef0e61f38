//! The repairs of every program under `examples/rust`, by orders and by fences: each is written into the text, read
//! back, safe, what `patch -p1` makes of the diff, and accepted by rustc.

use std::collections::BTreeSet;

use fencewright::engine::{Options, Task, Verdict};
use fencewright::frontend::Frontend;
use fencewright::frontend::rewrite::{Reorder, Text};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Program};
use fencewright::report::patch::{Original, patch_with_orders};
use fencewright::source::Span;
use fencewright::synth::{
    By, Costs, Method, Outcome, Place, Repair, Request, Wanted, candidates, reordered, synthesize, with_orders,
};
use fencewright::watch::{Budget, Unlimited};
use fencewright_rust::Rust;

use crate::compiled::{has_patch, patched, rustc};
use crate::examples::{auto, examples, program};

/// A text that was repaired.
struct Repaired {
    text: String,
    diff: Option<String>,
    orders: Vec<Reorder>,
}

/// The repairs of a program under a model; those that have no place in the text are left out.
fn repairs(program: &Program, model: Model, repair: Repair) -> Result<Vec<Repaired>, String> {
    let options = Options::default();
    let front_end = Rust::ANY;
    let rewrite = front_end.rewrite().expect("Rust has repairs");
    let changeable: BTreeSet<Span> =
        rewrite.orders(&Text { source: program.source(), defines: &[] }).into_iter().collect();
    let fences = candidates(program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let places = with_orders(program, fences, (&changeable, By::Source), repair);
    let request = Request {
        candidates: &places,
        kinds: &FenceKind::ALL,
        costs: &Costs::default(),
        wanted: Wanted::All,
        method: Method::Auto,
    };
    let task = Task::new(program, model, &options);
    let budget = Budget { monitor: &Unlimited, max: 50_000 };
    let found = synthesize(auto(), &task, &request, &budget).map_err(|it| it.to_string())?;
    let Outcome::Fixed(sets) = &found.outcome else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for set in sets.iter().take(1) {
        let orders = reordered(program, &places, &set.fences, (&found.clauses, &changeable));
        let original = Original { frontend: &Rust::ANY, defines: &[], program };
        let Ok(new) = patch_with_orders(&original, &set.fences.placement(&places), &orders) else { continue };
        let verdict = auto().check(&Task::new(&new.program, model, &options), &Unlimited);
        if !matches!(verdict.map_err(|it| it.to_string())?.verdict, Verdict::Safe) {
            return Err(format!("the repair for {model} is not safe:\n{}", new.text));
        }
        all.push(Repaired { text: new.text, diff: new.diff, orders });
    }
    Ok(all)
}

#[test]
fn every_repair_is_safe_and_compiles() {
    let (mut n_orders, mut n_fences) = (0, 0);
    let (mut compiled, has_patch) = (BTreeSet::new(), has_patch());
    for (name, text) in examples() {
        let program = program(&name, &text).unwrap_or_else(|why| panic!("{why}"));
        for model in [Model::Tso, Model::Pso] {
            for repair in [Repair::Both, Repair::Fences] {
                let found = repairs(&program, model, repair).unwrap_or_else(|why| panic!("{name}: {why}"));
                for repaired in found {
                    n_orders += usize::from(!repaired.orders.is_empty());
                    n_fences += usize::from(repaired.orders.is_empty());
                    if has_patch {
                        let diff = repaired.diff.expect("a Rust text is changed in place");
                        assert_eq!(patched(&name, &text, &diff).as_ref(), Ok(&repaired.text), "{name}: {diff}");
                    }
                    if compiled.insert(repaired.text.clone()) {
                        let said = rustc("repaired", &repaired.text);
                        said.unwrap_or_else(|why| panic!("{name} under {model}: {why}\n{}", repaired.text));
                    }
                }
            }
        }
    }
    assert!(n_orders >= 5 && n_fences >= 5, "{n_orders} by orders, {n_fences} by fences");
}

#[track_caller]
fn check(left: &str, right: &str, repair: Repair, expected: &[&str]) {
    let text = format!(
        "use std::sync::atomic::{{AtomicU32, Ordering, Ordering::Relaxed}};\nuse std::thread;\nstatic X: AtomicU32 = \
         AtomicU32::new(0);\nstatic Y: AtomicU32 = AtomicU32::new(0);\nfn main() {{\nlet left = thread::spawn(|| \
         {{\n{left}\n}});\nlet right = thread::spawn(|| {{\n{right}\n}});\nassert!(left.join().unwrap() + \
         right.join().unwrap() != 0);\n}}\n"
    );
    let program = program("t.rs", &text).unwrap_or_else(|why| panic!("{why}"));
    let found = repairs(&program, Model::Tso, repair).unwrap_or_else(|why| panic!("{why}"));
    let changed = |new: &str| {
        let (old, new) = (text.lines().collect::<Vec<_>>(), new.lines().collect::<Vec<_>>());
        new.into_iter().filter(|line| !old.contains(line)).map(str::trim).collect::<Vec<_>>().join(" | ")
    };
    let found: Vec<String> = found.iter().map(|it| changed(&it.text)).collect();
    assert_eq!(found, expected);
    found.iter().for_each(|_| rustc("checked", &text).expect("it is Rust"));
}

#[test]
fn a_store_that_is_overtaken_becomes_seq_cst_and_so_does_the_load() {
    check(
        "X.store(1, Relaxed);\nY.load(Ordering::Acquire)",
        "Y.store(1, Ordering::SeqCst);\nX.load(Ordering::SeqCst)",
        Repair::Both,
        &["X.store(1, Ordering::SeqCst); | Y.load(Ordering::SeqCst)"],
    );
}

#[test]
fn a_fence_stands_behind_the_store() {
    let fence = "std::sync::atomic::fence(Ordering::SeqCst);";
    check(
        "X.store(1, Relaxed);\nY.load(Relaxed)",
        "{ Y.store(1, Relaxed) }\nX.load(Relaxed)",
        Repair::Fences,
        &[&format!("{fence} | {{ Y.store(1, Relaxed); {fence} }}")],
    );
}
