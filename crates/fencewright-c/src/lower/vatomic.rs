//! The atomics of libvsync: the width, what is done, and the order are parts of the name.
//!
//! ```text
//!   vatomic32_read_acq(a)            a load              vatomic32_get_add_rlx(a, v)      an update, the old value
//!   vatomicptr_write_rel(a, v)       a store             vatomic32_inc_get(a)             an update, the new value
//!   vatomic64_xchg(a, v)             a swap              vatomic32_await_eq_acq(a, v)     loads until it is so
//!   vatomic32_cmpxchg_rel(a, e, v)   the old value       vatomic32_await_ge_sub(a, c, v)  and changes it in one step
//! ```

use fencewright::program::BinaryOp as Op;

use super::atomics::{Atomic, Order, Ordering};
use super::awaits::{Await, Then};

/// What a function of libvsync does, from its name.
pub(super) fn vatomic(name: &str) -> Option<Atomic> {
    let rest = name.strip_prefix("vatomic")?;
    let (width, rest) = rest.split_once('_')?;
    if !matches!(width, "" | "8" | "16" | "32" | "64" | "ptr" | "sz") {
        return None;
    }
    let (what, order) = ordered(rest);
    let order = Ordering::Is(order);
    if let Some(rest) = what.strip_prefix("await_") {
        return awaited(rest).map(|(compare, then)| Atomic::Await(Await { order, compare, then }));
    }
    Some(match what {
        "read" => Atomic::Load(order),
        "write" | "init" => Atomic::Store(order),
        "xchg" => Atomic::Swap(order),
        "cmpxchg" => Atomic::CompareSwap { order: fixed(order), wants_old: true },
        "fence" if width.is_empty() => Atomic::Fence(order),
        "cpu_pause" if width.is_empty() => Atomic::Nothing,
        _ => return update(what, order),
    })
}

fn fixed(order: Ordering) -> Order {
    match order {
        Ordering::Is(order) => order,
        Ordering::At(_) => Order::SeqCst,
    }
}

/// The order at the end of a name.
fn ordered(rest: &str) -> (&str, Order) {
    let orders = [("_acq", Order::Acquire), ("_rel", Order::Release), ("_rlx", Order::Relaxed)];
    let found = orders.into_iter().find_map(|(end, order)| Some((rest.strip_suffix(end)?, order)));
    found.unwrap_or((rest, Order::SeqCst))
}

fn update(what: &str, order: Ordering) -> Option<Atomic> {
    let (op, wants_new) = match (what.strip_prefix("get_"), what.strip_suffix("_get")) {
        (Some(op), _) => (op, false),
        (None, Some(op)) => (op, true),
        (None, None) => (what, false),
    };
    match op {
        "inc" => Some(Atomic::Step(Op::Add, wants_new, order)),
        "dec" => Some(Atomic::Step(Op::Sub, wants_new, order)),
        _ => Some(Atomic::Fetch(operator(op)?, wants_new, order)),
    }
}

fn operator(name: &str) -> Option<Op> {
    Some(match name {
        "add" => Op::Add,
        "sub" => Op::Sub,
        "or" => Op::BitOr,
        "and" => Op::BitAnd,
        "xor" => Op::BitXor,
        _ => return None,
    })
}

/// `eq`, `ge_sub`, `eq_set`
fn awaited(rest: &str) -> Option<(Op, Option<Then>)> {
    let (compare, then) = match rest.split_once('_') {
        Some((compare, "set")) => (compare, Some(Then::Set)),
        Some((compare, op)) => (compare, Some(Then::Fetch(operator(op)?))),
        None => (rest, None),
    };
    Some((compared(compare)?, then))
}

fn compared(name: &str) -> Option<Op> {
    Some(match name {
        "eq" => Op::Eq,
        "neq" => Op::Ne,
        "lt" => Op::Lt,
        "le" => Op::Le,
        "gt" => Op::Gt,
        "ge" => Op::Ge,
        _ => return None,
    })
}
