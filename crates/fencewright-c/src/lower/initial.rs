//! What variables start with.

use std::rc::Rc;

use fencewright::frontend::hir::Expr;
use fencewright::source::Span;

use crate::ast::{self, Designator, Initial};
use crate::types::{Qualified, Type};

use super::memory::{Cell, ObjectId};
use super::places::{Named, Orders};
use super::value::{Target, Value};
use super::{Lowering, Made};

impl<'a> Lowering<'a> {
    /// An array without a length is as long as what it starts with.
    pub(super) fn complete(&mut self, ty: &mut Qualified, initial: Option<&Initial>) {
        if let (Type::Array(of, 0), Some(Initial::List(all, _))) = (&ty.ty, initial) {
            ty.ty = Type::Array(Rc::clone(of), all.len() as u64);
        }
    }

    /// Gives a target what it starts with.
    pub(super) fn initialize(&mut self, target: &Target, initial: &'a Initial) -> Option<()> {
        match (initial, &target.ty.ty) {
            // `PTHREAD_COND_INITIALIZER`: nobody waits.
            (_, Type::Builtin(ast::BuiltinType::Condition)) => Some(()),
            (Initial::Expr(value), _) => {
                let span = value.span;
                let value = self.value(value)?;
                let store = if self.state.is_alone { Orders::of(&target.ty).store } else { Default::default() };
                self.store(&Named::Target(target.clone()), store, value, span)
            }
            (Initial::List(all, span), Type::Array(of, len)) => {
                let mut next = 0;
                for (designators, value) in all {
                    if let [Designator::Index(index), ..] = designators.as_slice() {
                        next = self.index(index)?;
                    }
                    if next >= *len as i64 {
                        return self.refuse(*span, "there are more values than cells", "leave some out");
                    }
                    self.initialize(&target.at(Expr::Const(next), Rc::clone(of)), value)?;
                    next += 1;
                }
                Some(())
            }
            (Initial::List(all, span), Type::Struct(number)) => self.fields(target, *number, all, *span),
            (Initial::List(all, span), _) => match all.as_slice() {
                // `{0}` for a single value, and for a lock.
                [(_, value @ Initial::Expr(_))] => self.initialize(target, value),
                [] => self.initialize_with(target, Value::int(0), *span),
                _ => self.refuse(*span, "a list for a single value", "give one value"),
            },
        }
    }

    fn initialize_with(&mut self, target: &Target, value: Value, span: Span) -> Option<()> {
        self.store(&Named::Target(target.clone()), Orders::of(&target.ty).store, value, span)
    }

    fn fields(
        &mut self,
        target: &Target,
        number: usize,
        all: &'a [(Vec<Designator>, Initial)],
        span: Span,
    ) -> Option<()> {
        let fields = self.names.structures[number].fields.clone().unwrap_or_default();
        let mut next = 0;
        for (designators, value) in all {
            if let [Designator::Field(name), ..] = designators.as_slice() {
                let Some(at) = fields.iter().position(|it| it.0 == name.text) else {
                    let help = "name a field of the structure";
                    return self.refuse(name.span, &format!("there is no field `{}`", name.text), help);
                };
                next = at;
            }
            let Some((_, ty)) = fields.get(next) else {
                return self.refuse(span, "there are more values than fields", "leave some out");
            };
            self.initialize(&target.field(next, ty), value)?;
            next += 1;
        }
        Some(())
    }

    fn index(&mut self, it: &'a ast::Expr) -> Option<i64> {
        match self.names.constant(it) {
            Some(index) if index >= 0 => Some(index),
            Some(_) | None => self.refuse(it.span, "this is no index", "use a constant"),
        }
    }

    /// `(T){ … }`
    pub(super) fn compound(&mut self, ty: &'a ast::Type, initial: &'a Initial, span: Span) -> Option<Named> {
        let mut ty = self.names.resolve(ty, &mut self.log)?;
        self.complete(&mut ty, Some(initial));
        let name = format!("{}.literal@{}", self.state.thread.name, span.start);
        let object = self.made(
            &name.clone(),
            &Made {
                name,
                ty: Rc::new(ty),
                span,
                thread: Some(self.state.thread.name.clone()),
                is_unset: false,
                n_slots: None,
            },
        );
        let whole = self.memory.whole(object);
        self.initialize(&whole, initial)?;
        Some(Named::Target(whole))
    }

    /// What a leaf of an object starts with.
    pub(super) fn first_cells(&self, object: ObjectId, leaf: usize) -> Vec<Cell> {
        self.memory.objects[object.0].leaves[leaf].cells.clone()
    }
}
