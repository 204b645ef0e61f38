//! Intervals of integers: what values an expression may have.

use crate::program::{BinaryOp, Domain, Expr, RegisterId, UnaryOp, Value};

/// A set of values, from above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interval {
    /// None, so far.
    Empty,
    /// `lo..hi`, both included; within [`LIMIT`] on both sides.
    Bounded(i128, i128),
    /// Any integer.
    All,
    /// Too large to be meant.
    TooLarge,
}

/// The greatest number of 32 bits.
pub(super) const WORD: Value = 0xffff_ffff;

/// Bounds beyond this are not inferred.
const LIMIT: i128 = 1 << 40;

impl Interval {
    const BOOL: Self = Self::Bounded(0, 1);

    pub(super) fn of(domain: Domain) -> Self {
        domain.bounds().map_or(Self::All, |(lo, hi)| Self::bounds(lo, hi))
    }

    pub(super) fn bounds(lo: Value, hi: Value) -> Self {
        Self::Bounded(lo.into(), hi.into())
    }

    /// The least interval that holds both.
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, it) | (it, Self::Empty) => it,
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::TooLarge, _) | (_, Self::TooLarge) => Self::TooLarge,
            (Self::Bounded(a, b), Self::Bounded(c, d)) => Self::Bounded(a.min(c), b.max(d)),
        }
    }

    /// The values that both hold.
    pub(super) fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, _) | (_, Self::Empty) => Self::Empty,
            (Self::All, it) | (it, Self::All) | (Self::TooLarge, it) | (it, Self::TooLarge) => it,
            (Self::Bounded(a, b), Self::Bounded(c, d)) => {
                if a.max(c) <= b.min(d) {
                    Self::Bounded(a.max(c), b.min(d))
                } else {
                    Self::Empty
                }
            }
        }
    }

    /// Whether it has more values than that.
    pub(super) fn is_wide(self, most: i128) -> bool {
        match self {
            Self::Empty => false,
            Self::Bounded(lo, hi) => hi - lo > most,
            Self::All | Self::TooLarge => true,
        }
    }

    fn checked(lo: i128, hi: i128) -> Self {
        if -LIMIT <= lo && hi <= LIMIT { Self::Bounded(lo, hi) } else { Self::TooLarge }
    }
}

/// The values that an expression may have, given those of the registers.
pub(super) fn eval(expr: &Expr<RegisterId>, of: &dyn Fn(RegisterId) -> Interval) -> Interval {
    match expr {
        Expr::Const(value) => Interval::bounds(*value, *value),
        Expr::Var(register) => of(*register),
        Expr::Unary(UnaryOp::Not, _) => Interval::BOOL,
        Expr::Unary(UnaryOp::Neg, operand) => match eval(operand, of) {
            Interval::Bounded(lo, hi) => Interval::checked(-hi, -lo),
            it @ (Interval::Empty | Interval::All | Interval::TooLarge) => it,
        },
        Expr::Binary(op, left, right) => {
            let left = eval(left, of);
            // What grows without end is taken for an integer without bounds, and does not wrap.
            let is_endless = matches!(left, Interval::All | Interval::TooLarge) && is_wrap(expr);
            if is_endless { left } else { apply(*op, left, eval(right, of)) }
        }
    }
}

/// Whether an expression is a sum or a product that wraps at 32 bits.
pub(super) fn is_wrap<V: PartialEq>(expr: &Expr<V>) -> bool {
    let Expr::Binary(BinaryOp::BitAnd, left, right) = expr else { return false };
    let is_sum = matches!(**left, Expr::Binary(BinaryOp::Add | BinaryOp::Mul, ..));
    is_sum && **right == Expr::Const(WORD)
}

/// The values of `left op right`.
pub(super) fn apply(op: BinaryOp, left: Interval, right: Interval) -> Interval {
    if op.is_boolean() {
        return Interval::BOOL;
    }
    match (left, right) {
        (Interval::Empty, _) | (_, Interval::Empty) => Interval::Empty,
        (Interval::Bounded(a, b), Interval::Bounded(c, d)) => bounded(op, (a, b), (c, d)),
        (Interval::All | Interval::TooLarge | Interval::Bounded(..), _) => half_bounded(op, left, right),
    }
}

/// Where one side is unbounded, a remainder or a mask may still bound the result.
fn half_bounded(op: BinaryOp, left: Interval, right: Interval) -> Interval {
    let worst = if left == Interval::All || right == Interval::All { Interval::All } else { Interval::TooLarge };
    match (op, left, right) {
        (BinaryOp::Rem, _, Interval::Bounded(c, d)) => {
            let most = (c.abs().max(d.abs()) - 1).max(0);
            Interval::checked(-most, most)
        }
        (BinaryOp::BitAnd, Interval::Bounded(lo, hi), _) | (BinaryOp::BitAnd, _, Interval::Bounded(lo, hi))
            if lo >= 0 =>
        {
            Interval::Bounded(0, hi)
        }
        (
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem,
            Interval::Empty | Interval::Bounded(..) | Interval::All | Interval::TooLarge,
            _,
        ) => worst,
        (BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Min | BinaryOp::Max, _, _) => worst,
        (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, _, _) => {
            Interval::BOOL
        }
        (BinaryOp::And | BinaryOp::Or, _, _) => Interval::BOOL,
    }
}

fn bounded(op: BinaryOp, (a, b): (i128, i128), (c, d): (i128, i128)) -> Interval {
    match op {
        BinaryOp::Add => Interval::checked(a + c, b + d),
        BinaryOp::Sub => Interval::checked(a - d, b - c),
        BinaryOp::Mul => {
            // The factors may come from 64-bit constants, whose product still fits 128 bits.
            let corners = [a * c, a * d, b * c, b * d];
            Interval::checked(corners.into_iter().min().unwrap_or(0), corners.into_iter().max().unwrap_or(0))
        }
        BinaryOp::Div => {
            // Toward zero, the result is nowhere larger than the dividend; dividing by one side of zero only keeps
            // the sign apart.
            if c > 0 {
                Interval::checked((a / c).min(a / d), (b / c).max(b / d))
            } else {
                let most = a.abs().max(b.abs());
                Interval::checked(-most, most)
            }
        }
        BinaryOp::Rem => {
            let most = (c.abs().max(d.abs()) - 1).max(0);
            let (lo, hi) = (if a >= 0 { 0 } else { -most.min(-a) }, if b <= 0 { 0 } else { most.min(b) });
            Interval::checked(lo, hi)
        }
        BinaryOp::BitAnd if a >= 0 && c >= 0 => Interval::Bounded(0, b.min(d)),
        BinaryOp::BitAnd if a >= 0 => Interval::Bounded(0, b),
        BinaryOp::BitAnd if c >= 0 => Interval::Bounded(0, d),
        BinaryOp::BitOr | BinaryOp::BitXor if a >= 0 && c >= 0 => Interval::checked(0, mask(b.max(d))),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            let most = mask(a.abs().max(b.abs()).max(c.abs()).max(d.abs()));
            Interval::checked(-most - 1, most)
        }
        BinaryOp::Min => Interval::checked(a.min(c), b.min(d)),
        BinaryOp::Max => Interval::checked(a.max(c), b.max(d)),
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Interval::BOOL,
        BinaryOp::And | BinaryOp::Or => Interval::BOOL,
    }
}

/// The least number `2^k - 1` that is not below `value`.
fn mask(value: i128) -> i128 {
    let mut mask = 0;
    while mask < value && mask < 2 * LIMIT {
        mask = 2 * mask + 1;
    }
    mask.max(value)
}

#[cfg(test)]
mod tests {
    use super::{BinaryOp, Interval, apply};

    /// Every result of every operator lies in the interval computed for it.
    #[test]
    fn intervals_hold_all_results() {
        use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Max, Min, Mul, Rem, Sub};
        for op in [Add, Sub, Mul, Div, Rem, BitAnd, BitOr, BitXor, Min, Max] {
            for (a, b) in ranges() {
                for (c, d) in ranges() {
                    let Interval::Bounded(lo, hi) = apply(op, Interval::bounds(a, b), Interval::bounds(c, d)) else {
                        panic!("{op:?} is bounded");
                    };
                    for (x, y) in (a..=b).flat_map(|x| (c..=d).map(move |y| (x, y))) {
                        let Ok(value) = op.apply(x, y) else { continue };
                        assert!(lo <= value.into() && i128::from(value) <= hi, "{x} {op:?} {y} = {value}, {lo}..{hi}");
                    }
                }
            }
        }
    }

    fn ranges() -> impl Iterator<Item = (i64, i64)> {
        (-5..=5).flat_map(|lo| (lo..=5).map(move |hi| (lo, hi)))
    }
}
