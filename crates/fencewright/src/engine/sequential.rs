//! Under release/acquire: accesses that are seq_cst, of locations that have others, too.
//!
//! A search that knows messages alone takes them as release and acquire, which allows more. What it finds is looked for
//! once more on the machine, which asks the axioms of the language: the same steps, with the same values, from whatever
//! messages these allow.

use crate::engine::run::confirmed;
use crate::engine::{StopReason, Task, Verdict};
use crate::memory::{Job, Machine, Origin, mixed};
use crate::program::Program;
use crate::system::{Action, Effect, Outcome, Run, Step, System, Trace};
use crate::watch::heed;

/// More steps than this are not tried.
const MAX_TRIES: usize = 20_000;

/// A violation that messages alone allow, as one of a task; unknown if there is none with the same steps.
pub(super) fn believed(task: &Task<'_>, run: &Run) -> Verdict {
    let is_mixed = !mixed(task.program).is_empty();
    let trace = match is_mixed {
        true => task.model.with(task.options.dialect, Following { task, run }),
        false => Some(run.trace.clone()),
    };
    let Some(trace) = trace else { return Verdict::Unknown(StopReason::Unconfirmed(by_order(task.program))) };
    match confirmed(task, &trace) {
        Ok(run) => Verdict::Unsafe(Box::new(run)),
        Err(_) if is_mixed => Verdict::Unknown(StopReason::Unconfirmed(by_order(task.program))),
        Err(reason) => Verdict::Unknown(reason),
    }
}

/// That the answer hangs on the order of some seq_cst accesses.
fn by_order(program: &Program) -> String {
    let line = |edge| program.source().line_name(program.edges()[edge].span);
    let mut lines: Vec<String> = mixed(program).into_iter().map(line).collect();
    lines.dedup();
    let lines = lines.join(", ");
    format!("the answer hangs on the order of seq_cst accesses to what others access with weaker orders ({lines})")
}

/// Looks for a run with the same steps.
struct Following<'a> {
    task: &'a Task<'a>,
    run: &'a Run,
}

impl Job for Following<'_> {
    type Output = Option<Trace>;

    fn run<M: Machine>(self, machine: M) -> Option<Trace> {
        let Self { task, run } = self;
        let system = System::new(task.program, task.placement, machine);
        let start = system.initial(&run.trace.start);
        // The ways that are left to try, for each step so far, the next one last.
        let mut open: Vec<Vec<(Option<Step>, _)>> = vec![vec![(None, start)]];
        for _ in 0..MAX_TRIES {
            heed(64);
            let Some((_, state)) = open.last().and_then(|ways| ways.last()) else {
                open.pop();
                open.last_mut()?.pop();
                continue;
            };
            let Some(event) = run.events.get(open.len() - 1) else {
                let steps = open.iter().skip(1).filter_map(|ways| ways.last()?.0).collect();
                return Some(Trace { steps, ..run.trace.clone() });
            };
            let steps = system.transitions(state).into_iter();
            let mut ways: Vec<_> = steps
                .filter(|it| is_like((it.step, it.effect), (event.step, event.effect)))
                .filter_map(|it| match it.outcome {
                    Outcome::Next(next) => Some((Some(it.step), next)),
                    // A fault is the end of the run.
                    Outcome::Fault(_) if open.len() == run.events.len() => Some((Some(it.step), state.clone())),
                    Outcome::Fault(_) | Outcome::Overflow => None,
                })
                .collect();
            ways.reverse();
            open.push(ways);
        }
        None
    }
}

/// Whether two steps do the same with the same values, whatever messages these are of.
fn is_like((one, does): (Step, Effect), (other, also): (Step, Effect)) -> bool {
    let is_same = match (one.action, other.action) {
        (Action::Edge { edge, choice }, Action::Edge { edge: same, choice: also }) => {
            edge == same && (choice == also || value_of(does) != Effect::Local)
        }
        (one, other) => one == other,
    };
    one.process == other.process && is_same && value_of(does) == value_of(also)
}

/// What was read and written, wherever. A fence that only stands beside an access does nothing.
fn value_of(effect: Effect) -> Effect {
    match effect {
        Effect::Load(x, value, _) => Effect::Load(x, value, Origin::Memory),
        Effect::Store(x, value, _) => Effect::Store(x, value, Origin::Memory),
        Effect::Fence(_) => Effect::Local,
        Effect::Rmw(..) | Effect::Local | Effect::Locked => effect,
        Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => effect,
    }
}
