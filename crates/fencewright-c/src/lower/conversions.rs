//! Values of one type as values of another, and as the numbers that stand for them in memory.

use std::rc::Rc;

use fencewright::frontend::hir::Expr;
use fencewright::source::Span;

use crate::types::{Integer, Qualified, Type};

use super::Lowering;
use super::expressions::wrapped;
use super::places::{Named, linear, plus};
use super::value::{Base, Pointer, Points, Target, Value};

impl Lowering<'_> {
    /// What a number in memory or in a register means.
    pub(super) fn typed(&self, raw: Expr, ty: &Qualified) -> Value {
        match &ty.ty {
            Type::Pointer(to) => {
                let what = if matches!(raw, Expr::Const(0)) { Points::Null } else { Points::Dynamic(raw) };
                Value::Pointer(Pointer { to: Rc::clone(to), what })
            }
            ty @ Type::Void
            | ty @ Type::Bool
            | ty @ Type::Integer(_)
            | ty @ Type::Array(..)
            | ty @ Type::Struct(_)
            | ty @ Type::Function
            | ty @ Type::Builtin(_) => Value::Number(raw, ty.integer().unwrap_or(Integer::INT)),
        }
    }

    /// The number that stands for a value in memory or in a register.
    pub(super) fn raw(&mut self, value: Value, ty: &Qualified, span: Span) -> Option<Expr> {
        match self.converted(value, ty) {
            Value::Number(expr, _) => Some(expr),
            Value::Pointer(it) => match it.what {
                Points::Null => Some(Expr::Const(0)),
                Points::Dynamic(expr) => Some(expr),
                Points::Known(target) => self.number_of(&target, span),
                Points::Integer(Expr::Const(value)) => Some(self.marked_pointer(value)),
                Points::Integer(_) => self.refuse(span, "an integer is kept as a pointer", "keep it as an integer"),
                Points::Part(through) => {
                    self.at_each(&Named::Through(*through), span, &mut |it, target| it.number_of(target, span))
                }
            },
            Value::Function(name) => {
                self.refuse(span, &format!("a pointer to the function `{name}` is kept"), "call the function by name")
            }
            Value::Structure(_) => self.refuse(span, "a structure is no single value", "name one of its fields"),
            Value::Void => self.refuse(span, "this has no value", "a function without one is called for its effects"),
        }
    }

    /// A constant that is kept as a pointer, such as `(void *)1`: below zero, where nothing is pointed at.
    pub(super) fn marked_pointer(&mut self, value: i64) -> Expr {
        self.known.has_marks |= value != 0;
        Expr::Const(mark(value))
    }

    /// The number of what a pointer points at.
    fn number_of(&mut self, target: &Target, span: Span) -> Option<Expr> {
        if let Base::Variable(id) = target.base {
            // Its address gets away, so it is in memory from the next pass on.
            let span = self.state.variables[id.0].span;
            self.known.in_memory.insert(span);
            return Some(Expr::Const(0));
        }
        match self.known.numbers.run_of(target, &self.memory) {
            Some((first, shape)) => Some(plus(linear(&target.indices, &shape), Expr::Const(first))),
            None => {
                let help = "keep a pointer to a variable, a field or a cell";
                self.refuse(span, "a pointer to something that is not kept in cells", help)
            }
        }
    }

    /// A value as one of another type.
    pub(super) fn converted(&self, value: Value, ty: &Qualified) -> Value {
        match (value, &ty.ty) {
            (Value::Number(expr, _), Type::Bool) => {
                let is = match expr {
                    Expr::Const(it) => Expr::Const(i64::from(it != 0)),
                    expr @ Expr::Var(_) | expr @ Expr::Unary(..) | expr @ Expr::Binary(..) => {
                        super::conditions::truth_of(expr)
                    }
                };
                Value::Number(is, Integer { bits: 8, is_signed: false })
            }
            (Value::Number(expr, from), Type::Integer(to)) => {
                let may_change = to.bits < from.bits || from.is_signed && !to.is_signed;
                let expr = if may_change && !to.is_signed { wrapped(expr, *to) } else { expr };
                Value::Number(expr, *to)
            }
            (Value::Number(expr, _), Type::Pointer(to)) => {
                let what = if matches!(expr, Expr::Const(0)) { Points::Null } else { Points::Integer(expr) };
                Value::Pointer(Pointer { to: Rc::clone(to), what })
            }
            (Value::Pointer(it), Type::Pointer(to)) => {
                // A pointer to anything keeps what it points to.
                let to = if to.ty == Type::Void { it.to } else { Rc::clone(to) };
                Value::Pointer(Pointer { to, what: it.what })
            }
            (Value::Pointer(Pointer { what: Points::Integer(expr), .. }), Type::Integer(to)) => {
                Value::Number(expr, *to)
            }
            (Value::Pointer(Pointer { what: Points::Null, .. }), Type::Integer(to)) => {
                Value::Number(Expr::Const(0), *to)
            }
            (value, _) => value,
        }
    }

    /// `(T) e`
    pub(super) fn cast(&mut self, value: Value, ty: &Qualified, span: Span) -> Option<Value> {
        match (self.converted(value, ty), &ty.ty) {
            (_, Type::Void) => Some(Value::Void),
            (Value::Pointer(_), Type::Integer(_)) => {
                self.refuse(span, "a pointer is cast to an integer", "compare pointers as they are")
            }
            (Value::Pointer(Pointer { to: from, what: Points::Dynamic(_) }), Type::Pointer(to))
                if !may_be_cast(&from, to) =>
            {
                let help = "use pointers to one type of structure";
                self.refuse(span, "a pointer is cast to one of another type", help)
            }
            (Value::Pointer(it), Type::Pointer(to)) => {
                let is_known = matches!(it.what, Points::Known(_) | Points::Part(_));
                let to = if to.ty == Type::Void && is_known { it.to } else { Rc::clone(to) };
                Some(Value::Pointer(Pointer { to, what: it.what }))
            }
            (value, _) => Some(value),
        }
    }
}

/// Whether a pointer that is not known may be taken for one to another type.
fn may_be_cast(from: &Qualified, to: &Qualified) -> bool {
    from.ty == to.ty || from.ty == Type::Void || to.ty == Type::Void
}

/// The number of a constant that is kept as a pointer.
pub(super) fn mark(value: i64) -> i64 {
    value.checked_abs().map_or(i64::MIN, |it| -it)
}
