//! Atomic accesses.

use fencewright::frontend::hir::{
    Condition, ConditionKind, EffectKind, Expr, FenceOrder, LoadOrder, Stmt, StmtKind, StoreOrder, Update, UpdateOrder,
};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::{self, Method};
use crate::types::{RESULT, Type};
use crate::value::{Enum, Order, Place, Value};

use super::Lowering;
use super::access::{reference, typed};
use super::joins::integer;
use super::state::{register, test};

impl Order {
    fn load(self) -> Option<LoadOrder> {
        Some(match self {
            Self::Relaxed => LoadOrder::Relaxed,
            Self::Acquire => LoadOrder::Acquire,
            Self::SeqCst => LoadOrder::SeqCst,
            Self::Release | Self::AcqRel => return None,
        })
    }

    fn store(self) -> Option<StoreOrder> {
        Some(match self {
            Self::Relaxed => StoreOrder::Relaxed,
            Self::Release => StoreOrder::Release,
            Self::SeqCst => StoreOrder::SeqCst,
            Self::Acquire | Self::AcqRel => return None,
        })
    }

    fn update(self) -> UpdateOrder {
        match self {
            Self::Relaxed => UpdateOrder::Relaxed,
            Self::Acquire => UpdateOrder::Acquire,
            Self::Release => UpdateOrder::Release,
            Self::AcqRel => UpdateOrder::AcqRel,
            Self::SeqCst => UpdateOrder::SeqCst,
        }
    }
}

/// Which argument of an atomic method is its order.
pub(crate) fn order_argument(name: &str) -> Option<usize> {
    Some(match name {
        "load" => 0,
        "store" | "swap" => 1,
        "compare_and_swap" => 2,
        "compare_exchange" | "compare_exchange_weak" => 2,
        "fetch_update" => 0,
        "fetch_max" | "fetch_min" => 1,
        name if fetch(name).is_some() => 1,
        _ => return None,
    })
}

fn fetch(name: &str) -> Option<Op> {
    Some(match name {
        "fetch_add" => Op::Add,
        "fetch_sub" => Op::Sub,
        "fetch_or" => Op::BitOr,
        "fetch_and" => Op::BitAnd,
        "fetch_xor" => Op::BitXor,
        _ => return None,
    })
}

impl Lowering<'_> {
    /// A method of an atomic.
    pub(super) fn atomic_method(&mut self, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        let ty = self.type_at(place);
        let place = place.seen_as(ty.clone());
        let name = it.name.text.as_str();
        let known = order_argument(name).is_some()
            || matches!(name, "get_mut" | "into_inner" | "as_ptr" | "with_mut" | "fetch_max" | "fetch_min");
        if !known {
            return Some(None);
        }
        let values = self.values(&it.arguments)?;
        if values.iter().any(Value::is_never) {
            return Some(Some(Value::Never));
        }
        let inner = ty.inner().clone();
        let n = n_arguments(name);
        if values.len() != n {
            return self.refuse(
                span,
                format!("`{name}` has {n} parameters, found {}", values.len()),
                "see its page in std",
            );
        }
        self.atomic_access((&place, &inner), name, &values, span).map(Some)
    }

    fn atomic_access(
        &mut self,
        (place, inner): (&Place, &Type),
        name: &str,
        values: &[Value],
        span: Span,
    ) -> Option<Value> {
        let order = |it: &mut Self, at: usize| it.order(&values[at], span);
        Some(match name {
            "load" => {
                let order = order(self, 0)?;
                let Some(order) = order.load() else { return self.no_order("load", order, span) };
                self.load(place, order, span)?.open()
            }
            "store" => {
                let order = order(self, 1)?;
                let Some(order) = order.store() else { return self.no_order("store", order, span) };
                self.store(place, retype(&values[0], inner), order, span)?;
                Value::UNIT
            }
            "swap" => {
                let order = order(self, 1)?;
                let raw = self.raw(values[0].clone(), span)?;
                typed(self.update(place, order, Update::Swap, raw, span)?, inner)
            }
            "fetch_update" => {
                let (order, failure) = (order(self, 0)?, order(self, 1)?);
                self.fetch_update(place, (order, failure), &values[2], span)?
            }
            "get_mut" | "as_ptr" => reference(place.seen_as(inner.clone())),
            "into_inner" => self.load(place, LoadOrder::Plain, span)?.open(),
            "with_mut" => self.applied(&values[0], vec![reference(place.seen_as(inner.clone()))], span)?,
            _ => match fetch(name) {
                Some(op) => {
                    let order = order(self, 1)?;
                    self.fetch(place, (op, order), values[0].clone(), span)?
                }
                None => self.compared_access((place, inner), name, values, span)?,
            },
        })
    }

    /// What is done by comparing: `compare_exchange`, `fetch_max`, …
    fn compared_access(
        &mut self,
        (place, inner): (&Place, &Type),
        name: &str,
        values: &[Value],
        span: Span,
    ) -> Option<Value> {
        let first = self.raw(values[0].clone(), span)?;
        let first = self.state.settled(first, span);
        if matches!(name, "fetch_max" | "fetch_min") {
            let order = self.order(&values[1], span)?;
            let compare = if name == "fetch_max" { Op::Ge } else { Op::Le };
            let choose =
                |seen: &Expr| (Expr::binary(compare, seen.clone(), first.clone()), seen.clone(), first.clone());
            return Some(typed(self.by_swapping(place, order, &choose, span)?, inner));
        }
        let order = self.order(&values[2], span)?;
        let new = self.raw(values[1].clone(), span)?;
        if name == "compare_and_swap" {
            let new = self.state.settled(new, span);
            return Some(typed(self.swapped(place, order, (&first, &new), span)?, inner));
        }
        let failure = self.order(&values[3], span)?;
        if failure.load().is_none() {
            return self.no_order("load that failed", failure, span);
        }
        self.compare_exchange(place, (order, name.ends_with("weak")), (first, new), span)
    }

    fn no_order(&mut self, what: &str, order: Order, span: Span) -> Option<Value> {
        let message = format!("there is no such thing as a {what} with `{order:?}`: it panics");
        self.refuse(span, message, "use an order that it has")
    }

    pub(super) fn order(&mut self, value: &Value, span: Span) -> Option<Order> {
        match value {
            Value::Order(order) => Some(*order),
            _ => {
                self.refuse(span, "this memory order is not known here", "use a constant, such as `Ordering::Acquire`")
            }
        }
    }

    fn update(&mut self, place: &Place, order: Order, update: Update, raw: Expr, span: Span) -> Option<Expr> {
        let raw = self.state.settled(raw, span);
        self.at_each(place, span, &mut |it, place| {
            let cell = it.cell(place, span)?;
            Some(it.state.kept(EffectKind::Update(cell, order.update(), update, raw.clone()), span))
        })
    }

    fn fetch(&mut self, place: &Place, (op, order): (Op, Order), by: Value, span: Span) -> Option<Value> {
        let inner = self.type_at(place).inner().clone();
        let by = self.raw(by, span)?;
        let wraps = matches!(op, Op::Add | Op::Sub);
        if inner == Type::Bool {
            let op = match op {
                Op::BitAnd => Op::And,
                Op::BitOr => Op::Or,
                Op::BitXor => Op::Ne,
                _ => return self.refuse(span, "arithmetic on a truth value", "use an integer"),
            };
            let old = self.update(place, order, Update::Fetch(op), by, span)?;
            return Some(Value::bool(old));
        }
        let by = self.state.settled(by, span);
        match integer(&inner).filter(|it| wraps && it.bits <= 16) {
            None => {
                let old = self.update(place, order, Update::Fetch(op), by.clone(), span)?;
                if op == Op::Sub && integer(&inner).is_some_and(|it| !it.is_signed) {
                    // To go round below zero is told like an overflow: who counts down so far has lost count.
                    self.asserted(Expr::binary(Op::Ge, old.clone(), by), span);
                }
                Some(typed(old, &inner))
            }
            Some(it) => {
                // What wraps is written out: the new value is told from the old one by whether it fits.
                let (least, greatest) = it.bounds();
                let size = greatest - least + 1;
                let edge = if op == Op::Add { greatest } else { least };
                self.wrapping_fetch(place, order, (op, by), (edge, size), span).map(|old| typed(old, &inner))
            }
        }
    }

    /// An update that goes round: one more than the greatest is the least.
    fn wrapping_fetch(
        &mut self,
        place: &Place,
        order: Order,
        (op, by): (Op, Expr),
        (edge, size): (i64, i64),
        span: Span,
    ) -> Option<Expr> {
        let Expr::Const(by) = by else {
            return self.refuse(span, "it is not known by how much a narrow integer changes", "use a constant");
        };
        let step = if op == Op::Add { by } else { -by };
        let compare = if step > 0 { Op::Le } else { Op::Ge };
        let round = -step.signum() * size;
        let choose = |seen: &Expr| {
            let by_step = Expr::binary(Op::Add, seen.clone(), Expr::Const(step));
            let by_round = Expr::binary(Op::Add, seen.clone(), Expr::Const(step + round));
            (Expr::binary(compare, by_step.clone(), Expr::Const(edge)), by_step, by_round)
        };
        self.by_swapping(place, order, &choose, span)
    }

    /// An update that is not one of the machine's: a loop of comparisons, as processors have it. What it held; the new
    /// value is one of two, as a condition on the old one says.
    fn by_swapping(
        &mut self,
        place: &Place,
        order: Order,
        choose: &dyn Fn(&Expr) -> (Expr, Expr, Expr),
        span: Span,
    ) -> Option<Expr> {
        let result = self.state.hoisted(None, false, span);
        self.at_each(place, span, &mut |it, place| {
            let cell = it.cell(place, span)?;
            it.state.open();
            let seen = it.state.kept(EffectKind::Load(cell.clone(), LoadOrder::Relaxed), span);
            let (condition, then, otherwise) = choose(&seen);
            let new = it.state.hoisted(None, false, span);
            let (first, second) = (vec![assign(new, then, span)], vec![assign(new, otherwise, span)]);
            it.state.emit(StmtKind::If(vec![(test(condition, span), first)], second), span);
            let (order, old) = (order.update(), seen.clone());
            let swap = EffectKind::CompareExchange { place: cell, order, old, new: register(new) };
            let found = it.state.kept(swap, span);
            it.state.emit(StmtKind::Assign(result, found.clone()), span);
            let is_done = Expr::binary(Op::Eq, found, seen);
            let leave = vec![Stmt { span, kind: StmtKind::Break }];
            it.state.emit(StmtKind::If(vec![(test(is_done, span), leave)], Vec::new()), span);
            let block = it.state.close();
            it.state.emit(StmtKind::Loop(block), span);
            Some(Expr::Const(0))
        })?;
        Some(self.state.settled(register(result), span))
    }

    /// `Ok` of what it held if that was the old value, otherwise `Err` of it.
    fn compare_exchange(
        &mut self,
        place: &Place,
        (order, is_weak): (Order, bool),
        (old, new): (Expr, Expr),
        span: Span,
    ) -> Option<Value> {
        let inner = self.type_at(place).inner().clone();
        let new = self.state.settled(new, span);
        if !is_weak {
            let found = self.swapped(place, order, (&old, &new), span)?;
            let failed = Expr::binary(Op::Ne, found.clone(), old);
            return Some(result(failed, &typed(found, &inner)));
        }
        let (value, failed) = (self.state.hoisted(None, false, span), self.state.hoisted(None, true, span));
        // There are two ways; one of them is to fail for no reason.
        let (block, ()) = self.branch(|it| {
            let found = it.swapped(place, order, (&old, &new), span)?;
            it.state.emit(StmtKind::Assign(value, found.clone()), span);
            let is_other = Expr::binary(Op::Ne, found, old.clone());
            it.state.emit(StmtKind::Assign(failed, is_other), span);
            Some(())
        })?;
        let (spurious, ()) = self.branch(|it| {
            let raw = it.at_each(place, span, &mut |it, place| {
                let cell = it.cell(place, span)?;
                Some(it.state.kept(EffectKind::Load(cell, LoadOrder::Relaxed), span))
            })?;
            it.state.emit(StmtKind::Assign(value, raw), span);
            it.state.emit(StmtKind::Assign(failed, Expr::Const(1)), span);
            Some(())
        })?;
        let either = Condition { span, kind: ConditionKind::Either };
        self.state.emit(StmtKind::If(vec![(either, block)], spurious), span);
        let found = self.state.settled(register(value), span);
        let failed = self.state.settled(register(failed), span);
        Some(result(failed, &typed(found, &inner)))
    }

    fn swapped(&mut self, place: &Place, order: Order, (old, new): (&Expr, &Expr), span: Span) -> Option<Expr> {
        self.at_each(place, span, &mut |it, place| {
            let place = it.cell(place, span)?;
            let (old, new) = (old.clone(), new.clone());
            Some(it.state.kept(EffectKind::CompareExchange { place, order: order.update(), old, new }, span))
        })
    }

    /// A loop around a comparison, as std has it.
    fn fetch_update(&mut self, place: &Place, orders: (Order, Order), closure: &Value, span: Span) -> Option<Value> {
        let inner = self.type_at(place).inner().clone();
        let (value, failed) = (self.state.hoisted(None, false, span), self.state.hoisted(None, true, span));
        let Some(load) = orders.1.load() else {
            return self.no_order("load", orders.1, span);
        };
        self.state.n_loops += 1;
        let done = self.branch(|it| {
            let seen = it.load(place, load, span)?.open();
            let raw = it.raw(seen.clone(), span)?;
            it.state.emit(StmtKind::Assign(value, raw.clone()), span);
            let answer = it.applied(closure, vec![seen], span)?;
            let Value::Enum(answer) = it.settled(answer, span) else {
                return it.refuse(span, "the closure of `fetch_update` gives no option", "give `Some` or `None`");
            };
            let new = match answer.variants[1].as_ref().and_then(|it| it.first()) {
                Some(new) => it.raw(new.clone(), span)?,
                None => Expr::Const(0),
            };
            let leave = |failed_by| {
                let give_up = assign(failed, Expr::Const(failed_by), span);
                vec![give_up, Stmt { span, kind: StmtKind::Break }]
            };
            let is_none = Expr::binary(Op::Eq, answer.tag, Expr::Const(0));
            it.state.emit(StmtKind::If(vec![(test(is_none, span), leave(1))], Vec::new()), span);
            let found = it.swapped(place, orders.0, (&raw, &new), span)?;
            let is_done = Expr::binary(Op::Eq, found, raw);
            it.state.emit(StmtKind::If(vec![(test(is_done, span), leave(0))], Vec::new()), span);
            Some(())
        });
        self.state.n_loops -= 1;
        let (block, ()) = done?;
        self.state.emit(StmtKind::Loop(block), span);
        let found = self.state.settled(register(value), span);
        let failed = self.state.settled(register(failed), span);
        Some(result(failed, &typed(found, &inner)))
    }

    /// `fence(order)`
    pub(super) fn fence(&mut self, order: Order, span: Span) -> Option<Value> {
        let fence = match order {
            Order::Relaxed => return self.refuse(span, "a fence with `Relaxed` panics", "use `Acquire` or `Release`"),
            Order::Acquire => FenceOrder::Acquire,
            Order::Release => FenceOrder::Release,
            Order::AcqRel => FenceOrder::AcqRel,
            Order::SeqCst => FenceOrder::SeqCst,
        };
        if !self.knows_memory() {
            self.leave_alone();
            self.state.emit(StmtKind::OrderedFence(fence), span);
        }
        Some(Value::UNIT)
    }
}

fn assign(local: fencewright::frontend::hir::LocalId, expr: Expr, span: Span) -> Stmt {
    Stmt { span, kind: StmtKind::Assign(local, expr) }
}

fn retype(value: &Value, ty: &Type) -> Value {
    super::expressions::retyped(value.clone(), ty)
}

fn n_arguments(name: &str) -> usize {
    match name {
        "load" | "with_mut" => 1,
        "get_mut" | "into_inner" | "as_ptr" => 0,
        "compare_exchange" | "compare_exchange_weak" => 4,
        "fetch_update" | "compare_and_swap" => 3,
        _ => 2,
    }
}

/// `Err(value)` if that holds, otherwise `Ok(value)`.
fn result(failed: Expr, value: &Value) -> Value {
    let variants = vec![Some(vec![value.clone()]), Some(vec![value.clone()])];
    Value::Enum(Box::new(Enum { number: RESULT, tag: failed, variants, sizes: vec![1, 1] }))
}

/// The order that an expression names, for whoever changes it in the text.
pub(crate) fn order_path(it: &ast::Expr) -> Option<&ast::Path> {
    match &it.kind {
        ast::ExprKind::Path(path) if Order::named(path.last()).is_some() => Some(path),
        _ => None,
    }
}
