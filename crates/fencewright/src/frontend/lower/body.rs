//! The body of one process while it is lowered: what the names mean where we are.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::hir::{LabelId, LocalId};
use crate::frontend::{ast, hir};
use crate::program::{ArrayId, Domain, LocationId, Value, cell_name};
use crate::source::{Diagnostic, Span};
use crate::util::IndexVec;

use super::arrays::LocalArray;
use super::constants::Environment;
use super::globals::{Global, Globals, Member, duplicate, unknown};
use super::labels::{self, Frame};
use super::live::{Loop, Notes};
use super::log::Log;
use super::registers::{Origin, Register};
use super::typed::Ty;

/// A shared variable, array or cell.
#[derive(Clone, Debug)]
pub(super) enum SharedRef {
    Scalar(LocationId),
    Array(ArrayId),
    /// A cell given to a function. Its index names registers of the caller, which do not change during the call.
    Cell(ArrayId, hir::Expr),
}

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Meaning<'a> {
    Const(Value, Ty),
    Register(LocalId),
    /// An array of the thread's own.
    Cells(LocalArray),
    Shared(SharedRef),
    Thread,
    Enum,
    Function(&'a ast::Function),
    Wrong,
}

/// What a name means where shared memory is wanted.
#[derive(Clone, Debug)]
pub(super) enum Memory {
    Shared(SharedRef),
    /// Something else.
    Other,
    /// It has been reported.
    Wrong,
}

impl Meaning<'_> {
    /// The shared memory that is meant.
    pub(super) fn memory(self) -> Memory {
        match self {
            Self::Shared(shared) => Memory::Shared(shared),
            Self::Wrong => Memory::Wrong,
            Self::Const(..) | Self::Register(_) | Self::Cells(_) | Self::Thread | Self::Enum | Self::Function(_) => {
                Memory::Other
            }
        }
    }
}

/// A name known in a part of the body.
#[derive(Clone, Debug)]
pub(super) struct Binding<'a> {
    pub name: String,
    pub span: Span,
    pub meaning: Meaning<'a>,
}

/// A function, or the thread itself, around where we are.
#[derive(Debug)]
pub(super) struct Activation<'a> {
    /// The function; none for the thread.
    pub function: Option<&'a ast::Function>,
    /// Where the value goes, if the function has one.
    pub result: Option<LocalId>,
    /// Names known, innermost last.
    pub names: Vec<Binding<'a>>,
    /// The loops around, innermost last.
    pub loops: Vec<Loop>,
    /// Whether a `return` leads out of it.
    pub is_left: bool,
    pub frames: Vec<Frame>,
    /// Whether it was entered inside `atomic`.
    pub is_atomic: bool,
}

impl<'a> Activation<'a> {
    /// A function that is entered, or a thread.
    pub(super) fn new(
        function: Option<&'a ast::Function>,
        result: Option<LocalId>,
        names: Vec<Binding<'a>>,
        is_atomic: bool,
    ) -> Self {
        Self { function, result, names, loops: Vec::new(), is_left: false, frames: Vec::new(), is_atomic }
    }
}

/// A body while it is lowered.
pub(super) struct Body<'g, 'a> {
    pub globals: &'g Globals<'a>,
    pub unit: &'g hir::Unit,
    pub log: &'g mut Log,
    pub registers: IndexVec<LocalId, Register>,
    pub labels: IndexVec<LabelId, String>,
    /// The thread and the functions around, innermost last; never empty.
    pub stack: Vec<Activation<'a>>,
    /// Whether `atomic` is around.
    pub is_atomic: bool,
    /// Whether something leads to where we are.
    pub is_live: bool,
    /// How many labels came so far.
    pub n_labels: usize,
    /// How deeply statements are nested, calls included.
    pub depth: usize,
    pub notes: Notes,
    /// Unknown names, each reported once.
    pub unknown: BTreeSet<String>,
    /// Labels met, with the place of the first.
    pub declared_labels: BTreeMap<String, Span>,
}

/// What comes of a body.
pub(super) struct Lowering {
    pub registers: IndexVec<LocalId, Register>,
    labels: IndexVec<LabelId, String>,
    /// The labels of the text, with the place of the first of each name.
    pub declared_labels: BTreeMap<String, Span>,
    pub notes: Notes,
    body: hir::Body,
}

impl Lowering {
    /// The thread that is this member; its text is not needed any more.
    pub(super) fn thread(&mut self, member: &Member<'_>) -> hir::Thread {
        hir::Thread {
            name: member.name(),
            template: member.template,
            locals: self.registers.iter().map(Register::local).collect(),
            labels: self.labels.clone(),
            body: std::mem::take(&mut self.body),
            span: member.span,
        }
    }
}

/// Lowers one process.
pub(super) fn lower_member<'a>(
    globals: &Globals<'a>,
    unit: &hir::Unit,
    log: &mut Log,
    member: &Member<'a>,
) -> Lowering {
    labels::check(log, &member.thread.body);
    let parameters = member.thread.parameters.iter().zip(&member.arguments);
    let names = parameters
        .map(|(it, value)| Binding {
            name: it.name.text.clone(),
            span: it.name.span,
            meaning: Meaning::Const(*value, Ty::Int),
        })
        .collect();
    let mut body = Body::new(globals, unit, log, names);
    let text = body.body(&member.thread.body);
    body.finish(text)
}

/// Checks a function that nothing calls; what it is lowered to is thrown away.
pub(super) fn check_function<'a>(globals: &Globals<'a>, unit: &hir::Unit, log: &mut Log, function: &'a ast::Function) {
    Body::new(globals, unit, log, Vec::new()).inline_alone(function);
}

impl<'g, 'a> Body<'g, 'a> {
    fn new(globals: &'g Globals<'a>, unit: &'g hir::Unit, log: &'g mut Log, names: Vec<Binding<'a>>) -> Self {
        Self {
            globals,
            unit,
            log,
            registers: IndexVec::new(),
            labels: IndexVec::new(),
            stack: vec![Activation::new(None, None, names, false)],
            is_atomic: false,
            is_live: true,
            n_labels: 0,
            depth: 0,
            notes: Notes::default(),
            unknown: BTreeSet::new(),
            declared_labels: BTreeMap::new(),
        }
    }

    fn finish(self, body: hir::Body) -> Lowering {
        let Self { registers, labels, declared_labels, notes, .. } = self;
        Lowering { registers, labels, declared_labels, notes, body }
    }

    /// The innermost activation.
    pub(super) fn here(&mut self) -> &mut Activation<'a> {
        self.stack.last_mut().expect("the thread itself is always there")
    }

    /// A text with labels of its own.
    pub(super) fn body(&mut self, block: &'a ast::Block) -> hir::Body {
        let labels = self.push_frame(block);
        let block = self.block(block);
        self.here().frames.pop();
        hir::Body { labels, block }
    }

    /// A register made by lowering.
    pub(super) fn temporary(&mut self, domain: Option<Domain>, ty: Ty, span: Span) -> LocalId {
        let (name, origin, statement) = (String::new(), Origin::Temporary, span);
        self.registers.push(Register { name, ty, domain, origin, span, statement, is_read: true })
    }

    /// The same with a range, and a name for what is said of a value outside it.
    pub(super) fn named_temporary(&mut self, name: String, domain: Domain, span: Span) -> LocalId {
        let register = self.temporary(Some(domain), Ty::Int, span);
        self.registers[register].name = name;
        register
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
            Some(Global::Enum(_)) => Meaning::Enum,
            Some(Global::Function(it)) => Meaning::Function(it),
            Some(Global::Wrong) => Meaning::Wrong,
            None => {
                if self.unknown.insert(name.text.clone()) {
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
                Meaning::Register(_) | Meaning::Cells(_) | Meaning::Shared(_) | Meaning::Thread | Meaning::Enum => {
                    environment.registers.push(binding.name.clone());
                }
                Meaning::Function(_) | Meaning::Wrong => {
                    environment.registers.push(binding.name.clone());
                }
            }
        }
        environment
    }

    /// The shared place that a name, perhaps with an index, stands for; mistakes are reported.
    pub(super) fn place(&mut self, shared: SharedRef, target: &TargetRef<'_>) -> Option<hir::Place> {
        match (shared, target.index) {
            (SharedRef::Scalar(location), []) => Some(hir::Place::Fixed(location)),
            (SharedRef::Cell(array, index), []) => Some(hir::Place::Cell(array, index)),
            (SharedRef::Scalar(_) | SharedRef::Cell(..), _) => {
                let message = format!("`{}` is not an array", target.name.text);
                self.log.error(target.span, message, "use it without an index");
                None
            }
            (SharedRef::Array(array), []) => {
                let array = &self.unit.memory().arrays()[array];
                let message = format!("the array `{}` is used without an index", target.name.text);
                let name = |number| cell_name(&target.name.text, &array.shape, number);
                let help = format!("name a cell, `{}` to `{}`", name(0), name(array.len.saturating_sub(1)));
                self.log.error(target.span, message, help);
                None
            }
            (SharedRef::Array(array), _) => self.cell(array, target),
        }
    }
}

/// A name, with an index for each dimension or with none.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetRef<'e> {
    pub name: &'e ast::Name,
    pub index: &'e [ast::Expr],
    pub span: Span,
}

impl<'e> TargetRef<'e> {
    /// What an expression names, if it is nothing but that.
    pub(super) fn of(expr: &'e ast::Expr) -> Option<Self> {
        let span = expr.span;
        if let ast::ExprKind::Name(name) = &expr.kind {
            Some(Self { name, index: &[], span })
        } else if let ast::ExprKind::Index(name, index) = &expr.kind {
            Some(Self { name, index, span })
        } else {
            None
        }
    }
}
