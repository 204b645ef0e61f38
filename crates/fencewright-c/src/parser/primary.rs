//! Names, constants, parentheses, and what stands behind them: calls, indices, fields.

use fencewright::source::Diagnostic;

use super::{Parsed, Parser};
use crate::ast::{Expr, ExprKind, Name};
use crate::constant::{self, Integer, Number};
use crate::token::{Punctuator, TokenKind};

/// The most characters of strings that stand beside each other.
const MAX_STRING: usize = 100_000;

impl Parser {
    /// An operand with all that stands behind it.
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let operand = self.primary()?;
        self.postfix_of(operand, start)
    }

    /// What stands behind an operand that began at a token.
    pub(super) fn postfix_of(&mut self, mut operand: Expr, start: usize) -> Parsed<Expr> {
        loop {
            let TokenKind::Punctuator(sign) = self.token().kind else { return Ok(operand) };
            let is_postfix = matches!(
                sign,
                Punctuator::OpenParen
                    | Punctuator::OpenBracket
                    | Punctuator::Dot
                    | Punctuator::Arrow
                    | Punctuator::Increment
                    | Punctuator::Decrement
            );
            if !is_postfix {
                return Ok(operand);
            }
            self.link()?;
            self.bump();
            let kind = self.behind(Box::new(operand), sign)?;
            operand = self.expr(start, kind);
        }
    }

    /// What a sign behind an operand, which was read, makes of it.
    fn behind(&mut self, operand: Box<Expr>, sign: Punctuator) -> Parsed<ExprKind> {
        if sign == Punctuator::OpenParen {
            return Ok(ExprKind::Call(operand, self.nested(Self::arguments)?));
        }
        if sign == Punctuator::OpenBracket {
            let index = Box::new(self.nested(Self::expression)?);
            self.expect(Punctuator::CloseBracket, "close the index with `]`")?;
            return Ok(ExprKind::Index(operand, index));
        }
        if sign == Punctuator::Dot {
            return Ok(ExprKind::Member(operand, self.name("the name of a field")?));
        }
        if sign == Punctuator::Arrow {
            return Ok(ExprKind::Arrow(operand, self.name("the name of a field")?));
        }
        Ok(ExprKind::Step { operand, is_increment: sign == Punctuator::Increment, is_prefix: false })
    }

    /// The arguments of a call, whose parenthesis was read; some functions of the system take types.
    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.eat(Punctuator::CloseParen) {
            return Ok(arguments);
        }
        loop {
            let start = self.at;
            if self.is_type(self.token()) {
                let ty = Box::new(self.type_name()?);
                arguments.push(self.expr(start, ExprKind::Type(ty)));
            } else {
                arguments.push(self.assignment()?);
            }
            if !self.eat(Punctuator::Comma) {
                break;
            }
        }
        self.expect(Punctuator::CloseParen, "put `,` between the arguments, and close them with `)`")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.at;
        let kind = match self.token().kind.clone() {
            TokenKind::Name(word) => self.named(&word)?,
            TokenKind::Number(text) => {
                let number = self.constant(constant::number(&text), "number")?;
                match number {
                    Number::Integer(it) => integer(it),
                    Number::Float(text) => ExprKind::Float(text),
                }
            }
            TokenKind::Character(text) => integer(self.constant(constant::character(&text), "character")?),
            TokenKind::String(_) => self.strings()?,
            TokenKind::Punctuator(Punctuator::OpenParen) => return self.parentheses(),
            TokenKind::Punctuator(_) | TokenKind::Unterminated(_) | TokenKind::Stray(_) | TokenKind::End => {
                return Err(self.expected("an expression", "write a value here"));
            }
        };
        Ok(self.expr(start, kind))
    }

    /// A name, or a word that is a value.
    fn named(&mut self, word: &str) -> Parsed<ExprKind> {
        let span = self.token().span;
        let is_declared = self.declared(word).is_some();
        let truth = |value| ExprKind::Integer { value, bits: 32, is_signed: true };
        let kind = match word {
            "_Generic" => return Err(self.refused("`_Generic` is", "call the function that is meant")),
            "true" if !is_declared => truth(1),
            "false" if !is_declared => truth(0),
            "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => ExprKind::String(self.function.clone()),
            _ if super::names::is_keyword(word) => {
                return Err(self.expected("an expression", "write a value here"));
            }
            _ => ExprKind::Name(Name { text: word.to_owned(), span }),
        };
        self.bump();
        Ok(kind)
    }

    /// Takes a constant, or says what is wrong with it.
    fn constant<T>(&mut self, read: Result<T, String>, what: &str) -> Parsed<T> {
        match read {
            Ok(value) => {
                self.bump();
                Ok(value)
            }
            Err(why) => {
                let message = format!("the {what} {} cannot be read: {why}", super::recovery::shown(self.token()));
                let help = format!("write the {what} as C has it");
                let error = Diagnostic::error(self.token().span, message).with_help(help);
                Err(self.report(error))
            }
        }
    }

    /// Strings beside each other are one.
    fn strings(&mut self) -> Parsed<ExprKind> {
        let mut text = String::new();
        while let TokenKind::String(raw) = self.token().kind.clone() {
            if text.len() + raw.len() > MAX_STRING {
                let message = format!("a string of more than {MAX_STRING} characters");
                let error = Diagnostic::error(self.token().span, message).with_help("shorten it");
                return Err(self.stop_with(error));
            }
            text.push_str(&self.constant(constant::string(&raw), "string")?);
        }
        Ok(ExprKind::String(text))
    }

    /// `(e)`, or `({ … })`.
    fn parentheses(&mut self) -> Parsed<Expr> {
        let start = self.at;
        self.bump();
        if self.is_at(Punctuator::OpenBrace) {
            let statements = self.nested(Self::scoped_block)?;
            self.expect(Punctuator::CloseParen, "close the parenthesis behind `}`")?;
            return Ok(self.expr(start, ExprKind::Statements(statements)));
        }
        let value = self.expression()?;
        self.expect(Punctuator::CloseParen, "close the parenthesis")?;
        Ok(value)
    }
}

fn integer(Integer { value, bits, is_signed }: Integer) -> ExprKind {
    ExprKind::Integer { value, bits, is_signed }
}
