//! From tokens to the surface tree, by recursive descent.
//!
//! A construct that cannot be read is reported once and passed over up to a place where reading can go on: a `;`, a
//! `}`, or a keyword at the start of a line. Nesting is limited, so that neither this parser nor whoever walks the tree
//! overflows the stack. Each token is looked at a bounded number of times.

mod comments;
mod expressions;
mod items;
mod lists;
mod mistakes;
mod properties;
mod recovery;
mod simple;
mod statements;

use super::lexer::Lexer;
use super::token::{Keyword, Symbol, Token, TokenKind};
use crate::frontend::ast;
use crate::source::{Diagnostic, Source, SourceFile, Span};

/// How deep blocks and expressions may be nested.
const MAX_DEPTH: u32 = 200;

/// How large a program may be, in tokens, where a statement or item counts some more; no engine could check one so
/// large, and its tree would fill the memory.
const MAX_SIZE: u32 = 1_000_000;

/// What a statement or item counts besides its tokens.
const STATEMENT_SIZE: u32 = 4;

/// Reads the main file of a text, and none that it includes: the tree of what could be read, and everything that is
/// wrong, in the order of the text.
pub fn parse(source: &Source) -> (ast::File, Vec<Diagnostic>) {
    parse_file(source.main())
}

/// Reads one file.
pub(super) fn parse_file(file: &SourceFile) -> (ast::File, Vec<Diagnostic>) {
    let mut parser = Parser::new(file);
    let file = parser.file();
    let mut diagnostics = parser.lexer.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    (file, diagnostics)
}

/// Says that something could not be read and that this has been reported.
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// A brace that was closed by one that does not stand under it, which may be the reason that another is missing.
struct Suspect {
    open: Span,
    close: Span,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The current token and the two after it.
    window: [Token; 3],
    /// The token before the current one.
    previous: Span,
    /// The indentation of the line of the current token.
    indentation: usize,
    /// How many blocks and expressions are open.
    depth: u32,
    /// How much has been read.
    size: u32,
    /// Whether it has been said that they are too many.
    was_too_deep: bool,
    /// Where the current token started when an error was last reported.
    last_error: Option<u32>,
    suspect: Option<Suspect>,
    /// Comments from inside the statement or item that is being read.
    stray: Vec<ast::Comment>,
    /// Whether a message may stand behind what is in the next parentheses.
    takes_message: bool,
    /// The message that stood there.
    message: Option<ast::Name>,
}

impl<'a> Parser<'a> {
    fn new(file: &'a SourceFile) -> Self {
        let mut lexer = Lexer::new(file);
        let window = [lexer.next_token(), lexer.next_token(), lexer.next_token()];
        let indentation = lexer.blanks_before(window[0].span.start);
        Self {
            lexer,
            window,
            previous: Span::default(),
            indentation,
            depth: 0,
            size: 0,
            was_too_deep: false,
            last_error: None,
            suspect: None,
            stray: Vec::new(),
            takes_message: false,
            message: None,
        }
    }

    fn current(&self) -> Token {
        self.window[0]
    }

    fn kind(&self) -> TokenKind {
        self.window[0].kind
    }

    /// The text of the current token.
    fn text(&self) -> &'a str {
        self.lexer.slice(self.window[0].span)
    }

    fn bump(&mut self) -> Token {
        let [token, next, after] = self.window;
        self.previous = token.span;
        self.window = [next, after, self.lexer.next_token()];
        if next.newlines > 0 {
            self.indentation = self.lexer.blanks_before(next.span.start);
        }
        self.grow(1);
        token
    }

    /// Counts what has been read, and stops reading if it is too much.
    fn grow(&mut self, size: u32) {
        let is_first = self.size <= MAX_SIZE;
        self.size = self.size.saturating_add(size);
        if self.size > MAX_SIZE && is_first && !self.is_at_end() {
            let at = Span::new(self.previous.end, self.previous.end);
            let diagnostic = Diagnostic::error(at, "program too large")
                .with_label("reading stopped here")
                .with_help("is this the right file? if so, check a smaller part of the program");
            // If something else is wrong, that is enough.
            if self.lexer.diagnostics.is_empty() {
                self.lexer.report(diagnostic);
            }
            self.stop();
        }
    }

    /// Reads nothing more, and says nothing about what is missing then.
    fn stop(&mut self) {
        self.lexer.stop();
        let end = self.lexer.next_token();
        self.window = [end; 3];
        self.last_error = Some(end.span.start);
    }

    fn is_at(&self, symbol: Symbol) -> bool {
        self.kind() == TokenKind::Symbol(symbol)
    }

    fn is_at_keyword(&self, keyword: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    /// Whether the current token is this word, which is special only here.
    fn is_at_word(&self, word: &str) -> bool {
        self.kind() == TokenKind::Name && self.text() == word
    }

    fn is_at_end(&self) -> bool {
        self.kind() == TokenKind::End
    }

    /// Whether the token after the current one is this.
    fn is_before(&self, symbol: Symbol) -> bool {
        self.window[1].kind == TokenKind::Symbol(symbol)
    }

    fn eat(&mut self, symbol: Symbol) -> bool {
        let is_here = self.is_at(symbol);
        if is_here {
            self.bump();
        }
        is_here
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let is_here = self.is_at_keyword(keyword);
        if is_here {
            self.bump();
        }
        is_here
    }

    /// Takes a sign that must stand here.
    fn expect(&mut self, symbol: Symbol, help: &str) -> Parsed<Token> {
        if self.is_at(symbol) { Ok(self.bump()) } else { Err(self.expected(&format!("`{}`", symbol.text()), help)) }
    }

    /// Takes the sign that closes what was opened there.
    fn close(&mut self, symbol: Symbol, open: Span) -> Parsed<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        if self.is_at(Symbol::Comma) && self.window[1].is_after_error {
            // What could not be read is what is wrong, as in `assert(c, "text")`.
            return Err(Failed);
        }
        let (close, opened) = (symbol.text(), self.lexer.slice(open));
        let found = self.found();
        let diagnostic = Diagnostic::error(self.current().span, format!("expected `{close}`, found {found}"))
            .with_label(format!("expected `{close}`"))
            .and_at(open, format!("to close this `{opened}`"))
            .with_help(self.help_for_close(close));
        Err(self.report(diagnostic))
    }

    /// From a token to the one before the current one.
    fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.previous.end.max(start.start))
    }

    /// Reads something nested in what is being read.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(self.current().span));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Says that something is nested too deeply, once for all.
    fn too_deep(&mut self, span: Span) -> Failed {
        if std::mem::replace(&mut self.was_too_deep, true) {
            return Failed;
        }
        self.report(
            Diagnostic::error(span, "nested too deeply")
                .with_label(format!("more than {MAX_DEPTH} levels"))
                .with_help("move an inner part into a function, or split the expression"),
        )
    }
}
