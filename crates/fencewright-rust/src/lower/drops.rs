//! What happens at the end of a scope: `drop` of the text, guards that give back their locks, boxes that are freed.
//!
//! Variables are dropped in the reverse order of their declarations, temporaries at the end of their statement, fields
//! after the structure they are in, and nothing that was moved away. What is moved on one way only has a flag.

use std::rc::Rc;

use fencewright::frontend::hir::{
    Effect, EffectKind, Expr, FenceOrder, LoadOrder, StmtKind, StoreOrder, Update, UpdateOrder,
};
use fencewright::program::{BinaryOp as Op, Misuse};
use fencewright::source::Span;

use crate::types::{Cell, Guard, Integer, Kind, Type};
use crate::value::{Base, ObjectId, Place, Pointer, Points, Value, VariableId};

use super::Lowering;
use super::access::reference;
use super::resolve::Parts;
use super::state::{Live, Storage, register, test};

impl Lowering<'_> {
    /// Whether anything happens when a value is dropped.
    pub(super) fn needs_drop(&self, value: &Value) -> bool {
        match value {
            Value::Struct(number, all) => self.has_drop(*number) || all.iter().any(|it| self.needs_drop(it)),
            Value::Tuple(all) | Value::Array(all) | Value::List(all) => all.iter().any(|it| self.needs_drop(it)),
            Value::Enum(it) => it.variants.iter().flatten().flatten().any(|it| self.needs_drop(it)),
            Value::Cell(Cell::Open | Cell::Copied, inner) | Value::Lock(_, inner) => self.needs_drop(inner),
            Value::Pointer(it) => self.type_needs_drop(&Type::Pointer(it.kind, Rc::new(self.pointee_type(it))), 0),
            _ => false,
        }
    }

    fn pointee_type(&self, it: &Pointer) -> Type {
        match &it.what {
            Points::Known(place) if it.to.is_unknown() => self.type_at(place),
            _ => it.to.clone(),
        }
    }

    /// The same by its type.
    fn type_needs_drop(&self, ty: &Type, depth: usize) -> bool {
        if depth > 16 {
            return false;
        }
        match ty {
            Type::Pointer(Kind::Box | Kind::Guard(_), _) => true,
            Type::Pointer(Kind::Arc, to) => self.type_needs_drop(to, depth + 1),
            Type::Pointer(Kind::Reference | Kind::Raw | Kind::NonNull, _)
            | Type::Cell(Cell::Kept, _)
            | Type::Atomic(_) => false,
            Type::Struct(number, _) if self.has_drop(*number) => true,
            ty => match self.parts(ty) {
                Parts::Fields(fields) => fields.iter().any(|it| self.type_needs_drop(&it.1, depth + 1)),
                Parts::Elements(of, _) => self.type_needs_drop(&of, depth + 1),
                Parts::Scalar(..) | Parts::Nothing => false,
            },
        }
    }

    /// Whether a structure has a `drop` of its own.
    fn has_drop(&self, number: usize) -> bool {
        self.drop_of(&Type::Struct(number, Vec::new())).is_some()
    }

    fn drop_of(&self, ty: &Type) -> Option<super::calls::Found> {
        let is_drop = |it: &&crate::ast::Impl| it.of_trait.as_ref().is_some_and(|it| it.last() == "Drop");
        self.names.impls.iter().filter(is_drop).find_map(|it| {
            let mut generics = self.fits(it, ty)?;
            generics.insert("Self".to_owned(), ty.clone());
            let function = Rc::clone(it.functions.iter().find(|it| it.name.text == "drop")?);
            Some(super::calls::Found { function, generics })
        })
    }

    pub(super) fn needs_drop_at(&self, place: &Place) -> bool {
        if let Base::Variable(id) = place.base
            && let Storage::Value(whole) = &self.state.variables[id.0].storage
        {
            return super::access::part(whole, &place.steps).is_some_and(|it| self.needs_drop(&it));
        }
        self.type_needs_drop(&self.type_at(place), 0)
    }

    /// Drops what the innermost scope owns; it stays owned, in case another way goes on with it.
    pub(super) fn drop_scope(&mut self, span: Span) -> Option<()> {
        let scope = self.state.frame().scopes.last().map(|it| it.owned.clone()).unwrap_or_default();
        scope.into_iter().rev().try_for_each(|id| self.drop_variable(id, span))
    }

    /// Drops what scopes own that are left, from the innermost on.
    pub(super) fn drop_scopes(&mut self, down_to: usize, span: Span) -> Option<()> {
        let scopes: Vec<Vec<VariableId>> =
            self.state.frame().scopes.iter().skip(down_to).rev().map(|it| it.owned.clone()).collect();
        let states: Vec<_> = scopes.iter().flatten().map(|id| (*id, self.state.variables[id.0].is_live)).collect();
        for scope in &scopes {
            scope.iter().rev().try_for_each(|id| self.drop_variable(*id, span))?;
        }
        for (id, is_live) in states {
            self.state.variables[id.0].is_live = is_live;
        }
        Some(())
    }

    /// Drops a variable, unless it was moved away.
    pub(super) fn drop_variable(&mut self, id: VariableId, span: Span) -> Option<()> {
        let variable = self.state.variables[id.0].clone();
        let place = self.variable_place(id);
        if variable.is_borrowed || variable.is_live == Live::No || !self.needs_drop_at(&place) {
            return Some(());
        }
        if !variable.moved.is_empty() {
            return self.drop_rest(&place, &variable.moved, span);
        }
        match variable.is_live {
            Live::Flag(flag) => {
                let (block, ()) = self.branch(|it| it.drop_place(&place, span))?;
                let is_live = register(flag);
                self.state.emit(StmtKind::If(vec![(test(is_live, span), block)], Vec::new()), span);
                Some(())
            }
            Live::Yes | Live::No => self.drop_place(&place, span),
        }
    }

    /// The fields that were not moved away.
    fn drop_rest(&mut self, place: &Place, moved: &std::collections::BTreeSet<Vec<usize>>, span: Span) -> Option<()> {
        let Parts::Fields(fields) = self.parts(&self.type_at(place)) else { return Some(()) };
        for (at, (_, ty)) in fields.into_iter().enumerate() {
            if !moved.iter().any(|it| it.first() == Some(&at)) {
                let field = place.field(at, ty);
                if self.needs_drop_at(&field) {
                    self.drop_place(&field, span)?;
                }
            }
        }
        Some(())
    }

    /// Notes that a variable, or a part of it, was moved away.
    pub(super) fn moved(&mut self, id: VariableId, fields: &[usize], span: Span) {
        let depth = self.state.depth;
        let variable = &mut self.state.variables[id.0];
        if !fields.is_empty() {
            variable.moved.insert(fields.to_vec());
            return;
        }
        match variable.is_live {
            Live::Flag(flag) => self.state.emit(StmtKind::Assign(flag, Expr::Const(0)), span),
            Live::Yes | Live::No if depth > variable.depth => {
                let at = variable.span;
                variable.is_live = Live::No;
                self.is_unsure |= self.known.flagged.insert(at);
            }
            Live::Yes | Live::No => variable.is_live = Live::No,
        }
    }

    /// Notes that a variable holds something again.
    pub(super) fn revived(&mut self, id: VariableId, span: Span) {
        match self.state.variables[id.0].is_live {
            Live::Flag(flag) => self.state.emit(StmtKind::Assign(flag, Expr::Const(1)), span),
            Live::Yes | Live::No => self.state.variables[id.0].is_live = Live::Yes,
        }
    }

    /// The variable that an object belongs to.
    pub(super) fn owner_of(&self, object: ObjectId) -> Option<VariableId> {
        let is_it = |it: &super::state::Variable| matches!(it.storage, Storage::Object(id) if id == object);
        self.state.variables.iter().rposition(is_it).map(VariableId)
    }

    /// Drops a value that nobody keeps.
    pub(super) fn drop_value(&mut self, value: Value, span: Span) -> Option<()> {
        if !self.needs_drop(&value) {
            return Some(());
        }
        self.state.frame().scopes.push(Default::default());
        let done = self.kept_value(value, span).and_then(|place| self.drop_place(&place, span));
        self.state.frame().scopes.pop();
        done
    }

    /// Drops what is at a place: by its own `drop`, and then its fields.
    pub(super) fn drop_place(&mut self, place: &Place, span: Span) -> Option<()> {
        let ty = self.type_at(place);
        match &ty {
            Type::Pointer(kind, _) => return self.drop_pointer(*kind, place, span),
            Type::Cell(Cell::Kept, _) => return Some(()),
            Type::Struct(..) => {
                if let Some(found) = self.drop_of(&ty) {
                    self.called(&found, vec![reference(place.clone())], span)?;
                }
            }
            Type::Enum(number, _) => return self.drop_enum(place, *number, span),
            _ => {}
        }
        match self.parts(&ty) {
            Parts::Fields(fields) => {
                for (at, (_, ty)) in fields.into_iter().enumerate() {
                    let field = place.field(at, ty);
                    if self.needs_drop_at(&field) {
                        self.drop_place(&field, span)?;
                    }
                }
                Some(())
            }
            Parts::Elements(of, len) if self.type_needs_drop(&of, 0) => {
                (0..len).try_for_each(|at| self.drop_place(&place.at(Expr::Const(at as i64), of.clone()), span))
            }
            Parts::Elements(..) | Parts::Scalar(..) | Parts::Nothing => Some(()),
        }
    }

    fn drop_enum(&mut self, place: &Place, number: usize, span: Span) -> Option<()> {
        let sizes = self.sizes_of(number);
        let tag_type = self.parts_field(&self.type_at(place), 0);
        let tag = match self.load(&place.field(0, tag_type), LoadOrder::Plain, span)?.open() {
            Value::Number(tag, _) => self.state.settled(tag, span),
            _ => return Some(()),
        };
        for (variant, n) in sizes.into_iter().enumerate() {
            let first = self.variant_offset(number, variant);
            let fields: Vec<Place> = (first..first + n)
                .map(|at| place.field(at, self.parts_field(&self.type_at(place), at)))
                .filter(|field| self.needs_drop_at(field))
                .collect();
            if fields.is_empty() {
                continue;
            }
            match &tag {
                Expr::Const(is) if *is != variant as i64 => {}
                Expr::Const(_) => fields.iter().try_for_each(|it| self.drop_place(it, span))?,
                tag => {
                    let (block, ()) =
                        self.branch(|it| fields.iter().try_for_each(|field| it.drop_place(field, span)))?;
                    let is = Expr::binary(Op::Eq, tag.clone(), Expr::Const(variant as i64));
                    self.state.emit(StmtKind::If(vec![(test(is, span), block)], Vec::new()), span);
                }
            }
        }
        Some(())
    }

    fn drop_pointer(&mut self, kind: Kind, place: &Place, span: Span) -> Option<()> {
        let value = self.load(place, LoadOrder::Plain, span)?;
        match kind {
            Kind::Reference | Kind::Raw | Kind::NonNull => Some(()),
            Kind::Guard(guard) => self.give_back(guard, value, span),
            Kind::Box => {
                let target = self.pointed(value, span)?;
                if self.needs_drop_at(&target) {
                    self.drop_place(&target, span)?;
                }
                self.freed(&target, span)
            }
            Kind::Arc => self.arc_dropped(value, span),
        }
    }

    /// One reference less; the last drops what they point at.
    fn arc_dropped(&mut self, value: Value, span: Span) -> Option<()> {
        let target = self.pointed(value, span)?;
        if !self.needs_drop_at(&target) {
            return Some(());
        }
        let count = self.count_of(&target, span)?;
        let cell = self.cell(&count, span)?;
        let one_less = EffectKind::Update(cell, UpdateOrder::Release, Update::Fetch(Op::Sub), Expr::Const(1));
        let old = self.state.kept(one_less, span);
        let (block, ()) = self.branch(|it| {
            it.state.emit(StmtKind::OrderedFence(FenceOrder::Acquire), span);
            it.drop_place(&target, span)
        })?;
        let is_last = Expr::binary(Op::Eq, old, Expr::Const(1));
        self.state.emit(StmtKind::If(vec![(test(is_last, span), block)], Vec::new()), span);
        Some(())
    }

    /// Where the references to something are counted.
    pub(super) fn count_of(&mut self, target: &Place, span: Span) -> Option<Place> {
        let Base::Object(object) = target.base else {
            return self.refuse(span, "it is not known which `Arc` this is", "pass it by value or by reference");
        };
        let name = format!("{} count", self.memory.objects[object.0].name);
        if let Some(known) = self.memory.named(&name) {
            return Some(self.whole(known));
        }
        let ty = Type::Atomic(Rc::new(Type::Integer(Some(Integer::USIZE))));
        let count = self.new_object(&name, &ty, span);
        self.memory.leaf(count, &[]).expect("a number has a cell").cells = vec![crate::memory::Cell::Number(1)];
        Some(self.whole(count))
    }

    /// `Box` gives memory back.
    fn freed(&mut self, target: &Place, span: Span) -> Option<()> {
        self.is_unsure |= !self.known.is_freed;
        self.known.is_freed = true;
        self.at_each(target, span, &mut |it, target| {
            let Base::Object(object) = target.base else { return Some(Expr::Const(0)) };
            let Some(flag) = it.memory.objects[object.0].freed else { return Some(Expr::Const(0)) };
            let whole = it.whole(flag);
            let cell = it.cell(&whole, span)?;
            let was = it.state.kept(EffectKind::Load(cell.clone(), LoadOrder::Relaxed), span);
            let is_alive = Expr::binary(Op::Eq, was, Expr::Const(0));
            it.state.emit(StmtKind::Check(test(is_alive, span), Misuse::DoubleFree), span);
            it.state.emit(StmtKind::Store(cell, StoreOrder::Relaxed, Expr::Const(1)), span);
            Some(Expr::Const(0))
        })?;
        Some(())
    }

    /// A guard gives back its lock.
    pub(super) fn give_back(&mut self, guard: Guard, value: Value, span: Span) -> Option<()> {
        let data = self.pointed(value, span)?;
        let word = self.word_of(&data, guard == Guard::Mutex, span)?;
        self.at_each(&word, span, &mut |it, word| {
            let cell = it.cell(word, span)?;
            let kind = match guard {
                Guard::Mutex | Guard::Write => StmtKind::Store(cell, StoreOrder::Release, Expr::Const(0)),
                Guard::Read => {
                    let update = EffectKind::Update(cell, UpdateOrder::Release, Update::Fetch(Op::Sub), Expr::Const(1));
                    StmtKind::Do(Effect { span, kind: update })
                }
            };
            it.state.emit(kind, span);
            Some(Expr::Const(0))
        })?;
        Some(())
    }
}
