//! Which control points no run reaches, where a short search tells.
//!
//! A few runs at random come by most points. Those that no run is known to reach yet are a property; a violating run
//! reaches one of them, and all those that it comes by. If there is no such run, what is left is reached by none.
//! Nothing is said unless that is proved.

use std::collections::BTreeSet;

use crate::engine::look::look;
use crate::engine::stroll::stroll;
use crate::engine::{Task, Verdict};
use crate::program::{Expr, PointId, Program, Property, PropertyKind, PropertyWords, Situation};
use crate::source::Span;
use crate::system::{Action, Run};
use crate::watch::Monitor;

/// So many states are looked at in all.
const BUDGET: u64 = 2_000;

/// A larger program is not asked about: every state would be compared with every point.
const MAX_POINTS: usize = 1000;

/// The points that no run reaches; nothing if that is not found out soon.
pub fn unreached(task: &Task<'_>, monitor: &dyn Monitor) -> Option<BTreeSet<PointId>> {
    let program = task.program;
    // A few copies may not reach what more of them do.
    if program.points().len() > MAX_POINTS || program.is_open() {
        return None;
    }
    let mut open: BTreeSet<PointId> = program.points().indices().collect();
    for process in program.processes() {
        open.remove(&process.entry);
    }
    if stroll(task, &mut open, monitor).is_some() {
        return None;
    }
    let mut left = BUDGET;
    while !open.is_empty() {
        let asked = program.with_properties([reaching(program, &open)]);
        let (verdict, stats) = look(&Task { program: &asked, ..*task }, left, monitor)?;
        match verdict {
            Verdict::Safe => break,
            Verdict::Unsafe(run) => {
                let visited: BTreeSet<PointId> = visited(program, &run).collect();
                open.retain(|point| !visited.contains(point));
            }
            Verdict::Unknown(_) => return None,
        }
        left = left.checked_sub(stats.explored)?;
    }
    Some(open)
}

/// Some process is at one of these points.
fn reaching(program: &Program, points: &BTreeSet<PointId>) -> Property {
    let situation = |&point: &PointId| Situation {
        at: vec![(program.points()[point].process, vec![point])],
        condition: Expr::TRUE,
    };
    Property {
        kind: PropertyKind::Control,
        situations: points.iter().map(situation).collect(),
        text: "a point is reached".to_owned(),
        words: PropertyWords::default(),
        span: Span::default(),
    }
}

/// The points that a run comes by.
fn visited<'a>(program: &'a Program, run: &'a Run) -> impl Iterator<Item = PointId> + 'a {
    run.trace.steps.iter().filter_map(|step| match step.action {
        Action::Edge { edge, .. } => Some(program.edges()[edge].to),
        Action::Internal(_) | Action::Fence(_) => None,
    })
}
