//! The names of types and constants, and what constant expressions are worth.

use std::collections::BTreeMap;
use std::rc::Rc;

use fencewright::source::Span;

use crate::ast::{self, BinaryOp, ExprKind, TypeKind, UnaryOp};
use crate::log::Log;
use crate::types::{Integer, Qualified, Structure, Type};

/// What names of types and constants mean.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) structures: Vec<Structure>,
    tags: BTreeMap<String, usize>,
    typedefs: BTreeMap<String, Qualified>,
    /// The types of variables outside functions, for their sizes.
    pub(crate) variables: BTreeMap<String, Type>,
    /// Enumeration constants.
    pub(crate) constants: BTreeMap<String, i64>,
    /// How many threads there are, for what is kept for each.
    pub(crate) n_threads: u64,
}

/// No array is longer.
const MAX_CELLS: i64 = 4096;

impl Names {
    /// No names yet, for so many threads.
    pub(crate) fn for_threads(n_threads: usize) -> Self {
        Self { n_threads: n_threads as u64, ..Self::default() }
    }

    /// Notes what a declaration says of types; its type, if that means something.
    pub(crate) fn declare(&mut self, it: &ast::Declaration, log: &mut Log) -> Option<Qualified> {
        let ty = self.resolve(&it.ty, log)?;
        if let (ast::Storage::Typedef, Some(name)) = (it.storage, &it.name) {
            self.typedefs.insert(name.text.clone(), ty.clone());
        }
        Some(ty)
    }

    /// A type with its names looked up.
    pub(crate) fn resolve(&mut self, it: &ast::Type, log: &mut Log) -> Option<Qualified> {
        let ty = match &it.kind {
            TypeKind::Void => Type::Void,
            TypeKind::Bool => Type::Bool,
            TypeKind::Integer { bits, is_signed } => Type::Integer(Integer { bits: *bits, is_signed: *is_signed }),
            TypeKind::Builtin(builtin) => Type::Builtin(*builtin),
            TypeKind::Named(name) => {
                let Some(known) = self.typedefs.get(&name.text).cloned() else {
                    log.error(name.span, format!("unknown type `{}`", name.text), "declare it with `typedef`");
                    return None;
                };
                let is_atomic = known.is_atomic || it.is_atomic;
                return Some(Qualified { is_atomic, is_volatile: known.is_volatile || it.is_volatile, ..known });
            }
            TypeKind::Struct { name, fields } => self.structure(name, fields.as_deref(), log)?,
            TypeKind::Enum { values, .. } => {
                self.enumeration(values.as_deref().unwrap_or(&[]), log);
                Type::Integer(Integer::INT)
            }
            TypeKind::Pointer(to) => Type::Pointer(Rc::new(self.resolve(to, log)?)),
            TypeKind::Array(of, length) => {
                let of = self.resolve(of, log)?;
                // The length of an array without one comes from its initial value.
                Type::Array(Rc::new(of), length.as_deref().map_or(Some(0), |it| self.length(it, log))?)
            }
            TypeKind::Function { .. } => Type::Function,
            TypeKind::Float(words) => return refused(log, it.span, words, "has no exact meaning here; use integers"),
            TypeKind::Union { .. } => return refused(log, it.span, "union", "use a structure"),
            TypeKind::TypeOf(_) | TypeKind::Auto => {
                return refused(log, it.span, "typeof", "write the type out");
            }
        };
        Some(Qualified { ty, is_atomic: it.is_atomic, is_volatile: it.is_volatile })
    }

    fn structure(&mut self, name: &ast::Name, fields: Option<&[ast::Declaration]>, log: &mut Log) -> Option<Type> {
        let number = *self.tags.entry(name.text.clone()).or_insert_with(|| {
            self.structures.push(Structure { name: name.text.clone(), fields: None });
            self.structures.len() - 1
        });
        if let Some(fields) = fields {
            let mut known = Vec::new();
            for field in fields {
                let ty = self.resolve(&field.ty, log)?;
                let Some(name) = &field.name else {
                    log.error(field.span, "a field without a name", "give it one");
                    return None;
                };
                if !self.is_complete(&ty.ty) {
                    let message = format!("`{}` holds a structure that is not known yet", name.text);
                    log.error(field.span, message, "hold a pointer to it, or define it before");
                    return None;
                }
                known.push((name.text.clone(), ty));
            }
            // Otherwise a structure could hold itself.
            if self.structures[number].fields.as_ref().is_some_and(|it| *it != known) {
                let message = format!("a second `struct {}` with other fields", name.text);
                log.error(name.span, message, "give it another name");
                return None;
            }
            self.structures[number].fields = Some(known);
        }
        Some(Type::Struct(number))
    }

    /// Whether it is known what a value is made of.
    fn is_complete(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(of, _) => self.is_complete(&of.ty),
            Type::Struct(number) => self.structures[*number].fields.is_some(),
            Type::Void | Type::Bool | Type::Integer(_) | Type::Pointer(_) | Type::Function | Type::Builtin(_) => true,
        }
    }

    fn enumeration(&mut self, values: &[(ast::Name, Option<ast::Expr>)], log: &mut Log) {
        let mut next = 0;
        for (name, value) in values {
            if let Some(value) = value {
                let Some(value) = self.constant(value) else {
                    log.error(value.span, "this is no constant", "the values of an enumeration are constants");
                    return;
                };
                next = value;
            }
            self.constants.insert(name.text.clone(), next);
            next += 1;
        }
    }

    fn length(&self, it: &ast::Expr, log: &mut Log) -> Option<u64> {
        match self.constant(it) {
            Some(length @ 0..=MAX_CELLS) => Some(length as u64),
            Some(length) => {
                let help = format!("an array here has at most {MAX_CELLS} cells");
                log.error(it.span, format!("an array of {length} cells"), help);
                None
            }
            None => {
                log.error(it.span, "the length of an array is no constant", "use a constant, or `-D NAME=4`");
                None
            }
        }
    }

    /// The value of a constant expression.
    pub(crate) fn constant(&self, it: &ast::Expr) -> Option<i64> {
        match &it.kind {
            ExprKind::Integer { value, .. } => i64::try_from(*value).ok(),
            ExprKind::Name(name) => self.constants.get(&name.text).copied(),
            ExprKind::Unary(op, operand) => unary(*op, self.constant(operand)?),
            ExprKind::Binary(op, left, right) => binary(*op, self.constant(left)?, self.constant(right)?),
            ExprKind::And(left, right) => Some(i64::from(self.constant(left)? != 0 && self.constant(right)? != 0)),
            ExprKind::Or(left, right) => Some(i64::from(self.constant(left)? != 0 || self.constant(right)? != 0)),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.constant(if self.constant(condition)? != 0 { then } else { otherwise })
            }
            ExprKind::Cast(_, operand) => self.constant(operand),
            ExprKind::SizeOf(of) => self.variable_type(of).map(|ty| self.size(ty)),
            ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::Comma(..)
            | ExprKind::Call(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::AddressOf(_)
            | ExprKind::SizeOfType(_)
            | ExprKind::Compound(..)
            | ExprKind::Statements(_)
            | ExprKind::Type(_) => None,
        }
    }

    /// The type of a variable outside functions, or of its elements.
    fn variable_type(&self, it: &ast::Expr) -> Option<&Type> {
        match &it.kind {
            ExprKind::Name(name) => self.variables.get(&name.text),
            ExprKind::Index(of, _) | ExprKind::Deref(of) => match self.variable_type(of)? {
                Type::Array(of, _) | Type::Pointer(of) => Some(&of.ty),
                Type::Void | Type::Bool | Type::Integer(_) | Type::Struct(_) | Type::Function | Type::Builtin(_) => {
                    None
                }
            },
            ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Conditional(..)
            | ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::Comma(..)
            | ExprKind::Call(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::AddressOf(_)
            | ExprKind::Cast(..)
            | ExprKind::SizeOfType(_)
            | ExprKind::SizeOf(_)
            | ExprKind::Compound(..)
            | ExprKind::Statements(_)
            | ExprKind::Type(_) => None,
        }
    }

    /// How many bytes a type takes, as on the machines that we know.
    pub(crate) fn size(&self, ty: &Type) -> i64 {
        match ty {
            Type::Void | Type::Bool | Type::Function => 1,
            Type::Integer(it) => i64::from(it.bits / 8),
            Type::Pointer(_) => 8,
            Type::Array(of, n) => self.size(&of.ty) * *n as i64,
            Type::Struct(number) => {
                let fields = self.structures[*number].fields.as_deref().unwrap_or(&[]);
                let end = fields.iter().fold(0, |at, (_, it)| {
                    let size = self.size(&it.ty);
                    rounded(at, size.clamp(1, 8)) + size
                });
                rounded(end, fields.iter().map(|(_, it)| self.size(&it.ty).clamp(1, 8)).max().unwrap_or(1))
            }
            Type::Builtin(_) => 8,
        }
    }
}

fn rounded(at: i64, to: i64) -> i64 {
    (at + to - 1) / to * to
}

fn refused(log: &mut Log, span: Span, what: &str, help: &str) -> Option<Qualified> {
    log.error(span, format!("`{what}` is not supported"), help);
    None
}

/// An operator on constants.
pub(crate) fn unary(op: UnaryOp, it: i64) -> Option<i64> {
    match op {
        UnaryOp::Plus => Some(it),
        UnaryOp::Minus => it.checked_neg(),
        UnaryOp::Not => Some(i64::from(it == 0)),
        UnaryOp::Complement => Some(!it),
    }
}

/// An operator on constants.
pub(crate) fn binary(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    let shift = || u32::try_from(b).ok().filter(|it| *it < 63);
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::ShiftLeft => a.checked_mul(1_i64.checked_shl(shift()?)?),
        BinaryOp::ShiftRight => Some(a >> shift()?),
        BinaryOp::Less => Some(i64::from(a < b)),
        BinaryOp::LessEqual => Some(i64::from(a <= b)),
        BinaryOp::Greater => Some(i64::from(a > b)),
        BinaryOp::GreaterEqual => Some(i64::from(a >= b)),
        BinaryOp::Equal => Some(i64::from(a == b)),
        BinaryOp::NotEqual => Some(i64::from(a != b)),
        BinaryOp::BitAnd => Some(a & b),
        BinaryOp::BitXor => Some(a ^ b),
        BinaryOp::BitOr => Some(a | b),
    }
}
