//! `struct`, `union` and `enum`.

use super::{Parsed, Parser};
use crate::ast::{Declaration, Expr, Name, Storage, TypeKind};
use crate::token::Punctuator;

impl Parser {
    /// `struct s { … }`, `struct s`, and the same for `union`.
    pub(super) fn record(&mut self) -> Parsed<TypeKind> {
        let span = self.token().span;
        let is_struct = self.word() == "struct";
        self.bump();
        self.skip_attributes()?;
        let is_open = self.is_at(Punctuator::OpenBrace);
        let name = if is_open { self.made_up(span) } else { self.name("the name of a structure, or `{`")? };
        self.skip_attributes()?;
        let fields = if self.is_at(Punctuator::OpenBrace) { Some(self.nested(Self::fields)?) } else { None };
        self.skip_attributes()?;
        Ok(if is_struct { TypeKind::Struct { name, fields } } else { TypeKind::Union { name, fields } })
    }

    /// A name that no C text can have.
    fn made_up(&mut self, span: fencewright::source::Span) -> Name {
        self.n_unnamed += 1;
        Name { text: format!("#{}", self.n_unnamed), span }
    }

    fn fields(&mut self) -> Parsed<Vec<Declaration>> {
        let open = self.token().clone();
        self.bump();
        let n_braces = self.n_braces;
        let mut fields = Vec::new();
        while !self.eat(Punctuator::CloseBrace) {
            if self.is_at_end() {
                return Err(self.unclosed(&open));
            }
            let start = self.at;
            if self.field(&mut fields).is_err() {
                self.skip_statement(start, n_braces);
            }
        }
        Ok(fields)
    }

    /// A line of fields.
    fn field(&mut self, fields: &mut Vec<Declaration>) -> Parsed<()> {
        if self.eat(Punctuator::Semicolon) {
            return Ok(());
        }
        if matches!(self.word(), "_Static_assert" | "static_assert") {
            return self.skip_static_assert();
        }
        let start = self.at;
        let mut base = self.specifiers()?;
        loop {
            let ty = self.next_base(&mut base)?;
            let declarator = self.declarator()?;
            if self.is_at(Punctuator::Colon) {
                return Err(self.refused("a bit-field is", "give the field a whole type of its own"));
            }
            let (name, storage) = (declarator.name.clone(), Storage::Plain);
            let span = self.span_from(start);
            fields.push(Declaration { name, ty: declarator.apply(ty), storage, initial: None, span });
            if !self.eat(Punctuator::Comma) {
                break;
            }
        }
        self.expect(Punctuator::Semicolon, "end the field with `;`")?;
        Ok(())
    }

    /// `enum e { A, B = 2 }`, `enum e`
    pub(super) fn enumeration(&mut self) -> Parsed<TypeKind> {
        self.bump();
        self.skip_attributes()?;
        let is_open = self.is_at(Punctuator::OpenBrace);
        let name = if is_open { None } else { Some(self.name("the name of an enumeration, or `{`")?) };
        let values = if self.is_at(Punctuator::OpenBrace) { Some(self.values()?) } else { None };
        self.skip_attributes()?;
        Ok(TypeKind::Enum { name, values })
    }

    fn values(&mut self) -> Parsed<Vec<(Name, Option<Expr>)>> {
        self.bump();
        let mut values = Vec::new();
        while !self.is_at(Punctuator::CloseBrace) {
            let name = self.name("the name of a value")?;
            self.skip_attributes()?;
            let value = if self.eat(Punctuator::Assign) { Some(self.full(Self::conditional)?) } else { None };
            self.declare(&name.text, false);
            values.push((name, value));
            if !self.eat(Punctuator::Comma) {
                break;
            }
        }
        self.expect(Punctuator::CloseBrace, "put `,` between the values, and close them with `}`")?;
        Ok(values)
    }
}
