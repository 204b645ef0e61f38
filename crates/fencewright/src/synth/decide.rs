//! Whether a set of fences is correct: safe under every model asked.
//!
//! With several models a set is correct if it is under each of them, so the clauses of all their bad runs count, and
//! what the loop calls minimal is minimal for all of them together.

use super::{Choice, Search, ends_all};
use crate::engine::portfolio::Auto;
use crate::engine::{Answer, Engine, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::system::Run;

impl Search<'_> {
    /// A bad run that needs no reordering, if there is one. An engine for weak models leaves this to others, and one
    /// that cannot tell does not keep us from trying.
    pub(super) fn run_under_sc(&mut self) -> Option<Box<Run>> {
        let task = Task { model: Model::STRONGEST, ..*self.task };
        let answer = self.ask(&task).or_else(|_| Auto.check(&task, self.monitor)).ok()?;
        match answer.verdict {
            Verdict::Unsafe(run) => Some(run),
            Verdict::Safe | Verdict::Unknown(_) => None,
        }
    }

    /// Whether a set is correct: safe under every model. A bad run counts whatever could not be decided elsewhere.
    pub(super) fn decide(&mut self, fences: &Choice) -> Result<Verdict, Unsupported> {
        let mut verdict = Verdict::Safe;
        for &model in self.models {
            match self.decide_under(fences, model)? {
                Verdict::Safe => {}
                Verdict::Unsafe(run) => return Ok(Verdict::Unsafe(run)),
                Verdict::Unknown(reason) if ends_all(&reason) => return Ok(Verdict::Unknown(reason)),
                Verdict::Unknown(reason) => verdict = Verdict::Unknown(reason),
            }
        }
        Ok(verdict)
    }

    /// What the engine says of a set, or the exact engines where an abstraction of the buffers does not know.
    fn decide_under(&mut self, fences: &Choice, model: Model) -> Result<Verdict, Unsupported> {
        match self.check(fences, model)? {
            Verdict::Unknown(reason) if self.infers && !ends_all(&reason) => self.check_by(&Auto, fences, model),
            verdict @ (Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_)) => Ok(verdict),
        }
    }

    /// What the engine says of a set under a model.
    pub(super) fn check(&mut self, fences: &Choice, model: Model) -> Result<Verdict, Unsupported> {
        self.check_by(self.engine, fences, model)
    }

    fn check_by(&mut self, engine: &dyn Engine, fences: &Choice, model: Model) -> Result<Verdict, Unsupported> {
        let placement = fences.lay_over(self.request.candidates, self.task.placement);
        Ok(self.ask_by(engine, &Task { placement: &placement, model, ..*self.task })?.verdict)
    }

    fn ask(&mut self, task: &Task<'_>) -> Result<Answer, Unsupported> {
        self.ask_by(self.engine, task)
    }

    fn ask_by(&mut self, engine: &dyn Engine, task: &Task<'_>) -> Result<Answer, Unsupported> {
        let answer = engine.check(task, self.monitor)?;
        self.checks += 1;
        self.explored += answer.stats.explored;
        self.answered = answer.engine;
        Ok(answer)
    }
}
