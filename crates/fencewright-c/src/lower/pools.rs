//! Memory that is allocated in loops, or used again.
//!
//! ```text
//!   malloc in a loop     object n of a pool of the thread; n is a register that counts, and too many are a limit
//!   --heap-reuse         … or any object of the same type that the thread has freed; registers say which these are
//! ```
//!
//! Nothing of this touches shared memory, but the flags of what is used again: so `malloc` orders nothing, and drains
//! no store buffer.

use std::collections::BTreeMap;
use std::rc::Rc;

use fencewright::frontend::hir::{AllocationId, Block, Expr, First, LocalId, Operand, Stmt, StmtKind, StoreOrder};
use fencewright::program::{BinaryOp as Op, Misuse};
use fencewright::source::Span;

use crate::types::{Qualified, Type};

use super::Lowering;
use super::memory::ObjectId;
use super::places::test;
use super::value::{Base, Pointer, Points, Target, Value};

/// What a thread has of the heap.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    /// How many of each pool it has taken.
    taken: BTreeMap<ObjectId, LocalId>,
    /// Whether it may take an object again.
    freed: BTreeMap<(ObjectId, u64), LocalId>,
}

/// An object that a thread allocates while others run.
#[derive(Debug)]
pub(crate) struct Allocated {
    allocation: AllocationId,
    object: ObjectId,
    /// Which object of a pool.
    slot: Option<Expr>,
}

impl Lowering<'_> {
    /// A pointer to a new object, or to one that the thread has freed.
    pub(super) fn handed_out(
        &mut self,
        object: ObjectId,
        (element, n_slots): (Rc<Qualified>, Option<u64>),
        is_reused: bool,
        span: Span,
    ) -> Option<Value> {
        if is_reused {
            return self.new_or_freed(object, (element, n_slots), span);
        }
        let whole = self.memory.whole(object);
        let target = match n_slots {
            None => whole.decayed().unwrap_or(whole),
            Some(n) => self.next_of(&whole, object, (&element, n), span),
        };
        self.comes_to_be(&target, span);
        Some(Value::Pointer(Pointer { to: element, what: Points::Known(target) }))
    }

    /// The next object of a pool; that there is none is a limit.
    fn next_of(&mut self, whole: &Target, object: ObjectId, (element, n): (&Rc<Qualified>, u64), span: Span) -> Target {
        let taken = self.taken(object, span);
        let count = Expr::Var(Operand::Local(taken));
        let is_room = Expr::binary(Op::Lt, count.clone(), Expr::Const(n as i64));
        self.state.emit(StmtKind::Check(test(is_room, span), Misuse::PoolExhausted), span);
        let slot = self.state.settled(count.clone(), span);
        self.state.emit(StmtKind::Assign(taken, Expr::binary(Op::Add, count, Expr::Const(1))), span);
        // Its neighbours are other objects.
        Target { is_element: false, ..whole.at(slot, Rc::clone(element)) }
    }

    fn taken(&mut self, object: ObjectId, span: Span) -> LocalId {
        if let Some(&known) = self.state.pools.taken.get(&object) {
            return known;
        }
        let taken = self.state.zero_at_start("allocated", span);
        self.state.pools.taken.insert(object, taken);
        taken
    }

    fn freed(&mut self, (object, slot): (ObjectId, u64), span: Span) -> LocalId {
        if let Some(&known) = self.state.pools.freed.get(&(object, slot)) {
            return known;
        }
        let freed = self.state.zero_at_start("freed", span);
        self.state.pools.freed.insert((object, slot), freed);
        freed
    }

    /// Notes that the thread may take again what it frees.
    pub(super) fn keep_for_reuse(&mut self, target: &Target, span: Span) {
        let Base::Object(object) = target.base else { return };
        let note = |freed| Stmt { span, kind: StmtKind::Assign(freed, Expr::Const(1)) };
        match (self.slots(object), target.indices.first()) {
            (1, _) | (_, None) => {
                let freed = self.freed((object, 0), span);
                self.state.emit(note(freed).kind, span);
            }
            (n, Some(index)) => {
                let mut branches = Vec::new();
                for slot in 0..n {
                    let is = Expr::binary(Op::Eq, index.clone(), Expr::Const(slot as i64));
                    branches.push((test(is, span), vec![note(self.freed((object, slot), span))]));
                }
                self.state.emit(StmtKind::If(branches, Vec::new()), span);
            }
        }
    }

    /// How many objects there are in a pool.
    fn slots(&self, object: ObjectId) -> u64 {
        let object = &self.memory.objects[object.0];
        if let (Type::Array(_, n), true) = (&object.ty.ty, object.is_pool) { *n } else { 1 }
    }

    /// All that was ever allocated of a type.
    fn allocated_as(&self, element: &Qualified) -> Vec<(ObjectId, u64)> {
        let is_it = |ty: &Type| matches!(ty, Type::Array(of, _) if of.ty == element.ty) || *ty == element.ty;
        let made = self.known.objects.iter().filter(|(_, made)| made.thread.is_none() && is_it(&made.ty.ty));
        let objects = made.filter_map(|(key, _)| self.locals.get(key).copied());
        objects.flat_map(|it| (0..self.slots(it)).map(move |slot| (it, slot))).collect()
    }

    fn new_or_freed(
        &mut self,
        object: ObjectId,
        (element, n_slots): (Rc<Qualified>, Option<u64>),
        span: Span,
    ) -> Option<Value> {
        let result = self.state.temporary(span);
        self.state.emit(StmtKind::Let(result, First::Constant(0)), span);
        self.leave_alone();
        let mut ways: Vec<Block> = Vec::new();
        let mut is_freed = Expr::Const(0);
        for (object, slot) in self.allocated_as(&element) {
            let freed = self.freed((object, slot), span);
            let may = Expr::binary(Op::Eq, Expr::Var(Operand::Local(freed)), Expr::Const(1));
            is_freed = Expr::binary(Op::Or, is_freed, may.clone());
            self.state.open();
            self.state.emit(StmtKind::Assume(test(may, span)), span);
            self.state.emit(StmtKind::Assign(freed, Expr::Const(0)), span);
            let target = self.slot(object, slot, &element);
            self.comes_to_be(&target, span);
            let flag = self.lives.get(&object)?.flag;
            let flag = self.flag_of(flag, &target);
            self.store(&flag, StoreOrder::Relaxed, Value::int(0), span)?;
            self.emit_address(result, target, &element, span)?;
            ways.push(self.state.close());
        }
        let taken = n_slots.map(|n| (self.taken(object, span), n));
        let is_room = taken.map_or(Expr::Const(1), |(taken, n)| {
            Expr::binary(Op::Lt, Expr::Var(Operand::Local(taken)), Expr::Const(n as i64))
        });
        let is_used_up = Expr::binary(Op::And, is_room.clone().negated(), is_freed.negated());
        self.state.emit(StmtKind::Check(test(is_used_up.negated(), span), Misuse::PoolExhausted), span);
        self.state.open();
        self.state.emit(StmtKind::Assume(test(is_room, span)), span);
        let whole = self.memory.whole(object);
        let fresh = match n_slots {
            None => whole,
            Some(n) => self.next_of(&whole, object, (&element, n), span),
        };
        self.comes_to_be(&fresh, span);
        self.emit_address(result, fresh, &element, span)?;
        ways.push(self.state.close());
        self.state.emit(StmtKind::Choose(ways), span);
        self.state.stable.insert(result);
        Some(Value::Pointer(Pointer { to: element, what: Points::Dynamic(Expr::Var(Operand::Local(result))) }))
    }

    /// Whoever uses an object comes after its allocation; before there are other threads everybody does.
    fn comes_to_be(&mut self, target: &Target, span: Span) {
        let Base::Object(object) = target.base else { return };
        if self.state.is_alone {
            return;
        }
        let allocation = self.unit.allocation();
        let slot = target.indices.first().filter(|_| self.memory.objects[object.0].is_pool).cloned();
        self.allocated.push(Allocated { allocation, object, slot });
        self.state.emit(StmtKind::Allocate(allocation), span);
    }

    /// Says what was allocated, once it is known what of it is ever used.
    pub(super) fn say_allocated(&mut self) {
        for Allocated { allocation, object, slot } in std::mem::take(&mut self.allocated) {
            for place in self.memory.places(object, slot.as_ref(), &self.unit) {
                self.unit.allocate(allocation, place);
            }
        }
    }

    fn slot(&self, object: ObjectId, slot: u64, element: &Rc<Qualified>) -> Target {
        let whole = self.memory.whole(object);
        if !self.memory.objects[object.0].is_pool {
            return whole;
        }
        Target { is_element: false, ..whole.at(Expr::Const(slot as i64), Rc::clone(element)) }
    }

    /// `result = &target`
    fn emit_address(&mut self, result: LocalId, target: Target, element: &Rc<Qualified>, span: Span) -> Option<()> {
        let pointer = Type::Pointer(Rc::clone(element)).plain();
        let value = Value::Pointer(Pointer { to: Rc::clone(element), what: Points::Known(target) });
        let address = self.raw(value, &pointer, span)?;
        self.state.emit(StmtKind::Assign(result, address), span);
        Some(())
    }
}
