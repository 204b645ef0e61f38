//! Every program under `examples/c`, printed as `.fw`: it reads back and has the same verdicts.

use fencewright::engine::{Options, Task, Verdict};
use fencewright::frontend::{Frontend as _, Input, Tree, fw, hir};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::Source;
use fencewright::watch::{Budget, Unlimited};
use fencewright_c::C;

use crate::examples::{auto, examples, files, program};

/// The program as `.fw`.
fn printed(name: &str, text: &str) -> Option<String> {
    let mut source = Source::new(name, text);
    let read = C.read(&mut Input { source: &mut source, files: &mut files(), defines: &[] });
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

#[test]
fn what_is_printed_means_the_same() {
    let mut wrong = Vec::new();
    for (name, text) in examples() {
        let Some(fw) = printed(&name, &text) else {
            wrong.push(format!("{name} cannot be printed"));
            continue;
        };
        let again = match fencewright::parse("printed.fw", &fw) {
            Ok(again) => again,
            Err(why) => {
                wrong.push(format!("{name}: {why}\n{fw}"));
                continue;
            }
        };
        let program = program(&name, &text).unwrap_or_else(|why| panic!("{why}"));
        for model in Model::ALL {
            let (c, fw_verdict) = (verdict(&program, model), verdict(&again, model));
            if c != fw_verdict {
                wrong.push(format!("{name} {model}: {c} in C, {fw_verdict} in .fw\n{fw}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_constant_index_outside_an_array_is_a_violation_in_what_is_printed() {
    let text = "#include <pthread.h>\n#include <stdatomic.h>\natomic_int a[2];\nvoid *other(void *it) { a[1] = 1; \
                return 0; }\nint main(void) { pthread_t t; pthread_create(&t, 0, other, 0); a[0 - 1] = 1; \
                pthread_join(t, 0); }\n";
    let again = printed("t.c", text).map(|it| fencewright::parse("printed.fw", &it));
    let again = again.expect("it can be printed").unwrap_or_else(|why| panic!("{why}"));
    let program = program("t.c", text).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((verdict(&program, Model::Sc), verdict(&again, Model::Sc)), ("unsafe", "unsafe"));
}
