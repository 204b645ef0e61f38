//! `#if`: conditions, as numbers of 64 bits.
//!
//! ```text
//!   #if defined(N) && N > 2       `defined` is looked up, then macros are expanded; names that are left are 0
//! ```
//!
//! C11 6.10.1: all numbers are as wide as can be, and unsigned if an operand is. What `&&`, `||` and `?:` do not need
//! is not computed, so it may divide by zero.

use std::rc::Rc;

use fencewright::source::{Diagnostic, Span};
use fencewright::watch::heed;

use super::Preprocessor;
use crate::ast::BinaryOp;
use crate::constant::{self, Number};
use crate::headers;
use crate::lexer::Lexer;
use crate::operator::{self, Operator};
use crate::token::{Punctuator, Token, TokenKind};

/// The deepest nesting.
const MAX_DEPTH: usize = 200;

/// What is wrong with a condition, and where.
type Wrong = (Span, String);

impl Preprocessor<'_, '_> {
    /// The condition on the rest of the line.
    pub(super) fn condition(&mut self, span: Span) -> bool {
        let tokens = self.line();
        self.spend(tokens.len(), span);
        let was = std::mem::replace(&mut self.is_in_condition, true);
        let tokens = self.expanded(tokens);
        self.is_in_condition = was;
        let mut condition = Condition { tokens: &tokens, at: 0, depth: 0, end: span };
        match condition.whole() {
            Ok(value) => value.bits != 0,
            Err((span, message)) => {
                let help = "a condition is made of whole numbers, `defined(NAME)` and operators";
                self.report(Diagnostic::error(span, message).with_help(help));
                false
            }
        }
    }

    /// The tokens on the rest of the line.
    pub(super) fn line(&mut self) -> Vec<Token> {
        self.lex(|lexer: &mut Lexer<'_>| std::iter::from_fn(|| lexer.next_in_line()).collect()).unwrap_or_default()
    }

    /// Whether a name is a macro.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || name == "__has_include"
    }

    /// Whether a name is an operator in conditions.
    pub(super) fn is_condition_word(name: &Rc<str>) -> bool {
        &**name == "defined" || name.starts_with("__has_")
    }

    /// The value of `defined X` and its like.
    pub(super) fn condition_word(&mut self, word: &Token) -> Token {
        let is_defined = word.spelling() == "defined";
        let open = self.raw();
        let mut operand = Vec::new();
        if open.is(Punctuator::OpenParen) {
            loop {
                let token = self.raw();
                if token.kind == TokenKind::End || token.is(Punctuator::CloseParen) {
                    break;
                }
                operand.push(token);
            }
        } else {
            operand.push(open);
        }
        let value = match (is_defined, &operand[..]) {
            (true, [name]) if name.name().is_some() => self.is_defined(name.spelling()),
            (true, _) => {
                let error = Diagnostic::error(word.span, "`defined` needs the name of a macro")
                    .with_help("write `defined(NAME)`");
                self.report(error);
                false
            }
            (false, _) => word.spelling().starts_with("__has_include") && self.has_header(&operand),
        };
        Token { kind: TokenKind::Number(u8::from(value).to_string().into()), ..word.clone() }
    }

    /// Whether `#include` would find a file.
    fn has_header(&mut self, operand: &[Token]) -> bool {
        let text: String = operand.iter().map(Token::spelling).collect();
        let name = text.trim_matches(['<', '>', '"']);
        let is_angled = text.starts_with('<');
        if is_angled && headers::is_known(name) {
            return true;
        }
        let Some(from) = self.file() else { return false };
        self.input.open(name, &from).is_ok() || headers::is_known(name)
    }
}

/// A number in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    bits: u64,
    is_unsigned: bool,
}

impl Value {
    fn truth(it: bool) -> Self {
        Self { bits: u64::from(it), is_unsigned: false }
    }
}

/// Reads a condition and computes it.
struct Condition<'c> {
    tokens: &'c [Token],
    at: usize,
    depth: usize,
    /// Where a condition is that ends too early.
    end: Span,
}

impl Condition<'_> {
    fn whole(&mut self) -> Result<Value, Wrong> {
        if self.tokens.is_empty() {
            return Err((self.end, "a condition is missing".to_owned()));
        }
        let value = self.conditional(true)?;
        match self.tokens.get(self.at) {
            None => Ok(value),
            Some(token) => Err((token.span, format!("unexpected `{}` in a condition", token.spelling()))),
        }
    }

    fn eat(&mut self, punctuator: Punctuator) -> bool {
        let is_here = self.tokens.get(self.at).is_some_and(|it| it.is(punctuator));
        self.at += usize::from(is_here);
        is_here
    }

    /// `a ? b : c`; what is not live is not computed.
    fn conditional(&mut self, is_live: bool) -> Result<Value, Wrong> {
        heed(1);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.end, format!("a condition nested more than {MAX_DEPTH} deep")));
        }
        let mut value = self.binary(0, is_live)?;
        if self.eat(Punctuator::Question) {
            let is_true = value.bits != 0;
            let first = self.conditional(is_live && is_true)?;
            if !self.eat(Punctuator::Colon) {
                return Err((self.end, "`?` without `:` in a condition".to_owned()));
            }
            let second = self.conditional(is_live && !is_true)?;
            let is_unsigned = first.is_unsigned || second.is_unsigned;
            value = Value { bits: if is_true { first.bits } else { second.bits }, is_unsigned };
        }
        self.depth -= 1;
        Ok(value)
    }

    /// Operators that bind at least so tightly.
    fn binary(&mut self, level: usize, is_live: bool) -> Result<Value, Wrong> {
        let mut left = self.unary(is_live)?;
        loop {
            heed(1);
            let Some(token) = self.tokens.get(self.at) else { return Ok(left) };
            let TokenKind::Punctuator(sign) = token.kind else { return Ok(left) };
            let Some((operator, binds)) = operator::binary(sign).filter(|&(_, it)| it >= level) else {
                return Ok(left);
            };
            let span = token.span;
            self.at += 1;
            let is_decided = match operator {
                Operator::And => left.bits == 0,
                Operator::Or => left.bits != 0,
                Operator::Binary(_) => false,
            };
            let right = self.binary(binds + 1, is_live && !is_decided)?;
            left = computed(operator, left, right, is_live).map_err(|message| (span, message))?;
        }
    }

    fn unary(&mut self, is_live: bool) -> Result<Value, Wrong> {
        heed(1);
        let Some(token) = self.tokens.get(self.at) else {
            return Err((self.end, "a condition that ends too early".to_owned()));
        };
        self.at += 1;
        let TokenKind::Punctuator(sign) = token.kind else { return constant(token) };
        if sign == Punctuator::OpenParen {
            let value = self.conditional(is_live)?;
            let is_closed = self.eat(Punctuator::CloseParen);
            return if is_closed { Ok(value) } else { Err((token.span, "`(` without `)` in a condition".to_owned())) };
        }
        let is_prefix = matches!(sign, Punctuator::Not | Punctuator::Minus | Punctuator::Plus | Punctuator::Tilde);
        self.depth += 1;
        if !is_prefix || self.depth > MAX_DEPTH {
            return Err((token.span, format!("unexpected `{}` in a condition", token.spelling())));
        }
        let value = self.unary(is_live)?;
        self.depth -= 1;
        if sign == Punctuator::Not {
            return Ok(Value::truth(value.bits == 0));
        }
        let bits = value.bits;
        let bits = if sign == Punctuator::Minus { bits.wrapping_neg() } else { bits };
        Ok(Value { bits: if sign == Punctuator::Tilde { !bits } else { bits }, ..value })
    }
}

/// A number, a character or a name.
fn constant(token: &Token) -> Result<Value, Wrong> {
    let wrong = |why: String| (token.span, format!("`{}` in a condition: {why}", token.spelling()));
    match &token.kind {
        // `true` is a word of its own in newer versions of C.
        TokenKind::Name(name) => Ok(Value::truth(&**name == "true")),
        TokenKind::Number(text) => match constant::number(text).map_err(wrong)? {
            Number::Integer(it) => {
                Ok(Value { bits: it.value, is_unsigned: !it.is_signed && it.bits == 64 || is_u(text) })
            }
            Number::Float(_) => Err(wrong("only whole numbers can be used".to_owned())),
        },
        TokenKind::Character(text) => {
            let it = constant::character(text).map_err(wrong)?;
            Ok(Value { bits: it.value, is_unsigned: !it.is_signed })
        }
        TokenKind::String(_)
        | TokenKind::Punctuator(_)
        | TokenKind::Unterminated(_)
        | TokenKind::Stray(_)
        | TokenKind::End => Err(wrong("only whole numbers can be used".to_owned())),
    }
}

/// Whether a number says that it is unsigned.
fn is_u(text: &str) -> bool {
    text.ends_with(['u', 'U', 'l', 'L']) && text.contains(['u', 'U'])
}

fn computed(operator: Operator, left: Value, right: Value, is_live: bool) -> Result<Value, String> {
    let (a, b) = (left.bits, right.bits);
    let operator = match operator {
        Operator::Or => return Ok(Value::truth(a != 0 || b != 0)),
        Operator::And => return Ok(Value::truth(a != 0 && b != 0)),
        Operator::Binary(operator) => operator,
    };
    let is_unsigned = left.is_unsigned || right.is_unsigned;
    let (signed_a, signed_b) = (a as i64, b as i64);
    let order = if is_unsigned { a.cmp(&b) } else { signed_a.cmp(&signed_b) };
    let bits = match operator {
        BinaryOp::Equal => return Ok(Value::truth(a == b)),
        BinaryOp::NotEqual => return Ok(Value::truth(a != b)),
        BinaryOp::Less => return Ok(Value::truth(order.is_lt())),
        BinaryOp::Greater => return Ok(Value::truth(order.is_gt())),
        BinaryOp::LessEqual => return Ok(Value::truth(order.is_le())),
        BinaryOp::GreaterEqual => return Ok(Value::truth(order.is_ge())),
        BinaryOp::ShiftLeft => return Ok(Value { bits: a.wrapping_shl(b as u32), ..left }),
        BinaryOp::ShiftRight if left.is_unsigned => return Ok(Value { bits: a.wrapping_shr(b as u32), ..left }),
        BinaryOp::ShiftRight => return Ok(Value { bits: signed_a.wrapping_shr(b as u32) as u64, ..left }),
        BinaryOp::Div | BinaryOp::Rem if b == 0 && is_live => {
            return Err("a division by zero in a condition".to_owned());
        }
        BinaryOp::Div | BinaryOp::Rem if b == 0 => 0,
        BinaryOp::Div if is_unsigned => a / b,
        BinaryOp::Div => signed_a.wrapping_div(signed_b) as u64,
        BinaryOp::Rem if is_unsigned => a % b,
        BinaryOp::Rem => signed_a.wrapping_rem(signed_b) as u64,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitAnd => a & b,
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
    };
    Ok(Value { bits, is_unsigned })
}
