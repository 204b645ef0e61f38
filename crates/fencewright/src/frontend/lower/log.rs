//! What lowering has to say, and the work it may still do.

use std::collections::BTreeSet;

use crate::source::{Diagnostic, Source, Span};

/// The most processes a program may have.
pub(super) const MAX_PROCESSES: usize = 64;
/// The most shared locations a program may have.
pub(super) const MAX_LOCATIONS: usize = 4096;
/// The most edges a program may have.
pub(super) const MAX_EDGES: usize = 200_000;
/// The most copies of a `for` body.
pub(super) const MAX_COPIES: i128 = 100_000;
/// The most situations a property may have.
pub(super) const MAX_SITUATIONS: usize = 10_000;
/// How many statements, copies included, are looked at before lowering gives up.
const MAX_WORK: usize = 1_000_000;
/// How often mistakes are met again in copies of one text before lowering gives up: there is nothing new to say.
const MAX_REPEATS: usize = 2_000;

/// Diagnostics so far, each said once, and the budget.
pub(super) struct Log {
    source: Source,
    diagnostics: Vec<Diagnostic>,
    said: BTreeSet<(Span, String)>,
    /// Names of declarations that something refers to.
    pub used: BTreeSet<String>,
    /// Invariant: `n_edges <= MAX_EDGES` and `work <= MAX_WORK` unless `is_exhausted`.
    n_edges: usize,
    work: usize,
    n_repeats: usize,
    /// Whether a limit was hit; then nothing more is lowered.
    pub is_exhausted: bool,
    /// Whether an `assert` was met.
    pub has_assert: bool,
}

impl Log {
    pub(super) fn new(source: &Source) -> Self {
        Self {
            source: source.clone(),
            diagnostics: Vec::new(),
            said: BTreeSet::new(),
            used: BTreeSet::new(),
            n_edges: 0,
            work: 0,
            n_repeats: 0,
            is_exhausted: false,
            has_assert: false,
        }
    }

    /// Says something, unless the same was said of the same place: copies of one text repeat its mistakes.
    pub(super) fn say(&mut self, diagnostic: Diagnostic) {
        if self.said.insert((diagnostic.span, diagnostic.message.clone())) {
            self.diagnostics.push(diagnostic);
        } else if diagnostic.is_error() {
            self.n_repeats += 1;
            self.is_exhausted |= self.n_repeats > MAX_REPEATS;
        }
    }

    /// An error with help.
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.say(Diagnostic::error(span, message).with_help(help));
    }

    /// The text at a place.
    pub(super) fn text(&self, span: Span) -> String {
        let text = self.source.get(span).unwrap_or("…");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Counts a statement; false when there were too many.
    pub(super) fn spend(&mut self, span: Span) -> bool {
        self.work += 1;
        if self.work > MAX_WORK {
            self.exhaust(span, format!("unrolling and inlining make more than {MAX_WORK} statements"));
        }
        !self.is_exhausted
    }

    /// Counts an edge; false when there were too many.
    pub(super) fn spend_edge(&mut self, span: Span) -> bool {
        self.n_edges += 1;
        if self.n_edges > MAX_EDGES {
            self.exhaust(span, format!("the program has more than {MAX_EDGES} edges"));
        }
        !self.is_exhausted
    }

    fn exhaust(&mut self, span: Span, message: String) {
        if !self.is_exhausted {
            self.is_exhausted = true;
            self.error(span, message, "use smaller constants, fewer copies or fewer nested calls");
        }
    }

    /// All that was said, in the order of the text; warnings only if there is no error, since an error breeds them.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let has_errors = self.has_errors();
        let mut diagnostics = self.diagnostics;
        diagnostics.retain(|it| it.is_error() || !has_errors);
        diagnostics.sort_by_key(|it| it.span);
        diagnostics
    }
}
