//! Conditions and blocks, built so that they read well: no `true && c`, no `!!c`, no choice of one.

use crate::program::{BinaryOp, Expr, Micro, RegisterId, UnaryOp, Value};
use crate::watch::heed;

/// An expression over the registers of a process.
pub(super) type Term = Expr<RegisterId>;

/// A register's value.
pub(super) fn var(register: RegisterId) -> Term {
    heed(1);
    Expr::Var(register)
}

/// A number, or a boolean as 0 or 1.
pub(super) fn number(value: impl Into<Value>) -> Term {
    Expr::Const(value.into())
}

/// `a == b`
pub(super) fn equal<V>(left: Expr<V>, right: Expr<V>) -> Expr<V> {
    heed(1);
    Expr::binary(BinaryOp::Eq, left, right)
}

/// `a >= b`
pub(super) fn at_least(left: Term, right: Term) -> Term {
    Expr::binary(BinaryOp::Ge, left, right)
}

/// `!a`
pub(super) fn not<V>(it: Expr<V>) -> Expr<V> {
    heed(1);
    match it {
        Expr::Const(value) => Expr::Const(Value::from(value == 0)),
        Expr::Unary(UnaryOp::Not, inner) => *inner,
        Expr::Var(_) | Expr::Unary(UnaryOp::Neg, _) | Expr::Binary(..) => Expr::unary(UnaryOp::Not, it),
    }
}

/// `a && b && …`
pub(super) fn all<V: PartialEq>(parts: impl IntoIterator<Item = Expr<V>>) -> Expr<V> {
    join(BinaryOp::And, Expr::Const(1), parts)
}

/// `a || b || …`
pub(super) fn any<V: PartialEq>(parts: impl IntoIterator<Item = Expr<V>>) -> Expr<V> {
    join(BinaryOp::Or, Expr::Const(0), parts)
}

fn join<V: PartialEq>(op: BinaryOp, neutral: Expr<V>, parts: impl IntoIterator<Item = Expr<V>>) -> Expr<V> {
    let mut parts = parts.into_iter().filter(|part| *part != neutral);
    let Some(first) = parts.next() else { return neutral };
    parts.fold(first, |left, right| Expr::binary(op, left, right))
}

/// `if (c) { then } else { otherwise }`
pub(super) fn branch(condition: Term, then: Vec<Micro>, otherwise: Vec<Micro>) -> Vec<Micro> {
    match condition {
        Expr::Const(0) => return otherwise,
        Expr::Const(_) => return then,
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => {}
    }
    let mut yes = vec![Micro::Assume(condition.clone())];
    yes.extend(then);
    let mut no = vec![Micro::Assume(not(condition))];
    no.extend(otherwise);
    vec![Micro::Choose(vec![yes, no])]
}

/// `assume(c);`, unless it holds anyway.
pub(super) fn assume(condition: Term) -> Option<Micro> {
    (condition != Expr::TRUE).then_some(Micro::Assume(condition))
}
