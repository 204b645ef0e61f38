//! Reporting, and going on after a mistake: at the next `;` or `}` of the same block.

use fencewright::source::Diagnostic;

use super::{Failed, Parser};
use crate::preprocess::MAX_ERRORS;
use crate::token::{Punctuator, Token, TokenKind};

/// Longer tokens are cut in messages.
const MAX_SHOWN: usize = 40;

impl Parser {
    /// Notes an error, unless one was noted at this token.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if self.last_error != Some(self.at) {
            self.diagnostics.push(diagnostic);
        }
        self.last_error = Some(self.at);
        if self.diagnostics.iter().filter(|it| it.is_error()).count() >= MAX_ERRORS {
            self.stop();
        }
        Failed
    }

    /// Notes an error behind which nothing can be read.
    pub(super) fn stop_with(&mut self, diagnostic: Diagnostic) -> Failed {
        let failed = self.report(diagnostic);
        self.stop();
        failed
    }

    /// Passes over all that is left.
    fn stop(&mut self) {
        self.at = self.tokens.len() - 1;
        self.last_error = Some(self.at);
    }

    /// Notes that something else is expected here.
    pub(super) fn expected(&mut self, what: &str, help: &str) -> Failed {
        let message = format!("expected {what}, found {}", shown(self.token()));
        let label = if self.token().is_in_macro {
            format!("expected {what} in what this macro stands for")
        } else {
            format!("expected {what}")
        };
        let error = Diagnostic::error(self.token().span, message).with_label(label).with_help(help);
        self.report(error)
    }

    /// Notes that something of C is not supported, by its name.
    pub(super) fn refused(&mut self, what: &str, help: &str) -> Failed {
        let error = Diagnostic::error(self.token().span, format!("{what} not supported")).with_help(help);
        self.report(error)
    }

    /// Passes over the rest of a statement or a declaration in a block with so many braces open.
    pub(super) fn skip_statement(&mut self, start: usize, n_braces: usize) {
        if self.at == start && !(self.is_at(Punctuator::CloseBrace) && self.n_braces <= n_braces) {
            self.bump();
        }
        while !self.is_at_end() {
            let is_outside = self.n_braces <= n_braces;
            if is_outside && self.is_at(Punctuator::CloseBrace) {
                return;
            }
            let closes = self.is_at(Punctuator::CloseBrace) && self.n_braces == n_braces + 1;
            let is_end = is_outside && self.is_at(Punctuator::Semicolon);
            self.bump();
            // Behind an inner block a statement may well go on, as `else` does or `;` behind a structure.
            let goes_on = self.is_at(Punctuator::Semicolon) || self.is_at(Punctuator::Comma) || self.word() == "else";
            if is_end || closes && !goes_on {
                return;
            }
        }
    }

    /// Passes over `{ … }`.
    pub(super) fn skip_block(&mut self) {
        let n_braces = self.n_braces;
        self.bump();
        while self.n_braces > n_braces && !self.is_at_end() {
            self.bump();
        }
    }

    /// Says that a brace is not closed.
    pub(super) fn unclosed(&mut self, open: &Token) -> Failed {
        let error = Diagnostic::error(open.span, "unclosed `{`")
            .with_label("it is opened here and never closed")
            .with_help("add `}` where the block ends");
        self.report(error)
    }
}

/// A token as a message names it.
pub(super) fn shown(token: &Token) -> String {
    if token.kind == TokenKind::End {
        return "end of file".to_owned();
    }
    let text = token.spelling();
    let cut = text.char_indices().nth(MAX_SHOWN).map_or(text.len(), |(cut, _)| cut);
    let dots = if cut < text.len() { "…" } else { "" };
    format!("`{}{dots}`", text[..cut].escape_debug())
}
