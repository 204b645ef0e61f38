//! A place in the tokens of a text, with what every parser does there: look, take, complain, collect comments.

use std::collections::VecDeque;

use super::expansion::Frames;
use super::lexer::{Dialect, Lexed, MAX_ERRORS, RawComment, Token, TokenKind, lex};
use crate::frontend::ast::{Comment, Name, Trivia};
use crate::source::{Diagnostic, Span};

/// How deep statements and expressions may be nested. Half of what `.fw` allows, since a translation nests deeper.
pub(crate) const MAX_DEPTH: u32 = 100;

/// Longer tokens are cut in messages.
const MAX_SHOWN: usize = 40;

/// Says that something could not be read and that this has been reported.
#[derive(Debug)]
pub(crate) struct Failed;

/// Something read, unless it was wrong.
pub(crate) type Parsed<T> = Result<T, Failed>;

/// A comment of the foreign language as `.fw` writes it.
type Convert = fn(&str) -> String;

/// A place in the tokens of a text.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    comments: VecDeque<RawComment>,
    frames: Frames,
    convert: Convert,
    pub(crate) diagnostics: Vec<Diagnostic>,
    depth: u32,
    was_too_deep: bool,
    /// The token at which an error was last reported.
    last_error: Option<usize>,
}

impl<'a> Cursor<'a> {
    /// The first token from a byte on.
    pub(crate) fn new(dialect: Dialect, text: &'a str, start: usize, convert: Convert) -> Self {
        Self::over(lex(dialect, text, start), text, convert)
    }

    /// The first of some tokens of a text.
    pub(crate) fn over(lexed: Lexed, text: &'a str, convert: Convert) -> Self {
        Self {
            text,
            tokens: lexed.tokens,
            at: 0,
            comments: lexed.comments,
            frames: lexed.frames,
            convert,
            diagnostics: lexed.diagnostics,
            depth: 0,
            was_too_deep: false,
            last_error: None,
        }
    }

    /// The current token.
    pub(crate) fn current(&self) -> Token {
        self.tokens[self.at]
    }

    /// The text of the token `n` further on.
    pub(crate) fn text_at(&self, n: usize) -> &'a str {
        let token = self.tokens[(self.at + n).min(self.tokens.len() - 1)];
        self.slice(token.span)
    }

    /// The text of the current token.
    pub(crate) fn text(&self) -> &'a str {
        self.text_at(0)
    }

    /// The text at a place.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// What the current token is.
    pub(crate) fn kind(&self) -> TokenKind {
        self.current().kind
    }

    /// Whether the text is over.
    pub(crate) fn is_at_end(&self) -> bool {
        self.kind() == TokenKind::End
    }

    /// Whether the current token is this word or sign.
    pub(crate) fn is_at(&self, text: &str) -> bool {
        self.text() == text
    }

    /// Whether the current token is one of these.
    pub(crate) fn is_at_any(&self, texts: &[&str]) -> bool {
        texts.contains(&self.text())
    }

    /// Where the token before the current one stands.
    pub(crate) fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// From the place of a token to the token before the current one.
    pub(crate) fn since(&self, start: Span) -> Span {
        let last = self.at.saturating_sub(1);
        let plain = Span::new(start.start, self.previous().end.max(start.start));
        if self.frames.is_plain() {
            return plain;
        }
        let first = self.tokens[..=last].iter().rev().find(|it| it.span == start);
        first.map_or(plain, |first| self.frames.between(*first, self.tokens[last]))
    }

    /// Takes the current token.
    pub(crate) fn bump(&mut self) -> Token {
        let token = self.current();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the current token if it is this word or sign.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let is_here = self.is_at(text);
        if is_here {
            self.bump();
        }
        is_here
    }

    /// Takes a word or sign that must stand here.
    pub(crate) fn expect(&mut self, text: &str, help: &str) -> Parsed<Span> {
        if self.is_at(text) { Ok(self.bump().span) } else { Err(self.expected(&format!("`{text}`"), help)) }
    }

    /// Takes a name.
    pub(crate) fn name(&mut self, what: &str, help: &str) -> Parsed<Name> {
        match self.kind() {
            TokenKind::Word => {
                let text = self.text().to_owned();
                Ok(Name { text, span: self.bump().span })
            }
            TokenKind::DollarWord | TokenKind::Int(_) | TokenKind::Sign | TokenKind::End => {
                Err(self.expected(what, help))
            }
        }
    }

    /// Takes an integer, possibly negative.
    pub(crate) fn integer(&mut self, what: &str, help: &str) -> Parsed<(i64, Span)> {
        let start = self.current().span;
        let is_negative = self.eat("-");
        match self.kind() {
            TokenKind::Int(value) => {
                self.bump();
                Ok((if is_negative { -value } else { value }, self.since(start)))
            }
            TokenKind::Word | TokenKind::DollarWord | TokenKind::Sign | TokenKind::End => {
                Err(self.expected(what, help))
            }
        }
    }

    /// Notes an error, unless it follows from one at the same place.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if !self.current().is_after_error && self.last_error != Some(self.at) && self.diagnostics.len() < MAX_ERRORS {
            let diagnostic = match self.frames.call(self.current()) {
                Some(call) => diagnostic.and_at(call, "in what this stands for"),
                None => diagnostic,
            };
            self.diagnostics.push(diagnostic);
        }
        self.last_error = Some(self.at);
        if self.diagnostics.len() >= MAX_ERRORS {
            self.at = self.tokens.len() - 1;
        }
        Failed
    }

    /// Notes that something else is expected here.
    pub(crate) fn expected(&mut self, what: &str, help: &str) -> Failed {
        let found = if self.is_at_end() { "end of file".to_owned() } else { format!("`{}`", shortened(self.text())) };
        self.report(
            Diagnostic::error(self.current().span, format!("expected {what}, found {found}"))
                .with_label(format!("expected {what}"))
                .with_help(help),
        )
    }

    /// Reads something nested in what is being read.
    pub(crate) fn nested<T, P>(
        parser: &mut P,
        cursor: impl Fn(&mut P) -> &mut Self,
        read: impl FnOnce(&mut P) -> Parsed<T>,
    ) -> Parsed<T> {
        if cursor(parser).depth >= MAX_DEPTH {
            return Err(cursor(parser).too_deep());
        }
        cursor(parser).depth += 1;
        let result = read(parser);
        cursor(parser).depth -= 1;
        result
    }

    /// Says that something is nested too deeply, once for all.
    pub(crate) fn too_deep(&mut self) -> Failed {
        let diagnostic = Diagnostic::error(self.current().span, "nested too deeply")
            .with_label(format!("more than {MAX_DEPTH} levels"))
            .with_help("split what is nested into parts");
        if std::mem::replace(&mut self.was_too_deep, true) { Failed } else { self.report(diagnostic) }
    }

    /// Takes the comments before the current token.
    pub(crate) fn comments_before(&mut self) -> Vec<Comment> {
        self.comments_up_to(self.at)
    }

    /// Takes all comments that are left.
    pub(crate) fn comments_left(&mut self) -> Vec<Comment> {
        self.comments_up_to(usize::MAX)
    }

    /// Takes the comments before a token and those before it.
    fn comments_up_to(&mut self, token: usize) -> Vec<Comment> {
        let mut taken = Vec::new();
        while let Some(&raw) = self.comments.front().filter(|comment| comment.before <= token) {
            self.comments.pop_front();
            taken.push(self.comment(raw));
        }
        taken
    }

    /// Takes what stands before the current token.
    pub(crate) fn leading(&mut self) -> Trivia {
        let before = self.comments_before();
        Trivia { before, blank_before: self.current().newlines > 1, after: None }
    }

    /// Adds the comments inside what has just been read, and one behind it on its line.
    pub(crate) fn trailing(&mut self, trivia: &mut Trivia) {
        if let Some(previous) = self.at.checked_sub(1) {
            trivia.before.extend(self.comments_up_to(previous));
        }
        let next = self.current();
        let is_last = next.newlines > 0 || next.kind == TokenKind::End || self.is_at_any(&["}", "|"]);
        let is_behind = |raw: &&RawComment| raw.newlines == 0 && raw.before <= self.at;
        let Some(&raw) = self.comments.front().filter(is_behind) else { return };
        let is_followed = match self.comments.get(1) {
            Some(second) if second.before <= self.at => second.newlines == 0,
            Some(_) | None => !is_last,
        };
        if !is_followed {
            self.comments.pop_front();
            let comment = self.comment(raw);
            if comment.text.contains('\n') {
                trivia.before.push(comment);
            } else {
                trivia.after = Some(comment);
            }
        }
    }

    fn comment(&self, raw: RawComment) -> Comment {
        Comment { text: (self.convert)(self.slice(raw.span)), blank_before: raw.newlines > 1 }
    }
}

/// A text for a message, cut if it is long.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
