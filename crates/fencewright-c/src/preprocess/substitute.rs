//! The body of a macro with arguments for its parameters.
//!
//! ```text
//!   #define LOG(x) #x, pre##x, x       LOG(A)  ─▶  "A", preA, (what A expands to)
//! ```
//!
//! An argument is expanded by itself before it is put in, except beside `#` and `##` (C11 6.10.3.1). As an extension,
//! `, ## __VA_ARGS__` is nothing at all where there are no such arguments.

use std::collections::HashMap;

use fencewright::source::Diagnostic;

use super::Preprocessor;
use super::define::{Macro, Piece};
use super::expand::{Arguments, Call};
use crate::lexer;
use crate::token::{Punctuator, Token, TokenKind};

/// What is being made of a body.
struct Substitution<'s> {
    pieces: &'s [Piece],
    known: &'s Macro,
    arguments: &'s Arguments,
    /// Arguments that were expanded.
    expanded: HashMap<usize, Vec<Token>>,
    call: Call,
    made: Vec<Token>,
    /// Whether what stands to the left of a `##` is nothing.
    is_left_empty: bool,
}

impl Preprocessor<'_, '_> {
    /// The tokens that stand for a call.
    pub(super) fn substitute(
        &mut self,
        pieces: &[Piece],
        known: &Macro,
        arguments: &Arguments,
        call: Call,
    ) -> Vec<Token> {
        let (expanded, made) = (HashMap::new(), Vec::with_capacity(pieces.len()));
        let mut it = Substitution { pieces, known, arguments, expanded, call, made, is_left_empty: true };
        let mut at = 0;
        while at < pieces.len() && !self.is_over {
            let is_paste = pieces[at].token.is(Punctuator::HashHash) && at > 0 && at + 1 < pieces.len();
            at += if is_paste { 1 + self.paste(&mut it, at + 1) } else { self.put(&mut it, at) };
            if it.made.len() + self.n_tokens > super::MAX_TOKENS {
                self.spend(it.made.len(), call.span);
            }
        }
        if let Some(first) = it.made.first_mut() {
            first.is_spaced = call.is_spaced;
        }
        it.made
    }

    /// Puts what stands at a place of the body behind what there is; how many pieces that are.
    fn put(&mut self, it: &mut Substitution<'_>, at: usize) -> usize {
        let is_before_paste = it.pieces.get(at + 1).is_some_and(|next| next.token.is(Punctuator::HashHash));
        let is_expanded = it.pieces[at].parameter.filter(|_| !is_before_paste);
        let (tokens, n) = match is_expanded {
            Some(parameter) => (self.expanded_argument(it, parameter, at), 1),
            None => self.operand(it, at),
        };
        it.is_left_empty = tokens.is_empty();
        it.made.extend(tokens);
        n
    }

    /// What stands at a place, with arguments as they are written. Text that is made is paid for, since it can double
    /// with each call.
    fn operand(&mut self, it: &Substitution<'_>, at: usize) -> (Vec<Token>, usize) {
        let (tokens, n) = it.operand(at);
        if n > 1 {
            self.spend(tokens.iter().map(|it| it.spelling().len() / 16).sum(), it.call.span);
        }
        (tokens, n)
    }

    fn expanded_argument(&mut self, it: &mut Substitution<'_>, parameter: usize, at: usize) -> Vec<Token> {
        if !it.expanded.contains_key(&parameter) {
            let expanded = self.expanded(it.arguments[parameter].clone());
            self.spend(expanded.len(), it.call.span);
            it.expanded.insert(parameter, expanded);
        }
        spaced(it.expanded[&parameter].clone(), it.pieces[at].token.is_spaced)
    }

    /// Puts what stands at a place together with what there is; how many pieces that are.
    fn paste(&mut self, it: &mut Substitution<'_>, at: usize) -> usize {
        let (right, n) = self.operand(it, at);
        let is_rest = it.known.parameters.as_ref().is_some_and(|parameters| {
            parameters.is_variadic && it.pieces[at].parameter == Some(parameters.names.len() - 1)
        });
        if is_rest && !it.is_left_empty && it.made.last().is_some_and(|last| last.is(Punctuator::Comma)) {
            if right.is_empty() {
                it.made.pop();
            }
            it.made.extend(right);
            return n;
        }
        let mut right = right.into_iter();
        let left = if it.is_left_empty { None } else { it.made.pop() };
        match (left, right.next()) {
            (Some(left), Some(first)) => self.paste_tokens(it, left, first),
            (Some(one), None) | (None, Some(one)) => {
                it.made.push(one);
                it.is_left_empty = false;
            }
            (None, None) => {}
        }
        it.made.extend(right);
        n
    }

    fn paste_tokens(&mut self, it: &mut Substitution<'_>, left: Token, right: Token) {
        let text = format!("{}{}", left.spelling(), right.spelling());
        self.spend(1 + text.len() / 16, it.call.span);
        if let Some(kind) = lexer::single(&text) {
            let (span, is_in_macro) = (it.call.span, it.call.is_in_macro);
            it.made.push(Token { kind, span, is_in_macro, is_final: false, ..left });
            return;
        }
        let message = format!("`{}` and `{}` make no token together", left.spelling(), right.spelling());
        let help = format!("remove the `##` between them in `#define {}`", it.known.name);
        self.report(Diagnostic::error(it.call.span, message).with_help(help));
        it.made.extend([left, right]);
    }
}

impl Substitution<'_> {
    /// What stands at a place of the body, with arguments as they are written; and how many pieces that are.
    fn operand(&self, at: usize) -> (Vec<Token>, usize) {
        let piece = &self.pieces[at];
        if let Some(parameter) = piece.parameter {
            return (spaced(self.arguments[parameter].clone(), piece.token.is_spaced), 1);
        }
        let is_string = self.known.parameters.is_some() && piece.token.is(Punctuator::Hash);
        let argument = self.pieces.get(at + 1).and_then(|next| next.parameter).filter(|_| is_string);
        if let Some(parameter) = argument {
            let kind = TokenKind::String(quoted(&self.arguments[parameter]).into());
            return (vec![self.placed(Token { kind, ..piece.token.clone() })], 2);
        }
        (vec![self.placed(piece.token.clone())], 1)
    }

    /// A token of the body where the macro is called.
    fn placed(&self, token: Token) -> Token {
        let (span, is_in_macro) = (self.call.span, self.call.is_in_macro);
        Token { span, is_in_macro, starts_line: false, is_final: false, ..token }
    }
}

/// An argument, spaced as its parameter is.
fn spaced(mut tokens: Vec<Token>, is_spaced: bool) -> Vec<Token> {
    if let Some(first) = tokens.first_mut() {
        first.is_spaced = is_spaced;
    }
    tokens
}

/// `#x`: the argument as a string.
fn quoted(argument: &[Token]) -> String {
    let mut text = String::from("\"");
    for (at, token) in argument.iter().enumerate() {
        if at > 0 && (token.is_spaced || token.starts_line) {
            text.push(' ');
        }
        let is_quoted = matches!(token.kind, TokenKind::String(_) | TokenKind::Character(_));
        for sign in token.spelling().chars() {
            if is_quoted && matches!(sign, '"' | '\\') {
                text.push('\\');
            }
            text.push(sign);
        }
    }
    text.push('"');
    text
}
