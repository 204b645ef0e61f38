//! What statements do, found out by looking at them.

use std::collections::BTreeSet;

use crate::ast::{self, ExprKind, Stmt, StmtKind};
use crate::walk::statement;

use super::atomics::writes_variable;

/// Calls `visit` on a statement and those in it, until it says that it is enough.
fn any(it: &Stmt, visit: &mut dyn FnMut(&Stmt) -> Option<bool>) -> bool {
    if let Some(found) = visit(it) {
        return found;
    }
    match &it.kind {
        StmtKind::Block(all) => all.iter().any(|it| any(it, visit)),
        StmtKind::If(_, then, otherwise) => any(then, visit) || otherwise.as_deref().is_some_and(|it| any(it, visit)),
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::Switch(_, body) => any(body, visit),
        StmtKind::For { body, .. } => any(body, visit),
        StmtKind::Case(_, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => any(body, visit),
        StmtKind::Declarations(_)
        | StmtKind::Expr(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Asm { .. } => false,
    }
}

/// Whether control may leave by other ways than the end.
pub(super) fn jumps(it: &Stmt) -> bool {
    any(it, &mut |it| {
        matches!(it.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Goto(_))
            .then_some(true)
    })
}

/// Whether there is a `continue` of this loop.
pub(super) fn continues(it: &Stmt) -> bool {
    any(it, &mut |it| match &it.kind {
        StmtKind::Continue => Some(true),
        StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::For { .. } => Some(false),
        StmtKind::Declarations(_)
        | StmtKind::Expr(_)
        | StmtKind::Block(_)
        | StmtKind::If(..)
        | StmtKind::Switch(..)
        | StmtKind::Case(..)
        | StmtKind::Default(_)
        | StmtKind::Break
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Label(..)
        | StmtKind::Asm { .. } => None,
    })
}

/// Whether there is a `break` of this loop.
pub(super) fn breaks(it: &Stmt) -> bool {
    any(it, &mut |it| match &it.kind {
        StmtKind::Break => Some(true),
        StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::For { .. } | StmtKind::Switch(..) => Some(false),
        StmtKind::Declarations(_)
        | StmtKind::Expr(_)
        | StmtKind::Block(_)
        | StmtKind::If(..)
        | StmtKind::Case(..)
        | StmtKind::Default(_)
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Label(..)
        | StmtKind::Asm { .. } => None,
    })
}

/// Whether there is a `return`.
pub(super) fn returns(it: &Stmt) -> bool {
    any(it, &mut |it| matches!(it.kind, StmtKind::Return(_)).then_some(true))
}

/// The labels in statements.
pub(super) fn labels(all: &[Stmt]) -> Vec<String> {
    let mut found = Vec::new();
    for it in all {
        any(it, &mut |it| {
            if let StmtKind::Label(name, _) = &it.kind {
                found.push(name.text.clone());
            }
            None
        });
    }
    found
}

/// Whether a call is a macro of Linux that writes to the variable that is its first argument.
fn is_macro_that_writes(function: &ast::Expr) -> bool {
    matches!(&function.kind, ExprKind::Name(name) if writes_variable(&name.text))
}

/// The names that statements assign to, or take the address of.
pub(super) fn changed(all: &[Stmt]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for it in all {
        statement(it, &mut |it| {
            if let ExprKind::Assign(_, of, _) | ExprKind::Step { operand: of, .. } | ExprKind::AddressOf(of) = &it.kind
            {
                root(of, &mut found);
            }
            if let ExprKind::Call(function, arguments) = &it.kind
                && is_macro_that_writes(function)
            {
                arguments.first().into_iter().for_each(|of| root(of, &mut found));
            }
        });
    }
    found
}

fn root(it: &ast::Expr, found: &mut BTreeSet<String>) {
    match &it.kind {
        ExprKind::Name(name) => {
            found.insert(name.text.clone());
        }
        ExprKind::Member(of, _) | ExprKind::Index(of, _) | ExprKind::Cast(_, of) => root(of, found),
        ExprKind::Integer { .. }
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::And(..)
        | ExprKind::Or(..)
        | ExprKind::Conditional(..)
        | ExprKind::Assign(..)
        | ExprKind::Step { .. }
        | ExprKind::Comma(..)
        | ExprKind::Call(..)
        | ExprKind::Arrow(..)
        | ExprKind::Deref(_)
        | ExprKind::AddressOf(_)
        | ExprKind::SizeOfType(_)
        | ExprKind::SizeOf(_)
        | ExprKind::Compound(..)
        | ExprKind::Statements(_)
        | ExprKind::Type(_) => {}
    }
}
