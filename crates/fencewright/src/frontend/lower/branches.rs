//! Conditions of statements: what takes control flow to find out, and what is one expression.

use crate::frontend::ast::{Expr as Tree, ExprKind};
use crate::frontend::hir::{Condition, ConditionKind};
use crate::program::{BinaryOp, Domain, UnaryOp};

use super::body::{Body, Meaning};
use super::live::Sides;
use super::typed::{Ty, builtin};

impl Body<'_, '_> {
    /// A condition, and where it may lead. One with a mistake in it goes either way, so that nothing behind it seems
    /// unreachable. Whoever asks says whether something leads to what comes next.
    pub(super) fn condition(&mut self, expr: &Tree) -> (Condition, Sides) {
        let span = expr.span;
        let (kind, sides) = match &expr.kind {
            ExprKind::Paren(inner) => return self.condition(inner),
            ExprKind::Unary(UnaryOp::Not, operand) if self.needs_flow(operand) => {
                let (operand, sides) = self.condition(operand);
                (ConditionKind::Not(Box::new(operand)), sides.swapped())
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) if self.needs_flow(expr) => {
                self.joined(*op, left, right)
            }
            ExprKind::Any(None) => (ConditionKind::Either, Sides::both(self.is_live)),
            ExprKind::Call(name, arguments) if name.text == "cas" => {
                let kind = self.cas((name, arguments), span);
                (kind, Sides::both(self.is_live))
            }
            ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::Any(Some(_))
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => self.test(expr),
        };
        self.foresee(span);
        (Condition { span, kind }, sides)
    }

    /// `left && right` or `left || right`, the right side only if it matters.
    fn joined(&mut self, op: BinaryOp, left: &Tree, right: &Tree) -> (ConditionKind, Sides) {
        let (left, first) = self.condition(left);
        self.is_live = if op == BinaryOp::And { first.yes } else { first.no };
        let (right, second) = self.condition(right);
        let (left, right) = (Box::new(left), Box::new(right));
        if op == BinaryOp::And {
            (ConditionKind::And(left, right), Sides { yes: second.yes, no: first.no || second.no })
        } else {
            (ConditionKind::Or(left, right), Sides { yes: first.yes || second.yes, no: second.no })
        }
    }

    /// A condition that is one expression, once its loads are made.
    fn test(&mut self, expr: &Tree) -> (ConditionKind, Sides) {
        let value = self.value_of(expr, Domain::Bool);
        let is_live = self.is_live;
        if value.ty == Ty::Unknown {
            return (ConditionKind::Either, Sides::both(is_live));
        }
        let sides = match value.constant() {
            Some(constant) => Sides { yes: is_live && constant != 0, no: is_live && constant == 0 },
            None => Sides::both(is_live),
        };
        (ConditionKind::Test(value.expr), sides)
    }

    /// Whether a boolean takes control flow to find out.
    pub(super) fn needs_flow(&mut self, expr: &Tree) -> bool {
        match &expr.kind {
            ExprKind::Paren(inner) | ExprKind::Unary(UnaryOp::Not, inner) => self.needs_flow(inner),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.needs_flow(left) || self.has_effect(right)
            }
            ExprKind::Any(range) => range.is_none(),
            ExprKind::Call(name, _) => name.text == "cas",
            ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(UnaryOp::Neg, _)
            | ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => false,
        }
    }

    /// Whether finding the value takes a step: a load, a call or a choice.
    fn has_effect(&mut self, expr: &Tree) -> bool {
        match &expr.kind {
            ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => false,
            ExprKind::Any(_) | ExprKind::Index(..) => true,
            ExprKind::Name(name) => matches!(self.resolve(name), Meaning::Shared(_)),
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => self.has_effect(inner),
            ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
                self.has_effect(left) || self.has_effect(right)
            }
            ExprKind::Conditional(_) => true,
            ExprKind::Call(name, arguments) => {
                builtin(&name.text).is_none() || arguments.iter().any(|it| self.has_effect(it))
            }
        }
    }
}
