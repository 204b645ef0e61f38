//! What stands around a name in a declaration: stars before it, brackets and parameters behind.
//!
//! ```text
//!   int *(*f[2])(char)       f: array of 2 │ pointers │ to functions of (char) │ that return pointers │ to int
//!                               ╰ layers, from the name outwards: that is the order in which they are kept
//! ```

use super::specifiers::{Qualifiers, plain};
use super::{Parsed, Parser};
use crate::ast::{Expr, Name, Parameter, Type, TypeKind};
use crate::token::Punctuator;

/// A name and what is around it.
#[derive(Debug, Default)]
pub(super) struct Declarator {
    pub(super) name: Option<Name>,
    /// From the name outwards.
    pub(super) layers: Vec<Layer>,
}

/// One thing around a name.
#[derive(Debug)]
pub(super) enum Layer {
    Pointer(Qualified),
    Array(Option<Expr>),
    Function { parameters: Vec<Parameter>, is_variadic: bool },
}

/// What stands behind a star.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Qualified {
    is_atomic: bool,
    is_volatile: bool,
    is_const: bool,
}

impl Declarator {
    /// The type of the name, if the words before it say `base`.
    pub(super) fn apply(self, base: Type) -> Type {
        self.layers.into_iter().rev().fold(base, around)
    }
}

/// The type that a layer makes.
fn around(inner: Type, layer: Layer) -> Type {
    let span = inner.span;
    match layer {
        Layer::Pointer(Qualified { is_atomic, is_volatile, is_const }) => {
            Type { kind: TypeKind::Pointer(Box::new(inner)), is_atomic, is_volatile, is_const, span }
        }
        Layer::Array(length) => plain(TypeKind::Array(Box::new(inner), length.map(Box::new)), span),
        Layer::Function { parameters, is_variadic } => {
            plain(TypeKind::Function { returns: Box::new(inner), parameters, is_variadic }, span)
        }
    }
}

impl Parser {
    /// A name and what is around it; there may be no name.
    pub(super) fn declarator(&mut self) -> Parsed<Declarator> {
        self.nested(|it| it.tree(Self::declarator_here))
    }

    fn declarator_here(&mut self) -> Parsed<Declarator> {
        let mut pointers = Vec::new();
        self.skip_attributes()?;
        while self.eat(Punctuator::Star) {
            self.link()?;
            pointers.push(Layer::Pointer(self.qualified()?));
        }
        let mut declarator = self.direct()?;
        loop {
            if self.is_at(Punctuator::OpenBracket) {
                if self.skip_attributes()? {
                    continue;
                }
                self.link()?;
                let length = self.length()?;
                declarator.layers.push(Layer::Array(length));
            } else if self.is_at(Punctuator::OpenParen) {
                self.link()?;
                let layer = self.parameters()?;
                declarator.layers.push(layer);
            } else {
                break;
            }
        }
        declarator.layers.extend(pointers.into_iter().rev());
        self.skip_label_and_attributes()?;
        Ok(declarator)
    }

    /// `asm("name")` and attributes behind a declarator.
    fn skip_label_and_attributes(&mut self) -> Parsed<()> {
        while self.skip_attributes()? || self.eat_any(&["asm", "__asm__", "__asm"]) {
            if self.is_at(Punctuator::OpenParen) {
                self.skip_parentheses()?;
            }
        }
        Ok(())
    }

    fn qualified(&mut self) -> Parsed<Qualified> {
        let mut qualifiers = Qualifiers::default();
        while self.skip_attributes()? || self.eat_qualifier(&mut qualifiers) {}
        let Qualifiers { is_atomic, is_volatile, is_const } = qualifiers;
        Ok(Qualified { is_atomic, is_volatile, is_const })
    }

    /// The name, or another declarator between parentheses; nothing if neither is there.
    fn direct(&mut self) -> Parsed<Declarator> {
        let opens_parameters = |it: &Self| it.ahead(1).is(Punctuator::CloseParen) || it.is_type(it.ahead(1));
        if self.is_at(Punctuator::OpenParen) && !opens_parameters(self) {
            self.bump();
            let inner = self.declarator()?;
            self.expect(Punctuator::CloseParen, "close the parenthesis around the name")?;
            return Ok(inner);
        }
        let word = self.word();
        if word.is_empty() || super::names::is_keyword(word) {
            return Ok(Declarator::default());
        }
        let name = self.name("a name")?;
        Ok(Declarator { name: Some(name), layers: Vec::new() })
    }

    /// `[3]`, `[]`, and for parameters `[static 3]`.
    fn length(&mut self) -> Parsed<Option<Expr>> {
        self.expect(Punctuator::OpenBracket, "write `[`")?;
        let mut ignored = Qualifiers::default();
        while self.eat_word("static") || self.eat_qualifier(&mut ignored) {}
        let is_star = self.is_at(Punctuator::Star) && self.ahead(1).is(Punctuator::CloseBracket);
        if is_star {
            self.bump();
        }
        let length = if self.is_at(Punctuator::CloseBracket) { None } else { Some(self.assignment()?) };
        self.expect(Punctuator::CloseBracket, "close the length of the array")?;
        Ok(length)
    }

    fn parameters(&mut self) -> Parsed<Layer> {
        self.expect(Punctuator::OpenParen, "write `(`")?;
        let (mut parameters, mut is_variadic) = (Vec::new(), false);
        if self.word() == "void" && self.ahead(1).is(Punctuator::CloseParen) {
            self.bump();
        }
        if self.eat(Punctuator::CloseParen) {
            return Ok(Layer::Function { parameters, is_variadic });
        }
        loop {
            if self.eat(Punctuator::Ellipsis) {
                is_variadic = true;
                break;
            }
            parameters.push(self.parameter()?);
            if !self.eat(Punctuator::Comma) {
                break;
            }
        }
        self.expect(Punctuator::CloseParen, "close the parameters with `)`, and put `,` between them")?;
        Ok(Layer::Function { parameters, is_variadic })
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let start = self.at;
        let is_alone = self.ahead(1).is(Punctuator::Comma) || self.ahead(1).is(Punctuator::CloseParen);
        if is_alone && !self.word().is_empty() && !self.is_type(self.token()) {
            let what = format!("a parameter without a type, `{}`, as before C89, is", self.word());
            return Err(self.refused(&what, "write the type of each parameter between the parentheses: `int f(int a)`"));
        }
        let specifiers = self.specifiers()?;
        let declarator = self.declarator()?;
        let name = declarator.name.clone();
        let ty = declarator.apply(specifiers.ty);
        Ok(Parameter { name, ty, span: self.span_from(start) })
    }
}
