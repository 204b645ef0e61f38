//! From a text to its tree.
//!
//! ```text
//!   files ─▶ lexer ─▶ preprocessor ─▶ parser ─▶ ast
//! ```
//!
//! Mistakes of the preprocessor come alone, since what it leaves out would be missed everywhere.

use fencewright::frontend::Input;
use fencewright::source::Diagnostic;

use crate::ast::Unit;
use crate::parser;
use crate::place::Places;
use crate::preprocess::{Preprocessed, preprocess};

/// Reads a C text with all that it includes.
pub(crate) fn parse(input: &mut Input<'_>) -> (Unit, Vec<Diagnostic>) {
    let Preprocessed { tokens, remarks, mut diagnostics } = preprocess(input);
    let mut items = Vec::new();
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let (parsed, mistakes) = parser::parse(tokens, Places::of(input.source));
        items = parsed;
        diagnostics.extend(mistakes);
    }
    diagnostics.sort_by_key(|it| it.span.start);
    (Unit { items, remarks }, diagnostics)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod show;
#[cfg(test)]
mod tests;
