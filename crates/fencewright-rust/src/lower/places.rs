//! What an expression names, and objects that get into memory.

use std::collections::BTreeSet;
use std::rc::Rc;

use fencewright::frontend::hir::{Expr, LoadOrder, StmtKind, StoreOrder};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::{self, ExprKind, Name, Path, Unary};
use crate::types::{Cell, Integer, OPTION, Type};
use crate::value::{Base, Generics, ObjectId, Place, Pointer, Points, Value, VariableId};

use super::Lowering;
use super::access::reference;
use super::state::{Live, Storage, Variable, test};

/// What a name stands for is not followed through more pointers.
const MAX_DEREFS: usize = 16;

impl Lowering<'_> {
    /// What an expression names; what names nothing is kept for the statement.
    pub(super) fn place(&mut self, it: &ast::Expr) -> Option<Place> {
        match &it.kind {
            ExprKind::Path(path) => match self.named(path)? {
                Some(place) => Some(place),
                None => self.temporary(it),
            },
            ExprKind::Field(of, name) => {
                let place = self.place(of)?;
                self.field(place, name)
            }
            ExprKind::Index(of, index) => {
                let place = self.place(of)?;
                self.element(place, index, it.span)
            }
            ExprKind::Unary(Unary::Deref, of) => {
                let place = self.place(of)?;
                self.dereferenced(place, it.span)
            }
            _ => self.temporary(it),
        }
    }

    /// A variable or a `static`; `None` inside if it is neither.
    fn named(&mut self, path: &Path) -> Option<Option<Place>> {
        if let Some(name) = path.single()
            && let Some(id) = self.state.variable(name)
        {
            return Some(Some(self.variable_place(id)));
        }
        let module = self.state.frame().module.clone();
        match self.names.constant(path, &module, true) {
            Some(constant) => Some(Some(self.static_place(&constant)?)),
            None => Some(None),
        }
    }

    pub(super) fn variable_place(&self, id: VariableId) -> Place {
        match &self.state.variables[id.0].storage {
            Storage::Object(object) => self.whole(*object),
            Storage::Value(value) => Place { base: Base::Variable(id), steps: Vec::new(), ty: self.type_of(value) },
        }
    }

    /// A `static`, which is made when it is first named.
    fn static_place(&mut self, it: &Rc<ast::Constant>) -> Option<Place> {
        if let Some(&object) = self.statics.get(&it.name.span) {
            return Some(self.whole(object));
        }
        let ty = self.ty(&it.ty, &Generics::new(), &it.module);
        let value = match &it.value {
            Some(value) => self.constant_value(value, Generics::new(), &it.module)?,
            None => Value::Unset,
        };
        let ty = if ty.is_unknown() { self.type_of(&value) } else { ty };
        let object = self.new_object(&it.name.text, &ty, it.name.span);
        self.statics.insert(it.name.span, object);
        let place = self.whole(object);
        self.initialized(&place, value, it.name.span)?;
        Some(place)
    }

    /// What is there before anything happens, whoever names it first.
    fn initialized(&mut self, place: &Place, value: Value, span: Span) -> Option<()> {
        let before = (self.state.is_main, self.state.is_alone, self.state.depth);
        (self.state.is_main, self.state.is_alone, self.state.depth) = (true, true, 0);
        let done = self.store(place, value, StoreOrder::Plain, span);
        (self.state.is_main, self.state.is_alone, self.state.depth) = before;
        done
    }

    /// The value of a constant expression.
    pub(super) fn constant_value(&mut self, it: &ast::Expr, generics: Generics, module: &[String]) -> Option<Value> {
        let frame = super::state::Frame { module: module.to_vec(), generics, ..Default::default() };
        self.state.frames.push(frame);
        self.state.frame().scopes.push(Default::default());
        let value = self.value(it);
        self.state.frames.pop();
        value
    }

    /// A new object with nothing in it.
    pub(super) fn new_object(&mut self, name: &str, ty: &Type, span: Span) -> ObjectId {
        let mut shown = name.to_owned();
        let mut n = 1;
        while self.memory.named(&shown).is_some() {
            n += 1;
            shown = format!("{name}#{n}");
        }
        let leaves = self.leaves(&shown, ty);
        self.memory.object(&shown, ty.clone(), leaves, span)
    }

    /// An object that a thread makes at a place; what is made again in a loop is the same.
    pub(super) fn made_object(&mut self, name: &str, ty: &Type, span: Span) -> ObjectId {
        let n = self.made.entry((self.state.thread.name.clone(), span)).or_insert(0);
        *n += 1;
        let (key, n) = (format!("{}@{}.{n}", self.state.thread.name, span.start), *n);
        let is_own = !self.state.is_main;
        let shown = match (is_own, n) {
            (true, 1) => format!("{}.{name}", self.state.thread.name),
            (true, n) => format!("{}.{name}#{n}", self.state.thread.name),
            (false, 1) => name.to_owned(),
            (false, n) => format!("{name}#{n}"),
        };
        if let Some((shown, _, _)) = self.known.objects.get(&key)
            && let Some(object) = self.memory.named(&shown.clone())
        {
            let known = &self.memory.objects[object.0].ty;
            if known.is_unknown() && !ty.is_unknown() {
                self.known.objects.insert(key, (self.memory.objects[object.0].name.clone(), ty.clone(), span));
                self.is_unsure = true;
            }
            return object;
        }
        let object = self.new_object(&shown, ty, span);
        let shown = self.memory.objects[object.0].name.clone();
        self.known.objects.insert(key, (shown, ty.clone(), span));
        object
    }

    /// What threads make is there from the start, since others may point at it.
    pub(super) fn known_objects(&mut self) {
        for (shown, ty, span) in self.known.objects.clone().into_values() {
            let leaves = self.leaves(&shown, &ty);
            let object = self.memory.object(&shown, ty, leaves, span);
            if self.known.is_freed {
                let flag = Type::Atomic(Rc::new(Type::Bool));
                let freed = self.new_object(&format!("{shown} freed"), &flag, span);
                self.memory.leaf(freed, &[]).expect("a truth value has a cell").cells =
                    vec![crate::memory::Cell::Number(0)];
                self.memory.objects[object.0].freed = Some(freed);
            }
        }
    }

    /// Declares a variable.
    pub(super) fn declare(&mut self, name: &Name, is_mut: bool, value: Value) -> Option<VariableId> {
        let span = name.span;
        let value = self.settled(value, span);
        let in_memory = self.known.in_memory.contains(&span) || has_interior(&value);
        let (depth, needs_drop) = (self.state.depth, self.needs_drop(&value));
        let storage = if in_memory {
            let ty = self.type_of(&value);
            let object = self.made_object(&name.text, &ty, span);
            let place = self.whole(object);
            self.store(&place, value, StoreOrder::Plain, span)?;
            Storage::Object(object)
        } else {
            Storage::Value(value)
        };
        let mut is_live = Live::Yes;
        if needs_drop && self.known.flagged.contains(&span) {
            let flag = self.state.hoisted(None, true, span);
            self.state.emit(StmtKind::Assign(flag, Expr::Const(1)), span);
            is_live = Live::Flag(flag);
        }
        let (name, moved, is_borrowed) = (name.text.clone(), BTreeSet::new(), false);
        Some(self.declared(Variable { name, storage, is_mut, is_live, moved, is_borrowed, depth, span }))
    }

    pub(super) fn declared(&mut self, variable: Variable) -> VariableId {
        let id = VariableId(self.state.variables.len());
        let name = variable.name.clone();
        self.state.variables.push(variable);
        let scope = self.state.frame().scopes.last_mut().expect("a scope is open");
        scope.names.insert(name, id);
        scope.owned.push(id);
        id
    }

    /// What an expression comes to, kept for the statement that it is in.
    fn temporary(&mut self, it: &ast::Expr) -> Option<Place> {
        let value = self.value(it)?;
        self.kept_value(value, it.span)
    }

    pub(super) fn kept_value(&mut self, value: Value, span: Span) -> Option<Place> {
        if let Value::Never = value {
            return Some(Place {
                base: Base::Through(Expr::Const(0), Type::Unknown),
                steps: Vec::new(),
                ty: Type::Unknown,
            });
        }
        let name = Name { text: String::new(), span };
        let id = self.declare(&name, true, value)?;
        Some(self.variable_place(id))
    }

    /// `e.name`
    fn field(&mut self, mut place: Place, name: &Name) -> Option<Place> {
        for _ in 0..MAX_DEREFS {
            let ty = self.type_at(&place);
            let fields = match ty.open() {
                Type::Struct(number, arguments) => self.fields_of(*number, arguments),
                Type::Tuple(all) => all.iter().enumerate().map(|(at, it)| (at.to_string(), it.clone())).collect(),
                _ => Vec::new(),
            };
            if let Some(at) = fields.iter().position(|it| it.0 == name.text) {
                let ty = self.field_type(&place, at, fields[at].1.clone());
                return Some(place.field(at, ty));
            }
            if !self.is_dereferenceable(&ty) {
                if self.is_unsure {
                    return None;
                }
                let message = format!("the {} has no field `{}` that is known", self.shown(&ty), name.text);
                return self.refuse(name.span, message, "say the type where the variable is declared");
            }
            place = self.dereferenced(place, name.span)?;
        }
        None
    }

    /// The type of a field, which a value knows better than its structure.
    fn field_type(&mut self, place: &Place, at: usize, ty: Type) -> Type {
        let field = place.field(at, ty.clone());
        match &field.base {
            Base::Variable(_) => {
                self.load(&field, LoadOrder::Plain, Span::default()).map_or(ty, |it| self.type_of(&it))
            }
            Base::Object(_) | Base::Through(..) => self.type_at(&field),
        }
    }

    /// `e[index]`
    fn element(&mut self, mut place: Place, index: &ast::Expr, span: Span) -> Option<Place> {
        let index = self.value(index)?;
        let Value::Number(index, _) = index else {
            return self.refuse(span, "this is no index that is known", "use a number: slices are not supported");
        };
        let index = self.state.settled(index, span);
        for _ in 0..MAX_DEREFS {
            let ty = self.type_at(&place);
            if let Type::Array(of, len) = ty.open() {
                let is_in = match &index {
                    Expr::Const(at) => Expr::Const(i64::from(*at >= 0 && (*at as u64) < *len)),
                    index => Expr::binary(Op::Lt, index.clone(), Expr::Const(*len as i64)),
                };
                if !matches!(is_in, Expr::Const(1)) {
                    self.leave_alone();
                    self.state.emit(StmtKind::Assert(test(is_in, span)), span);
                }
                return Some(place.at(index, (**of).clone()));
            }
            if !self.is_dereferenceable(&ty) {
                let message = format!("the {} has no elements that are known", self.shown(&ty));
                return if self.is_unsure { None } else { self.refuse(span, message, "use an array of known length") };
            }
            place = self.dereferenced(place, span)?;
        }
        None
    }

    /// Whether `*` can be applied.
    pub(super) fn is_dereferenceable(&self, ty: &Type) -> bool {
        match ty.open() {
            Type::Pointer(..) => true,
            ty @ Type::Struct(..) => self.method(ty, "deref").is_some(),
            _ => false,
        }
    }

    /// `*e`
    pub(super) fn dereferenced(&mut self, place: Place, span: Span) -> Option<Place> {
        let ty = self.type_at(&place);
        if let Type::Cell(_, inner) = &ty
            && !self.is_dereferenceable(&ty)
        {
            return Some(place.seen_as((**inner).clone()));
        }
        let value = match ty.open() {
            Type::Struct(..) => {
                let Some(found) = self.method(ty.open(), "deref") else {
                    return self.refuse(span, format!("a {} points at nothing", self.shown(&ty)), "implement `Deref`");
                };
                self.called(&found, vec![reference(place)], span)?
            }
            _ => self.load(&place, LoadOrder::Plain, span)?,
        };
        self.pointed(value, span)
    }

    /// What a pointer points at.
    pub(super) fn pointed(&mut self, value: Value, span: Span) -> Option<Place> {
        match value.open() {
            Value::Pointer(Pointer { to, what, .. }) => Some(match what {
                Points::Known(place) if place.ty.is_unknown() => Place { ty: to, ..place },
                Points::Known(place) => place,
                Points::Number(number) => {
                    let number = self.state.settled(number, span);
                    Place { base: Base::Through(number, to.clone()), steps: Vec::new(), ty: to }
                }
            }),
            Value::Unset | Value::Never => {
                self.is_unsure |= self.known.in_memory.is_empty() || self.is_unsure;
                Some(Place { base: Base::Through(Expr::Const(0), Type::Unknown), steps: Vec::new(), ty: Type::Unknown })
            }
            _ => self.refuse(span, "this is no pointer", "only references, pointers and guards point at something"),
        }
    }

    /// The type of a value.
    pub(super) fn type_of(&self, value: &Value) -> Type {
        match value {
            Value::Number(_, ty) => ty.clone(),
            Value::Tuple(all) => Type::Tuple(all.iter().map(|it| self.type_of(it)).collect()),
            Value::Struct(number, all) => {
                let structure = &self.names.structs[*number];
                let declared = structure.fields.fields.iter().map(|it| &it.1);
                let mut arguments = self.arguments_of(&structure.generics, declared.zip(all));
                for (argument, default) in arguments.iter_mut().zip(&structure.defaults) {
                    if let (Type::Unknown, Some(default)) = (&*argument, default) {
                        *argument = self.ty(default, &Generics::new(), &structure.module);
                    }
                }
                Type::Struct(*number, arguments)
            }
            Value::Enum(it) if it.number == OPTION => {
                let some = it.variants[1].as_ref().and_then(|it| it.first());
                Type::Enum(OPTION, vec![some.map_or(Type::Unknown, |it| self.type_of(it))])
            }
            Value::Enum(it) => {
                let enumeration = &self.names.enums[it.number];
                let variants = enumeration.variants.iter().zip(&it.variants);
                let pairs = variants.filter_map(|(fields, values)| Some((fields, values.as_ref()?)));
                let pairs = pairs.flat_map(|(fields, values)| fields.fields.iter().map(|it| &it.1).zip(values));
                Type::Enum(it.number, self.arguments_of(&enumeration.generics, pairs))
            }
            Value::Array(all) | Value::List(all) => {
                let of = all.first().map_or(Type::Unknown, |it| self.type_of(it));
                Type::Array(Rc::new(of), all.len() as u64)
            }
            Value::Atomic(inner) => Type::Atomic(Rc::new(self.type_of(inner))),
            Value::Cell(cell, inner) => Type::Cell(*cell, Rc::new(self.type_of(inner))),
            Value::Lock(lock, inner) => Type::Lock(*lock, Rc::new(self.type_of(inner))),
            Value::Pointer(it) => {
                let to = match &it.what {
                    Points::Known(place) if it.to.is_unknown() => self.type_at(place),
                    _ => it.to.clone(),
                };
                Type::Pointer(it.kind, Rc::new(to))
            }
            Value::Unset | Value::Never => Type::Unknown,
            Value::Other => Type::Opaque,
            _ => Type::Other,
        }
    }

    /// The types of type parameters, from types as they are declared and values.
    fn arguments_of<'v>(&self, names: &[String], pairs: impl Iterator<Item = (&'v ast::Type, &'v Value)>) -> Vec<Type> {
        let mut generics = Generics::new();
        for (declared, value) in pairs {
            self.bind(declared, &self.type_of(value), names, &mut generics);
        }
        names.iter().map(|it| generics.remove(it).unwrap_or(Type::Unknown)).collect()
    }
}

/// Whether something in a value can be changed through `&`, so that it is in memory from the start.
fn has_interior(value: &Value) -> bool {
    match value {
        Value::Atomic(_) | Value::Cell(Cell::Open | Cell::Copied, _) | Value::Lock(..) => true,
        Value::Cell(Cell::Kept, inner) => has_interior(inner),
        Value::Tuple(all) | Value::Struct(_, all) | Value::Array(all) | Value::List(all) => {
            all.iter().any(has_interior)
        }
        Value::Enum(it) => it.variants.iter().flatten().flatten().any(has_interior),
        _ => false,
    }
}

/// An index of the type that indices have.
pub(super) fn index_value(expr: Expr) -> Value {
    Value::Number(expr, Type::Integer(Some(Integer::USIZE)))
}
