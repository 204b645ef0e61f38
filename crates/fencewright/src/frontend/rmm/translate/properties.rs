//! `forbidden` and `predicates`.

use std::collections::BTreeSet;

use super::{Group, Translation, separated};
use crate::frontend::ast::{self, Expr, ExprKind, Forbid, Item, ItemKind, Trivia};
use crate::frontend::import::tree::{binary, expr, name, var};
use crate::frontend::nearest::nearest;
use crate::frontend::rmm::syntax::Tuple;
use crate::program::BinaryOp;
use crate::source::Diagnostic;

impl Translation<'_> {
    /// One property for each tuple.
    pub(super) fn forbidden(&mut self) -> Vec<Item> {
        let file = self.file;
        let mut items = Vec::new();
        for tuple in &file.forbidden {
            let Some(condition) = self.situation(tuple) else { continue };
            let kind = ItemKind::Forbid(Forbid { name: None, condition, at_end: None, binders: Vec::new() });
            let trivia = tuple.trivia.clone();
            items.push(Item { trivia, span: tuple.span, kind });
        }
        if let Some(first) = items.first_mut() {
            first.trivia = separated(Trivia { blank_before: true, ..first.trivia.clone() });
        }
        items
    }

    fn situation(&mut self, tuple: &Tuple) -> Option<Expr> {
        let processes: Vec<(&Group, usize)> =
            self.groups.iter().flat_map(|group| group.numbers().map(move |number| (group, number))).collect();
        if processes.len() != tuple.labels.len() {
            let (n, found) = (processes.len(), tuple.labels.len());
            let plural =
                |n: usize, one: &str, many: &str| if n == 1 { format!("one {one}") } else { format!("{n} {many}") };
            let (labels, processes) = (plural(found, "label", "labels"), plural(n, "process", "processes"));
            let message = format!("{labels} for {processes}");
            let help = "write one label for each process, `*` where it may be anywhere, and `;` between situations";
            self.diagnostics.push(Diagnostic::error(tuple.span, message).with_help(help));
            return None;
        }
        let mut parts = Vec::new();
        let mut errors = Vec::new();
        for ((group, number), label) in processes.iter().zip(&tuple.labels) {
            let Some(label) = label else { continue };
            match group.labels.get(&label.text) {
                Some(text) => {
                    let thread = group.thread(*number, label.span);
                    parts.push(expr(ExprKind::At(thread, name(text, label.span)), label.span));
                }
                None => errors.push(unknown_label(group, *number, label)),
            }
        }
        if parts.is_empty() && errors.is_empty() {
            let help = "name the label of one process at least";
            errors.push(Diagnostic::error(tuple.span, "this forbids every situation").with_help(help));
        }
        let is_right = errors.is_empty();
        self.diagnostics.append(&mut errors);
        parts.into_iter().reduce(|a, b| binary(BinaryOp::And, a, b)).filter(|_| is_right)
    }

    /// A hint for each process that has all the registers it names.
    pub(super) fn predicates(&mut self) -> Vec<Item> {
        let file = self.file;
        let mut items = Vec::new();
        for predicate in &file.predicates {
            let mut names = BTreeSet::new();
            collect(&predicate.condition, &mut names);
            if let Some(unknown) = names.iter().find(|it| !it.starts_with('$') && self.memory.global(it).is_none()) {
                let message = format!("unknown location `{unknown}`");
                let help = "a predicate names registers, such as `$r`, and top-level locations";
                self.diagnostics.push(Diagnostic::error(predicate.span, message).with_help(help));
                continue;
            }
            let registers: Vec<&String> = names.iter().filter(|it| it.starts_with('$')).collect();
            let has_all = |group: &&Group| registers.iter().all(|it| group.registers.contains_key(*it));
            let owners = self.groups.iter().filter(has_all).flat_map(|it| it.numbers().map(move |n| (it, n)));
            let n_wanted = if registers.is_empty() { 1 } else { usize::MAX };
            let owners: Vec<(&Group, usize)> = owners.take(n_wanted).collect();
            if owners.is_empty() {
                let help = "a predicate is about one process; each of its registers must be declared there";
                let diagnostic = Diagnostic::error(predicate.span, "no process has all registers of this predicate");
                self.diagnostics.push(diagnostic.with_help(help));
            }
            for (i, (group, number)) in owners.into_iter().enumerate() {
                let condition = self.of_process(&predicate.condition, group, number);
                let trivia = if i == 0 { predicate.trivia.clone() } else { Trivia::default() };
                items.push(Item { trivia, span: predicate.span, kind: ItemKind::Predicate(condition) });
            }
        }
        if let Some(first) = items.first_mut() {
            first.trivia = separated(Trivia { blank_before: true, ..first.trivia.clone() });
        }
        items
    }

    /// A condition with the registers of one process.
    fn of_process(&self, it: &Expr, group: &Group, number: usize) -> Expr {
        let kind = match &it.kind {
            ExprKind::Name(known) => match group.registers.get(&known.text) {
                Some((text, _)) => ExprKind::Member(group.thread(number, it.span), name(text, it.span), Vec::new()),
                None => return self.memory.global(&known.text).map_or_else(|| it.clone(), |to| var(&to.0, it.span)),
            },
            ExprKind::Paren(inner) => ExprKind::Paren(Box::new(self.of_process(inner, group, number))),
            ExprKind::Unary(op, inner) => ExprKind::Unary(*op, Box::new(self.of_process(inner, group, number))),
            ExprKind::Binary(op, left, right) => {
                let side = |it| Box::new(self.of_process(it, group, number));
                ExprKind::Binary(*op, side(left), side(right))
            }
            ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::Any(_)
            | ExprKind::Index(..)
            | ExprKind::Call(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => it.kind.clone(),
        };
        expr(kind, it.span)
    }
}

fn unknown_label(group: &Group, number: usize, label: &ast::Name) -> Diagnostic {
    let help = match nearest(&label.text, group.labels.keys().map(String::as_str)) {
        Some(it) => format!("did you mean `{it}`?"),
        None => format!("put `{}:` before a statement of that process, or write `*` here", label.text),
    };
    Diagnostic::error(label.span, format!("process {number} has no label `{}`", label.text)).with_help(help)
}

/// The names in a condition; `me` and `other` have no meaning in one and count as unknown.
fn collect(it: &Expr, names: &mut BTreeSet<String>) {
    match &it.kind {
        ExprKind::Name(name) => drop(names.insert(name.text.clone())),
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => collect(inner, names),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
            collect(left, names);
            collect(right, names);
        }
        ExprKind::Call(name, _) => drop(names.insert(name.text.clone())),
        ExprKind::Int(_)
        | ExprKind::Based(..)
        | ExprKind::Bool(_)
        | ExprKind::Any(_)
        | ExprKind::Index(..)
        | ExprKind::Conditional(_)
        | ExprKind::At(..)
        | ExprKind::Count(..)
        | ExprKind::Member(..) => {}
    }
}
