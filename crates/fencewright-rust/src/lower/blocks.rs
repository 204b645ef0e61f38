//! Blocks, statements, and the scopes that end with them.

use fencewright::frontend::hir::{Block, StmtKind};
use fencewright::source::Span;

use crate::ast::{self, ExprKind, PatKind, StmtKind as Kind};
use crate::value::Value;

use super::Lowering;

impl Lowering<'_> {
    /// A block with a scope of its own, and its value.
    pub(super) fn block(&mut self, block: &ast::Block) -> Option<Value> {
        self.state.frame().scopes.push(Default::default());
        let value = self.in_order(block);
        let value = value.and_then(|value| self.scope_ended(value, block.span));
        if value.is_none() {
            self.state.frame().scopes.pop();
        }
        value
    }

    /// The statements of a block, in the scope that is open.
    pub(super) fn in_order(&mut self, block: &ast::Block) -> Option<Value> {
        let mut is_wrong = false;
        for stmt in &block.statements {
            match self.statement(stmt) {
                Some(Value::Never) => return (!is_wrong).then_some(Value::Never),
                Some(_) => {}
                None => is_wrong = true,
            }
        }
        if is_wrong {
            return None;
        }
        match &block.value {
            Some(value) => self.value(value),
            None => Some(Value::UNIT),
        }
    }

    /// Ends the scope that is open: what it owns is dropped, and the value outlives it.
    pub(super) fn scope_ended(&mut self, value: Value, span: Span) -> Option<Value> {
        if value.is_never() {
            self.state.frame().scopes.pop();
            return Some(value);
        }
        let value = if self.owns_something() { self.settled(value, span) } else { value };
        self.drop_scope(span)?;
        self.state.frame().scopes.pop();
        Some(value)
    }

    fn owns_something(&mut self) -> bool {
        self.state.frames.last().and_then(|it| it.scopes.last()).is_some_and(|it| !it.owned.is_empty())
    }

    fn statement(&mut self, it: &ast::Stmt) -> Option<Value> {
        match &it.kind {
            Kind::Item => Some(Value::UNIT),
            Kind::Expr(expr) => {
                self.state.frame().scopes.push(Default::default());
                let value = self.value(expr);
                let done = value.and_then(|value| {
                    let is_never = value.is_never();
                    if !is_never {
                        self.drop_value(value, it.span)?;
                    }
                    self.scope_ended(if is_never { Value::Never } else { Value::UNIT }, it.span)
                });
                if done.is_none() {
                    self.state.frame().scopes.pop();
                }
                done
            }
            Kind::Let(pat, value, otherwise) => self.declaration(pat, value.as_ref(), otherwise.as_ref(), it.span),
        }
    }

    fn declaration(
        &mut self,
        pat: &ast::Pat,
        value: Option<&ast::Expr>,
        otherwise: Option<&ast::Block>,
        span: Span,
    ) -> Option<Value> {
        let Some(init) = value else {
            // It gets its value later, on whichever way.
            self.bind_unset(pat)?;
            return Some(Value::UNIT);
        };
        if let (PatKind::Binding { name, .. }, ExprKind::Call(..) | ExprKind::Method(_)) = (&pat.kind, &init.kind) {
            self.hint = Some(name.text.clone());
        }
        if let Some(otherwise) = otherwise {
            return self.let_else(pat, init, otherwise, span);
        }
        // What a reference that is kept points at lives as long as the block.
        let is_extended = matches!(init.kind, ExprKind::Reference(_));
        if is_extended {
            let value = self.value(init)?;
            self.bind_value(pat, value, span)?;
            return Some(Value::UNIT);
        }
        if matches!(pat.kind, PatKind::Wild) && is_place(init) {
            // `let _ = x;` takes nothing.
            return Some(Value::UNIT);
        }
        self.state.frame().scopes.push(Default::default());
        let value = self.value(init);
        self.hint = None;
        let value = value.and_then(|value| {
            let value = self.settled(value, span);
            self.scope_ended(value, span)
        });
        let Some(value) = value else {
            self.state.frame().scopes.pop();
            self.bind_unset(pat);
            return None;
        };
        if value.is_never() {
            return Some(value);
        }
        self.bind_value(pat, value, span)?;
        Some(Value::UNIT)
    }

    /// Statements apart from the others, on a way that may not be taken; what they come to.
    pub(super) fn branch<T>(&mut self, act: impl FnOnce(&mut Self) -> Option<T>) -> Option<(Block, T)> {
        self.state.depth += 1;
        self.state.open();
        let (n_scopes, n_around) = (self.state.frame().scopes.len(), self.state.frame().around.len());
        self.state.frame().scopes.push(Default::default());
        let value = act(self);
        self.state.frame().scopes.truncate(n_scopes);
        self.state.frame().around.truncate(n_around);
        let block = self.state.close();
        self.state.depth -= 1;
        value.map(|value| (block, value))
    }

    /// Says that control does not get behind a place.
    pub(super) fn left(&mut self, kind: StmtKind, span: Span) -> Value {
        self.state.emit(kind, span);
        Value::Never
    }
}

/// Whether an expression names a place, so that it is not taken for nothing.
fn is_place(it: &ast::Expr) -> bool {
    matches!(
        it.kind,
        ExprKind::Path(_) | ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Unary(ast::Unary::Deref, _)
    )
}
