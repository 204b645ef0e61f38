//! Certificates of what a language promises: how many states there are under sequential consistency with what each
//! thread may still read beside it; or an execution graph, as a run that makes it.

use crate::certificate::{Certificate, Claim, Failure, Proof, Question, Shows, explore_views, verify};
use crate::engine::data_race::{ask_safety, beside_race};
use crate::engine::{Answer, Engine, StopReason, Task, Unsupported, Verdict};
use crate::program::Program;
use crate::system::Run;
use crate::watch::Monitor;

use super::{Proved, Scaled, certificate, reason, witness};

/// Asks whether anything bad is in an execution, a race included, and puts down why. The program is that of the run,
/// with races as a property.
///
/// # Errors
/// The engine does not take the task.
pub fn certify_language(
    engine: &dyn Engine,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<(Proved, Program), Unsupported> {
    task.is_closed()?;
    let answer = ask_safety(engine, task, monitor)?;
    let program = beside_race(task.program, task.model).unwrap_or_else(|| task.program.clone());
    Ok((proved(task, answer, Question::Safety, monitor), program))
}

/// An answer with its reasons, if it is known.
pub(super) fn proved(task: &Task<'_>, answer: Answer, question: Question, monitor: &dyn Monitor) -> Proved {
    let why = match &answer.verdict {
        Verdict::Safe => views(task, question, monitor),
        Verdict::Unsafe(run) => shown(task, question, run, monitor),
        Verdict::Unknown(_) => return Proved { answer, certificate: None },
    };
    Proved::of(answer, why)
}

/// Why nothing that is asked about is in any execution; the checker accepts it.
fn views(task: &Task<'_>, question: Question, monitor: &dyn Monitor) -> Result<Certificate, StopReason> {
    let unproved = |failure: Failure| reason(failure, StopReason::Unproved);
    let Some(language) = task.model.language() else {
        return Err(StopReason::Unproved(format!("{} is a machine", task.model)));
    };
    let shows = Shows::of(&question).map_err(unproved)?;
    let found = explore_views((task.program, task.placement), language, shows, &Scaled(monitor));
    let n_states = found.map_err(unproved)?;
    let mut found = certificate(task, Claim::Safe(task.placement.clone(), Proof::Views(n_states)));
    found.subject.question = question;
    Ok(found)
}

/// A run as a certificate that the checker accepts.
fn shown(task: &Task<'_>, question: Question, run: &Run, monitor: &dyn Monitor) -> Result<Certificate, StopReason> {
    let mut found = certificate(task, Claim::Unsafe(task.placement.clone(), witness(run)));
    found.subject.question = question;
    match verify(task.program, &found, &Scaled(monitor)) {
        Ok(()) => Ok(found),
        Err(failure) => Err(reason(failure, StopReason::Defect)),
    }
}
