//! The situations that properties forbid: when their conditions hold, and where processes are in them.

use crate::engine::symbolic::difference::{Arithmetic, Beyond, Conjunction, Differences};
use crate::engine::symbolic::flow::{ProcessFlow, StateId};
use crate::program::{Expr, ProcessId, Program, Situation, StateVar};
use crate::system::Control;

/// When a condition on a configuration holds.
pub fn conditions(
    program: &Program,
    condition: &Expr<StateVar>,
    arithmetic: Arithmetic,
) -> Result<Vec<Conjunction<StateVar>>, Beyond> {
    let domain = |variable: StateVar| match variable {
        StateVar::Register(process, register) => program.processes()[process].registers[register].domain.bounds(),
        StateVar::Memory(x) => program.locations()[x].domain.bounds(),
    };
    Differences { domain: &domain, arithmetic }.holds(condition, true)
}

/// The states of a process that fit a situation.
pub fn fitting(flow: &ProcessFlow, situation: &Situation, process: ProcessId) -> Vec<StateId> {
    let named = situation.at.iter().find(|at| at.0 == process).map(|at| &at.1);
    let fits = |&state: &StateId| match flow.controls[state as usize] {
        Some(Control::At(point)) => named.is_none_or(|points| points.contains(&point)),
        Some(Control::Ready(_) | Control::Done(_)) => named.is_none(),
        None => false,
    };
    (0..flow.fault()).filter(fits).collect()
}
