//! Cells, pointers and boxes.

use fencewright::frontend::hir::{Effect, EffectKind, Expr, LoadOrder, StmtKind, StoreOrder, Update, UpdateOrder};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::Method;
use crate::types::{Cell, Kind, Type};
use crate::value::{Base, Place, Pointer, Points, Step, Value};

use super::Lowering;
use super::access::{plus, reference};
use super::expressions::retyped;

impl Lowering<'_> {
    /// A method of `UnsafeCell`, `Cell`, `MaybeUninit`, …
    pub(super) fn cell_method(
        &mut self,
        (cell, inner): (Cell, &Type),
        place: &Place,
        it: &Method,
        span: Span,
    ) -> Option<Option<Value>> {
        let content = place.seen_as(inner.clone());
        let raw = |place: Place| {
            let Value::Pointer(it) = reference(place) else { return Value::Unset };
            Value::Pointer(Pointer { kind: Kind::Raw, ..it })
        };
        let name = it.name.text.as_str();
        let values = |this: &mut Self| this.values(&it.arguments);
        Some(Some(match name {
            "get" if cell == Cell::Copied => self.load(&content, LoadOrder::Plain, span)?,
            "get" | "as_ptr" | "as_mut_ptr" | "get_mut_ptr" => raw(content),
            "get_mut" | "assume_init_ref" | "assume_init_mut" => reference(content),
            "set" => {
                let value = values(self)?.into_iter().next()?;
                self.overwrite(&content, value, span)?;
                Value::UNIT
            }
            "write" => {
                let value = values(self)?.into_iter().next()?;
                self.store(&content, retyped(value, inner), StoreOrder::Plain, span)?;
                reference(content)
            }
            "replace" => {
                let value = values(self)?.into_iter().next()?;
                let old = self.load(&content, LoadOrder::Plain, span)?;
                self.store(&content, value, StoreOrder::Plain, span)?;
                old
            }
            "assume_init" | "assume_init_read" | "into_inner" => self.load(&content, LoadOrder::Plain, span)?,
            "assume_init_drop" => {
                self.drop_place(&content, span)?;
                Value::UNIT
            }
            // As loom has it.
            "with" | "with_mut" => {
                let closure = values(self)?.into_iter().next()?;
                self.applied(&closure, vec![raw(content)], span)?
            }
            _ => return Some(None),
        }))
    }

    /// A method of a pointer itself; others are those of what it points at.
    pub(super) fn pointer_method(
        &mut self,
        kind: Kind,
        place: &Place,
        it: &Method,
        span: Span,
    ) -> Option<Option<Value>> {
        let name = it.name.text.as_str();
        if kind == Kind::Arc && name == "clone" {
            let value = self.load(place, LoadOrder::Plain, span)?;
            return self.arc_cloned(value, span).map(Some);
        }
        if kind == Kind::Reference && name == "clone" {
            let value = self.load(place, LoadOrder::Plain, span)?;
            let target = self.pointed(value.clone(), span)?;
            let to = self.type_at(&target);
            // A reference to what can be cloned gives a clone of that.
            return Some(matches!(to, Type::Unknown).then_some(value));
        }
        if !matches!(kind, Kind::Raw | Kind::NonNull) {
            return Some(match name {
                "as_ptr" | "as_ref" | "as_mut" | "deref" | "deref_mut" | "as_non_null_ptr"
                    if kind != Kind::Reference || name.starts_with("deref") =>
                {
                    let value = self.load(place, LoadOrder::Plain, span)?;
                    let target = self.pointed(value, span)?;
                    Some(reference(target))
                }
                _ => None,
            });
        }
        let value = self.load(place, LoadOrder::Plain, span)?;
        if kind == Kind::NonNull {
            return match name {
                "as_ref" | "as_mut" => Some(Some(self.as_kind(value, Kind::Reference))),
                "as_ptr" => Some(Some(self.as_kind(value, Kind::Raw))),
                _ => self.raw_method(value, it, span),
            };
        }
        self.raw_method(value, it, span)
    }

    fn raw_method(&mut self, value: Value, it: &Method, span: Span) -> Option<Option<Value>> {
        let name = it.name.text.as_str();
        let arguments = self.values(&it.arguments)?;
        let first = arguments.into_iter().next();
        Some(Some(match name {
            "is_null" => {
                let raw = match &value {
                    Value::Pointer(Pointer { what: Points::Known(_), .. }) => {
                        return Some(Some(Value::bool(Expr::Const(0))));
                    }
                    value => self.raw(value.clone(), span)?,
                };
                match raw {
                    Expr::Const(it) => Value::bool(Expr::Const(i64::from(it == 0))),
                    raw => Value::bool(Expr::binary(Op::Eq, raw, Expr::Const(0))),
                }
            }
            "as_ptr" | "cast" | "cast_mut" | "cast_const" | "clone" | "get" => value,
            "as_ref" | "as_mut" if is_nullable(&value) => {
                let raw = self.raw(value.clone(), span)?;
                let is_there = match &raw {
                    Expr::Const(it) => Expr::Const(i64::from(*it != 0)),
                    raw => Expr::binary(Op::Ne, raw.clone(), Expr::Const(0)),
                };
                let Value::Pointer(it) = value else { return Some(None) };
                Value::some_if(is_there, Value::Pointer(Pointer { kind: Kind::Reference, ..it }))
            }
            "as_ref" | "as_mut" => {
                let target = self.pointed(value, span)?;
                Value::some(reference(target))
            }
            "read" | "read_volatile" => {
                let target = self.pointed(value, span)?;
                self.load(&target, LoadOrder::Plain, span)?
            }
            "write" | "write_volatile" => {
                let target = self.pointed(value, span)?;
                let ty = target.ty.clone();
                self.store(&target, retyped(first?, &ty), StoreOrder::Plain, span)?;
                Value::UNIT
            }
            "drop_in_place" => {
                let target = self.pointed(value, span)?;
                self.drop_place(&target, span)?;
                Value::UNIT
            }
            "add" | "sub" | "offset" => self.moved_pointer(value, name == "sub", first?, span)?,
            _ => return Some(None),
        }))
    }

    /// `p.add(n)`: another element of the same array.
    fn moved_pointer(&mut self, value: Value, is_back: bool, by: Value, span: Span) -> Option<Value> {
        let by = self.raw(by, span)?;
        let by = match (is_back, by) {
            (false, by) => by,
            (true, Expr::Const(by)) => Expr::Const(-by),
            (true, by) => Expr::binary(Op::Sub, Expr::Const(0), by),
        };
        let Value::Pointer(it) = value else { return Some(Value::Unset) };
        match it.what {
            Points::Known(mut place) if matches!(place.steps.last(), Some(Step::Index(_))) => {
                if let Some(Step::Index(index)) = place.steps.pop() {
                    place.steps.push(Step::Index(plus(index, by)));
                }
                Some(Value::Pointer(Pointer { what: Points::Known(place), ..it }))
            }
            Points::Known(place) => match self.type_at(&place) {
                Type::Array(of, _) => {
                    let (kind, to) = (it.kind, (*of).clone());
                    let what = Points::Known(place.at(by, to.clone()));
                    Some(Value::Pointer(Pointer { kind, to, what }))
                }
                _ => self.refuse(span, "a pointer is moved that points at no element", "index the array"),
            },
            Points::Number(_) => self.refuse(span, "a pointer is moved that is not known", "index the array"),
        }
    }

    /// `Box::new(value)`, `Arc::new(value)`
    pub(super) fn allocated(&mut self, kind: Kind, value: Value, span: Span) -> Option<Value> {
        if self.state.n_loops > 0 {
            let help = "allocate before the loop, or use `for` with a few rounds";
            return self.refuse(span, "memory is allocated in a loop", help);
        }
        let name = self.hint.take().unwrap_or_else(|| if kind == Kind::Box { "boxed" } else { "shared" }.to_owned());
        let ty = self.type_of(&value);
        let object = self.made_object(&name, &ty, span);
        let place = self.whole(object);
        self.store(&place, value, StoreOrder::Plain, span)?;
        Some(Value::Pointer(Pointer { kind, to: ty, what: Points::Known(place) }))
    }

    /// One more reference.
    pub(super) fn arc_cloned(&mut self, value: Value, span: Span) -> Option<Value> {
        let target = self.pointed(value.clone(), span)?;
        let is_counted = self.needs_drop_at(&target);
        let is_beside = self.state.has_done_something() || !self.state.is_main;
        if !is_counted && !is_beside {
            return Some(value);
        }
        if self.knows_memory() || !self.state.has_done_something() && self.state.is_main {
            // Nobody has seen the count yet that goes by it.
            let count = self.count_of(&target, span)?;
            let Base::Object(object) = count.base else { return Some(value) };
            if let Some(leaf) = self.memory.leaf(object, &[])
                && let crate::memory::Cell::Number(n) = &mut leaf.cells[0]
            {
                *n += 1;
            }
            return Some(value);
        }
        let count = self.count_of(&target, span)?;
        let cell = self.cell(&count, span)?;
        let more = EffectKind::Update(cell, UpdateOrder::Relaxed, Update::Fetch(Op::Add), Expr::Const(1));
        self.state.emit(StmtKind::Do(Effect { span, kind: more }), span);
        Some(value)
    }

    /// A pointer of another kind: `Box::into_raw(b)`, `Box::from_raw(p)`.
    pub(super) fn as_kind(&mut self, value: Value, kind: Kind) -> Value {
        match value {
            Value::Pointer(it) => Value::Pointer(Pointer { kind, ..it }),
            other => other,
        }
    }

    /// The type that pointers point to that are made of nothing.
    pub(super) fn null(&self, to: Option<Type>) -> Value {
        let (kind, what) = (Kind::Raw, Points::Number(Expr::Const(0)));
        Value::Pointer(Pointer { kind, to: to.unwrap_or(Type::Unknown), what })
    }
}

fn is_nullable(value: &Value) -> bool {
    matches!(value, Value::Pointer(Pointer { what: Points::Number(_), .. }))
}
