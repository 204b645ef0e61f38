//! Processes whose stores may be taken to reach memory at once, though they wait in a buffer.
//!
//! ```text
//!    with a buffer:    store x ── r := r + 1 ──────── x reaches memory ── load y
//!    at once:                                   store x ── r := r + 1 ── load y        the same for everybody else
//! ```
//!
//! A process is *prompt* if whenever it looks at memory, by a load, an update or a block, none of its stores waits.
//! Then let each store happen when it reaches memory, and let what the process does between be put off until then: that
//! is on its own registers only. Memory holds the same at every moment, so the others do the same, and so does the
//! process whenever it looks, since by then nothing is put off any more. What is put off at the end of a run happens
//! when the buffers drain; a property that looks at where processes are and at registers holds then as it did, and one
//! that looks at memory waits for empty buffers anyhow. That takes stores that reach memory in the order in which they
//! were made, so under PSO all have to be to one location.

use std::collections::BTreeSet;

use crate::memory::PsoRmw;
use crate::program::{FenceKind, LocationId, Op, Place, ProcessId};
use crate::system::{Control, Flow, Move};

use super::Machine;

/// Whether a process is prompt.
pub(super) fn is_prompt(flow: Flow<'_>, process: ProcessId, machine: Machine) -> bool {
    let entry = (Control::At(flow.program.processes()[process].entry), false);
    let mut stored_to = None;
    let mut seen = BTreeSet::from([entry]);
    let mut todo = vec![entry];
    while let Some((control, may_wait)) = todo.pop() {
        for (next, to) in flow.moves(control) {
            let waits_then = match next {
                Move::Fence(_, FenceKind::Full) => Some(false),
                Move::Fence(_, FenceKind::StoreStore) => Some(may_wait),
                Move::Edge(edge) => behind(&flow.program.edges()[edge].op, may_wait, &mut stored_to, machine),
            };
            let Some(waits_then) = waits_then else { return false };
            if seen.insert((to, waits_then)) {
                todo.push((to, waits_then));
            }
        }
    }
    true
}

/// Whether a store may wait behind an operation; `None` if the process is not prompt.
fn behind(op: &Op, may_wait: bool, stored_to: &mut Option<LocationId>, machine: Machine) -> Option<bool> {
    match op {
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Some(may_wait),
        Op::Fence(FenceKind::StoreStore) => Some(may_wait),
        // They wait for an empty buffer.
        Op::Fence(FenceKind::Full) | Op::Locked(_) => Some(false),
        Op::Rmw { .. } => match machine {
            Machine::Sc | Machine::Tso | Machine::Pso(PsoRmw::All) => Some(false),
            Machine::Pso(PsoRmw::Location) => (!may_wait).then_some(false),
        },
        Op::Load(..) => (!may_wait).then_some(false),
        Op::Store(place, _) => match (machine, place) {
            (Machine::Sc | Machine::Tso, _) => Some(true),
            (Machine::Pso(_), Place::Fixed(x)) => (*stored_to.get_or_insert(*x) == *x).then_some(true),
            (Machine::Pso(_), Place::Cell(..)) => None,
        },
    }
}
