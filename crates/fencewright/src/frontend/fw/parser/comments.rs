//! Gives each comment to the item, statement or block it belongs to.

use super::{Failed, Parsed, Parser, STATEMENT_SIZE};
use crate::frontend::ast::{Comment, Trivia};
use crate::frontend::fw::lexer::RawComment;
use crate::frontend::fw::token::{Symbol, TokenKind};
use crate::source::Span;

impl Parser<'_> {
    /// Takes what stands before an item or statement.
    fn leading(&mut self) -> Trivia {
        let blank_before = self.current().newlines > 1;
        Trivia { before: self.comments_before(self.current().span.start), blank_before, after: None }
    }

    /// Reads something together with the comments around and inside it.
    pub(super) fn with_trivia<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<(Trivia, Span, T)> {
        self.grow(STATEMENT_SIZE);
        let outer = std::mem::take(&mut self.stray);
        let mut trivia = self.leading();
        let start = self.current().span;
        let result = read(self);
        let inner = std::mem::replace(&mut self.stray, outer);
        let Ok(value) = result else { return Err(Failed) };
        let span = self.since(start);
        let rest = self.comments_before(span.end);
        for mut comment in inner.into_iter().chain(rest) {
            // The comment comes out of the statement, so it takes the statement's place behind the blank line.
            comment.blank_before = std::mem::take(&mut trivia.blank_before);
            trivia.before.push(comment);
        }
        trivia.after = self.comment_on_line(true);
        Ok((trivia, span, value))
    }

    /// Sets the comments before the current token aside for the statement or item that is being read.
    pub(super) fn set_comments_aside(&mut self) {
        let comments = self.comments_before(self.current().span.start);
        self.stray.extend(comments);
    }

    /// Takes the comments that start before a place.
    pub(super) fn comments_before(&mut self, place: u32) -> Vec<Comment> {
        let mut taken = Vec::new();
        while let Some(&comment) = self.lexer.comments.front().filter(|comment| comment.span.start < place) {
            self.lexer.comments.pop_front();
            taken.push(self.comment(comment));
        }
        taken
    }

    /// Takes the comments that stand behind the previous token, on its line, and before no other token of that line.
    /// A closing brace does not count as such if `may_stand_before_brace`.
    pub(super) fn comment_on_line(&mut self, may_stand_before_brace: bool) -> Option<Comment> {
        let current = self.current();
        let own = |comment: &&RawComment| comment.span.start < current.span.start;
        let n_on_line = self.lexer.comments.iter().take_while(own).take_while(|comment| comment.newlines == 0).count();
        let is_last = self.lexer.comments.get(n_on_line).is_none_or(|next| next.span.start > current.span.start);
        let is_followed = match current.kind {
            TokenKind::End => false,
            TokenKind::Symbol(Symbol::CloseBrace) if may_stand_before_brace => false,
            TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::Symbol(_) => current.newlines == 0,
        };
        if n_on_line == 0 || is_last && is_followed {
            return None;
        }
        let raw: Vec<RawComment> = self.lexer.comments.drain(..n_on_line).collect();
        let texts: Vec<String> = raw.into_iter().map(|comment| self.comment(comment).text).collect();
        Some(Comment { text: texts.join(" "), blank_before: false })
    }

    fn comment(&self, raw: RawComment) -> Comment {
        let text = self.lexer.slice(raw.span);
        let text = if text.starts_with("//") { text.trim_end().to_owned() } else { Comment::tidy(text) };
        Comment { text, blank_before: raw.newlines > 1 }
    }
}
