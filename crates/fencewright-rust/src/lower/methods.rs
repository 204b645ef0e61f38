//! Methods: those of the text first, then those of std, then those of what it points at.

use fencewright::frontend::hir::{Expr, LoadOrder};
use fencewright::source::Span;

use crate::ast::{Method, TypeKind};
use crate::types::{Lock, Type};
use crate::value::{Base, Place, Value};

use super::Lowering;
use super::access::reference;
use super::calls::Found;
use super::state::Storage;

/// A method that is not there is not looked for through more pointers.
const MAX_DEREFS: usize = 12;

impl Lowering<'_> {
    /// `r.m(a)`
    pub(super) fn method_call(&mut self, it: &Method, span: Span) -> Option<Value> {
        let hint = self.hint.take();
        let mut place = self.place(&it.receiver)?;
        self.hint = hint;
        for _ in 0..MAX_DEREFS {
            if let Some(value) = self.special(&place)
                && let Some(done) = self.special_method(value, &place, it, span)?
            {
                return Some(done);
            }
            let ty = self.type_at(&place);
            if let Some(found) = self.method(&ty, &it.name.text).or_else(|| self.method(ty.open(), &it.name.text)) {
                return self.own_method(&found, place, it, span);
            }
            if let Some(done) = self.standard_method(&ty, &place, it, span)? {
                return Some(done);
            }
            if !self.is_dereferenceable(&ty) {
                return self.no_method(&ty, it);
            }
            place = self.dereferenced(place, span)?;
        }
        None
    }

    fn no_method(&mut self, ty: &Type, it: &Method) -> Option<Value> {
        if ty.is_unknown() && self.is_unsure {
            return Some(Value::Unset);
        }
        // What is wrong with a value was said where it comes from.
        if ty.is_unknown() && self.log.has_errors() {
            return None;
        }
        if self.has_macros() && ty.is_unknown() {
            let help = "write out what macros of this file stand for";
            return self.refuse(it.name.span, format!("`{}` of a value whose type is not known", it.name.text), help);
        }
        let message = format!("`{}` is not known for a {}", it.name.text, self.shown(ty));
        self.refuse(it.name.span, message, "define it, or write it with what the guide lists")
    }

    fn has_macros(&self) -> bool {
        !self.names.macros.is_empty()
    }

    /// A value that is no number and no structure, if the place holds one.
    fn special(&self, place: &Place) -> Option<Value> {
        let Base::Variable(id) = place.base else { return None };
        let Storage::Value(whole) = &self.state.variables[id.0].storage else { return None };
        let value = super::access::part(whole, &place.steps)?;
        let is_special = matches!(
            value,
            Value::List(_)
                | Value::Range(..)
                | Value::Thread(_)
                | Value::Scope
                | Value::Closure(..)
                | Value::Other
                | Value::Never
                | Value::Unset
        );
        is_special.then_some(value)
    }

    fn own_method(&mut self, found: &Found, place: Place, it: &Method, span: Span) -> Option<Value> {
        let by_reference = match found.function.parameters.first() {
            Some((_, Some(ty))) => matches!(ty.kind, TypeKind::Reference(_)),
            _ => false,
        };
        let receiver = if by_reference { reference(place) } else { self.taken(&place, span)? };
        let receiver = self.settled(receiver, span);
        let mut values = vec![receiver];
        values.extend(self.values(&it.arguments)?);
        self.called(found, values, span)
    }

    /// A method of std; `None` inside if the type has none of this name.
    fn standard_method(&mut self, ty: &Type, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        match ty {
            Type::Cell(cell, inner) => match self.cell_method((*cell, inner), place, it, span)? {
                Some(value) => Some(Some(value)),
                None => self.standard_method(inner, &place.seen_as((**inner).clone()), it, span),
            },
            Type::Atomic(_) => self.atomic_method(place, it, span),
            Type::Lock(Lock::Condvar, _) => self.condvar_method(it, span),
            Type::Lock(lock, inner) => self.lock_method(*lock, inner, place, it, span),
            Type::Pointer(kind, _) => self.pointer_method(*kind, place, it, span),
            Type::Enum(number, _) if *number <= 1 => self.option_method(place, it, span),
            Type::Integer(_) if matches!(it.name.text.as_str(), "push" | "push_str") => self.push_text(place, it, span),
            Type::Text => self.text_method(place, it, span),
            Type::Integer(_) if it.name.text == "len" => Some(Some(self.load(place, LoadOrder::Plain, span)?)),
            Type::Integer(_) | Type::Bool => {
                let value = self.load(place, LoadOrder::Plain, span)?;
                self.number_method(value, it, span)
            }
            Type::Array(..) => match it.name.text.as_str() {
                "iter" | "iter_mut" => Some(Some(Value::List(self.elements(place, span)?))),
                "into_iter" => Some(Some(self.taken(place, span)?)),
                "len" => Some(Some(self.length(ty))),
                "map" => {
                    let values = self.taken(place, span)?;
                    let closure = self.values(&it.arguments)?.into_iter().next()?;
                    let mut all = Vec::new();
                    for value in self.rounds(values, span)? {
                        let value = self.applied(&closure, vec![value], span)?;
                        all.push(self.settled(value, span));
                    }
                    Some(Some(Value::Array(all)))
                }
                _ => Some(None),
            },
            Type::Struct(..) | Type::Tuple(_) | Type::Enum(..) => self.any_method(place, it, span),
            Type::Opaque | Type::Other | Type::Unknown => self.any_method(place, it, span),
        }
    }

    fn length(&self, ty: &Type) -> Value {
        match ty {
            Type::Array(_, len) => super::places::index_value(Expr::Const(*len as i64)),
            _ => Value::Unset,
        }
    }

    /// What every value has.
    pub(super) fn any_method(&mut self, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        Some(match it.name.text.as_str() {
            "clone" | "to_owned" | "borrow" | "borrow_mut" | "as_ref" if it.arguments.is_empty() => {
                let value = self.load(place, LoadOrder::Plain, span)?;
                if self.needs_drop(&value) {
                    return Some(None);
                }
                Some(value)
            }
            _ => None,
        })
    }

    /// References to the elements of an array, or to what a list holds.
    pub(super) fn elements(&mut self, place: &Place, span: Span) -> Option<Vec<Value>> {
        if let Some(Value::List(all)) = self.special(place) {
            let each = 0..all.len();
            return Some(
                each.map(|at| {
                    let part = place.at(Expr::Const(at as i64), self.type_of(&all[at]));
                    reference(part)
                })
                .collect(),
            );
        }
        let mut place = place.clone();
        for _ in 0..MAX_DEREFS {
            let ty = self.type_at(&place);
            if let Type::Array(of, len) = ty.open() {
                return Some((0..*len).map(|at| reference(place.at(Expr::Const(at as i64), (**of).clone()))).collect());
            }
            if !self.is_dereferenceable(&ty) {
                break;
            }
            place = self.dereferenced(place, span)?;
        }
        if self.is_unsure {
            return Some(Vec::new());
        }
        self.refuse(span, "it is not known what this loop goes through", "use a range, an array or a `Vec`")
    }

    /// What lists, ranges, threads and scopes can do.
    fn special_method(&mut self, value: Value, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        let name = it.name.text.as_str();
        match value {
            Value::Never => return Some(Some(Value::Never)),
            Value::Unset => {
                if self.is_unsure {
                    return Some(Some(Value::Unset));
                }
                return Some(None);
            }
            Value::Other => {
                for argument in &it.arguments {
                    self.value(argument)?;
                }
                return Some(Some(Value::Other));
            }
            Value::Thread(number) => return self.thread_method(number, it, span),
            Value::Scope if name == "spawn" => {
                let closure = self.values(&it.arguments)?.into_iter().next()?;
                return self.spawn(&closure, span).map(Some);
            }
            _ => {}
        }
        match name {
            "push" | "pop" | "len" | "iter" | "iter_mut" => self.list_method(value, place, it, span),
            _ => self.iterated(value, place, it, span),
        }
    }

    /// What lists can do.
    fn list_method(&mut self, value: Value, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        match (it.name.text.as_str(), value) {
            ("push", Value::List(mut all)) => {
                let argument = self.values(&it.arguments)?.into_iter().next()?;
                if self.state.depth > self.depth_of(place) {
                    return self.refuse(span, "a list grows where it is not known how often", "use an array");
                }
                all.push(argument);
                self.replace_list(place, all);
                Some(Some(Value::UNIT))
            }
            ("pop", Value::List(mut all)) if self.state.depth == self.depth_of(place) => {
                let last = all.pop();
                self.replace_list(place, all);
                Some(Some(last.map_or_else(Value::none, Value::some)))
            }
            ("len", Value::List(all)) => Some(Some(super::places::index_value(Expr::Const(all.len() as i64)))),
            ("iter" | "iter_mut", Value::List(_)) => Some(Some(Value::List(self.elements(place, span)?))),
            _ => Some(None),
        }
    }

    /// What can be done with what is gone through.
    fn iterated(&mut self, value: Value, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        let name = it.name.text.as_str();
        match (name, value) {
            ("into_iter" | "drain" | "collect" | "by_ref", value) => {
                if let Base::Variable(id) = place.base {
                    self.moved(id, &place.fields(), span);
                }
                let rounds = self.rounds(value, span)?;
                if name != "collect" {
                    return Some(Some(Value::List(rounds)));
                }
                let all = rounds.into_iter().map(|it| self.forced(it, span)).collect::<Option<Vec<_>>>()?;
                Some(Some(Value::List(all)))
            }
            ("map" | "for_each", value) => {
                let closure = self.values(&it.arguments)?.into_iter().next()?;
                let rounds = self.rounds(value, span)?;
                let mapped = |it| Value::Mapped(Box::new(it), Box::new(closure.clone()));
                let mapped: Vec<Value> = rounds.into_iter().map(mapped).collect();
                if name == "map" {
                    return Some(Some(Value::List(mapped)));
                }
                for it in mapped {
                    self.forced(it, span)?;
                }
                Some(Some(Value::UNIT))
            }
            ("enumerate", value) => {
                let rounds = self.rounds(value, span)?.into_iter().enumerate();
                let pair = |(at, it)| Value::Tuple(vec![super::places::index_value(Expr::Const(at as i64)), it]);
                Some(Some(Value::List(rounds.map(pair).collect())))
            }
            ("rev", value) => {
                let mut rounds = self.rounds(value, span)?;
                rounds.reverse();
                Some(Some(Value::List(rounds)))
            }
            ("sum", value) => {
                let mut sum = Value::Number(Expr::Const(0), Type::Integer(None));
                for round in self.rounds(value, span)? {
                    let round = self.forced(round, span)?;
                    sum = self.combined(crate::ast::Binary::Add, sum, round, span)?;
                }
                Some(Some(sum))
            }
            _ => Some(None),
        }
    }

    /// What a closure makes of a value, now.
    pub(super) fn forced(&mut self, value: Value, span: Span) -> Option<Value> {
        match value {
            Value::Mapped(value, closure) => {
                let value = self.forced(*value, span)?;
                let value = self.applied(&closure, vec![value], span)?;
                Some(self.settled(value, span))
            }
            value => Some(value),
        }
    }

    fn depth_of(&self, place: &Place) -> usize {
        match place.base {
            Base::Variable(id) => self.state.variables[id.0].depth,
            Base::Object(_) | Base::Through(..) => 0,
        }
    }

    fn replace_list(&mut self, place: &Place, all: Vec<Value>) {
        if let Base::Variable(id) = place.base
            && place.steps.is_empty()
        {
            self.state.variables[id.0].storage = Storage::Value(Value::List(all));
        }
    }
}
