//! What newcomers write instead of what the language has, and what to tell them.

use super::{Failed, Parsed, Parser};
use crate::frontend::ast::{Name, StmtKind, Target};
use crate::frontend::fw::token::{Keyword, Symbol, TokenKind};
use crate::frontend::nearest::nearest;
use crate::program::BinaryOp;
use crate::source::Diagnostic;

const ITEMS: [Keyword; 6] =
    [Keyword::Const, Keyword::Shared, Keyword::Thread, Keyword::Fn, Keyword::Forbid, Keyword::Predicate];

const STATEMENTS: [Keyword; 15] = [
    Keyword::Let,
    Keyword::If,
    Keyword::While,
    Keyword::Do,
    Keyword::Loop,
    Keyword::For,
    Keyword::Break,
    Keyword::Continue,
    Keyword::Return,
    Keyword::Goto,
    Keyword::Choose,
    Keyword::Assume,
    Keyword::Assert,
    Keyword::Fence,
    Keyword::Atomic,
];

/// Words of other languages and what they are here.
const FOREIGN: [(&str, Keyword); 18] = [
    ("process", Keyword::Thread),
    ("proctype", Keyword::Thread),
    ("proc", Keyword::Thread),
    ("function", Keyword::Fn),
    ("func", Keyword::Fn),
    ("def", Keyword::Fn),
    ("void", Keyword::Fn),
    ("global", Keyword::Shared),
    ("static", Keyword::Shared),
    ("forbidden", Keyword::Forbid),
    ("invariant", Keyword::Forbid),
    ("var", Keyword::Let),
    ("local", Keyword::Let),
    ("auto", Keyword::Let),
    ("await", Keyword::Assume),
    ("either", Keyword::Choose),
    ("forever", Keyword::Loop),
    ("mfence", Keyword::Fence),
];

const C_TYPES: [&str; 8] = ["unsigned", "long", "short", "char", "uint", "size_t", "_Bool", "boolean"];

impl Parser<'_> {
    /// If a misspelled keyword stands before a name here, says so and takes it for the keyword.
    pub(super) fn misspelled_item(&mut self) -> Option<Keyword> {
        let is_before_name = self.window[1].kind == TokenKind::Name;
        if self.kind() != TokenKind::Name || !is_before_name {
            return None;
        }
        self.misspelled(&ITEMS, "a declaration")
    }

    /// The same for statements.
    pub(super) fn misspelled_statement(&mut self) -> Option<Keyword> {
        let next = self.window[1];
        let is_statement = match next.kind {
            TokenKind::Name | TokenKind::Int(_) => next.newlines == 0,
            TokenKind::Symbol(symbol) => matches!(symbol, Symbol::OpenBrace | Symbol::Semicolon),
            TokenKind::Keyword(_) | TokenKind::End => false,
        };
        if is_statement { self.misspelled(&STATEMENTS, "a statement") } else { None }
    }

    fn misspelled(&mut self, known: &[Keyword], what: &str) -> Option<Keyword> {
        let word = self.text();
        let foreign = FOREIGN.iter().find(|(foreign, keyword)| *foreign == word && known.contains(keyword));
        let near = nearest(word, known.iter().map(|keyword| keyword.text())).and_then(Keyword::from_text);
        let keyword = foreign.map(|&(_, keyword)| keyword).or(near)?;
        self.expected(what, &format!("did you mean `{}`?", keyword.text()));
        Some(keyword)
    }

    /// No declaration starts here.
    pub(super) fn no_item(&mut self) -> Failed {
        let next = self.text_of_next_name();
        match self.kind() {
            TokenKind::Symbol(Symbol::CloseBrace) => {
                self.unexpected("closes nothing", "remove it, or add the missing `{` before it")
            }
            TokenKind::Symbol(Symbol::Semicolon) => self.unexpected("ends nothing", "remove it"),
            TokenKind::Keyword(Keyword::Int | Keyword::Bool) if next.is_some() => {
                let has_value = self.window[2].kind == TokenKind::Symbol(Symbol::Assign);
                let value = if has_value { " = …" } else { "" };
                let help = format!("write `shared {}: {}{value};`", next.unwrap_or_default(), self.text());
                self.expected("a declaration", &help)
            }
            TokenKind::Keyword(Keyword::Let) => {
                self.expected("a declaration", "declare a shared variable by `shared`, or move `let` into a thread")
            }
            TokenKind::Keyword(keyword) if keyword.starts_statement() => self.statement_outside(),
            TokenKind::Name if self.is_before(Symbol::Assign) || self.is_before(Symbol::OpenBracket) => {
                self.statement_outside()
            }
            TokenKind::Keyword(_) | TokenKind::Name | TokenKind::Int(_) | TokenKind::Symbol(_) | TokenKind::End => self
                .expected(
                    "a declaration",
                    "a file consists of `const`, `enum`, `shared`, `thread`, `fn`, `forbid`, `predicate` and \
                     `include` declarations",
                ),
        }
    }

    fn statement_outside(&mut self) -> Failed {
        let diagnostic = Diagnostic::error(self.current().span, "statement outside of a thread or function")
            .with_label("expected a declaration")
            .with_help("move it into a `thread T { … }`; is there a `}` too many above?");
        self.report(diagnostic)
    }

    fn unexpected(&mut self, label: &str, help: &str) -> Failed {
        let diagnostic = Diagnostic::error(self.current().span, format!("unexpected {}", self.found()))
            .with_label(label)
            .with_help(help);
        self.report(diagnostic)
    }

    fn text_of_next_name(&self) -> Option<String> {
        (self.window[1].kind == TokenKind::Name).then(|| self.shortened(self.window[1].span))
    }

    /// No statement starts here.
    pub(super) fn no_statement(&mut self) -> Failed {
        let word = self.text();
        match self.kind() {
            TokenKind::Keyword(Keyword::Else) => {
                self.unexpected("no `if` before it", "the form is `if (c) { … } else { … }`; is there a `}` too many?")
            }
            TokenKind::Keyword(Keyword::Or) => {
                self.unexpected("no `choose` before it", "the form is `choose { … } or { … }`")
            }
            TokenKind::Keyword(Keyword::Int | Keyword::Bool) => self.c_declaration(),
            TokenKind::Keyword(keyword) if keyword.starts_item() => {
                let help = format!("move it out of the block; is there a `}}` missing before `{word}`?");
                let diagnostic = Diagnostic::error(self.current().span, format!("`{word}` inside a block"))
                    .with_label("declarations stand outside of threads and functions")
                    .with_help(help);
                self.report(diagnostic)
            }
            TokenKind::Symbol(Symbol::Plus | Symbol::Minus) if self.window[1].kind == self.kind() => {
                let target = self.shortened(self.window[2].span);
                self.increment(&target)
            }
            TokenKind::Symbol(Symbol::Star) => self.expected("a statement", "there are no pointers; name the variable"),
            TokenKind::Symbol(Symbol::CloseParen | Symbol::CloseBracket) => {
                self.unexpected("closes nothing", "remove it")
            }
            TokenKind::Keyword(_) | TokenKind::Name | TokenKind::Int(_) | TokenKind::Symbol(_) | TokenKind::End => {
                self.expected("a statement", "a statement is an assignment, a call or starts with a keyword")
            }
        }
    }

    /// Whether `unsigned x` or the like stands here.
    pub(super) fn is_at_c_declaration(&self) -> bool {
        C_TYPES.contains(&self.text()) && self.window[1].kind == TokenKind::Name
    }

    /// `int x`: registers are declared otherwise.
    pub(super) fn c_declaration(&mut self) -> Failed {
        let ty = if self.is_at_keyword(Keyword::Bool) { "bool" } else { "int" };
        let help = match self.text_of_next_name() {
            Some(name) => format!("registers are declared by `let`: `let {name}: {ty} = …;`"),
            None => format!("registers are declared by `let`: `let r: {ty} = …;`"),
        };
        self.expected("a statement", &help)
    }

    /// `shared int x`: the type goes behind the name.
    pub(super) fn check_c_type(&mut self, before: &str, after: &str) -> Parsed<()> {
        let is_type = match self.kind() {
            TokenKind::Keyword(keyword) => matches!(keyword, Keyword::Int | Keyword::Bool),
            TokenKind::Name => C_TYPES.contains(&self.text()),
            TokenKind::Int(_) | TokenKind::Symbol(_) | TokenKind::End => false,
        };
        let Some(name) = self.text_of_next_name().filter(|_| is_type) else { return Ok(()) };
        let ty = if self.is_at_keyword(Keyword::Bool) { "bool" } else { "int" };
        let written = if after.is_empty() { format!("{name}: {ty}") } else { format!("{name} {after}") };
        let help = format!("write `{}`", format!("{before} {written}").trim());
        self.expected("a name", &help);
        self.bump();
        Ok(())
    }

    /// A name where a type is expected, if there is one alone; `x: integer` is a mistake.
    pub(super) fn type_name(&mut self) -> Parsed<Option<Name>> {
        let is_alone = match self.window[1].kind {
            TokenKind::Symbol(symbol) => {
                matches!(symbol, Symbol::Assign | Symbol::Semicolon | Symbol::Comma | Symbol::CloseParen)
            }
            TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::End => false,
        };
        let word = self.text();
        match self.kind() {
            TokenKind::Name if is_alone => {
                let near = match nearest(word, ["bool", "int"]) {
                    Some(near) => near,
                    None if word.starts_with("bool") => "bool",
                    None if word.starts_with("int") || C_TYPES.contains(&word) => "int",
                    None => return Ok(Some(self.take_name())),
                };
                Err(self.expected("a type", &format!("did you mean `{near}`?")))
            }
            TokenKind::Int(_) if is_alone => Err(self
                .expected("a type", &format!("a range has two ends: `0..{word}`; an initial value comes after `=`"))),
            TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::Symbol(_) | TokenKind::End => {
                Ok(None)
            }
        }
    }

    /// `and`, `or`: says so and takes them for `&&`, `||`.
    pub(super) fn foreign_word(&mut self) -> Option<BinaryOp> {
        let (op, sign) = match self.text() {
            "and" => (BinaryOp::And, "&&"),
            "or" => (BinaryOp::Or, "||"),
            "mod" => (BinaryOp::Rem, "%"),
            _ => return None,
        };
        if self.current().newlines > 0 {
            return None;
        }
        let help = format!("write `{sign}`");
        self.expected("an operator", &help);
        Some(op)
    }

    /// No expression starts here.
    pub(super) fn no_operand(&mut self) -> Failed {
        let help = match self.kind() {
            TokenKind::Symbol(Symbol::Amp | Symbol::Star) => "there are no pointers; write the name alone",
            TokenKind::Symbol(Symbol::Plus) => "remove it; there is no prefix `+` and no `++`",
            TokenKind::Symbol(Symbol::At) => "name a thread before it, such as `P@critical`",
            TokenKind::Symbol(Symbol::OpenBrace) => "lists in braces only stand in `shared a[2] = {1, 3};`",
            TokenKind::Keyword(Keyword::If) => "a conditional expression is `c ? a : b`",
            TokenKind::Symbol(Symbol::Text) => "a text in quotes is the message of an assertion: `assert(c, \"why\");`",
            TokenKind::Keyword(_) if self.current().newlines == 0 => "it is a reserved word; names must differ from it",
            TokenKind::Symbol(symbol) if super::expressions::operator(symbol).is_some() => {
                "an operator stands between two operands; write the missing one"
            }
            TokenKind::Symbol(Symbol::Assign) => "write the left side of `==`, or remove `=`",
            TokenKind::Symbol(_) | TokenKind::Keyword(_) | TokenKind::End => {
                "write a value here: a number, a name, or an expression in parentheses"
            }
            TokenKind::Name | TokenKind::Int(_) => "write a value here",
        };
        self.expected("an expression", help)
    }

    /// `=` where only expressions may stand.
    pub(super) fn assignment_in_expression(&mut self) -> Failed {
        let diagnostic = Diagnostic::error(self.current().span, "`=` inside an expression")
            .with_label("an assignment is not an expression")
            .with_help("to compare, write `==`; an assignment is a statement of its own");
        self.report(diagnostic)
    }

    /// What to do about a missing closing sign.
    pub(super) fn help_for_close(&self, close: &str) -> String {
        match self.kind() {
            TokenKind::Symbol(Symbol::Comma) if close == ")" => {
                "only calls have several arguments; close the parenthesis before `,`".to_owned()
            }
            TokenKind::Name | TokenKind::Int(_) => format!("add an operator, or `{close}`, before {}", self.found()),
            TokenKind::Symbol(_) | TokenKind::Keyword(_) => format!("add `{close}` before {}", self.found()),
            TokenKind::End => format!("add `{close}`"),
        }
    }

    /// Something else stands on the line where `;` is expected.
    pub(super) fn unexpected_before_semicolon(&mut self) {
        let help = match self.kind() {
            TokenKind::Symbol(Symbol::CloseParen | Symbol::CloseBracket) => {
                self.unexpected("closes nothing", "remove it, or add what it should close");
                return;
            }
            TokenKind::Symbol(Symbol::Range) => {
                "a range is a type and stands behind `:`, as in `x: 0..3`; for any of its values write `any(0..3)`"
            }
            TokenKind::Symbol(Symbol::OpenBrace) => "remove the block, or what is before it",
            TokenKind::Symbol(Symbol::OpenBracket) => "only a name can be indexed, as in `a[i]`",
            TokenKind::Symbol(Symbol::Dot | Symbol::At | Symbol::Arrow | Symbol::ColonColon) => {
                "only properties look into threads: `P.r`, `P@l`"
            }
            TokenKind::Symbol(_) | TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::End => {
                "add `;` before it, or an operator"
            }
        };
        self.expected("`;`", help);
    }

    /// A `for` as in C, at its parenthesis.
    pub(super) fn c_style_for(&mut self) -> Parsed<StmtKind> {
        self.expected("a name", "the form is `for k in 0..3 { … }`, unrolled; for other loops use `while`");
        // The semicolons of the head do not end the statement.
        while !self.is_at(Symbol::CloseParen) && !self.is_at(Symbol::OpenBrace) && !self.is_at_end() {
            if self.is_at(Symbol::CloseBrace) || self.is_at_item_margin() {
                return Err(Failed);
            }
            self.bump();
        }
        self.pass_over_head()
    }

    /// `f(x) { … }`: most likely a misspelled keyword.
    pub(super) fn call_with_block(&mut self, name: &Name) -> Parsed<StmtKind> {
        let known = ["if", "while", "for", "atomic", "loop"];
        let foreign = (name.text == "until").then_some("while");
        let diagnostic = match nearest(&name.text, known).or(foreign) {
            Some(near) => Diagnostic::error(name.span, format!("expected a statement, found `{}`", name.text))
                .with_label("not a keyword")
                .with_help(format!("did you mean `{near}`?")),
            None => Diagnostic::error(self.current().span, "expected `;`, found `{`")
                .with_label("expected `;`")
                .with_help("end the call by `;`; functions are declared by `fn`, outside of threads"),
        };
        self.report(diagnostic);
        self.pass_over_head()
    }

    /// No assignment operator behind a variable.
    pub(super) fn no_assignment(&mut self, target: &Target) -> Failed {
        let name = self.shortened(target.span);
        let help = match self.kind() {
            TokenKind::Symbol(Symbol::Plus | Symbol::Minus) if self.window[1].kind == self.kind() => {
                return self.increment(&name);
            }
            TokenKind::Symbol(Symbol::Semicolon) => {
                format!("a name alone does nothing; to load it, write `let r = {name};`")
            }
            TokenKind::Symbol(Symbol::Dot | Symbol::Arrow) => {
                "a thread only sees its own registers and shared variables".to_owned()
            }
            TokenKind::Symbol(_) => {
                format!("to assign, write `{name} = …;`; an expression alone is not a statement")
            }
            TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::End => {
                format!("a statement that starts with a name is `{name} = …;`, `{name}(…);` or a label `{name}:`")
            }
        };
        self.expected("`=`, `+=` or `-=`", &help)
    }

    /// `x++` or `++x`, at the first sign.
    fn increment(&mut self, name: &str) -> Failed {
        let sign = self.text();
        let span = self.current().span.to(self.window[1].span);
        let diagnostic = Diagnostic::error(span, format!("unknown operator `{sign}{sign}`"))
            .with_label("expected `=`, `+=` or `-=`")
            .with_help(format!("write `{name} {sign}= 1;`"));
        self.report(diagnostic)
    }
}
