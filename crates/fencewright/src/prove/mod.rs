//! Certificates from engines: asks them, and puts down why they say what they say.
//!
//! A certificate is checked before it is handed out. A safe verdict is told by the basis of the load-buffer search
//! ([`basis`]); where the search merged local states in a way that is no map on them, it searches again without. What
//! the exact engine does not take is looked at state by state, if there are not too many.

mod basis;
mod fences;

use std::cell::RefCell;

use crate::certificate::{Certificate, Claim, Failure, Patience, Proof, Subject, digest, explore, verify};
use crate::engine::automaton::Merging;
use crate::engine::portfolio::Auto;
use crate::engine::{Engine, Monitor, Progress, StopReason, Task, Verdict};
use crate::system::Run;

pub use fences::certify_fences;

/// What came of an attempt.
#[derive(Clone, Debug)]
pub enum Proved {
    /// No bad situation can be reached.
    Safe(Box<Certificate>),
    /// This run reaches one.
    Unsafe(Box<Certificate>, Box<Run>),
    /// There is no certificate, and this is why.
    Unknown(StopReason),
}

/// Which searches to try for a proof, each coarser than the next.
const MERGINGS: [Merging; 3] = [
    Merging { dead_registers: true, local_steps: true },
    Merging { dead_registers: true, local_steps: false },
    Merging { dead_registers: false, local_steps: false },
];

/// Decides whether a bad situation can be reached, and says why.
pub fn certify(task: &Task<'_>, monitor: &dyn Monitor) -> Proved {
    let verdict = match Auto.check(task, monitor) {
        Ok(answer) => answer.verdict,
        Err(unsupported) => return Proved::Unknown(StopReason::Unproved(unsupported.reason)),
    };
    match verdict {
        Verdict::Unsafe(run) => {
            let claim = Claim::Unsafe(task.placement.clone(), run.trace.clone());
            match checked(task, claim, monitor) {
                Ok(certificate) => Proved::Unsafe(Box::new(certificate), run),
                Err(reason) => Proved::Unknown(reason),
            }
        }
        Verdict::Unknown(reason) => Proved::Unknown(reason),
        Verdict::Safe => match proof(task, monitor) {
            Ok(proof) => Proved::Safe(Box::new(certificate(task, Claim::Safe(task.placement.clone(), proof)))),
            Err(reason) => Proved::Unknown(reason),
        },
    }
}

/// Why no bad situation can be reached; the checker accepts it.
///
/// # Errors
/// Why there is no proof.
pub fn proof(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let mut refused = None;
    for merging in MERGINGS {
        match basis::seek(task, merging, monitor) {
            Ok(Some(basis)) => {
                let proof = Proof::Basis(Box::new(basis));
                let claim = Claim::Safe(task.placement.clone(), proof.clone());
                match checked(task, claim, monitor) {
                    Ok(_) => return Ok(proof),
                    Err(reason @ StopReason::Defect(_)) => refused = Some(reason),
                    Err(reason) => return Err(reason),
                }
            }
            Ok(None) => refused = None,
            Err(basis::Nothing::Unsupported) => break,
            Err(basis::Nothing::Stopped(reason)) => return Err(reason),
        }
    }
    // The last search merges nothing, so that there is no excuse.
    if let Some(defect) = refused {
        return Err(defect);
    }
    let watch = Watch::new(monitor);
    let explored = explore(task.program, task.placement, task.model, task.options.dialect, &watch);
    explored.map(Proof::Exploration).map_err(|failure| watch.reason(failure, StopReason::Unproved))
}

/// A claim as a certificate that the checker accepts.
///
/// # Errors
/// Why it does not.
pub(crate) fn checked(task: &Task<'_>, claim: Claim, monitor: &dyn Monitor) -> Result<Certificate, StopReason> {
    let certificate = certificate(task, claim);
    let watch = Watch::new(monitor);
    match verify(task.program, &certificate, &watch) {
        Ok(()) => Ok(certificate),
        Err(failure) => Err(watch.reason(failure, StopReason::Defect)),
    }
}

fn certificate(task: &Task<'_>, claim: Claim) -> Certificate {
    let subject = Subject {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        program: digest(task.program),
        model: task.model,
        pso_rmw: task.options.dialect.pso_rmw,
    };
    Certificate { subject, claim }
}

/// Lets a monitor watch the checker.
pub(crate) struct Watch<'a> {
    monitor: &'a dyn Monitor,
    stopped: RefCell<Option<StopReason>>,
}

impl<'a> Watch<'a> {
    fn new(monitor: &'a dyn Monitor) -> Self {
        Self { monitor, stopped: RefCell::new(None) }
    }

    fn reason(&self, failure: Failure, refused: fn(String) -> StopReason) -> StopReason {
        match failure {
            Failure::Refused(why) => refused(why),
            Failure::Stopped => self.stopped.borrow_mut().take().unwrap_or(StopReason::Interrupted),
        }
    }
}

impl Patience for Watch<'_> {
    fn is_over(&self, steps: u64, bytes: u64) -> bool {
        let stopped = self.monitor.poll(&Progress { explored: steps, queued: 0, depth: 0, bytes });
        let is_over = stopped.is_some();
        self.stopped.replace(stopped);
        is_over
    }
}
