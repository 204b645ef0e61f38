//! Bases for representatives of any number of threads with an index, against any behavior of the others, as a proof.

use crate::certificate::{Claim, Projected, Proof, arbitrary};
use crate::engine::indexed::{goals, stand_for_others};
use crate::engine::{StopReason, Task};
use crate::program::{Indexed, Program};
use crate::watch::Monitor;

use super::projections::{Given, shown};
use super::{checked, observed};

/// Why nothing bad can be reached, whatever the number of threads; the checker accepts it.
///
/// # Errors
/// Why there is no proof.
pub(super) fn prove(task: &Task<'_>, indexed: &Indexed, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let mut all = Vec::new();
    for (n_told_apart, program) in (1..).zip(&indexed.representatives) {
        all.push(of_representative(task, (indexed, n_told_apart), program, monitor)?);
    }
    let proof = Proof::Represented(all);
    match checked(task, Claim::Safe(task.placement.clone(), proof.clone()), monitor) {
        Ok(_) => Ok(proof),
        Err(StopReason::Defect(why)) => Err(StopReason::Unproved(why)),
        Err(reason) => Err(reason),
    }
}

fn of_representative(
    task: &Task<'_>,
    (indexed, n_told_apart): (&Indexed, usize),
    program: &Program,
    monitor: &dyn Monitor,
) -> Result<Vec<Projected>, StopReason> {
    let unproved = |why: &str| StopReason::Unproved(why.to_owned());
    let placement = task.program.placement_over(task.placement, program);
    let placement = placement.ok_or_else(|| unproved("different fences lie over the threads"))?;
    observed(&Task { program, placement: &placement, ..*task }, |watched| {
        let foreign = arbitrary(watched.program, indexed);
        let dropped = stand_for_others(watched.program, indexed);
        let all_goals = goals((program, watched.program), (indexed, n_told_apart), &foreign);
        let mut all: Vec<Projected> = Vec::new();
        for goal in all_goals.ok_or_else(|| unproved("a property looks at what any thread may write"))? {
            if !all.iter().any(|it| goal.is_subset(&it.kept)) {
                all.push(shown(watched, goal, Given { dropped: &dropped, foreign: &foreign }, monitor)?);
            }
        }
        Ok(all)
    })
}
