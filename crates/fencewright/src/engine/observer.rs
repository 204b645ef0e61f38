//! Invariants of memory, for engines that know no memory while stores wait: asked of the program with an observer
//! ([`Program::with_observer`]), and the run told without it.

use crate::engine::run::confirmed;
use crate::engine::{Answer, Task, Unsupported, Verdict};
use crate::program::{ProcessId, Program, PropertyKind};
use crate::system::{Action, Run, Start, Step, Trace, Violation};
use crate::util::Idx;

/// The answer to a task by those who take no invariants.
///
/// # Errors
/// They do not take the task.
pub(crate) fn observed(
    task: &Task<'_>,
    check: impl FnOnce(&Task<'_>) -> Result<Answer, Unsupported>,
) -> Result<Answer, Unsupported> {
    if !task.program.has_invariants() {
        return check(task);
    }
    let program = with_observer(task)?;
    let mut answer = check(&Task { program: &program, ..*task })?;
    if let Verdict::Unsafe(run) = &answer.verdict {
        answer.verdict = match confirmed(task, &without_observer(task.program, run)) {
            Ok(run) => Verdict::Unsafe(Box::new(run)),
            Err(reason) => Verdict::Unknown(reason),
        };
    }
    Ok(answer)
}

/// Refuses invariants that no observer can see.
pub(crate) fn is_observable(task: &Task<'_>) -> Result<(), Unsupported> {
    task.program.unobservable(task.placement).map_or(Ok(()), |process| Err(unplaced(task.program, process)))
}

/// The same program with an observer.
///
/// # Errors
/// An invariant looks at a thread in a way that no observer can.
pub(crate) fn with_observer(task: &Task<'_>) -> Result<Program, Unsupported> {
    task.program.with_observer(task.placement).map_err(|process| unplaced(task.program, process))
}

fn unplaced(program: &Program, process: ProcessId) -> Unsupported {
    let name = &program.processes()[process].name;
    Unsupported {
        reason: format!(
            "this engine takes no property that looks at memory and at registers of `{name}` wherever `{name}` is, \
             with fences laid over it"
        ),
        help: format!("say where it is, as in `{name}@label`, or use `--engine explicit`"),
    }
}

/// A run of the program with an observer as one of the program itself: up to where the observer looks, if that matters.
fn without_observer(program: &Program, run: &Run) -> Trace {
    let Trace { start, steps, violation } = &run.trace;
    let is_ours = |step: &&Step| {
        step.process.index() < program.processes().len()
            && match step.action {
                Action::Edge { edge, .. } => edge.index() < program.edges().len(),
                Action::Fence(_) | Action::Internal(_) => true,
            }
    };
    let looks = |step: &Step| step.process.index() == program.processes().len();
    let matters = match violation {
        Violation::Property(id) => {
            let property = &program.properties()[*id];
            let sees_memory = run.situation.is_some_and(|it| property.situations[it].sees_memory());
            property.kind == PropertyKind::Invariant && sees_memory
        }
        Violation::Fault(_) => false,
    };
    let n_steps = steps.iter().position(looks).filter(|_| matters).unwrap_or(steps.len());
    let registers = program.processes().iter().zip(&start.registers);
    let start = Start {
        memory: start.memory.iter().take(program.locations().len()).copied().collect(),
        registers: registers.map(|(process, values)| values[..process.registers.len()].to_vec()).collect(),
    };
    Trace { start, steps: steps[..n_steps].iter().filter(is_ours).copied().collect(), violation: *violation }
}
