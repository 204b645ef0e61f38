//! Waiting for a value: a loop of loads, as the libraries have it, and not one step that waits.
//!
//! ```text
//!   await (compare)             do { v = load } while (!(v ~ c))
//!   await and change            do { v = load; if (v ~ c) was = compare_exchange(v, f(v)) } while (nothing changed)
//! ```
//!
//! So a hang is a loop that goes on for ever, at the place of the call.

use std::rc::Rc;

use fencewright::frontend::hir::{Expr, First, Operand, StmtKind};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast;

use super::Lowering;
use super::atomics::{Order, Ordering};
use super::places::{Named, test};
use super::value::Value;

/// A wait for a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Await {
    pub order: Ordering,
    /// How it is compared with the argument.
    pub compare: Op,
    /// What happens to it in the same step.
    pub then: Option<Then>,
}

/// How a value is changed that was waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    /// It becomes the argument.
    Set,
    /// It is combined with the argument.
    Fetch(Op),
}

/// What Nidhugg calls a comparison: whether less, equal and greater count, and whether with a sign.
pub(super) fn compared_by_bits(bits: i64) -> Option<Op> {
    Some(match bits & 0b111 {
        0b010 => Op::Eq,
        0b101 => Op::Ne,
        0b100 => Op::Lt,
        0b110 => Op::Le,
        0b001 => Op::Gt,
        0b011 => Op::Ge,
        _ => return None,
    })
}

impl<'a> Lowering<'a> {
    /// `await_eq(a, c)`, `await_eq_set(a, c, v)`: what was there.
    pub(super) fn awaited(&mut self, wait: Await, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let named = self.behind(&arguments[0])?;
        let with = self.compared_value(&named, &arguments[1], span)?;
        let order = self.order(wait.order, arguments)?;
        let Some(then) = wait.then else { return self.awaited_load(&named, order, (wait.compare, &with), span) };
        let argument = self.compared_value(&named, &arguments[2], span)?;
        let new = move |old: &Expr| match then {
            Then::Set => argument.clone(),
            Then::Fetch(op) => Expr::binary(op, old.clone(), argument.clone()),
        };
        self.awaited_update(&named, order, (wait.compare, &with), &new, span)
    }

    /// `__VERIFIER_load_await_i32(a, cond, c)`, `__VERIFIER_xchg_await_i32(a, v, cond, c)`, as Nidhugg has them.
    pub(super) fn awaited_by_bits(
        &mut self,
        arguments: &'a [ast::Expr],
        is_exchange: bool,
        span: Span,
    ) -> Option<Value> {
        let named = self.behind(&arguments[0])?;
        let n = usize::from(is_exchange);
        let Some(compare) = self.value(&arguments[n + 1])?.constant().and_then(compared_by_bits) else {
            return self.refuse(
                arguments[n + 1].span,
                "this is no comparison",
                "give a constant of three or four bits",
            );
        };
        let with = self.compared_value(&named, &arguments[n + 2], span)?;
        if !is_exchange {
            return self.awaited_load(&named, Order::SeqCst, (compare, &with), span);
        }
        let new = self.compared_value(&named, &arguments[1], span)?;
        self.awaited_update(&named, Order::SeqCst, (compare, &with), &|_| new.clone(), span)
    }

    fn compared_value(&mut self, named: &Named, argument: &'a ast::Expr, span: Span) -> Option<Expr> {
        let value = self.value(argument)?;
        let ty = Rc::clone(named.ty());
        let raw = self.raw(value, &ty, span)?;
        Some(self.state.settled(raw, span))
    }

    fn awaited_load(&mut self, named: &Named, order: Order, (compare, with): (Op, &Expr), span: Span) -> Option<Value> {
        let ty = Rc::clone(named.ty());
        let was_straight = self.branch();
        let result = self.state.temporary(span);
        self.state.emit(StmtKind::Let(result, First::Constant(0)), span);
        self.state.open();
        let value = self.load(named, order.load(), span)?;
        let raw = self.raw(value, &ty, span)?;
        self.state.emit(StmtKind::Assign(result, raw), span);
        let body = self.state.close();
        let result = Expr::Var(Operand::Local(result));
        let is_wrong = Expr::binary(compare, result.clone(), with.clone()).negated();
        self.state.emit(StmtKind::DoWhile(body, test(is_wrong, span)), span);
        self.state.is_straight = was_straight;
        let settled = self.state.settled(result, span);
        Some(self.typed(settled, &ty))
    }

    fn awaited_update(
        &mut self,
        named: &Named,
        order: Order,
        (compare, with): (Op, &Expr),
        new: &dyn Fn(&Expr) -> Expr,
        span: Span,
    ) -> Option<Value> {
        let ty = Rc::clone(named.ty());
        let was_straight = self.branch();
        let (result, is_done) = (self.state.temporary(span), self.state.temporary(span));
        self.state.thread.locals[is_done].is_boolean = true;
        self.state.emit(StmtKind::Let(result, First::Constant(0)), span);
        self.state.emit(StmtKind::Let(is_done, First::Constant(0)), span);
        self.state.open();
        let value = self.load(named, Order::Relaxed.load(), span)?;
        let raw = self.raw(value, &ty, span)?;
        self.state.emit(StmtKind::Assign(result, raw), span);
        let old = Expr::Var(Operand::Local(result));
        self.state.open();
        let found = self.compared_and_swapped(named, order, &old, &new(&old), span)?;
        self.state.emit(StmtKind::Assign(is_done, Expr::binary(Op::Eq, found, old.clone())), span);
        let swap = self.state.close();
        let is_right = Expr::binary(compare, old.clone(), with.clone());
        self.state.emit(StmtKind::If(vec![(test(is_right, span), swap)], Vec::new()), span);
        let body = self.state.close();
        let is_open = Expr::Var(Operand::Local(is_done)).negated();
        self.state.emit(StmtKind::DoWhile(body, test(is_open, span)), span);
        self.state.is_straight = was_straight;
        let settled = self.state.settled(old, span);
        Some(self.typed(settled, &ty))
    }
}
