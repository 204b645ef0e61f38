//! Certificates of hangs. The engine finds the bad situations in its way; the proof is about those that the checker
//! finds from the definition.

use crate::certificate::{Certificate, Claim, Question, digest};
use crate::engine::hang::{Hang, Others};
use crate::engine::{Answer, Asked, Engine, StopReason, Task, Unsupported, Verdict, ask};
use crate::program::Program;
use crate::watch::Monitor;

use super::{Proved, certificate, checked, proof, reason, witness};

/// Asks an engine whether a program hangs, and puts down why; a hang with unbounded data may be shown by its run alone.
/// The program is that of the run, with the question as a property.
///
/// # Errors
/// The question makes no sense of the program, or the engine does not take what it comes down to.
pub fn certify_hang(
    engine: &dyn Engine,
    hang: &Hang,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<(Proved, Program), Unsupported> {
    if hang.others == Others::GoOn {
        let reason = "certificates are not about dead waits".to_owned();
        return Err(Unsupported { reason, help: "ask for hangs".to_owned() });
    }
    let Asked { answer, program } = ask(engine, hang, task, monitor)?;
    let certificate = match &answer.verdict {
        Verdict::Unknown(_) => return Ok((Proved { answer, certificate: None }, program)),
        Verdict::Safe | Verdict::Unsafe(_) => why(hang, task, &answer, monitor),
    };
    let proved = match certificate {
        Ok(certificate) => Proved { answer, certificate },
        Err(reason) => Proved { answer: Answer { verdict: Verdict::Unknown(reason), ..answer }, certificate: None },
    };
    Ok((proved, program))
}

/// Why a verdict is right; the checker accepts it. `None` for a hang that only its run shows.
fn why(
    hang: &Hang,
    task: &Task<'_>,
    answer: &Answer,
    monitor: &dyn Monitor,
) -> Result<Option<Certificate>, StopReason> {
    let packed = |(thread, label): &(String, String)| (thread.split_whitespace().collect(), label.clone());
    let question = Question::Hang(hang.may_wait.iter().map(packed).collect());
    if matches!(answer.verdict, Verdict::Unsafe(_)) && !question.is_exact(task.program, monitor) {
        return Ok(None);
    }
    let asked = question.of(task.program, monitor).map_err(|failure| reason(failure, StopReason::Unproved))?;
    let asked = Task { program: &asked, ..*task };
    let placement = task.placement.clone();
    let mut found = match &answer.verdict {
        Verdict::Unsafe(run) => checked(&asked, Claim::Unsafe(placement, witness(run)), monitor)?,
        Verdict::Safe | Verdict::Unknown(_) => {
            certificate(&asked, Claim::Safe(placement, proof(&asked, answer.engine, monitor)?))
        }
    };
    found.subject.question = question;
    // It is about the program; what is asked of it is made anew.
    found.subject.program = digest(task.program);
    Ok(Some(found))
}
