//! Values and conditions: what `.fw` can only say by statements comes before.

use crate::frontend::ast::{self, Conditional, ExprKind};
use crate::frontend::hir::{Condition, ConditionKind, Effect, EffectKind, Expr, Operand, Place, Update};
use crate::frontend::import::tree::{binary, call, expr, if_, int, name, not, var};
use crate::program::{BinaryOp, Order, UnaryOp};

use super::NOWHERE;
use super::statements::{Out, Writer};

/// `c ? 1 : 0`
fn one_or_zero(condition: ast::Expr) -> ast::Expr {
    if let ExprKind::Bool(value) = condition.kind {
        return int(i64::from(value), NOWHERE);
    }
    let (then, otherwise) = (int(1, NOWHERE), int(0, NOWHERE));
    expr(ExprKind::Conditional(Box::new(Conditional { condition, then, otherwise })), NOWHERE)
}

/// Whether the order of a load or a store has to be written: it is neither plain nor what an access is without any.
pub(super) fn is_said(order: Order) -> bool {
    order != Order::Plain && order != Order::default()
}

/// A name of an order behind the arguments of an access, if it has one.
fn with_order(mut arguments: Vec<ast::Expr>, order: Order) -> Vec<ast::Expr> {
    if order != Order::Plain {
        arguments.push(var(order.name(), NOWHERE));
    }
    arguments
}

impl Writer<'_> {
    /// A number.
    pub(super) fn number(&mut self, it: &Expr, out: &mut Out) -> Option<ast::Expr> {
        Some(match it {
            Expr::Const(value) => int(*value, NOWHERE),
            Expr::Var(Operand::Local(local)) => var(self.local(*local), NOWHERE),
            Expr::Var(Operand::Effect(effect)) => self.effect(effect, out)?,
            Expr::Unary(UnaryOp::Neg, of) => {
                let of = self.number(of, out)?;
                expr(ExprKind::Unary(UnaryOp::Neg, Box::new(of)), NOWHERE)
            }
            Expr::Binary(BinaryOp::BitAnd, a, b) if self.is_idle_mask(a, b) => self.number(a, out)?,
            Expr::Binary(op, a, b) if !op.is_boolean() => {
                let a = self.number(a, out)?;
                binary(*op, a, self.number(b, out)?)
            }
            Expr::Unary(UnaryOp::Not, _) | Expr::Binary(..) => one_or_zero(self.truth(it, out)?),
        })
    }

    /// Whether a mask changes nothing, or is left out since its value is taken for unbounded.
    fn is_idle_mask(&self, value: &Expr, mask: &Expr) -> bool {
        let is_sum = matches!(value, Expr::Binary(BinaryOp::Add | BinaryOp::Mul, ..));
        matches!(mask, Expr::Const(mask) if is_sum && !self.found.wraps(self.id, value, *mask))
    }

    /// An update that need not wrap as one that does not; `.fw` has no others.
    fn unwrapped(&self, place: &Place, update: Update, by: &Expr) -> Option<Update> {
        let Update::Wrapping(op, mask) = update else { return Some(update) };
        self.found.stays(place, (self.id, op, by), mask).then_some(Update::Fetch(op))
    }

    /// An expression as a condition.
    pub(super) fn truth(&mut self, it: &Expr, out: &mut Out) -> Option<ast::Expr> {
        Some(match it {
            Expr::Const(value) => expr(ExprKind::Bool(*value != 0), NOWHERE),
            Expr::Unary(UnaryOp::Not, of) => not(self.truth(of, out)?),
            Expr::Binary(op, a, b) if op.is_comparison() => {
                let a = self.number(a, out)?;
                binary(*op, a, self.number(b, out)?)
            }
            // Both sides are looked at, whatever the first one is.
            Expr::Binary(op, a, b) if op.is_boolean() => {
                let a = self.truth(a, out)?;
                binary(*op, a, self.truth(b, out)?)
            }
            Expr::Var(Operand::Effect(effect)) => match &effect.kind {
                EffectKind::Decide(condition) => self.condition(condition, out)?,
                EffectKind::Load(..)
                | EffectKind::Any(..)
                | EffectKind::Update(..)
                | EffectKind::CompareExchange { .. }
                | EffectKind::Select(_)
                | EffectKind::Call(_) => binary(BinaryOp::Ne, self.effect(effect, out)?, int(0, NOWHERE)),
            },
            Expr::Var(Operand::Local(_)) | Expr::Unary(..) | Expr::Binary(..) => {
                binary(BinaryOp::Ne, self.number(it, out)?, int(0, NOWHERE))
            }
        })
    }

    /// What a place is called.
    pub(super) fn place(&mut self, place: &Place, out: &mut Out) -> Option<ast::Expr> {
        Some(match place {
            Place::Fixed(location) => super::location_expr(&self.found.memory, self.names, *location),
            Place::Cell(array, index) => {
                let cells = 0..i64::from(self.found.memory.arrays()[*array].len);
                let index = if let Expr::Const(outside) = index
                    && !cells.contains(outside)
                {
                    // `.fw` refuses such a constant; where it is reached it is a violation.
                    let zero = self.extra();
                    binary(BinaryOp::Add, var(&zero, NOWHERE), int(*outside, NOWHERE))
                } else {
                    self.number(index, out)?
                };
                expr(ExprKind::Index(name(&self.names.arrays[*array], NOWHERE), vec![index]), NOWHERE)
            }
        })
    }

    /// Something that is done for its value.
    pub(super) fn effect(&mut self, effect: &Effect, out: &mut Out) -> Option<ast::Expr> {
        Some(match &effect.kind {
            EffectKind::Load(place, order) => {
                let order = if self.is_plain(place) { Order::Plain } else { order.order() };
                let place = self.place(place, out)?;
                if is_said(order) { call("load", with_order(vec![place], order), NOWHERE) } else { place }
            }
            EffectKind::Any(_, lo, hi) => {
                let range = crate::frontend::import::tree::range(*lo, *hi, NOWHERE);
                expr(ExprKind::Any(Some(Box::new(range))), NOWHERE)
            }
            EffectKind::Update(place, order, update, by) => {
                let function = match self.unwrapped(place, *update, by)? {
                    Update::Swap => "swap",
                    Update::Fetch(BinaryOp::Add) => "fetch_add",
                    Update::Fetch(BinaryOp::Sub) => "fetch_sub",
                    Update::Fetch(BinaryOp::BitAnd) => "fetch_and",
                    Update::Fetch(BinaryOp::BitOr) => "fetch_or",
                    Update::Fetch(BinaryOp::BitXor) => "fetch_xor",
                    Update::Fetch(_) | Update::Wrapping(..) => return None,
                };
                let place = self.place(place, out)?;
                let by = self.number(by, out)?;
                call(function, with_order(vec![place, by], order.order()), NOWHERE)
            }
            EffectKind::CompareExchange { place, order, old, new } => {
                let place = self.place(place, out)?;
                let (old, new) = (self.number(old, out)?, self.number(new, out)?);
                call("cmpxchg", with_order(vec![place, old, new], order.order()), NOWHERE)
            }
            EffectKind::Decide(condition) => one_or_zero(self.condition(condition, out)?),
            EffectKind::Call(it) => {
                self.call(it, out)?;
                var(self.local(it.result?), NOWHERE)
            }
            EffectKind::Select(_) => return None,
        })
    }

    /// A condition.
    pub(super) fn condition(&mut self, it: &Condition, out: &mut Out) -> Option<ast::Expr> {
        Some(match &it.kind {
            ConditionKind::Test(expr) => self.truth(expr, out)?,
            ConditionKind::Not(inner) => not(self.condition(inner, out)?),
            ConditionKind::And(a, b) => self.both(a, b, BinaryOp::And, out)?,
            ConditionKind::Or(a, b) => self.both(a, b, BinaryOp::Or, out)?,
            ConditionKind::IsSet(value, place) => match self.found.unset(place) {
                Some(unset) => binary(BinaryOp::Ne, self.number(value, out)?, int(unset, NOWHERE)),
                None => expr(ExprKind::Bool(true), NOWHERE),
            },
            ConditionKind::Cas { place, order, old, new } => {
                let place = self.place(place, out)?;
                let (old, new) = (self.number(old, out)?, self.number(new, out)?);
                call("cas", with_order(vec![place, old, new], order.order()), NOWHERE)
            }
            ConditionKind::Either => return None,
        })
    }

    /// `a && b`; what `b` needs statements for happens only where it is looked at.
    fn both(&mut self, a: &Condition, b: &Condition, op: BinaryOp, out: &mut Out) -> Option<ast::Expr> {
        let left = self.condition(a, out)?;
        let mut later = Out::new();
        let right = self.condition(b, &mut later)?;
        if later.is_empty() {
            return Some(binary(op, left, right));
        }
        let decided = self.extra();
        let is_and = op == BinaryOp::And;
        out.push(self.set(&decided, one_or_zero(left)));
        later.push(self.set(&decided, one_or_zero(right)));
        let holds = binary(BinaryOp::Ne, var(&decided, NOWHERE), int(0, NOWHERE));
        out.push(if_(if is_and { holds.clone() } else { not(holds.clone()) }, later, NOWHERE));
        Some(holds)
    }
}
