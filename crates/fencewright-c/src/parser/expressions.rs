//! Expressions with operators between and before operands.
//!
//! Operators are read by how tightly they bind ([`operator`]): a loop takes those of the same level or a tighter one,
//! and what stands to the right of each is read by the same function for the next level.

use super::{Parsed, Parser};
use crate::ast::{Expr, ExprKind, UnaryOp};
use crate::operator::{self, Operator};
use crate::token::{Punctuator, TokenKind};

impl Parser {
    /// An expression by itself, whose operators are counted anew.
    pub(super) fn full(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        self.tree(read)
    }

    /// With commas.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.tree(|it| {
            let start = it.at;
            let mut left = it.assignment()?;
            while it.eat(Punctuator::Comma) {
                it.link()?;
                let right = it.assignment()?;
                left = it.expr(start, ExprKind::Comma(Box::new(left), Box::new(right)));
            }
            Ok(left)
        })
    }

    /// `a = b`, or without `=`.
    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let left = self.conditional()?;
        let TokenKind::Punctuator(sign) = self.token().kind else { return Ok(left) };
        let Some(operator) = operator::assignment(sign) else { return Ok(left) };
        self.bump();
        let right = self.nested(Self::assignment)?;
        Ok(self.expr(start, ExprKind::Assign(operator, Box::new(left), Box::new(right))))
    }

    /// `a ? b : c`, or without `?`.
    pub(super) fn conditional(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let condition = self.binary(0)?;
        if !self.eat(Punctuator::Question) {
            return Ok(condition);
        }
        if self.is_at(Punctuator::Colon) {
            return Err(
                self.refused("`?:` without a value between is", "write the condition again between `?` and `:`")
            );
        }
        let then = self.nested(Self::expression)?;
        self.expect(Punctuator::Colon, "write `condition ? value : value`")?;
        let otherwise = self.nested(Self::conditional)?;
        Ok(self.expr(start, ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise))))
    }

    /// Operators that bind at least so tightly.
    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        self.nested(|it| {
            let start = it.at;
            let mut left = it.unary()?;
            loop {
                let TokenKind::Punctuator(sign) = it.token().kind else { return Ok(left) };
                let Some((operator, binds)) = operator::binary(sign).filter(|&(_, binds)| binds >= level) else {
                    return Ok(left);
                };
                it.link()?;
                it.bump();
                let right = Box::new(it.binary(binds + 1)?);
                let kind = match operator {
                    Operator::Or => ExprKind::Or(Box::new(left), right),
                    Operator::And => ExprKind::And(Box::new(left), right),
                    Operator::Binary(operator) => ExprKind::Binary(operator, Box::new(left), right),
                };
                left = it.expr(start, kind);
            }
        })
    }

    /// Operators before an operand, casts included.
    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        let start = self.at;
        match self.word() {
            "" => {}
            "sizeof" => return self.nested(Self::size_of),
            "_Alignof" | "__alignof__" | "alignof" => {
                return Err(self.refused("`_Alignof` is", "write the number, or leave it out"));
            }
            "__extension__" => {
                self.bump();
                return self.nested(Self::unary);
            }
            _ => return self.postfix(),
        }
        if self.is_at(Punctuator::OpenParen) && self.is_type(self.ahead(1)) {
            return self.cast();
        }
        let TokenKind::Punctuator(sign) = self.token().kind else { return self.postfix() };
        if sign == Punctuator::AndAnd {
            return Err(self.refused("the address of a label is", "use `switch`"));
        }
        let is_step = matches!(sign, Punctuator::Increment | Punctuator::Decrement);
        if !is_step && prefix(sign).is_none() {
            return self.postfix();
        }
        self.bump();
        let operand = Box::new(self.nested(Self::unary)?);
        let kind = match prefix(sign) {
            None => ExprKind::Step { operand, is_increment: sign == Punctuator::Increment, is_prefix: true },
            Some(Prefix::Unary(operator)) => ExprKind::Unary(operator, operand),
            Some(Prefix::Deref) => ExprKind::Deref(operand),
            Some(Prefix::AddressOf) => ExprKind::AddressOf(operand),
        };
        Ok(self.expr(start, kind))
    }

    /// `(T)e`, or `(T){ … }` with what can stand behind it.
    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.at;
        self.bump();
        let ty = Box::new(self.type_name()?);
        self.expect(Punctuator::CloseParen, "close the parenthesis behind the type")?;
        if self.is_at(Punctuator::OpenBrace) {
            let initial = Box::new(self.nested(Self::list)?);
            let compound = self.expr(start, ExprKind::Compound(ty, initial));
            return self.postfix_of(compound, start);
        }
        let operand = Box::new(self.nested(Self::unary)?);
        Ok(self.expr(start, ExprKind::Cast(ty, operand)))
    }

    fn size_of(&mut self) -> Parsed<Expr> {
        let start = self.at;
        self.bump();
        if self.is_at(Punctuator::OpenParen) && self.is_type(self.ahead(1)) {
            self.bump();
            let ty = self.type_name()?;
            self.expect(Punctuator::CloseParen, "close the parenthesis of `sizeof(`")?;
            return Ok(self.expr(start, ExprKind::SizeOfType(Box::new(ty))));
        }
        let operand = Box::new(self.nested(Self::unary)?);
        Ok(self.expr(start, ExprKind::SizeOf(operand)))
    }
}

/// What a sign before an operand does.
enum Prefix {
    Unary(UnaryOp),
    Deref,
    AddressOf,
}

fn prefix(sign: Punctuator) -> Option<Prefix> {
    const SIGNS: [(Punctuator, Prefix); 6] = [
        (Punctuator::Plus, Prefix::Unary(UnaryOp::Plus)),
        (Punctuator::Minus, Prefix::Unary(UnaryOp::Minus)),
        (Punctuator::Not, Prefix::Unary(UnaryOp::Not)),
        (Punctuator::Tilde, Prefix::Unary(UnaryOp::Complement)),
        (Punctuator::Star, Prefix::Deref),
        (Punctuator::And, Prefix::AddressOf),
    ];
    SIGNS.into_iter().find(|(punctuator, _)| *punctuator == sign).map(|(_, prefix)| prefix)
}
