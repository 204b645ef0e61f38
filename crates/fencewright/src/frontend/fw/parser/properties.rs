//! Properties: `forbid [NAME:] COND [at end [of T, …]] [for i in a..b, …];`, `forbid hang [except T@l, …];`

use super::{Parsed, Parser};
use crate::frontend::ast::{AtEnd, Forbid, ForbidHang, ItemKind, Name, ThreadRef};
use crate::frontend::fw::token::{Keyword, Symbol, TokenKind};
use crate::source::Diagnostic;

impl Parser<'_> {
    pub(super) fn forbid(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let is_named = self.kind() == TokenKind::Name && self.is_before(Symbol::Colon);
        let name = if is_named { Some(self.take_name()) } else { None };
        if is_named {
            self.bump();
        }
        if name.is_none() && self.is_at_word("hang") && !self.is_before(Symbol::At) {
            return self.hang();
        }
        let condition = self.expression()?;
        let at_end = if self.is_at_keyword(Keyword::At) { Some(self.at_end()?) } else { None };
        let mut binders = Vec::new();
        if self.eat_keyword(Keyword::For) {
            binders.push(self.binder()?);
            while self.eat(Symbol::Comma) {
                binders.push(self.binder()?);
            }
        }
        if self.is_at_word("end") || self.is_at_word("finally") {
            let diagnostic =
                Diagnostic::error(self.current().span, format!("expected `at end`, found {}", self.found()))
                    .with_label("expected `at end`")
                    .with_help("write `at end` for a condition on the final state");
            return Err(self.report(diagnostic));
        }
        if self.is_at_keyword(Keyword::At) {
            return Err(self.expected("`;`", "`at end` stands before `for`: `forbid C at end for i in 0..1;`"));
        }
        self.semicolon()?;
        Ok(ItemKind::Forbid(Forbid { name, condition, at_end, binders }))
    }

    /// `hang [except S@waiting, …];`
    fn hang(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let mut except = Vec::new();
        if self.is_at_word("except") {
            self.bump();
            except.push(self.exception()?);
            while self.eat(Symbol::Comma) {
                except.push(self.exception()?);
            }
        }
        self.semicolon()?;
        Ok(ItemKind::Hang(ForbidHang { except }))
    }

    fn exception(&mut self) -> Parsed<(Name, Name)> {
        let help = "say who may wait for ever, and where: `forbid hang except S@waiting;`";
        let thread = self.name("a thread", help)?;
        self.expect(Symbol::At, help)?;
        Ok((thread, self.name("a label", help)?))
    }

    fn at_end(&mut self) -> Parsed<AtEnd> {
        let start = self.bump().span;
        if !self.is_at_word("end") {
            let help = "write `at end`, or `P@l` to say that a thread is at a label";
            return Err(self.expected("`end`", help));
        }
        self.bump();
        let mut of = Vec::new();
        if self.is_at_word("of") {
            self.bump();
            of.push(self.thread_ref()?);
            while self.eat(Symbol::Comma) {
                of.push(self.thread_ref()?);
            }
        }
        Ok(AtEnd { span: self.since(start), of })
    }

    fn thread_ref(&mut self) -> Parsed<ThreadRef> {
        let name = self.name("a thread", "name a thread, such as `P` or `P(0)`")?;
        let start = name.span;
        let arguments = if self.is_at(Symbol::OpenParen) { self.arguments()?.0 } else { Vec::new() };
        Ok(ThreadRef { name, arguments, span: self.since(start) })
    }
}
