//! Repairs in C: a fence is a statement beside the one that the operation stands in; an order is changed in place.

use fencewright::frontend::Input;
use fencewright::frontend::rewrite::{Edit, Fence, NoPlace, Reorder, Rewrite, Spelling, Text, beside};
use fencewright::source::{Source, Span};

use crate::ast::{Item, Stmt, StmtKind, Unit};
use crate::{read, reorder};

/// Where a fence has no place.
const HELP: &str = "a fence needs a statement of its own: put the access into one, outside macros and conditions";

/// `atomic_thread_fence(memory_order_seq_cst);`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fences;

impl Rewrite for Fences {
    fn spelling(&self) -> Spelling {
        Spelling {
            store_store: "atomic_thread_fence(memory_order_release);",
            full: "atomic_thread_fence(memory_order_seq_cst);",
        }
    }

    fn edits(&self, text: &Text<'_>, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace> {
        let (source, tree) = (text.source, tree(text));
        let mut statements = Vec::new();
        for item in &tree.items {
            if let Item::Function(function) = item {
                collect(&function.body, source, &mut statements);
            }
        }
        let mut edits = Vec::new();
        for (i, fence) in fences.iter().enumerate() {
            let Some(statement) = around(&statements, fence.beside) else {
                return Err(NoPlace { fence: i, help: HELP.to_owned() });
            };
            let file = source.file_of(statement.start);
            edits.push(beside(file, statement, fence.side, self.spelling().of(fence.kind), "/"));
        }
        let has_header = tree.litmus.is_some() || source.files().iter().any(|it| it.text().contains("stdatomic.h"));
        if !has_header {
            edits.insert(0, Edit::Insert { at: 0, text: "#include <stdatomic.h>\n".to_owned() });
        }
        Ok(edits)
    }

    fn orders(&self, text: &Text<'_>) -> Vec<Span> {
        reorder::accesses(&tree(text), text.source)
    }

    fn reorder(&self, text: &Text<'_>, orders: &[Reorder]) -> Result<Vec<Edit>, NoPlace> {
        let help = "write the order by hand, or insert fences with `--repair fences`";
        reorder::edits(&tree(text), text, orders).map_err(|fence| NoPlace { fence, help: help.to_owned() })
    }
}

/// The text once more, as it was read.
fn tree(text: &Text<'_>) -> Unit {
    let mut again = Source::new(text.source.name(), text.source.text());
    let mut files = text.source.clone();
    read::parse(&mut Input { source: &mut again, files: &mut files, defines: text.defines }).0
}

/// The statements that another can stand beside: each is in a block, and its end is not in a macro.
fn collect(block: &[Stmt], source: &Source, found: &mut Vec<Span>) {
    for stmt in block {
        // What begins with a macro and ends with a `;` of its own is most likely one call of that macro; the text is
        // read again, so trying is safe.
        let is_whole = !stmt.is_in_macro || source.slice(stmt.span).ends_with(';');
        match &stmt.kind {
            StmtKind::Expr(Some(_)) | StmtKind::Declarations(_) if is_whole => found.push(stmt.span),
            StmtKind::Declarations(_)
            | StmtKind::Expr(_)
            | StmtKind::Block(_)
            | StmtKind::If(..)
            | StmtKind::While(..)
            | StmtKind::DoWhile(..)
            | StmtKind::For { .. }
            | StmtKind::Switch(..)
            | StmtKind::Case(..)
            | StmtKind::Default(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Goto(_)
            | StmtKind::Label(..)
            | StmtKind::Asm { .. } => inner(stmt, source, found),
        }
    }
}

fn inner(stmt: &Stmt, source: &Source, found: &mut Vec<Span>) {
    match &stmt.kind {
        StmtKind::Block(block) => collect(block, source, found),
        StmtKind::If(_, then, otherwise) => {
            inner(then, source, found);
            otherwise.iter().for_each(|it| inner(it, source, found));
        }
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::Switch(_, body) => inner(body, source, found),
        StmtKind::For { body, .. } => inner(body, source, found),
        StmtKind::Case(_, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
            collect(std::slice::from_ref(body), source, found);
        }
        StmtKind::Declarations(_)
        | StmtKind::Expr(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Goto(_)
        | StmtKind::Asm { .. } => {}
    }
}

fn around(statements: &[Span], place: Span) -> Option<Span> {
    let holds = |it: &&Span| it.start <= place.start && place.end <= it.end;
    statements.iter().filter(holds).min_by_key(|it| it.end - it.start).copied()
}
