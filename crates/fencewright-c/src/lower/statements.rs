//! Statements, and which way is taken through them.
//!
//! As long as it is known which way is taken, statements are walked through with what is known, and loops are walked
//! through as often as they go round: so `main` creates its threads. From the first branch on that depends on what
//! threads do, and in threads always, they become statements of the tree, and loops stay loops.

use std::collections::BTreeSet;

use fencewright::frontend::hir::{self, Expr, FenceOrder, LabelId, StmtKind as Kind};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::{self, Stmt, StmtKind};
use crate::types::Type;

use super::Lowering;
use super::conditions::{known, negated};
use super::places::test;
use super::thread::{Around, Storage, VariableId};
use super::value::Value;
use super::walks::{breaks, continues, jumps};

/// Where control is after a statement that was walked through.
#[derive(Clone, Debug)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

/// A loop that is walked through does not go round more often.
const MAX_ROUNDS: usize = 4096;

impl<'a> Lowering<'a> {
    /// Statements, one after the other.
    pub(super) fn block(&mut self, block: &'a [Stmt]) -> Option<Flow> {
        self.state.frame().scopes.push(Default::default());
        let flow = self.in_order(block);
        self.state.frame().scopes.pop();
        flow
    }

    pub(super) fn in_order(&mut self, block: &'a [Stmt]) -> Option<Flow> {
        let mut is_wrong = false;
        for stmt in block {
            match self.statement(stmt) {
                Some(Flow::Next) => {}
                Some(flow) => return Some(flow),
                None => is_wrong = true,
            }
        }
        (!is_wrong).then_some(Flow::Next)
    }

    fn statement(&mut self, it: &'a Stmt) -> Option<Flow> {
        let span = it.span;
        self.mark_wait(it);
        match &it.kind {
            StmtKind::Declarations(all) => all.iter().map(|it| self.declaration(it)).fold(Some(()), Option::and)?,
            StmtKind::Expr(None) => {}
            StmtKind::Expr(Some(expr)) => drop(self.value(expr)?),
            StmtKind::Block(block) => return self.block(block),
            StmtKind::If(condition, then, otherwise) => return self.if_(condition, then, otherwise.as_deref(), span),
            StmtKind::While(condition, body) => {
                return self.loop_(&Loop { first: Some(condition), step: None, last: None, body }, span);
            }
            StmtKind::DoWhile(body, condition) => {
                return self.loop_(&Loop { first: None, step: None, last: Some(condition), body }, span);
            }
            StmtKind::For { first, condition, step, body } => {
                self.state.frame().scopes.push(Default::default());
                let flow = match first {
                    Some(first) => self.statement(first),
                    None => Some(Flow::Next),
                };
                let it = Loop { first: condition.as_ref(), step: step.as_ref(), last: None, body };
                let flow = flow.and_then(|_| self.loop_(&it, span));
                self.state.frame().scopes.pop();
                return flow;
            }
            StmtKind::Switch(value, body) => self.switch(value, body, span)?,
            StmtKind::Case(..) | StmtKind::Default(_) => {
                return self.refuse(span, "`case` without a `switch` directly around it", "move it into the switch");
            }
            StmtKind::Break => return self.leave(span, true),
            StmtKind::Continue => return self.leave(span, false),
            StmtKind::Return(value) => return self.return_(value.as_ref(), span),
            StmtKind::Goto(name) => {
                let Some(&label) = self.state.frame().labels.get(&name.text) else {
                    let help = "a label of the same function is needed";
                    return self.refuse(name.span, &format!("there is no label `{}`", name.text), help);
                };
                self.state.emit(Kind::Goto(label), span);
            }
            StmtKind::Label(name, inner) => {
                if let Some(&label) = self.state.frame().labels.get(&name.text) {
                    self.state.emit(Kind::Label(label), span);
                }
                return self.statement(inner);
            }
            StmtKind::Asm { text, clobbers_memory } => self.asm(text, *clobbers_memory, span)?,
        }
        Some(Flow::Next)
    }

    /// From here on it is not known which way is taken; what variables hold that change is in registers. Whether it was
    /// known so far.
    pub(super) fn branch(&mut self) -> bool {
        let was_straight = std::mem::replace(&mut self.state.is_straight, false);
        if was_straight {
            self.leave_alone();
            for id in (0..self.state.variables.len()).map(VariableId) {
                let variable = &self.state.variables[id.0];
                let is_number = variable.ty.ty.is_scalar();
                let changes = matches!(variable.storage, Storage::Known(_)) && variable.is_changed && is_number;
                let is_handle = variable.ty.ty == Type::Builtin(ast::BuiltinType::Thread);
                if changes && !is_handle {
                    let span = variable.span;
                    self.register_of(id, span);
                }
            }
        }
        was_straight
    }

    fn if_(
        &mut self,
        condition: &'a ast::Expr,
        then: &'a Stmt,
        otherwise: Option<&'a Stmt>,
        span: Span,
    ) -> Option<Flow> {
        let condition = self.condition(condition)?;
        match known(&condition) {
            Some(true) => return self.statement(then),
            Some(false) => return otherwise.map_or(Some(Flow::Next), |it| self.statement(it)),
            None => {}
        }
        let was_straight = self.branch();
        let then_block = self.apart(then);
        let other_block = otherwise.map(|it| self.apart(it));
        let jumps = jumps(then) || otherwise.is_some_and(jumps);
        self.state.is_straight = was_straight && !jumps;
        let other_block = other_block.unwrap_or(Some(Vec::new()))?;
        self.state.emit(Kind::If(vec![(condition, then_block?)], other_block), span);
        Some(Flow::Next)
    }

    /// The statements that a statement comes to.
    fn apart(&mut self, it: &'a Stmt) -> Option<hir::Block> {
        self.state.open();
        self.state.frame().scopes.push(Default::default());
        let flow = self.statement(it);
        self.state.frame().scopes.pop();
        let block = self.state.close();
        flow.map(|_| block)
    }

    fn loop_(&mut self, it: &Loop<'a>, span: Span) -> Option<Flow> {
        if self.state.is_straight
            && let Some(flow) = self.walk_through(it, span)?
        {
            return Some(flow);
        }
        let is_once = it.last.is_some_and(|last| self.names.constant(last) == Some(0));
        if is_once {
            return self.once(it, span);
        }
        let was_straight = self.branch();
        self.state.open();
        let body = self.round(it, span);
        let block = self.state.close();
        self.state.is_straight = was_straight && !jumps(it.body);
        body?;
        self.state.emit(Kind::Loop(block), span);
        Some(Flow::Next)
    }

    /// One round of a loop.
    fn round(&mut self, it: &Loop<'a>, span: Span) -> Option<()> {
        if let Some(first) = it.first {
            self.unless(first)?;
        }
        let needs_label = (it.step.is_some() || it.last.is_some()) && continues(it.body);
        let next = needs_label.then(|| self.state.label("next"));
        self.state.frame().loops.push(Around::Loop { next });
        let body = self.apart(it.body);
        self.state.frame().loops.pop();
        self.state.emit(Kind::Block(body?), span);
        if let Some(next) = next {
            self.state.emit(Kind::Label(next), span);
        }
        if let Some(step) = it.step {
            self.value(step)?;
        }
        it.last.map_or(Some(()), |last| self.unless(last))
    }

    /// Leaves the loop unless a condition holds.
    fn unless(&mut self, condition: &'a ast::Expr) -> Option<()> {
        let span = condition.span;
        let condition = self.condition(condition)?;
        if known(&condition) == Some(true) {
            return Some(());
        }
        let leave = hir::Stmt { span, kind: Kind::Break };
        self.state.emit(Kind::If(vec![(negated(condition, span), vec![leave])], Vec::new()), span);
        Some(())
    }

    /// `do { … } while (0)`
    fn once(&mut self, it: &Loop<'a>, span: Span) -> Option<Flow> {
        if !breaks(it.body) && !continues(it.body) {
            return self.statement(it.body);
        }
        let was_straight = self.branch();
        let end = self.state.label("end");
        self.state.frame().loops.push(Around::Once { end });
        let body = self.apart(it.body);
        self.state.frame().loops.pop();
        self.state.emit(Kind::Block(body?), span);
        self.state.emit(Kind::Label(end), span);
        self.state.is_straight = was_straight && !jumps(it.body);
        Some(Flow::Next)
    }

    /// Walks through a loop as long as it is known whether it goes round; `None` where it is not.
    fn walk_through(&mut self, it: &Loop<'a>, span: Span) -> Option<Option<Flow>> {
        for round in 0..=MAX_ROUNDS {
            if let Some(first) = it.first {
                match self.foreseen(first)? {
                    Some(true) => {}
                    Some(false) => return Some(Some(Flow::Next)),
                    None if round == 0 => return Some(None),
                    None => return self.too_late(span),
                }
            }
            if round == 0 && !self.is_foreseeable(it) {
                return Some(None);
            }
            self.state.frame().loops.push(Around::Copies);
            let flow = self.statement(it.body);
            self.state.frame().loops.pop();
            match flow? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Some(Some(Flow::Next)),
                flow @ Flow::Return(_) => return Some(Some(flow)),
            }
            if !self.state.is_straight {
                return self.too_late(span);
            }
            if let Some(step) = it.step {
                self.value(step)?;
            }
            if let Some(last) = it.last {
                match self.foreseen(last)? {
                    Some(true) => {}
                    Some(false) => return Some(Some(Flow::Next)),
                    None => return self.too_late(span),
                }
            }
        }
        self.refuse(span, &format!("this loop goes round more than {MAX_ROUNDS} times"), "use a smaller constant")
    }

    fn too_late<T>(&mut self, span: Span) -> Option<T> {
        let help = "create threads in a loop whose rounds are known";
        self.refuse(span, "how often this loop goes round depends on what threads do", help)
    }

    /// Whether a loop without a condition that is known at first may be walked through: one that leaves by what threads
    /// do may not.
    fn is_foreseeable(&self, it: &Loop<'a>) -> bool {
        let is_endless = it.first.is_none_or(|first| self.names.constant(first).is_some_and(|it| it != 0));
        !is_endless || it.last.is_some()
    }

    /// What a condition comes to, if that is known; otherwise nothing was done for it.
    fn foreseen(&mut self, condition: &'a ast::Expr) -> Option<Option<bool>> {
        let before: Vec<_> = self.state.variables.iter().map(|it| (it.storage.clone(), it.is_set)).collect();
        let was_alone = self.state.is_alone;
        self.state.open();
        let condition = self.condition(condition);
        let block = self.state.close();
        let condition = condition?;
        let found = known(&condition);
        if found.is_some() {
            self.state.blocks.last_mut().expect("a block is open").extend(block);
        } else {
            self.state.is_alone = was_alone;
            self.state.variables.truncate(before.len());
            let variables = self.state.variables.iter_mut().zip(before);
            variables.for_each(|(it, (storage, is_set))| (it.storage, it.is_set) = (storage, is_set));
        }
        Some(found)
    }

    fn leave(&mut self, span: Span, is_break: bool) -> Option<Flow> {
        let around = self.state.frame().loops.iter().rev();
        let around = around.copied().find(|it| is_break || !matches!(it, Around::Switch { .. }));
        match around {
            None => return self.refuse(span, "no loop is around this", "`break` and `continue` stand in loops"),
            Some(Around::Copies) if self.state.is_straight => {
                return Some(if is_break { Flow::Break } else { Flow::Continue });
            }
            Some(Around::Copies) => {
                let help = "leave the loop by what is known, or create the threads one by one";
                return self.refuse(span, "what threads do decides about a loop that creates them", help);
            }
            Some(Around::Once { end }) => self.state.emit(Kind::Goto(end), span),
            Some(Around::Switch { end }) => self.state.emit(Kind::Goto(end), span),
            Some(Around::Loop { .. }) if is_break => self.state.emit(Kind::Break, span),
            Some(Around::Loop { next: Some(next) }) => self.state.emit(Kind::Goto(next), span),
            Some(Around::Loop { next: None }) => self.state.emit(Kind::Continue, span),
        }
        Some(Flow::Next)
    }

    fn return_(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<Flow> {
        let value = match value {
            Some(value) => self.value(value)?,
            None => Value::Void,
        };
        if self.state.is_straight {
            return Some(Flow::Return(value));
        }
        let (result, returns) = (self.state.frame().result, self.state.frame().returns.clone());
        match (result, returns) {
            (Some(_), Some(ty)) => {
                let raw = self.raw(value, &ty, span)?;
                self.state.emit(Kind::Return(Some(raw)), span);
            }
            (None, _) | (_, None) => self.state.emit(Kind::Return(None), span),
        }
        Some(Flow::Next)
    }

    fn switch(&mut self, value: &'a ast::Expr, body: &'a Stmt, span: Span) -> Option<()> {
        let (value, _) = self.number(value)?;
        let StmtKind::Block(body) = &body.kind else {
            return self.refuse(span, "a `switch` without a block", "put its cases in braces");
        };
        let was_straight = self.branch();
        let value = self.state.settled(value, span);
        let end = self.state.label("end");
        let (mut tests, mut default) = (Vec::new(), end);
        let mut cases: BTreeSet<i64> = BTreeSet::new();
        let mut parts: Vec<(Vec<LabelId>, &'a Stmt)> = Vec::new();
        for mut stmt in body {
            let mut labels = Vec::new();
            loop {
                if let StmtKind::Case(of, inner) = &stmt.kind {
                    let Some(of) = self.names.constant(of) else {
                        return self.refuse(of.span, "this is no constant", "a `case` has a constant");
                    };
                    if !cases.insert(of) {
                        return self.refuse(stmt.span, &format!("a second `case` for {of}"), "leave one of them out");
                    }
                    let label = self.state.label("case");
                    let is = Expr::binary(Op::Eq, value.clone(), Expr::Const(of));
                    tests.push((test(is, stmt.span), goto(label, stmt.span)));
                    labels.push(label);
                    stmt = inner;
                } else if let StmtKind::Default(inner) = &stmt.kind {
                    default = self.state.label("default");
                    labels.push(default);
                    stmt = inner;
                } else {
                    break;
                }
            }
            parts.push((labels, stmt));
        }
        self.state.emit(Kind::If(tests, goto(default, span)), span);
        self.state.frame().loops.push(Around::Switch { end });
        self.state.frame().scopes.push(Default::default());
        let mut is_right = Some(());
        for (labels, stmt) in parts {
            labels.into_iter().for_each(|label| self.state.emit(Kind::Label(label), stmt.span));
            is_right = is_right.and(self.statement(stmt).map(drop));
        }
        self.state.frame().scopes.pop();
        self.state.frame().loops.pop();
        self.state.emit(Kind::Label(end), span);
        self.state.is_straight = was_straight && !body.iter().any(jumps);
        is_right
    }

    fn asm(&mut self, text: &str, clobbers_memory: bool, span: Span) -> Option<()> {
        let words = text.to_lowercase();
        if words.trim().is_empty() || words.trim() == "pause" || words.trim() == "rep; nop" {
            return Some(());
        }
        let kind = match words.trim() {
            "mfence" => Kind::OrderedFence(FenceOrder::SeqCst),
            "sfence" => Kind::OrderedFence(FenceOrder::Release),
            "lfence" => return Some(()),
            it if it.starts_with("lock") && it.contains("add") && it.contains("$0") => {
                Kind::OrderedFence(FenceOrder::SeqCst)
            }
            _ => {
                let help = "write it with the functions of <stdatomic.h>";
                return self.refuse(span, &format!("the instructions `{text}` are not known"), help);
            }
        };
        if !clobbers_memory {
            let help = "add `: : : \"memory\"`";
            self.log.warn(span, "the compiler may move accesses across this instruction", help);
        }
        self.leave_alone();
        self.state.emit(kind, span);
        Some(())
    }

    /// `({ … })`
    pub(super) fn statement_expression(&mut self, all: &'a [Stmt]) -> Option<Value> {
        self.state.frame().scopes.push(Default::default());
        let value = match all.split_last() {
            Some((Stmt { kind: StmtKind::Expr(Some(last)), .. }, first)) => {
                self.in_order(first).and_then(|_| self.value(last))
            }
            Some(_) | None => self.in_order(all).map(|_| Value::Void),
        };
        let value = value.map(|value| self.settled_value(value, Span::default()));
        self.state.frame().scopes.pop();
        value
    }
}

/// Goes on at a label.
fn goto(label: LabelId, span: Span) -> hir::Block {
    vec![hir::Stmt { span, kind: Kind::Goto(label) }]
}

/// A loop: what is asked before a round, what is done behind it, and what is asked then.
struct Loop<'a> {
    first: Option<&'a ast::Expr>,
    step: Option<&'a ast::Expr>,
    last: Option<&'a ast::Expr>,
    body: &'a Stmt,
}
