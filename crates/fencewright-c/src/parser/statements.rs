//! Statements.

use super::{Parsed, Parser};
use crate::ast::{Expr, Stmt, StmtKind};
use crate::token::Punctuator;

impl Parser {
    /// `{ … }` in the scope that is open.
    pub(super) fn block(&mut self) -> Parsed<Vec<Stmt>> {
        let open = self.token().clone();
        self.expect(Punctuator::OpenBrace, "open the block with `{`")?;
        let (n_braces, n_scopes) = (self.n_braces, self.scopes.len());
        let mut statements = Vec::new();
        while !self.is_at(Punctuator::CloseBrace) {
            if self.is_at_end() {
                return Err(self.unclosed(&open));
            }
            let start = self.at;
            match self.statement() {
                Ok(Some(statement)) => statements.push(statement),
                Ok(None) => {}
                Err(_) => {
                    while self.scopes.len() > n_scopes {
                        self.close_scope();
                    }
                    self.skip_statement(start, n_braces);
                }
            }
        }
        self.bump();
        Ok(statements)
    }

    /// A block with a scope of its own.
    pub(super) fn scoped_block(&mut self) -> Parsed<Vec<Stmt>> {
        self.open_scope();
        let statements = self.block()?;
        self.close_scope();
        Ok(statements)
    }

    /// A statement or a declaration; nothing for one that says nothing.
    fn statement(&mut self) -> Parsed<Option<Stmt>> {
        let start = self.at;
        self.skip_attributes()?;
        while self.word() == "__extension__" {
            self.bump();
        }
        if matches!(self.word(), "_Static_assert" | "static_assert") {
            self.skip_static_assert()?;
            return Ok(None);
        }
        if self.word() == "__label__" {
            while !self.eat(Punctuator::Semicolon) && !self.is_at_end() {
                self.bump();
            }
            return Ok(None);
        }
        let is_label = self.ahead(1).is(Punctuator::Colon);
        if !is_label && self.is_at_declaration() {
            let declarations = self.declaration()?;
            return Ok(Some(self.stmt(start, StmtKind::Declarations(declarations))));
        }
        let kind = self.nested(Self::statement_kind)?;
        Ok(Some(self.stmt(start, kind)))
    }

    /// A statement that another one governs.
    fn inner(&mut self) -> Parsed<Box<Stmt>> {
        let start = self.at;
        let statement = self.statement()?;
        Ok(Box::new(statement.unwrap_or_else(|| self.stmt(start, StmtKind::Expr(None)))))
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        match self.word() {
            "if" => self.if_(),
            "while" => self.while_(),
            "do" => self.do_while(),
            "for" => self.for_(),
            "switch" => {
                self.bump();
                let value = self.parenthesized()?;
                Ok(StmtKind::Switch(value, self.inner()?))
            }
            "case" => self.case(),
            "default" => {
                self.bump();
                self.expect(Punctuator::Colon, "write `default:`")?;
                Ok(StmtKind::Default(self.labeled()?))
            }
            "break" => self.simple(StmtKind::Break),
            "continue" => self.simple(StmtKind::Continue),
            "return" => {
                self.bump();
                let value = if self.is_at(Punctuator::Semicolon) { None } else { Some(self.expression()?) };
                self.semicolon()?;
                Ok(StmtKind::Return(value))
            }
            "goto" => {
                self.bump();
                if self.is_at(Punctuator::Star) {
                    return Err(self.refused("a computed `goto` is", "use `switch`"));
                }
                let label = self.name("a label")?;
                self.semicolon()?;
                Ok(StmtKind::Goto(label))
            }
            "else" => Err(self.expected("a statement", "remove this `else`, or write its `if` before it")),
            _ if self.is_at_asm() => self.asm(),
            _ => self.other(),
        }
    }

    /// A block, a label or an expression.
    fn other(&mut self) -> Parsed<StmtKind> {
        if self.is_at(Punctuator::OpenBrace) {
            return Ok(StmtKind::Block(self.scoped_block()?));
        }
        if self.eat(Punctuator::Semicolon) {
            return Ok(StmtKind::Expr(None));
        }
        if !self.word().is_empty() && self.ahead(1).is(Punctuator::Colon) {
            let label = self.name("a label")?;
            self.bump();
            return Ok(StmtKind::Label(label, self.labeled()?));
        }
        let value = self.expression()?;
        self.semicolon()?;
        Ok(StmtKind::Expr(Some(value)))
    }

    /// What stands behind a label: at the end of a block, nothing.
    fn labeled(&mut self) -> Parsed<Box<Stmt>> {
        if self.is_at(Punctuator::CloseBrace) {
            return Ok(Box::new(self.stmt(self.at - 1, StmtKind::Expr(None))));
        }
        self.inner()
    }

    fn simple(&mut self, kind: StmtKind) -> Parsed<StmtKind> {
        self.bump();
        self.semicolon()?;
        Ok(kind)
    }

    fn semicolon(&mut self) -> Parsed<()> {
        self.expect(Punctuator::Semicolon, "end the statement with `;`")?;
        Ok(())
    }

    /// `(e)` behind a keyword.
    fn parenthesized(&mut self) -> Parsed<Expr> {
        self.expect(Punctuator::OpenParen, "put the condition between parentheses")?;
        let value = self.expression()?;
        self.expect(Punctuator::CloseParen, "close the parenthesis of the condition")?;
        Ok(value)
    }

    fn if_(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let condition = self.parenthesized()?;
        let then = self.inner()?;
        let otherwise = if self.eat_word("else") { Some(self.inner()?) } else { None };
        Ok(StmtKind::If(condition, then, otherwise))
    }

    fn while_(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let condition = self.parenthesized()?;
        Ok(StmtKind::While(condition, self.inner()?))
    }

    fn do_while(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let body = self.inner()?;
        if !self.eat_word("while") {
            return Err(self.expected("`while`", "end the loop with `while (…);`"));
        }
        let condition = self.parenthesized()?;
        self.semicolon()?;
        Ok(StmtKind::DoWhile(body, condition))
    }

    fn for_(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.expect(Punctuator::OpenParen, "write `for (…; …; …)`")?;
        self.open_scope();
        let first = self.first()?;
        let condition = if self.is_at(Punctuator::Semicolon) { None } else { Some(self.expression()?) };
        self.expect(Punctuator::Semicolon, "write `for (…; …; …)`")?;
        let step = if self.is_at(Punctuator::CloseParen) { None } else { Some(self.expression()?) };
        self.expect(Punctuator::CloseParen, "close the parenthesis of `for`")?;
        let body = self.inner()?;
        self.close_scope();
        Ok(StmtKind::For { first, condition, step, body })
    }

    /// The first part of a `for`, with its `;`.
    fn first(&mut self) -> Parsed<Option<Box<Stmt>>> {
        let start = self.at;
        if self.eat(Punctuator::Semicolon) {
            return Ok(None);
        }
        let kind = if self.is_at_declaration() {
            StmtKind::Declarations(self.declaration()?)
        } else {
            let value = self.expression()?;
            self.expect(Punctuator::Semicolon, "write `for (…; …; …)`")?;
            StmtKind::Expr(Some(value))
        };
        Ok(Some(Box::new(self.stmt(start, kind))))
    }

    fn case(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let value = self.full(Self::conditional)?;
        if self.is_at(Punctuator::Ellipsis) {
            return Err(self.refused("a range of cases is", "write a `case` for each value"));
        }
        self.expect(Punctuator::Colon, "write `case VALUE:`")?;
        Ok(StmtKind::Case(value, self.labeled()?))
    }
}
