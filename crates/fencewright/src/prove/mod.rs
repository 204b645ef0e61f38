//! Certificates from engines: asks them, and puts down why they say what they say.
//!
//! A certificate is checked before it is handed out. Of a safe verdict, [`PROVERS`] are asked for a proof one after the
//! other, those first whose proof is what the engine has found: its states, its abstraction, its basis.
//!
//! | file | idea |
//! |---|---|
//! | [`mergings`] | searches that merge local states, the coarsest first |
//! | [`basis`] | the basis of the load-buffer search |
//! | [`multisets`] | the basis of the search for any number of threads |
//! | [`projections`] | bases for some threads at a time, against any behavior of the others |
//! | [`represented`] | the same for any number of threads with an index |
//! | [`crowd`] | views of any two of these |
//! | [`grid`] | the grid through which predicate abstraction sees that a program with integers is safe |
//! | [`states`] | the number of states, if they are few; with abstract store buffers there often are |
//! | [`fences`] | every minimal set of fences |
//! | [`hang`] | that a program has no hang, or one |
//! | [`language`] | what C11 promises |
//! | [`potentials`] | the basis of the search for release/acquire |
//! | [`race`] | that accesses to plain data do not race |
//! | [`robust`] | that a program behaves as under sequential consistency, or does not |

mod basis;
mod crowd;
mod fences;
mod grid;
mod hang;
mod language;
mod mergings;
mod multisets;
mod potentials;
mod projected_potentials;
mod projections;
mod race;
mod represented;
mod robust;
mod states;

use crate::certificate::{Certificate, Claim, Failure, Proof, Question, Subject, Witness, digest, verify};
use crate::engine::crowd::NAME as CROWD;
use crate::engine::{
    Answer, Engine, RestsOn, StopReason, Task, Unsupported, Verdict, named, projection, with_observer,
};
use crate::memory::{Buffering, PsoRmw};
use crate::system::Run;
use crate::watch::{Monitor, Progress, Stop};

pub use fences::certify_fences;
pub use hang::certify_hang;
pub use language::certify_language;
pub use race::certify_race;
pub use robust::{certify_robust, certify_robust_trace};

/// One way to a proof.
pub trait Prover: Sync {
    /// Whether its proof is what an engine has found whose `safe` rests on this, so that it is asked before the others.
    fn follows(&self, rests_on: RestsOn) -> bool;

    /// Whether it is to be asked, after those before it have failed like this.
    fn proves(&self, task: &Task<'_>, before: &[StopReason]) -> bool;

    /// Why no bad situation can be reached; the checker accepts it.
    ///
    /// # Errors
    /// Why there is no proof. `Constraints` and `Unproved` let others try.
    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason>;
}

/// All of them, in the order in which they are asked if the engine says nothing of it: the states if they are few, a
/// basis if it is not too large, one for any number of threads, bases of
/// some of them at a time, buffers of which less is kept, a grid, any number of states, a basis however large.
pub const PROVERS: &[&dyn Prover] = &[
    &states::Plain::QUICK,
    &states::Ordered,
    &basis::Prover::QUICK,
    &multisets::Prover,
    &projections::Prover,
    &states::Coherent,
    &grid::Prover,
    &states::Plain::PATIENT,
    &basis::Prover::PATIENT,
];

/// Those for release/acquire, which has no store buffers.
const OF_MESSAGES: &[&dyn Prover] =
    &[&states::Plain::QUICK, &potentials::Prover, &projected_potentials::Prover, &states::Plain::PATIENT];

/// What came of an attempt.
#[derive(Clone, Debug)]
pub struct Proved {
    /// What the engine says; unknown where that could not be proved.
    pub answer: Answer,
    /// Why.
    pub certificate: Option<Certificate>,
}

/// Steps of the checker that take about as long as a constraint takes to find, so that a budget counts both alike.
const STEPS_PER_CONSTRAINT: u64 = 32;

/// Decides whether a bad situation can be reached, and says why.
///
/// # Errors
/// The engine does not take the task.
pub fn certify(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proved, Unsupported> {
    if task.model.language().is_some() {
        return certify_language(engine, task, monitor).map(|it| it.0);
    }
    let answer = engine.check(task, monitor)?;
    let why = match &answer.verdict {
        Verdict::Unsafe(run) => checked(task, Claim::Unsafe(task.placement.clone(), witness(run)), monitor),
        Verdict::Unknown(_) => return Ok(Proved { answer, certificate: None }),
        Verdict::Safe => proof(task, answer.engine, monitor)
            .map(|proof| certificate(task, Claim::Safe(task.placement.clone(), proof))),
    };
    Ok(Proved::of(answer, why))
}

impl Proved {
    /// An answer and why it is so; unknown where that is not known.
    fn of(answer: Answer, why: Result<Certificate, StopReason>) -> Self {
        match why {
            Ok(certificate) => Self { answer, certificate: Some(certificate) },
            Err(reason) => Self { answer: Answer { verdict: Verdict::Unknown(reason), ..answer }, certificate: None },
        }
    }
}

/// Why no bad situation can be reached; the checker accepts it. From the first of [`PROVERS`] that has a proof, those
/// first that follow the engine from which the verdict comes.
///
/// # Errors
/// Why there is no proof.
pub fn proof(task: &Task<'_>, engine: &str, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    if let Some(indexed) = task.program.indexed() {
        return match engine {
            CROWD => crowd::prove(task, indexed, monitor),
            _ => represented::prove(task, indexed, monitor),
        };
    }
    if task.program.is_open() {
        return multisets::Prover.prove(task, monitor);
    }
    let mut before = Vec::new();
    let rests_on = match engine {
        projection::NAME => RestsOn::Projections,
        _ => named(engine).map_or(RestsOn::Other, |it| it.card().rests_on),
    };
    let provers = if task.model.messaging().is_some() { OF_MESSAGES } else { PROVERS };
    let first = provers.iter().filter(|it| it.follows(rests_on));
    for prover in first.chain(provers.iter().filter(|it| !it.follows(rests_on))) {
        if !prover.proves(task, &before) {
            continue;
        }
        match prover.prove(task, monitor) {
            Err(reason @ (StopReason::Constraints(_) | StopReason::Unproved(_))) => before.push(reason),
            found => return found,
        }
    }
    Err(before.pop().unwrap_or_else(|| StopReason::Unproved("no prover takes the program".to_owned())))
}

/// A run as it is shown.
pub(crate) fn witness(run: &Run) -> Witness {
    let copies = run.instance.as_ref().map(|it| it.copies.clone()).unwrap_or_default();
    Witness { copies, trace: run.trace.clone() }
}

/// What is found of a program with an observer, if it has invariants, as the checker will look at it.
pub(crate) fn observed<T>(
    task: &Task<'_>,
    find: impl FnOnce(&Task<'_>) -> Result<T, StopReason>,
) -> Result<T, StopReason> {
    if !task.program.has_invariants() {
        return find(task);
    }
    let program = with_observer(task).map_err(|it| StopReason::Unproved(it.reason))?;
    find(&Task { program: &program, ..*task })
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
        // Said only where it makes a difference.
        pso_rmw: match task.model.buffering(task.options.dialect) {
            Some(Buffering::PerLocation(rmw)) => rmw,
            Some(Buffering::None | Buffering::Fifo) | None => PsoRmw::default(),
        },
        question: Question::Safety,
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

/// Stops a search after so many constraints or states.
struct Capped<'a> {
    monitor: &'a dyn Monitor,
    max: u64,
}

impl Monitor for Capped<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let is_over = progress.explored > self.max;
        self.monitor.poll(progress).or_else(|| is_over.then_some(Stop::Spent(self.max)))
    }
}

/// Why there is no proof, from why the checker does not accept one.
pub(crate) fn reason(failure: Failure, refused: fn(String) -> StopReason) -> StopReason {
    match failure {
        Failure::Refused(why) => refused(why),
        Failure::Stopped(stop) => stop.into(),
    }
}
