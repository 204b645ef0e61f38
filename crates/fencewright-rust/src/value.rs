//! Values while a program is lowered: trees whose leaves are expressions over registers.
//!
//! A structure, a tuple, an enumeration is known as such, and only its numbers may have to be found out. A pointer is
//! known to point somewhere, or is the number of what it points at.

use std::collections::BTreeMap;
use std::rc::Rc;

use fencewright::frontend::hir::Expr;

use crate::ast::{Closure, Function};
use crate::types::{Cell, Integer, Kind, Lock, OPTION, RESULT, Type};

/// A variable of a thread, by its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VariableId(pub usize);

/// Something in memory, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectId(pub usize);

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A number or a truth value.
    Number(Expr, Type),
    Tuple(Vec<Value>),
    Struct(usize, Vec<Value>),
    Array(Vec<Value>),
    Enum(Box<Enum>),
    /// An atomic before it is kept anywhere.
    Atomic(Box<Value>),
    Cell(Cell, Box<Value>),
    /// A lock with what it guards.
    Lock(Lock, Box<Value>),
    Pointer(Pointer),
    Closure(Rc<Closure>, Rc<Environment>),
    Function(Rc<Function>, Rc<Generics>),
    /// The constructor of a variant or of a structure.
    Constructor(Type, usize),
    /// A list whose length is known.
    List(Vec<Value>),
    Range(Box<Value>, Box<Value>),
    /// What a closure makes of a value, once it is asked for.
    Mapped(Box<Value>, Box<Value>),
    Order(Order),
    /// A thread, by its number; whether it is to be joined.
    Thread(usize),
    Scope,
    /// Memory that holds nothing yet.
    Unset,
    /// What has no part in what threads do to each other.
    Other,
    /// Control does not get here.
    Never,
}

/// A value of an enumeration.
#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub number: usize,
    /// Which variant.
    pub tag: Expr,
    /// What each variant has, as far as it may be that one.
    pub variants: Vec<Option<Vec<Value>>>,
    /// How much each variant has.
    pub sizes: Vec<usize>,
}

/// What closures know of the function around them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub names: BTreeMap<String, VariableId>,
    pub generics: Generics,
    pub module: Vec<String>,
}

/// Types for type parameters; `Self` is one of them.
pub(crate) type Generics = BTreeMap<String, Type>;

/// A pointer and what it points to.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    pub kind: Kind,
    pub to: Type,
    pub what: Points,
}

/// Where a pointer points.
#[derive(Clone, Debug)]
pub(crate) enum Points {
    Known(Place),
    /// To the target of this number; 0 is nowhere.
    Number(Expr),
}

/// A part of something that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub base: Base,
    pub steps: Vec<Step>,
    pub ty: Type,
}

/// What it is a part of.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    Variable(VariableId),
    Object(ObjectId),
    /// What a pointer of this number points at, and the type of that.
    Through(Expr, Type),
}

/// A step from the whole to a part.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Field(usize),
    Index(Expr),
}

/// A memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Value {
    pub(crate) const UNIT: Self = Self::Tuple(Vec::new());

    pub(crate) fn bool(expr: Expr) -> Self {
        Self::Number(expr, Type::Bool)
    }

    pub(crate) fn integer(value: i64, ty: Integer) -> Self {
        Self::Number(Expr::Const(value), Type::Integer(Some(ty)))
    }

    /// A variant that is known.
    pub(crate) fn variant(number: usize, tag: usize, sizes: Vec<usize>, fields: Vec<Self>) -> Self {
        let mut variants = vec![None; sizes.len()];
        variants[tag] = Some(fields);
        Self::Enum(Box::new(Enum { number, tag: Expr::Const(tag as i64), variants, sizes }))
    }

    /// `None`
    pub(crate) fn none() -> Self {
        Self::variant(OPTION, 0, vec![0, 1], Vec::new())
    }

    /// `Some(value)`
    pub(crate) fn some(value: Self) -> Self {
        Self::variant(OPTION, 1, vec![0, 1], vec![value])
    }

    /// `Some(value)` if that holds.
    pub(crate) fn some_if(condition: Expr, value: Self) -> Self {
        let variants = vec![Some(Vec::new()), Some(vec![value])];
        Self::Enum(Box::new(Enum { number: OPTION, tag: condition, variants, sizes: vec![0, 1] }))
    }

    /// `Ok(value)`
    pub(crate) fn ok(value: Self) -> Self {
        Self::variant(RESULT, 0, vec![1, 1], vec![value])
    }

    /// The constant that it is.
    pub(crate) fn constant(&self) -> Option<i64> {
        match self {
            Self::Number(Expr::Const(value), _) => Some(*value),
            _ => None,
        }
    }

    /// Whether control does not get here.
    pub(crate) fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }

    /// The value without cells and atomics around it.
    pub(crate) fn open(self) -> Self {
        match self {
            Self::Cell(_, inner) | Self::Atomic(inner) => inner.open(),
            it => it,
        }
    }
}

impl Place {
    /// A field.
    pub(crate) fn field(&self, at: usize, ty: Type) -> Self {
        let mut steps = self.steps.clone();
        steps.push(Step::Field(at));
        Self { base: self.base.clone(), steps, ty }
    }

    /// An element.
    pub(crate) fn at(&self, index: Expr, ty: Type) -> Self {
        let mut steps = self.steps.clone();
        steps.push(Step::Index(index));
        Self { base: self.base.clone(), steps, ty }
    }

    /// The same seen as another type.
    pub(crate) fn seen_as(&self, ty: Type) -> Self {
        Self { ty, ..self.clone() }
    }

    /// The fields on the way.
    pub(crate) fn fields(&self) -> Vec<usize> {
        let field = |it: &Step| match it {
            Step::Field(at) => Some(*at),
            Step::Index(_) => None,
        };
        self.steps.iter().filter_map(field).collect()
    }

    /// The indices on the way.
    pub(crate) fn indices(&self) -> Vec<Expr> {
        let index = |it: &Step| match it {
            Step::Index(index) => Some(index.clone()),
            Step::Field(_) => None,
        };
        self.steps.iter().filter_map(index).collect()
    }
}

impl Order {
    /// By its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Relaxed" => Self::Relaxed,
            "Acquire" => Self::Acquire,
            "Release" => Self::Release,
            "AcqRel" => Self::AcqRel,
            "SeqCst" => Self::SeqCst,
            _ => return None,
        })
    }
}
