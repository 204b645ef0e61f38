//! Questions beside safety, as questions of safety about another program.
//!
//! ```text
//!   question about P ──reduce──▶ is P' safe? ──engine──▶ safe, unknown: the answer
//!                                                 ╰────▶ a run of P' ──back──▶  a run of P that shows it
//! ```
//!
//! Engines know one question only: can a bad situation be reached? Whoever asks another one says which program to ask
//! that of, and how to tell the run that comes back. So a question needs no engine, and an engine no question.

use crate::engine::{Answer, Engine, StopReason, Task, Unmade, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::{Instance, Placement, Program};
use crate::system::{Fault, ReplayError, Run, Trace, Violation, replay};
use crate::watch::Monitor;

/// The name of the question that engines answer.
pub const SAFETY: &str = "safety";

/// A question about programs.
pub trait Question: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// What it asks, in one line.
    fn about(&self) -> &'static str;

    /// The question of safety that answers it.
    ///
    /// # Errors
    /// It makes no sense of the program, or the monitor has had enough.
    fn reduce(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Reduced, Unmade>;
}

/// A question of safety that stands for another question.
pub struct Reduced {
    /// The program to ask about; its properties and faults are what is asked.
    pub program: Program,
    /// The fences over it.
    pub placement: Placement,
    /// Under which model.
    pub model: Model,
    /// The program whose runs are shown, with the question as a property.
    pub shown: Program,
    /// A bad run of `program` as one of `shown`, under the model of the task.
    pub back: fn(Trace) -> Trace,
}

impl Reduced {
    /// For a question that is about other properties of the same program and nothing else.
    pub fn to_properties(task: &Task<'_>, program: Program) -> Self {
        let shown = program.clone();
        Self { program, placement: task.placement.clone(), model: task.model, shown, back: |trace| trace }
    }
}

/// An answer, and the program that its run is of.
pub struct Asked {
    /// The answer.
    pub answer: Answer,
    /// The program, with the question as a property.
    pub program: Program,
}

/// A run that ends in a fault answers no question but safety.
fn goes_wrong(task: &Task<'_>, fault: Fault) -> Unsupported {
    let line = task.program.source().line_name(task.program.edges()[fault.edge()].span);
    let reason = format!("a run goes wrong before that can be said ({line})");
    Unsupported { reason, help: "ask for safety first: `--ask safety` shows the run".to_owned() }
}

/// Asks an engine a question other than safety.
///
/// # Errors
/// The question makes no sense of the program, or the engine does not take what it comes down to.
pub fn ask(
    engine: &dyn Engine,
    question: &dyn Question,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<Asked, Unsupported> {
    match question.reduce(task, monitor) {
        Ok(reduced) => ask_reduced(engine, reduced, task, monitor),
        Err(unmade) => Ok(Asked { answer: unmade.answered(engine.name())?, program: task.program.clone() }),
    }
}

/// Asks an engine what a question comes down to.
pub(super) fn ask_reduced(
    engine: &dyn Engine,
    reduced: Reduced,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<Asked, Unsupported> {
    let Reduced { program, placement, model, shown, back } = reduced;
    let reduced = Task { program: &program, placement: &placement, model, options: task.options };
    let mut answer = engine.check(&reduced, monitor)?;
    if let Verdict::Unsafe(run) = answer.verdict {
        if let Violation::Fault(fault) = run.trace.violation {
            return Err(goes_wrong(task, fault));
        }
        answer.verdict = match shown_by(&shown, task, run.instance.as_deref(), &back(run.trace)) {
            Ok(run) => Verdict::Unsafe(Box::new(run)),
            Err(error) => Verdict::Unknown(StopReason::Defect(error.to_string())),
        };
    }
    Ok(Asked { answer, program: shown })
}

/// The run of a trace; of an instance, where the trace is one of so many copies.
fn shown_by(shown: &Program, task: &Task<'_>, made: Option<&Instance>, trace: &Trace) -> Result<Run, ReplayError> {
    let dialect = task.options.dialect;
    let Some(made) = made else { return replay(shown, task.placement, task.model, dialect, trace) };
    let instance = shown.instance(&made.copies).or_fewer(made.fewer_might_do);
    let placement = instance.placement(task.placement);
    let run = replay(&instance.program, &placement, task.model, dialect, trace)?;
    Ok(run.of_instance(instance))
}
