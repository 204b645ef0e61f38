//! What statements do, found out by looking at them.

use std::collections::BTreeSet;

use crate::ast::{self, ExprKind, Stmt, StmtKind};

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

/// The names that statements assign to, or take the address of.
pub(super) fn changed(all: &[Stmt]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    all.iter().for_each(|it| changed_in(it, &mut found));
    found
}

fn changed_in(it: &Stmt, found: &mut BTreeSet<String>) {
    match &it.kind {
        StmtKind::Declarations(all) => {
            for it in all {
                if let Some(initial) = &it.initial {
                    changed_initially(initial, found);
                }
            }
        }
        StmtKind::Expr(Some(it)) | StmtKind::Return(Some(it)) => changed_by(it, found),
        StmtKind::Block(all) => all.iter().for_each(|it| changed_in(it, found)),
        StmtKind::If(condition, then, otherwise) => {
            changed_by(condition, found);
            changed_in(then, found);
            otherwise.iter().for_each(|it| changed_in(it, found));
        }
        StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) | StmtKind::Switch(condition, body) => {
            changed_by(condition, found);
            changed_in(body, found);
        }
        StmtKind::For { first, condition, step, body } => {
            first.iter().for_each(|it| changed_in(it, found));
            condition.iter().chain(step).for_each(|it| changed_by(it, found));
            changed_in(body, found);
        }
        StmtKind::Case(_, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => changed_in(body, found),
        StmtKind::Expr(None)
        | StmtKind::Return(None)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Asm { .. } => {}
    }
}

fn changed_initially(it: &ast::Initial, found: &mut BTreeSet<String>) {
    match it {
        ast::Initial::Expr(it) => changed_by(it, found),
        ast::Initial::List(all, _) => all.iter().for_each(|(_, it)| changed_initially(it, found)),
    }
}

fn changed_by(it: &ast::Expr, found: &mut BTreeSet<String>) {
    match &it.kind {
        ExprKind::Assign(_, to, value) => {
            root(to, found);
            changed_by(to, found);
            changed_by(value, found);
        }
        ExprKind::Step { operand, .. } | ExprKind::AddressOf(operand) => {
            root(operand, found);
            changed_by(operand, found);
        }
        ExprKind::Unary(_, of)
        | ExprKind::Member(of, _)
        | ExprKind::Arrow(of, _)
        | ExprKind::Deref(of)
        | ExprKind::Cast(_, of)
        | ExprKind::SizeOf(of) => changed_by(of, found),
        ExprKind::Binary(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Index(a, b) => {
            changed_by(a, found);
            changed_by(b, found);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|it| changed_by(it, found)),
        ExprKind::Call(function, arguments) => {
            changed_by(function, found);
            arguments.iter().for_each(|it| changed_by(it, found));
        }
        ExprKind::Compound(_, initial) => changed_initially(initial, found),
        ExprKind::Statements(all) => all.iter().for_each(|it| changed_in(it, found)),
        ExprKind::Integer { .. }
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Name(_)
        | ExprKind::SizeOfType(_)
        | ExprKind::Type(_) => {}
    }
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
