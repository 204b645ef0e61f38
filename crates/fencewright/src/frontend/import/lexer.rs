//! From foreign text to tokens. The languages differ in their comments and signs, which a [`Dialect`] says.

use std::collections::VecDeque;

use super::expansion::{Frames, OUTERMOST};
use crate::source::{Diagnostic, Span};
use crate::watch::heed;

/// After so many errors nothing more is read.
pub(crate) const MAX_ERRORS: usize = 50;

/// How the words of a language look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// What opens and closes a comment.
    pub(crate) comment: (&'static str, &'static str),
    /// Whether a comment may hold comments.
    pub(crate) has_nested_comments: bool,
    /// Whether `$name` is one word.
    pub(crate) has_dollar_names: bool,
    /// Whether numbers may be written `0x1f`.
    pub(crate) has_hexadecimal: bool,
    /// How `and` and `or` are written.
    pub(crate) connectives: (&'static str, &'static str),
    /// The signs, longer ones before those that they start with.
    pub(crate) signs: &'static [&'static str],
}

/// One word or sign of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    /// How many line ends stand between it and the token or comment before it; more than two count as two.
    pub(crate) newlines: u8,
    /// Whether something unreadable was passed over right before it, which has been reported.
    pub(crate) is_after_error: bool,
    /// The use of a macro that it comes from.
    pub(crate) frame: u32,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or keyword.
    Word,
    /// `$name`
    DollarWord,
    /// A number.
    Int(i64),
    /// One of the signs of the dialect.
    Sign,
    /// The end of the text.
    End,
}

/// A comment, not yet given to anything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawComment {
    pub(crate) span: Span,
    /// As for [`Token::newlines`].
    pub(crate) newlines: u8,
    /// The token that it stands before.
    pub(crate) before: usize,
}

/// What a text is made of.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// Invariant: the last one is [`TokenKind::End`], and it is the only one.
    pub(crate) tokens: Vec<Token>,
    /// In the order of the tokens that they stand before.
    pub(crate) comments: VecDeque<RawComment>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The uses of macros.
    pub(crate) frames: Frames,
}

/// Reads a text from a byte on.
pub(crate) fn lex(dialect: Dialect, text: &str, start: usize) -> Lexed {
    let mut lexer = Lexer { dialect, text, position: start, newlines: 0, is_after_error: false, out: Lexed::default() };
    while lexer.next() {}
    lexer.out
}

struct Lexer<'a> {
    dialect: Dialect,
    text: &'a str,
    position: usize,
    newlines: u8,
    is_after_error: bool,
    out: Lexed,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// Reads one token or passes over one error; whether there may be more.
    fn next(&mut self) -> bool {
        self.skip_blanks_and_comments();
        let rest = self.rest();
        let Some(first) = rest.chars().next().filter(|_| self.out.diagnostics.len() < MAX_ERRORS) else {
            self.position = self.text.len();
            self.push(TokenKind::End, 0);
            return false;
        };
        if first.is_ascii_digit() {
            self.number(rest);
        } else if first.is_ascii_alphabetic() || first == '_' {
            self.push(TokenKind::Word, word_length(rest));
        } else if first == '$' && self.dialect.has_dollar_names && word_length(&rest[1..]) > 0 {
            self.push(TokenKind::DollarWord, 1 + word_length(&rest[1..]));
        } else if let Some(sign) = self.dialect.signs.iter().find(|sign| starts_with(rest, sign)) {
            self.push(TokenKind::Sign, sign.len());
        } else {
            self.unknown(first, rest);
        }
        true
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        heed(1);
        let start = self.position;
        self.position += length;
        self.out.tokens.push(Token {
            kind,
            span: span(start, self.position),
            newlines: std::mem::take(&mut self.newlines),
            is_after_error: std::mem::take(&mut self.is_after_error),
            frame: OUTERMOST,
        });
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.bytes().take_while(u8::is_ascii_whitespace).count();
            let newlines = rest.as_bytes()[..blank].iter().filter(|&&byte| byte == b'\n').count();
            self.newlines = (usize::from(self.newlines) + newlines).min(2) as u8;
            self.position += blank;
            if !starts_with(self.rest(), self.dialect.comment.0) {
                return;
            }
            self.comment();
        }
    }

    fn comment(&mut self) {
        heed(1);
        let start = self.position;
        let newlines = std::mem::take(&mut self.newlines);
        if let Some(length) = comment_length(self.dialect, self.rest()) {
            self.position += length;
            let before = self.out.tokens.len();
            self.out.comments.push_back(RawComment { span: span(start, self.position), newlines, before });
            return;
        }
        let (open, close) = self.dialect.comment;
        self.position = self.text.len();
        self.is_after_error = true;
        self.out.diagnostics.push(
            Diagnostic::error(span(start, start + open.len()), "unterminated comment")
                .with_label("the comment starts here and never ends")
                .with_help(format!("add `{close}` where the comment ends")),
        );
    }

    fn number(&mut self, rest: &str) {
        let length = word_length(rest);
        let digits = &rest[..length];
        let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let hexadecimal = hexadecimal.filter(|_| self.dialect.has_hexadecimal);
        let is_number = match hexadecimal {
            Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            None => digits.bytes().all(|byte| byte.is_ascii_digit()),
        };
        let value = hexadecimal.map_or_else(|| digits.parse(), |digits| i64::from_str_radix(digits, 16));
        let at = span(self.position, self.position + length);
        if !is_number {
            self.out.diagnostics.push(
                Diagnostic::error(at, "number with letters in it")
                    .with_label("neither a number nor a name")
                    .with_help("a name starts with a letter or `_`"),
            );
        } else if value.is_err() {
            self.out.diagnostics.push(
                Diagnostic::error(at, "integer too large")
                    .with_label(format!("the largest is `{}`", i64::MAX))
                    .with_help("use a smaller number"),
            );
        }
        self.push(TokenKind::Int(value.unwrap_or(0)), length);
    }

    fn unknown(&mut self, first: char, rest: &str) {
        let is_shown = !first.is_control() && !first.is_whitespace();
        let shown = if is_shown { first.to_string() } else { format!("U+{:04X}", u32::from(first)) };
        let at = span(self.position, self.position + first.len_utf8());
        let (open, close) = self.dialect.comment;
        let help = match first {
            '/' => format!("comments are written `{open} … {close}`"),
            '&' => format!("`and` is written `{}`", self.dialect.connectives.0),
            '|' => format!("`or` is written `{}`", self.dialect.connectives.1),
            _ => "remove it".to_owned(),
        };
        // One message for a run of the same character.
        self.position += rest.len() - rest.trim_start_matches(first).len();
        self.is_after_error = true;
        self.out.diagnostics.push(
            Diagnostic::error(at, format!("unknown character `{shown}`"))
                .with_label("not part of the language")
                .with_help(help),
        );
    }
}

/// How long the comment is that starts the text; nothing if it does not end.
pub(crate) fn comment_length(dialect: Dialect, text: &str) -> Option<usize> {
    let (open, close) = dialect.comment;
    let mut position = open.len();
    let mut depth = 1_usize;
    while depth > 0 {
        let rest = text.as_bytes().get(position..).filter(|rest| !rest.is_empty())?;
        if starts_with(rest, close) {
            depth -= 1;
            position += close.len();
        } else if dialect.has_nested_comments && starts_with(rest, open) {
            depth += 1;
            position += open.len();
        } else {
            position += 1;
        }
    }
    Some(position)
}

/// Whether a text starts with a sign: nearly always its first byte tells.
fn starts_with(text: impl AsRef<[u8]>, sign: &str) -> bool {
    let (text, sign) = (text.as_ref(), sign.as_bytes());
    text.first() == sign.first() && text.starts_with(sign)
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}
