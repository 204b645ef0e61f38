//! A set of fences that is proved, made as weak as can be proved.
//!
//! Each fence is dropped, or weakened, as long as a proof goes through. Where it does not, a bad run is one more
//! clause; where there is no such run either, the fence stays and the answer is not called complete. So also an engine
//! that only proves finds fences: from all of them down (the robust-buffers paper, section 5). What comes out depends
//! on the order in which they are tried, and is one set.

use super::{CandidateId, Choice, FenceSet, Flow, Outcome, Search, ends_all};
use crate::engine::{Unsupported, Verdict};

impl Search<'_> {
    /// Starts with all fences, each of the strongest kind, and drops what can be dropped.
    pub(super) fn prune(&mut self) -> Result<Flow, Unsupported> {
        let Some(&strongest) = self.kinds.last() else { return Ok(Flow::Break(None)) };
        let fences = Choice(self.request.candidates.indices().map(|id| (id, strongest)).collect());
        let flow = match self.decide(&fences)? {
            Verdict::Safe => self.keep_weakened(fences)?,
            Verdict::Unsafe(run) => self.learn(&fences, run),
            Verdict::Unknown(reason) => self.end(reason),
        };
        Ok(match self.found.as_slice() {
            [only] if only.fences.0.is_empty() => Flow::Break(Some(Outcome::Correct)),
            _ if flow.is_continue() => Flow::Break(None),
            _ => flow,
        })
    }

    /// Keeps a proved set, as weak as can be proved.
    pub(super) fn keep_weakened(&mut self, mut fences: Choice) -> Result<Flow, Unsupported> {
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

    /// A set with what it costs.
    pub(super) fn priced(&self, fences: Choice) -> FenceSet {
        let costs = fences.0.iter().map(|(&candidate, &kind)| self.cost(candidate, kind));
        FenceSet { cost: costs.fold(0, u64::saturating_add), fences }
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
}
