//! Asks one engine about one program under one model, and takes the time.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Instant;

use fencewright::engine::{Engine, Options, StopReason, Task, Unsupported, Verdict};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Program};
use fencewright::synth::{
    self, By, Candidate, CandidateId, Choice, Costs, Method, Outcome, Place, Request, Synthesis, Wanted, synthesize,
};
use fencewright::util::IndexVec;
use fencewright::watch::Monitor;

/// Who is asked, about what.
#[derive(Clone, Copy)]
pub(crate) struct Inquiry<'a> {
    pub engine: &'static dyn Engine,
    pub program: &'a Program,
    pub model: Model,
    pub options: &'a Options,
    pub monitor: &'a dyn Monitor,
}

/// What a search said.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub verdict: Result<Reached, StopReason>,
    pub kept: u64,
    pub bytes: u64,
    pub seconds: f64,
}

/// Whether a bad situation can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Safe,
    Unsafe,
}

/// What fence synthesis said.
#[derive(Clone, Debug)]
pub(crate) struct Fenced {
    pub sets: Result<Sets, StopReason>,
    pub seconds: f64,
}

/// All minimal sets of fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sets {
    /// At least one; an empty one where no fence is needed.
    Minimal(BTreeSet<Choice>),
    Unfixable,
}

/// A set from which no fence can be taken without the proof.
#[derive(Clone, Debug)]
pub(crate) struct Pruned {
    pub fences: Result<Choice, StopReason>,
    pub seconds: f64,
}

/// What the avoid formula gave.
#[derive(Clone, Debug)]
pub(crate) struct Inferred {
    /// The fences of the set that is reported, if there is one.
    pub fences: Result<usize, StopReason>,
    /// The fences that the formula alone asks for.
    pub formula: Option<usize>,
    pub explored: u64,
    pub seconds: f64,
}

/// Where the papers put fences: after stores, for each process apart.
pub(crate) fn candidates(program: &Program) -> IndexVec<CandidateId, Candidate> {
    synth::candidates(program, &Place::AfterStores, By::Process).expect("no label is asked for")
}

impl Inquiry<'_> {
    /// Is it correct with these fences?
    pub(crate) fn check(&self, placement: &Placement) -> Result<Checked, Unsupported> {
        let started = Instant::now();
        let answer = self.engine.check(&self.task(placement), self.monitor)?;
        let verdict = match answer.verdict {
            Verdict::Safe => Ok(Reached::Safe),
            Verdict::Unsafe(_) => Ok(Reached::Unsafe),
            Verdict::Unknown(reason) => Err(reason),
        };
        let seconds = started.elapsed().as_secs_f64();
        Ok(Checked { verdict, kept: answer.stats.kept, bytes: answer.stats.bytes, seconds })
    }

    /// Which sets of fences of these kinds make it correct?
    pub(crate) fn fences(
        &self,
        candidates: &IndexVec<CandidateId, Candidate>,
        kinds: &[FenceKind],
    ) -> Result<Fenced, Unsupported> {
        let started = Instant::now();
        let request = Request { kinds, ..Request::all(candidates) };
        let answer = synthesize(self.engine, &self.task(&Placement::NONE), &request, self.monitor)?;
        Ok(Fenced { sets: sets(answer), seconds: started.elapsed().as_secs_f64() })
    }

    /// A set of full fences from the avoid formula.
    pub(crate) fn infer(&self, candidates: &IndexVec<CandidateId, Candidate>) -> Result<Inferred, Unsupported> {
        let started = Instant::now();
        let (costs, kinds) = (Costs::default(), [FenceKind::Full]);
        let request =
            Request { candidates, kinds: &kinds, costs: &costs, wanted: Wanted::First, method: Method::Avoid };
        let answer = synthesize(self.engine, &self.task(&Placement::NONE), &request, self.monitor)?;
        let fences = match answer.outcome {
            Outcome::Correct => Ok(0),
            Outcome::Fixed(sets) => Ok(sets.iter().map(|set| set.fences.0.len()).min().unwrap_or(0)),
            Outcome::Unfixable(..) => Err(StopReason::Unproved("no fence helps".to_owned())),
            Outcome::Unknown(reason) => Err(reason),
        };
        let seconds = started.elapsed().as_secs_f64();
        Ok(Inferred { fences, formula: answer.inferred, explored: answer.explored, seconds })
    }

    /// Full fences, taken away one after the other as long as the proof goes through.
    pub(crate) fn prune(&self, candidates: &IndexVec<CandidateId, Candidate>) -> Result<Pruned, Unsupported> {
        let started = Instant::now();
        let (costs, kinds) = (Costs::default(), [FenceKind::Full]);
        let request =
            Request { candidates, kinds: &kinds, costs: &costs, wanted: Wanted::First, method: Method::Prune };
        let answer = synthesize(self.engine, &self.task(&Placement::NONE), &request, self.monitor)?;
        let fences = match answer.outcome {
            Outcome::Correct => Ok(Choice::default()),
            Outcome::Fixed(sets) => Ok(sets.into_iter().map(|set| set.fences).next().unwrap_or_default()),
            Outcome::Unfixable(..) => Err(StopReason::Unproved("no fence helps".to_owned())),
            Outcome::Unknown(reason) => Err(reason),
        };
        Ok(Pruned { fences, seconds: started.elapsed().as_secs_f64() })
    }

    fn task<'a>(&'a self, placement: &'a Placement) -> Task<'a> {
        Task { program: self.program, placement, model: self.model, options: self.options }
    }
}

/// Half a list of sets is no answer.
fn sets(answer: Synthesis) -> Result<Sets, StopReason> {
    match (answer.outcome, answer.stopped) {
        (Outcome::Unknown(reason), _) | (Outcome::Fixed(_), Some(reason)) => Err(reason),
        (Outcome::Correct, _) => Ok(Sets::Minimal(BTreeSet::from([Choice::default()]))),
        (Outcome::Fixed(sets), None) => Ok(Sets::Minimal(sets.into_iter().map(|set| set.fences).collect())),
        (Outcome::Unfixable(..), _) => Ok(Sets::Unfixable),
    }
}

impl Sets {
    /// The set with the fewest fences, and among those with the weakest; nothing if none is needed or possible.
    pub(crate) fn smallest(&self) -> Option<&Choice> {
        match self {
            Self::Minimal(sets) => {
                sets.iter().min_by_key(|set| (set.0.len(), n_full(set))).filter(|it| !it.0.is_empty())
            }
            Self::Unfixable => None,
        }
    }
}

fn n_full(set: &Choice) -> usize {
    set.0.values().filter(|&&kind| kind == FenceKind::Full).count()
}

impl fmt::Display for Sets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_sets = match self {
            Self::Minimal(sets) => sets.len(),
            Self::Unfixable => 0,
        };
        let size = self.smallest().map_or(0, |set| set.0.len());
        f.write_str(&sets_text(n_sets, size))?;
        match self.smallest().map_or(0, |set| size - n_full(set)) {
            0 => Ok(()),
            n => write!(f, ", {n} store-store"),
        }
    }
}

/// So many minimal sets, the smallest of this size.
pub(crate) fn sets_text(n_sets: usize, size: usize) -> String {
    match (n_sets, size) {
        (0, _) => "not fixable".to_owned(),
        (_, 0) => "no fence".to_owned(),
        (1, size) => format!("1 set of {size}"),
        (n, size) => format!("{n} sets of {size}"),
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::sets_text;

    #[test]
    fn sets_are_told_in_few_words() {
        let check = |n_sets, size, text: &str| assert_eq!(sets_text(n_sets, size), text);
        check(0, 0, "not fixable");
        check(1, 0, "no fence");
        check(1, 2, "1 set of 2");
        check(4, 4, "4 sets of 4");
    }
}
