//! The words of properties: name, when, and what binders chose.

use crate::frontend::ast::{self, Expr, ExprKind};
use crate::program::{self, BinaryOp, PropertyWords, Value};
use crate::source::Span;

use super::constants::Never;
use super::globals::Global;
use super::properties::Lowering;

/// A longer condition is not said again for each choice.
const MAX_BYTES: u32 = 1000;

impl Lowering<'_, '_, '_> {
    /// What is said of a property beside its condition.
    pub(super) fn words(&self, forbid: &ast::Forbid, members: Vec<(usize, String)>) -> PropertyWords {
        let list = |texts: Vec<String>| texts.join(", ");
        let when = forbid.at_end.as_ref().map_or(String::new(), |it| match &it.of[..] {
            [] => "at end".to_owned(),
            of => format!("at end of {}", list(of.iter().map(|thread| self.log.text(thread.span)).collect())),
        });
        let range = |it: &ast::Binder| {
            format!("{} in {}..{}", it.name.text, self.log.text(it.range.lo.span), self.log.text(it.range.hi.span))
        };
        let choices = match &forbid.binders[..] {
            [] => String::new(),
            binders => format!("for {}", list(binders.iter().map(range).collect())),
        };
        PropertyWords { name: forbid.name.as_ref().map(|it| it.text.clone()), when, choices, members }
    }

    /// A condition in the words of the text, with values for what the binders choose now, and the members that are
    /// counted; nothing without any.
    pub(super) fn with_choice(&self, condition: &Expr) -> Option<String> {
        let is_chosen = !self.environment.local.is_empty() || self.members.is_some();
        if !is_chosen || condition.span.end - condition.span.start > MAX_BYTES {
            return None;
        }
        let mut values: Vec<(Span, Value)> = Vec::new();
        self.chosen(condition, &mut values);
        let members = self.members.as_ref().and_then(|it| self.in_words(it, condition));
        let is_outside =
            |it: &(Span, Value)| members.as_ref().is_none_or(|(at, _)| it.0.end <= at.start || at.end <= it.0.start);
        let mut chosen: Vec<(Span, String)> =
            values.into_iter().filter(is_outside).map(|(span, value)| (span, value.to_string())).collect();
        chosen.extend(members);
        chosen.sort_unstable();
        let text = self.log.text(condition.span);
        let mut out = String::new();
        let mut done = 0;
        for (span, value) in chosen {
            let at = |byte: u32| (byte - condition.span.start) as usize;
            out += text.get(done..at(span.start)).unwrap_or_default();
            out += &value;
            done = at(span.end);
        }
        Some(out + text.get(done..).unwrap_or_default())
    }

    /// The largest parts of an expression that are values now because of a binder.
    fn chosen(&self, expr: &Expr, all: &mut Vec<(Span, Value)>) {
        let is_chosen = mentions(expr, &|name| self.environment.local.iter().any(|it| it.0 == name));
        if !is_chosen {
            return;
        }
        let value = self.sum(expr).and_then(|it| it.eval(&|never: &Never| match *never {}).ok());
        if let Some(value) = value {
            all.push((expr.span, value));
            return;
        }
        match &expr.kind {
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => self.chosen(inner, all),
            ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
                self.chosen(left, all);
                self.chosen(right, all);
            }
            ExprKind::Conditional(it) => {
                [&it.condition, &it.then, &it.otherwise].into_iter().for_each(|it| self.chosen(it, all));
            }
            ExprKind::Index(_, parts) | ExprKind::Call(_, parts) => parts.iter().for_each(|it| self.chosen(it, all)),
            ExprKind::At(thread, _) | ExprKind::Count(thread, _) => {
                thread.arguments.iter().for_each(|it| self.chosen(it, all));
            }
            ExprKind::Member(thread, _, index) => {
                thread.arguments.iter().chain(index).for_each(|it| self.chosen(it, all));
            }
            ExprKind::Int(_) | ExprKind::Based(..) => {}
            ExprKind::Bool(_) | ExprKind::Any(_) | ExprKind::Name(_) => {}
        }
    }

    /// A sum or product of constants and binders, if it is one.
    fn sum(&self, expr: &Expr) -> Option<program::Expr<Never>> {
        let both = |op, left, right| Some(program::Expr::binary(op, self.sum(left)?, self.sum(right)?));
        match &expr.kind {
            ExprKind::Int(value) | ExprKind::Based(value, _) => Some(program::Expr::Const(*value)),
            ExprKind::Name(name) => {
                let local = self.environment.local.iter().rev().find(|it| it.0 == name.text).map(|it| it.1);
                let global = || match self.known.globals.get(&name.text) {
                    Some(Global::Const(value, _)) => Some(*value),
                    Some(_) | None => None,
                };
                local.or_else(global).map(program::Expr::Const)
            }
            ExprKind::Paren(inner) => self.sum(inner),
            ExprKind::Binary(op, left, right) if is_arithmetic(*op) => both(*op, left, right),
            ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Bool(_)
            | ExprKind::Any(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(..)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => None,
        }
    }
}

fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem)
}

/// Whether an expression has one of these names.
fn mentions(expr: &Expr, is_it: &dyn Fn(&str) -> bool) -> bool {
    let all = |parts: &[Expr]| parts.iter().any(|it| mentions(it, is_it));
    match &expr.kind {
        ExprKind::Name(name) => is_it(&name.text),
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => mentions(inner, is_it),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
            mentions(left, is_it) || mentions(right, is_it)
        }
        ExprKind::Conditional(it) => [&it.condition, &it.then, &it.otherwise].iter().any(|it| mentions(it, is_it)),
        ExprKind::Index(_, parts) | ExprKind::Call(_, parts) => all(parts),
        ExprKind::At(thread, _) | ExprKind::Count(thread, _) => all(&thread.arguments),
        ExprKind::Member(thread, _, index) => all(&thread.arguments) || all(index),
        ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) | ExprKind::Any(_) => false,
    }
}
