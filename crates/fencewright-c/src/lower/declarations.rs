//! Variables of functions: known, in registers, or in memory.

use std::rc::Rc;

use fencewright::frontend::hir::{Expr, First, LocalId, Operand, StmtKind as Kind};
use fencewright::program::{BinaryOp as Op, Misuse};
use fencewright::source::{Diagnostic, Span};

use crate::ast::{self, TypeKind};
use crate::types::{Integer, Qualified, Type};

use super::assigned::may_be_unset;
use super::places::test;
use super::thread::{IsSet, Storage, Variable, VariableId};
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
        let is_set = IsSet::Known(true);
        self.state.declare(Variable { name: text, ty: Rc::clone(&ty), storage, is_changed: false, span, is_set });
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
        let may_be_unset = !has_value && self.may_be_unset(&name.text);
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
        let is_set = match storage {
            Storage::Register(_) if may_be_unset => IsSet::Register(self.set_register(false, span)),
            Storage::Known(_) | Storage::Object(_) | Storage::Register(_) => IsSet::Known(!may_be_unset),
        };
        self.state.declare(Variable { name: text, ty: Rc::clone(ty), storage, is_changed, span, is_set });
        Some(())
    }

    /// A register that says whether a variable was assigned to.
    pub(super) fn set_register(&mut self, is_set: bool, span: Span) -> LocalId {
        let local = self.state.temporary(span);
        self.state.thread.locals[local].is_boolean = true;
        self.state.emit(Kind::Let(local, First::Constant(i64::from(is_set))), span);
        local
    }

    /// Whether a variable of the function that is around may be read before anything is assigned to it.
    fn may_be_unset(&mut self, name: &str) -> bool {
        let function = self.state.frame().function.clone();
        let Some(&tree) = self.functions.get(function.as_str()) else { return false };
        self.unset.entry(function).or_insert_with(|| may_be_unset(&tree.body)).contains(name)
    }

    /// A variable that is read was assigned to.
    pub(super) fn was_assigned(&mut self, id: VariableId, span: Span) {
        match self.state.variables[id.0].is_set {
            IsSet::Known(true) => {}
            IsSet::Known(false) => self.misused(Misuse::Uninitialized, span),
            IsSet::Register(local) => {
                let is_set = Expr::binary(Op::Ne, Expr::Var(Operand::Local(local)), Expr::Const(0));
                self.state.emit(Kind::Check(test(is_set, span), Misuse::Uninitialized), span);
            }
        }
    }

    /// Notes that something is assigned to a variable.
    pub(super) fn note_assigned(&mut self, id: VariableId, span: Span) {
        match self.state.variables[id.0].is_set {
            IsSet::Known(true) => {}
            IsSet::Known(false) => self.state.variables[id.0].is_set = IsSet::Known(true),
            IsSet::Register(local) => self.state.emit(Kind::Assign(local, Expr::Const(1)), span),
        }
    }

    /// A variable of a function that is in memory.
    fn kept_variable(&mut self, name: &ast::Name, ty: &Rc<Qualified>, initial: Option<&'a ast::Initial>) -> Option<()> {
        let text = format!("{}.{}", self.state.thread.name, name.text);
        let unique = format!("{text}@{}", name.span.start);
        let (thread, is_unset) = (Some(self.state.thread.name.clone()), initial.is_none());
        let made = Made { name: text, ty: Rc::clone(ty), span: name.span, thread, is_unset, n_slots: None };
        let object = self.made(&unique, &made);
        let storage = Storage::Object(object);
        let (text, span, is_set) = (name.text.clone(), name.span, IsSet::Known(true));
        let variable = Variable { name: text, ty: Rc::clone(ty), storage, is_changed: true, span, is_set };
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
        let (text, span, is_set) = (name.text.clone(), name.span, IsSet::Known(true));
        self.state.declare(Variable { name: text, ty, storage, is_changed: true, span, is_set });
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
