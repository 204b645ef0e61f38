//! Functions of std by their paths, and methods of options, results and numbers.

use fencewright::frontend::hir::{Expr, LoadOrder, StmtKind, StoreOrder};
use fencewright::program::{BinaryOp as Op, Domain};
use fencewright::source::Span;

use crate::ast::{self, Binary, Method, Path};
use crate::types::{Kind, Lock, OPTION, RESULT, Type};
use crate::value::{Enum, Place, Pointer, Points, Value};

use super::Lowering;
use super::access::reference;
use super::expressions::{and, or, retyped};
use super::joins::integer;
use super::operators::wrapped;
use super::state::{Join, test};

impl Lowering<'_> {
    /// A call of a function of std; `None` inside if it is none that is known.
    pub(super) fn standard_call(&mut self, path: &Path, arguments: &[ast::Expr], span: Span) -> Option<Option<Value>> {
        let module = self.state.frame().module.clone();
        let of = match path.before_last() {
            Some(before) => before.name.clone(),
            None => {
                let used = self.names.used(path.last(), &module);
                used.and_then(|it| it.len().checked_sub(2).map(|at| it[at].clone())).unwrap_or_default()
            }
        };
        let ty = self.type_before(path);
        let of = if ty.is_some() && path.segments.len() > 1 { of } else { self.alias_of(&of, &module) };
        let name = self.names.real_name(path, &module);
        if let Some(value) = self.new_value(ty.as_ref(), &name, arguments, span)? {
            return Some(Some(value));
        }
        let done = match (of.as_str(), name.as_str()) {
            ("thread", _) | ("loom", "model") | ("", "spawn") => return self.thread_call(&name, arguments, span),
            ("Arc" | "Rc", _) => return self.arc_call(&name, arguments, span),
            ("Box", _) => return self.box_call(&name, arguments, span),
            ("mem" | "ptr" | "NonNull", _) => return self.memory_call(&name, path, arguments, span),
            (_, "drop") if path.segments.len() == 1 => return self.memory_call("drop", path, arguments, span),
            _ => self.small_call(&of, &name, arguments, span)?,
        };
        if done.is_some() {
            return Some(done);
        }
        if let Some(instead) = instead_of(&of, &name) {
            return self.refuse(span, format!("`{}` is not supported", path.text()), instead);
        }
        Some(None)
    }

    /// Functions that do little.
    fn small_call(&mut self, of: &str, name: &str, arguments: &[ast::Expr], span: Span) -> Option<Option<Value>> {
        Some(Some(match (of, name) {
            (_, "fence") => {
                let order = self.values(arguments)?.into_iter().next()?;
                let order = self.order(&order, span)?;
                self.fence(order, span)?
            }
            (_, "compiler_fence" | "spin_loop" | "spin_loop_hint" | "yield_now") => {
                self.values(arguments)?;
                Value::UNIT
            }
            (_, "black_box") => self.values(arguments)?.into_iter().next()?,
            ("process", "abort" | "exit") => {
                self.asserted(Expr::Const(0), span);
                Value::Never
            }
            ("kani" | "fencewright", "any") => {
                let kind = fencewright::frontend::hir::EffectKind::Any(Domain::Range(0, 1), 0, 1);
                Value::bool(self.state.kept(kind, span))
            }
            ("String", "new") => super::places::index_value(Expr::Const(0)),
            // A call of the system may return at any time; whoever waits looks again.
            ("atomic_wait", "wait") => {
                let at = self.values(arguments)?.into_iter().next()?;
                let place = self.pointed(at, span)?;
                self.load(&place, LoadOrder::Relaxed, span)?;
                Value::UNIT
            }
            ("atomic_wait", "wake_one" | "wake_all") => {
                self.values(arguments)?;
                Value::UNIT
            }
            ("String", "from") => {
                let value = self.values(arguments)?.into_iter().next()?;
                self.length_of(&value, span)?
            }
            ("Duration" | "Instant", _) => {
                self.values(arguments)?;
                Value::Other
            }
            ("Vec", "new" | "with_capacity") => Value::List(Vec::new()),
            _ => return Some(None),
        }))
    }

    /// What a module is called that `use` renames.
    fn alias_of(&self, name: &str, module: &[String]) -> String {
        self.names.used(name, module).and_then(<[String]>::last).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// `AtomicBool::new(false)`, `UnsafeCell::new(x)`, `Mutex::new(x)`
    fn new_value(
        &mut self,
        ty: Option<&Type>,
        name: &str,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Option<Value>> {
        let is_default = name == "default";
        let Some(ty) = ty.filter(|_| matches!(name, "new" | "uninit" | "zeroed" | "default" | "const_new" | "from"))
        else {
            return Some(None);
        };
        if matches!(ty, Type::Struct(..) | Type::Enum(..) | Type::Pointer(..) | Type::Unknown | Type::Other)
            && !is_default
        {
            return Some(None);
        }
        if is_default {
            return Some(self.default_value(ty));
        }
        let mut values = self.values(arguments)?.into_iter();
        Some(match ty {
            Type::Atomic(inner) => {
                let Some(value) = values.next() else {
                    return self.refuse(span, "an atomic needs a first value", "give it one");
                };
                let value = match &**inner {
                    Type::Pointer(..) => super::calls::coerced(value, inner),
                    inner => retyped(value, inner),
                };
                Some(Value::Atomic(Box::new(value)))
            }
            Type::Cell(cell, inner) => {
                let value = values.next().unwrap_or(Value::Unset);
                Some(Value::Cell(*cell, Box::new(retyped(value, inner))))
            }
            Type::Lock(lock, inner) => {
                let value = values.next().unwrap_or(if *lock == Lock::OnceLock { Value::Unset } else { Value::UNIT });
                Some(Value::Lock(*lock, Box::new(retyped(value, inner))))
            }
            _ => None,
        })
    }

    fn default_value(&mut self, ty: &Type) -> Option<Value> {
        Some(match ty {
            Type::Bool | Type::Integer(_) => Value::Number(Expr::Const(0), ty.clone()),
            Type::Atomic(inner) => match &**inner {
                Type::Pointer(_, to) => Value::Atomic(Box::new(self.null(Some((**to).clone())))),
                inner => Value::Atomic(Box::new(Value::Number(Expr::Const(0), inner.clone()))),
            },
            Type::Cell(cell, inner) => Value::Cell(*cell, Box::new(self.default_value(inner)?)),
            Type::Lock(lock, inner) => Value::Lock(*lock, Box::new(self.default_value(inner)?)),
            Type::Tuple(all) => Value::Tuple(all.iter().map(|it| self.default_value(it)).collect::<Option<Vec<_>>>()?),
            Type::Enum(OPTION, _) => Value::none(),
            Type::Array(of, len) => Value::Array(vec![self.default_value(of)?; *len as usize]),
            Type::Struct(number, arguments) => {
                let fields = self.fields_of(*number, arguments);
                let values = fields.iter().map(|it| self.default_value(&it.1)).collect::<Option<Vec<_>>>()?;
                Value::Struct(*number, values)
            }
            _ => return None,
        })
    }

    fn arc_call(&mut self, name: &str, arguments: &[ast::Expr], span: Span) -> Option<Option<Value>> {
        let hint = self.hint.take();
        let values = self.values(arguments)?;
        self.hint = hint;
        let first = values.into_iter().next()?;
        Some(Some(match name {
            "new" => self.allocated(Kind::Arc, first, span)?,
            "clone" => {
                let target = self.pointed(first, span)?;
                let value = self.load(&target, LoadOrder::Plain, span)?;
                self.arc_cloned(value, span)?
            }
            "as_ptr" => {
                let target = self.pointed(first, span)?;
                let value = self.load(&target, LoadOrder::Plain, span)?;
                let target = self.pointed(value, span)?;
                let reference = reference(target);
                self.as_kind(reference, Kind::Raw)
            }
            "ptr_eq" => return Some(None),
            _ => {
                let help = "count with an atomic of your own where the count matters";
                return self.refuse(span, format!("`Arc::{name}` is not supported"), help);
            }
        }))
    }

    fn box_call(&mut self, name: &str, arguments: &[ast::Expr], span: Span) -> Option<Option<Value>> {
        let hint = self.hint.take();
        let values = self.values(arguments)?;
        self.hint = hint;
        let first = values.into_iter().next()?;
        Some(Some(match name {
            "new" => self.allocated(Kind::Box, first, span)?,
            "into_raw" => self.as_kind(first, Kind::Raw),
            "leak" => self.as_kind(first, Kind::Reference),
            "from_raw" => self.as_kind(first, Kind::Box),
            _ => return self.refuse(span, format!("`Box::{name}` is not supported"), "use `Box::new`"),
        }))
    }

    fn memory_call(&mut self, name: &str, path: &Path, arguments: &[ast::Expr], span: Span) -> Option<Option<Value>> {
        let mut values = self.values(arguments)?.into_iter();
        let (first, second) = (values.next(), values.next());
        Some(Some(match (name, first) {
            ("drop", Some(value)) => {
                self.drop_value(value, span)?;
                Value::UNIT
            }
            ("forget", Some(_)) => Value::UNIT,
            ("null" | "null_mut", None) => {
                let (module, generics) = (self.state.frame().module.clone(), self.state.frame().generics.clone());
                let given = path.segments.last().and_then(|it| it.arguments.first());
                let to = given.map(|it| self.ty(it, &generics, &module));
                self.null(to)
            }
            ("swap", Some(a)) => {
                let (a, b) = (self.pointed(a, span)?, self.pointed(second?, span)?);
                let (x, y) = (self.load(&a, LoadOrder::Plain, span)?, self.load(&b, LoadOrder::Plain, span)?);
                let (x, y) = (self.settled(x, span), self.settled(y, span));
                self.store(&a, y, StoreOrder::Plain, span)?;
                self.store(&b, x, StoreOrder::Plain, span)?;
                Value::UNIT
            }
            ("replace", Some(at)) => {
                let place = self.pointed(at, span)?;
                self.replaced(&place, second?, span)?
            }
            ("take", Some(at)) => {
                let place = self.pointed(at, span)?;
                let ty = self.type_at(&place);
                let Some(empty) = self.default_value(&ty) else {
                    return self.refuse(span, "this type has no default that is known", "use `mem::replace`");
                };
                self.replaced(&place, empty, span)?
            }
            (_, first) => return self.pointer_call(name, path, (first, second), span).map(Some),
        }))
    }

    /// Functions of `std::ptr`, and those that make a `NonNull`.
    fn pointer_call(
        &mut self,
        name: &str,
        path: &Path,
        (first, second): (Option<Value>, Option<Value>),
        span: Span,
    ) -> Option<Value> {
        Some(match (name, first) {
            ("read", Some(at)) => {
                let place = self.pointed(at, span)?;
                self.load(&place, LoadOrder::Plain, span)?
            }
            ("write", Some(at)) => {
                let place = self.pointed(at, span)?;
                self.store(&place, second?, StoreOrder::Plain, span)?;
                Value::UNIT
            }
            ("drop_in_place", Some(at)) => {
                let place = self.pointed(at, span)?;
                self.drop_place(&place, span)?;
                Value::UNIT
            }
            ("from" | "new_unchecked" | "from_ref" | "from_mut" | "addr_of" | "addr_of_mut", Some(at)) => {
                let is_raw = path.before_last().is_some_and(|it| it.name == "ptr");
                self.as_kind(at, if is_raw { Kind::Raw } else { Kind::NonNull })
            }
            ("new", Some(at)) => {
                let is_there = match &at {
                    Value::Pointer(Pointer { what: Points::Number(Expr::Const(it)), .. }) => {
                        Expr::Const(i64::from(*it != 0))
                    }
                    Value::Pointer(Pointer { what: Points::Number(raw), .. }) => {
                        Expr::binary(Op::Ne, raw.clone(), Expr::Const(0))
                    }
                    _ => Expr::Const(1),
                };
                Value::some_if(is_there, self.as_kind(at, Kind::NonNull))
            }
            ("eq", Some(a)) => {
                let (a, b) = (self.as_kind(a, Kind::Raw), self.as_kind(second?, Kind::Raw));
                Value::bool(self.compared(&a, &b, span)?)
            }
            _ => return self.refuse(span, format!("`{}` is not supported", path.text()), "write it out"),
        })
    }

    fn replaced(&mut self, place: &Place, value: Value, span: Span) -> Option<Value> {
        let old = self.load(place, LoadOrder::Plain, span)?;
        let old = self.settled(old, span);
        let ty = place.ty.clone();
        self.store(place, retyped(value, &ty), StoreOrder::Plain, span)?;
        Some(old)
    }

    /// Methods of `Option` and `Result`.
    pub(super) fn option_method(&mut self, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        let name = it.name.text.as_str();
        if matches!(name, "take" | "replace" | "insert") {
            let value = match name {
                "take" => Value::none(),
                _ => Value::some(self.values(&it.arguments)?.into_iter().next()?),
            };
            return self.replaced(place, value, span).map(Some);
        }
        if matches!(name, "as_ref" | "as_mut" | "as_deref" | "as_deref_mut") {
            return self.option_reference(place, span).map(Some);
        }
        let by_reference = matches!(name, "is_some" | "is_none" | "is_ok" | "is_err");
        let value = if by_reference { self.load(place, LoadOrder::Plain, span)? } else { self.taken(place, span)? };
        let Value::Enum(value) = self.settled(value, span) else {
            return Some(self.is_unsure.then_some(Value::Unset));
        };
        self.answered(&value, it, span)
    }

    /// A reference to what an option has.
    fn option_reference(&mut self, place: &Place, span: Span) -> Option<Value> {
        let ty = self.type_at(place);
        let Value::Enum(value) = self.load(place, LoadOrder::Plain, span)? else { return Some(Value::Unset) };
        let good = usize::from(value.number == OPTION);
        let at = self.variant_offset(value.number, good);
        let inner = match value.variants[good].as_ref().and_then(|it| it.first()) {
            Some(inner) => self.type_of(inner),
            None => self.parts_field(&ty, at),
        };
        let mut variants = value.variants.clone();
        variants[good] = Some(vec![reference(place.field(at, inner))]);
        Some(Value::Enum(Box::new(Enum { variants, ..*value })))
    }

    fn answered(&mut self, it: &Enum, method: &Method, span: Span) -> Option<Option<Value>> {
        let good = usize::from(it.number == OPTION);
        let is = |variant: usize| match &it.tag {
            Expr::Const(tag) => Expr::Const(i64::from(*tag == variant as i64)),
            tag => Expr::binary(Op::Eq, tag.clone(), Expr::Const(variant as i64)),
        };
        let content = |variant: usize| it.variants[variant].as_ref().and_then(|it| it.first().cloned());
        Some(Some(match method.name.text.as_str() {
            "is_some" | "is_ok" => Value::bool(is(good)),
            "is_none" | "is_err" => Value::bool(is(1 - good)),
            "unwrap" | "expect" | "unwrap_unchecked" => {
                self.asserted(is(good), span);
                content(good).unwrap_or(Value::Never)
            }
            "unwrap_err" | "expect_err" => {
                self.asserted(is(1 - good), span);
                content(1 - good).unwrap_or(Value::Never)
            }
            "ok" => Value::Enum(Box::new(Enum {
                number: OPTION,
                tag: is(good),
                variants: vec![Some(Vec::new()), content(good).map(|it| vec![it])],
                sizes: vec![0, 1],
            })),
            "ok_or" => {
                let error = self.values(&method.arguments)?.into_iter().next()?;
                let variants = vec![content(good).map(|it| vec![it]), Some(vec![error])];
                Value::Enum(Box::new(Enum { number: RESULT, tag: is(1 - good), variants, sizes: vec![1, 1] }))
            }
            _ => return self.answered_otherwise(it, (is(good), content(good)), method, span),
        }))
    }

    /// Methods with a value for the other case.
    fn answered_otherwise(
        &mut self,
        it: &Enum,
        (holds, value): (Expr, Option<Value>),
        method: &Method,
        span: Span,
    ) -> Option<Option<Value>> {
        let good = usize::from(it.number == OPTION);
        match method.name.text.as_str() {
            "unwrap_or" => {
                let other = self.values(&method.arguments)?.into_iter().next()?;
                self.one_of((holds, value), |_| Some(other), span).map(Some)
            }
            "unwrap_or_default" => {
                let ty = value.as_ref().map_or(Type::Integer(None), |it| self.type_of(it));
                let Some(other) = self.default_value(&ty) else { return Some(None) };
                self.one_of((holds, value), |_| Some(other), span).map(Some)
            }
            "unwrap_or_else" => {
                let closure = self.values(&method.arguments)?.into_iter().next()?;
                let error = it.variants[1 - good].as_ref().and_then(|it| it.first().cloned());
                let other = |this: &mut Self| this.applied(&closure, error.into_iter().collect(), span);
                self.one_of((holds, value), other, span).map(Some)
            }
            "map" => {
                let closure = self.values(&method.arguments)?.into_iter().next()?;
                self.mapped_option(it, good, &closure, span).map(Some)
            }
            _ => Some(None),
        }
    }

    /// One value if a condition holds, otherwise another.
    fn one_of(
        &mut self,
        (holds, value): (Expr, Option<Value>),
        other: impl FnOnce(&mut Self) -> Option<Value>,
        span: Span,
    ) -> Option<Value> {
        match (holds, value) {
            (Expr::Const(0), _) | (_, None) => other(self),
            (Expr::Const(_), Some(value)) => Some(value),
            (holds, Some(value)) => {
                let mut join = Join { span, value: None };
                let (first, ()) = self.branch(|it| it.join(&mut join, value, span))?;
                let (second, ()) = self.branch(|it| {
                    let value = other(it)?;
                    it.join(&mut join, value, span)
                })?;
                self.state.emit(StmtKind::If(vec![(test(holds, span), first)], second), span);
                join.value
            }
        }
    }

    fn mapped_option(&mut self, it: &Enum, good: usize, closure: &Value, span: Span) -> Option<Value> {
        let Some(content) = it.variants[good].clone() else { return Some(Value::Enum(Box::new(it.clone()))) };
        let mut variants = it.variants.clone();
        match &it.tag {
            Expr::Const(tag) if *tag == good as i64 => {
                variants[good] = Some(vec![self.applied(closure, content, span)?]);
            }
            Expr::Const(_) => {}
            tag => {
                let holds = Expr::binary(Op::Eq, tag.clone(), Expr::Const(good as i64));
                let mut join = Join { span, value: None };
                let (block, ()) = self.branch(|it| {
                    let value = it.applied(closure, content, span)?;
                    it.join(&mut join, value, span)
                })?;
                self.state.emit(StmtKind::If(vec![(test(holds, span), block)], Vec::new()), span);
                variants[good] = join.value.map(|it| vec![it]);
            }
        }
        Some(Value::Enum(Box::new(Enum { variants, ..it.clone() })))
    }

    /// Methods of integers.
    pub(super) fn number_method(&mut self, value: Value, it: &Method, span: Span) -> Option<Option<Value>> {
        let name = it.name.text.as_str();
        if matches!(name, "clone" | "to_owned" | "into") {
            return Some(Some(value));
        }
        let Value::Number(a, ty) = value.clone() else { return Some(None) };
        let mut values = self.values(&it.arguments)?.into_iter();
        let first = values.next();
        let width = integer(&ty);
        let by = |it: Option<Value>| match it {
            Some(Value::Number(expr, _)) => Some(expr),
            _ => None,
        };
        let op = match name.rsplit('_').next().unwrap_or(name) {
            "add" => Binary::Add,
            "sub" => Binary::Sub,
            "mul" => Binary::Mul,
            _ => Binary::Rem,
        };
        Some(Some(match name {
            "wrapping_add" | "wrapping_sub" | "wrapping_mul" => {
                let sum = self.arithmetic(op, a, by(first)?);
                match width {
                    Some(width) => Value::Number(wrapped(sum, width), ty),
                    None => Value::Number(sum, ty),
                }
            }
            "checked_add" | "checked_sub" | "checked_mul" => {
                let sum = self.arithmetic(op, a, by(first)?);
                let sum = self.state.settled(sum, span);
                let (least, greatest) = width.unwrap_or(crate::types::Integer::I32).bounds();
                let is = |op, bound| Expr::binary(op, sum.clone(), Expr::Const(bound));
                let fits = and(is(Op::Ge, least), is(Op::Le, greatest));
                Value::some_if(fits, Value::Number(sum.clone(), ty))
            }
            "saturating_sub" => {
                let b = by(first)?;
                let is_less = Expr::binary(Op::Lt, a.clone(), b.clone());
                let difference = Value::Number(self.arithmetic(Binary::Sub, a, b), ty.clone());
                let zero = Value::Number(Expr::Const(0), ty);
                return self.one_of((is_less, Some(zero)), |_| Some(difference), span).map(Some);
            }
            _ => return self.number_question(value, name, first, span),
        }))
    }

    fn number_question(&mut self, value: Value, name: &str, first: Option<Value>, span: Span) -> Option<Option<Value>> {
        let Value::Number(a, ty) = value.clone() else { return Some(None) };
        Some(Some(match name {
            "min" | "max" => {
                let b = self.raw(first?, span)?;
                let op = if name == "min" { Op::Le } else { Op::Ge };
                let is_first = Expr::binary(op, a, b.clone());
                return self.one_of((is_first, Some(value)), |_| Some(Value::Number(b, ty)), span).map(Some);
            }
            "is_power_of_two" => match a {
                Expr::Const(it) => Value::bool(Expr::Const(i64::from(it > 0 && it & (it - 1) == 0))),
                _ => return Some(None),
            },
            "then_some" => Value::some_if(a, first?),
            "then" => {
                let closure = first?;
                let it = Enum {
                    number: OPTION,
                    tag: a,
                    variants: vec![Some(Vec::new()), Some(Vec::new())],
                    sizes: vec![0, 1],
                };
                return self.mapped_option(&it, 1, &closure, span).map(Some);
            }
            "abs" => {
                let is_less = Expr::binary(Op::Lt, a.clone(), Expr::Const(0));
                let negative = Value::Number(self.arithmetic(Binary::Sub, Expr::Const(0), a), ty);
                return self.one_of((is_less, Some(negative)), |_| Some(value), span).map(Some);
            }
            "eq" | "ne" => {
                let other = first?;
                let other = self.pointed(other, span)?;
                let other = self.load(&other, LoadOrder::Plain, span)?;
                let same = self.compared(&value, &other, span)?;
                Value::bool(if name == "eq" { same } else { or(Expr::Const(0), same.negated()) })
            }
            _ => return Some(None),
        }))
    }
}

/// What to write instead of something that is well known and not supported.
fn instead_of(of: &str, name: &str) -> Option<&'static str> {
    Some(match (of, name) {
        ("mpsc", _) => "write the channel with atomics, or with a `Mutex`",
        ("Weak", _) | (_, "downgrade" | "upgrade") => "count with an atomic of your own",
        ("Barrier", _) => "write the barrier with an atomic counter",
        ("HashMap" | "BTreeMap" | "VecDeque" | "HashSet", _) => "use an array: collections are not supported",
        ("RefCell", _) => "use a `Cell`, or a plain variable",
        ("io" | "fs" | "net" | "env", _) => "leave it out: threads are all that is looked at",
        ("rand", _) => "use constants",
        _ => return None,
    })
}
