//! Tests of the reader and the formatter together.

mod comments;
mod errors;
mod include;
mod precedence;
mod round_trip;

use super::format;
use crate::source::{Diagnostic, Source};

/// The text in its canonical layout; it must be well-formed.
fn formatted(text: &str) -> String {
    match format(&Source::new("t.fw", text)) {
        Ok(formatted) => formatted,
        Err(diagnostics) => panic!("{text:?}: {}", messages(text, &diagnostics).join("\n")),
    }
}

/// Each diagnostic as `line:column message`.
fn messages(text: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    let source = Source::new("t.fw", text);
    let message = |it: &Diagnostic| {
        let at = source.position(it.span.start);
        format!("{}:{} {}", at.line, at.column, it.message)
    };
    diagnostics.iter().map(message).collect()
}

/// A program with every construct in canonical layout.
const EVERYTHING: &str = include_str!("everything.fw");
