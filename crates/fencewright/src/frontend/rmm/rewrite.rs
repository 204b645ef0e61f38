//! Fences as statements beside statements. Statements are separated by `;`, so a fence brings its own, and what stands
//! alone behind `then`, `else` or `do` gets braces.

use std::collections::BTreeSet;

use crate::frontend::rewrite::{Edit, Fence, NoPlace, Rewrite, Spelling, Text, beside};
use crate::program::Side;
use crate::source::{SourceFile, Span};

use super::syntax::{Sequence, Stmt, StmtKind};
use super::{Rmm, parser};

impl Rewrite for Rmm {
    fn spelling(&self) -> Spelling {
        Spelling { store_store: "sfence;", full: "fence;" }
    }

    fn edits(&self, text: &Text<'_>, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace> {
        let source = text.source;
        let (file, _) = parser::parse(source);
        let mut all: BTreeSet<(u32, bool, String)> = BTreeSet::new();
        let mut braced = BTreeSet::new();
        for (i, fence) in fences.iter().enumerate() {
            let texts = file.processes.iter().map(|it| &it.text[..]);
            let site = texts.into_iter().find_map(|text| innermost(text, fence.beside));
            let help = "this is no statement of its own; use another `--place`";
            let site = site.ok_or(NoPlace { fence: i, help: help.to_owned() })?;
            if site.is_single {
                braced.insert((site.span.start, site.span.end));
            }
            let edit = insertion(source.main(), &site, fence.side, self.spelling().of(fence.kind));
            all.insert((edit.span().start, fence.side == Side::Before, edit.text().to_owned()));
        }
        let mut edits: Vec<Edit> = all.into_iter().map(|(at, _, text)| Edit::Insert { at, text }).collect();
        for (start, end) in braced {
            edits.insert(0, Edit::Insert { at: start, text: "{ ".to_owned() });
            edits.push(Edit::Insert { at: end, text: " }".to_owned() });
        }
        Ok(edits)
    }
}

/// A statement to put something beside.
struct Site {
    span: Span,
    /// Whether it stands where only one statement may stand.
    is_single: bool,
}

/// The innermost statement that holds an operation. What a statement is made of need not stand within it: it may be
/// that of a macro.
fn innermost(statements: &[Stmt], operation: Span) -> Option<Site> {
    statements.iter().find_map(|it| at_or_in(it, operation))
}

fn at_or_in(stmt: &Stmt, operation: Span) -> Option<Site> {
    let inner = match &stmt.kind {
        StmtKind::If(_, then, otherwise) => std::iter::once(then).chain(otherwise).find_map(|it| single(it, operation)),
        StmtKind::While(_, body) => single(body, operation),
        StmtKind::Either(all) | StmtKind::Locked(all) => all.iter().find_map(|it| in_sequence(it, operation)),
        StmtKind::Block(it) => in_sequence(it, operation),
        StmtKind::Nop | StmtKind::ReadIs(..) | StmtKind::ReadTo(..) | StmtKind::Write(..) | StmtKind::Cas(..) => None,
        StmtKind::Fence(_) | StmtKind::StoreLoadFence | StmtKind::Assign(..) | StmtKind::Assume(_) => None,
        StmtKind::Goto(_) => None,
    };
    let is_here = stmt.span.start <= operation.start && operation.end <= stmt.span.end;
    inner.or(is_here.then_some(Site { span: stmt.span, is_single: false }))
}

fn in_sequence(sequence: &Sequence, operation: Span) -> Option<Site> {
    innermost(&sequence.statements, operation)
}

/// A statement that stands alone, unless it is a block.
fn single(stmt: &Stmt, operation: Span) -> Option<Site> {
    let site = at_or_in(stmt, operation)?;
    let is_it = site.span == stmt.span;
    Some(Site { is_single: site.is_single || is_it, ..site })
}

fn insertion(file: &SourceFile, site: &Site, side: Side, fence: &str) -> Edit {
    match side {
        Side::Before if site.is_single => {
            return Edit::Insert { at: site.span.start, text: format!("{fence} ") };
        }
        Side::Before => return beside(file, site.span, side, fence, "/*"),
        Side::After => {}
    }
    let behind = &file.text()[(site.span.end - file.start()) as usize..];
    let gap = behind.len() - behind.trim_start().len();
    if behind.trim_start().starts_with(';') && !site.is_single {
        let whole = Span::new(site.span.start, site.span.end + gap as u32 + 1);
        return beside(file, whole, side, fence, "/*");
    }
    // The last statement has nothing behind it, and then the fence is the last.
    Edit::Insert { at: site.span.end, text: format!("; {}", fence.trim_end_matches(';')) }
}
