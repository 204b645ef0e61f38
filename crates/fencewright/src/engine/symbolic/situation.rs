//! The situations that properties forbid: when their conditions hold, and where processes are in them.

use crate::engine::symbolic::difference::{Arithmetic, Beyond, Conjunction, Differences};
use crate::engine::symbolic::division::modulus;
use crate::engine::symbolic::flow::{ProcessFlow, StateId};
use crate::program::{Expr, ProcessId, Program, Situation, StateVar};

/// When a condition on a configuration holds.
pub(crate) fn conditions(
    program: &Program,
    condition: &Expr<StateVar>,
    arithmetic: Arithmetic,
) -> Result<Vec<Conjunction<StateVar>>, Beyond> {
    let domain = |variable: StateVar| match variable {
        StateVar::Register(process, register) => program.processes()[process].registers[register].domain.bounds(),
        StateVar::Memory(x) => program.locations()[x].domain.bounds(),
    };
    Differences { domain: &domain, arithmetic, modulus: modulus(program) }.holds(condition, true)
}

/// The states of a process that fit a situation.
pub(crate) fn fitting(flow: &ProcessFlow, situation: &Situation, process: ProcessId) -> Vec<StateId> {
    let controls = &flow.controls;
    let fits = |&state: &StateId| controls[state as usize].is_some_and(|it| situation.admits(process, it.point()));
    (0..flow.fault()).filter(fits).collect()
}
