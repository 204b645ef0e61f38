//! `memset` to zero and `memcpy`: of whole objects, of which `sizeof` says what they are.
//!
//! ```text
//!   memset(node, 0, sizeof(*node))         each field of it is 0
//!   memset(slots, 0, sizeof slots)         each cell of it is
//!   memcpy(to, from, 3 * sizeof(*to))      to[0] = from[0], to[1] = from[1], to[2] = from[2]
//! ```
//!
//! Bytes have no order: what is atomic is accessed as if relaxed.

use std::rc::Rc;

use fencewright::frontend::hir::{Expr, LoadOrder, StoreOrder};
use fencewright::source::Span;

use crate::ast::{self, BuiltinType};
use crate::types::{Integer, Qualified, Type};

use super::Lowering;
use super::places::{Named, Orders};
use super::value::{Pointer, Points, Value};

/// No more parts are written one by one.
const MAX_PARTS: u64 = 4_096;

impl<'a> Lowering<'a> {
    /// `memset(to, 0, size)`
    pub(super) fn zeroed(&mut self, name: &ast::Name, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let [to, byte, size] = self.three(name, arguments)?;
        let to_value = self.value(to)?;
        let byte = self.value(byte)?.constant();
        if byte != Some(0) {
            return self.refuse(span, "`memset` with something else than 0", "assign each field and cell by itself");
        }
        for part in self.all_parts(&to_value, size, span)? {
            let zero = self.converted(Value::int(0), &Rc::clone(part.ty()));
            self.store(&part, byte_orders(part.ty()).store, zero, span)?;
        }
        Some(to_value)
    }

    /// `memcpy(to, from, size)`
    pub(super) fn copied(&mut self, name: &ast::Name, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let [to, from, size] = self.three(name, arguments)?;
        let (to_value, from_value) = (self.value(to)?, self.value(from)?);
        let (parts, others) = (self.all_parts(&to_value, size, span)?, self.all_parts(&from_value, size, span)?);
        let mut values = Vec::new();
        for (part, from) in parts.iter().zip(&others) {
            if part.ty().ty != from.ty().ty {
                return self.refuse(span, "objects of different types are copied", "assign each field by itself");
            }
            values.push(self.copied_value(from, byte_orders(from.ty()).load, span)?);
        }
        for (part, value) in parts.iter().zip(values) {
            self.store(part, byte_orders(part.ty()).store, value, span)?;
        }
        Some(to_value)
    }

    fn three(&mut self, name: &ast::Name, arguments: &'a [ast::Expr]) -> Option<[&'a ast::Expr; 3]> {
        let [a, b, c] = arguments else {
            return self.refuse(name.span, &format!("`{}` has 3 parameters", name.text), "see its manual page");
        };
        Some([a, b, c])
    }

    /// The single values of all objects that so many bytes are, from what a pointer points at.
    fn all_parts(&mut self, pointer: &Value, size: &'a ast::Expr, span: Span) -> Option<Vec<Named>> {
        let Some(n) = self.n_objects(pointer, size) else {
            let help = "say it with `sizeof` of what is pointed at: `sizeof(*p)`";
            return self.refuse(size.span, "it is not known which objects these bytes are", help);
        };
        let n_parts = |ty: &Type| self.n_parts(ty).saturating_mul(n);
        if pointee(pointer).is_some_and(|it| n_parts(&it.ty) > MAX_PARTS) {
            return self.refuse(span, &format!("more than {MAX_PARTS} values at once"), "write a loop");
        }
        let mut parts = Vec::new();
        for i in 0..n {
            let by = Value::Number(Expr::Const(i as i64), Integer::INT);
            let one = if i == 0 { pointer.clone() } else { self.moved(pointer.clone(), by, false, span)? };
            let named = self.pointed_at(one, span)?;
            self.add_parts(named, &mut parts);
        }
        Some(parts)
    }

    /// How many objects so many bytes are.
    fn n_objects(&mut self, pointer: &Value, size: &'a ast::Expr) -> Option<u64> {
        let to = pointee(pointer)?;
        if let Some((ty, count)) = self.sized(size) {
            let count = count.unwrap_or(1);
            return match &ty.ty {
                same if *same == to.ty => Some(count),
                Type::Array(of, len) if of.ty == to.ty => len.checked_mul(count),
                Type::Void | Type::Bool | Type::Integer(_) | Type::Pointer(_) | Type::Array(..) => None,
                Type::Struct(_) | Type::Function | Type::Builtin(_) => None,
            };
        }
        let is_byte = to.ty.integer().is_some_and(|it| it.bits == 8);
        let count = self.value(size).filter(|_| is_byte)?.constant()?;
        u64::try_from(count).ok()
    }

    /// How many single values something of a type is.
    fn n_parts(&self, ty: &Type) -> u64 {
        match ty {
            Type::Array(of, len) => self.n_parts(&of.ty).saturating_mul(*len),
            Type::Struct(number) => {
                let fields = self.names.structures[*number].fields.iter().flatten();
                fields.map(|it| self.n_parts(&it.1.ty)).fold(0, u64::saturating_add)
            }
            Type::Void | Type::Bool | Type::Integer(_) | Type::Pointer(_) | Type::Function | Type::Builtin(_) => 1,
        }
    }

    /// Appends the single values that something consists of.
    pub(super) fn add_parts(&self, named: Named, out: &mut Vec<Named>) {
        match named.ty().ty.clone() {
            Type::Array(of, len) => {
                (0..len).for_each(|i| self.add_parts(named.clone().at(Expr::Const(i as i64), Rc::clone(&of)), out));
            }
            Type::Struct(number) => {
                let fields = self.names.structures[number].fields.iter().flatten().enumerate();
                fields.for_each(|(at, (_, ty))| self.add_parts(named.clone().field(at, ty.clone()), out));
            }
            // Nobody waits.
            Type::Builtin(BuiltinType::Condition) => {}
            Type::Void | Type::Bool | Type::Integer(_) | Type::Pointer(_) | Type::Function | Type::Builtin(_) => {
                out.push(named);
            }
        }
    }

    /// What is copied from somewhere; nothing need have been written there.
    pub(super) fn copied_value(&mut self, from: &Named, load: LoadOrder, span: Span) -> Option<Value> {
        let was_copying = std::mem::replace(&mut self.is_copying, true);
        let value = self.load(from, load, span);
        self.is_copying = was_copying;
        value
    }
}

/// What a pointer says that it points at; where that is nothing, what it points at.
fn pointee(pointer: &Value) -> Option<Rc<Qualified>> {
    let Value::Pointer(Pointer { to, what }) = pointer else { return None };
    match (&to.ty, what) {
        (Type::Void, Points::Known(target)) => Some(Rc::clone(&target.ty)),
        (Type::Void, Points::Part(through)) => Some(Rc::clone(&through.ty)),
        _ => Some(Rc::clone(to)),
    }
}

/// How bytes are accessed.
fn byte_orders(ty: &Qualified) -> Orders {
    let relaxed = Orders { load: LoadOrder::Relaxed, store: StoreOrder::Relaxed };
    if ty.is_atomic { relaxed } else { Orders::of(ty) }
}
