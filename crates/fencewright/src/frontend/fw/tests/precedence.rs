//! Parentheses are kept where they were written and added where precedence asks for them.

use super::formatted;
use crate::frontend::ast::{Conditional, Expr, ExprKind, File, Item, ItemKind, Name, Shift, Trivia};
use crate::frontend::fw::{parse, print};
use crate::program::{BinaryOp, UnaryOp};
use crate::source::{Source, Span};

fn check(text: &str, expected: &str) {
    let text = format!("predicate {text};");
    let expected = format!("predicate {expected};\n");
    assert_eq!(formatted(&text), expected);
    assert_eq!(formatted(&expected), expected);
}

#[test]
fn written_parentheses_are_kept() {
    check("(a+b)*c", "(a + b) * c");
    check("((a)) + (b*c)", "((a)) + (b * c)");
    check("!(-a)==- -b", "!(-a) == --b");
    check("a||b&&c==d|e^f&g+h*-i", "a || b && c == d | e ^ f & g + h * -i");
    check("x & 1 == 0", "x & 1 == 0");
    check("a-b-c", "a - b - c");
    check("a%b/c", "a % b / c");
    check("f(g(1),a[b[2]])", "f(g(1), a[b[2]])");
    check("a!=any(0..N-1*2)", "a != any(0..N-1*2)");
    check("a == any((N | 1)..f(1, N - 1)+1)", "a == any((N | 1)..f(1, N - 1)+1)");
    check("P(0)@end", "P(0)@end");
    check("true && !false", "true && !false");
    check("a<<2+b>>c", "a << 2 + b >> c");
    check("a&b<<(c<<1)", "a & b << (c << 1)");
    check("a?b:c?d:e", "a ? b : c ? d : e");
    check("a?b?c:d:e||f", "a ? b ? c : d : e || f");
    check("(a?b:c)+f(a?1:2)", "(a ? b : c) + f(a ? 1 : 2)");
    check("0xFf+0b01-0X1", "0xFf + 0b01 - 0X1");
}

#[test]
fn messages_are_kept_as_they_are() {
    let text = "thread T {\n    assert(x == 1, \"it is \\ 'é' // not, /* 1\");\n}\n";
    assert_eq!(formatted(text), text);
}

fn tree(kind: ExprKind) -> Expr {
    Expr { span: Span::default(), kind }
}

fn name(text: &str) -> Expr {
    tree(ExprKind::Name(Name { text: text.to_owned(), span: Span::default() }))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    tree(ExprKind::Binary(op, Box::new(left), Box::new(right)))
}

/// Prints a tree without `Paren` nodes; reading and printing it again gives the same.
fn check_tree(expr: Expr, expected: &str) {
    let item = Item { trivia: Trivia::default(), span: Span::default(), kind: ItemKind::Predicate(expr) };
    let text = print(&File { items: vec![item], end_comments: Vec::new() });
    assert_eq!(text, format!("predicate {expected};\n"));
    assert_eq!(formatted(&text), text);
}

#[test]
fn missing_parentheses_are_added() {
    let (a, b, c) = (|| name("a"), || name("b"), || name("c"));
    let (add, sub, mul) = (BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul);
    check_tree(binary(mul, binary(add, a(), b()), c()), "(a + b) * c");
    check_tree(binary(mul, a(), binary(mul, b(), c())), "a * (b * c)");
    let left = |a, b| tree(ExprKind::Shift(Shift::Left, Box::new(a), Box::new(b)));
    check_tree(left(a(), left(b(), c())), "a << (b << c)");
    check_tree(left(left(a(), b()), binary(add, b(), c())), "a << b << b + c");
    check_tree(binary(add, left(a(), b()), c()), "(a << b) + c");
    let it = Conditional { condition: a(), then: b(), otherwise: c() };
    let it = tree(ExprKind::Conditional(Box::new(it)));
    check_tree(binary(add, it.clone(), c()), "(a ? b : c) + c");
    let outer = Conditional { condition: it, then: b(), otherwise: c() };
    check_tree(tree(ExprKind::Conditional(Box::new(outer))), "(a ? b : c) ? b : c");
    check_tree(binary(sub, binary(sub, a(), b()), c()), "a - b - c");
    check_tree(binary(sub, a(), binary(sub, b(), c())), "a - (b - c)");
    check_tree(binary(BinaryOp::Eq, binary(BinaryOp::Lt, a(), b()), c()), "(a < b) == c");
    check_tree(binary(BinaryOp::Eq, a(), binary(BinaryOp::Lt, b(), c())), "a == (b < c)");
    check_tree(binary(BinaryOp::BitAnd, a(), binary(BinaryOp::Eq, b(), c())), "a & (b == c)");
    check_tree(binary(BinaryOp::And, binary(BinaryOp::Or, a(), b()), c()), "(a || b) && c");
    check_tree(binary(BinaryOp::Min, a(), binary(BinaryOp::Or, b(), c())), "min(a, b || c)");
    check_tree(tree(ExprKind::Unary(UnaryOp::Not, Box::new(binary(add, a(), b())))), "!(a + b)");
    check_tree(tree(ExprKind::Unary(UnaryOp::Neg, Box::new(tree(ExprKind::Int(-1))))), "--1");
    check_tree(binary(sub, a(), tree(ExprKind::Int(-1))), "a - -1");
    check_tree(binary(mul, a(), tree(ExprKind::Int(i64::MIN))), "a * (-9223372036854775807 - 1)");
}

#[test]
fn spans_cover_what_was_read() {
    let source = Source::new("t.fw", "thread T { x = f(1) + 2 ; }");
    let (file, diagnostics) = parse(&source);
    assert!(diagnostics.is_empty());
    let ItemKind::Thread(thread) = &file.items[0].kind else { panic!("the item is a thread") };
    assert_eq!(source.slice(thread.body.span), "{ x = f(1) + 2 ; }");
    assert_eq!(source.slice(thread.body.statements[0].span), "x = f(1) + 2 ;");
}
