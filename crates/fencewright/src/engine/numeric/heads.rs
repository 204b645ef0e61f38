//! Where loops begin, and in which order control comes to points: where to widen, and what to look at first.
//!
//! Stores that reach memory lead back to where they start, but are no loop: each of them leaves fewer stores pending,
//! and how many are is kept exactly. So every cycle of states goes through a loop of the text of some process.

use crate::program::{EdgeId, PointId};
use crate::translate::{Origin, Translated};
use crate::util::IndexVec;

/// What is known of points.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    /// Whether a loop begins there.
    pub is_head: IndexVec<PointId, bool>,
    /// Smaller where control comes first, loops aside.
    pub rank: IndexVec<PointId, u32>,
}

impl Heads {
    pub(super) fn new(translated: &Translated) -> Self {
        let n_points = translated.program.points().len();
        let mut heads = Self { is_head: IndexVec::filled(n_points, false), rank: IndexVec::filled(n_points, 0) };
        let mut visit = IndexVec::filled(n_points, Visit::Not);
        for process in translated.program.processes() {
            heads.walk(translated, process.entry, &mut visit);
        }
        heads
    }

    /// Depth first, from where a process starts.
    fn walk(&mut self, translated: &Translated, entry: PointId, visit: &mut IndexVec<PointId, Visit>) {
        let program = &translated.program;
        let is_flush = |edge: EdgeId| translated.origins[edge] == Origin::Arrival;
        let mut finished = Vec::new();
        let mut path = vec![(entry, 0)];
        visit[entry] = Visit::OnPath;
        while let Some((point, n_tried)) = path.last_mut() {
            let Some(&edge) = program.points()[*point].edges.get(*n_tried) else {
                visit[*point] = Visit::Done;
                finished.push(*point);
                path.pop();
                continue;
            };
            *n_tried += 1;
            let to = program.edges()[edge].to;
            match visit[to] {
                Visit::OnPath => self.is_head[to] |= !is_flush(edge),
                Visit::Done => {}
                Visit::Not => {
                    visit[to] = Visit::OnPath;
                    path.push((to, 0));
                }
            }
        }
        for (rank, &point) in finished.iter().rev().enumerate() {
            self.rank[point] = u32::try_from(rank).unwrap_or(u32::MAX);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Not,
    OnPath,
    Done,
}
