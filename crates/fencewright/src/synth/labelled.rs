//! All clauses at once.
//!
//! The load-buffer engine searches the program with every candidate as an optional fence
//! ([`clauses`](crate::engine::backward::load_buffer::clauses)). The clauses it finds are not taken on trust: the
//! program with all fences but those of the clause has a bad run, and the clause of that run is what counts. So what is
//! reported is proved as in the loop, and if a clause was missing, the loop would find it.

use std::collections::BTreeMap;

use super::{CandidateId, Choice, Flow, Search};
use crate::engine::backward::load_buffer::{Labels, clauses};
use crate::engine::{StopReason, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::{FenceKind, Position};
use crate::util::Idx;

impl Search<'_> {
    /// Learns all clauses, each from a run.
    pub(super) fn learn_all(&mut self) -> Result<Flow, Unsupported> {
        if self.request.candidates.len() > Labels::BITS as usize {
            return Err(Unsupported {
                reason: format!("the labelled search takes no more than {} places for fences", Labels::BITS),
                help: "use `--method loop`".to_owned(),
            });
        }
        for &model in self.models {
            let flow = self.learn_all_under(model)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue(()))
    }

    fn learn_all_under(&mut self, model: Model) -> Result<Flow, Unsupported> {
        let task = Task { model, ..*self.task };
        let found = clauses(&task, &self.optional(), self.monitor)?;
        self.explored += found.explored;
        if let Some(reason) = found.stopped {
            return Ok(self.end(reason));
        }
        let known: Vec<Labels> = self.clauses.iter().map(|clause| labels_of(clause.elements.keys())).collect();
        for labels in found.clauses.into_iter().filter(|labels| !known.contains(labels)) {
            let flow = self.confirm(labels, model)?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue(()))
    }

    /// The labels of each position. Only full fences order what TSO reorders; other models are refused.
    fn optional(&self) -> BTreeMap<Position, Labels> {
        let mut labels: BTreeMap<Position, Labels> = BTreeMap::new();
        if self.kinds.contains(&FenceKind::Full) {
            for (id, candidate) in self.request.candidates.iter_enumerated() {
                for &position in &candidate.positions {
                    *labels.entry(position).or_default() |= labels_of([&id]);
                }
            }
        }
        labels
    }

    /// Learns the clause of a run with all fences but these.
    fn confirm(&mut self, labels: Labels, model: Model) -> Result<Flow, Unsupported> {
        let others = self.request.candidates.indices().filter(|id| labels & labels_of([id]) == 0);
        let fences = match self.kinds.contains(&FenceKind::Full) {
            true => Choice(others.map(|id| (id, FenceKind::Full)).collect()),
            false => Choice::default(),
        };
        Ok(match self.check(&fences, model)? {
            Verdict::Unsafe(run) => self.learn(&fences, run),
            Verdict::Safe => {
                let what = "no run shows a clause of the labelled search".to_owned();
                self.end(StopReason::Defect(what))
            }
            // The loop may do better with fewer fences, or meet the same limit.
            Verdict::Unknown(reason) if super::ends_all(&reason) => self.end(reason),
            Verdict::Unknown(_) => Flow::Continue(()),
        })
    }
}

fn labels_of<'a>(candidates: impl IntoIterator<Item = &'a CandidateId>) -> Labels {
    candidates.into_iter().fold(0, |labels, id| labels | 1 << id.index())
}
