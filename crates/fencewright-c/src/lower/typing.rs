//! The types of expressions, without doing anything.

use std::rc::Rc;

use crate::ast::{self, ExprKind, TypeKind, UnaryOp};
use crate::types::{Integer, Qualified, Type};

use super::Lowering;

impl Lowering<'_> {
    /// A type as it is written; that of an expression is asked for.
    pub(super) fn type_named(&mut self, it: &ast::Type) -> Option<Qualified> {
        match &it.kind {
            TypeKind::TypeOf(of) => self.type_of(of).map(|it| (*it).clone()),
            TypeKind::Pointer(to) => Some(Type::Pointer(Rc::new(self.type_named(to)?)).plain()),
            TypeKind::Void
            | TypeKind::Bool
            | TypeKind::Integer { .. }
            | TypeKind::Float(_)
            | TypeKind::Named(_)
            | TypeKind::Builtin(_)
            | TypeKind::Struct { .. }
            | TypeKind::Union { .. }
            | TypeKind::Enum { .. }
            | TypeKind::Array(..)
            | TypeKind::Function { .. }
            | TypeKind::Auto => self.names.resolve(it, &mut self.log),
        }
    }

    /// The type of an expression.
    pub(super) fn type_of(&mut self, it: &ast::Expr) -> Option<Rc<Qualified>> {
        let int = || Some(Rc::new(Type::Integer(Integer::INT).plain()));
        match &it.kind {
            ExprKind::Integer { bits, is_signed, .. } => {
                Some(Rc::new(Type::Integer(Integer { bits: *bits, is_signed: *is_signed }).plain()))
            }
            ExprKind::Name(name) => self.type_of_name(&name.text),
            ExprKind::Unary(UnaryOp::Not, _) | ExprKind::And(..) | ExprKind::Or(..) => int(),
            ExprKind::Unary(_, of) | ExprKind::Step { operand: of, .. } | ExprKind::Assign(_, of, _) => {
                self.type_of(of)
            }
            ExprKind::Binary(op, ..) if super::conditions::is_comparison(*op) => int(),
            ExprKind::Binary(_, left, right) => {
                let (left, right) = (self.type_of(left)?, self.type_of(right)?);
                match (left.ty.integer(), right.ty.integer()) {
                    (Some(a), Some(b)) => Some(Rc::new(Type::Integer(a.common(b)).plain())),
                    (None, _) => Some(left),
                    (_, None) => Some(right),
                }
            }
            ExprKind::Conditional(_, then, _) => self.type_of(then),
            ExprKind::Comma(_, last) => self.type_of(last),
            ExprKind::Member(of, field) => {
                let of = self.type_of(of)?;
                self.type_of_field(&of.ty, &field.text)
            }
            ExprKind::Arrow(of, field) => {
                let Type::Pointer(to) = &self.type_of(of)?.ty else { return None };
                self.type_of_field(&to.ty, &field.text)
            }
            ExprKind::Index(of, _) | ExprKind::Deref(of) => match &self.type_of(of)?.ty {
                Type::Pointer(to) | Type::Array(to, _) => Some(Rc::clone(to)),
                Type::Void | Type::Bool | Type::Integer(_) | Type::Struct(_) | Type::Function | Type::Builtin(_) => {
                    None
                }
            },
            ExprKind::AddressOf(of) => Some(Rc::new(Type::Pointer(self.type_of(of)?).plain())),
            ExprKind::Cast(ty, _) | ExprKind::Compound(ty, _) => self.type_named(ty).map(Rc::new),
            ExprKind::SizeOf(_) | ExprKind::SizeOfType(_) => {
                Some(Rc::new(Type::Integer(Integer { bits: 64, is_signed: false }).plain()))
            }
            ExprKind::Call(function, arguments) => self.type_of_call(function, arguments),
            ExprKind::String(text) => {
                let byte = Type::Integer(Integer { bits: 8, is_signed: true }).plain();
                Some(Rc::new(Type::Array(Rc::new(byte), text.len() as u64 + 1).plain()))
            }
            ExprKind::Type(ty) => self.type_named(ty).map(Rc::new),
            ExprKind::Statements(_) | ExprKind::Float(_) => int(),
        }
    }

    fn type_of_name(&mut self, name: &str) -> Option<Rc<Qualified>> {
        if let Some(id) = self.state.variable(name) {
            return Some(Rc::clone(&self.state.variables[id.0].ty));
        }
        if let Some(global) = self.globals.get(name) {
            return Some(Rc::clone(&global.ty));
        }
        Some(Rc::new(Type::Integer(Integer::INT).plain()))
    }

    fn type_of_field(&self, ty: &Type, field: &str) -> Option<Rc<Qualified>> {
        let Type::Struct(number) = ty else { return None };
        let fields = self.names.structures[*number].fields.as_ref()?;
        fields.iter().find(|it| it.0 == field).map(|it| Rc::new(it.1.clone()))
    }

    /// What a function gives; one of the system gives what its first argument points at, or an `int`.
    fn type_of_call(&mut self, function: &ast::Expr, arguments: &[ast::Expr]) -> Option<Rc<Qualified>> {
        if let ExprKind::Name(name) = &function.kind
            && let Some(&it) = self.functions.get(name.text.as_str())
        {
            return self.names.resolve(&it.returns, &mut self.log).map(Rc::new);
        }
        if let ExprKind::Name(name) = &function.kind
            && let Some(declared) = self.declared.get(&name.text)
        {
            let returns = declared.returns;
            return self.names.resolve(returns, &mut self.log).map(Rc::new);
        }
        if let Some(first) = arguments.first()
            && let Some(ty) = self.type_of(first)
            && let Type::Pointer(to) = &ty.ty
        {
            return Some(Rc::clone(to));
        }
        Some(Rc::new(Type::Integer(Integer::INT).plain()))
    }

    /// Whether an expression names an array.
    pub(super) fn is_array(&mut self, it: &ast::Expr) -> bool {
        self.type_of(it).is_some_and(|it| matches!(it.ty, Type::Array(..)))
    }
}

/// Whether an expression may change a variable.
pub(super) fn may_change(it: &ast::Expr) -> bool {
    match &it.kind {
        ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Call(..) | ExprKind::Statements(_) => true,
        ExprKind::Compound(..) => true,
        ExprKind::Unary(_, of)
        | ExprKind::Member(of, _)
        | ExprKind::Arrow(of, _)
        | ExprKind::Deref(of)
        | ExprKind::AddressOf(of)
        | ExprKind::Cast(_, of) => may_change(of),
        ExprKind::Binary(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Index(a, b) => may_change(a) || may_change(b),
        ExprKind::Conditional(a, b, c) => may_change(a) || may_change(b) || may_change(c),
        ExprKind::Integer { .. }
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Name(_)
        | ExprKind::SizeOf(_)
        | ExprKind::SizeOfType(_)
        | ExprKind::Type(_) => false,
    }
}
