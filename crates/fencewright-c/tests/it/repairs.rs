//! The repairs of every program under `examples/c`, by orders and by fences: each is written into the text, read back,
//! safe, what `patch -p1` makes of the diff, and C for gcc.

use std::collections::BTreeSet;

use fencewright::engine::{Options, Task, Verdict};
use fencewright::frontend::Frontend;
use fencewright::frontend::rewrite::{Reorder, Text};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Program};
use fencewright::report::patch::{Original, patch_with_orders};
use fencewright::source::{Source, Span};
use fencewright::synth::{
    By, Costs, Method, Outcome, Place, Repair, Request, Wanted, candidates, reordered, synthesize, with_orders,
};
use fencewright::watch::{Budget, Unlimited};
use fencewright_c::C;

use crate::compiled::{Folder, gcc, has_gcc, has_patch};
use crate::examples::{auto, examples, program};

/// A text that was repaired.
struct Repaired {
    text: String,
    diff: Option<String>,
    orders: Vec<Reorder>,
    is_complete: bool,
}

/// The repairs of a program under a model; those that have no place in the text are left out.
fn repairs(program: &Program, model: Model, repair: Repair) -> Result<Vec<Repaired>, String> {
    let options = Options::default();
    let rewrite = C.rewrite().expect("C has repairs");
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
    for set in sets.iter().take(3) {
        let orders = reordered(program, &places, &set.fences, (&found.clauses, &changeable));
        let original = Original { frontend: &C, defines: &[], program };
        let Ok(patched) = patch_with_orders(&original, &set.fences.placement(&places), &orders) else { continue };
        let verdict = auto().check(&Task::new(&patched.program, model, &options), &Unlimited);
        if !matches!(verdict.map_err(|it| it.to_string())?.verdict, Verdict::Safe) {
            return Err(format!("the repair for {model} is not safe:\n{}", patched.text));
        }
        let (text, diff) = (patched.text, patched.diff);
        all.push(Repaired { text, diff, orders, is_complete: found.is_complete });
    }
    Ok(all)
}

/// Whether a text is C for a compiler, and not for a kernel or a checker.
pub(crate) fn is_for_gcc(text: &str) -> bool {
    ["WRITE_ONCE", "READ_ONCE", "smp_", "xchg(", "__VERIFIER", "vatomic"].iter().all(|it| !text.contains(it))
}

#[test]
fn every_repair_is_safe_and_compiles() {
    let (has_gcc, folder) = (has_gcc(), has_patch().then(Folder::new));
    let (mut n_orders, mut n_fences) = (0, 0);
    for (name, text) in examples() {
        let program = program(&name, &text).unwrap_or_else(|why| panic!("{why}"));
        for model in [Model::Tso, Model::Pso] {
            for repair in [Repair::Both, Repair::Fences] {
                let found = repairs(&program, model, repair).unwrap_or_else(|why| panic!("{name}: {why}"));
                for repaired in found {
                    n_orders += usize::from(!repaired.orders.is_empty());
                    n_fences += usize::from(repaired.orders.is_empty());
                    if let Some(folder) = &folder {
                        let diff = repaired.diff.expect("a C text is changed in place");
                        assert_eq!(folder.patched(&name, &text, &diff).as_ref(), Ok(&repaired.text), "{name}: {diff}");
                    }
                    if has_gcc && is_for_gcc(&repaired.text) {
                        let said = gcc(&repaired.text, &["-fsyntax-only"]);
                        said.unwrap_or_else(|why| panic!("{name} under {model}: {why}\n{}", repaired.text));
                    }
                }
            }
        }
    }
    assert!(n_orders > 10 && n_fences > 10, "{n_orders} by orders, {n_fences} by fences");
}

#[track_caller]
fn check(text: &str, model: Model, repair: Repair, expected: &[&str]) {
    let text = format!("#include <stdatomic.h>\n#include <assert.h>\n{text}");
    let program = program("t.c", &text).unwrap_or_else(|why| panic!("{why}"));
    let found = repairs(&program, model, repair).unwrap_or_else(|why| panic!("{why}"));
    assert!(found.iter().all(|it| it.is_complete));
    let changed = |new: &str| {
        let (old, new) = (text.lines().collect::<Vec<_>>(), new.lines().collect::<Vec<_>>());
        new.into_iter().filter(|line| !old.contains(line)).map(str::trim).collect::<Vec<_>>().join(" | ")
    };
    let found: Vec<String> = found.iter().map(|it| changed(&it.text)).collect();
    assert_eq!(found, expected, "{}", Source::new("t.c", text.as_str()).name());
}

/// Store buffering: what each thread does, and what may not come out.
fn store_buffering(left: &str, right: &str) -> String {
    format!(
        "atomic_int x, y; int a, b;\nvoid *left(void *it) {{\n{left}\nreturn 0; }}\nvoid *right(void *it) \
         {{\n{right}\nreturn 0; }}\nint main(void) {{ pthread_t s, t; pthread_create(&s, 0, left, 0); \
         pthread_create(&t, 0, right, 0); pthread_join(s, 0); pthread_join(t, 0); assert(a || b); }}\n"
    )
}

#[test]
fn a_store_that_is_overtaken_becomes_seq_cst_and_so_does_the_load() {
    let text = store_buffering(
        "atomic_store_explicit(&x, 1, memory_order_relaxed);\na = atomic_load_explicit(&y, memory_order_acquire);",
        "atomic_store(&y, 1);\nb = atomic_load(&x);",
    );
    let seq_cst = "atomic_store_explicit(&x, 1, memory_order_seq_cst); | a = atomic_load_explicit(&y, \
                   memory_order_seq_cst);";
    check(&text, Model::Tso, Repair::Both, &[seq_cst]);
    check(&text, Model::Tso, Repair::Orders, &[seq_cst]);
    check(&text, Model::Tso, Repair::Fences, &["atomic_thread_fence(memory_order_seq_cst);"]);
}

#[test]
fn an_order_that_a_macro_names_is_replaced_where_it_is_used() {
    let text = format!(
        "#define RLX memory_order_relaxed\n#define PUT(p, v) atomic_store_explicit(p, v, RLX)\n{}",
        store_buffering(
            "PUT(&x, 1);\na = __atomic_load_n(&y, __ATOMIC_RELAXED);",
            "atomic_store_explicit(&y, 1, RLX);\nb = x;"
        )
    );
    let changed = "atomic_thread_fence(memory_order_seq_cst); | a = __atomic_load_n(&y, __ATOMIC_ACQUIRE); | \
                   atomic_store_explicit(&y, 1, memory_order_seq_cst);";
    check(&text, Model::Tso, Repair::Both, &[changed]);
}

/// Message passing under PSO, which needs one of these.
fn message(send: &str, receive: &str) -> String {
    format!(
        "atomic_int data, flag; int plain;\nvoid *left(void *it) {{\n{send}\nreturn 0; }}\nvoid *right(void *it) \
         {{\n{receive}\nreturn 0; }}\nint main(void) {{ pthread_t s, t; pthread_create(&s, 0, left, 0); \
         pthread_create(&t, 0, right, 0); pthread_join(s, 0); pthread_join(t, 0); }}\n"
    )
}

#[test]
fn a_store_that_others_wait_for_becomes_release_and_their_load_acquire() {
    let data = "atomic_store_explicit(&data, 1, memory_order_relaxed);";
    let text = message(
        &format!("{data}\natomic_store_explicit(&flag, 1, memory_order_relaxed);"),
        "if (atomic_load_explicit(&flag, memory_order_relaxed))\nassert(data == 1);",
    );
    let release = "atomic_store_explicit(&flag, 1, memory_order_release); | if (atomic_load_explicit(&flag, \
                   memory_order_acquire))";
    let seq_cst = "atomic_store_explicit(&data, 1, memory_order_seq_cst);";
    check(&text, Model::Pso, Repair::Orders, &[release, seq_cst]);
}

#[test]
fn an_update_that_comes_too_early_becomes_acq_rel() {
    let text = message(
        "atomic_store_explicit(&data, 1, memory_order_seq_cst); plain = 1;\natomic_fetch_add_explicit(&flag, 1, \
         memory_order_relaxed);",
        "if (atomic_exchange_explicit(&flag, 0, memory_order_relaxed))\nassert(plain == 1);",
    );
    let update = "atomic_fetch_add_explicit(&flag, 1, memory_order_acq_rel); | if (atomic_exchange_explicit(&flag, 0, \
                  memory_order_acquire))";
    check(&text, Model::Pso, Repair::Orders, &[update]);
}

#[test]
fn macros_of_linux_become_stronger_ones() {
    let text =
        message("WRITE_ONCE(data, 1);\nWRITE_ONCE(flag, 1);", "if (READ_ONCE(flag))\nassert(READ_ONCE(data) == 1);");
    let release = "smp_store_release(&flag, 1); | if (smp_load_acquire(&flag))";
    let full = "smp_store_mb(data, 1); | assert(smp_load_acquire(&data) == 1);";
    check(&text, Model::Pso, Repair::Orders, &[release, full]);
}
