//! What is said of the input: mistakes, warnings, files that cannot be read.
//!
//! People read it with the marked text on standard error ([`render`](crate::source::render)). A [`Note`] is the same
//! for machines: it has left the text that it is about, and its places are lines and columns.

use serde::Serialize;

use super::json::SCHEMA_NAME;
use crate::source::{Diagnostic, LineColumn, Severity, Source, Span};
use crate::watch::Stop;

/// Something that is said of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
    /// The file that it is about, if it is about one.
    pub file: Option<String>,
    /// Where in the file, if it has a place.
    pub place: Option<Place>,
    /// What is expected there; may be empty.
    pub label: String,
    /// Other places that matter, and what is there.
    pub related: Vec<(Place, String)>,
}

/// A place in a file, which need not be the one that was named first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The first character.
    pub start: LineColumn,
    /// One past the last.
    pub end: LineColumn,
}

/// Input that means nothing, or of which nobody knows, since reading it was stopped.
#[derive(Clone, Copy, Debug)]
pub struct WrongInput<'a> {
    /// What was asked: the name of the verb.
    pub command: &'static str,
    /// The file, as it was named; none if none is to blame.
    pub file: Option<&'a str>,
    /// Why reading it was stopped, if it was.
    pub stopped: Option<Stop>,
    /// What is wrong; at least one is an error.
    pub notes: &'a [Note],
}

impl Note {
    /// What a diagnostic says.
    pub fn new(source: &Source, diagnostic: &Diagnostic) -> Self {
        let Diagnostic { severity, message, span, label, labels, help } = diagnostic;
        let place = Place::new(source, *span);
        Self {
            severity: *severity,
            message: message.clone(),
            help: help.clone(),
            file: Some(place.file.clone()),
            place: Some(place),
            label: label.clone(),
            related: labels.iter().map(|it| (Place::new(source, it.span), it.message.clone())).collect(),
        }
    }

    /// An error that has no place in a text.
    pub fn error(file: Option<&str>, message: &str, help: Option<&str>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.to_owned(),
            help: help.map(str::to_owned),
            file: file.map(str::to_owned),
            place: None,
            label: String::new(),
            related: Vec::new(),
        }
    }

    /// Whether it keeps the program from meaning something.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl Place {
    fn new(source: &Source, span: Span) -> Self {
        let file = source.file_of(span.start).path().to_owned();
        Self { file, start: source.position(span.start), end: source.position(span.end) }
    }
}

/// The object of wrong input.
#[derive(Serialize)]
pub(super) struct WrongLine<'a> {
    schema: &'static str,
    command: &'static str,
    file: Option<&'a str>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    diagnostics: Vec<NoteJson<'a>>,
}

impl<'a> WrongLine<'a> {
    pub(super) fn new(wrong: &WrongInput<'a>) -> Self {
        Self {
            schema: SCHEMA_NAME,
            command: wrong.command,
            file: wrong.file,
            verdict: if wrong.stopped.is_some() { "unknown" } else { "error" },
            reason: wrong.stopped.map(|it| it.to_string()),
            diagnostics: notes_json(wrong.notes),
        }
    }
}

/// A note, as machines are told it.
#[derive(Serialize)]
pub(super) struct NoteJson<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    severity: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedJson<'a>>,
}

#[derive(Serialize)]
struct RelatedJson<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
}

pub(super) fn notes_json(notes: &[Note]) -> Vec<NoteJson<'_>> {
    notes.iter().map(note_json).collect()
}

fn note_json(note: &Note) -> NoteJson<'_> {
    let related = note.related.iter().map(|(place, message)| RelatedJson {
        file: &place.file,
        line: place.start.line,
        column: place.start.column,
        message,
    });
    NoteJson {
        file: note.file.as_deref(),
        line: note.place.as_ref().map(|it| it.start.line),
        column: note.place.as_ref().map(|it| it.start.column),
        severity: severity(note.severity),
        message: &note.message,
        help: note.help.as_deref(),
        label: &note.label,
        related: related.collect(),
    }
}

/// `error` or `warning`, which SARIF calls them, too.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
