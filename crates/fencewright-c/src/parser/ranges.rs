//! `[0 ... 3] = e`, an extension: the same as one such element after the other, if `e` can be computed again.

use super::{Parsed, Parser};
use crate::ast::{BinaryOp, Designator, Expr, ExprKind, Initial};
use crate::token::Punctuator;

/// The most elements of a range.
const MAX_RANGE: i64 = 4096;

/// The first and the last element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    first: i64,
    last: i64,
}

impl Parser {
    /// The rest of `first ... last`, at the dots.
    pub(super) fn range(&mut self, first: &Expr) -> Parsed<Range> {
        self.bump();
        let last = self.full(Self::conditional)?;
        let (first, last) = (computed(first), computed(&last));
        if let (Some(first), Some(last)) = (first, last)
            && 0 <= first
            && first <= last
            && last < MAX_RANGE
        {
            return Ok(Range { first, last });
        }
        let what = format!("a range of elements that are not numbers from 0 to {MAX_RANGE} is");
        Err(self.refused(&what, "write the first and the last element as numbers"))
    }

    /// One part of a list for each element of a range; what they start with began at a token and was read last.
    pub(super) fn spread(
        &mut self,
        range: Range,
        designators: &[Designator],
        initial: &Initial,
        start: usize,
    ) -> Parsed<Vec<(Vec<Designator>, Initial)>> {
        let read = &self.tokens[start..self.at];
        let has_effect = read.windows(2).any(|pair| {
            let is_call = pair[0].name().is_some() && pair[1].is(Punctuator::OpenParen);
            is_call || pair[0].is(Punctuator::Increment) || pair[0].is(Punctuator::Decrement)
        });
        if has_effect {
            return Err(self.refused("a range of elements that start with a call is", "name each element by itself"));
        }
        self.copy((range.last - range.first + 1) as usize * read.len())?;
        let span = self.span_from(start);
        let one = |index: i64| {
            let kind = ExprKind::Integer { value: index as u64, bits: 32, is_signed: true };
            let element = Designator::Index(Expr { kind, span, is_in_macro: true });
            (designators.iter().cloned().chain([element]).collect(), initial.clone())
        };
        Ok((range.first..=range.last).map(one).collect())
    }
}

/// The value of an expression that is made of numbers.
fn computed(expr: &Expr) -> Option<i64> {
    if let ExprKind::Integer { value, .. } = &expr.kind {
        return i64::try_from(*value).ok();
    }
    let ExprKind::Binary(operator, left, right) = &expr.kind else { return None };
    let (left, right) = (computed(left)?, computed(right)?);
    match operator {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Div => left.checked_div(right),
        BinaryOp::Rem
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::BitAnd
        | BinaryOp::BitXor
        | BinaryOp::BitOr => None,
    }
}
