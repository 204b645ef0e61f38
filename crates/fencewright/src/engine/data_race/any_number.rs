//! Races of any number of threads: those of some number of them.
//!
//! An access that is followed for ever is one thread's, and what others know of it are bits of their own
//! ([`super::knowledge`]). So the watched program has the same threads, of which there is any number, and whether one
//! of them comes to a race is asked as any other question is. What takes so many copies is looked for in the instance
//! that has them, which gives a run.

use crate::engine::{Asked, Engine, StopReason, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::Program;
use crate::system::Violation;
use crate::watch::Monitor;

use super::knowledge::Knowledge;
use super::{goes_wrong, watched};

/// Whether some run of SC of some number of copies has a race, as a run under the model of the task.
pub(super) fn unordered(
    engine: &dyn Engine,
    (program, shown): (&Program, Program),
    knowledge: &Knowledge,
    (task, monitor): (&Task<'_>, &dyn Monitor),
) -> Result<Asked, Unsupported> {
    let watched = watched::watched(program, knowledge);
    let strongest = Task { program: &watched, model: Model::STRONGEST, ..*task };
    let mut answer = engine.check(&strongest, monitor)?;
    if let Verdict::Unsafe(run) = answer.verdict {
        if let Violation::Fault(fault) = run.trace.violation {
            return Err(goes_wrong(program, watched.edges()[run.origin(fault.edge())].span));
        }
        let instance = run.instance.as_ref().expect("it is a run of so many copies");
        let instance = shown.instance(&instance.copies).or_fewer(instance.fewer_might_do);
        let listed = Task { program: &instance.program, ..*task };
        answer.verdict = match super::unordered(engine, &listed, monitor)?.answer.verdict {
            Verdict::Unsafe(run) => Verdict::Unsafe(Box::new(run.of_instance(instance))),
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
            Verdict::Safe => {
                let reason = format!("{:?} are said to race, and do not", instance.counts().collect::<Vec<_>>());
                Verdict::Unknown(StopReason::Defect(reason))
            }
        };
    }
    Ok(Asked { answer, program: shown })
}
