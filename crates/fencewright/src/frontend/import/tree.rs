//! Short ways to build the surface tree.

use crate::frontend::ast::{
    Assign, Block, Comment, Expr, ExprKind, If, Item, ItemKind, Let, Name, Range, Stmt, StmtKind, Target, ThreadRef,
    Trivia, Type, TypeKind,
};
use crate::program::{BinaryOp, UnaryOp};
use crate::source::Span;

use crate::numeric;

/// An expression at a place.
pub(crate) fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { span, kind }
}

/// An integer.
pub(crate) fn int(value: i64, span: Span) -> Expr {
    expr(ExprKind::Int(value), span)
}

/// A name.
pub(crate) fn name(text: impl Into<String>, span: Span) -> Name {
    Name { text: text.into(), span }
}

/// A name as an expression.
pub(crate) fn var(text: impl Into<String>, span: Span) -> Expr {
    expr(ExprKind::Name(name(text, span)), span)
}

/// `left op right`
pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)
}

/// `!operand`
pub(crate) fn not(operand: Expr) -> Expr {
    let span = operand.span;
    expr(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), span)
}

/// `f(a, b)`
pub(crate) fn call(function: &str, arguments: Vec<Expr>, span: Span) -> Expr {
    expr(ExprKind::Call(name(function, span), arguments), span)
}

/// A target as a value.
pub(crate) fn value_of(target: &Target) -> Expr {
    let kind = match &target.index[..] {
        [] => ExprKind::Name(target.name.clone()),
        index => ExprKind::Index(target.name.clone(), index.to_vec()),
    };
    expr(kind, target.span)
}

/// A target without index.
pub(crate) fn target(text: impl Into<String>, span: Span) -> Target {
    Target { name: name(text, span), index: Vec::new(), span }
}

/// A statement without comments.
pub(crate) fn stmt(kind: StmtKind, span: Span) -> Stmt {
    Stmt { trivia: Trivia::default(), span, kind }
}

/// `target = value;`
pub(crate) fn assign(target: Target, value: Expr, span: Span) -> Stmt {
    stmt(StmtKind::Assign(Assign { target, op: None, value }), span)
}

/// `assume(condition);`
pub(crate) fn assume(condition: Expr, span: Span) -> Stmt {
    stmt(StmtKind::Assume(condition), span)
}

/// `let text: ty = value;`
pub(crate) fn let_(name: Name, ty: Option<Type>, value: Expr, span: Span) -> Stmt {
    stmt(StmtKind::Let(Let { name, sizes: Vec::new(), ty, value: Some(value) }), span)
}

/// `{ … }`
pub(crate) fn block(statements: Vec<Stmt>, span: Span) -> Block {
    Block { span, statements, ..Block::default() }
}

/// `atomic { … }`
pub(crate) fn atomic(statements: Vec<Stmt>, span: Span) -> Stmt {
    stmt(StmtKind::Atomic(block(statements, span)), span)
}

/// `if (condition) { … }`
pub(crate) fn if_(condition: Expr, then: Vec<Stmt>, span: Span) -> Stmt {
    stmt(StmtKind::If(If { condition, then: block(then, span), otherwise: None }), span)
}

/// An item without comments, with an empty line before it if wanted.
pub(crate) fn item(kind: ItemKind, span: Span, blank_before: bool) -> Item {
    Item { trivia: Trivia { blank_before, ..Trivia::default() }, span, kind }
}

/// A range, or `int` where an end is missing.
pub(crate) fn type_of(values: numeric::Range, span: Span) -> Type {
    let kind = match values.ends() {
        Some((lo, hi)) => TypeKind::Range(Box::new(range(lo, hi, span))),
        None => TypeKind::Int,
    };
    Type { span, kind }
}

/// `lo..hi`
pub(crate) fn range(lo: i64, hi: i64, span: Span) -> Range {
    Range { lo: int(lo, span), hi: int(hi, span) }
}

/// `P`, or `P(0)`.
pub(crate) fn thread_ref(text: &str, member: Option<i64>, span: Span) -> ThreadRef {
    ThreadRef { name: name(text, span), arguments: member.map(|it| int(it, span)).into_iter().collect(), span }
}

/// `// text`
pub(crate) fn comment(text: &str) -> Comment {
    Comment { text: format!("// {text}").trim_end().to_owned(), blank_before: false }
}
