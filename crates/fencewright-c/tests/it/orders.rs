//! The orders that programs under `examples/c` need, of those that they have and beside them: each choice is minimal,
//! written into the text, read back, safe, what `patch -p1` makes of the diff, and C for gcc.

use fencewright::engine::data_race::ask_safety;
use fencewright::engine::{Options, Task, Verdict};
use fencewright::memory::{Dialect, Model, ReleaseSequence};
use fencewright::program::{Placement, Program};
use fencewright::report::patch::{Original, patch_with_choice};
use fencewright::report::violated;
use fencewright::synth::Profile;
use fencewright::synth::orders::{Element, Offered, Orders, Unfixable, chosen, orders, own_elements};
use fencewright::system::replay;
use fencewright::watch::{Budget, Unlimited};
use fencewright_c::C;

use crate::compiled::{Folder, gcc, has_gcc, has_patch};
use crate::examples::{auto, examples, program};
use crate::repairs::is_for_gcc;
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
    let (has_gcc, folder) = (has_gcc(), has_patch().then(Folder::new));
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
            let original = Original { frontend: &C, defines: &[], program: &program };
            for set in found.sets.iter().take(2) {
                assert!(is_minimal(&program, &found, &set.elements, &kept), "{name}: {set:?} of {:?}", found.elements);
                let Ok(patched) = patch_with_choice(&original, &found.elements, &set.elements) else { continue };
                assert_eq!(is_safe(&patched.program), Some(true), "{name}:\n{}", patched.text);
                n_written += 1;
                let diff = patched.diff.expect("a C text is changed in place");
                if let (Some(folder), false) = (&folder, diff.is_empty()) {
                    assert_eq!(folder.patched(&name, &text, &diff).as_ref(), Ok(&patched.text), "{name}: {diff}");
                }
                if has_gcc && is_for_gcc(&patched.text) {
                    let said = gcc(&patched.text, &["-fsyntax-only"]);
                    said.unwrap_or_else(|why| panic!("{name}: {why}\n{}", patched.text));
                }
            }
        }
    }
    println!("{n_found} questions answered, {n_written} choices written");
    assert!(n_written * 2 > n_found && n_found > if is_thorough { 40 } else { 2 }, "{n_written} of {n_found}");
}

/// A run with fewer orders can tell that nothing helps, but its steps are others with all of them. So what is shown is
/// a run of the program as it is.
#[test]
fn what_no_own_order_mends_is_shown_as_it_is() {
    let (released, relaxed) = ("waiting, 0, memory_order_release", "waiting, 0, memory_order_relaxed");
    let text = examples().into_iter().find(|it| it.0 == "mcs_lock.c").expect("there is this example").1;
    assert!(text.contains(released), "the lock is handed on");
    let program = program("mcs_lock.c", &text.replace(released, relaxed)).unwrap_or_else(|why| panic!("{why}"));
    let options = Options { threads: 1, ..Options::default() };
    let task = Task::new(&program, RC11, &options);
    let found = orders(auto(), &task, (Offered::Own, Profile::X86), &Unlimited).expect("it is taken");
    let Unfixable { program, run } = found.unfixable.expect("a release is missing");
    replay(&program, &Placement::NONE, RC11, Dialect::default(), &run.trace).expect("it is a run of the program");
    let told = violated(&program, &run);
    assert_eq!((told.kind, program.source().line_name(told.span).as_str()), ("race", "line 57"), "{}", told.text);
}
