//! The same program in Rust and as `.fw`: the same verdicts, and the same number of minimal repairs by fences.
//!
//! The Rust programs are under `tests/pairs`; the `.fw` ones are those that stand beside the C programs of the same
//! names, `C ||| .fw`, in the tests of the front end for C.

use std::fs;
use std::path::Path;

use fencewright::engine::{Options, Task};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::{Budget, Unlimited};

use crate::compiled::rustc;
use crate::examples::{auto, program};

/// What stands beside the C program of that name.
fn beside(name: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fencewright-c/tests/pairs");
    let text = fs::read_to_string(folder.join(format!("{name}.txt"))).expect("the pair is there");
    let own = text.lines().skip(1).map(|line| line.split_once("|||").map_or("", |it| it.1.trim()));
    let own: String = own.flat_map(|line| [line, "\n"]).collect();
    fencewright::parse("t.fw", &own).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// Whether it is safe, and how many minimal sets of fences there are.
fn answer(program: &Program, model: Model) -> String {
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 100_000 };
    let all = candidates(program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let found = synthesize(auto(), &Task::new(program, model, &options), &Request::all(&all), &budget);
    match found.expect("it is taken").outcome {
        Outcome::Correct => "safe".to_owned(),
        Outcome::Fixed(sets) => format!("{} repairs", sets.len()),
        Outcome::Unfixable(..) => "unsafe".to_owned(),
        Outcome::Unknown(_) => "unknown".to_owned(),
    }
}

#[test]
fn rust_and_fw_have_the_same_verdicts_and_as_many_repairs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("it is there").map(|it| it.expect("it is there").path()).collect();
    paths.sort();
    assert!(paths.len() >= 30, "{} pairs", paths.len());
    let (mut n_safe, mut n_repaired) = (0, 0);
    for path in paths {
        let name = path.file_stem().expect("it has a name").to_string_lossy();
        let text = fs::read_to_string(&path).expect("it is text");
        let (rust, own) = (program(&name, &text).unwrap_or_else(|why| panic!("{why}")), beside(&name));
        rustc("pair", &text).unwrap_or_else(|why| panic!("{name}: {why}"));
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let found = answer(&rust, model);
            assert_eq!(found, answer(&own, model), "{name} under {model}");
            assert_ne!(found, "unknown", "{name} under {model}");
            n_safe += usize::from(found == "safe");
            n_repaired += usize::from(found.ends_with("repairs"));
        }
    }
    assert!(n_safe > 30 && n_repaired > 20, "{n_safe} safe, {n_repaired} repaired");
}
