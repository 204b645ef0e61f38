//! Reporting, and going on after an error.

use super::{Failed, Parser, Suspect};
use crate::frontend::fw::token::{Keyword, Symbol, Token, TokenKind};
use crate::source::{Diagnostic, Span};

/// Longer tokens are cut in messages.
const MAX_SHOWN: usize = 40;

impl Parser<'_> {
    /// Notes an error at the current token, unless it follows from one that has been noted.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        let at = self.current();
        if !at.is_after_error && self.last_error != Some(at.span.start) {
            self.lexer.report(diagnostic);
        }
        self.last_error = Some(at.span.start);
        if self.lexer.has_given_up() {
            self.stop();
        }
        Failed
    }

    /// Notes that something else is expected here.
    pub(super) fn expected(&mut self, what: &str, help: &str) -> Failed {
        let found = self.found();
        self.report(
            Diagnostic::error(self.current().span, format!("expected {what}, found {found}"))
                .with_label(format!("expected {what}"))
                .with_help(help),
        )
    }

    /// The current token as a message names it.
    pub(super) fn found(&self) -> String {
        match self.kind() {
            TokenKind::End => "end of file".to_owned(),
            TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::Symbol(_) => {
                self.shown(self.current().span)
            }
        }
    }

    /// The text at a place, in backquotes, cut if it is long.
    pub(super) fn shown(&self, span: Span) -> String {
        format!("`{}`", self.shortened(span))
    }

    /// The text at a place, cut if it is long.
    pub(super) fn shortened(&self, span: Span) -> String {
        let text = self.lexer.slice(span);
        let line = text.lines().next().unwrap_or_default();
        let cut = line.char_indices().nth(MAX_SHOWN).map_or(line.len(), |(cut, _)| cut);
        if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() }
    }

    /// Whether a declaration seems to start here, even inside a block: its keyword stands at the start of a line
    /// without indentation.
    pub(super) fn is_at_item_margin(&self) -> bool {
        let starts_line = self.current().newlines > 0 && self.indentation == 0;
        starts_line && matches!(self.kind(), TokenKind::Keyword(keyword) if keyword.starts_item())
    }

    /// Passes over the rest of a statement that cannot be read: up to and with `;` or a block, or up to a `}`, or a
    /// keyword at the start of a line.
    pub(super) fn skip_statement(&mut self, start: Token) {
        while !self.is_at_end() && !self.is_at(Symbol::CloseBrace) && !self.is_at_item_margin() {
            let has_moved = self.current().span.start > start.span.start;
            if has_moved && self.starts_statement_line() || self.eat(Symbol::Semicolon) {
                return;
            }
            if self.is_at(Symbol::OpenBrace) {
                self.skip_block();
                if !self.is_at_keyword(Keyword::Else) && !self.is_at_keyword(Keyword::Or) {
                    return;
                }
            }
            self.bump();
        }
    }

    /// Whether a line starts here and surely is a statement.
    pub(super) fn starts_statement_line(&self) -> bool {
        let is_statement = matches!(self.kind(), TokenKind::Keyword(keyword) if keyword.starts_statement());
        let is_assignment = self.kind() == TokenKind::Name && self.is_before(Symbol::Assign);
        self.current().newlines > 0 && (is_statement || is_assignment)
    }

    /// Passes over `{ … }` with all blocks in it.
    pub(super) fn skip_block(&mut self) {
        let mut depth = 0;
        while !self.is_at_end() && !self.is_at_item_margin() {
            if self.is_at(Symbol::OpenBrace) {
                depth += 1;
            } else if self.is_at(Symbol::CloseBrace) {
                depth -= 1;
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
        // What is open here is never closed, but something else has been reported.
        self.last_error = Some(self.current().span.start);
    }

    /// Passes over the rest of an item that cannot be read.
    pub(super) fn skip_item(&mut self, start: Token) {
        let starts_item = |kind| matches!(kind, TokenKind::Keyword(keyword) if keyword.starts_item());
        // What is outside of all items often is the rest of a block that was closed too early: one error is enough.
        let was_item = starts_item(start.kind);
        while !self.is_at_end() {
            let has_moved = self.current().span.start > start.span.start;
            if has_moved && starts_item(self.kind()) && self.current().newlines > 0 {
                return;
            }
            if was_item && self.eat(Symbol::Semicolon) {
                return;
            }
            if was_item && self.is_at(Symbol::OpenBrace) {
                return self.skip_block();
            }
            self.bump();
        }
    }

    /// Passes over a head that cannot be read up to the block it governs; whether there is one.
    pub(super) fn skip_to_block(&mut self) -> bool {
        while !self.is_at(Symbol::OpenBrace) {
            let is_stop = self.is_at(Symbol::Semicolon) || self.is_at(Symbol::CloseBrace) || self.is_at_end();
            if is_stop || self.starts_statement_line() || self.is_at_item_margin() {
                return false;
            }
            self.bump();
        }
        true
    }

    /// Takes the `}` of a block; `indentation` is that of the line where it was opened.
    pub(super) fn close_block(&mut self, open: Span, indentation: usize) {
        if !self.is_at(Symbol::CloseBrace) {
            self.unclosed(open);
            return;
        }
        if self.current().newlines > 0 && self.indentation < indentation && self.suspect.is_none() {
            self.suspect = Some(Suspect { open, close: self.current().span });
        }
        self.bump();
    }

    fn unclosed(&mut self, open: Span) {
        let place = if self.is_at_end() { "the file ends" } else { "the next declaration starts" };
        let help = "add the missing `}`";
        let diagnostic = match self.suspect.take() {
            Some(suspect) => Diagnostic::error(suspect.open, "unclosed `{`")
                .with_label("this block is not closed where it seems to end")
                .and_at(suspect.close, "this `}` closes it, but stands further left")
                .with_help(help),
            None => Diagnostic::error(open, "unclosed `{`")
                .with_label("this block is not closed")
                .and_at(self.current().span, format!("{place} here"))
                .with_help(help),
        };
        self.report(diagnostic);
    }
}
