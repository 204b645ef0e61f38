//! State robustness that is settled by looking for attacks.
//!
//! A program that is robust by traces is robust by states: a run of the model, with all that is buffered let out, has
//! the execution graph of a run of sequential consistency, in which every thread finds the same values, and so comes to
//! the same place with the same registers. Looking for attacks takes a search of sequential consistency and little
//! more, while the question of states takes that search and an engine's. So that is looked for first, where nobody has
//! chosen an engine.
//!
//! An attack settles nothing by itself, since its run may come to nothing new. But where all that is new takes long to
//! list, the last places that it comes to are held against sequential consistency first.

use crate::engine::look::glance;
use crate::engine::question::ask_reduced;
use crate::engine::{Answer, Asked, Engine, Question, Stats, Task, Unmade, Unsupported, Verdict, ask};
use crate::memory::Model;
use crate::program::{BinaryOp, Expr, Program, PropertyId, Situation, StateVar};
use crate::system::{Action, Run, Trace, Violation, replay};
use crate::util::Idx;
use crate::watch::{Budget, Monitor, Stop};

use super::{Attacks, Robust, RobustTrace, alone};

/// So many states are looked at for attacks, and to hold one against sequential consistency.
const MAX_STATES: u64 = 500_000;

/// Where sequential consistency has more states than this, an attack is looked at before all that is new.
const FEW_STATES: u64 = 500;

/// So many places of an attack are looked at.
const MAX_PLACES: usize = 6;

/// Asks whether a program is robust by states.
///
/// # Errors
/// The question makes no sense of the program, or the engine does not take what it comes down to.
pub fn ask_robust(engine: &'static dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Asked, Unsupported> {
    task.is_closed()?;
    if !engine.card().asks_others {
        return ask(engine, &Robust, task, monitor);
    }
    let budget = Budget { monitor, max: MAX_STATES };
    let attacked = ask(&Attacks { others: engine }, &RobustTrace, task, &budget).ok().map(|it| it.answer);
    let run = match attacked {
        Some(answer @ Answer { verdict: Verdict::Safe, .. }) => {
            return Ok(Asked { answer, program: forbidding(task.program, Vec::new()) });
        }
        Some(Answer { verdict: Verdict::Unsafe(run), .. }) => Some(run),
        Some(Answer { verdict: Verdict::Unknown(_), .. }) | None => None,
    };
    match Robust.reduce(task, &Budget { monitor, max: FEW_STATES }) {
        Ok(reduced) => return ask_reduced(engine, reduced, task, monitor),
        Err(Unmade::Unsupported(refusal)) => return Err(refusal),
        Err(Unmade::Stopped(Stop::Spent(_))) => {}
        Err(stopped @ Unmade::Stopped(_)) => {
            return Ok(Asked { answer: stopped.answered(engine.name())?, program: task.program.clone() });
        }
    }
    match run.and_then(|run| comes_to_new(task, &run, monitor)) {
        Some(asked) => Ok(asked),
        None => ask(engine, &Robust, task, monitor),
    }
}

/// The program with the question beside its own properties, for these models. Where nobody has chosen an engine and
/// under none of them an attack is possible, nothing new is reached, and nothing is listed.
///
/// # Errors
/// It makes no sense of the program, or the monitor has had enough.
pub fn beside_sooner(
    engine: &'static dyn Engine,
    task: &Task<'_>,
    models: &[Model],
    monitor: &dyn Monitor,
) -> Result<Program, Unmade> {
    let budget = Budget { monitor, max: MAX_STATES };
    let has_no_attack = |model: &Model| {
        let task = Task { model: *model, ..*task };
        let asked = ask(&Attacks { others: engine }, &RobustTrace, &task, &budget);
        asked.is_ok_and(|it| matches!(it.answer.verdict, Verdict::Safe))
    };
    match engine.card().asks_others && models.iter().all(has_no_attack) {
        true => {
            let own = task.program.properties().iter().cloned();
            Ok(task.program.with_properties(own.chain([Robust::forbidding(Vec::new())])))
        }
        false => Robust::beside(task, monitor),
    }
}

fn forbidding(program: &Program, situations: Vec<Situation>) -> Program {
    alone(program).with_properties([Robust::forbidding(situations)])
}

/// The run of an attack up to something new, if one of the last places it comes to is.
fn comes_to_new(task: &Task<'_>, run: &Run, monitor: &dyn Monitor) -> Option<Asked> {
    let mut places = places(task.program, run);
    while !places.is_empty() {
        let program = forbidding(task.program, places.iter().map(|it| it.1.clone()).collect());
        let plain = Task::new(&program, Model::STRONGEST, task.options);
        match glance(&plain, MAX_STATES, monitor)? {
            Verdict::Unsafe(known) => places.remove(known.situation?),
            // All that are left are new.
            Verdict::Safe => {
                let (n_steps, place) = places.swap_remove(0);
                return shown(task, run, n_steps, place);
            }
            Verdict::Unknown(_) => return None,
        };
    }
    None
}

/// The last places that a run comes to, each with the number of its steps, the last first.
fn places(program: &Program, run: &Run) -> Vec<(usize, Situation)> {
    let mut points: Vec<_> = program.processes().iter().map(|it| it.entry).collect();
    let mut places = Vec::new();
    for (number, (step, event)) in run.trace.steps.iter().zip(&run.events).enumerate() {
        if let Action::Edge { edge, .. } = step.action {
            points[step.process.index()] = program.edges()[edge].to;
            let at = program.processes().indices().zip(points.iter().map(|&point| vec![point])).collect();
            let registers = program.processes().iter_enumerated().flat_map(|(process, it)| {
                let of_text = it.registers.iter_enumerated().filter(|(_, register)| !register.name.starts_with('$'));
                of_text.map(move |(register, _)| (process, register))
            });
            let equals = registers.map(|(process, register)| {
                let value = event.registers[process][register.index()];
                Expr::binary(BinaryOp::Eq, Expr::Var(StateVar::Register(process, register)), Expr::Const(value))
            });
            let condition = equals.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or(Expr::TRUE);
            places.push((number + 1, Situation { at, condition }));
        }
    }
    places.into_iter().rev().take(MAX_PLACES).collect()
}

/// A run up to a place, as an answer.
fn shown(task: &Task<'_>, run: &Run, n_steps: usize, place: Situation) -> Option<Asked> {
    let program = forbidding(task.program, vec![place]);
    let steps = run.trace.steps[..n_steps].to_vec();
    let trace =
        Trace { start: run.trace.start.clone(), steps, violation: Violation::Property(PropertyId::from_usize(0)) };
    let run = replay(&program, task.placement, task.model, task.options.dialect, &trace).ok()?;
    let answer = Answer { engine: Attacks::NAME, verdict: Verdict::Unsafe(Box::new(run)), stats: Stats::default() };
    Some(Asked { answer, program })
}
