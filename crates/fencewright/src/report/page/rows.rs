//! The lines of the program as rows of the page: those of the main file, then for each other file a row with its name
//! and its lines.

use std::fmt::Write;

use super::escaped;
use crate::program::Program;
use crate::source::{Source, SourceFile, Span};

/// The row, from 1, of the line that a place is in.
pub(super) fn row_of(source: &Source, span: Span) -> u32 {
    let file = source.file_of(span.start);
    let before = source.files().iter().take_while(|it| it.start() < file.start());
    let heading = u32::from(file.start() > 0);
    before.map(n_rows).sum::<u32>() + heading + file.line_of(span.start)
}

fn n_rows(file: &SourceFile) -> u32 {
    file.text().lines().count() as u32 + u32::from(file.start() > 0)
}

/// What each row is called, where it is not the number of a line of the main file.
pub(super) fn names(source: &Source) -> Option<Vec<String>> {
    let [_, _, ..] = source.files() else { return None };
    let names = source.files().iter().flat_map(|file| {
        let heading = (file.start() > 0).then(|| file.name().to_owned());
        let lines = (1..=file.text().lines().count() as u32).map(|line| source.line_number(file.line(line).0));
        heading.into_iter().chain(lines).collect::<Vec<_>>()
    });
    Some(names.collect())
}

/// The program, a list item for each row.
pub(super) fn markup(program: &Program) -> String {
    let mut out = String::new();
    for file in program.source().files() {
        if file.start() > 0 {
            let _ = writeln!(out, "<li><span></span><code><b>{}</b></code></li>", escaped(file.name()));
        }
        for (i, line) in file.text().lines().enumerate() {
            let _ = writeln!(out, "<li><span>{}</span><code>{}</code></li>", i + 1, escaped(line));
        }
    }
    out
}
