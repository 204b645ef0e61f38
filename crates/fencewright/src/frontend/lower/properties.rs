//! Properties: `forbid` and `predicate`.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::ast::{self, ExprKind, ItemKind};
use crate::frontend::hir::{Claim, LocalId, Property, Unit};
use crate::frontend::said::MAX_SITUATIONS;
use crate::program::{BinaryOp, NoHang, ProcessId, PropertyKind, UnaryOp, Value};
use crate::source::{Diagnostic, Span};
use crate::util::Idx;
use crate::watch::heed;

use super::any_number::refuse_hang;
use super::body::Lowering as Body;
use super::constants::{Environment, constant, ends};
use super::globals::{Global, Globals, unknown, unknown_part};
use super::log::Log;
use super::property_counts::{Members, has_count};
use super::registers;
use super::typed::Ty;

/// What properties may name.
#[derive(Clone, Copy)]
pub(super) struct Known<'k, 'a> {
    pub globals: &'k Globals<'a>,
    pub bodies: &'k [Body],
}

/// The registers that properties name: process and name.
pub(super) type Uses = BTreeSet<(usize, String)>;

impl<'k, 'a> Known<'k, 'a> {
    pub(super) fn new(globals: &'k Globals<'a>, bodies: &'k [Body]) -> Self {
        Self { globals, bodies }
    }
}

/// Lowers all properties and hints; the registers they name.
pub(super) fn lower(log: &mut Log, unit: &mut Unit, file: &ast::File, known: &Known<'_, '_>) -> Uses {
    let mut uses = Uses::new();
    let registers: Vec<_> = known.bodies.iter().map(|it| registers::by_name(&it.registers)).collect();
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    for item in &file.items {
        match &item.kind {
            ItemKind::Forbid(forbid) => {
                if let Some(name) = &forbid.name
                    && let Some(first) = names.insert(&name.text, name.span)
                {
                    let message = format!("two properties are called `{}`", name.text);
                    let error = Diagnostic::error(name.span, message).and_at(first, "the first");
                    log.say(error.with_help("give one of them another name"));
                }
                let property = Lowering::new(log, unit, *known, &registers, &mut uses).forbid(forbid, item.span);
                unit.property(property);
            }
            ItemKind::Predicate(expr) => {
                let hint = Lowering::new(log, unit, *known, &registers, &mut uses).boolean(expr);
                if hint.ty != Ty::Unknown {
                    unit.hint(hint.expr);
                }
            }
            ItemKind::Hang(it) => {
                refuse_hang(log, known.globals, item.span);
                it.except.iter().for_each(|it| check_exception(log, known, it));
                let except = it.except.iter().map(|(thread, label)| (thread.text.clone(), label.text.clone()));
                unit.no_hang(NoHang { except: except.collect(), span: item.span });
            }
            ItemKind::Const(_) | ItemKind::Shared(_) | ItemKind::Thread(_) | ItemKind::Function(_) => {}
            ItemKind::Include(_) | ItemKind::Enum(_) | ItemKind::ConstArray(_) => {}
        }
    }
    uses
}

/// Says so if there is no such thread, or it has no such label.
fn check_exception(log: &mut Log, known: &Known<'_, '_>, (thread, label): &(ast::Name, ast::Name)) {
    let named = known.globals.members.iter().map(super::globals::Member::name);
    let is_it = |name: &str| name == thread.text || name.split('(').next() == Some(&thread.text);
    let members: Vec<&Body> = named.zip(known.bodies).filter(|(name, _)| is_it(name)).map(|it| it.1).collect();
    if members.is_empty() {
        log.error(thread.span, format!("unknown thread `{}`", thread.text), "name a thread, or a family of threads");
    } else if !members.iter().any(|it| it.declared_labels.contains_key(&label.text)) {
        let help = "put the label before the loop or statement that may wait for ever";
        log.error(label.span, format!("`{}` has no label `{}`", thread.text, label.text), help);
    }
}

/// What the choices of binders come to.
#[derive(Default)]
struct Chosen {
    any_of: Vec<(Option<Span>, Claim)>,
    /// The words of each that binders chose.
    members: Vec<(usize, String)>,
}

/// The registers of a process, by name.
type Registers = BTreeMap<String, Vec<(LocalId, Span)>>;

/// A property while it is lowered.
pub(super) struct Lowering<'l, 'k, 'a> {
    pub log: &'l mut Log,
    pub unit: &'l Unit,
    pub known: Known<'k, 'a>,
    pub registers: &'l [Registers],
    pub environment: Environment<'k, 'a>,
    /// Whether it looks at memory.
    pub sees_memory: bool,
    /// The members that a count is about now, if they are chosen one after the other.
    pub members: Option<Members>,
    pub uses: &'l mut Uses,
    n_rounds: usize,
    /// Where there were too many choices.
    left_out: Option<Span>,
}

impl<'l, 'k, 'a> Lowering<'l, 'k, 'a> {
    fn new(
        log: &'l mut Log,
        unit: &'l Unit,
        known: Known<'k, 'a>,
        registers: &'l [Registers],
        uses: &'l mut Uses,
    ) -> Self {
        let environment = Environment::new(known.globals);
        let (sees_memory, n_rounds, left_out) = (false, 0, None);
        Self { log, unit, known, registers, environment, sees_memory, members: None, uses, n_rounds, left_out }
    }

    fn forbid(&mut self, forbid: &ast::Forbid, span: Span) -> Property {
        let ended = forbid.at_end.as_ref().map_or(Vec::new(), |it| self.ended(it));
        let mut chosen = Chosen::default();
        self.bind(&forbid.binders, &forbid.condition, None, &mut chosen);
        let Chosen { any_of, members } = chosen;
        let words = self.words(forbid, members);
        let kind = match &forbid.at_end {
            Some(_) => PropertyKind::Final,
            None if self.sees_memory => PropertyKind::Invariant,
            None => PropertyKind::Control,
        };
        let (text, condition) = (self.log.text(forbid.condition.span), forbid.condition.span);
        Property { kind, ended, any_of, left_out: self.left_out, text, words, condition, span }
    }

    /// The threads named by `at end`.
    fn ended(&mut self, at_end: &ast::AtEnd) -> Vec<(ProcessId, Span)> {
        let mut named: Vec<(usize, Span)> = Vec::new();
        for thread in &at_end.of {
            if self.is_any(thread) {
                self.refuse_end(&thread.name.text, thread.span);
            }
            named.extend(self.threads(thread).into_iter().map(|it| (it, thread.span)));
        }
        if at_end.of.is_empty() {
            let any = self.known.globals.members.iter().find(|it| it.copy.is_some());
            if let Some(member) = any {
                self.refuse_end(&member.thread.name.text, at_end.span);
            }
            named = (0..self.known.bodies.len()).map(|it| (it, at_end.span)).collect();
        }
        named.into_iter().map(|(i, span)| (ProcessId::from_usize(i), span)).collect()
    }

    /// One claim for each choice of the binders, with the place of the outermost one that chose anew.
    fn bind(&mut self, binders: &[ast::Binder], condition: &ast::Expr, chosen: Option<Span>, all: &mut Chosen) {
        let Some((binder, rest)) = binders.split_first() else {
            match self.choices_of_members(condition) {
                None => self.choose(condition, chosen, all),
                Some(choices) => {
                    for members in choices {
                        let chosen = Some(chosen.unwrap_or(members.span));
                        self.members = Some(members);
                        self.choose(condition, chosen, all);
                    }
                    self.members = None;
                }
            }
            return;
        };
        let Some((lo, hi)) = ends(self.log, &self.environment, &binder.range) else { return };
        for value in lo..=hi {
            heed(4);
            self.n_rounds += 1;
            if self.n_rounds > MAX_SITUATIONS {
                self.left_out.get_or_insert(binder.name.span);
                return;
            }
            self.environment.local.push((binder.name.text.clone(), value));
            // At the first of its own choices a binder is only where the one outside it has gone on.
            let chosen = chosen.filter(|_| value == lo).or(Some(binder.name.span));
            self.bind(rest, condition, chosen, all);
            self.environment.local.pop();
        }
    }

    /// The claim for one choice.
    fn choose(&mut self, condition: &ast::Expr, chosen: Option<Span>, all: &mut Chosen) {
        all.members.extend(self.with_choice(condition).map(|text| (all.any_of.len(), text)));
        let claim = self.claim(condition);
        all.any_of.push((chosen, claim));
    }

    fn claim(&mut self, expr: &ast::Expr) -> Claim {
        heed(2);
        if !has_at(expr) {
            return Claim::Holds(self.boolean(expr).expr);
        }
        if let Some(claim) = self.count(expr) {
            return claim;
        }
        match &expr.kind {
            ExprKind::Paren(inner) => self.claim(inner),
            ExprKind::At(thread, label) => self.at(thread, label).unwrap_or(Claim::Never),
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                let left = Box::new(self.claim(left));
                Claim::Or(left, Box::new(self.claim(right)))
            }
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let left = Box::new(self.claim(left));
                Claim::And(left, Box::new(self.claim(right)), expr.span)
            }
            ExprKind::Unary(UnaryOp::Not, _) => {
                self.log.error(expr.span, "`!` over an `@`", "name the labels where it is bad to be, joined by `||`");
                Claim::Never
            }
            ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::Any(_)
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Call(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => {
                match has_count(expr) {
                    true => self.log.error(expr.span, "a count is compared with a constant only", "write `#P@l >= 2`"),
                    false => self.log.error(expr.span, "`@` is not a value", "join it with `&&` and `||` only"),
                }
                Claim::Never
            }
        }
    }

    /// `P@l`
    fn at(&mut self, thread: &ast::ThreadRef, label: &ast::Name) -> Option<Claim> {
        if self.is_any(thread) {
            return self.some_at(thread, label);
        }
        let i = self.thread(thread)?;
        self.at_label(i, label)
    }

    /// A thread, by its number, is at a label.
    pub(super) fn at_label(&mut self, i: usize, label: &ast::Name) -> Option<Claim> {
        let declared = &self.known.bodies[i].declared_labels;
        let (thread, span) = (ProcessId::from_usize(i), label.span);
        let at = |declared| Some(Claim::At { thread, label: label.text.clone(), span, declared });
        if label.text == "end" {
            return at(None);
        }
        let Some(place) = declared.get(&label.text) else {
            let labels = declared.keys().map(String::as_str).chain(["end"]);
            self.log.say(unknown_part("label", label, self.known.globals.family(i), labels));
            return None;
        };
        at(Some(*place))
    }

    /// The one thread that is named.
    pub(super) fn thread(&mut self, thread: &ast::ThreadRef) -> Option<usize> {
        let found = self.threads(thread);
        if self.is_any(thread) && thread.arguments.is_empty() {
            self.refuse_copy(thread);
            return None;
        }
        if found.len() > 1 {
            let message = format!("`{}` is a family of threads", thread.name.text);
            let first = self.known.globals.members[found[0]].name();
            self.log.error(thread.span, message, format!("say which member: `{first}`"));
            return None;
        }
        found.first().copied()
    }

    /// The threads that are named: a family without arguments means all its members.
    pub(super) fn threads(&mut self, thread: &ast::ThreadRef) -> Vec<usize> {
        let name = &thread.name;
        self.log.used.insert(name.text.clone());
        match self.known.globals.get(&name.text) {
            Some(Global::Thread(declared)) => self.members(thread, declared),
            Some(Global::Wrong) => Vec::new(),
            Some(
                global @ (Global::Const(..)
                | Global::Enum(_)
                | Global::Scalar(_)
                | Global::Array(_)
                | Global::Function(_)),
            ) => {
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
        let all = self.known.globals.members.iter().enumerate().filter(|(_, it)| it.thread.name.text == *name);
        let all: Vec<(usize, Vec<Value>)> = all.map(|(i, it)| (i, it.arguments.clone())).collect();
        if thread.arguments.is_empty() {
            return all.into_iter().map(|it| it.0).collect();
        }
        if declared.any.is_some() {
            self.refuse_copy(thread);
            return Vec::new();
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
            let name_of = |i: usize| self.known.globals.members[i].name();
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
        ExprKind::At(..) | ExprKind::Count(..) => true,
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => has_at(inner),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => has_at(left) || has_at(right),
        ExprKind::Conditional(it) => has_at(&it.condition) || has_at(&it.then) || has_at(&it.otherwise),
        ExprKind::Call(_, arguments) => arguments.iter().any(has_at),
        ExprKind::Int(_)
        | ExprKind::Based(..)
        | ExprKind::Bool(_)
        | ExprKind::Any(_)
        | ExprKind::Name(_)
        | ExprKind::Index(..)
        | ExprKind::Member(..) => false,
    }
}
