//! How deep in loops an edge lies.
//!
//! A loop is a strongly connected part of the control flow; what is still one without the edges back to its head is a
//! loop inside it.

use crate::program::{EdgeId, PointId, Program};
use crate::util::{Idx, IndexVec, components};

/// Deeper loops count as this deep.
const MAX_DEPTH: u32 = 6;

/// For each edge, how many loops it lies in.
pub(super) fn depths(program: &Program) -> IndexVec<EdgeId, u32> {
    let mut depths = IndexVec::filled(program.edges().len(), 0);
    let mut edges: Vec<EdgeId> = program.edges().indices().collect();
    for _ in 0..MAX_DEPTH {
        let heads = heads(program, &edges);
        edges.retain(|&edge| heads[program.edges()[edge].from] == heads[program.edges()[edge].to]);
        edges.iter().for_each(|&edge| depths[edge] += 1);
        edges.retain(|&edge| heads[program.edges()[edge].to] != program.edges()[edge].to);
    }
    depths
}

/// For each point, the first point of its strongly connected part. Points are numbered in the order in which control
/// reaches them, so that the first is where the loop is entered.
fn heads(program: &Program, edges: &[EdgeId]) -> IndexVec<PointId, PointId> {
    let mut next = vec![Vec::new(); program.points().len()];
    for edge in edges.iter().map(|&edge| &program.edges()[edge]) {
        next[edge.from.index()].push(edge.to.index());
    }
    components(&next).into_iter().map(PointId::from_usize).collect()
}
