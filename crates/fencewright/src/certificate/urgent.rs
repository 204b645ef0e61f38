//! Steps that can wait: while a process has only local steps ahead that nobody can see, all others wait for it.
//!
//! Such a step changes nothing but registers of its process, so it can be swapped with any step of another process and
//! with any store that leaves: from every configuration that is reached with it later, the same is reached with it
//! first. That needs, at the control point where the process is:
//!
//! - every step from there is local, and one of them is possible whatever the data is: it cannot be stuck;
//! - no property looks at the process there, neither at where it is nor at its registers;
//! - no way of local steps leads back there, so that others do not wait for ever.
//!
//! Peled, _All from one, one for all_, CAV 1993: the local steps of the process are an ample set.

use std::collections::BTreeSet;

use crate::program::{EdgeId, Expr, Op, ProcessId, Program, RegisterId, StateVar};
use crate::system::{Control, Flow, Move};
use crate::util::IndexVec;

/// The control points at which a process may be urgent.
pub(super) struct Urgent {
    points: IndexVec<ProcessId, BTreeSet<Control>>,
}

impl Urgent {
    pub(super) fn new(flow: Flow<'_>) -> Self {
        let points = flow.program.processes().indices().map(|process| {
            let local: BTreeSet<Control> = reachable(flow, process)
                .into_iter()
                .filter(|&control| is_local(flow, control) && !is_observed(flow.program, process, control))
                .collect();
            local.iter().copied().filter(|&control| !is_on_cycle(flow, control)).collect()
        });
        Self { points: points.collect() }
    }

    /// Whether others wait for a process that is there, if it can go on.
    pub(super) fn is_at(&self, process: ProcessId, control: Control) -> bool {
        self.points[process].contains(&control)
    }
}

/// What the local steps from a control point wait for, one of them at least; `None` if one waits for nothing.
pub(super) fn waits_for(flow: Flow<'_>, control: Control) -> Option<Vec<&Expr<RegisterId>>> {
    let edges = plain_edges(flow, control).unwrap_or_default();
    edges.iter().map(|(edge, _)| condition(&flow.program.edges()[*edge].op)).collect()
}

/// What a local step waits for, if it waits.
fn condition(op: &Op) -> Option<&Expr<RegisterId>> {
    match op {
        Op::Assume(condition) => Some(condition),
        Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => None,
        Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
    }
}

/// Whether there is a step ahead, and all are local.
fn is_local(flow: Flow<'_>, control: Control) -> bool {
    let is_local = |(edge, _): &(_, Control)| flow.program.edges()[*edge].op.is_local();
    plain_edges(flow, control).is_some_and(|edges| !edges.is_empty() && edges.iter().all(is_local))
}

/// Whether a property looks at a process that is here.
fn is_observed(program: &Program, process: ProcessId, control: Control) -> bool {
    program.properties().iter().flat_map(|property| &property.situations).any(|situation| {
        let named = situation.at.iter().find(|at| at.0 == process);
        let is_there = |points: &Vec<_>| matches!(control, Control::At(point) if points.contains(&point));
        match named {
            Some((_, points)) => is_there(points),
            None => {
                let mut reads = false;
                situation.condition.for_each_var(&mut |it| {
                    reads |= matches!(it, StateVar::Register(owner, _) if *owner == process);
                });
                reads
            }
        }
    })
}

/// Whether local steps lead from a control point back to it.
fn is_on_cycle(flow: Flow<'_>, start: Control) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![start];
    while let Some(control) = todo.pop() {
        if !is_local(flow, control) {
            continue;
        }
        for (_, next) in plain_edges(flow, control).unwrap_or_default() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                todo.push(next);
            }
        }
    }
    false
}

/// Every control point that a process may come to.
fn reachable(flow: Flow<'_>, process: ProcessId) -> BTreeSet<Control> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![Control::At(flow.program.processes()[process].entry)];
    while let Some(control) = todo.pop() {
        if seen.insert(control) {
            todo.extend(flow.moves(control).into_iter().map(|(_, next)| next));
        }
    }
    seen
}

/// The edges that leave a control point without a fence before them.
fn plain_edges(flow: Flow<'_>, control: Control) -> Option<Vec<(EdgeId, Control)>> {
    let moves = flow.moves(control).into_iter().map(|(next, to)| match next {
        Move::Edge(edge) => Some((edge, to)),
        Move::Fence(..) => None,
    });
    moves.collect()
}
