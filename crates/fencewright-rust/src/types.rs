//! Types with their names looked up.

use std::rc::Rc;

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    /// None for a literal of which it is not said.
    Integer(Option<Integer>),
    Tuple(Vec<Type>),
    Array(Rc<Type>, u64),
    /// By its number in the list of structures, with its arguments.
    Struct(usize, Vec<Type>),
    /// By its number in the list of enumerations.
    Enum(usize, Vec<Type>),
    /// `AtomicUsize`, `AtomicPtr<T>`
    Atomic(Rc<Type>),
    Cell(Cell, Rc<Type>),
    Lock(Lock, Rc<Type>),
    Pointer(Kind, Rc<Type>),
    /// `&str`, by the number of the text.
    Text,
    /// A float, a time: nothing is known of a value but that it is read and written.
    Opaque,
    /// What has no part in what threads do to each other.
    Other,
    /// It is not said, or not yet known.
    Unknown,
}

/// An integer type. `usize` is taken for one of 32 bits, so that all its values can be calculated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    pub bits: u8,
    pub is_signed: bool,
}

/// What data is kept in, so that it can be changed through `&`, or is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// `UnsafeCell`, and structures of libraries that only pad.
    Open,
    /// `Cell`, which gives copies.
    Copied,
    /// `MaybeUninit`, `ManuallyDrop`: what is in it is not dropped.
    Kept,
}

/// What std has as a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    Mutex,
    RwLock,
    Condvar,
    OnceLock,
}

/// What a pointer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `&T`, `&mut T`
    Reference,
    /// `*const T`, `*mut T`
    Raw,
    /// `NonNull<T>`
    NonNull,
    Box,
    Arc,
    /// `MutexGuard`, and those of `RwLock`.
    Guard(Guard),
}

/// What a guard gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Mutex,
    Read,
    Write,
}

/// The numbers of enumerations that std has.
pub(crate) const OPTION: usize = 0;
pub(crate) const RESULT: usize = 1;

impl Integer {
    pub(crate) const USIZE: Self = Self { bits: 32, is_signed: false };
    pub(crate) const I32: Self = Self { bits: 32, is_signed: true };
    pub(crate) const U8: Self = Self { bits: 8, is_signed: false };

    /// By its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (is_signed, bits) = match name {
            "u8" => (false, 8),
            "u16" => (false, 16),
            "u32" | "usize" | "char" => (false, 32),
            "u64" => (false, 64),
            "i8" => (true, 8),
            "i16" => (true, 16),
            "i32" | "isize" => (true, 32),
            "i64" => (true, 64),
            _ => return None,
        };
        Some(Self { bits, is_signed })
    }

    /// The least and the greatest value; of 64 bits, those that can be calculated with.
    pub(crate) fn bounds(self) -> (i64, i64) {
        match (self.bits, self.is_signed) {
            (64, true) => (i64::MIN, i64::MAX),
            (64, false) => (0, i64::MAX),
            (bits, true) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (bits, false) => (0, (1 << bits) - 1),
        }
    }
}

impl Type {
    pub(crate) const UNIT: Self = Self::Tuple(Vec::new());

    /// Whether it is kept in one cell of memory.
    pub(crate) fn is_scalar(&self) -> bool {
        match self {
            Self::Bool | Self::Integer(_) | Self::Pointer(..) | Self::Atomic(_) => true,
            Self::Text | Self::Opaque => true,
            Self::Lock(Lock::Condvar, _) => true,
            Self::Cell(_, inner) => inner.is_scalar(),
            Self::Tuple(_) | Self::Array(..) | Self::Struct(..) | Self::Enum(..) => false,
            Self::Lock(..) | Self::Other | Self::Unknown => false,
        }
    }

    /// Whether fewer than so many types are in it, itself among them; it takes no longer than to count so far.
    pub(crate) fn is_smaller_than(&self, limit: usize) -> bool {
        let (mut open, mut n) = (vec![self], 0);
        while let Some(it) = open.pop() {
            n += 1;
            match it {
                _ if n >= limit => return false,
                Self::Tuple(all) | Self::Struct(_, all) | Self::Enum(_, all) => open.extend(all),
                Self::Array(inner, _) | Self::Atomic(inner) | Self::Cell(_, inner) => open.push(inner),
                Self::Lock(_, inner) | Self::Pointer(_, inner) => open.push(inner),
                Self::Bool | Self::Integer(_) | Self::Text | Self::Opaque | Self::Other | Self::Unknown => {}
            }
        }
        true
    }

    /// The type without cells around it.
    pub(crate) fn open(&self) -> &Self {
        match self {
            Self::Cell(_, inner) => inner.open(),
            it => it,
        }
    }

    /// The type of what is in an atomic, or the type itself.
    pub(crate) fn inner(&self) -> &Self {
        match self.open() {
            Self::Atomic(inner) => inner,
            it => it,
        }
    }

    /// Whether nothing is known of it.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.open(), Self::Unknown)
    }

    /// Whether pointers to one may point to the other, as far as can be told without arguments.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self.open(), other.open()) {
            (Self::Unknown | Self::Other, _) | (_, Self::Unknown | Self::Other) => true,
            (Self::Struct(a, _), Self::Struct(b, _)) | (Self::Enum(a, _), Self::Enum(b, _)) => a == b,
            (Self::Atomic(a), Self::Atomic(b)) => a.is_like(b),
            (Self::Array(a, _), Self::Array(b, _)) => a.is_like(b),
            (Self::Integer(a), Self::Integer(b)) => a == b || a.is_none() || b.is_none(),
            (Self::Tuple(a), Self::Tuple(b)) => a.is_empty() || b.is_empty() || a.len() == b.len(),
            (Self::Pointer(..), Self::Pointer(..)) => true,
            (Self::Lock(a, _), Self::Lock(b, _)) => a == b,
            // `*mut ()` and `*mut u8` stand for pointers to anything.
            (Self::Tuple(all), _) | (_, Self::Tuple(all)) => all.is_empty(),
            (a, b) => a == b,
        }
    }
}
