//! `asm volatile("mfence" ::: "memory")`: the text, and whether memory is clobbered. Operands are passed over.

use super::{Parsed, Parser};
use crate::ast::StmtKind;
use crate::constant;
use crate::token::{Punctuator, TokenKind};

impl Parser {
    /// Whether an `asm` begins here.
    pub(super) fn is_at_asm(&self) -> bool {
        matches!(self.word(), "asm" | "__asm__" | "__asm")
    }

    pub(super) fn asm(&mut self) -> Parsed<StmtKind> {
        self.bump();
        while self.eat_any(&["volatile", "__volatile__", "__volatile", "inline", "__inline__", "goto"]) {}
        self.expect(Punctuator::OpenParen, "write `asm(\"…\")`")?;
        let (mut text, mut clobbers_memory) = (String::new(), false);
        // Behind the text come outputs, inputs and what is clobbered, each behind a colon.
        let (mut part, mut depth) = (0, 0_usize);
        while depth > 0 || !self.is_at(Punctuator::CloseParen) {
            if self.is_at_end() {
                return Err(self.expected("`)`", "close the parenthesis of `asm(`"));
            }
            if let TokenKind::String(raw) = &self.token().kind {
                let content = constant::string(raw).unwrap_or_default();
                clobbers_memory |= part == 3 && content == "memory";
                if part == 0 {
                    text.push_str(&content);
                }
            }
            part += usize::from(depth == 0 && self.is_at(Punctuator::Colon));
            depth += usize::from(self.is_at(Punctuator::OpenParen));
            depth -= usize::from(self.is_at(Punctuator::CloseParen));
            self.bump();
        }
        self.bump();
        self.expect(Punctuator::Semicolon, "end the statement with `;`")?;
        Ok(StmtKind::Asm { text, clobbers_memory })
    }
}
