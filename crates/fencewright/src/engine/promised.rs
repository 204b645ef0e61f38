//! Release/acquire in a language: a program whose accesses are all acquire and release, with seq_cst fences beside
//! them, means the same under a model of messages, where a search decides loops that store without end.
//!
//! Both models list what an access may do by the modification order of its location, so a run of one is a run of the
//! other, step by step; it is replayed on the language all the same.

use crate::engine::backward::potential::Potential;
use crate::engine::run::confirmed;
use crate::engine::{Answer, Card, Engine, Task, Unsupported, Verdict};
use crate::memory::is_release_acquire;
use crate::watch::Monitor;

/// Asks about messages what is asked about a language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promised;

impl Engine for Promised {
    fn card(&self) -> &'static Card {
        Potential.card()
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        Potential.takes(&of_messages(task)?)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let mut answer = Potential.check(&of_messages(task)?, monitor)?;
        if let Verdict::Unsafe(run) = &answer.verdict {
            answer.verdict = match confirmed(task, &run.trace) {
                Ok(run) => Verdict::Unsafe(Box::new(run)),
                Err(reason) => Verdict::Unknown(reason),
            };
        }
        Ok(answer)
    }
}

fn of_messages<'a>(task: &Task<'a>) -> Result<Task<'a>, Unsupported> {
    let refused = |reason: String| Unsupported { reason, help: "use `--engine auto`".to_owned() };
    let of_messages = task.model.of_messages();
    let model = of_messages.ok_or_else(|| refused(format!("{} has no part that is about messages", task.model)))?;
    // What other accesses may do is listed in other ways.
    if !is_release_acquire(task.program) {
        return Err(refused("accesses are not all release and acquire".to_owned()));
    }
    Ok(Task { model, ..*task })
}
