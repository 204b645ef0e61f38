//! Programs that stand for those with any number of threads: loops over threads visit those with an even index any
//! number of times.
//!
//! ```text
//!    for k in 0..N-1 { body }   ⟹   for k in 0..N-1 { loop { if (k % 2 == 0) { if (any) { break; } }
//!                                                            body
//!                                                            if (k % 2 == 1) { break; } } }
//! ```
//!
//! Or with the index in a register, so that all threads have the same control flow, whatever their number:
//!
//! ```text
//!    for k in lo..hi { body }   ⟹   { let k: 0..N; k = lo;
//!                                      while (k <= hi) {
//!                                        if (k % 2 == 0) { if (any) { k = k + 1; continue; } }
//!                                        body
//!                                        if (k % 2 == 1) { k = k + 1; } } }
//! ```

use std::collections::BTreeSet;

use crate::frontend::ast::{
    Assign, Binder, Block, Else, Expr, ExprKind, File, If, ItemKind, Let, Name, Range, Stmt, StmtKind, Target, Trivia,
    Type, TypeKind,
};
use crate::program::BinaryOp;
use crate::source::Span;

use super::shapes::{for_each_loop, range_mentions};

/// What becomes of a loop over threads.
#[derive(Clone, Copy)]
pub(super) enum Loops {
    /// It is done for each thread, any number of times for one that stands for others.
    Repeated,
    /// Its index is in a register.
    Counted,
}

/// The file with such loops.
pub(super) fn represented(file: &File, n: &str, loops: Loops) -> File {
    let mut file = file.clone();
    for item in &mut file.items {
        let mut names: Vec<String> = vec![n.to_owned()];
        match &mut item.kind {
            ItemKind::Thread(thread) => {
                names.extend(thread.parameters.iter().map(|it| it.name.text.clone()));
                Remaking { n, loops }.block(&mut thread.body, &mut names);
            }
            ItemKind::Function(function) => Remaking { n, loops }.block(&mut function.body, &mut names),
            ItemKind::Const(_) | ItemKind::ConstArray(_) | ItemKind::Enum(_) | ItemKind::Shared(_) => {}
            ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => {}
        }
    }
    file
}

/// The places of the indices of loops over threads, which are those of the registers that they become.
pub(super) fn indices(file: &File, n: &str) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    for item in &file.items {
        let (body, own) = match &item.kind {
            ItemKind::Thread(it) => (&it.body, it.parameters.first()),
            ItemKind::Function(it) => (&it.body, None),
            ItemKind::Const(_) | ItemKind::ConstArray(_) | ItemKind::Enum(_) | ItemKind::Shared(_) => continue,
            ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => continue,
        };
        let names = [Some(n), own.map(|it| it.name.text.as_str())];
        let is_index = |it: &Binder| names.iter().flatten().any(|name| range_mentions(&it.range, name));
        for_each_loop(body, &mut |binder| found.extend(is_index(binder).then_some(binder.name.span)));
    }
    found
}

struct Remaking<'a> {
    n: &'a str,
    loops: Loops,
}

impl Remaking<'_> {
    fn block(&self, block: &mut Block, names: &mut Vec<String>) {
        block.statements.iter_mut().for_each(|it| self.statement(it, names));
    }

    fn statement(&self, stmt: &mut Stmt, names: &mut Vec<String>) {
        match &mut stmt.kind {
            StmtKind::For(binder, body) => {
                let is_index = names.iter().any(|name| range_mentions(&binder.range, name));
                if !is_index {
                    return self.block(body, names);
                }
                names.push(binder.name.text.clone());
                self.block(body, names);
                names.pop();
                match self.loops {
                    Loops::Repeated => *body = repeated(binder, body),
                    Loops::Counted => stmt.kind = StmtKind::Block(counted(self.n, binder, body)),
                }
            }
            StmtKind::If(it) => self.if_(it, names),
            StmtKind::While(_, body) | StmtKind::DoWhile(body, _) => self.block(body, names),
            StmtKind::Loop(block) | StmtKind::Atomic(block) | StmtKind::Block(block) => self.block(block, names),
            StmtKind::Choose(blocks) => blocks.iter_mut().for_each(|it| self.block(it, names)),
            StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::Return(_) | StmtKind::Goto(_) => {}
            StmtKind::Label(_) | StmtKind::Assume(_) | StmtKind::Assert(..) | StmtKind::Skip => {}
            StmtKind::Break | StmtKind::Continue | StmtKind::Fence(_) | StmtKind::OrderedFence(_) => {}
        }
    }

    fn if_(&self, it: &mut If, names: &mut Vec<String>) {
        self.block(&mut it.then, names);
        match &mut it.otherwise {
            Some(Else::Block(block)) => self.block(block, names),
            Some(Else::If(stmt)) => self.statement(stmt, names),
            None => {}
        }
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

/// The body for each value of a register.
fn counted(n: &str, binder: &Binder, body: &Block) -> Block {
    let span = binder.name.span;
    let statement = |kind: StmtKind| Stmt { trivia: Trivia::default(), span, kind };
    let block = |statements: Vec<Stmt>| Block { span, statements, ..Block::default() };
    let expr = |kind: ExprKind| Expr { span, kind };
    let index = || expr(ExprKind::Name(binder.name.clone()));
    let binary = |op, left: Expr, right: Expr| expr(ExprKind::Binary(op, Box::new(left), Box::new(right)));
    let becomes = |value: Expr| {
        let target = Target { name: binder.name.clone(), index: Vec::new(), span };
        statement(StmtKind::Assign(Assign { target, op: None, value }))
    };
    let next = || becomes(binary(BinaryOp::Add, index(), expr(ExprKind::Int(1))));
    let only_if = |condition: Expr, then: Vec<Stmt>, otherwise: Option<Vec<Stmt>>| {
        let otherwise = otherwise.map(|it| Else::Block(block(it)));
        statement(StmtKind::If(If { condition, then: block(then), otherwise }))
    };
    let last = Name { text: n.to_owned(), span };
    let range = Range { lo: expr(ExprKind::Int(0)), hi: expr(ExprKind::Name(last)) };
    let ty = Some(Type { span, kind: TypeKind::Range(Box::new(range)) });
    let register = Let { name: binder.name.clone(), sizes: Vec::new(), ty, value: None };
    let passes = only_if(expr(ExprKind::Any(None)), vec![next(), statement(StmtKind::Continue)], None);
    let round = vec![
        only_if(has_remainder(binder, 0), vec![passes], None),
        statement(StmtKind::Block(body.clone())),
        only_if(has_remainder(binder, 1), vec![next()], None),
    ];
    let goes_on = binary(BinaryOp::Le, index(), binder.range.hi.clone());
    block(vec![
        statement(StmtKind::Let(register)),
        becomes(binder.range.lo.clone()),
        statement(StmtKind::While(goes_on, block(round))),
    ])
}
