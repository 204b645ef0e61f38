//! What the language asks of results that leave their type: unsigned ones wrap, signed ones must not be there.
//!
//! A front end masks every unsigned result and checks every signed one. What cannot leave its type needs neither. What
//! grows without end is taken for an integer without bounds, and that is said; the rest stays, and is exact.

use crate::program::{BinaryOp, Expr, Misuse, Op, Place, Program, RegisterId, RmwVar, UnaryOp};
use crate::source::Span;
use crate::util::Idx;

use super::cfg::Cfg;
use super::flow::Flow;
use super::intervals::{Interval, eval, is_wrap};
use super::narrow::{Registers, narrow};

/// Drops masks and checks where they change nothing; the places where something is taken for unbounded.
pub(super) fn settle(program: &Program, flow: &Flow, cfg: &mut Cfg) -> Vec<Span> {
    let mut unbounded = Vec::new();
    for arc in &mut cfg.arcs {
        let Some(registers) = flow.at(arc.from) else { continue };
        let mut is_unbounded = false;
        arc.op = unmasked_op(program, &arc.op, registers, &mut is_unbounded);
        if let (Op::Assert(condition), Some(Misuse::SignedOverflow)) = (&arc.op, arc.misuse)
            && is_endless(condition, registers)
        {
            (arc.op, arc.misuse, is_unbounded) = (Op::Assume(Expr::TRUE), None, true);
        }
        if is_unbounded {
            unbounded.push(arc.span);
        }
    }
    unbounded
}

/// Drops assertions that the text does not have where they hold whatever happens.
pub(super) fn drop_held(flow: &Flow, cfg: &mut Cfg) {
    for arc in cfg.arcs.iter_mut().filter(|arc| arc.misuse.is_some()) {
        if let (Op::Assert(condition), Some(registers)) = (&arc.op, flow.at(arc.from))
            && always(condition, registers)
        {
            (arc.op, arc.misuse) = (Op::Assume(Expr::TRUE), None);
        }
    }
    cfg.simplify();
}

/// Whether a condition holds for all values of the registers.
pub(super) fn always(condition: &Expr<RegisterId>, registers: &Registers) -> bool {
    match condition {
        Expr::Const(value) => *value != 0,
        Expr::Binary(BinaryOp::And, left, right) => always(left, registers) && always(right, registers),
        Expr::Binary(BinaryOp::Or, left, right) => always(left, registers) || always(right, registers),
        Expr::Binary(op, left, right) if op.is_comparison() => {
            let not = Expr::binary(*op, (**left).clone(), (**right).clone()).negated();
            !narrow(&not, &mut registers.clone())
        }
        Expr::Var(_) | Expr::Unary(UnaryOp::Not | UnaryOp::Neg, _) | Expr::Binary(..) => false,
    }
}

/// Whether what is compared in `lo <= e && e <= hi` has no bounds.
pub(super) fn is_endless(condition: &Expr<RegisterId>, registers: &Registers) -> bool {
    match condition {
        Expr::Binary(BinaryOp::And, left, right) => is_endless(left, registers) || is_endless(right, registers),
        Expr::Binary(_, left, right) => [left, right].into_iter().any(|it| is_all(eval(it, &|it| registers[it]))),
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) => false,
    }
}

fn is_all(values: Interval) -> bool {
    matches!(values, Interval::All | Interval::TooLarge)
}

fn unmasked_op(program: &Program, op: &Op, registers: &Registers, is_unbounded: &mut bool) -> Op {
    let mut unmasked = |expr: &Expr<RegisterId>| unmasked(expr, &|it| registers[it], is_unbounded);
    match op {
        Op::Assign(register, expr) => Op::Assign(*register, unmasked(expr)),
        Op::Assume(expr) => Op::Assume(unmasked(expr)),
        Op::Assert(expr) => Op::Assert(unmasked(expr)),
        Op::Store(place, expr) => Op::Store(place.clone(), unmasked(expr)),
        Op::Rmw { place, guard, write: Some(write), into } => {
            let write = Some(unmasked_write(write, registers, of_place(program, place), is_unbounded));
            Op::Rmw { place: place.clone(), guard: guard.clone(), write, into: *into }
        }
        op @ (Op::Havoc(..) | Op::Load(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_)) => op.clone(),
    }
}

fn of_place(program: &Program, place: &Place) -> Interval {
    let location = match place {
        Place::Fixed(location) => *location,
        Place::Cell(array, _) => program.arrays()[*array].first,
    };
    Interval::of(program.locations()[location].domain)
}

/// The same for what an update writes: what the place held is one more register.
fn unmasked_write(write: &Expr<RmwVar>, registers: &Registers, old: Interval, is_unbounded: &mut bool) -> Expr<RmwVar> {
    let extra: RegisterId = Idx::from_usize(registers.len());
    let write = write.map(&mut |it| match it {
        RmwVar::Old => extra,
        RmwVar::Register(register) => *register,
    });
    let of = |it: RegisterId| if it == extra { old } else { registers[it] };
    unmasked(&write, &of, is_unbounded).map(&mut |&it| if it == extra { RmwVar::Old } else { RmwVar::Register(it) })
}

fn unmasked(expr: &Expr<RegisterId>, of: &dyn Fn(RegisterId) -> Interval, is_unbounded: &mut bool) -> Expr<RegisterId> {
    match expr {
        Expr::Const(_) | Expr::Var(_) => expr.clone(),
        Expr::Unary(op, operand) => Expr::unary(*op, unmasked(operand, of, is_unbounded)),
        Expr::Binary(BinaryOp::BitAnd, left, right) => {
            let values = eval(left, of);
            let left = unmasked(left, of, is_unbounded);
            if is_wrap(expr) && is_all(values) {
                *is_unbounded = true;
                return left;
            }
            match (values, &**right) {
                (Interval::Bounded(lo, hi), Expr::Const(mask)) if fits((lo, hi), *mask) => left,
                _ => Expr::binary(BinaryOp::BitAnd, left, unmasked(right, of, is_unbounded)),
            }
        }
        Expr::Binary(op, left, right) => {
            let left = unmasked(left, of, is_unbounded);
            Expr::binary(*op, left, unmasked(right, of, is_unbounded))
        }
    }
}

/// Whether a mask of ones changes nothing.
pub(super) fn fits((lo, hi): (i128, i128), mask: i64) -> bool {
    lo >= 0 && hi <= i128::from(mask) && (i128::from(mask) + 1).count_ones() == 1
}
