//! What variables start with: `= 1`, `= { [2] = 1, .next = { 0 } }`.

use super::ranges::Range;
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
            let (designators, range) = self.designators()?;
            let at = self.at;
            let initial = self.initial()?;
            match range {
                None => parts.push((designators, initial)),
                Some(range) => parts.extend(self.spread(range, &designators, &initial, at)?),
            }
            if !self.eat(Punctuator::Comma) {
                break;
            }
        }
        self.expect(Punctuator::CloseBrace, "put `,` between the values, and close them with `}`")?;
        Ok(Initial::List(parts, self.span_from(start)))
    }

    /// `.f[2] =`, or nothing; `f:` is an old way to write `.f =`.
    fn designators(&mut self) -> Parsed<(Vec<Designator>, Option<Range>)> {
        let (mut designators, mut range) = (Vec::new(), None);
        if !self.word().is_empty() && self.ahead(1).is(Punctuator::Colon) {
            designators.push(Designator::Field(self.name("the name of a field")?));
            self.bump();
            return Ok((designators, range));
        }
        while range.is_none() {
            if self.eat(Punctuator::Dot) {
                designators.push(Designator::Field(self.name("the name of a field")?));
            } else if self.eat(Punctuator::OpenBracket) {
                let index = self.full(Self::conditional)?;
                if self.is_at(Punctuator::Ellipsis) {
                    range = Some(self.range(&index)?);
                } else {
                    designators.push(Designator::Index(index));
                }
                self.expect(Punctuator::CloseBracket, "close the index with `]`")?;
            } else {
                break;
            }
        }
        if !designators.is_empty() || range.is_some() {
            self.expect(Punctuator::Assign, "write `=` and the value")?;
        }
        Ok((designators, range))
    }
}
