//! What stands before the names of a declaration: `static const unsigned long`.
//!
//! Words of a type can come in any order: `long unsigned int` and `unsigned long` are the same.

use fencewright::source::{Diagnostic, Span};

use super::names::{is_qualifier, is_storage};
use super::recovery::shown;
use super::{Parsed, Parser};
use crate::ast::{Name, Storage, Type, TypeKind};
use crate::headers;
use crate::token::Punctuator;

/// What stands before the names.
pub(super) struct Specifiers {
    pub(super) ty: Type,
    pub(super) storage: Storage,
    /// How many tokens a copy of the type has.
    pub(super) size: usize,
}

/// The words of a type that were met.
#[derive(Default)]
struct Words {
    /// A type that is one word, or more than words.
    whole: Option<TypeKind>,
    /// `char`, `int`, `float`, `double`
    base: Option<&'static str>,
    n_long: u8,
    is_short: bool,
    is_signed: bool,
    is_unsigned: bool,
    is_complex: bool,
}

/// What words say besides the type.
#[derive(Clone, Copy, Default)]
pub(super) struct Qualifiers {
    pub(super) is_atomic: bool,
    pub(super) is_volatile: bool,
    pub(super) is_const: bool,
}

impl Parser {
    /// The words before the names of a declaration.
    pub(super) fn specifiers(&mut self) -> Parsed<Specifiers> {
        let start = self.at;
        let (mut words, mut qualifiers, mut storage) = (Words::default(), Qualifiers::default(), Storage::Plain);
        loop {
            if self.skip_attributes()? || self.qualifier(&mut qualifiers, &mut words)? {
                continue;
            }
            let word = self.word();
            if is_storage(word) || word == "__extension__" {
                storage = stored(word, storage);
                self.bump();
            } else if !self.type_word(&mut words, &mut qualifiers)? {
                break;
            }
        }
        let kind = self.type_of(words, start)?;
        let size = if matches!(kind, TypeKind::TypeOf(_)) { self.at - start } else { 1 };
        let Qualifiers { is_atomic, is_volatile, is_const } = qualifiers;
        let ty = Type { kind, is_atomic, is_volatile, is_const, span: self.span_from(start) };
        Ok(Specifiers { ty, storage, size })
    }

    /// A type by itself, as in a cast.
    pub(super) fn type_name(&mut self) -> Parsed<Type> {
        self.nested(|it| {
            let specifiers = it.specifiers()?;
            let declarator = it.declarator()?;
            Ok(declarator.apply(specifiers.ty))
        })
    }

    /// Takes a qualifier, if there is one: `_Atomic(T)` is a type.
    fn qualifier(&mut self, qualifiers: &mut Qualifiers, words: &mut Words) -> Parsed<bool> {
        let word = self.word();
        if word == "_Atomic" && self.ahead(1).is(Punctuator::OpenParen) {
            self.bump();
            self.bump();
            let ty = self.type_name()?;
            self.expect(Punctuator::CloseParen, "close the type of `_Atomic(`")?;
            qualifiers.is_volatile |= ty.is_volatile;
            qualifiers.is_const |= ty.is_const;
            qualifiers.is_atomic = true;
            words.whole = Some(ty.kind);
            return Ok(true);
        }
        Ok(self.eat_qualifier(qualifiers))
    }

    /// Takes `const` and its like, if there is one.
    pub(super) fn eat_qualifier(&mut self, qualifiers: &mut Qualifiers) -> bool {
        let word = self.word();
        if !is_qualifier(word) {
            return false;
        }
        qualifiers.is_atomic |= word == "_Atomic";
        qualifiers.is_volatile |= word.contains("volatile");
        qualifiers.is_const |= word.contains("const");
        self.bump();
        true
    }

    /// Takes one more word of the type, if there is one.
    fn type_word(&mut self, words: &mut Words, qualifiers: &mut Qualifiers) -> Parsed<bool> {
        match self.word() {
            "void" => words.whole = Some(TypeKind::Void),
            "_Bool" => words.whole = Some(TypeKind::Bool),
            "__auto_type" => words.whole = Some(TypeKind::Auto),
            "__int128" => words.whole = Some(TypeKind::Integer { bits: 128, is_signed: true }),
            "char" => words.base = Some("char"),
            "int" => words.base = words.base.or(Some("int")),
            "float" => words.base = Some("float"),
            "double" => words.base = Some("double"),
            "short" => words.is_short = true,
            "long" => words.n_long = words.n_long.saturating_add(1),
            "signed" | "__signed__" | "__signed" => words.is_signed = true,
            "unsigned" => words.is_unsigned = true,
            "_Complex" => words.is_complex = true,
            "struct" | "union" => {
                words.whole = Some(self.record()?);
                return Ok(true);
            }
            "enum" => {
                words.whole = Some(self.enumeration()?);
                return Ok(true);
            }
            "typeof" | "__typeof__" | "__typeof" | "typeof_unqual" => {
                words.whole = Some(self.type_of_expression(qualifiers)?);
                return Ok(true);
            }
            _ => return Ok(words.is_empty() && self.named_type(words, qualifiers)),
        }
        self.bump();
        Ok(true)
    }

    /// Takes the name of a type, if there is one.
    fn named_type(&mut self, words: &mut Words, qualifiers: &mut Qualifiers) -> bool {
        let text = self.word();
        if !self.is_type_name(text) {
            return false;
        }
        let span = self.token().span;
        let header = if self.declared(text).is_some() { None } else { headers::type_named(text) };
        let kind = match header {
            None => TypeKind::Named(Name { text: text.to_owned(), span }),
            Some(header) => {
                qualifiers.is_atomic |= header.is_atomic;
                header.kind.plain().unwrap_or_else(|| TypeKind::Pointer(Box::new(plain(TypeKind::Void, span))))
            }
        };
        words.whole = Some(kind);
        self.bump();
        true
    }

    fn type_of_expression(&mut self, qualifiers: &mut Qualifiers) -> Parsed<TypeKind> {
        self.bump();
        self.expect(Punctuator::OpenParen, "write `typeof(…)`")?;
        let kind = if self.is_type(self.token()) {
            let ty = self.type_name()?;
            qualifiers.is_atomic |= ty.is_atomic;
            ty.kind
        } else {
            TypeKind::TypeOf(Box::new(self.expression()?))
        };
        self.expect(Punctuator::CloseParen, "close the parenthesis of `typeof(`")?;
        Ok(kind)
    }

    /// The type that the words make.
    fn type_of(&mut self, words: Words, start: usize) -> Parsed<TypeKind> {
        if let Some(whole) = words.whole {
            return Ok(if words.is_unsigned { unsigned(whole) } else { whole });
        }
        if words.is_complex || matches!(words.base, Some("float" | "double")) {
            let text: Vec<_> = self.tokens[start..self.at].iter().map(super::super::token::Token::spelling).collect();
            return Ok(TypeKind::Float(text.join(" ")));
        }
        if words.is_empty() {
            return self.no_type(start);
        }
        let bits = match (words.base, words.is_short, words.n_long) {
            (Some("char"), ..) => 8,
            (_, true, _) => 16,
            (_, _, 0) => 32,
            _ => 64,
        };
        Ok(TypeKind::Integer { bits, is_signed: !words.is_unsigned })
    }

    /// Says that there is no type, and goes on with a name that seems to be meant as one.
    fn no_type(&mut self, start: usize) -> Parsed<TypeKind> {
        let is_alone = !self.is_at_unknown_type() && !self.ahead(1).is(Punctuator::Star);
        if self.word().is_empty() || super::names::is_keyword(self.word()) || is_alone {
            // `static x = 1;` and `main() {}` are as old as C.
            if self.at > start || self.is_at_untyped_function() {
                return Ok(TypeKind::Integer { bits: 32, is_signed: true });
            }
            return Err(self.expected("a type", "begin a declaration with a type: `int x;`"));
        }
        let name = Name { text: self.word().to_owned(), span: self.token().span };
        let error = Diagnostic::error(name.span, format!("unknown type {}", shown(self.token())))
            .with_help("include the file that declares it, declare it with `typedef`, or define the macro that it is");
        let failed = self.report(error);
        if self.is_at_end() {
            return Err(failed);
        }
        self.declare(&name.text, true);
        self.bump();
        Ok(TypeKind::Named(name))
    }

    /// Whether `f(…) {` stands here.
    fn is_at_untyped_function(&self) -> bool {
        if !self.ahead(1).is(Punctuator::OpenParen) {
            return false;
        }
        let mut depth = 0_usize;
        for (at, token) in self.tokens[self.at + 1..].iter().enumerate().take(1000) {
            if token.is(Punctuator::OpenParen) {
                depth += 1;
            } else if token.is(Punctuator::CloseParen) {
                depth -= 1;
            }
            if depth == 0 {
                return self.ahead(at + 2).is(Punctuator::OpenBrace);
            }
        }
        false
    }

    /// Passes over `__attribute__((…))`, `_Alignas(…)`, `[[…]]`, `asm("name")`; whether there was one.
    pub(super) fn skip_attributes(&mut self) -> Parsed<bool> {
        let start = self.at;
        loop {
            let is_named = matches!(self.word(), "__attribute__" | "__attribute" | "_Alignas" | "__declspec");
            if is_named {
                self.bump();
                self.skip_parentheses()?;
            } else if self.is_at(Punctuator::OpenBracket) && self.ahead(1).is(Punctuator::OpenBracket) {
                self.skip_brackets()?;
            } else {
                return Ok(self.at > start);
            }
        }
    }

    /// Passes over `( … )` with all parentheses in it.
    pub(super) fn skip_parentheses(&mut self) -> Parsed<()> {
        self.skip_pairs(Punctuator::OpenParen, Punctuator::CloseParen)
    }

    fn skip_brackets(&mut self) -> Parsed<()> {
        self.skip_pairs(Punctuator::OpenBracket, Punctuator::CloseBracket)
    }

    fn skip_pairs(&mut self, open: Punctuator, close: Punctuator) -> Parsed<()> {
        self.expect(open, "write its arguments between parentheses")?;
        let mut depth = 1_usize;
        while depth > 0 {
            if self.is_at_end() {
                return Err(self.expected(&format!("`{}`", close.text()), "close what was opened before"));
            }
            depth += usize::from(self.is_at(open));
            depth -= usize::from(self.is_at(close));
            self.bump();
        }
        Ok(())
    }
}

impl Words {
    /// Whether nothing of a type was met.
    fn is_empty(&self) -> bool {
        let is_sized = self.n_long > 0 || self.is_short || self.is_signed || self.is_unsigned;
        self.whole.is_none() && self.base.is_none() && !is_sized && !self.is_complex
    }
}

/// A type without qualifiers.
pub(super) fn plain(kind: TypeKind, span: Span) -> Type {
    Type { kind, is_atomic: false, is_volatile: false, is_const: false, span }
}

fn unsigned(kind: TypeKind) -> TypeKind {
    if let TypeKind::Integer { bits, .. } = kind { TypeKind::Integer { bits, is_signed: false } } else { kind }
}

fn stored(word: &str, before: Storage) -> Storage {
    match word {
        "typedef" => Storage::Typedef,
        "_Thread_local" | "thread_local" | "__thread" => Storage::ThreadLocal,
        "extern" if before == Storage::Plain => Storage::Extern,
        "static" if before == Storage::Plain => Storage::Static,
        _ => before,
    }
}
