//! Calls of functions, which are inlined.

use crate::frontend::ast::{self, Parameter, StmtKind};
use crate::program::{Expr, Place, RegisterId};
use crate::source::{Diagnostic, Span};

use super::body::{Activation, Binding, Body, Meaning, SharedRef, TargetRef};
use super::cfg::{Origin, Slot};
use super::constants::Environment;
use super::expressions::Pure;
use super::globals::{check_distinct, domain, unknown};
use super::labels::{self, Descend, each_statement};
use super::typed::{Ty, Typed, wrong_count};
use super::updates::Call;

/// What a call is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// For what it does.
    Effect,
    /// For its value, which goes to this register if one is given.
    Value(Option<RegisterId>),
}

/// How deeply calls may be nested, for the sake of the stack.
const MAX_CALLS: usize = 32;

impl<'a> Body<'_, 'a> {
    /// Inlines a call.
    pub(super) fn call(&mut self, (name, arguments): Call<'_>, span: Span, wanted: Wanted) -> Pure {
        let Some(function) = self.callee(name) else { return Typed::wrong(span) };
        if function.parameters.len() != arguments.len() {
            wrong_count(self.log, name, arguments.len(), function.parameters.len());
            return Typed::wrong(span);
        }
        if !self.may_enter(function, span) {
            return Typed::wrong(span);
        }
        let has_value = has_value(function);
        if !has_value && wanted != Wanted::Effect {
            let diagnostic = Diagnostic::error(span, format!("function `{}` returns no value", name.text));
            let help = "end each path of the function with `return e;`, or call it as a statement";
            self.log.say(diagnostic.and_at(function.name.span, "declared here").with_help(help));
            return Typed::wrong(span);
        }
        check_distinct(self.log, function.parameters.iter().map(name_of));
        labels::check(self.log, &function.body);
        let mut names = Vec::new();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            names.push(self.parameter(parameter, argument, span));
        }
        let target = match wanted {
            Wanted::Value(Some(register)) => Some(register),
            Wanted::Value(None) | Wanted::Effect => None,
        };
        let result = has_value.then(|| target.unwrap_or_else(|| self.temporary(None, Ty::Unknown, span)));
        self.inline(function, names, result);
        match result {
            Some(register) => Typed::new(Expr::Var(register), self.slot(register).ty, span),
            None => Typed::wrong(span),
        }
    }

    fn callee(&mut self, name: &ast::Name) -> Option<&'a ast::Function> {
        match self.resolve_function(name) {
            Meaning::Function(function) => Some(function),
            Meaning::Wrong => None,
            Meaning::Const(..) | Meaning::Register(_) | Meaning::Shared(_) | Meaning::Thread => {
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
        let builtins = ["min", "max", "cas", "swap", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"];
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

    fn parameter(&mut self, parameter: &Parameter, argument: &ast::Expr, span: Span) -> Binding<'a> {
        let name = name_of(parameter);
        let meaning = match parameter {
            Parameter::Value(name, ty) => {
                let environment = Environment::new(self.globals);
                let declared = ty.as_ref().and_then(|ty| domain(self.log, &environment, ty));
                let register = self.cfg.slots.push(Slot {
                    name: name.text.clone(),
                    ty: declared.map_or(Ty::Unknown, Ty::of),
                    domain: declared,
                    initial: None,
                    origin: Origin::Parameter,
                    span: name.span,
                    statement: name.span,
                    is_read: false,
                });
                self.assign_register(register, argument, span);
                Meaning::Register(register)
            }
            Parameter::Shared(_) => self.shared_argument(argument).map_or(Meaning::Wrong, Meaning::Shared),
        };
        Binding { name: name.text.clone(), span: name.span, meaning }
    }

    /// The shared variable, array or cell that an argument names.
    fn shared_argument(&mut self, argument: &ast::Expr) -> Option<SharedRef> {
        let (name, index) = match &argument.kind {
            ast::ExprKind::Name(name) => (name, None),
            ast::ExprKind::Index(name, index) => (name, Some(&**index)),
            ast::ExprKind::Int(_)
            | ast::ExprKind::Bool(_)
            | ast::ExprKind::Any(_)
            | ast::ExprKind::Unary(..)
            | ast::ExprKind::Binary(..)
            | ast::ExprKind::Paren(_)
            | ast::ExprKind::Call(..)
            | ast::ExprKind::At(..)
            | ast::ExprKind::Member(..) => {
                self.refuse_argument(argument);
                return None;
            }
        };
        match self.resolve(name) {
            Meaning::Shared(shared) if index.is_none() => Some(shared),
            Meaning::Shared(shared) => {
                let target = TargetRef { name, index, span: argument.span };
                Some(match self.place(shared, &target)? {
                    Place::Fixed(location) => SharedRef::Scalar(location),
                    Place::Cell(array, index) => SharedRef::Cell(array, index),
                })
            }
            Meaning::Wrong => None,
            Meaning::Const(..) | Meaning::Register(_) | Meaning::Thread | Meaning::Function(_) => {
                self.refuse_argument(argument);
                None
            }
        }
    }

    fn refuse_argument(&mut self, argument: &ast::Expr) {
        let message = format!("`{}` is not a shared variable", self.log.text(argument.span));
        self.log.error(argument.span, message, "the parameter is `shared`: name a shared variable, array or cell");
    }

    fn inline(&mut self, function: &'a ast::Function, names: Vec<Binding<'a>>, result: Option<RegisterId>) {
        let exit = self.cfg.node();
        let is_atomic = self.is_atomic;
        let (loops, frames) = (Vec::new(), Vec::new());
        self.stack.push(Activation { function: Some(function), exit, result, names, loops, frames, is_atomic });
        self.push_frame(&function.body);
        self.block(&function.body);
        if result.is_some() && self.cfg.is_reached(self.cursor) {
            let message = format!("function `{}` returns a value on some paths only", function.name.text);
            let help = "end every path with `return e;`";
            self.log.error(function.name.span, message, help);
        }
        if self.cfg.is_reached(exit) {
            self.merge(exit);
        }
        self.stack.pop();
    }

    /// Inlines a function without arguments; nothing is known of its parameters.
    pub(super) fn inline_alone(&mut self, function: &'a ast::Function) {
        check_distinct(self.log, function.parameters.iter().map(name_of));
        labels::check(self.log, &function.body);
        let names = function.parameters.iter().map(name_of);
        let bind = |it: &ast::Name| Binding { name: it.text.clone(), span: it.span, meaning: Meaning::Wrong };
        let names = names.map(bind).collect();
        let result = has_value(function).then(|| self.temporary(None, Ty::Unknown, function.name.span));
        self.inline(function, names, result);
    }

    /// `return;` or `return e;`
    pub(super) fn return_(&mut self, value: Option<&'a ast::Expr>, span: Span) {
        let here = self.here();
        let (function, result, exit) = (here.function, here.result, here.exit);
        if self.is_atomic && !self.here().is_atomic {
            self.refuse_in_atomic("return", span);
            return;
        }
        match (function, result, value) {
            (None, _, Some(value)) => {
                self.log.error(value.span, "a thread returns no value", "write `return;`");
            }
            (Some(_), Some(register), Some(value)) => self.assign_register(register, value, span),
            (Some(function), Some(_), None) => {
                let message = format!("function `{}` returns a value on some paths only", function.name.text);
                self.log.error(function.name.span, message, "end every path with `return e;`");
            }
            (Some(_), None, Some(_)) | (_, None, None) | (None, Some(_), None) => {}
        }
        self.jump(exit);
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
