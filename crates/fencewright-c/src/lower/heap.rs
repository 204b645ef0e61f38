//! Memory that does not live for ever, or holds nothing at first.
//!
//! Each call of `malloc` that happens once is one object, with a flag that says whether it was freed; one in a loop is
//! a pool of objects ([`pools`](super::pools)). Every access looks at the flag, if anything is freed at all; so does
//! `free`, which sets it. Variables of threads that others point at have such a flag, too, which is set when their
//! thread ends. What was loaded from memory that holds nothing at first is compared with the value that stands for
//! nothing.

use std::rc::Rc;

use fencewright::frontend::hir::{
    Condition, ConditionKind, Expr, First, LoadOrder, Operand, Place, Stmt, StmtKind, StoreOrder,
};
use fencewright::program::{BinaryOp as Op, Misuse};
use fencewright::source::Span;

use crate::ast::{self, BinaryOp, ExprKind};
use crate::types::{Qualified, Type};

use super::conditions::truth_of;
use super::memory::{Cell, Leaf, ObjectId};
use super::places::{Named, test};
use super::thread::Around;
use super::value::{Base, Target, Value};
use super::{Life, Lowering, Made};

impl<'a> Lowering<'a> {
    /// `malloc(sizeof(T))`, `malloc(n * sizeof(T))`, `calloc(n, sizeof(T))`
    pub(super) fn allocate(
        &mut self,
        name: &ast::Name,
        arguments: &'a [ast::Expr],
        n: usize,
        span: Span,
    ) -> Option<Value> {
        if arguments.len() != n {
            return self.refuse(span, &format!("`{}` has {n} parameters", name.text), "see its manual page");
        }
        let is_in_loop = |it: &Around| matches!(it, Around::Loop { .. });
        let is_in_loop = self.state.frames.iter().any(|frame| frame.loops.iter().any(is_in_loop));
        let Some((ty, count)) = self.allocated(arguments) else {
            let help = "say it with `sizeof`: `malloc(sizeof(struct node))`";
            return self.refuse(span, "it is not known what is allocated", help);
        };
        let is_reused = self.harness.is_heap_reused;
        if count.is_some() && is_in_loop {
            let help = "allocate the array before the loop, or put it into a structure";
            return self.refuse(span, "an array is allocated in a loop", help);
        }
        if is_reused && (n == 2 || count.is_some()) {
            let help = "use `malloc` of one object, and write to it";
            return self.refuse(span, "an array or zeros are allocated where memory is used again", help);
        }
        let shown = match &ty.ty {
            Type::Struct(number) => self.names.structures[*number].name.clone(),
            Type::Void
            | Type::Bool
            | Type::Integer(_)
            | Type::Pointer(_)
            | Type::Array(..)
            | Type::Function
            | Type::Builtin(_) => "heap".to_owned(),
        };
        self.n_allocated += 1;
        let name = format!("{}.{shown}{}", self.state.thread.name, self.n_allocated);
        let element = Rc::new(ty);
        let n_slots = is_in_loop.then(|| self.harness.room());
        let whole = match count.or(n_slots) {
            None => Rc::clone(&element),
            Some(count) => Rc::new(Type::Array(Rc::clone(&element), count).plain()),
        };
        let made = Made { name: name.clone(), ty: whole, span, thread: None, is_unset: n == 1, n_slots };
        let object = self.made(&format!("{name}@{}", span.start), &made);
        self.handed_out(object, (element, n_slots), is_reused, span)
    }

    /// `free(p)`; of nothing, it does nothing.
    pub(super) fn free(&mut self, pointer: &'a ast::Expr, span: Span) -> Option<()> {
        self.known.is_freed = true;
        let value = self.value(pointer)?;
        let is_somewhere = self.is_true(value.clone(), span)?;
        if matches!(is_somewhere, Expr::Const(0)) {
            return Some(());
        }
        let named = self.pointed_at(value, pointer.span)?;
        self.state.open();
        let freed = self.at_each(&named, span, &mut |it, target| {
            let life = match target.base {
                Base::Object(id) => it.lives.get(&id).filter(|it| it.thread.is_none()).cloned(),
                Base::Variable(_) => None,
            };
            let Some(Life { flag, .. }) = life else {
                it.misused(Misuse::FreeOfOther, span);
                return Some(Expr::Const(0));
            };
            let flag = it.flag_of(flag, target);
            it.is_not_over(&flag, Misuse::DoubleFree, span)?;
            it.store(&flag, StoreOrder::Relaxed, Value::int(1), span)?;
            if it.harness.is_heap_reused {
                it.keep_for_reuse(target, span);
            }
            Some(Expr::Const(0))
        });
        let block = self.state.close();
        freed?;
        match is_somewhere {
            Expr::Const(_) => self.state.emit(StmtKind::Block(block), span),
            is_somewhere @ Expr::Var(_) | is_somewhere @ Expr::Unary(..) | is_somewhere @ Expr::Binary(..) => {
                self.state.emit(StmtKind::If(vec![(test(is_somewhere, span), block)], Vec::new()), span);
            }
        }
        Some(())
    }

    /// Memory is used as it must not be.
    pub(super) fn misused(&mut self, misuse: Misuse, span: Span) {
        self.state.emit(StmtKind::Check(test(Expr::Const(0), span), misuse), span);
    }

    /// What was freed is not used, nor are variables of threads that have ended.
    pub(super) fn is_alive(&mut self, target: &Target, span: Span) -> Option<()> {
        let Base::Object(object) = target.base else { return Some(()) };
        let Some(life) = self.lives.get(&object).cloned() else { return Some(()) };
        let (is_at_risk, misuse) = match &life.thread {
            None => (self.known.is_freed, Misuse::UseAfterFree),
            Some(thread) => (*thread != self.state.thread.name, Misuse::Ended),
        };
        let flag = self.flag_of(life.flag, target);
        if is_at_risk { self.is_not_over(&flag, misuse, span) } else { Some(()) }
    }

    /// The flag that says whether a target is over; of a pool, each object has its own.
    pub(super) fn flag_of(&self, flag: ObjectId, target: &Target) -> Named {
        let whole = self.memory.whole(flag);
        Named::Target(match (&whole.ty.ty, target.indices.first()) {
            (Type::Array(of, _), Some(index)) => whole.at(index.clone(), Rc::clone(of)),
            _ => whole,
        })
    }

    fn is_not_over(&mut self, flag: &Named, misuse: Misuse, span: Span) -> Option<()> {
        let is_over = self.load(flag, LoadOrder::Relaxed, span)?;
        let (is_over, _) = self.as_number(is_over, span)?;
        match is_over {
            Expr::Const(0) => {}
            Expr::Const(_) => self.misused(misuse, span),
            is_over @ Expr::Var(_) | is_over @ Expr::Unary(..) | is_over @ Expr::Binary(..) => {
                let is_alive = test(truth_of(is_over).negated(), span);
                self.state.emit(StmtKind::Check(is_alive, misuse), span);
            }
        }
        Some(())
    }

    /// The variables of a thread end with it.
    pub(super) fn end_variables(&mut self, span: Span) {
        let thread = self.state.thread.name.clone();
        let flags: Vec<ObjectId> =
            self.lives.values().filter(|it| it.thread.as_deref() == Some(&thread)).map(|it| it.flag).collect();
        for flag in flags {
            let flag = Named::Target(self.memory.whole(flag));
            self.store(&flag, StoreOrder::Relaxed, Value::int(1), span);
        }
    }

    /// What was read from a part of an object was written before. In a copy of a structure it need not be: it is 0
    /// then.
    pub(super) fn is_set(&mut self, target: &Target, (value, place): (Expr, Place), span: Span) -> Expr {
        let Base::Object(id) = target.base else { return value };
        let is_unset = |leaf: &mut Leaf| leaf.cells.iter().any(|it| matches!(it, Cell::Unset));
        if !self.memory.leaf(id, &target.fields).is_some_and(is_unset) {
            return value;
        }
        let condition = Condition { span, kind: ConditionKind::IsSet(value.clone(), place) };
        if !self.is_copying {
            self.state.emit(StmtKind::Check(condition, Misuse::Uninitialized), span);
            return value;
        }
        let copied = self.state.temporary(span);
        self.state.emit(StmtKind::Let(copied, First::Constant(0)), span);
        let keep = Stmt { span, kind: StmtKind::Assign(copied, value) };
        self.state.emit(StmtKind::If(vec![(condition, vec![keep])], Vec::new()), span);
        self.state.stable.insert(copied);
        Expr::Var(Operand::Local(copied))
    }

    /// A pointer that is followed points somewhere.
    pub(super) fn is_somewhere(&mut self, pointer: &Expr, span: Span) {
        match pointer {
            Expr::Const(0) => self.misused(Misuse::NullPointer, span),
            Expr::Const(_) => {}
            pointer @ Expr::Var(_) | pointer @ Expr::Unary(..) | pointer @ Expr::Binary(..) => {
                let is_there = Expr::binary(Op::Ne, pointer.clone(), Expr::Const(0));
                self.state.emit(StmtKind::Check(test(is_there, span), Misuse::NullPointer), span);
            }
        }
    }

    /// The same for what it may point at, if that has to be asked.
    pub(super) fn is_there(&mut self, condition: Option<Expr>, span: Span) {
        if let Some(it) = condition.filter(|it| !matches!(it, Expr::Const(1))) {
            self.state.emit(StmtKind::Check(test(it, span), Misuse::OutsideObject), span);
        }
    }

    /// What is allocated, and how many of it.
    fn allocated(&mut self, arguments: &'a [ast::Expr]) -> Option<(Qualified, Option<u64>)> {
        if let [count, size] = arguments {
            let (ty, _) = self.sized(size)?;
            let count = self.value(count)?.constant().and_then(|it| u64::try_from(it).ok())?;
            return Some((ty, (count > 1).then_some(count)));
        }
        self.sized(&arguments[0])
    }

    /// What `sizeof`, or a multiple of it, is the size of, and how many of it.
    pub(super) fn sized(&mut self, it: &'a ast::Expr) -> Option<(Qualified, Option<u64>)> {
        match &it.kind {
            ExprKind::SizeOfType(ty) => self.type_named(ty).map(|it| (it, None)),
            ExprKind::SizeOf(of) => self.type_of(of).map(|it| ((*it).clone(), None)),
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                let (size, count) = if self.sized(a).is_some() { (a, b) } else { (b, a) };
                let (ty, _) = self.sized(size)?;
                let count = self.value(count)?.constant().and_then(|it| u64::try_from(it).ok())?;
                Some((ty, Some(count)))
            }
            ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Name(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Conditional(..)
            | ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::Comma(..)
            | ExprKind::Call(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::AddressOf(_)
            | ExprKind::Cast(..)
            | ExprKind::Compound(..)
            | ExprKind::Statements(_)
            | ExprKind::Type(_) => None,
        }
    }
}
