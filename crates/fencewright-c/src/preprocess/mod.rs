//! From files to the tokens of one text: files are included, conditions decided, macros expanded.
//!
//! ```text
//!   frames (the top is read first)
//!     Expansion  1 + x          what a macro stands for; the macro is not expanded again in it
//!     File       lock.h         tokens and directives
//!     File       main.c
//! ```
//!
//! A macro's own name is left alone while its expansion is being read, and for good if it was met there (C11
//! 6.10.3.4): so expansion ends. It can still be exponentially long, so the number of all tokens is limited.
#![allow(clippy::redundant_closure_for_method_calls, reason = "a path is of one lifetime, and texts have many")]

mod condition;
mod conditional;
mod define;
mod directive;
mod expand;
mod include;
mod substitute;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use fencewright::frontend::Input;
use fencewright::source::{Diagnostic, SourceFile, Span};
use fencewright::watch::heed;

use crate::ast::Remark;
use crate::lexer::Lexer;
use crate::place::Places;
use crate::token::{Punctuator, Token, TokenKind};
use conditional::Conditional;
use define::Macro;

/// The most tokens that are made, those within expansions included.
const MAX_TOKENS: usize = 2_000_000;
/// The most macro calls within arguments of each other.
const MAX_DEPTH: usize = 200;
/// The longest name or number.
const MAX_WORD: usize = 1000;
/// After so many errors nothing more is read.
pub(crate) const MAX_ERRORS: usize = 20;

/// A text behind the preprocessor.
pub(crate) struct Preprocessed {
    /// The last one is [`TokenKind::End`].
    pub(crate) tokens: Vec<Token>,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads a file with all that it includes.
pub(crate) fn preprocess(input: &mut Input<'_>) -> Preprocessed {
    let main = input.source.main().clone();
    let mut preprocessor = Preprocessor::new(input, &main);
    preprocessor.enter(main);
    let mut tokens = Vec::new();
    loop {
        let token = preprocessor.next();
        preprocessor.complain_about(&token);
        let is_end = token.kind == TokenKind::End;
        tokens.push(token);
        if is_end {
            break;
        }
    }
    let Preprocessor { mut remarks, diagnostics, .. } = preprocessor;
    // A file that is included twice is remarked upon once.
    let mut seen = BTreeSet::new();
    remarks.retain(|it| seen.insert(it.span));
    Preprocessed { tokens, remarks, diagnostics }
}

struct Preprocessor<'p, 'i> {
    input: &'p mut Input<'i>,
    frames: Vec<Frame>,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    /// How many expansions of a macro are being read.
    active: HashMap<Rc<str>, u32>,
    /// Those that are open, of all files that are being read.
    conditionals: Vec<Conditional>,
    /// Where the files begin that are read once.
    once: BTreeSet<u32>,
    places: Places,
    /// Behind the main file.
    end: Span,
    /// Whether the tokens of a condition are being expanded, where `defined` is a word.
    is_in_condition: bool,
    /// How many arguments within arguments are being expanded.
    depth: usize,
    n_tokens: usize,
    n_includes: usize,
    counter: u64,
    /// Whether nothing more is read.
    is_over: bool,
    remarks: Vec<Remark>,
    diagnostics: Vec<Diagnostic>,
}

/// What tokens are read from.
enum Frame {
    File(FileFrame),
    /// What stands for a call of a macro, or was read too far.
    Expansion {
        tokens: std::vec::IntoIter<Token>,
        name: Option<Rc<str>>,
    },
    /// Tokens to be expanded by themselves; behind them is an end.
    Alone(std::vec::IntoIter<Token>),
}

struct FileFrame {
    file: SourceFile,
    position: usize,
    /// How many conditionals were open where it is included.
    n_conditionals: usize,
}

impl<'p, 'i> Preprocessor<'p, 'i> {
    fn new(input: &'p mut Input<'i>, main: &SourceFile) -> Self {
        let mut preprocessor = Self {
            input,
            frames: Vec::new(),
            macros: HashMap::new(),
            active: HashMap::new(),
            conditionals: Vec::new(),
            once: BTreeSet::new(),
            places: Places::default(),
            end: Span::new(main.end(), main.end()),
            is_in_condition: false,
            depth: 0,
            n_tokens: 0,
            n_includes: 0,
            counter: 0,
            is_over: false,
            remarks: Vec::new(),
            diagnostics: Vec::new(),
        };
        preprocessor.predefine();
        preprocessor
    }

    /// Reads from a file next.
    fn enter(&mut self, file: SourceFile) {
        self.places = Places::of(self.input.source);
        self.frames.push(Frame::File(FileFrame { file, position: 0, n_conditionals: self.conditionals.len() }));
    }

    /// The next token that is not a call of a macro.
    fn next(&mut self) -> Token {
        loop {
            let token = self.raw();
            let Some(name) = token.name() else { return token };
            if self.is_in_condition && Self::is_condition_word(name) {
                return self.condition_word(&token);
            }
            let known = if token.is_final { None } else { self.macros.get(name).cloned() };
            let Some(known) = known else { return token };
            if let Some(token) = self.expand(&known, token) {
                return token;
            }
        }
    }

    /// The next token before expansion; [`TokenKind::End`] at the end of all files, or of those that are expanded
    /// alone.
    fn raw(&mut self) -> Token {
        loop {
            heed(1);
            if self.is_over {
                return self.end_token();
            }
            match self.frames.last_mut() {
                None => return self.end_token(),
                Some(Frame::Alone(tokens)) => return tokens.next().unwrap_or_else(|| self.end_token()),
                Some(Frame::Expansion { tokens, .. }) => match tokens.next() {
                    Some(token) => return self.marked(token),
                    None => self.leave_expansion(),
                },
                Some(Frame::File(_)) => {
                    if let Some(token) = self.raw_of_file() {
                        return self.marked(token);
                    }
                }
            }
        }
    }

    /// The next token of the file on top; none if that was a directive, or the file is over.
    fn raw_of_file(&mut self) -> Option<Token> {
        let token = self.lex(|lexer| lexer.next_token())?;
        self.spend(1, token.span);
        if token.kind == TokenKind::End {
            self.leave_file();
            return None;
        }
        if token.starts_line && token.is(Punctuator::Hash) {
            self.directive(&token);
            return None;
        }
        Some(token)
    }

    /// Marks a name that must stay as it is.
    fn marked(&self, mut token: Token) -> Token {
        if token.name().is_some_and(|name| self.active.get(name).is_some_and(|&n| n > 0)) {
            token.is_final = true;
        }
        token
    }

    /// Does something with the text of the file on top, from where it is being read.
    fn lex<T>(&mut self, read: impl FnOnce(&mut Lexer<'_>) -> T) -> Option<T> {
        let Some(Frame::File(frame)) = self.frames.last_mut() else { return None };
        let mut lexer = Lexer::at(&frame.file, frame.position);
        let result = read(&mut lexer);
        frame.position = lexer.position();
        self.remarks.append(&mut lexer.remarks);
        if let Some(span) = lexer.unclosed {
            let error = Diagnostic::error(span, "unterminated block comment")
                .with_label("the comment starts here and never ends")
                .with_help("add `*/` where the comment ends");
            self.report(error);
        }
        Some(result)
    }

    fn leave_expansion(&mut self) {
        let Some(Frame::Expansion { name: Some(name), .. }) = self.frames.pop() else { return };
        if let Some(n) = self.active.get_mut(&name) {
            *n -= 1;
        }
    }

    fn leave_file(&mut self) {
        if let Some(Frame::File(frame)) = self.frames.pop() {
            self.close_conditionals(frame.n_conditionals);
        }
    }

    fn end_token(&self) -> Token {
        Token::new(TokenKind::End, self.end)
    }

    /// Expands tokens by themselves.
    fn expanded(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        if self.depth >= MAX_DEPTH {
            let span = tokens.first().map_or(self.end, |it| it.span);
            let message = format!("macro calls within arguments of each other, more than {MAX_DEPTH} deep");
            self.give_up(Diagnostic::error(span, message).with_help("split the expression"));
            return Vec::new();
        }
        if self.depth > 0 {
            // What is within arguments is held once for each call around it.
            self.spend(tokens.len(), tokens.first().map_or(self.end, |it| it.span));
        }
        self.depth += 1;
        let below = self.frames.len();
        self.frames.push(Frame::Alone(tokens.into_iter()));
        let mut result = Vec::new();
        loop {
            let token = self.next();
            if token.kind == TokenKind::End {
                break;
            }
            result.push(token);
        }
        self.frames.truncate(below);
        self.depth -= 1;
        result
    }

    /// Counts tokens, and stops where there are too many.
    fn spend(&mut self, n: usize, span: Span) {
        self.n_tokens = self.n_tokens.saturating_add(n);
        if self.n_tokens > MAX_TOKENS && !self.is_over {
            let message = format!("the text is too long: more than {} million tokens", MAX_TOKENS / 1_000_000);
            let help = "look for macros that expand to calls of each other, and for files that include each other";
            self.give_up(Diagnostic::error(span, message).with_help(help));
        }
    }

    /// Says what is wrong with a token that is not skipped.
    fn complain_about(&mut self, token: &Token) {
        if let TokenKind::Unterminated(text) = &token.kind {
            let (what, sign) = if text.ends_with('\'') || text.contains('\'') && !text.contains('"') {
                ("character", "'")
            } else {
                ("string", "\"")
            };
            let error = Diagnostic::error(token.span, format!("unterminated {what}"))
                .with_label("it starts here and the line ends")
                .with_help(format!("add `{sign}` where the {what} ends"));
            self.report(error);
        }
        let is_word = matches!(token.kind, TokenKind::Name(_) | TokenKind::Number(_) | TokenKind::Character(_));
        if is_word && token.spelling().len() > MAX_WORD {
            let message = format!("a word of more than {MAX_WORD} characters");
            self.report(Diagnostic::error(token.span, message).with_help("use a shorter one"));
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.is_over {
            return;
        }
        self.diagnostics.push(diagnostic);
        self.is_over = self.diagnostics.iter().filter(|it| it.is_error()).count() >= MAX_ERRORS;
    }

    /// Notes an error behind which nothing can be read.
    fn give_up(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.is_over = true;
    }
}
