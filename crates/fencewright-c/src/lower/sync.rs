//! Barriers and condition variables, by what they are made of.
//!
//! ```text
//!   barrier      count, arrived, round       the last that arrives lets the others go by another round
//!   condition    waits[thread]               set by who waits; cleared by who signals, or by itself if it wakes up so
//! ```
//!
//! A thread that waits for a condition may wake up for no reason, as POSIX has it; whether it may is chosen when it
//! begins to wait, so that a signal that is lost shows as a hang.

use std::rc::Rc;

use fencewright::frontend::hir::{
    Block, Condition, ConditionKind, Effect, EffectKind, Expr, First, LoadOrder, Operand, Place, Stmt, StmtKind,
    StoreOrder, Update, UpdateOrder,
};
use fencewright::program::{BinaryOp as Op, Domain};
use fencewright::source::Span;

use crate::ast::{self, BuiltinType};
use crate::types::{Integer, Qualified, Type};

use super::Lowering;
use super::places::{Named, test};
use super::value::{Target, Value};

/// What the function of that name does; the second argument of some is looked at, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sync {
    InitBarrier,
    Arrive,
    InitCondition,
    Wait,
    /// It may go on as if time was up.
    TimedWait,
    Signal,
    Broadcast,
}

/// What a function of the system does to barriers and conditions.
pub(super) fn sync(name: &str) -> Option<Sync> {
    Some(match name {
        "pthread_barrier_init" => Sync::InitBarrier,
        "pthread_barrier_wait" => Sync::Arrive,
        "pthread_cond_init" | "cnd_init" => Sync::InitCondition,
        "pthread_cond_wait" | "cnd_wait" => Sync::Wait,
        "pthread_cond_timedwait" | "cnd_timedwait" => Sync::TimedWait,
        "pthread_cond_signal" | "cnd_signal" => Sync::Signal,
        "pthread_cond_broadcast" | "cnd_broadcast" => Sync::Broadcast,
        _ => return None,
    })
}

/// What `pthread_cond_timedwait` returns when time is up.
const TIMED_OUT: i64 = 110;

/// What they are made of.
pub(super) fn parts(kind: BuiltinType, n_threads: u64) -> Vec<(&'static str, Qualified)> {
    let atomic = |ty| Qualified { ty, is_atomic: true, is_volatile: false };
    let number = |bits| atomic(Type::Integer(Integer { bits, is_signed: false }));
    match kind {
        BuiltinType::Barrier => vec![("count", number(32)), ("arrived", number(8)), ("round", atomic(Type::Bool))],
        BuiltinType::Condition => {
            vec![("waits", Type::Array(Rc::new(atomic(Type::Bool)), n_threads.max(1)).plain())]
        }
        BuiltinType::Thread
        | BuiltinType::Mutex
        | BuiltinType::RwLock
        | BuiltinType::Attributes
        | BuiltinType::AtomicFlag
        | BuiltinType::MemoryOrder
        | BuiltinType::File
        | BuiltinType::VaList => Vec::new(),
    }
}

fn part(of: &Target, kind: BuiltinType, number: usize) -> Target {
    of.field(number, &parts(kind, 1)[number].1)
}

/// Whether somebody waits: the cell of a thread.
fn waits(of: &Target, thread: usize) -> Target {
    let all = part(of, BuiltinType::Condition, 0);
    let cell = Rc::new(Qualified { ty: Type::Bool, is_atomic: true, is_volatile: false });
    all.at(Expr::Const(thread as i64), cell)
}

impl<'a> Lowering<'a> {
    /// A call of a function for barriers or conditions.
    pub(super) fn sync_call(
        &mut self,
        sync: Sync,
        name: &ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Value> {
        let pointer = self.argument(name, arguments, 0)?;
        let value = self.value(pointer)?;
        let named = self.pointed_at(value, pointer.span)?;
        let wanted = match sync {
            Sync::InitBarrier | Sync::Arrive => BuiltinType::Barrier,
            Sync::InitCondition | Sync::Wait | Sync::TimedWait | Sync::Signal | Sync::Broadcast => {
                BuiltinType::Condition
            }
        };
        if named.ty().ty != Type::Builtin(wanted) {
            return self.refuse(pointer.span, "this points at something else", "see the manual page");
        }
        let done = match sync {
            Sync::InitBarrier => {
                let count = self.argument(name, arguments, 2)?;
                let count = self.value(count)?;
                self.at_each(&named, span, &mut |it, target| it.init_barrier(target, &count, span))?
            }
            Sync::Arrive => self.at_each(&named, span, &mut |it, target| it.arrive(target, span))?,
            Sync::InitCondition => self.at_each(&named, span, &mut |it, target| it.init_condition(target, span))?,
            Sync::Wait | Sync::TimedWait => {
                let mutex = self.argument(name, arguments, 1)?;
                self.wait(&named, mutex, sync == Sync::TimedWait, span)?
            }
            Sync::Signal => self.at_each(&named, span, &mut |it, target| it.signal(target, span))?,
            Sync::Broadcast => self.at_each(&named, span, &mut |it, target| it.broadcast(target, span))?,
        };
        Some(Value::Number(done, Integer::INT))
    }

    fn init_barrier(&mut self, target: &Target, count: &Value, span: Span) -> Option<Expr> {
        let part = |number| Named::Target(part(target, BuiltinType::Barrier, number));
        self.store(&part(0), StoreOrder::Relaxed, count.clone(), span)?;
        self.store(&part(1), StoreOrder::Relaxed, Value::int(0), span)?;
        self.store(&part(2), StoreOrder::Release, Value::int(0), span)?;
        Some(Expr::Const(0))
    }

    /// The last to arrive returns -1, the others 0.
    fn arrive(&mut self, target: &Target, span: Span) -> Option<Expr> {
        let place = |it: &mut Self, number| it.place(&part(target, BuiltinType::Barrier, number), span);
        let (count, arrived, round) = (place(self, 0)?, place(self, 1)?, place(self, 2)?);
        let before = self.state.kept(EffectKind::Load(round.clone(), LoadOrder::Acquire), span);
        let one_more =
            EffectKind::Update(arrived.clone(), UpdateOrder::AcqRel, Update::Wrapping(Op::Add, 255), Expr::Const(1));
        let n_before = self.state.kept(one_more, span);
        let count = self.state.kept(EffectKind::Load(count, LoadOrder::Relaxed), span);
        let is_last = Expr::binary(Op::Eq, Expr::binary(Op::Add, n_before, Expr::Const(1)), count);
        let result = self.state.temporary(span);
        self.state.emit(StmtKind::Let(result, First::Constant(0)), span);
        let next = Expr::binary(Op::Sub, Expr::Const(1), before.clone());
        let go = [
            StmtKind::Store(arrived, StoreOrder::Relaxed, Expr::Const(0)),
            StmtKind::Store(round.clone(), StoreOrder::Release, next),
            StmtKind::Assign(result, Expr::Const(-1)),
        ];
        let go: Block = go.into_iter().map(|kind| Stmt { span, kind }).collect();
        let now = Expr::from(Effect { span, kind: EffectKind::Load(round, LoadOrder::Acquire) });
        let wait = StmtKind::While(test(Expr::binary(Op::Eq, now, before), span), Vec::new());
        self.state.emit(StmtKind::If(vec![(test(is_last, span), go)], vec![Stmt { span, kind: wait }]), span);
        self.state.stable.insert(result);
        Some(Expr::Var(Operand::Local(result)))
    }

    fn init_condition(&mut self, target: &Target, span: Span) -> Option<Expr> {
        for thread in 0..self.n_threads() {
            self.store(&Named::Target(waits(target, thread)), StoreOrder::Relaxed, Value::int(0), span)?;
        }
        Some(Expr::Const(0))
    }

    /// Gives the mutex back, waits, and takes it again.
    fn wait(&mut self, named: &Named, mutex: &'a ast::Expr, is_timed: bool, span: Span) -> Option<Expr> {
        let thread = self.thread_number();
        self.at_each(named, span, &mut |it, target| {
            let place = it.place(&waits(target, thread), span)?;
            it.state.emit(StmtKind::Store(place, StoreOrder::Relaxed, Expr::Const(1)), span);
            Some(Expr::Const(0))
        })?;
        self.unlocked(mutex, span)?;
        // Time is up whenever it is.
        let wakes = match is_timed {
            true => Expr::Const(1),
            false => self.state.kept(EffectKind::Any(Domain::Range(0, 1), 0, 1), span),
        };
        self.at_each(named, span, &mut |it, target| {
            let place = it.place(&waits(target, thread), span)?;
            let by_itself = StmtKind::Store(place.clone(), StoreOrder::Relaxed, Expr::Const(0));
            let load = Expr::from(Effect { span, kind: EffectKind::Load(place, LoadOrder::Acquire) });
            let asleep = StmtKind::While(test(Expr::binary(Op::Ne, load, Expr::Const(0)), span), Vec::new());
            let is_so = test(Expr::binary(Op::Ne, wakes.clone(), Expr::Const(0)), span);
            let (by_itself, asleep) = (vec![Stmt { span, kind: by_itself }], vec![Stmt { span, kind: asleep }]);
            it.state.emit(StmtKind::If(vec![(is_so, by_itself)], asleep), span);
            Some(Expr::Const(0))
        })?;
        self.locked(mutex, span)?;
        if !is_timed {
            return Some(Expr::Const(0));
        }
        let is_late = self.state.kept(EffectKind::Any(Domain::Range(0, 1), 0, 1), span);
        Some(Expr::binary(Op::Mul, is_late, Expr::Const(TIMED_OUT)))
    }

    /// Wakes one of those that wait, whichever; none if nobody does. Who was seen to wait and does not any more was
    /// woken by another, or by itself: then it is looked once more.
    fn signal(&mut self, target: &Target, span: Span) -> Option<Expr> {
        let leave = || vec![Stmt { span, kind: StmtKind::Break }];
        self.state.open();
        let (mut ways, mut is_any): (Vec<Block>, Expr) = (Vec::new(), Expr::Const(0));
        for thread in 0..self.n_threads() {
            let place = self.place(&waits(target, thread), span)?;
            let waits = self.state.kept(EffectKind::Load(place.clone(), LoadOrder::Relaxed), span);
            let waits = Expr::binary(Op::Ne, waits, Expr::Const(0));
            is_any = Expr::binary(Op::Or, is_any, waits.clone());
            let wake = StmtKind::If(vec![(cleared(place, span), leave())], Vec::new());
            let this_one = [StmtKind::Assume(test(waits, span)), wake];
            ways.push(this_one.into_iter().map(|kind| Stmt { span, kind }).collect());
        }
        self.state.emit(StmtKind::If(vec![(test(is_any.negated(), span), leave())], Vec::new()), span);
        self.state.emit(StmtKind::Choose(ways), span);
        let round = self.state.close();
        self.state.emit(StmtKind::Loop(round), span);
        Some(Expr::Const(0))
    }

    fn broadcast(&mut self, target: &Target, span: Span) -> Option<Expr> {
        for thread in 0..self.n_threads() {
            let place = self.place(&waits(target, thread), span)?;
            self.state.kept(EffectKind::Update(place, UpdateOrder::AcqRel, Update::Swap, Expr::Const(0)), span);
        }
        Some(Expr::Const(0))
    }
}

/// Whether a thread waited, and does not any more.
fn cleared(place: Place, span: Span) -> Condition {
    let kind = ConditionKind::Cas { place, order: UpdateOrder::AcqRel, old: Expr::Const(1), new: Expr::Const(0) };
    Condition { span, kind }
}
