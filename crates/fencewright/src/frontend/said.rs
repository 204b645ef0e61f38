//! What is said while a text gets its meaning, and the work that may still be done for it.

use std::collections::BTreeSet;

use crate::frontend::Lowered;
use crate::program::Builder;
use crate::source::{Diagnostic, Source, Span};

/// The most processes a program may have.
pub(in crate::frontend) const MAX_PROCESSES: usize = 64;
/// The most shared locations a program may have.
pub(in crate::frontend) const MAX_LOCATIONS: usize = 4096;
/// The most edges a program may have.
const MAX_EDGES: usize = 200_000;
/// The most situations a property may have.
pub(in crate::frontend) const MAX_SITUATIONS: usize = 10_000;
/// How many statements, copies included, are looked at before lowering gives up.
const MAX_WORK: usize = 1_000_000;
/// How often mistakes are met again in copies of one text before lowering gives up: there is nothing new to say.
const MAX_REPEATS: usize = 2_000;

/// Diagnostics so far, each said once, and the budget.
pub(in crate::frontend) struct Said {
    source: Source,
    diagnostics: Vec<Diagnostic>,
    known: BTreeSet<(Span, String)>,
    /// Invariant: `n_edges <= MAX_EDGES` and `work <= MAX_WORK` unless `is_exhausted`.
    n_edges: usize,
    n_foreseen: usize,
    /// Where too many edges were foreseen.
    overrun: Option<Span>,
    work: usize,
    n_repeats: usize,
    /// Whether a limit was hit; then nothing more is lowered.
    is_exhausted: bool,
}

impl Said {
    /// Whether nothing was said yet.
    pub(in crate::frontend) fn is_silent(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Nothing was said of a text yet.
    pub(in crate::frontend) fn new(source: &Source) -> Self {
        Self {
            source: source.clone(),
            diagnostics: Vec::new(),
            known: BTreeSet::new(),
            n_edges: 0,
            n_foreseen: 0,
            overrun: None,
            work: 0,
            n_repeats: 0,
            is_exhausted: false,
        }
    }

    /// The text.
    pub(in crate::frontend) fn source(&self) -> &Source {
        &self.source
    }

    /// Says something, unless the same was said of the same place: copies of one text repeat its mistakes.
    pub(in crate::frontend) fn say(&mut self, diagnostic: Diagnostic) {
        if self.known.insert((diagnostic.span, diagnostic.message.clone())) {
            self.diagnostics.push(diagnostic);
        } else if diagnostic.is_error() {
            self.n_repeats += 1;
            self.is_exhausted |= self.n_repeats > MAX_REPEATS;
        }
    }

    /// An error with help.
    pub(in crate::frontend) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.say(Diagnostic::error(span, message).with_help(help));
    }

    /// Whether a place is in the main file.
    pub(in crate::frontend) fn is_in_main(&self, span: Span) -> bool {
        self.source.other_name(span.start).is_none()
    }

    /// The text at a place, on one line.
    pub(in crate::frontend) fn text(&self, span: Span) -> String {
        let text = self.source.get(span).unwrap_or("…");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether there is an error.
    pub(in crate::frontend) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Counts a statement; false when there were too many.
    pub(in crate::frontend) fn spend(&mut self, span: Span) -> bool {
        self.work += 1;
        if self.work > MAX_WORK {
            self.exhaust(span, format!("unrolling and inlining make more than {MAX_WORK} statements"));
        }
        !self.is_exhausted
    }

    /// Counts an edge; false when there were too many.
    pub(in crate::frontend) fn spend_edge(&mut self, span: Span) -> bool {
        self.n_edges += 1;
        if self.n_edges > MAX_EDGES {
            self.overrun = None;
            self.exhaust(span, format!("the program has more than {MAX_EDGES} edges"));
        }
        !self.is_exhausted
    }

    /// Counts an edge that a typed tree will have, so that it does not get too large. Where there are too many is said
    /// when they come to be, or in the end if they do not, since they were in a function that is not called.
    pub(in crate::frontend) fn foresee_edge(&mut self, span: Span) {
        self.n_foreseen += 1;
        if self.n_foreseen > MAX_EDGES {
            self.overrun.get_or_insert(span);
            self.is_exhausted = true;
        }
    }

    /// A typed tree is done, as far as it goes; now it is lowered.
    pub(in crate::frontend) fn turn_to_edges(&mut self) {
        self.is_exhausted = false;
    }

    fn exhaust(&mut self, span: Span, message: String) {
        if !self.is_exhausted {
            self.is_exhausted = true;
            self.error(span, message, "use smaller constants, fewer copies or fewer nested calls");
        }
    }

    /// The program, if nothing is wrong, with all that was said, in the order of the text; warnings only if there is no
    /// error, since an error breeds them.
    pub(in crate::frontend) fn into_lowered(mut self, builder: Builder) -> Lowered {
        if let Some(span) = self.overrun {
            self.exhaust(span, format!("the program has more than {MAX_EDGES} edges"));
        }
        let has_errors = self.has_errors();
        let mut diagnostics = self.diagnostics;
        diagnostics.retain(|it| it.is_error() || !has_errors);
        diagnostics.sort_by_key(|it| it.span);
        Lowered { program: (!has_errors).then(|| builder.finish()), diagnostics, source: self.source }
    }
}
