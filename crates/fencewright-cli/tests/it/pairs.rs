//! Pairs of programs, one in Rust and one in C: the same verdicts, and the same number of minimal repairs by fences.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fencewright::engine::{Options, Task, named};
use fencewright::frontend::parse_with;
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::{NoFiles, Source};
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::{Budget, Unlimited};
use fencewright_c::C;
use fencewright_rust::Rust;

/// Rust examples and the examples in C of the same algorithm, where they have other names.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("seqlock", "seqlock"),
    ("sb_release_acquire", "sb_release"),
    ("spin_lock", "tas_lock"),
    ("spin_lock_relaxed", "tas_lock_relaxed"),
    ("once_flag", "once"),
    ("locks_in_order", "two_locks_in_order"),
    ("seq_cst_readers", "iriw_seq_cst"),
];

fn rust_programs() -> Vec<(String, Program)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rust");
    let entries = fs::read_dir(folder).expect("the examples can be listed");
    let mut paths: Vec<_> = entries.map(|it| it.expect("the examples can be listed").path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "rs"));
    paths.sort();
    let program = |path: &std::path::PathBuf| {
        let name = path.file_stem()?.to_string_lossy().into_owned();
        let source = Source::new(format!("{name}.rs"), fs::read_to_string(path).ok()?);
        Some((name, parse_with(&Rust::ANY, &source, &mut NoFiles, &[]).program?))
    };
    paths.iter().filter_map(program).collect()
}

fn c_program(name: &str) -> Option<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let text = fs::read_to_string(folder.join(format!("{name}.c"))).ok()?;
    let source = Source::new(format!("{name}.c"), text);
    parse_with(&C, &source, &mut BTreeMap::new(), &[]).program
}

/// Whether it is safe, and how many minimal sets of fences there are.
fn answer(program: &Program, model: Model) -> String {
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 100_000 };
    let all = candidates(program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let found = synthesize(
        named("auto").expect("it is there"),
        &Task::new(program, model, &options),
        &Request::all(&all),
        &budget,
    );
    match found.expect("it is taken").outcome {
        Outcome::Correct => "safe".to_owned(),
        Outcome::Fixed(sets) => format!("{} repairs", sets.len()),
        Outcome::Unfixable(..) => "unsafe".to_owned(),
        Outcome::Unknown(_) => "unknown".to_owned(),
    }
}

#[test]
fn rust_and_c_agree() {
    let mut n = 0;
    for (name, rust) in rust_programs() {
        let other = OTHER_NAMES.iter().find(|it| it.0 == name).map_or(name.as_str(), |it| it.1);
        let Some(c) = c_program(other) else { continue };
        for model in [Model::Sc, Model::Tso] {
            assert_eq!(answer(&rust, model), answer(&c, model), "{name} and {other}.c under {model}");
            n += 1;
        }
    }
    assert!(n >= 30, "{n}");
}
