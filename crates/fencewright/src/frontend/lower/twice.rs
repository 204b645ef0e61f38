//! A warning: one condition that loads one variable twice. Pseudo-code that says `flag[j] == 2 || flag[j] == 3` means
//! one look at `flag[j]`, but here another thread may store between the two.

use std::collections::BTreeMap;

use crate::frontend::ast::{self, ExprKind};
use crate::source::{Diagnostic, Span};

use super::body::{Body, Memory, SharedRef};

impl Body<'_, '_> {
    /// Warns of variables that a condition loads more than once.
    pub(super) fn warn_of_repeated_loads(&mut self, condition: &ast::Expr) {
        if self.is_atomic {
            return;
        }
        let mut loads = Vec::new();
        collect(condition, &mut loads);
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        for (name, span) in loads {
            match self.resolve(name).memory() {
                Memory::Shared(SharedRef::Array(array)) if self.globals.is_constant_array(array) => continue,
                Memory::Shared(_) => {}
                Memory::Other | Memory::Wrong => continue,
            }
            let text = self.log.text(span);
            if let Some(&before) = first.get(&text) {
                let message = format!("this condition loads `{text}` twice");
                let help = format!("another thread may store to it in between; to look once, write `let v = {text};`");
                self.log.say(Diagnostic::warning(span, message).and_at(before, "the first time").with_help(help));
            } else {
                first.insert(text, span);
            }
        }
    }
}

/// The names and cells that an expression reads, from left to right.
fn collect<'e>(expr: &'e ast::Expr, loads: &mut Vec<(&'e ast::Name, Span)>) {
    match &expr.kind {
        ExprKind::Name(name) => loads.push((name, expr.span)),
        ExprKind::Index(name, index) => {
            index.iter().for_each(|it| collect(it, loads));
            loads.push((name, expr.span));
        }
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => collect(inner, loads),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
            collect(left, loads);
            collect(right, loads);
        }
        ExprKind::Conditional(it) => {
            [&it.condition, &it.then, &it.otherwise].into_iter().for_each(|it| collect(it, loads));
        }
        // What a call does with its arguments, it says itself.
        ExprKind::Call(..) => {}
        ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) | ExprKind::Any(_) => {}
        ExprKind::At(..) | ExprKind::Count(..) | ExprKind::Member(..) => {}
    }
}
