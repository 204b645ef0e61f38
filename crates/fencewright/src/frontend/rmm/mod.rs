//! The `.rmm` language of Memorax (Uppsala), in which benchmarks for TSO and PSO are written.
//!
//! ```text
//!   text ─▶ tokens ─▶ without macros ─▶ what it says (syntax) ─▶ the surface tree (translate)
//! ```
//!
//! Where the two languages differ: a step whose result would leave a domain blocks there and is a violation here, so an
//! `assume` goes before it; a location owned by several processes becomes an array; a pointer becomes a choice.
//! Whatever has no counterpart is an error.

mod macros;
mod parser;
mod rewrite;
mod syntax;
#[cfg(test)]
mod tests;
mod translate;

use crate::frontend::rewrite::Rewrite;
use crate::frontend::{Frontend, Input, Read, Tree, ast};

/// The front end for `.rmm` files.
#[derive(Clone, Copy, Debug)]
pub struct Rmm;

impl Frontend for Rmm {
    fn name(&self) -> &'static str {
        "rmm"
    }

    fn about(&self) -> &'static str {
        "programs for Memorax"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        let (file, mut diagnostics) = parser::parse(input.source);
        let mut tree = ast::File::default();
        if diagnostics.is_empty() {
            (tree, diagnostics) = translate::translate(&file);
        }
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
        Read { tree: Tree::Surface(tree), diagnostics }
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}
