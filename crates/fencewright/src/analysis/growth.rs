//! Whether a store buffer, or what a machine remembers, can grow for ever.
//!
//! A buffer is bounded if every cycle of control that stores also drains: passes a full fence, a locked block or an
//! atomic update, which all wait for an empty buffer. Under PSO this is asked for each location, since an atomic update
//! waits for its own location only.

use std::collections::BTreeMap;

use crate::memory::{Buffering, PsoRmw};
use crate::program::{FenceKind, LocationId, Op, Place, ProcessId};
use crate::system::{Control, Flow, Move};
use crate::util::components;

/// Whether the control flow of some process allows its buffer to grow for ever.
pub fn may_grow(flow: Flow<'_>, buffering: Buffering) -> bool {
    let locations: Vec<Option<LocationId>> = match buffering {
        Buffering::None => return false,
        // All drain everything: one question for all locations.
        Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => vec![None],
        Buffering::PerLocation(PsoRmw::Location) => flow.program.locations().indices().map(Some).collect(),
    };
    let growth = Growth { flow };
    let mut processes = flow.program.processes().indices();
    processes.any(|process| locations.iter().any(|&x| growth.of(process, x)))
}

/// Whether the control flow of some process allows it to access memory for ever. If not, a machine has finitely many
/// states, unless it makes them by itself.
pub fn may_access_for_ever(flow: Flow<'_>) -> bool {
    let growth = Growth { flow };
    let accesses = |next: Move| match next {
        Move::Fence(..) => true,
        Move::Edge(edge) => !flow.program.edges()[edge].op.is_local(),
    };
    flow.program.processes().indices().any(|process| growth.repeats(process, accesses, |_| false))
}

struct Growth<'a> {
    flow: Flow<'a>,
}

impl Growth<'_> {
    /// Whether stores to `x` (to anything, if `None`) can pile up.
    fn of(&self, process: ProcessId, x: Option<LocationId>) -> bool {
        self.repeats(process, |next| self.may_store(next, x), |next| self.drains(next, x))
    }

    /// Whether there is a cycle of control with a move that counts and none that ends it: a move that counts within a
    /// component that is strongly connected without those that end it. No move does both.
    fn repeats(&self, process: ProcessId, counts: impl Fn(Move) -> bool, ends: impl Fn(Move) -> bool) -> bool {
        let entry = Control::At(self.flow.program.processes()[process].entry);
        let mut controls = vec![entry];
        let mut numbers = BTreeMap::from([(entry, 0)]);
        let mut follows: Vec<Vec<usize>> = Vec::new();
        let mut counted: Vec<(usize, usize)> = Vec::new();
        while let Some(&control) = controls.get(follows.len()) {
            let (from, mut followed) = (follows.len(), Vec::new());
            for (next, target) in self.flow.moves(control) {
                let to = *numbers.entry(target).or_insert_with(|| {
                    controls.push(target);
                    controls.len() - 1
                });
                if counts(next) {
                    counted.push((from, to));
                }
                if !ends(next) {
                    followed.push(to);
                }
            }
            follows.push(followed);
        }
        let component = components(&follows);
        counted.into_iter().any(|(from, to)| component[from] == component[to])
    }

    fn may_store(&self, next: Move, x: Option<LocationId>) -> bool {
        let Move::Edge(edge) = next else { return false };
        match (&self.flow.program.edges()[edge].op, x) {
            (Op::Store(..), None) => true,
            (Op::Store(place, _), Some(x)) => self.flow.program.locations_of(place).contains(&x),
            // A marker lengthens the buffer only behind a store.
            (Op::Load(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_), _) => false,
            (Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..), _) => false,
        }
    }

    fn drains(&self, next: Move, x: Option<LocationId>) -> bool {
        match next {
            Move::Fence(_, kind) => kind == FenceKind::Full,
            Move::Edge(edge) => match &self.flow.program.edges()[edge].op {
                Op::Fence(kind) => *kind == FenceKind::Full,
                Op::Locked(_) => true,
                Op::Rmw { place, .. } => match (x, place) {
                    (None, _) => true,
                    (Some(x), Place::Fixed(y)) => x == *y,
                    (Some(_), Place::Cell(..)) => false,
                },
                Op::Load(..) | Op::Store(..) => false,
                Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => false,
            },
        }
    }
}
