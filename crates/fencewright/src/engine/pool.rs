//! Programs that allocate more than there is room for.
//!
//! A program may say that it has room for so many objects only ([`Misuse::PoolExhausted`]). That it needs more is no
//! violation; but nothing is known of what it does then, so it is not safe either. A run that needs more is asked away:
//! what is left is a violation, or known up to there.

use crate::engine::{Answer, Asked, Engine, StopReason, Task, Unsupported, Verdict};
use crate::program::{EdgeId, Misuse, Program};
use crate::system::{Fault, Run, Violation, replay};
use crate::watch::Monitor;

/// Decides whether a bad situation can be reached; that there is too little room is a reason not to know.
///
/// # Errors
/// The engine does not take the task.
pub fn within_pools(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
    let answer = engine.check(task, monitor)?;
    let Verdict::Unsafe(run) = &answer.verdict else { return Ok(answer) };
    let Some(edge) = exhausted(task.program, run) else { return Ok(answer) };
    let program = task.program.with_assumed(&|edge| is_limit(task.program, edge));
    let mut within = engine.check(&Task { program: &program, ..*task }, monitor)?;
    within.verdict = match within.verdict {
        Verdict::Safe => {
            let place = task.program.source().line_name(task.program.edges()[edge].span);
            Verdict::Unknown(StopReason::Pool(place))
        }
        Verdict::Unsafe(run) => {
            match replay(task.program, task.placement, task.model, task.options.dialect, &run.trace) {
                Ok(run) => Verdict::Unsafe(Box::new(run)),
                Err(error) => Verdict::Unknown(StopReason::Defect(error.to_string())),
            }
        }
        Verdict::Unknown(reason) => Verdict::Unknown(reason),
    };
    Ok(within)
}

/// The answer to another question than safety: what holds until there is too little room is not known to hold.
///
/// # Errors
/// The engine does not take the task.
pub fn as_far_as_room(
    engine: &dyn Engine,
    task: &Task<'_>,
    mut asked: Asked,
    monitor: &dyn Monitor,
) -> Result<Asked, Unsupported> {
    let mut limits = task.program.edges().indices().filter(|&edge| is_limit(task.program, edge));
    let (Some(limit), Verdict::Safe) = (limits.next(), &asked.answer.verdict) else { return Ok(asked) };
    let program = task.program.with_properties([]).with_assumed(&|edge| !is_limit(task.program, edge));
    let reason = match engine.check(&Task { program: &program, ..*task }, monitor)?.verdict {
        Verdict::Safe => return Ok(asked),
        Verdict::Unsafe(_) => StopReason::Pool(task.program.source().line_name(task.program.edges()[limit].span)),
        Verdict::Unknown(reason) => reason,
    };
    asked.answer.verdict = Verdict::Unknown(reason);
    Ok(asked)
}

fn is_limit(program: &Program, edge: EdgeId) -> bool {
    program.misuse(edge) == Some(Misuse::PoolExhausted)
}

/// Where a run needs more room than there is, if that is what it shows.
fn exhausted(program: &Program, run: &Run) -> Option<EdgeId> {
    match run.trace.violation {
        Violation::Fault(Fault::Assertion(edge)) => Some(edge).filter(|&edge| is_limit(program, edge)),
        Violation::Fault(_) | Violation::Property(_) => None,
    }
}
