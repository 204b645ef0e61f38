//! The answer to `which fences?` with its reasons.

use std::collections::BTreeSet;

use crate::certificate::fences::{FenceSet, all_but};
use crate::certificate::{Certificate, Claim, FenceClaim, FenceOutcome, Proof, ProvedClause, ProvedSet, Witness};
use crate::engine::portfolio::Auto;
use crate::engine::{Engine, StopReason, Task, Verdict};
use crate::memory::Model;
use crate::program::{By, FenceKind, FencePlace};
use crate::synth::{Choice, Outcome, Request, Synthesis, Why};
use crate::watch::Monitor;

use super::{checked, proof, witness};

/// Puts down why a synthesis found what it found, for the place and sharing that its candidates come from.
///
/// # Errors
/// Why there is no certificate.
pub fn certify_fences(
    task: &Task<'_>,
    (place, by): (&FencePlace, By),
    request: &Request<'_>,
    synthesis: &Synthesis,
    monitor: &dyn Monitor,
) -> Result<Certificate, StopReason> {
    let kinds: BTreeSet<FenceKind> = request.kinds.iter().copied().collect();
    let outcome = match &synthesis.outcome {
        Outcome::Unknown(reason) => return Err(reason.clone()),
        Outcome::Correct => FenceOutcome::Correct(found_anew(task, monitor)?),
        Outcome::Unfixable(run, Why::UnsafeUnderSc) => FenceOutcome::Unfixable(Model::STRONGEST, witness(run)),
        Outcome::Unfixable(..) => {
            let run = run_without(task, request, &kinds, &FenceSet::new(), monitor)?;
            FenceOutcome::Unfixable(task.model, run)
        }
        Outcome::Fixed(sets) => {
            let sets = sets.iter().map(|set| proved_set(task, request, &set.fences, monitor));
            let sets = sets.collect::<Result<Vec<_>, _>>()?;
            let clauses = synthesis.clauses.iter().map(|clause| {
                let run = run_without(task, request, &kinds, &clause.elements, monitor)?;
                Ok(ProvedClause { elements: clause.elements.clone(), run })
            });
            let clauses = clauses.collect::<Result<Vec<_>, StopReason>>()?;
            FenceOutcome::Fixed { is_complete: synthesis.is_complete, sets, clauses }
        }
    };
    let claim = FenceClaim { place: place.clone(), by, kinds, outcome };
    checked(task, Claim::Fences(claim), monitor)
}

fn proved_set(
    task: &Task<'_>,
    request: &Request<'_>,
    fences: &Choice,
    monitor: &dyn Monitor,
) -> Result<ProvedSet, StopReason> {
    let placement = fences.placement(request.candidates);
    let proof = found_anew(&Task { placement: &placement, ..*task }, monitor)?;
    Ok(ProvedSet { fences: fences.0.clone(), proof })
}

/// A proof from the engine that finds one first.
fn found_anew(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let answer = Auto.check(task, monitor).map_err(|it| StopReason::Unproved(it.reason))?;
    match answer.verdict {
        Verdict::Safe => proof(task, answer.engine, monitor),
        Verdict::Unknown(reason) => Err(reason),
        Verdict::Unsafe(_) => Err(StopReason::Defect("a set of fences that was found safe is not".to_owned())),
    }
}

/// A bad run with all fences but those of a clause.
fn run_without(
    task: &Task<'_>,
    request: &Request<'_>,
    kinds: &BTreeSet<FenceKind>,
    clause: &FenceSet,
    monitor: &dyn Monitor,
) -> Result<Witness, StopReason> {
    let placement = all_but(request.candidates, kinds, clause);
    let answer = Auto.check(&Task { placement: &placement, ..*task }, monitor);
    match answer.map(|it| it.verdict) {
        Ok(Verdict::Unsafe(run)) => Ok(witness(&run)),
        Ok(Verdict::Unknown(reason)) => Err(reason),
        Ok(Verdict::Safe) => {
            Err(StopReason::Defect("a clause is hit by no fence, and yet the program is safe".to_owned()))
        }
        Err(unsupported) => Err(StopReason::Unproved(unsupported.reason)),
    }
}
