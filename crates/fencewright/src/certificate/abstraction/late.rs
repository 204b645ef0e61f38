//! Processes whose stores may be taken to reach memory at once, though they wait in a buffer.
//!
//! ```text
//!    with a buffer:    store x ── r := r + 1 ── load y ── x reaches memory ── fence ── load z
//!    late:                                           store x ── r := r + 1 ── load y ── fence ── load z
//! ```
//!
//! Let each store of a process happen when it reaches memory, and let what the process does between be put off until
//! then. Memory holds the same at every moment, so the others do the same. Of what the process itself does only loads
//! look at memory while a store may wait, since an update or a block waits for the store. Such a load is made too late.
//! If nobody else writes the location, it finds what it should: the process's last store. Otherwise what it should find
//! is something that the location has held, so let it find *any* value; or, if memory never holds less at the location
//! than before, any that is at most what it holds. (That memory grows is looked at wherever it changes. At the first
//! moment that broke it, all loads before had found no more than memory held; so that moment is visited, too.) A
//! process that makes no load of the second kind is *prompt*, and nothing is lost. What is put off at the end of a run
//! happens when the buffers drain; a property that looks at where processes are and at registers holds then as it did,
//! and one that looks at memory waits for empty buffers anyhow.
//!
//! That takes stores that reach memory in the order in which they were made, so under PSO all have to be to one
//! location; and there an update of another location must not come while a store may wait, for it cannot be put off.
//!
//! Against any behavior of other threads a load of a location that these may write finds any value, late or not, and a
//! store there is a step of the process alone.

use std::collections::BTreeSet;

use crate::memory::{Buffering, PsoRmw};
use crate::program::{FenceKind, LocationId, Op, Place, ProcessId, Program};
use crate::system::{Control, Flow, Move};

/// The control points of a process at which a store may wait, if the process can be late.
pub(super) fn waiting_points(
    flow: Flow<'_>,
    process: ProcessId,
    machine: Buffering,
    foreign: &BTreeSet<LocationId>,
) -> Option<BTreeSet<Control>> {
    let entry = (Control::At(flow.program.processes()[process].entry), false);
    let mut stored_to = None;
    let mut seen = BTreeSet::from([entry]);
    let mut todo = vec![entry];
    while let Some((control, may_wait)) = todo.pop() {
        for (next, to) in flow.moves(control) {
            let waits_then = match next {
                Move::Fence(_, FenceKind::Full) => false,
                Move::Fence(_, FenceKind::StoreStore) => may_wait,
                Move::Edge(edge) => {
                    let stores = Stores { machine, foreign, to: &mut stored_to };
                    stores.wait_behind(&flow.program.edges()[edge].op, may_wait)?
                }
            };
            if seen.insert((to, waits_then)) {
                todo.push((to, waits_then));
            }
        }
    }
    Some(seen.into_iter().filter(|it| it.1).map(|it| it.0).collect())
}

/// Whether a process loads at one of these points what others write that are looked at.
pub(super) fn loads_at(
    flow: Flow<'_>,
    process: ProcessId,
    points: &BTreeSet<Control>,
    foreign: &BTreeSet<LocationId>,
) -> bool {
    let is_as_ever = |x: &LocationId| foreign.contains(x) || is_own(flow.program, process, *x);
    let is_stale = |next: &Move| match next {
        Move::Edge(edge) => match &flow.program.edges()[*edge].op {
            Op::Load(_, place) => !flow.program.locations_of(place).iter().all(is_as_ever),
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Store(..) => false,
            Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => false,
        },
        Move::Fence(..) => false,
    };
    points.iter().any(|&control| flow.moves(control).iter().any(|(next, _)| is_stale(next)))
}

/// Whether no other process writes a location.
pub(super) fn is_own(program: &Program, process: ProcessId, x: LocationId) -> bool {
    let mut writing = program.edges().iter().filter(|edge| program.may_write(&edge.op, x));
    writing.all(|edge| edge.process == process)
}

/// What is known of the stores of a process.
struct Stores<'a> {
    machine: Buffering,
    foreign: &'a BTreeSet<LocationId>,
    /// A location that they go to.
    to: &'a mut Option<LocationId>,
}

impl Stores<'_> {
    /// Whether a store may wait behind an operation; `None` if the process cannot be late.
    fn wait_behind(self, op: &Op, may_wait: bool) -> Option<bool> {
        match op {
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => Some(may_wait),
            Op::Fence(FenceKind::StoreStore) => Some(may_wait),
            // They wait for an empty buffer.
            Op::Fence(FenceKind::Full) | Op::Locked(_) => Some(false),
            Op::Rmw { .. } => match self.machine {
                Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => Some(false),
                Buffering::PerLocation(PsoRmw::Location) => (!may_wait).then_some(false),
            },
            Op::Store(Place::Fixed(x), _) if self.foreign.contains(x) => Some(may_wait),
            Op::Store(place, _) => match (self.machine, place) {
                (Buffering::None | Buffering::Fifo, _) => Some(true),
                (Buffering::PerLocation(_), Place::Fixed(x)) => (*self.to.get_or_insert(*x) == *x).then_some(true),
                (Buffering::PerLocation(_), Place::Cell(..)) => None,
            },
        }
    }
}
