//! Certificates of the absence of races: the states under SC with who knows of which access, and a proof that under the
//! model no two accesses come at once.

use crate::certificate::{Certificate, Claim, Proof, Question, digest, explore_ordered};
use crate::engine::data_race::ask_race;
use crate::engine::{Asked, Engine, StopReason, Task, Unsupported, Verdict};
use crate::program::Program;
use crate::watch::Monitor;

use super::{Proved, Scaled, certificate, language, proof, reason};

/// Asks an engine whether accesses to plain data race, and puts down why they do not. A race is shown by its run alone;
/// where a language promises nothing of it, by its execution graph.
/// The program is that of the run, with the question as a property.
///
/// # Errors
/// The question makes no sense of the program, the number of threads is left open, or the engine does not take what it
/// comes down to.
pub fn certify_race(
    engine: &dyn Engine,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<(Proved, Program), Unsupported> {
    task.is_closed()?;
    let Asked { answer, program } = ask_race(engine, task, monitor)?;
    if task.model.language().is_some() {
        return Ok((language::proved(task, answer, Question::Race(0), monitor), program));
    }
    let proved = match &answer.verdict {
        Verdict::Unsafe(_) | Verdict::Unknown(_) => Proved { answer, certificate: None },
        Verdict::Safe => {
            let why = why(task, answer.engine, monitor);
            Proved::of(answer, why)
        }
    };
    Ok((proved, program))
}

/// Why there is no race; the checker accepts it.
fn why(task: &Task<'_>, engine: &str, monitor: &dyn Monitor) -> Result<Certificate, StopReason> {
    // Under release/acquire a race is two accesses at once, and nothing else.
    let n_states = match task.model.messaging() {
        Some(_) => Ok(0),
        None => explore_ordered(task.program, &Scaled(monitor)),
    };
    let n_states = n_states.map_err(|failure| reason(failure, StopReason::Unproved))?;
    let question = Question::Race(n_states);
    let asked = question.of(task.program, monitor).map_err(|failure| reason(failure, StopReason::Unproved))?;
    let asked = Task { program: &asked, ..*task };
    let why = match task.program.plain().is_empty() {
        true => Proof::NO_PLAIN_DATA,
        false => proof(&asked, engine, monitor)?,
    };
    let mut found = certificate(&asked, Claim::Safe(task.placement.clone(), why));
    found.subject.question = question;
    // It is about the program; what is asked of it is made anew.
    found.subject.program = digest(task.program);
    Ok(found)
}
