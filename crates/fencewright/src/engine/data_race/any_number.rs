//! Races of any number of threads: those of some number of them.
//!
//! An access that is followed for ever is one thread's, and what others know of it are bits of their own
//! ([`super::knowledge`]). So the watched program has the same threads, of which there is any number, and whether one
//! of them comes to a race is asked as any other question is. A run with so many copies, without what is watched, is
//! one of the instance that has them.

use std::collections::BTreeMap;

use crate::engine::{Asked, Engine, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::{EdgeId, Instance, ProcessId, Program};
use crate::system::{Run, Trace, Violation};
use crate::watch::Monitor;

use super::back::{Watched, back};
use super::knowledge::Knowledge;
use super::{goes_wrong, raced, watched};

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
        let made = run.instance.as_ref().expect("it is a run of so many copies");
        let instance = shown.instance(&made.copies).or_fewer(made.fewer_might_do);
        answer.verdict = match raced(&instance.program, task, of_instance(&instance, made, &run)) {
            Verdict::Unsafe(run) => Verdict::Unsafe(Box::new(run.of_instance(instance))),
            other @ (Verdict::Safe | Verdict::Unknown(_)) => other,
        };
    }
    Ok(Asked { answer, program: shown })
}

/// A run of an instance of the watched program, as one of the instance with as many copies. Both number their edges
/// process by process, so they are told apart by those that they are copies of.
fn of_instance(instance: &Instance, made: &Instance, run: &Run) -> Trace {
    let edges = instance.program.edges().iter_enumerated();
    let numbers: BTreeMap<(ProcessId, EdgeId), EdgeId> =
        edges.map(|(id, edge)| ((edge.process, instance.origin(id)), id)).collect();
    let edge_of = |edge: EdgeId| numbers.get(&(made.program.edges()[edge].process, made.origin(edge))).copied();
    back(Watched { program: &instance.program, watched: &made.program, edge_of: &edge_of }, run)
}
