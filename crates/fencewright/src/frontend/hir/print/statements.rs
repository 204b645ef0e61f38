//! Statements.

use std::collections::BTreeSet;

use crate::frontend::ast::{self, Else, If, StmtKind as Kind};
use crate::frontend::hir::{
    Block, Call, Condition, Effect, EffectKind, Expr, FenceOrder, First, LabelId, LocalId, Place, Stmt, StmtKind,
    Thread, tree,
};
use crate::frontend::import::tree::{assign, assume, block, call, int, let_, name, not, stmt, target, var};
use crate::program::{Domain, FenceKind, Misuse, Order, ProcessId};
use crate::util::Idx;

use super::expressions::is_said;
use super::names::{Names, fresh};
use super::{Found, NOWHERE, ty};

/// Statements so far.
pub(super) type Out = Vec<ast::Stmt>;

/// A thread while it is written.
pub(super) struct Writer<'w> {
    pub found: &'w Found,
    pub names: &'w Names,
    pub id: ProcessId,
    thread: &'w Thread,
    taken: BTreeSet<String>,
    /// Registers that the tree does not have.
    extras: Vec<String>,
    /// The functions around, innermost last: where their value goes, and the label behind them once it is needed.
    calls: Vec<(Option<LocalId>, Option<String>)>,
}

impl<'w> Writer<'w> {
    pub(super) fn new((found, names): (&'w Found, &'w Names), (id, thread): (ProcessId, &'w Thread)) -> Self {
        let mut taken: BTreeSet<String> = names.locals[id].iter().cloned().collect();
        taken.extend(names.locations.iter().chain(&names.arrays).chain(&names.threads).cloned());
        Self { found, names, id, thread, taken, extras: Vec::new(), calls: vec![(None, None)] }
    }

    /// The whole thread.
    pub(super) fn thread(mut self) -> Option<ast::Block> {
        let mut out = Out::new();
        self.statements(&self.thread.body.block, &mut out)?;
        if let Some((_, Some(end))) = self.calls.pop() {
            out.push(stmt(Kind::Label(name(end, NOWHERE)), NOWHERE));
        }
        let mut all = Out::new();
        let domains = &self.found.locals[self.id];
        for (local, domain) in domains.iter_enumerated() {
            if let Some(domain) = domain {
                let first = domain.bounds().map_or(0, |(lo, hi)| 0.clamp(lo, hi));
                let it = name(&self.names.locals[self.id][local], NOWHERE);
                all.push(let_(it, Some(ty(*domain)), int(first, NOWHERE), NOWHERE));
            }
        }
        for extra in &self.extras {
            let it = name(extra, NOWHERE);
            all.push(let_(it, Some(ty(Domain::Range(0, 1))), int(0, NOWHERE), NOWHERE));
        }
        all.append(&mut out);
        Some(block(all, NOWHERE))
    }

    pub(super) fn local(&self, local: LocalId) -> &'w str {
        &self.names.locals[self.id][local]
    }

    /// One more register, for 0 or 1.
    pub(super) fn extra(&mut self) -> String {
        let name = fresh("t", &mut self.taken);
        self.extras.push(name.clone());
        name
    }

    /// `r = value;`
    pub(super) fn set(&self, register: &str, value: ast::Expr) -> ast::Stmt {
        assign(target(register, NOWHERE), value, NOWHERE)
    }

    pub(super) fn is_plain(&self, place: &Place) -> bool {
        tree::is_plain(&self.found.memory, place)
    }

    fn statements(&mut self, all: &Block, out: &mut Out) -> Option<()> {
        all.iter().try_for_each(|it| self.statement(it, out))
    }

    fn apart(&mut self, all: &Block) -> Option<ast::Block> {
        let mut out = Out::new();
        self.statements(all, &mut out)?;
        Some(block(out, NOWHERE))
    }

    fn statement(&mut self, it: &Stmt, out: &mut Out) -> Option<()> {
        let kind = match &it.kind {
            StmtKind::Let(local, first) => return self.first(*local, first, out),
            StmtKind::Assign(local, value) => {
                let value = self.number(value, out)?;
                out.push(self.set(self.local(*local), value));
                return Some(());
            }
            StmtKind::Store(place, order, value) => {
                let order = if self.is_plain(place) { Order::Plain } else { order.order() };
                let to = self.place(place, out)?;
                let value = self.number(value, out)?;
                self.store(to, order, value)?
            }
            StmtKind::Do(Effect { kind: EffectKind::Call(call), .. }) => return self.call(call, out),
            StmtKind::Do(effect) => Kind::Call(self.effect(effect, out)?),
            StmtKind::If(branches, otherwise) => return self.if_(branches, otherwise, out),
            StmtKind::While(condition, body) => return self.while_(condition, body, out),
            StmtKind::DoWhile(body, condition) => return self.do_while(body, condition, out),
            StmtKind::Loop(body) => Kind::Loop(self.apart(body)?),
            StmtKind::Choose(blocks) => {
                Kind::Choose(blocks.iter().map(|it| self.apart(it)).collect::<Option<Vec<_>>>()?)
            }
            StmtKind::Block(block) => return self.statements(block, out),
            StmtKind::Break => Kind::Break,
            StmtKind::Continue => Kind::Continue,
            StmtKind::Return(value) => return self.return_(value.as_ref(), out),
            StmtKind::Goto(label) => Kind::Goto(name(self.label(*label), NOWHERE)),
            StmtKind::Label(label) => Kind::Label(name(self.label(*label), NOWHERE)),
            StmtKind::Assume(condition) => return self.assume(condition, out),
            StmtKind::Assert(condition) => Kind::Assert(self.condition(condition, out)?, None),
            StmtKind::Check(condition, Misuse::SignedOverflow) if !self.found.may_overflow(self.id, condition) => {
                return Some(());
            }
            StmtKind::Check(condition, misuse) => {
                let words = name(format!("\"{}\"", misuse.words()), NOWHERE);
                Kind::Assert(self.condition(condition, out)?, Some(words))
            }
            StmtKind::Fence(kind) => Kind::Fence(*kind),
            StmtKind::OrderedFence(FenceOrder::Drained) => Kind::Fence(FenceKind::Full),
            StmtKind::OrderedFence(order) => Kind::OrderedFence(order.order()),
            // `.fw` has no word for it.
            StmtKind::Allocate(_) => return Some(()),
            StmtKind::Skip => Kind::Skip,
            StmtKind::Modify(..) | StmtKind::Copies(_) | StmtKind::Atomic(_) => return None,
        };
        out.push(stmt(kind, NOWHERE));
        Some(())
    }

    fn assume(&mut self, condition: &Condition, out: &mut Out) -> Option<()> {
        let mut before = Out::new();
        let condition = self.condition(condition, &mut before)?;
        // What is waited for is looked at again and again.
        if !before.is_empty() {
            return None;
        }
        out.push(assume(condition, NOWHERE));
        Some(())
    }

    fn label(&self, label: LabelId) -> String {
        let plain = self.thread.labels[label].replace(|it: char| !it.is_ascii_alphanumeric(), "_");
        format!("{plain}_{}", label.index())
    }

    fn store(&mut self, to: ast::Expr, order: Order, value: ast::Expr) -> Option<Kind> {
        if is_said(order) {
            return Some(Kind::Call(call("store", vec![to, value, var(order.name(), NOWHERE)], NOWHERE)));
        }
        let target = if let ast::ExprKind::Index(name, index) = to.kind {
            ast::Target { name, index, span: NOWHERE }
        } else if let ast::ExprKind::Name(name) = to.kind {
            ast::Target { name, index: Vec::new(), span: NOWHERE }
        } else {
            return None;
        };
        Some(Kind::Assign(ast::Assign { target, op: None, value }))
    }

    fn first(&mut self, local: LocalId, first: &First, out: &mut Out) -> Option<()> {
        let value = match first {
            First::Unset => return Some(()),
            First::Constant(value) => int(*value, NOWHERE),
            First::Value(value) => self.number(value, out)?,
            First::Kept(effect) => self.effect(effect, out)?,
            First::Any => return None,
        };
        out.push(self.set(self.local(local), value));
        Some(())
    }

    fn if_(&mut self, branches: &[(Condition, Block)], otherwise: &Block, out: &mut Out) -> Option<()> {
        let Some(((condition, then), rest)) = branches.split_first() else { return self.statements(otherwise, out) };
        let condition = self.condition(condition, out)?;
        let then = self.apart(then)?;
        let mut other = Out::new();
        self.if_(rest, otherwise, &mut other)?;
        let otherwise = (!other.is_empty()).then(|| Else::Block(block(other, NOWHERE)));
        let it = If { condition, then, otherwise };
        out.push(stmt(Kind::If(it), NOWHERE));
        Some(())
    }

    fn while_(&mut self, condition: &Condition, body: &Block, out: &mut Out) -> Option<()> {
        let mut before = Out::new();
        let condition = self.condition(condition, &mut before)?;
        let mut body = self.apart(body)?;
        if before.is_empty() {
            out.push(stmt(Kind::While(condition, body), NOWHERE));
            return Some(());
        }
        before.push(self.leave_unless(condition));
        before.append(&mut body.statements);
        out.push(stmt(Kind::Loop(block(before, NOWHERE)), NOWHERE));
        Some(())
    }

    fn do_while(&mut self, body: &Block, condition: &Condition, out: &mut Out) -> Option<()> {
        let mut body = self.apart(body)?;
        let mut before = Out::new();
        let condition = self.condition(condition, &mut before)?;
        if !before.is_empty() {
            return None;
        }
        body.span = NOWHERE;
        out.push(stmt(Kind::DoWhile(body, condition), NOWHERE));
        Some(())
    }

    fn leave_unless(&self, condition: ast::Expr) -> ast::Stmt {
        let leave = block(vec![stmt(Kind::Break, NOWHERE)], NOWHERE);
        stmt(Kind::If(If { condition: not(condition), then: leave, otherwise: None }), NOWHERE)
    }

    /// The statements of a function.
    pub(super) fn call(&mut self, it: &Call, out: &mut Out) -> Option<()> {
        self.statements(&it.arguments, out)?;
        self.calls.push((it.result, None));
        let mut body = Out::new();
        let done = match it.body.block.split_last() {
            // What comes last needs no jump.
            Some((Stmt { kind: StmtKind::Return(value), .. }, first)) => {
                self.statements(&first.to_vec(), &mut body).and_then(|()| self.result(value.as_ref(), &mut body))
            }
            Some(_) | None => self.statements(&it.body.block, &mut body),
        };
        let (_, end) = self.calls.pop()?;
        done?;
        if let Some((function, _)) = &it.name
            && let Some(first) = body.first_mut()
        {
            first.trivia.before.insert(0, crate::frontend::import::tree::comment(&format!("{function}(…)")));
        }
        out.append(&mut body);
        if let Some(end) = end {
            out.push(stmt(Kind::Label(name(end, NOWHERE)), NOWHERE));
            out.push(stmt(Kind::Skip, NOWHERE));
        }
        Some(())
    }

    fn result(&mut self, value: Option<&Expr>, out: &mut Out) -> Option<()> {
        let result = self.calls.last().and_then(|it| it.0);
        if let (Some(value), Some(result)) = (value, result) {
            let value = self.number(value, out)?;
            out.push(self.set(self.local(result), value));
        }
        Some(())
    }

    fn return_(&mut self, value: Option<&Expr>, out: &mut Out) -> Option<()> {
        self.result(value, out)?;
        if self.calls.len() == 1 {
            out.push(stmt(Kind::Return(None), NOWHERE));
            return Some(());
        }
        let known = self.calls.last().and_then(|it| it.1.clone());
        let end = known.unwrap_or_else(|| fresh("returned", &mut self.taken));
        if let Some(last) = self.calls.last_mut() {
            last.1 = Some(end.clone());
        }
        out.push(stmt(Kind::Goto(name(end, NOWHERE)), NOWHERE));
        Some(())
    }
}
