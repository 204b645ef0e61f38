//! Whether an expectation of a program's header holds.

use std::fmt::Write;

use serde::Serialize;

use super::json::SCHEMA_NAME;
use super::notes::{Note, NoteJson, notes_json};
use crate::expectation::Held;
use crate::memory::Model;
use crate::report::{Detail, Look};
use crate::source::Style;

/// An expectation, and what was found.
#[derive(Clone, Copy, Debug)]
pub struct Tested<'a> {
    /// The file, as it was named.
    pub file: &'a str,
    /// The memory model.
    pub model: Model,
    /// The line of the expectation.
    pub line: u32,
    /// What is expected.
    pub expected: &'a str,
    /// Whether that holds.
    pub held: &'a Held,
    /// What was said of the input.
    pub notes: &'a [Note],
}

impl Tested<'_> {
    /// `passed`, `failed` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match self.held {
            Held::Yes(_) => "passed",
            Held::No(_) => "failed",
            Held::Unknown(_) | Held::Refused(_) => "unknown",
        }
    }

    /// What was found, or why nothing was.
    pub(super) fn found(&self) -> &str {
        match self.held {
            Held::Yes(it) | Held::No(it) | Held::Unknown(it) | Held::Refused(it) => it,
        }
    }

    /// In one sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { model, expected, .. } = self;
        match self.held {
            Held::Yes(_) => format!("{expected} under {model}, as expected"),
            Held::No(found) => format!("expected under {model}: {expected}; found: {found}"),
            Held::Unknown(why) | Held::Refused(why) => format!("expected under {model}: {expected}; undecided: {why}"),
        }
    }
}

/// For people: only what does not hold, unless they want to know all.
pub(super) fn text(tested: &Tested<'_>, look: Look) -> String {
    let is_shown = look.detail == Detail::Verbose || !matches!(tested.held, Held::Yes(_));
    let color = match tested.held {
        Held::Yes(_) => "1;32",
        Held::No(_) => "1;31",
        Held::Unknown(_) | Held::Refused(_) => "1;33",
    };
    let verdict = match look.style {
        Style::Plain => tested.verdict().to_owned(),
        Style::Colored => format!("\x1b[{color}m{}\x1b[0m", tested.verdict()),
    };
    let mut out = String::new();
    if is_shown {
        let _ = writeln!(out, "{}:{}: {verdict}: {}", tested.file, tested.line, tested.sentence());
    }
    out
}

/// For programs.
#[derive(Serialize)]
pub(super) struct TestLine<'a> {
    schema: &'static str,
    command: &'static str,
    file: &'a str,
    line: u32,
    model: &'static str,
    verdict: &'static str,
    expected: &'a str,
    found: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<NoteJson<'a>>,
}

impl<'a> TestLine<'a> {
    pub(super) fn new(tested: &'a Tested<'a>) -> Self {
        Self {
            schema: SCHEMA_NAME,
            command: "test",
            file: tested.file,
            line: tested.line,
            model: tested.model.name(),
            verdict: tested.verdict(),
            expected: tested.expected,
            found: tested.found(),
            diagnostics: notes_json(tested.notes),
        }
    }
}
