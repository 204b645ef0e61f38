//! Atomic accesses: C11, the builtins of gcc, and the macros of Linux.
//!
//! | | |
//! |---|---|
//! | `atomic_load_explicit(p, o)`, `__atomic_load_n(p, o)`, `smp_load_acquire(p)`, `READ_ONCE(x)` | a load |
//! | `atomic_store…`, `__atomic_store_n`, `smp_store_release(p, v)`, `WRITE_ONCE(x, v)` | a store |
//! | `atomic_exchange…`, `__sync_lock_test_and_set`, `xchg` | a swap |
//! | `atomic_fetch_add…`, `__atomic_fetch_add`, `__atomic_add_fetch`, `__sync_fetch_and_add` | an update |
//! | `atomic_compare_exchange_strong…`, `__sync_val_compare_and_swap`, `cmpxchg` | a comparison with a swap |
//! | `atomic_thread_fence(o)`, `__sync_synchronize()`, `smp_mb()` | a fence |

use std::rc::Rc;

use fencewright::frontend::hir::{
    EffectKind, Expr, FenceOrder, First, LoadOrder, Operand, StmtKind, StoreOrder, Update, UpdateOrder,
};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast;
use crate::types::{Integer, Type};

use super::Lowering;
use super::awaits::Await;
use super::expressions::{wrapped, wrapping};
use super::places::{Named, test};
use super::value::{Base, Value};
use super::vatomic::vatomic;

/// A memory order of C11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    const ALL: [Self; 6] = [Self::Relaxed, Self::Consume, Self::Acquire, Self::Release, Self::AcqRel, Self::SeqCst];

    /// By its number, as the constants have it.
    fn numbered(number: i64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|it| Self::ALL.get(it)).copied()
    }

    pub(super) fn load(self) -> LoadOrder {
        match self {
            Self::Relaxed | Self::Release => LoadOrder::Relaxed,
            Self::Consume | Self::Acquire | Self::AcqRel => LoadOrder::Acquire,
            Self::SeqCst => LoadOrder::SeqCst,
        }
    }

    fn store(self) -> StoreOrder {
        match self {
            Self::Relaxed | Self::Consume | Self::Acquire => StoreOrder::Relaxed,
            Self::Release | Self::AcqRel => StoreOrder::Release,
            Self::SeqCst => StoreOrder::SeqCst,
        }
    }

    fn update(self) -> UpdateOrder {
        match self {
            Self::Relaxed => UpdateOrder::Relaxed,
            Self::Consume | Self::Acquire => UpdateOrder::Acquire,
            Self::Release => UpdateOrder::Release,
            Self::AcqRel => UpdateOrder::AcqRel,
            Self::SeqCst => UpdateOrder::SeqCst,
        }
    }

    fn fence(self) -> Option<FenceOrder> {
        match self {
            Self::Relaxed => None,
            Self::Consume | Self::Acquire => Some(FenceOrder::Acquire),
            Self::Release => Some(FenceOrder::Release),
            Self::AcqRel => Some(FenceOrder::AcqRel),
            Self::SeqCst => Some(FenceOrder::SeqCst),
        }
    }
}

/// The number of a memory order by its name.
pub(super) fn order_named(name: &str) -> Option<i64> {
    let name = name.strip_prefix("memory_order_").or_else(|| name.strip_prefix("__ATOMIC_"))?;
    let names = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"];
    names.iter().position(|it| it.eq_ignore_ascii_case(name)).map(|it| it as i64)
}

/// Whether something that looks like a function writes to the variable that is its first argument.
pub(super) fn writes_variable(name: &str) -> bool {
    matches!(atomic(name), Some(Atomic::WriteOnce(_)))
}

/// Which argument of an atomic function is its order.
pub(crate) fn order_argument(name: &str) -> Option<usize> {
    let order = match atomic(name)? {
        Atomic::Load(it) | Atomic::Store(it) | Atomic::Swap(it) | Atomic::Fetch(_, _, it) => it,
        Atomic::TestAndSet(it) | Atomic::Clear(it) | Atomic::CompareExchange { order: it, .. } => it,
        Atomic::Step(..) | Atomic::Await(_) | Atomic::AwaitByBits { .. } => return None,
        Atomic::CompareSwap { .. } | Atomic::Fence(_) | Atomic::ReadOnce | Atomic::WriteOnce(_) => return None,
        Atomic::Nothing => return None,
    };
    match order {
        Ordering::At(at) => Some(at),
        Ordering::Is(_) => None,
    }
}

/// What an atomic function does, from its name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Atomic {
    /// With the order given, or in the argument of this number.
    Load(Ordering),
    Store(Ordering),
    Swap(Ordering),
    /// The operator, whether the new value is wanted, and the order.
    Fetch(Op, bool, Ordering),
    /// The same by one.
    Step(Op, bool, Ordering),
    /// Waits for a value.
    Await(Await),
    /// The same, as Nidhugg has it; whether it is changed too.
    AwaitByBits {
        is_exchange: bool,
    },
    /// What is expected is behind a pointer; where the order is; whether it may fail for no reason.
    CompareExchange {
        order: Ordering,
        is_weak: bool,
    },
    /// What is expected is an argument; whether the old value is wanted, or whether it was the one.
    CompareSwap {
        order: Order,
        wants_old: bool,
    },
    Fence(Ordering),
    /// `atomic_flag_test_and_set`
    TestAndSet(Ordering),
    Clear(Ordering),
    /// Takes the variable itself.
    ReadOnce,
    WriteOnce(StoreOrder),
    /// Nothing for the machine.
    Nothing,
}

/// Where the order of an access is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ordering {
    Is(Order),
    At(usize),
}

fn atomic(name: &str) -> Option<Atomic> {
    use Ordering::{At, Is};
    let seq = Is(Order::SeqCst);
    if let Some(it) = fetch(name) {
        return Some(it);
    }
    if let Some(it) = kernel(name).or_else(|| vatomic(name)) {
        return Some(it);
    }
    if name.starts_with("__VERIFIER_load_await_") || name.starts_with("__VERIFIER_xchg_await_") {
        return Some(Atomic::AwaitByBits { is_exchange: name.starts_with("__VERIFIER_xchg") });
    }
    Some(match name {
        "atomic_load" => Atomic::Load(seq),
        "atomic_load_explicit" | "__atomic_load_n" => Atomic::Load(At(1)),
        "atomic_store" | "atomic_init" => Atomic::Store(seq),
        "atomic_store_explicit" | "__atomic_store_n" => Atomic::Store(At(2)),
        "atomic_exchange" => Atomic::Swap(seq),
        "atomic_exchange_explicit" | "__atomic_exchange_n" => Atomic::Swap(At(2)),
        "__sync_lock_test_and_set" => Atomic::Swap(Is(Order::Acquire)),
        "__sync_lock_release" => Atomic::Clear(Is(Order::Release)),
        "atomic_compare_exchange_strong" => Atomic::CompareExchange { order: seq, is_weak: false },
        "atomic_compare_exchange_weak" => Atomic::CompareExchange { order: seq, is_weak: true },
        "atomic_compare_exchange_strong_explicit" => Atomic::CompareExchange { order: At(3), is_weak: false },
        "atomic_compare_exchange_weak_explicit" => Atomic::CompareExchange { order: At(3), is_weak: true },
        "__atomic_compare_exchange_n" => Atomic::CompareExchange { order: At(4), is_weak: false },
        "__sync_val_compare_and_swap" => Atomic::CompareSwap { order: Order::SeqCst, wants_old: true },
        "__sync_bool_compare_and_swap" => Atomic::CompareSwap { order: Order::SeqCst, wants_old: false },
        "atomic_thread_fence" | "__atomic_thread_fence" => Atomic::Fence(At(0)),
        "__sync_synchronize" => Atomic::Fence(seq),
        "atomic_signal_fence" | "__atomic_signal_fence" => Atomic::Nothing,
        "atomic_flag_test_and_set" => Atomic::TestAndSet(seq),
        "atomic_flag_test_and_set_explicit" | "__atomic_test_and_set" => Atomic::TestAndSet(At(1)),
        "atomic_flag_clear" => Atomic::Clear(seq),
        "atomic_flag_clear_explicit" | "__atomic_clear" => Atomic::Clear(At(1)),
        _ => return None,
    })
}

/// The macros of Linux.
fn kernel(name: &str) -> Option<Atomic> {
    use Ordering::Is;
    Some(match name {
        "READ_ONCE" | "ACCESS_ONCE" => Atomic::ReadOnce,
        "WRITE_ONCE" => Atomic::WriteOnce(StoreOrder::Relaxed),
        "smp_load_acquire" => Atomic::Load(Is(Order::Acquire)),
        "smp_store_release" => Atomic::Store(Is(Order::Release)),
        "smp_store_mb" => Atomic::WriteOnce(StoreOrder::SeqCst),
        "smp_mb" => Atomic::Fence(Is(Order::SeqCst)),
        "smp_rmb" => Atomic::Fence(Is(Order::Acquire)),
        "smp_wmb" => Atomic::Fence(Is(Order::Release)),
        "barrier" | "smp_read_barrier_depends" => Atomic::Nothing,
        "xchg" => Atomic::Swap(Is(Order::SeqCst)),
        "xchg_relaxed" => Atomic::Swap(Is(Order::Relaxed)),
        "xchg_acquire" => Atomic::Swap(Is(Order::Acquire)),
        "xchg_release" => Atomic::Swap(Is(Order::Release)),
        "cmpxchg" => Atomic::CompareSwap { order: Order::SeqCst, wants_old: true },
        "cmpxchg_relaxed" => Atomic::CompareSwap { order: Order::Relaxed, wants_old: true },
        "cmpxchg_acquire" => Atomic::CompareSwap { order: Order::Acquire, wants_old: true },
        "cmpxchg_release" => Atomic::CompareSwap { order: Order::Release, wants_old: true },
        _ => return None,
    })
}

/// `atomic_fetch_add_explicit`, `__atomic_fetch_or`, `__atomic_sub_fetch`, `__sync_fetch_and_add`, …
fn fetch(name: &str) -> Option<Atomic> {
    let op = |name: &str| {
        Some(match name {
            "add" => Op::Add,
            "sub" => Op::Sub,
            "or" => Op::BitOr,
            "and" => Op::BitAnd,
            "xor" => Op::BitXor,
            _ => return None,
        })
    };
    let (seq, given) = (Ordering::Is(Order::SeqCst), Ordering::At(2));
    if let Some(rest) = name.strip_prefix("atomic_fetch_") {
        let (rest, order) = rest.strip_suffix("_explicit").map_or((rest, seq), |rest| (rest, given));
        return Some(Atomic::Fetch(op(rest)?, false, order));
    }
    if let Some(rest) = name.strip_prefix("__sync_fetch_and_") {
        return Some(Atomic::Fetch(op(rest)?, false, seq));
    }
    if let Some(rest) = name.strip_prefix("__sync_").and_then(|it| it.strip_suffix("_and_fetch")) {
        return Some(Atomic::Fetch(op(rest)?, true, seq));
    }
    let rest = name.strip_prefix("__atomic_")?;
    if let Some(rest) = rest.strip_prefix("fetch_") {
        return Some(Atomic::Fetch(op(rest)?, false, given));
    }
    Some(Atomic::Fetch(op(rest.strip_suffix("_fetch")?)?, true, given))
}

impl<'a> Lowering<'a> {
    /// A call of an atomic function; `None` inside if it is none.
    pub(super) fn atomic_call(
        &mut self,
        name: &ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Option<Value>> {
        let Some(atomic) = atomic(&name.text) else { return Some(None) };
        let n = n_arguments(atomic, &name.text);
        if arguments.len() != n {
            let message = format!("`{}` has {n} parameters, found {} arguments", name.text, arguments.len());
            return self.refuse(span, &message, "see <stdatomic.h>");
        }
        self.done(atomic, arguments, span).map(Some)
    }

    fn done(&mut self, atomic: Atomic, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        Some(match atomic {
            Atomic::Load(order) => {
                let (named, order) = (self.behind(&arguments[0])?, self.order(order, arguments)?);
                self.load(&named, order.load(), span)?
            }
            Atomic::ReadOnce => {
                let named = self.named(&arguments[0])?;
                self.load(&named, LoadOrder::Relaxed, span)?
            }
            Atomic::WriteOnce(order) => {
                let named = self.named(&arguments[0])?;
                let value = self.value(&arguments[1])?;
                self.store(&named, order, value, span)?;
                Value::Void
            }
            Atomic::Store(order) => self.atomic_store(order, arguments, span)?,
            Atomic::Clear(order) => {
                let (named, order) = (self.behind(&arguments[0])?, self.order(order, arguments)?);
                self.store(&named, order.store(), Value::int(0), span)?;
                Value::Void
            }
            Atomic::Swap(order) => {
                let (named, order) = (self.behind(&arguments[0])?, self.order(order, arguments)?);
                let value = self.value(&arguments[1])?;
                self.swap(&named, order, value, span)?
            }
            Atomic::TestAndSet(order) => {
                let (named, order) = (self.behind(&arguments[0])?, self.order(order, arguments)?);
                self.swap(&named, order, Value::int(1), span)?
            }
            Atomic::Fetch(op, wants_new, order) => {
                let order = self.order_or_last(order, arguments)?;
                let by = self.number(&arguments[1])?.0;
                self.fetch((op, wants_new), order, &arguments[0], by, span)?
            }
            Atomic::Step(op, wants_new, order) => {
                let order = self.order(order, arguments)?;
                self.fetch((op, wants_new), order, &arguments[0], Expr::Const(1), span)?
            }
            Atomic::Await(wait) => self.awaited(wait, arguments, span)?,
            Atomic::AwaitByBits { is_exchange } => self.awaited_by_bits(arguments, is_exchange, span)?,
            Atomic::CompareExchange { order, is_weak } => self.compare_exchange(order, is_weak, arguments, span)?,
            Atomic::CompareSwap { order, wants_old } => self.compare_swap(order, wants_old, arguments, span)?,
            Atomic::Fence(order) => self.atomic_fence(order, arguments, span)?,
            Atomic::Nothing => Value::Void,
        })
    }

    fn atomic_fence(&mut self, order: Ordering, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let order = self.order(order, arguments)?;
        if let Some(fence) = order.fence() {
            self.leave_alone_for_fence();
            self.state.emit(StmtKind::OrderedFence(fence), span);
        }
        Some(Value::Void)
    }

    /// What the pointer that is the first argument points at.
    pub(super) fn behind(&mut self, pointer: &'a ast::Expr) -> Option<Named> {
        let value = self.value(pointer)?;
        self.pointed_at(value, pointer.span)
    }

    pub(super) fn order(&mut self, order: Ordering, arguments: &'a [ast::Expr]) -> Option<Order> {
        let at = match order {
            Ordering::Is(order) => return Some(order),
            Ordering::At(at) => &arguments[at],
        };
        let found = self.value(at)?.constant().and_then(Order::numbered);
        if found.is_none() {
            let help = "use a constant, such as `memory_order_acquire`";
            self.log.error(at.span, "this memory order is not known here", help);
        }
        found
    }

    fn atomic_store(&mut self, order: Ordering, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let named = self.behind(&arguments[0])?;
        let value = self.value(&arguments[1])?;
        let order = self.order(order, arguments)?;
        self.store(&named, order.store(), value, span)?;
        Some(Value::Void)
    }

    fn swap(&mut self, named: &Named, order: Order, value: Value, span: Span) -> Option<Value> {
        let ty = Rc::clone(named.ty());
        let raw = self.raw(value, &ty, span)?;
        let old = self.update(named, order.update(), Update::Swap, &raw, span)?;
        Some(self.typed(old, &ty))
    }

    fn fetch(
        &mut self,
        (op, wants_new): (Op, bool),
        order: Order,
        pointer: &'a ast::Expr,
        by: Expr,
        span: Span,
    ) -> Option<Value> {
        let named = self.behind(pointer)?;
        let by = self.state.settled(by, span);
        let ty = Rc::clone(named.ty());
        if !matches!(ty.ty, Type::Integer(_) | Type::Bool) {
            return self.refuse(span, "arithmetic on something that is no integer", "use an integer");
        }
        let integer = ty.ty.integer().unwrap_or(Integer::INT);
        let old = self.update(&named, order.update(), wrapping(op, &ty.ty), &by, span)?;
        let value = if wants_new { wrapped(Expr::binary(op, old, by), integer) } else { old };
        Some(Value::Number(value, integer))
    }

    /// The order, which the builtins of gcc may leave out.
    fn order_or_last(&mut self, order: Ordering, arguments: &'a [ast::Expr]) -> Option<Order> {
        match order {
            Ordering::At(at) if at >= arguments.len() => Some(Order::SeqCst),
            order @ Ordering::Is(_) | order @ Ordering::At(_) => self.order(order, arguments),
        }
    }

    fn compare_exchange(
        &mut self,
        order: Ordering,
        is_weak: bool,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Value> {
        let named = self.behind(&arguments[0])?;
        let expected = self.behind(&arguments[1])?;
        let new = self.value(&arguments[2])?;
        let (order, is_weak) = match order {
            Ordering::At(4) => (order, self.value(&arguments[3])?.constant() != Some(0)),
            order @ Ordering::Is(_) | order @ Ordering::At(_) => (order, is_weak),
        };
        let order = self.order(order, arguments)?;
        let ty = Rc::clone(named.ty());
        let old = self.load(&expected, LoadOrder::Plain, span)?;
        let old = self.raw(old, &ty, span)?;
        let old = self.state.settled(old, span);
        let new = self.raw(new, &ty, span)?;
        let was_straight = self.branch();
        let result = self.state.temporary(span);
        self.state.thread.locals[result].is_boolean = true;
        self.state.emit(StmtKind::Let(result, First::Constant(0)), span);
        self.state.open();
        let found = self.compared_and_swapped(&named, order, &old, &new, span);
        let found = found.and_then(|found| {
            let is = Expr::binary(Op::Eq, found.clone(), old.clone());
            self.state.emit(StmtKind::Assign(result, is.clone()), span);
            let value = self.typed(found, &ty);
            self.tell_found(&expected, value, is, span)
        });
        let strong = self.state.close();
        found?;
        if is_weak {
            self.state.open();
            let seen = self.load(&named, LoadOrder::Relaxed, span)?;
            let seen = self.raw(seen, &ty, span)?;
            let is_same = Expr::binary(Op::Eq, seen, old);
            self.state.emit(StmtKind::Assume(test(is_same, span)), span);
            self.state.emit(StmtKind::Assign(result, Expr::Const(0)), span);
            let failing = self.state.close();
            self.state.emit(StmtKind::Choose(vec![strong, failing]), span);
        } else {
            self.state.emit(StmtKind::Block(strong), span);
        }
        self.state.is_straight = was_straight;
        self.state.stable.insert(result);
        Some(Value::Number(Expr::Var(Operand::Local(result)), Integer::INT))
    }

    /// What was found instead of what was expected.
    fn tell_found(&mut self, expected: &Named, found: Value, is_same: Expr, span: Span) -> Option<()> {
        // A variable that only this thread sees holds the same again if they are the same.
        if matches!(expected, Named::Target(it) if matches!(it.base, Base::Variable(_))) {
            return self.store(expected, StoreOrder::Plain, found, span);
        }
        self.state.open();
        let stored = self.store(expected, StoreOrder::Plain, found, span);
        let block = self.state.close();
        self.state.emit(StmtKind::If(vec![(test(is_same.negated(), span), block)], Vec::new()), span);
        stored
    }

    fn compare_swap(&mut self, order: Order, wants_old: bool, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let named = self.behind(&arguments[0])?;
        let ty = Rc::clone(named.ty());
        let old = self.value(&arguments[1])?;
        let old = self.raw(old, &ty, span)?;
        let old = self.state.settled(old, span);
        let new = self.value(&arguments[2])?;
        let new = self.raw(new, &ty, span)?;
        let found = self.compared_and_swapped(&named, order, &old, &new, span)?;
        Some(if wants_old {
            self.typed(found, &ty)
        } else {
            Value::Number(Expr::binary(Op::Eq, found, old), Integer::INT)
        })
    }

    /// What was there.
    pub(super) fn compared_and_swapped(
        &mut self,
        named: &Named,
        order: Order,
        old: &Expr,
        new: &Expr,
        span: Span,
    ) -> Option<Expr> {
        self.at_each(named, span, &mut |it, target| {
            it.note_access(target, true);
            it.note_write(target);
            let place = it.place(target, span)?;
            let order = order.update();
            let at = place.clone();
            let kind = EffectKind::CompareExchange { place, order, old: old.clone(), new: new.clone() };
            let found = it.state.kept(kind, span);
            Some(it.is_set(target, (found, at), span))
        })
    }
}

fn n_arguments(atomic: Atomic, name: &str) -> usize {
    let with = |n: usize, order: Ordering| n + usize::from(matches!(order, Ordering::At(_)));
    match atomic {
        Atomic::Load(order) | Atomic::Clear(order) | Atomic::TestAndSet(order) => with(1, order),
        Atomic::Store(order) | Atomic::Swap(order) | Atomic::Fetch(_, _, order) => with(2, order),
        Atomic::Step(_, _, order) => with(1, order),
        Atomic::Await(Await { then: None, .. }) => 2,
        Atomic::Await(_) => 3,
        Atomic::AwaitByBits { is_exchange } => 3 + usize::from(is_exchange),
        Atomic::CompareExchange { .. } if name.starts_with("__atomic") => 6,
        Atomic::CompareExchange { order, .. } => with(3, order) + usize::from(matches!(order, Ordering::At(_))),
        Atomic::CompareSwap { .. } => 3,
        Atomic::Fence(order) => with(0, order),
        Atomic::ReadOnce => 1,
        Atomic::WriteOnce(_) => 2,
        Atomic::Nothing => usize::from(name.contains("signal")),
    }
}
