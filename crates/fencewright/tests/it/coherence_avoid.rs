//! The avoid formula of abstract store buffers: what it asks for makes programs safe, and is what the paper says.
//!
//! Synthesis proves every set before it reports it, so a wrong formula would only cost it time; here the formula stands
//! alone.

use fencewright::engine::coherence::{ABSTRACTION, Avoided, Coherence, K, Places, VALUES, Values, avoid};
use fencewright::engine::{Abstraction, Options, Task};

use fencewright::frontend::{self, fw};
use fencewright::memory::{Dialect, Model};
use fencewright::program::{FenceKind, Op, Placement, Position, Program, Side};
use fencewright::source::Source;
use fencewright::watch::Unlimited;

use crate::common::expectation::root;
use crate::common::law::{MAX_STATES, check_observed, check_weak, program};
use crate::common::oracle::{Truth, truth};
use crate::common::random::{Sample, Shape};

/// A place after each store, in the order of the text.
fn places(program: &Program) -> Places {
    let edges = program.edges().iter_enumerated().filter(|(_, edge)| matches!(edge.op, Op::Store(..)));
    (0..).zip(edges).map(|(variable, (edge, _))| (Position { edge, side: Side::After }, vec![variable])).collect()
}

fn avoided(program: &Program, model: Model, (abstraction, k): (Abstraction, u32)) -> Avoided {
    let options = Options::default().with_name(&ABSTRACTION, abstraction.name()).with_count(&K, k);
    let task = Task::new(program, model, &options);
    avoid(&Coherence::DEFAULT, &task, &places(program), &Unlimited).expect("the program is finite")
}

fn parsed(text: &str) -> Program {
    frontend::parse(&fw::Fw, &Source::new("t.fw", text), &[]).program.expect("the program is right")
}

/// The sets that a precision asks for.
fn check_sets(text: &str, model: Model, precision: (Abstraction, u32), expected: &[&[u32]]) {
    assert_eq!(avoided(&parsed(text), model, precision).sets, expected, "{precision:?} under {model}");
}

/// The paper's Fig. 6: a set forgets that 1 was stored before 2, so a fence seems to be needed.
#[test]
fn a_coarse_abstraction_asks_for_a_fence_too_many() {
    let text = "shared x: 0..2 = 0;\nthread P { x = 1; x = 2; }\nthread Q { let a = x; let b = x; }\n\
                forbid Q.a == 2 && Q.b == 1 at end;";
    for model in [Model::Tso, Model::Pso] {
        check_sets(text, model, (Abstraction::Fd, 0), &[&[0]]);
        check_sets(text, model, (Abstraction::Fd, 1), &[&[]]);
    }
}

/// Trap T14: with `k` = 0 a store seems to reach memory twice, whatever the fences. That is no word on the program.
#[test]
fn an_alarm_that_no_fence_avoids_gives_no_set() {
    let path = root().join("examples/traps/t14_flushed_once.fw");
    let text = std::fs::read_to_string(path).expect("the trap is there");
    check_sets(&text, Model::Tso, (Abstraction::Fd, 0), &[]);
    check_sets(&text, Model::Tso, (Abstraction::Fd, 1), &[&[]]);
}

#[test]
fn store_buffering_needs_a_fence_in_each_thread() {
    let text = "shared x, y: 0..1 = 0;\nthread P { x = 1; let a = y; }\nthread Q { y = 1; let a = x; }\n\
                forbid P.a == 0 && Q.a == 0 at end;";
    for precision in [(Abstraction::Fd, 0), (Abstraction::Fd, 1), (Abstraction::Pd, 0), (Abstraction::Set, 0)] {
        // Either fence alone leaves the other thread's load early, which is enough to go wrong.
        check_sets(text, Model::Tso, precision, &[&[0, 1]]);
    }
}

/// Beside a counter that never ends: with every integer as it is there is no end to the states, cut off there is.
#[test]
fn what_avoids_bad_states_is_found_with_integers_cut_off() {
    let text = "shared x, y, c: int = 0;\nthread P { x = 1; let a = y; }\nthread Q { y = x - x + 1; let a = x; }\n\
                thread C { let n: int = 0; loop { n = n + 1; c = n; } }\nforbid P.a == 0 && Q.a == 0 at end of P, Q;";
    let program = parsed(text);
    for model in [Model::Tso, Model::Pso] {
        for (values, expected) in [(Values::Exact, &[][..]), (Values::Intervals, &[vec![0, 1]][..])] {
            let options = Options::default().with_count(&K, 1).with_name(&VALUES, values.name());
            let task = Task::new(&program, model, &options);
            let short = Coherence { max_states: 20_000, ..Coherence::DEFAULT };
            let avoided = avoid(&short, &task, &places(&program), &Unlimited).expect("it can be cut off");
            assert_eq!(avoided.sets, expected, "{values:?} under {model}: {:?}", avoided.stopped);
        }
    }
}

/// One fence behind both stores of a branch serves them, or one behind each: the minimal cuts.
#[test]
fn a_constraint_is_met_by_any_cut_of_the_paths() {
    let text = "shared x, y, z: 0..1 = 0;\nthread P { choose { x = 1; } or { x = 1; z = 1; } let a = y; }\n\
                thread Q { y = 1; fence; let a = x; }\nforbid P.a == 0 && Q.a == 0 at end;";
    check_sets(text, Model::Tso, (Abstraction::Fd, 1), &[&[0, 2], &[0, 1]]);
}

const PRECISIONS: [(Abstraction, u32); 7] = [
    (Abstraction::Set, 0),
    (Abstraction::Fd, 0),
    (Abstraction::Fd, 1),
    (Abstraction::Fd, 2),
    (Abstraction::Pd, 0),
    (Abstraction::Pd, 1),
    (Abstraction::Pd, 2),
];

#[test]
fn every_set_of_the_formula_makes_the_program_safe() {
    for (model, fewer) in [(Model::Tso, 30), (Model::Pso, 30)] {
        let shape = Shape { max_ops: 4, has_loops: true };
        check_weak("avoid", shape, model, fewer, |sample| sets_are_safe(sample, model));
        check_observed("avoid observed", 100, |sample| sets_are_safe(sample, model));
    }
}

fn sets_are_safe(sample: &Sample, model: Model) -> Result<(), String> {
    let program = program(sample)?;
    let places: Vec<Position> = places(&program).into_keys().collect();
    for precision in PRECISIONS {
        for set in avoided(&program, model, precision).sets.into_iter().take(20) {
            let fences: Placement = set.iter().map(|&it| (places[it as usize], FenceKind::Full)).collect();
            if truth(&program, &fences, model, Dialect::default(), MAX_STATES) == Truth::Unsafe {
                return Err(format!("{precision:?} under {model} asks for {set:?}, which is not enough"));
            }
        }
    }
    Ok(())
}
