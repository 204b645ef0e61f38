//! The repaired source: fences inserted into the text, comments and layout kept.
//!
//! A fence goes after the statement that stores, or before the statement that begins with the load. The new text is
//! read back and compared with the program and its fences, step by step (`same`): what cannot be written as a
//! statement (a fence in the middle of a condition) is refused, and never is a program written that means something
//! else. An imported program is printed as `.fw` first.

mod diff;
mod same;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use crate::frontend::{self, Frontend, Input, fw};
use crate::program::{EdgeId, FenceKind, Placement, Position, Program, Side};
use crate::source::Source;

/// A text to be repaired.
#[derive(Clone, Copy)]
pub struct Original<'a> {
    /// Who reads it.
    pub frontend: &'a dyn Frontend,
    /// The text.
    pub source: &'a Source,
    /// Constants that got other values.
    pub defines: &'a [(String, i64)],
    /// What it means.
    pub program: &'a Program,
}

/// A repaired text.
#[derive(Clone, Debug)]
pub struct Patched {
    /// The text, in the language `.fw`, laid out as before.
    pub text: String,
    /// What it means.
    pub program: Program,
    /// What changed, as a unified diff; an imported program has none.
    pub diff: Option<String>,
    /// What was inserted into the text, from its start to its end; nothing if it was imported.
    pub insertions: Vec<Insertion>,
}

/// Text to be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// Before this byte.
    pub offset: usize,
    /// The text.
    pub text: String,
}

/// Why a set of fences cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// What is in the way.
    pub message: String,
    /// What to do instead.
    pub help: &'static str,
}

/// The text with the fences in it.
///
/// # Errors
/// The text has no place for them.
pub fn patch(original: &Original<'_>, placement: &Placement) -> Result<Patched, Unwritable> {
    let imported = import(original)?;
    let (source, program) = imported.as_ref().map_or((original.source, original.program), |it| (&it.0, &it.1));
    for (position, kind) in placement.iter() {
        check_shared(program, placement, position, kind)?;
    }
    let (file, _) = fw::parse(source);
    // Copies of a place come to the same insertion. What belongs to an earlier statement comes first.
    let mut all: BTreeSet<(usize, bool, String)> = BTreeSet::new();
    for (position, kind) in placement.iter() {
        let site = sites::site(&file, program.edges()[position.edge].span, position.side);
        let site = site.ok_or_else(|| misplaced(program, position))?;
        let (offset, text) = insertion(source, site, position.side, statement(kind));
        all.insert((offset, position.side == Side::Before, text));
    }
    let mut insertions: BTreeMap<usize, String> = BTreeMap::new();
    for (offset, _, text) in all {
        insertions.entry(offset).or_default().push_str(&text);
    }
    let text = inserted(source.text(), &insertions);
    let parsed = frontend::parse(&fw::Fw, &Source::new(source.name(), text.as_str()), original.defines);
    let fenced = parsed.program.filter(|fenced| same::is_fenced(program, placement, fenced));
    let Some(fenced) = fenced else {
        let culprit = placement
            .iter()
            .map(|it| it.0)
            .find(|it| it.side == Side::Before)
            .or(placement.iter().map(|it| it.0).next());
        return Err(misplaced(program, culprit.expect("without fences nothing changes")));
    };
    let diff = imported.is_none().then(|| diff::unified(source, &insertions));
    let insertions = insertions.into_iter().filter(|_| imported.is_none());
    let insertions = insertions.map(|(offset, text)| Insertion { offset, text }).collect();
    Ok(Patched { text, program: fenced, diff, insertions })
}

/// A program of another language as `.fw`, with the same edges.
fn import(original: &Original<'_>) -> Result<Option<(Source, Program)>, Unwritable> {
    if original.frontend.name() == fw::Fw.name() {
        return Ok(None);
    }
    let mut text = Source::new(original.source.name(), original.source.text());
    let input = &mut Input { source: &mut text, files: &mut original.source.clone(), defines: original.defines };
    let printed = original.frontend.read(input).surface().map(fw::print).unwrap_or_default();
    let source = Source::new(original.source.name(), printed);
    let parsed = frontend::parse(&fw::Fw, &source, original.defines);
    let ops = |program: &Program| program.edges().iter().map(|edge| edge.op.clone()).collect::<Vec<_>>();
    let is_same = |it: &Program| ops(it) == ops(original.program);
    let unwritable = || Unwritable {
        message: "the imported program cannot be printed with its fences".to_owned(),
        help: "convert it with `fencewright import`, and repair that",
    };
    let program = parsed.program.filter(is_same).ok_or_else(unwritable)?;
    Ok(Some((source, program)))
}

/// A place of the text is shared by all its copies: they must have the same fence.
fn check_shared(
    program: &Program,
    placement: &Placement,
    position: Position,
    kind: FenceKind,
) -> Result<(), Unwritable> {
    let edge = &program.edges()[position.edge];
    let is_copy = |(_, other): &(EdgeId, &crate::program::Edge)| {
        other.span == edge.span && discriminant(&other.op) == discriminant(&edge.op)
    };
    let mut copies = program.edges().iter_enumerated().filter(is_copy);
    let Some((_, other)) = copies.find(|(id, _)| placement.get(*id, position.side) != Some(kind)) else {
        return Ok(());
    };
    let name = |process| &program.processes()[process].name;
    let line = program.source().line_name(edge.span);
    let (mine, theirs) = (name(edge.process), name(other.process));
    Err(Unwritable {
        message: format!("the fence at {line} is for `{mine}` and not for `{theirs}`, but they share that line"),
        help: "use `--by source`",
    })
}

fn misplaced(program: &Program, position: Position) -> Unwritable {
    let span = program.edges()[position.edge].span;
    let line = program.source().line_name(span);
    let side = match position.side {
        Side::Before => "before",
        Side::After => "after",
    };
    let text = super::property::statement(program, position.edge);
    Unwritable {
        message: format!("the fence {side} `{text}` at {line} cannot be written as a statement"),
        help: "move the load into a statement of its own, or use `--place after-stores`",
    }
}

/// The statement that is a fence.
pub(super) fn statement(kind: FenceKind) -> &'static str {
    match kind {
        FenceKind::Full => "fence;",
        FenceKind::StoreStore => "fence(store);",
    }
}

/// Where to insert what. A statement that has its line for itself gets a new line beside it.
fn insertion(source: &Source, site: crate::source::Span, side: Side, fence: &str) -> (usize, String) {
    let file = source.file_of(site.start);
    let (first_start, first) = file.line(file.line_of(site.start));
    let (last_start, last) = file.line(file.line_of(site.end.max(site.start + 1) - 1));
    let indent = &first[..(site.start - first_start) as usize];
    let behind = last[(site.end - last_start) as usize..].trim();
    let is_alone = indent.trim().is_empty() && (behind.is_empty() || behind.starts_with("//"));
    let newline = if source.text().contains("\r\n") { "\r\n" } else { "\n" };
    match (side, is_alone) {
        (Side::Before, _) if indent.trim().is_empty() => (site.start as usize, format!("{fence}{newline}{indent}")),
        (Side::Before, _) => (site.start as usize, format!("{fence} ")),
        (Side::After, true) => (last_start as usize + last.len(), format!("{newline}{indent}{fence}")),
        (Side::After, false) => (site.end as usize, format!(" {fence}")),
    }
}

fn inserted(text: &str, insertions: &BTreeMap<usize, String>) -> String {
    let mut out = text.to_owned();
    for (&offset, insertion) in insertions.iter().rev() {
        out.insert_str(offset, insertion);
    }
    out
}
