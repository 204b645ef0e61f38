//! Operators between two operands, and how tightly they bind.

use crate::ast::BinaryOp;
use crate::token::Punctuator;

/// An operator between two operands, assignments aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `||`
    Or,
    /// `&&`
    And,
    Binary(BinaryOp),
}

/// From the loosest to the tightest: those of a line bind alike.
const LEVELS: &[&[(Punctuator, Operator)]] = &[
    &[(Punctuator::OrOr, Operator::Or)],
    &[(Punctuator::AndAnd, Operator::And)],
    &[(Punctuator::Or, Operator::Binary(BinaryOp::BitOr))],
    &[(Punctuator::Caret, Operator::Binary(BinaryOp::BitXor))],
    &[(Punctuator::And, Operator::Binary(BinaryOp::BitAnd))],
    &[
        (Punctuator::Equal, Operator::Binary(BinaryOp::Equal)),
        (Punctuator::NotEqual, Operator::Binary(BinaryOp::NotEqual)),
    ],
    &[
        (Punctuator::Less, Operator::Binary(BinaryOp::Less)),
        (Punctuator::LessEqual, Operator::Binary(BinaryOp::LessEqual)),
        (Punctuator::Greater, Operator::Binary(BinaryOp::Greater)),
        (Punctuator::GreaterEqual, Operator::Binary(BinaryOp::GreaterEqual)),
    ],
    &[
        (Punctuator::ShiftLeft, Operator::Binary(BinaryOp::ShiftLeft)),
        (Punctuator::ShiftRight, Operator::Binary(BinaryOp::ShiftRight)),
    ],
    &[(Punctuator::Plus, Operator::Binary(BinaryOp::Add)), (Punctuator::Minus, Operator::Binary(BinaryOp::Sub))],
    &[
        (Punctuator::Star, Operator::Binary(BinaryOp::Mul)),
        (Punctuator::Slash, Operator::Binary(BinaryOp::Div)),
        (Punctuator::Percent, Operator::Binary(BinaryOp::Rem)),
    ],
];

/// `+=` and its like, by the operator they have in them; `=` has none.
const ASSIGNMENTS: &[(Punctuator, Option<BinaryOp>)] = &[
    (Punctuator::Assign, None),
    (Punctuator::AddAssign, Some(BinaryOp::Add)),
    (Punctuator::SubAssign, Some(BinaryOp::Sub)),
    (Punctuator::MulAssign, Some(BinaryOp::Mul)),
    (Punctuator::DivAssign, Some(BinaryOp::Div)),
    (Punctuator::RemAssign, Some(BinaryOp::Rem)),
    (Punctuator::AndAssign, Some(BinaryOp::BitAnd)),
    (Punctuator::OrAssign, Some(BinaryOp::BitOr)),
    (Punctuator::XorAssign, Some(BinaryOp::BitXor)),
    (Punctuator::ShiftLeftAssign, Some(BinaryOp::ShiftLeft)),
    (Punctuator::ShiftRightAssign, Some(BinaryOp::ShiftRight)),
];

/// The operator that a sign is between two operands, and how tightly it binds.
pub(crate) fn binary(sign: Punctuator) -> Option<(Operator, usize)> {
    LEVELS.iter().enumerate().find_map(|(level, alike)| {
        alike.iter().find(|(punctuator, _)| *punctuator == sign).map(|&(_, operator)| (operator, level))
    })
}

/// What an assignment does before it assigns; none if the sign is no assignment.
pub(crate) fn assignment(sign: Punctuator) -> Option<Option<BinaryOp>> {
    ASSIGNMENTS.iter().find(|(punctuator, _)| *punctuator == sign).map(|&(_, operator)| operator)
}
