//! One process, or a family of them: its registers, its labels, and the locations it names.

use std::collections::BTreeMap;

use super::memory::Memory;
use super::{Group, check_distinct, initial, renamed};
use crate::frontend::ast::{self, Expr, FamilyParameter, Target, Thread};
use crate::frontend::import::names::Names;
use crate::frontend::import::tree::{binary, block, call, int, let_, name, range, stmt, type_of, var};
use crate::frontend::nearest::nearest;
use crate::frontend::rmm::syntax::{Declaration, Initial, Place, PlaceKind, Process, Stmt, StmtKind};
use crate::numeric::Range;
use crate::program::BinaryOp;
use crate::source::{Diagnostic, Span};

/// A process while it is translated.
pub(super) struct Body<'t, 'a> {
    pub(super) memory: &'t Memory<'a>,
    pub(super) group: Group,
    pub(super) names: Names,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether the statements are those of one locked step.
    pub(super) is_locked: bool,
    n_processes: usize,
    /// The parameter of a family: the number of the process.
    my: Option<String>,
    /// A name for a value that is looked at before it is kept.
    pub(super) value: String,
}

/// A location, and what it may hold.
#[derive(Clone)]
pub(super) struct Cell {
    pub(super) target: Target,
    pub(super) domain: Range,
}

impl<'t, 'a> Body<'t, 'a> {
    pub(super) fn new(memory: &'t Memory<'a>, group: Group, mut names: Names, n_processes: usize) -> Self {
        let my = (group.count > 1).then(|| names.give("my"));
        let (diagnostics, value) = (Vec::new(), String::new());
        Self { memory, group, names, diagnostics, is_locked: false, n_processes, my, value }
    }

    pub(super) fn thread(&mut self, process: &Process) -> Thread {
        let mut statements = self.registers(process);
        self.value = self.names.give("value");
        self.labels(&process.text);
        let n_registers = statements.len();
        self.statements(&process.text, &mut statements);
        if let Some(first) = statements.get_mut(n_registers).filter(|_| n_registers > 0) {
            match first.trivia.before.first_mut() {
                Some(comment) => comment.blank_before = true,
                None => first.trivia.blank_before = true,
            }
        }
        let (first, last) = (self.group.base as i64, (self.group.base + self.group.count) as i64 - 1);
        let parameter =
            |text: &String| FamilyParameter { name: name(text, process.span), range: range(first, last, process.span) };
        Thread {
            name: name(&self.group.name, process.span),
            parameters: self.my.iter().map(parameter).collect(),
            any: None,
            body: block(statements, process.span),
        }
    }

    fn registers(&mut self, process: &Process) -> Vec<ast::Stmt> {
        check_distinct(&process.registers, &mut self.diagnostics);
        let mut statements = Vec::new();
        for declaration in &process.registers {
            let wanted = declaration.name.text.trim_start_matches('$');
            let wanted =
                if wanted.starts_with(|c: char| c.is_ascii_digit()) { format!("r{wanted}") } else { wanted.into() };
            let text = self.names.give(&wanted);
            let known = (text.clone(), declaration.domain);
            self.group.registers.entry(declaration.name.text.clone()).or_insert(known);
            let ty = type_of(declaration.domain, declaration.span);
            let value = self.first_value(declaration, process);
            let mut it = let_(name(&text, declaration.name.span), Some(ty), value, declaration.span);
            it.trivia = declaration.trivia.clone();
            renamed(&mut it.trivia, &declaration.name.text, &format!("${text}"));
            statements.push(it);
        }
        statements
    }

    /// What a register starts with. Any integer at all is not possible, but if it is surely set before it is used,
    /// it does not matter.
    fn first_value(&mut self, declaration: &Declaration, process: &Process) -> Expr {
        if declaration.initial == Initial::Number(0) || declaration.domain.ends().is_some() {
            return initial(declaration);
        }
        let is_any = declaration.initial == Initial::Any;
        if is_any && !is_set_first(&declaration.name.text, &process.text) {
            let message = format!("`{}` starts at any integer at all", declaration.name.text);
            let help =
                "give it a number to start at, a finite domain such as `[0:3]`, or a value at the start of `text`";
            self.diagnostics.push(Diagnostic::error(declaration.span, message).with_help(help));
        }
        if is_any { int(0, declaration.span) } else { initial(declaration) }
    }

    /// Gives all labels their names.
    fn labels(&mut self, statements: &[Stmt]) {
        let mut names = Names::default();
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        each_statement(statements, &mut |it| {
            for label in &it.labels {
                if let Some(&first) = seen.get(&label.text) {
                    self.diagnostics.push(
                        Diagnostic::error(label.span, format!("label `{}` stands twice in this process", label.text))
                            .and_at(first, "first here")
                            .with_help("give one of them another name"),
                    );
                    continue;
                }
                seen.insert(label.text.clone(), label.span);
                self.group.labels.insert(label.text.clone(), names.give(&label.text));
            }
        });
    }

    /// The number of this process, and what it may be.
    pub(super) fn me(&self, span: Span) -> (Expr, Range) {
        let (first, last) = (self.group.base as i64, (self.group.base + self.group.count) as i64 - 1);
        let me = self.my.as_ref().map_or_else(|| int(first, span), |my| var(my, span));
        (me, Range::from_to(first, last))
    }

    /// The number of the `k`-th other process, and what it may be: `k` if that is less than the own number, `k + 1`
    /// otherwise.
    pub(super) fn other(&mut self, k: i64, span: Span) -> Option<(Expr, Range)> {
        let n_others = self.n_processes as i64 - 1;
        if !(0..n_others).contains(&k) {
            let message = format!("there is no other process with number {k}");
            let help = match n_others {
                0 => "the program has only one process".to_owned(),
                1 => "the program has two processes; the other one is number 0".to_owned(),
                n => format!("the other processes are numbered 0 to {}", n - 1),
            };
            self.diagnostics.push(Diagnostic::error(span, message).with_help(help));
            return None;
        }
        let (first, last) = (self.group.base as i64, (self.group.base + self.group.count) as i64 - 1);
        let interval = Range::from_to(if k < last { k } else { k + 1 }, if k < first { k } else { k + 1 });
        if let Some(number) = interval.constant() {
            return Some((int(number, span), interval));
        }
        let (me, _) = self.me(span);
        // How far the own number is above `k`, made 0 or 1.
        let (may_be_below, may_be_above) = (first < k, last > k + 1);
        if !may_be_below && !may_be_above {
            return Some((binary(BinaryOp::Sub, int(2 * k + 1, span), me), interval));
        }
        let mut is_above = if k == 0 { me } else { binary(BinaryOp::Sub, me, int(k, span)) };
        if may_be_below {
            is_above = call("max", vec![int(0, span), is_above], span);
        }
        if may_be_above {
            is_above = call("min", vec![int(1, span), is_above], span);
        }
        Some((binary(BinaryOp::Sub, int(k + 1, span), is_above), interval))
    }

    /// The location named at a place that is not a pointer.
    pub(super) fn cell(&mut self, place: &Place) -> Option<Cell> {
        match &place.kind {
            PlaceKind::Global(it) => match self.memory.global(&it.text) {
                Some((text, declaration)) => {
                    let target = Target { name: name(text, it.span), index: Vec::new(), span: place.span };
                    Some(Cell { target, domain: declaration.domain })
                }
                None => self.unknown_location(it),
            },
            PlaceKind::Mine(it) => {
                let number = self.me(place.span);
                self.owned(it, place, number)
            }
            PlaceKind::Other(it, k) => {
                let number = self.other(*k, place.span)?;
                self.owned(it, place, number)
            }
            PlaceKind::Pointer(_) => None,
        }
    }

    fn owned(&mut self, it: &ast::Name, place: &Place, number: (Expr, Range)) -> Option<Cell> {
        let Some(owned) = self.memory.owned.get(it.text.as_str()) else { return self.unknown_location(it) };
        let mut domain = None;
        for owner in self.group.numbers().filter_map(|member| owner_for(&place.kind, member)) {
            let Some(own) = owned.domain(owner) else {
                let message = format!("process {owner} owns no `{}`", it.text);
                let help = format!("declare `{}` in the `data` section of that process", it.text);
                self.diagnostics.push(Diagnostic::error(place.span, message).with_help(help));
                return None;
            };
            if domain.is_some_and(|domain| domain != own) {
                let message = format!("`{}` has different domains in the processes this may mean", it.text);
                let help = "declare it with the same domain everywhere";
                self.diagnostics.push(Diagnostic::error(place.span, message).with_help(help));
                return None;
            }
            domain = Some(own);
        }
        let index = owned.is_array().then_some(number.0).into_iter().collect();
        let target = Target { name: name(&owned.name, it.span), index, span: place.span };
        Some(Cell { target, domain: domain? })
    }

    fn unknown_location(&mut self, it: &ast::Name) -> Option<Cell> {
        let text = &it.text;
        let globals = self.memory.globals.iter().map(|it| it.1.name.text.as_str());
        let known = globals.chain(self.memory.owned.keys().copied());
        let (message, help) = if self.memory.owned.contains_key(text.as_str()) {
            (format!("`{text}` belongs to processes"), format!("say whose: `{text}[my]`, or `{text}[0]` for another's"))
        } else if self.memory.global(text).is_some() {
            (format!("`{text}` belongs to no process"), format!("write `{text}` alone"))
        } else {
            let help = match nearest(text, known) {
                Some(it) => format!("did you mean `{it}`?"),
                None => format!("declare it in a `data` section: `{text} = 0 : [0:1]`"),
            };
            (format!("unknown location `{text}`"), help)
        };
        self.diagnostics.push(Diagnostic::error(it.span, message).with_help(help));
        None
    }
}

/// The owner that a place names in process `member`.
fn owner_for(kind: &PlaceKind, member: usize) -> Option<usize> {
    match kind {
        PlaceKind::Mine(_) => Some(member),
        PlaceKind::Other(_, k) => Some(*k as usize + usize::from(*k >= member as i64)),
        PlaceKind::Global(_) | PlaceKind::Pointer(_) => None,
    }
}

/// Whether a register is set before it is used, as far as the first statements show: those up to the first that
/// branches or jumps are all executed, in order.
fn is_set_first(register: &str, statements: &[Stmt]) -> bool {
    for it in statements {
        let (set, used) = match &it.kind {
            StmtKind::ReadTo(to, place) => (Some(to), vec![place_expr(place)]),
            StmtKind::Assign(to, value) => (Some(to), vec![Some(value)]),
            StmtKind::Write(_, place, value) | StmtKind::ReadIs(place, value) => {
                (None, vec![place_expr(place), Some(value)])
            }
            StmtKind::Cas(place, old, new) => (None, vec![place_expr(place), Some(old), Some(new)]),
            StmtKind::Assume(condition) => (None, vec![Some(condition)]),
            StmtKind::Nop | StmtKind::Fence(_) | StmtKind::StoreLoadFence => (None, Vec::new()),
            StmtKind::If(..)
            | StmtKind::While(..)
            | StmtKind::Goto(_)
            | StmtKind::Either(_)
            | StmtKind::Locked(_)
            | StmtKind::Block(_) => return false,
        };
        if used.into_iter().flatten().any(|value| super::expressions::mentions(value, register)) {
            return false;
        }
        if set.is_some_and(|it| it.text == register) {
            return true;
        }
    }
    // It is not used at all.
    true
}

fn place_expr(place: &Place) -> Option<&Expr> {
    match &place.kind {
        PlaceKind::Pointer(value) => Some(value),
        PlaceKind::Global(_) | PlaceKind::Mine(_) | PlaceKind::Other(..) => None,
    }
}

/// Visits all statements, in the order of the text.
pub(super) fn each_statement<'s>(statements: &'s [Stmt], visit: &mut dyn FnMut(&'s Stmt)) {
    for it in statements {
        visit(it);
        match &it.kind {
            StmtKind::If(_, then, otherwise) => {
                each_statement(std::slice::from_ref(then), visit);
                otherwise.iter().for_each(|it| each_statement(std::slice::from_ref(it), visit));
            }
            StmtKind::While(_, body) => each_statement(std::slice::from_ref(body), visit),
            StmtKind::Either(all) | StmtKind::Locked(all) => {
                all.iter().for_each(|it| each_statement(&it.statements, visit));
            }
            StmtKind::Block(it) => each_statement(&it.statements, visit),
            StmtKind::Nop
            | StmtKind::ReadIs(..)
            | StmtKind::ReadTo(..)
            | StmtKind::Write(..)
            | StmtKind::Cas(..)
            | StmtKind::Fence(_)
            | StmtKind::StoreLoadFence
            | StmtKind::Assign(..)
            | StmtKind::Assume(_)
            | StmtKind::Goto(_) => {}
        }
    }
}

/// `l:`
pub(super) fn label(text: &str, it: &ast::Name) -> ast::Stmt {
    let mut label = stmt(ast::StmtKind::Label(name(text, it.span)), it.span);
    renamed(&mut label.trivia, &it.text, text);
    label
}
