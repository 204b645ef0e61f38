//! Properties: `forbid` and `predicate`.

use std::collections::BTreeSet;

use crate::frontend::ast::{self, ExprKind, ItemKind};
use crate::program::{BinaryOp, Builder, Expr, Property, PropertyKind, UnaryOp, Value};
use crate::source::{Diagnostic, Span};

use super::body::Notes;
use super::constants::{Environment, constant, ends};
use super::emit::Emitted;
use super::globals::{Global, Globals, unknown, unknown_part};
use super::log::{Log, MAX_SITUATIONS};
use super::situations::Conjunct;
use super::typed::Ty;

/// What properties may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'k, 'a> {
    pub globals: &'k Globals<'a>,
    pub processes: &'k [Emitted],
    notes: &'k [&'k Notes],
}

/// The registers that properties name: process and name.
pub(super) type Uses = BTreeSet<(usize, String)>;

impl<'k, 'a> Known<'k, 'a> {
    pub(super) fn new(globals: &'k Globals<'a>, processes: &'k [Emitted], notes: &'k [&'k Notes]) -> Self {
        Self { globals, processes, notes }
    }
}

/// Lowers all properties and hints; the registers they name.
pub(super) fn lower(log: &mut Log, builder: &mut Builder, file: &ast::File, known: &Known<'_, '_>) -> Uses {
    let mut uses = Uses::new();
    for item in &file.items {
        match &item.kind {
            ItemKind::Forbid(forbid) => {
                let mut lowering = Lowering::new(log, builder, *known, &mut uses);
                lowering.memory = if forbid.at_end.is_some() { Memory::Allowed } else { Memory::AtEndOnly };
                if let Some(property) = lowering.forbid(forbid, item.span) {
                    builder.property(property);
                }
            }
            ItemKind::Predicate(expr) => {
                let hint = Lowering::new(log, builder, *known, &mut uses).boolean(expr);
                if hint.ty != Ty::Unknown {
                    builder.hint(hint.expr);
                }
            }
            ItemKind::Const(_) | ItemKind::Shared(_) | ItemKind::Thread(_) | ItemKind::Function(_) => {}
        }
    }
    uses
}

/// Whether a condition may look at memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    Allowed,
    AtEndOnly,
}

/// A property while it is lowered.
pub(super) struct Lowering<'l, 'k, 'a> {
    pub log: &'l mut Log,
    pub builder: &'l Builder,
    pub known: Known<'k, 'a>,
    pub environment: Environment<'k, 'a>,
    pub memory: Memory,
    pub uses: &'l mut Uses,
    n_rounds: usize,
    /// Whether it was said that there are too many situations, or that a label is never reached.
    is_refused: bool,
}

impl<'l, 'k, 'a> Lowering<'l, 'k, 'a> {
    fn new(log: &'l mut Log, builder: &'l Builder, known: Known<'k, 'a>, uses: &'l mut Uses) -> Self {
        let environment = Environment::new(known.globals);
        Self { log, builder, known, environment, memory: Memory::Allowed, uses, n_rounds: 0, is_refused: false }
    }

    fn forbid(&mut self, forbid: &ast::Forbid, span: Span) -> Option<Property> {
        let ended = match &forbid.at_end {
            Some(at_end) => self.ended(at_end),
            None => Conjunct::holds(Expr::TRUE),
        };
        let mut all = Vec::new();
        self.bind(&forbid.binders, &forbid.condition, &mut all);
        let is_empty = all.is_empty() && ended.is_some() && !self.log.has_errors();
        if is_empty && forbid.binders.is_empty() && !self.is_refused {
            let warning = Diagnostic::warning(forbid.condition.span, "this can never hold");
            self.log.say(warning.with_help("a thread is at one place at a time, and some of these are never reached"));
        }
        let situations = all.iter().filter_map(|it| it.and(ended.as_ref()?)).map(Conjunct::finish).collect();
        let kind = if forbid.at_end.is_some() { PropertyKind::Final } else { PropertyKind::Control };
        let text = self.log.text(forbid.condition.span);
        Some(Property { kind, situations, text, span })
    }

    /// The threads named by `at end` have ended; nothing if one never does.
    fn ended(&mut self, at_end: &ast::AtEnd) -> Option<Conjunct> {
        let mut named: Vec<(usize, Span)> = Vec::new();
        for thread in &at_end.of {
            named.extend(self.threads(thread).into_iter().map(|it| (it, thread.span)));
        }
        if at_end.of.is_empty() {
            named = (0..self.known.processes.len()).map(|it| (it, at_end.span)).collect();
        }
        let mut all = Conjunct::holds(Expr::TRUE);
        for (i, span) in named {
            let emitted = &self.known.processes[i];
            if emitted.ends.is_empty() {
                let name = &self.builder.so_far().processes()[emitted.process].name;
                let message = format!("thread `{name}` never ends, so this is never looked at");
                let help = "name the threads that end: `at end of P, Q`";
                self.log.say(Diagnostic::warning(span, message).with_help(help));
            }
            let ended = Conjunct::at(emitted.process, &emitted.ends);
            all = all.and_then(|it| it.and(&ended?));
        }
        all
    }

    /// One situation, or more, for each choice of the binders.
    fn bind(&mut self, binders: &[ast::Binder], condition: &ast::Expr, all: &mut Vec<Conjunct>) {
        let Some((binder, rest)) = binders.split_first() else {
            let found = self.disjuncts(condition);
            all.extend(found);
            return;
        };
        let Some((lo, hi)) = ends(self.log, &self.environment, &binder.range) else { return };
        for value in lo..=hi {
            self.n_rounds += 1;
            if self.n_rounds > MAX_SITUATIONS || all.len() > MAX_SITUATIONS {
                self.refuse_size(binder.name.span);
                return;
            }
            self.environment.local.push((binder.name.text.clone(), value));
            self.bind(rest, condition, all);
            self.environment.local.pop();
        }
    }

    fn refuse_size(&mut self, span: Span) {
        if std::mem::replace(&mut self.is_refused, true) {
            return;
        }
        let message = format!("the property has more than {MAX_SITUATIONS} situations");
        self.log.error(span, message, "use smaller ranges or fewer `||`");
    }

    fn disjuncts(&mut self, expr: &ast::Expr) -> Vec<Conjunct> {
        if !has_at(expr) {
            let holds = self.boolean(expr);
            return Conjunct::holds(holds.expr).into_iter().collect();
        }
        match &expr.kind {
            ExprKind::Paren(inner) => self.disjuncts(inner),
            ExprKind::At(thread, label) => self.at(thread, label).into_iter().collect(),
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                let mut all = self.disjuncts(left);
                all.extend(self.disjuncts(right));
                all
            }
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let (left, right) = (self.disjuncts(left), self.disjuncts(right));
                if left.len().saturating_mul(right.len()) > MAX_SITUATIONS {
                    self.refuse_size(expr.span);
                    return Vec::new();
                }
                left.iter().flat_map(|a| right.iter().filter_map(|b| a.and(b))).collect()
            }
            ExprKind::Unary(UnaryOp::Not, _) => {
                self.log.error(expr.span, "`!` over an `@`", "name the labels where it is bad to be, joined by `||`");
                Vec::new()
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Any(_)
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Call(..)
            | ExprKind::Member(..) => {
                self.log.error(expr.span, "`@` is not a value", "join it with `&&` and `||` only");
                Vec::new()
            }
        }
    }

    /// `P@l`
    fn at(&mut self, thread: &ast::ThreadRef, label: &ast::Name) -> Option<Conjunct> {
        let i = self.thread(thread)?;
        let emitted = &self.known.processes[i];
        if label.text == "end" && !emitted.labels.contains_key("end") {
            return Conjunct::at(emitted.process, &emitted.ends);
        }
        let notes = self.known.notes[i];
        if !notes.labels.contains_key(&label.text) {
            let labels = notes.labels.keys().map(String::as_str).chain(["end"]);
            self.log.say(unknown_part("label", label, &emitted.family, labels));
            return None;
        }
        let Some(points) = emitted.labels.get(&label.text) else {
            let message = format!("label `{}` is never reached", label.text);
            let warning = Diagnostic::warning(label.span, message).and_at(notes.labels[&label.text], "declared here");
            self.log.say(warning.with_help("this part of the property says nothing: mend the thread or the property"));
            self.is_refused = true;
            return None;
        };
        Conjunct::at(emitted.process, points)
    }

    /// The one thread that is named.
    pub(super) fn thread(&mut self, thread: &ast::ThreadRef) -> Option<usize> {
        let found = self.threads(thread);
        if found.len() > 1 {
            let message = format!("`{}` is a family of threads", thread.name.text);
            let first = &self.builder.so_far().processes()[self.known.processes[found[0]].process].name;
            self.log.error(thread.span, message, format!("say which member: `{first}`"));
            return None;
        }
        found.first().copied()
    }

    /// The threads that are named: a family without arguments means all its members.
    fn threads(&mut self, thread: &ast::ThreadRef) -> Vec<usize> {
        let name = &thread.name;
        self.log.used.insert(name.text.clone());
        match self.known.globals.get(&name.text) {
            Some(Global::Thread(declared)) => self.members(thread, declared),
            Some(Global::Wrong) => Vec::new(),
            Some(global @ (Global::Const(..) | Global::Scalar(_) | Global::Array(_) | Global::Function(_))) => {
                let message = format!("`{}` is {}, not a thread", name.text, global.kind());
                self.log.error(name.span, message, "name a thread");
                Vec::new()
            }
            None => {
                let threads = self.known.globals.iter().filter(|it| matches!(it.1, Global::Thread(_)));
                self.log.say(unknown("thread", name, threads.map(|it| it.0)));
                Vec::new()
            }
        }
    }

    fn members(&mut self, thread: &ast::ThreadRef, declared: &ast::Thread) -> Vec<usize> {
        let name = &thread.name.text;
        let all = self.known.processes.iter().enumerate().filter(|(_, it)| it.family == *name);
        let all: Vec<(usize, Vec<Value>)> = all.map(|(i, it)| (i, it.arguments.clone())).collect();
        if thread.arguments.is_empty() {
            return all.into_iter().map(|it| it.0).collect();
        }
        let wanted = declared.parameters.len();
        if wanted != thread.arguments.len() {
            let message = format!("`{name}` has {wanted} parameters, found {} arguments", thread.arguments.len());
            let help = if wanted == 0 { format!("write `{name}`") } else { "give one for each parameter".to_owned() };
            self.log.error(thread.span, message, help);
            return Vec::new();
        }
        let arguments = thread.arguments.iter().map(|it| constant(self.log, &self.environment, it));
        let Some(arguments) = arguments.collect::<Option<Vec<_>>>() else { return Vec::new() };
        let arguments: Vec<Value> = arguments.into_iter().map(|it| it.0).collect();
        let found: Vec<usize> = all.iter().filter(|it| it.1 == arguments).map(|it| it.0).collect();
        if let (true, Some(first), Some(last)) = (found.is_empty(), all.first(), all.last()) {
            let name_of = |i: usize| &self.builder.so_far().processes()[self.known.processes[i].process].name;
            let help = format!("the members are `{}` to `{}`", name_of(first.0), name_of(last.0));
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            self.log.error(thread.span, format!("there is no `{name}({})`", arguments.join(", ")), help);
        }
        found
    }
}

/// Whether an `@` occurs.
fn has_at(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::At(..) => true,
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => has_at(inner),
        ExprKind::Binary(_, left, right) => has_at(left) || has_at(right),
        ExprKind::Call(_, arguments) => arguments.iter().any(has_at),
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Any(_)
        | ExprKind::Name(_)
        | ExprKind::Index(..)
        | ExprKind::Member(..) => false,
    }
}
