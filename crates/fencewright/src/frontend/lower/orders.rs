//! Orders of the language: `load(x, acquire)`, `store(x, 1, release)`, `cas(x, 0, 1, relaxed)`, `fence(acquire)`.

use crate::frontend::ast::{self, ExprKind};
use crate::frontend::hir::{self, Effect, EffectKind, FenceOrder, LoadOrder, Place, StoreOrder, UpdateOrder};
use crate::program::Order;
use crate::source::{Diagnostic, Span};

use super::body::{Body, Memory, TargetRef};
use super::typed::{Ty, Typed, wrong_count};
use super::updates::Call;

use super::expressions::Pure;

/// What has an order: its name in the text, and which orders it may have.
struct Kind<'n> {
    name: &'n str,
    may_be: &'static [Order],
}

const LOADS: &[Order] = &[Order::Relaxed, Order::Acquire, Order::SeqCst];
const STORES: &[Order] = &[Order::Relaxed, Order::Release, Order::SeqCst];
const UPDATES: &[Order] = &[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

/// The names of orders that may be said.
fn listed(orders: &[Order]) -> String {
    let names: Vec<String> = orders.iter().map(|it| format!("`{}`", it.name())).collect();
    names.join(", ")
}

/// What a fence of the language is, by its order.
pub(super) fn fence(order: Order) -> Option<FenceOrder> {
    match order {
        Order::Acquire => Some(FenceOrder::Acquire),
        Order::Release => Some(FenceOrder::Release),
        Order::AcqRel => Some(FenceOrder::AcqRel),
        Order::SeqCst => Some(FenceOrder::SeqCst),
        Order::Plain | Order::Relaxed => None,
    }
}

impl Body<'_, '_> {
    /// Whether a call is of this built-in access; a function of that name comes first.
    pub(super) fn is_access(&self, name: &ast::Name, access: &str) -> bool {
        name.text == access && self.globals.get(access).is_none()
    }

    /// `load(x, acquire)`
    pub(super) fn ordered_load(&mut self, (name, arguments): Call<'_>, span: Span) -> Pure {
        let [variable, order] = arguments else {
            self.refuse_count(name, arguments.len(), "load(x, acquire)");
            return Typed::wrong(span);
        };
        let order = match self.order(&Kind { name: "load", may_be: LOADS }, order) {
            Some(Order::Relaxed) => Some(LoadOrder::Relaxed),
            Some(Order::Acquire) => Some(LoadOrder::Acquire),
            Some(Order::SeqCst) => Some(LoadOrder::SeqCst),
            Some(Order::Plain | Order::Release | Order::AcqRel) | None => None,
        };
        let place = self.accessed(name, variable, span);
        let (Some(order), Some(place)) = (order, place) else { return Typed::wrong(span) };
        let ty = Ty::of(self.unit.domain_of(&place));
        self.foresee(span);
        let effect = Effect { span, kind: EffectKind::Load(place, order) };
        Typed::new(hir::Expr::from(effect), ty, span)
    }

    /// `store(x, e, release);`
    pub(super) fn ordered_store(&mut self, (name, arguments): Call<'_>, span: Span) -> Option<hir::StmtKind> {
        let [variable, value, order] = arguments else {
            self.refuse_count(name, arguments.len(), "store(x, 1, release)");
            return None;
        };
        let order = match self.order(&Kind { name: "store", may_be: STORES }, order) {
            Some(Order::Relaxed) => Some(StoreOrder::Relaxed),
            Some(Order::Release) => Some(StoreOrder::Release),
            Some(Order::SeqCst) => Some(StoreOrder::SeqCst),
            Some(Order::Plain | Order::Acquire | Order::AcqRel) | None => None,
        };
        let place = self.accessed(name, variable, span)?;
        let domain = self.unit.domain_of(&place);
        let value = self.value_of(value, domain);
        self.warn_outside(Some(domain), &value);
        // The fences that go with it are steps, too.
        (0..3).for_each(|_| self.foresee(span));
        (value.ty != Ty::Unknown).then_some(hir::StmtKind::Store(place, order?, value.expr))
    }

    /// The arguments of an update without its order, if there is one more than it needs.
    pub(super) fn update_order<'e>(
        &mut self,
        (name, arguments): Call<'e>,
        n: usize,
    ) -> Option<(&'e [ast::Expr], UpdateOrder)> {
        if arguments.len() == n {
            return Some((arguments, UpdateOrder::Plain));
        }
        if arguments.len() != n + 1 {
            wrong_count(self.log, name, arguments.len(), n);
            return None;
        }
        let order = match self.order(&Kind { name: &name.text, may_be: UPDATES }, &arguments[n])? {
            Order::Relaxed => UpdateOrder::Relaxed,
            Order::Acquire => UpdateOrder::Acquire,
            Order::Release => UpdateOrder::Release,
            Order::AcqRel => UpdateOrder::AcqRel,
            Order::SeqCst => UpdateOrder::SeqCst,
            Order::Plain => return None,
        };
        self.foresee(name.span);
        Some((&arguments[..n], order))
    }

    fn refuse_count(&mut self, name: &ast::Name, found: usize, form: &str) {
        let arguments = if found == 1 { "argument" } else { "arguments" };
        let message = format!("`{}` does not take {found} {arguments}", name.text);
        self.log.error(name.span, message, format!("say where and in which order: `{form}`"));
    }

    /// The order that an argument names, if it may stand there.
    fn order(&mut self, kind: &Kind<'_>, argument: &ast::Expr) -> Option<Order> {
        let said = if let ExprKind::Name(name) = &argument.kind {
            Order::ALL.into_iter().find(|it| it.name() == name.text)
        } else {
            None
        };
        let Kind { name, may_be } = kind;
        match said.filter(|it| *it != Order::Plain) {
            Some(order) if may_be.contains(&order) => Some(order),
            Some(order) => {
                let message = format!("`{name}` cannot be `{}`", order.name());
                self.log.error(argument.span, message, format!("its order is one of {}", listed(may_be)));
                None
            }
            None => {
                let text = self.log.text(argument.span);
                let message = format!("`{text}` is no memory order");
                self.log.error(argument.span, message, format!("the order of `{name}` is one of {}", listed(may_be)));
                None
            }
        }
    }

    /// The atomic place that an access with an order names.
    fn accessed(&mut self, access: &ast::Name, variable: &ast::Expr, span: Span) -> Option<Place> {
        if self.is_atomic {
            self.refuse_in_atomic(&access.text, span);
            return None;
        }
        let Some(target) = TargetRef::of(variable) else {
            self.refuse_accessed(access, variable);
            return None;
        };
        match self.resolve(target.name).memory() {
            Memory::Shared(shared) => {
                let place = self.place(shared, &target)?;
                if self.globals.is_constant(self.unit.memory(), &place) {
                    let message = format!("`{}` is a constant array and has no memory order", target.name.text);
                    self.log.error(variable.span, message, format!("use `{}` by itself", self.log.text(variable.span)));
                    return None;
                }
                self.is_atomic_place(access, &target, &place).then_some(place)
            }
            Memory::Wrong => None,
            Memory::Other => {
                self.refuse_accessed(access, variable);
                None
            }
        }
    }

    fn refuse_accessed(&mut self, access: &ast::Name, variable: &ast::Expr) {
        let message = format!("`{}` needs a shared variable or array cell", access.text);
        let help = format!("`{}` is neither; only shared memory has an order", self.log.text(variable.span));
        self.log.error(variable.span, message, help);
    }

    /// Whether a place is atomic; it is reported if it is not.
    pub(super) fn is_atomic_place(&mut self, access: &ast::Name, target: &TargetRef<'_>, place: &Place) -> bool {
        if !self.unit.is_plain(place) {
            return true;
        }
        let text = &target.name.text;
        let message = format!("`{text}` is plain data, and `{}` is atomic", access.text);
        let declared = self.globals.span(text);
        let mut error = Diagnostic::error(target.span, message).with_label("not atomic");
        if let Some(span) = declared {
            error = error.and_at(span, "declared `plain` here");
        }
        let help = format!("write `{text} = …;` and `… = {text}`, or declare it without `plain`");
        self.log.say(error.with_help(help));
        false
    }
}
