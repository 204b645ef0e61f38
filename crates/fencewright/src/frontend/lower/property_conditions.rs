//! Conditions of properties: expressions over the registers of all processes and memory.

use std::collections::BTreeSet;

use crate::frontend::ast::{self, ExprKind};
use crate::frontend::hir::Observed;
use crate::program::{ArrayId, Expr, LocationId, ProcessId, Value, cell_name};
use crate::source::{Diagnostic, Span};
use crate::util::Idx;

use super::arrays::wrong_dimensions;
use super::constants::constant;
use super::globals::{Global, unknown, unknown_part};
use super::log::Log;
use super::properties::Lowering;
use super::typed::{Ty, Typed, builtin, pure};

impl Lowering<'_, '_, '_> {
    /// A condition on registers and memory.
    pub(super) fn boolean(&mut self, expr: &ast::Expr) -> Typed<Observed> {
        // The walker holds the log while it asks for names, so they are looked up before.
        let mut leaves = Vec::new();
        collect_leaves(expr, &mut leaves);
        let mut meanings: Vec<Typed<Observed>> = leaves.into_iter().map(|leaf| self.leaf(leaf)).collect();
        meanings.reverse();
        let next = &mut |_: &mut Log, leaf: &ast::Expr| meanings.pop().unwrap_or_else(|| Typed::wrong(leaf.span));
        pure(self.log, expr, next).expect(self.log, Ty::Bool)
    }

    fn leaf(&mut self, expr: &ast::Expr) -> Typed<Observed> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => match self.known.globals.get(&name.text) {
                Some(Global::Scalar(_) | Global::Array(_)) => self.memory(name, &[], span),
                Some(Global::Const(..) | Global::Enum(_) | Global::Thread(_) | Global::Function(_) | Global::Wrong) => {
                    self.constant(expr)
                }
                None => self.bound(expr, name),
            },
            ExprKind::Index(name, index) => self.memory(name, index, span),
            ExprKind::Member(thread, register, index) => self.register(thread, (register, index), span),
            ExprKind::Any(_)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Paren(_) => {
                let message = format!("`{}` has no meaning in a property", self.log.text(span));
                self.log.error(span, message, "use `P@label`, `P.register`, constants and memory");
                Typed::wrong(span)
            }
        }
    }

    /// A name bound by `for`, or a mistake.
    fn bound(&mut self, expr: &ast::Expr, name: &ast::Name) -> Typed<Observed> {
        let is_bound = self.environment.local.iter().any(|it| it.0 == name.text);
        let owner = self.registers.iter().position(|it| it.contains_key(&name.text));
        match owner.filter(|_| !is_bound) {
            Some(owner) => {
                let thread = self.known.globals.members[owner].name();
                let message = format!("`{}` is a register, which belongs to a thread", name.text);
                self.log.error(name.span, message, format!("say whose: `{thread}.{}`", name.text));
                Typed::wrong(expr.span)
            }
            None => self.constant(expr),
        }
    }

    fn constant(&mut self, expr: &ast::Expr) -> Typed<Observed> {
        match constant(self.log, &self.environment, expr) {
            Some((value, ty)) => Typed::new(Expr::Const(value), ty, expr.span),
            None => Typed::wrong(expr.span),
        }
    }

    /// `P.r`, `P.a[0]`
    fn register(
        &mut self,
        thread: &ast::ThreadRef,
        (register, index): (&ast::Name, &[ast::Expr]),
        span: Span,
    ) -> Typed<Observed> {
        let Some(i) = self.thread(thread) else { return Typed::wrong(span) };
        let Some(register) = self.cell_named(register, index) else { return Typed::wrong(span) };
        self.uses.insert((i, register.text.clone()));
        match self.registers[i].get(&register.text).map(Vec::as_slice) {
            Some([(id, _)]) => {
                let is_boolean = self.known.bodies[i].registers[*id].ty == Ty::Bool;
                let ty = if is_boolean { Ty::Bool } else { Ty::Int };
                Typed::new(Expr::Var(Observed::Local(ProcessId::from_usize(i), *id)), ty, span)
            }
            Some(several) => {
                let message = format!("`{}` is the name of {} registers", self.log.text(span), several.len());
                let mut diagnostic = Diagnostic::error(span, message);
                let places: BTreeSet<Span> = several.iter().map(|it| it.1).collect();
                for place in places {
                    diagnostic = diagnostic.and_at(place, "declared here");
                }
                self.log.say(diagnostic.with_help("give them different names, or copy the one that counts to another"));
                Typed::wrong(span)
            }
            None => {
                let known = self.registers[i].keys().map(String::as_str);
                self.log.say(unknown_part("register", &register, self.known.globals.family(i), known));
                Typed::wrong(span)
            }
        }
    }

    /// The name of a register, which has its index in it if it is a cell.
    fn cell_named(&mut self, register: &ast::Name, index: &[ast::Expr]) -> Option<ast::Name> {
        let mut text = register.text.clone();
        for index in index {
            let (value, _) = constant(self.log, &self.environment, index)?;
            text += &format!("[{value}]");
        }
        Some(ast::Name { text, span: register.span })
    }

    /// `x`, `a[0]`
    fn memory(&mut self, name: &ast::Name, index: &[ast::Expr], span: Span) -> Typed<Observed> {
        self.log.used.insert(name.text.clone());
        let Some(location) = self.location(name, index, span) else { return Typed::wrong(span) };
        self.sees_memory = true;
        let domain = self.unit.memory().locations()[location].domain;
        Typed::new(Expr::Var(Observed::Memory(location)), Ty::of(domain), span)
    }

    fn cell(&mut self, array: ArrayId, name: &ast::Name, index: &[ast::Expr], span: Span) -> Option<LocationId> {
        let array = &self.unit.memory().arrays()[array];
        if index.len() != array.shape.len() {
            let message = wrong_dimensions(&name.text, &array.shape, index.len());
            self.log.error(span, message, format!("name a cell: `{}`", cell_name(&name.text, &array.shape, 0)));
            return None;
        }
        let mut number = 0;
        for (index, &size) in index.iter().zip(&array.shape) {
            let (value, _) = constant(self.log, &self.environment, index)?;
            if !(0..Value::from(size)).contains(&value) {
                let message = format!("index {value} is outside the array `{}`", name.text);
                self.log.error(index.span, message, format!("the cells are 0 to {}", size.saturating_sub(1)));
                return None;
            }
            number = number * Value::from(size) + value;
        }
        array.cell(number)
    }

    fn location(&mut self, name: &ast::Name, index: &[ast::Expr], span: Span) -> Option<LocationId> {
        match (self.known.globals.get(&name.text), index) {
            (Some(Global::Scalar(location)), []) => Some(*location),
            (Some(Global::Array(_)), []) => {
                let message = format!("the array `{}` is used without an index", name.text);
                self.log.error(span, message, "name a cell");
                None
            }
            (Some(Global::Array(array)), index) => self.cell(*array, name, index, span),
            (Some(Global::Scalar(_)), _) => {
                self.log.error(span, format!("`{}` is not an array", name.text), "use it without an index");
                None
            }
            (Some(Global::Const(..) | Global::Enum(_) | Global::Thread(_)), _) => None,
            (Some(Global::Function(_) | Global::Wrong), _) => None,
            (None, _) => {
                self.log.say(unknown("name", name, self.known.globals.iter().map(|it| it.0)));
                None
            }
        }
    }
}

/// The names of an expression, in the order in which [`pure`] asks for them.
fn collect_leaves<'e>(expr: &'e ast::Expr, leaves: &mut Vec<&'e ast::Expr>) {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) => {}
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => collect_leaves(inner, leaves),
        ExprKind::Conditional(_) => leaves.push(expr),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
            collect_leaves(left, leaves);
            collect_leaves(right, leaves);
        }
        ExprKind::Call(name, arguments) if builtin(&name.text).is_some() => {
            if arguments.len() == 2 {
                arguments.iter().for_each(|it| collect_leaves(it, leaves));
            }
        }
        ExprKind::Call(..)
        | ExprKind::Any(_)
        | ExprKind::Name(_)
        | ExprKind::Index(..)
        | ExprKind::At(..)
        | ExprKind::Count(..)
        | ExprKind::Member(..) => leaves.push(expr),
    }
}
