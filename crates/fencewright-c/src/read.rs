//! From a text to its tree.
//!
//! ```text
//!   files ─▶ lexer ─▶ preprocessor ─▶ parser ─▶ ast
//! ```
//!
//! Mistakes of the preprocessor come alone, since what it leaves out would be missed everywhere.

use fencewright::frontend::Input;
use fencewright::source::{Diagnostic, NoFiles, Source};

use crate::ast::Unit;
use crate::litmus::{self, Litmus};
use crate::parser;
use crate::place::Places;
use crate::preprocess::{Preprocessed, preprocess};

/// Reads a C text with all that it includes.
pub(crate) fn parse(input: &mut Input<'_>) -> (Unit, Vec<Diagnostic>) {
    if !litmus::is_litmus(input.source.text()) {
        let preprocessed = preprocess(input);
        return parsed(preprocessed, input.source, None);
    }
    let (test, blanked) = match litmus::read(input.source.text()) {
        Ok(read) => read,
        Err(diagnostic) => return (Unit::default(), vec![diagnostic]),
    };
    // A test is one file.
    let mut source = Source::new(input.source.name(), blanked);
    let mut alone = Input { source: &mut source, files: &mut NoFiles, defines: input.defines };
    let mut preprocessed = preprocess(&mut alone);
    preprocessed.tokens = litmus::with_types(preprocessed.tokens);
    parsed(preprocessed, &source, Some(test))
}

fn parsed(it: Preprocessed, source: &Source, litmus: Option<Litmus>) -> (Unit, Vec<Diagnostic>) {
    let Preprocessed { tokens, remarks, mut diagnostics } = it;
    let mut items = Vec::new();
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let (parsed, mistakes) = parser::parse(tokens, Places::of(source));
        items = parsed;
        diagnostics.extend(mistakes);
    }
    diagnostics.sort_by_key(|it| it.span.start);
    (Unit { items, remarks, litmus }, diagnostics)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod show;
#[cfg(test)]
mod tests;
