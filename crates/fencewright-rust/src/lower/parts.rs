//! What has parts is kept part by part: a lock, the variant of an enumeration.

use fencewright::frontend::hir::{Expr, StoreOrder};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::types::{Lock, Type};
use crate::value::{Enum, Place, Value};

use super::Lowering;
use super::access::typed;

impl Lowering<'_> {
    /// A lock that is free, and what it guards, if anything is in it yet.
    pub(super) fn store_lock(
        &mut self,
        place: &Place,
        (lock, data): (Lock, Value),
        fields: &[(String, Type)],
        span: Span,
    ) -> Option<()> {
        let free = typed(Expr::Const(0), &Type::Bool);
        self.store(&place.field(0, fields[0].1.clone()), free, StoreOrder::Plain, span)?;
        if lock == Lock::OnceLock && matches!(data, Value::Unset) {
            return Some(());
        }
        self.store(&place.field(1, fields[1].1.clone()), data, StoreOrder::Plain, span)
    }

    pub(super) fn store_enum(
        &mut self,
        place: &Place,
        value: Enum,
        fields: &[(String, Type)],
        span: Span,
    ) -> Option<()> {
        let Enum { number, tag, variants, .. } = value;
        for (variant, values) in variants.into_iter().enumerate() {
            let Some(values) = values.filter(|it| !it.is_empty()) else { continue };
            let first = self.variant_offset(number, variant);
            let mut act = |it: &mut Self| {
                for (at, value) in values.clone().into_iter().enumerate() {
                    it.store(&place.field(first + at, fields[first + at].1.clone()), value, StoreOrder::Plain, span)?;
                }
                Some(Vec::new())
            };
            match &tag {
                Expr::Const(is) if *is == variant as i64 => drop(act(self)?),
                Expr::Const(_) => {}
                tag => {
                    let is = Expr::binary(Op::Eq, tag.clone(), Expr::Const(variant as i64));
                    self.only_if(is, span, &mut act)?;
                }
            }
        }
        let ty = fields[0].1.clone();
        self.store(&place.field(0, ty.clone()), Value::Number(tag, ty), StoreOrder::Plain, span)
    }
}

/// Whether a value has other parts than a type that has parts.
pub(super) fn has_other_parts(value: &Value, ty: &Type) -> bool {
    match value {
        Value::Enum(it) => !matches!(ty, Type::Enum(number, _) if *number == it.number),
        Value::Lock(lock, _) => !matches!(ty, Type::Lock(of, _) if of == lock),
        _ => false,
    }
}
