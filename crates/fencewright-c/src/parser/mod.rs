//! From tokens to the tree, by recursive descent.
//!
//! ```text
//!   items ─▶ specifiers ─▶ declarators ─▶ initial        `static int *p[2] = { 0 }`
//!        ╰─▶ statements ─▶ expressions ─▶ primary
//! ```
//!
//! Whether a name is that of a type decides how a text is read ([`names`]). Whatever can be nested is limited, both in
//! how deep functions call each other here, and in how long a chain like `a + b + c` is, which is a deep tree: whoever
//! walks over the tree, or drops it, can recurse.

mod asm;
mod declarators;
mod expressions;
mod initial;
mod items;
mod names;
mod primary;
mod ranges;
mod records;
mod recovery;
mod specifiers;
mod statements;

use std::collections::HashMap;
use std::rc::Rc;

use fencewright::source::{Diagnostic, Span};
use fencewright::watch::heed;

use crate::ast::{Expr, ExprKind, Item, Name, Stmt, StmtKind};
use crate::place::Places;
use crate::token::{Punctuator, Token, TokenKind};

/// The deepest nesting.
const MAX_DEPTH: usize = 200;
/// The longest chain of operators, stars and the like in one expression or declaration.
const MAX_LINKS: usize = 500;

/// The most tokens whose trees are copied, for declarations of several names.
const MAX_COPIED: usize = 1_000_000;

/// What could not be read; it has been reported.
#[derive(Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// The tree of a text. The last token is [`TokenKind::End`].
pub(crate) fn parse(tokens: Vec<Token>, places: Places) -> (Vec<Item>, Vec<Diagnostic>) {
    let mut parser = Parser {
        tokens,
        at: 0,
        places,
        names: HashMap::new(),
        scopes: vec![Vec::new()],
        n_braces: 0,
        depth: 0,
        n_links: 0,
        n_trees: 0,
        n_copied: 0,
        n_unnamed: 0,
        function: String::new(),
        last_error: None,
        diagnostics: Vec::new(),
    };
    let items = parser.items();
    (items, parser.diagnostics)
}

struct Parser {
    /// Invariant: the last is the only [`TokenKind::End`].
    tokens: Vec<Token>,
    /// Invariant: below the number of tokens.
    at: usize,
    places: Places,
    /// What the declarations of a name that are in force say, the innermost last: whether it is a type.
    names: HashMap<Rc<str>, Vec<bool>>,
    /// The names that each open scope declares.
    scopes: Vec<Vec<Rc<str>>>,
    /// How many braces are open here.
    n_braces: usize,
    depth: usize,
    /// How many links the chains of the expression or declaration have so far.
    n_links: usize,
    /// How many expressions and declarations are being read within each other.
    n_trees: usize,
    /// How many tokens there are of trees that were copied.
    n_copied: usize,
    /// How many structures without names there are.
    n_unnamed: usize,
    /// The name of the function that is being read.
    function: String,
    last_error: Option<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    /// The token so many behind this one.
    fn ahead(&self, n: usize) -> &Token {
        &self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    /// The name or keyword here, or nothing.
    fn word(&self) -> &str {
        word(self.token())
    }

    fn is_at(&self, punctuator: Punctuator) -> bool {
        self.token().is(punctuator)
    }

    fn is_at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    fn bump(&mut self) {
        heed(1);
        if self.is_at_end() {
            return;
        }
        if self.is_at(Punctuator::OpenBrace) {
            self.n_braces += 1;
        } else if self.is_at(Punctuator::CloseBrace) {
            self.n_braces = self.n_braces.saturating_sub(1);
        }
        self.at += 1;
    }

    fn eat(&mut self, punctuator: Punctuator) -> bool {
        let is_here = self.is_at(punctuator);
        if is_here {
            self.bump();
        }
        is_here
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_here = self.word() == word;
        if is_here {
            self.bump();
        }
        is_here
    }

    fn eat_any(&mut self, words: &[&str]) -> bool {
        let is_here = words.contains(&self.word());
        if is_here {
            self.bump();
        }
        is_here
    }

    /// Takes a sign that must be here.
    fn expect(&mut self, punctuator: Punctuator, help: &str) -> Parsed<Span> {
        let span = self.token().span;
        if self.eat(punctuator) {
            return Ok(span);
        }
        Err(self.expected(&format!("`{}`", punctuator.text()), help))
    }

    /// Takes a name that must be here.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let text = self.word();
        if text.is_empty() || names::is_keyword(text) {
            return Err(self.expected(what, "write a name that is no word of C"));
        }
        let name = Name { text: text.to_owned(), span: self.token().span };
        self.bump();
        Ok(name)
    }

    /// From a token to the last one that was read.
    fn span_from(&self, start: usize) -> Span {
        let last = self.at.saturating_sub(1).max(start);
        self.places.join(self.tokens[start].span, self.tokens[last].span)
    }

    /// Whether what begins at a token and was read last begins or ends in the body of a macro.
    fn is_macro_from(&self, start: usize) -> bool {
        let last = self.at.saturating_sub(1).max(start);
        self.tokens[start].is_in_macro || self.tokens[last].is_in_macro
    }

    fn expr(&self, start: usize, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span_from(start), is_in_macro: self.is_macro_from(start) }
    }

    fn stmt(&self, start: usize, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span_from(start), is_in_macro: self.is_macro_from(start) }
    }

    /// Reads something that can be nested in itself.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let error = Diagnostic::error(self.token().span, format!("nested more than {MAX_DEPTH} deep"))
                .with_help("split it into functions or statements");
            return Err(self.stop_with(error));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads an expression or a declaration, which has links of its own unless it is part of another.
    fn tree<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.n_trees == 0 {
            self.n_links = 0;
        }
        self.n_trees += 1;
        let result = read(self);
        self.n_trees -= 1;
        result
    }

    /// Counts tokens whose tree is copied.
    fn copy(&mut self, n: usize) -> Parsed<()> {
        self.n_copied = self.n_copied.saturating_add(n);
        if self.n_copied <= MAX_COPIED {
            return Ok(());
        }
        let error =
            Diagnostic::error(self.token().span, "a declaration that is too long for so many names or elements")
                .with_help("give the type a name with `typedef`, or set the elements in a loop");
        Err(self.report(error))
    }

    /// Counts one more link of a chain.
    fn link(&mut self) -> Parsed<()> {
        self.n_links += 1;
        if self.n_links <= MAX_LINKS {
            return Ok(());
        }
        let message = format!("more than {MAX_LINKS} operators in one expression or declaration");
        let error = Diagnostic::error(self.token().span, message).with_help("split it");
        Err(self.report(error))
    }
}

/// The name or keyword that a token is, or nothing.
fn word(token: &Token) -> &str {
    token.name().map_or("", |it| it)
}
