//! Certificates of robustness: the states in which an attack may be under way; or, of control and registers, a proof
//! that what the checker finds to be new is not reached.

use crate::certificate::{Certificate, Claim, Proof, Question, Witness, digest, explore_attacks};
use crate::engine::robust::{Attacks, RobustTrace, ask_robust};
use crate::engine::{Asked, Engine, StopReason, Task, Unsupported, Verdict, ask};
use crate::program::{Program, PropertyId};
use crate::system::{Run, Trace, Violation};
use crate::util::Idx;
use crate::watch::Monitor;

use super::{Proved, Scaled, certificate, checked, language, proof, reason, witness};

/// Asks whether every execution is one of sequential consistency, and puts down why. The program is that of the run,
/// with the question as a property.
///
/// # Errors
/// The question makes no sense of the program.
pub fn certify_robust_trace(
    engine: &'static dyn Engine,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<(Proved, Program), Unsupported> {
    let Asked { answer, program } = ask(&Attacks { others: engine }, &RobustTrace, task, monitor)?;
    if task.model.language().is_some() {
        return Ok((language::proved(task, answer, Question::RobustTrace, monitor), program));
    }
    let why = match &answer.verdict {
        Verdict::Safe => attacks(task, monitor).map(|it| safe(task, Question::RobustTrace, it)),
        Verdict::Unsafe(run) => shown(task, Question::RobustTrace, run, monitor),
        Verdict::Unknown(_) => return Ok((Proved { answer, certificate: None }, program)),
    };
    Ok((Proved::of(answer, why), program))
}

/// Asks whether a program comes to nothing, by control and registers, that sequential consistency does not come to, and
/// puts down why. The program is that of the run, with the question as a property.
///
/// # Errors
/// The question makes no sense of the program, or the engine does not take what it comes down to.
pub fn certify_robust(
    engine: &'static dyn Engine,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<(Proved, Program), Unsupported> {
    let Asked { answer, program } = ask_robust(engine, task, monitor)?;
    let why = match &answer.verdict {
        Verdict::Safe => why(task, answer.engine, monitor).map(|it| safe(task, Question::Robust, it)),
        Verdict::Unsafe(run) => shown(task, Question::Robust, run, monitor),
        Verdict::Unknown(_) => return Ok((Proved { answer, certificate: None }, program)),
    };
    Ok((Proved::of(answer, why), program))
}

fn attacks(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let found = explore_attacks(task.program, task.placement, task.model, task.options.dialect, &Scaled(monitor));
    found.map(Proof::Attacks).map_err(|failure| reason(failure, StopReason::Unproved))
}

/// Why nothing new is reached: there is no attack, if that is what was found; otherwise it is not reached.
fn why(task: &Task<'_>, engine: &str, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    match engine == Attacks::NAME {
        true => attacks(task, monitor),
        false => {
            let asked = Question::Robust.of(task.program, monitor);
            let asked = asked.map_err(|failure| reason(failure, StopReason::Unproved))?;
            proof(&Task { program: &asked, ..*task }, engine, monitor)
        }
    }
}

fn safe(task: &Task<'_>, question: Question, proof: Proof) -> Certificate {
    let mut found = certificate(task, Claim::Safe(task.placement.clone(), proof));
    found.subject.question = question;
    found
}

/// A run as a certificate: the shortest part of it that shows what is asked, as the checker sees it.
fn shown(task: &Task<'_>, question: Question, run: &Run, monitor: &dyn Monitor) -> Result<Certificate, StopReason> {
    let asked = question.of(task.program, monitor).map_err(|failure| reason(failure, StopReason::Unproved))?;
    let asked = Task { program: &asked, ..*task };
    let violation = Violation::Property(PropertyId::from_usize(0));
    let all = run.trace.steps.len();
    let mut last = StopReason::Unproved("the run shows nothing".to_owned());
    for n_steps in 0..=all {
        let steps = run.trace.steps[..n_steps].to_vec();
        let trace = Trace { start: run.trace.start.clone(), steps, violation };
        let shown = Witness { trace, ..witness(run) };
        match checked(&asked, Claim::Unsafe(task.placement.clone(), shown), monitor) {
            Ok(mut found) => {
                found.subject.question = question;
                // It is about the program; what is asked of it is made anew.
                found.subject.program = digest(task.program);
                return Ok(found);
            }
            Err(why) => last = why,
        }
    }
    Err(last)
}
