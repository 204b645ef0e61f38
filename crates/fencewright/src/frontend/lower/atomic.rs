//! `atomic { … }`

use crate::frontend::ast::{self, StmtKind};
use crate::frontend::hir;
use crate::source::Span;

use super::body::Body;

impl<'a> Body<'_, 'a> {
    /// `atomic { … }`
    pub(super) fn atomic(&mut self, block: &'a ast::Block) -> hir::StmtKind {
        let is_live = std::mem::replace(&mut self.is_live, true);
        self.is_atomic = true;
        let block = self.block(block);
        self.is_atomic = false;
        self.is_live = is_live;
        hir::StmtKind::Atomic(block)
    }

    /// Reports what may not stand in `atomic`.
    pub(super) fn refuse_in_atomic(&mut self, what: &str, span: Span) {
        let message = format!("`{what}` is not allowed in `atomic`");
        self.log.error(span, message, "an atomic block is one step: assignments, `if`, `choose`, `assume`, `assert`");
    }
}

/// The name of a statement that may not stand in `atomic`.
pub(super) fn forbidden(kind: &StmtKind) -> Option<&'static str> {
    match kind {
        StmtKind::While(..) => Some("while"),
        StmtKind::DoWhile(..) => Some("do"),
        StmtKind::Loop(_) => Some("loop"),
        StmtKind::Atomic(_) => Some("atomic"),
        StmtKind::Break => Some("break"),
        StmtKind::Continue => Some("continue"),
        StmtKind::Goto(_) => Some("goto"),
        StmtKind::Label(_) => Some("label"),
        StmtKind::Fence(_) | StmtKind::OrderedFence(_) => Some("fence"),
        // Whether a `return` leaves the block depends on where the function was called.
        StmtKind::Return(_) => None,
        StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::If(_) | StmtKind::For(..) => None,
        StmtKind::Choose(_) | StmtKind::Block(_) | StmtKind::Assume(_) | StmtKind::Assert(..) | StmtKind::Skip => None,
    }
}
