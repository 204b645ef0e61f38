//! Views of any two threads of any number with an index, as a proof.

use crate::certificate::{Claim, Crowd, CrowdView, Proof};
use crate::engine::crowd::crowd;
use crate::engine::{StopReason, Task};
use crate::program::Indexed;
use crate::watch::Monitor;

use super::checked;

/// Why nothing bad can be reached, whatever the number of threads; the checker accepts it.
///
/// # Errors
/// Why there is no proof.
pub(super) fn prove(task: &Task<'_>, indexed: &Indexed, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let found = crowd(task, indexed, monitor)?;
    let views = found.views.into_iter().map(|(members, witness)| CrowdView { members, witness }).collect();
    let proof = Proof::Crowd(Box::new(Crowd { members: found.members, views }));
    checked(task, Claim::Safe(task.placement.clone(), proof.clone()), monitor).map(|_| proof)
}
