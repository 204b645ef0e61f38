//! Conditions of statements: branches of control, without booleans in between.

use crate::frontend::hir::{Condition, ConditionKind, Expr as Tree, Place, UpdateOrder};
use crate::program::{BinaryOp, Expr, Op, RmwVar};
use crate::source::Span;

use super::cfg::Node;
use super::unset::Unset;
use super::values::over_rmw;
use super::walk::Walk;

impl Walk<'_> {
    /// Leads to `yes` or to `no`; where there is no such node, that side is not taken. The cursor is used up.
    pub(super) fn condition(&mut self, condition: &Condition, yes: Option<Node>, no: Option<Node>) {
        match &condition.kind {
            ConditionKind::Test(expr) => self.test(expr, condition.span, yes, no),
            ConditionKind::Not(inner) => self.condition(inner, no, yes),
            ConditionKind::And(left, right) => {
                let both = self.cfg.node();
                self.condition(left, Some(both), no);
                self.cursor = both;
                self.condition(right, yes, no);
            }
            ConditionKind::Or(left, right) => {
                let neither = self.cfg.node();
                self.condition(left, yes, Some(neither));
                self.cursor = neither;
                self.condition(right, yes, no);
            }
            ConditionKind::Either => {
                for node in [yes, no].into_iter().flatten() {
                    self.arc(Op::Assume(Expr::TRUE), node, condition.span);
                }
            }
            ConditionKind::IsSet(value, place) => match self.unset_of(place) {
                Some(Unset::Value(unset)) => {
                    let is_set = Tree::binary(BinaryOp::Ne, value.clone(), Tree::Const(unset));
                    self.test(&is_set, condition.span, yes, no);
                }
                Some(Unset::Unknown) => {
                    let either = Condition { span: condition.span, kind: ConditionKind::Either };
                    self.condition(&either, yes, no);
                }
                None => self.test(&Tree::Const(1), condition.span, yes, no),
            },
            ConditionKind::Cas { place, order, old, new } => {
                self.cas((place, *order), (old, new), condition.span, (yes, no));
            }
        }
    }

    /// A condition that is one expression over registers, once its effects are done.
    fn test(&mut self, expr: &Tree, span: Span, yes: Option<Node>, no: Option<Node>) {
        let value = self.value(expr);
        if let Expr::Const(constant) = value {
            if let Some(node) = if constant != 0 { yes } else { no } {
                self.join(node);
            }
            return;
        }
        let not = value.clone().negated();
        for (node, expr) in [(yes, value), (no, not)] {
            if let Some(node) = node {
                self.arc(Op::Assume(expr), node, span);
            }
        }
    }

    /// An atomic update with one edge for each outcome.
    fn cas(
        &mut self,
        (place, order): (&Place, UpdateOrder),
        (old, new): (&Tree, &Tree),
        span: Span,
        (yes, no): (Option<Node>, Option<Node>),
    ) {
        assert!(!self.is_atomic, "an atomic block has no updates");
        let place = self.place(place);
        let old = over_rmw(&self.value(old));
        let new = over_rmw(&self.value(new));
        self.fence(order.before(), span);
        let compare = |op| Expr::binary(op, Expr::Var(RmwVar::Old), old.clone());
        if let Some(node) = yes {
            let (place, guard) = (place.clone(), compare(BinaryOp::Eq));
            self.ordered_arc((Op::Rmw { place, guard, write: Some(new), into: None }, order.order()), node, span);
        }
        if let Some(node) = no {
            let op = Op::Rmw { place, guard: compare(BinaryOp::Ne), write: None, into: None };
            self.ordered_arc((op, order.order()), node, span);
        }
    }
}
