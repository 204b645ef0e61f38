//! What can be asked of a program.

use std::borrow::Cow;

use fencewright::engine::data_race::{RACE, ask_race};
use fencewright::engine::hang::{DEAD_WAIT, HANG, Hang, Others};
use fencewright::engine::robust::{Attacks, ROBUST, ROBUST_TRACE, Robust, RobustTrace, ask_robust, beside_sooner};
use fencewright::engine::{self, Engine, Question as _, SAFETY, Task, Unmade, Unsupported, ask};
use fencewright::program::Program;
use fencewright::watch::Monitor;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Can a bad situation be reached?
    Safety,
    /// Can it hang?
    Hang,
    /// Can a thread wait for ever, though others go on?
    DeadWait,
    /// Do accesses to plain data race?
    Race,
    /// Does it come to the same situations as under sequential consistency?
    Robust,
    /// Has it the same executions?
    RobustTrace,
}

impl Asked {
    /// Every question.
    pub(crate) const ALL: [Self; 6] =
        [Self::Safety, Self::Hang, Self::DeadWait, Self::Race, Self::Robust, Self::RobustTrace];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Safety => SAFETY,
            Self::Hang => HANG,
            Self::DeadWait => DEAD_WAIT,
            Self::Race => RACE,
            Self::Robust => ROBUST,
            Self::RobustTrace => ROBUST_TRACE,
        }
    }

    /// What it asks, in one line.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Safety => "can a bad situation be reached?",
            Self::Hang => Hang::default().about(),
            Self::DeadWait => Hang { others: Others::GoOn, ..Hang::default() }.about(),
            Self::Race => "can two accesses to plain data race?",
            Self::Robust => Robust.about(),
            Self::RobustTrace => RobustTrace.about(),
        }
    }

    /// Asks an engine.
    ///
    /// # Errors
    /// The question makes no sense of the program, or the engine does not take what it comes down to.
    pub(crate) fn answer(
        self,
        engine: &'static dyn Engine,
        task: &Task<'_>,
        monitor: &dyn Monitor,
    ) -> Result<engine::Asked, Unsupported> {
        match self {
            Self::Safety => {
                engine.check(task, monitor).map(|answer| engine::Asked { answer, program: task.program.clone() })
            }
            Self::Hang => ask(engine, &hang(task.program, Others::End), task, monitor),
            Self::DeadWait => ask(engine, &hang(task.program, Others::GoOn), task, monitor),
            Self::Race => ask_race(engine, task, monitor),
            Self::Robust => ask_robust(engine, task, monitor),
            Self::RobustTrace => ask(&Attacks { others: engine }, &RobustTrace, task, monitor),
        }
    }

    /// The program that is to be mended by fences: with the question as its only property.
    ///
    /// # Errors
    /// The question makes no sense of the program, fences do not mend it, or the monitor has had enough.
    pub(crate) fn mended<'a>(
        self,
        engine: &'static dyn Engine,
        task: &Task<'a>,
        monitor: &dyn Monitor,
    ) -> Result<Cow<'a, Program>, Unmade> {
        let reduced = match self {
            Self::Safety => return Ok(Cow::Borrowed(task.program)),
            Self::Hang => hang(task.program, Others::End).reduce(task, monitor)?,
            Self::DeadWait => hang(task.program, Others::GoOn).reduce(task, monitor)?,
            Self::Race => return Err(unmended().into()),
            Self::Robust => {
                let program = task.program.with_properties([]).with_assumed(&|_| true);
                let alone = Task { program: &program, ..*task };
                return beside_sooner(engine, &alone, &[task.model], monitor).map(Cow::Owned);
            }
            Self::RobustTrace => RobustTrace.reduce(task, monitor)?,
        };
        Ok(Cow::Owned(reduced.shown))
    }
}

/// Threads that the program lets wait may wait.
fn hang(program: &Program, others: Others) -> Hang {
    Hang { may_wait: program.no_hang().map_or(Vec::new(), |it| it.except.clone()), others }
}

fn unmended() -> Unsupported {
    let reason = "fences of the machine do not mend a race: it is one whatever the machine does".to_owned();
    Unsupported { reason, help: "“Check” shows which order is too weak".to_owned() }
}
