//! Operators on numbers, and casts.
//!
//! What leaves its type is a panic, as in a debug build: that is asserted where it can be told with little, for
//! differences of unsigned numbers and for types of at most 16 bits. Wider sums and products are taken for what they
//! are without bounds; lowering says so where one may leave its type.

use fencewright::frontend::hir::{Expr, StmtKind};
use fencewright::program::{BinaryOp as Op, UnaryOp};
use fencewright::source::Span;

use crate::ast::{self, Binary, Unary};
use crate::types::{Integer, Kind, Type};
use crate::value::{Pointer, Points, Value};

use super::Lowering;
use super::expressions::{and, retyped};
use super::joins::integer;
use super::resolve::calculate;
use super::state::test;

impl Lowering<'_> {
    pub(super) fn unary(&mut self, op: Unary, of: &ast::Expr, span: Span) -> Option<Value> {
        let value = self.value(of)?;
        match (op, value) {
            (_, Value::Never) => Some(Value::Never),
            (Unary::Not, Value::Number(expr, Type::Bool)) => Some(Value::bool(match expr {
                Expr::Const(it) => Expr::Const(i64::from(it == 0)),
                expr => expr.negated(),
            })),
            (Unary::Not, Value::Number(expr, ty)) => {
                let Some(it) = integer(&ty) else {
                    return self.refuse(span, "it is not known how wide this integer is", "say its type: `!0_u32`");
                };
                // All bits the other way round: the greatest value minus it, or minus it and one.
                let from = if it.is_signed { -1 } else { it.bounds().1 };
                let value = self.arithmetic(Binary::Sub, Expr::Const(from), expr);
                Some(Value::Number(value, ty))
            }
            (Unary::Negative, Value::Number(expr, ty)) => Some(Value::Number(
                match expr {
                    Expr::Const(it) => Expr::Const(it.wrapping_neg()),
                    expr => Expr::unary(UnaryOp::Neg, expr),
                },
                ty,
            )),
            (Unary::Negative, Value::Other) => Some(Value::Other),
            (Unary::Deref, _) | (Unary::Not | Unary::Negative, _) => {
                self.refuse(span, "this operator is for numbers and truth values", "apply it to one")
            }
        }
    }

    pub(super) fn binary(&mut self, op: Binary, a: &ast::Expr, b: &ast::Expr, span: Span) -> Option<Value> {
        if matches!(op, Binary::And | Binary::Or) {
            return self.short_circuit(op, a, b, span);
        }
        let left = self.value(a)?;
        if left.is_never() {
            return Some(left);
        }
        let mark = self.state.mark();
        let right = self.value(b)?;
        if right.is_never() {
            return Some(right);
        }
        let left = if self.state.mark() > mark { self.settled_at(left, mark, span) } else { left };
        if matches!(op, Binary::Eq | Binary::Ne) {
            let same = self.compared(&left, &right, span)?;
            let is = match (op, same) {
                (Binary::Eq, same) => same,
                (_, Expr::Const(it)) => Expr::Const(i64::from(it == 0)),
                (_, same) => same.negated(),
            };
            return Some(Value::bool(is));
        }
        self.combined(op, left, right, span)
    }

    /// `a && b`, `a || b`: the second is looked at only if that matters.
    fn short_circuit(&mut self, op: Binary, a: &ast::Expr, b: &ast::Expr, span: Span) -> Option<Value> {
        let Value::Number(left, _) = self.value(a)? else {
            return self.refuse(a.span, "this is no condition", "use something that is true or false");
        };
        let decides = i64::from(op == Binary::Or);
        if let Expr::Const(it) = left {
            return if it == decides { Some(Value::bool(Expr::Const(it))) } else { self.value(b) };
        }
        let left = self.state.settled(left, span);
        self.state.depth += 1;
        self.state.open();
        let right = self.value(b);
        let block = self.state.close();
        self.state.depth -= 1;
        let right = match right? {
            Value::Number(right, _) => right,
            Value::Never => Expr::Const(0),
            _ => return self.refuse(b.span, "this is no condition", "use something that is true or false"),
        };
        if block.is_empty() {
            let op = if op == Binary::And { Op::And } else { Op::Or };
            return Some(Value::bool(Expr::binary(op, left, right)));
        }
        let result = self.state.hoisted(None, true, span);
        self.state.emit(StmtKind::Assign(result, left.clone()), span);
        let mut block = block;
        block.push(fencewright::frontend::hir::Stmt { span, kind: StmtKind::Assign(result, right) });
        let looks = if op == Binary::And { left } else { left.negated() };
        self.state.emit(StmtKind::If(vec![(test(looks, span), block)], Vec::new()), span);
        Some(Value::bool(super::state::register(result)))
    }

    /// Two values by an operator.
    pub(super) fn combined(&mut self, op: Binary, left: Value, right: Value, span: Span) -> Option<Value> {
        let (Value::Number(a, a_ty), Value::Number(b, b_ty)) = (left, right) else {
            if self.is_unsure {
                return Some(Value::Unset);
            }
            return self.refuse(span, "this operator is for numbers", "apply it to integers");
        };
        if a_ty == Type::Text || b_ty == Type::Text {
            return self.refuse(span, "this operator is for numbers", "of texts only `==` and `!=` are known");
        }
        let is_comparison = matches!(op, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge);
        let is_shift = matches!(op, Binary::Shl | Binary::Shr);
        let ty = if a_ty == Type::Integer(None) && !is_shift { b_ty } else { a_ty };
        if let (Expr::Const(x), Expr::Const(y)) = (&a, &b) {
            let Some(value) = calculate(op, *x, *y).filter(|it| is_comparison || fits(*it, &ty)) else {
                self.asserted(Expr::Const(0), span);
                return Some(Value::Number(Expr::Const(0), ty));
            };
            return Some(Value::Number(Expr::Const(value), if is_comparison { Type::Bool } else { ty }));
        }
        if is_comparison {
            return Some(Value::bool(Expr::binary(plain(op)?, a, b)));
        }
        if ty == Type::Bool {
            return Some(Value::bool(Expr::binary(of_truths(op), a, b)));
        }
        if is_shift {
            return self.shifted(op, a, &b, ty, span);
        }
        if matches!(op, Binary::Div | Binary::Rem) && !matches!(b, Expr::Const(it) if it != 0) {
            self.asserted(Expr::binary(Op::Ne, b.clone(), Expr::Const(0)), span);
        }
        if op == Binary::Sub && integer(&ty).is_none_or(|it| !it.is_signed) && !is_literal(&ty) {
            self.asserted(Expr::binary(Op::Ge, a.clone(), b.clone()), span);
        }
        let value = Expr::binary(plain(op)?, a, b);
        if let Some(it) = integer(&ty).filter(|it| it.bits <= 16)
            && matches!(op, Binary::Add | Binary::Mul)
        {
            let value = self.state.settled(value, span);
            let (least, greatest) = it.bounds();
            let is = |op, bound| Expr::binary(op, value.clone(), Expr::Const(bound));
            self.asserted(and(is(Op::Ge, least), is(Op::Le, greatest)), span);
            return Some(Value::Number(value, ty));
        }
        Some(Value::Number(value, ty))
    }

    fn shifted(&mut self, op: Binary, a: Expr, b: &Expr, ty: Type, span: Span) -> Option<Value> {
        let Expr::Const(by) = b else {
            return self.refuse(span, "the number of bits to shift by is not known", "shift by a constant");
        };
        let Some(power) = u32::try_from(*by).ok().and_then(|it| 1_i64.checked_shl(it)).filter(|it| *it > 0) else {
            return self.refuse(span, "a shift by this many bits", "shift by less than the width of the type");
        };
        let op = if op == Binary::Shl { Op::Mul } else { Op::Div };
        let value = Expr::binary(op, a, Expr::Const(power));
        let value = if op == Op::Mul { wrapped(value, integer(&ty).unwrap_or(Integer::I32)) } else { value };
        Some(Value::Number(value, ty))
    }

    /// An operator without a check.
    pub(super) fn arithmetic(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        match (&a, &b) {
            (Expr::Const(x), Expr::Const(y)) => Expr::Const(calculate(op, *x, *y).unwrap_or(0)),
            _ => plain(op).map_or(Expr::Const(0), |op| Expr::binary(op, a, b)),
        }
    }

    /// `e as T`
    pub(super) fn cast(&mut self, of: &ast::Expr, ty: &ast::Type, span: Span) -> Option<Value> {
        let value = self.value(of)?;
        let (module, generics) = (self.state.frame().module.clone(), self.state.frame().generics.clone());
        let ty = self.ty(ty, &generics, &module);
        match (value, ty) {
            (Value::Number(expr, from), Type::Integer(Some(to))) => {
                let from = integer(&from);
                let may_change = from.is_none_or(|from| to.bits < from.bits || from.is_signed && !to.is_signed);
                let is_truth = from.is_none() && !matches!(expr, Expr::Const(_));
                let expr = if may_change && !to.is_signed && !is_truth { wrapped(expr, to) } else { expr };
                Some(Value::Number(expr, Type::Integer(Some(to))))
            }
            (Value::Enum(it), ty @ Type::Integer(_)) => {
                let numbers = self.discriminants(it.number);
                let is_plain = numbers.iter().enumerate().all(|(at, it)| *it == Some(at as i64));
                match (is_plain, it.tag) {
                    (true, tag) => Some(Value::Number(tag, ty)),
                    (false, Expr::Const(tag)) => {
                        let number = usize::try_from(tag).ok().and_then(|it| numbers.get(it).copied().flatten());
                        Some(Value::Number(Expr::Const(number?), ty))
                    }
                    _ => self.refuse(span, "it is not known which variant is cast", "match on it"),
                }
            }
            (Value::Number(Expr::Const(0), _), Type::Pointer(_, to)) => {
                let (kind, what) = (Kind::Raw, Points::Number(Expr::Const(0)));
                Some(Value::Pointer(Pointer { kind, to: (*to).clone(), what }))
            }
            (Value::Pointer(it), Type::Pointer(_, to)) => {
                let to = if to.is_unknown() || *to == Type::UNIT { it.to } else { (*to).clone() };
                Some(Value::Pointer(Pointer { kind: Kind::Raw, to, what: it.what }))
            }
            (Value::Pointer(_), Type::Integer(_)) => {
                self.refuse(span, "a pointer is cast to an integer", "compare pointers as they are")
            }
            (Value::Number(..), Type::Pointer(..)) => {
                self.refuse(span, "an integer is cast to a pointer", "keep the pointer as a pointer")
            }
            (value, ty) => Some(retyped(value, &ty)),
        }
    }
}

/// What an operator on bits does to truth values.
fn of_truths(op: Binary) -> Op {
    match op {
        Binary::BitAnd => Op::And,
        Binary::BitOr => Op::Or,
        _ => Op::Ne,
    }
}

fn is_literal(ty: &Type) -> bool {
    *ty == Type::Integer(None)
}

fn fits(value: i64, ty: &Type) -> bool {
    integer(ty).is_none_or(|it| it.bounds().0 <= value && value <= it.bounds().1)
}

/// The operator of the library.
fn plain(op: Binary) -> Option<Op> {
    Some(match op {
        Binary::Add => Op::Add,
        Binary::Sub => Op::Sub,
        Binary::Mul => Op::Mul,
        Binary::Div => Op::Div,
        Binary::Rem => Op::Rem,
        Binary::BitAnd => Op::BitAnd,
        Binary::BitOr => Op::BitOr,
        Binary::BitXor => Op::BitXor,
        Binary::Eq => Op::Eq,
        Binary::Ne => Op::Ne,
        Binary::Lt => Op::Lt,
        Binary::Le => Op::Le,
        Binary::Gt => Op::Gt,
        Binary::Ge => Op::Ge,
        Binary::And => Op::And,
        Binary::Or => Op::Or,
        Binary::Shl | Binary::Shr => return None,
    })
}

/// A number as one of a type, where more bits are cut off; those of 64 bits are left as they are.
pub(super) fn wrapped(expr: Expr, ty: Integer) -> Expr {
    let (_, greatest) = ty.bounds();
    match expr {
        expr if ty.is_signed || ty.bits == 64 => expr,
        Expr::Const(it) => Expr::Const(it & greatest),
        expr => Expr::binary(Op::BitAnd, expr, Expr::Const(greatest)),
    }
}
