//! The number of states, each of which the checker looks at, if they are few.

use crate::certificate::{Proof, explore};
use crate::engine::{StopReason, Task};
use crate::watch::Monitor;

use super::reason;

/// Looks at all states.
pub(super) struct Prover;

impl super::Prover for Prover {
    fn proves(&self, _task: &Task<'_>, _before: &[StopReason]) -> bool {
        true
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        let explored = explore(task.program, task.placement, task.model, task.options.dialect, monitor);
        explored.map(Proof::Exploration).map_err(|failure| reason(failure, StopReason::Unproved))
    }
}
