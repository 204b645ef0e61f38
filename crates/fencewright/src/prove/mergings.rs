//! Searches for a proof that merge local states, the coarsest first.
//!
//! A certificate speaks of classes of the local states of the program itself. So a search gives a proof if each of them
//! comes to rest in one of its states. What merges more has less to prove.

use crate::certificate::{Claim, Proof};
use crate::engine::automaton::{LocalSteps, Merging};
use crate::engine::{StopReason, Task};
use crate::watch::Monitor;

use super::checked;

/// Which searches to try, each coarser than the next.
pub(super) const MERGINGS: [Merging; 3] = [
    Merging { dead_registers: true, local_steps: LocalSteps::All, bisimilar: true },
    Merging { dead_registers: true, local_steps: LocalSteps::Straight, bisimilar: true },
    Merging { dead_registers: false, local_steps: LocalSteps::None, bisimilar: false },
];

/// The first proof that the checker accepts. Nothing is found where a search merges local states in a way that is no
/// map on them.
///
/// # Errors
/// Why there is none.
pub(super) fn first_accepted(
    task: &Task<'_>,
    monitor: &dyn Monitor,
    find: impl Fn(Merging) -> Result<Option<Proof>, StopReason>,
) -> Result<Proof, StopReason> {
    let mut refused = StopReason::Unproved("local states have no classes".to_owned());
    for merging in MERGINGS {
        let Some(proof) = find(merging)? else { continue };
        match checked(task, Claim::Safe(task.placement.clone(), proof.clone()), monitor) {
            Ok(_) => return Ok(proof),
            Err(reason @ StopReason::Defect(_)) => refused = reason,
            Err(reason) => return Err(reason),
        }
    }
    // The last search merges nothing, so that there is no excuse.
    Err(refused)
}
