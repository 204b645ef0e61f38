//! Litmus tests for x86, as herd writes them: `.litmus` files for `X86` and `X86_64`, in Intel syntax.
//!
//! ```text
//!   text ─▶ header, tokens ─▶ what it says (syntax) ─▶ the surface tree (translate)
//! ```
//!
//! `exists (c)` becomes `forbid c at end;`: unsafe means that the outcome can be observed. Locked instructions become
//! `atomic` blocks, which wait for the whole store buffer under every memory model, as they do on x86.

mod header;
mod parser;
mod registers;
mod syntax;
#[cfg(test)]
mod tests;
mod translate;

use crate::frontend::{Frontend, ast};
use crate::source::{Diagnostic, Files, Source};

/// The front end for `.litmus` files.
#[derive(Clone, Copy, Debug)]
pub struct Litmus;

impl Frontend for Litmus {
    fn name(&self) -> &'static str {
        "litmus"
    }

    fn extension(&self) -> &'static str {
        "litmus"
    }

    fn about(&self) -> &'static str {
        "litmus tests for x86, as herd reads them"
    }

    fn read(&self, source: &mut Source, _files: &mut dyn Files) -> (ast::File, Vec<Diagnostic>) {
        let header = match header::read(source.text()) {
            Ok(header) => header,
            Err(diagnostic) => return (ast::File::default(), vec![diagnostic]),
        };
        let (test, mut diagnostics) = parser::parse(source, &header);
        let mut tree = ast::File::default();
        if diagnostics.is_empty() {
            (tree, diagnostics) = translate::translate(&test, header.architecture);
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        (tree, diagnostics)
    }
}
