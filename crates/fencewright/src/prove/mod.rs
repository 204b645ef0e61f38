//! Certificates from engines: asks them, and puts down why they say what they say.
//!
//! A certificate is checked before it is handed out. A safe verdict is told by the basis of the load-buffer search
//! ([`basis`]); where the search merged local states in a way that is no map on them, it searches again without. For
//! unbounded integers, which that engine does not take, predicate abstraction tells through which grid it sees that the
//! program is safe. Where that fails, states are looked at one by one, if there are not too many.

mod basis;
mod fences;

use crate::certificate::abstraction as certificate;
use crate::certificate::{Abstraction, Certificate, Claim, Failure, Proof, Subject, digest, explore, verify};
use crate::engine::automaton::Merging;
use crate::engine::predicates::{Grid, Predicate, Predicates, Site};
use crate::engine::{Answer, Engine, StopReason, Task, Unsupported, Verdict};
use crate::watch::{Monitor, Progress, Stop};

pub use fences::certify_fences;

/// What came of an attempt.
#[derive(Clone, Debug)]
pub struct Proved {
    /// What the engine says; unknown where that could not be proved.
    pub answer: Answer,
    /// Why.
    pub certificate: Option<Certificate>,
}

/// Which searches to try for a proof, each coarser than the next.
const MERGINGS: [Merging; 3] = [
    Merging { dead_registers: true, local_steps: true, bisimilar: false },
    Merging { dead_registers: true, local_steps: false, bisimilar: false },
    Merging { dead_registers: false, local_steps: false, bisimilar: false },
];

/// A basis that takes more constraints than this is looked for only when there are too many states.
const MAX_CONSTRAINTS: u64 = 200_000;

/// Steps of the checker that take about as long as a constraint takes to find, so that a budget counts both alike.
const STEPS_PER_CONSTRAINT: u64 = 32;

/// Decides whether a bad situation can be reached, and says why.
///
/// # Errors
/// The engine does not take the task.
pub fn certify(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proved, Unsupported> {
    let answer = engine.check(task, monitor)?;
    let certificate = match &answer.verdict {
        Verdict::Unsafe(run) => checked(task, Claim::Unsafe(task.placement.clone(), run.trace.clone()), monitor),
        Verdict::Unknown(_) => return Ok(Proved { answer, certificate: None }),
        Verdict::Safe => {
            proof(task, monitor).map(|proof| certificate(task, Claim::Safe(task.placement.clone(), proof)))
        }
    };
    Ok(match certificate {
        Ok(certificate) => Proved { answer, certificate: Some(certificate) },
        Err(reason) => Proved { answer: Answer { verdict: Verdict::Unknown(reason), ..answer }, certificate: None },
    })
}

/// Why no bad situation can be reached; the checker accepts it. A basis if it is not too large, or an abstraction of
/// unbounded integers, else the states if they are few, else a basis however large.
///
/// # Errors
/// Why there is no proof.
pub fn proof(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let first = basis_proof(task, MAX_CONSTRAINTS, monitor);
    let is_final = match &first {
        Ok(_) => true,
        Err(StopReason::Constraints(_) | StopReason::Unproved(_)) => false,
        Err(_) => true,
    };
    if is_final {
        return first;
    }
    if task.program.has_unbounded_data()
        && let Some(proof) = abstraction_proof(task, monitor)?
    {
        return Ok(proof);
    }
    let explored = explore(task.program, task.placement, task.model, task.options.dialect, monitor);
    match explored.map_err(|failure| reason(failure, StopReason::Unproved)) {
        Ok(n_states) => Ok(Proof::Exploration(n_states)),
        Err(StopReason::Unproved(_)) if matches!(first, Err(StopReason::Constraints(_))) => {
            basis_proof(task, u64::MAX, monitor)
        }
        Err(reason) => Err(reason),
    }
}

/// The grid through which predicate abstraction sees that the program is safe, if the checker sees it too.
fn abstraction_proof(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Option<Proof>, StopReason> {
    let grid = match Predicates::grid(task, monitor) {
        Ok(Ok(grid)) => abstraction(grid),
        Ok(Err(reason @ (StopReason::Timeout | StopReason::Memory | StopReason::Interrupted))) => return Err(reason),
        Ok(Err(reason @ StopReason::Defect(_))) => return Err(reason),
        Ok(Err(_)) | Err(_) => return Ok(None),
    };
    let proof = Proof::Abstraction(grid);
    let certificate = certificate(task, Claim::Safe(task.placement.clone(), proof.clone()));
    // The engine may have needed more than a grid.
    match verify(task.program, &certificate, &Scaled(monitor)).map_err(|it| reason(it, StopReason::Unproved)) {
        Ok(()) => Ok(Some(proof)),
        Err(StopReason::Unproved(_)) => Ok(None),
        Err(reason) => Err(reason),
    }
}

/// A grid in the words of certificates.
fn abstraction(Grid { k, single, pair, predicates, rising, late }: Grid) -> Abstraction {
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
    Abstraction { k, single, pair, predicates: predicates.iter().filter_map(predicate).collect(), rising, late }
}

/// A basis, from the search that merges most of those whose states are a map on local states.
fn basis_proof(task: &Task<'_>, max_constraints: u64, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    let mut refused = StopReason::Unproved("local states have no classes".to_owned());
    for merging in MERGINGS {
        let Some(basis) = basis::seek(task, merging, max_constraints, monitor)? else { continue };
        let proof = Proof::Basis(Box::new(basis));
        match checked(task, Claim::Safe(task.placement.clone(), proof.clone()), monitor) {
            Ok(_) => return Ok(proof),
            Err(reason @ StopReason::Defect(_)) => refused = reason,
            Err(reason) => return Err(reason),
        }
    }
    // The last search merges nothing, so that there is no excuse.
    Err(refused)
}

/// A claim as a certificate that the checker accepts.
///
/// # Errors
/// Why it does not.
pub(crate) fn checked(task: &Task<'_>, claim: Claim, monitor: &dyn Monitor) -> Result<Certificate, StopReason> {
    let certificate = certificate(task, claim);
    match verify(task.program, &certificate, &Scaled(monitor)) {
        Ok(()) => Ok(certificate),
        Err(failure) => Err(reason(failure, StopReason::Defect)),
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

/// Counts steps of the checker as the constraints that a search would look at in their time.
pub(crate) struct Scaled<'a>(pub(crate) &'a dyn Monitor);

impl Monitor for Scaled<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        self.0.poll(&Progress { explored: progress.explored / STEPS_PER_CONSTRAINT, ..*progress })
    }
}

/// Why there is no proof, from why the checker does not accept one.
pub(crate) fn reason(failure: Failure, refused: fn(String) -> StopReason) -> StopReason {
    match failure {
        Failure::Refused(why) => refused(why),
        Failure::Stopped(stop) => stop.into(),
    }
}
