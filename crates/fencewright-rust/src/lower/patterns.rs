//! Patterns: whether a value is like one, and the names that it gives to parts of it.

use fencewright::frontend::hir::{Expr, LoadOrder};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::{self, Name, Pat, PatKind, Path};
use crate::types::{OPTION, RESULT, Type};
use crate::value::{Base, Generics, Place, Pointer, Points, Value};

use super::Lowering;
use super::access::reference;
use super::expressions::{and, or, retyped};
use super::resolve::Parts;

/// What a pattern is compared with.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    Value(Value),
    /// A place; whether names for its parts are references to them.
    Place(Place, bool),
}

impl Lowering<'_> {
    /// What an expression is, to be compared with patterns.
    pub(super) fn subject(&mut self, it: &ast::Expr) -> Option<Subject> {
        let is_place = matches!(
            it.kind,
            ast::ExprKind::Path(_)
                | ast::ExprKind::Field(..)
                | ast::ExprKind::Index(..)
                | ast::ExprKind::Unary(ast::Unary::Deref, _)
        );
        let is_constant = |it: &mut Self, path: &Path| {
            let is_variable = path.single().is_some_and(|name| it.state.variable(name).is_some());
            let module = it.state.frame().module.clone();
            !is_variable && it.names.constant(path, &module, true).is_none()
        };
        if let ast::ExprKind::Path(path) = &it.kind
            && is_constant(self, path)
        {
            return self.value(it).map(Subject::Value);
        }
        if !is_place {
            let value = self.value(it)?;
            return Some(Subject::Value(self.settled(value, it.span)));
        }
        let place = self.place(it)?;
        Some(Subject::Place(place, false))
    }

    /// The subject without references around it.
    fn opened(&mut self, subject: &Subject, span: Span) -> Option<Subject> {
        let mut subject = subject.clone();
        for _ in 0..8 {
            let (value, is_ref) = match &subject {
                Subject::Value(Value::Pointer(it)) if it.kind == crate::types::Kind::Reference => {
                    (Value::Pointer(it.clone()), true)
                }
                Subject::Place(place, _) => {
                    let ty = self.type_at(place);
                    match ty.open() {
                        Type::Pointer(crate::types::Kind::Reference, _) => {
                            (self.load(place, LoadOrder::Plain, span)?, true)
                        }
                        _ => return Some(subject),
                    }
                }
                Subject::Value(_) => return Some(subject),
            };
            let place = self.pointed(value, span)?;
            subject = Subject::Place(place, is_ref);
        }
        Some(subject)
    }

    /// Whether a subject is like a pattern.
    pub(super) fn test(&mut self, pat: &Pat, subject: &Subject) -> Option<Expr> {
        match &pat.kind {
            PatKind::Wild | PatKind::Rest => Some(Expr::Const(1)),
            PatKind::Binding { inner: Some(inner), .. } => self.test(inner, subject),
            PatKind::Binding { name, .. } => self.test_name(name, subject, pat.span),
            PatKind::Typed(inner, _) => self.test(inner, subject),
            PatKind::Reference(inner) => {
                let inner_subject = self.opened(subject, pat.span)?;
                self.test(inner, &inner_subject)
            }
            PatKind::Literal(it) => {
                let value = self.value(it)?;
                self.is_equal(subject, &value, pat.span)
            }
            PatKind::Range(start, end, is_closed) => {
                self.is_within(subject, (start.as_deref(), end.as_deref(), *is_closed), pat.span)
            }
            PatKind::Path(path) => match self.variant_named(path, subject)? {
                Some(variant) => self.is_variant(variant, subject, pat.span),
                None => {
                    let value = self.value(&ast::Expr { kind: ast::ExprKind::Path(path.clone()), span: path.span })?;
                    self.is_equal(subject, &value, pat.span)
                }
            },
            PatKind::Or(all) => {
                let mut any = Expr::Const(0);
                for pat in all {
                    let is = self.test(pat, subject)?;
                    any = or(any, is);
                }
                Some(any)
            }
            PatKind::Tuple(_) | PatKind::TupleStruct(..) | PatKind::Struct(..) => self.test_parts(pat, subject),
        }
    }

    /// A name in a pattern, which may be that of a variant or of a constant.
    fn test_name(&mut self, name: &Name, subject: &Subject, span: Span) -> Option<Expr> {
        match self.variant_named(&single(name), subject)? {
            Some(variant) => self.is_variant(variant, subject, span),
            None => match self.constant_pattern(&single(name))? {
                Some(value) => self.is_equal(subject, &value, span),
                None => Some(Expr::Const(1)),
            },
        }
    }

    fn test_parts(&mut self, pat: &Pat, subject: &Subject) -> Option<Expr> {
        let subject = self.opened(subject, pat.span)?;
        let (is, parts) = self.taken_apart(pat, &subject)?;
        let mut all = is;
        for (pat, part) in parts {
            if matches!(all, Expr::Const(0)) {
                break;
            }
            if needs_test(pat)
                && let Some(part) = part
            {
                let is = self.test(pat, &part)?;
                all = and(all, is);
            }
        }
        Some(all)
    }

    /// Whether it is the variant that a pattern names, and the parts that it names; those of a variant that it cannot
    /// be are not there.
    fn taken_apart<'p>(&mut self, pat: &'p Pat, subject: &Subject) -> Option<(Expr, Vec<(&'p Pat, Option<Subject>)>)> {
        let span = pat.span;
        let (path, named): (Option<&Path>, Vec<(Option<&Name>, &Pat)>) = match &pat.kind {
            PatKind::Tuple(all) => (None, all.iter().map(|it| (None, it)).collect()),
            PatKind::TupleStruct(path, all) => (Some(path), all.iter().map(|it| (None, it)).collect()),
            PatKind::Struct(path, all) => (Some(path), all.iter().map(|(name, it)| (Some(name), it)).collect()),
            _ => return Some((Expr::Const(1), Vec::new())),
        };
        let variant = match path {
            Some(path) => self.variant_named(path, subject)?,
            None => None,
        };
        let (is, first, names) = match variant {
            Some((number, at)) => {
                let names = self.names.enums[number].variants[at].fields.iter().map(|it| it.0.clone()).collect();
                (self.is_variant((number, at), subject, span)?, self.variant_offset(number, at), names)
            }
            None => (Expr::Const(1), 0, self.field_names(subject)),
        };
        let mut parts = Vec::new();
        let (n, n_fields) = (named.len(), names.len());
        let rest = named.iter().position(|it| matches!(it.1.kind, PatKind::Rest));
        for (at, (name, pat)) in named.into_iter().enumerate() {
            let at = match (name, rest) {
                (Some(name), _) => names.iter().position(|it| *it == name.text).unwrap_or(0),
                (None, Some(rest)) if at > rest => (n_fields + at).saturating_sub(n),
                (None, _) => at,
            };
            if !matches!(pat.kind, PatKind::Rest) {
                parts.push((pat, self.part_of(subject, first + at)?));
            }
        }
        Some((is, parts))
    }

    fn field_names(&mut self, subject: &Subject) -> Vec<String> {
        let ty = match subject {
            Subject::Value(value) => self.type_of(value),
            Subject::Place(place, _) => self.type_at(place),
        };
        match self.parts(&ty) {
            Parts::Fields(fields) => fields.into_iter().map(|it| it.0).collect(),
            Parts::Scalar(..) | Parts::Elements(..) | Parts::Nothing => Vec::new(),
        }
    }

    /// A field of a subject.
    fn part_of(&mut self, subject: &Subject, at: usize) -> Option<Option<Subject>> {
        Some(match subject {
            Subject::Value(value) => {
                let step = crate::value::Step::Field(at);
                super::access::part(value, &[step]).map(Subject::Value)
            }
            Subject::Place(place, is_ref) => {
                let declared = self.parts_field(&place.ty, at);
                let field = place.field(at, declared);
                if let Base::Variable(_) = field.base {
                    let Base::Variable(id) = field.base else { return Some(None) };
                    let super::state::Storage::Value(whole) = &self.state.variables[id.0].storage else {
                        return Some(None);
                    };
                    let Some(value) = super::access::part(whole, &field.steps) else { return Some(None) };
                    let ty = self.type_of(&value);
                    return Some(Some(Subject::Place(field.seen_as(ty), *is_ref)));
                }
                let ty = self.type_at(&field);
                Some(Subject::Place(field.seen_as(ty), *is_ref))
            }
        })
    }

    /// The type of a field, as it is declared.
    pub(super) fn parts_field(&self, ty: &Type, at: usize) -> Type {
        match self.parts(ty) {
            Parts::Fields(fields) => fields.get(at).map_or(Type::Unknown, |it| it.1.clone()),
            Parts::Scalar(..) | Parts::Elements(..) | Parts::Nothing => Type::Unknown,
        }
    }

    fn is_variant(&mut self, (_, at): (usize, usize), subject: &Subject, span: Span) -> Option<Expr> {
        let subject = self.opened(subject, span)?;
        let tag = match subject {
            Subject::Value(Value::Enum(it)) => it.tag,
            Subject::Value(Value::Unset | Value::Never) => Expr::Const(0),
            Subject::Value(_) => return self.refuse(span, "this pattern does not fit the value", "`rustc` says more"),
            Subject::Place(place, _) => {
                let tag = self.tag_of(&place, span)?;
                self.state.settled(tag, span)
            }
        };
        Some(match tag {
            Expr::Const(is) => Expr::Const(i64::from(is == at as i64)),
            tag => Expr::binary(Op::Eq, tag, Expr::Const(at as i64)),
        })
    }

    /// Which variant a place holds.
    fn tag_of(&mut self, place: &Place, span: Span) -> Option<Expr> {
        if let Base::Variable(_) = place.base {
            return match self.load(place, LoadOrder::Plain, span)?.open() {
                Value::Enum(it) => Some(it.tag),
                _ => Some(Expr::Const(0)),
            };
        }
        let ty = self.parts_field(&self.type_at(place), 0);
        match self.load(&place.field(0, ty), LoadOrder::Plain, span)?.open() {
            Value::Number(tag, _) => Some(tag),
            _ => Some(Expr::Const(0)),
        }
    }

    /// The variant that a path names in a pattern; `None` inside if it names something else.
    fn variant_named(&mut self, path: &Path, subject: &Subject) -> Option<Option<(usize, usize)>> {
        let known = match path.last() {
            "None" => Some((OPTION, 0)),
            "Some" => Some((OPTION, 1)),
            "Ok" => Some((RESULT, 0)),
            "Err" => Some((RESULT, 1)),
            _ => None,
        };
        if known.is_some() {
            return Some(known);
        }
        let ty = match subject {
            Subject::Value(Value::Enum(it)) => Type::Enum(it.number, Vec::new()),
            Subject::Value(value) => self.type_of(value),
            Subject::Place(place, _) => self.type_at(place),
        };
        let mut ty = ty.open();
        while let Type::Pointer(_, to) = ty {
            ty = to.open();
        }
        let number = match ty {
            Type::Enum(number, _) => Some(*number),
            _ => match self.type_before(path) {
                Some(Type::Enum(number, _)) => Some(number),
                _ => None,
            },
        };
        Some(number.and_then(|number| {
            let variants = &self.names.enums[number].variants;
            variants.iter().position(|it| it.name.text == path.last()).map(|at| (number, at))
        }))
    }

    fn constant_pattern(&mut self, path: &Path) -> Option<Option<Value>> {
        let module = self.state.frame().module.clone();
        match self.names.constant(path, &module, false) {
            Some(_) => self.value(&ast::Expr { kind: ast::ExprKind::Path(path.clone()), span: path.span }).map(Some),
            None => Some(None),
        }
    }

    fn value_of(&mut self, subject: &Subject, span: Span) -> Option<Value> {
        match self.opened(subject, span)? {
            Subject::Value(value) => Some(value.open()),
            Subject::Place(place, _) => Some(self.load(&place, LoadOrder::Plain, span)?.open()),
        }
    }

    fn is_equal(&mut self, subject: &Subject, value: &Value, span: Span) -> Option<Expr> {
        let found = self.value_of(subject, span)?;
        self.compared(&found, value, span)
    }

    fn is_within(
        &mut self,
        subject: &Subject,
        (start, end, is_closed): (Option<&ast::Expr>, Option<&ast::Expr>, bool),
        span: Span,
    ) -> Option<Expr> {
        let found = self.value_of(subject, span)?;
        let mut is = Expr::Const(1);
        let last = if is_closed { ast::Binary::Le } else { ast::Binary::Lt };
        for (bound, op) in [(start, ast::Binary::Ge), (end, last)] {
            let Some(bound) = bound else { continue };
            let bound = self.value(bound)?;
            if let Value::Number(holds, _) = self.combined(op, found.clone(), bound, span)? {
                is = and(is, holds);
            }
        }
        Some(is)
    }

    /// Gives names to the parts of a value that is like a pattern.
    pub(super) fn bind_value(&mut self, pat: &Pat, value: Value, span: Span) -> Option<()> {
        if matches!(pat.kind, PatKind::Wild) {
            return self.drop_value(value, span);
        }
        if !matches!(pat.kind, PatKind::Binding { .. } | PatKind::Typed(..)) && self.needs_place(pat) {
            let place = self.kept_value(value, span)?;
            return self.bind_subject(pat, &Subject::Place(place, false), span);
        }
        self.bind_subject(pat, &Subject::Value(value), span)
    }

    fn needs_place(&self, pat: &Pat) -> bool {
        match &pat.kind {
            PatKind::Binding { is_ref, .. } => *is_ref,
            PatKind::Tuple(all) | PatKind::TupleStruct(_, all) | PatKind::Or(all) => {
                all.iter().any(|it| self.needs_place(it))
            }
            PatKind::Struct(_, all) => all.iter().any(|it| self.needs_place(&it.1)),
            PatKind::Reference(inner) | PatKind::Typed(inner, _) => self.needs_place(inner),
            _ => false,
        }
    }

    /// The same for what is named, or known.
    pub(super) fn bind_subject(&mut self, pat: &Pat, subject: &Subject, span: Span) -> Option<()> {
        match &pat.kind {
            PatKind::Wild | PatKind::Rest | PatKind::Literal(_) | PatKind::Range(..) | PatKind::Path(_) => Some(()),
            PatKind::Binding { name, is_ref, is_mut, inner } => {
                self.bind_name((name, *is_ref, *is_mut), inner.as_deref(), subject, span)
            }
            PatKind::Typed(inner, ty) => {
                let (module, generics) = (self.state.frame().module.clone(), self.state.frame().generics.clone());
                let ty = self.ty(ty, &generics, &module);
                let subject = match subject {
                    Subject::Value(value) => Subject::Value(retyped(value.clone(), &ty)),
                    place => place.clone(),
                };
                self.bind_subject(inner, &subject, span)
            }
            PatKind::Reference(inner) => {
                let subject = match self.opened(subject, span)? {
                    Subject::Place(place, _) => Subject::Place(place, false),
                    value @ Subject::Value(_) => value,
                };
                self.bind_subject(inner, &subject, span)
            }
            PatKind::Or(all) if all.iter().any(binds) => {
                self.refuse(pat.span, "names in a pattern with `|` are not supported", "write an arm for each")
            }
            PatKind::Or(_) => Some(()),
            PatKind::Tuple(_) | PatKind::TupleStruct(..) | PatKind::Struct(..) => {
                let subject = self.opened(subject, span)?;
                let (_, parts) = self.taken_apart(pat, &subject)?;
                for (pat, part) in parts {
                    match part {
                        Some(part) => self.bind_subject(pat, &part, span)?,
                        None => self.bind_unset(pat)?,
                    }
                }
                Some(())
            }
        }
    }

    /// Gives a name to something, unless it is the name of a variant or of a constant.
    fn bind_name(
        &mut self,
        (name, is_ref, is_mut): (&Name, bool, bool),
        inner: Option<&Pat>,
        subject: &Subject,
        span: Span,
    ) -> Option<()> {
        let is_constant =
            self.variant_named(&single(name), subject)?.is_some() || self.constant_pattern(&single(name))?.is_some();
        if inner.is_none() && is_constant {
            return Some(());
        }
        let value = match subject {
            Subject::Value(value) => value.clone(),
            Subject::Place(place, by_ref) if is_ref || *by_ref => reference(place.clone()),
            Subject::Place(place, _) => self.taken(place, span)?,
        };
        self.declare(name, is_mut, value)?;
        match inner {
            Some(inner) => self.bind_subject(inner, subject, span),
            None => Some(()),
        }
    }

    /// Gives names to what has no value yet.
    pub(super) fn bind_unset(&mut self, pat: &Pat) -> Option<()> {
        match &pat.kind {
            PatKind::Binding { name, .. } => self.declare(name, true, Value::Unset).map(|_| ()),
            PatKind::Typed(inner, ty) => {
                let PatKind::Binding { name, .. } = &inner.kind else { return self.bind_unset(inner) };
                let generics: Generics = self.state.frame().generics.clone();
                let module = self.state.frame().module.clone();
                let ty = self.ty(ty, &generics, &module);
                let value = match ty {
                    Type::Pointer(kind, to) => {
                        Value::Pointer(Pointer { kind, to: (*to).clone(), what: Points::Number(Expr::Const(0)) })
                    }
                    _ => Value::Unset,
                };
                self.declare(name, true, value).map(|_| ())
            }
            PatKind::Tuple(all) | PatKind::TupleStruct(_, all) => all.iter().try_for_each(|it| self.bind_unset(it)),
            _ => Some(()),
        }
    }
}

/// Whether a pattern may fail, as far as can be told without looking at it.
fn needs_test(pat: &Pat) -> bool {
    !matches!(pat.kind, PatKind::Wild | PatKind::Rest)
}

/// Whether a pattern gives a name to something.
fn binds(pat: &Pat) -> bool {
    match &pat.kind {
        PatKind::Binding { name, .. } => name.text.chars().next().is_some_and(|it| it.is_lowercase() || it == '_'),
        PatKind::Tuple(all) | PatKind::TupleStruct(_, all) | PatKind::Or(all) => all.iter().any(binds),
        PatKind::Struct(_, all) => all.iter().any(|it| binds(&it.1)),
        PatKind::Reference(inner) | PatKind::Typed(inner, _) => binds(inner),
        _ => false,
    }
}

fn single(name: &Name) -> Path {
    let segments = vec![ast::Segment { name: name.text.clone(), arguments: Vec::new() }];
    Path { segments, of: None, span: name.span }
}
