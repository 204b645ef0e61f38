//! What a condition says about the values of registers.

use crate::program::{BinaryOp, Expr, RegisterId, RmwVar, UnaryOp};
use crate::util::{Idx, IndexVec};

use super::intervals::{Interval, eval};

/// The values of the registers of a thread at a point.
pub(super) type Registers = IndexVec<RegisterId, Interval>;

/// Narrows registers to where a condition holds; whether it can hold.
pub(super) fn narrow(condition: &Expr<RegisterId>, registers: &mut Registers) -> bool {
    match condition {
        Expr::Const(value) => *value != 0,
        Expr::Binary(BinaryOp::And, left, right) => narrow(left, registers) && narrow(right, registers),
        Expr::Binary(op, left, right) if is_comparison(*op) => {
            let (a, b) = (eval(left, &|it| registers[it]), eval(right, &|it| registers[it]));
            let (Some(a), Some(b)) = (bounds(a), bounds(b)) else { return true };
            let (new_a, new_b) = compared(*op, a, b);
            for (side, new) in [(left, new_a), (right, new_b)] {
                if new.0 > new.1 {
                    return false;
                }
                if let Expr::Var(register) = &**side {
                    registers[*register] = interval(new);
                }
            }
            true
        }
        Expr::Var(_) | Expr::Unary(UnaryOp::Not | UnaryOp::Neg, _) | Expr::Binary(..) => true,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Bounds, far out where there are none.
type Bounds = (i128, i128);
const FAR: i128 = 1 << 100;

fn bounds(values: Interval) -> Option<Bounds> {
    match values {
        Interval::Empty => None,
        Interval::Bounded(lo, hi) => Some((lo, hi)),
        Interval::All | Interval::TooLarge => Some((-FAR, FAR)),
    }
}

fn interval((lo, hi): Bounds) -> Interval {
    if lo <= -FAR || hi >= FAR { Interval::All } else { Interval::Bounded(lo, hi) }
}

/// Both sides, where the comparison holds.
fn compared(op: BinaryOp, (a, b): Bounds, (c, d): Bounds) -> (Bounds, Bounds) {
    match op {
        BinaryOp::Eq => ((a.max(c), b.min(d)), (a.max(c), b.min(d))),
        BinaryOp::Ne => (without((a, b), (c, d)), without((c, d), (a, b))),
        BinaryOp::Lt => ((a, b.min(d - 1)), (c.max(a + 1), d)),
        BinaryOp::Le => ((a, b.min(d)), (c.max(a), d)),
        BinaryOp::Gt => ((a.max(c + 1), b), (c, d.min(b - 1))),
        BinaryOp::Ge => ((a.max(c), b), (c, d.min(b))),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => ((a, b), (c, d)),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => ((a, b), (c, d)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Min | BinaryOp::Max => ((a, b), (c, d)),
    }
}

fn without((a, b): Bounds, (c, d): Bounds) -> Bounds {
    if c != d {
        return (a, b);
    }
    (if a == c { a + 1 } else { a }, if b == c { b - 1 } else { b })
}

/// What the place of an update holds if its guard lets it happen.
pub(super) fn guarded(guard: &Expr<RmwVar>, registers: &Registers, old: Interval) -> Interval {
    let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) = guard else { return old };
    if **left != Expr::Var(RmwVar::Old) {
        return old;
    }
    match (bounds(old), bounds(eval_rmw(right, registers, old))) {
        (Some(a), Some(b)) => {
            let (new, _) = compared(*op, a, b);
            if new.0 > new.1 { Interval::Empty } else { interval(new) }
        }
        (None, _) | (_, None) => old,
    }
}

pub(super) fn eval_rmw(expr: &Expr<RmwVar>, registers: &Registers, old: Interval) -> Interval {
    // The old value is looked up as one more register.
    let extra: RegisterId = Idx::from_usize(registers.len());
    let expr = expr.map(&mut |it| match it {
        RmwVar::Old => extra,
        RmwVar::Register(register) => *register,
    });
    eval(&expr, &|it| if it == extra { old } else { registers[it] })
}
