//! Sets of fences from an avoid formula.
//!
//! The engine `coherence` says which sets of full fences avoid all bad states of its abstraction
//! ([`avoid`](crate::engine::coherence::avoid)). None is taken on trust: a set counts once an engine has proved the
//! program with it. Then each fence is weakened, or dropped, as far as that can be proved too, which also gives the
//! finest kind that suffices; where it cannot, the bad run is one more clause. The loop goes on from those sets and
//! clauses, so that what is reported as complete is proved complete.
//!
//! What the abstraction does not decide is asked of the exact engines.

use std::collections::BTreeMap;

use super::{CandidateId, Choice, FenceSet, Flow, Outcome, Search, Wanted, ends_all};
use crate::engine::coherence::{Coherence, Places, avoid};
use crate::engine::portfolio::Auto;
use crate::engine::{Engine, StopReason, Task, Unsupported, Verdict};
use crate::program::FenceKind;
use crate::util::Idx;

/// So many sets of the formula are tried; the loop finds the others.
const MAX_TRIED: usize = 8;

impl Search<'_> {
    /// Finds sets by the avoid formula, each proved and as weak as can be proved.
    pub(super) fn infer(&mut self) -> Result<Flow, Unsupported> {
        let first = self.decide(&Choice::default())?;
        let flow = match first {
            Verdict::Safe => Flow::Break(Some(Outcome::Correct)),
            Verdict::Unsafe(run) => self.learn(&Choice::default(), run),
            Verdict::Unknown(reason) if ends_all(&reason) => self.end(reason),
            Verdict::Unknown(_) => Flow::Continue(()),
        };
        if flow.is_break() || !self.kinds.contains(&FenceKind::Full) {
            return Ok(flow);
        }
        let avoided = avoid(&Coherence::INFERRING, self.task, &self.places(), self.monitor)?;
        self.explored += avoided.explored;
        if let Some(reason) = avoided.stopped.filter(ends_all) {
            return Ok(self.end(reason));
        }
        self.inferred = avoided.sets.iter().map(Vec::len).min();
        self.confirm_each(&avoided.sets)
    }

    /// Proves sets of the formula, the best first.
    fn confirm_each(&mut self, sets: &[Vec<u32>]) -> Result<Flow, Unsupported> {
        let mut sets: Vec<FenceSet> = sets.iter().map(|set| self.full(set)).collect();
        match self.request.wanted {
            Wanted::All | Wanted::Cheapest => sets.sort(),
            Wanted::First => sets.sort_by_key(|set| (set.fences.0.len(), set.clone())),
        }
        for set in sets.into_iter().take(MAX_TRIED) {
            let flow = self.confirm_inferred(set.fences)?;
            if flow.is_break() {
                return Ok(flow);
            }
            if self.request.wanted == Wanted::First && !self.found.is_empty() {
                return Ok(Flow::Break(None));
            }
        }
        Ok(Flow::Continue(()))
    }

    fn places(&self) -> Places {
        let mut places: Places = BTreeMap::new();
        for (id, candidate) in self.request.candidates.iter_enumerated() {
            let variable = u32::try_from(id.index()).expect("fewer than 2^32 candidates");
            for &position in &candidate.positions {
                places.entry(position).or_default().push(variable);
            }
        }
        places
    }

    fn full(&self, set: &[u32]) -> FenceSet {
        let ids = set.iter().map(|&variable| CandidateId::from_usize(variable as usize));
        self.priced(Choice(ids.map(|id| (id, FenceKind::Full)).collect()))
    }

    fn priced(&self, fences: Choice) -> FenceSet {
        let costs = fences.0.iter().map(|(&candidate, &kind)| self.cost(candidate, kind));
        FenceSet { cost: costs.fold(0, u64::saturating_add), fences }
    }

    /// Keeps a set that is proved, as weak as can be proved.
    fn confirm_inferred(&mut self, mut fences: Choice) -> Result<Flow, Unsupported> {
        if self.found.iter().any(|known| fences.includes(&known.fences)) {
            return Ok(Flow::Continue(()));
        }
        match self.decide(&fences)? {
            Verdict::Safe => {}
            Verdict::Unsafe(_) => {
                let what = "fences that avoid all bad states of the abstraction do not avoid a bad run".to_owned();
                return Ok(self.end(StopReason::Defect(what)));
            }
            Verdict::Unknown(reason) if ends_all(&reason) => return Ok(self.end(reason)),
            Verdict::Unknown(_) => return Ok(Flow::Continue(())),
        }
        for candidate in fences.0.keys().copied().collect::<Vec<_>>() {
            let flow = self.weaken(&mut fences, candidate)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if !self.found.iter().any(|known| known.fences == fences) {
            let set = self.priced(fences);
            self.found.push(set);
        }
        Ok(Flow::Continue(()))
    }

    /// Makes a proved set as weak at a candidate as can be proved; where it must stay, a clause says why.
    fn weaken(&mut self, fences: &mut Choice, candidate: CandidateId) -> Result<Flow, Unsupported> {
        for weaker in self.weaker(fences, candidate) {
            if self.clauses.iter().any(|clause| !weaker.hits(&clause.elements)) {
                continue;
            }
            match self.decide(&weaker)? {
                Verdict::Safe => {
                    *fences = weaker;
                    break;
                }
                Verdict::Unsafe(run) => {
                    let flow = self.learn(&weaker, run);
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
                Verdict::Unknown(reason) if ends_all(&reason) => return Ok(self.end(reason)),
                // The set is correct, though perhaps not minimal, and the answer is not called complete.
                Verdict::Unknown(reason) => self.stopped = Some(reason),
            }
        }
        Ok(Flow::Continue(()))
    }

    /// The set with less at one candidate: nothing, or a weaker kind.
    fn weaker(&self, fences: &Choice, candidate: CandidateId) -> Vec<Choice> {
        let mut dropped = fences.clone();
        let known = dropped.0.remove(&candidate);
        let kinds = self.kinds.iter().filter(|&&kind| known.is_some_and(|known| kind < known));
        let weakened = kinds.map(|&kind| {
            let mut weakened = fences.clone();
            weakened.0.insert(candidate, kind);
            weakened
        });
        std::iter::once(dropped).chain(weakened).collect()
    }

    /// What the engine says of a set, or the exact engines where it does not know.
    pub(super) fn decide(&mut self, fences: &Choice) -> Result<Verdict, Unsupported> {
        let verdict = self.check(fences)?;
        match verdict {
            Verdict::Unknown(reason) if !ends_all(&reason) => {
                let placement = fences.lay_over(self.request.candidates, self.task.placement);
                let answer = Auto.check(&Task { placement: &placement, ..*self.task }, self.monitor)?;
                self.checks += 1;
                self.explored += answer.stats.explored;
                self.answered = answer.engine;
                Ok(answer.verdict)
            }
            Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_) => Ok(verdict),
        }
    }
}
