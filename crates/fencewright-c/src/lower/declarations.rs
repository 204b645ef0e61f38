//! Variables of functions: known, in registers, or in memory.

use std::rc::Rc;

use fencewright::frontend::hir::{Expr, First, StmtKind as Kind};
use fencewright::source::Diagnostic;

use crate::ast::{self, TypeKind};
use crate::types::{Integer, Qualified, Type};

use super::thread::{Storage, Variable};
use super::value::{Pointer, Points, Value};
use super::{Lowering, Made};

impl<'a> Lowering<'a> {
    /// A declaration in a function.
    pub(super) fn declaration(&mut self, it: &'a ast::Declaration) -> Option<()> {
        let Some(name) = &it.name else {
            self.names.declare(it, &mut self.log)?;
            return Some(());
        };
        let mut ty = match (&it.ty.kind, &it.initial) {
            (TypeKind::TypeOf(_) | TypeKind::Pointer(_), _) if it.storage != ast::Storage::Typedef => {
                self.type_named(&it.ty)?
            }
            (TypeKind::Auto, Some(ast::Initial::Expr(value))) => (*self.type_of(value)?).clone(),
            _ => self.names.declare(it, &mut self.log)?,
        };
        if it.storage == ast::Storage::Typedef || it.storage == ast::Storage::Extern || ty.ty == Type::Function {
            return Some(());
        }
        if let Some(first) = self.state.declared_here(&name.text) {
            let message = format!("`{}` is declared twice", name.text);
            let error = Diagnostic::error(name.span, message).and_at(first, "the first is here");
            self.log.say(error.with_help("rename one of them, or assign to the first"));
            return None;
        }
        self.complete(&mut ty, it.initial.as_ref());
        let ty = Rc::new(ty);
        if let ast::Storage::Static | ast::Storage::ThreadLocal = it.storage {
            return self.static_variable(name, &ty, it);
        }
        let is_kept = !ty.ty.is_scalar() || ty.is_atomic || self.known.in_memory.contains(&name.span);
        let is_kept = is_kept || matches!(ty.ty, Type::Builtin(ast::BuiltinType::Mutex));
        if is_kept {
            return self.kept_variable(name, &ty, it.initial.as_ref());
        }
        // A name may be used in what it starts with: `malloc(sizeof(*p))`.
        let storage = Storage::Known(zero(&ty.ty));
        let (text, span) = (name.text.clone(), name.span);
        self.state.declare(Variable { name: text, ty: Rc::clone(&ty), storage, is_changed: false, span });
        let value = match &it.initial {
            Some(ast::Initial::Expr(value)) => Some(self.value(value)?),
            Some(ast::Initial::List(list, span)) => match list.as_slice() {
                [(_, ast::Initial::Expr(value))] => Some(self.value(value)?),
                _ => return self.refuse(*span, "a list for a single value", "give one value"),
            },
            None => None,
        };
        self.register_variable(name, &ty, value)
    }

    /// A variable that only its thread sees.
    pub(super) fn register_variable(
        &mut self,
        name: &ast::Name,
        ty: &Rc<Qualified>,
        value: Option<Value>,
    ) -> Option<()> {
        let is_changed = self.state.frame().changed.contains(&name.text);
        let has_value = value.is_some();
        let value = self.converted(value.unwrap_or_else(|| zero(&ty.ty)), ty);
        let is_known = value.is_fixed() && (self.state.is_straight || !is_changed);
        let is_part = matches!(&value, Value::Pointer(it) if !is_changed && !matches!(it.what, Points::Dynamic(_)));
        let is_stable = matches!(&value, Value::Number(it, _) if !is_changed && self.state.is_stable(it));
        let (text, span) = (name.text.clone(), name.span);
        let storage = if is_known || is_part || is_stable || matches!(value, Value::Function(_)) {
            Storage::Known(value)
        } else {
            let raw = self.raw(value, ty, span)?;
            let local = self.state.thread.register(&text, span);
            let first = match raw {
                Expr::Const(_) if !has_value => First::Constant(0),
                Expr::Const(value) => First::Constant(value),
                raw @ Expr::Var(_) | raw @ Expr::Unary(..) | raw @ Expr::Binary(..) => First::Value(raw),
            };
            self.state.emit(Kind::Let(local, first), span);
            if !is_changed {
                self.state.stable.insert(local);
            }
            Storage::Register(local)
        };
        self.state.declare(Variable { name: text, ty: Rc::clone(ty), storage, is_changed, span });
        Some(())
    }

    /// A variable of a function that is in memory.
    fn kept_variable(&mut self, name: &ast::Name, ty: &Rc<Qualified>, initial: Option<&'a ast::Initial>) -> Option<()> {
        let text = format!("{}.{}", self.state.thread.name, name.text);
        let unique = format!("{text}@{}", name.span.start);
        let (thread, is_unset) = (Some(self.state.thread.name.clone()), initial.is_none());
        let made = Made { name: text, ty: Rc::clone(ty), span: name.span, thread, is_unset };
        let object = self.made(&unique, &made);
        let storage = Storage::Object(object);
        let variable =
            Variable { name: name.text.clone(), ty: Rc::clone(ty), storage, is_changed: true, span: name.span };
        self.state.declare(variable);
        let whole = self.memory.whole(object);
        initial.map_or(Some(()), |initial| self.initialize(&whole, initial))
    }

    fn static_variable(&mut self, name: &ast::Name, ty: &Rc<Qualified>, it: &'a ast::Declaration) -> Option<()> {
        let own = if it.storage == ast::Storage::ThreadLocal { self.state.thread.name.clone() } else { String::new() };
        let unique = format!("{own}{}@{}", name.text, name.span.start);
        let object = match self.locals.get(&unique) {
            Some(&object) => object,
            None => {
                let object = self.memory.object(&unique, ty, name.span, &self.names);
                self.locals.insert(unique, object);
                if let Some(initial) = &it.initial {
                    let was = (self.state.is_alone, self.state.is_straight);
                    (self.state.is_alone, self.state.is_straight) = (true, true);
                    let whole = self.memory.whole(object);
                    let found = self.initialize(&whole, initial);
                    (self.state.is_alone, self.state.is_straight) = was;
                    found?;
                }
                object
            }
        };
        let storage = Storage::Object(object);
        let ty = Rc::clone(ty);
        self.state.declare(Variable { name: name.text.clone(), ty, storage, is_changed: true, span: name.span });
        Some(())
    }
}

/// What a variable holds that nothing is said of.
fn zero(ty: &Type) -> Value {
    match ty {
        Type::Pointer(to) => Value::Pointer(Pointer { to: Rc::clone(to), what: Points::Null }),
        ty @ Type::Void
        | ty @ Type::Bool
        | ty @ Type::Integer(_)
        | ty @ Type::Array(..)
        | ty @ Type::Struct(_)
        | ty @ Type::Function
        | ty @ Type::Builtin(_) => Value::Number(Expr::Const(0), ty.integer().unwrap_or(Integer::INT)),
    }
}
