//! Store buffers made explicit behave under SC as the program does under its model: tried on random programs and on the
//! examples.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test --release -p fencewright --test it translate_laws::` tries more.

use std::collections::BTreeSet;

use fencewright::memory::{Dialect, Model, PsoRmw};

use fencewright::program::{Placement, Program, PropertyKind};
use fencewright::system::Control;
use fencewright::translate::{Flushes, Method, Overflow, Repeats, Request, Translated, translate};

use crate::common::law::{MAX_STATES, check, check_observed, check_weak, program, program_of};
use crate::common::oracle::{Configuration, Truth, configurations, truth};
use crate::common::random::{Sample, Shape};

const LOOP_FREE: Shape = Shape { max_ops: 4, has_loops: false };

/// The buffers and what stands for them take more states than the original.
const MAX_TRANSLATED: usize = 10 * MAX_STATES;

static NO_FENCES: Placement = Placement::NONE;

const MODELS: [(Model, PsoRmw); 3] =
    [(Model::Tso, PsoRmw::Location), (Model::Pso, PsoRmw::Location), (Model::Pso, PsoRmw::All)];

fn request(program: &Program, model: Model, pso_rmw: PsoRmw, method: Method) -> Request<'_> {
    let (flushes, overflow) = (Flushes::Everywhere, Overflow::Violation);
    Request {
        program,
        placement: &NO_FENCES,
        buffering: model.buffering(Dialect { pso_rmw }).expect("ours has buffers"),
        method,
        bound: None,
        flushes,
        overflow,
        repeats: Repeats::Kept,
    }
}

/// Points, registers and memory: exactly those of the original, wherever stores may reach memory at any time.
#[test]
fn configurations_are_those_of_the_original() {
    check("translated configurations", LOOP_FREE, 6, configurations_agree);
}

#[test]
fn configurations_are_those_of_the_original_where_buffers_fill() {
    check_observed("translated configurations of full buffers", 10, configurations_agree);
}

/// Configurations are compared one by one: there must be nobody else who looks at memory.
fn without_invariants(sample: &Sample) -> Result<Program, String> {
    let program = program(sample)?;
    let others = program.properties().iter().filter(|it| it.kind != PropertyKind::Invariant).cloned();
    Ok(program.with_properties(others))
}

fn configurations_agree(sample: &Sample) -> Result<(), String> {
    let program = without_invariants(sample)?;
    for (model, pso_rmw) in MODELS {
        let Some(expected) = configurations(&program, model, Dialect { pso_rmw }, MAX_STATES) else { continue };
        for method in Method::ALL {
            let translated = translate(&request(&program, model, pso_rmw, method));
            if translated.overflow.is_some() {
                return Err(format!("{model}, {method:?}: buffers without loops cannot overflow"));
            }
            let found = projected(&translated, &program)?;
            compare(&expected, &found).map_err(|why| format!("{model}, {pso_rmw:?}, {method:?}: {why}"))?;
        }
    }
    Ok(())
}

/// With few slots: nothing that the original cannot do; and all that it can, unless a buffer overflows.
#[test]
fn what_is_missing_is_an_overflow() {
    check("translated with few slots", LOOP_FREE, 20, few_slots);
}

#[test]
fn what_is_missing_is_an_overflow_where_buffers_fill() {
    check_observed("translated with few slots where buffers fill", 40, few_slots);
}

/// What is seen of stores of which all but the newest have gone by: leaving out the last would show.
#[test]
fn only_the_newest_store_is_repeated() {
    let others = "thread B { y = 1; fence; let a = x; let b = x; let c = x; let d = x; }";
    for own in ["x = 1; x = 2; x = 1;", "x = 1; z = 1; x = 1;", "x = 1; fence(store); x = 2; x = 1;"] {
        let text = format!("shared x, y, z: 0..2 = 0; thread A {{ {own} let r = y; }} {others} forbid z == 2 at end;");
        let program = program_of(text).unwrap_or_else(|errors| panic!("{errors}"));
        few_slots_of(&program).unwrap_or_else(|why| panic!("{own}: {why}"));
    }
}

fn few_slots(sample: &Sample) -> Result<(), String> {
    few_slots_of(&without_invariants(sample)?)
}

fn few_slots_of(program: &Program) -> Result<(), String> {
    for ((model, pso_rmw), method) in MODELS.into_iter().flat_map(|it| Method::ALL.map(|method| (it, method))) {
        let Some(expected) = configurations(program, model, Dialect { pso_rmw }, MAX_STATES) else { continue };
        for (bound, repeats) in [(1, Repeats::Kept), (1, Repeats::LeftOut), (2, Repeats::LeftOut)] {
            let few = Request { bound: Some(bound), repeats, ..request(program, model, pso_rmw, method) };
            let translated = translate(&few);
            let found = projected(&translated, program)?;
            let wrong = |why: &str| Err(format!("{model}, {pso_rmw:?}, {method:?}, {bound}, {repeats:?}: {why}"));
            if !found.is_subset(&expected) {
                return wrong("a configuration that the original does not have");
            }
            if found != expected && !overflows(&translated) {
                return wrong("a configuration is missing, and no buffer overflows");
            }
        }
    }
    Ok(())
}

/// A process that stores the same again and again while it waits fills no buffer, unless others write there too.
#[test]
fn repeated_stores_fill_no_buffer() {
    let check = |other: &str, expected: bool| {
        let waits = "shared x, y: 0..1 = 0; thread A { do { x = 1; } while (y == 0); x = 0; }";
        let text = format!("{waits} thread B {{ {other} }} forbid x + y == 3 at end;");
        let program = program_of(text).unwrap_or_else(|errors| panic!("{errors}"));
        for (model, method) in
            [Model::Tso, Model::Pso].into_iter().flat_map(|it| Method::ALL.map(|method| (it, method)))
        {
            let few = Request {
                bound: Some(2),
                repeats: Repeats::LeftOut,
                ..request(&program, model, PsoRmw::Location, method)
            };
            assert_eq!(overflows(&translate(&few)), expected, "{model}, {method:?}: {other}");
        }
    };
    check("y = 1;", false);
    check("y = 1; x = 1;", true);
    check("y = 1; atomic { x = 1; }", true);
}

/// Whether a process can come to where its buffer has overflowed.
fn overflows(translated: &Translated) -> bool {
    let all = configurations(&translated.program, Model::Sc, Dialect::default(), MAX_TRANSLATED);
    let is_over = |control: &Control| matches!(control, Control::At(point) if translated.points[*point].is_none());
    all.is_some_and(|all| all.iter().any(|it| it.0.iter().any(is_over)))
}

/// Verdicts, with flushes only where they are noticed.
#[test]
fn verdicts_are_those_of_the_original() {
    check("translated verdicts", LOOP_FREE, 5, verdicts_agree);
}

#[test]
fn verdicts_are_those_of_the_original_on_tso_races() {
    check_weak("translated verdicts of TSO races", LOOP_FREE, Model::Tso, 10, verdicts_agree);
}

#[test]
fn verdicts_are_those_of_the_original_on_pso_races() {
    check_weak("translated verdicts of PSO races", LOOP_FREE, Model::Pso, 10, verdicts_agree);
}

fn verdicts_agree(sample: &Sample) -> Result<(), String> {
    let program = program(sample)?;
    for (model, pso_rmw) in MODELS {
        let expected = truth(&program, &NO_FENCES, model, Dialect { pso_rmw }, MAX_STATES);
        if expected == Truth::TooLarge {
            continue;
        }
        for method in Method::ALL {
            let request = request(&program, model, pso_rmw, method);
            let translated = translate(&Request { flushes: Flushes::WhereNoticed, ..request });
            let dialect = Dialect::default();
            let found = truth(&translated.program, &NO_FENCES, Model::Sc, dialect, MAX_TRANSLATED);
            if found != expected {
                return Err(format!("{model}, {pso_rmw:?}, {method:?}: {found:?}, but the original is {expected:?}"));
            }
        }
    }
    Ok(())
}

fn compare(expected: &BTreeSet<Configuration>, found: &BTreeSet<Configuration>) -> Result<(), String> {
    match (expected.difference(found).next(), found.difference(expected).next()) {
        (None, None) => Ok(()),
        (Some(missing), _) => Err(format!("missing: {missing:?}")),
        (None, Some(extra)) => Err(format!("not in the original: {extra:?}")),
    }
}

/// What the translated program can reach, in the terms of the original.
fn projected(translated: &Translated, original: &Program) -> Result<BTreeSet<Configuration>, String> {
    let all = configurations(&translated.program, Model::Sc, Dialect::default(), MAX_TRANSLATED);
    let all = all.ok_or("the translated program is too large, or goes wrong inside a step")?;
    Ok(all.into_iter().filter_map(|it| project(translated, original, it)).collect())
}

/// A configuration in the terms of the original; none if a buffer has overflowed.
fn project(translated: &Translated, original: &Program, configuration: Configuration) -> Option<Configuration> {
    let (controls, mut registers, memory) = configuration;
    let controls = controls.into_iter().map(|control| match control {
        Control::At(point) => translated.points[point].map(Control::At),
        Control::Ready(_) | Control::Done(_) => None,
    });
    let controls = controls.collect::<Option<_>>()?;
    for (process, registers) in original.processes().iter().zip(&mut registers) {
        registers.truncate(process.registers.len());
    }
    Some((controls, registers, memory))
}
