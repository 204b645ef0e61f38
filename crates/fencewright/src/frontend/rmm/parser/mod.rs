//! From tokens to what a `.rmm` text says, by recursive descent.

mod declarations;
mod expressions;
mod statements;

use super::macros;
use super::syntax::File;
use crate::frontend::import::cursor::{Cursor, Parsed};
use crate::frontend::import::lexer::{Dialect, lex};
use crate::source::{Diagnostic, Source};

const DIALECT: Dialect = Dialect {
    comment: ("/*", "*/"),
    has_nested_comments: false,
    has_dollar_names: true,
    has_hexadecimal: false,
    connectives: ("&&", "||"),
    signs: &[
        ":=", "==", "!=", "<=", ">=", "&&", "||", "=", "(", ")", ",", "-", "*", ";", ":", "{", "}", "<", ">", "+", "[",
        "]", "@",
    ],
};

/// Words that name nothing.
pub(super) const RESERVED: &[&str] = &[
    "assume",
    "cas",
    "data",
    "do",
    "either",
    "else",
    "endmacro",
    "false",
    "fence",
    "forbidden",
    "goto",
    "if",
    "llfence",
    "locked",
    "macro",
    "me",
    "my",
    "nop",
    "not",
    "or",
    "other",
    "predicates",
    "process",
    "read",
    "registers",
    "sfence",
    "slfence",
    "slocked",
    "ssfence",
    "syncrd",
    "syncwr",
    "text",
    "then",
    "true",
    "while",
    "write",
];

/// Reads a text.
pub(super) fn parse(source: &Source) -> (File, Vec<Diagnostic>) {
    let start = if source.text().starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let lexed = macros::expand(lex(DIALECT, source.text(), start), source.text());
    let cursor = Cursor::over(lexed, source.text(), crate::frontend::ast::Comment::tidy);
    let mut parser = Parser { cursor, label: String::new() };
    let file = parser.file();
    (file, parser.cursor.diagnostics)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    /// The label read last, which may be a misspelled `read:` or `write:`.
    label: String,
}

impl Parser<'_> {
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        Cursor::nested(self, |parser| &mut parser.cursor, read)
    }

    /// Whether the current token is a word that may name something.
    fn is_at_name(&self) -> bool {
        let is_word = self.cursor.text().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_word && !RESERVED.contains(&self.cursor.text())
    }

    /// Passes over tokens up to one of these words or signs, or the end.
    fn skip_to(&mut self, stops: &[&str]) {
        while !self.cursor.is_at_end() && !self.cursor.is_at_any(stops) {
            self.cursor.bump();
        }
    }
}
