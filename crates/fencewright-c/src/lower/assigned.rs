//! Variables of functions that may be read before anything is assigned to them.
//!
//! A look along the statements, as compilers take for their warnings: a variable that is assigned to on every way to
//! every place where it is read needs no further thought. The others are followed while the program runs.

use std::collections::BTreeSet;

use crate::ast::{Declaration, Expr, ExprKind, Initial, Stmt, StmtKind, Storage};

/// Those of a function.
pub(super) fn may_be_unset(body: &[Stmt]) -> BTreeSet<String> {
    let mut declared = BTreeSet::new();
    body.iter().for_each(|it| declarations(it, &mut declared));
    declared.into_iter().filter(|name| Look::at(name, body)).collect()
}

fn declarations(it: &Stmt, found: &mut BTreeSet<String>) {
    let is_open = |it: &&Declaration| it.initial.is_none() && is_automatic(it);
    match &it.kind {
        StmtKind::Declarations(all) => {
            found.extend(all.iter().filter(is_open).filter_map(|it| it.name.as_ref()).map(|it| it.text.clone()));
        }
        StmtKind::Block(all) => all.iter().for_each(|it| declarations(it, found)),
        StmtKind::If(_, then, otherwise) => {
            declarations(then, found);
            otherwise.iter().for_each(|it| declarations(it, found));
        }
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::Switch(_, body) => declarations(body, found),
        StmtKind::For { first, body, .. } => {
            first.iter().for_each(|it| declarations(it, found));
            declarations(body, found);
        }
        StmtKind::Case(_, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => declarations(body, found),
        StmtKind::Expr(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Asm { .. } => {}
    }
}

fn is_automatic(it: &Declaration) -> bool {
    !matches!(it.storage, Storage::Static | Storage::ThreadLocal | Storage::Extern | Storage::Typedef)
}

/// A look at one variable. What is said of a place that is not reached holds of it.
struct Look<'n> {
    name: &'n str,
    is_read: bool,
    /// Whether it is set at every `break` and `continue` of the loops around, innermost last.
    breaks: Vec<bool>,
    continues: Vec<bool>,
    /// Whether it is set where the switches around begin.
    switches: Vec<bool>,
}

impl<'n> Look<'n> {
    /// Whether it may be read before it is set.
    fn at(name: &'n str, body: &[Stmt]) -> bool {
        let (breaks, continues, switches) = (Vec::new(), Vec::new(), Vec::new());
        let mut look = Self { name, is_read: false, breaks, continues, switches };
        look.block(body, false);
        look.is_read
    }

    fn block(&mut self, all: &[Stmt], is_set: bool) -> bool {
        all.iter().fold(is_set, |is_set, it| self.statement(it, is_set))
    }

    /// Whether it is set behind a statement, if it is before.
    fn statement(&mut self, it: &Stmt, is_set: bool) -> bool {
        match &it.kind {
            StmtKind::Declarations(all) => all.iter().fold(is_set, |is_set, it| self.declared(it, is_set)),
            StmtKind::Expr(it) => it.iter().fold(is_set, |is_set, it| self.value(it, is_set)),
            StmtKind::Block(all) => self.block(all, is_set),
            StmtKind::If(condition, then, otherwise) => {
                let is_set = self.value(condition, is_set);
                let then = self.statement(then, is_set);
                otherwise.as_deref().map_or(is_set, |it| self.statement(it, is_set)) && then
            }
            StmtKind::While(condition, body) => self.loop_((Some(condition), None), body, is_set),
            StmtKind::For { first, condition, step, body } => {
                let is_set = first.iter().fold(is_set, |is_set, it| self.statement(it, is_set));
                self.loop_((condition.as_ref(), step.as_ref()), body, is_set)
            }
            StmtKind::DoWhile(body, condition) => {
                let (body, left) = self.round(body, is_set);
                self.value(condition, body) && left
            }
            StmtKind::Switch(value, body) => {
                let is_set = self.value(value, is_set);
                self.switches.push(is_set);
                self.breaks.push(true);
                let end = self.statement(body, true);
                self.switches.pop();
                // Perhaps no case was the one.
                self.breaks.pop().unwrap_or(true) && end && is_set
            }
            StmtKind::Case(_, body) | StmtKind::Default(body) => {
                let is_set = is_set && self.switches.last().copied().unwrap_or(false);
                self.statement(body, is_set)
            }
            // Nothing is known of who comes there.
            StmtKind::Label(_, body) => self.statement(body, false),
            StmtKind::Return(value) => {
                self.all(value, is_set);
                true
            }
            StmtKind::Break => leave(&mut self.breaks, is_set),
            StmtKind::Continue => leave(&mut self.continues, is_set),
            StmtKind::Goto(_) => true,
            StmtKind::Asm { .. } => is_set,
        }
    }

    fn declared(&mut self, it: &Declaration, is_set: bool) -> bool {
        let is_it = it.name.as_ref().is_some_and(|name| name.text == self.name);
        let behind = it.initial.iter().fold(is_set, |is_set, it| self.initial(it, is_set));
        if is_it { it.initial.is_some() || !is_automatic(it) } else { behind }
    }

    fn initial(&mut self, it: &Initial, is_set: bool) -> bool {
        match it {
            Initial::Expr(it) => self.value(it, is_set),
            Initial::List(all, _) => all.iter().fold(is_set, |is_set, (_, it)| self.initial(it, is_set)),
        }
    }

    /// Whether it is set behind a round of a loop, and wherever the loop is left by `break`.
    fn round(&mut self, body: &Stmt, is_set: bool) -> (bool, bool) {
        self.breaks.push(true);
        self.continues.push(true);
        let end = self.statement(body, is_set);
        let next = self.continues.pop().unwrap_or(true) && end;
        (next, self.breaks.pop().unwrap_or(true))
    }

    fn loop_(&mut self, (condition, step): (Option<&Expr>, Option<&Expr>), body: &Stmt, is_set: bool) -> bool {
        let is_endless = condition.is_none_or(|it| matches!(it.kind, ExprKind::Integer { value, .. } if value != 0));
        let is_set = condition.map_or(is_set, |it| self.value(it, is_set));
        let (next, left) = self.round(body, is_set);
        self.all(step, next);
        if is_endless { left } else { is_set && left }
    }

    fn all<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>, is_set: bool) -> bool {
        all.into_iter().fold(is_set, |is_set, it| self.value(it, is_set))
    }

    /// Whether it is set behind an expression, if it is before.
    fn value(&mut self, it: &Expr, is_set: bool) -> bool {
        match &it.kind {
            ExprKind::Name(name) => {
                self.is_read |= name.text == self.name && !is_set;
                is_set
            }
            ExprKind::Assign(None, to, value) => {
                let is_set = self.value(value, is_set);
                let is_it = matches!(&to.kind, ExprKind::Name(name) if name.text == self.name);
                is_it || self.value(to, is_set)
            }
            ExprKind::And(first, second) | ExprKind::Or(first, second) => {
                let is_set = self.value(first, is_set);
                self.value(second, is_set);
                is_set
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let is_set = self.value(condition, is_set);
                let then = self.value(then, is_set);
                self.value(otherwise, is_set) && then
            }
            ExprKind::Assign(Some(_), a, b)
            | ExprKind::Binary(_, a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::Index(a, b) => self.all([&**a, &**b], is_set),
            ExprKind::Call(function, arguments) => {
                let is_set = self.value(function, is_set);
                self.all(arguments, is_set)
            }
            ExprKind::Unary(_, of)
            | ExprKind::Step { operand: of, .. }
            | ExprKind::Member(of, _)
            | ExprKind::Arrow(of, _)
            | ExprKind::Deref(of)
            | ExprKind::AddressOf(of)
            | ExprKind::Cast(_, of) => self.value(of, is_set),
            ExprKind::Compound(_, it) => self.initial(it, is_set),
            ExprKind::Statements(all) => self.block(all, is_set),
            ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::SizeOfType(_)
            | ExprKind::SizeOf(_)
            | ExprKind::Type(_) => is_set,
        }
    }
}

/// Notes whether it is set where a loop is left; what is behind is not reached.
fn leave(around: &mut [bool], is_set: bool) -> bool {
    if let Some(last) = around.last_mut() {
        *last &= is_set;
    }
    true
}
