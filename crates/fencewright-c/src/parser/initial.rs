//! What variables start with: `= 1`, `= { [2] = 1, .next = { 0 } }`.

use super::{Parsed, Parser};
use crate::ast::{Designator, Initial};
use crate::token::Punctuator;

impl Parser {
    /// What stands behind `=`.
    pub(super) fn initial(&mut self) -> Parsed<Initial> {
        if self.is_at(Punctuator::OpenBrace) {
            return self.nested(Self::list);
        }
        Ok(Initial::Expr(self.full(Self::assignment)?))
    }

    /// `{ … }`
    pub(super) fn list(&mut self) -> Parsed<Initial> {
        let start = self.at;
        self.expect(Punctuator::OpenBrace, "write `{`")?;
        let mut parts = Vec::new();
        while !self.is_at(Punctuator::CloseBrace) {
            let designators = self.designators()?;
            parts.push((designators, self.initial()?));
            if !self.eat(Punctuator::Comma) {
                break;
            }
        }
        self.expect(Punctuator::CloseBrace, "put `,` between the values, and close them with `}`")?;
        Ok(Initial::List(parts, self.span_from(start)))
    }

    /// `.f[2] =`, or nothing; `f:` is an old way to write `.f =`.
    fn designators(&mut self) -> Parsed<Vec<Designator>> {
        let mut designators = Vec::new();
        if !self.word().is_empty() && self.ahead(1).is(Punctuator::Colon) {
            designators.push(Designator::Field(self.name("the name of a field")?));
            self.bump();
            return Ok(designators);
        }
        loop {
            if self.eat(Punctuator::Dot) {
                designators.push(Designator::Field(self.name("the name of a field")?));
            } else if self.eat(Punctuator::OpenBracket) {
                designators.push(Designator::Index(self.full(Self::conditional)?));
                if self.is_at(Punctuator::Ellipsis) {
                    return Err(self.refused("a range of elements is", "name each element by itself"));
                }
                self.expect(Punctuator::CloseBracket, "close the index with `]`")?;
            } else {
                break;
            }
        }
        if !designators.is_empty() {
            self.expect(Punctuator::Assign, "write `=` and the value")?;
        }
        Ok(designators)
    }
}
