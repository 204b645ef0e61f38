//! Memory that is allocated: each call that happens once is one object.

use std::rc::Rc;

use fencewright::source::Span;

use crate::ast::{self, BinaryOp, ExprKind};
use crate::types::{Qualified, Type};

use super::Lowering;
use super::thread::Around;
use super::value::{Pointer, Points, Value};

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
        let warning = "memory from `malloc` is taken to hold zeros, and use behind `free` is not looked for";
        self.log.warn(span, warning, "write to all of it before it is read");
        self.n_allocated += 1;
        let shown = match &ty.ty {
            Type::Struct(number) => self.names.structures[*number].name.clone(),
            _ => "heap".to_owned(),
        };
        let object_name = format!("{}.{shown}{}", self.state.thread.name, self.n_allocated);
        let element = Rc::new(ty);
        let whole = match count {
            None => Rc::clone(&element),
            Some(count) => Rc::new(Type::Array(Rc::clone(&element), count).plain()),
        };
        let object = self.memory.object(&object_name, &whole, span, &self.names);
        let target = self.memory.whole(object);
        let target = target.decayed().unwrap_or(target);
        Some(Value::Pointer(Pointer { to: element, what: Points::Known(target) }))
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
            _ => None,
        }
    }
}
