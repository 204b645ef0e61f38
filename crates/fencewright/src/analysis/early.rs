//! Relaxed loads that hardware may let come after later stores (load buffering).
//!
//! RC11 excludes that, and with it values out of thin air; but compilers map a relaxed load to a plain one, and ARM and
//! POWER then allow it. So whoever says `safe` by RC11 names these loads: those from which a write of the same thread
//! can be reached without an acquire fence between.

use std::collections::BTreeSet;

use crate::program::{EdgeId, Op, Order, PointId, Program};
use crate::watch::heed;

/// The relaxed loads before a write, in the order of the program.
pub fn loads_before_stores(program: &Program) -> Vec<EdgeId> {
    let edges = program.edges().iter_enumerated();
    let loads = edges.filter(|(_, edge)| matches!(edge.op, Op::Load(..) | Op::Rmw { write: None, .. }));
    let relaxed = loads.filter(|(_, edge)| edge.order.of_read() == Order::Relaxed && !is_plain(program, &edge.op));
    relaxed.filter(|(_, edge)| reaches_write(program, edge.to)).map(|(id, _)| id).collect()
}

fn is_plain(program: &Program, op: &Op) -> bool {
    matches!(op, Op::Load(_, place) if program.is_plain(place))
}

/// Whether a write comes before an acquire fence on some way from here.
fn reaches_write(program: &Program, from: PointId) -> bool {
    let (mut todo, mut seen) = (vec![from], BTreeSet::from([from]));
    while let Some(point) = todo.pop() {
        heed(1);
        for &id in &program.points()[point].edges {
            let edge = &program.edges()[id];
            let is_fence = edge.fence_order().is_some_and(Order::acquires);
            if matches!(edge.op, Op::Store(..) | Op::Rmw { write: Some(_), .. }) {
                return true;
            }
            if !is_fence && seen.insert(edge.to) {
                todo.push(edge.to);
            }
        }
    }
    false
}
