//! Conditions: branches of control, without booleans in between.

use crate::frontend::ast::{Expr as Tree, ExprKind};
use crate::program::{BinaryOp, Domain, Expr, Op, UnaryOp};

use super::body::{Body, Meaning};
use super::cfg::Node;
use super::typed::{Ty, builtin, negated};

impl Body<'_, '_> {
    /// Leads to `yes` or to `no`; where there is no such node, that side is not taken. The cursor is used up.
    pub(super) fn condition(&mut self, expr: &Tree, yes: Option<Node>, no: Option<Node>) {
        match &expr.kind {
            ExprKind::Paren(inner) => self.condition(inner, yes, no),
            ExprKind::Unary(UnaryOp::Not, operand) if self.needs_flow(operand) => self.condition(operand, no, yes),
            ExprKind::Binary(BinaryOp::And, left, right) if self.needs_flow(expr) => {
                let both = self.cfg.node();
                self.condition(left, Some(both), no);
                self.cursor = both;
                self.condition(right, yes, no);
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if self.needs_flow(expr) => {
                let neither = self.cfg.node();
                self.condition(left, yes, Some(neither));
                self.cursor = neither;
                self.condition(right, yes, no);
            }
            ExprKind::Any(None) => {
                for node in [yes, no].into_iter().flatten() {
                    self.arc(Op::Assume(Expr::TRUE), node, expr.span);
                }
            }
            ExprKind::Call(name, arguments) if name.text == "cas" => self.cas((name, arguments), expr.span, yes, no),
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Any(Some(_))
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Member(..) => self.test(expr, yes, no),
        }
    }

    /// A condition that is one expression over registers, once its loads are made.
    fn test(&mut self, expr: &Tree, yes: Option<Node>, no: Option<Node>) {
        let value = self.value_of(expr, Domain::Bool);
        if value.ty == Ty::Unknown {
            // Both sides are looked at, so that nothing behind this seems unreachable.
            for node in [yes, no].into_iter().flatten() {
                self.arc(Op::Assume(Expr::TRUE), node, expr.span);
            }
            return;
        }
        if let Some(constant) = value.constant() {
            if let Some(node) = if constant != 0 { yes } else { no } {
                self.join(node);
            }
            return;
        }
        let not = negated(value.expr.clone());
        for (node, expr) in [(yes, value.expr), (no, not)] {
            if let Some(node) = node {
                self.arc(Op::Assume(expr), node, value.span);
            }
        }
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
            | ExprKind::Bool(_)
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(UnaryOp::Neg, _)
            | ExprKind::Binary(..)
            | ExprKind::At(..)
            | ExprKind::Member(..) => false,
        }
    }

    /// Whether finding the value takes a step: a load, a call or a choice.
    fn has_effect(&mut self, expr: &Tree) -> bool {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::At(..) | ExprKind::Member(..) => false,
            ExprKind::Any(_) | ExprKind::Index(..) => true,
            ExprKind::Name(name) => matches!(self.resolve(name), Meaning::Shared(_)),
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => self.has_effect(inner),
            ExprKind::Binary(_, left, right) => self.has_effect(left) || self.has_effect(right),
            ExprKind::Call(name, arguments) => {
                builtin(&name.text).is_none() || arguments.iter().any(|it| self.has_effect(it))
            }
        }
    }
}
