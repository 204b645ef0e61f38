//! What an expression may come to when of each variable only an interval is known.
//!
//! Sums, products, comparisons, least and greatest values follow the bounds; of every other operator only the result on
//! single values is known. Integers are those of mathematics here: a value beyond 64 bits is a large one.

use crate::program::{BinaryOp, Expr, UnaryOp, Value};

/// The values from one bound to another, both included; no bound is [`INFINITY`], or its negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// The lower bound.
    pub lo: i128,
    /// The upper bound.
    pub hi: i128,
}

/// Stands for no upper bound.
pub(super) const INFINITY: i128 = i128::MAX;

/// Bounds beyond this are given up.
const MAX_BOUND: i128 = 1 << 100;

/// What an expression may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Its value is in here, if it has one.
    pub value: Interval,
    /// Whether it may divide by zero.
    pub may_fail: bool,
}

impl Interval {
    /// Every integer.
    pub(super) const ALL: Self = Self { lo: -INFINITY, hi: INFINITY };

    /// One value.
    pub(super) fn of(value: Value) -> Self {
        Self { lo: value.into(), hi: value.into() }
    }

    /// Whether it may be 0.
    pub(super) fn may_be_zero(self) -> bool {
        self.lo <= 0 && 0 <= self.hi
    }

    /// Whether it may be something else.
    pub(super) fn may_hold(self) -> bool {
        self.lo != 0 || self.hi != 0
    }

    /// Whether it shares a value with another.
    pub(super) fn meets(self, other: Self) -> bool {
        self.lo <= other.hi && other.lo <= self.hi
    }

    fn single(self) -> Option<Value> {
        if self.lo == self.hi { Value::try_from(self.lo).ok() } else { None }
    }

    fn hull(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// A comparison of which it is known when it must and when it may hold.
    fn truth(must: bool, may: bool) -> Self {
        Self { lo: i128::from(must), hi: i128::from(may) }
    }

    fn kept(self) -> Self {
        let is_kept =
            |bound: i128| bound == INFINITY || bound == -INFINITY || (-MAX_BOUND..=MAX_BOUND).contains(&bound);
        if is_kept(self.lo) && is_kept(self.hi) { self } else { Self::ALL }
    }
}

/// What an expression may come to.
pub(super) fn eval<V>(expr: &Expr<V>, interval_of: &impl Fn(&V) -> Interval) -> Outcome {
    let sure = |value| Outcome { value, may_fail: false };
    match expr {
        Expr::Const(value) => sure(Interval::of(*value)),
        Expr::Var(variable) => sure(interval_of(variable)),
        Expr::Unary(op, operand) => {
            let operand = eval(operand, interval_of);
            Outcome { value: unary(*op, operand.value), ..operand }
        }
        Expr::Binary(BinaryOp::And, left, right) => {
            let (left, right) = (eval(left, interval_of), eval(right, interval_of));
            either(left, right, left.value.may_hold(), left.value.may_be_zero().then_some(0))
        }
        Expr::Binary(BinaryOp::Or, left, right) => {
            let (left, right) = (eval(left, interval_of), eval(right, interval_of));
            either(left, right, left.value.may_be_zero(), left.value.may_hold().then_some(1))
        }
        Expr::Binary(op, left, right) => {
            let (left, right) = (eval(left, interval_of), eval(right, interval_of));
            let divides_by_zero = matches!(op, BinaryOp::Div | BinaryOp::Rem) && right.value.may_be_zero();
            Outcome {
                value: binary(*op, left.value, right.value),
                may_fail: left.may_fail || right.may_fail || divides_by_zero,
            }
        }
    }
}

/// A short-circuit operator: the right operand if it is looked at, or what comes out if it is not.
fn either(left: Outcome, right: Outcome, looks: bool, short: Option<Value>) -> Outcome {
    let value = match (looks, short) {
        (true, Some(short)) => right.value.hull(Interval::of(short)),
        (true, None) => right.value,
        (false, short) => short.map_or(Interval::ALL, Interval::of),
    };
    Outcome { value, may_fail: left.may_fail || looks && right.may_fail }
}

fn unary(op: UnaryOp, operand: Interval) -> Interval {
    match op {
        UnaryOp::Neg => Interval { lo: -operand.hi, hi: -operand.lo },
        UnaryOp::Not => Interval::truth(!operand.may_hold(), operand.may_be_zero()),
    }
}

fn binary(op: BinaryOp, a: Interval, b: Interval) -> Interval {
    let is_same = a.lo == a.hi && a == b;
    match op {
        BinaryOp::Add => sum(a, b),
        BinaryOp::Sub => sum(a, unary(UnaryOp::Neg, b)),
        BinaryOp::Mul => product(a, b),
        BinaryOp::Eq => Interval::truth(is_same, a.meets(b)),
        BinaryOp::Ne => Interval::truth(!a.meets(b), !is_same),
        BinaryOp::Lt => Interval::truth(a.hi < b.lo, a.lo < b.hi),
        BinaryOp::Le => Interval::truth(a.hi <= b.lo, a.lo <= b.hi),
        BinaryOp::Gt => Interval::truth(b.hi < a.lo, b.lo < a.hi),
        BinaryOp::Ge => Interval::truth(b.hi <= a.lo, b.lo <= a.hi),
        BinaryOp::Min => Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) },
        BinaryOp::Max => Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) },
        BinaryOp::And | BinaryOp::Or => Interval::ALL,
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            let values = a.single().zip(b.single()).and_then(|(a, b)| op.apply(a, b).ok());
            values.map_or(Interval::ALL, Interval::of)
        }
    }
}

fn sum(a: Interval, b: Interval) -> Interval {
    let plus = |a: i128, b: i128| match (a, b) {
        (INFINITY, _) | (_, INFINITY) => INFINITY,
        (a, b) if a == -INFINITY || b == -INFINITY => -INFINITY,
        (a, b) => a + b,
    };
    Interval { lo: plus(a.lo, b.lo), hi: plus(a.hi, b.hi) }.kept()
}

fn product(a: Interval, b: Interval) -> Interval {
    let is_bounded = |it: Interval| it.lo != -INFINITY && it.hi != INFINITY;
    if !is_bounded(a) || !is_bounded(b) {
        return Interval::ALL;
    }
    let corners = [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)].map(|(a, b)| a.checked_mul(b));
    match (corners.iter().min(), corners.iter().max()) {
        (Some(&Some(lo)), Some(&Some(hi))) => Interval { lo, hi }.kept(),
        _ => Interval::ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BELOW: Interval = Interval { lo: -INFINITY, hi: -3 };
    const ABOVE: Interval = Interval { lo: 3, hi: INFINITY };

    fn check(op: BinaryOp, a: Interval, b: Interval, expected: Interval) {
        assert_eq!(binary(op, a, b), expected, "{a:?} {op:?} {b:?}");
    }

    #[test]
    fn bounds_follow_the_operators() {
        let one = Interval::of(1);
        check(BinaryOp::Add, ABOVE, one, Interval { lo: 4, hi: INFINITY });
        check(BinaryOp::Sub, ABOVE, ABOVE, Interval::ALL);
        check(BinaryOp::Sub, BELOW, ABOVE, Interval { lo: -INFINITY, hi: -6 });
        check(BinaryOp::Mul, Interval { lo: -2, hi: 3 }, Interval { lo: -5, hi: 1 }, Interval { lo: -15, hi: 10 });
        check(BinaryOp::Rem, ABOVE, one, Interval::ALL);
    }

    #[test]
    fn a_comparison_is_known_where_the_intervals_are_apart() {
        check(BinaryOp::Lt, BELOW, ABOVE, Interval::of(1));
        check(BinaryOp::Lt, ABOVE, BELOW, Interval::of(0));
        check(BinaryOp::Lt, ABOVE, ABOVE, Interval { lo: 0, hi: 1 });
        check(BinaryOp::Eq, ABOVE, ABOVE, Interval { lo: 0, hi: 1 });
        check(BinaryOp::Ne, ABOVE, Interval::of(2), Interval::of(1));
    }
}
