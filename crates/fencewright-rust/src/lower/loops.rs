//! `for`: over what is known it is its rounds, one after the other; otherwise it counts.

use fencewright::frontend::hir::{Body, Expr, Stmt, StmtKind};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::{self, ExprKind, Pat};
use crate::types::Type;
use crate::value::Value;

use super::Lowering;
use super::mentions::{each_in, jumps};
use super::state::{register, test};

/// A loop whose rounds are known has at most so many of them.
const MAX_ROUNDS: i64 = 4096;
/// A loop in a thread is written out if it has at most so many rounds.
const MAX_COPIES: i64 = 8;

impl Lowering<'_> {
    /// `for p in e { … }`
    pub(super) fn for_(
        &mut self,
        label: Option<&String>,
        (pat, over): (&Pat, &ast::Expr),
        body: &ast::Block,
        span: Span,
    ) -> Option<Value> {
        let value = self.value(over)?;
        let value = self.settled(value, over.span);
        if let Value::Range(start, end) = &value {
            let is_known = start.constant().zip(end.constant());
            let is_short = is_known.is_some_and(|(start, end)| end.saturating_sub(start) <= MAX_COPIES);
            let is_walked = self.state.is_main && self.state.depth == 0 && creates(body);
            if is_known.is_none() || !(is_short || is_walked) {
                return self.counted(label, (pat, start, end), body, span);
            }
        }
        let rounds = self.rounds(value, over.span)?;
        if self.state.depth == 0 && !jumps(body) {
            for round in rounds {
                self.round(pat, round, body, span)?;
            }
            return Some(Value::UNIT);
        }
        self.spill(&mut |see| each_in(body, see), span)?;
        let behind = label.map(|it| self.state.label(&format!("behind {it}")));
        let mut copies = Vec::new();
        for round in rounds {
            self.state.labels.push(Vec::new());
            let next = label.map(|it| self.state.label(&format!("next {it}")));
            self.enter_with(label, true, (behind, next), span);
            let done = self.branch(|it| it.round(pat, round, body, span));
            let around = self.state.frame().around.pop();
            let labels = self.state.labels.pop()?;
            let (mut block, _) = done?;
            block.extend(around?.next.map(|next| Stmt { span, kind: StmtKind::Label(next) }));
            copies.push(Body { labels, block });
        }
        self.state.emit(StmtKind::Copies(copies), span);
        if let Some(behind) = behind {
            self.state.emit(StmtKind::Label(behind), span);
        }
        Some(Value::UNIT)
    }

    fn round(&mut self, pat: &Pat, value: Value, body: &ast::Block, span: Span) -> Option<()> {
        let value = match value {
            Value::Mapped(value, closure) => self.applied(&closure, vec![*value], span)?,
            value => value,
        };
        self.state.frame().scopes.push(Default::default());
        let done = self.bind_value(pat, value, span).and_then(|()| self.block(body));
        let done = done.and_then(|value| self.scope_ended(if value.is_never() { value } else { Value::UNIT }, span));
        if done.is_none() {
            self.state.frame().scopes.pop();
        }
        done.map(|_| ())
    }

    /// What `for` goes through, one after the other.
    pub(super) fn rounds(&mut self, value: Value, span: Span) -> Option<Vec<Value>> {
        match value {
            Value::List(all) | Value::Array(all) => Some(all),
            Value::Range(start, end) => {
                let (Some(first), Some(last)) = (start.constant(), end.constant()) else {
                    return self.refuse(span, "it is not known how often this is done", "use constants");
                };
                if last.saturating_sub(first) > MAX_ROUNDS {
                    return self.refuse(span, format!("more than {MAX_ROUNDS} rounds"), "use a smaller number");
                }
                let ty = match (*start, *end) {
                    (Value::Number(_, Type::Integer(None)), Value::Number(_, ty)) => ty,
                    (Value::Number(_, ty), _) => ty,
                    _ => Type::Integer(None),
                };
                Some((first..last).map(|it| Value::Number(Expr::Const(it), ty.clone())).collect())
            }
            Value::Pointer(_) => {
                let place = self.pointed(value, span)?;
                self.elements(&place, span)
            }
            Value::Unset | Value::Never if self.is_unsure => Some(Vec::new()),
            _ => self.refuse(span, "it is not known what this loop goes through", "use a range, an array or a `Vec`"),
        }
    }

    /// A loop that counts, where it is not known or too much to write out how often.
    fn counted(
        &mut self,
        label: Option<&String>,
        (pat, start, end): (&Pat, &Value, &Value),
        body: &ast::Block,
        span: Span,
    ) -> Option<Value> {
        let (Value::Number(first, first_ty), Value::Number(last, last_ty)) = (start, end) else {
            return self.refuse(span, "it is not known what this loop goes through", "use a range of integers");
        };
        let ty = if *first_ty == Type::Integer(None) { last_ty.clone() } else { first_ty.clone() };
        self.spill(&mut |see| each_in(body, see), span)?;
        let counter = self.state.hoisted(None, false, span);
        self.state.emit(StmtKind::Assign(counter, first.clone()), span);
        self.enter(label, true, span);
        self.state.n_loops += 1;
        let done = self.branch(|it| {
            let is_over = Expr::binary(Op::Ge, register(counter), last.clone());
            let leave = vec![Stmt { span, kind: StmtKind::Break }];
            it.state.emit(StmtKind::If(vec![(test(is_over, span), leave)], Vec::new()), span);
            let value = it.state.settled(register(counter), span);
            let next = Expr::binary(Op::Add, register(counter), Expr::Const(1));
            it.state.emit(StmtKind::Assign(counter, next), span);
            it.round(pat, Value::Number(value, ty), body, span)
        });
        self.state.n_loops -= 1;
        let around = self.state.frame().around.pop()?;
        let (mut block, ()) = done?;
        block.extend(around.next.map(|next| Stmt { span, kind: StmtKind::Label(next) }));
        self.leave_alone();
        self.state.emit(StmtKind::Loop(block), span);
        if let Some(behind) = around.behind {
            self.state.emit(StmtKind::Label(behind), span);
        }
        Some(Value::UNIT)
    }
}

/// Whether a loop's body may create threads, or join them.
fn creates(body: &ast::Block) -> bool {
    let mut found = false;
    each_in(body, &mut |it| {
        found |= match &it.kind {
            ExprKind::Path(path) => matches!(path.last(), "spawn"),
            ExprKind::Method(it) => matches!(it.name.text.as_str(), "spawn" | "join" | "push"),
            _ => false,
        };
    });
    found
}
