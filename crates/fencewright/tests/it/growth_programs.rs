//! The programs of the growth benchmark are what they are called: correct locks under SC, and under the weak models
//! with their fences; without them wrong, except where the header says that TSO needs none.

use fencewright::engine::{Options, Task, Verdict, named};

use fencewright::frontend::{self, fw::Fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::Source;
use fencewright::watch::Unlimited;

use crate::common::expectation::root;

fn program(name: &str, defines: &[(&str, i64)]) -> Program {
    let path = root().join("benches/programs/growth").join(name).with_extension("fw");
    let text = std::fs::read_to_string(path).expect("the program can be read");
    let defines: Vec<_> = defines.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    frontend::parse(&Fw, &Source::new(name, text), &defines).program.expect("the program is right")
}

fn is_safe(program: &Program, engine: &str, model: Model) -> bool {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let answer = named(engine).expect("the engine is registered").check(&task, &Unlimited);
    match answer.expect("the engine takes it").verdict {
        Verdict::Safe => true,
        Verdict::Unsafe(_) => false,
        Verdict::Unknown(reason) => panic!("{engine} under {model}: {reason}"),
    }
}

fn check(name: &str, needs_fences_under_tso: bool) {
    for n_threads in [2, 3] {
        let unfenced = program(name, &[("N", n_threads), ("FENCED", 0)]);
        assert!(is_safe(&unfenced, "explicit", Model::Sc), "{name} for {n_threads} under sc");
        assert_eq!(is_safe(&unfenced, "load-buffer", Model::Tso), !needs_fences_under_tso, "{name} for {n_threads}");
    }
    assert!(!is_safe(&program(name, &[("N", 2), ("FENCED", 0)]), "load-buffer", Model::Pso), "{name} under pso");
    for model in [Model::Tso, Model::Pso] {
        assert!(is_safe(&program(name, &[("N", 2), ("FENCED", 1)]), "load-buffer", model), "{name} fenced, {model}");
    }
}

#[test]
fn locks_of_loads_and_stores_need_fences() {
    for name in ["dekker", "burns", "bakery"] {
        check(name, true);
    }
}

#[test]
fn locks_of_atomic_updates_need_none_under_tso() {
    for name in ["ticket", "clh"] {
        check(name, false);
    }
}
