//! Expressions as C, Promela and `.fw` write them, with parentheses wherever precedences differ.

use crate::program::{BinaryOp, Expr, UnaryOp, Value};
use crate::watch::heed;

/// How a language writes the few things that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Fw,
    C,
    Promela,
}

/// The variables of an expression: their names, and which are boolean.
pub(super) struct Variables<'a, V> {
    pub name: &'a dyn Fn(&V) -> String,
    pub is_bool: &'a dyn Fn(&V) -> bool,
}

impl<V> Variables<'_, V> {
    /// Whether an expression is boolean by itself; 0 and 1 may be.
    pub(super) fn is_boolean(&self, it: &Expr<V>) -> bool {
        match it {
            Expr::Const(_) | Expr::Unary(UnaryOp::Neg, _) => false,
            Expr::Var(variable) => (self.is_bool)(variable),
            Expr::Unary(UnaryOp::Not, _) => true,
            Expr::Binary(op, ..) => op.is_boolean(),
        }
    }

    /// The text of an expression that is wanted as a boolean, or as a number.
    pub(super) fn text(&self, it: &Expr<V>, wants_bool: bool, syntax: Syntax) -> String {
        heed(2);
        match it {
            Expr::Const(value) => constant(*value, wants_bool),
            Expr::Var(variable) => (self.name)(variable),
            Expr::Unary(UnaryOp::Neg, operand) => format!("-{}", self.inner(operand, false, syntax)),
            Expr::Unary(UnaryOp::Not, operand) => format!("!{}", self.inner(operand, true, syntax)),
            Expr::Binary(op, left, right) => {
                let wants_bool = match op {
                    BinaryOp::And | BinaryOp::Or => true,
                    BinaryOp::Eq | BinaryOp::Ne => self.is_boolean(left) || self.is_boolean(right),
                    BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => false,
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => false,
                    BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Min | BinaryOp::Max => false,
                };
                self.binary(*op, [left, right], wants_bool, syntax)
            }
        }
    }

    fn binary(&self, op: BinaryOp, [left, right]: [&Expr<V>; 2], wants_bool: bool, syntax: Syntax) -> String {
        // A row of the same operator needs no parentheses on the left.
        let is_row = matches!(op, BinaryOp::And | BinaryOp::Or) && matches!(left, Expr::Binary(it, ..) if *it == op);
        let first = if is_row { self.text(left, true, syntax) } else { self.inner(left, wants_bool, syntax) };
        let second = self.inner(right, wants_bool, syntax);
        let extreme = |symbol: &str| match syntax {
            Syntax::Fw => format!("{}({first}, {second})", op.symbol()),
            Syntax::C => format!("({first} {symbol} {second} ? {first} : {second})"),
            Syntax::Promela => format!("({first} {symbol} {second} -> {first} : {second})"),
        };
        match op {
            BinaryOp::Min => extreme("<"),
            BinaryOp::Max => extreme(">"),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                format!("{first} {} {second}", op.symbol())
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::And | BinaryOp::Or => {
                format!("{first} {} {second}", op.symbol())
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                format!("{first} {} {second}", op.symbol())
            }
        }
    }

    fn inner(&self, it: &Expr<V>, wants_bool: bool, syntax: Syntax) -> String {
        let text = self.text(it, wants_bool, syntax);
        match it {
            Expr::Const(value) if *value >= 0 => text,
            Expr::Var(_) | Expr::Unary(UnaryOp::Not, _) => text,
            Expr::Const(_) | Expr::Unary(UnaryOp::Neg, _) | Expr::Binary(..) => format!("({text})"),
        }
    }
}

fn constant(value: Value, wants_bool: bool) -> String {
    match (wants_bool, value) {
        (true, 0) => "false".to_owned(),
        (true, _) => "true".to_owned(),
        (false, value) => value.to_string(),
    }
}
