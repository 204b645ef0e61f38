//! Locks of std: a word in memory beside what they guard.
//!
//! | | the word |
//! |---|---|
//! | `Mutex` | 1 while it is taken |
//! | `RwLock` | how many read, or −1 while one writes |
//! | `OnceLock` | 1 while it is filled, 2 once it is |
//!
//! A `Condvar` may wake anybody at any time, as its documentation says: to wait is to give the lock back and to take it
//! again.

use std::rc::Rc;

use fencewright::frontend::hir::{
    Condition, ConditionKind, EffectKind, Expr, LoadOrder, Stmt, StmtKind, StoreOrder, UpdateOrder,
};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::Method;
use crate::types::{Guard, Integer, Kind, Lock, Type};
use crate::value::{Place, Pointer, Step, Value};

use super::Lowering;
use super::access::reference;
use super::expressions::retyped;
use super::state::test;

impl Lowering<'_> {
    /// The word of the lock that guards a place.
    pub(super) fn word_of(&mut self, data: &Place, is_mutex: bool, span: Span) -> Option<Place> {
        let mut steps = data.steps.clone();
        match steps.pop() {
            Some(Step::Field(1)) => {}
            _ if self.is_unsure => {}
            _ => return self.refuse(span, "it is not known which lock this guard is of", "keep guards in variables"),
        }
        steps.push(Step::Field(0));
        let bits = if is_mutex { Integer::U8 } else { Integer::I32 };
        Some(Place { base: data.base.clone(), steps, ty: Type::Atomic(Rc::new(Type::Integer(Some(bits)))) })
    }

    pub(super) fn lock_method(
        &mut self,
        lock: Lock,
        inner: &Type,
        place: &Place,
        it: &Method,
        span: Span,
    ) -> Option<Option<Value>> {
        let data = place.field(1, inner.clone());
        let data = data.seen_as(self.type_at(&data));
        let name = it.name.text.as_str();
        let guard = |kind: Guard| {
            let Value::Pointer(it) = reference(data.clone()) else { return Value::Unset };
            Value::Pointer(Pointer { kind: Kind::Guard(kind), ..it })
        };
        Some(Some(match (lock, name) {
            (_, "get_mut") if lock != Lock::OnceLock => Value::ok(reference(data)),
            (_, "into_inner") => Value::ok(self.load(&data, LoadOrder::Plain, span)?),
            (Lock::Mutex, "lock") => {
                self.take(&data, span)?;
                Value::ok(guard(Guard::Mutex))
            }
            (Lock::Mutex, "try_lock") => {
                let taken = self.try_take(&data, (0, 1), span)?;
                failed_unless(taken, guard(Guard::Mutex))
            }
            (Lock::RwLock, "write") => {
                let word = self.word_of(&data, false, span)?;
                self.wait_for(&word, (0, -1), span)?;
                Value::ok(guard(Guard::Write))
            }
            (Lock::RwLock, "try_write") => {
                let taken = self.try_take(&data, (0, -1), span)?;
                failed_unless(taken, guard(Guard::Write))
            }
            (Lock::RwLock, "read") => {
                self.read_lock(&data, span)?;
                Value::ok(guard(Guard::Read))
            }
            (Lock::RwLock, "try_read") => {
                let taken = self.try_read_lock(&data, span)?;
                failed_unless(taken, guard(Guard::Read))
            }
            (Lock::OnceLock, _) => return self.once_method(&data, it, span),
            _ => return Some(None),
        }))
    }

    /// Takes a mutex, and waits for it if need be.
    fn take(&mut self, data: &Place, span: Span) -> Option<()> {
        let word = self.word_of(data, true, span)?;
        self.wait_for(&word, (0, 1), span)
    }

    fn wait_for(&mut self, word: &Place, (old, new): (i64, i64), span: Span) -> Option<()> {
        self.at_each(word, span, &mut |it, word| {
            let place = it.cell(word, span)?;
            it.state.emit(StmtKind::Assume(taken(place, old, new, span)), span);
            Some(Expr::Const(0))
        })?;
        Some(())
    }

    fn try_take(&mut self, data: &Place, (old, new): (i64, i64), span: Span) -> Option<Expr> {
        let word = self.word_of(data, old - new == -1, span)?;
        let taken = self.at_each(&word, span, &mut |it, word| {
            let place = it.cell(word, span)?;
            Some(it.state.kept(EffectKind::Decide(taken(place, old, new, span)), span))
        })?;
        Some(taken)
    }

    /// One more reader, unless somebody writes.
    fn read_lock(&mut self, data: &Place, span: Span) -> Option<()> {
        let word = self.word_of(data, false, span)?;
        self.at_each(&word, span, &mut |it, word| {
            let place = it.cell(word, span)?;
            it.state.open();
            let seen = it.state.kept(EffectKind::Load(place.clone(), LoadOrder::Relaxed), span);
            let more = Expr::binary(Op::Add, seen.clone(), Expr::Const(1));
            let swap = ConditionKind::Cas { place, order: UpdateOrder::Acquire, old: seen.clone(), new: more };
            let swap = Condition { span, kind: swap };
            let leave = vec![Stmt { span, kind: StmtKind::Break }];
            let inner = vec![Stmt { span, kind: StmtKind::If(vec![(swap, leave)], Vec::new()) }];
            let is_free = Expr::binary(Op::Ge, seen, Expr::Const(0));
            it.state.emit(StmtKind::If(vec![(test(is_free, span), inner)], Vec::new()), span);
            let block = it.state.close();
            it.state.emit(StmtKind::Loop(block), span);
            Some(Expr::Const(0))
        })?;
        Some(())
    }

    /// One more reader, if nobody writes; who else reads or comes to read in the same moment does not matter.
    fn try_read_lock(&mut self, data: &Place, span: Span) -> Option<Expr> {
        let word = self.word_of(data, false, span)?;
        let result = self.state.hoisted(None, true, span);
        self.at_each(&word, span, &mut |it, word| {
            let place = it.cell(word, span)?;
            it.state.open();
            let leave = |value| {
                let assign = StmtKind::Assign(result, Expr::Const(value));
                vec![Stmt { span, kind: assign }, Stmt { span, kind: StmtKind::Break }]
            };
            let seen = it.state.kept(EffectKind::Load(place.clone(), LoadOrder::Relaxed), span);
            let is_written = Expr::binary(Op::Lt, seen.clone(), Expr::Const(0));
            it.state.emit(StmtKind::If(vec![(test(is_written, span), leave(0))], Vec::new()), span);
            let new = Expr::binary(Op::Add, seen.clone(), Expr::Const(1));
            let kind = ConditionKind::Cas { place, order: UpdateOrder::Acquire, old: seen, new };
            it.state.emit(StmtKind::If(vec![(Condition { span, kind }, leave(1))], Vec::new()), span);
            let block = it.state.close();
            it.state.emit(StmtKind::Loop(block), span);
            Some(Expr::Const(0))
        })?;
        Some(self.state.settled(super::state::register(result), span))
    }

    fn once_method(&mut self, data: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        let word = self.word_of(data, true, span)?;
        let name = it.name.text.as_str();
        Some(Some(match name {
            "get" => {
                let seen = self.load(&word, LoadOrder::Acquire, span)?.open();
                let raw = self.raw(seen, span)?;
                let is_full = match raw {
                    Expr::Const(it) => Expr::Const(i64::from(it == 2)),
                    raw => Expr::binary(Op::Eq, raw, Expr::Const(2)),
                };
                Value::some_if(is_full, reference(data.clone()))
            }
            "set" => {
                let value = self.values(&it.arguments)?.into_iter().next()?;
                let place = self.cell(&word, span)?;
                let is_mine = self.state.kept(EffectKind::Decide(taken(place, 0, 1, span)), span);
                let (block, ()) = self.branch(|it| it.filled(data, &word, value.clone(), span))?;
                self.state.emit(StmtKind::If(vec![(test(is_mine.clone(), span), block)], Vec::new()), span);
                failed_unless(is_mine, Value::UNIT)
            }
            "get_or_init" | "call_once" => {
                let closure = self.values(&it.arguments)?.into_iter().next()?;
                self.filled_once(data, &word, &closure, span)?;
                if name == "call_once" { Value::UNIT } else { reference(data.clone()) }
            }
            "is_completed" => {
                let seen = self.load(&word, LoadOrder::Acquire, span)?.open();
                let raw = self.raw(seen, span)?;
                Value::bool(Expr::binary(Op::Eq, raw, Expr::Const(2)))
            }
            _ => return Some(None),
        }))
    }

    fn filled(&mut self, data: &Place, word: &Place, value: Value, span: Span) -> Option<()> {
        let ty = data.ty.clone();
        self.store(data, retyped(value, &ty), StoreOrder::Plain, span)?;
        let full = Value::integer(2, Integer::U8);
        self.store(word, full, StoreOrder::Release, span)
    }

    /// Whoever comes first fills it; the others wait until it is full.
    fn filled_once(&mut self, data: &Place, word: &Place, closure: &Value, span: Span) -> Option<()> {
        let place = self.cell(word, span)?;
        let seen = self.state.kept(EffectKind::Load(place.clone(), LoadOrder::Acquire), span);
        let (block, ()) = self.branch(|it| {
            let is_mine = it.state.kept(EffectKind::Decide(taken(place.clone(), 0, 1, span)), span);
            let (fill, ()) = it.branch(|it| {
                let value = it.applied(closure, Vec::new(), span)?;
                it.filled(data, word, value, span)
            })?;
            let load = fencewright::frontend::hir::Effect { span, kind: EffectKind::Load(place, LoadOrder::Acquire) };
            let is_full = Expr::binary(Op::Eq, load.into(), Expr::Const(2));
            let wait = vec![Stmt { span, kind: StmtKind::Assume(test(is_full, span)) }];
            it.state.emit(StmtKind::If(vec![(test(is_mine, span), fill)], wait), span);
            Some(())
        })?;
        let is_open = Expr::binary(Op::Ne, seen, Expr::Const(2));
        self.state.emit(StmtKind::If(vec![(test(is_open, span), block)], Vec::new()), span);
        Some(())
    }

    pub(super) fn condvar_method(&mut self, it: &Method, span: Span) -> Option<Option<Value>> {
        let values = self.values(&it.arguments)?;
        Some(Some(match it.name.text.as_str() {
            "notify_one" | "notify_all" => {
                // A call of the system, which the compiler moves nothing across; nothing else is promised.
                Value::UNIT
            }
            "wait" => {
                let guard = values.into_iter().next()?;
                self.give_back(Guard::Mutex, guard.clone(), span)?;
                let data = self.pointed(guard.clone(), span)?;
                self.take(&data, span)?;
                Value::ok(guard)
            }
            "wait_while" => {
                let mut values = values.into_iter();
                let (guard, closure) = (values.next()?, values.next()?);
                let data = self.pointed(guard.clone(), span)?;
                self.state.n_loops += 1;
                let done = self.branch(|it| {
                    let waits = it.applied(&closure, vec![reference(data.clone())], span)?;
                    let waits = it.raw(waits, span)?;
                    let leave = vec![Stmt { span, kind: StmtKind::Break }];
                    it.state.emit(StmtKind::If(vec![(test(waits.negated(), span), leave)], Vec::new()), span);
                    it.give_back(Guard::Mutex, guard.clone(), span)?;
                    it.take(&data, span)
                });
                self.state.n_loops -= 1;
                let (block, ()) = done?;
                self.state.emit(StmtKind::Loop(block), span);
                Value::ok(guard)
            }
            _ => return Some(None),
        }))
    }
}

/// Whether a lock was free, and is taken now.
fn taken(place: fencewright::frontend::hir::Place, old: i64, new: i64, span: Span) -> Condition {
    let kind = ConditionKind::Cas { place, order: UpdateOrder::Acquire, old: Expr::Const(old), new: Expr::Const(new) };
    Condition { span, kind }
}

/// `Ok(value)` if that holds, otherwise `Err(())`.
fn failed_unless(holds: Expr, value: Value) -> Value {
    let variants = vec![Some(vec![value]), Some(vec![Value::UNIT])];
    let tag = holds.negated();
    Value::Enum(Box::new(crate::value::Enum { number: crate::types::RESULT, tag, variants, sizes: vec![1, 1] }))
}
