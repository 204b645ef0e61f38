//! Blocks, and statements that hold blocks.

use super::{Failed, Parsed, Parser};
use crate::frontend::ast::{Block, Else, Expr, ExprKind, If, Stmt, StmtKind, Trivia};
use crate::frontend::fw::token::{Keyword, Symbol, TokenKind};
use crate::source::{Diagnostic, Span};

impl Parser<'_> {
    /// `{ … }`; `help` says why one is needed.
    pub(super) fn block(&mut self, help: &str) -> Parsed<Block> {
        if !self.is_at(Symbol::OpenBrace) {
            return Err(self.expected("`{`", help));
        }
        self.set_comments_aside();
        let start = self.current().span;
        match self.nested(Self::statements) {
            Ok(block) => Ok(block),
            Err(_) => {
                self.skip_block();
                Ok(Block { span: self.since(start), ..Block::default() })
            }
        }
    }

    fn statements(&mut self) -> Parsed<Block> {
        let indentation = self.indentation;
        let open = self.bump().span;
        let open_comment = self.comment_on_line(false);
        let mut statements = Vec::new();
        while !self.is_at(Symbol::CloseBrace) && !self.is_at_end() && !self.is_at_item_margin() {
            let start = self.current();
            match self.with_trivia(Self::statement) {
                Ok((trivia, span, kind)) => statements.push(Stmt { trivia, span, kind }),
                Err(_) => self.skip_statement(start),
            }
            if self.current().span == start.span && !self.is_at_end() {
                self.bump();
            }
        }
        // Most blocks are short: room for more would be most of the tree.
        statements.shrink_to_fit();
        let end_comments = self.comments_before(self.current().span.start);
        self.close_block(open, indentation);
        Ok(Block { span: self.since(open), open_comment, statements, end_comments })
    }

    fn statement(&mut self) -> Parsed<StmtKind> {
        match self.kind() {
            TokenKind::Keyword(keyword) if keyword != Keyword::Let && self.is_before_colon_or_assign() => {
                self.named_statement()
            }
            TokenKind::Keyword(keyword) => self.keyword_statement(keyword),
            TokenKind::Name if self.is_at_c_declaration() => Err(self.c_declaration()),
            TokenKind::Name => match self.misspelled_statement() {
                Some(keyword) => self.keyword_statement(keyword),
                None => self.named_statement(),
            },
            TokenKind::Symbol(Symbol::OpenBrace) => Ok(StmtKind::Block(self.block("")?)),
            TokenKind::Symbol(Symbol::Semicolon) => {
                self.bump();
                Ok(StmtKind::Skip)
            }
            TokenKind::Symbol(_) | TokenKind::Int(_) | TokenKind::End => Err(self.no_statement()),
        }
    }

    fn is_before_colon_or_assign(&self) -> bool {
        self.is_before(Symbol::Colon) || self.is_before(Symbol::Assign)
    }

    fn keyword_statement(&mut self, keyword: Keyword) -> Parsed<StmtKind> {
        match keyword {
            Keyword::If => Ok(StmtKind::If(self.if_statement()?)),
            Keyword::While => self.while_loop(),
            Keyword::Do => self.do_while(),
            Keyword::Loop => {
                self.bump();
                Ok(StmtKind::Loop(self.body("`loop` has a body: `loop { … }`")?))
            }
            Keyword::For => self.for_loop(),
            Keyword::Choose => self.choose(),
            Keyword::Atomic => {
                self.bump();
                Ok(StmtKind::Atomic(self.body("`atomic` has a body: `atomic { … }`")?))
            }
            Keyword::Let => self.simple(Self::let_statement),
            Keyword::Break => self.simple(|_| Ok(StmtKind::Break)),
            Keyword::Continue => self.simple(|_| Ok(StmtKind::Continue)),
            Keyword::Return => self.simple(Self::return_value),
            Keyword::Goto => self.simple(Self::goto_label),
            Keyword::Assume => self.simple(|parser| Ok(StmtKind::Assume(parser.claim("assume")?))),
            Keyword::Assert => self.simple(Self::assertion),
            Keyword::Fence => self.simple(Self::fence),
            Keyword::Else | Keyword::Or => self.stray_branch(),
            Keyword::Const
            | Keyword::Shared
            | Keyword::Thread
            | Keyword::Fn
            | Keyword::Forbid
            | Keyword::Predicate
            | Keyword::In
            | Keyword::Any
            | Keyword::True
            | Keyword::False
            | Keyword::Bool
            | Keyword::Int
            | Keyword::At => Err(self.no_statement()),
        }
    }

    pub(super) fn if_statement(&mut self) -> Parsed<If> {
        self.bump();
        let condition = self.head("if")?;
        let then = self.body("braces are needed even around one statement: `if (c) { … }`")?;
        let otherwise = if self.eat_keyword(Keyword::Else) { Some(self.otherwise()?) } else { None };
        Ok(If { condition, then, otherwise })
    }

    fn otherwise(&mut self) -> Parsed<Else> {
        if !self.is_at_keyword(Keyword::If) {
            return Ok(Else::Block(self.body("braces are needed even around one statement: `else { … }`")?));
        }
        let start = self.current().span;
        self.set_comments_aside();
        let kind = StmtKind::If(self.nested(Self::if_statement)?);
        Ok(Else::If(Box::new(Stmt { trivia: Trivia::default(), span: self.since(start), kind })))
    }

    pub(super) fn while_loop(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let condition = self.head("while")?;
        let body = self.body("braces are needed even around one statement: `while (c) { … }`")?;
        Ok(StmtKind::While(condition, body))
    }

    fn do_while(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let body = self.body("`do` has a body: `do { … } while (c);`")?;
        if !self.eat_keyword(Keyword::While) {
            return Err(self.expected("`while`", "the form is `do { … } while (c);`; for an endless loop use `loop`"));
        }
        let condition = self.condition()?;
        self.semicolon()?;
        Ok(StmtKind::DoWhile(body, condition))
    }

    fn for_loop(&mut self) -> Parsed<StmtKind> {
        self.bump();
        if self.is_at(Symbol::OpenParen) {
            return self.c_style_for();
        }
        let Ok(binder) = self.binder() else { return self.pass_over_head() };
        let body = self.body("the form is `for k in 0..3 { … }`")?;
        Ok(StmtKind::For(binder, body))
    }

    fn choose(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let help = "the form is `choose { … } or { … }`";
        let mut branches = vec![self.body(help)?];
        while self.eat_keyword(Keyword::Or) {
            branches.push(self.body(help)?);
        }
        Ok(StmtKind::Choose(branches))
    }

    /// A condition before a block. If it cannot be read but the block can, something else stands for it.
    fn head(&mut self, keyword: &str) -> Parsed<Expr> {
        if self.is_at(Symbol::OpenBrace) {
            let help = match keyword {
                "while" => "write what to wait for, `while (c) { … }`; for an endless loop use `loop`",
                _ => "write the condition: `if (c) { … }`",
            };
            self.expected("a condition", help);
        } else if let Ok(condition) = self.condition() {
            if self.is_at(Symbol::CloseParen) {
                self.expected("`{`", "remove the `)` that closes nothing, or add the missing `(`");
                self.bump();
            }
            return Ok(condition);
        }
        let nowhere = Span::new(self.previous.end, self.previous.end);
        if self.skip_to_block() { Ok(Expr { span: nowhere, kind: ExprKind::Bool(true) }) } else { Err(Failed) }
    }

    /// Reads the block of a statement whose head could not be read.
    pub(super) fn pass_over_head(&mut self) -> Parsed<StmtKind> {
        if self.skip_to_block() { Ok(StmtKind::Block(self.block("")?)) } else { Err(Failed) }
    }

    /// An `else` or `or` that continues nothing; what it governs is read all the same.
    fn stray_branch(&mut self) -> Parsed<StmtKind> {
        self.no_statement();
        self.bump();
        if self.is_at_keyword(Keyword::If) {
            return Ok(StmtKind::If(self.nested(Self::if_statement)?));
        }
        Ok(StmtKind::Block(self.block("the branch stands in braces: `{ … }`")?))
    }

    /// A condition, without the parentheses if they are around all of it.
    pub(super) fn condition(&mut self) -> Parsed<Expr> {
        let condition = self.expression()?;
        if let ExprKind::Paren(inner) = condition.kind { Ok(*inner) } else { Ok(condition) }
    }

    /// The block that a keyword governs. A single statement without braces is reported and read.
    pub(super) fn body(&mut self, help: &str) -> Parsed<Block> {
        if self.is_at(Symbol::Semicolon) {
            let diagnostic = Diagnostic::error(self.current().span, "expected `{`, found `;`")
                .with_label("expected `{`")
                .with_help("write `{}` for an empty body");
            self.report(diagnostic);
            let span = self.bump().span;
            return Ok(Block { span, ..Block::default() });
        }
        let may_start = match self.kind() {
            TokenKind::Keyword(keyword) => keyword.starts_statement(),
            TokenKind::Name => true,
            TokenKind::Int(_) | TokenKind::Symbol(_) | TokenKind::End => false,
        };
        // `then {` and `do {`, as other languages have them.
        let may_be_superfluous = self.kind() == TokenKind::Name || self.is_at_keyword(Keyword::Do);
        if may_be_superfluous && self.is_before(Symbol::OpenBrace) {
            let word = self.shortened(self.current().span);
            self.expected("`{`", &format!("remove `{word}`"));
            self.bump();
            return self.block(help);
        }
        if !may_start {
            return self.block(help);
        }
        self.expected("`{`", help);
        self.nested(|parser| {
            let (trivia, span, kind) = parser.with_trivia(Self::statement)?;
            Ok(Block { span, statements: vec![Stmt { trivia, span, kind }], ..Block::default() })
        })
    }
}
