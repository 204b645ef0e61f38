//! Fences as statements beside statements, and orders as the words that say them.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::ast::{Block, Else, File, If, ItemKind, Stmt, StmtKind};
use crate::frontend::rewrite::{Edit, Fence, NoPlace, Reorder, Rewrite, Spelling, Text, beside};
use crate::program::{Order, Side};
use crate::source::Span;

use super::Fw;
use super::parser::parse_file;

impl Rewrite for Fw {
    fn spelling(&self) -> Spelling {
        Spelling::FW
    }

    fn edits(&self, text: &Text<'_>, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace> {
        let source = text.source;
        let mut trees: BTreeMap<u32, File> = BTreeMap::new();
        // What belongs to an earlier statement comes first.
        let mut all: BTreeSet<(u32, bool, String)> = BTreeSet::new();
        for (i, fence) in fences.iter().enumerate() {
            let help = "move the load into a statement of its own, or use `--place after-stores`";
            let file = source.file_of(fence.beside.start);
            let tree = trees.entry(file.start()).or_insert_with(|| parse_file(file).0);
            let site = site(tree, fence.beside, fence.side).ok_or(NoPlace { fence: i, help: help.to_owned() })?;
            let edit = beside(file, site, fence.side, self.spelling().of(fence.kind), "//");
            all.insert((edit.span().start, fence.side == Side::Before, edit.text().to_owned()));
        }
        Ok(all.into_iter().map(|(at, _, text)| Edit::Insert { at, text }).collect())
    }

    fn reorder(&self, text: &Text<'_>, orders: &[Reorder]) -> Result<Vec<Edit>, NoPlace> {
        let written = orders.iter().enumerate().map(|(i, order)| {
            let help = "it has one order for all that it does; write it by hand".to_owned();
            let edit = reordered(order.access, text.source.slice(order.access), order.to);
            edit.ok_or(NoPlace { fence: i, help })
        });
        written.collect()
    }
}

/// Another order in place of the last word that says one; `fence;` says none.
fn reordered(access: Span, text: &str, order: Order) -> Option<Edit> {
    if text.trim_end_matches(';').trim() == "fence" {
        return Some(Edit::Replace { span: access, text: format!("fence({});", order.name()) });
    }
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let words = text.match_indices(|it| !is_word(it)).map(|(at, sign)| at + sign.len()).chain([0]);
    let said = words.filter_map(|start| {
        let word = text[start..].split(|it| !is_word(it)).next()?;
        Order::ALL.iter().any(|it| it.name() == word).then_some((start, word.len()))
    });
    let (start, length) = said.max()?;
    let start = access.start + start as u32;
    Some(Edit::Replace { span: Span::new(start, start + length as u32), text: order.name().to_owned() })
}

/// The innermost statement of a block that holds an operation; for a fence after it, the operation must be all of the
/// statement.
fn site(file: &File, operation: Span, side: Side) -> Option<Span> {
    let blocks = file.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Thread(thread) => Some(&thread.body),
        ItemKind::Function(function) => Some(&function.body),
        ItemKind::Const(_) | ItemKind::Enum(_) | ItemKind::Shared(_) | ItemKind::Forbid(_) => None,
        ItemKind::ConstArray(_) | ItemKind::Predicate(_) | ItemKind::Include(_) | ItemKind::Hang(_) => None,
    });
    let innermost = blocks.into_iter().find_map(|block| innermost(block, operation))?;
    match side {
        Side::Before => Some(innermost),
        Side::After => Some(innermost).filter(|it| *it == operation),
    }
}

fn innermost(block: &Block, operation: Span) -> Option<Span> {
    let holds = |stmt: &&Stmt| stmt.span.start <= operation.start && operation.end <= stmt.span.end;
    let stmt = block.statements.iter().find(holds)?;
    let inner = blocks(stmt).into_iter().find_map(|block| innermost(block, operation));
    Some(inner.unwrap_or(stmt.span))
}

/// The blocks of a statement.
fn blocks(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::If(it) => blocks_of_if(it),
        StmtKind::While(_, block) | StmtKind::DoWhile(block, _) | StmtKind::Loop(block) => vec![block],
        StmtKind::For(_, block) | StmtKind::Atomic(block) | StmtKind::Block(block) => vec![block],
        StmtKind::Choose(blocks) => blocks.iter().collect(),
        StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::Break | StmtKind::Continue => Vec::new(),
        StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::Assume(_) => Vec::new(),
        StmtKind::Assert(..) | StmtKind::Fence(_) | StmtKind::OrderedFence(_) | StmtKind::Skip => Vec::new(),
    }
}

fn blocks_of_if(it: &If) -> Vec<&Block> {
    let mut all = vec![&it.then];
    match &it.otherwise {
        Some(Else::Block(block)) => all.push(block),
        Some(Else::If(stmt)) => all.extend(blocks(stmt)),
        None => {}
    }
    all
}
