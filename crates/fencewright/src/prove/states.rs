//! The number of states, each of which the checker looks at, if they are few: of the plain machine, or behind store
//! buffers of which no more is kept than it takes.

use crate::certificate::{Buffers, Failure, Proof, explore, explore_blurred};
use crate::engine::coherence::Coherence;
use crate::engine::{Engine, RestsOn, StopReason, Task, Verdict};
use crate::watch::{Monitor, Stop};

use super::{Capped, Scaled};

/// Looks at all states of the plain machine.
pub(super) struct Plain {
    max_states: u64,
}

impl Plain {
    /// For a few states, where nothing is as plain.
    pub(super) const QUICK: Self = Self { max_states: 5_000 };
    /// For as many as the checker looks at.
    pub(super) const PATIENT: Self = Self { max_states: u64::MAX };
}

impl super::Prover for Plain {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::States && self.max_states < u64::MAX
    }

    fn proves(&self, _task: &Task<'_>, _before: &[StopReason]) -> bool {
        true
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        let capped = Capped { monitor: &Scaled(monitor), max: self.max_states };
        let explored = explore(task.program, task.placement, task.model, task.options.dialect, &capped);
        explored.map(Proof::Exploration).map_err(few)
    }
}

/// Buffers in which every store is kept in order: more than a search that ends needs.
const ALL: u32 = 64;

/// More states than this are for others to prove, at first.
const QUICK: u64 = 200_000;

/// Looks at all states that are told apart where every store is kept in order.
pub(super) struct Ordered;

impl super::Prover for Ordered {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::States
    }

    fn proves(&self, _task: &Task<'_>, _before: &[StopReason]) -> bool {
        true
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        blurred(task, ALL, &Capped { monitor: &Scaled(monitor), max: QUICK })
    }
}

/// Asks the search over abstract store buffers how much has to be kept of them.
pub(super) struct Coherent;

impl super::Prover for Coherent {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Buffers
    }

    fn proves(&self, task: &Task<'_>, _before: &[StopReason]) -> bool {
        Coherence::PROVING.takes(task).is_ok()
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        let capped = Capped { monitor, max: QUICK };
        for k in Coherence::PROVING.ks {
            let engine = Coherence { ks: k..=k, max_states: QUICK, ..Coherence::PROVING };
            let answer = engine.check(task, &capped).map_err(|it| StopReason::Unproved(it.reason))?;
            match answer.verdict {
                Verdict::Safe => return blurred(task, k, &Capped { monitor: &Scaled(monitor), max: 5 * QUICK }),
                Verdict::Unknown(StopReason::Alarm(_)) => {}
                Verdict::Unknown(reason @ (StopReason::Timeout | StopReason::Memory | StopReason::Interrupted)) => {
                    return Err(reason);
                }
                Verdict::Unknown(reason) => return Err(StopReason::Unproved(reason.to_string())),
                Verdict::Unsafe(_) => {
                    return Err(StopReason::Defect("a program that is safe has a bad run".to_owned()));
                }
            }
        }
        Err(StopReason::Unproved("every abstraction of store buffers raises an alarm".to_owned()))
    }
}

/// A proof with so many stores kept in order.
fn blurred(task: &Task<'_>, k: u32, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let buffering = task.buffering().map_err(|it| StopReason::Unproved(it.reason))?;
    let n_states = explore_blurred(task.program, task.placement, buffering, k, monitor).map_err(few)?;
    Ok(Proof::Buffers(Buffers { k, n_states }))
}

/// Too many states for this prover are not too many for others.
fn few(failure: Failure) -> StopReason {
    match failure {
        Failure::Refused(why) => StopReason::Unproved(why),
        Failure::Stopped(Stop::Spent(n)) => StopReason::Unproved(format!("there are more than {n} states")),
        Failure::Stopped(stop @ (Stop::Time | Stop::Memory | Stop::Asked)) => stop.into(),
    }
}
