//! Expressions and conditions.

use super::Parser;
use crate::frontend::ast::{Expr, ExprKind};
use crate::frontend::import::cursor::{MAX_DEPTH, Parsed};
use crate::frontend::import::lexer::TokenKind;
use crate::frontend::import::tree::{binary, call, expr, int, not, var};
use crate::program::{BinaryOp, UnaryOp};

const OPERAND_HELP: &str = "an expression is made of numbers, registers such as `$r`, `+`, `-` and parentheses";

impl Parser<'_> {
    /// `a && b || not c`
    pub(super) fn condition(&mut self) -> Parsed<Expr> {
        self.chain(&[("||", BinaryOp::Or)], |parser| parser.chain(&[("&&", BinaryOp::And)], Self::negation))
    }

    /// Operands with operators of one strength between them.
    fn chain(&mut self, operators: &[(&str, BinaryOp)], operand: impl Fn(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        let start = self.cursor.current().span;
        let mut left = self.nested(&operand)?;
        let mut length = 0;
        while let Some((_, op)) = operators.iter().find(|(sign, _)| self.cursor.is_at(sign)) {
            // Each operator makes the tree deeper by one.
            length += 1;
            if length > MAX_DEPTH / 4 {
                return Err(self.cursor.too_deep());
            }
            self.cursor.bump();
            let right = self.nested(&operand)?;
            left = Expr { span: self.cursor.since(start), ..binary(*op, left, right) };
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expr> {
        if self.cursor.eat("not") { Ok(not(self.nested(Self::negation)?)) } else { self.comparison() }
    }

    /// `a < b`, `true`, `[ … ]`
    fn comparison(&mut self) -> Parsed<Expr> {
        let start = self.cursor.current().span;
        for (word, value) in [("true", true), ("false", false)] {
            if self.cursor.eat(word) {
                return Ok(expr(ExprKind::Bool(value), start));
            }
        }
        if self.cursor.eat("[") {
            let inner = self.nested(Self::condition)?;
            self.cursor.expect("]", "conditions are grouped by `[` and `]`")?;
            return Ok(expr(ExprKind::Paren(Box::new(inner)), self.cursor.since(start)));
        }
        let left = self.expression()?;
        let op = match self.cursor.text() {
            "=" => BinaryOp::Eq,
            "!=" => BinaryOp::Ne,
            "<" => BinaryOp::Lt,
            ">" => BinaryOp::Gt,
            "<=" => BinaryOp::Le,
            ">=" => BinaryOp::Ge,
            "==" => return Err(self.cursor.expected("a comparison", "equality is written `=`")),
            _ => {
                let help = "a condition compares: `$r = 1`; conditions are grouped by `[` and `]`, not by parentheses";
                return Err(self.cursor.expected("a comparison", help));
            }
        };
        self.cursor.bump();
        let right = self.expression()?;
        Ok(Expr { span: self.cursor.since(start), ..binary(op, left, right) })
    }

    /// `$r + 1`
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.chain(&[("+", BinaryOp::Add), ("-", BinaryOp::Sub)], Self::operand)
    }

    fn operand(&mut self) -> Parsed<Expr> {
        let start = self.cursor.current().span;
        match self.cursor.kind() {
            TokenKind::Int(value) => {
                self.cursor.bump();
                Ok(int(value, start))
            }
            TokenKind::DollarWord => {
                let text = self.cursor.text();
                self.cursor.bump();
                Ok(var(text, start))
            }
            TokenKind::Word => self.word(),
            TokenKind::Sign => self.signed(),
            TokenKind::End => Err(self.cursor.expected("a value", OPERAND_HELP)),
        }
    }

    fn word(&mut self) -> Parsed<Expr> {
        let start = self.cursor.current().span;
        let text = self.cursor.text();
        if text == "other" {
            self.cursor.bump();
            let (k, span) = self.cursor.integer("a number", "`other k` is the number of another process: `other 0`")?;
            return Ok(call("other", vec![int(k, span)], self.cursor.since(start)));
        }
        if text == "me" || self.is_at_name() {
            self.cursor.bump();
            return Ok(var(text, start));
        }
        Err(self.cursor.expected("a value", OPERAND_HELP))
    }

    fn signed(&mut self) -> Parsed<Expr> {
        let start = self.cursor.current().span;
        if self.cursor.eat("-") {
            let inner = self.nested(Self::operand)?;
            let span = self.cursor.since(start);
            if let ExprKind::Int(value) = inner.kind {
                return Ok(int(-value, span));
            }
            return Ok(expr(ExprKind::Unary(UnaryOp::Neg, Box::new(inner)), span));
        }
        if self.cursor.eat("(") {
            let inner = self.nested(Self::expression)?;
            let help = "close the parenthesis; conditions are grouped by `[` and `]`";
            self.cursor.expect(")", help)?;
            return Ok(expr(ExprKind::Paren(Box::new(inner)), self.cursor.since(start)));
        }
        if self.cursor.eat("@") {
            let (k, _) = self.cursor.integer("a number", "`@k` is the number of a process: `@1`")?;
            return Ok(int(k, self.cursor.since(start)));
        }
        Err(self.cursor.expected("a value", OPERAND_HELP))
    }
}
