//! From a path of the search to a replayed run.
//!
//! The search drops store-store markers that hold nothing back, which the semantics removes by a step of its own; those
//! steps are put in here. A run that was found with reductions may take steps it does not need; those are left out.

use crate::engine::{StopReason, Task};
use crate::memory::{Flush, Model, Pso};
use crate::system::{Action, Outcome, Run, Start, Step, System, Trace, Violation, replay};

/// Runs longer than this are not shortened: each attempt replays the whole run.
const MAX_TRIMMED: usize = 200;

/// The run that a path stands for, replayed on the reference semantics.
pub fn replayed(task: &Task<'_>, start: Start, steps: Vec<Step>, violation: Violation) -> Result<Run, StopReason> {
    let steps = match task.model {
        Model::Sc | Model::Tso => steps,
        Model::Pso => with_marker_flushes(task, &start, steps),
    };
    let trace = Trace { start, steps, violation };
    let run = replay_task(task, &trace).map_err(|error| StopReason::Defect(error.to_string()))?;
    Ok(trimmed(task, run))
}

fn replay_task(task: &Task<'_>, trace: &Trace) -> Result<Run, crate::system::ReplayError> {
    replay(task.program, task.placement, task.model, task.options.dialect, trace)
}

/// Lets every marker leave as soon as it can.
fn with_marker_flushes(task: &Task<'_>, start: &Start, steps: Vec<Step>) -> Vec<Step> {
    let system = System::new(task.program, task.placement, Pso { rmw: task.options.dialect.pso_rmw });
    let mut state = system.initial(start);
    let mut out = Vec::with_capacity(steps.len());
    let mut todo = steps.into_iter().rev().collect::<Vec<_>>();
    while let Some(step) = todo.pop() {
        out.push(step);
        let found = system.steps(&state).into_iter().find(|candidate| candidate.0 == step);
        let Some((_, Outcome::Next(next))) = found else { break };
        state = next;
        let flush = Step { process: step.process, action: Action::Flush(Flush::Marker) };
        if system.steps(&state).iter().any(|candidate| candidate.0 == flush) {
            todo.push(flush);
        }
    }
    out.extend(todo.into_iter().rev());
    out
}

/// The run without the steps that it does not need, tried from the end.
fn trimmed(task: &Task<'_>, run: Run) -> Run {
    let mut best = run;
    if best.trace.steps.len() > MAX_TRIMMED {
        return best;
    }
    for i in (0..best.trace.steps.len()).rev() {
        let mut shorter = best.trace.clone();
        shorter.steps.remove(i);
        if let Ok(run) = replay_task(task, &shorter) {
            best = run;
        }
    }
    best
}
