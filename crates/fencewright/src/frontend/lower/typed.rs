//! Expressions with their type: checking and folding, the same for constants, statements and properties.

use crate::frontend::ast;
use crate::program::{BinaryOp, Domain, EvalError, Expr, UnaryOp, Value};
use crate::source::{Diagnostic, Span};

use super::log::Log;

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// Not known, because something is wrong and was reported, or because the value never comes to be.
    Unknown,
}

impl Ty {
    pub(super) fn of(domain: Domain) -> Self {
        match domain {
            Domain::Bool => Self::Bool,
            Domain::Range(..) | Domain::Int => Self::Int,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "a boolean",
            Self::Int => "an integer",
            Self::Unknown => "a value",
        }
    }
}

/// An expression with its type and place.
#[derive(Clone, Debug)]
pub(super) struct Typed<V> {
    pub expr: Expr<V>,
    pub ty: Ty,
    pub span: Span,
}

impl<V> Typed<V> {
    pub(super) fn new(expr: Expr<V>, ty: Ty, span: Span) -> Self {
        Self { expr, ty, span }
    }

    /// Stands for an expression with a reported mistake.
    pub(super) fn wrong(span: Span) -> Self {
        Self::new(Expr::Const(0), Ty::Unknown, span)
    }

    /// The value, if it is a constant.
    pub(super) fn constant(&self) -> Option<Value> {
        match (&self.expr, self.ty) {
            (Expr::Const(value), Ty::Bool | Ty::Int) => Some(*value),
            (Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..), _) => None,
        }
    }

    /// Reports an expression that is not of the type wanted.
    pub(super) fn expect(self, log: &mut Log, wanted: Ty) -> Self {
        if self.ty == wanted || self.ty == Ty::Unknown || wanted == Ty::Unknown {
            return self;
        }
        log.say(mismatch(log, wanted, self.ty, self.span));
        Self::wrong(self.span)
    }
}

/// The diagnostic for a value of the wrong type.
pub(super) fn mismatch(log: &Log, wanted: Ty, found: Ty, span: Span) -> Diagnostic {
    let help = match wanted {
        Ty::Bool | Ty::Unknown if log.text(span).parse::<Value>().is_ok() => "write `true` or `false`".to_owned(),
        Ty::Bool | Ty::Unknown => format!("write `{} != 0`", log.text(span)),
        Ty::Int => "booleans are not numbers: branch on it with `if`".to_owned(),
    };
    let message = format!("expected {}, found {}", wanted.name(), found.name());
    Diagnostic::error(span, message).with_label(format!("this is {}", found.name())).with_help(help)
}

/// `op operand`, checked and folded.
pub(super) fn unary<V>(log: &mut Log, op: UnaryOp, operand: Typed<V>, span: Span) -> Typed<V> {
    let ty = match op {
        UnaryOp::Neg => Ty::Int,
        UnaryOp::Not => Ty::Bool,
    };
    let operand = operand.expect(log, ty);
    if operand.ty == Ty::Unknown {
        return Typed::wrong(span);
    }
    match (op, operand.expr) {
        (op, Expr::Const(value)) => folded(log, op.apply(value), ty, span).unwrap_or_else(|| Typed::wrong(span)),
        (UnaryOp::Not, expr) => Typed::new(expr.negated(), ty, span),
        (UnaryOp::Neg, expr) => Typed::new(Expr::unary(UnaryOp::Neg, expr), ty, span),
    }
}

/// `left op right`, checked and folded.
pub(super) fn binary<V>(log: &mut Log, op: BinaryOp, left: Typed<V>, right: Typed<V>, span: Span) -> Typed<V> {
    let (left, right) = match operand_type(op) {
        Some(ty) => (left.expect(log, ty), right.expect(log, ty)),
        None => {
            let ty = left.ty;
            (left, right.expect(log, ty))
        }
    };
    if left.ty == Ty::Unknown || right.ty == Ty::Unknown {
        return Typed::wrong(span);
    }
    let ty = if op.is_boolean() { Ty::Bool } else { Ty::Int };
    if matches!(op, BinaryOp::Div | BinaryOp::Rem) && right.constant() == Some(0) {
        let warning =
            Diagnostic::warning(span, "division by zero").with_label("this is a violation when it is reached");
        log.say(warning.with_help("guard it, or mend the divisor"));
    }
    match (op, left.expr, right.expr) {
        (op, Expr::Const(a), Expr::Const(b)) => folded(log, op.apply(a, b), ty, span)
            .unwrap_or_else(|| Typed::new(Expr::binary(op, Expr::Const(a), Expr::Const(b)), ty, span)),
        (BinaryOp::And, Expr::Const(0), _) => Typed::new(Expr::Const(0), ty, span),
        (BinaryOp::Or, Expr::Const(1), _) => Typed::new(Expr::Const(1), ty, span),
        (BinaryOp::And, Expr::Const(_), expr) | (BinaryOp::And, expr, Expr::Const(1)) => Typed::new(expr, ty, span),
        (BinaryOp::Or, Expr::Const(_), expr) | (BinaryOp::Or, expr, Expr::Const(0)) => Typed::new(expr, ty, span),
        (op, left, right) => Typed::new(Expr::binary(op, left, right), ty, span),
    }
}

/// `left << right` and `left >> right`, as arithmetic: the number of bits is a constant.
pub(super) fn shifted<V>(log: &mut Log, shift: ast::Shift, left: Typed<V>, right: &Typed<V>, span: Span) -> Typed<V> {
    if right.ty == Ty::Unknown {
        return Typed::wrong(span);
    }
    let by = right.constant().filter(|_| right.ty == Ty::Int).and_then(|bits| shifting(shift, bits));
    let Some(by) = by else {
        let message = format!("`{}` by `{}`", shift.symbol(), log.text(right.span));
        let help = format!("the number of bits is a constant from 0 to {}", MAX_SHIFT - 1);
        log.error(right.span, message, help);
        return Typed::wrong(span);
    };
    let constant = |value| Typed::new(Expr::Const(value), Ty::Int, span);
    by.into_iter().fold(left, |left, (op, value)| binary(log, op, left, constant(value), span))
}

/// What a number is combined with, one after the other, to shift it by so many bits; `None` if these are too many.
pub(super) fn shifting(shift: ast::Shift, bits: Value) -> Option<Vec<(BinaryOp, Value)>> {
    let power = (0..MAX_SHIFT).contains(&bits).then(|| 1 << bits)?;
    Some(match shift {
        ast::Shift::Left => vec![(BinaryOp::Mul, power)],
        // Without its last bits a number is a multiple of the power, from which division does not round.
        ast::Shift::Right => vec![(BinaryOp::BitAnd, -power), (BinaryOp::Div, power)],
    })
}

/// Shifts are by fewer bits than this.
const MAX_SHIFT: Value = 63;

/// The type both operands have; none if any will do as long as it is the same.
fn operand_type(op: BinaryOp) -> Option<Ty> {
    match op {
        BinaryOp::And | BinaryOp::Or => Some(Ty::Bool),
        BinaryOp::Eq | BinaryOp::Ne => None,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Min | BinaryOp::Max => Some(Ty::Int),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => Some(Ty::Int),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => Some(Ty::Int),
    }
}

fn folded<V>(log: &mut Log, value: Result<Value, EvalError>, ty: Ty, span: Span) -> Option<Typed<V>> {
    match value {
        Ok(value) => Some(Typed::new(Expr::Const(value), ty, span)),
        Err(EvalError::DivisionByZero) => None,
        Err(EvalError::Overflow) => {
            log.error(span, "overflow in a constant expression", "values are limited to 64 bits: use smaller numbers");
            Some(Typed::wrong(span))
        }
    }
}

/// `min` or `max`, by name.
pub(super) fn builtin(name: &str) -> Option<BinaryOp> {
    match name {
        "min" => Some(BinaryOp::Min),
        "max" => Some(BinaryOp::Max),
        _ => None,
    }
}

/// Two arguments, or an error.
pub(super) fn two<'e>(
    log: &mut Log,
    name: &ast::Name,
    arguments: &'e [ast::Expr],
) -> Option<(&'e ast::Expr, &'e ast::Expr)> {
    if let [left, right] = arguments {
        return Some((left, right));
    }
    wrong_count(log, name, arguments.len(), 2);
    None
}

/// Reports a call with too many or too few arguments.
pub(super) fn wrong_count(log: &mut Log, name: &ast::Name, found: usize, wanted: usize) {
    let arguments = if wanted == 1 { "argument" } else { "arguments" };
    let message = format!("`{}` takes {wanted} {arguments}, found {found}", name.text);
    log.say(Diagnostic::error(name.span, message).with_help(format!("give it {wanted} {arguments}")));
}

/// What an expression without effects says; `leaf` knows the names.
pub(super) fn pure<V>(
    log: &mut Log,
    expr: &ast::Expr,
    leaf: &mut dyn FnMut(&mut Log, &ast::Expr) -> Typed<V>,
) -> Typed<V> {
    let span = expr.span;
    match &expr.kind {
        ast::ExprKind::Int(value) | ast::ExprKind::Based(value, _) => Typed::new(Expr::Const(*value), Ty::Int, span),
        ast::ExprKind::Bool(value) => Typed::new(Expr::Const(Value::from(*value)), Ty::Bool, span),
        ast::ExprKind::Paren(inner) => pure(log, inner, leaf),
        ast::ExprKind::Unary(op, operand) => {
            let operand = pure(log, operand, leaf);
            unary(log, *op, operand, span)
        }
        ast::ExprKind::Binary(op, left, right) => {
            let left = pure(log, left, leaf);
            let right = pure(log, right, leaf);
            binary(log, *op, left, right, span)
        }
        ast::ExprKind::Shift(shift, left, right) => {
            let left = pure(log, left, leaf);
            let right = pure(log, right, leaf);
            shifted(log, *shift, left, &right, span)
        }
        ast::ExprKind::Call(name, arguments) => {
            let Some(op) = builtin(&name.text) else { return leaf(log, expr) };
            let Some((left, right)) = two(log, name, arguments) else { return Typed::wrong(span) };
            let left = pure(log, left, leaf);
            let right = pure(log, right, leaf);
            binary(log, op, left, right, span)
        }
        ast::ExprKind::Any(_)
        | ast::ExprKind::Conditional(_)
        | ast::ExprKind::Name(_)
        | ast::ExprKind::Index(..)
        | ast::ExprKind::At(..)
        | ast::ExprKind::Count(..)
        | ast::ExprKind::Member(..) => leaf(log, expr),
    }
}
