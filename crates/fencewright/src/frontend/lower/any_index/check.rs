//! Whether a program says of an index no more than representatives keep.
//!
//! An index may name a cell of an array with one for each thread, and be compared with the index of the own thread.
//! Loops go through all threads, or those before or behind the own, and are not left by `break`. Properties name
//! threads by variables that go through them. The number itself may be the size of an array and the end of such a
//! range.

use std::collections::BTreeSet;

use crate::frontend::ast::{self, Binder, Block, Else, Expr, ExprKind, File, ItemKind, Stmt, StmtKind, Target};
use crate::source::{Diagnostic, Span};

use super::shapes::{bare, is_beside, is_comparison, is_last, is_number, leaves, mentions, range_mentions};

/// Looks whether a program says nothing of an index but what representatives keep.
pub(super) struct Checking<'f> {
    /// The constant.
    n: &'f str,
    /// The arrays with a cell for each thread.
    pub(super) arrays: BTreeSet<&'f str>,
    /// The threads with an index.
    pub(super) families: BTreeSet<&'f str>,
    /// The index of the own thread, and those that loops go through.
    own: Option<&'f str>,
    others: Vec<&'f str>,
    pub(super) mistakes: Vec<Diagnostic>,
}

impl<'f> Checking<'f> {
    pub(super) fn new(file: &'f File, n: &'f str) -> Self {
        let (mut arrays, mut families) = (BTreeSet::new(), BTreeSet::new());
        for item in &file.items {
            match &item.kind {
                ItemKind::Shared(it) => {
                    let of_threads = it.variables.iter().filter(|it| it.sizes.iter().any(|size| mentions(size, n)));
                    arrays.extend(of_threads.map(|it| it.name.text.as_str()));
                }
                ItemKind::Thread(it) if it.parameters.iter().any(|it| range_mentions(&it.range, n)) => {
                    families.insert(it.name.text.as_str());
                }
                ItemKind::Const(_) | ItemKind::ConstArray(_) | ItemKind::Enum(_) | ItemKind::Thread(_) => {}
                ItemKind::Function(_) | ItemKind::Forbid(_) | ItemKind::Hang(_) => {}
                ItemKind::Predicate(_) | ItemKind::Include(_) => {}
            }
        }
        Self { n, arrays, families, own: None, others: Vec::new(), mistakes: Vec::new() }
    }

    fn refuse(&mut self, span: Span, what: &str, help: &str) {
        let message = format!("{what}, where `{}` is any number", self.n);
        self.mistakes.push(Diagnostic::error(span, message).with_help(help.to_owned()));
    }

    /// Looks at everything.
    pub(super) fn file(&mut self, file: &'f File) {
        for item in &file.items {
            match &item.kind {
                ItemKind::Const(it) if it.name.text == self.n => {}
                ItemKind::Const(it) => self.value(&it.value),
                ItemKind::ConstArray(it) => it.sizes.iter().chain(&it.values).for_each(|it| self.value(it)),
                ItemKind::Shared(it) => self.shared(it),
                ItemKind::Thread(it) => self.thread(it),
                ItemKind::Function(it) => self.block(&it.body),
                ItemKind::Forbid(it) => self.forbid(it),
                ItemKind::Hang(_) => self.refuse(item.span, "hangs are not asked about", "give it a value: `-D N=3`"),
                ItemKind::Predicate(it) => self.value(it),
                ItemKind::Enum(_) | ItemKind::Include(_) => {}
            }
        }
    }

    fn shared(&mut self, it: &'f ast::Shared) {
        for variable in &it.variables {
            match &variable.sizes[..] {
                [size] if self.is_n(size) => {
                    if let Some(ast::Initial::Each(_, span)) = &it.initial {
                        self.refuse(*span, "cells start with different values", "let all start with the same");
                    }
                }
                sizes => sizes.iter().for_each(|it| self.value(it)),
            }
        }
        it.ty.iter().for_each(|ty| self.ty(ty));
        match &it.initial {
            Some(ast::Initial::All(it)) => self.value(it),
            Some(ast::Initial::Each(all, _)) => all.iter().for_each(|it| self.value(it)),
            None => {}
        }
    }

    fn ty(&mut self, ty: &'f ast::Type) {
        match &ty.kind {
            ast::TypeKind::Range(range) => [&range.lo, &range.hi].into_iter().for_each(|it| self.value(it)),
            ast::TypeKind::Bool | ast::TypeKind::Int | ast::TypeKind::Named(_) => {}
        }
    }

    fn thread(&mut self, it: &'f ast::Thread) {
        if let Some(span) = it.any {
            self.refuse(span, "there is any number of copies of another thread", "list them");
        }
        if self.families.contains(it.name.text.as_str()) {
            match &it.parameters[..] {
                [only] if is_number(&only.range.lo, 0) && self.is_last(&only.range.hi, 1) => {
                    self.own = Some(&only.name.text);
                }
                _ => self.refuse(it.name.span, "threads are numbered otherwise", "number them `0..N-1`"),
            }
        }
        self.block(&it.body);
        self.own = None;
    }

    fn forbid(&mut self, it: &'f ast::Forbid) {
        if let Some(at_end) = &it.at_end {
            self.refuse(at_end.span, "the end of all threads is asked about", "leave out `at end`");
        }
        for binder in &it.binders {
            let range = &binder.range;
            let is_index = self.is_range(range) || [&range.lo, &range.hi].into_iter().any(|it| self.is_index_like(it));
            let from = is_number(&range.lo, 0) || is_number(&range.lo, 1) || self.is_known(&range.lo, 1);
            let to = self.is_last(&range.hi, 1) || self.is_last(&range.hi, 2) || self.is_known(&range.hi, -1);
            match is_index {
                true if from && to => self.others.push(&binder.name.text),
                true => {
                    self.refuse(range.lo.span.to(range.hi.span), "this range is counted", "use `0..N-1`, `i+1..N-1`");
                }
                false => [&range.lo, &range.hi].into_iter().for_each(|it| self.value(it)),
            }
        }
        self.condition(&it.condition);
        self.others.clear();
    }

    /// A condition of a property: all indices in it are of threads that are told apart.
    fn condition(&mut self, expr: &'f Expr) {
        match &expr.kind {
            ExprKind::At(thread, _) => self.thread_ref(thread),
            ExprKind::Member(thread, _, index) => {
                self.thread_ref(thread);
                index.iter().for_each(|it| self.value(it));
            }
            ExprKind::Count(thread, _) => thread.arguments.iter().for_each(|it| self.value(it)),
            ExprKind::Binary(op, left, right) if is_comparison(*op) && self.is_index(left) && self.is_index(right) => {}
            ExprKind::Binary(_, left, right) => {
                self.condition(left);
                self.condition(right);
            }
            ExprKind::Unary(_, inner) | ExprKind::Paren(inner) => self.condition(inner),
            ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) | ExprKind::Any(_) | ExprKind::Name(_) => {
                self.value(expr);
            }
            ExprKind::Index(..) | ExprKind::Shift(..) | ExprKind::Conditional(_) | ExprKind::Call(..) => {
                self.value(expr);
            }
        }
    }

    fn thread_ref(&mut self, thread: &'f ast::ThreadRef) {
        let is_family = self.families.contains(thread.name.text.as_str());
        for argument in &thread.arguments {
            if is_family && !self.is_index(argument) {
                self.refuse(argument.span, "one thread is named", "say it of all: `P(i)@l … for i in 0..N-1`");
            } else if !is_family {
                self.value(argument);
            }
        }
    }

    fn block(&mut self, block: &'f Block) {
        block.statements.iter().for_each(|it| self.statement(it));
    }

    fn statement(&mut self, stmt: &'f Stmt) {
        match &stmt.kind {
            StmtKind::Let(it) => {
                if self.is_index_name(&it.name.text) {
                    self.refuse(it.name.span, "a register has the name of an index", "rename it");
                }
                it.sizes.iter().chain(&it.value).for_each(|it| self.value(it));
                it.ty.iter().for_each(|ty| self.ty(ty));
            }
            StmtKind::Assign(it) => {
                self.target(&it.target);
                self.value(&it.value);
            }
            StmtKind::Call(it) | StmtKind::Assume(it) | StmtKind::Assert(it, _) | StmtKind::Return(Some(it)) => {
                self.value(it);
            }
            StmtKind::If(it) => self.if_(it),
            StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                self.value(condition);
                self.block(body);
            }
            StmtKind::For(binder, body) => self.for_(binder, body),
            StmtKind::Choose(blocks) => blocks.iter().for_each(|it| self.block(it)),
            StmtKind::Loop(block) | StmtKind::Atomic(block) | StmtKind::Block(block) => self.block(block),
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) | StmtKind::Goto(_) | StmtKind::Label(_) => {}
            StmtKind::Fence(_) | StmtKind::OrderedFence(_) | StmtKind::Skip => {}
        }
    }

    fn if_(&mut self, it: &'f ast::If) {
        self.value(&it.condition);
        self.block(&it.then);
        match &it.otherwise {
            Some(Else::Block(block)) => self.block(block),
            Some(Else::If(stmt)) => self.statement(stmt),
            None => {}
        }
    }

    fn for_(&mut self, binder: &'f Binder, body: &'f Block) {
        if self.is_index_name(&binder.name.text) {
            self.refuse(binder.name.span, "a loop has the index of another", "rename it");
        }
        let range = &binder.range;
        if !self.is_range(range) {
            [&range.lo, &range.hi].into_iter().for_each(|it| self.value(it));
            return self.block(body);
        }
        let span = range.lo.span.to(range.hi.span);
        let from = is_number(&range.lo, 0) || self.is_own(&range.lo, 0) || self.is_own(&range.lo, 1);
        let to = self.is_last(&range.hi, 1) || self.is_own(&range.hi, 0) || self.is_own(&range.hi, -1);
        if !(from && to) {
            self.refuse(span, "threads are counted", "go through `0..N-1`, `0..i-1` or `i+1..N-1`");
        }
        if let Some(span) = leaves(body) {
            self.refuse(span, "a loop over threads is left, or goes on with the next", "use `goto`");
        }
        self.others.push(&binder.name.text);
        self.block(body);
        self.others.pop();
    }

    fn target(&mut self, it: &'f Target) {
        self.cell(&it.name, &it.index);
    }

    fn cell(&mut self, name: &'f ast::Name, index: &'f [Expr]) {
        match index {
            [only] if self.arrays.contains(name.text.as_str()) => {
                if !self.is_index(only) {
                    self.refuse(only.span, "the cell of a thread is computed", "use the index of a thread as it is");
                }
            }
            _ => index.iter().for_each(|it| self.value(it)),
        }
    }

    /// An expression that is no index.
    fn value(&mut self, expr: &'f Expr) {
        match &expr.kind {
            ExprKind::Name(name) if self.is_index_name(&name.text) || self.arrays.contains(name.text.as_str()) => {
                self.refuse(expr.span, "an index is a value", "compare it with the own index, or use it for a cell");
            }
            ExprKind::Index(name, index) => self.cell(name, index),
            ExprKind::Binary(op, left, right) if is_comparison(*op) && self.is_index(left) && self.is_index(right) => {
                if !self.is_own(left, 0) && !self.is_own(right, 0) {
                    self.refuse(expr.span, "two other threads are compared", "compare with the own index");
                }
            }
            ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
                self.value(left);
                self.value(right);
            }
            ExprKind::Unary(_, inner) | ExprKind::Paren(inner) => self.value(inner),
            ExprKind::Conditional(it) => {
                [&it.condition, &it.then, &it.otherwise].into_iter().for_each(|it| self.value(it));
            }
            ExprKind::Call(_, arguments) => arguments.iter().for_each(|it| self.value(it)),
            ExprKind::Any(Some(range)) => [&range.lo, &range.hi].into_iter().for_each(|it| self.value(it)),
            ExprKind::At(thread, _) | ExprKind::Count(thread, _) | ExprKind::Member(thread, ..) => {
                thread.arguments.iter().for_each(|it| self.value(it));
            }
            ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) | ExprKind::Any(None) => {}
        }
    }

    fn is_n(&self, expr: &Expr) -> bool {
        matches!(&bare(expr).kind, ExprKind::Name(name) if name.text == self.n)
    }

    /// `N-1`, `N-2`
    fn is_last(&self, expr: &Expr, below: i64) -> bool {
        is_last(expr, self.n, below)
    }

    fn is_index_name(&self, name: &str) -> bool {
        name == self.n || self.own == Some(name) || self.others.contains(&name)
    }

    /// The index of a thread as it is.
    fn is_index(&self, expr: &Expr) -> bool {
        matches!(&bare(expr).kind, ExprKind::Name(name) if name.text != self.n && self.is_index_name(&name.text))
    }

    fn is_index_like(&self, expr: &Expr) -> bool {
        self.others.iter().any(|it| mentions(expr, it))
    }

    /// The own index, or the one before or behind it.
    fn is_own(&self, expr: &Expr, beyond: i64) -> bool {
        self.own.is_some_and(|own| is_beside(expr, own, beyond))
    }

    /// The index of a thread that is told apart, or the one before or behind it.
    fn is_known(&self, expr: &Expr, beyond: i64) -> bool {
        self.others.iter().any(|it| is_beside(expr, it, 0) || is_beside(expr, it, beyond))
    }

    /// Whether a range has to do with indices.
    fn is_range(&self, range: &ast::Range) -> bool {
        let names = [Some(self.n), self.own].into_iter().flatten().chain(self.others.iter().copied());
        names.into_iter().any(|name| range_mentions(range, name))
    }
}
