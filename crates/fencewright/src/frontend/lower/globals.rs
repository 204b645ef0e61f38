//! Declarations: the names every thread and property knows.

use std::collections::BTreeMap;

use crate::frontend::ast::{self, ItemKind};
use crate::frontend::hir::{Place, Unit};
use crate::frontend::nearest::nearest;
use crate::frontend::said::MAX_PROCESSES;
use crate::program::{ArrayId, Copies, Domain, LocationId, Program, Template, TemplateId, Value, copy_name};
use crate::source::{Diagnostic, Span};

use super::any_number::n_listed;
use super::constants::{Constants, Environment, range};
use super::log::Log;
use super::shared;
use super::typed::Ty;

/// What a name of a file stands for.
#[derive(Clone, Debug)]
pub(super) enum Global<'a> {
    Const(Value, Ty),
    /// An `enum`, with its last value.
    Enum(Value),
    Scalar(LocationId),
    Array(ArrayId),
    Thread(&'a ast::Thread),
    Function(&'a ast::Function),
    /// A declaration with a reported mistake.
    Wrong,
}

impl Global<'_> {
    /// What kind of thing it is, with its article.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Const(..) => "a constant",
            Self::Enum(_) => "an enum",
            Self::Scalar(_) => "a shared variable",
            Self::Array(_) => "a shared array",
            Self::Thread(_) => "a thread",
            Self::Function(_) => "a function",
            Self::Wrong => "a declaration",
        }
    }
}

/// A process to be: a thread, or a member of a family.
#[derive(Clone, Debug)]
pub(super) struct Member<'a> {
    pub thread: &'a ast::Thread,
    pub template: TemplateId,
    pub span: Span,
    /// The values of the parameters.
    pub arguments: Vec<Value>,
    /// Which copy it is, counted from 1, if there is any number of them.
    pub copy: Option<usize>,
}

impl Member<'_> {
    /// `P`, `P(0)`, or `P#1`.
    pub(super) fn name(&self) -> String {
        if let Some(copy) = self.copy {
            return copy_name(&self.thread.name.text, copy);
        }
        if self.arguments.is_empty() {
            return self.thread.name.text.clone();
        }
        let arguments: Vec<String> = self.arguments.iter().map(ToString::to_string).collect();
        format!("{}({})", self.thread.name.text, arguments.join(", "))
    }
}

/// The names of a file.
#[derive(Debug, Default)]
pub(super) struct Globals<'a> {
    names: BTreeMap<&'a str, (Global<'a>, Span)>,
    /// The processes, in order.
    pub members: Vec<Member<'a>>,
    /// The arrays that nobody may write.
    constant_arrays: Vec<ArrayId>,
}

impl<'a> Globals<'a> {
    /// Collects all declarations; shared variables go to the unit.
    pub(super) fn collect(log: &mut Log, unit: &mut Unit, file: &'a ast::File, defines: &[(String, i64)]) -> Self {
        let mut globals = Self::default();
        globals.declare_names(log, file);
        let constants = Constants::evaluate(log, file, defines);
        for (name, (value, ty)) in &constants.values {
            if let Some((global @ Global::Wrong, _)) = globals.names.get_mut(name.as_str()) {
                *global = if *ty == Ty::Unknown { Global::Wrong } else { Global::Const(*value, *ty) };
            }
        }
        for item in &file.items {
            let declared = match &item.kind {
                ItemKind::Shared(declaration) => shared::declare(log, unit, &globals, declaration),
                ItemKind::ConstArray(it) => {
                    let array = shared::declare_constant(log, unit, &globals, it);
                    globals.constant_arrays.extend(array);
                    array.map(|array| (it.name.text.as_str(), Global::Array(array))).into_iter().collect()
                }
                ItemKind::Const(_) | ItemKind::Enum(_) | ItemKind::Thread(_) | ItemKind::Function(_) => continue,
                ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => continue,
            };
            for (name, global) in declared {
                globals.names.entry(name).and_modify(|known| known.0 = global);
            }
        }
        for item in &file.items {
            if let ItemKind::Thread(thread) = &item.kind {
                let copies = if thread.any.is_some() { Copies::Any } else { Copies::Listed };
                let template = unit.template(Template { name: thread.name.text.clone(), span: item.span, copies });
                globals.add_members(log, thread, template, item.span);
            }
        }
        globals.add_copies(log, file);
        globals
    }

    /// Lists more copies of threads of which there is any number, behind all others.
    fn add_copies(&mut self, log: &mut Log, file: &ast::File) {
        let firsts: Vec<Member<'a>> = self.members.iter().filter(|it| it.copy.is_some()).cloned().collect();
        for first in firsts {
            let n_listed = n_listed(log, self, file, first.thread);
            self.members.extend((2..=n_listed).map(|copy| Member { copy: Some(copy), ..first.clone() }));
        }
    }

    /// What a name stands for.
    pub(super) fn get(&self, name: &str) -> Option<&Global<'a>> {
        self.names.get(name).map(|known| &known.0)
    }

    /// Whether an array is one that nobody may write.
    pub(super) fn is_constant_array(&self, array: ArrayId) -> bool {
        self.constant_arrays.contains(&array)
    }

    /// Whether a place is one that nobody may write.
    pub(super) fn is_constant(&self, memory: &Program, place: &Place) -> bool {
        self.constant_arrays.iter().any(|&array| match place {
            Place::Fixed(x) => memory.arrays()[array].cells().any(|cell| cell == *x),
            Place::Cell(of, _) => *of == array,
        })
    }

    /// Where a name is declared.
    pub(super) fn span(&self, name: &str) -> Option<Span> {
        self.names.get(name).map(|known| known.1)
    }

    /// The functions, by name.
    pub(super) fn functions(&self) -> impl Iterator<Item = &'a ast::Function> {
        self.names.values().filter_map(|known| match known.0 {
            Global::Function(function) => Some(function),
            Global::Const(..) | Global::Enum(_) | Global::Scalar(_) | Global::Array(_) => None,
            Global::Thread(_) | Global::Wrong => None,
        })
    }

    /// The name of the thread or family that a process belongs to.
    pub(super) fn family(&self, process: usize) -> &'a str {
        &self.members[process].thread.name.text
    }

    /// All names, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &Global<'a>, Span)> {
        self.names.iter().map(|(name, known)| (*name, &known.0, known.1))
    }

    fn declare_names(&mut self, log: &mut Log, file: &'a ast::File) {
        for item in &file.items {
            match &item.kind {
                ItemKind::Const(it) => self.declare(log, &it.name, Global::Wrong),
                ItemKind::ConstArray(it) => self.declare(log, &it.name, Global::Wrong),
                ItemKind::Enum(it) => {
                    self.declare(log, &it.name, Global::Enum(it.values.len().saturating_sub(1) as Value));
                    it.values.iter().for_each(|value| self.declare(log, value, Global::Wrong));
                    // A list of names is a whole, of which some may not be used.
                    log.used.extend(it.values.iter().chain([&it.name]).map(|it| it.text.clone()));
                }
                ItemKind::Shared(it) => {
                    it.variables.iter().for_each(|variable| self.declare(log, &variable.name, Global::Wrong));
                }
                ItemKind::Thread(it) => self.declare(log, &it.name, Global::Thread(it)),
                ItemKind::Function(it) => self.declare(log, &it.name, Global::Function(it)),
                ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => {}
            }
        }
    }

    fn declare(&mut self, log: &mut Log, name: &'a ast::Name, global: Global<'a>) {
        if let Some((_, first)) = self.names.get(name.text.as_str()) {
            log.say(duplicate(name, *first));
        } else {
            self.names.insert(&name.text, (global, name.span));
        }
    }

    fn add_members(&mut self, log: &mut Log, thread: &'a ast::Thread, template: TemplateId, span: Span) {
        check_distinct(log, thread.parameters.iter().map(|it| &it.name));
        let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
        for parameter in &thread.parameters {
            let Some((lo, hi)) = range(log, &Environment::new(self), &parameter.range, "one member at least") else {
                return;
            };
            let n = (i128::from(hi) - i128::from(lo) + 1).saturating_mul(combinations.len() as i128);
            if n + self.members.len() as i128 > MAX_PROCESSES as i128 {
                let message = format!("the program has more than {MAX_PROCESSES} threads");
                log.error(parameter.name.span, message, "use a smaller range");
                return;
            }
            let extend = |it: Vec<Value>| (lo..=hi).map(move |value| [it.as_slice(), &[value]].concat());
            combinations = combinations.into_iter().flat_map(extend).collect();
        }
        if self.members.len() + combinations.len() > MAX_PROCESSES {
            let message = format!("the program has more than {MAX_PROCESSES} threads");
            log.error(thread.name.span, message, "leave some out");
            return;
        }
        let copy = thread.any.map(|_| 1);
        let member = |arguments| Member { thread, template, span, arguments, copy };
        self.members.extend(combinations.into_iter().map(member));
    }
}

/// The error for a name that is declared twice.
pub(super) fn duplicate(name: &ast::Name, first: Span) -> Diagnostic {
    Diagnostic::error(name.span, format!("`{}` is declared twice", name.text))
        .and_at(first, "first declared here")
        .with_help("give one of them another name")
}

/// Reports names that occur twice.
pub(super) fn check_distinct<'n>(log: &mut Log, names: impl Iterator<Item = &'n ast::Name>) {
    let mut known: BTreeMap<&str, Span> = BTreeMap::new();
    for name in names {
        if let Some(&first) = known.get(name.text.as_str()) {
            log.say(duplicate(name, first));
        }
        known.entry(&name.text).or_insert(name.span);
    }
}

/// The error for a part that a thread does not have.
pub(super) fn unknown_part<'n>(
    kind: &str,
    name: &ast::Name,
    thread: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("thread `{thread}` has no {kind} `{}`", name.text);
    Diagnostic { message, ..unknown(kind, name, known) }
}

/// The error for a name that nothing has, with the nearest one that something has.
pub(super) fn unknown<'n>(kind: &str, name: &ast::Name, known: impl IntoIterator<Item = &'n str>) -> Diagnostic {
    let diagnostic = Diagnostic::error(name.span, format!("unknown {kind} `{}`", name.text)).with_label("not declared");
    match nearest(&name.text, known) {
        Some(it) => diagnostic.with_help(format!("did you mean `{it}`?")),
        None => diagnostic.with_help(format!("declare `{}`, or mend its spelling", name.text)),
    }
}

/// What types there are.
const TYPES: &str = "the types are `bool`, `int`, ranges such as `0..3`, and those that `enum` declares";

/// What a type says.
pub(super) fn domain(log: &mut Log, environment: &Environment<'_, '_>, ty: &ast::Type) -> Option<Domain> {
    match &ty.kind {
        ast::TypeKind::Bool => Some(Domain::Bool),
        ast::TypeKind::Int => Some(Domain::Int),
        ast::TypeKind::Named(name) => match environment.globals.get(&name.text) {
            Some(Global::Enum(last)) => Some(Domain::Range(0, *last)),
            Some(Global::Wrong) => None,
            Some(global) => {
                let message = format!("`{}` is {}, not a type", name.text, global.kind());
                log.error(name.span, message, TYPES);
                None
            }
            None => {
                let enums = environment.globals.iter().filter(|it| matches!(it.1, Global::Enum(_))).map(|it| it.0);
                let known: Vec<&str> = enums.chain(["bool", "int"]).collect();
                let diagnostic = unknown("type", name, known.iter().copied());
                let is_near = nearest(&name.text, known).is_some();
                log.say(if is_near { diagnostic } else { diagnostic.with_help(TYPES) });
                None
            }
        },
        ast::TypeKind::Range(it) => {
            let (lo, hi) = range(log, environment, it, "one value at least")?;
            Some(Domain::Range(lo, hi))
        }
    }
}
