//! Races of any number of threads: those of some number of them.
//!
//! An access that is followed for ever is one thread's, and what others know of it are bits of their own
//! ([`super::knowledge`]). So the watched program has the same threads, of which there is any number, and whether one
//! of them comes to a race is asked as any other question is. A run with so many copies, without what is watched, is
//! one of the instance that has them.
//!
//! Under a weaker model two accesses at once may take fewer threads than a race of SC does.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::{Asked, Task, Verdict};
use crate::program::{EdgeId, Instance, ProcessId, Program};
use crate::system::{Run, Trace};

use super::back::{Watched, back};

/// What a run of the watched program, of so many copies, shows of the program.
pub(super) fn raced(shown: &Program, task: &Task<'_>, (made, run): (&Instance, &Run)) -> Verdict {
    let instance = shown.instance(&made.copies).or_fewer(made.fewer_might_do);
    match super::raced(&instance.program, task, of_instance(&instance, made, run)) {
        Verdict::Unsafe(run) => Verdict::Unsafe(Box::new(run.of_instance(instance))),
        other @ (Verdict::Safe | Verdict::Unknown(_)) => other,
    }
}

/// How many threads a race takes, if that is said.
pub(super) fn n_copies(asked: &Asked) -> Option<usize> {
    let Verdict::Unsafe(run) = &asked.answer.verdict else { return None };
    run.instance.as_ref().map(|it| it.copies.values().sum())
}

/// A race of SC, or one of accesses at once if that takes fewer threads; nobody knows, if that was not found out.
pub(super) fn with_fewest((first, n): (Asked, usize), at_once: Option<Asked>) -> Asked {
    match at_once {
        Some(second) if n_copies(&second).is_some_and(|it| it < n) => second,
        Some(second) if is_exact(&second.answer.verdict) => first,
        Some(_) | None => fewer_might_do(first),
    }
}

/// Whether no fewer threads do.
fn is_exact(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Safe => true,
        Verdict::Unsafe(run) => run.instance.as_ref().is_none_or(|it| !it.fewer_might_do),
        Verdict::Unknown(_) => false,
    }
}

/// The same; perhaps fewer threads do.
pub(super) fn fewer_might_do(mut asked: Asked) -> Asked {
    if let Verdict::Unsafe(run) = &mut asked.answer.verdict {
        run.instance = run.instance.take().map(|it| Arc::new(Arc::unwrap_or_clone(it).or_fewer(true)));
    }
    asked
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
