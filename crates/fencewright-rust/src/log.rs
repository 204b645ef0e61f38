//! What is said of a text, each thing once: copies of a function repeat its mistakes.

use std::collections::BTreeSet;

use fencewright::source::{Diagnostic, Span};

/// Diagnostics so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) diagnostics: Vec<Diagnostic>,
    known: BTreeSet<(Span, String)>,
}

impl Log {
    /// Says something, unless it was said before.
    pub(crate) fn say(&mut self, diagnostic: Diagnostic) {
        if self.known.insert((diagnostic.span, diagnostic.message.clone())) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// An error with help.
    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.say(Diagnostic::error(span, message).with_help(help));
    }

    /// Whether the program means nothing.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
