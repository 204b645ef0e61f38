//! Every program under `examples/rust`, printed as `.fw`: it reads back and has the same verdicts.

use fencewright::engine::{Options, Task, Verdict};
use fencewright::frontend::{Frontend as _, Input, Tree, fw, hir};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::{NoFiles, Source};
use fencewright::watch::{Budget, Unlimited};
use fencewright_rust::Rust;

use crate::examples::{auto, examples, program};

/// The program as `.fw`.
fn printed(name: &str, text: &str) -> Option<String> {
    let mut source = Source::new(name, text);
    let read = Rust::ANY.read(&mut Input { source: &mut source, files: &mut NoFiles, defines: &[] });
    match &read.tree {
        Tree::Typed(unit) => hir::surface(&source, unit).map(|it| fw::print(&it)),
        Tree::Surface(_) => None,
    }
}

fn verdict(program: &Program, model: Model) -> &'static str {
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 200_000 };
    match auto().check(&Task::new(program, model, &options), &budget).expect("it is taken").verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}

/// `.fw` has no words for something in them, and `import` says so.
const HAVE_NO_WORDS: [&str; 4] = ["spin_lock_relaxed.rs", "spsc_ring.rs", "spsc_ring_relaxed.rs", "treiber_stack.rs"];

#[test]
fn what_is_printed_means_the_same() {
    let mut wrong = Vec::new();
    for (name, text) in examples().into_iter().filter(|(name, _)| !HAVE_NO_WORDS.contains(&name.as_str())) {
        let program = program(&name, &text).unwrap_or_else(|why| panic!("{why}"));
        let again = printed(&name, &text).map(|fw| fencewright::parse("printed.fw", &fw));
        let again = match again {
            Some(Ok(again)) => again,
            Some(Err(why)) => {
                wrong.push(format!("{name}: {why}"));
                continue;
            }
            None => {
                wrong.push(format!("{name} cannot be printed"));
                continue;
            }
        };
        for model in Model::ALL {
            let (rust, fw) = (verdict(&program, model), verdict(&again, model));
            if rust != fw {
                wrong.push(format!("{name} {model}: {rust} in Rust, {fw} in .fw"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
