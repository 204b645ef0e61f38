//! Clauses of models without store buffers: a set that is unsafe grows as long as it stays unsafe.
//!
//! A fence only takes executions away, so what is within an unsafe set is unsafe, and a correct set has a fence that
//! the unsafe one does not have: all of those are the clause. The larger the unsafe set, the smaller its clause.

use super::clause::Elements;
use super::{Choice, Search};
use crate::engine::{StopReason, Verdict};
use crate::memory::Model;
use crate::program::FenceKind;

impl Search<'_> {
    /// The fences that are not in an unsafe set that this one has grown to.
    pub(super) fn grown(&mut self, fences: &Choice, model: Model) -> Result<Elements, StopReason> {
        let (mut set, mut elements) = (fences.clone(), Elements::new());
        if !self.kinds.contains(&FenceKind::Full) {
            return Ok(elements);
        }
        for (id, candidate) in self.request.candidates.iter_enumerated() {
            if set.0.get(&id) == Some(&FenceKind::Full) || candidate.order.is_some() {
                continue;
            }
            let mut more = set.clone();
            more.0.insert(id, FenceKind::Full);
            if let Some(reason) = self.poll() {
                return Err(reason);
            }
            let verdict = self.check(&more, model).map_err(|it| StopReason::Defect(it.reason))?;
            match verdict {
                Verdict::Unsafe(_) => set = more,
                Verdict::Unknown(reason) if super::ends_all(&reason) => return Err(reason),
                Verdict::Safe | Verdict::Unknown(_) => {
                    elements.insert(id, FenceKind::Full);
                }
            }
        }
        Ok(elements)
    }
}
