//! Values while a program is lowered: numbers are expressions over registers, pointers are known where they can be.

use std::rc::Rc;

use fencewright::frontend::hir::Expr;

use crate::types::{Integer, Qualified, Type};

use super::memory::ObjectId;
use super::thread::VariableId;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number and its type.
    Number(Expr, Integer),
    Pointer(Pointer),
    /// The function of this name.
    Function(String),
    /// The structure that is kept there.
    Structure(Target),
    /// Nothing.
    Void,
}

/// A pointer and what it points to.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    pub to: Rc<Qualified>,
    pub what: Points,
}

/// Where a pointer points.
#[derive(Clone, Debug)]
pub(crate) enum Points {
    /// Nowhere.
    Null,
    /// There.
    Known(Target),
    /// To the target of this number; 0 is nowhere.
    Dynamic(Expr),
    /// To a part of what another pointer points at that is not known.
    Part(Box<Through>),
    /// It is an integer that was cast.
    Integer(Expr),
}

/// A part of what a pointer points at.
#[derive(Clone, Debug)]
pub(crate) struct Through {
    /// The number of what it points at.
    pub pointer: Expr,
    /// The type of that.
    pub to: Rc<Qualified>,
    pub fields: Vec<usize>,
    pub indices: Vec<Expr>,
    pub ty: Rc<Qualified>,
}

/// What is pointed at, or assigned to: a part of something that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub base: Base,
    /// The fields that lead there, by number.
    pub fields: Vec<usize>,
    /// The indices of the arrays on the way.
    pub indices: Vec<Expr>,
    /// Whether the last step was an index, so that its neighbours can be pointed at.
    pub is_element: bool,
    pub ty: Rc<Qualified>,
}

/// What it is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Object(ObjectId),
    Variable(VariableId),
}

impl Value {
    /// A constant of type `int`.
    pub(crate) fn int(value: i64) -> Self {
        Self::Number(Expr::Const(value), Integer::INT)
    }

    /// The constant that it is.
    pub(crate) fn constant(&self) -> Option<i64> {
        match self {
            Self::Number(Expr::Const(value), _) => Some(*value),
            Self::Pointer(Pointer { what: Points::Null, .. }) => Some(0),
            Self::Pointer(Pointer { what: Points::Integer(Expr::Const(value)), .. }) => Some(*value),
            Self::Pointer(Pointer { what: Points::Known(_), .. }) | Self::Function(_) => Some(1),
            Self::Number(..) | Self::Pointer(_) | Self::Structure(_) | Self::Void => None,
        }
    }

    /// Whether it stays what it is, whatever happens.
    pub(crate) fn is_fixed(&self) -> bool {
        match self {
            Self::Number(it, _) => matches!(it, Expr::Const(_)),
            Self::Pointer(it) => match &it.what {
                Points::Null => true,
                Points::Known(target) => target.is_fixed(),
                Points::Dynamic(it) | Points::Integer(it) => matches!(it, Expr::Const(_)),
                Points::Part(_) => false,
            },
            Self::Function(_) | Self::Void => true,
            Self::Structure(_) => false,
        }
    }
}

impl Target {
    /// Whether no index is to be found out.
    pub(crate) fn is_fixed(&self) -> bool {
        self.indices.iter().all(|it| matches!(it, Expr::Const(_)))
    }

    /// The first element, if it is an array.
    pub(crate) fn decayed(&self) -> Option<Self> {
        let Type::Array(of, _) = &self.ty.ty else { return None };
        Some(self.at(Expr::Const(0), Rc::clone(of)))
    }

    /// An element.
    pub(crate) fn at(&self, index: Expr, ty: Rc<Qualified>) -> Self {
        let mut indices = self.indices.clone();
        indices.push(index);
        Self { indices, is_element: true, ty, ..self.clone() }
    }

    /// A field.
    pub(crate) fn field(&self, number: usize, ty: &Qualified) -> Self {
        let mut fields = self.fields.clone();
        fields.push(number);
        Self { fields, is_element: false, ty: Rc::new(ty.clone()), ..self.clone() }
    }
}
