//! Any number of copies of a thread: `thread P(*)`. How many copies are listed, and what properties may say of them.
//!
//! Copies have no names, so a property says how many are somewhere: `#P@l >= 2`, and `P@l` for `#P@l >= 1`. As many
//! are listed as some property names at once, and two at least: then whatever looks at the listed threads sees that a
//! copy is not alone.

use crate::frontend::ast::{self, Expr, ExprKind, ItemKind};
use crate::frontend::hir::Claim;
use crate::program::{BinaryOp, Value};
use crate::source::Span;

use super::globals::{Global, Globals, Member};
use super::log::Log;
use super::properties::Lowering;

/// A property names no more copies at once.
const MAX_NAMED: usize = 8;

/// How many copies of a thread are listed.
pub(super) fn n_listed(log: &mut Log, globals: &Globals<'_>, file: &ast::File, thread: &ast::Thread) -> usize {
    let naming = Naming { globals, thread: &thread.name.text };
    let mut n_listed = 2;
    for item in &file.items {
        let ItemKind::Forbid(forbid) = &item.kind else { continue };
        match naming.at_once(&forbid.condition) {
            Ok(n) if n <= MAX_NAMED => n_listed = n_listed.max(n),
            Ok(n) => {
                let message = format!("this names {n} copies of `{}` at once", naming.thread);
                log.error(forbid.condition.span, message, format!("name no more than {MAX_NAMED}"));
            }
            Err(span) => {
                let message =
                    format!("a count of `{}`, of which there is any number, is not a constant", naming.thread);
                log.error(span, message, "compare it with a number: `#P@l >= 2`");
            }
        }
    }
    n_listed
}

/// Counts the copies of a thread that conditions name.
struct Naming<'g, 'a> {
    globals: &'g Globals<'a>,
    thread: &'g str,
}

impl Naming<'_, '_> {
    /// How many copies a condition names at once, or where it does not say.
    fn at_once(&self, expr: &Expr) -> Result<usize, Span> {
        match &expr.kind {
            ExprKind::At(thread, _) => Ok(usize::from(thread.name.text == self.thread)),
            ExprKind::Binary(op, left, right) => match (&left.kind, &right.kind) {
                (ExprKind::Count(thread, _), _) if thread.name.text == self.thread => self.counted(*op, right),
                (_, ExprKind::Count(thread, _)) if thread.name.text == self.thread => self.counted(*op, left),
                _ if *op == BinaryOp::Or => Ok(self.at_once(left)?.max(self.at_once(right)?)),
                _ => Ok(self.at_once(left)? + self.at_once(right)?),
            },
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => self.at_once(inner),
            ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) | ExprKind::Any(_) | ExprKind::Name(_) => Ok(0),
            ExprKind::Index(..) | ExprKind::Shift(..) | ExprKind::Conditional(_) | ExprKind::Call(..) => Ok(0),
            ExprKind::Count(..) | ExprKind::Member(..) => Ok(0),
        }
    }

    /// How many a count names; what else is wrong with it is said where it is lowered.
    fn counted(&self, op: BinaryOp, number: &Expr) -> Result<usize, Span> {
        let value = self.value(number).ok_or(number.span)?;
        let strict = Value::from(matches!(op, BinaryOp::Gt | BinaryOp::Lt));
        Ok(usize::try_from(value.saturating_add(strict)).unwrap_or(0))
    }

    fn value(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Int(value) | ExprKind::Based(value, _) => Some(*value),
            ExprKind::Paren(inner) => self.value(inner),
            ExprKind::Binary(op, left, right) => op.apply(self.value(left)?, self.value(right)?).ok(),
            ExprKind::Name(name) => match self.globals.get(&name.text) {
                Some(Global::Const(value, _)) => Some(*value),
                Some(_) | None => None,
            },
            ExprKind::Bool(_) | ExprKind::Any(_) | ExprKind::Index(..) | ExprKind::Unary(..) => None,
            ExprKind::Shift(..) | ExprKind::Conditional(_) | ExprKind::Call(..) => None,
            ExprKind::At(..) | ExprKind::Count(..) | ExprKind::Member(..) => None,
        }
    }
}

impl Lowering<'_, '_, '_> {
    /// Whether there is any number of copies of a thread.
    pub(super) fn is_any(&self, thread: &ast::ThreadRef) -> bool {
        matches!(self.known.globals.get(&thread.name.text), Some(Global::Thread(it)) if it.any.is_some())
    }

    /// `P@l`: some copy is there.
    pub(super) fn some_at(&mut self, thread: &ast::ThreadRef, label: &ast::Name) -> Option<Claim> {
        let copies = self.threads(thread);
        let mut claims = Vec::new();
        for copy in copies {
            claims.push(self.at_label(copy, label)?);
        }
        claims.into_iter().reduce(|a, b| Claim::Or(Box::new(a), Box::new(b)))
    }

    /// Says that copies of a thread have no names.
    pub(super) fn refuse_copy(&mut self, thread: &ast::ThreadRef) {
        let name = &thread.name.text;
        let message = format!("there is any number of copies of `{name}`, which have no names");
        let help = match thread.arguments.is_empty() {
            true => format!("`assert` in `{name}` what its registers may hold, or copy them to a shared variable"),
            false => format!("say how many are somewhere: `#{name}@label >= 2`"),
        };
        self.log.error(thread.span, message, help);
    }

    /// Says that not all copies of a thread end.
    pub(super) fn refuse_end(&mut self, name: &str, span: Span) {
        let message = format!("there is any number of copies of `{name}`, which never have all ended");
        let single = self.known.globals.members.iter().find(|it| it.thread.any.is_none()).map(Member::name);
        let help = match single {
            Some(single) => format!("name the threads that have: `at end of {single}`"),
            None => "leave out `at end`: a property of memory is then looked at all the time".to_owned(),
        };
        self.log.error(span, message, help);
    }
}

/// Says that hangs are not asked of any number of threads.
pub(super) fn refuse_hang(log: &mut Log, globals: &Globals<'_>, span: Span) {
    let any = globals.members.iter().find(|it| it.thread.any.is_some());
    if let Some(member) = any {
        let name = &member.thread.name.text;
        let message = format!("whether any number of copies of `{name}` hang is not decided");
        log.error(span, message, format!("ask it of some number of them: `thread {name}(i: 1..3)`"));
    }
}
