//! `// fencewright: may wait`: where a thread may wait for ever without that being a hang.
//!
//! The comment stands on the line of the statement that waits, or on a line of its own before it. Who writes it wants
//! to hear of all other hangs.

use std::collections::BTreeMap;

use fencewright::frontend::hir::StmtKind as Kind;
use fencewright::program::NoHang;
use fencewright::source::{Source, Span};

use crate::ast::{self, Item, Remark, Stmt, StmtKind, Unit};

use super::Lowering;

/// What a comment says.
const WORDS: &str = "may wait";

/// Whether a comment is one of these.
pub(super) fn is_wait(remark: &Remark) -> bool {
    remark.text.trim() == WORDS
}

/// The statements that comments mark.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// By where they begin, the comments.
    marked: BTreeMap<u32, Span>,
    /// The threads that come by, and the labels there.
    found: Vec<(String, String)>,
}

impl Waits {
    /// Looks for the statement of each comment.
    pub(super) fn of(tree: &Unit, source: &Source) -> Self {
        let remarks: Vec<&Remark> = tree.remarks.iter().filter(|it| is_wait(it)).collect();
        let mut starts = Vec::new();
        if !remarks.is_empty() {
            let functions = tree.items.iter().filter_map(|it| match it {
                Item::Function(function) => Some(function),
                Item::Declarations(_) => None,
            });
            functions.for_each(|it: &ast::Function| it.body.iter().for_each(|it| collect(it, &mut starts)));
        }
        starts.sort_unstable();
        let mut marked = BTreeMap::new();
        for remark in remarks {
            let line = source.line_of(remark.span.start);
            let before = starts.iter().rev().find(|&&it| it < remark.span.start && source.line_of(it) == line);
            let behind = starts.iter().find(|&&it| it > remark.span.start);
            if let Some(&start) = before.or(behind) {
                marked.insert(start, remark.span);
            }
        }
        Self { marked, found: Vec::new() }
    }
}

/// Where statements begin that something is done in.
fn collect(it: &Stmt, starts: &mut Vec<u32>) {
    if !matches!(it.kind, StmtKind::Block(_)) {
        starts.push(it.span.start);
    }
    match &it.kind {
        StmtKind::Block(all) => all.iter().for_each(|it| collect(it, starts)),
        StmtKind::If(_, then, otherwise) => {
            collect(then, starts);
            otherwise.iter().for_each(|it| collect(it, starts));
        }
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::Switch(_, body) => collect(body, starts),
        StmtKind::For { body, .. } => collect(body, starts),
        StmtKind::Case(_, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => collect(body, starts),
        StmtKind::Declarations(_)
        | StmtKind::Expr(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Asm { .. } => {}
    }
}

impl Lowering<'_> {
    /// Puts a label before a statement at which its thread may wait.
    pub(super) fn mark_wait(&mut self, it: &Stmt) {
        fencewright::watch::heed(8);
        if !self.waits.marked.contains_key(&it.span.start) || matches!(it.kind, StmtKind::Block(_)) {
            return;
        }
        let name = format!("line{}", self.source.line_of(it.span.start));
        let label = self.state.label(&name);
        self.state.emit(Kind::Label(label), it.span);
        let thread = self.state.thread.name.split('(').next().unwrap_or_default().to_owned();
        if !self.waits.found.contains(&(thread.clone(), name.clone())) {
            self.waits.found.push((thread, name));
        }
    }

    /// Says that all other hangs are mistakes.
    pub(super) fn say_waits(&mut self) {
        if let Some(&span) = self.waits.marked.values().next() {
            let except = std::mem::take(&mut self.waits.found);
            self.unit.no_hang(NoHang { except, span });
        }
    }
}
