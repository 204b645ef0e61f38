//! `#define`: macros, their parameters and bodies; those that are there from the start.
//!
//! ```text
//!   #define SWAP(a, b)  t = a; a = b; b = t       parameters a, b; each `a` of the body knows that it is the first
//! ```

use std::rc::Rc;

use fencewright::source::{Diagnostic, Source};

use super::Preprocessor;
use crate::headers;
use crate::lexer::Lexer;
use crate::token::{Punctuator, Token, TokenKind};

/// The most parameters of a macro.
const MAX_PARAMETERS: usize = 127;

/// What a name stands for.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: Rc<str>,
    /// None if it is no function.
    pub(super) parameters: Option<Parameters>,
    pub(super) body: Body,
    pub(super) origin: Origin,
}

/// What a call has between its parentheses.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    pub(super) names: Vec<Rc<str>>,
    /// Whether the last one takes all arguments that are left.
    pub(super) is_variadic: bool,
}

/// What a macro is replaced by.
#[derive(Debug)]
pub(super) enum Body {
    Pieces(Vec<Piece>),
    /// `__LINE__`
    Line,
    /// `__FILE__`
    File,
    /// `__COUNTER__`
    Counter,
}

/// A token of a body.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) token: Token,
    /// Which parameter it names.
    pub(super) parameter: Option<usize>,
}

/// Who defined a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    User,
    CommandLine,
    Builtin,
}

/// What compilers define by themselves. `__GNUC__` is there because its extensions are read.
const PREDEFINED: &[&str] = &[
    "_Pragma(text)",
    "__STDC__ 1",
    "__STDC_VERSION__ 201112L",
    "__STDC_HOSTED__ 1",
    "__GNUC__ 4",
    "__GNUC_MINOR__ 2",
    "__GNUC_PATCHLEVEL__ 1",
    "__FENCEWRIGHT__ 1",
    "__linux__ 1",
    "__unix__ 1",
    "__LP64__ 1",
    "_LP64 1",
    "__CHAR_BIT__ 8",
    "__SIZEOF_INT__ 4",
    "__SIZEOF_LONG__ 8",
    "__SIZEOF_LONG_LONG__ 8",
    "__SIZEOF_POINTER__ 8",
    "__SIZEOF_SIZE_T__ 8",
    "__INT_MAX__ 2147483647",
    "__LONG_MAX__ 9223372036854775807L",
    "__ORDER_LITTLE_ENDIAN__ 1234",
    "__ORDER_BIG_ENDIAN__ 4321",
    "__BYTE_ORDER__ 1234",
    "__DATE__ \"Jan  1 1970\"",
    "__TIME__ \"00:00:00\"",
];

impl Preprocessor<'_, '_> {
    /// Defines what is there from the start.
    pub(super) fn predefine(&mut self) {
        for definition in PREDEFINED {
            self.define_text(definition, Origin::Builtin);
        }
        for (name, body) in [("__LINE__", Body::Line), ("__FILE__", Body::File), ("__COUNTER__", Body::Counter)] {
            let name: Rc<str> = name.into();
            let known = Macro { name: Rc::clone(&name), parameters: None, body, origin: Origin::Builtin };
            self.macros.insert(name, Rc::new(known));
        }
        for (name, value) in self.input.defines {
            let value = if *value < 0 { format!("({value})") } else { value.to_string() };
            self.define_text(&format!("{name} {value}"), Origin::CommandLine);
        }
    }

    /// Defines what a header of the system does.
    pub(super) fn define_header(&mut self, name: &str) {
        for definition in headers::macros(name) {
            self.define_text(definition, Origin::Builtin);
        }
    }

    /// Defines a macro as a line says; the line is one of ours, or of the command.
    fn define_text(&mut self, text: &str, origin: Origin) {
        let source = Source::new("", text);
        let mut lexer = Lexer::at(source.main(), 0);
        let tokens = std::iter::from_fn(|| lexer.next_in_line()).collect();
        self.define(tokens, origin);
    }

    /// Defines a macro: the tokens behind `#define`.
    pub(super) fn define(&mut self, tokens: Vec<Token>, origin: Origin) {
        let mut tokens = tokens.into_iter().peekable();
        let Some(first) = tokens.next() else { return };
        let Some(name) = first.name().filter(|it| &***it != "defined").cloned() else {
            let message = format!("`{}` cannot be the name of a macro", first.spelling());
            let help = "write `#define NAME …` or `#define NAME(a, b) …`";
            return self.report(Diagnostic::error(first.span, message).with_help(help));
        };
        let is_function = tokens.peek().is_some_and(|it| it.is(Punctuator::OpenParen) && !it.is_spaced);
        let mut parameters = None;
        if is_function {
            tokens.next();
            let Some(read) = self.parameters(&mut tokens, &first) else { return };
            parameters = Some(read);
        }
        let pieces: Vec<Piece> = tokens.map(|token| piece(token, parameters.as_ref())).collect();
        if !self.is_body(&pieces, parameters.is_some()) {
            return;
        }
        self.warn_of_override(&first, &name, origin);
        let body = Body::Pieces(pieces);
        self.macros.insert(Rc::clone(&name), Rc::new(Macro { name, parameters, body, origin }));
    }

    /// The names between parentheses, the first of which was read.
    fn parameters(&mut self, tokens: &mut impl Iterator<Item = Token>, name: &Token) -> Option<Parameters> {
        let mut parameters = Parameters::default();
        let mut may_close = true;
        let wrong = loop {
            let Some(token) = tokens.next() else { break name.clone() };
            if may_close && token.is(Punctuator::CloseParen) {
                return Some(parameters);
            }
            let is_named = token.name().is_some();
            if parameters.names.len() >= MAX_PARAMETERS {
                break token;
            }
            match token.name() {
                Some(it) if !parameters.names.contains(it) => parameters.names.push(Rc::clone(it)),
                None if token.is(Punctuator::Ellipsis) => {
                    parameters.names.push("__VA_ARGS__".into());
                    parameters.is_variadic = true;
                }
                _ => break token,
            }
            let Some(mut next) = tokens.next() else { break name.clone() };
            if is_named && next.is(Punctuator::Ellipsis) {
                parameters.is_variadic = true;
                let Some(after) = tokens.next() else { break name.clone() };
                next = after;
            }
            if next.is(Punctuator::CloseParen) {
                return Some(parameters);
            }
            if !next.is(Punctuator::Comma) || parameters.is_variadic {
                break next;
            }
            may_close = false;
        };
        let message = format!("the parameters of `{}` cannot be read", name.spelling());
        let help = "write names with commas between them: `#define NAME(a, b) …`, the last may be `...`";
        self.report(Diagnostic::error(wrong.span, message).with_help(help));
        None
    }

    /// Whether `#` and `##` have their operands.
    fn is_body(&mut self, pieces: &[Piece], is_function: bool) -> bool {
        let is_paste = |at: Option<&Piece>| at.is_some_and(|it| it.token.is(Punctuator::HashHash));
        for end in [pieces.first(), pieces.last()] {
            if let Some(piece) = end.filter(|it| is_paste(Some(it))) {
                let message = "`##` needs something on both sides";
                self.report(Diagnostic::error(piece.token.span, message).with_help("remove it"));
                return false;
            }
        }
        for (at, piece) in pieces.iter().enumerate() {
            let is_operand = pieces.get(at + 1).is_some_and(|it| it.parameter.is_some());
            if is_function && piece.token.is(Punctuator::Hash) && !is_operand {
                let message = "`#` in the body of a macro needs a parameter behind it";
                self.report(Diagnostic::error(piece.token.span, message).with_help("name a parameter, or remove it"));
                return false;
            }
        }
        true
    }

    fn warn_of_override(&mut self, first: &Token, name: &Rc<str>, origin: Origin) {
        let before = self.macros.get(name).map(|it| it.origin);
        if origin == Origin::User && before == Some(Origin::CommandLine) {
            let message = format!("`{name}` is defined here, so what the command says about it does not count");
            let help = format!("write `#ifndef {name}` before it, and `#endif` behind");
            self.report(Diagnostic::warning(first.span, message).with_help(help));
        }
    }
}

fn piece(token: Token, parameters: Option<&Parameters>) -> Piece {
    let position = |name: &Rc<str>| parameters.and_then(|it| it.names.iter().position(|it| it == name));
    let parameter = match &token.kind {
        TokenKind::Name(name) => position(name),
        TokenKind::Number(_)
        | TokenKind::Character(_)
        | TokenKind::String(_)
        | TokenKind::Punctuator(_)
        | TokenKind::Unterminated(_)
        | TokenKind::Stray(_)
        | TokenKind::End => None,
    };
    Piece { token, parameter }
}
