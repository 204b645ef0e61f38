//! What stands outside functions, and declarations everywhere.

use fencewright::source::Span;

use super::declarators::{Declarator, Layer};
use super::specifiers::Specifiers;
use super::{Parsed, Parser};
use crate::ast::{Declaration, Function, Item, Parameter, Storage, Type, TypeKind};
use crate::token::Punctuator;

impl Parser {
    /// The whole text.
    pub(super) fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.is_at_end() {
            let start = self.at;
            match self.item() {
                Ok(item) => items.extend(item),
                Err(_) => {
                    self.skip_statement(start, 0);
                    // A brace too many was told already, or is told now.
                    if self.is_at(Punctuator::CloseBrace) {
                        self.expected("a declaration", "remove this `}`, or open its block before");
                        self.bump();
                    }
                }
            }
            // What was open when a mistake was met is closed.
            while self.scopes.len() > 1 {
                self.close_scope();
            }
        }
        items
    }

    fn item(&mut self) -> Parsed<Option<Item>> {
        if self.eat(Punctuator::Semicolon) {
            return Ok(None);
        }
        if matches!(self.word(), "asm" | "__asm__" | "__asm") {
            return Err(self.refused("`asm` outside of functions is", "leave it out of what is checked"));
        }
        if matches!(self.word(), "_Static_assert" | "static_assert") {
            self.skip_static_assert()?;
            return Ok(None);
        }
        // The body of a function whose head could not be read.
        if self.is_at(Punctuator::OpenBrace) && !self.diagnostics.is_empty() {
            self.skip_block();
            return Ok(None);
        }
        self.external()
    }

    /// A function or a declaration.
    fn external(&mut self) -> Parsed<Option<Item>> {
        let start = self.at;
        let mut base = self.specifiers()?;
        if self.is_at(Punctuator::Semicolon) {
            let declarations = vec![self.nameless(base, start)];
            self.bump();
            return Ok(Some(Item::Declarations(declarations)));
        }
        let ty = self.next_base(&mut base)?;
        let at = self.at;
        let declarator = self.declarator()?;
        let is_function = matches!(declarator.layers.first(), Some(Layer::Function { .. }));
        if is_function && self.is_at(Punctuator::OpenBrace) {
            return self.function(ty, declarator, start).map(|it| Some(Item::Function(it)));
        }
        if is_function && self.is_at_declaration() {
            let help = "write the type of each parameter between the parentheses: `int f(int a)`";
            return Err(
                self.refused("a function with the types of its parameters behind them, as before C89, is", help)
            );
        }
        self.rest_of_declaration(base, ty, declarator, at).map(|it| Some(Item::Declarations(it)))
    }

    /// A declaration with its `;`.
    pub(super) fn declaration(&mut self) -> Parsed<Vec<Declaration>> {
        let start = self.at;
        let mut base = self.specifiers()?;
        if self.is_at(Punctuator::Semicolon) {
            let declarations = vec![self.nameless(base, start)];
            self.bump();
            return Ok(declarations);
        }
        let ty = self.next_base(&mut base)?;
        let at = self.at;
        let declarator = self.declarator()?;
        if matches!(declarator.layers.first(), Some(Layer::Function { .. })) && self.is_at(Punctuator::OpenBrace) {
            return Err(self.refused("a function within a function is", "move it out"));
        }
        self.rest_of_declaration(base, ty, declarator, at)
    }

    /// Goes on behind the first declarator, which began at a token.
    fn rest_of_declaration(
        &mut self,
        mut base: Specifiers,
        mut ty: Type,
        mut declarator: Declarator,
        mut at: usize,
    ) -> Parsed<Vec<Declaration>> {
        let mut declarations = Vec::new();
        loop {
            let Some(name) = declarator.name.clone() else {
                return Err(self.expected("a name", "write the name that is declared"));
            };
            // The name is known in what it starts with.
            self.declare(&name.text, base.storage == Storage::Typedef);
            let ty_of_name = declarator.apply(ty);
            let initial = if self.eat(Punctuator::Assign) { Some(self.initial()?) } else { None };
            let (storage, span) = (base.storage, self.span_from(at));
            declarations.push(Declaration { name: Some(name), ty: ty_of_name, storage, initial, span });
            if !self.eat(Punctuator::Comma) {
                break;
            }
            ty = self.next_base(&mut base)?;
            at = self.at;
            declarator = self.declarator()?;
        }
        self.expect(Punctuator::Semicolon, "end the declaration with `;`, and put `,` between names")?;
        Ok(declarations)
    }

    /// A structure or an enumeration by itself.
    fn nameless(&self, base: Specifiers, start: usize) -> Declaration {
        let span = self.span_from(start);
        Declaration { name: None, ty: base.ty, storage: base.storage, initial: None, span }
    }

    /// The type before the next name: that of the first one defines what is defined there, the others name it.
    pub(super) fn next_base(&mut self, base: &mut Specifiers) -> Parsed<Type> {
        self.copy(base.size)?;
        let again = match &base.ty.kind {
            TypeKind::Struct { name, fields: Some(_) } => TypeKind::Struct { name: name.clone(), fields: None },
            TypeKind::Union { name, fields: Some(_) } => TypeKind::Union { name: name.clone(), fields: None },
            TypeKind::Enum { name, values: Some(_) } => TypeKind::Enum { name: name.clone(), values: None },
            other @ TypeKind::Void
            | other @ TypeKind::Bool
            | other @ TypeKind::Integer { .. }
            | other @ TypeKind::Float(_)
            | other @ TypeKind::Named(_)
            | other @ TypeKind::Builtin(_)
            | other @ TypeKind::Struct { .. }
            | other @ TypeKind::Union { .. }
            | other @ TypeKind::Enum { .. }
            | other @ TypeKind::Pointer(_)
            | other @ TypeKind::Array(..)
            | other @ TypeKind::Function { .. }
            | other @ TypeKind::TypeOf(_)
            | other @ TypeKind::Auto => other.clone(),
        };
        let again = Type { kind: again, ..base.ty };
        Ok(std::mem::replace(&mut base.ty, again))
    }

    fn function(&mut self, base: Type, mut declarator: Declarator, start: usize) -> Parsed<Function> {
        let Some(name) = declarator.name.clone() else {
            return Err(self.expected("the name of a function", "write it before the parameters"));
        };
        let parameters = take_parameters(&mut declarator);
        let returns = declarator.apply(base);
        self.declare(&name.text, false);
        self.function.clone_from(&name.text);
        self.open_scope();
        for parameter in parameters.iter().filter_map(|it| it.name.as_ref()) {
            self.declare(&parameter.text, false);
        }
        let body = self.block()?;
        self.close_scope();
        let span = self.span_from(start);
        Ok(Function { name, returns, parameters, body, end: Span::new(span.end, span.end) })
    }

    /// `_Static_assert(…);` is the compiler's concern.
    pub(super) fn skip_static_assert(&mut self) -> Parsed<()> {
        self.bump();
        self.skip_parentheses()?;
        self.expect(Punctuator::Semicolon, "end it with `;`")?;
        Ok(())
    }
}

/// The parameters of a declarator whose first layer is a function; what is left is around what it returns.
fn take_parameters(declarator: &mut Declarator) -> Vec<Parameter> {
    match declarator.layers.remove(0) {
        Layer::Function { parameters, .. } => parameters,
        Layer::Pointer(_) | Layer::Array(_) => Vec::new(),
    }
}
