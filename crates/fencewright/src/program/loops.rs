//! How deep in loops an edge lies.
//!
//! A loop is a strongly connected part of the control flow; what is still one without the edges back to its head is a
//! loop inside it.

use crate::program::{EdgeId, PointId, Program};
use crate::util::IndexVec;

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

/// For each point, the first point of its strongly connected part (Kosaraju's algorithm). Points are numbered in the
/// order in which control reaches them, so that the first is where the loop is entered.
fn heads(program: &Program, edges: &[EdgeId]) -> IndexVec<PointId, PointId> {
    let n_points = program.points().len();
    let mut forward: IndexVec<PointId, Vec<PointId>> = IndexVec::filled(n_points, Vec::new());
    let mut backward = forward.clone();
    for edge in edges.iter().map(|&edge| &program.edges()[edge]) {
        forward[edge.from].push(edge.to);
        backward[edge.to].push(edge.from);
    }
    let mut finished = Vec::new();
    let mut is_seen = IndexVec::filled(n_points, false);
    for point in program.points().indices() {
        finished.extend(finish_order(&forward, point, &mut is_seen));
    }
    let mut heads: IndexVec<PointId, PointId> = program.points().indices().collect();
    let mut is_seen = IndexVec::filled(n_points, false);
    for &point in finished.iter().rev() {
        let part = finish_order(&backward, point, &mut is_seen);
        if let Some(&head) = part.iter().min() {
            part.into_iter().for_each(|it| heads[it] = head);
        }
    }
    heads
}

/// The points not seen before that can be reached, each after those reached from it.
fn finish_order(
    next: &IndexVec<PointId, Vec<PointId>>,
    start: PointId,
    is_seen: &mut IndexVec<PointId, bool>,
) -> Vec<PointId> {
    let mut order = Vec::new();
    let mut path = if std::mem::replace(&mut is_seen[start], true) { Vec::new() } else { vec![(start, 0)] };
    while let Some((point, n_tried)) = path.last_mut() {
        match next[*point].get(*n_tried) {
            Some(&to) => {
                *n_tried += 1;
                if !std::mem::replace(&mut is_seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                order.push(*point);
                path.pop();
            }
        }
    }
    order
}
