//! Sections: `forbidden`, `predicates`, `data`, `process`.

use super::Parser;
use crate::frontend::ast::Name;
use crate::frontend::import::cursor::Parsed;
use crate::frontend::import::lexer::TokenKind;
use crate::frontend::nearest::nearest;
use crate::frontend::rmm::syntax::{Declaration, File, Initial, Predicate, Process, Tuple};
use crate::numeric::Range;
use crate::source::{Diagnostic, Span};

/// The words that start a section.
const SECTIONS: &[&str] = &["forbidden", "predicates", "data", "process"];

/// The most copies of a process.
const MAX_COPIES: i64 = 64;

/// Which kind of thing is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Location,
    Register,
}

impl Parser<'_> {
    /// The whole text.
    pub(super) fn file(&mut self) -> File {
        let mut file = File { head: self.cursor.leading().before, ..File::default() };
        let mut seen: Vec<(&str, Span)> = Vec::new();
        while !self.cursor.is_at_end() {
            let (word, start) = (self.cursor.text(), self.cursor.current().span);
            if let Some((_, first)) = seen.iter().find(|(known, _)| *known == word && word != "process") {
                self.cursor.report(twice(word, start, *first));
            }
            if self.section(&mut file).is_err() {
                self.skip_to(SECTIONS);
            }
            seen.push((word, start));
        }
        self.check_sections(&seen);
        file.end_comments = self.cursor.comments_left();
        file
    }

    fn section(&mut self, file: &mut File) -> Parsed<()> {
        match self.cursor.text() {
            "forbidden" => self.forbidden(&mut file.forbidden),
            "predicates" => self.predicates(&mut file.predicates),
            "data" => {
                self.cursor.bump();
                self.declarations(Kind::Location, &mut file.data)
            }
            "process" => {
                let process = self.process()?;
                file.processes.push(process);
                Ok(())
            }
            word => {
                let help = match nearest(word, SECTIONS.iter().copied()) {
                    Some(it) => format!("did you mean `{it}`?"),
                    None => "the sections are `forbidden`, `predicates`, `data` and `process`".to_owned(),
                };
                Err(self.cursor.expected("a section", &help))
            }
        }
    }

    fn check_sections(&mut self, seen: &[(&str, Span)]) {
        let has = |wanted: &str| seen.iter().any(|(word, _)| *word == wanted);
        if !self.cursor.diagnostics.is_empty() {
            return;
        }
        if !has("forbidden") {
            let help = "start with `forbidden` and one label for each process, such as `forbidden CS CS`";
            self.cursor.report(Diagnostic::error(Span::default(), "no `forbidden` section").with_help(help));
        } else if !has("process") {
            let help = "add one: `process text L0: nop`";
            self.cursor.report(Diagnostic::error(self.cursor.current().span, "no process").with_help(help));
        }
    }

    fn forbidden(&mut self, tuples: &mut Vec<Tuple>) -> Parsed<()> {
        self.cursor.bump();
        loop {
            let mut trivia = self.cursor.leading();
            let start = self.cursor.current().span;
            let mut labels = Vec::new();
            while self.is_at_name() || self.cursor.is_at("*") {
                let is_any = self.cursor.is_at("*");
                let text = self.cursor.text().to_owned();
                let span = self.cursor.bump().span;
                labels.push((!is_any).then_some(Name { text, span }));
            }
            if labels.is_empty() {
                let help = "write one label for each process, or `*` where it may be anywhere: `forbidden CS CS`";
                return Err(self.cursor.expected("a label or `*`", help));
            }
            let span = self.cursor.since(start);
            let is_last = !self.cursor.eat(";");
            self.cursor.trailing(&mut trivia);
            tuples.push(Tuple { trivia, span, labels });
            if is_last || self.cursor.is_at_any(SECTIONS) {
                return Ok(());
            }
        }
    }

    fn predicates(&mut self, predicates: &mut Vec<Predicate>) -> Parsed<()> {
        self.cursor.bump();
        loop {
            let mut trivia = self.cursor.leading();
            let condition = self.condition()?;
            let is_last = !self.cursor.eat(";");
            self.cursor.trailing(&mut trivia);
            predicates.push(Predicate { trivia, span: condition.span, condition });
            if is_last || self.cursor.is_at_any(SECTIONS) {
                return Ok(());
            }
        }
    }

    fn process(&mut self) -> Parsed<Process> {
        let trivia = self.cursor.leading();
        let span = self.cursor.bump().span;
        let mut process =
            Process { trivia, span, count: self.count()?, data: Vec::new(), registers: Vec::new(), text: Vec::new() };
        loop {
            if self.cursor.eat("data") {
                self.declarations(Kind::Location, &mut process.data)?;
            } else if self.cursor.eat("registers") {
                self.declarations(Kind::Register, &mut process.registers)?;
            } else {
                break;
            }
        }
        let help = "a process is `process`, then `data` and `registers` if it has any, then `text` and its statements";
        self.cursor.expect("text", help)?;
        process.text = self.text();
        Ok(process)
    }

    /// `(N)`, or nothing, which means one.
    fn count(&mut self) -> Parsed<usize> {
        if !self.cursor.eat("(") {
            return Ok(1);
        }
        let help = format!("say how many copies there are, up to {MAX_COPIES}: `process(2)`");
        let (count, span) = self.cursor.integer("a number", &help)?;
        self.cursor.expect(")", &help)?;
        if !(1..=MAX_COPIES).contains(&count) {
            let message = format!("`process({count})` is not a number of copies");
            return Err(self.cursor.report(Diagnostic::error(span, message).with_help(help)));
        }
        Ok(count as usize)
    }

    fn declarations(&mut self, kind: Kind, all: &mut Vec<Declaration>) -> Parsed<()> {
        loop {
            let is_here = match kind {
                Kind::Location => self.is_at_name(),
                Kind::Register => self.cursor.kind() == TokenKind::DollarWord,
            };
            if !is_here {
                let help = match kind {
                    Kind::Location => {
                        "a location is declared by `x = 0 : [0:3]`; registers have a section of their own"
                    }
                    Kind::Register => "a register is declared by `$r = 0 : [0:3]`",
                };
                let is_wrong = all.is_empty() || self.cursor.is_at_any(&[";", ","]);
                let is_other = matches!(self.cursor.kind(), TokenKind::DollarWord) || self.is_at_name();
                let what = if kind == Kind::Location { "a location" } else { "a register" };
                return if is_wrong || is_other { Err(self.cursor.expected(what, help)) } else { Ok(()) };
            }
            let declaration = self.declaration()?;
            all.push(declaration);
        }
    }

    /// `x = 0 : [0:1]`
    fn declaration(&mut self) -> Parsed<Declaration> {
        let mut trivia = self.cursor.leading();
        let name = Name { text: self.cursor.text().to_owned(), span: self.cursor.bump().span };
        let help = format!("say how it starts: `{0} = 0 : [0:1]`, or `{0} = * : [0:1]` for any value", name.text);
        self.cursor.expect("=", &help)?;
        let value_start = self.cursor.current().span;
        let initial = if self.cursor.eat("*") {
            Initial::Any
        } else {
            Initial::Number(self.cursor.integer("a number or `*`", &help)?.0)
        };
        let value_span = self.cursor.since(value_start);
        let domain = if self.cursor.eat(":") { self.domain()? } else { Range::ALL };
        if let (Initial::Number(value), Some((lo, hi))) = (initial, domain.ends())
            && !domain.contains(value)
        {
            let message = format!("`{}` starts at {value}, which is outside of its domain", name.text);
            let diagnostic = Diagnostic::error(value_span, message)
                .with_label(format!("not in `[{lo}:{hi}]`"))
                .with_help("widen the domain, or start within it");
            self.cursor.diagnostics.push(diagnostic);
        }
        let span = self.cursor.since(name.span);
        self.cursor.eat(",");
        self.cursor.trailing(&mut trivia);
        Ok(Declaration { trivia, span, name, initial, domain })
    }

    fn domain(&mut self) -> Parsed<Range> {
        let help = "a domain is `[lo:hi]` with both ends included, or `Z` for all integers";
        if self.cursor.eat("Z") {
            return Ok(Range::ALL);
        }
        let start = self.cursor.current().span;
        if !self.cursor.eat("[") {
            return Err(self.cursor.expected("a domain", help));
        }
        let (lo, _) = self.cursor.integer("a number", help)?;
        self.cursor.expect(":", help)?;
        let (hi, _) = self.cursor.integer("a number", help)?;
        self.cursor.expect("]", help)?;
        if hi < lo {
            let span = self.cursor.since(start);
            let diagnostic = Diagnostic::error(span, "empty domain").with_label("no value is in it");
            self.cursor.diagnostics.push(diagnostic.with_help(format!("did you mean `[{hi}:{lo}]`?")));
            return Ok(Range::from_to(hi, lo));
        }
        Ok(Range::from_to(lo, hi))
    }
}

fn twice(word: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(span, format!("second `{word}` section"))
        .and_at(first, "the first one is here")
        .with_help("put all of it into one section; a process has a `data` section of its own before its `text`")
}
