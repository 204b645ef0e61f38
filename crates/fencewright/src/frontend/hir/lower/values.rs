//! Expressions: every effect in them is a step, from left to right.

use crate::frontend::hir::{
    Condition, Effect, EffectKind, Expr as Tree, LocalId, Operand, Place as TreePlace, Select, Update, UpdateOrder,
    tree,
};
use crate::program::{BinaryOp, Domain, Expr, FenceKind, Op, Order, Place, RegisterId, RmwVar};
use crate::source::Span;
use crate::watch::heed;

use super::walk::Walk;

impl Walk<'_> {
    /// The value of an expression over registers; its effects go before the cursor.
    pub(super) fn value(&mut self, expr: &Tree) -> Expr<RegisterId> {
        heed(2);
        match expr {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Var(Operand::Local(local)) => Expr::Var(self.register(*local)),
            Expr::Var(Operand::Effect(effect)) => self.effect(effect),
            Expr::Unary(op, operand) => Expr::unary(*op, self.value(operand)),
            Expr::Binary(op, left, right) => {
                let left = self.value(left);
                Expr::binary(*op, left, self.value(right))
            }
        }
    }

    /// The values that a place may hold.
    pub(super) fn domain_of(&self, place: &TreePlace) -> Domain {
        tree::domain_of(self.memory, place)
    }

    /// A place over registers; the effects of its index go before the cursor.
    pub(super) fn place(&mut self, place: &TreePlace) -> Place {
        match place {
            TreePlace::Fixed(location) => Place::Fixed(*location),
            TreePlace::Cell(array, index) => Place::Cell(*array, self.value(index)),
        }
    }

    /// Does something for its value.
    pub(super) fn effect(&mut self, effect: &Effect) -> Expr<RegisterId> {
        let span = effect.span;
        match &effect.kind {
            EffectKind::Load(place, order) => {
                let domain = self.domain_of(place);
                let place = self.place(place);
                let register = self.temporary(domain, span);
                let order = self.ordered(&place, order.order());
                self.ordered_step((Op::Load(register, place), order), span);
                Expr::Var(register)
            }
            EffectKind::Any(domain, lo, hi) => {
                let register = self.temporary(*domain, span);
                self.step(Op::Havoc(register, *lo, *hi), span);
                Expr::Var(register)
            }
            EffectKind::Update(place, order, update, argument) => {
                let into = Into { register: None, domain: self.domain_of(place) };
                self.update((place, *order), (*update, argument), Some(into), span)
            }
            EffectKind::CompareExchange { place, order, old, new } => {
                let into = Into { register: None, domain: self.domain_of(place) };
                self.compare_exchange((place, *order), (old, new), into, span)
            }
            EffectKind::Select(select) => self.select(select, None, span),
            EffectKind::Call(call) => {
                self.call(call);
                Expr::Var(self.register(call.result.expect("a call for its value has one")))
            }
            EffectKind::Decide(condition) => self.decide(condition, None),
        }
    }

    /// Gives a register the value of an expression; without a step between where that changes nothing.
    pub(super) fn assign(&mut self, local: LocalId, expr: &Tree, statement: Span) {
        let register = self.register(local);
        let declared = self.cfg.slots[register].domain;
        let value = match expr {
            Expr::Var(Operand::Effect(effect)) => match &effect.kind {
                EffectKind::Any(_, lo, hi) if declared.is_none_or(|it| it.contains(*lo) && it.contains(*hi)) => {
                    return self.step(Op::Havoc(register, *lo, *hi), statement);
                }
                EffectKind::Load(place, order) if declared.is_none_or(|it| it == self.domain_of(place)) => {
                    let place = self.place(place);
                    let order = self.ordered(&place, order.order());
                    return self.ordered_step((Op::Load(register, place), order), effect.span);
                }
                EffectKind::Update(place, order, update, argument) => {
                    let domain = self.domain_of(place);
                    let register = declared.is_none_or(|it| it == domain).then_some(register);
                    let into = Some(Into { register, domain });
                    self.update((place, *order), (*update, argument), into, effect.span)
                }
                EffectKind::CompareExchange { place, order, old, new } => {
                    let domain = self.domain_of(place);
                    let register = declared.is_none_or(|it| it == domain).then_some(register);
                    self.compare_exchange((place, *order), (old, new), Into { register, domain }, effect.span)
                }
                EffectKind::Select(select) => return drop(self.select(select, Some(register), statement)),
                EffectKind::Decide(condition) => return drop(self.decide(condition, Some(register))),
                EffectKind::Any(..) | EffectKind::Load(..) | EffectKind::Call(_) => self.effect(effect),
            },
            Expr::Var(Operand::Local(_)) | Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) => self.value(expr),
        };
        // An update or a call may have left its value in the register itself.
        if value != Expr::Var(register) {
            self.step(Op::Assign(register, value), statement);
        }
    }

    /// Changes a place in one step; what it held goes to a register, if it is wanted.
    pub(super) fn update(
        &mut self,
        (place, order): (&TreePlace, UpdateOrder),
        (update, argument): (Update, &Tree),
        into: Option<Into>,
        span: Span,
    ) -> Expr<RegisterId> {
        assert!(!self.is_atomic, "an atomic block has no updates");
        let place = self.place(place);
        let argument = over_rmw(&self.value(argument));
        let write = match update {
            Update::Swap => argument,
            Update::Fetch(op) => Expr::binary(op, Expr::Var(RmwVar::Old), argument),
            Update::Wrapping(op, mask) => {
                let whole = Expr::binary(op, Expr::Var(RmwVar::Old), argument);
                Expr::binary(BinaryOp::BitAnd, whole, Expr::Const(mask))
            }
        };
        let into = into.map(|it| it.register.unwrap_or_else(|| self.temporary(it.domain, span)));
        self.fence(order.before(), span);
        self.ordered_step((Op::Rmw { place, guard: Expr::TRUE, write: Some(write), into }, order.order()), span);
        into.map_or(Expr::Const(0), Expr::Var)
    }

    /// What a place holds, which is changed in the same step if it is the old value: one edge for each outcome.
    fn compare_exchange(
        &mut self,
        (place, order): (&TreePlace, UpdateOrder),
        (old, new): (&Tree, &Tree),
        into: Into,
        span: Span,
    ) -> Expr<RegisterId> {
        assert!(!self.is_atomic, "an atomic block has no updates");
        let place = self.place(place);
        let old = over_rmw(&self.value(old));
        let new = over_rmw(&self.value(new));
        let register = into.register.unwrap_or_else(|| self.temporary(into.domain, span));
        self.fence(order.before(), span);
        let after = self.cfg.node();
        for (op, write) in [(BinaryOp::Eq, Some(new)), (BinaryOp::Ne, None)] {
            let guard = Expr::binary(op, Expr::Var(RmwVar::Old), old.clone());
            let op = Op::Rmw { place: place.clone(), guard, write, into: Some(register) };
            self.ordered_arc((op, order.order()), after, span);
        }
        self.cursor = after;
        Expr::Var(register)
    }

    /// One of two values, in a register.
    fn select(&mut self, select: &Select, into: Option<RegisterId>, span: Span) -> Expr<RegisterId> {
        let result = into.unwrap_or_else(|| self.inferred(select.is_boolean, span));
        let (yes, no, after) = (self.cfg.node(), self.cfg.node(), self.cfg.node());
        self.condition(&select.condition, Some(yes), Some(no));
        for (node, value) in [(yes, &select.then), (no, &select.otherwise)] {
            self.cursor = node;
            let value = self.value(value);
            self.step(Op::Assign(result, value), span);
            self.merge(after);
        }
        Expr::Var(result)
    }

    /// A boolean that takes several steps to find out.
    fn decide(&mut self, condition: &Condition, into: Option<RegisterId>) -> Expr<RegisterId> {
        let result = into.unwrap_or_else(|| self.temporary(Domain::Bool, condition.span));
        let (yes, no, after) = (self.cfg.node(), self.cfg.node(), self.cfg.node());
        self.condition(condition, Some(yes), Some(no));
        for (node, value) in [(yes, 1), (no, 0)] {
            self.cursor = node;
            self.step(Op::Assign(result, Expr::Const(value)), condition.span);
            self.merge(after);
        }
        Expr::Var(result)
    }

    /// A fence that an order asks for.
    pub(super) fn fence(&mut self, kind: Option<FenceKind>, span: Span) {
        if let Some(kind) = kind.filter(|_| !self.is_atomic) {
            self.ordered_step((Op::Fence(kind), Order::Relaxed), span);
        }
    }

    /// What models of the language are told of an access.
    pub(super) fn ordered(&self, place: &Place, order: Order) -> Order {
        if self.memory.is_plain(place) { Order::Plain } else { order }
    }
}

/// Where the old value of an update goes: to a register that holds it, or to a new one.
#[derive(Clone, Copy)]
pub(super) struct Into {
    register: Option<RegisterId>,
    domain: Domain,
}

/// An expression in an update.
pub(super) fn over_rmw(expr: &Expr<RegisterId>) -> Expr<RmwVar> {
    expr.map(&mut |register| RmwVar::Register(*register))
}
