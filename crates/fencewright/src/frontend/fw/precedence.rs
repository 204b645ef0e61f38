//! How tightly operators bind, for the parser and the printer.

use crate::program::BinaryOp;

/// `||`, the loosest.
pub(super) const OR: u8 = 1;
/// Comparisons, which do not chain.
pub(super) const COMPARISON: u8 = 3;
/// `+` and `-`; the ends of a range bind at least so.
pub(super) const SUM: u8 = 7;
/// `-e` and `!e`.
pub(super) const PREFIX: u8 = 9;
/// Names, numbers, calls.
pub(super) const ATOM: u8 = 10;

/// How tightly an operator binds; [`ATOM`] for those that are written as calls.
pub(super) fn of(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => OR,
        BinaryOp::And => 2,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => COMPARISON,
        BinaryOp::BitOr => 4,
        BinaryOp::BitXor => 5,
        BinaryOp::BitAnd => 6,
        BinaryOp::Add | BinaryOp::Sub => SUM,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 8,
        BinaryOp::Min | BinaryOp::Max => ATOM,
    }
}
