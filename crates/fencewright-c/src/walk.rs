//! Every expression of a text, from the outside to the inside, in the order of the text.

use crate::ast::{Expr, ExprKind, Initial, Item, Stmt, StmtKind, Unit};

/// Those of all functions.
pub(crate) fn expressions<'a>(unit: &'a Unit, visit: &mut dyn FnMut(&'a Expr)) {
    for item in &unit.items {
        if let Item::Function(function) = item {
            function.body.iter().for_each(|it| statement(it, visit));
        }
    }
}

/// Those of a statement.
pub(crate) fn statement<'a>(it: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &it.kind {
        StmtKind::Declarations(all) => {
            all.iter().filter_map(|it| it.initial.as_ref()).for_each(|it| initial(it, visit));
        }
        StmtKind::Expr(Some(it)) | StmtKind::Return(Some(it)) => expression(it, visit),
        StmtKind::Block(all) => all.iter().for_each(|it| statement(it, visit)),
        StmtKind::If(condition, then, otherwise) => {
            expression(condition, visit);
            statement(then, visit);
            otherwise.iter().for_each(|it| statement(it, visit));
        }
        StmtKind::While(condition, body) | StmtKind::Switch(condition, body) => {
            expression(condition, visit);
            statement(body, visit);
        }
        StmtKind::DoWhile(body, condition) => {
            statement(body, visit);
            expression(condition, visit);
        }
        StmtKind::For { first, condition, step, body } => {
            first.iter().for_each(|it| statement(it, visit));
            condition.iter().chain(step).for_each(|it| expression(it, visit));
            statement(body, visit);
        }
        StmtKind::Case(_, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => statement(body, visit),
        StmtKind::Expr(None)
        | StmtKind::Return(None)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Asm { .. } => {}
    }
}

fn initial<'a>(it: &'a Initial, visit: &mut dyn FnMut(&'a Expr)) {
    match it {
        Initial::Expr(it) => expression(it, visit),
        Initial::List(all, _) => all.iter().for_each(|(_, it)| initial(it, visit)),
    }
}

fn expression<'a>(it: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(it);
    match &it.kind {
        ExprKind::Step { operand: of, .. }
        | ExprKind::AddressOf(of)
        | ExprKind::Unary(_, of)
        | ExprKind::Member(of, _)
        | ExprKind::Arrow(of, _)
        | ExprKind::Deref(of)
        | ExprKind::Cast(_, of)
        | ExprKind::SizeOf(of) => expression(of, visit),
        ExprKind::Assign(_, a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Index(a, b) => {
            expression(a, visit);
            expression(b, visit);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|it| expression(it, visit)),
        ExprKind::Call(function, arguments) => {
            expression(function, visit);
            arguments.iter().for_each(|it| expression(it, visit));
        }
        ExprKind::Compound(_, it) => initial(it, visit),
        ExprKind::Statements(all) => all.iter().for_each(|it| statement(it, visit)),
        ExprKind::Integer { .. }
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Name(_)
        | ExprKind::SizeOfType(_)
        | ExprKind::Type(_) => {}
    }
}
