//! The orders that programs under `examples/rust` need, of those that they have and beside them: each choice is
//! minimal, written into the text, read back, safe, and accepted by rustc.

use fencewright::engine::data_race::ask_safety;
use fencewright::engine::{Options, Task, Verdict};
use fencewright::memory::{Model, ReleaseSequence};
use fencewright::program::Program;
use fencewright::report::patch::{Original, patch_with_choice};
use fencewright::synth::Profile;
use fencewright::synth::orders::{Element, Offered, Orders, chosen, orders, own_elements};
use fencewright::watch::{Budget, Unlimited};
use fencewright_rust::Rust;

use crate::compiled::rustc;
use crate::examples::{auto, examples, program};
use crate::twins::number;

const RC11: Model = Model::Rc11(ReleaseSequence::Updates);

/// The choices for a program; none where it is not decided soon.
fn found(program: &Program, offered: Offered) -> Option<Orders> {
    let options = Options { threads: 1, ..Options::default() };
    let budget = Budget { monitor: &Unlimited, max: 30_000 };
    let task = Task::new(program, RC11, &options);
    orders(auto(), &task, (offered, Profile::X86), &budget).ok().filter(|it| !it.sets.is_empty())
}

fn is_safe(program: &Program) -> Option<bool> {
    let options = Options { threads: 1, ..Options::default() };
    match ask_safety(auto(), &Task::new(program, RC11, &options), &Unlimited).ok()?.verdict {
        Verdict::Safe => Some(true),
        Verdict::Unsafe(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Whether no element of a choice can be spared: without it there is an execution that is bad.
fn is_minimal(program: &Program, found: &Orders, set: &[usize], kept: &[usize]) -> bool {
    set.iter().filter(|it| !kept.contains(it)).all(|spared| {
        let fewer: Vec<usize> = set.iter().copied().filter(|it| it != spared).collect();
        let (fewer, laid) = chosen(program, &found.elements, &fewer);
        let options = Options { threads: 1, ..Options::default() };
        let task = Task { placement: &laid, ..Task::new(&fewer, RC11, &options) };
        matches!(ask_safety(auto(), &task, &Unlimited).map(|it| it.verdict), Ok(Verdict::Unsafe(_)))
    })
}

/// The elements that the text says already.
fn said(program: &Program, found: &Orders) -> Vec<usize> {
    let own = own_elements(program);
    let is_said = |it: &Element| own.iter().any(|own| own.span == it.span && own.strength == it.strength);
    (0..found.elements.len()).filter(|&it| is_said(&found.elements[it])).collect()
}

#[test]
fn every_choice_is_minimal_and_can_be_written() {
    let (n_laws, seed) = (number("FENCEWRIGHT_LAWS", 200), number("FENCEWRIGHT_SEED", 1));
    let is_thorough = n_laws >= 2_000;
    let (mut n_found, mut n_written) = (0, 0);
    for (i, (name, text)) in examples().into_iter().enumerate() {
        if !is_thorough && !(i as u64 + seed).is_multiple_of(6) {
            continue;
        }
        let program = program(&name, &text).unwrap_or_else(|why| panic!("{why}"));
        for offered in [Offered::Own, Offered::Stronger] {
            let Some(found) = found(&program, offered) else { continue };
            let kept = if offered == Offered::Stronger { said(&program, &found) } else { Vec::new() };
            n_found += 1;
            let original = Original { frontend: &Rust::ANY, defines: &[], program: &program };
            for set in found.sets.iter().take(2) {
                assert!(is_minimal(&program, &found, &set.elements, &kept), "{name}: {set:?} of {:?}", found.elements);
                let Ok(patched) = patch_with_choice(&original, &found.elements, &set.elements) else { continue };
                assert_eq!(is_safe(&patched.program), Some(true), "{name}:\n{}", patched.text);
                n_written += 1;
                rustc("orders", &patched.text).unwrap_or_else(|why| panic!("{name}: {why}\n{}", patched.text));
            }
        }
    }
    println!("{n_found} questions answered, {n_written} choices written");
    assert!(n_written * 2 > n_found && n_found > if is_thorough { 40 } else { 2 }, "{n_written} of {n_found}");
}

const HEAD: &str = "use std::cell::UnsafeCell;\nuse std::sync::atomic::{AtomicUsize, Ordering::*};\nuse std::thread;\n\
                    struct Data(UnsafeCell<u32>);\nunsafe impl Sync for Data {}\n\
                    static DATA: Data = Data(UnsafeCell::new(0));\nstatic STATE: AtomicUsize = AtomicUsize::new(0);\n";

/// What the cheapest choice of a program's own orders writes.
#[track_caller]
fn check(text: &str, expected: &str) {
    let text = format!("{HEAD}{text}");
    let program = program("t.rs", &text).unwrap_or_else(|why| panic!("{why}"));
    let found = found(&program, Offered::Own).expect("it is correct as it is");
    let original = Original { frontend: &Rust::ANY, defines: &[], program: &program };
    let patched = patch_with_choice(&original, &found.elements, &found.sets[0].elements);
    let patched = patched.unwrap_or_else(|it| panic!("{}", it.message));
    let old: Vec<&str> = text.lines().collect();
    let new: Vec<&str> = patched.text.lines().filter(|line| !old.contains(line)).map(str::trim).collect();
    assert_eq!(new.join("\n"), expected);
    rustc("weakened", &patched.text).unwrap_or_else(|why| panic!("{why}\n{}", patched.text));
}

/// After `Notify` of tokio, whose orders became acquire and release (tokio-rs/tokio, pull request 8325): what is done
/// before a notification is seen behind it. There every access was weakened alike; fewer are needed for that.
/// Both orders of an update are one choice.
#[test]
fn a_notification_needs_no_seq_cst() {
    check(
        "fn notify() {\nlet seen = STATE.load(SeqCst);\nif seen != 2 {\n\
         let _ = STATE.compare_exchange(seen, 2, SeqCst, SeqCst);\n}\n}\n\
         fn notified() {\nwhile STATE.compare_exchange(2, 0, SeqCst, SeqCst).is_err() {\n\
         std::hint::spin_loop();\n}\n}\n\
         fn main() {\nlet other = thread::spawn(|| {\nunsafe { *DATA.0.get() = 42 };\nnotify();\n});\nnotified();\n\
         assert_eq!(unsafe { *DATA.0.get() }, 42);\nother.join().unwrap();\n}\n",
        "let seen = STATE.load(Relaxed);\nlet _ = STATE.compare_exchange(seen, 2, Release, Relaxed);\n\
         while STATE.compare_exchange(2, 0, Acquire, Acquire).is_err() {",
    );
}

/// After the revision counter of salsa, whose orders became acquire and release (salsa-rs/salsa, pull request 526).
#[test]
fn a_revision_needs_no_seq_cst() {
    check(
        "fn main() {\nlet other = thread::spawn(|| {\nunsafe { *DATA.0.get() = 1 };\nSTATE.store(1, SeqCst);\n});\n\
         if STATE.load(SeqCst) == 1 {\nassert_eq!(unsafe { *DATA.0.get() }, 1);\n}\nother.join().unwrap();\n}\n",
        "STATE.store(1, Release);\nif STATE.load(Acquire) == 1 {",
    );
}

/// After `Arc` of std: who counts up tells nothing; who counts down last sees what all others did.
#[test]
fn counting_references_needs_no_seq_cst() {
    check(
        "fn drop_one() {\nif STATE.fetch_sub(1, SeqCst) == 1 {\nunsafe { *DATA.0.get() = 0 };\n}\n}\n\
         fn main() {\nSTATE.store(2, Relaxed);\nlet other = thread::spawn(|| {\nSTATE.fetch_add(1, SeqCst);\n\
         let _ = unsafe { *DATA.0.get() };\ndrop_one();\ndrop_one();\n});\n\
         let _ = unsafe { *DATA.0.get() };\ndrop_one();\nother.join().unwrap();\n}\n",
        "if STATE.fetch_sub(1, AcqRel) == 1 {\nSTATE.fetch_add(1, Relaxed);",
    );
}
