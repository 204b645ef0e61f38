//! What lowering has to say, and what it notes on the way.

use std::collections::BTreeSet;

use crate::frontend::said::Said;
use crate::source::{Diagnostic, Span};

/// The most copies of a `for` body.
pub(super) const MAX_COPIES: i128 = 100_000;

/// What was said so far, and what warnings need to know.
pub(super) struct Log {
    pub said: Said,
    /// Names of declarations that something refers to.
    pub used: BTreeSet<String>,
    /// Whether an `assert` was met.
    pub has_assert: bool,
}

impl Log {
    pub(super) fn new(said: Said) -> Self {
        Self { said, used: BTreeSet::new(), has_assert: false }
    }

    /// Says something.
    pub(super) fn say(&mut self, diagnostic: Diagnostic) {
        self.said.say(diagnostic);
    }

    /// An error with help.
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.said.error(span, message, help);
    }

    /// Whether a place is in the main file.
    pub(super) fn is_in_main(&self, span: Span) -> bool {
        self.said.is_in_main(span)
    }

    /// The text at a place.
    pub(super) fn text(&self, span: Span) -> String {
        self.said.text(span)
    }

    /// Counts a statement; false when there were too many.
    pub(super) fn spend(&mut self, span: Span) -> bool {
        self.said.spend(span)
    }
}
