//! Lines that begin with `#`.

use fencewright::source::{Diagnostic, Span};

use super::define::Origin;
use super::{Frame, Preprocessor};
use crate::token::{Token, TokenKind};

/// All that are known, for the help.
const KNOWN: &str = "`#include`, `#define`, `#undef`, `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif`, \
                     `#error`, `#warning`, `#pragma`, `#line`";

impl Preprocessor<'_, '_> {
    /// Does what the line says whose `#` was read.
    pub(super) fn directive(&mut self, hash: &Token) {
        let Some(word) = self.next_in_line() else { return };
        let span = self.places.join(hash.span, word.span);
        self.spend(1, span);
        match word.spelling() {
            "define" => self.define_line(span),
            "undef" => self.undefine(span),
            "include" | "include_next" => self.include(span),
            "if" => {
                let is_true = self.condition(span);
                self.begin_conditional(span, is_true);
            }
            "ifdef" | "ifndef" => {
                let is_true = self.is_defined_here(span) == (word.spelling() == "ifdef");
                self.begin_conditional(span, is_true);
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => self.end_part(word.spelling(), span),
            "error" => {
                let text = self.rest_of_line();
                let error = Diagnostic::error(span, format!("#error {text}").trim_end().to_owned())
                    .with_help("define what the text asks for with `-D NAME=VALUE`");
                self.report(error);
            }
            "warning" => {
                let text = self.rest_of_line();
                self.report(Diagnostic::warning(span, format!("#warning {text}").trim_end().to_owned()));
            }
            "pragma" => self.pragma(),
            // Places are those of the text that is there.
            "line" | "ident" => self.skip_line(),
            _ if matches!(word.kind, TokenKind::Number(_)) => self.skip_line(),
            other => {
                let error = Diagnostic::error(span, format!("unknown directive `#{other}`"))
                    .with_help(format!("the directives are {KNOWN}"));
                self.skip_line();
                self.report(error);
            }
        }
    }

    /// Passes over the rest of the line.
    pub(super) fn skip_line(&mut self) {
        self.lex(|lexer| lexer.skip_line());
    }

    /// The next token of the same line.
    pub(super) fn next_in_line(&mut self) -> Option<Token> {
        self.lex(|lexer| lexer.next_in_line()).flatten()
    }

    fn rest_of_line(&mut self) -> String {
        self.lex(|lexer| lexer.rest_of_line()).unwrap_or_default()
    }

    fn define_line(&mut self, span: Span) {
        let tokens = self.line();
        self.spend(tokens.len(), span);
        if tokens.is_empty() {
            let error = Diagnostic::error(span, "`#define` without a name").with_help("write `#define NAME …`");
            self.report(error);
        }
        self.define(tokens, Origin::User);
    }

    fn undefine(&mut self, span: Span) {
        let word = self.next_in_line();
        self.skip_line();
        match word.as_ref().and_then(Token::name) {
            Some(name) => drop(self.macros.remove(name)),
            None => {
                let error = Diagnostic::error(span, "`#undef` without a name").with_help("write `#undef NAME`");
                self.report(error);
            }
        }
    }

    /// Only `#pragma once` means something.
    fn pragma(&mut self) {
        let word = self.next_in_line();
        self.skip_line();
        if word.is_some_and(|it| it.spelling() == "once")
            && let Some(Frame::File(frame)) = self.frames.last()
        {
            self.once.insert(frame.file.start());
        }
    }
}
