//! How tightly operators bind, for the parser and the printer.

use crate::program::BinaryOp;

/// `c ? a : b`, the loosest.
pub(super) const CONDITIONAL: u8 = 0;
/// `||`
pub(super) const OR: u8 = 1;
/// Comparisons, which do not chain.
pub(super) const COMPARISON: u8 = 3;
/// `<<` and `>>`
pub(super) const SHIFT: u8 = 7;
/// `+` and `-`; the ends of a range bind at least so.
pub(super) const SUM: u8 = 8;
/// `-e` and `!e`.
pub(super) const PREFIX: u8 = 10;
/// Names, numbers, calls.
pub(super) const ATOM: u8 = 11;

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
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 9,
        BinaryOp::Min | BinaryOp::Max => ATOM,
    }
}
