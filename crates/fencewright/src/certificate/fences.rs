//! The check of a claim about fences: these sets are correct, minimal, and all there are.
//!
//! Φ is every candidate of the place named, with the strongest kind allowed. A fence taken away or weakened keeps every
//! run. A *clause* is a set of fences such that Φ without them still has a bad run, which the certificate shows: hence
//! every correct set has a fence of each clause, at least as strong. A set with a proof that has a fence of every
//! clause, and none to spare, is therefore a minimal correct one; and if the sets are all such sets, they are all
//! minimal correct ones.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::Model;
use crate::program::{By, Candidate, CandidateId, FenceKind, FencePlace, Placement, Program, candidates};
use crate::util::{Idx, IndexVec};

use super::verify::{Failure, Steps, safe};
use super::{Proof, Subject, Witness};

/// A fence at each of these candidates, which are counted in the order of the text.
pub type FenceSet = BTreeMap<CandidateId, FenceKind>;

/// What is said about fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceClaim {
    /// Where fences may stand.
    pub place: FencePlace,
    /// Who shares a fence.
    pub by: By,
    /// Which kinds may be used.
    pub kinds: BTreeSet<FenceKind>,
    /// The answer.
    pub outcome: FenceOutcome,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceOutcome {
    /// No fence is needed.
    Correct(Proof),
    /// These sets are minimal.
    Fixed {
        /// Whether they are all there are.
        is_complete: bool,
        /// The sets; at least one.
        sets: Vec<ProvedSet>,
        /// Why nothing less is enough.
        clauses: Vec<ProvedClause>,
    },
    /// No set is correct: this run is possible under this model, SC or that of the certificate with fences everywhere.
    Unfixable(Model, Witness),
}

/// A set with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedSet {
    /// The fences.
    pub fences: FenceSet,
    /// Why they are enough.
    pub proof: Proof,
}

/// A clause with its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedClause {
    /// For each candidate, the weakest kind that would be enough.
    pub elements: FenceSet,
    /// The run with all fences but those.
    pub run: Witness,
}

/// The candidates of a place and the kinds allowed.
struct All {
    candidates: IndexVec<CandidateId, Candidate>,
    kinds: BTreeSet<FenceKind>,
}

/// The placement of all candidates without those of a clause, each with the strongest kind allowed.
pub fn all_but(
    candidates: &IndexVec<CandidateId, Candidate>,
    kinds: &BTreeSet<FenceKind>,
    clause: &FenceSet,
) -> Placement {
    let weaker = |candidate: &CandidateId| {
        let allowed = kinds.iter().copied();
        allowed.filter(|kind| clause.get(candidate).is_none_or(|from| kind < from)).max()
    };
    let left = candidates.indices().filter_map(|candidate| Some((candidate, weaker(&candidate)?)));
    lay(candidates, &left.collect())
}

/// The placement of a set; where candidates share a position, the strongest fence lies there.
pub fn lay(candidates: &IndexVec<CandidateId, Candidate>, fences: &FenceSet) -> Placement {
    let mut placement = Placement::NONE;
    for (&candidate, &kind) in fences {
        for &position in &candidates[candidate].positions {
            let known = placement.get(position.edge, position.side);
            placement.insert(position, known.map_or(kind, |known| known.max(kind)));
        }
    }
    placement
}

/// Checks a claim about fences.
pub(super) fn check(
    program: &Program,
    subject: &Subject,
    claim: &FenceClaim,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let candidates = match candidates(program, &claim.place, claim.by) {
        Ok(candidates) => candidates,
        Err(unknown) => return Failure::refused(format!("the program has no label `{}`", unknown.label)),
    };
    let all = All { candidates, kinds: claim.kinds.clone() };
    match &claim.outcome {
        FenceOutcome::Correct(proof) => safe(program, &Placement::NONE, subject, proof, steps),
        FenceOutcome::Unfixable(model, run) if *model == Model::STRONGEST => {
            let checked = run.check(program, &Placement::NONE, (Model::STRONGEST, subject.dialect()));
            checked.map_err(|it| it.within("the run under sc"))
        }
        FenceOutcome::Unfixable(model, _) if *model != subject.model => {
            Failure::refused(format!("the run is under {model}, but the certificate is about {}", subject.model))
        }
        FenceOutcome::Unfixable(_, run) => all.check_run(program, subject, &FenceSet::new(), run),
        FenceOutcome::Fixed { is_complete, sets, clauses } => {
            if sets.is_empty() {
                return Failure::refused("no set is named");
            }
            for (i, clause) in clauses.iter().enumerate() {
                let here = |failure: Failure| failure.within(&format!("clause {}", i + 1));
                all.check_known(&clause.elements).map_err(here)?;
                all.check_run(program, subject, &clause.elements, &clause.run).map_err(here)?;
            }
            for (i, set) in sets.iter().enumerate() {
                let here = |failure: Failure| failure.within(&format!("set {}", i + 1));
                all.check_known(&set.fences).map_err(here)?;
                let placement = lay(&all.candidates, &set.fences);
                safe(program, &placement, subject, &set.proof, steps).map_err(here)?;
            }
            all.check_minimal(sets, clauses)?;
            if *is_complete { check_complete(sets, clauses, steps) } else { Ok(()) }
        }
    }
}

impl All {
    fn check_known(&self, fences: &FenceSet) -> Result<(), Failure> {
        let is_known = |(candidate, kind): (&CandidateId, &FenceKind)| {
            candidate.index() < self.candidates.len() && self.kinds.contains(kind)
        };
        match fences.iter().find(|it| !is_known(*it)) {
            Some((candidate, kind)) => {
                Failure::refused(format!("there is no candidate {} of kind {}", candidate.index(), kind.name()))
            }
            None => Ok(()),
        }
    }

    /// The run is possible with all fences but those of the clause.
    fn check_run(&self, program: &Program, subject: &Subject, clause: &FenceSet, run: &Witness) -> Result<(), Failure> {
        let placement = all_but(&self.candidates, &self.kinds, clause);
        run.check(program, &placement, (subject.model, subject.dialect()))
    }

    /// Each set hits every clause; without one of its fences, or with a weaker one, it would not.
    fn check_minimal(&self, sets: &[ProvedSet], clauses: &[ProvedClause]) -> Result<(), Failure> {
        for (i, set) in sets.iter().enumerate() {
            for (&candidate, &kind) in &set.fences {
                let weaker = self.kinds.iter().copied().filter(|it| *it < kind).max();
                let mut smaller = set.fences.clone();
                match weaker {
                    Some(weaker) => smaller.insert(candidate, weaker),
                    None => smaller.remove(&candidate),
                };
                if clauses.iter().all(|clause| hits(&smaller, &clause.elements)) {
                    let what = candidate.index();
                    return Failure::refused(format!("set {}: nothing shows that the fence {what} is needed", i + 1));
                }
            }
        }
        Ok(())
    }
}

fn hits(set: &FenceSet, clause: &FenceSet) -> bool {
    clause.iter().any(|(candidate, kind)| set.get(candidate).is_some_and(|mine| mine >= kind))
}

/// Whether every fence of the first is in the second, at least as strong.
fn is_within(smaller: &FenceSet, larger: &FenceSet) -> bool {
    smaller.iter().all(|(candidate, kind)| larger.get(candidate).is_some_and(|mine| mine >= kind))
}

/// Every set that hits all clauses includes one of the sets: tried by branching over an unhit clause.
fn check_complete(sets: &[ProvedSet], clauses: &[ProvedClause], steps: &mut Steps<'_>) -> Result<(), Failure> {
    let mut todo = vec![FenceSet::new()];
    let mut seen = BTreeSet::new();
    while let Some(partial) = todo.pop() {
        steps.step(seen.len() as u64 * 64)?;
        if sets.iter().any(|set| is_within(&set.fences, &partial)) || !seen.insert(partial.clone()) {
            continue;
        }
        let Some(clause) = clauses.iter().find(|clause| !hits(&partial, &clause.elements)) else {
            let partial: Vec<_> = partial.iter().map(|(it, kind)| format!("{}:{}", it.index(), kind.name())).collect();
            return Failure::refused(format!("a minimal set may be missing: nothing refutes {}", partial.join(" ")));
        };
        for (&candidate, &kind) in &clause.elements {
            let mut larger = partial.clone();
            larger.insert(candidate, kind);
            todo.push(larger);
        }
    }
    Ok(())
}
