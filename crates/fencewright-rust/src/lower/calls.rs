//! Calls: functions of the text are inlined, with the types of their arguments for their parameters.

use std::rc::Rc;

use fencewright::frontend::hir::{Body, Call, Effect, EffectKind, StmtKind};
use fencewright::source::Span;

use crate::ast::{self, Closure, ExprKind, Function, TypeKind};
use crate::types::{Kind, Type};
use crate::value::{Environment, Generics, Value};

use super::Lowering;
use super::expressions::retyped;
use super::mentions::{each_in, leaves_early};
use super::state::{Frame, Join};

/// Functions are not inlined into each other more deeply.
const MAX_DEPTH: usize = 48;

/// A function with the types of parameters around it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub function: Rc<Function>,
    pub generics: Generics,
}

impl Lowering<'_> {
    /// `f(a, b)`
    pub(super) fn call(&mut self, function: &ast::Expr, arguments: &[ast::Expr], span: Span) -> Option<Value> {
        if let ExprKind::Path(path) = &function.kind {
            let is_variable = path.single().is_some_and(|it| self.state.variable(it).is_some());
            if !is_variable {
                return self.path_call(path, arguments, span);
            }
        }
        let callee = self.place(function)?;
        let callee = self.load(&callee, Default::default(), span)?;
        let values = self.values(arguments)?;
        if values.iter().any(Value::is_never) {
            return Some(Value::Never);
        }
        self.applied(&callee, values, span)
    }

    fn path_call(&mut self, path: &ast::Path, arguments: &[ast::Expr], span: Span) -> Option<Value> {
        let module = self.state.frame().module.clone();
        // A method by its full name: `Lock::lock(&x)`.
        if let Some(ty) = self.type_before(path)
            && let Some(found) = self.method(&ty, path.last())
        {
            let values = self.values(arguments)?;
            return self.called(&found, values, span);
        }
        if let Some(function) = self.names.function(path, &module).filter(|_| path.of.is_none()) {
            let mut generics = Generics::new();
            let given = path.segments.last().map(|it| it.arguments.as_slice()).unwrap_or_default();
            let around = self.state.frame().generics.clone();
            for (name, ty) in function.generics.iter().zip(given) {
                generics.insert(name.clone(), self.ty(ty, &around, &module));
            }
            let values = self.values(arguments)?;
            return self.called(&Found { function, generics }, values, span);
        }
        if let Some(value) = self.standard_call(path, arguments, span)? {
            return Some(value);
        }
        let callee = self.value(&ast::Expr { kind: ExprKind::Path(path.clone()), span: path.span })?;
        let values = self.values(arguments)?;
        self.applied(&callee, values, span)
    }

    /// Calls whatever is a function.
    pub(super) fn applied(&mut self, callee: &Value, values: Vec<Value>, span: Span) -> Option<Value> {
        match callee {
            Value::Closure(closure, environment) => self.closure_call(closure, environment, values, span),
            Value::Function(function, generics) => {
                let found = Found { function: Rc::clone(function), generics: (**generics).clone() };
                self.called(&found, values, span)
            }
            Value::Constructor(ty, at) => self.constructed(&ty.clone(), *at, values),
            Value::Pointer(_) => {
                let place = self.pointed(callee.clone(), span)?;
                let callee = self.load(&place, Default::default(), span)?;
                self.applied(&callee, values, span)
            }
            Value::Unset | Value::Never if self.is_unsure => Some(Value::Unset),
            _ => self.refuse(span, "it is not known which function is called", "call a function by its name"),
        }
    }

    /// The statements of a closure, with the names around it.
    fn closure_call(
        &mut self,
        closure: &Rc<Closure>,
        environment: &Rc<Environment>,
        values: Vec<Value>,
        span: Span,
    ) -> Option<Value> {
        self.may_be_deeper(span)?;
        let names = environment.names.clone();
        let frame = Frame {
            function: format!("closure@{}", closure.span.start),
            generics: environment.generics.clone(),
            module: environment.module.clone(),
            ..Frame::default()
        };
        let block = match &closure.body.kind {
            ExprKind::Block(None, block) => block.clone(),
            _ => ast::Block { statements: Vec::new(), value: Some(Box::new(closure.body.clone())), span: closure.span },
        };
        let parameters = closure.parameters.clone();
        self.state.frames.push(frame);
        self.state.frame().scopes.push(super::state::Scope { names, owned: Vec::new() });
        let value = self.inlined(&block, None, span, |it| {
            for (pat, value) in parameters.iter().zip(values) {
                it.bind_value(pat, value, span)?;
            }
            Some(())
        });
        self.state.frames.pop();
        value
    }

    fn may_be_deeper(&mut self, span: Span) -> Option<()> {
        if self.state.frames.len() >= MAX_DEPTH {
            let message = format!("functions call each other more than {MAX_DEPTH} deep");
            return self.refuse(span, message, "use fewer functions");
        }
        Some(())
    }

    /// The statements of a function, in place of a call.
    pub(super) fn called(&mut self, found: &Found, values: Vec<Value>, span: Span) -> Option<Value> {
        let function = Rc::clone(&found.function);
        let name = &function.name.text;
        let Some(body) = &function.body else {
            return self.refuse(span, format!("`{name}` has no body"), "implement it for this type");
        };
        if values.iter().any(Value::is_never) {
            return Some(Value::Never);
        }
        if values.len() != function.parameters.len() {
            let n = function.parameters.len();
            return self.refuse(
                span,
                format!("`{name}` has {n} parameters, found {}", values.len()),
                "give all of them",
            );
        }
        let key = format!("{name}@{}", function.span.start);
        if self.state.frames.iter().any(|it| it.function == key) {
            let message = format!("recursion is not supported: `{name}` calls itself");
            return self.refuse(span, message, "bound the depth by hand, or check the locking layer alone");
        }
        self.may_be_deeper(span)?;
        let mut generics = found.generics.clone();
        for ((_, ty), value) in function.parameters.iter().zip(&values) {
            if let Some(ty) = ty {
                self.bind(ty, &self.type_of(value), &function.generics, &mut generics);
            }
        }
        let frame = Frame { function: key, generics, module: function.scope.clone(), ..Frame::default() };
        self.state.frames.push(frame);
        self.state.frame().scopes.push(Default::default());
        let value = self.inlined(body, Some(name), span, |it| {
            for ((pat, ty), value) in function.parameters.iter().zip(values) {
                let generics = it.state.frame().generics.clone();
                let ty = ty.as_ref().map_or(Type::Unknown, |ty| it.ty(ty, &generics, &function.module));
                it.bind_value(pat, coerced(value, &ty), pat.span)?;
            }
            Some(())
        });
        let generics = self.state.frames.pop().map(|it| it.generics).unwrap_or_default();
        let value = value?;
        let returns = function.returns.as_ref().map_or(Type::UNIT, |it| self.ty(it, &generics, &function.module));
        Some(coerced(value, &returns))
    }

    /// The statements of a body, as a call that is told of.
    fn inlined(
        &mut self,
        body: &ast::Block,
        name: Option<&str>,
        span: Span,
        bind: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<Value> {
        let is_left_early = leaves_early(body);
        if is_left_early {
            self.spill_for_call(body, span)?;
            self.state.frame().returned = Some(Join { span: body.span, value: None });
            self.state.depth += 1;
        }
        self.state.open();
        self.state.labels.push(Vec::new());
        self.state.frame().scopes.push(Default::default());
        let value = bind(self).and_then(|()| {
            if is_left_early {
                self.spill(&mut |see| each_in(body, see), span)?;
            }
            let value = self.block(body)?;
            self.scope_ended(value, body.span)
        });
        let (labels, block) = (self.state.labels.pop()?, self.state.close());
        if is_left_early {
            self.state.depth -= 1;
        }
        let mut value = value?;
        let mut block = block;
        if let Some(mut join) = self.state.frame().returned.take()
            && self.state.frame().is_left
        {
            self.state.blocks.push(block);
            self.join(&mut join, value, body.span)?;
            block = self.state.close();
            value = join.value.unwrap_or(Value::Never);
        }
        if block.is_empty() {
            return Some(value);
        }
        let name = name.map(|it| (it.to_owned(), span));
        let call = Call { name, arguments: Vec::new(), body: Body { labels, block }, result: None };
        self.state.emit(StmtKind::Do(Effect { span, kind: EffectKind::Call(call) }), span);
        Some(value)
    }

    /// What the function changes through references that it is given.
    fn spill_for_call(&mut self, body: &ast::Block, span: Span) -> Option<()> {
        self.spill(&mut |see| each_in(body, see), span)
    }

    /// `return e`
    pub(super) fn returned(&mut self, value: Value, span: Span) -> Option<Value> {
        if value.is_never() {
            return Some(value);
        }
        let value = self.settled(value, span);
        self.drop_scopes(0, span)?;
        let Some(mut join) = self.state.frame().returned.clone() else {
            return self.refuse(span, "`return` has no place here", "leave the function at its end");
        };
        self.join(&mut join, value, span)?;
        let frame = self.state.frame();
        (frame.returned, frame.is_left) = (Some(join), true);
        Some(self.left(StmtKind::Return(None), span))
    }

    /// The method of a type, of the text.
    pub(super) fn method(&self, ty: &Type, name: &str) -> Option<Found> {
        for it in &self.names.impls {
            let Some(mut generics) = self.fits(it, ty) else { continue };
            let own = it.functions.iter().find(|it| it.name.text == name);
            let of_trait = || {
                let (functions, _) = self.names.traits.get(it.of_trait.as_ref()?.last())?;
                functions.iter().find(|it| it.name.text == name && it.body.is_some())
            };
            if let Some(function) = own.or_else(of_trait) {
                generics.insert("Self".to_owned(), ty.clone());
                return Some(Found { function: Rc::clone(function), generics });
            }
        }
        None
    }

    /// A constant of a type.
    pub(super) fn own_constant(&self, ty: &Type, name: &str) -> Option<Rc<ast::Constant>> {
        self.names.impls.iter().filter(|it| self.fits(it, ty).is_some()).find_map(|it| {
            let of_trait = || self.names.traits.get(it.of_trait.as_ref()?.last()).map(|it| it.1.as_slice());
            let all = it.constants.iter().chain(of_trait().unwrap_or_default());
            all.filter(|it| it.name.text == name).find(|it| it.value.is_some()).cloned()
        })
    }

    /// Whether something is implemented for a type, and the types of its parameters then.
    pub(super) fn fits(&self, it: &ast::Impl, ty: &Type) -> Option<Generics> {
        let mut generics = Generics::new();
        let is_parameter = |path: &ast::Path| path.single().is_some_and(|name| it.generics.iter().any(|it| it == name));
        let is_any = matches!(&it.ty.kind, TypeKind::Path(path) if is_parameter(path));
        if !is_any {
            let unknown = it.generics.iter().map(|it| (it.clone(), Type::Unknown)).collect();
            let declared = self.ty(&it.ty, &unknown, &it.module);
            let is_same = match (&declared, ty) {
                (Type::Struct(a, _), Type::Struct(b, _)) | (Type::Enum(a, _), Type::Enum(b, _)) => a == b,
                (Type::Unknown, _) | (_, Type::Unknown) => false,
                (Type::Pointer(a, to), Type::Pointer(b, is)) => a == b && to.is_like(is) && !to.is_unknown(),
                (a, b) => a == b,
            };
            if !is_same {
                return None;
            }
        }
        self.bind(&it.ty, ty, &it.generics, &mut generics);
        Some(generics)
    }

    /// The types of type parameters, from a type as it is declared and one that it stands for.
    pub(super) fn bind(&self, declared: &ast::Type, ty: &Type, names: &[String], generics: &mut Generics) {
        match (&declared.kind, ty) {
            (TypeKind::Path(path), ty) => {
                if let Some(name) = path.single().filter(|it| names.iter().any(|name| name == it)) {
                    let slot = generics.entry(name.to_owned()).or_insert(Type::Unknown);
                    if slot.is_unknown() || *slot == Type::Integer(None) {
                        *slot = ty.clone();
                    }
                    return;
                }
                let arguments = path.segments.last().map(|it| it.arguments.as_slice()).unwrap_or_default();
                for (declared, ty) in arguments.iter().zip(arguments_in(ty)) {
                    self.bind(declared, ty, names, generics);
                }
            }
            (TypeKind::Reference(of) | TypeKind::Raw(of), Type::Pointer(_, to)) => {
                self.bind(of, to, names, generics);
            }
            (TypeKind::Array(of, len), Type::Array(element, n)) => {
                self.bind(of, element, names, generics);
                if let ExprKind::Path(path) = &len.kind
                    && let Some(name) = path.single().filter(|it| names.iter().any(|name| name == it))
                {
                    generics.insert(name.to_owned(), Type::Array(Rc::new(Type::UNIT), *n));
                }
            }
            (TypeKind::Slice(of), Type::Array(element, _)) => self.bind(of, element, names, generics),
            (TypeKind::Tuple(all), Type::Tuple(types)) => {
                for (declared, ty) in all.iter().zip(types) {
                    self.bind(declared, ty, names, generics);
                }
            }
            _ => {}
        }
    }
}

/// The types that a type was given.
fn arguments_in(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Struct(_, all) | Type::Enum(_, all) => all.iter().collect(),
        Type::Atomic(it) => match &**it {
            Type::Pointer(_, to) => vec![to],
            _ => Vec::new(),
        },
        Type::Cell(_, it) | Type::Lock(_, it) | Type::Pointer(_, it) => vec![it],
        _ => Vec::new(),
    }
}

/// A value as a type says: `&mut T` as `*mut T`, a literal as an integer.
pub(super) fn coerced(value: Value, ty: &Type) -> Value {
    match (value, ty) {
        (Value::Pointer(mut it), Type::Pointer(Kind::Raw, _)) if it.kind == Kind::Reference => {
            it.kind = Kind::Raw;
            Value::Pointer(it)
        }
        (value, ty) => retyped(value, ty),
    }
}
