//! Verification: a certificate against the program it is about.

use std::borrow::Cow;
use std::fmt;

use crate::memory::{Job, Machine, PsoRmw, Rc11};
use crate::program::{Placement, Program};
use crate::system::Flow;
use crate::util::Idx;
use crate::watch::{Monitor, Progress, Stop, heed};

use super::{
    Certificate, Claim, Proof, Question, Shows, Subject, abstraction, buffers, closed, crowd, digest, exploration,
    fences, multisets, potentials, projections, race, represented, robust, views,
};

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A check fails; this says which, and where.
    Refused(String),
    /// The checker was told to stop.
    Stopped(Stop),
}

impl Failure {
    /// A check fails.
    pub(super) fn refused<T>(why: impl Into<String>) -> Result<T, Self> {
        Err(Self::Refused(why.into()))
    }

    /// The same with more words about where.
    #[must_use]
    pub(super) fn within(self, what: &str) -> Self {
        match self {
            Self::Refused(why) => Self::Refused(format!("{what}: {why}")),
            Self::Stopped(stop) => Self::Stopped(stop),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Stopped(stop) => write!(f, "stopped before all was checked: {stop}"),
        }
    }
}

/// Counts the steps of a check.
pub(super) struct Steps<'a> {
    monitor: &'a dyn Monitor,
    done: u64,
}

impl<'a> Steps<'a> {
    /// None are done yet.
    pub(super) fn new(monitor: &'a dyn Monitor) -> Self {
        Self { monitor, done: 0 }
    }

    /// One more, while the tables have so many bytes.
    pub(super) fn step(&mut self, bytes: u64) -> Result<(), Failure> {
        // A step may take long, as where there are thousands of thresholds or elements.
        heed(16);
        self.done += 1;
        if !self.done.is_multiple_of(1024) {
            return Ok(());
        }
        let progress = Progress { explored: self.done, bytes, ..Progress::default() };
        self.monitor.poll(&progress).map_or(Ok(()), |stop| Err(Failure::Stopped(stop)))
    }
}

/// Checks a certificate against the program it is about.
///
/// # Errors
/// The first check that fails, or that the checker was told to stop.
pub fn verify(program: &Program, certificate: &Certificate, monitor: &dyn Monitor) -> Result<(), Failure> {
    let subject = &certificate.subject;
    check_subject(program, subject)?;
    let mut steps = Steps::new(monitor);
    if let Some(language) = subject.model.language() {
        return of_language(program, certificate, language, &mut steps);
    }
    if let Question::Race(n_states) = subject.question
        && check_race(program, certificate, n_states, &mut steps)?
    {
        return Ok(());
    }
    if let Question::Hang(_) = subject.question {
        check_hang(program, certificate, monitor)?;
    }
    match (&certificate.claim, &subject.question) {
        (Claim::Safe(placement, Proof::Attacks(n_states)), _) => {
            check_placement(program, placement)?;
            return robust::check(program, placement, subject, *n_states, &mut steps);
        }
        // No state shows which execution it is of.
        (Claim::Safe(..) | Claim::Fences(_), Question::RobustTrace) => {
            return Failure::refused("that all executions are those of SC is shown by attacks, and by nothing else");
        }
        _ => {}
    }
    let asked = subject.question.of(program, monitor)?;
    let program = asked.as_ref();
    match &certificate.claim {
        Claim::Safe(placement, proof) => safe(program, placement, subject, proof, &mut steps),
        Claim::Unsafe(placement, witness) => {
            check_placement(program, placement)?;
            witness.check(program, placement, (subject.model, subject.dialect()))
        }
        Claim::Fences(claim) => fences::check(program, subject, claim, &mut steps),
    }
}

/// Checks that a certificate is about the program, says of it what one can say, and has a meaning for it.
fn check_subject(program: &Program, subject: &Subject) -> Result<(), Failure> {
    let found = digest(program);
    if subject.program != found {
        let claimed = &subject.program;
        return Failure::refused(format!("it is about another program: sha256 {claimed}, but this one has {found}"));
    }
    if subject.pso_rmw != PsoRmw::default() && !subject.has_dialect() {
        let model = subject.model;
        return Failure::refused(format!("it says what atomic updates wait for, which is nothing under {model}"));
    }
    if program.is_open()
        && (subject.question != Question::Safety
            || subject.model.language().is_some()
            || subject.model.messaging().is_some())
    {
        return Failure::refused(
            "the program leaves open how many threads there are, of which only safety with store buffers is told",
        );
    }
    if subject.model.messaging().is_some()
        && let Some(why) = subject.model.with(subject.dialect(), Refusing { program })
    {
        return Failure::refused(format!("{} has no meaning for the program: {why}", subject.model));
    }
    Ok(())
}

/// Asks the machine of a model whether it has a meaning for a program.
struct Refusing<'a> {
    program: &'a Program,
}

impl Job for Refusing<'_> {
    type Output = Option<String>;

    fn run<M: Machine>(self, machine: M) -> Option<String> {
        machine.refuses(self.program)
    }
}

/// Checks what is said of the promises of a language.
fn of_language(
    program: &Program,
    Certificate { subject, claim }: &Certificate,
    language: Rc11,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    match claim {
        Claim::Safe(placement, Proof::Views(n_states)) => {
            check_placement(program, placement)?;
            views::check(Flow { program, placement }, language, Shows::of(&subject.question)?, *n_states, steps)
        }
        Claim::Safe(..) => Failure::refused("what a language promises is shown by views, and by nothing else"),
        Claim::Unsafe(placement, witness) => {
            check_placement(program, placement)?;
            let asked = views::asked(program, &subject.question)?;
            witness.check(&asked, placement, (subject.model, subject.dialect()))
        }
        Claim::Fences(_) => Failure::refused("fences are those of a machine"),
    }
}

/// Checks that a certificate says of hangs what can be known of them.
fn check_hang(program: &Program, certificate: &Certificate, monitor: &dyn Monitor) -> Result<(), Failure> {
    let Certificate { subject, claim } = certificate;
    // What is left once buffers are empty is known of buffers, and of messages: a last one is the last of its writer.
    if subject.model.messaging().is_none() {
        subject.buffering()?;
    }
    match matches!(claim, Claim::Safe(..)) || subject.question.is_exact(program, monitor) {
        true => Ok(()),
        false => Failure::refused("where data is unbounded, only that a program does not hang can be certified"),
    }
}

/// Checks what a certificate of races says beside what holds under the model; whether that is all that it says.
fn check_race(
    program: &Program,
    Certificate { subject, claim }: &Certificate,
    n_states: u64,
    steps: &mut Steps<'_>,
) -> Result<bool, Failure> {
    match claim {
        Claim::Safe(placement, proof) if placement.is_empty() => {
            match subject.model.messaging() {
                // Under release/acquire a race is two accesses at once, and nothing else.
                Some(_) => exploration::Size::claimed(n_states).is(0)?,
                None => race::check(program, n_states, steps)?,
            }
            Ok(program.plain().is_empty() && *proof == Proof::NO_PLAIN_DATA)
        }
        Claim::Safe(..) => Failure::refused("races are asked about a text, not about fences laid over it"),
        Claim::Unsafe(..) | Claim::Fences(_) => Failure::refused("only that there are no races can be certified"),
    }
}

/// Checks that no bad situation can be reached.
pub(super) fn safe(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    proof: &Proof,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    check_placement(program, placement)?;
    if let Proof::Represented(all) = proof {
        return represented::check(program, placement, subject, all, steps);
    }
    if let Proof::Crowd(crowd) = proof {
        return crowd::check(program, placement, subject, crowd, steps);
    }
    if program.indexed().is_some() {
        return Failure::refused(
            "it has any number of threads with an index, which only representatives and views tell of",
        );
    }
    if let Proof::Multisets(multisets) = proof {
        // What holds for any number of copies holds for those that are listed.
        let program = if program.is_open() { Cow::Borrowed(program) } else { Cow::Owned(program.opened()) };
        return multisets::check(observed(&program, placement)?.as_ref(), placement, subject, multisets, steps);
    }
    if program.is_open() {
        return Failure::refused("the program leaves open how many threads there are, which only multisets tell of");
    }
    match proof {
        Proof::Multisets(_) | Proof::Represented(_) | Proof::Crowd(_) => unreachable!("these came first"),
        Proof::Projections(all) => {
            projections::check(observed(program, placement)?.as_ref(), placement, subject, all, steps)
        }
        Proof::Basis(basis) => closed::check(observed(program, placement)?.as_ref(), placement, subject, basis, steps),
        Proof::Abstraction(grid) => {
            abstraction::check(observed(program, placement)?.as_ref(), placement, subject, grid, steps)
        }
        Proof::Buffers(claimed) => buffers::check(program, placement, subject, *claimed, steps),
        Proof::Exploration(n_states) => exploration::check(program, placement, subject, *n_states, steps),
        Proof::Attacks(_) => Failure::refused("attacks say whether a program is robust, and nothing else"),
        Proof::Views(_) => Failure::refused("views are about what a language promises"),
        Proof::Potentials(basis) => match subject.model.messaging() {
            Some(messaging) => potentials::check(program, placement, messaging, basis, steps),
            None => Failure::refused("potentials are about release/acquire"),
        },
        Proof::ProjectedPotentials(all) => match subject.model.messaging() {
            Some(messaging) => projections::check_potentials(program, placement, messaging, all, steps),
            None => Failure::refused("potentials are about release/acquire"),
        },
    }
}

/// The same question without invariants: proofs that go backward, or leave out what no property sees, know memory only
/// once buffers are empty.
pub(super) fn observed<'a>(program: &'a Program, placement: &Placement) -> Result<Cow<'a, Program>, Failure> {
    if !program.has_invariants() {
        return Ok(Cow::Borrowed(program));
    }
    program.with_observer(placement).map(Cow::Owned).map_err(|process| {
        let name = &program.processes()[process].name;
        Failure::Refused(format!("an invariant looks at registers of {name} wherever it is, beside fences too"))
    })
}

/// Checks that fences lie on edges of the program.
fn check_placement(program: &Program, placement: &Placement) -> Result<(), Failure> {
    match placement.iter().find(|(position, _)| position.edge.index() >= program.edges().len()) {
        Some((position, _)) => Failure::refused(format!("the program has no edge {}", position.edge.index())),
        None => Ok(()),
    }
}
