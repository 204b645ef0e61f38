//! Atomic updates: `cas`, `cmpxchg`, `swap`, `fetch_add`, ….

use crate::frontend::ast;
use crate::frontend::hir::{self, ConditionKind, Effect, EffectKind, Place, Update, UpdateOrder};
use crate::program::{BinaryOp, Domain};
use crate::source::Span;

use super::body::{Body, Memory, TargetRef};
use super::typed::Ty;

/// The update of this name, `cas` aside.
pub(super) fn by_name(name: &str) -> Option<Update> {
    Some(match name {
        "swap" => Update::Swap,
        "fetch_add" => Update::Fetch(BinaryOp::Add),
        "fetch_sub" => Update::Fetch(BinaryOp::Sub),
        "fetch_and" => Update::Fetch(BinaryOp::BitAnd),
        "fetch_or" => Update::Fetch(BinaryOp::BitOr),
        "fetch_xor" => Update::Fetch(BinaryOp::BitXor),
        "fetch_min" => Update::Fetch(BinaryOp::Min),
        "fetch_max" => Update::Fetch(BinaryOp::Max),
        _ => return None,
    })
}

/// A name and its arguments.
pub(super) type Call<'e> = (&'e ast::Name, &'e [ast::Expr]);

/// Where a comparison takes place and in which order, the old value, the new one.
type CasParts = ((Place, UpdateOrder), hir::Expr, hir::Expr);

impl Body<'_, '_> {
    /// `swap(x, v)`, `fetch_add(x, v)`, …: what gives the old value, and its domain; nothing if there is a mistake.
    pub(super) fn update(
        &mut self,
        update: Update,
        (name, arguments): Call<'_>,
        span: Span,
    ) -> Option<(Effect, Domain)> {
        let (arguments, order) = self.update_order((name, arguments), 2)?;
        let [variable, argument] = arguments else { return None };
        let (place, domain) = self.updated(name, variable, span)?;
        if let (Update::Fetch(_), Domain::Bool) = (update, domain) {
            let message = format!("`{}` works on integers", name.text);
            self.log.error(variable.span, message, "use `swap` or `cas` for a boolean");
            return None;
        }
        let argument = self.value_of(argument, domain);
        if argument.ty == Ty::Unknown {
            return None;
        }
        match update {
            Update::Swap => self.warn_outside(Some(domain), &argument),
            Update::Fetch(_) | Update::Wrapping(..) => {}
        }
        self.foresee(span);
        let kind = EffectKind::Update(place, order, update, argument.expr);
        Some((Effect { span, kind }, domain))
    }

    /// `cmpxchg(x, old, new)`: what gives the old value, and its domain; nothing if there is a mistake.
    pub(super) fn compare_exchange(&mut self, call: Call<'_>, span: Span) -> Option<(Effect, Domain)> {
        let ((place, order), old, new) = self.cas_parts(call, span)?;
        let domain = self.unit.domain_of(&place);
        self.foresee(span);
        self.foresee(span);
        let kind = EffectKind::CompareExchange { place, order, old, new };
        Some((Effect { span, kind }, domain))
    }

    /// `cas(x, old, new)`
    pub(super) fn cas(&mut self, call: Call<'_>, span: Span) -> ConditionKind {
        let cas = self.cas_parts(call, span);
        cas.map_or(ConditionKind::Either, |((place, order), old, new)| ConditionKind::Cas { place, order, old, new })
    }

    fn cas_parts(&mut self, (name, arguments): Call<'_>, span: Span) -> Option<CasParts> {
        let (arguments, order) = self.update_order((name, arguments), 3)?;
        let [variable, old, new] = arguments else { return None };
        let (place, domain) = self.updated(name, variable, span)?;
        let old = self.value_of(old, domain);
        let new = self.value_of(new, domain);
        self.warn_outside(Some(domain), &new);
        (old.ty != Ty::Unknown && new.ty != Ty::Unknown).then_some(((place, order), old.expr, new.expr))
    }

    /// The place that an update acts on.
    fn updated(&mut self, update: &ast::Name, variable: &ast::Expr, span: Span) -> Option<(Place, Domain)> {
        if self.is_atomic {
            self.refuse_in_atomic(&update.text, span);
            return None;
        }
        let target = TargetRef::of(variable);
        let meaning = target.map(|target| (target, self.resolve(target.name).memory()));
        match meaning {
            Some((target, Memory::Shared(shared))) => {
                let place = self.place(shared, &target)?;
                if self.globals.is_constant(self.unit.memory(), &place) {
                    let message = format!("`{}` is a constant array and cannot be updated", target.name.text);
                    self.log.error(target.span, message, "update a shared variable");
                    return None;
                }
                let domain = self.unit.domain_of(&place);
                self.is_atomic_place(update, &target, &place).then_some((place, domain))
            }
            Some((_, Memory::Wrong)) => None,
            Some((_, Memory::Other)) | None => {
                let message = format!("`{}` needs a shared variable or array cell", update.text);
                let help =
                    format!("`{}` is neither; only shared memory is updated atomically", self.log.text(variable.span));
                self.log.error(variable.span, message, help);
                None
            }
        }
    }
}
