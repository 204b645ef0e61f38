//! From what a `.rmm` text says to the surface tree.

mod body;
mod expressions;
mod locked;
mod memory;
mod properties;
mod statements;

use std::collections::BTreeMap;

use super::syntax::{Declaration, File, Initial, Process};
use crate::frontend::ast::{self, Comment, ExprKind, Item, ItemKind, Trivia};
use crate::frontend::import::lexer::MAX_ERRORS;
use crate::frontend::import::names::Names;
use crate::frontend::import::tree::{comment, expr, int};
use crate::numeric::Range;
use crate::source::{Diagnostic, Span};
use body::Body;
use memory::Memory;

/// The most processes of a program.
const MAX_PROCESSES: usize = 64;

/// Translates a file that could be read.
pub(super) fn translate(file: &File) -> (ast::File, Vec<Diagnostic>) {
    let mut translation = Translation::new(file);
    let items = translation.items();
    let mut diagnostics = translation.diagnostics;
    diagnostics.truncate(MAX_ERRORS);
    (ast::File { items, end_comments: file.end_comments.clone() }, diagnostics)
}

/// The processes of one `process(N)`: consecutive numbers, one text.
#[derive(Clone, Debug)]
struct Group {
    /// The name of the thread or family.
    name: String,
    /// The number of the first.
    base: usize,
    count: usize,
    /// Label of the text to label of the tree.
    labels: BTreeMap<String, String>,
    /// Register of the text, with `$`, to register of the tree.
    registers: BTreeMap<String, (String, Range)>,
}

impl Group {
    /// The numbers of its processes.
    fn numbers(&self) -> std::ops::Range<usize> {
        self.base..self.base + self.count
    }

    /// One of its processes.
    fn thread(&self, number: usize, span: Span) -> ast::ThreadRef {
        let member = (self.count > 1).then_some(number as i64);
        crate::frontend::import::tree::thread_ref(&self.name, member, span)
    }
}

struct Translation<'a> {
    file: &'a File,
    memory: Memory<'a>,
    groups: Vec<Group>,
    names: Names,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Translation<'a> {
    fn new(file: &'a File) -> Self {
        let mut diagnostics = Vec::new();
        let mut names = Names::default();
        let memory = Memory::new(file, &mut names, &mut diagnostics);
        let n_families = file.processes.iter().filter(|process| process.count > 1).count();
        let mut groups = Vec::new();
        let mut base = 0;
        for process in &file.processes {
            let is_only_family = process.count > 1 && n_families == 1;
            let name = names.give(&if is_only_family { "P".to_owned() } else { format!("P{base}") });
            let (labels, registers) = (BTreeMap::new(), BTreeMap::new());
            groups.push(Group { name, base, count: process.count, labels, registers });
            base += process.count;
            if base > MAX_PROCESSES {
                let message = format!("more than {MAX_PROCESSES} processes");
                diagnostics.push(Diagnostic::error(process.span, message).with_help("use fewer copies"));
                break;
            }
        }
        Self { file, memory, groups, names, diagnostics }
    }

    fn items(&mut self) -> Vec<Item> {
        let mut items = self.memory.items();
        if self.groups.len() < self.file.processes.len() || !self.diagnostics.is_empty() {
            return items;
        }
        let file = self.file;
        for (i, process) in file.processes.iter().enumerate() {
            items.push(self.thread(i, process));
        }
        items.extend(self.predicates());
        items.extend(self.forbidden());
        if let Some(first) = items.first_mut() {
            let head = file.head.iter().cloned();
            let rest = std::mem::take(&mut first.trivia.before);
            first.trivia.blank_before = rest.is_empty() && !file.head.is_empty();
            first.trivia.before = head.chain(rest).collect();
        }
        items
    }

    fn thread(&mut self, i: usize, process: &'a Process) -> Item {
        let names = self.names.clone();
        let n_processes = self.groups.last().map_or(0, |last| last.base + last.count);
        let mut body = Body::new(&self.memory, self.groups[i].clone(), names, n_processes);
        let thread = body.thread(process);
        self.diagnostics.append(&mut body.diagnostics);
        self.groups[i] = body.group;
        let trivia = Trivia { blank_before: true, ..process.trivia.clone() };
        Item { trivia: separated(trivia), span: process.span, kind: ItemKind::Thread(thread) }
    }
}

/// With an empty line before all of it.
fn separated(mut trivia: Trivia) -> Trivia {
    if let Some(first) = trivia.before.first_mut() {
        first.blank_before = true;
        trivia.blank_before = false;
    }
    trivia
}

/// A number or `any`.
fn initial(declaration: &Declaration) -> ast::Expr {
    match declaration.initial {
        Initial::Number(value) => int(value, declaration.span),
        Initial::Any => expr(ExprKind::Any(None), declaration.span),
    }
}

/// Says that something was called otherwise in the text.
fn renamed(trivia: &mut Trivia, old: &str, new: &str) {
    if old != new {
        add_note(trivia, &format!("`{old}` in the .rmm text"));
    }
}

/// Adds a comment behind something, or before it if there is one behind it.
fn add_note(trivia: &mut Trivia, text: &str) {
    let note: Comment = comment(text);
    match trivia.after {
        None => trivia.after = Some(note),
        Some(_) => trivia.before.push(note),
    }
}

/// Reports names that are declared twice in one section.
fn check_distinct(declarations: &[Declaration], diagnostics: &mut Vec<Diagnostic>) {
    let mut known: BTreeMap<&str, Span> = BTreeMap::new();
    for declaration in declarations {
        let name = &declaration.name;
        if let Some(&first) = known.get(name.text.as_str()) {
            diagnostics.push(
                Diagnostic::error(name.span, format!("`{}` is declared twice", name.text))
                    .and_at(first, "first declared here")
                    .with_help("give one of them another name"),
            );
        }
        known.entry(&name.text).or_insert(name.span);
    }
}
