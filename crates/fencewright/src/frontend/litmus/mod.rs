//! Litmus tests for x86, as herd writes them: `.litmus` files for `X86` and `X86_64`, in Intel or AT&T
//! syntax.
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
mod rewrite;
mod syntax;
#[cfg(test)]
mod tests;
mod translate;

use crate::frontend::asked::Asked;
use crate::frontend::rewrite::Rewrite;
use crate::frontend::{Frontend, Input, Read, Tree, ast};
use crate::source::Source;

/// The front end for `.litmus` files.
#[derive(Clone, Copy, Debug)]
pub struct Litmus;

impl Frontend for Litmus {
    fn name(&self) -> &'static str {
        "litmus"
    }

    fn about(&self) -> &'static str {
        "litmus tests for x86, as herd reads them"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        let header = match header::read(input.source.text()) {
            Ok(header) => header,
            Err(diagnostic) => {
                return Read { tree: Tree::Surface(ast::File::default()), diagnostics: vec![diagnostic] };
            }
        };
        let (test, mut diagnostics) = parser::parse(input.source, &header);
        let mut tree = ast::File::default();
        if diagnostics.is_empty() {
            (tree, diagnostics) = translate::translate(&test, header.architecture);
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        Read { tree: Tree::Surface(tree), diagnostics }
    }

    fn asked(&self, source: &Source) -> Option<Asked> {
        let header = header::read(source.text()).ok()?;
        let (test, diagnostics) = parser::parse(source, &header);
        if diagnostics.is_empty() { translate::asked(&test, &header, source) } else { None }
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}
