//! The names that a part of a text mentions, and what else is seen by looking at it.

use std::collections::BTreeSet;

use crate::ast::{Block, Expr, ExprKind, Macro, Stmt, StmtKind};

/// Calls back for an expression and all in it.
pub(crate) fn each<'e>(it: &'e Expr, see: &mut dyn FnMut(&'e Expr)) {
    see(it);
    match &it.kind {
        ExprKind::Integer(..) | ExprKind::Bool(_) | ExprKind::Text(_) => {}
        ExprKind::Other | ExprKind::Path(_) => {}
        ExprKind::Continue(_) | ExprKind::Refused(..) => {}
        ExprKind::Unary(_, a) | ExprKind::Reference(a) | ExprKind::Field(a, _) | ExprKind::Cast(a, _) => each(a, see),
        ExprKind::Try(a) | ExprKind::Let(_, a) => each(a, see),
        ExprKind::Binary(_, a, b) | ExprKind::Assign(a, b) | ExprKind::AssignBy(_, a, b) => {
            [a, b].into_iter().for_each(|it| each(it, see));
        }
        ExprKind::Index(a, b) | ExprKind::Repeat(a, b) => [a, b].into_iter().for_each(|it| each(it, see)),
        ExprKind::Call(f, all) => {
            each(f, see);
            all.iter().for_each(|it| each(it, see));
        }
        ExprKind::Method(it) => {
            each(&it.receiver, see);
            it.arguments.iter().for_each(|it| each(it, see));
        }
        ExprKind::Block(_, block) | ExprKind::Loop(_, block) => each_in(block, see),
        ExprKind::If(condition, then, otherwise) => {
            each(condition, see);
            each_in(then, see);
            otherwise.iter().for_each(|it| each(it, see));
        }
        ExprKind::Match(subject, arms) => {
            each(subject, see);
            for arm in arms {
                arm.guard.iter().for_each(|it| each(it, see));
                each(&arm.body, see);
            }
        }
        ExprKind::While(_, condition, block) | ExprKind::For(_, _, condition, block) => {
            each(condition, see);
            each_in(block, see);
        }
        ExprKind::Break(_, value) | ExprKind::Return(value) => value.iter().for_each(|it| each(it, see)),
        ExprKind::Tuple(all) | ExprKind::Array(all) => all.iter().for_each(|it| each(it, see)),
        ExprKind::Struct(_, fields, rest) => {
            fields.iter().for_each(|(_, it)| each(it, see));
            rest.iter().for_each(|it| each(it, see));
        }
        ExprKind::Range(a, b, _) => a.iter().chain(b).for_each(|it| each(it, see)),
        ExprKind::Closure(it) => each(&it.body, see),
        ExprKind::Macro(it) => each_macro(it, see),
    }
}

fn each_macro<'e>(it: &'e Macro, see: &mut dyn FnMut(&'e Expr)) {
    match it {
        Macro::Assert(a) => each(a, see),
        Macro::AssertSame(a, b, _) | Macro::VecRepeat(a, b) => {
            each(a, see);
            each(b, see);
        }
        Macro::Panic => {}
        Macro::Matches(a, _, guard) => {
            each(a, see);
            guard.iter().for_each(|it| each(it, see));
        }
        Macro::Print(all) | Macro::Vec(all) => all.iter().for_each(|it| each(it, see)),
    }
}

/// The same for a block.
pub(crate) fn each_in<'e>(block: &'e Block, see: &mut dyn FnMut(&'e Expr)) {
    for Stmt { kind, .. } in &block.statements {
        match kind {
            StmtKind::Let(_, value, otherwise) => {
                value.iter().for_each(|it| each(it, see));
                otherwise.iter().for_each(|it| each_in(it, see));
            }
            StmtKind::Expr(it) => each(it, see),
            StmtKind::Item => {}
        }
    }
    block.value.iter().for_each(|it| each(it, see));
}

/// The names of variables that may be meant.
pub(super) fn names<'e>(walk: &mut dyn FnMut(&mut dyn FnMut(&'e Expr))) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk(&mut |it| {
        if let ExprKind::Path(path) = &it.kind
            && let Some(name) = path.single()
        {
            found.insert(name.to_owned());
        }
    });
    found
}

/// Whether a function may be left before its end; closures have their own.
pub(super) fn leaves_early(block: &Block) -> bool {
    let mut inner: Vec<(u32, u32)> = Vec::new();
    let mut found = false;
    each_in(block, &mut |it| match &it.kind {
        ExprKind::Closure(it) => inner.push((it.span.start, it.span.end)),
        ExprKind::Return(_) | ExprKind::Try(_) => {
            found |= !inner.iter().any(|&(start, end)| start <= it.span.start && it.span.end <= end);
        }
        _ => {}
    });
    found
}

/// Whether anything in a loop's body leaves the loop, or goes on with it.
pub(super) fn jumps(block: &Block) -> bool {
    let mut found = false;
    each_in(block, &mut |it| {
        found |=
            matches!(it.kind, ExprKind::Break(..) | ExprKind::Continue(_) | ExprKind::Return(_) | ExprKind::Try(_));
    });
    found
}
