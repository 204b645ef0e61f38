//! Memory that is allocated: each call that happens once is one object, with a flag that says whether it was freed.
//!
//! Every access looks at the flag, if anything is freed at all; so does `free`, which sets it.

use std::rc::Rc;

use fencewright::frontend::hir::{Expr, LoadOrder, StmtKind, StoreOrder};
use fencewright::source::Span;

use crate::ast::{self, BinaryOp, ExprKind};
use crate::types::{Qualified, Type};

use super::conditions::truth_of;
use super::memory::ObjectId;
use super::places::{Named, test};
use super::thread::Around;
use super::value::{Base, Pointer, Points, Value};
use super::{Lowering, Made};

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
        if self.state.frames.iter().any(|frame| frame.loops.iter().any(is_in_loop)) {
            let help = "allocate before the loop, or use an array";
            return self.refuse(span, "memory is allocated in a loop", help);
        }
        let Some((ty, count)) = self.allocated(arguments) else {
            let help = "say it with `sizeof`: `malloc(sizeof(struct node))`";
            return self.refuse(span, "it is not known what is allocated", help);
        };
        if n == 1 {
            let help = "write to all of it before it is read";
            self.log.warn(span, "memory from `malloc` is taken to hold zeros", help);
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
        let whole = match count {
            None => Rc::clone(&element),
            Some(count) => Rc::new(Type::Array(Rc::clone(&element), count).plain()),
        };
        let object = self.made(&format!("{name}@{}", span.start), &Made { name, ty: whole, span, is_allocated: true });
        let target = self.memory.whole(object);
        let target = target.decayed().unwrap_or(target);
        Some(Value::Pointer(Pointer { to: element, what: Points::Known(target) }))
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
            let Base::Object(id) = target.base else { return it.violated(span) };
            let Some(&flag) = it.allocated.get(&id) else { return it.violated(span) };
            it.is_not_freed(id, span)?;
            let flag = Named::Target(it.memory.whole(flag));
            it.store(&flag, StoreOrder::Relaxed, Value::int(1), span)?;
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

    fn violated(&mut self, span: Span) -> Option<Expr> {
        self.state.emit(StmtKind::Assert(test(Expr::Const(0), span)), span);
        Some(Expr::Const(0))
    }

    /// What was freed is not used.
    pub(super) fn is_not_freed(&mut self, object: ObjectId, span: Span) -> Option<()> {
        let Some(&flag) = self.allocated.get(&object).filter(|_| self.known.is_freed) else { return Some(()) };
        let flag = Named::Target(self.memory.whole(flag));
        let freed = self.load(&flag, LoadOrder::Relaxed, span)?;
        let (freed, _) = self.as_number(freed, span)?;
        match freed {
            Expr::Const(0) => {}
            Expr::Const(_) => drop(self.violated(span)),
            freed @ Expr::Var(_) | freed @ Expr::Unary(..) | freed @ Expr::Binary(..) => {
                self.state.emit(StmtKind::Assert(test(truth_of(freed).negated(), span)), span);
            }
        }
        Some(())
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

    fn sized(&mut self, it: &'a ast::Expr) -> Option<(Qualified, Option<u64>)> {
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
