//! Expressions, types and ranges as text.

use crate::frontend::ast::{Binder, Conditional, Expr, ExprKind, Range, ThreadRef, Type, TypeKind};
use crate::frontend::fw::precedence;
use crate::program::{BinaryOp, UnaryOp};
use crate::watch::heed;

/// An expression, without parentheses around it.
pub(super) fn expr(it: &Expr) -> String {
    heed(2);
    let mut out = String::new();
    write(&mut out, it, precedence::CONDITIONAL);
    out
}

/// Texts with commas between them.
pub(super) fn list<T>(all: &[T], text: impl Fn(&T) -> String) -> String {
    all.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// `bool`, `int` or a range.
pub(super) fn ty(it: &Type) -> String {
    match &it.kind {
        TypeKind::Bool => "bool".to_owned(),
        TypeKind::Int => "int".to_owned(),
        TypeKind::Range(it) => range(it),
        TypeKind::Named(name) => name.text.clone(),
    }
}

/// `lo..hi`
pub(super) fn range(it: &Range) -> String {
    let mut out = String::new();
    write_range(&mut out, it);
    out
}

/// `i in lo..hi`
pub(super) fn binder(it: &Binder) -> String {
    format!("{} in {}", it.name.text, range(&it.range))
}

/// `(a, b)`, or nothing if there are none.
pub(super) fn arguments(all: &[Expr]) -> String {
    if all.is_empty() { String::new() } else { format!("({})", list(all, expr)) }
}

/// `target op value`, as an expression.
pub(super) fn combine(op: BinaryOp, target: &str, value: &Expr) -> String {
    let level = precedence::of(op);
    if level == precedence::ATOM {
        return format!("{}({target}, {})", op.symbol(), expr(value));
    }
    let mut out = format!("{target} {} ", op.symbol());
    write(&mut out, value, level + 1);
    out
}

fn precedence_of(kind: &ExprKind) -> u8 {
    match kind {
        ExprKind::Binary(op, _, _) => precedence::of(*op),
        ExprKind::Shift(..) => precedence::SHIFT,
        ExprKind::Conditional(_) => precedence::CONDITIONAL,
        ExprKind::Unary(..) => precedence::PREFIX,
        // The least integer has no literal and is printed as a difference.
        ExprKind::Int(i64::MIN) => precedence::SUM,
        ExprKind::Int(value) if *value < 0 => precedence::PREFIX,
        ExprKind::Int(_)
        | ExprKind::Based(..)
        | ExprKind::Bool(_)
        | ExprKind::Any(_)
        | ExprKind::Name(_)
        | ExprKind::Index(..)
        | ExprKind::Paren(_)
        | ExprKind::Call(..)
        | ExprKind::At(..)
        | ExprKind::Count(..)
        | ExprKind::Member(..) => precedence::ATOM,
    }
}

/// Writes an expression, in parentheses if it binds looser than `loosest`.
fn write(out: &mut String, it: &Expr, loosest: u8) {
    let needs_parentheses = precedence_of(&it.kind) < loosest;
    if needs_parentheses {
        out.push('(');
    }
    match &it.kind {
        ExprKind::Int(i64::MIN) => *out += &format!("-{} - 1", i64::MAX),
        ExprKind::Int(value) => *out += &value.to_string(),
        ExprKind::Based(_, text) => *out += text,
        ExprKind::Bool(value) => *out += if *value { "true" } else { "false" },
        ExprKind::Any(None) => *out += "any",
        ExprKind::Any(Some(range)) => write_any(out, range),
        ExprKind::Name(name) => *out += &name.text,
        ExprKind::Index(name, index) => {
            *out += &name.text;
            write_indices(out, index);
        }
        ExprKind::Unary(op, inner) => {
            *out += match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
            };
            write(out, inner, precedence::PREFIX);
        }
        ExprKind::Binary(op, left, right) => write_binary(out, *op, left, right),
        ExprKind::Shift(shift, left, right) => {
            write(out, left, precedence::SHIFT);
            *out += &format!(" {} ", shift.symbol());
            write(out, right, precedence::SHIFT + 1);
        }
        ExprKind::Conditional(it) => write_conditional(out, it),
        ExprKind::Paren(inner) => write_between(out, "(", inner, ")"),
        ExprKind::Call(name, arguments) => {
            *out += &name.text;
            write_list(out, arguments);
        }
        ExprKind::At(thread, label) => write_of_thread(out, thread, "@", &label.text),
        ExprKind::Count(thread, label) => *out += &format!("#{}@{}", thread.name.text, label.text),
        ExprKind::Member(thread, register, index) => {
            write_of_thread(out, thread, ".", &register.text);
            write_indices(out, index);
        }
    }
    if needs_parentheses {
        out.push(')');
    }
}

fn write_any(out: &mut String, range: &Range) {
    *out += "any(";
    write_range(out, range);
    *out += ")";
}

/// `[i][j]`
fn write_indices(out: &mut String, indices: &[Expr]) {
    indices.iter().for_each(|index| write_between(out, "[", index, "]"));
}

fn write_conditional(out: &mut String, it: &Conditional) {
    write(out, &it.condition, precedence::OR);
    *out += " ? ";
    write(out, &it.then, precedence::CONDITIONAL);
    *out += " : ";
    write(out, &it.otherwise, precedence::CONDITIONAL);
}

fn write_between(out: &mut String, open: &str, inner: &Expr, close: &str) {
    *out += open;
    write(out, inner, precedence::CONDITIONAL);
    *out += close;
}

fn write_binary(out: &mut String, op: BinaryOp, left: &Expr, right: &Expr) {
    let level = precedence::of(op);
    if level == precedence::ATOM {
        *out += op.symbol();
        *out += "(";
        write(out, left, precedence::CONDITIONAL);
        *out += ", ";
        write(out, right, precedence::CONDITIONAL);
        *out += ")";
        return;
    }
    // Comparisons do not chain on either side.
    write(out, left, level + u8::from(level == precedence::COMPARISON));
    *out += " ";
    *out += op.symbol();
    *out += " ";
    write(out, right, level + 1);
}

fn write_list(out: &mut String, all: &[Expr]) {
    *out += "(";
    for (i, it) in all.iter().enumerate() {
        *out += if i > 0 { ", " } else { "" };
        write(out, it, precedence::CONDITIONAL);
    }
    *out += ")";
}

fn write_of_thread(out: &mut String, thread: &ThreadRef, sign: &str, name: &str) {
    *out += &thread.name.text;
    if !thread.arguments.is_empty() {
        write_list(out, &thread.arguments);
    }
    *out += sign;
    *out += name;
}

fn write_range(out: &mut String, range: &Range) {
    write_compact(out, &range.lo, precedence::SUM);
    *out += "..";
    write_compact(out, &range.hi, precedence::SUM);
}

/// Writes an end of a range: `N-1`, without blanks, so that the range reads as one thing.
fn write_compact(out: &mut String, it: &Expr, loosest: u8) {
    match &it.kind {
        ExprKind::Binary(op, left, right) if (loosest..precedence::ATOM).contains(&precedence::of(*op)) => {
            write_compact(out, left, precedence::of(*op));
            *out += op.symbol();
            write_compact(out, right, precedence::of(*op) + 1);
        }
        ExprKind::Binary(..)
        | ExprKind::Shift(..)
        | ExprKind::Conditional(_)
        | ExprKind::Unary(..)
        | ExprKind::Int(_)
        | ExprKind::Based(..)
        | ExprKind::Bool(_)
        | ExprKind::Any(_)
        | ExprKind::Name(_)
        | ExprKind::Index(..)
        | ExprKind::Paren(_)
        | ExprKind::Call(..)
        | ExprKind::At(..)
        | ExprKind::Count(..)
        | ExprKind::Member(..) => write(out, it, loosest),
    }
}
