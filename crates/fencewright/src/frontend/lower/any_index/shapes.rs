//! Small questions about expressions and blocks.

use crate::frontend::ast::{Binder, Block, Else, Expr, ExprKind, If, Range, Stmt, StmtKind};
use crate::program::BinaryOp;
use crate::source::Span;

/// `i`, `i+1`, `i-1`
pub(super) fn is_beside(expr: &Expr, name: &str, beyond: i64) -> bool {
    match sum(expr) {
        Some((BinaryOp::Add, left, right)) => beyond > 0 && is_name(left, name) && is_number(right, beyond),
        Some((BinaryOp::Sub, left, right)) => beyond < 0 && is_name(left, name) && is_number(right, -beyond),
        Some(_) => false,
        None => beyond == 0 && is_name(expr, name),
    }
}

/// `N-1`, `N-2`
pub(super) fn is_last(expr: &Expr, n: &str, below: i64) -> bool {
    is_beside(expr, n, -below)
}

fn sum(expr: &Expr) -> Option<(BinaryOp, &Expr, &Expr)> {
    if let ExprKind::Binary(op, left, right) = &bare(expr).kind { Some((*op, left, right)) } else { None }
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&bare(expr).kind, ExprKind::Name(it) if it.text == name)
}

/// An expression without the parentheses around it.
pub(super) fn bare(expr: &Expr) -> &Expr {
    if let ExprKind::Paren(inner) = &expr.kind { bare(inner) } else { expr }
}

/// Whether it is this number.
pub(super) fn is_number(expr: &Expr, number: i64) -> bool {
    matches!(bare(expr).kind, ExprKind::Int(it) if it == number)
}

/// Whether it compares two values.
pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Whether a name occurs in a range.
pub(super) fn range_mentions(range: &Range, name: &str) -> bool {
    mentions(&range.lo, name) || mentions(&range.hi, name)
}

/// Whether a name occurs.
pub(super) fn mentions(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Name(it) => it.text == name,
        ExprKind::Index(it, index) => it.text == name || index.iter().any(|it| mentions(it, name)),
        ExprKind::Unary(_, inner) | ExprKind::Paren(inner) => mentions(inner, name),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
            mentions(left, name) || mentions(right, name)
        }
        ExprKind::Conditional(it) => [&it.condition, &it.then, &it.otherwise].into_iter().any(|it| mentions(it, name)),
        ExprKind::Call(_, arguments) => arguments.iter().any(|it| mentions(it, name)),
        ExprKind::Any(Some(range)) => range_mentions(range, name),
        ExprKind::At(thread, _) | ExprKind::Count(thread, _) | ExprKind::Member(thread, ..) => {
            thread.arguments.iter().any(|it| mentions(it, name))
        }
        ExprKind::Any(None) | ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) => false,
    }
}

/// Every loop within, and what it goes through.
pub(super) fn for_each_loop(block: &Block, f: &mut dyn FnMut(&Binder)) {
    block.statements.iter().for_each(|it| loops_in(it, f));
}

fn loops_in(stmt: &Stmt, f: &mut dyn FnMut(&Binder)) {
    match &stmt.kind {
        StmtKind::For(binder, body) => {
            f(binder);
            for_each_loop(body, f);
        }
        StmtKind::If(it) => {
            for_each_loop(&it.then, f);
            match &it.otherwise {
                Some(Else::Block(block)) => for_each_loop(block, f),
                Some(Else::If(stmt)) => loops_in(stmt, f),
                None => {}
            }
        }
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) => for_each_loop(body, f),
        StmtKind::Loop(block) | StmtKind::Atomic(block) | StmtKind::Block(block) => for_each_loop(block, f),
        StmtKind::Choose(blocks) => blocks.iter().for_each(|it| for_each_loop(it, f)),
        StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::Return(_) | StmtKind::Goto(_) => {}
        StmtKind::Label(_) | StmtKind::Assume(_) | StmtKind::Assert(..) | StmtKind::Skip => {}
        StmtKind::Break | StmtKind::Continue | StmtKind::Fence(_) | StmtKind::OrderedFence(_) => {}
    }
}

/// Where the loop with this body is left, or goes on.
pub(super) fn leaves(body: &Block) -> Option<Span> {
    body.statements.iter().find_map(leaves_by)
}

fn leaves_by(stmt: &Stmt) -> Option<Span> {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue => Some(stmt.span),
        StmtKind::If(it) => leaves_if(it),
        StmtKind::Choose(blocks) => blocks.iter().find_map(leaves),
        StmtKind::Atomic(block) | StmtKind::Block(block) => leaves(block),
        StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::Loop(_) | StmtKind::For(..) => None,
        StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::Return(_) | StmtKind::Goto(_) => None,
        StmtKind::Label(_) | StmtKind::Assume(_) | StmtKind::Assert(..) | StmtKind::Skip => None,
        StmtKind::Fence(_) | StmtKind::OrderedFence(_) => None,
    }
}

fn leaves_if(it: &If) -> Option<Span> {
    leaves(&it.then).or_else(|| match it.otherwise.as_ref()? {
        Else::Block(block) => leaves(block),
        Else::If(stmt) => leaves_by(stmt),
    })
}
