//! Constant expressions.

use std::collections::BTreeMap;

use crate::frontend::ast::{self, ExprKind, ItemKind};
use crate::frontend::nearest::nearest;
use crate::program::{Expr, Value};
use crate::source::{Diagnostic, Span};

use super::globals::{Global, Globals, unknown};
use super::log::Log;
use super::typed::{Ty, Typed, pure};

/// An expression without variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Never {}

/// What constant expressions may name besides the constants of the file.
#[derive(Clone, Debug)]
pub(super) struct Environment<'g, 'a> {
    pub globals: &'g Globals<'a>,
    /// Family parameters, `for` variables and binders, innermost last.
    pub local: Vec<(String, Value)>,
    /// Names that are known but no constants: registers.
    pub registers: Vec<String>,
}

impl<'g, 'a> Environment<'g, 'a> {
    /// The constants of the file.
    pub(super) fn new(globals: &'g Globals<'a>) -> Self {
        Self { globals, local: Vec::new(), registers: Vec::new() }
    }

    /// What a name stands for, if it is a constant.
    fn lookup(&self, log: &mut Log, name: &ast::Name) -> Typed<Never> {
        if let Some((_, value)) = self.local.iter().rev().find(|(local, _)| *local == name.text) {
            return Typed::new(Expr::Const(*value), Ty::Int, name.span);
        }
        if self.registers.contains(&name.text) {
            return not_constant(log, name.span);
        }
        log.used.insert(name.text.clone());
        match self.globals.get(&name.text) {
            Some(Global::Const(value, ty)) => Typed::new(Expr::Const(*value), *ty, name.span),
            Some(Global::Wrong) => Typed::wrong(name.span),
            Some(Global::Scalar(_) | Global::Array(_) | Global::Thread(_) | Global::Function(_) | Global::Enum(_)) => {
                not_constant(log, name.span)
            }
            None => {
                let constants = self.globals.iter().filter(|it| matches!(it.1, Global::Const(..)));
                let known: Vec<&str> =
                    constants.map(|it| it.0).chain(self.local.iter().map(|it| it.0.as_str())).collect();
                log.say(unknown("constant", name, known));
                Typed::wrong(name.span)
            }
        }
    }
}

/// The value and type of a constant expression; nothing if it has none, which was reported.
pub(super) fn constant(log: &mut Log, environment: &Environment<'_, '_>, expr: &ast::Expr) -> Option<(Value, Ty)> {
    let typed = pure(log, expr, &mut |log, leaf| match name_of(leaf) {
        Some(name) => environment.lookup(log, name),
        None => not_constant(log, leaf.span),
    });
    value_of(log, &typed)
}

/// The value of a constant expression that must be an integer.
pub(super) fn integer(log: &mut Log, environment: &Environment<'_, '_>, expr: &ast::Expr) -> Option<Value> {
    let (value, ty) = constant(log, environment, expr)?;
    let typed: Typed<Never> = Typed::new(Expr::Const(value), ty, expr.span);
    typed.expect(log, Ty::Int).constant()
}

/// Both ends of a range that may be empty.
pub(super) fn ends(log: &mut Log, environment: &Environment<'_, '_>, range: &ast::Range) -> Option<(Value, Value)> {
    let lo = integer(log, environment, &range.lo);
    let hi = integer(log, environment, &range.hi);
    Some((lo?, hi?))
}

/// Both ends of a range that must not be empty.
pub(super) fn range(
    log: &mut Log,
    environment: &Environment<'_, '_>,
    range: &ast::Range,
    needs: &str,
) -> Option<(Value, Value)> {
    let (lo, hi) = ends(log, environment, range)?;
    if lo <= hi {
        return Some((lo, hi));
    }
    let span = range.lo.span.to(range.hi.span);
    let help = format!("the first end must not be above the second; there must be {needs}");
    log.error(span, format!("the range `{lo}..{hi}` is empty"), help);
    None
}

fn value_of(log: &mut Log, typed: &Typed<Never>) -> Option<(Value, Ty)> {
    if typed.ty == Ty::Unknown {
        return None;
    }
    let value = typed.constant();
    if value.is_none() {
        log.error(typed.span, "this constant has no value", "it divides by zero: mend the divisor");
    }
    value.map(|value| (value, typed.ty))
}

/// The name that an expression is, if it is one.
fn name_of(expr: &ast::Expr) -> Option<&ast::Name> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Any(_)
        | ExprKind::Index(..)
        | ExprKind::Call(..)
        | ExprKind::At(..)
        | ExprKind::Count(..)
        | ExprKind::Member(..)
        | ExprKind::Int(_)
        | ExprKind::Based(..)
        | ExprKind::Bool(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Shift(..)
        | ExprKind::Conditional(_)
        | ExprKind::Paren(_) => None,
    }
}

fn not_constant(log: &mut Log, span: Span) -> Typed<Never> {
    let text = log.text(span);
    let help = "use numbers, `const` names, family parameters and `for` variables";
    log.error(span, format!("`{text}` is not a constant"), help);
    Typed::wrong(span)
}

/// The constants of a file.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// Their values; the type is unknown if there is none.
    pub values: BTreeMap<String, (Value, Ty)>,
}

/// Constants while they are evaluated: each may name others, in any order.
struct Evaluation<'e> {
    items: BTreeMap<&'e str, &'e ast::Const>,
    others: BTreeMap<&'e str, ()>,
    defines: BTreeMap<&'e str, Value>,
    values: BTreeMap<String, (Value, Ty)>,
    /// The constants being evaluated, outermost first.
    active: Vec<&'e ast::Name>,
}

/// Constants that name each other deeper than this are refused, for the sake of the stack.
const MAX_DEPTH: usize = 100;

impl Constants {
    /// Evaluates all constants; `defines` go before what the file says.
    pub(super) fn evaluate(log: &mut Log, file: &ast::File, defines: &[(String, i64)]) -> Self {
        let mut items = BTreeMap::new();
        let mut others = BTreeMap::new();
        let mut values = BTreeMap::new();
        for item in &file.items {
            match &item.kind {
                ItemKind::Const(it) => {
                    items.entry(it.name.text.as_str()).or_insert(it);
                }
                ItemKind::ConstArray(it) => others.extend([(it.name.text.as_str(), ())]),
                ItemKind::Enum(it) => {
                    others.extend([(it.name.text.as_str(), ())]);
                    let numbered = it.values.iter().zip(0..);
                    values.extend(numbered.map(|(name, value)| (name.text.clone(), (value, Ty::Int))));
                }
                ItemKind::Shared(it) => others.extend(it.variables.iter().map(|it| (it.name.text.as_str(), ()))),
                ItemKind::Thread(it) => others.extend([(it.name.text.as_str(), ())]),
                ItemKind::Function(it) => others.extend([(it.name.text.as_str(), ())]),
                ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => {}
            }
        }
        check_defines(log, &items, defines);
        let defines = defines.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let names: Vec<&ast::Name> = items.values().map(|it| &it.name).collect();
        let mut evaluation = Evaluation { items, others, defines, values, active: Vec::new() };
        for name in names {
            evaluation.value(log, name);
        }
        Self { values: evaluation.values }
    }
}

impl<'e> Evaluation<'e> {
    /// The value of a constant, which some expression names.
    fn value(&mut self, log: &mut Log, name: &ast::Name) -> Typed<Never> {
        let Some(&item) = self.items.get(name.text.as_str()) else {
            // A value of an `enum`.
            if let Some(&(value, ty)) = self.values.get(&name.text) {
                return Typed::new(Expr::Const(value), ty, name.span);
            }
            if self.others.contains_key(name.text.as_str()) {
                return not_constant(log, name.span);
            }
            log.say(unknown("constant", name, self.items.keys().copied()));
            return Typed::wrong(name.span);
        };
        if let Some(start) = self.active.iter().position(|it| it.text == name.text) {
            self.report_cycle(log, start);
            return Typed::wrong(name.span);
        }
        if let Some(&(value, ty)) = self.values.get(&name.text) {
            return Typed::new(Expr::Const(value), ty, name.span);
        }
        if self.active.len() > MAX_DEPTH {
            log.error(name.span, "constants name each other too deeply", format!("at most {MAX_DEPTH} in a row"));
            return Typed::wrong(name.span);
        }
        self.active.push(&item.name);
        let own = pure(log, &item.value, &mut |log, leaf| match name_of(leaf) {
            Some(it) => {
                log.used.insert(it.text.clone());
                self.value(log, it)
            }
            None => not_constant(log, leaf.span),
        });
        self.active.pop();
        let own = value_of(log, &own);
        let (value, ty) = self.redefined(log, item, own).unwrap_or((0, Ty::Unknown));
        self.values.insert(name.text.clone(), (value, ty));
        Typed::new(Expr::Const(value), ty, name.span)
    }

    /// The value from the command line, if it gives one.
    fn redefined(&self, log: &mut Log, item: &ast::Const, own: Option<(Value, Ty)>) -> Option<(Value, Ty)> {
        let Some(&value) = self.defines.get(item.name.text.as_str()) else { return own };
        let (_, ty) = own?;
        if ty == Ty::Bool && !(0..=1).contains(&value) {
            let message = format!("`-D {}={value}`: the constant is a boolean", item.name.text);
            log.error(item.name.span, message, "give it 0 or 1");
            return None;
        }
        Some((value, ty))
    }

    fn report_cycle(&self, log: &mut Log, start: usize) {
        let cycle = &self.active[start..];
        let names: Vec<String> = cycle.iter().chain(&cycle[..1]).map(|it| format!("`{}`", it.text)).collect();
        let message = format!("constant `{}` depends on itself", cycle[0].text);
        log.error(cycle[0].span, message, format!("break the cycle {}", names.join(" → ")));
    }
}

fn check_defines(log: &mut Log, items: &BTreeMap<&str, &ast::Const>, defines: &[(String, i64)]) {
    for (name, _) in defines.iter().filter(|(name, _)| !items.contains_key(name.as_str())) {
        let known: Vec<String> = items.keys().map(|it| format!("`{it}`")).collect();
        let help = match (nearest(name, items.keys().copied()), known.is_empty()) {
            (Some(it), _) => format!("did you mean `{it}`?"),
            (None, true) => "the file declares no constants".to_owned(),
            (None, false) => format!("the constants are {}", known.join(", ")),
        };
        let message = format!("`-D {name}`: there is no such constant");
        log.say(Diagnostic::error(Span::new(0, 0), message).with_help(help));
    }
}
