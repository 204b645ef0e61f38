//! From text to tokens, one at a time.
//!
//! A backslash at the end of a line joins it with the next, wherever it stands; a comment is a blank. Comments that
//! begin with `fencewright:` are kept. What is wrong with a token is said by whoever uses it, since text that is
//! skipped by `#if` may hold anything.
//!
//! ```text
//!   atomic_\⏎
//!   load(&x) // fencewright: thread f(0)     ─▶   `atomic_load` `(` `&` `x` `)`   and a remark
//! ```

use std::borrow::Cow;

use fencewright::source::{SourceFile, Span};
use fencewright::watch::heed;

use crate::ast::Remark;
use crate::token::{Punctuator, Token, TokenKind};

/// What a comment begins with that is for us.
const REMARK: &str = "fencewright:";

/// Reads tokens from a place in a text.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    /// Where the text begins among those of all files.
    base: u32,
    /// Invariant: not at a line splice, and at a character.
    position: usize,
    /// Whether nothing was read yet: a line starts here.
    is_start: bool,
    /// Remarks that were passed over.
    pub(crate) remarks: Vec<Remark>,
    /// A comment that never ends.
    pub(crate) unclosed: Option<Span>,
}

impl<'t> Lexer<'t> {
    /// Goes on at a place in a file.
    pub(crate) fn at(file: &'t SourceFile, position: usize) -> Self {
        let mut lexer = Self::of(file.text(), file.start());
        // Some editors put a byte-order mark at the start.
        lexer.position = if position == 0 && lexer.text.starts_with('\u{feff}') { 3 } else { position };
        lexer.skip_splices();
        lexer.is_start = position == 0;
        lexer
    }

    fn of(text: &'t str, base: u32) -> Self {
        Self { text, base, position: 0, is_start: true, remarks: Vec::new(), unclosed: None }
    }

    /// The byte of the text it is at.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The next token; [`TokenKind::End`] at the end.
    pub(crate) fn next_token(&mut self) -> Token {
        heed(1);
        let blank = self.skip_blanks(false);
        self.token(blank)
    }

    /// The next token of the same line, if there is one.
    pub(crate) fn next_in_line(&mut self) -> Option<Token> {
        heed(1);
        let blank = self.skip_blanks(true);
        let is_over = matches!(self.peek(), None | Some('\n'));
        (!is_over).then(|| self.token(blank))
    }

    /// A header's name as `#include` has it, `<a.h>` or `"a.h"`; the sign that opens it is kept.
    pub(crate) fn header_name(&mut self) -> Option<(String, Span)> {
        self.skip_blanks(true);
        let rest = &self.text[self.position..];
        let close = match rest.as_bytes().first() {
            Some(b'<') => '>',
            Some(b'"') => '"',
            _ => return None,
        };
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let length = 1 + line[1..].find(close)?;
        let start = self.position;
        self.position += length + 1;
        self.skip_splices();
        Some((line[..length].to_owned(), self.span(start, start + length + 1)))
    }

    /// Passes over the rest of the line, comments that begin there included.
    pub(crate) fn skip_line(&mut self) {
        while self.next_in_line().is_some() {}
    }

    /// The rest of the line as it is written, without blanks around it.
    pub(crate) fn rest_of_line(&mut self) -> String {
        let start = self.position;
        while self.peek().is_some_and(|it| it != '\n') {
            heed(1);
            self.bump();
        }
        without_splices(&self.text[start..self.position]).trim().to_owned()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    /// The byte behind the one it is at, splices passed over.
    fn peek_second(&self) -> Option<u8> {
        let at = after_splices(self.text, self.position + 1);
        self.text.as_bytes().get(at).copied()
    }

    fn bump(&mut self) {
        self.position += self.peek().map_or(0, char::len_utf8);
        self.skip_splices();
    }

    fn skip_splices(&mut self) {
        self.position = after_splices(self.text, self.position);
    }

    /// Passes over blanks and comments.
    fn skip_blanks(&mut self, is_in_line: bool) -> Blank {
        let mut blank = Blank { has_newline: std::mem::take(&mut self.is_start), is_any: false };
        while let Some(next) = self.peek() {
            heed(1);
            match next {
                '\n' if is_in_line => break,
                '\n' => blank.has_newline = true,
                ' ' | '\t' | '\r' | '\u{b}' | '\u{c}' => {}
                '/' if matches!(self.peek_second(), Some(b'/' | b'*')) => {
                    self.comment();
                    blank.is_any = true;
                    continue;
                }
                _ => break,
            }
            blank.is_any = true;
            self.bump();
        }
        blank
    }

    fn comment(&mut self) {
        let start = self.position;
        self.bump();
        let is_line = self.peek() == Some('/');
        self.bump();
        let inside = self.position;
        let end = if is_line { self.line_comment() } else { self.block_comment(start) };
        let inside = &self.text[inside..end];
        if let Some(text) = inside.trim_start().strip_prefix(REMARK) {
            let (text, span) = (without_splices(text).trim().to_owned(), self.span(start, self.position));
            self.remarks.push(Remark { text, span });
        }
    }

    /// Passes over the rest of the line, and says where it ends.
    fn line_comment(&mut self) -> usize {
        while self.peek().is_some_and(|it| it != '\n') {
            heed(1);
            self.bump();
        }
        self.position
    }

    /// Passes over all up to `*/`, and says where that is.
    fn block_comment(&mut self, start: usize) -> usize {
        loop {
            heed(1);
            let end = self.position;
            match self.peek() {
                None => {
                    self.unclosed = Some(self.span(start, (start + 2).min(self.text.len())));
                    return end;
                }
                Some('*') => {
                    self.bump();
                    if self.peek() == Some('/') {
                        self.bump();
                        return end;
                    }
                }
                Some(_) => self.bump(),
            }
        }
    }

    fn token(&mut self, blank: Blank) -> Token {
        let start = self.position;
        let kind = self.kind();
        // A splice behind the token is none of it.
        let end = before_splices(self.text, start, self.position);
        let mut token = Token::new(kind, self.span(start, end));
        token.starts_line = blank.has_newline;
        token.is_spaced = blank.is_any;
        token
    }

    fn kind(&mut self) -> TokenKind {
        let start = self.position;
        let Some(first) = self.peek() else { return TokenKind::End };
        if first.is_alphabetic() || first == '_' || first == '$' {
            return self.word(start);
        }
        let is_fraction = first == '.' && self.peek_second().is_some_and(|it| it.is_ascii_digit());
        if first.is_ascii_digit() || is_fraction {
            self.number();
            return TokenKind::Number(self.spelling(start).into());
        }
        if first == '"' || first == '\'' {
            return self.quoted(start, first);
        }
        self.punctuator().map_or_else(
            || {
                self.bump();
                TokenKind::Stray(self.spelling(start).into())
            },
            TokenKind::Punctuator,
        )
    }

    fn word(&mut self, start: usize) -> TokenKind {
        while self.peek().is_some_and(|it| it.is_alphanumeric() || it == '_' || it == '$') {
            self.bump();
        }
        let word = self.spelling(start);
        if matches!(&*word, "L" | "u" | "U" | "u8")
            && let Some(quote @ ('"' | '\'')) = self.peek()
        {
            return self.quoted(start, quote);
        }
        TokenKind::Name(word.into())
    }

    fn number(&mut self) {
        let mut last = ' ';
        while let Some(next) = self.peek() {
            let is_exponent = matches!(last, 'e' | 'E' | 'p' | 'P') && matches!(next, '+' | '-');
            if !next.is_alphanumeric() && next != '_' && next != '.' && !is_exponent {
                return;
            }
            last = next;
            self.bump();
        }
    }

    fn quoted(&mut self, start: usize, quote: char) -> TokenKind {
        self.bump();
        loop {
            heed(1);
            match self.peek() {
                None | Some('\n') => return TokenKind::Unterminated(self.spelling(start).into()),
                Some('\\') => self.bump(),
                Some(it) if it == quote => {
                    self.bump();
                    let text = self.spelling(start).into();
                    return if quote == '"' { TokenKind::String(text) } else { TokenKind::Character(text) };
                }
                Some(_) => {}
            }
            if self.peek().is_some_and(|it| it != '\n') {
                self.bump();
            }
        }
    }

    /// The longest sign that stands here.
    fn punctuator(&mut self) -> Option<Punctuator> {
        let (mut text, mut ends) = (String::new(), Vec::new());
        let mut at = self.position;
        for _ in 0..3 {
            let Some(&byte) = self.text.as_bytes().get(at).filter(|it| it.is_ascii_punctuation()) else { break };
            text.push(char::from(byte));
            at = after_splices(self.text, at + 1);
            ends.push(at);
        }
        while let Some(end) = ends.pop() {
            if let Some(punctuator) = Punctuator::from_text(&text) {
                self.position = end;
                return Some(punctuator);
            }
            text.pop();
        }
        None
    }

    /// What was read since a place, without splices.
    fn spelling(&self, start: usize) -> Cow<'t, str> {
        without_splices(&self.text[start..self.position])
    }
}

/// What stands before a token.
#[derive(Clone, Copy)]
struct Blank {
    has_newline: bool,
    is_any: bool,
}

/// The token that a text is, if it is just one.
pub(crate) fn single(text: &str) -> Option<TokenKind> {
    let mut lexer = Lexer::of(text, 0);
    let kind = lexer.kind();
    let is_all = lexer.position == text.len();
    let is_one = !matches!(kind, TokenKind::End | TokenKind::Unterminated(_) | TokenKind::Stray(_));
    (is_all && is_one).then_some(kind)
}

/// How long a splice at this place is: a backslash, and the end of a line.
fn splice(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    if rest.starts_with(b"\\\n") {
        return Some(2);
    }
    rest.starts_with(b"\\\r\n").then_some(3)
}

fn after_splices(text: &str, mut at: usize) -> usize {
    while let Some(length) = splice(text, at) {
        heed(1);
        at += length;
    }
    at
}

/// Where a token ends that was read up to a place: before the splices that were passed over behind it.
fn before_splices(text: &str, start: usize, end: usize) -> usize {
    let read = &text[start..end];
    let cut = |read: &str| read.strip_suffix("\\\n").or_else(|| read.strip_suffix("\\\r\n")).map(str::len);
    let mut length = read.len();
    while let Some(shorter) = cut(&read[..length]) {
        length = shorter;
    }
    start + length
}

fn without_splices(text: &str) -> Cow<'_, str> {
    if !text.contains("\\\n") && !text.contains("\\\r\n") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\\\r\n", "").replace("\\\n", ""))
}

#[cfg(test)]
mod tests {
    use fencewright::source::Source;

    use super::{Lexer, single};
    use crate::token::{Token, TokenKind};

    fn tokens(text: &str) -> (Vec<Token>, Vec<String>) {
        let source = Source::new("t.c", text);
        let mut lexer = Lexer::at(source.main(), 0);
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next_token();
            if token.kind == TokenKind::End {
                return (tokens, lexer.remarks.into_iter().map(|it| it.text).collect());
            }
            tokens.push(token);
        }
    }

    fn check(text: &str, expected: &[&str]) {
        let (tokens, _) = tokens(text);
        assert_eq!(tokens.iter().map(Token::spelling).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn the_longest_sign_counts() {
        check("a+++b", &["a", "++", "+", "b"]);
        check("x<<=1>>y->z...", &["x", "<<=", "1", ">>", "y", "->", "z", "..."]);
        check("a..b", &["a", ".", ".", "b"]);
        check("#define X ##", &["#", "define", "X", "##"]);
    }

    #[test]
    fn numbers_take_all_that_looks_like_one() {
        check("0x1Full 1.5e+3 .5 1e-2f 0x1p-3 1..2", &["0x1Full", "1.5e+3", ".5", "1e-2f", "0x1p-3", "1..2"]);
        check("x-1", &["x", "-", "1"]);
    }

    #[test]
    fn comments_are_blanks_and_lines_can_be_joined() {
        check("a/* x */b// c\nd", &["a", "b", "d"]);
        check("ab\\\ncd <\\\r\n<= \\\n", &["abcd", "<<="]);
        check("// one \\\n two\nx", &["x"]);
        check("/\\\n* x *\\\n/ y", &["y"]);
    }

    #[test]
    fn strings_keep_their_quotes() {
        check(r#" "a\"b" 'x' '\'' L"w" u8"q" u'c' "#, &[r#""a\"b""#, "'x'", r"'\''", "L\"w\"", "u8\"q\"", "u'c'"]);
        check("\"open\nx", &["\"open", "x"]);
        check("don't\nx", &["don", "'t", "x"]);
    }

    #[test]
    fn a_place_is_one_in_the_text() {
        let (tokens, _) = tokens("ab\\\ncd  e\\\n ;");
        let places: Vec<_> = tokens.iter().map(|it| (it.span.start, it.span.end)).collect();
        assert_eq!(places, [(0, 6), (8, 9), (12, 13)]);
    }

    #[test]
    fn remarks_are_kept() {
        let (_, remarks) = tokens("// fencewright: thread f(0)\n/* fencewright: final g() */ // other\nx");
        assert_eq!(remarks, ["thread f(0)", "final g()"]);
    }

    #[test]
    fn one_token_or_none() {
        assert!(single("+=").is_some() && single("x1").is_some() && single("1x").is_some());
        assert!(single("+-").is_none() && single("").is_none() && single(" x").is_none() && single("\"a").is_none());
    }
}
