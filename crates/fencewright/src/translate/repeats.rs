//! Stores that repeat the newest pending one.
//!
//! A process that stores a value to a location again and again while it waits fills every buffer. If no other process
//! writes the location, a second store of the same value right behind the first changes nothing: whoever looks at
//! memory between the two finds the value already there. So where a buffer may be full such a store is left out.
//!
//! Why that loses nothing, and adds nothing: leave out of a queue some entries `x = v` that follow an entry `x = v`, or
//! that are first while memory holds `v`; let no marker of a store-store fence stand between. The process reads the
//! same values, and others see the same memory. Such an entry that is first can leave at any time without any change,
//! since nobody else writes `x`; so whatever waits for an empty queue can be had with the entry and without. Each step
//! of one machine is a step of the other, perhaps after some such entries have left.

use crate::program::{LocationId, ProcessId, Program};
use crate::translate::graph::Graph;

/// Whether no other process writes a location.
pub(super) fn is_own(program: &Program, graph: &Graph, process: ProcessId, x: LocationId) -> bool {
    graph.steps.iter().filter(|step| step.process != process).all(|step| !program.may_write(&step.op, x))
}
