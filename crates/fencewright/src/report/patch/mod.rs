//! The repaired source: fences written into the text, comments and layout kept.
//!
//! The front end says what to write where ([`Rewrite`]). The new text is read back and compared with the program and
//! its fences, step by step (`same`): what cannot be written (a fence in the middle of a condition) is refused, and
//! never is a program written that means something else. A program can also be printed as `.fw` and repaired there.

mod chosen;
mod diff;
mod same;
mod told;

use std::mem::discriminant;

use crate::frontend::rewrite::{Edit, Fence, NoPlace, Reorder, Rewrite, Text};
use crate::frontend::{self, Frontend, Input, fw};
use crate::program::{EdgeId, FenceKind, Placement, Position, Program, Side};
use crate::source::{Source, Span};

pub use chosen::patch_with_choice;

/// A text to be repaired.
#[derive(Clone, Copy)]
pub struct Original<'a> {
    /// Who reads it.
    pub frontend: &'a dyn Frontend,
    /// Constants that got other values.
    pub defines: &'a [(String, i64)],
    /// What it means.
    pub program: &'a Program,
}

/// A repaired text.
#[derive(Clone, Debug)]
pub struct Patched {
    /// The text of the main file, laid out as before; that of all files is the source of the program.
    pub text: String,
    /// The name of its language.
    pub language: &'static str,
    /// What it means.
    pub program: Program,
    /// What changed, as a unified diff; a program that was printed anew has none.
    pub diff: Option<String>,
    /// What changed, by places in the text as it was; nothing if it was printed anew.
    pub edits: Vec<Edit>,
}

impl Patched {
    /// The files besides the main one that changed.
    pub fn other_files(&self, original: &Source) -> Vec<String> {
        let files = original.files().iter().skip(1);
        let is_changed = |start: u32| self.edits.iter().any(|it| original.file_of(it.span().start).start() == start);
        files.filter(|file| is_changed(file.start())).map(|file| file.name().to_owned()).collect()
    }
}

/// Why a set of fences cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// What is in the way.
    pub message: String,
    /// What to do instead.
    pub help: String,
}

/// The text with the fences in it, in its own language; printed as `.fw` if fences cannot be written there.
///
/// # Errors
/// The text has no place for them.
pub fn patch(original: &Original<'_>, placement: &Placement) -> Result<Patched, Unwritable> {
    patch_with_orders(original, placement, &[])
}

/// The same, where some of the fences are orders that become stronger, and nothing is inserted for them.
///
/// # Errors
/// The text has no place for them.
pub fn patch_with_orders(
    original: &Original<'_>,
    placement: &Placement,
    orders: &[Reorder],
) -> Result<Patched, Unwritable> {
    match original.frontend.rewrite() {
        Some(rewrite) => rewritten(original, rewrite, placement, orders),
        None => patch_as_fw(original, placement),
    }
}

/// The program with the fences in it as `.fw`, whatever its language.
///
/// # Errors
/// The program has no form in `.fw`, or none with a place for the fences.
pub fn patch_as_fw(original: &Original<'_>, placement: &Placement) -> Result<Patched, Unwritable> {
    if original.frontend.name() == fw::Fw.name() {
        return rewritten(original, &fw::Fw, placement, &[]);
    }
    let program = &imported(original)?;
    let patched = rewritten(&Original { frontend: &fw::Fw, program, ..*original }, &fw::Fw, placement, &[])?;
    Ok(Patched { diff: None, edits: Vec::new(), ..patched })
}

fn rewritten(
    original: &Original<'_>,
    rewrite: &dyn Rewrite,
    placement: &Placement,
    orders: &[Reorder],
) -> Result<Patched, Unwritable> {
    let program = original.program;
    let (positions, fences) = inserted(program, placement, orders)?;
    let source = program.source();
    let text = Text { source, defines: original.defines };
    let mut edits = match orders {
        [] => Vec::new(),
        [first, ..] => rewrite.reorder(&text, orders).map_err(|NoPlace { fence, help }| {
            let line = source.line_name(orders.get(fence).unwrap_or(first).access);
            Unwritable { message: format!("the order at {line} cannot be changed there"), help }
        })?,
    };
    if !fences.is_empty() {
        let inserted = rewrite.edits(&text, &fences).map_err(|NoPlace { fence, help }| {
            let Unwritable { message, .. } = misplaced(program, positions[fence]);
            Unwritable { message, help }
        })?;
        edits.extend(inserted);
    }
    read_back(original, edits, |fenced| same::is_fenced(program, placement, fenced)).ok_or_else(|| {
        let culprit = positions.iter().find(|it| it.side == Side::Before).or(positions.first()).copied();
        let culprit = culprit.or_else(|| placement.iter().next().map(|it| it.0));
        misplaced(program, culprit.expect("without fences nothing changes"))
    })
}

/// The text with edits in it, if what it means then is what it should.
fn read_back(original: &Original<'_>, mut edits: Vec<Edit>, is_it: impl Fn(&Program) -> bool) -> Option<Patched> {
    let source = original.program.source();
    edits.sort_by_key(Edit::span);
    let new = source.with_texts(source.files().iter().map(|file| edited(file.text(), file.start(), &edits)));
    let main = Source::new(new.name(), new.text());
    let parsed = frontend::parse_with(original.frontend, &main, &mut new.clone(), original.defines);
    let program = parsed.program.filter(is_it)?;
    let diff = Some(diff::unified(source, &edits));
    Some(Patched { text: new.text().to_owned(), language: original.frontend.name(), program, diff, edits })
}

/// The fences that are lines of their own, and where the first of each lies; copies of a place come to the same fence.
fn inserted(
    program: &Program,
    placement: &Placement,
    orders: &[Reorder],
) -> Result<(Vec<Position>, Vec<Fence>), Unwritable> {
    let (mut positions, mut fences) = (Vec::new(), Vec::new());
    for (position, kind) in placement.iter() {
        check_shared(program, placement, position, kind)?;
        let beside = program.edges()[position.edge].span;
        let fence = Fence { beside, side: position.side, kind };
        let is_order = orders.iter().any(|it| it.access == beside && !it.is_companion);
        if !is_order && !fences.contains(&fence) {
            fences.push(fence);
            positions.push(position);
        }
    }
    Ok((positions, fences))
}

/// The text of a file that begins at a byte, with the edits that are in it.
fn edited(text: &str, start: u32, edits: &[Edit]) -> String {
    let end = start + text.len() as u32;
    let mut out = text.to_owned();
    for edit in edits.iter().rev().filter(|edit| start <= edit.span().start && edit.span().end <= end) {
        let Span { start: from, end: to } = edit.span();
        out.replace_range((from - start) as usize..(to - start) as usize, edit.text());
    }
    out
}

/// A program of another language as `.fw`, with the same edges.
fn imported(original: &Original<'_>) -> Result<Program, Unwritable> {
    let unwritable = || Unwritable {
        message: format!("a program in the language `{}` cannot be printed with its fences", original.frontend.name()),
        help: "put the fences in by hand".to_owned(),
    };
    let source = original.program.source();
    let mut main = Source::new(source.name(), source.text());
    let read =
        original.frontend.read(&mut Input { source: &mut main, files: &mut source.clone(), defines: original.defines });
    let printed = read.surface().map(fw::print).ok_or_else(unwritable)?;
    let parsed = frontend::parse(&fw::Fw, &Source::new(source.name(), printed), original.defines);
    let ops = |program: &Program| program.edges().iter().map(|edge| edge.op.clone()).collect::<Vec<_>>();
    parsed.program.filter(|it| ops(it) == ops(original.program)).ok_or_else(unwritable)
}

/// A place of the text is shared by all its copies: they must have the same fence.
fn check_shared(
    program: &Program,
    placement: &Placement,
    position: Position,
    kind: FenceKind,
) -> Result<(), Unwritable> {
    let edge = &program.edges()[position.edge];
    let does_the_same = |other: &EdgeId| discriminant(&program.edges()[*other].op) == discriminant(&edge.op);
    let mut copies = program.copies(position.edge).filter(does_the_same);
    let Some(other) = copies.find(|it| placement.get(*it, position.side) != Some(kind)) else { return Ok(()) };
    let other = &program.edges()[other];
    let name = |process| &program.processes()[process].name;
    let line = program.source().line_name(edge.span);
    let (mine, theirs) = (name(edge.process), name(other.process));
    Err(Unwritable {
        message: format!("the fence at {line} is for `{mine}` and not for `{theirs}`, but they share that line"),
        help: "use `--by source`".to_owned(),
    })
}

fn misplaced(program: &Program, position: Position) -> Unwritable {
    let line = program.source().line_name(program.edges()[position.edge].span);
    let side = match position.side {
        Side::Before => "before",
        Side::After => "after",
    };
    let text = super::property::statement(program, position.edge);
    Unwritable {
        message: format!("the fence {side} `{text}` at {line} cannot be written as a statement"),
        help: "move the load into a statement of its own, or use `--place after-stores`".to_owned(),
    }
}
