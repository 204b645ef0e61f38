//! Names, types, ranges and lists: what items and statements have in common.

use super::{Failed, Parsed, Parser};
use crate::frontend::ast::{Binder, Name, Range, Type, TypeKind};
use crate::frontend::fw::token::{Keyword, Symbol, TokenKind};
use crate::source::{Diagnostic, Span};

impl Parser<'_> {
    /// Takes a name; `what` says what is named. A reserved word is reported and taken as the name.
    pub(super) fn name(&mut self, what: &str, help: &str) -> Parsed<Name> {
        match self.kind() {
            TokenKind::Name => {}
            TokenKind::Keyword(_) if self.current().newlines == 0 => self.reserved(what),
            TokenKind::Keyword(_) | TokenKind::Int(_) | TokenKind::Symbol(_) | TokenKind::End => {
                return Err(self.expected(what, help));
            }
        }
        Ok(self.take_name())
    }

    /// Says that the current keyword cannot be a name.
    pub(super) fn reserved(&mut self, what: &str) {
        let word = self.text();
        let diagnostic = Diagnostic::error(self.current().span, format!("reserved word `{word}` used as a name"))
            .with_label(format!("expected {what}"))
            .with_help(format!("choose another name, such as `{word}_`"));
        self.report(diagnostic);
    }

    /// Takes the current token as a name, whatever it is.
    pub(super) fn take_name(&mut self) -> Name {
        let text = self.text().to_owned();
        Name { text, span: self.bump().span }
    }

    /// `open` has been taken; reads what is between commas up to the closing sign.
    pub(super) fn list<T>(
        &mut self,
        open: Span,
        close: Symbol,
        mut read: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        while !self.is_at(close) {
            list.push(read(self)?);
            if !self.eat(Symbol::Comma) {
                break;
            }
        }
        if !self.is_at(close) && self.may_start_operand() {
            let close = close.text();
            let help = format!("separate the parts by `,`, or end the list by `{close}`");
            return Err(self.expected(&format!("`,` or `{close}`"), &help));
        }
        self.close(close, open)?;
        Ok(list)
    }

    /// `bool`, `int` or `lo..hi`.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        let start = self.current().span;
        let kind = if self.eat_keyword(Keyword::Bool) {
            TypeKind::Bool
        } else if self.eat_keyword(Keyword::Int) {
            TypeKind::Int
        } else {
            match self.type_name()? {
                Some(name) => TypeKind::Named(name),
                None => TypeKind::Range(Box::new(self.range("a type: `bool`, `int` or a range such as `0..3`")?)),
            }
        };
        Ok(Type { span: self.since(start), kind })
    }

    /// `lo..hi`; `what` says what is expected where it starts.
    pub(super) fn range(&mut self, what: &str) -> Parsed<Range> {
        Ok(self.range_and_height(what)?.0)
    }

    /// `i in lo..hi`
    pub(super) fn binder(&mut self) -> Parsed<Binder> {
        let help = "the form is `for k in 0..3`";
        let name = self.name("a name", help)?;
        let help = format!("write `{} in 0..3`", name.text);
        if self.is_at(Symbol::Assign) || self.is_at(Symbol::Colon) {
            self.expected("`in`", &help);
            self.bump();
        } else if !self.eat_keyword(Keyword::In) {
            return Err(self.expected("`in`", &help));
        }
        Ok(Binder { name, range: self.range("a range")? })
    }

    /// Takes the `;` that ends a statement or item. If it is missing, says so behind the previous token, and goes on if
    /// what follows can stand after it.
    pub(super) fn semicolon(&mut self) -> Parsed<()> {
        if self.eat(Symbol::Semicolon) {
            return Ok(());
        }
        if self.current().newlines == 0 && !self.is_at(Symbol::CloseBrace) && !self.is_at_end() {
            self.unexpected_before_semicolon();
            return Err(Failed);
        }
        let end = Span::new(self.previous.end, self.previous.end);
        let last = self.shown(self.previous);
        self.report(
            Diagnostic::error(end, format!("expected `;` after {last}"))
                .with_label("expected `;`")
                .with_help("add `;` here"),
        );
        Ok(())
    }
}
