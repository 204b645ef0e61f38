//! `#if … #elif … #else … #endif`: which lines count.
//!
//! ```text
//!   #if A      taken if A           ╮
//!   #elif B    taken if B, not A    │ one of them at most; what is skipped is only searched for directives
//!   #else      taken otherwise      ╯
//!   #endif
//! ```

use fencewright::source::{Diagnostic, Span};

use super::Preprocessor;
use crate::token::{Punctuator, Token, TokenKind};

/// A conditional whose `#endif` was not met yet.
pub(super) struct Conditional {
    /// Where it begins.
    span: Span,
    /// Whether one of its parts was taken.
    is_taken: bool,
    else_: Option<Span>,
}

impl Preprocessor<'_, '_> {
    /// Begins a conditional.
    pub(super) fn begin_conditional(&mut self, span: Span, is_true: bool) {
        self.conditionals.push(Conditional { span, is_taken: is_true, else_: None });
        if !is_true {
            self.skip();
        }
    }

    /// Meets `#elif`, `#else` or `#endif` behind a part that was taken.
    pub(super) fn end_part(&mut self, word: &str, span: Span) {
        if self.continue_conditional(word, span) == Part::Skipped {
            self.skip();
        }
    }

    /// Passes over parts of the innermost conditional until one is taken, or it ends.
    fn skip(&mut self) {
        // How many conditionals are open within what is skipped.
        let mut depth = 0_usize;
        loop {
            let Some((word, span)) = self.next_skipped_directive() else { return };
            match &*word {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "elif" | "elifdef" | "elifndef" | "else" | "endif"
                    if depth == 0 && self.continue_conditional(&word, span) == Part::Taken =>
                {
                    return;
                }
                _ => {}
            }
            if self.is_over {
                return;
            }
        }
    }

    /// The next directive, by its first word; none at the end of the file.
    fn next_skipped_directive(&mut self) -> Option<(String, Span)> {
        let n_remarks = self.remarks.len();
        let found = self.lex(|lexer| {
            loop {
                let token = lexer.next_token();
                if token.kind == TokenKind::End {
                    return None;
                }
                let is_directive = token.starts_line && token.is(Punctuator::Hash);
                let word = if is_directive { lexer.next_in_line() } else { None };
                if let Some(word) = word {
                    return Some((word.spelling().to_owned(), token.span.to(word.span)));
                }
            }
        });
        self.remarks.truncate(n_remarks);
        found.flatten()
    }

    /// Goes on with the innermost conditional.
    fn continue_conditional(&mut self, word: &str, span: Span) -> Part {
        let n_outside = self.n_conditionals_outside();
        if self.conditionals.len() <= n_outside {
            let error = Diagnostic::error(span, format!("`#{word}` without an `#if`"))
                .with_help("remove it, or add the `#if` before it in this file");
            self.report(error);
            self.skip_line();
            return Part::Taken;
        }
        let last = self.conditionals.len() - 1;
        if word == "endif" {
            self.conditionals.pop();
            self.skip_line();
            return Part::Taken;
        }
        if let Some(else_) = self.conditionals[last].else_ {
            let error = Diagnostic::error(span, format!("`#{word}` behind `#else`"))
                .and_at(else_, "the `#else` is here")
                .with_help("put the `#else` last");
            self.report(error);
        }
        // Some write behind `#else` and `#endif` what they belong to.
        let was_taken = self.conditionals[last].is_taken;
        let is_true = match word {
            "else" => {
                self.conditionals[last].else_ = Some(span);
                self.skip_line();
                true
            }
            // What follows a part that was taken is not even looked at.
            _ if was_taken => {
                self.skip_line();
                false
            }
            "elif" => self.condition(span),
            _ => self.is_defined_here(span) == (word == "elifdef"),
        };
        if was_taken || !is_true {
            return Part::Skipped;
        }
        self.conditionals[last].is_taken = true;
        Part::Taken
    }

    /// Says that conditionals are open at the end of their file.
    pub(super) fn close_conditionals(&mut self, n_outside: usize) {
        for open in self.conditionals.split_off(n_outside.min(self.conditionals.len())) {
            let error = Diagnostic::error(open.span, "unterminated conditional: there is no `#endif` for it")
                .with_help("add `#endif` where it ends, in the same file");
            self.report(error);
        }
    }

    /// `defined(X)` for the next word of the line: of `#ifdef` and its like.
    pub(super) fn is_defined_here(&mut self, span: Span) -> bool {
        let word = self.next_in_line();
        self.skip_line();
        match word.as_ref().and_then(Token::name) {
            Some(name) => self.is_defined(name),
            None => {
                let error = Diagnostic::error(word.map_or(span, |it| it.span), "expected the name of a macro")
                    .with_help("write `#ifdef NAME`, or `#if` for a condition");
                self.report(error);
                false
            }
        }
    }
}

/// What is done with the part of a conditional that begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Taken,
    Skipped,
}
