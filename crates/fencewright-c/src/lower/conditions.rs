//! Conditions: what is tested, with the effects of the second part only where it is looked at.

use std::rc::Rc;

use fencewright::frontend::hir::{
    Block, Body, Call, Condition, ConditionKind, Effect, EffectKind, Expr, First, LocalId, Operand, Place, Stmt,
    StmtKind,
};
use fencewright::program::{self, BinaryOp as Op};
use fencewright::source::Span;

use crate::ast::{self, BinaryOp, ExprKind, UnaryOp};
use crate::names;
use crate::types::Integer;

use super::Lowering;
use super::places::test;
use super::value::{Pointer, Points, Target, Value};

impl<'a> Lowering<'a> {
    /// A condition; the effects of what is looked at first are done.
    pub(super) fn condition(&mut self, it: &'a ast::Expr) -> Option<Condition> {
        let span = it.span;
        if let ExprKind::Unary(UnaryOp::Not, operand) = &it.kind {
            let inner = self.condition(operand)?;
            return Some(negated(inner, span));
        }
        if let ExprKind::And(left, right) = &it.kind {
            return self.short_circuit(left, right, false, span);
        }
        if let ExprKind::Or(left, right) = &it.kind {
            return self.short_circuit(left, right, true, span);
        }
        if let ExprKind::Binary(op, left, right) = &it.kind
            && is_comparison(*op)
        {
            let (left, right) = self.operands(left, right, span)?;
            return Some(test(self.compared_values(*op, left, right, span)?, span));
        }
        let value = self.value(it)?;
        Some(test(self.is_true(value, span)?, span))
    }

    /// `a && b`, or `a || b`, which the first decides if it is `decisive`.
    fn short_circuit(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        decisive: bool,
        span: Span,
    ) -> Option<Condition> {
        let left = self.condition(left)?;
        match known(&left) {
            Some(holds) if holds == decisive => Some(left),
            Some(_) => self.condition(right),
            None => {
                let (left, right) = (Box::new(left), Box::new(self.later(right)?));
                let kind = if decisive { ConditionKind::Or(left, right) } else { ConditionKind::And(left, right) };
                Some(Condition { span, kind })
            }
        }
    }

    /// A condition whose effects happen when it is looked at.
    fn later(&mut self, it: &'a ast::Expr) -> Option<Condition> {
        let was_straight = self.branch();
        self.state.open();
        let condition = self.condition(it);
        let block = self.state.close();
        self.state.is_straight = was_straight;
        let condition = condition?;
        if block.is_empty() {
            return Some(condition);
        }
        if let ConditionKind::Test(expr) = &condition.kind
            && let Some(expr) = folded(&block, expr)
        {
            return Some(test(expr, it.span));
        }
        let result = self.state.temporary(it.span);
        self.state.thread.locals[result].is_boolean = true;
        let declared = Stmt { span: it.span, kind: StmtKind::Let(result, First::Constant(0)) };
        let mut body = Body { labels: Vec::new(), block };
        let decided = Expr::from(Effect { span: it.span, kind: EffectKind::Decide(condition) });
        body.block.push(Stmt { span: it.span, kind: StmtKind::Return(Some(decided)) });
        let call = Call { name: None, arguments: vec![declared], body, result: Some(result) };
        Some(test(Effect { span: it.span, kind: EffectKind::Call(call) }.into(), it.span))
    }

    /// A condition as a number.
    pub(super) fn truth(&mut self, it: &'a ast::Expr) -> Option<Value> {
        let condition = self.condition(it)?;
        Some(Value::Number(self.decided(condition, it.span), Integer::INT))
    }

    /// Whether a condition holds, as 0 or 1.
    pub(super) fn decided(&mut self, condition: Condition, span: Span) -> Expr {
        match condition.kind {
            ConditionKind::Test(expr) if !has_effects(&expr) => expr,
            kind @ ConditionKind::Test(_)
            | kind @ ConditionKind::Not(_)
            | kind @ ConditionKind::And(..)
            | kind @ ConditionKind::Or(..)
            | kind @ ConditionKind::Either
            | kind @ ConditionKind::IsSet(..)
            | kind @ ConditionKind::Cas { .. } => self.state.kept(EffectKind::Decide(Condition { span, kind }), span),
        }
    }

    /// Whether a value counts as true.
    pub(super) fn is_true(&mut self, value: Value, span: Span) -> Option<Expr> {
        Some(match value {
            Value::Number(expr, _) => truth_of(expr),
            Value::Pointer(Pointer { what, .. }) => match what {
                Points::Null => Expr::Const(0),
                Points::Known(_) | Points::Part(_) => Expr::Const(1),
                Points::Dynamic(expr) | Points::Integer(expr) => truth_of(expr),
            },
            Value::Function(_) => Expr::Const(1),
            Value::Structure(_) | Value::Void => {
                return self.refuse(span, "this is no condition", "compare a number or a pointer");
            }
        })
    }

    fn compared_values(&mut self, op: BinaryOp, left: Value, right: Value, span: Span) -> Option<Expr> {
        if let (Value::Pointer(a), Value::Pointer(b)) = (&left, &right)
            && let (Points::Known(a), Points::Known(b)) = (&a.what, &b.what)
            && let Some(is_same) = same(a, b)
        {
            return Some(Expr::Const(i64::from(is_same == (op == BinaryOp::Equal))));
        }
        if let (Value::Function(a), Value::Function(b)) = (&left, &right) {
            return Some(Expr::Const(i64::from((a == b) == (op == BinaryOp::Equal))));
        }
        let is_pointer = |it: &Value| matches!(it, Value::Pointer(_));
        if is_pointer(&left) || is_pointer(&right) {
            let pointer = if is_pointer(&left) { &left } else { &right };
            let Value::Pointer(Pointer { to, .. }) = pointer else { return None };
            let ty = crate::types::Type::Pointer(Rc::clone(to)).plain();
            if let Some(known) = with_null(op, &left, &right) {
                return Some(known);
            }
            let is_real = |it: &Value| matches!(it, Value::Pointer(it) if !matches!(it.what, Points::Integer(_)));
            let (left, right) = match is_real(&left) || is_real(&right) {
                true => (self.as_mark(left), self.as_mark(right)),
                false => (left, right),
            };
            let (a, b) = (self.compared_number(left, &ty, span)?, self.compared_number(right, &ty, span)?);
            return Some(compared(op, a, b));
        }
        let (a, _) = self.as_number(left, span)?;
        let (b, _) = self.as_number(right, span)?;
        Some(compared(op, a, b))
    }

    /// A constant that a pointer is compared with, as it is kept in a pointer.
    fn as_mark(&mut self, value: Value) -> Value {
        match value {
            Value::Pointer(Pointer { to, what: Points::Integer(Expr::Const(value)) }) => {
                let what = Points::Integer(self.marked_pointer(value));
                Value::Pointer(Pointer { to, what })
            }
            Value::Number(Expr::Const(value), ty) => Value::Number(self.marked_pointer(value), ty),
            value @ Value::Number(..)
            | value @ Value::Pointer(_)
            | value @ Value::Function(_)
            | value @ Value::Structure(_)
            | value @ Value::Void => value,
        }
    }

    /// The number of a pointer that is only compared; an integer that was cast is itself.
    fn compared_number(&mut self, value: Value, ty: &crate::types::Qualified, span: Span) -> Option<Expr> {
        match value {
            Value::Pointer(Pointer { what: Points::Integer(expr), .. }) | Value::Number(expr, _) => Some(expr),
            value @ Value::Pointer(_)
            | value @ Value::Function(_)
            | value @ Value::Structure(_)
            | value @ Value::Void => self.raw(value, ty, span),
        }
    }
}

/// A comparison of something that is known to be somewhere with null.
fn with_null(op: BinaryOp, left: &Value, right: &Value) -> Option<Expr> {
    let is_null = |it: &Value| it.constant() == Some(0);
    let is_somewhere = |it: &Value| {
        matches!(it, Value::Function(_) | Value::Pointer(Pointer { what: Points::Known(_) | Points::Part(_), .. }))
    };
    let is_decided = is_null(left) && is_somewhere(right) || is_somewhere(left) && is_null(right);
    is_decided.then(|| Expr::Const(i64::from(op == BinaryOp::NotEqual)))
}

/// Whether two targets are the same, if that is known.
fn same(a: &Target, b: &Target) -> Option<bool> {
    if a.base != b.base || a.fields != b.fields || a.indices.len() != b.indices.len() {
        return Some(false);
    }
    let constant = |it: &Expr| match it {
        Expr::Const(value) => Some(*value),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => None,
    };
    let pairs = a.indices.iter().zip(&b.indices);
    pairs.map(|(a, b)| Some(constant(a)? == constant(b)?)).try_fold(true, |all, it| Some(all && it?))
}

pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}

/// `a < b`
pub(super) fn compared(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    if let (Expr::Const(a), Expr::Const(b)) = (&a, &b) {
        return Expr::Const(names::binary(op, *a, *b).unwrap_or(0));
    }
    let op = match op {
        BinaryOp::Less => Op::Lt,
        BinaryOp::LessEqual => Op::Le,
        BinaryOp::Greater => Op::Gt,
        BinaryOp::GreaterEqual => Op::Ge,
        BinaryOp::NotEqual => Op::Ne,
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::Equal
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => Op::Eq,
    };
    Expr::binary(op, a, b)
}

/// `e != 0`, unless it is a comparison itself.
pub(super) fn truth_of(expr: Expr) -> Expr {
    match expr {
        Expr::Const(value) => Expr::Const(i64::from(value != 0)),
        Expr::Binary(op, ..) if op.is_boolean() => expr,
        Expr::Unary(program::UnaryOp::Not, _) => expr,
        expr @ Expr::Var(_) | expr @ Expr::Unary(..) | expr @ Expr::Binary(..) => {
            Expr::binary(Op::Ne, expr, Expr::Const(0))
        }
    }
}

/// What a condition comes to, if that is known.
pub(super) fn known(condition: &Condition) -> Option<bool> {
    match &condition.kind {
        ConditionKind::Test(Expr::Const(value)) => Some(*value != 0),
        ConditionKind::Test(_)
        | ConditionKind::Not(_)
        | ConditionKind::And(..)
        | ConditionKind::Or(..)
        | ConditionKind::Either
        | ConditionKind::IsSet(..)
        | ConditionKind::Cas { .. } => None,
    }
}

pub(super) fn negated(condition: Condition, span: Span) -> Condition {
    match condition.kind {
        ConditionKind::Test(expr) => test(expr.negated(), span),
        ConditionKind::Not(inner) => *inner,
        kind @ ConditionKind::And(..)
        | kind @ ConditionKind::Or(..)
        | kind @ ConditionKind::Either
        | kind @ ConditionKind::IsSet(..)
        | kind @ ConditionKind::Cas { .. } => {
            let inner = Condition { span: condition.span, kind };
            Condition { span, kind: ConditionKind::Not(Box::new(inner)) }
        }
    }
}

fn has_effects(expr: &Expr) -> bool {
    let mut has = false;
    expr.for_each_var(&mut |it| has |= matches!(it, Operand::Effect(_)));
    has
}

/// Whether an effect is a load that uses nothing that another one gives.
fn stands_alone(effect: &Effect, others: &[(LocalId, Effect)]) -> bool {
    let EffectKind::Load(place, _) = &effect.kind else { return false };
    match place {
        Place::Fixed(_) => true,
        Place::Cell(_, Expr::Var(Operand::Local(index))) => others.iter().all(|(known, _)| known != index),
        Place::Cell(_, index) => matches!(index, Expr::Const(_)),
    }
}

/// The expression with its loads in it, if they happen in the order of the text and once each.
fn folded(block: &Block, expr: &Expr) -> Option<Expr> {
    let mut effects: Vec<(LocalId, Effect)> = Vec::new();
    for stmt in block {
        let StmtKind::Let(local, First::Kept(effect)) = &stmt.kind else { return None };
        effects.push((*local, effect.clone()));
    }
    if !effects.iter().all(|(_, effect)| stands_alone(effect, &effects)) {
        return None;
    }
    let mut seen = Vec::new();
    expr.for_each_var(&mut |it| {
        if let Operand::Local(local) = it
            && effects.iter().any(|(known, _)| known == local)
        {
            seen.push(*local);
        }
    });
    if seen.len() != effects.len() || seen.iter().zip(&effects).any(|(a, (b, _))| a != b) {
        return None;
    }
    Some(expr.map(&mut |it| match it {
        Operand::Local(local) => match effects.iter().find(|(known, _)| known == local) {
            Some((_, effect)) => Operand::Effect(Box::new(effect.clone())),
            None => it.clone(),
        },
        Operand::Effect(_) => it.clone(),
    }))
}
