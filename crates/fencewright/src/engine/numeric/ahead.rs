//! Points from which a process may go on while all others wait.
//!
//! A step that touches only registers of its process can be swapped with any step of another process. So, in a run into
//! a violation, the next step of a process that has only such steps ahead can be moved to the front. What that changes
//! is where the process is, and its registers, while others go on. It changes no violation if no property looks at the
//! process where it is: none names the point, and none that leaves open where the process is reads its registers. If
//! the process takes no further step in the run, it can be given one, as long as one of them is always possible. And no
//! way of such points leads back to its start, so that others do not wait for ever.
//!
//! Peled, _All from one, one for all_, CAV 1993: the steps of the process are an ample set.

use std::collections::BTreeSet;

use crate::program::{Expr, Micro, Op, PointId, ProcessId, Program, RegisterId, StateVar, UnaryOp};
use crate::util::IndexVec;

/// The points from which a process may go on while all others wait.
pub(super) fn ahead(program: &Program) -> IndexVec<PointId, bool> {
    let mut is_ahead = IndexVec::filled(program.points().len(), false);
    for point in program.points().indices() {
        let process = program.points()[point].process;
        is_ahead[point] = goes_on(program, point) && !is_observed(program, process, point);
        is_ahead[point] = is_ahead[point] && !returns(program, &is_ahead, point);
    }
    is_ahead
}

/// Whether all steps from a point are on registers only, and one of them is always possible.
fn goes_on(program: &Program, point: PointId) -> bool {
    let ops: Vec<&Op> = program.points()[point].edges.iter().map(|&edge| &program.edges()[edge].op).collect();
    let guards: Vec<Option<Guard<'_>>> = ops.iter().map(|op| guard(op)).collect();
    let conditions: Vec<&Expr<RegisterId>> = guards
        .iter()
        .filter_map(|guard| match guard {
            Some(Guard::If(condition)) => Some(*condition),
            Some(Guard::Always | Guard::Perhaps) | None => None,
        })
        .collect();
    let has_opposites = conditions.iter().any(|a| conditions.iter().any(|b| is_opposite(a, b)));
    let is_always = guards.iter().any(|guard| matches!(guard, Some(Guard::Always)));
    guards.iter().all(Option::is_some) && (is_always || has_opposites)
}

/// When a step on registers is possible.
#[derive(Clone, Copy)]
enum Guard<'a> {
    Always,
    If(&'a Expr<RegisterId>),
    Perhaps,
}

/// When an operation is possible; `None` if it touches memory.
fn guard(op: &Op) -> Option<Guard<'_>> {
    match op {
        Op::Assume(condition) => Some(Guard::If(condition)),
        Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Some(Guard::Always),
        Op::Load(..) | Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) => None,
        Op::Locked(body) if touches_memory(body) => None,
        Op::Locked(body) if is_total(body) => Some(Guard::Always),
        Op::Locked(body) => match body.split_first() {
            Some((Micro::Assume(condition), rest)) if is_total(rest) => Some(Guard::If(condition)),
            Some(_) | None => Some(Guard::Perhaps),
        },
    }
}

fn touches_memory(body: &[Micro]) -> bool {
    body.iter().any(|micro| match micro {
        Micro::Load(..) | Micro::Store(..) => true,
        Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => false,
        Micro::Choose(branches) => branches.iter().any(|branch| touches_memory(branch)),
    })
}

/// Whether there is always a way through a block.
fn is_total(body: &[Micro]) -> bool {
    body.iter().all(|micro| match micro {
        Micro::Assume(_) => false,
        Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Load(..) | Micro::Store(..) => true,
        Micro::Choose(branches) => match branches.as_slice() {
            [yes, no] => match (yes.split_first(), no.split_first()) {
                (Some((Micro::Assume(a), yes)), Some((Micro::Assume(b), no))) => {
                    is_opposite(a, b) && is_total(yes) && is_total(no)
                }
                _ => false,
            },
            _ => false,
        },
    })
}

fn is_opposite(a: &Expr<RegisterId>, b: &Expr<RegisterId>) -> bool {
    let is_not = |a: &Expr<RegisterId>, b: &Expr<RegisterId>| match a {
        Expr::Unary(UnaryOp::Not, inner) => **inner == *b,
        Expr::Unary(UnaryOp::Neg, _) | Expr::Const(_) | Expr::Var(_) | Expr::Binary(..) => false,
    };
    is_not(a, b) || is_not(b, a)
}

/// Whether a property looks at a process that is here.
fn is_observed(program: &Program, process: ProcessId, point: PointId) -> bool {
    program.properties().iter().flat_map(|property| &property.situations).any(|situation| {
        if let Some((_, points)) = situation.at.iter().find(|at| at.0 == process) {
            return points.contains(&point);
        }
        let mut reads = false;
        situation.condition.for_each_var(&mut |it| {
            reads |= matches!(it, StateVar::Register(owner, _) if *owner == process);
        });
        reads
    })
}

/// Whether a way over such points leads from one back to it.
fn returns(program: &Program, is_ahead: &IndexVec<PointId, bool>, start: PointId) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![start];
    while let Some(point) = todo.pop() {
        for to in program.points()[point].edges.iter().map(|&edge| program.edges()[edge].to) {
            if to == start {
                return true;
            }
            if is_ahead[to] && seen.insert(to) {
                todo.push(to);
            }
        }
    }
    false
}
