//! From text to tokens, one at a time; comments are set aside.

use std::collections::VecDeque;

use super::token::{Keyword, Symbol, Token, TokenKind};
use crate::source::{Diagnostic, SourceFile, Span};
use crate::watch::heed;

/// After so many errors nothing more is read.
pub(super) const MAX_ERRORS: usize = 50;

/// A comment, not yet given to an item or statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawComment {
    pub(super) span: Span,
    /// How many line ends stand between it and the token or comment before it; more than two count as two.
    pub(super) newlines: u8,
}

/// Reads tokens from the front of a text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Where the text begins among those of all files.
    base: u32,
    position: usize,
    newlines: u8,
    is_after_error: bool,
    /// Comments passed over and not yet taken, in order.
    pub(super) comments: VecDeque<RawComment>,
    /// What is wrong so far.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(file: &'a SourceFile) -> Self {
        let (text, base) = (file.text(), file.start());
        // Some editors put a byte-order mark at the start.
        let position = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let (comments, diagnostics) = (VecDeque::new(), Vec::new());
        Self { text, base, position, newlines: 0, is_after_error: false, comments, diagnostics }
    }

    /// The text at a place.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        &self.text[(span.start - self.base) as usize..(span.end - self.base) as usize]
    }

    /// How many blanks stand right before a place.
    pub(super) fn blanks_before(&self, byte: u32) -> usize {
        self.text[..(byte - self.base) as usize].bytes().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Notes an error, and stops reading if there are too many.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        if self.has_given_up() {
            self.stop();
        }
    }

    /// Passes over all that is left.
    pub(super) fn stop(&mut self) {
        self.position = self.text.len();
    }

    /// Whether there were so many errors that nothing more is read.
    pub(super) fn has_given_up(&self) -> bool {
        self.diagnostics.len() >= MAX_ERRORS
    }

    /// The next token.
    pub(super) fn next_token(&mut self) -> Token {
        loop {
            self.skip_blanks_and_comments();
            let start = self.position;
            let Some(first) = self.rest().chars().next() else {
                return self.token(TokenKind::End, start);
            };
            if let Some(kind) = self.kind(first) {
                return self.token(kind, start);
            }
        }
    }

    fn token(&mut self, kind: TokenKind, start: usize) -> Token {
        let token = Token {
            kind,
            span: self.span(start, self.position),
            newlines: std::mem::take(&mut self.newlines),
            is_after_error: std::mem::take(&mut self.is_after_error),
        };
        self.newlines = 0;
        token
    }

    /// The place of a part of this text.
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            heed(1);
            let rest = self.rest();
            let blank = rest.bytes().take_while(u8::is_ascii_whitespace).count();
            let newlines = rest.as_bytes()[..blank].iter().filter(|&&byte| byte == b'\n').count();
            self.newlines = (usize::from(self.newlines) + newlines).min(2) as u8;
            self.position += blank;
            let rest = &rest[blank..];
            if rest.starts_with("//") {
                self.comment(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                self.block_comment(rest);
            } else {
                return;
            }
        }
    }

    fn block_comment(&mut self, rest: &str) {
        if let Some(end) = rest[2..].find("*/") {
            self.comment(2 + end + 2);
            return;
        }
        let start = self.position;
        self.position = self.text.len();
        self.is_after_error = true;
        self.report(
            Diagnostic::error(self.span(start, start + 2), "unterminated block comment")
                .with_label("the comment starts here and never ends")
                .with_help("add `*/` where the comment ends"),
        );
    }

    fn comment(&mut self, length: usize) {
        let start = self.position;
        self.position += length;
        let newlines = std::mem::take(&mut self.newlines);
        self.comments.push_back(RawComment { span: self.span(start, self.position), newlines });
    }

    /// Reads what starts with this character; nothing if it was an error that leaves no token.
    fn kind(&mut self, first: char) -> Option<TokenKind> {
        if first.is_ascii_digit() {
            return Some(self.number());
        }
        if first.is_alphabetic() || first == '_' {
            return Some(self.word());
        }
        if let Some(length) = quoted(self.rest()) {
            self.position += length;
            return Some(TokenKind::Symbol(Symbol::Text));
        }
        let rest = self.rest().as_bytes();
        let is_none = first == '"' || first == '#' && !counts(self.rest());
        for length in if is_none { [0; 3] } else { [3, 2, 1] } {
            let text = rest.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
            if let Some(symbol) = text.and_then(Symbol::from_text) {
                self.position += length;
                return Some(TokenKind::Symbol(symbol));
            }
        }
        self.unknown(first);
        None
    }

    fn word(&mut self) -> TokenKind {
        let start = self.position;
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.position += length;
        let word = &rest[..length];
        if let Some((at, odd)) = word.char_indices().find(|(_, c)| !c.is_ascii()) {
            self.report(
                Diagnostic::error(self.span(start + at, start + at + odd.len_utf8()), format!("`{odd}` in a name"))
                    .with_label("not one of `a`-`z`, `A`-`Z`, `0`-`9`, `_`")
                    .with_help("spell names with the letters `a` to `z`, digits and `_`"),
            );
            self.is_after_error = true;
        }
        Keyword::from_text(word).map_or(TokenKind::Name, TokenKind::Keyword)
    }

    fn number(&mut self) -> TokenKind {
        let start = self.position;
        let rest = self.rest();
        let mut length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let fraction =
            rest[length..].strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        if fraction > 0 {
            length += 1 + fraction;
        }
        self.position += length;
        let digits = &rest[..length];
        if let Some(value) = digits.parse().ok().or_else(|| based(digits)) {
            return TokenKind::Int(value);
        }
        self.report(wrong_number(digits, self.span(start, start + length)));
        self.is_after_error = true;
        TokenKind::Int(0)
    }

    fn unknown(&mut self, first: char) {
        let start = self.position;
        let end = start + first.len_utf8();
        if matches!(first, '"' | '\'') {
            let line = self.rest().lines().next().unwrap_or_default();
            let length = line[1..].find(first).map_or(line.len(), |close| close + 2);
            self.position += length;
            self.report(
                Diagnostic::error(self.span(start, start + length), "text in quotes")
                    .with_label("neither a message nor a value")
                    .with_help(
                        "remove it; a message is `assert(c, \"why\");`, on one line, without control characters",
                    ),
            );
        } else {
            // One message for a run of the same character.
            let rest = self.rest();
            self.position += rest.len() - rest.trim_start_matches(first).len();
            self.report(unknown_character(first, self.span(start, end)));
        }
        self.is_after_error = true;
    }
}

/// Whether a `#` counts threads: a name follows it, and none that a preprocessor knows.
fn counts(rest: &str) -> bool {
    const FOREIGN: [&str; 11] =
        ["define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "include", "pragma", "undef"];
    let behind = &rest[1..];
    let length = behind.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(behind.len());
    let starts_name = behind.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    starts_name && !FOREIGN.contains(&&behind[..length])
}

/// The length of the text in quotes that starts here, if it may be a message.
fn quoted(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('"')?;
    let length = inner.find(|it: char| it == '"' || it.is_control())?;
    inner[length..].starts_with('"').then_some(length + 2)
}

fn wrong_number(digits: &str, span: Span) -> Diagnostic {
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_hexadecimal =
        digits.strip_prefix("0x").is_some_and(|it| it.len() > 1 && u128::from_str_radix(it, 16).is_ok());
    if is_decimal || is_hexadecimal {
        return Diagnostic::error(span, "integer too large")
            .with_label(format!("the largest is `{}`", i64::MAX))
            .with_help("use a smaller number; for any integer at all, declare the variable as `int`");
    }
    if digits.contains('.') {
        return Diagnostic::error(span, "number with a fraction")
            .with_label("numbers are integers")
            .with_help("use an integer; a range is written with two dots: `0..3`");
    }
    let plain: String = digits.chars().filter(|&c| c != '_').collect();
    let octal = plain.strip_prefix("0o").and_then(|digits| i64::from_str_radix(digits, 8).ok());
    let value = plain.parse::<i64>().ok().or_else(|| based(&plain)).or(octal);
    match value {
        Some(value) => Diagnostic::error(span, "number not written in plain digits")
            .with_label("numbers are decimal, or begin with `0x` or `0b`, and have no `_`")
            .with_help(format!("write `{value}`")),
        None => Diagnostic::error(span, "number with letters in it")
            .with_label("neither a number nor a name")
            .with_help("a name starts with a letter or `_`; between a number and a name there is an operator"),
    }
}

/// The value of a number that is hexadecimal or binary.
fn based(digits: &str) -> Option<i64> {
    let (radix, rest) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        _ => return None,
    };
    // A sign would be accepted behind the prefix, but is no part of a word.
    i64::from_str_radix(rest, radix).ok()
}

fn unknown_character(character: char, span: Span) -> Diagnostic {
    let shown = if character.is_control() || character.is_whitespace() {
        format!("U+{:04X}", u32::from(character))
    } else {
        character.to_string()
    };
    let help = match character {
        '#' => "there is no preprocessor; constants are declared by `const N = 2;`, comments start with `//`",
        '~' => "there is no bit complement; `-x - 1` is the same",
        '$' | '`' | '\\' => "remove it; names are made of letters, digits and `_`",
        '≤' | '⩽' => "write `<=`",
        '≥' | '⩾' => "write `>=`",
        '≠' => "write `!=`",
        '∧' => "write `&&`",
        '∨' => "write `||`",
        '¬' => "write `!`",
        '–' | '—' | '−' => "write `-`",
        '×' | '·' => "write `*`",
        '…' => "write `..` for a range",
        '“' | '”' | '‘' | '’' => "remove it; the language has no strings",
        '；' => "write `;`",
        c if c.is_whitespace() => "replace it by an ordinary space",
        c if c.is_control() || c == char::REPLACEMENT_CHARACTER => "remove it; is this a text file?",
        _ => "remove it",
    };
    Diagnostic::error(span, format!("unknown character `{shown}`"))
        .with_label("not part of the language")
        .with_help(help)
}
