//! Statements.

use super::add_note;
use super::body::{Body, Cell, label};
use super::expressions::{Fit, fit};
use crate::frontend::ast::{self, Block, Else, Expr, ExprKind, If, Target};
use crate::frontend::import::tree::{
    assign, assume, atomic, binary, block, call, expr, int, let_, name, stmt, target, value_of, var,
};
use crate::frontend::nearest::nearest;
use crate::frontend::rmm::syntax::{Place, PlaceKind, Sequence, Stmt, StmtKind, WriteKind};
use crate::numeric::Range;
use crate::program::{BinaryOp, FenceKind};
use crate::source::{Diagnostic, Span};
use crate::watch::heed;

/// The most locations a pointer is spelled out for.
const MAX_POINTED: usize = 64;

impl Body<'_, '_> {
    pub(super) fn statements(&mut self, all: &[Stmt], out: &mut Vec<ast::Stmt>) {
        heed(4);
        for it in all {
            self.statement(it, out);
        }
    }

    /// Translates a statement, with its labels and comments.
    pub(super) fn statement(&mut self, it: &Stmt, out: &mut Vec<ast::Stmt>) {
        let start = out.len();
        for name in &it.labels {
            let text = self.group.labels.get(&name.text).cloned().unwrap_or_else(|| name.text.clone());
            out.push(label(&text, name));
        }
        self.unlabelled(it, out);
        if let Some(last) = out.last_mut().filter(|_| it.trivia.after.is_some()) {
            last.trivia.after.clone_from(&it.trivia.after);
        }
        if let Some(first) = out.get_mut(start) {
            first.trivia.blank_before = it.trivia.blank_before;
            first.trivia.before.splice(0..0, it.trivia.before.iter().cloned());
        }
        if let Some(text) = it.note {
            note(out, text);
        }
    }

    fn unlabelled(&mut self, it: &Stmt, out: &mut Vec<ast::Stmt>) {
        let span = it.span;
        match &it.kind {
            StmtKind::Nop => out.push(stmt(ast::StmtKind::Skip, span)),
            StmtKind::Fence(kind) => out.push(stmt(ast::StmtKind::Fence(*kind), span)),
            StmtKind::StoreLoadFence => out.push(stmt(ast::StmtKind::Fence(FenceKind::Full), span)),
            StmtKind::ReadIs(place, value) => {
                let value = self.expression(value);
                self.at_place(place, out, |_, cell| vec![assume(equals(&cell.target, value.clone()), span)]);
            }
            StmtKind::ReadTo(register, place) => {
                if let Some(to) = self.register(register) {
                    self.at_place(place, out, |body, cell| body.load(&to, &cell, span));
                }
            }
            StmtKind::Write(kind, place, value) => {
                let value = self.valued(value);
                self.at_place(place, out, |body, cell| body.store(*kind, cell, &value, span));
            }
            StmtKind::Cas(place, old, new) => {
                let (old, new) = (self.expression(old), self.valued(new));
                self.at_place(place, out, |body, cell| body.cas(cell, &old, &new, span));
            }
            StmtKind::Assign(register, value) => {
                let value = self.valued(value);
                if let Some(to) = self.register(register) {
                    out.extend(stored(to, &value, span));
                }
            }
            StmtKind::Assume(condition) => {
                let condition = self.expression(condition);
                out.push(assume(condition, span));
            }
            StmtKind::Goto(name) => self.goto(name, span, out),
            StmtKind::If(..) | StmtKind::While(..) | StmtKind::Either(_) => {
                let kind = self.structured(it);
                out.push(stmt(kind, span));
            }
            StmtKind::Locked(all) => self.locked(all, span, out),
            StmtKind::Block(inner) => self.flat(inner, span, out),
        }
    }

    fn structured(&mut self, it: &Stmt) -> ast::StmtKind {
        match &it.kind {
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.expression(condition);
                let then = self.block_of(then);
                let otherwise = otherwise.as_ref().map(|it| Else::Block(self.block_of(it)));
                ast::StmtKind::If(If { condition, then, otherwise })
            }
            StmtKind::While(condition, body) => {
                let condition = self.expression(condition);
                ast::StmtKind::While(condition, self.block_of(body))
            }
            StmtKind::Either(all) => ast::StmtKind::Choose(all.iter().map(|it| self.sequence(it)).collect()),
            StmtKind::Nop
            | StmtKind::ReadIs(..)
            | StmtKind::ReadTo(..)
            | StmtKind::Write(..)
            | StmtKind::Cas(..)
            | StmtKind::Fence(_)
            | StmtKind::StoreLoadFence
            | StmtKind::Assign(..)
            | StmtKind::Assume(_)
            | StmtKind::Goto(_)
            | StmtKind::Locked(_)
            | StmtKind::Block(_) => ast::StmtKind::Skip,
        }
    }

    fn block_of(&mut self, it: &Stmt) -> Block {
        let mut statements = Vec::new();
        self.statement(it, &mut statements);
        block(statements, it.span)
    }

    /// A sequence as a block.
    pub(super) fn sequence(&mut self, it: &Sequence) -> Block {
        let mut statements = Vec::new();
        self.statements(&it.statements, &mut statements);
        let first = it.statements.first().map_or(Span::default(), |it| it.span);
        let span = it.statements.last().map_or(first, |last| first.to(last.span));
        Block { end_comments: it.end_comments.clone(), ..block(statements, span) }
    }

    /// A sequence without braces of its own.
    fn flat(&mut self, it: &Sequence, span: Span, out: &mut Vec<ast::Stmt>) {
        self.statements(&it.statements, out);
        if !it.end_comments.is_empty() {
            let mut rest = stmt(ast::StmtKind::Skip, span);
            rest.trivia.before.clone_from(&it.end_comments);
            out.push(rest);
        }
    }

    fn goto(&mut self, it: &ast::Name, span: Span, out: &mut Vec<ast::Stmt>) {
        if let Some(text) = self.group.labels.get(&it.text) {
            out.push(stmt(ast::StmtKind::Goto(name(text, it.span)), span));
            return;
        }
        let help = match nearest(&it.text, self.group.labels.keys().map(String::as_str)) {
            Some(it) => format!("did you mean `{it}`?"),
            None => format!("put `{}:` before a statement of this process", it.text),
        };
        let message = format!("unknown label `{}`", it.text);
        self.diagnostics.push(Diagnostic::error(it.span, message).with_help(help));
    }

    /// A register as a place for a value.
    fn register(&mut self, it: &ast::Name) -> Option<Cell> {
        let value = self.valued(&var(&it.text, it.span));
        let ExprKind::Name(name) = value.0.kind else { return None };
        let is_known = self.group.registers.contains_key(&it.text);
        is_known.then(|| Cell { target: target(name.text, it.span), domain: value.1 })
    }

    /// Adds what is done with the location at a place; a pointer is a choice of locations.
    fn at_place(
        &mut self,
        place: &Place,
        out: &mut Vec<ast::Stmt>,
        mut act: impl FnMut(&mut Self, Cell) -> Vec<ast::Stmt>,
    ) {
        let PlaceKind::Pointer(pointer) = &place.kind else {
            if let Some(cell) = self.cell(place) {
                out.extend(act(self, cell));
            }
            return;
        };
        let (pointer, values) = self.valued(pointer);
        let pointed: Vec<usize> = (0..self.memory.globals.len()).filter(|&i| values.contains(i as i64)).collect();
        if pointed.len() > MAX_POINTED {
            let message = format!("the pointer may mean more than {MAX_POINTED} locations");
            let help = "give its register a smaller domain";
            self.diagnostics.push(Diagnostic::error(place.span, message).with_help(help));
            return;
        }
        let mut branches = Vec::new();
        for i in pointed {
            let (text, declaration) = &self.memory.globals[i];
            let cell = Cell { target: target(text, place.span), domain: declaration.domain };
            let is_it = binary(BinaryOp::Eq, pointer.clone(), int(i as i64, place.span));
            let guard = values.constant().is_none().then(|| assume(is_it, place.span));
            branches.push(guard.into_iter().chain(act(self, cell)).collect::<Vec<_>>());
        }
        match branches.len() {
            0 => out.push(never(place.span)),
            1 => out.extend(branches.remove(0)),
            _ => {
                let blocks = branches.into_iter().map(|it| block(it, place.span)).collect();
                out.push(stmt(ast::StmtKind::Choose(blocks), place.span));
            }
        }
    }

    /// `read: $r := x`. A value outside of the register's domain is never read.
    fn load(&mut self, to: &Cell, from: &Cell, span: Span) -> Vec<ast::Stmt> {
        let seen = var(&self.value, span);
        match fit(&seen, from.domain, to.domain) {
            Fit::Always => vec![assign(to.target.clone(), value_of(&from.target), span)],
            Fit::Never => vec![never(span)],
            Fit::Where(condition) => {
                let inner = vec![
                    let_(name(&self.value, span), None, value_of(&from.target), span),
                    assume(condition, span),
                    assign(to.target.clone(), seen, span),
                ];
                vec![stmt(ast::StmtKind::Block(block(inner, span)), span)]
            }
        }
    }

    fn store(&mut self, kind: WriteKind, to: Cell, value: &(Expr, Range), span: Span) -> Vec<ast::Stmt> {
        let mut all = stored(to, value, span);
        let is_plain = self.is_locked || kind == WriteKind::Plain;
        if let Some(last) = all.pop() {
            let is_store = matches!(last.kind, ast::StmtKind::Assign(_));
            all.push(if is_store && !is_plain { atomic(vec![last], span) } else { last });
        }
        all
    }

    fn cas(&mut self, on: Cell, old: &Expr, new: &(Expr, Range), span: Span) -> Vec<ast::Stmt> {
        if self.is_locked {
            let mut all = vec![assume(equals(&on.target, old.clone()), span)];
            all.extend(stored(on, new, span));
            return all;
        }
        let location = value_of(&on.target);
        let done = assume(call("cas", vec![location, old.clone(), new.0.clone()], span), span);
        guarded(new, on.domain, done, span)
    }
}

/// `x == value`
fn equals(target: &Target, value: Expr) -> Expr {
    binary(BinaryOp::Eq, value_of(target), value)
}

/// `assume(false);`, for a step that is never enabled.
fn never(span: Span) -> ast::Stmt {
    let mut it = assume(expr(ExprKind::Bool(false), span), span);
    add_note(&mut it.trivia, "outside of the domain");
    it
}

/// `target = value;`, which waits where the value does not fit.
fn stored(to: Cell, value: &(Expr, Range), span: Span) -> Vec<ast::Stmt> {
    guarded(value, to.domain, assign(to.target, value.0.clone(), span), span)
}

fn guarded(value: &(Expr, Range), domain: Range, then: ast::Stmt, span: Span) -> Vec<ast::Stmt> {
    match fit(&value.0, value.1, domain) {
        Fit::Always => vec![then],
        Fit::Never => vec![never(span)],
        Fit::Where(condition) => vec![assume(condition, span), then],
    }
}

fn note(out: &mut [ast::Stmt], text: &str) {
    if let Some(last) = out.last_mut() {
        add_note(&mut last.trivia, text);
    }
}
