//! Rust programs: what the atomics, cells, locks and threads of std mean.
//!
//! ```text
//!   text ─▶ parse (syn) ─▶ ast ─▶ names ─▶ lower (values, memory, threads) ─▶ the typed tree of the library
//! ```
//!
//! A program is taken as it is, from an entry on: `main`, a test that creates threads, or a function that a comment
//! marks. Functions are inlined, loops stay loops without a bound, and memory orders become what machines with store
//! buffers need for them.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::type_complexity,
    clippy::enum_variant_names,
    reason = "of many forms of values few are meant at a time, all others are refused; locks have the names of std"
)]

mod ast;
mod entries;
mod log;
mod lower;
mod memory;
mod names;
mod parse;
mod reorder;
mod rewrite;
mod types;
mod value;

use std::rc::Rc;

use fencewright::frontend::rewrite::Rewrite;
use fencewright::frontend::{Frontend, Input, Read, Tree};
use fencewright::source::{Diagnostic, Span};

pub use entries::{Entry, entries};
pub use parse::{Library, Package};

/// The front end for Rust.
#[derive(Clone, Debug, Default)]
pub struct Rust {
    /// The function that is looked at; the only entry of the text if there is none.
    pub entry: Option<String>,
    /// The crate that the text is part of.
    pub package: Package,
}

impl Rust {
    /// The front end for texts with one entry.
    pub const ANY: Self = Self { entry: None, package: Package::NONE };
}

impl Frontend for Rust {
    fn name(&self) -> &'static str {
        "rust"
    }

    fn extension(&self) -> &'static str {
        "rs"
    }

    fn about(&self) -> &'static str {
        "Rust with the atomics and threads of std"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        let parse::Parsed { items, mut diagnostics } = parse::parse(input, &self.package);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Read { tree: Tree::Typed(Box::default()), diagnostics };
        }
        let names = names::Names::new(items);
        match entries::chosen(&names, self.entry.as_deref(), self.package.library.as_ref()) {
            Ok(entry) => {
                let lowered = lower::lower(&names, input.source, &Rc::clone(&entry), input.defines);
                diagnostics.extend(lowered.diagnostics);
                Read { tree: Tree::Typed(Box::new(lowered.unit)), diagnostics }
            }
            Err((message, help)) => {
                diagnostics.push(Diagnostic::error(Span::new(0, 0), message).with_help(help));
                Read { tree: Tree::Typed(Box::default()), diagnostics }
            }
        }
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}
