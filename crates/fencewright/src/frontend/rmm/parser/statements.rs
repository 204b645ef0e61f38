//! Statements and locations.

use super::{Parser, RESERVED};
use crate::frontend::ast::Name;
use crate::frontend::import::cursor::{Failed, Parsed};
use crate::frontend::import::lexer::TokenKind;
use crate::frontend::nearest::nearest;
use crate::frontend::rmm::syntax::{Place, PlaceKind, Sequence, Stmt, StmtKind, WriteKind};
use crate::program::FenceKind;

const STATEMENT_HELP: &str = "a statement is one of `nop`, `read:`, `write:`, `locked write:`, `cas(x, a, b)`, \
    `fence`, `$r := e`, `assume:`, `if`, `while`, `goto`, `either { … }`, `locked { … }`, `{ … }`";

impl Parser<'_> {
    /// The statements of a process. What cannot be read is passed over.
    pub(super) fn text(&mut self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        loop {
            match self.statement() {
                Ok(stmt) => statements.push(stmt),
                Err(Failed) => self.skip_statement(),
            }
            if self.cursor.is_at_end() || self.cursor.is_at("process") {
                return statements;
            }
            if !self.was_separated() {
                self.cursor.expected("`;` or the next process", "statements are separated by `;`");
                self.skip_statement();
            }
        }
    }

    /// Whether the previous token ended a statement.
    fn was_separated(&self) -> bool {
        self.cursor.slice(self.cursor.previous()) == ";"
    }

    /// Passes over the rest of a statement, with the blocks in it, and the `;` behind it.
    fn skip_statement(&mut self) {
        let mut depth = 0_usize;
        while !self.cursor.is_at_end() && !self.cursor.is_at("process") {
            match self.cursor.text() {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => {
                    self.cursor.bump();
                    return;
                }
                _ => {}
            }
            self.cursor.bump();
        }
    }

    /// Statements up to a `}`, an `or` or the end.
    fn sequence(&mut self) -> Parsed<Sequence> {
        let mut statements = Vec::new();
        loop {
            statements.push(self.statement()?);
            if self.cursor.is_at_any(&["}", "or"]) {
                let end_comments = self.cursor.comments_before();
                return Ok(Sequence { statements, end_comments });
            }
            if !self.was_separated() {
                return Err(self.cursor.expected("`;` or `}`", "statements are separated by `;`"));
            }
        }
    }

    /// A statement with its labels, and the `;` behind it.
    fn statement(&mut self) -> Parsed<Stmt> {
        let mut stmt = self.labelled()?;
        if self.cursor.eat(";") {
            self.cursor.trailing(&mut stmt.trivia);
        }
        Ok(stmt)
    }

    fn labelled(&mut self) -> Parsed<Stmt> {
        let mut trivia = self.cursor.leading();
        let mut labels = Vec::new();
        while self.is_at_name() && self.cursor.text_at(1) == ":" {
            self.cursor.text().clone_into(&mut self.label);
            labels.push(Name { text: self.label.clone(), span: self.cursor.bump().span });
            self.cursor.bump();
        }
        let start = self.cursor.current().span;
        let note = self.note();
        let kind = self.nested(Self::kind)?;
        let span = self.cursor.since(start);
        self.cursor.trailing(&mut trivia);
        Ok(Stmt { trivia, labels, span, kind, note })
    }

    /// What is to be said about a statement that means something else under another memory model.
    fn note(&self) -> Option<&'static str> {
        match self.cursor.text() {
            "syncwr" => Some("`syncwr`: a locked store under SC, TSO and PSO"),
            "syncrd" => Some("`syncrd`: a load under SC, TSO and PSO"),
            "slfence" => Some("`slfence`: as strong as a full fence here"),
            "llfence" => Some("`llfence`: loads are not reordered with each other anyway"),
            _ => None,
        }
    }

    fn kind(&mut self) -> Parsed<StmtKind> {
        match self.cursor.text() {
            "nop" | "llfence" => self.simple(StmtKind::Nop),
            "fence" => self.simple(StmtKind::Fence(FenceKind::Full)),
            "sfence" | "ssfence" => self.simple(StmtKind::Fence(FenceKind::StoreStore)),
            "slfence" => self.simple(StmtKind::StoreLoadFence),
            "read" | "syncrd" => self.read(),
            "write" => self.write(WriteKind::Plain),
            "syncwr" => self.write(WriteKind::Sync),
            "locked" => self.locked(),
            "cas" => self.cas(),
            "assume" => {
                self.cursor.bump();
                self.cursor.expect(":", "the form is `assume: $r = 1`")?;
                Ok(StmtKind::Assume(self.condition()?))
            }
            "if" => self.if_(),
            "while" => {
                self.cursor.bump();
                let condition = self.condition()?;
                self.cursor.expect("do", "the form is `while $r = 1 do …`")?;
                Ok(StmtKind::While(condition, Box::new(self.labelled()?)))
            }
            "goto" => {
                self.cursor.bump();
                Ok(StmtKind::Goto(self.label()?))
            }
            "either" => {
                self.cursor.bump();
                Ok(StmtKind::Either(self.alternatives()?))
            }
            "{" => self.block(),
            _ if self.cursor.kind() == TokenKind::DollarWord => self.assign(),
            _ => Err(self.no_statement()),
        }
    }

    fn simple(&mut self, kind: StmtKind) -> Parsed<StmtKind> {
        self.cursor.bump();
        Ok(kind)
    }

    fn no_statement(&mut self) -> Failed {
        let word = self.cursor.text();
        let follows_label = self.cursor.slice(self.cursor.previous()) == ":";
        let meant = nearest(&self.label, ["read", "write", "assume", "syncwr"]).filter(|_| follows_label);
        let help = match word {
            "slocked" => "`slocked` has no counterpart under SC and TSO; use `locked`".to_owned(),
            ";" | "}" | "or" => "write `nop` where nothing is to be done".to_owned(),
            _ if meant.is_some() => format!("did you mean `{}:` where `{}:` stands?", meant.unwrap_or(""), self.label),
            _ if self.is_at_name() && matches!(self.cursor.text_at(1), ":=" | "[" | "=") => {
                format!("shared locations are stored to by `write: {word} := e` and loaded by `read: $r := {word}`")
            }
            _ => match nearest(word, RESERVED.iter().copied()) {
                Some(it) if self.is_at_name() => format!("did you mean `{it}`?"),
                Some(_) | None => STATEMENT_HELP.to_owned(),
            },
        };
        self.cursor.expected("a statement", &help)
    }

    /// `read: x = e` or `read: $r := x`
    fn read(&mut self) -> Parsed<StmtKind> {
        let help = "the forms are `read: $r := x` and `read: x = 1`, which waits until `x` is 1";
        self.cursor.bump();
        self.cursor.expect(":", help)?;
        if self.cursor.kind() == TokenKind::DollarWord {
            let register = self.register();
            self.cursor.expect(":=", help)?;
            return Ok(StmtKind::ReadTo(register, self.place()?));
        }
        let place = self.place()?;
        self.cursor.expect("=", help)?;
        Ok(StmtKind::ReadIs(place, self.expression()?))
    }

    fn write(&mut self, kind: WriteKind) -> Parsed<StmtKind> {
        let help = "the form is `write: x := e`";
        self.cursor.bump();
        self.cursor.expect(":", help)?;
        let place = self.place()?;
        self.cursor.expect(":=", help)?;
        Ok(StmtKind::Write(kind, place, self.expression()?))
    }

    /// `locked write: x := e` or `locked { … }`
    fn locked(&mut self) -> Parsed<StmtKind> {
        self.cursor.bump();
        if self.cursor.is_at("write") {
            return self.write(WriteKind::Locked);
        }
        if !self.cursor.is_at("{") {
            let help = "the forms are `locked write: x := e` and `locked { … }`";
            return Err(self.cursor.expected("`write:` or `{`", help));
        }
        Ok(StmtKind::Locked(self.alternatives()?))
    }

    /// `cas(x, a, b)`
    fn cas(&mut self) -> Parsed<StmtKind> {
        let help = "the form is `cas(x, 0, 1)`: it waits until `x` is 0 and then stores 1";
        self.cursor.bump();
        self.cursor.expect("(", help)?;
        let place = self.place()?;
        self.cursor.expect(",", help)?;
        let old = self.expression()?;
        self.cursor.expect(",", help)?;
        let new = self.expression()?;
        self.cursor.expect(")", help)?;
        Ok(StmtKind::Cas(place, old, new))
    }

    fn if_(&mut self) -> Parsed<StmtKind> {
        self.cursor.bump();
        let condition = self.condition()?;
        self.cursor.expect("then", "the form is `if $r = 1 then … else …`")?;
        let then = Box::new(self.labelled()?);
        let otherwise = if self.cursor.eat("else") { Some(Box::new(self.labelled()?)) } else { None };
        Ok(StmtKind::If(condition, then, otherwise))
    }

    fn assign(&mut self) -> Parsed<StmtKind> {
        let register = self.register();
        let help = "the form is `$r := e`; a location is loaded by `read: $r := x`";
        self.cursor.expect(":=", help)?;
        Ok(StmtKind::Assign(register, self.expression()?))
    }

    fn block(&mut self) -> Parsed<StmtKind> {
        self.cursor.bump();
        let sequence = self.sequence()?;
        self.cursor.expect("}", "close the block")?;
        Ok(StmtKind::Block(sequence))
    }

    /// `{ … or … }`
    fn alternatives(&mut self) -> Parsed<Vec<Sequence>> {
        self.cursor.expect("{", "the alternatives stand in braces: `{ … or … }`")?;
        let mut all = vec![self.sequence()?];
        while self.cursor.eat("or") {
            all.push(self.sequence()?);
        }
        self.cursor.expect("}", "close the block")?;
        Ok(all)
    }

    fn register(&mut self) -> Name {
        Name { text: self.cursor.text().to_owned(), span: self.cursor.bump().span }
    }

    fn label(&mut self) -> Parsed<Name> {
        if !self.is_at_name() {
            return Err(self.cursor.expected("a label", "the form is `goto L0`, with `L0:` before a statement"));
        }
        self.cursor.name("a label", "")
    }

    /// `x`, `x[my]`, `x[0]`, `[e]`
    fn place(&mut self) -> Parsed<Place> {
        let help = "a location is `x`, `x[my]`, `x[0]` or `[$r]`";
        let start = self.cursor.current().span;
        let kind = if self.cursor.eat("[") {
            PlaceKind::Pointer(self.expression()?)
        } else if self.is_at_name() {
            let name = self.cursor.name("a location", help)?;
            if !self.cursor.eat("[") {
                return Ok(Place { span: start, kind: PlaceKind::Global(name) });
            }
            if self.cursor.eat("my") {
                PlaceKind::Mine(name)
            } else {
                let help = "the index is `my` or the number of another process: `x[my]`, `x[0]`";
                PlaceKind::Other(name, self.cursor.integer("`my` or a number", help)?.0)
            }
        } else {
            return Err(self.cursor.expected("a location", help));
        };
        self.cursor.expect("]", help)?;
        Ok(Place { span: self.cursor.since(start), kind })
    }
}
