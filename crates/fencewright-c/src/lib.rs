//! C programs: a preprocessor, a parser, and what C11 atomics and threads mean.
//!
//! ```text
//!   text ─▶ preprocess ─▶ parser ─▶ ast ─▶ lower (types, pointers, `main`) ─▶ the typed tree of the library
//! ```
//!
//! A program is taken as it is: functions are inlined, loops stay loops without a bound, memory orders become what
//! machines with store buffers need for them, and `main` says which threads there are.

mod ast;
mod constant;
mod harness;
mod headers;
mod lexer;
mod litmus;
mod log;
mod lower;
mod names;
mod operator;
mod parser;
mod place;
mod preprocess;
mod read;
mod reorder;
mod rewrite;
mod token;
mod types;
mod walk;

use fencewright::frontend::asked::Asked;
use fencewright::frontend::rewrite::Rewrite;
use fencewright::frontend::{Frontend, Input, Read, Tree};
use fencewright::source::{Diagnostic, Source};

pub use harness::Harness;

/// The front end for C.
#[derive(Clone, Copy, Debug)]
pub struct C;

impl Frontend for C {
    fn name(&self) -> &'static str {
        "c"
    }

    fn about(&self) -> &'static str {
        "C11 with atomics and threads"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        read_with(input, &Harness::default())
    }

    fn asked(&self, source: &Source) -> Option<Asked> {
        litmus::asked(source.text())
    }

    fn claims(&self, ending: &str, text: &str) -> bool {
        ending == "litmus" && litmus::is_litmus(text)
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(&rewrite::Fences)
    }
}

/// Reads a text, with threads that it may not name itself.
fn read_with(input: &mut Input<'_>, harness: &Harness) -> Read {
    let (tree, mut diagnostics) = read::parse(input);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Read { tree: Tree::Typed(Box::default()), diagnostics };
    }
    let lowered = lower::lower(&tree, input.source, harness);
    diagnostics.extend(lowered.diagnostics);
    Read { tree: Tree::Typed(Box::new(lowered.unit)), diagnostics }
}
