//! `locked { … or … }`: one alternative in one step, which waits for the store buffer exactly if it writes.

use super::body::{Body, each_statement};
use crate::frontend::ast::{self, Block};
use crate::frontend::import::tree::{block, stmt};
use crate::frontend::rmm::syntax::{Sequence, StmtKind};
use crate::source::{Diagnostic, Span};

/// What an alternative does to memory.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    n_reads: usize,
    n_writes: usize,
}

impl Body<'_, '_> {
    /// Translates a locked block.
    pub(super) fn locked(&mut self, all: &[Sequence], span: Span, out: &mut Vec<ast::Stmt>) {
        let mut is_right = true;
        for it in all {
            is_right &= self.check_locked(it);
        }
        let accesses: Vec<Accesses> = all.iter().map(accesses).collect();
        for (it, accesses) in all.iter().zip(&accesses) {
            is_right &= accesses.n_writes > 0 || accesses.n_reads < 2 || self.refuse_reads(it);
        }
        if !is_right {
            return;
        }
        if accesses.iter().all(|it| it.n_writes > 0) {
            let blocks = all.iter().map(|it| self.one_step(it)).collect();
            out.push(stmt(ast::StmtKind::Atomic(chosen(blocks, span)), span));
            return;
        }
        // An alternative that reads at most once and writes nothing is one step anyway, and does not wait.
        let mut blocks = Vec::new();
        for (it, accesses) in all.iter().zip(&accesses) {
            let is_atomic = accesses.n_writes > 0;
            let inner = if is_atomic { self.one_step(it) } else { self.sequence(it) };
            let span = inner.span;
            blocks.push(if is_atomic { block(vec![stmt(ast::StmtKind::Atomic(inner), span)], span) } else { inner });
        }
        let Block { statements, end_comments, .. } = chosen(blocks, span);
        let start = out.len();
        out.extend(statements);
        if let Some(first) = out.get_mut(start) {
            first.trivia.before.extend(end_comments);
        }
    }

    fn one_step(&mut self, it: &Sequence) -> Block {
        self.is_locked = true;
        let inner = self.sequence(it);
        self.is_locked = false;
        inner
    }

    fn refuse_reads(&mut self, it: &Sequence) -> bool {
        let span = it.statements.first().map_or(Span::default(), |it| it.span);
        let help = "write to a location as well, or split the block: nothing here reads two locations at once without \
                    waiting for the store buffer";
        let diagnostic = Diagnostic::error(span, "`locked` block that reads several times and writes nothing");
        self.diagnostics.push(diagnostic.with_help(help));
        false
    }

    /// Reports what may not stand in one step.
    fn check_locked(&mut self, it: &Sequence) -> bool {
        let n_errors = self.diagnostics.len();
        each_statement(&it.statements, &mut |it| {
            let what = match &it.kind {
                StmtKind::While(..) => Some("`while`"),
                StmtKind::Goto(_) => Some("`goto`"),
                StmtKind::Fence(_) | StmtKind::StoreLoadFence => Some("a fence"),
                StmtKind::Locked(_) => Some("`locked`"),
                StmtKind::Nop
                | StmtKind::ReadIs(..)
                | StmtKind::ReadTo(..)
                | StmtKind::Write(..)
                | StmtKind::Cas(..)
                | StmtKind::Assign(..)
                | StmtKind::Assume(_)
                | StmtKind::If(..)
                | StmtKind::Either(_)
                | StmtKind::Block(_) => None,
            };
            let label = it.labels.first().map(|label| ("a label", label.span));
            if let Some((what, span)) = label.or_else(|| what.map(|what| (what, it.span))) {
                let help = "a locked block is one step: `read`, `write`, `$r := e`, `assume`, `if`, `either`";
                self.diagnostics.push(Diagnostic::error(span, format!("{what} in a `locked` block")).with_help(help));
            }
        });
        self.diagnostics.len() == n_errors
    }
}

fn accesses(it: &Sequence) -> Accesses {
    let mut found = Accesses::default();
    each_statement(&it.statements, &mut |it| match &it.kind {
        StmtKind::ReadIs(..) | StmtKind::ReadTo(..) => found.n_reads += 1,
        StmtKind::Write(..) | StmtKind::Cas(..) => found.n_writes += 1,
        StmtKind::Nop
        | StmtKind::Fence(_)
        | StmtKind::StoreLoadFence
        | StmtKind::Assign(..)
        | StmtKind::Assume(_)
        | StmtKind::If(..)
        | StmtKind::While(..)
        | StmtKind::Goto(_)
        | StmtKind::Either(_)
        | StmtKind::Locked(_)
        | StmtKind::Block(_) => {}
    });
    found
}

/// The one block, or a choice between them.
fn chosen(mut blocks: Vec<Block>, span: Span) -> Block {
    if blocks.len() == 1 {
        return blocks.remove(0);
    }
    block(vec![stmt(ast::StmtKind::Choose(blocks), span)], span)
}
