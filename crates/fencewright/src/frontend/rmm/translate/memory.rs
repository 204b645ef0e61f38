//! Where the locations of a `.rmm` text are in the tree.
//!
//! A top-level location is a scalar. A name owned by one process is a scalar too; one owned by several is an array
//! indexed by process number.

use std::collections::BTreeMap;

use super::{check_distinct, initial, renamed};
use crate::frontend::ast::{Expr, Initial, Item, ItemKind, Shared, SharedVariable, Trivia};
use crate::frontend::import::names::Names;
use crate::frontend::import::tree::{int, name, type_of};
use crate::frontend::rmm::syntax::{self, Declaration, File};
use crate::numeric::Range;
use crate::source::Diagnostic;

/// All locations.
pub(super) struct Memory<'a> {
    /// In the order that pointers count them: the name in the tree.
    pub(super) globals: Vec<(String, &'a Declaration)>,
    pub(super) owned: BTreeMap<&'a str, Owned<'a>>,
    by_name: BTreeMap<&'a str, usize>,
}

/// The locations of one name that belong to processes.
pub(super) struct Owned<'a> {
    /// The name in the tree.
    pub(super) name: String,
    owners: Vec<Owner<'a>>,
}

/// Processes that own a location each.
struct Owner<'a> {
    base: usize,
    count: usize,
    declaration: &'a Declaration,
}

impl<'a> Memory<'a> {
    pub(super) fn new(file: &'a File, names: &mut Names, diagnostics: &mut Vec<Diagnostic>) -> Self {
        check_distinct(&file.data, diagnostics);
        let globals: Vec<_> = file.data.iter().map(|it| (names.give(&it.name.text), it)).collect();
        let by_name = globals.iter().enumerate().map(|(i, it)| (it.1.name.text.as_str(), i)).collect();
        let mut memory = Self { globals, owned: BTreeMap::new(), by_name };
        let mut base = 0;
        for process in &file.processes {
            check_distinct(&process.data, diagnostics);
            for declaration in &process.data {
                let new = || Owned { name: names.give(&declaration.name.text), owners: Vec::new() };
                let owned = memory.owned.entry(&declaration.name.text).or_insert_with(new);
                owned.owners.push(Owner { base, count: process.count, declaration });
            }
            base += process.count;
        }
        memory.check_initial(diagnostics);
        memory
    }

    /// The top-level location of this name.
    pub(super) fn global(&self, name: &str) -> Option<&(String, &'a Declaration)> {
        self.by_name.get(name).map(|&i| &self.globals[i])
    }

    fn check_initial(&self, diagnostics: &mut Vec<Diagnostic>) {
        let owned = self.owned.values().flat_map(|it| it.owners.iter().map(|owner| owner.declaration));
        for declaration in self.globals.iter().map(|it| it.1).chain(owned) {
            if declaration.initial == syntax::Initial::Any && declaration.domain.ends().is_none() {
                let message = format!("`{}` starts at any integer at all", declaration.name.text);
                let help = "give it a number to start at, or a finite domain such as `[0:3]`";
                diagnostics.push(Diagnostic::error(declaration.span, message).with_help(help));
            }
        }
    }

    /// The declarations of all locations.
    pub(super) fn items(&self) -> Vec<Item> {
        let globals = self.globals.iter().map(|(text, declaration)| {
            let variable = SharedVariable { name: name(text, declaration.name.span), sizes: Vec::new() };
            let shared = shared(variable, declaration.domain, Initial::All(initial(declaration)), declaration);
            let mut trivia = declaration.trivia.clone();
            renamed(&mut trivia, &declaration.name.text, text);
            Item { trivia, span: declaration.span, kind: ItemKind::Shared(shared) }
        });
        let mut owned: Vec<&Owned<'_>> = self.owned.values().collect();
        owned.sort_by_key(|it| it.owners[0].declaration.span.start);
        globals.chain(owned.into_iter().map(Owned::item)).collect()
    }
}

impl Owned<'_> {
    /// Whether it is an array.
    pub(super) fn is_array(&self) -> bool {
        self.owners.len() > 1 || self.owners[0].count > 1
    }

    /// The domain of the location of a process, if it has one.
    pub(super) fn domain(&self, process: usize) -> Option<Range> {
        self.declaration(process).map(|it| it.domain)
    }

    fn declaration(&self, process: usize) -> Option<&Declaration> {
        let is_owner = |owner: &&Owner<'_>| (owner.base..owner.base + owner.count).contains(&process);
        self.owners.iter().find(is_owner).map(|owner| owner.declaration)
    }

    fn item(&self) -> Item {
        let first = self.owners[0].declaration;
        let domains = self.owners.iter().map(|owner| owner.declaration.domain);
        let domain = domains.reduce(Range::hull).unwrap_or(Range::ALL);
        let n_cells = self.owners.iter().map(|owner| owner.base + owner.count).max().unwrap_or(0);
        let sizes = self.is_array().then(|| int(n_cells as i64, first.name.span)).into_iter().collect();
        let variable = SharedVariable { name: name(&self.name, first.name.span), sizes };
        let shared = shared(variable, domain, self.initial(n_cells, domain), first);
        let mut trivia = self.trivia();
        renamed(&mut trivia, &first.name.text, &self.name);
        Item { trivia, span: first.span, kind: ItemKind::Shared(shared) }
    }

    fn initial(&self, n_cells: usize, domain: Range) -> Initial {
        let first = self.owners[0].declaration;
        let is_same = |owner: &Owner<'_>| {
            owner.declaration.initial == first.initial
                && (first.initial != syntax::Initial::Any || owner.declaration.domain == first.domain)
        };
        if self.owners.iter().all(is_same) {
            return Initial::All(initial(first));
        }
        // A cell without owner is never looked at.
        let filler = if domain.contains(0) { 0 } else { domain.ends().map_or(0, |it| it.0) };
        let cell = |process| self.declaration(process).map_or_else(|| int(filler, first.span), initial);
        let cells: Vec<Expr> = (0..n_cells).map(cell).collect();
        Initial::Each(cells, first.span)
    }

    /// The comments of all declarations.
    fn trivia(&self) -> Trivia {
        let mut all = self.owners[0].declaration.trivia.clone();
        for owner in &self.owners[1..] {
            let trivia = &owner.declaration.trivia;
            all.before.extend(trivia.before.iter().chain(&trivia.after).cloned());
        }
        all
    }
}

fn shared(variable: SharedVariable, domain: Range, initial: Initial, declaration: &Declaration) -> Shared {
    let ty = Some(type_of(domain, declaration.span));
    Shared { is_plain: false, variables: vec![variable], ty, initial: Some(initial) }
}
