//! Expressions, what they may be, and the conditions that keep them within a domain.

use super::body::Body;
use crate::frontend::ast::{Expr, ExprKind};
use crate::frontend::import::tree::{binary, expr, int};
use crate::frontend::nearest::nearest;
use crate::numeric::Range;
use crate::program::{BinaryOp, UnaryOp};
use crate::source::Diagnostic;

/// How a value relates to the domain of where it goes.
pub(super) enum Fit {
    /// It is always within.
    Always,
    /// It is never within.
    Never,
    /// It is within where this holds.
    Where(Expr),
}

impl Body<'_, '_> {
    /// An expression in the names of the tree.
    pub(super) fn expression(&mut self, it: &Expr) -> Expr {
        self.valued(it).0
    }

    /// An expression in the names of the tree, and what it may be.
    pub(super) fn valued(&mut self, it: &Expr) -> (Expr, Range) {
        match &it.kind {
            ExprKind::Int(value) => (it.clone(), Range::just((*value).into())),
            ExprKind::Name(name) if name.text == "me" => self.me(it.span),
            ExprKind::Name(name) => match self.group.registers.get(&name.text) {
                Some((text, domain)) => (crate::frontend::import::tree::var(text, it.span), *domain),
                None => {
                    self.unknown_value(it, &name.text);
                    (it.clone(), Range::ALL)
                }
            },
            ExprKind::Call(_, arguments) => {
                let k = arguments.first().and_then(|it| if let ExprKind::Int(k) = it.kind { Some(k) } else { None });
                let other = k.and_then(|k| self.other(k, it.span));
                other.unwrap_or_else(|| (int(0, it.span), Range::ALL))
            }
            ExprKind::Paren(inner) => {
                let (inner, interval) = self.valued(inner);
                (expr(ExprKind::Paren(Box::new(inner)), it.span), interval)
            }
            ExprKind::Unary(op, inner) => {
                let (inner, interval) = self.valued(inner);
                let interval = match op {
                    UnaryOp::Neg => interval.negated().in_64_bits(),
                    UnaryOp::Not => Range::from_to(0, 1),
                };
                (expr(ExprKind::Unary(*op, Box::new(inner)), it.span), interval)
            }
            ExprKind::Binary(op, left, right) => {
                let ((left, a), (right, b)) = (self.valued(left), self.valued(right));
                (binary(*op, left, right), combined(*op, a, b))
            }
            // None of these comes from the parser.
            ExprKind::Bool(_)
            | ExprKind::Any(_)
            | ExprKind::Index(..)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => (it.clone(), Range::ALL),
            ExprKind::Based(..) | ExprKind::Shift(..) | ExprKind::Conditional(_) => (it.clone(), Range::ALL),
        }
    }

    fn unknown_value(&mut self, it: &Expr, text: &str) {
        let known = self.group.registers.keys().map(String::as_str);
        let is_location = self.memory.global(text).is_some() || self.memory.owned.contains_key(text);
        let (message, help) = if is_location {
            let help = format!("load it first: `read: $r := {text}`");
            (format!("`{text}` is a shared location, and expressions are over registers"), help)
        } else {
            let help = match nearest(text, known) {
                Some(it) => format!("did you mean `{it}`?"),
                None => format!("declare it: `registers ${} = 0 : [0:1]`", text.trim_start_matches('$')),
            };
            (format!("unknown register `{text}`"), help)
        };
        self.diagnostics.push(Diagnostic::error(it.span, message).with_help(help));
    }
}

fn combined(op: BinaryOp, a: Range, b: Range) -> Range {
    match op {
        BinaryOp::Add => a.plus(b).in_64_bits(),
        BinaryOp::Sub => a.minus(b).in_64_bits(),
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Min
        | BinaryOp::Max => Range::ALL,
    }
}

/// How a value that may be any of `values` relates to a domain.
pub(super) fn fit(value: &Expr, values: Range, domain: Range) -> Fit {
    if !values.meets(domain) {
        return Fit::Never;
    }
    let compare = |op, end: i128| {
        let end = i64::try_from(end).expect("the ends of a domain are numbers of the text");
        binary(op, value.clone(), int(end, value.span))
    };
    let lower = domain.least.filter(|_| !values.starts_within(domain)).map(|end| compare(BinaryOp::Ge, end));
    let upper = domain.most.filter(|_| !values.ends_within(domain)).map(|end| compare(BinaryOp::Le, end));
    match (lower, upper) {
        (None, None) => Fit::Always,
        (Some(condition), None) | (None, Some(condition)) => Fit::Where(condition),
        (Some(lower), Some(upper)) => Fit::Where(binary(BinaryOp::And, lower, upper)),
    }
}

/// Whether a name occurs.
pub(super) fn mentions(it: &Expr, text: &str) -> bool {
    match &it.kind {
        ExprKind::Name(name) => name.text == text,
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => mentions(inner, text),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
            mentions(left, text) || mentions(right, text)
        }
        ExprKind::Conditional(_) => false,
        ExprKind::Index(_, parts) | ExprKind::Call(_, parts) => parts.iter().any(|it| mentions(it, text)),
        ExprKind::Int(_)
        | ExprKind::Based(..)
        | ExprKind::Bool(_)
        | ExprKind::Any(_)
        | ExprKind::At(..)
        | ExprKind::Count(..)
        | ExprKind::Member(..) => false,
    }
}
