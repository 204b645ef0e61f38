//! The body of one process while it is lowered: where we are, and what the names mean here.
//!
//! Lowering walks the text with a cursor, the control point reached so far. A statement puts arcs behind it and moves
//! it on. Behind a jump the cursor is a node that nothing leads to; what is lowered there is checked like the rest and
//! dropped at the end.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::ast;
use crate::program::{ArrayId, Domain, Expr, LocationId, Op, Place, Program, RegisterId, Value};
use crate::source::{Diagnostic, Span};
use crate::util::Idx;

use super::cfg::{Cfg, Node, Origin, Slot};
use super::constants::Environment;
use super::globals::{Global, Globals, Member, duplicate, unknown};
use super::labels::{self, Frame};
use super::log::Log;
use super::typed::Ty;

/// A shared variable, array or cell.
#[derive(Clone, Debug)]
pub(super) enum SharedRef {
    Scalar(LocationId),
    Array(ArrayId),
    /// A cell given to a function. Its index names registers of the caller, which do not change during the call.
    Cell(ArrayId, Expr<RegisterId>),
}

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Meaning<'a> {
    Const(Value, Ty),
    Register(RegisterId),
    Shared(SharedRef),
    Thread,
    Function(&'a ast::Function),
    Wrong,
}

/// A name known in a part of the body.
#[derive(Clone, Debug)]
pub(super) struct Binding<'a> {
    pub name: String,
    pub span: Span,
    pub meaning: Meaning<'a>,
}

/// A loop around the cursor.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Where `break` leads.
    pub exit: Node,
    /// Where `continue` leads.
    pub next: Node,
}

/// A function, or the thread itself, around the cursor.
#[derive(Debug)]
pub(super) struct Activation<'a> {
    /// The function; none for the thread.
    pub function: Option<&'a ast::Function>,
    /// Where `return` leads.
    pub exit: Node,
    /// Where the value goes, if the function has one.
    pub result: Option<RegisterId>,
    /// Names known, innermost last.
    pub names: Vec<Binding<'a>>,
    pub loops: Vec<Loop>,
    pub frames: Vec<Frame>,
    /// Whether it was entered inside `atomic`.
    pub is_atomic: bool,
}

/// Notes about text that may have several copies.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Statements that follow a jump in some copy.
    pub dead: BTreeSet<Span>,
    /// Statements that do not, in some copy.
    pub live: BTreeSet<Span>,
    /// Unknown names, each reported once.
    pub unknown: BTreeSet<String>,
    /// Labels met, with the place of the first.
    pub labels: BTreeMap<String, Span>,
}

/// A body while it is lowered.
pub(super) struct Body<'g, 'a> {
    pub globals: &'g Globals<'a>,
    pub program: &'g Program,
    pub log: &'g mut Log,
    pub cfg: Cfg,
    pub cursor: Node,
    /// The thread and the functions around the cursor, innermost last; never empty.
    pub stack: Vec<Activation<'a>>,
    /// How many loops are around the cursor, in all activations.
    pub n_loops: usize,
    /// Whether the cursor is inside `atomic`.
    pub is_atomic: bool,
    /// How deeply statements are nested, calls included.
    pub depth: usize,
    pub notes: Notes,
}

/// Lowers one process.
pub(super) fn lower_member<'a>(
    globals: &Globals<'a>,
    program: &Program,
    log: &mut Log,
    member: &Member<'a>,
) -> (Cfg, Notes) {
    let mut cfg = Cfg::new();
    let (cursor, end) = (cfg.entry, cfg.node());
    labels::check(log, &member.thread.body);
    let parameters = member.thread.parameters.iter().zip(&member.arguments);
    let names = parameters
        .map(|(it, value)| Binding {
            name: it.name.text.clone(),
            span: it.name.span,
            meaning: Meaning::Const(*value, Ty::Int),
        })
        .collect();
    let (loops, frames, notes) = (Vec::new(), Vec::new(), Notes::default());
    let stack = vec![Activation { function: None, exit: end, result: None, names, loops, frames, is_atomic: false }];
    let mut body = Body { globals, program, log, cfg, cursor, stack, n_loops: 0, is_atomic: false, depth: 0, notes };
    body.push_frame(&member.thread.body);
    body.block(&member.thread.body);
    // A label at the very end names the end itself, unless the end is also reached past it.
    if body.cfg.is_reached(end) {
        body.join(end);
    } else {
        body.cfg.unite(body.cursor, end);
    }
    let mut cfg = body.cfg;
    cfg.end = Some(end);
    (cfg, body.notes)
}

/// Checks a function that nothing calls; what it is lowered to is thrown away.
pub(super) fn check_function<'a>(globals: &Globals<'a>, program: &Program, log: &mut Log, function: &'a ast::Function) {
    let mut cfg = Cfg::new();
    let (cursor, exit) = (cfg.entry, cfg.node());
    let (names, loops, frames, notes) = (Vec::new(), Vec::new(), Vec::new(), Notes::default());
    let stack = vec![Activation { function: None, exit, result: None, names, loops, frames, is_atomic: false }];
    let mut body = Body { globals, program, log, cfg, cursor, stack, n_loops: 0, is_atomic: false, depth: 0, notes };
    body.inline_alone(function);
}

impl<'g, 'a> Body<'g, 'a> {
    /// The innermost activation.
    pub(super) fn here(&mut self) -> &mut Activation<'a> {
        self.stack.last_mut().expect("the thread itself is always there")
    }

    /// Appends an operation and moves on behind it.
    pub(super) fn step(&mut self, op: Op, span: Span) {
        let to = self.cfg.node();
        self.arc(op, to, span);
        self.cursor = to;
    }

    /// Appends an operation that leads to `to`; the cursor stays.
    pub(super) fn arc(&mut self, op: Op, to: Node, span: Span) {
        if self.log.spend_edge(span) {
            self.cfg.arc(self.cursor, op, to, span);
        }
    }

    /// Leads on to `to` without doing anything.
    pub(super) fn join(&mut self, to: Node) {
        if self.cfg.labels(self.cursor).is_empty() || self.cfg.find(self.cursor) == self.cfg.find(to) {
            self.cfg.unite(self.cursor, to);
        } else {
            self.arc(Op::Assume(Expr::TRUE), to, Span::default());
        }
    }

    /// Leads to `to` and leaves the cursor where nothing leads.
    pub(super) fn jump(&mut self, to: Node) {
        self.join(to);
        self.cursor = self.cfg.node();
    }

    /// Joins `to` and goes on from there.
    pub(super) fn merge(&mut self, to: Node) {
        self.join(to);
        self.cursor = to;
    }

    /// A register made by lowering.
    pub(super) fn temporary(&mut self, domain: Option<Domain>, ty: Ty, span: Span) -> RegisterId {
        let name = format!("${}", self.cfg.slots.len());
        let statement = span;
        let origin = Origin::Temporary;
        self.cfg.slots.push(Slot { name, ty, domain, initial: None, origin, span, statement, is_read: true })
    }

    /// Makes a name known; reports it if it is known already.
    pub(super) fn bind(&mut self, name: &ast::Name, meaning: Meaning<'a>) {
        let local = self.here().names.iter().find(|it| it.name == name.text).map(|it| it.span);
        if let Some(first) = local.or_else(|| self.globals.span(&name.text)) {
            self.log.used.insert(name.text.clone());
            self.log.say(duplicate(name, first));
        }
        self.here().names.push(Binding { name: name.text.clone(), span: name.span, meaning });
    }

    /// What a name means; an unknown one is reported.
    pub(super) fn resolve(&mut self, name: &ast::Name) -> Meaning<'a> {
        if let Some(binding) = self.here().names.iter().rev().find(|it| it.name == name.text) {
            return binding.meaning.clone();
        }
        self.log.used.insert(name.text.clone());
        match self.globals.get(&name.text) {
            Some(Global::Const(value, ty)) => Meaning::Const(*value, *ty),
            Some(Global::Scalar(it)) => Meaning::Shared(SharedRef::Scalar(*it)),
            Some(Global::Array(it)) => Meaning::Shared(SharedRef::Array(*it)),
            Some(Global::Thread(_)) => Meaning::Thread,
            Some(Global::Function(it)) => Meaning::Function(it),
            Some(Global::Wrong) => Meaning::Wrong,
            None => {
                if self.notes.unknown.insert(name.text.clone()) {
                    let diagnostic = self.unknown_name(name);
                    self.log.say(diagnostic);
                }
                Meaning::Wrong
            }
        }
    }

    fn unknown_name(&self, name: &ast::Name) -> Diagnostic {
        let local = self.stack.last().into_iter().flat_map(|it| it.names.iter().map(|it| it.name.as_str()));
        unknown("name", name, local.chain(self.globals.iter().map(|it| it.0)))
    }

    /// What constant expressions may name here.
    pub(super) fn environment(&mut self) -> Environment<'g, 'a> {
        let mut environment = Environment::new(self.globals);
        for binding in &self.here().names {
            match &binding.meaning {
                Meaning::Const(value, _) => environment.local.push((binding.name.clone(), *value)),
                Meaning::Register(_) | Meaning::Shared(_) | Meaning::Thread | Meaning::Function(_) | Meaning::Wrong => {
                    environment.registers.push(binding.name.clone());
                }
            }
        }
        environment
    }

    /// The values that a place may hold.
    pub(super) fn domain_of(&self, place: &Place) -> Domain {
        match place {
            Place::Fixed(location) => self.program.locations()[*location].domain,
            Place::Cell(array, _) => self.program.locations()[self.program.arrays()[*array].first].domain,
        }
    }

    /// The shared place that a name, perhaps with an index, stands for; mistakes are reported.
    pub(super) fn place(&mut self, shared: SharedRef, target: &TargetRef<'_>) -> Option<Place> {
        match (shared, target.index) {
            (SharedRef::Scalar(location), None) => Some(Place::Fixed(location)),
            (SharedRef::Cell(array, index), None) => Some(Place::Cell(array, index)),
            (SharedRef::Scalar(_) | SharedRef::Cell(..), Some(_)) => {
                let message = format!("`{}` is not an array", target.name.text);
                self.log.error(target.span, message, "use it without an index");
                None
            }
            (SharedRef::Array(array), None) => {
                let len = self.program.arrays()[array].len;
                let message = format!("the array `{}` is used without an index", target.name.text);
                let help = format!("name a cell, `{0}[0]` to `{0}[{1}]`", target.name.text, len.saturating_sub(1));
                self.log.error(target.span, message, help);
                None
            }
            (SharedRef::Array(array), Some(index)) => self.cell(array, target, index),
        }
    }

    fn cell(&mut self, array: ArrayId, target: &TargetRef<'_>, index: &ast::Expr) -> Option<Place> {
        let index = self.value(index, None).expect(self.log, Ty::Int);
        if index.ty == Ty::Unknown {
            return None;
        }
        let Some(value) = index.constant() else { return Some(Place::Cell(array, index.expr)) };
        let array = &self.program.arrays()[array];
        let cell = array.cell(value);
        if cell.is_none() {
            let message = format!("index {value} is outside the array `{}`", target.name.text);
            let help = format!("the cells are {} to {}", 0, array.len.saturating_sub(1));
            self.log.error(index.span, message, help);
        }
        cell.map(Place::Fixed)
    }

    /// The register's number in messages and maps.
    pub(super) fn slot(&mut self, register: RegisterId) -> &mut Slot {
        debug_assert!(register.index() < self.cfg.slots.len(), "a register of this process");
        &mut self.cfg.slots[register]
    }
}

/// A name with an index or without.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetRef<'e> {
    pub name: &'e ast::Name,
    pub index: Option<&'e ast::Expr>,
    pub span: Span,
}
