//! Labels and `goto`.
//!
//! Each copy of a `for` body and each inlined call has its own labels; a `goto` sees those of its copy and of the text
//! around it, as far as the function or thread goes.

use std::collections::BTreeMap;

use crate::frontend::ast::{self, Stmt, StmtKind};
use crate::frontend::hir::{self, LabelId};
use crate::source::{Diagnostic, Span};

use super::body::Body;
use super::globals::{Global, check_distinct, unknown};
use super::log::Log;

/// The labels of one copy of a text.
pub(super) type Frame = BTreeMap<String, LabelId>;

/// Reports labels that occur twice in a thread or function.
pub(super) fn check(log: &mut Log, block: &ast::Block) {
    let mut names = Vec::new();
    collect(block, ForBodies::Included, &mut names);
    check_distinct(log, names.into_iter());
}

/// Whether labels in `for` bodies are wanted too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ForBodies {
    Included,
    Left,
}

fn collect<'n>(block: &'n ast::Block, for_bodies: ForBodies, names: &mut Vec<&'n ast::Name>) {
    each_statement(block, &mut |stmt| match &stmt.kind {
        StmtKind::Label(name) => {
            names.push(name);
            Descend::Yes
        }
        StmtKind::For(..) if for_bodies == ForBodies::Left => Descend::No,
        StmtKind::For(..)
        | StmtKind::Let(_)
        | StmtKind::Assign(_)
        | StmtKind::Call(_)
        | StmtKind::If(_)
        | StmtKind::While(..)
        | StmtKind::DoWhile(..)
        | StmtKind::Loop(_)
        | StmtKind::Choose(_)
        | StmtKind::Atomic(_)
        | StmtKind::Block(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Assume(_)
        | StmtKind::Assert(..)
        | StmtKind::Fence(_)
        | StmtKind::OrderedFence(_)
        | StmtKind::Skip => Descend::Yes,
    });
}

/// Whether to look into a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Descend {
    Yes,
    No,
}

/// Visits all statements of a block, in the order of the text.
pub(super) fn each_statement<'n>(block: &'n ast::Block, visit: &mut dyn FnMut(&'n Stmt) -> Descend) {
    for stmt in &block.statements {
        visit_statement(stmt, visit);
    }
}

fn visit_statement<'n>(stmt: &'n Stmt, visit: &mut dyn FnMut(&'n Stmt) -> Descend) {
    if visit(stmt) == Descend::No {
        return;
    }
    match &stmt.kind {
        StmtKind::If(it) => {
            each_statement(&it.then, visit);
            match &it.otherwise {
                Some(ast::Else::Block(block)) => each_statement(block, visit),
                Some(ast::Else::If(stmt)) => visit_statement(stmt, visit),
                None => {}
            }
        }
        StmtKind::While(_, block)
        | StmtKind::DoWhile(block, _)
        | StmtKind::Loop(block)
        | StmtKind::For(_, block)
        | StmtKind::Atomic(block)
        | StmtKind::Block(block) => each_statement(block, visit),
        StmtKind::Choose(blocks) => blocks.iter().for_each(|block| each_statement(block, visit)),
        StmtKind::Let(_)
        | StmtKind::Assign(_)
        | StmtKind::Call(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::Assume(_)
        | StmtKind::Assert(..)
        | StmtKind::Fence(_)
        | StmtKind::OrderedFence(_)
        | StmtKind::Skip => {}
    }
}

/// Whether a block can be entered by a `goto`, as far as its labels show.
pub(super) fn has_labels(block: &ast::Block) -> bool {
    let mut names = Vec::new();
    collect(block, ForBodies::Left, &mut names);
    !names.is_empty()
}

impl<'a> Body<'_, 'a> {
    /// Makes the labels of a new copy of a text known.
    pub(super) fn push_frame(&mut self, block: &'a ast::Block) -> Vec<LabelId> {
        let mut names = Vec::new();
        collect(block, ForBodies::Left, &mut names);
        let mut frame = Frame::new();
        let mut labels = Vec::new();
        for name in names {
            let label = self.labels.push(name.text.clone());
            labels.push(label);
            frame.insert(name.text.clone(), label);
            self.declared_labels.entry(name.text.clone()).or_insert(name.span);
        }
        self.here().frames.push(frame);
        labels
    }

    /// `goto l;`
    pub(super) fn goto(&mut self, name: &ast::Name) -> Option<hir::StmtKind> {
        self.is_live = false;
        let label = self.find_label(&name.text);
        if label.is_none() {
            let diagnostic = self.unknown_label(name);
            self.log.say(diagnostic);
        }
        label.map(hir::StmtKind::Goto)
    }

    /// `l:`
    pub(super) fn label(&mut self, name: &ast::Name) -> Option<hir::StmtKind> {
        let label = self.find_label(&name.text)?;
        // A `goto` further down may lead here.
        self.is_live = true;
        self.n_labels += 1;
        Some(hir::StmtKind::Label(label))
    }

    /// The label that a name means here.
    fn find_label(&mut self, name: &str) -> Option<LabelId> {
        self.here().frames.iter().rev().find_map(|frame| frame.get(name)).copied()
    }

    fn unknown_label(&mut self, name: &ast::Name) -> Diagnostic {
        if let Some(span) = self.elsewhere(&name.text) {
            return Diagnostic::error(name.span, format!("`goto {}` cannot lead there", name.text))
                .and_at(span, "the label is in a `for` body, a function or another thread")
                .with_help("jump within one thread or function, and out of a `for` body but not into one");
        }
        let known: Vec<String> = self.here().frames.iter().flat_map(|frame| frame.keys().cloned()).collect();
        unknown("label", name, known.iter().map(String::as_str))
    }

    /// A label of this name that a `goto` here cannot see.
    fn elsewhere(&mut self, name: &str) -> Option<Span> {
        let threads = self.globals.members.iter().map(|it| &it.thread.body);
        let functions = self.globals.iter().filter_map(|it| match it.1 {
            Global::Function(function) => Some(&function.body),
            Global::Const(..) | Global::Enum(_) | Global::Scalar(_) | Global::Array(_) => None,
            Global::Thread(_) | Global::Wrong => None,
        });
        let mut names = Vec::new();
        threads.chain(functions).for_each(|block| collect(block, ForBodies::Included, &mut names));
        names.into_iter().find(|it| it.text == name).map(|it| it.span)
    }
}
