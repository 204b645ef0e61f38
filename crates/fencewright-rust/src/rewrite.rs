//! Repairs in Rust: a fence is a statement beside the one that the operation stands in; an order is changed in place.

use std::rc::Rc;

use fencewright::frontend::Input;
use fencewright::frontend::rewrite::{Edit, Fence, NoPlace, Reorder, Rewrite, Spelling, Text, beside};
use fencewright::program::{FenceKind, Side};
use fencewright::source::{Source, SourceFile, Span};

use crate::ast::{Block, Expr, ExprKind, Function, Item, StmtKind};
use crate::lower::{each, each_in};
use crate::{Rust, parse, reorder};

/// Where a fence has no place.
const HELP: &str = "a fence needs a statement of its own: put the access into one, outside conditions and macros";

impl Rust {
    /// The text once more, as it was read.
    fn tree(&self, text: &Text<'_>) -> Whole {
        let mut again = Source::new(text.source.name(), text.source.text());
        let mut files = text.source.clone();
        let parsed =
            parse::parse(&mut Input { source: &mut again, files: &mut files, defines: text.defines }, &self.package);
        let (mut functions, mut uses) = (Vec::new(), Vec::new());
        for item in parsed.items {
            match item {
                Item::Function(it) => functions.push(it),
                Item::Use { name, path, module } => uses.push((name, path, module)),
                Item::Impl(it) => functions.extend(it.functions),
                Item::Trait { functions: all, .. } => functions.extend(all),
                Item::Struct { .. }
                | Item::Enum { .. }
                | Item::Static(_)
                | Item::Constant(_)
                | Item::Alias { .. }
                | Item::Macro(_) => {}
            }
        }
        Whole { functions, uses }
    }
}

/// All functions of a text.
#[derive(Debug)]
pub(crate) struct Whole {
    functions: Vec<Rc<Function>>,
    /// What `use` names: how it is called, and its path.
    uses: Vec<(String, Vec<String>, Vec<String>)>,
}

impl Whole {
    /// How an order is called at a place: by its own name, behind `Ordering::`, or by its full path.
    pub(crate) fn order(&self, name: &str, place: Span) -> String {
        let is_order = |path: &[String]| path.iter().any(|it| it == "Ordering");
        let is_known = self.knows(place, |it, path| it == name && is_order(path) || it == "*" && is_order(path));
        if is_known {
            return name.to_owned();
        }
        let has_type = self.knows(place, |it, path| it == "Ordering" && path.iter().any(|it| it == "atomic"));
        if has_type { format!("Ordering::{name}") } else { format!("std::sync::atomic::Ordering::{name}") }
    }

    /// Whether a `use` in the module of a place, or in the function around it, is like that.
    fn knows(&self, place: Span, is_it: impl Fn(&str, &[String]) -> bool) -> bool {
        let holds = |it: &&Rc<Function>| it.span.start <= place.start && place.end <= it.span.end;
        let around = self.functions.iter().filter(holds).min_by_key(|it| it.span.end - it.span.start);
        let scope = around.map(|it| it.scope.as_slice()).unwrap_or_default();
        let is_seen = |module: &[String]| {
            let is_whole = module == &scope[..scope.len().saturating_sub(1)];
            is_whole || module == scope
        };
        self.uses.iter().any(|(name, path, module)| is_seen(module) && is_it(name, path))
    }

    /// A fence with names that are known at a place.
    fn fence(&self, kind: FenceKind, place: Span) -> String {
        let order = match kind {
            FenceKind::Full => "SeqCst",
            FenceKind::StoreStore => "Release",
        };
        let is_known = self.knows(place, |it, path| it == "fence" && path.iter().any(|it| it == "atomic"));
        let fence = if is_known { "fence" } else { "std::sync::atomic::fence" };
        format!("{fence}({});", self.order(order, place))
    }

    /// Calls back for every expression.
    pub(crate) fn each(&self, see: &mut dyn FnMut(&Expr)) {
        for function in &self.functions {
            if let Some(body) = &function.body {
                each_in(body, &mut |it| see(it));
            }
        }
    }
}

impl Rewrite for Rust {
    fn spelling(&self) -> Spelling {
        Spelling { store_store: "fence(Ordering::Release);", full: "fence(Ordering::SeqCst);" }
    }

    fn edits(&self, text: &Text<'_>, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace> {
        let (source, tree) = (text.source, self.tree(text));
        let mut places = Vec::new();
        tree.functions.iter().filter_map(|it| it.body.as_ref()).for_each(|it| collect(it, &mut places));
        let mut edits = Vec::new();
        for (i, fence) in fences.iter().enumerate() {
            let Some(place) = around(&places, fence.beside) else {
                return Err(NoPlace { fence: i, help: HELP.to_owned() });
            };
            let file = source.file_of(place.span.start);
            let new = tree.fence(fence.kind, place.span);
            match (place.is_value, fence.side) {
                // A value has nothing behind it: it is kept, and given behind the fence.
                (true, Side::After) => edits.extend(behind_value(file, place.span, &new, source)),
                (false, _) | (true, Side::Before) => edits.push(beside(file, place.span, fence.side, &new, "/")),
            }
        }
        Ok(edits)
    }

    fn orders(&self, text: &Text<'_>) -> Vec<Span> {
        reorder::accesses(&self.tree(text))
    }

    fn reorder(&self, text: &Text<'_>, orders: &[Reorder]) -> Result<Vec<Edit>, NoPlace> {
        let help = "write the order by hand, or insert fences with `--repair fences`";
        reorder::edits(&self.tree(text), orders).map_err(|fence| NoPlace { fence, help: help.to_owned() })
    }
}

/// Something that another statement can stand beside.
#[derive(Clone, Copy, Debug)]
struct Beside {
    span: Span,
    /// Whether it is the value of its block.
    is_value: bool,
}

/// The statements of a block, and of all blocks in it.
fn collect(block: &Block, found: &mut Vec<Beside>) {
    for stmt in &block.statements {
        match &stmt.kind {
            StmtKind::Let(_, value, otherwise) => {
                if otherwise.is_none() {
                    found.push(Beside { span: stmt.span, is_value: false });
                }
                value.iter().for_each(|it| inner(it, found));
                otherwise.iter().for_each(|it| collect(it, found));
            }
            StmtKind::Expr(it) => {
                if is_simple(it) {
                    found.push(Beside { span: stmt.span, is_value: false });
                }
                inner(it, found);
            }
            StmtKind::Item => {}
        }
    }
    if let Some(value) = &block.value {
        if is_simple(value) {
            found.push(Beside { span: value.span, is_value: true });
        }
        inner(value, found);
    }
}

/// The blocks in an expression.
fn inner(it: &Expr, found: &mut Vec<Beside>) {
    each(it, &mut |it| match &it.kind {
        ExprKind::Block(_, block) | ExprKind::Loop(_, block) => collect_here(block, found),
        ExprKind::If(_, block, _) | ExprKind::While(_, _, block) | ExprKind::For(_, _, _, block) => {
            collect_here(block, found);
        }
        _ => {}
    });
}

/// The statements of a block alone; those of blocks in it are seen by whoever walks.
fn collect_here(block: &Block, found: &mut Vec<Beside>) {
    for stmt in &block.statements {
        let is_beside = match &stmt.kind {
            StmtKind::Let(_, _, otherwise) => otherwise.is_none(),
            StmtKind::Expr(it) => is_simple(it),
            StmtKind::Item => false,
        };
        if is_beside {
            found.push(Beside { span: stmt.span, is_value: false });
        }
    }
    if let Some(value) = &block.value
        && is_simple(value)
    {
        found.push(Beside { span: value.span, is_value: true });
    }
}

/// Whether it is done as a whole before what stands behind it.
fn is_simple(it: &Expr) -> bool {
    !matches!(
        it.kind,
        ExprKind::If(..)
            | ExprKind::Match(..)
            | ExprKind::Loop(..)
            | ExprKind::While(..)
            | ExprKind::For(..)
            | ExprKind::Block(..)
            | ExprKind::Return(_)
            | ExprKind::Break(..)
            | ExprKind::Continue(_)
    )
}

fn around(places: &[Beside], place: Span) -> Option<Beside> {
    let holds = |it: &&Beside| it.span.start <= place.start && place.end <= it.span.end;
    places.iter().filter(holds).min_by_key(|it| it.span.end - it.span.start).copied()
}

/// `e` as `let value = e; fence; value`.
fn behind_value(file: &SourceFile, span: Span, new: &str, source: &Source) -> Vec<Edit> {
    let (start, line) = file.line(file.line_of(span.start));
    let indent = &line[..line.len() - line.trim_start().len()];
    let is_first = line[..(span.start - start) as usize].trim().is_empty();
    let is_unit = source.slice(span).contains(".store(");
    if is_unit {
        let text = if is_first { format!(";\n{indent}{new}") } else { format!("; {new}") };
        return vec![Edit::Insert { at: span.end, text }];
    }
    let text = if is_first { format!(";\n{indent}{new}\n{indent}value") } else { format!("; {new} value") };
    vec![Edit::Insert { at: span.start, text: "let value = ".to_owned() }, Edit::Insert { at: span.end, text }]
}
