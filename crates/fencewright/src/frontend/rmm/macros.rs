//! Macros: `macro name(a, b) … endmacro`, used by `name(…, …)` from there on.
//!
//! They are about tokens, as in Memorax: a body may be a number, half a statement or several processes, and so may an
//! argument. An argument means what it means where it is written, so the parameters of a macro are not seen by the
//! macros that it uses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::parser::RESERVED;
use crate::frontend::import::cursor::{MAX_DEPTH, shortened};
use crate::frontend::import::expansion::OUTERMOST;
use crate::frontend::import::lexer::{Lexed, RawComment, Token, TokenKind};
use crate::source::{Diagnostic, Span};
use crate::watch::heed;

/// The most tokens that are looked at beyond those of the text.
const MAX_STEPS: usize = 1 << 18;

const FORM: &str = "the form is `macro name(a, b) … endmacro`, and then `name(1, x)`";

/// The tokens with every macro written out.
pub(super) fn expand(lexed: Lexed, text: &str) -> Lexed {
    let is_macro = |token: &Token| token.kind == TokenKind::Word && slice(text, token.span) == "macro";
    if !lexed.tokens.iter().any(is_macro) {
        return lexed;
    }
    let end = lexed.tokens.len() - 1;
    let out = Lexed { diagnostics: lexed.diagnostics.clone(), ..Lexed::default() };
    let steps_left = lexed.tokens.len() + MAX_STEPS;
    let mut expansion = Expansion { text, raw: lexed, macros: BTreeMap::new(), out, steps_left, depth: 0 };
    let result = expansion.run(0..end, &Rc::default(), OUTERMOST);
    let mut last = expansion.raw.tokens[end];
    if let Err(diagnostic) = result {
        expansion.out.diagnostics.push(*diagnostic);
        // What is missing follows from this.
        last.is_after_error = true;
    }
    expansion.comments(end);
    expansion.out.tokens.push(last);
    expansion.out
}

/// A macro.
struct Macro<'a> {
    parameters: Vec<&'a str>,
    body: Range<usize>,
    /// Its name where it is defined.
    span: Span,
}

/// What names mean in a piece of text.
#[derive(Default)]
struct Scope<'a> {
    arguments: BTreeMap<&'a str, Argument<'a>>,
    /// The macros whose bodies this is in.
    inside: Vec<&'a str>,
}

/// A piece of text given to a macro, and what its names mean.
struct Argument<'a> {
    tokens: Range<usize>,
    scope: Rc<Scope<'a>>,
}

type Expanded<T> = Result<T, Box<Diagnostic>>;

struct Expansion<'a> {
    text: &'a str,
    /// As it was read.
    raw: Lexed,
    macros: BTreeMap<&'a str, Macro<'a>>,
    out: Lexed,
    steps_left: usize,
    /// How many calls are being written out.
    depth: u32,
}

impl<'a> Expansion<'a> {
    fn word(&self, i: usize) -> &'a str {
        slice(self.text, self.raw.tokens[i].span)
    }

    fn span(&self, i: usize) -> Span {
        self.raw.tokens[i].span
    }

    /// Writes a piece of text out.
    fn run(&mut self, tokens: Range<usize>, scope: &Rc<Scope<'a>>, frame: u32) -> Expanded<()> {
        let mut i = tokens.start;
        while i < tokens.end {
            self.step(i)?;
            let is_word = self.raw.tokens[i].kind == TokenKind::Word;
            let word = self.word(i);
            if is_word && word == "macro" {
                i = self.define(i, tokens.end, frame)?;
            } else if let Some(argument) = scope.arguments.get(word).filter(|_| is_word) {
                self.comments(i);
                let inner = self.out.frames.add(frame, self.span(i));
                self.run(argument.tokens.clone(), &argument.scope, inner)?;
                i += 1;
            } else if is_word && self.macros.contains_key(word) {
                i = self.call(i, tokens.end, scope, frame)?;
            } else {
                self.comments(i);
                self.out.tokens.push(Token { frame, ..self.raw.tokens[i] });
                i += 1;
            }
        }
        Ok(())
    }

    fn step(&mut self, i: usize) -> Expanded<()> {
        heed(2);
        match self.steps_left.checked_sub(1) {
            Some(left) => self.steps_left = left,
            None => {
                let help = format!("at most {MAX_STEPS} words and signs come out of macros; write less of them");
                return Err(error(self.span(i), "macros become too large", help));
            }
        }
        Ok(())
    }

    /// Keeps the comments before a token for what comes next.
    fn comments(&mut self, i: usize) {
        let all = self.raw.comments.make_contiguous();
        let from = all.partition_point(|it| it.before < i);
        let before = self.out.tokens.len();
        for comment in all[from..].iter().take_while(|it| it.before == i) {
            self.out.comments.push_back(RawComment { before, ..*comment });
        }
    }

    /// `macro name(a, b) … endmacro`; what comes behind it.
    fn define(&mut self, start: usize, end: usize, frame: u32) -> Expanded<usize> {
        self.comments(start);
        if frame != OUTERMOST {
            let help = "define it before the macro or the call that it stands in";
            return Err(error(self.span(start), "macro inside of a macro or of an argument", help));
        }
        let name = self.name(start + 1, end, "the name of the macro")?;
        if let Some(first) = self.macros.get(self.word(name)) {
            let message = format!("macro `{}` is defined twice", shortened(self.word(name)));
            let diagnostic = error(self.span(name), message, "give one of them another name");
            return Err(Box::new(diagnostic.and_at(first.span, "first defined here")));
        }
        let (parameters, body) = self.parameters(name + 1, end)?;
        let is_over = |i: &usize| matches!(self.word(*i), "endmacro" | "macro");
        let close = (body..end).find(is_over).filter(|&i| self.word(i) == "endmacro");
        let Some(close) = close else {
            let message = format!("macro `{}` does not end", shortened(self.word(name)));
            return Err(error(self.span(name), message, "add `endmacro` where it ends"));
        };
        self.macros.insert(self.word(name), Macro { parameters, body: body..close, span: self.span(name) });
        self.comments(close);
        Ok(close + 1)
    }

    fn name(&self, i: usize, end: usize, what: &str) -> Expanded<usize> {
        let is_name = i < end && self.raw.tokens[i].kind == TokenKind::Word && !RESERVED.contains(&self.word(i));
        if is_name { Ok(i) } else { Err(self.expected(i, what)) }
    }

    fn expected(&self, i: usize, what: &str) -> Box<Diagnostic> {
        let found = match self.word(i) {
            "" => "end of file".to_owned(),
            word => format!("`{}`", shortened(word)),
        };
        error(self.span(i), format!("expected {what}, found {found}"), FORM)
    }

    /// `(a, b)`, and where the body starts.
    fn parameters(&self, open: usize, end: usize) -> Expanded<(Vec<&'a str>, usize)> {
        if self.word(open) != "(" {
            return Err(self.expected(open, "`(`"));
        }
        let mut parameters = Vec::new();
        let mut i = open + 1;
        if self.word(i) == ")" {
            return Ok((parameters, i + 1));
        }
        loop {
            let name = self.name(i, end, "the name of a parameter")?;
            if parameters.contains(&self.word(name)) {
                let message = format!("parameter `{}` stands twice", shortened(self.word(name)));
                return Err(error(self.span(name), message, "give one of them another name"));
            }
            parameters.push(self.word(name));
            match self.word(i + 1) {
                "," => i += 2,
                ")" => return Ok((parameters, i + 2)),
                _ => return Err(self.expected(i + 1, "`,` or `)`")),
            }
        }
    }

    /// Writes a call out; what comes behind it.
    fn call(&mut self, at: usize, end: usize, scope: &Rc<Scope<'a>>, frame: u32) -> Expanded<usize> {
        let name = self.word(at);
        self.comments(at);
        if scope.inside.contains(&name) {
            let help = "a macro cannot use itself; what is repeated needs a loop";
            return Err(error(self.span(at), format!("macro `{}` uses itself", shortened(name)), help));
        }
        if self.depth >= MAX_DEPTH {
            let help = "split what is nested into parts";
            return Err(error(self.span(at), format!("more than {MAX_DEPTH} macros inside of each other"), help));
        }
        let (given, next) = self.arguments(at, end)?;
        let Some(called) = self.macros.get(name) else { return Ok(next) };
        if given.len() != called.parameters.len() {
            let (n, wanted) = (given.len(), called.parameters.len());
            let message = format!("macro `{}` with {n} arguments instead of {wanted}", shortened(name));
            let diagnostic = error(self.span(at).to(self.span(next - 1)), message, FORM);
            return Err(Box::new(diagnostic.and_at(called.span, "defined here")));
        }
        let argument = |tokens: Range<usize>| Argument { tokens, scope: Rc::clone(scope) };
        let arguments = called.parameters.iter().copied().zip(given.into_iter().map(argument)).collect();
        let inside = scope.inside.iter().copied().chain([name]).collect();
        let inner = Rc::new(Scope { arguments, inside });
        let body = called.body.clone();
        let stands_for = self.span(at).to(self.span(next - 1));
        let frame = self.out.frames.add(frame, stands_for);
        self.depth += 1;
        self.run(body, &inner, frame)?;
        self.depth -= 1;
        Ok(next)
    }

    /// The arguments of a call, and what comes behind it.
    fn arguments(&self, at: usize, end: usize) -> Expanded<(Vec<Range<usize>>, usize)> {
        let name = shortened(self.word(at));
        if at + 1 >= end || self.word(at + 1) != "(" {
            let help = format!("a macro is used with its arguments, if only `{name}()`");
            return Err(error(self.span(at), format!("macro `{name}` without `(`"), help));
        }
        let mut all = Vec::new();
        let (mut depth, mut start) = (0_usize, at + 2);
        for i in at + 1..end {
            match self.word(i) {
                "(" => depth += 1,
                ")" if depth > 1 => depth -= 1,
                "," if depth > 1 => {}
                close @ (")" | ",") => {
                    let is_none = close == ")" && all.is_empty() && start == i;
                    if start == i && !is_none {
                        return Err(error(self.span(i), "empty argument", "give each parameter a text"));
                    }
                    all.extend((!is_none).then_some(start..i));
                    start = i + 1;
                    if close == ")" {
                        return Ok((all, i + 1));
                    }
                }
                _ => {}
            }
        }
        let message = format!("the arguments of macro `{name}` do not end");
        Err(error(self.span(at), message, "close them by `)`"))
    }
}

fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message).with_help(help))
}

fn slice(text: &str, span: Span) -> &str {
    &text[span.start as usize..span.end as usize]
}
