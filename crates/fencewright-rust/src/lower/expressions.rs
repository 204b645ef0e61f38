//! Expressions: what they put there, and their values.

use std::rc::Rc;

use fencewright::frontend::hir::{Expr, LoadOrder, StmtKind, StoreOrder};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::{self, ExprKind, Macro, Name, Path, Unary};
use crate::names::Named;
use crate::types::{Integer, OPTION, RESULT, Type};
use crate::value::{Base, Enum, Environment, Order, Place, Value};

use super::Lowering;
use super::access::reference;
use super::state::{Live, test};

impl Lowering<'_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, it: &ast::Expr) -> Option<Value> {
        fencewright::watch::heed(8);
        let span = it.span;
        match &it.kind {
            ExprKind::Integer(value, suffix) => self.literal(*value, suffix.as_deref(), span),
            ExprKind::Bool(value) => Some(Value::bool(Expr::Const(i64::from(*value)))),
            ExprKind::Text(text) => Some(self.text(text)),
            ExprKind::Other => Some(Value::Other),
            ExprKind::Path(path) => self.path_value(path),
            ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Unary(Unary::Deref, _) => {
                let place = self.place(it)?;
                self.taken(&place, span)
            }
            ExprKind::Unary(op, of) => self.unary(*op, of, span),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, span),
            ExprKind::Assign(to, from) => self.assign(to, from, span),
            ExprKind::AssignBy(op, to, by) => self.assign_by(*op, to, by, span),
            ExprKind::Reference(of) => {
                let place = self.place(of)?;
                Some(reference(place))
            }
            ExprKind::Call(function, arguments) => self.call(function, arguments, span),
            ExprKind::Method(method) => self.method_call(method, span),
            ExprKind::Cast(of, ty) => self.cast(of, ty, span),
            ExprKind::Tuple(all) => Some(Value::Tuple(self.values(all)?)),
            ExprKind::Array(all) => Some(Value::Array(self.values(all)?)),
            ExprKind::Repeat(of, len) => self.repeat(of, len, span),
            ExprKind::Struct(path, fields, rest) => self.structure(path, fields, rest.as_deref(), span),
            ExprKind::Range(start, end, is_closed) => {
                let start = match start {
                    Some(it) => self.value(it)?,
                    None => Value::integer(0, Integer::USIZE),
                };
                let Some(end) = end else {
                    return self.refuse(span, "a range without an end is not supported", "use `loop`");
                };
                let mut end = self.value(end)?;
                if *is_closed && let Value::Number(expr, ty) = end {
                    end = Value::Number(super::access::plus(expr, Expr::Const(1)), ty);
                }
                Some(Value::Range(Box::new(start), Box::new(end)))
            }
            ExprKind::Closure(closure) => Some(Value::Closure(Rc::clone(closure), Rc::new(self.environment()))),
            ExprKind::Macro(it) => self.macro_value(it, span),
            ExprKind::Refused(message, help) => self.refuse(span, message, help),
            _ => self.control(it),
        }
    }

    /// Values from left to right, each as it is when its turn comes.
    pub(super) fn values(&mut self, all: &[ast::Expr]) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        for it in all {
            let value = self.value(it)?;
            values.push(self.settled(value, it.span));
        }
        Some(values)
    }

    fn literal(&mut self, value: i128, suffix: Option<&str>, span: Span) -> Option<Value> {
        if let Some(suffix) = suffix
            && suffix.starts_with('f')
        {
            return Some(Value::Other);
        }
        let Ok(value) = i64::try_from(value) else {
            return self.refuse(span, "this integer is too large", "integers have at most 63 bits here");
        };
        Some(Value::Number(Expr::Const(value), Type::Integer(suffix.and_then(Integer::named))))
    }

    /// The names that a closure may use.
    pub(super) fn environment(&mut self) -> Environment {
        let frame = self.state.frame();
        let mut names = std::collections::BTreeMap::new();
        for scope in &frame.scopes {
            names.extend(scope.names.iter().map(|(name, id)| (name.clone(), *id)));
        }
        Environment { names, generics: frame.generics.clone(), module: frame.module.clone() }
    }

    fn path_value(&mut self, path: &Path) -> Option<Value> {
        if let Some(name) = path.single()
            && let Some(id) = self.state.variable(name)
        {
            let place = self.variable_place(id);
            return self.taken_from(&place, Some(id), path.span);
        }
        let (module, generics) = (self.state.frame().module.clone(), self.state.frame().generics.clone());
        if let Some(Type::Array(of, len)) = path.single().and_then(|it| generics.get(it))
            && **of == Type::UNIT
        {
            return Some(Value::integer(*len as i64, Integer::USIZE));
        }
        if let Some(order) =
            Order::named(path.last()).filter(|_| path.before_last().is_none_or(|it| it.name.ends_with("rdering")))
        {
            return Some(Value::Order(order));
        }
        if self.names.constant(path, &module, true).is_some() {
            let place = self.place(&ast::Expr { kind: ExprKind::Path(path.clone()), span: path.span })?;
            return self.taken(&place, path.span);
        }
        if let Some(value) = self.constant_named(path, &module)? {
            return Some(value);
        }
        if let Some(function) = self.names.function(path, &module).filter(|_| path.of.is_none()) {
            return Some(Value::Function(function, Rc::default()));
        }
        self.constructor(path, &module)
    }

    /// A constant, of a file or of a type; `None` inside if it is none.
    fn constant_named(&mut self, path: &Path, module: &[String]) -> Option<Option<Value>> {
        if let Some((_, value)) = self.defines.iter().find(|it| it.0 == path.last()) {
            return Some(Some(Value::Number(Expr::Const(*value), Type::Integer(None))));
        }
        let own = self.type_before(path).and_then(|ty| self.own_constant(&ty, path.last()).map(|it| (it, ty)));
        if let Some((constant, ty)) = own {
            let Some(value) = &constant.value else { return Some(None) };
            let generics = [("Self".to_owned(), ty)].into_iter().collect();
            return self.constant_value(value, generics, &constant.module).map(Some);
        }
        if let Some(constant) = self.names.constant(path, module, false) {
            let Some(value) = &constant.value else { return Some(None) };
            let ty = self.ty(&constant.ty, &Default::default(), &constant.module);
            let value = self.constant_value(value, Default::default(), &constant.module)?;
            return Some(Some(retyped(value, &ty)));
        }
        let generics = self.state.frame().generics.clone();
        let number =
            self.constant(&ast::Expr { kind: ExprKind::Path(path.clone()), span: path.span }, &generics, module, 0);
        let of = path.before_last().and_then(|it| Integer::named(&it.name));
        Some(number.map(|it| Value::Number(Expr::Const(it), Type::Integer(of))))
    }

    /// The type that a path names before its last name.
    pub(super) fn type_before(&mut self, path: &Path) -> Option<Type> {
        let (module, generics) = (self.state.frame().module.clone(), self.state.frame().generics.clone());
        if let Some(of) = &path.of {
            return Some(self.ty(of, &generics, &module));
        }
        let n = path.segments.len().checked_sub(1).filter(|it| *it > 0)?;
        let before = Path { segments: path.segments[..n].to_vec(), of: None, span: path.span };
        let ty = self.ty(&ast::Type { kind: ast::TypeKind::Path(before) }, &generics, &module);
        (ty != Type::Unknown).then_some(ty)
    }

    /// A variant, or a structure without names for its fields.
    fn constructor(&mut self, path: &Path, module: &[String]) -> Option<Value> {
        let enumeration = match path.last() {
            "None" | "Some" if path.segments.len() <= 2 => Some(Type::Enum(OPTION, Vec::new())),
            "Ok" | "Err" if path.segments.len() <= 2 => Some(Type::Enum(RESULT, Vec::new())),
            _ => self.type_before(path),
        };
        if let Some(Type::Enum(number, arguments)) = enumeration {
            let variants = &self.names.enums[number].variants;
            if let Some(at) = variants.iter().position(|it| it.name.text == path.last()) {
                let ty = Type::Enum(number, arguments);
                let is_empty = variants[at].fields.is_empty();
                return if is_empty { self.constructed(&ty, at, Vec::new()) } else { Some(Value::Constructor(ty, at)) };
            }
        }
        // `use Shape::*;`
        let by_name = |it: &crate::names::Enumeration| it.variants.iter().position(|v| v.name.text == path.last());
        let glob = self.names.enums.iter().enumerate().find_map(|(number, it)| Some((number, by_name(it)?)));
        let generics = self.state.frame().generics.clone();
        let ty = self.ty(&ast::Type { kind: ast::TypeKind::Path(path.clone()) }, &generics, module);
        if let Type::Struct(number, _) = &ty {
            let is_empty = self.names.structs[*number].fields.fields.is_empty();
            return if is_empty { Some(Value::Struct(*number, Vec::new())) } else { Some(Value::Constructor(ty, 0)) };
        }
        if let Some((number, at)) = glob {
            let ty = Type::Enum(number, Vec::new());
            let is_empty = self.names.enums[number].variants[at].fields.is_empty();
            return if is_empty { self.constructed(&ty, at, Vec::new()) } else { Some(Value::Constructor(ty, at)) };
        }
        if matches!(path.last(), "PhantomData" | "RandomState") {
            return Some(Value::UNIT);
        }
        let help = "it is neither in this file nor known of std: declare it, or leave it out";
        self.refuse(path.span, format!("the name `{}` is not known", path.text()), help)
    }

    /// A variant or a structure with its fields.
    pub(super) fn constructed(&mut self, ty: &Type, at: usize, values: Vec<Value>) -> Option<Value> {
        match ty {
            Type::Enum(number, _) => Some(Value::variant(*number, at, self.sizes_of(*number), values)),
            Type::Struct(number, arguments) => {
                let fields = self.fields_of(*number, arguments);
                let values = values.into_iter().zip(fields).map(|(value, (_, ty))| retyped(value, &ty)).collect();
                Some(Value::Struct(*number, values))
            }
            _ => None,
        }
    }

    fn structure(
        &mut self,
        path: &Path,
        given: &[(Name, ast::Expr)],
        rest: Option<&ast::Expr>,
        span: Span,
    ) -> Option<Value> {
        let Some((ty, at, fields)) = self.structure_named(path) else {
            return self.refuse(path.span, format!("the type `{}` is not known", path.text()), "declare it here");
        };
        let mut values: Vec<Option<Value>> = vec![None; fields.fields.len()];
        for (name, value) in given {
            let Some(field) = fields.fields.iter().position(|it| it.0 == name.text) else {
                let known = fields.fields.iter().map(|it| format!("`{}`", it.0)).collect::<Vec<_>>().join(", ");
                return self.refuse(
                    name.span,
                    format!("there is no field `{}`", name.text),
                    format!("there is {known}"),
                );
            };
            self.hint.get_or_insert_with(|| name.text.clone());
            let value = self.value(value)?;
            self.hint = None;
            values[field] = Some(self.settled(value, name.span));
        }
        if let Some(rest) = rest {
            let place = self.place(rest)?;
            for (field, slot) in values.iter_mut().enumerate().filter(|it| it.1.is_none()) {
                let declared = self.parts_field(&place.ty, field);
                *slot = Some(self.taken(&place.field(field, declared), span)?);
            }
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<_>>>() else {
            return self.refuse(span, "a field is missing", "give all of them");
        };
        self.constructed(&ty, at, values)
    }

    /// The structure or the variant that a path names before its fields.
    fn structure_named(&mut self, path: &Path) -> Option<(Type, usize, Rc<ast::Fields>)> {
        let (module, generics) = (self.state.frame().module.clone(), self.state.frame().generics.clone());
        let ty = match (path.last(), self.names.ty(path, &module)) {
            ("Self", None) => generics.get("Self").cloned()?,
            (_, Some(Named::Struct(number))) => Type::Struct(number, Vec::new()),
            _ => match self.type_before(path) {
                Some(ty) => ty,
                None => self.ty(&ast::Type { kind: ast::TypeKind::Path(path.clone()) }, &generics, &module),
            },
        };
        match &ty {
            Type::Enum(number, _) => {
                let variants = &self.names.enums[*number].variants;
                let at = variants.iter().position(|it| it.name.text == path.last())?;
                let fields = Rc::clone(&variants[at]);
                Some((ty, at, fields))
            }
            Type::Struct(number, _) => {
                let fields = Rc::clone(&self.names.structs[*number].fields);
                Some((ty, 0, fields))
            }
            _ => None,
        }
    }

    fn repeat(&mut self, of: &ast::Expr, len: &ast::Expr, span: Span) -> Option<Value> {
        let (module, generics) = (self.state.frame().module.clone(), self.state.frame().generics.clone());
        let Some(len) = self.constant(len, &generics, &module, 0).and_then(|it| usize::try_from(it).ok()) else {
            return self.refuse(len.span, "the length of this array is not known", "use a constant");
        };
        if len > 4096 {
            return self.refuse(span, "an array of more than 4096 elements", "use a smaller one");
        }
        let value = self.value(of)?;
        let value = self.settled(value, span);
        Some(Value::Array(vec![value; len]))
    }

    /// What a place holds; it is moved out of there if it is something that is dropped.
    pub(super) fn taken(&mut self, place: &Place, span: Span) -> Option<Value> {
        let id = match place.base {
            Base::Variable(id) => Some(id),
            Base::Object(object) => self.owner_of(object),
            Base::Through(..) => None,
        };
        self.taken_from(place, id, span)
    }

    fn taken_from(&mut self, place: &Place, id: Option<crate::value::VariableId>, span: Span) -> Option<Value> {
        let value = self.load(place, LoadOrder::Plain, span)?;
        if let Some(id) = id
            && self.needs_drop(&value)
        {
            self.moved(id, &place.fields(), span);
        }
        Some(value)
    }

    fn assign(&mut self, to: &ast::Expr, from: &ast::Expr, span: Span) -> Option<Value> {
        if let ExprKind::Path(path) = &to.kind
            && path.single() == Some("_")
        {
            let value = self.value(from)?;
            self.drop_value(value, span)?;
            return Some(Value::UNIT);
        }
        let value = self.value(from)?;
        if value.is_never() {
            return Some(value);
        }
        let value = self.settled(value, span);
        let place = self.place(to)?;
        self.overwrite(&place, value, span)?;
        Some(Value::UNIT)
    }

    /// Gives a place another value; what it held before is dropped.
    pub(super) fn overwrite(&mut self, place: &Place, value: Value, span: Span) -> Option<()> {
        let needs_drop = self.needs_drop_at(place);
        if let Base::Variable(id) = place.base {
            if needs_drop
                && self.state.variables[id.0].is_live != Live::No
                && self.state.variables[id.0].moved.is_empty()
            {
                self.drop_variable(id, span)?;
            }
            if place.steps.is_empty() {
                self.state.variables[id.0].moved.clear();
                self.revived(id, span);
            }
        } else if needs_drop {
            self.drop_place(place, span)?;
        }
        let value = retyped(value, &place.ty);
        self.store(place, value, StoreOrder::Plain, span)
    }

    fn assign_by(&mut self, op: ast::Binary, to: &ast::Expr, by: &ast::Expr, span: Span) -> Option<Value> {
        let by = self.value(by)?;
        let by = self.settled(by, span);
        let place = self.place(to)?;
        let old = self.load(&place, LoadOrder::Plain, span)?;
        let value = self.combined(op, old, by, span)?;
        self.store(&place, value, StoreOrder::Plain, span)?;
        Some(Value::UNIT)
    }

    fn macro_value(&mut self, it: &Macro, span: Span) -> Option<Value> {
        match it {
            Macro::Assert(condition) => {
                let Value::Number(holds, _) = self.value(condition)? else {
                    return self.refuse(span, "this is no condition", "assert something that is true or false");
                };
                self.asserted(holds, condition.span);
                Some(Value::UNIT)
            }
            Macro::AssertSame(a, b, is_same) => {
                let left = self.value(a)?;
                let mark = self.state.mark();
                let right = self.value(b)?;
                let left = if self.state.mark() > mark { self.settled_at(left, mark, span) } else { left };
                let same = self.compared(&left, &right, span)?;
                self.asserted(if *is_same { same } else { same.negated() }, a.span.to(b.span));
                Some(Value::UNIT)
            }
            Macro::Panic => {
                self.leave_alone();
                self.state.emit(StmtKind::Assert(test(Expr::Const(0), span)), span);
                Some(Value::Never)
            }
            Macro::Matches(subject, pat, guard) => self.matches(subject, pat, guard.as_deref(), span),
            Macro::Print(all) => {
                for it in all {
                    let place = self.place(it)?;
                    if !matches!(place.base, Base::Variable(_)) && self.type_at(&place).is_scalar() {
                        self.load(&place, LoadOrder::Plain, it.span)?;
                    }
                }
                Some(Value::Other)
            }
            Macro::Vec(all) => Some(Value::List(self.values(all)?)),
            Macro::VecRepeat(of, len) => match self.repeat(of, len, span)? {
                Value::Array(all) => Some(Value::List(all)),
                other => Some(other),
            },
        }
    }

    /// A violation unless that holds.
    pub(super) fn asserted(&mut self, holds: Expr, span: Span) {
        if matches!(holds, Expr::Const(1)) {
            return;
        }
        self.leave_alone();
        self.state.emit(StmtKind::Assert(test(holds, span)), span);
    }

    /// Whether two values are equal.
    pub(super) fn compared(&mut self, a: &Value, b: &Value, span: Span) -> Option<Expr> {
        Some(match (a, b) {
            // Of an owned text only its length is known.
            (Value::Number(_, x), Value::Number(_, y)) if (*x == Type::Text) != (*y == Type::Text) => {
                return self.refuse(span, "a `String` is compared with a text", "compare `&str` with `&str`");
            }
            (Value::Number(x, _), Value::Number(y, _)) => pair(x, y),
            (Value::Tuple(x), Value::Tuple(y))
            | (Value::Array(x), Value::Array(y))
            | (Value::List(x), Value::List(y)) => self.all_equal(x, y, span)?,
            (Value::Struct(_, x), Value::Struct(_, y)) => self.all_equal(x, y, span)?,
            (Value::Enum(x), Value::Enum(y)) => self.same_variant(x, y, span)?,
            (Value::Pointer(x), Value::Pointer(y)) => {
                let is_raw = |it: &crate::value::Pointer| {
                    matches!(it.kind, crate::types::Kind::Raw | crate::types::Kind::NonNull)
                };
                if !is_raw(x) && !is_raw(y) {
                    // References are compared by what they point at.
                    let (x, y) = (self.pointed(a.clone(), span)?, self.pointed(b.clone(), span)?);
                    let x = self.load(&x, LoadOrder::Plain, span)?;
                    let y = self.load(&y, LoadOrder::Plain, span)?;
                    return self.compared(&x, &y, span);
                }
                let (x, y) = (self.raw(a.clone(), span)?, self.raw(b.clone(), span)?);
                pair(&x, &y)
            }
            (Value::Unset | Value::Never, _) | (_, Value::Unset | Value::Never)
                if self.is_unsure || self.log.has_errors() =>
            {
                Expr::Const(1)
            }
            (Value::Other, Value::Other) => {
                return self.refuse(span, "floating point and times are not compared", "use integers");
            }
            _ => return self.refuse(span, "these cannot be compared", "compare numbers, tuples and variants"),
        })
    }

    fn same_variant(&mut self, x: &Enum, y: &Enum, span: Span) -> Option<Expr> {
        let mut same = pair(&x.tag, &y.tag);
        for (at, (x_fields, y_fields)) in x.variants.iter().zip(&y.variants).enumerate() {
            let (Some(x_fields), Some(y_fields)) = (x_fields, y_fields) else { continue };
            if !x_fields.is_empty() {
                let is_other = pair(&x.tag, &Expr::Const(at as i64)).negated();
                let equal = self.all_equal(x_fields, y_fields, span)?;
                same = and(same, or(is_other, equal));
            }
        }
        Some(same)
    }

    fn all_equal(&mut self, x: &[Value], y: &[Value], span: Span) -> Option<Expr> {
        let mut same = Expr::Const(i64::from(x.len() == y.len()));
        for (x, y) in x.iter().zip(y) {
            let equal = self.compared(x, y, span)?;
            same = and(same, equal);
        }
        Some(same)
    }
}

/// Whether two numbers are equal.
fn pair(x: &Expr, y: &Expr) -> Expr {
    match (x, y) {
        (Expr::Const(x), Expr::Const(y)) => Expr::Const(i64::from(x == y)),
        (x, y) => Expr::binary(Op::Eq, x.clone(), y.clone()),
    }
}

/// Both, where constants are left out.
pub(super) fn and(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Const(0), _) | (_, Expr::Const(0)) => Expr::Const(0),
        (Expr::Const(_), it) | (it, Expr::Const(_)) => it,
        (a, b) => Expr::binary(Op::And, a, b),
    }
}

/// One of them, where constants are left out.
pub(super) fn or(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Const(0), it) | (it, Expr::Const(0)) => it,
        (Expr::Const(_), _) | (_, Expr::Const(_)) => Expr::Const(1),
        (a, b) => Expr::binary(Op::Or, a, b),
    }
}

/// A literal gets the type that is said elsewhere.
pub(super) fn retyped(value: Value, ty: &Type) -> Value {
    match (value, ty.inner()) {
        (Value::Number(expr, Type::Integer(None)), Type::Integer(Some(it))) => {
            Value::Number(expr, Type::Integer(Some(*it)))
        }
        (Value::Pointer(it), Type::Pointer(_, to)) if it.to.is_unknown() => {
            Value::Pointer(crate::value::Pointer { to: (**to).clone(), ..it })
        }
        (Value::Atomic(inner), inner_ty) => Value::Atomic(Box::new(retyped(*inner, inner_ty))),
        (Value::Cell(cell, inner), inner_ty) => Value::Cell(cell, Box::new(retyped(*inner, inner_ty))),
        (Value::Lock(lock, inner), Type::Lock(_, ty)) => Value::Lock(lock, Box::new(retyped(*inner, ty))),
        (Value::Array(all), Type::Array(of, _)) => Value::Array(all.into_iter().map(|it| retyped(it, of)).collect()),
        (Value::Tuple(all), Type::Tuple(types)) if all.len() == types.len() => {
            Value::Tuple(all.into_iter().zip(types).map(|(it, ty)| retyped(it, ty)).collect())
        }
        (value, _) => value,
    }
}
