//! Sets of bad situations, in disjunctive form.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{BinaryOp, Expr, PointId, ProcessId, Situation, StateVar};
use crate::watch::heed;

/// A situation in the making: where processes are, and what holds.
#[derive(Clone, Debug)]
pub(super) struct Conjunct {
    /// Invariant: no set is empty.
    at: BTreeMap<ProcessId, BTreeSet<PointId>>,
    condition: Expr<StateVar>,
}

impl Conjunct {
    /// Where a process is; nothing if it is nowhere.
    pub(super) fn at(process: ProcessId, points: &[PointId]) -> Option<Self> {
        let points: BTreeSet<PointId> = points.iter().copied().collect();
        (!points.is_empty()).then(|| Self { at: BTreeMap::from([(process, points)]), condition: Expr::TRUE })
    }

    /// What holds, wherever the processes are; nothing if it never holds.
    pub(super) fn holds(condition: Expr<StateVar>) -> Option<Self> {
        (condition != Expr::Const(0)).then_some(Self { at: BTreeMap::new(), condition })
    }

    /// Both; nothing if a process would be in two places.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        heed(8);
        let mut at = self.at.clone();
        for (process, points) in &other.at {
            let both = match at.get(process) {
                Some(known) => known & points,
                None => points.clone(),
            };
            if both.is_empty() {
                return None;
            }
            at.insert(*process, both);
        }
        let condition = match (&self.condition, &other.condition) {
            (Expr::Const(1), it) | (it, Expr::Const(1)) => it.clone(),
            (a, b) => Expr::binary(BinaryOp::And, a.clone(), b.clone()),
        };
        Some(Self { at, condition })
    }

    /// The situation.
    pub(super) fn finish(self) -> Situation {
        let at = self.at.into_iter().map(|(process, points)| (process, points.into_iter().collect())).collect();
        Situation { at, condition: self.condition }
    }
}
