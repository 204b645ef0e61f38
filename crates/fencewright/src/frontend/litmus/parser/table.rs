//! The table of instructions: one column a thread.

use super::{Parser, split};
use crate::frontend::import::cursor::Parsed;
use crate::frontend::import::lexer::TokenKind;
use crate::frontend::litmus::syntax::{Line, Row, RowKind, Test, Thread};
use crate::source::{Diagnostic, Span};

/// What ends the table.
const FINAL: &[&str] = &["exists", "forall", "locations", "filter", "observed", "~"];

/// The most threads of a test.
const MAX_THREADS: usize = 64;

const TABLE_HELP: &str = "the table starts with the threads, ` P0 | P1 ;`, and each row ends in `;`";

impl Parser<'_> {
    pub(super) fn table(&mut self, test: &mut Test) -> Parsed<()> {
        self.heading(test)?;
        while !self.cursor.is_at_end() && !self.cursor.is_at_any(FINAL) {
            if self.row(test).is_err() {
                while !self.cursor.is_at(";") && !self.cursor.is_at_end() {
                    self.cursor.bump();
                }
                self.cursor.eat(";");
            }
        }
        Ok(())
    }

    /// ` P0 | P1 ;`
    fn heading(&mut self, test: &mut Test) -> Parsed<()> {
        loop {
            let span = self.cursor.current().span;
            let wanted = format!("P{}", test.threads.len());
            let help = format!("the next thread is `{wanted}`; {TABLE_HELP}");
            if !self.cursor.eat(&wanted) {
                return Err(self.cursor.expected(&format!("`{wanted}`"), &help));
            }
            test.threads.push(Thread { span, rows: Vec::new() });
            if test.threads.len() > MAX_THREADS {
                let message = format!("more than {MAX_THREADS} threads");
                return Err(self.cursor.report(Diagnostic::error(span, message).with_help("use fewer threads")));
            }
            if self.cursor.eat(";") {
                break;
            }
            self.cursor.expect("|", TABLE_HELP)?;
        }
        let comments = self.cursor.comments_before();
        test.comments.extend(split(comments));
        Ok(())
    }

    /// One row, with its `;`.
    fn row(&mut self, test: &mut Test) -> Parsed<()> {
        let start = self.cursor.current().span;
        let comments = self.cursor.comments_before();
        test.comments.extend(split(comments));
        let mut column = 0;
        let mut line = Line::default();
        loop {
            let from = self.cursor.previous().end;
            let rows = self.cell()?;
            line.cells.push(Span::new(from, self.cursor.current().span.start));
            match test.threads.get_mut(column) {
                Some(thread) => thread.rows.extend(rows),
                None => return Err(self.wrong_width(start, column + 1, test.threads.len())),
            }
            column += 1;
            if self.cursor.eat("|") {
                continue;
            }
            if self.is_at_final() {
                return Err(self.cursor.expected("`;`", TABLE_HELP));
            }
            self.cursor.expect(";", TABLE_HELP)?;
            line.end = self.cursor.previous();
            test.lines.push(line);
            break;
        }
        if column < test.threads.len() {
            self.wrong_width(start, column, test.threads.len());
        }
        Ok(())
    }

    fn is_at_final(&self) -> bool {
        self.cursor.is_at_end() || self.cursor.is_at_any(FINAL)
    }

    fn wrong_width(&mut self, start: Span, found: usize, wanted: usize) -> crate::frontend::import::cursor::Failed {
        let many = match found {
            1 => "one cell".to_owned(),
            _ if found > wanted => format!("{found} cells or more"),
            _ => format!("{found} cells"),
        };
        let message = format!("row of {many} for {wanted} threads");
        let span = self.cursor.since(start);
        let help =
            "give each row one cell for each thread, empty where it does nothing, with `|` between and `;` behind";
        self.cursor.report(Diagnostic::error(span, message).with_help(help))
    }

    /// Labels and an instruction, or nothing.
    fn cell(&mut self) -> Parsed<Vec<Row>> {
        let mut rows = Vec::new();
        while self.cursor.kind() == TokenKind::Word && self.cursor.text_at(1) == ":" {
            let name = self.cursor.name("a label", "")?;
            self.cursor.bump();
            rows.push(Row { span: name.span, kind: RowKind::Label(name), comment: None });
        }
        let is_empty = self.cursor.is_at_any(&["|", ";"]) || self.is_at_final();
        if !is_empty {
            let start = self.cursor.current().span;
            let instruction = self.instruction()?;
            rows.push(Row { span: self.cursor.since(start), kind: RowKind::Instruction(instruction), comment: None });
        }
        let comments = self.cursor.comments_before();
        if let Some(last) = rows.last_mut() {
            let texts: Vec<String> = comments.into_iter().map(|it| it.text.replace("\n//", "")).collect();
            let text = texts.join(" ");
            last.comment = (!text.is_empty()).then_some(crate::frontend::ast::Comment { text, blank_before: false });
        }
        Ok(rows)
    }
}
