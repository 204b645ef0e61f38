//! `include "lib.fw";`: the declarations of another file, in its place. A file is read once, however often it is named.

use std::collections::BTreeSet;

use crate::frontend::ast::{File, Item, ItemKind, Name, Trivia};
use crate::frontend::{Input, Read, Tree};
use crate::source::{Diagnostic, SourceFile};

use super::parser::parse_file;

/// The most files of a program.
const MAX_FILES: usize = 100;

/// Reads a text and all files that it includes.
pub(super) fn read(input: &mut Input<'_>) -> Read {
    let main = input.source.main().clone();
    let mut reading = Reading { input, known: BTreeSet::from([main.start()]), diagnostics: Vec::new() };
    let file = reading.file(&main);
    let mut diagnostics = reading.diagnostics;
    diagnostics.sort_by_key(|it| it.span.start);
    Read { tree: Tree::Surface(file), diagnostics }
}

struct Reading<'r, 'i> {
    input: &'r mut Input<'i>,
    /// Where the files that were read begin.
    known: BTreeSet<u32>,
    diagnostics: Vec<Diagnostic>,
}

impl Reading<'_, '_> {
    fn file(&mut self, file: &SourceFile) -> File {
        let (mut tree, diagnostics) = parse_file(file);
        self.diagnostics.extend(diagnostics);
        let mut items = Vec::with_capacity(tree.items.len());
        for item in tree.items {
            match item.kind {
                ItemKind::Include(name) => items.extend(self.included(&name, item.trivia, file)),
                ItemKind::Const(_)
                | ItemKind::ConstArray(_)
                | ItemKind::Enum(_)
                | ItemKind::Shared(_)
                | ItemKind::Thread(_)
                | ItemKind::Function(_)
                | ItemKind::Forbid(_)
                | ItemKind::Hang(_)
                | ItemKind::Predicate(_) => items.push(item),
            }
        }
        tree.items = items;
        tree
    }

    /// The declarations of a file that another one includes.
    fn included(&mut self, name: &Name, trivia: Trivia, from: &SourceFile) -> Vec<Item> {
        let path = name.text.trim_matches('"');
        let file = match self.input.open(path, from) {
            Ok(file) => file,
            Err(why) => {
                let message = format!("cannot include `{path}`: {why}");
                let help = "name a file beside this one, or by its path from here: `include \"lib/lock.fw\";`";
                self.diagnostics.push(Diagnostic::error(name.span, message).with_help(help));
                return Vec::new();
            }
        };
        if !self.known.insert(file.start()) {
            return Vec::new();
        }
        if self.known.len() > MAX_FILES {
            let message = format!("more than {MAX_FILES} files");
            self.diagnostics.push(Diagnostic::error(name.span, message).with_help("put more into one file"));
            return Vec::new();
        }
        let mut items = self.file(&file).items;
        if let Some(first) = items.first_mut() {
            first.trivia.before.splice(0..0, trivia.before.into_iter().chain(trivia.after));
        }
        items
    }
}
