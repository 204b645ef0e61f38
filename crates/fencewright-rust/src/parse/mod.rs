//! From a text to its tree.
//!
//! ```text
//!   files ─▶ limits on nesting ─▶ syn ─▶ ast, file by file
//! ```
//!
//! `syn` walks a text by recursion, and so does everything behind it: how deep a text is nested, and how long an
//! expression is, is looked at before.

mod expressions;
mod files;
mod items;
mod limits;
mod macros;
mod patterns;
mod types;

use fencewright::source::{Diagnostic, Span};
use proc_macro2::Span as Place;
use syn::spanned::Spanned;

use crate::ast::Name;

pub use files::{Library, Package};
pub(crate) use files::{Parsed, parse};

/// Turns what `syn` has read of a file into the tree.
struct Convert {
    /// Where the file begins among all files.
    start: u32,
    /// The modules around.
    module: Vec<String>,
    /// The features of the crate that are on.
    features: Vec<String>,
    /// Lines with a comment that asks for the function behind it, counted from 1.
    marked: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
    /// Items in blocks, which are known in the whole file; modules in them have no files of their own.
    inner: Vec<crate::ast::Item>,
}

impl Convert {
    fn place(&self, place: Place) -> Span {
        let range = place.byte_range();
        let at = |offset: usize| self.start + u32::try_from(offset).unwrap_or(0);
        Span::new(at(range.start), at(range.end.max(range.start)))
    }

    /// Where something stands.
    fn span(&self, it: &impl Spanned) -> Span {
        self.place(it.span())
    }

    fn name(&self, it: &syn::Ident) -> Name {
        Name { text: name_of(it), span: self.place(it.span()) }
    }

    fn refuse<T>(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.diagnostics.push(Diagnostic::error(span, message).with_help(help));
        None
    }
}

/// A name, without the `r#` before it.
fn name_of(it: &syn::Ident) -> String {
    let text = it.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}
