//! Concrete syntaxes, and what their texts mean.
//!
//! ```text
//!   text ─▶ Frontend ─▶ ast (the surface tree of `.fw`) ─▶ lower ─▶ hir (typed, without names) ─▶ Program
//!                  ╰─────────────────────────────────────────────▶ hir
//! ```
//!
//! A front end ends in one of two trees. One whose programs can be written as `.fw` makes the surface tree ([`ast`]):
//! then names and types are looked at here, and printing the tree is what `import` does. One with names and types of
//! its own makes the typed tree ([`hir`]). Either way every message about the meaning of a program points into its
//! text.

pub mod asked;
pub mod ast;
pub mod fw;
pub mod hints;
pub mod hir;
mod import;
pub mod litmus;
pub mod lower;
pub mod names;
pub mod nearest;
pub mod rewrite;
pub mod rmm;
mod said;

use asked::Asked;
use rewrite::Rewrite;

use crate::program::Program;
use crate::source::{Diagnostic, Files, NoFiles, Source, SourceFile};

/// A concrete syntax. Other crates may have their own: whoever asks for a program says who reads it.
pub trait Frontend: Sync {
    /// Its name, for `--input-format`.
    fn name(&self) -> &'static str;
    /// The ending of its files, without the dot.
    fn extension(&self) -> &'static str {
        self.name()
    }
    /// What it reads, in one line.
    fn about(&self) -> &'static str;
    /// Reads a text.
    fn read(&self, input: &mut Input<'_>) -> Read;
    /// What a text that means something asks about final states, where the language has words for that.
    fn asked(&self, source: &Source) -> Option<Asked> {
        let _ = source;
        None
    }
    /// Whether a text is its own although the ending is that of another language.
    fn claims(&self, ending: &str, text: &str) -> bool {
        let _ = (ending, text);
        false
    }
    /// How fences are written into its texts, if they can be.
    fn rewrite(&self) -> Option<&dyn Rewrite> {
        None
    }
}

/// A text to be read.
pub struct Input<'i> {
    /// Its main file, and those that were opened for it.
    pub source: &'i mut Source,
    /// Who opens more of them.
    pub files: &'i mut dyn Files,
    /// Constants that get other values; those of a surface tree are seen to when it is lowered.
    pub defines: &'i [(String, i64)],
}

impl Input<'_> {
    /// Opens the file that another one calls `name`, so that places in it can be shown.
    ///
    /// # Errors
    /// Why there is none to be had, as the end of a sentence.
    pub fn open(&mut self, name: &str, from: &SourceFile) -> Result<SourceFile, String> {
        self.source.open(name, from, self.files)
    }
}

/// What a front end makes of a text.
#[derive(Debug)]
pub struct Read {
    /// What could be read; it means something only if no diagnostic is an error.
    pub tree: Tree,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// The tree of a text.
#[derive(Debug)]
pub enum Tree {
    /// As `.fw` has it.
    Surface(ast::File),
    /// With names and types resolved.
    Typed(Box<hir::Unit>),
}

impl Read {
    /// The surface tree, if it is one.
    pub fn surface(&self) -> Option<&ast::File> {
        match &self.tree {
            Tree::Surface(file) => Some(file),
            Tree::Typed(_) => None,
        }
    }

    /// Whether the tree means nothing.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// What a text means.
#[derive(Debug)]
pub struct Lowered {
    /// The program; present exactly if there is no error.
    pub program: Option<Program>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The text, with all files that were read for it.
    pub source: Source,
}

/// Every front end of the library. The suite, the command line and the fuzzers iterate over this list.
pub const ALL: &[&dyn Frontend] = &[&fw::Fw, &rmm::Rmm, &litmus::Litmus];

/// The front end for a file, by its ending.
pub fn by_extension(extension: &str) -> Option<&'static dyn Frontend> {
    ALL.iter().copied().find(|frontend| frontend.extension() == extension)
}

/// The front end with this name.
pub fn named(name: &str) -> Option<&'static dyn Frontend> {
    ALL.iter().copied().find(|frontend| frontend.name() == name)
}

/// Reads a text that names no other files, and gives it its meaning.
pub fn parse(frontend: &dyn Frontend, source: &Source, defines: &[(String, i64)]) -> Lowered {
    parse_with(frontend, source, &mut NoFiles, defines)
}

/// Reads a text with all that it names, and gives it its meaning; mistakes of form come alone, since they hide those of
/// meaning.
pub fn parse_with(
    frontend: &dyn Frontend,
    source: &Source,
    files: &mut dyn Files,
    defines: &[(String, i64)],
) -> Lowered {
    let mut source = source.clone();
    let read = frontend.read(&mut Input { source: &mut source, files, defines });
    lower_read(source, read, defines)
}

/// Gives what was read its meaning.
pub fn lower_read(source: Source, read: Read, defines: &[(String, i64)]) -> Lowered {
    if read.has_errors() {
        return Lowered { program: None, diagnostics: read.diagnostics, source };
    }
    let mut lowered = match read.tree {
        Tree::Surface(file) => lower::lower(&source, &file, defines),
        Tree::Typed(unit) => hir::lower(&source, *unit),
    };
    let mut diagnostics = read.diagnostics;
    diagnostics.append(&mut lowered.diagnostics);
    Lowered { diagnostics, ..lowered }
}
