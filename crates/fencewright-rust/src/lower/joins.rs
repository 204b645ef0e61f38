//! One value where several ways meet, and variables that change on some of them.
//!
//! What changes in a branch or a loop is put into registers before it begins. So a way through it assigns to these
//! registers, and behind it they hold what was assigned, whichever way was taken.

use std::collections::BTreeSet;
use std::rc::Rc;

use fencewright::frontend::hir::{Expr, Operand, StmtKind};
use fencewright::source::Span;

use crate::ast::Expr as Ast;
use crate::types::{Integer, Type};
use crate::value::{Base, Enum, Place, Pointer, Points, Step, Value, VariableId};

use super::Lowering;
use super::access::part;
use super::mentions;
use super::state::{Join, Storage, register};

impl Lowering<'_> {
    /// The value with every number settled, so that nothing changes it any more.
    pub(super) fn settled(&mut self, value: Value, span: Span) -> Value {
        let mark = self.state.mark();
        self.settled_at(value, mark, span)
    }

    /// The same as it was before the statements behind a mark.
    pub(super) fn settled_at(&mut self, value: Value, mark: usize, span: Span) -> Value {
        self.mapped(value, &mut |it, expr, _| it.state.settled_at(expr, mark, span))
    }

    /// The value in registers of its own, which may be used behind the block that is open.
    pub(super) fn in_registers(&mut self, value: Value, span: Span) -> Option<Value> {
        Some(self.mapped(value, &mut |it, expr, is_boolean| {
            let local = it.state.hoisted(None, is_boolean, span);
            it.state.emit(StmtKind::Assign(local, expr), span);
            register(local)
        }))
    }

    pub(super) fn mapped(&mut self, value: Value, change: &mut dyn FnMut(&mut Self, Expr, bool) -> Expr) -> Value {
        let mut all = |it: &mut Self, values: Vec<Value>| -> Vec<Value> {
            values.into_iter().map(|value| it.mapped(value, change)).collect()
        };
        match value {
            Value::Tuple(values) => Value::Tuple(all(self, values)),
            Value::Struct(number, values) => Value::Struct(number, all(self, values)),
            Value::Array(values) => Value::Array(all(self, values)),
            Value::List(values) => Value::List(all(self, values)),
            Value::Enum(it) => {
                let Enum { number, tag, variants, sizes } = *it;
                let variants = variants.into_iter().map(|it| it.map(|values| all(self, values))).collect();
                let tag = if matches!(tag, Expr::Const(_)) { tag } else { change(self, tag, false) };
                Value::Enum(Box::new(Enum { number, tag, variants, sizes }))
            }
            Value::Number(expr, ty) => {
                let is_boolean = ty == Type::Bool;
                let expr = if matches!(expr, Expr::Const(_)) { expr } else { change(self, expr, is_boolean) };
                Value::Number(expr, ty)
            }
            Value::Atomic(inner) => Value::Atomic(Box::new(self.mapped(*inner, change))),
            Value::Cell(cell, inner) => Value::Cell(cell, Box::new(self.mapped(*inner, change))),
            Value::Lock(lock, inner) => Value::Lock(lock, Box::new(self.mapped(*inner, change))),
            Value::Pointer(it) => Value::Pointer(self.mapped_pointer(it, change)),
            Value::Range(a, b) => Value::Range(Box::new(self.mapped(*a, change)), Box::new(self.mapped(*b, change))),
            other => other,
        }
    }

    fn mapped_pointer(&mut self, it: Pointer, change: &mut dyn FnMut(&mut Self, Expr, bool) -> Expr) -> Pointer {
        let mut index =
            |it: &mut Self, expr: Expr| if matches!(expr, Expr::Const(_)) { expr } else { change(it, expr, false) };
        let what = match it.what {
            Points::Number(expr) => Points::Number(index(self, expr)),
            Points::Known(place) => {
                let base = match place.base {
                    Base::Through(expr, to) => Base::Through(index(self, expr), to),
                    base => base,
                };
                let steps = place.steps.into_iter().map(|step| match step {
                    Step::Index(expr) => Step::Index(index(self, expr)),
                    step @ Step::Field(_) => step,
                });
                let steps = steps.collect();
                Points::Known(Place { base, steps, ty: place.ty })
            }
        };
        Pointer { what, ..it }
    }

    /// One more way that ends with a value.
    pub(super) fn join(&mut self, join: &mut Join, value: Value, span: Span) -> Option<()> {
        if value.is_never() {
            return Some(());
        }
        join.value = Some(match join.value.take() {
            None => self.spread(value, join.span, None, span)?,
            Some(old) => self.assigned(old, value, join.span, span)?,
        });
        Some(())
    }

    /// The value in registers that may be assigned to again; pointers that meet others at the place are numbers.
    fn spread(&mut self, value: Value, at: Span, name: Option<&str>, span: Span) -> Option<Value> {
        let values = |it: &mut Self, values: Vec<Value>| -> Option<Vec<Value>> {
            values.into_iter().map(|value| it.spread(value, at, name, span)).collect()
        };
        Some(match value {
            Value::Number(expr, ty) => {
                let local = self.state.hoisted(name, ty == Type::Bool, span);
                self.state.emit(StmtKind::Assign(local, expr), span);
                Value::Number(register(local), ty)
            }
            Value::Pointer(Pointer { kind, to, what }) => {
                let is_number = matches!(what, Points::Number(_)) || self.known.merged.contains(&at);
                let what = if is_number {
                    let raw = self.raw(Value::Pointer(Pointer { kind, to: to.clone(), what }), span)?;
                    let local = self.state.hoisted(name, false, span);
                    self.state.emit(StmtKind::Assign(local, raw), span);
                    Points::Number(register(local))
                } else {
                    what
                };
                Value::Pointer(Pointer { kind, to, what })
            }
            Value::Enum(it) => {
                let Enum { number, tag, variants, sizes } = *it;
                let local = self.state.hoisted(name, false, span);
                self.state.emit(StmtKind::Assign(local, tag), span);
                let variants = variants.into_iter().map(|it| it.map_or(Some(None), |it| values(self, it).map(Some)));
                let variants = variants.collect::<Option<Vec<_>>>()?;
                Value::Enum(Box::new(Enum { number, tag: register(local), variants, sizes }))
            }
            Value::Tuple(all) => Value::Tuple(values(self, all)?),
            Value::Struct(number, all) => Value::Struct(number, values(self, all)?),
            Value::Array(all) => Value::Array(values(self, all)?),
            Value::Cell(cell, inner) => Value::Cell(cell, Box::new(self.spread(*inner, at, name, span)?)),
            Value::Atomic(inner) => Value::Atomic(Box::new(self.spread(*inner, at, name, span)?)),
            other => other,
        })
    }

    /// Assigns a value to the registers of another.
    fn assigned(&mut self, old: Value, new: Value, at: Span, span: Span) -> Option<Value> {
        Some(match (old, new) {
            (old, Value::Never) => old,
            (Value::Unset | Value::Other, new) => self.spread(new, at, None, span)?,
            (old, Value::Unset | Value::Other) => old,
            (Value::Number(Expr::Var(Operand::Local(local)), ty), Value::Number(expr, new))
                if self.state.hoisted.contains(&local) =>
            {
                self.state.emit(StmtKind::Assign(local, expr), span);
                Value::Number(register(local), if ty == Type::Integer(None) { new } else { ty })
            }
            (Value::Pointer(old), Value::Pointer(new)) => Value::Pointer(self.assigned_pointer(old, new, at, span)?),
            (Value::Enum(old), Value::Enum(new)) => self.assigned_enum(*old, *new, at, span)?,
            (Value::Tuple(old), Value::Tuple(new)) => Value::Tuple(self.assigned_all(old, new, at, span)?),
            (Value::Struct(number, old), Value::Struct(_, new)) => {
                Value::Struct(number, self.assigned_all(old, new, at, span)?)
            }
            (Value::Array(old), Value::Array(new)) => Value::Array(self.assigned_all(old, new, at, span)?),
            (Value::Cell(cell, old), Value::Cell(_, new)) => {
                Value::Cell(cell, Box::new(self.assigned(*old, *new, at, span)?))
            }
            (Value::Cell(cell, old), new) => Value::Cell(cell, Box::new(self.assigned(*old, new, at, span)?)),
            (Value::Atomic(old), Value::Atomic(new)) => Value::Atomic(Box::new(self.assigned(*old, *new, at, span)?)),
            (old @ Value::Closure(..), Value::Closure(closure, environment)) => match &old {
                Value::Closure(is, _) if Rc::ptr_eq(is, &closure) => Value::Closure(closure, environment),
                _ => return self.refuse(span, "it depends on the way which closure this is", "call it where it is"),
            },
            (Value::Thread(a), Value::Thread(b)) if a == b => Value::Thread(a),
            (Value::List(old), Value::List(new)) if old.len() == new.len() => {
                Value::List(self.assigned_all(old, new, at, span)?)
            }
            _ => {
                let help = "do it where it is known how often it is done, or use an array";
                return self.refuse(span, "what this is depends on the way that was taken", help);
            }
        })
    }

    fn assigned_all(&mut self, old: Vec<Value>, new: Vec<Value>, at: Span, span: Span) -> Option<Vec<Value>> {
        old.into_iter().zip(new).map(|(old, new)| self.assigned(old, new, at, span)).collect()
    }

    fn assigned_pointer(&mut self, old: Pointer, new: Pointer, at: Span, span: Span) -> Option<Pointer> {
        let to = if old.to.is_unknown() { new.to.clone() } else { old.to.clone() };
        let what = match (old.what, new.what) {
            (Points::Number(Expr::Var(Operand::Local(local))), what) if self.state.hoisted.contains(&local) => {
                let raw = self.raw(Value::Pointer(Pointer { kind: new.kind, to: to.clone(), what }), span)?;
                self.state.emit(StmtKind::Assign(local, raw), span);
                Points::Number(register(local))
            }
            (Points::Known(a), Points::Known(b)) if is_same(&a, &b) => Points::Known(a),
            (old, _) => {
                // They are numbers from the next pass on.
                self.known.merged.insert(at);
                self.is_unsure = true;
                old
            }
        };
        Some(Pointer { kind: old.kind, to, what })
    }

    fn assigned_enum(&mut self, old: Enum, new: Enum, at: Span, span: Span) -> Option<Value> {
        let Enum { number, tag, variants, sizes } = old;
        let mut both = Vec::new();
        for (old, new) in variants.into_iter().zip(new.variants) {
            both.push(match (old, new) {
                (Some(old), Some(new)) => Some(self.assigned_all(old, new, at, span)?),
                (None, Some(new)) => {
                    Some(new.into_iter().map(|it| self.spread(it, at, None, span)).collect::<Option<Vec<_>>>()?)
                }
                (old, None) => old,
            });
        }
        match tag {
            Expr::Var(Operand::Local(local)) if self.state.hoisted.contains(&local) => {
                self.state.emit(StmtKind::Assign(local, new.tag), span);
            }
            _ => {
                return self.refuse(
                    span,
                    "this variant is changed where it was taken for known",
                    "use a `mut` variable",
                );
            }
        }
        Some(Value::Enum(Box::new(Enum { number, tag, variants: both, sizes })))
    }

    /// Gives a variable, or a part of it, another value.
    pub(super) fn assign_variable(&mut self, id: VariableId, steps: &[Step], value: Value, span: Span) -> Option<()> {
        let variable = &self.state.variables[id.0];
        let (at, is_around) = (variable.span, self.state.depth > variable.depth);
        let Storage::Value(whole) = variable.storage.clone() else { return None };
        let value = self.settled(value, span);
        let old = part(&whole, steps);
        let new = match old {
            Some(old) if is_around => self.assigned(old, value, at, span)?,
            _ => value,
        };
        match replaced(whole, steps, new) {
            Some(whole) => self.state.variables[id.0].storage = Storage::Value(whole),
            None => {
                let is_new = self.known.in_memory.insert(at);
                self.is_unsure |= is_new;
                if !is_new {
                    return self.refuse(span, "this part of a variable is not known", "keep it by itself");
                }
            }
        }
        Some(())
    }

    /// Puts what may change in a part of the text into registers, before it begins.
    pub(super) fn spill<'e>(&mut self, walk: &mut dyn FnMut(&mut dyn FnMut(&'e Ast)), span: Span) -> Option<()> {
        let names = mentions::names(walk);
        let mut open: Vec<VariableId> = names.iter().filter_map(|it| self.state.variable(it)).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let variable = &self.state.variables[id.0];
            let Storage::Value(value) = variable.storage.clone() else { continue };
            self.reached(&value, &mut open);
            if variable.is_mut && !self.is_spread(&value, variable.span) {
                let (at, name) = (variable.span, variable.name.clone());
                let name = (!name.is_empty()).then_some(name);
                let value = self.spread(value, at, name.as_deref(), span)?;
                self.state.variables[id.0].storage = Storage::Value(value);
            }
        }
        Some(())
    }

    /// Whether a value is in registers already that may be assigned to.
    fn is_spread(&self, value: &Value, at: Span) -> bool {
        let is_own = |expr: &Expr| match expr {
            Expr::Var(Operand::Local(local)) => self.state.hoisted.contains(local),
            _ => false,
        };
        match value {
            Value::Number(expr, _) => is_own(expr),
            Value::Pointer(it) => match &it.what {
                Points::Number(expr) => is_own(expr),
                Points::Known(_) => !self.known.merged.contains(&at),
            },
            Value::Enum(it) => {
                is_own(&it.tag) && it.variants.iter().flatten().flatten().all(|it| self.is_spread(it, at))
            }
            Value::Tuple(all) | Value::Struct(_, all) | Value::Array(all) => {
                all.iter().all(|it| self.is_spread(it, at))
            }
            Value::Cell(_, inner) | Value::Atomic(inner) => self.is_spread(inner, at),
            _ => true,
        }
    }

    /// The variables that a value leads to.
    fn reached(&self, value: &Value, open: &mut Vec<VariableId>) {
        match value {
            Value::Tuple(all) | Value::Struct(_, all) | Value::Array(all) | Value::List(all) => {
                all.iter().for_each(|it| self.reached(it, open));
            }
            Value::Enum(it) => it.variants.iter().flatten().flatten().for_each(|it| self.reached(it, open)),
            Value::Atomic(inner) | Value::Cell(_, inner) | Value::Lock(_, inner) => self.reached(inner, open),
            Value::Pointer(Pointer { what: Points::Known(Place { base: Base::Variable(id), .. }), .. }) => {
                open.push(*id);
            }
            Value::Closure(closure, environment) => {
                let names = mentions::names(&mut |see| mentions::each(&closure.body, see));
                open.extend(names.iter().filter_map(|it| environment.names.get(it)));
            }
            _ => {}
        }
    }
}

/// The whole with another part.
fn replaced(whole: Value, steps: &[Step], new: Value) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(new) };
    let at = |all: &mut Vec<Value>, at: usize| -> Option<()> {
        let slot = all.get_mut(at)?;
        *slot = replaced(slot.clone(), rest, new.clone())?;
        Some(())
    };
    Some(match (whole, step) {
        (Value::Cell(cell, inner), _) => Value::Cell(cell, Box::new(replaced(*inner, steps, new)?)),
        (Value::Tuple(mut all), Step::Field(field)) => {
            at(&mut all, *field)?;
            Value::Tuple(all)
        }
        (Value::Struct(number, mut all), Step::Field(field)) => {
            at(&mut all, *field)?;
            Value::Struct(number, all)
        }
        (Value::Array(mut all), Step::Index(Expr::Const(index))) => {
            at(&mut all, usize::try_from(*index).ok()?)?;
            Value::Array(all)
        }
        (Value::List(mut all), Step::Index(Expr::Const(index))) => {
            at(&mut all, usize::try_from(*index).ok()?)?;
            Value::List(all)
        }
        (Value::Enum(mut it), Step::Field(field)) if *field > 0 => {
            let mut at = field - 1;
            let variant = it.sizes.iter().position(|size| {
                let is_here = at < *size;
                at -= if is_here { 0 } else { *size };
                is_here
            })?;
            let slot = it.variants[variant].as_mut()?.get_mut(at)?;
            *slot = replaced(slot.clone(), rest, new)?;
            Value::Enum(it)
        }
        _ => return None,
    })
}

/// Whether two places are one.
pub(super) fn is_same(a: &Place, b: &Place) -> bool {
    format!("{:?}{:?}", a.base, a.steps) == format!("{:?}{:?}", b.base, b.steps)
}

/// The integer that a type is, as far as it is said.
pub(super) fn integer(ty: &Type) -> Option<Integer> {
    match ty.inner() {
        Type::Integer(it) => *it,
        _ => None,
    }
}
