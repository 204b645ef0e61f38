//! What keeps an operation from being taken while a store waits: fences on every path from the store to the operation.
//!
//! The paper's ordering constraint `[l₁ ≺ l₂]`. Which fences enforce it is a function of the places where fences may
//! stand: each path from `l₁` to `l₂` has one. Its minimal models are the minimal cuts between the two, so that whoever
//! minimizes over all constraints at once finds cuts that serve several of them.

use std::collections::BTreeMap;

use crate::engine::Task;
use crate::engine::automaton::FastMap;
use crate::memory::{Buffering, PsoRmw};
use crate::program::{EdgeId, FenceKind, Op, Place, PointId, Position, Side};
use crate::util::{Bdd, Formula, IndexVec};

/// Places for fences, each a variable; one may be at several positions.
pub type Places = BTreeMap<Position, Vec<u32>>;

/// Ordering constraints as functions of the places for fences.
#[derive(Debug)]
pub(super) struct Cuts<'a> {
    task: &'a Task<'a>,
    buffering: Buffering,
    places: &'a Places,
    /// For each store, what has to be there for it to have left the buffer at each point.
    behind: FastMap<EdgeId, IndexVec<PointId, Formula>>,
}

impl<'a> Cuts<'a> {
    /// For full fences at these places.
    pub(super) fn new(task: &'a Task<'a>, buffering: Buffering, places: &'a Places) -> Self {
        Self { task, buffering, places, behind: FastMap::default() }
    }

    /// `[l₁ ≺ l₂]`: the fences with which the operation is never taken while the store waits.
    pub(super) fn between(&mut self, bdd: &mut Bdd, store: EdgeId, operation: EdgeId) -> Formula {
        let before = self.fence(bdd, operation, Side::Before);
        let from = self.task.program.edges()[operation].from;
        if !self.behind.contains_key(&store) {
            let behind = self.behind(bdd, store);
            self.behind.insert(store, behind);
        }
        bdd.or(self.behind[&store][from], before)
    }

    /// The greatest solution: at a point, every edge that leads there has been fenced, or its start has.
    fn behind(&self, bdd: &mut Bdd, store: EdgeId) -> IndexVec<PointId, Formula> {
        let program = self.task.program;
        let mut behind = IndexVec::filled(program.points().len(), Formula::TRUE);
        let start = program.edges()[store].to;
        behind[start] = self.fence(bdd, store, Side::After);
        let mut todo = vec![start];
        while let Some(point) = todo.pop() {
            for &edge in &program.points()[point].edges {
                let passed = self.passed(bdd, store, edge);
                let through = bdd.or(behind[point], passed);
                let target = program.edges()[edge].to;
                let all = bdd.and(behind[target], through);
                if all != behind[target] {
                    behind[target] = all;
                    todo.push(target);
                }
            }
        }
        behind
    }

    /// What has to be there for a store to have left the buffer when an edge is passed.
    fn passed(&self, bdd: &mut Bdd, store: EdgeId, edge: EdgeId) -> Formula {
        if self.drains(store, edge) {
            return Formula::TRUE;
        }
        let (before, after) = (self.fence(bdd, edge, Side::Before), self.fence(bdd, edge, Side::After));
        bdd.or(before, after)
    }

    fn fence(&self, bdd: &mut Bdd, edge: EdgeId, side: Side) -> Formula {
        if self.task.placement.get(edge, side) == Some(FenceKind::Full) {
            return Formula::TRUE;
        }
        let variables = self.places.get(&Position { edge, side }).into_iter().flatten();
        variables.fold(Formula::FALSE, |any, &variable| {
            let variable = bdd.variable(variable);
            bdd.or(any, variable)
        })
    }

    /// Whether the operation itself waits for the store to leave.
    fn drains(&self, store: EdgeId, edge: EdgeId) -> bool {
        let edges = self.task.program.edges();
        match &edges[edge].op {
            Op::Fence(kind) => *kind == FenceKind::Full,
            Op::Locked(_) => true,
            Op::Rmw { place, .. } => match self.buffering {
                Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => true,
                Buffering::PerLocation(PsoRmw::Location) => match (place, &edges[store].op) {
                    (Place::Fixed(x), Op::Store(Place::Fixed(y), _)) => x == y,
                    _ => false,
                },
            },
            Op::Load(..) | Op::Store(..) => false,
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => false,
        }
    }
}
