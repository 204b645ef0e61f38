//! Loads and stores: of whole values, part by part, and through pointers that are not known.
//!
//! ```text
//!   (*p).next    p = 1        first.next        (boxes have the numbers 1 and 2)
//!                otherwise    second.next
//! ```

use fencewright::frontend::hir::{self, EffectKind, Expr, LoadOrder, StmtKind, StoreOrder};
use fencewright::program::{BinaryOp as Op, Misuse};
use fencewright::source::Span;

use crate::memory::{self, Kept, Run, constant};
use crate::types::{Kind, Type};
use crate::value::{Base, Enum, ObjectId, Place, Pointer, Points, Step, Value};

use super::Lowering;
use super::parts::has_other_parts;
use super::resolve::Parts;
use super::state::{Storage, register, test};

impl Lowering<'_> {
    /// What is kept there, as a whole.
    pub(super) fn load(&mut self, place: &Place, order: LoadOrder, span: Span) -> Option<Value> {
        if let Base::Variable(_) = place.base {
            return self.in_variable(place, span);
        }
        let ty = self.type_at(place);
        let value = match self.parts(&ty) {
            Parts::Scalar(..) => self.load_scalar(&place.seen_as(ty.clone()), order, span)?,
            Parts::Elements(of, len) => {
                let elements = (0..len).map(|at| self.load(&place.at(Expr::Const(at as i64), of.clone()), order, span));
                Value::Array(elements.collect::<Option<Vec<_>>>()?)
            }
            Parts::Fields(fields) => self.load_fields(place, &ty, &fields, span)?,
            Parts::Nothing if ty.is_unknown() => {
                self.is_unsure = true;
                Value::Unset
            }
            Parts::Nothing => Value::Other,
        };
        Some(wrapped(value, &ty))
    }

    fn load_fields(&mut self, place: &Place, ty: &Type, fields: &[(String, Type)], span: Span) -> Option<Value> {
        if let Type::Enum(number, _) = ty.open() {
            return self.load_enum(place, *number, fields, span);
        }
        if let Type::Lock(lock, inner) = ty.open() {
            let data = self.load(&place.field(1, (**inner).clone()), LoadOrder::Plain, span)?;
            return Some(Value::Lock(*lock, Box::new(data)));
        }
        let mut values = Vec::new();
        for (at, (_, ty)) in fields.iter().enumerate() {
            values.push(self.load(&place.field(at, ty.clone()), LoadOrder::Plain, span)?);
        }
        Some(match ty.open() {
            Type::Struct(number, _) => Value::Struct(*number, values),
            _ => Value::Tuple(values),
        })
    }

    /// Only what the variant has is read.
    fn load_enum(&mut self, place: &Place, number: usize, fields: &[(String, Type)], span: Span) -> Option<Value> {
        let tag = self.load(&place.field(0, fields[0].1.clone()), LoadOrder::Plain, span)?;
        let Value::Number(tag, _) = tag.open() else { return Some(Value::Unset) };
        let sizes = self.sizes_of(number);
        let mut variants = vec![None; sizes.len()];
        for (variant, slot) in variants.iter_mut().enumerate() {
            let (first, n) = (self.variant_offset(number, variant), sizes[variant]);
            let mut load = |it: &mut Self| -> Option<Vec<Value>> {
                (first..first + n)
                    .map(|at| it.load(&place.field(at, fields[at].1.clone()), LoadOrder::Plain, span))
                    .collect()
            };
            match &tag {
                Expr::Const(is) if *is == variant as i64 => *slot = Some(load(self)?),
                Expr::Const(_) => {}
                _ if n == 0 => *slot = Some(Vec::new()),
                tag => {
                    let is = Expr::binary(Op::Eq, tag.clone(), Expr::Const(variant as i64));
                    *slot = self.only_if(is, span, &mut load)?;
                }
            }
        }
        Some(Value::Enum(Box::new(Enum { number, tag, variants, sizes })))
    }

    /// Values that are found under a condition; in registers, so that they can be used behind it.
    pub(super) fn only_if(
        &mut self,
        condition: Expr,
        span: Span,
        act: &mut dyn FnMut(&mut Self) -> Option<Vec<Value>>,
    ) -> Option<Option<Vec<Value>>> {
        self.state.depth += 1;
        self.state.open();
        let values = act(self);
        let values = values.and_then(|values| values.into_iter().map(|it| self.in_registers(it, span)).collect());
        let block = self.state.close();
        self.state.depth -= 1;
        self.state.emit(StmtKind::If(vec![(test(condition, span), block)], Vec::new()), span);
        let values: Vec<Value> = values?;
        // Memory whose type is not known has nothing to show.
        Some((!values.iter().any(|it| matches!(it, Value::Unset))).then_some(values))
    }

    /// The type of a place, if it is told elsewhere.
    pub(super) fn type_at(&self, place: &Place) -> Type {
        match &place.base {
            Base::Object(id) => self.learned(&self.memory.objects[id.0].name.clone(), &place.fields(), &place.ty),
            Base::Through(_, to) if place.ty.is_unknown() => {
                let runs = self.known.numbers.of_type(to, &self.memory);
                let found = runs.iter().map(|run| self.type_at(&within(run, &Expr::Const(run.first), place)));
                found.into_iter().find(|it| !it.is_unknown()).unwrap_or(Type::Unknown)
            }
            Base::Through(..) | Base::Variable(_) => place.ty.clone(),
        }
    }

    fn in_variable(&mut self, place: &Place, span: Span) -> Option<Value> {
        let Base::Variable(id) = place.base else { return None };
        let Storage::Value(whole) = self.state.variables[id.0].storage.clone() else { return None };
        match part(&whole, &place.steps) {
            Some(value) => Some(value),
            None => {
                // An element whose number is not known is found in memory.
                let is_new = self.known.in_memory.insert(self.state.variables[id.0].span);
                self.is_unsure |= is_new;
                if !is_new {
                    return self.refuse(
                        span,
                        "this part of a variable is not known",
                        "keep it in a variable of its own",
                    );
                }
                Some(Value::Unset)
            }
        }
    }

    fn load_scalar(&mut self, place: &Place, order: LoadOrder, span: Span) -> Option<Value> {
        if let Some(value) = self.known_cell(place, span) {
            return Some(value);
        }
        let ty = place.ty.inner().clone();
        let is_read_once = order;
        let raw = self.at_each(place, span, &mut |it, place| {
            let at = it.cell(place, span)?;
            let raw = it.state.kept(EffectKind::Load(at.clone(), is_read_once), span);
            it.is_set(place, (&raw, at), span);
            Some(raw)
        })?;
        Some(typed(raw, &ty))
    }

    /// What is known to be in a cell before there are threads.
    fn known_cell(&mut self, place: &Place, span: Span) -> Option<Value> {
        let Base::Object(id) = place.base else { return None };
        if !self.knows_memory() {
            return None;
        }
        let indices = place.indices().iter().map(constant).collect::<Option<Vec<_>>>()?;
        let fields = place.fields();
        let leaf = self.memory.leaf(id, &fields)?;
        let cell = leaf.cells[leaf.cell(&indices)?].clone();
        let ty = place.ty.inner().clone();
        Some(match cell {
            memory::Cell::Unset => {
                let is_learned = !self.is_unsure;
                if is_learned {
                    self.misused(Misuse::Uninitialized, span);
                }
                typed(Expr::Const(0), &ty)
            }
            memory::Cell::Number(value) => typed(Expr::Const(value), &ty),
            memory::Cell::Target(target) => match ty {
                Type::Pointer(kind, to) => {
                    Value::Pointer(Pointer { kind, to: (*to).clone(), what: Points::Known(target) })
                }
                _ => Value::Unset,
            },
        })
    }

    /// Whether what memory holds is known, since nobody but `main` was there so far.
    pub(super) fn knows_memory(&self) -> bool {
        self.state.is_main && self.state.is_alone && self.state.depth == 0
    }

    /// Keeps a value there, as a whole.
    pub(super) fn store(&mut self, place: &Place, value: Value, order: StoreOrder, span: Span) -> Option<()> {
        if let Base::Variable(id) = place.base {
            return self.assign_variable(id, &place.steps, value, span);
        }
        if place.ty.is_unknown() {
            self.learn(place, &value);
        }
        let ty = self.type_at(place);
        let parts = self.parts(&ty);
        if matches!(parts, Parts::Fields(_)) && has_other_parts(&value, ty.open()) {
            return self.refuse(span, "a value is kept where another type is expected", "`rustc` says more about it");
        }
        match (value, parts) {
            (Value::Cell(_, inner) | Value::Atomic(inner), _) => self.store(place, *inner, order, span),
            (Value::Other, Parts::Scalar(..)) if *ty.inner() == Type::Opaque => {
                self.store_scalar(&place.seen_as(ty), Value::Number(Expr::Const(0), Type::Opaque), order, span)
            }
            (Value::Unset | Value::Other | Value::Never, _) => Some(()),
            (value, Parts::Scalar(..)) => self.store_scalar(&place.seen_as(ty), value, order, span),
            (Value::Enum(value), Parts::Fields(fields)) => self.store_enum(place, *value, &fields, span),
            (Value::Lock(lock, data), Parts::Fields(fields)) => self.store_lock(place, (lock, *data), &fields, span),
            (Value::Tuple(values) | Value::Struct(_, values), Parts::Fields(fields)) => {
                for (at, (value, (_, ty))) in values.into_iter().zip(fields).enumerate() {
                    self.store(&place.field(at, ty), value, StoreOrder::Plain, span)?;
                }
                Some(())
            }
            (Value::Array(values) | Value::List(values), Parts::Elements(of, _)) => {
                for (at, value) in values.into_iter().enumerate() {
                    self.store(&place.at(Expr::Const(at as i64), of.clone()), value, StoreOrder::Plain, span)?;
                }
                Some(())
            }
            (_, Parts::Nothing) => Some(()),
            (Value::Closure(..) | Value::Thread(_) | Value::Function(..), _) => {
                self.refuse(span, "a closure or a thread is kept in memory", "keep it in a variable")
            }
            _ => self.refuse(span, "a value is kept where another type is expected", "`rustc` says more about it"),
        }
    }

    /// Takes the type of a part from what is kept there.
    fn learn(&mut self, place: &Place, value: &Value) {
        let ty = self.type_of(value).open().clone();
        if ty.is_unknown() {
            return;
        }
        match &place.base {
            Base::Object(id) => {
                let key = (self.memory.objects[id.0].name.clone(), place.fields());
                if self.known.learned.insert(key, ty).is_none() {
                    self.is_unsure = true;
                }
            }
            Base::Through(_, to) => {
                for run in self.known.numbers.of_type(to, &self.memory) {
                    let part = within(&run, &Expr::Const(run.first), place);
                    self.learn(&part, value);
                }
            }
            Base::Variable(_) => {}
        }
    }

    fn store_scalar(&mut self, place: &Place, value: Value, order: StoreOrder, span: Span) -> Option<()> {
        if self.make_known(place, &value) {
            return Some(());
        }
        let raw = self.raw(value, span)?;
        let raw = self.state.settled(raw, span);
        self.at_each(place, span, &mut |it, place| {
            let at = it.cell(place, span)?;
            it.state.emit(StmtKind::Store(at, order, raw.clone()), span);
            Some(Expr::Const(0))
        })?;
        Some(())
    }

    /// Notes what is in a cell before there are threads.
    fn make_known(&mut self, place: &Place, value: &Value) -> bool {
        let Base::Object(id) = place.base else { return false };
        if !self.knows_memory() {
            return false;
        }
        let cell = match value {
            Value::Number(Expr::Const(value), _) => memory::Cell::Number(*value),
            Value::Pointer(Pointer { what: Points::Number(Expr::Const(value)), .. }) => memory::Cell::Number(*value),
            Value::Pointer(Pointer { what: Points::Known(target), .. }) if self.is_fixed(target) => {
                memory::Cell::Target(target.clone())
            }
            _ => return false,
        };
        let Some(indices) = place.indices().iter().map(constant).collect::<Option<Vec<_>>>() else { return false };
        let Some(leaf) = self.memory.leaf(id, &place.fields()) else { return false };
        let Some(at) = leaf.cell(&indices) else { return false };
        leaf.cells[at] = cell;
        true
    }

    /// Whether a place is in memory, and which one it is does not change.
    pub(super) fn is_fixed(&self, place: &Place) -> bool {
        matches!(place.base, Base::Object(_)) && place.indices().iter().all(|it| matches!(it, Expr::Const(_)))
    }

    /// The number that stands for a value in memory or in a register.
    pub(super) fn raw(&mut self, value: Value, span: Span) -> Option<Expr> {
        match value.open() {
            Value::Number(expr, _) => Some(expr),
            Value::Pointer(it) => match it.what {
                Points::Number(expr) => Some(expr),
                Points::Known(place) => self.number_of(&place, span),
            },
            Value::Unset | Value::Other => Some(Expr::Const(0)),
            _ => self.refuse(span, "this is no single value", "keep its parts by themselves"),
        }
    }

    /// The number of what a pointer points at.
    pub(super) fn number_of(&mut self, place: &Place, span: Span) -> Option<Expr> {
        match &place.base {
            Base::Variable(id) => {
                self.put_into_memory(*id);
                Some(Expr::Const(0))
            }
            Base::Through(number, _) if place.steps.is_empty() => Some(number.clone()),
            Base::Through(..) => self.at_each(place, span, &mut |it, place| it.number_of(place, span)),
            Base::Object(_) => match self.known.numbers.run_of(place, &self.memory) {
                Some((first, shape)) => Some(plus(linear(&place.indices(), &shape), Expr::Const(first))),
                None => self.refuse(span, "a pointer to something that is not kept in cells", "point at a field of it"),
            },
        }
    }

    /// The address of a variable gets away, so it is in memory from the next pass on.
    pub(super) fn put_into_memory(&mut self, id: crate::value::VariableId) {
        let span = self.state.variables[id.0].span;
        self.known.in_memory.insert(span);
        self.is_unsure = true;
    }

    /// Does the same to each place that may be meant. The value, if it is not the same for all, is in a register.
    pub(super) fn at_each(
        &mut self,
        place: &Place,
        span: Span,
        act: &mut dyn FnMut(&mut Self, &Place) -> Option<Expr>,
    ) -> Option<Expr> {
        let Base::Through(pointer, to) = &place.base else { return act(self, place) };
        let pointer = self.state.settled(pointer.clone(), span);
        let mut runs = self.known.numbers.of_type(to, &self.memory);
        if let Expr::Const(number) = pointer {
            runs.retain(|it| it.first <= number && number < it.first + it.len);
        }
        self.leave_alone();
        let Some(last) = runs.pop() else {
            self.misused(Misuse::NullPointer, span);
            return Some(Expr::Const(0));
        };
        if !matches!(pointer, Expr::Const(_)) {
            let is_there = Expr::binary(Op::Ne, pointer.clone(), Expr::Const(0));
            self.state.emit(StmtKind::Check(test(is_there, span), Misuse::NullPointer), span);
        }
        if runs.is_empty() {
            return act(self, &within(&last, &pointer, place));
        }
        let result = self.state.hoisted(None, false, span);
        let mut branches = Vec::new();
        for run in &runs {
            let block = self.apart(result, span, &mut |it| act(it, &within(run, &pointer, place)))?;
            branches.push((test(is_in(run, &pointer), span), block));
        }
        let otherwise = self.apart(result, span, &mut |it| act(it, &within(&last, &pointer, place)))?;
        self.state.emit(StmtKind::If(branches, otherwise), span);
        Some(self.state.settled(register(result), span))
    }

    fn apart(
        &mut self,
        result: hir::LocalId,
        span: Span,
        act: &mut dyn FnMut(&mut Self) -> Option<Expr>,
    ) -> Option<hir::Block> {
        self.state.depth += 1;
        self.state.open();
        let value = act(self);
        if let Some(value) = &value
            && !matches!(value, Expr::Const(0))
        {
            self.state.emit(StmtKind::Assign(result, value.clone()), span);
        }
        let block = self.state.close();
        self.state.depth -= 1;
        value.map(|_| block)
    }

    /// Where a scalar is in the program.
    pub(super) fn cell(&mut self, place: &Place, span: Span) -> Option<hir::Place> {
        let Base::Object(id) = place.base else {
            return self.refuse(span, "this is in no memory", "name a variable that is shared");
        };
        let fields = place.fields();
        if self.memory.leaf(id, &fields).is_none() {
            if self.is_unsure {
                return None;
            }
            return self.refuse(span, "this is no single value", "name a field or an element of it");
        }
        self.is_alive(id, span);
        self.leave_alone();
        let kept = self.memory.kept(id, &fields, (&mut self.unit, &mut self.known.numbers))?;
        let shape = self.memory.leaf(id, &fields)?.shape.clone();
        Some(match kept {
            Kept::Location(location) => hir::Place::Fixed(location),
            Kept::Array(array) => match linear(&place.indices(), &shape) {
                Expr::Const(at) => match self.unit.memory().arrays()[array].cell(at) {
                    Some(location) => hir::Place::Fixed(location),
                    None => hir::Place::Cell(array, Expr::Const(at)),
                },
                number => hir::Place::Cell(array, number),
            },
        })
    }

    /// Compares what was loaded with the value that stands for nothing, where memory may hold nothing.
    fn is_set(&mut self, place: &Place, (raw, at): (&Expr, hir::Place), span: Span) {
        let Base::Object(id) = place.base else { return };
        let fields = place.fields();
        let may_be_unset = |leaf: &mut memory::Leaf| leaf.cells.iter().any(|it| matches!(it, memory::Cell::Unset));
        if self.memory.leaf(id, &fields).is_some_and(may_be_unset) {
            let kind = hir::ConditionKind::IsSet(raw.clone(), at);
            let condition = hir::Condition { span, kind };
            self.state.emit(StmtKind::Check(condition, Misuse::Uninitialized), span);
        }
    }

    /// A wrong use of memory.
    pub(super) fn misused(&mut self, misuse: Misuse, span: Span) {
        self.leave_alone();
        self.state.emit(StmtKind::Check(test(Expr::Const(0), span), misuse), span);
    }

    /// What is allocated must not have been freed.
    fn is_alive(&mut self, id: ObjectId, span: Span) {
        let Some(flag) = self.memory.objects[id.0].freed.filter(|_| self.known.is_freed) else { return };
        let place = self.whole(flag);
        let Some(at) = self.cell(&place, span) else { return };
        let freed = self.state.kept(EffectKind::Load(at, LoadOrder::Relaxed), span);
        let is_alive = Expr::binary(Op::Eq, freed, Expr::Const(0));
        self.state.emit(StmtKind::Check(test(is_alive, span), Misuse::UseAfterFree), span);
    }

    /// The whole of an object.
    pub(super) fn whole(&self, id: ObjectId) -> Place {
        Place { base: Base::Object(id), steps: Vec::new(), ty: self.memory.objects[id.0].ty.clone() }
    }
}

/// A part of a value.
pub(super) fn part(value: &Value, steps: &[Step]) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(value.clone()) };
    match (value, step) {
        (Value::Cell(_, inner) | Value::Atomic(inner), _) => part(inner, steps),
        (Value::Tuple(all) | Value::Struct(_, all), Step::Field(at)) => part(all.get(*at)?, rest),
        (Value::Lock(_, data), Step::Field(1)) => part(data, rest),
        (Value::Array(all) | Value::List(all), Step::Index(Expr::Const(at))) => {
            part(all.get(usize::try_from(*at).ok()?)?, rest)
        }
        (Value::Unset, _) => Some(Value::Unset),
        (Value::Enum(it), Step::Field(0)) => {
            part(&Value::Number(it.tag.clone(), Type::Integer(Some(crate::types::Integer::U8))), rest)
        }
        (Value::Enum(it), Step::Field(at)) => {
            let mut at = *at - 1;
            for (fields, size) in it.variants.iter().zip(&it.sizes) {
                if at < *size {
                    return part(fields.as_ref()?.get(at)?, rest);
                }
                at -= size;
            }
            None
        }
        _ => None,
    }
}

/// The part of a target that a pointer with this number points at.
pub(super) fn within(run: &Run, pointer: &Expr, place: &Place) -> Place {
    let mut rest = plus(pointer.clone(), Expr::Const(-run.first));
    let mut indices = Vec::new();
    for (at, &len) in run.shape.iter().enumerate().rev() {
        let (index, before) = if at == 0 { (rest, Expr::Const(0)) } else { split(&rest, len as i64) };
        indices.insert(0, Step::Index(index));
        rest = before;
    }
    let mut steps: Vec<Step> = run.fields.iter().map(|it| Step::Field(*it)).collect();
    steps.extend(indices);
    steps.extend(place.steps.iter().cloned());
    Place { base: Base::Object(run.object), steps, ty: place.ty.clone() }
}

fn split(it: &Expr, len: i64) -> (Expr, Expr) {
    match it {
        Expr::Const(it) => (Expr::Const(it % len), Expr::Const(it / len)),
        it => {
            let by = |op| Expr::binary(op, it.clone(), Expr::Const(len));
            (by(Op::Rem), by(Op::Div))
        }
    }
}

fn is_in(run: &Run, pointer: &Expr) -> Expr {
    let is = |op, value| Expr::binary(op, pointer.clone(), Expr::Const(value));
    if run.len == 1 {
        return is(Op::Eq, run.first);
    }
    Expr::binary(Op::And, is(Op::Ge, run.first), is(Op::Le, run.first + run.len - 1))
}

/// A sum.
pub(super) fn plus(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.wrapping_add(b)),
        (Expr::Const(0), it) | (it, Expr::Const(0)) => it,
        (a, Expr::Const(b)) if b < 0 => Expr::binary(Op::Sub, a, Expr::Const(-b)),
        (a, b) => Expr::binary(Op::Add, a, b),
    }
}

/// The number of a cell, row by row.
fn linear(indices: &[Expr], shape: &[u64]) -> Expr {
    indices.iter().zip(shape).fold(Expr::Const(0), |number, (index, len)| {
        let row = match number {
            Expr::Const(it) => Expr::Const(it.wrapping_mul(*len as i64)),
            it => Expr::binary(Op::Mul, it, Expr::Const(*len as i64)),
        };
        plus(row, index.clone())
    })
}

/// What a number in memory or in a register means.
pub(super) fn typed(raw: Expr, ty: &Type) -> Value {
    match ty.inner() {
        Type::Pointer(kind, to) => {
            Value::Pointer(Pointer { kind: *kind, to: (**to).clone(), what: Points::Number(raw) })
        }
        Type::Opaque => Value::Other,
        ty => Value::Number(raw, ty.clone()),
    }
}

/// A value in the cells that its type has around it.
fn wrapped(value: Value, ty: &Type) -> Value {
    match ty {
        Type::Cell(cell, inner) => Value::Cell(*cell, Box::new(wrapped(value, inner))),
        Type::Atomic(_) => Value::Atomic(Box::new(value)),
        _ => value,
    }
}

/// A reference to a place.
pub(super) fn reference(place: Place) -> Value {
    let to = place.ty.clone();
    Value::Pointer(Pointer { kind: Kind::Reference, to, what: Points::Known(place) })
}
