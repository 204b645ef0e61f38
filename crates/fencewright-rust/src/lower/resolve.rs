//! What a type that is written means, what it is made of, and constants that are needed for it.

use std::rc::Rc;

use crate::ast::{self, Binary, ExprKind, Path, TypeKind, Unary};
use crate::memory::Leaf;
use crate::names::Named;
use crate::types::{Cell, Guard, Integer, Kind, Lock, OPTION, RESULT, Type};
use crate::value::Generics;

use super::Lowering;

/// What a type is made of.
pub(super) enum Parts {
    /// One cell: the type in it, its bounds, and whether it is not atomic.
    Scalar((i64, i64), bool),
    /// Fields with their names.
    Fields(Vec<(String, Type)>),
    Elements(Type, u64),
    Nothing,
}

/// For one type, no more aliases are followed: each may name others twice.
const MAX_ALIASES: usize = 1_000;

/// An alias stands for no type with more types in it: each that names its parameter twice doubles what it is given.
const MAX_TYPE: usize = 10_000;

/// A type is being read.
struct Reading<'a> {
    /// The types of parameters.
    generics: &'a Generics,
    module: &'a [String],
    /// The alias whose type it is, and what was read when it was met.
    alias: Option<(usize, &'a Reading<'a>)>,
    /// How many more aliases are followed.
    left: &'a std::cell::Cell<usize>,
}

impl Reading<'_> {
    /// Whether this is part of what an alias stands for.
    fn is_within(&self, alias: usize) -> bool {
        self.alias.is_some_and(|(number, outer)| number == alias || outer.is_within(alias))
    }
}

impl Lowering<'_> {
    /// The type of this text, where these are the types of parameters.
    pub(super) fn ty(&self, it: &ast::Type, generics: &Generics, module: &[String]) -> Type {
        let left = std::cell::Cell::new(MAX_ALIASES);
        self.ty_within(it, &Reading { generics, module, alias: None, left: &left })
    }

    fn ty_within(&self, it: &ast::Type, reading: &Reading<'_>) -> Type {
        let inner = |it: &ast::Type| self.ty_within(it, reading);
        match &it.kind {
            TypeKind::Path(path) => self.path_type(path, reading),
            TypeKind::Reference(to) => match inner(to) {
                Type::Text => Type::Text,
                to => Type::Pointer(Kind::Reference, Rc::new(to)),
            },
            TypeKind::Raw(to) => Type::Pointer(Kind::Raw, Rc::new(inner(to))),
            TypeKind::Array(of, len) => match self.constant(len, reading.generics, reading.module, 0) {
                Some(len) => Type::Array(Rc::new(inner(of)), u64::try_from(len).unwrap_or(0)),
                None => Type::Unknown,
            },
            TypeKind::Slice(_) | TypeKind::Any => Type::Unknown,
            TypeKind::Tuple(all) => Type::Tuple(all.iter().map(inner).collect()),
            TypeKind::Never => Type::UNIT,
        }
    }

    fn path_type(&self, path: &Path, reading: &Reading<'_>) -> Type {
        let module = reading.module;
        if let Some(known) = path.single().and_then(|it| reading.generics.get(it)) {
            return known.clone();
        }
        if path.of.is_some() {
            return Type::Unknown;
        }
        let last = path.segments.last().map(|it| it.arguments.as_slice()).unwrap_or_default();
        let arguments: Vec<Type> = last.iter().map(|it| self.ty_within(it, reading)).collect();
        match self.names.ty(path, module) {
            Some(Named::Struct(number)) => Type::Struct(number, arguments),
            Some(Named::Enum(number)) => Type::Enum(number, arguments),
            // The other one of that name is not of this crate.
            Some(Named::Alias(number)) if reading.is_within(number) => Type::Unknown,
            Some(Named::Alias(_)) if reading.left.get() == 0 => Type::Unknown,
            Some(Named::Alias(number)) => {
                reading.left.set(reading.left.get() - 1);
                let alias = &self.names.aliases[number];
                let generics = alias.generics.iter().cloned().zip(arguments).collect();
                let alias_of = Some((number, reading));
                let within =
                    Reading { generics: &generics, module: &alias.module, alias: alias_of, left: reading.left };
                let ty = self.ty_within(&alias.ty, &within);
                if ty.is_smaller_than(MAX_TYPE) { ty } else { Type::Unknown }
            }
            None => standard_type(&self.names.real_name(path, module), &arguments),
        }
    }

    /// The types of type parameters, by their names.
    pub(super) fn generics_of(names: &[String], arguments: &[Type]) -> Generics {
        names
            .iter()
            .enumerate()
            .map(|(at, it)| (it.clone(), arguments.get(at).cloned().unwrap_or(Type::Unknown)))
            .collect()
    }

    /// The fields of a structure.
    pub(super) fn fields_of(&self, number: usize, arguments: &[Type]) -> Vec<(String, Type)> {
        let structure = &self.names.structs[number];
        let generics = Self::generics_of(&structure.generics, arguments);
        let fields = structure.fields.fields.iter();
        fields.map(|(name, ty)| (name.clone(), self.ty(ty, &generics, &structure.module))).collect()
    }

    /// What a variant has.
    pub(super) fn variant_fields(&self, number: usize, variant: usize, arguments: &[Type]) -> Vec<Type> {
        let enumeration = &self.names.enums[number];
        let generics = Self::generics_of(&enumeration.generics, arguments);
        let fields = enumeration.variants[variant].fields.iter();
        fields.map(|(_, ty)| self.ty(ty, &generics, &enumeration.module)).collect()
    }

    /// Which field of the whole a field of a variant is; the first of the whole says which variant it is.
    pub(super) fn variant_offset(&self, number: usize, variant: usize) -> usize {
        1 + self.names.enums[number].variants[..variant].iter().map(|it| it.fields.len()).sum::<usize>()
    }

    /// How much each variant of an enumeration has.
    pub(super) fn sizes_of(&self, number: usize) -> Vec<usize> {
        self.names.enums[number].variants.iter().map(|it| it.fields.len()).collect()
    }

    /// The numbers that variants are cast to.
    pub(super) fn discriminants(&self, number: usize) -> Vec<Option<i64>> {
        let enumeration = &self.names.enums[number];
        let mut next = Some(0);
        let mut numbers = Vec::new();
        for variant in &enumeration.variants {
            if let Some(given) = &variant.number {
                next = self.constant(given, &Generics::new(), &enumeration.module, 0);
            }
            numbers.push(next);
            next = next.and_then(|it| it.checked_add(1));
        }
        numbers
    }

    /// What a type is made of.
    pub(super) fn parts(&self, ty: &Type) -> Parts {
        match ty {
            Type::Bool => Parts::Scalar((0, 1), true),
            Type::Integer(it) => Parts::Scalar(it.unwrap_or(Integer::I32).bounds(), true),
            Type::Pointer(..) | Type::Text => Parts::Scalar((0, i64::MAX), true),
            Type::Opaque => Parts::Scalar((0, 0), true),
            Type::Atomic(inner) => match self.parts(inner) {
                Parts::Scalar(bounds, _) => Parts::Scalar(bounds, false),
                Parts::Fields(_) | Parts::Elements(..) | Parts::Nothing => Parts::Nothing,
            },
            Type::Cell(_, inner) => self.parts(inner),
            Type::Tuple(all) => {
                Parts::Fields(all.iter().enumerate().map(|(at, it)| (at.to_string(), it.clone())).collect())
            }
            Type::Array(of, len) => Parts::Elements((**of).clone(), *len),
            Type::Struct(number, arguments) => Parts::Fields(self.fields_of(*number, arguments)),
            Type::Enum(number, arguments) => {
                let tag = Type::Integer(Some(Integer::U8));
                let mut fields = vec![("tag".to_owned(), tag)];
                for variant in 0..self.names.enums[*number].variants.len() {
                    let name = &self.names.enums[*number].variants[variant].name.text;
                    let inner = self.variant_fields(*number, variant, arguments).into_iter().enumerate();
                    fields.extend(inner.map(|(at, ty)| (format!("{name}{at}"), ty)));
                }
                Parts::Fields(fields)
            }
            Type::Lock(Lock::Condvar, _) | Type::Other | Type::Unknown => Parts::Nothing,
            Type::Lock(lock, inner) => {
                let bits = if *lock == Lock::RwLock { Integer::I32 } else { Integer::U8 };
                let word = Type::Atomic(Rc::new(Type::Integer(Some(bits))));
                Parts::Fields(vec![("lock".to_owned(), word), ("data".to_owned(), (**inner).clone())])
            }
        }
    }

    /// All leaves of an object.
    pub(super) fn leaves(&self, object: &str, ty: &Type) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.flatten((object, ty), &mut Leaf::root(), &mut leaves, 0);
        leaves
    }

    fn flatten(&self, (object, ty): (&str, &Type), at: &mut Leaf, leaves: &mut Vec<Leaf>, depth: usize) {
        let learned = self.learned(object, &at.fields, ty);
        // A type that holds itself without a pointer is no type.
        if depth > 64 {
            return;
        }
        match self.parts(&learned) {
            Parts::Scalar(bounds, is_plain) => leaves.push(Leaf::new(at, bounds, is_plain)),
            Parts::Elements(of, len) => {
                at.shape.push(len);
                self.flatten((object, &of), at, leaves, depth + 1);
                at.shape.pop();
            }
            Parts::Fields(fields) => {
                for (number, (name, ty)) in fields.iter().enumerate() {
                    let length = at.name.len();
                    at.name += &format!(".{name}");
                    at.fields.push(number);
                    self.flatten((object, ty), at, leaves, depth + 1);
                    at.fields.pop();
                    at.name.truncate(length);
                }
            }
            Parts::Nothing => {}
        }
    }

    /// The type of a part of an object, if its own type does not say.
    pub(super) fn learned(&self, object: &str, fields: &[usize], ty: &Type) -> Type {
        if let Type::Cell(cell, inner) = ty {
            return Type::Cell(*cell, Rc::new(self.learned(object, fields, inner)));
        }
        if *ty != Type::Unknown {
            return ty.clone();
        }
        self.known.learned.get(&(object.to_owned(), fields.to_vec())).cloned().unwrap_or_else(|| ty.clone())
    }

    /// A constant that is written as an expression.
    pub(super) fn constant(&self, it: &ast::Expr, generics: &Generics, module: &[String], depth: usize) -> Option<i64> {
        if depth > 64 {
            return None;
        }
        let inner = |it: &ast::Expr| self.constant(it, generics, module, depth + 1);
        Some(match &it.kind {
            ExprKind::Integer(value, _) => i64::try_from(*value).ok()?,
            ExprKind::Bool(value) => i64::from(*value),
            ExprKind::Unary(Unary::Negative, of) => inner(of)?.checked_neg()?,
            ExprKind::Cast(of, _) => inner(of)?,
            ExprKind::Block(None, block) if block.statements.is_empty() => inner(block.value.as_ref()?)?,
            ExprKind::Binary(op, a, b) => calculate(*op, inner(a)?, inner(b)?)?,
            ExprKind::Path(path) => self.constant_path(path, generics, module, depth)?,
            _ => return None,
        })
    }

    fn constant_path(&self, path: &Path, generics: &Generics, module: &[String], depth: usize) -> Option<i64> {
        // A parameter that is a constant is kept as the length of an array.
        if let Some(Type::Array(_, len)) = path.single().and_then(|it| generics.get(it)) {
            return i64::try_from(*len).ok();
        }
        if let Some((_, value)) = self.defines.iter().find(|it| it.0 == path.last()) {
            return Some(*value);
        }
        if let Some(constant) = self.names.constant(path, module, false) {
            let module = constant.module.clone();
            return self.constant(constant.value.as_ref()?, generics, &module, depth + 1);
        }
        let of = Integer::named(&path.before_last()?.name)?;
        match path.last() {
            "MAX" => Some(of.bounds().1),
            "MIN" => Some(of.bounds().0),
            "BITS" => Some(i64::from(of.bits)),
            _ => None,
        }
    }

    /// How a type is called.
    pub(super) fn shown(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".to_owned(),
            Type::Integer(Some(it)) => format!("{}{}", if it.is_signed { "i" } else { "u" }, it.bits),
            Type::Integer(None) => "integer".to_owned(),
            Type::Tuple(all) => format!("({})", all.iter().map(|it| self.shown(it)).collect::<Vec<_>>().join(", ")),
            Type::Array(of, len) => format!("[{}; {len}]", self.shown(of)),
            Type::Struct(number, _) => self.names.structs[*number].name.clone(),
            Type::Enum(number, _) => self.names.enums[*number].name.clone(),
            Type::Atomic(of) => format!("atomic {}", self.shown(of)),
            Type::Cell(_, of) => format!("cell of {}", self.shown(of)),
            Type::Lock(lock, _) => format!("{lock:?}"),
            Type::Pointer(_, to) => format!("pointer to {}", self.shown(to)),
            Type::Text => "text".to_owned(),
            Type::Opaque | Type::Other | Type::Unknown => "value".to_owned(),
        }
    }
}

/// What std calls a type.
fn standard_type(name: &str, arguments: &[Type]) -> Type {
    let first = || Rc::new(arguments.first().cloned().unwrap_or(Type::Unknown));
    let atomic = |name: &str| Type::Atomic(Rc::new(Type::Integer(Integer::named(name))));
    match name {
        "bool" => Type::Bool,
        "AtomicBool" => Type::Atomic(Rc::new(Type::Bool)),
        "AtomicPtr" => Type::Atomic(Rc::new(Type::Pointer(Kind::Raw, first()))),
        "AtomicU8" => atomic("u8"),
        "AtomicU16" => atomic("u16"),
        "AtomicU32" => atomic("u32"),
        "AtomicU64" => atomic("u64"),
        "AtomicUsize" => atomic("usize"),
        "AtomicI8" => atomic("i8"),
        "AtomicI16" => atomic("i16"),
        "AtomicI32" => atomic("i32"),
        "AtomicI64" => atomic("i64"),
        "AtomicIsize" => atomic("isize"),
        "Cell" => Type::Cell(Cell::Copied, first()),
        "UnsafeCell" | "SyncUnsafeCell" | "CachePadded" => Type::Cell(Cell::Open, first()),
        "MaybeUninit" | "ManuallyDrop" => Type::Cell(Cell::Kept, first()),
        "Option" => Type::Enum(OPTION, arguments.to_vec()),
        "Result" => Type::Enum(RESULT, arguments.to_vec()),
        "Box" => Type::Pointer(Kind::Box, first()),
        "Arc" | "Rc" => Type::Pointer(Kind::Arc, first()),
        "NonNull" => Type::Pointer(Kind::NonNull, first()),
        "Mutex" => Type::Lock(Lock::Mutex, first()),
        "RwLock" => Type::Lock(Lock::RwLock, first()),
        "Condvar" => Type::Lock(Lock::Condvar, Rc::new(Type::UNIT)),
        "OnceLock" | "Once" => Type::Lock(Lock::OnceLock, first()),
        "MutexGuard" => Type::Pointer(Kind::Guard(Guard::Mutex), first()),
        "RwLockReadGuard" => Type::Pointer(Kind::Guard(Guard::Read), first()),
        "RwLockWriteGuard" => Type::Pointer(Kind::Guard(Guard::Write), first()),
        "PhantomData" => Type::UNIT,
        // Of a text it is known how long it is.
        "String" => Type::Integer(Some(Integer::USIZE)),
        "str" => Type::Text,
        "f32" | "f64" | "Duration" | "Instant" => Type::Opaque,
        name => Integer::named(name).map_or(Type::Unknown, |it| Type::Integer(Some(it))),
    }
}

/// An operator on constants.
pub(super) fn calculate(op: Binary, a: i64, b: i64) -> Option<i64> {
    let shift = u32::try_from(b).ok();
    Some(match op {
        Binary::Add => a.checked_add(b)?,
        Binary::Sub => a.checked_sub(b)?,
        Binary::Mul => a.checked_mul(b)?,
        Binary::Div => a.checked_div(b)?,
        Binary::Rem => a.checked_rem(b)?,
        Binary::BitAnd | Binary::And => a & b,
        Binary::BitOr | Binary::Or => a | b,
        Binary::BitXor => a ^ b,
        Binary::Shl => a.checked_mul(1_i64.checked_shl(shift?).filter(|it| *it > 0)?)?,
        Binary::Shr => a.checked_shr(shift?)?,
        Binary::Eq => i64::from(a == b),
        Binary::Ne => i64::from(a != b),
        Binary::Lt => i64::from(a < b),
        Binary::Le => i64::from(a <= b),
        Binary::Gt => i64::from(a > b),
        Binary::Ge => i64::from(a >= b),
    })
}
