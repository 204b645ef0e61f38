//! Calls: functions of the text are inlined, those of the system mean something by themselves.

use std::collections::BTreeSet;
use std::rc::Rc;

use fencewright::frontend::hir::{Body, Call, Effect, EffectKind, Expr, First, Operand, Stmt, StmtKind};
use fencewright::source::{Diagnostic, Span};

use crate::ast::{self, ExprKind};
use crate::types::Type;

use super::statements::Flow;
use super::thread::Frame;
use super::value::Value;
use super::walks::{changed, labels, returns};
use super::{Global, Lowering};

/// Functions are not inlined into each other more deeply.
const MAX_DEPTH: usize = 64;

impl<'a> Lowering<'a> {
    /// A call.
    pub(super) fn call(&mut self, function: &'a ast::Expr, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        if let ExprKind::Name(name) = &function.kind
            && self.function_named(function).is_none()
            && self.state.variable(&name.text).is_none()
            && !self.globals.contains_key(&name.text)
        {
            return self.system_call(name, arguments, span);
        }
        let callee = match self.function_named(function) {
            Some(name) => name,
            None => match self.value(function)? {
                Value::Function(name) => name,
                Value::Number(..) | Value::Pointer(_) | Value::Structure(_) | Value::Void => {
                    let help = "call a function by its name";
                    return self.refuse(function.span, "it is not known which function is called", help);
                }
            },
        };
        let (mut values, mut before) = (Vec::new(), Vec::new());
        for argument in arguments {
            let mark = self.mark();
            let value = self.value(argument)?;
            values.push(self.settled_value(value, argument.span));
            let touched = self.touched(mark, self.mark());
            for other in &before {
                self.in_either_order(other, &touched, span)?;
            }
            before.push(touched);
        }
        self.inline(&callee, values, span)
    }

    /// The statements of a function, in place of a call.
    pub(super) fn inline(&mut self, name: &str, values: Vec<Value>, span: Span) -> Option<Value> {
        let function = *self.functions.get(name)?;
        self.may_be_called(function, values.len(), span)?;
        let returns_type = Rc::new(self.names.resolve(&function.returns, &mut self.log)?);
        let (was_straight, tail) = (self.state.is_straight, tail(&function.body));
        let has_labels = !labels(&function.body).is_empty();
        if has_labels {
            self.branch();
        }
        let needs_result = !self.state.is_straight && tail.is_none() && returns_type.ty != Type::Void;
        let result = needs_result.then(|| self.state.temporary(span));
        let frame = Frame {
            function: name.to_owned(),
            scopes: vec![Default::default()],
            changed: self.changed_in(name, function),
            result,
            returns: Some(Rc::clone(&returns_type)),
            ..Frame::default()
        };
        self.state.frames.push(frame);
        for label in labels(&function.body) {
            let id = self.state.label(&label);
            self.state.frame().labels.insert(label, id);
        }
        self.state.open();
        let value = self.body(function, values, tail);
        let block = self.state.close();
        let frame = self.state.frames.pop()?;
        let value = value?;
        if has_labels {
            self.state.is_straight = was_straight && false_if_returned(function);
        }
        let mut arguments = Vec::new();
        if let Some(result) = result {
            arguments.push(Stmt { span, kind: StmtKind::Let(result, First::Constant(0)) });
        }
        if block.is_empty() && result.is_none() {
            return Some(self.converted(value, &returns_type));
        }
        let body = Body { labels: frame.made, block };
        let call = Call { name: Some((name.to_owned(), span)), arguments, body, result };
        self.state.emit(StmtKind::Do(Effect { span, kind: EffectKind::Call(call) }), span);
        Some(match result {
            Some(result) => {
                self.state.stable.insert(result);
                self.typed(Expr::Var(Operand::Local(result)), &returns_type)
            }
            None => self.converted(value, &returns_type),
        })
    }

    /// The names that are assigned to, and those that are looked at in the end.
    fn changed_in(&self, name: &str, function: &ast::Function) -> BTreeSet<String> {
        let mut changed = changed(&function.body);
        changed.extend(self.observed.get(name).into_iter().flatten().cloned());
        changed
    }

    /// Parameters and statements; the value where it is known without a register.
    fn body(
        &mut self,
        function: &'a ast::Function,
        values: Vec<Value>,
        tail: Option<(&'a [ast::Stmt], &'a ast::Expr)>,
    ) -> Option<Value> {
        for (parameter, value) in function.parameters.iter().zip(values) {
            let Some(name) = &parameter.name else { continue };
            let mut ty = self.names.resolve(&parameter.ty, &mut self.log)?;
            // An array as a parameter is a pointer.
            if let Type::Array(of, _) = &ty.ty {
                ty.ty = Type::Pointer(Rc::clone(of));
            }
            if let Value::Structure(_) = value {
                return self.refuse(parameter.span, "a structure is passed by value", "pass a pointer to it");
            }
            self.register_variable(name, &Rc::new(ty), Some(value))?;
        }
        if let Some((first, last)) = tail.filter(|_| !self.state.is_straight) {
            self.state.frame().scopes.push(Default::default());
            let done = self.in_order(first);
            let value = done.and_then(|_| self.value(last));
            let value = value.map(|value| self.settled_value(value, last.span));
            self.state.frame().scopes.pop();
            return value;
        }
        match self.block(&function.body)? {
            Flow::Return(value) => Some(value),
            Flow::Next | Flow::Break | Flow::Continue => Some(Value::Void),
        }
    }

    fn may_be_called(&mut self, function: &ast::Function, n: usize, span: Span) -> Option<()> {
        let name = &function.name.text;
        if n != function.parameters.len() {
            let message = format!("`{name}` has {} parameters, found {n} arguments", function.parameters.len());
            self.log.say(Diagnostic::error(span, message).and_at(function.name.span, "declared here"));
            return None;
        }
        if let Some(at) = self.state.frames.iter().position(|it| &it.function == name) {
            let names: Vec<_> = self.state.frames[at..].iter().map(|it| format!("`{}`", it.function)).collect();
            let message = format!("recursion is not supported: {} calls `{name}`", names.join(" calls "));
            return self.refuse(span, &message, "bound the depth by hand, or check the locking layer alone");
        }
        if self.state.frames.len() >= MAX_DEPTH {
            let message = format!("functions call each other more than {MAX_DEPTH} deep");
            return self.refuse(span, &message, "use fewer functions");
        }
        Some(())
    }

    /// What this thread has of a variable that every thread has its own of.
    pub(super) fn own_copy(&mut self, name: &str, global: &Global) -> super::memory::ObjectId {
        if self.state.thread.name == "main" {
            return global.object;
        }
        let shown = format!("{}.{name}", self.state.thread.name);
        if let Some(object) = self.memory.named(&shown) {
            return object;
        }
        let span = self.memory.objects[global.object.0].span;
        let object = self.memory.object(&shown, &global.ty, span, &self.names);
        for leaf in 0..self.memory.objects[object.0].leaves.len() {
            let cells = self.first_cells(global.object, leaf);
            self.memory.objects[object.0].leaves[leaf].cells = cells;
        }
        object
    }
}

/// A function whose only `return` stands at its end: the rest, and what it returns.
fn tail(body: &[ast::Stmt]) -> Option<(&[ast::Stmt], &ast::Expr)> {
    let (last, first) = body.split_last()?;
    let ast::StmtKind::Return(Some(value)) = &last.kind else { return None };
    (!first.iter().any(returns)).then_some((first, value))
}

/// Behind a function that may have been left early it is not known what was done.
fn false_if_returned(function: &ast::Function) -> bool {
    !function.body.iter().any(returns)
}
