//! What an expression names, and how it is loaded and stored.
//!
//! A pointer that is not known is told apart by its number where that matters:
//!
//! ```text
//!   p->next    1 ≤ p ≤ 3   cell p - 1 of nodes.next       (nodes[0..2] have the numbers 1 to 3)
//!              p = 4       dummy.next
//!              otherwise   p points nowhere: a violation
//! ```

use std::rc::Rc;

use fencewright::frontend::hir::{
    Block, Condition, ConditionKind, EffectKind, Expr, First, LoadOrder, Operand, Place, StmtKind, StoreOrder,
};
use fencewright::program::{BinaryOp, Misuse};
use fencewright::source::Span;

use crate::ast::{self, ExprKind};
use crate::types::{Qualified, Type};

use super::Lowering;
use super::memory::{Cell, Kept, Run};
use super::thread::{IsSet, Storage};
use super::value::{Base, Pointer, Points, Target, Through, Value};

/// What an expression names.
#[derive(Clone, Debug)]
pub(super) enum Named {
    /// This.
    Target(Target),
    /// A part of what a pointer points at that is not known.
    Through(Through),
}

impl Named {
    pub(super) fn ty(&self) -> &Rc<Qualified> {
        match self {
            Self::Target(it) => &it.ty,
            Self::Through(it) => &it.ty,
        }
    }

    /// A field of it.
    pub(super) fn field(self, number: usize, ty: Qualified) -> Self {
        match self {
            Self::Target(target) => Self::Target(target.field(number, &ty)),
            Self::Through(mut it) => {
                it.fields.push(number);
                Self::Through(Through { ty: Rc::new(ty), ..it })
            }
        }
    }

    /// A cell of it.
    pub(super) fn at(self, index: Expr, ty: Rc<Qualified>) -> Self {
        match self {
            Self::Target(target) => Self::Target(target.at(index, ty)),
            Self::Through(mut it) => {
                it.indices.push(index);
                Self::Through(Through { ty, ..it })
            }
        }
    }
}

/// What memory is asked for besides a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orders {
    pub load: LoadOrder,
    pub store: StoreOrder,
}

impl Orders {
    /// As the type says: an atomic variable is sequentially consistent.
    pub(super) fn of(ty: &Qualified) -> Self {
        match (ty.is_atomic, ty.is_volatile) {
            (true, _) => Self { load: LoadOrder::SeqCst, store: StoreOrder::SeqCst },
            (false, true) => Self { load: LoadOrder::Relaxed, store: StoreOrder::Relaxed },
            (false, false) => Self { load: LoadOrder::Plain, store: StoreOrder::Plain },
        }
    }
}

impl<'a> Lowering<'a> {
    /// What an expression names.
    pub(super) fn named(&mut self, it: &'a ast::Expr) -> Option<Named> {
        match &it.kind {
            ExprKind::Name(name) => self.by_name(name),
            ExprKind::Member(of, field) => {
                let named = self.named(of)?;
                self.field(named, field)
            }
            ExprKind::Arrow(of, field) => {
                let value = self.value(of)?;
                let named = self.pointed_at(value, of.span)?;
                self.field(named, field)
            }
            ExprKind::Deref(of) => {
                let value = self.value(of)?;
                self.pointed_at(value, of.span)
            }
            ExprKind::Index(of, index) => self.element(of, index, it.span),
            ExprKind::Compound(ty, initial) => self.compound(ty, initial, it.span),
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
            | ExprKind::AddressOf(_)
            | ExprKind::Cast(..)
            | ExprKind::SizeOfType(_)
            | ExprKind::SizeOf(_)
            | ExprKind::Statements(_)
            | ExprKind::Type(_) => {
                self.log.error(it.span, "this names nothing that is kept", "name a variable, a field or a cell");
                None
            }
        }
    }

    pub(super) fn by_name(&mut self, name: &ast::Name) -> Option<Named> {
        if let Some(id) = self.state.variable(&name.text) {
            let variable = &self.state.variables[id.0];
            let ty = Rc::clone(&variable.ty);
            if let Storage::Object(object) = variable.storage {
                return Some(Named::Target(self.memory.whole(object)));
            }
            let base = Base::Variable(id);
            let (fields, indices) = (Vec::new(), Vec::new());
            return Some(Named::Target(Target { base, fields, indices, is_element: false, ty }));
        }
        let Some(global) = self.globals.get(&name.text).cloned() else {
            self.unknown_name(name);
            return None;
        };
        let object = if global.is_thread_local { self.own_copy(&name.text, &global) } else { global.object };
        Some(Named::Target(self.memory.whole(object)))
    }

    fn field(&mut self, of: Named, field: &ast::Name) -> Option<Named> {
        let Type::Struct(number) = of.ty().ty else {
            let message = format!("`{}` is asked of something that is no structure", field.text);
            self.log.error(field.span, message, "only structures have fields");
            return None;
        };
        let fields = self.names.structures[number].fields.as_deref().unwrap_or(&[]);
        let Some(at) = fields.iter().position(|it| it.0 == field.text) else {
            let structure = &self.names.structures[number].name;
            let known = fields.iter().map(|it| format!("`{}`", it.0)).collect::<Vec<_>>().join(", ");
            let message = format!("`struct {structure}` has no field `{}`", field.text);
            self.log.error(field.span, message, format!("it has {known}"));
            return None;
        };
        let ty = fields[at].1.clone();
        Some(of.field(at, ty))
    }

    fn element(&mut self, of: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Option<Named> {
        if let Some(named) = self.array(of) {
            let (index, _) = self.number(index)?;
            let index = self.state.settled(index, span);
            let Type::Array(element, _) = named.ty().ty.clone() else { return None };
            return Some(named.at(index, element));
        }
        let pointer = self.value(of)?;
        let index = self.value(index)?;
        let moved = self.moved(pointer, index, false, span)?;
        self.pointed_at(moved, span)
    }

    /// What an expression names, if that is an array.
    fn array(&mut self, it: &'a ast::Expr) -> Option<Named> {
        let is_path =
            matches!(it.kind, ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Arrow(..) | ExprKind::Index(..));
        if !is_path || !self.is_array(it) {
            return None;
        }
        self.named(it)
    }

    /// What a pointer points at.
    pub(super) fn pointed_at(&mut self, value: Value, span: Span) -> Option<Named> {
        let Value::Pointer(Pointer { to, what }) = value else {
            self.log.error(span, "this is no pointer", "only pointers point at something");
            return None;
        };
        match what {
            Points::Known(target) => Some(Named::Target(Target { ty: self.seen_as(&target, &to), ..target })),
            Points::Dynamic(pointer) => {
                let (fields, indices, ty) = (Vec::new(), Vec::new(), Rc::clone(&to));
                Some(Named::Through(Through { pointer, to, fields, indices, ty }))
            }
            Points::Part(through) => Some(Named::Through(*through)),
            Points::Null => {
                let (fields, indices, ty) = (Vec::new(), Vec::new(), Rc::clone(&to));
                Some(Named::Through(Through { pointer: Expr::Const(0), to, fields, indices, ty }))
            }
            Points::Integer(_) => {
                let help = "a pointer made of an integer is only passed on and cast back";
                self.log.error(span, "an integer is used as a pointer", help);
                None
            }
        }
    }

    /// The type of what is pointed at; what a cast makes of it, if that has the same form.
    fn seen_as(&self, target: &Target, to: &Rc<Qualified>) -> Rc<Qualified> {
        let is_same = target.ty.ty == to.ty || !to.ty.is_scalar();
        if is_same || !target.ty.ty.is_scalar() { Rc::clone(&target.ty) } else { Rc::clone(to) }
    }

    /// What is kept there.
    pub(super) fn load(&mut self, named: &Named, load: LoadOrder, span: Span) -> Option<Value> {
        if let Named::Target(target) = named {
            if let Type::Array(..) = target.ty.ty {
                let first = target.decayed().expect("it is an array");
                return Some(Value::Pointer(Pointer { to: Rc::clone(&first.ty), what: Points::Known(first) }));
            }
            if let Type::Struct(_) = target.ty.ty {
                return Some(Value::Structure(target.clone()));
            }
            if let Some(value) = self.known(target, span) {
                return Some(value);
            }
        }
        let ty = Rc::clone(named.ty());
        let raw = self.at_each(named, span, &mut |it, target| {
            let Base::Object(_) = target.base else { return it.in_register(target, span) };
            it.note_access(target, load != LoadOrder::Plain);
            let place = it.place(target, span)?;
            let value = it.state.kept(EffectKind::Load(place.clone(), load), span);
            Some(it.is_set(target, (value, place), span))
        })?;
        Some(self.typed(raw, &ty))
    }

    /// What is known of what is kept there.
    fn known(&mut self, target: &Target, span: Span) -> Option<Value> {
        match target.base {
            Base::Variable(id) => match self.state.variables[id.0].storage.clone() {
                Storage::Known(value) => {
                    self.was_assigned(id, span);
                    Some(value)
                }
                Storage::Register(_) | Storage::Object(_) => None,
            },
            Base::Object(id) => {
                let is_handle = target.ty.ty == Type::Builtin(ast::BuiltinType::Thread);
                let is_constant = self.constant.contains(&self.memory.objects[id.0].name);
                let is_known = self.state.is_alone || is_constant || is_handle && self.state.is_straight;
                if !is_known || !target.ty.ty.is_scalar() {
                    return None;
                }
                self.is_alive(target, span)?;
                let indices = constants(&target.indices)?;
                let leaf = self.memory.leaf(id, &target.fields)?;
                let cell = leaf.cells[leaf.cell(&indices)?].clone();
                if matches!(cell, Cell::Unset) && !self.is_copying {
                    self.misused(Misuse::Uninitialized, span);
                }
                Some(of_cell(&cell, &target.ty))
            }
        }
    }

    fn in_register(&mut self, target: &Target, span: Span) -> Option<Expr> {
        let Base::Variable(id) = target.base else { return None };
        match self.state.variables[id.0].storage.clone() {
            Storage::Register(local) => {
                self.was_assigned(id, span);
                Some(Expr::Var(Operand::Local(local)))
            }
            Storage::Known(value) => self.raw(value, &target.ty, span),
            Storage::Object(_) => None,
        }
    }

    /// Keeps a value there.
    pub(super) fn store(&mut self, named: &Named, store: StoreOrder, value: Value, span: Span) -> Option<()> {
        if let (Named::Target(to), Value::Structure(from)) = (named, &value) {
            return self.copy(to, from, span);
        }
        if let Named::Target(target) = named
            && self.make_known(target, &value, span)
        {
            return Some(());
        }
        let ty = Rc::clone(named.ty());
        let raw = self.raw(value, &ty, span)?;
        self.at_each(named, span, &mut |it, target| {
            if let Base::Variable(id) = target.base {
                let local = it.register_of(id, span);
                it.note_assigned(id, span);
                it.state.emit(StmtKind::Assign(local, raw.clone()), span);
                return Some(Expr::Const(0));
            }
            it.note_access(target, store != StoreOrder::Plain);
            it.note_write(target);
            let place = it.place(target, span)?;
            it.state.emit(StmtKind::Store(place, store, raw.clone()), span);
            Some(Expr::Const(0))
        })?;
        Some(())
    }

    /// Notes what is kept there, where that is all that is needed.
    fn make_known(&mut self, target: &Target, value: &Value, span: Span) -> bool {
        if !self.state.is_straight || !value.is_fixed() {
            return false;
        }
        match target.base {
            Base::Variable(id) => {
                let value = self.converted(value.clone(), &target.ty);
                let variable = &mut self.state.variables[id.0];
                let is_known = matches!(variable.storage, Storage::Known(_));
                if is_known {
                    variable.storage = Storage::Known(value);
                    variable.is_set = IsSet::Known(true);
                }
                is_known
            }
            Base::Object(id) => {
                let is_handle = target.ty.ty == Type::Builtin(ast::BuiltinType::Thread);
                let Some(indices) = constants(&target.indices) else { return false };
                let value = self.converted(value.clone(), &target.ty);
                let Some(cell) = cell_of(&value).filter(|_| self.state.is_alone || is_handle) else { return false };
                self.is_alive(target, span);
                let Some(leaf) = self.memory.leaf(id, &target.fields) else { return false };
                let Some(at) = leaf.cell(&indices) else { return false };
                leaf.cells[at] = cell;
                true
            }
        }
    }

    /// A structure, part by part.
    fn copy(&mut self, to: &Target, from: &Target, span: Span) -> Option<()> {
        let Type::Struct(_) = to.ty.ty else {
            self.log.error(span, "a structure is kept in something else", "assign it to a structure");
            return None;
        };
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        self.add_parts(Named::Target(to.clone()), &mut parts);
        self.add_parts(Named::Target(from.clone()), &mut others);
        for (part, from) in parts.iter().zip(&others) {
            let orders = Orders::of(part.ty());
            let value = self.copied_value(from, orders.load, span)?;
            self.store(part, orders.store, value, span)?;
        }
        Some(())
    }

    /// Does the same to each target that may be meant. The value, if it is not the same for all, is in a register.
    pub(super) fn at_each(
        &mut self,
        named: &Named,
        span: Span,
        act: &mut dyn FnMut(&mut Self, &Target) -> Option<Expr>,
    ) -> Option<Expr> {
        let through = match named {
            Named::Target(target) => return act(self, target),
            Named::Through(through) => through.clone(),
        };
        self.leave_alone();
        let pointer = self.state.settled(through.pointer.clone(), span);
        let mut runs = self.known.numbers.of_type(&through.to.ty, &self.memory, &self.names);
        let Some(last) = runs.pop() else {
            self.misused(Misuse::NullPointer, span);
            return Some(Expr::Const(0));
        };
        // It may also be right behind an array, or point at something of another type.
        let is_mixed = self.known.has_marks || self.known.numbers.len() > runs.len() + 1;
        let may_be_elsewhere = is_mixed || runs.iter().any(|it| !it.shape.is_empty()) || last.shape.len() > 1;
        self.is_somewhere(&pointer, span);
        let is_last = (may_be_elsewhere && last.shape.len() != 1).then(|| is_in(&last, &pointer, 0));
        if runs.is_empty() {
            self.is_there(is_last, span);
            return act(self, &within(&last, &pointer, &through));
        }
        let result = self.state.temporary(span);
        self.state.stable.insert(result);
        self.state.emit(StmtKind::Let(result, First::Constant(0)), span);
        let mut branches = Vec::new();
        for run in &runs {
            self.state.open();
            let value = act(self, &within(run, &pointer, &through));
            let block = self.closed_with(result, value, span)?;
            branches.push((test(is_in(run, &pointer, 0), span), block));
        }
        self.state.open();
        self.is_there(is_last, span);
        let value = act(self, &within(&last, &pointer, &through));
        let otherwise = self.closed_with(result, value, span)?;
        self.state.emit(StmtKind::If(branches, otherwise), span);
        Some(Expr::Var(Operand::Local(result)))
    }

    fn closed_with(
        &mut self,
        result: fencewright::frontend::hir::LocalId,
        value: Option<Expr>,
        span: Span,
    ) -> Option<Block> {
        if let Some(value) = &value
            && !matches!(value, Expr::Const(0))
        {
            self.state.emit(StmtKind::Assign(result, value.clone()), span);
        }
        let block = self.state.close();
        value.map(|_| block)
    }

    /// Notes that something is accessed atomically although its type is not atomic.
    pub(super) fn note_access(&mut self, target: &Target, is_atomic: bool) {
        if let Base::Object(id) = target.base
            && is_atomic
            && !target.ty.is_atomic
        {
            self.known.accessed.insert((self.memory.objects[id.0].name.clone(), target.fields.clone()));
        }
    }

    /// Notes that something is written to that was taken for a constant, so that the next pass does not.
    pub(super) fn note_write(&mut self, target: &Target) {
        if let Base::Object(id) = target.base {
            let name = &self.memory.objects[id.0].name;
            if self.constant.contains(name) {
                self.known.assigned.insert(name.clone());
            }
        }
    }

    /// Where a scalar is in the program.
    pub(super) fn place(&mut self, target: &Target, span: Span) -> Option<Place> {
        let Base::Object(id) = target.base else {
            self.log.error(span, "this is in no memory", "name a variable that is shared");
            return None;
        };
        if !target.ty.ty.is_scalar() || self.memory.leaf(id, &target.fields).is_none() {
            self.log.error(span, "this is no single value", "name a field or a cell of it");
            return None;
        }
        self.is_alive(target, span)?;
        self.leave_alone();
        let key = (self.memory.objects[id.0].name.clone(), target.fields.clone());
        let is_atomic = self.known.accessed.contains(&key);
        let kept = self.memory.kept(id, &target.fields, is_atomic, (&mut self.unit, &mut self.known.numbers))?;
        let shape = self.memory.leaf(id, &target.fields)?.shape.clone();
        Some(match kept {
            Kept::Location(location) => Place::Fixed(location),
            Kept::Array(array) => match linear(&target.indices, &shape) {
                Expr::Const(at) => match self.unit.memory().arrays()[array].cell(at) {
                    Some(location) => Place::Fixed(location),
                    None => Place::Cell(array, Expr::Const(at)),
                },
                number @ (Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..)) => Place::Cell(array, number),
            },
        })
    }
}

/// The part of a target that a pointer with this number points at.
fn within(run: &Run, pointer: &Expr, through: &Through) -> Target {
    let mut target = run.target.clone();
    // The last index counts fastest.
    let mut rest = plus(pointer.clone(), Expr::Const(-run.first));
    for (at, &len) in run.shape.iter().enumerate().rev() {
        let (index, before) = if at == 0 {
            (rest, Expr::Const(0))
        } else {
            (of_constants(BinaryOp::Rem, &rest, len), of_constants(BinaryOp::Div, &rest, len))
        };
        target.indices[at] = index;
        rest = before;
    }
    target.fields.extend(&through.fields);
    target.indices.extend(through.indices.iter().cloned());
    target.is_element &= through.fields.is_empty();
    Target { ty: Rc::clone(&through.ty), ..target }
}

/// Whether a pointer points at one of a run, or so many behind the last.
pub(super) fn is_in(run: &Run, pointer: &Expr, behind: i64) -> Expr {
    let is = |op, value| Expr::binary(op, pointer.clone(), Expr::Const(value));
    let last = run.first + run.len() - 1 + behind;
    if last == run.first {
        return is(BinaryOp::Eq, run.first);
    }
    Expr::binary(BinaryOp::And, is(BinaryOp::Ge, run.first), is(BinaryOp::Le, last))
}

/// A condition that is one expression.
pub(super) fn test(expr: Expr, span: Span) -> Condition {
    Condition { span, kind: ConditionKind::Test(expr) }
}

pub(super) fn plus(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.wrapping_add(b)),
        (Expr::Const(0), it) | (it, Expr::Const(0)) => it,
        (a, Expr::Const(b)) if b < 0 => Expr::binary(BinaryOp::Sub, a, Expr::Const(-b)),
        (a, b) => Expr::binary(BinaryOp::Add, a, b),
    }
}

pub(super) fn times(a: Expr, by: i64) -> Expr {
    match a {
        Expr::Const(a) => Expr::Const(a.wrapping_mul(by)),
        a @ (Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..)) => Expr::binary(BinaryOp::Mul, a, Expr::Const(by)),
    }
}

fn of_constants(op: BinaryOp, a: &Expr, by: u64) -> Expr {
    let by = by as i64;
    match a {
        Expr::Const(a) if op == BinaryOp::Rem => Expr::Const(a % by),
        Expr::Const(a) => Expr::Const(a / by),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => Expr::binary(op, a.clone(), Expr::Const(by)),
    }
}

/// The number of a cell, row by row.
pub(super) fn linear(indices: &[Expr], shape: &[u64]) -> Expr {
    indices
        .iter()
        .zip(shape)
        .fold(Expr::Const(0), |number, (index, len)| plus(times(number, *len as i64), index.clone()))
}

/// Indices that are all known.
pub(super) fn constants(indices: &[Expr]) -> Option<Vec<i64>> {
    let constant = |it: &Expr| match it {
        Expr::Const(value) => Some(*value),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => None,
    };
    indices.iter().map(constant).collect()
}

/// What a cell holds.
fn of_cell(cell: &Cell, ty: &Qualified) -> Value {
    match (cell, &ty.ty) {
        (Cell::Number(0) | Cell::Unset, Type::Pointer(to)) => {
            Value::Pointer(Pointer { to: Rc::clone(to), what: Points::Null })
        }
        (Cell::Number(value), Type::Pointer(to)) => {
            Value::Pointer(Pointer { to: Rc::clone(to), what: Points::Integer(Expr::Const(*value)) })
        }
        (Cell::Unset, ty) => Value::Number(Expr::Const(0), ty.integer().unwrap_or(crate::types::Integer::INT)),
        (Cell::Number(value), ty) => {
            Value::Number(Expr::Const(*value), ty.integer().unwrap_or(crate::types::Integer::INT))
        }
        (Cell::Target(target), _) => {
            let to = match &ty.ty {
                Type::Pointer(to) => Rc::clone(to),
                Type::Void
                | Type::Bool
                | Type::Integer(_)
                | Type::Array(..)
                | Type::Struct(_)
                | Type::Function
                | Type::Builtin(_) => Rc::clone(&target.ty),
            };
            Value::Pointer(Pointer { to, what: Points::Known(target.clone()) })
        }
        (Cell::Function(name), _) => Value::Function(name.clone()),
    }
}

/// The cell that holds a value that is known.
fn cell_of(value: &Value) -> Option<Cell> {
    match value {
        Value::Number(Expr::Const(value), _) => Some(Cell::Number(*value)),
        Value::Pointer(it) => match &it.what {
            Points::Null => Some(Cell::Number(0)),
            Points::Known(target) if matches!(target.base, Base::Object(_)) => Some(Cell::Target(target.clone())),
            Points::Integer(Expr::Const(value)) => Some(Cell::Number(*value)),
            Points::Known(_) | Points::Dynamic(_) | Points::Part(_) | Points::Integer(_) => None,
        },
        Value::Function(name) => Some(Cell::Function(name.clone())),
        Value::Number(..) | Value::Structure(_) | Value::Void => None,
    }
}
