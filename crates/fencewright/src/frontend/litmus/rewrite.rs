//! Fences as rows of the table: one with a fence in some columns and nothing in the others.

use std::collections::BTreeMap;

use crate::frontend::rewrite::{Edit, Fence, NoPlace, Rewrite, Spelling, Text};
use crate::program::Side;
use crate::source::{SourceFile, Span};

use super::syntax::{Line, Test};
use super::{Litmus, header, parser};

impl Rewrite for Litmus {
    fn spelling(&self) -> Spelling {
        Spelling { store_store: "SFENCE", full: "MFENCE" }
    }

    fn edits(&self, text: &Text<'_>, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace> {
        let source = text.source;
        let test = header::read(source.text()).map(|header| parser::parse(source, &header).0).unwrap_or_default();
        // The fences beside one row come together.
        let mut rows: BTreeMap<(usize, Side), BTreeMap<usize, String>> = BTreeMap::new();
        for (i, fence) in fences.iter().enumerate() {
            let help = "a cell holds its label and its instruction, with nothing between; use another `--place`";
            let (line, column) = place(&test, fence).ok_or(NoPlace { fence: i, help: help.to_owned() })?;
            let beside = source.main().get(fence.beside).unwrap_or_default();
            let is_small = beside.starts_with(|it: char| it.is_ascii_lowercase());
            let written = self.spelling().of(fence.kind);
            let written = if is_small { written.to_ascii_lowercase() } else { written.to_owned() };
            rows.entry((line, fence.side)).or_default().insert(column, written);
        }
        Ok(rows.iter().map(|(&(line, side), row)| edit(source.main(), &test.lines[line], side, row)).collect())
    }
}

/// The row and the column of an instruction; none if a label stands between it and a fence.
fn place(test: &Test, fence: &Fence) -> Option<(usize, usize)> {
    let span = fence.beside;
    let places = test
        .lines
        .iter()
        .enumerate()
        .flat_map(|(line, it)| it.cells.iter().enumerate().map(move |(column, cell)| (line, column, *cell)));
    let (line, column, cell) =
        places.into_iter().find(|(_, _, cell)| cell.start <= span.start && span.end <= cell.end)?;
    let rows = &test.threads.get(column)?.rows;
    let mut here = rows.iter().filter(|row| cell.start <= row.span.start && row.span.end <= cell.end);
    // The label comes first in its cell, and what jumps to it must meet the fence.
    let is_labelled = here.next().is_some_and(|row| row.span.end <= span.start);
    (fence.side == Side::After || !is_labelled).then_some((line, column))
}

/// A row, its cells as wide as those of the row beside it.
fn edit(file: &SourceFile, line: &Line, side: Side, row: &BTreeMap<usize, String>) -> Edit {
    let cells = line.cells.iter().enumerate().map(|(column, cell)| {
        let old = on_line(file, *cell);
        let indent = &old[..old.len() - old.trim_start().len()];
        let new = format!("{indent}{}", row.get(&column).map_or("", String::as_str));
        format!("{new:0$}", old.chars().count())
    });
    let text = format!("{};", cells.collect::<Vec<_>>().join("|"));
    let newline = if file.text().contains("\r\n") { "\r\n" } else { "\n" };
    match side {
        Side::After => {
            // A comment behind the row stays with it.
            let (start, all) = file.line(file.line_of(line.end.start));
            let behind = all[(line.end.end - start) as usize..].trim();
            let is_last = behind.is_empty() || behind.starts_with("(*") && behind.ends_with("*)");
            let at = if is_last { start + all.len() as u32 } else { line.end.end };
            Edit::Insert { at, text: format!("{newline}{text}") }
        }
        Side::Before => {
            let first = line.cells.first().map_or(line.end.start, |cell| cell.end - on_line(file, *cell).len() as u32);
            Edit::Insert { at: first, text: format!("{text}{newline}") }
        }
    }
}

/// The part of a cell that is on the line of its end: the first of a row begins behind the row before it.
fn on_line(file: &SourceFile, cell: Span) -> &str {
    file.get(cell).unwrap_or_default().rsplit('\n').next().unwrap_or_default()
}
