//! A call of a macro: its arguments are read, and what it stands for is read next.
//!
//! ```text
//!   MAX(f(a, b), c)      the arguments are `f(a, b)` and `c`: commas within parentheses do not part them
//! ```

use std::rc::Rc;

use fencewright::source::{Diagnostic, Span};

use super::define::{Body, Macro, Origin, Parameters};
use super::{Frame, Preprocessor};
use crate::token::{Punctuator, Token, TokenKind};

/// The arguments of a call.
pub(super) type Arguments = Vec<Vec<Token>>;

/// Where a call of a macro is.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) span: Span,
    /// Whether what stands for it is out of the user's sight: in a macro that the user defined.
    pub(super) is_in_macro: bool,
    /// Whether there is a blank before it.
    pub(super) is_spaced: bool,
}

impl Preprocessor<'_, '_> {
    /// Reads a call of a macro, and has its expansion read next. The name itself if it is no call.
    pub(super) fn expand(&mut self, known: &Rc<Macro>, name: Token) -> Option<Token> {
        let is_in_macro = name.is_in_macro || known.origin != Origin::Builtin;
        let mut call = Call { span: name.span, is_in_macro, is_spaced: name.is_spaced };
        let mut arguments = Vec::new();
        if let Some(parameters) = &known.parameters {
            let next = self.raw();
            if !next.is(Punctuator::OpenParen) {
                self.unread(next);
                return Some(name);
            }
            let (read, close) = self.arguments(known, parameters, &name)?;
            call.span = self.places.join(name.span, close);
            arguments = self.matched(read, known, parameters, call.span)?;
        }
        let tokens = match &known.body {
            Body::Pieces(pieces) => self.substitute(pieces, known, &arguments, call),
            special @ (Body::Line | Body::File | Body::Counter) => vec![self.special(special, &name)],
        };
        self.spend(tokens.len() + 1, call.span);
        *self.active.entry(Rc::clone(&known.name)).or_default() += 1;
        self.frames.push(Frame::Expansion { tokens: tokens.into_iter(), name: Some(Rc::clone(&known.name)) });
        None
    }

    /// Has a token read again.
    pub(super) fn unread(&mut self, token: Token) {
        if token.kind != TokenKind::End {
            self.frames.push(Frame::Expansion { tokens: vec![token].into_iter(), name: None });
        }
    }

    /// The arguments up to the closing parenthesis, and where that is.
    fn arguments(&mut self, known: &Macro, parameters: &Parameters, name: &Token) -> Option<(Arguments, Span)> {
        let mut arguments: Arguments = vec![Vec::new()];
        let mut depth = 0_usize;
        loop {
            let token = self.raw();
            match token.kind {
                TokenKind::End => {
                    let error =
                        Diagnostic::error(name.span, format!("unterminated call of the macro `{}`", known.name))
                            .with_label("its arguments start here and never end")
                            .with_help("add `)` where they end");
                    self.report(error);
                    return None;
                }
                TokenKind::Punctuator(Punctuator::OpenParen) => depth += 1,
                TokenKind::Punctuator(Punctuator::CloseParen) if depth == 0 => return Some((arguments, token.span)),
                TokenKind::Punctuator(Punctuator::CloseParen) => depth -= 1,
                TokenKind::Punctuator(Punctuator::Comma) if depth == 0 => {
                    let is_rest = parameters.is_variadic && arguments.len() >= parameters.names.len();
                    if !is_rest {
                        arguments.push(Vec::new());
                        continue;
                    }
                }
                TokenKind::Name(_)
                | TokenKind::Number(_)
                | TokenKind::Character(_)
                | TokenKind::String(_)
                | TokenKind::Punctuator(_)
                | TokenKind::Unterminated(_)
                | TokenKind::Stray(_) => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        }
    }

    /// One argument for each parameter.
    fn matched(
        &mut self,
        mut arguments: Arguments,
        known: &Macro,
        parameters: &Parameters,
        span: Span,
    ) -> Option<Arguments> {
        let n = parameters.names.len();
        let is_empty = arguments.len() == 1 && arguments[0].is_empty();
        if n == 0 && is_empty {
            arguments.clear();
        }
        // Those that a `...` takes may be missing altogether.
        if parameters.is_variadic && arguments.len() + 1 == n {
            arguments.push(Vec::new());
        }
        if arguments.len() == n {
            return Some(arguments);
        }
        let takes = match (n - usize::from(parameters.is_variadic), parameters.is_variadic) {
            (1, false) => "1 argument".to_owned(),
            (n, false) => format!("{n} arguments"),
            (n, true) => format!("{n} or more arguments"),
        };
        let has = if is_empty { 0 } else { arguments.len() };
        let message = format!("the macro `{}` takes {takes}, and has {has} here", known.name);
        self.report(Diagnostic::error(span, message).with_help("give it one argument for each of its parameters"));
        None
    }

    /// What a macro stands for whose value depends on where it is.
    fn special(&mut self, body: &Body, name: &Token) -> Token {
        let kind = match body {
            Body::Line | Body::Pieces(_) => {
                let line = self.input.source.line_of(name.span.start);
                TokenKind::Number(line.to_string().into())
            }
            Body::File => {
                let file = self.input.source.file_of(name.span.start).name();
                TokenKind::String(format!("{file:?}").into())
            }
            Body::Counter => {
                self.counter += 1;
                TokenKind::Number((self.counter - 1).to_string().into())
            }
        };
        Token { kind, ..name.clone() }
    }
}
