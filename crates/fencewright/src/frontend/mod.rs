//! Concrete syntaxes. Every front end turns its text into the one surface tree ([`ast`]); lowering to a
//! [`Program`](crate::program::Program) is written once, over that tree, so a message about the meaning of an imported
//! program points into the imported text, and printing the tree is what `import` does.

pub mod ast;
pub mod fw;
pub mod hints;
mod import;
pub mod litmus;
pub mod lower;
pub mod names;
pub mod nearest;
pub mod rmm;

use crate::source::{Diagnostic, Files, NoFiles, Source};

/// A concrete syntax. Other crates may have their own: whoever asks for a program says who reads it.
pub trait Frontend: Sync {
    /// Its name, for `--input-format`.
    fn name(&self) -> &'static str;
    /// The ending of its files, without the dot.
    fn extension(&self) -> &'static str;
    /// What it reads, in one line.
    fn about(&self) -> &'static str;
    /// Reads a text: the main file of `source`, and what it names. Those files are opened with [`Source::open`], so
    /// that places in them can be shown. The tree holds what could be read; it means something only if no diagnostic is
    /// an error.
    fn read(&self, source: &mut Source, files: &mut dyn Files) -> (ast::File, Vec<Diagnostic>);
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
pub fn parse(frontend: &dyn Frontend, source: &Source, defines: &[(String, i64)]) -> lower::Lowered {
    parse_with(frontend, source, &mut NoFiles, defines)
}

/// Reads a text with all that it names, and gives it its meaning; mistakes of form come alone, since they hide those of
/// meaning.
pub fn parse_with(
    frontend: &dyn Frontend,
    source: &Source,
    files: &mut dyn Files,
    defines: &[(String, i64)],
) -> lower::Lowered {
    let mut source = source.clone();
    let (file, mut diagnostics) = frontend.read(&mut source, files);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return lower::Lowered { program: None, diagnostics, source };
    }
    let mut lowered = lower::lower(&source, &file, defines);
    diagnostics.append(&mut lowered.diagnostics);
    lower::Lowered { diagnostics, ..lowered }
}
