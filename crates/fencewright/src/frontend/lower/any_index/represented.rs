//! Programs that stand for those with any number of threads: loops over threads visit those with an even index any
//! number of times.
//!
//! ```text
//!    for k in 0..N-1 { body }   ⟹   for k in 0..N-1 { loop { if (k % 2 == 0) { if (any) { break; } }
//!                                                            body
//!                                                            if (k % 2 == 1) { break; } } }
//! ```

use crate::frontend::ast::{Binder, Block, Else, Expr, ExprKind, File, If, ItemKind, Stmt, StmtKind, Trivia};
use crate::program::BinaryOp;
use crate::source::Span;

use super::shapes::range_mentions;

/// The file with such loops.
pub(super) fn represented(file: &File, n: &str) -> File {
    let mut file = file.clone();
    for item in &mut file.items {
        let mut names: Vec<String> = vec![n.to_owned()];
        match &mut item.kind {
            ItemKind::Thread(thread) => {
                names.extend(thread.parameters.iter().map(|it| it.name.text.clone()));
                in_block(&mut thread.body, &mut names);
            }
            ItemKind::Function(function) => in_block(&mut function.body, &mut names),
            ItemKind::Const(_) | ItemKind::ConstArray(_) | ItemKind::Enum(_) | ItemKind::Shared(_) => {}
            ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => {}
        }
    }
    file
}

fn in_block(block: &mut Block, names: &mut Vec<String>) {
    block.statements.iter_mut().for_each(|it| in_statement(it, names));
}

fn in_statement(stmt: &mut Stmt, names: &mut Vec<String>) {
    match &mut stmt.kind {
        StmtKind::For(binder, body) => {
            let is_index = names.iter().any(|name| range_mentions(&binder.range, name));
            if is_index {
                names.push(binder.name.text.clone());
            }
            in_block(body, names);
            if is_index {
                names.pop();
                *body = repeated(binder, body);
            }
        }
        StmtKind::If(it) => in_if(it, names),
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) => in_block(body, names),
        StmtKind::Loop(block) | StmtKind::Atomic(block) | StmtKind::Block(block) => in_block(block, names),
        StmtKind::Choose(blocks) => blocks.iter_mut().for_each(|it| in_block(it, names)),
        StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::Return(_) | StmtKind::Goto(_) => {}
        StmtKind::Label(_) | StmtKind::Assume(_) | StmtKind::Assert(..) | StmtKind::Skip => {}
        StmtKind::Break | StmtKind::Continue | StmtKind::Fence(_) | StmtKind::OrderedFence(_) => {}
    }
}

fn in_if(it: &mut If, names: &mut Vec<String>) {
    in_block(&mut it.then, names);
    match &mut it.otherwise {
        Some(Else::Block(block)) => in_block(block, names),
        Some(Else::If(stmt)) => in_statement(stmt, names),
        None => {}
    }
}

/// The body, any number of times where the index is even, and once where it is odd.
fn repeated(binder: &Binder, body: &Block) -> Block {
    let span = binder.name.span;
    let statement = |kind: StmtKind| Stmt { trivia: Trivia::default(), span, kind };
    let block = |statements: Vec<Stmt>| Block { span, statements, ..Block::default() };
    let only_if = |condition: Expr, then: Stmt| {
        statement(StmtKind::If(If { condition, then: block(vec![then]), otherwise: None }))
    };
    let stop = || statement(StmtKind::Break);
    let either = Expr { span, kind: ExprKind::Any(None) };
    let round = vec![
        only_if(has_remainder(binder, 0), only_if(either, stop())),
        statement(StmtKind::Block(body.clone())),
        only_if(has_remainder(binder, 1), stop()),
    ];
    block(vec![statement(StmtKind::Loop(block(round)))])
}

/// `k % 2 == 0`
fn has_remainder(binder: &Binder, remainder: i64) -> Expr {
    let span: Span = binder.name.span;
    let expr = |kind: ExprKind| Expr { span, kind };
    let number = |it: i64| Box::new(expr(ExprKind::Int(it)));
    let name = Box::new(expr(ExprKind::Name(binder.name.clone())));
    let rest = Box::new(expr(ExprKind::Binary(BinaryOp::Rem, name, number(2))));
    expr(ExprKind::Binary(BinaryOp::Eq, rest, number(remainder)))
}
