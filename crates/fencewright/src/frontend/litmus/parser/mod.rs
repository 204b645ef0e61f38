//! From text to what a litmus test says.

mod condition;
mod instructions;
mod operands;
mod table;

use super::header::Header;
use super::registers;
use super::syntax::{Initial, InitialValue, Place, Register, Test};
use crate::frontend::ast::Comment;
use crate::frontend::import::cursor::{Cursor, Parsed};
use crate::frontend::import::lexer::{Dialect, TokenKind};
use crate::frontend::import::tree::comment;
use crate::source::{Diagnostic, Source};

/// The words and signs of litmus tests.
pub(super) const DIALECT: Dialect = Dialect {
    comment: ("(*", "*)"),
    has_nested_comments: true,
    has_dollar_names: false,
    has_hexadecimal: true,
    connectives: ("/\\", "\\/"),
    signs: &[
        "/\\", "\\/", "<>", "!=", "{", "}", "[", "]", "(", ")", "|", ";", ":", ",", "=", "~", "$", "-", "+", "*", "#",
        "%",
    ],
};

/// The comments of `.fw` for one of a litmus test, which may have several lines.
pub(super) fn line_comments(text: &str) -> Vec<Comment> {
    let inner = text.trim_start_matches("(*").trim_end_matches("*)").trim();
    inner.lines().map(|line| comment(line.trim().trim_end_matches(['\\', ' ']))).collect()
}

/// A comment that stays one.
fn convert(text: &str) -> String {
    let lines: Vec<String> = line_comments(text).into_iter().map(|it| it.text).collect();
    if lines.is_empty() { "//".to_owned() } else { lines.join("\n") }
}

/// Reads a test behind its header.
pub(super) fn parse(source: &Source, header: &Header) -> (Test, Vec<Diagnostic>) {
    let mut parser = Parser { cursor: Cursor::new(DIALECT, source.text(), header.end, convert) };
    let mut test = Test { head: header.comments.clone(), ..Test::default() };
    // What could not be read has been reported.
    let _ = parser.test(&mut test);
    (test, parser.cursor.diagnostics)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
}

impl Parser<'_> {
    fn test(&mut self, test: &mut Test) -> Parsed<()> {
        self.initial_state(test)?;
        self.table(test)?;
        self.final_part(test)?;
        test.end_comments.extend(split(self.cursor.comments_left()));
        Ok(())
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        Cursor::nested(self, |parser| &mut parser.cursor, read)
    }

    /// `{ x=0; 0:EAX=1; }`
    fn initial_state(&mut self, test: &mut Test) -> Parsed<()> {
        let open = self.cursor.expect("{", "the initial state stands in braces: `{ x=0; y=0; }`")?;
        while !self.cursor.is_at_any(&["}", "|"]) && !self.cursor.is_at_end() {
            if self.cursor.eat(";") {
                continue;
            }
            if self.cursor.is_at("P0") && matches!(self.cursor.text_at(1), "|" | ";") {
                break;
            }
            match self.initial() {
                Ok(it) => test.initial.push(it),
                Err(_) => {
                    while !self.cursor.is_at_any(&[";", "}"]) && !self.cursor.is_at_end() {
                        self.cursor.bump();
                    }
                }
            }
        }
        if !self.cursor.is_at("}") {
            let diagnostic = Diagnostic::error(open, "unclosed `{`").with_label("the initial state is not closed");
            return Err(self.cursor.report(diagnostic.with_help("add `}` before the table of instructions")));
        }
        self.cursor.bump();
        let comments = self.cursor.comments_before();
        test.comments.extend(split(comments));
        Ok(())
    }

    /// `uint64_t x=1`, `int x`, `uint64_t 0:rax`, `0:RSI=x`, `[x]=1`
    fn initial(&mut self) -> Parsed<Initial> {
        let start = self.cursor.current().span;
        self.c_type()?;
        let place = self.place()?;
        let value = if self.cursor.eat("=") { Some(self.initial_value()?) } else { None };
        let span = self.cursor.since(start);
        if !self.cursor.is_at_any(&[";", "}"]) {
            return Err(self.cursor.expected("`;`", "an entry is `x=0;`, `0:EAX=1;` or `0:RSI=x;`"));
        }
        Ok(Initial { span, place, value })
    }

    /// Passes over the type of a location or register.
    fn c_type(&mut self) -> Parsed<()> {
        while self.cursor.kind() == TokenKind::Word && !matches!(self.cursor.text_at(1), "=" | ";" | ":" | "}" | "[") {
            let is_type = matches!(self.cursor.text(), "int" | "long" | "unsigned" | "signed" | "short" | "char")
                || self.cursor.text().ends_with("_t");
            if !is_type {
                let help = "an entry is `x=0;`, `int x=0;`, `0:EAX=1;` or `0:RSI=x;`";
                return Err(self.cursor.expected("a type or a location", help));
            }
            self.cursor.bump();
        }
        let is_for_register = self.cursor.text_at(1).starts_with(|it: char| it.is_ascii_digit());
        if is_for_register && self.cursor.eat("*") {
            return Ok(());
        }
        if self.cursor.is_at("*") || self.cursor.text_at(1) == "[" && self.cursor.kind() == TokenKind::Word {
            self.cursor.eat("*");
            let help = "pointers and arrays in memory are not supported; use one location for each cell";
            return Err(self.cursor.expected("an integer location", help));
        }
        Ok(())
    }

    fn initial_value(&mut self) -> Parsed<InitialValue> {
        if self.cursor.kind() == TokenKind::Word {
            return Ok(InitialValue::Address(self.cursor.name("a value", "")?));
        }
        Ok(InitialValue::Number(self.cursor.integer("a value", "an entry is `x=0;`, `0:EAX=1;` or `0:RSI=x;`")?.0))
    }

    /// `0:EAX`, `x`, `[x]`
    fn place(&mut self) -> Parsed<Place> {
        let help = "name a location, such as `x` or `[x]`, or a register with its thread, such as `0:EAX`";
        if self.cursor.eat("[") {
            let name = self.cursor.name("a location", help)?;
            self.cursor.expect("]", help)?;
            return Ok(Place::Location(name));
        }
        if let TokenKind::Int(thread) = self.cursor.kind() {
            self.cursor.bump();
            self.cursor.expect(":", help)?;
            return Ok(Place::Register(thread.try_into().unwrap_or(usize::MAX), self.register()?));
        }
        if self.cursor.text_at(1) == ":" || registers::family(self.cursor.text()).is_some() {
            let help = format!("say of which thread, by its number: `0:{}`", self.cursor.text());
            return Err(self.cursor.expected("a thread number", &help));
        }
        Ok(Place::Location(self.cursor.name("a location or register", help)?))
    }

    fn register(&mut self) -> Parsed<Register> {
        let span = self.cursor.current().span;
        match registers::family(self.cursor.text()) {
            Some(family) => {
                self.cursor.bump();
                Ok(Register { family, span })
            }
            None => Err(self.cursor.expected("a register", "the registers are `EAX`, `EBX`, …, `RAX`, `R8`, …")),
        }
    }
}

/// One comment a line.
fn split(comments: Vec<Comment>) -> impl Iterator<Item = Comment> {
    comments.into_iter().flat_map(|it| {
        let mut blank_before = it.blank_before;
        let lines: Vec<String> = it.text.split('\n').map(str::to_owned).collect();
        lines.into_iter().map(move |text| Comment { text, blank_before: std::mem::take(&mut blank_before) })
    })
}
