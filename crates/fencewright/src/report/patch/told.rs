//! Whether a program is another one with fences in it, as the language tells them.
//!
//! Orders and fences of the language must be the same, and every operation. What only a machine knows is passed over:
//! the fences that stand beside an access for its order, and steps that do nothing.

use std::collections::BTreeMap;

use crate::program::{Edge, Expr, FenceKind, Op, Order, Placement, PointId, ProcessId, Program};
use crate::system::{Flow, Move};

use super::same::{At, has_same_data, is_named, moves};

/// An operation, and its order in the language.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Fence(Order),
    Does(Op, Order),
}

/// What a language tells of an operation; nothing of what only a machine knows.
fn told(edge: &Edge) -> Option<Told> {
    if let Some(order) = edge.fence_order() {
        return Some(Told::Fence(order));
    }
    let is_nothing = matches!(&edge.op, Op::Assume(Expr::Const(value)) if *value != 0);
    if is_nothing || matches!(edge.op, Op::Fence(_)) {
        return None;
    }
    let order = if edge.op.is_local() { Order::Relaxed } else { edge.order.of(&edge.op) };
    Some(Told::Does(edge.op.clone(), order))
}

/// Whether `new` is `program` with the fences of `placement`, to the language.
pub(super) fn is_told_alike(program: &Program, placement: &Placement, new: &Program) -> bool {
    let old = Flow { program, placement };
    let new = Flow { program: new, placement: &Placement::NONE };
    has_same_data(program, new.program)
        && program.processes().indices().all(|process| is_same_process(old, new, process))
}

fn is_same_process(old: Flow<'_>, new: Flow<'_>, process: ProcessId) -> bool {
    let start = |flow: Flow<'_>| At::of(flow.program.processes()[process].entry);
    let mut images = BTreeMap::from([(start(old), start(new))]);
    let mut todo = vec![(start(old), start(new))];
    while let Some((at, image)) = todo.pop() {
        let [mine, theirs] = [(old, at), (new, image)].map(|(flow, at)| Ahead::of(flow, process, at));
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return false };
        if mine.steps.len() != theirs.steps.len() || mine.is_end != theirs.is_end || mine.named != theirs.named {
            return false;
        }
        for ((told, next), (other, its)) in mine.steps.into_iter().zip(theirs.steps) {
            let is_known = *images.entry(next).or_insert_with(|| {
                todo.push((next, its));
                its
            }) == its;
            if told != other || !is_known {
                return false;
            }
        }
    }
    true
}

/// What a process does next, behind the steps of which the language tells nothing.
#[derive(Default)]
struct Ahead {
    steps: Vec<(Told, At)>,
    is_end: bool,
    /// Whether each situation of a property, if it names the process, names a point on the way.
    named: Vec<Option<bool>>,
}

impl Ahead {
    /// `None` where steps of which nothing is told go round.
    fn of(flow: Flow<'_>, process: ProcessId, at: At) -> Option<Self> {
        let mut ahead = Self::default();
        ahead.look(flow, process, at, &mut Vec::new()).then_some(ahead)
    }

    fn look(&mut self, flow: Flow<'_>, process: ProcessId, at: At, way: &mut Vec<At>) -> bool {
        if way.contains(&at) {
            return false;
        }
        way.push(at);
        self.see(flow.program, process, at.point());
        for (step, next) in moves(flow, at) {
            let told = match step {
                Move::Edge(edge) => told(&flow.program.edges()[edge]),
                Move::Fence(_, FenceKind::Full) => Some(Told::Fence(Order::SeqCst)),
                Move::Fence(_, FenceKind::StoreStore) => Some(Told::Fence(Order::Release)),
            };
            match told {
                Some(told) => self.steps.push((told, next)),
                None => {
                    if !self.look(flow, process, next, way) {
                        return false;
                    }
                }
            }
        }
        way.pop();
        true
    }

    fn see(&mut self, program: &Program, process: ProcessId, point: Option<PointId>) {
        self.is_end |= point.is_some_and(|point| program.points()[point].is_end);
        let named = is_named(program, process, point);
        if self.named.is_empty() {
            self.named = named;
            return;
        }
        for (so_far, here) in self.named.iter_mut().zip(named) {
            *so_far = so_far.zip(here).map(|(so_far, here)| so_far || here);
        }
    }
}
