//! Calls of functions, which are inlined.

use crate::frontend::ast::{self, Parameter, StmtKind};
use crate::frontend::hir::{self, First, LocalId, Operand};
use crate::source::{Diagnostic, Span};

use super::body::{Activation, Binding, Body, Meaning, Memory, SharedRef, TargetRef};
use super::constants::Environment;
use super::globals::{check_distinct, domain, unknown};
use super::labels::{self, Descend, each_statement};
use super::registers::{Origin, Register};
use super::typed::{Ty, wrong_count};
use super::updates::Call;

/// What a call is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// For what it does.
    Effect,
    /// For its value, which goes to this register if one is given.
    Value(Option<LocalId>),
}

/// How deeply calls may be nested, for the sake of the stack.
const MAX_CALLS: usize = 32;

impl<'a> Body<'_, 'a> {
    /// Inlines a call; nothing if there is a mistake.
    pub(super) fn call(&mut self, (name, arguments): Call<'_>, span: Span, wanted: Wanted) -> Option<hir::Call> {
        let function = self.callee(name)?;
        if function.parameters.len() != arguments.len() {
            wrong_count(self.log, name, arguments.len(), function.parameters.len());
            return None;
        }
        if !self.may_enter(function, span) {
            return None;
        }
        let has_value = has_value(function);
        if !has_value && wanted != Wanted::Effect {
            let diagnostic = Diagnostic::error(span, format!("function `{}` returns no value", name.text));
            let help = "end each path of the function with `return e;`, or call it as a statement";
            self.log.say(diagnostic.and_at(function.name.span, "declared here").with_help(help));
            return None;
        }
        check_distinct(self.log, function.parameters.iter().map(name_of));
        labels::check(self.log, &function.body);
        let (mut names, mut before) = (Vec::new(), Vec::new());
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            names.push(self.parameter(parameter, argument, span, &mut before));
        }
        let target = match wanted {
            Wanted::Value(Some(register)) => Some(register),
            Wanted::Value(None) | Wanted::Effect => None,
        };
        let result = has_value.then(|| target.unwrap_or_else(|| self.result(span, &mut before)));
        let called = Some((function.name.text.clone(), span));
        Some(hir::Call { name: called, ..self.inline(function, (names, before), result) })
    }

    /// A register for the value of a function.
    fn result(&mut self, span: Span, before: &mut hir::Block) -> LocalId {
        let result = self.temporary(None, Ty::Unknown, span);
        before.push(hir::Stmt { span, kind: hir::StmtKind::Let(result, First::Unset) });
        result
    }

    fn callee(&mut self, name: &ast::Name) -> Option<&'a ast::Function> {
        match self.resolve_function(name) {
            Meaning::Function(function) => Some(function),
            Meaning::Wrong => None,
            Meaning::Const(..)
            | Meaning::Register(_)
            | Meaning::Cells(_)
            | Meaning::Shared(_)
            | Meaning::Thread
            | Meaning::Enum => {
                let message = format!("`{}` is not a function", name.text);
                self.log.error(name.span, message, "only functions and the built-in updates are called");
                None
            }
        }
    }

    fn resolve_function(&mut self, name: &ast::Name) -> Meaning<'a> {
        let is_local = self.here().names.iter().any(|it| it.name == name.text);
        if is_local || self.globals.get(&name.text).is_some() {
            return self.resolve(name);
        }
        let functions = self.globals.iter().map(|it| it.0);
        let builtins = [
            "min",
            "max",
            "load",
            "store",
            "cas",
            "cmpxchg",
            "swap",
            "fetch_add",
            "fetch_sub",
            "fetch_and",
            "fetch_or",
        ]
        .into_iter()
        .chain(["fetch_xor", "fetch_min", "fetch_max"]);
        self.log.say(unknown("function", name, functions.chain(builtins)));
        Meaning::Wrong
    }

    /// Whether a call neither recurs nor nests too deeply; otherwise it is reported.
    fn may_enter(&mut self, function: &'a ast::Function, span: Span) -> bool {
        let active = self.stack.iter().filter_map(|it| it.function);
        let active: Vec<&str> = active.map(|it| it.name.text.as_str()).collect();
        let name = function.name.text.as_str();
        if let Some(start) = active.iter().position(|it| *it == name) {
            let cycle: Vec<String> = active[start..].iter().chain([&name]).map(|it| format!("`{it}`")).collect();
            let message = format!("function `{name}` calls itself");
            let diagnostic = Diagnostic::error(span, message).and_at(function.name.span, "declared here");
            let help = format!("calls are inlined, so break the cycle {}", cycle.join(" → "));
            self.log.say(diagnostic.with_help(help));
            return false;
        }
        if active.len() >= MAX_CALLS {
            let message = format!("calls are nested more than {MAX_CALLS} deep");
            self.log.error(span, message, "write some of the functions out");
            return false;
        }
        self.log.spend(span)
    }

    /// What a parameter means; what finds its value out goes before the function.
    fn parameter(
        &mut self,
        parameter: &Parameter,
        argument: &ast::Expr,
        span: Span,
        before: &mut hir::Block,
    ) -> Binding<'a> {
        let name = name_of(parameter);
        let meaning = match parameter {
            Parameter::Value(name, ty) => {
                let environment = Environment::new(self.globals);
                let declared = ty.as_ref().and_then(|ty| domain(self.log, &environment, ty));
                let register = self.registers.push(Register {
                    name: name.text.clone(),
                    ty: declared.map_or(Ty::Unknown, Ty::of),
                    domain: declared,
                    origin: Origin::Parameter,
                    span: name.span,
                    statement: name.span,
                    is_read: false,
                });
                let first = self.assigned(register, argument).map_or(First::Unset, First::Value);
                before.push(hir::Stmt { span, kind: hir::StmtKind::Let(register, first) });
                Meaning::Register(register)
            }
            Parameter::Shared(_) => self.shared_argument(argument, before).map_or(Meaning::Wrong, Meaning::Shared),
        };
        Binding { name: name.text.clone(), span: name.span, meaning }
    }

    /// The shared variable, array or cell that an argument names.
    fn shared_argument(&mut self, argument: &ast::Expr, before: &mut hir::Block) -> Option<SharedRef> {
        let (name, index) = match &argument.kind {
            ast::ExprKind::Name(name) => (name, &[][..]),
            ast::ExprKind::Index(name, index) => (name, &index[..]),
            ast::ExprKind::Int(_)
            | ast::ExprKind::Based(..)
            | ast::ExprKind::Bool(_)
            | ast::ExprKind::Any(_)
            | ast::ExprKind::Unary(..)
            | ast::ExprKind::Binary(..)
            | ast::ExprKind::Shift(..)
            | ast::ExprKind::Conditional(_)
            | ast::ExprKind::Paren(_)
            | ast::ExprKind::Call(..)
            | ast::ExprKind::At(..)
            | ast::ExprKind::Count(..)
            | ast::ExprKind::Member(..) => {
                self.refuse_argument(argument);
                return None;
            }
        };
        match self.resolve(name).memory() {
            Memory::Shared(shared) if index.is_empty() => Some(shared),
            Memory::Shared(shared) => {
                let target = TargetRef { name, index, span: argument.span };
                Some(match self.place(shared, &target)? {
                    hir::Place::Fixed(location) => SharedRef::Scalar(location),
                    hir::Place::Cell(array, index) => SharedRef::Cell(array, self.kept(&index, before)),
                })
            }
            Memory::Wrong => None,
            Memory::Other => {
                self.refuse_argument(argument);
                None
            }
        }
    }

    fn refuse_argument(&mut self, argument: &ast::Expr) {
        let message = format!("`{}` is not a shared variable", self.log.text(argument.span));
        self.log.error(argument.span, message, "the parameter is `shared`: name a shared variable, array or cell");
    }

    /// An expression whose effects happen once, before the function.
    fn kept(&mut self, expr: &hir::Expr, before: &mut hir::Block) -> hir::Expr {
        expr.map(&mut |operand| match operand {
            Operand::Local(local) => Operand::Local(*local),
            Operand::Effect(effect) => {
                let local = self.temporary(None, Ty::Int, effect.span);
                let kind = hir::StmtKind::Let(local, First::Kept((**effect).clone()));
                before.push(hir::Stmt { span: effect.span, kind });
                Operand::Local(local)
            }
        })
    }

    fn inline(
        &mut self,
        function: &'a ast::Function,
        (names, arguments): (Vec<Binding<'a>>, hir::Block),
        result: Option<LocalId>,
    ) -> hir::Call {
        self.stack.push(Activation::new(Some(function), result, names, self.is_atomic));
        let body = self.body(&function.body);
        if result.is_some() && self.is_live {
            self.refuse_missing_value(function);
        }
        self.is_live |= self.here().is_left;
        self.stack.pop();
        hir::Call { name: None, arguments, body, result }
    }

    fn refuse_missing_value(&mut self, function: &ast::Function) {
        let message = format!("function `{}` returns a value on some paths only", function.name.text);
        self.log.error(function.name.span, message, "end every path with `return e;`");
    }

    /// Inlines a function without arguments; nothing is known of its parameters.
    pub(super) fn inline_alone(&mut self, function: &'a ast::Function) {
        check_distinct(self.log, function.parameters.iter().map(name_of));
        labels::check(self.log, &function.body);
        let names = function.parameters.iter().map(name_of);
        let bind = |it: &ast::Name| Binding { name: it.text.clone(), span: it.span, meaning: Meaning::Wrong };
        let names = names.map(bind).collect();
        let mut before = Vec::new();
        let result = has_value(function).then(|| self.result(function.name.span, &mut before));
        self.inline(function, (names, before), result);
    }

    /// `return;` or `return e;`
    pub(super) fn return_(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<hir::StmtKind> {
        let here = self.here();
        let (function, result) = (here.function, here.result);
        if self.is_atomic && !self.here().is_atomic {
            self.refuse_in_atomic("return", span);
            return None;
        }
        let value = match (function, result, value) {
            (None, _, Some(value)) => {
                self.log.error(value.span, "a thread returns no value", "write `return;`");
                None
            }
            (Some(_), Some(register), Some(value)) => self.assigned(register, value),
            (Some(function), Some(_), None) => {
                self.refuse_missing_value(function);
                None
            }
            (Some(_), None, Some(_)) | (_, None, None) | (None, Some(_), None) => None,
        };
        let is_live = std::mem::replace(&mut self.is_live, false);
        self.here().is_left |= is_live;
        Some(hir::StmtKind::Return(value))
    }
}

fn name_of(parameter: &Parameter) -> &ast::Name {
    match parameter {
        Parameter::Value(name, _) | Parameter::Shared(name) => name,
    }
}

/// Whether some path of a function returns a value.
fn has_value(function: &ast::Function) -> bool {
    let mut found = false;
    each_statement(&function.body, &mut |stmt| {
        found |= matches!(stmt.kind, StmtKind::Return(Some(_)));
        Descend::Yes
    });
    found
}
