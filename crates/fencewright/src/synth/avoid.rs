//! Sets of fences from an avoid formula.
//!
//! The engine `coherence` says which sets of full fences avoid all bad states of its abstraction
//! ([`avoid`](crate::engine::coherence::avoid)). None is taken on trust: a set counts once an engine has proved the
//! program with it. Then it is weakened as far as that can be proved too ([`weaken`](super::weaken)), which also gives
//! the finest kind that suffices. The loop goes on from those sets and clauses, so that what is reported as complete is
//! proved complete.
//!
//! What the abstraction does not decide is asked of the exact engines.

use std::collections::BTreeMap;

use super::{CandidateId, Choice, FenceSet, Flow, Outcome, Search, Wanted, ends_all};
use crate::engine::coherence::{Coherence, Places, avoid};
use crate::engine::{StopReason, Task, Unsupported, Verdict};
use crate::memory::Model;
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
        for &model in self.models {
            let flow = self.infer_under(model)?;
            if flow.is_break() || (self.request.wanted == Wanted::First && !self.found.is_empty()) {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Finds sets by the formula of one model.
    fn infer_under(&mut self, model: Model) -> Result<Flow, Unsupported> {
        let task = Task { model, ..*self.task };
        let avoided = avoid(&Coherence::INFERRING, &task, &self.places(), self.monitor)?;
        self.explored += avoided.explored;
        if let Some(reason) = avoided.stopped.filter(ends_all) {
            return Ok(self.end(reason));
        }
        // With several models the set must meet all their formulas.
        self.inferred = self.inferred.max(avoided.sets.iter().map(Vec::len).min());
        self.confirm_each(&avoided.sets, model)
    }

    /// Proves sets of a model's formula, the best first.
    fn confirm_each(&mut self, sets: &[Vec<u32>], model: Model) -> Result<Flow, Unsupported> {
        let mut sets: Vec<FenceSet> = sets.iter().map(|set| self.full(set)).collect();
        match self.request.wanted {
            Wanted::All | Wanted::Cheapest => sets.sort(),
            Wanted::First => sets.sort_by_key(|set| (set.fences.0.len(), set.clone())),
        }
        for set in sets.into_iter().take(MAX_TRIED) {
            let flow = self.confirm_inferred(set.fences, model)?;
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

    /// Keeps a set that a model's formula asks for if it is proved, as weak as can be proved.
    fn confirm_inferred(&mut self, fences: Choice, model: Model) -> Result<Flow, Unsupported> {
        if self.found.iter().any(|known| fences.includes(&known.fences)) {
            return Ok(Flow::Continue(()));
        }
        match self.decide(&fences)? {
            Verdict::Safe => {}
            // What is enough for one model may be too little for another.
            Verdict::Unsafe(run) if run.model != model => return Ok(self.learn(&fences, run)),
            Verdict::Unsafe(_) => {
                let what = "fences that avoid all bad states of the abstraction do not avoid a bad run".to_owned();
                return Ok(self.end(StopReason::Defect(what)));
            }
            Verdict::Unknown(reason) if ends_all(&reason) => return Ok(self.end(reason)),
            Verdict::Unknown(_) => return Ok(Flow::Continue(())),
        }
        self.keep_weakened(fences)
    }
}
