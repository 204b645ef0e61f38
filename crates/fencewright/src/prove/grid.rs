//! The grid through which predicate abstraction sees that a program with unbounded integers is safe.

use crate::certificate::abstraction as certificate;
use crate::certificate::{Abstraction, Claim, Proof, verify};
use crate::engine::predicates::{Confirming, Grid, Predicate, Predicates, Site};
use crate::engine::{Engine, RestsOn, StopReason, Task, Verdict};
use crate::watch::Monitor;

use super::{Scaled, observed, reason};

/// Asks predicate abstraction.
pub(super) struct Prover;

impl super::Prover for Prover {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Grid
    }

    fn proves(&self, task: &Task<'_>, _before: &[StopReason]) -> bool {
        Predicates.takes(task).is_ok()
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        let defect = || StopReason::Defect("a program that was found safe has a bad run".to_owned());
        let grid = observed(task, |task| seen(task, Confirming::ByRun, monitor)?.ok_or_else(defect))?;
        let proof = Proof::Abstraction(grid);
        let certificate = super::certificate(task, Claim::Safe(task.placement.clone(), proof.clone()));
        // The engine may have needed more than a grid.
        let accepted = verify(task.program, &certificate, &Scaled(monitor));
        accepted.map(|()| proof).map_err(|failure| reason(failure, StopReason::Unproved))
    }
}

/// A grid through which a program is seen to be safe; nothing if it has a bad run.
pub(super) fn seen(
    task: &Task<'_>,
    confirming: Confirming,
    monitor: &dyn Monitor,
) -> Result<Option<Abstraction>, StopReason> {
    match Predicates::grid(task, confirming, monitor) {
        Ok(Ok(grid)) => Ok(Some(abstraction(grid))),
        Ok(Err(Verdict::Safe | Verdict::Unsafe(_))) => Ok(None),
        Ok(Err(Verdict::Unknown(
            reason @ (StopReason::Timeout | StopReason::Memory | StopReason::Interrupted | StopReason::Defect(_)),
        ))) => Err(reason),
        Ok(Err(Verdict::Unknown(reason))) => Err(StopReason::Unproved(reason.to_string())),
        Err(unsupported) => Err(StopReason::Unproved(unsupported.reason)),
    }
}

/// A grid in the words of certificates.
fn abstraction(Grid { k, single, pair, modulus, predicates, rising, late, growing, scales }: Grid) -> Abstraction {
    let site = |site: Site| match site {
        Site::Memory(x) => Some(certificate::Site::Memory(x)),
        Site::Register(process, register) => Some(certificate::Site::Register(process, register)),
        Site::Kept(process, at) => Some(certificate::Site::Newest(process, u32::try_from(at).ok()?)),
        Site::Last(process, x) => Some(certificate::Site::Last(process, x)),
        // What certificates do not speak of is left out; the checker tells whether it was needed.
        Site::First(..) | Site::Zero => None,
    };
    let predicate = |it: &Predicate| {
        let coefficients = it.coefficients.iter().map(|&(at, factor)| Some((factor, site(at)?)));
        Some(certificate::Predicate { coefficients: coefficients.collect::<Option<_>>()?, bound: it.bound })
    };
    let predicates = predicates.iter().filter_map(predicate).collect();
    let modulus = u32::try_from(modulus).ok().filter(|&it| it > 1);
    Abstraction { k, single, pair, modulus, predicates, rising, late, growing, scales }
}
