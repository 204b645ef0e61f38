//! Types with their names looked up.

use std::rc::Rc;

use crate::ast::BuiltinType;

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    /// `_Bool`
    Bool,
    Integer(Integer),
    Pointer(Rc<Qualified>),
    /// So many of them.
    Array(Rc<Qualified>, u64),
    /// By its number in the list of structures.
    Struct(usize),
    /// A function, of which only the address is used.
    Function,
    Builtin(BuiltinType),
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub bits: u8,
    pub is_signed: bool,
}

/// A type with what is said of its accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Qualified {
    pub ty: Type,
    pub is_atomic: bool,
    pub is_volatile: bool,
}

impl Integer {
    pub(crate) const INT: Self = Self { bits: 32, is_signed: true };

    /// What both operands are made before an operator is applied.
    pub(crate) fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bits.cmp(&b.bits) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal => Self { bits: a.bits, is_signed: a.is_signed && b.is_signed },
        }
    }

    /// Small integers are calculated with as `int`.
    pub(crate) fn promoted(self) -> Self {
        if self.bits < Self::INT.bits { Self::INT } else { self }
    }

    /// The largest value of an unsigned type, if it can be calculated with.
    pub(crate) fn mask(self) -> Option<i64> {
        (!self.is_signed && self.bits < 64).then(|| (1 << self.bits) - 1)
    }
}

impl Type {
    /// A type without qualifiers.
    pub(crate) fn plain(self) -> Qualified {
        Qualified { ty: self, is_atomic: false, is_volatile: false }
    }

    /// What it is calculated with as, if it is a number.
    pub(crate) fn integer(&self) -> Option<Integer> {
        match self {
            Self::Bool => Some(Integer { bits: 8, is_signed: false }),
            Self::Integer(it) => Some(*it),
            Self::Builtin(BuiltinType::MemoryOrder | BuiltinType::Thread) => Some(Integer::INT),
            Self::Void | Self::Pointer(_) | Self::Array(..) | Self::Struct(_) | Self::Function | Self::Builtin(_) => {
                None
            }
        }
    }

    /// Whether it is kept in one cell of memory.
    pub(crate) fn is_scalar(&self) -> bool {
        match self {
            Self::Bool | Self::Integer(_) | Self::Pointer(_) => true,
            Self::Builtin(BuiltinType::Attributes | BuiltinType::File | BuiltinType::VaList) => false,
            Self::Builtin(BuiltinType::Barrier | BuiltinType::Condition) => false,
            Self::Builtin(_) => true,
            Self::Void | Self::Array(..) | Self::Struct(_) | Self::Function => false,
        }
    }
}

/// A structure.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    pub name: String,
    /// None until it is defined.
    pub fields: Option<Vec<(String, Qualified)>>,
}
