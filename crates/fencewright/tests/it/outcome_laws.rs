//! The outcomes of random programs are those that an exhaustive search of the reference semantics comes to, whoever
//! lists them; and those of a model are outcomes of every weaker one.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test --release -p fencewright --test it outcome_laws::` tries more.

use std::collections::BTreeSet;

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, Outcomes, Task, Verdict, outcomes, witness};
use fencewright::memory::{Dialect, Model};
use fencewright::program::{Program, StateVar, Value};
use fencewright::report::shown;
use fencewright::util::Idx;
use fencewright::watch::{Budget, Unlimited};

use crate::common::expectation::{examples, root};
use crate::common::law::{MAX_STATES, MODELS, check, check_weak, is_taken, is_thorough, of_many, program, program_of};
use crate::common::oracle::{Final, finals};
use crate::common::random::{Sample, Shape};

/// All that can be seen of a final state.
fn all_of(program: &Program) -> Vec<StateVar> {
    let processes = program.processes().iter_enumerated();
    let registers = processes.flat_map(|(id, it)| it.registers.indices().map(move |r| StateVar::Register(id, r)));
    registers.chain(program.locations().indices().map(StateVar::Memory)).collect()
}

/// What the oracle says of these variables.
fn projected(finals: &BTreeSet<Final>, shown: &[StateVar]) -> BTreeSet<Vec<Value>> {
    let value = |(registers, memory): &Final, variable: &StateVar| match variable {
        StateVar::Register(process, register) => registers[process.index()][register.index()],
        StateVar::Memory(x) => memory[x.index()],
    };
    finals.iter().map(|it| shown.iter().map(|variable| value(it, variable)).collect()).collect()
}

fn listed(engine: &dyn Engine, task: &Task<'_>, shown: &[StateVar]) -> Result<Outcomes, String> {
    outcomes(engine, task, shown, &Unlimited).map_err(|it| format!("{} under {}: {it}", engine.name(), task.model))
}

/// All outcomes, or why they are not all.
fn complete(engine: &dyn Engine, task: &Task<'_>, shown: &[StateVar]) -> Result<BTreeSet<Vec<Value>>, String> {
    let found = listed(engine, task, shown)?;
    match found.stopped {
        None => Ok(found.values),
        Some(reason) => Err(format!("{} under {}: {reason}", engine.name(), task.model)),
    }
}

fn same(what: &str, found: &BTreeSet<Vec<Value>>, expected: &BTreeSet<Vec<Value>>) -> Result<(), String> {
    let missing: Vec<_> = expected.difference(found).collect();
    let invented: Vec<_> = found.difference(expected).collect();
    match missing.is_empty() && invented.is_empty() {
        true => Ok(()),
        false => Err(format!("{what}: missing {missing:?}, invented {invented:?}")),
    }
}

/// The outcomes under all models are those of the semantics; of all that there is, and of a part.
fn agrees(sample: &Sample) -> Result<(), String> {
    let program = program(sample)?;
    let all = all_of(&program);
    let part: Vec<StateVar> = all.iter().copied().step_by(2).collect();
    for (i, (model, pso_rmw)) in MODELS.into_iter().enumerate() {
        let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
        let Some(expected) = finals(&program, model, options.dialect, MAX_STATES) else { continue };
        let task = Task::new(&program, model, &options);
        for shown in [&all, &part] {
            same(&model.to_string(), &complete(&Auto, &task, shown)?, &projected(&expected, shown))?;
        }
        // Asked for one after the other it takes as many searches as outcomes.
        if expected.len() <= 12 && is_taken(i) {
            let found = complete(&LoadBuffer, &task, &part)?;
            same(&format!("load-buffer, {model}"), &found, &projected(&expected, &part))?;
        }
    }
    Ok(())
}

#[test]
fn outcomes_are_those_of_the_semantics() {
    check("outcomes", Shape { max_ops: 4, has_loops: false }, 1, agrees);
}

#[test]
fn outcomes_of_programs_that_tell_models_apart_are_those_of_the_semantics() {
    for model in [Model::Tso, Model::Pso] {
        check_weak("weak outcomes", Shape { max_ops: 4, has_loops: false }, model, 4, agrees);
    }
}

#[test]
fn outcomes_of_loops_are_those_of_the_semantics() {
    check("outcomes of loops", Shape { max_ops: 4, has_loops: true }, 2, agrees);
}

/// Loops that fill buffers without bound: the list comes to its end all the same, and two ways to it agree.
#[test]
fn outcomes_of_loops_that_fill_buffers_are_complete() {
    let n_grown = std::cell::Cell::new(0);
    check("outcomes of growing buffers", Shape { max_ops: 3, has_loops: true }, 4, |sample| {
        let text = sample.text();
        let grown = text.replace(" fence; }", " }");
        if grown == text {
            return Ok(());
        }
        let program = program_of(grown)?;
        let shown = all_of(&program);
        let options = Options::default();
        let mut stronger = BTreeSet::new();
        for model in Model::ALL {
            let task = Task::new(&program, model, &options);
            let found = complete(&Auto, &task, &shown)?;
            if found.len() <= 12 {
                same(&format!("load-buffer, {model}"), &complete(&LoadBuffer, &task, &shown)?, &found)?;
            }
            if !found.is_superset(&stronger) {
                return Err(format!("{model} lacks outcomes of a stronger model"));
            }
            stronger = found;
            n_grown.set(n_grown.get() + 1);
        }
        Ok(())
    });
    of_many(n_grown.get() > 0, "some programs have loops that store");
}

/// Every outcome has a run that ends so, and what is no outcome has none.
#[test]
fn outcomes_have_witnesses() {
    check("witnesses", Shape { max_ops: 3, has_loops: false }, 6, |sample| {
        let program = program(sample)?;
        let shown = all_of(&program);
        let options = Options::default();
        let ask = |model, values: &[Value]| {
            let wanted: Vec<_> = shown.iter().copied().zip(values.iter().copied()).collect();
            let asked = witness(&Auto, &Task::new(&program, model, &options), &wanted, &Unlimited);
            asked.map(|it| it.answer.verdict).map_err(|it| it.to_string())
        };
        let sc = complete(&Auto, &Task::new(&program, Model::Sc, &options), &shown)?;
        let pso = complete(&Auto, &Task::new(&program, Model::Pso, &options), &shown)?;
        for values in pso.iter().take(8) {
            if !matches!(ask(Model::Pso, values)?, Verdict::Unsafe(_)) {
                return Err(format!("no run ends with {values:?} under PSO"));
            }
            match (ask(Model::Sc, values)?, sc.contains(values)) {
                (Verdict::Unsafe(_), true) | (Verdict::Safe, false) => {}
                (verdict, _) => return Err(format!("under SC, {values:?}: {verdict:?}")),
            }
        }
        Ok(())
    });
}

/// Under SC, TSO and PSO the outcomes of an example are nested as the models are, and all are listed where threads end.
#[test]
fn outcomes_of_examples_are_nested() {
    let root = root();
    let patience = Budget { monitor: &Unlimited, max: if is_thorough() { 20_000 } else { 2_000 } };
    let mut n_listed = 0;
    for (i, path) in examples(&root).iter().enumerate() {
        let text = std::fs::read_to_string(path).expect("an example can be read");
        let name = path.strip_prefix(&root).expect("an example is in the project").display().to_string();
        let program = fencewright::parse(&name, &text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        // There may be no end of outcomes where data is unbounded.
        let is_quick = is_thorough() || (is_taken(i) && !program.has_unbounded_data());
        if !may_end(&program) || !(name.contains("litmus") || is_quick) {
            continue;
        }
        let shown: Vec<StateVar> = shown(&program, None).into_iter().map(|it| it.variable).collect();
        let options = Options::default();
        let mut stronger: Option<Outcomes> = None;
        for model in Model::ALL {
            let found = outcomes(&Auto, &Task::new(&program, model, &options), &shown, &patience);
            let Ok(found) = found else { break };
            if let Some(stronger) = stronger.filter(|_| found.stopped.is_none()) {
                assert!(found.values.is_superset(&stronger.values), "{name} under {model}");
            }
            if name.contains("litmus") {
                assert_eq!(found.stopped, None, "{name} under {model}");
                assert!(!found.values.is_empty(), "{name} under {model}");
            }
            n_listed += usize::from(found.stopped.is_none());
            stronger = Some(found);
        }
    }
    assert!(n_listed > 300, "{n_listed}");
}

/// Whether each process has an end.
fn may_end(program: &Program) -> bool {
    let has_end = |process| program.points().iter().any(|it| it.process == process && it.is_end);
    program.processes().indices().all(has_end)
}
