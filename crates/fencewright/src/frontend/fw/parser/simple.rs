//! Statements without blocks.

use super::{Parsed, Parser};
use crate::frontend::ast::{Assign, Compound, Expr, ExprKind, Let, Name, Shift, StmtKind, Target};
use crate::frontend::fw::token::{Symbol, TokenKind};
use crate::frontend::nearest::nearest;
use crate::program::{BinaryOp, FenceKind, Order};

impl Parser<'_> {
    /// A keyword, what `read` makes of the rest, and `;`.
    pub(super) fn simple(&mut self, read: impl FnOnce(&mut Self) -> Parsed<StmtKind>) -> Parsed<StmtKind> {
        self.bump();
        let kind = read(self)?;
        self.semicolon()?;
        Ok(kind)
    }

    pub(super) fn return_value(&mut self) -> Parsed<StmtKind> {
        // If the `;` is missing, the next line may be a statement.
        let has_value = self.may_start_operand() && !self.starts_statement_line();
        Ok(StmtKind::Return(if has_value { Some(self.expression()?) } else { None }))
    }

    pub(super) fn goto_label(&mut self) -> Parsed<StmtKind> {
        Ok(StmtKind::Goto(self.name("a label", "the form is `goto l;`, where `l:` is a label")?))
    }

    /// The condition of `assume` or `assert`.
    pub(super) fn claim(&mut self, keyword: &str) -> Parsed<Expr> {
        if self.is_at(Symbol::Semicolon) {
            return Err(self.expected("a condition", &format!("the form is `{keyword}(c);`")));
        }
        self.condition()
    }

    /// `(c)`, or `(c, "why")`.
    pub(super) fn assertion(&mut self) -> Parsed<StmtKind> {
        self.takes_message = self.is_at(Symbol::OpenParen);
        let condition = self.claim("assert");
        self.takes_message = false;
        Ok(StmtKind::Assert(condition?, self.message.take()))
    }

    pub(super) fn let_statement(&mut self) -> Parsed<StmtKind> {
        let help = "a register is declared by `let r = x;` or `let r: 0..3 = x;`";
        if self.is_at_word("mut") && self.window[1].kind == TokenKind::Name {
            self.expected("the name of a register", "remove `mut`; every register can be assigned to");
            self.bump();
        }
        self.check_c_type("let", "")?;
        let name = self.name("the name of a register", help)?;
        if self.is_at(Symbol::Comma) {
            return Err(self.expected("`=`, `:` or `;`", "write one `let` for each register"));
        }
        let sizes = self.array_sizes()?;
        let ty = if self.eat(Symbol::Colon) { Some(self.ty()?) } else { None };
        if self.is_at(Symbol::ColonAssign) || self.is_at(Symbol::Eq) {
            self.expected("`=`", &format!("write `let {} = …;`", name.text));
            self.bump();
        } else if self.may_start_operand() && self.current().newlines == 0 {
            return Err(self.expected("`=`", &format!("write `let {} = …;`", name.text)));
        } else if !self.eat(Symbol::Assign) {
            return Ok(StmtKind::Let(Let { name, sizes, ty, value: None }));
        }
        let value = Some(self.expression()?);
        Ok(StmtKind::Let(Let { name, sizes, ty, value }))
    }

    /// What stands behind `fence`.
    pub(super) fn fence(&mut self) -> Parsed<StmtKind> {
        const KINDS: [(&str, StmtKind); 6] = [
            ("full", StmtKind::Fence(FenceKind::Full)),
            ("store", StmtKind::Fence(FenceKind::StoreStore)),
            ("acquire", StmtKind::OrderedFence(Order::Acquire)),
            ("release", StmtKind::OrderedFence(Order::Release)),
            ("acq_rel", StmtKind::OrderedFence(Order::AcqRel)),
            ("seq_cst", StmtKind::OrderedFence(Order::SeqCst)),
        ];
        if !self.is_at(Symbol::OpenParen) {
            return Ok(StmtKind::Fence(FenceKind::Full));
        }
        let open = self.bump().span;
        let text = self.text();
        let Some((_, kind)) = KINDS.into_iter().find(|(name, _)| *name == text) else {
            let help = match nearest(text, KINDS.map(|(name, _)| name)) {
                Some(near) => format!("did you mean `fence({near});`?"),
                None => "write `fence;` or `fence(full);` to wait, `fence(store);` to order stores, or the order of a \
                         fence of C11: `fence(acquire);`, `release`, `acq_rel`, `seq_cst`"
                    .to_owned(),
            };
            return Err(self.expected("`full`, `store` or a memory order", &help));
        };
        self.bump();
        self.close(Symbol::CloseParen, open)?;
        Ok(kind)
    }

    /// A statement that starts with a name: a label, an assignment or a call.
    pub(super) fn named_statement(&mut self) -> Parsed<StmtKind> {
        if self.kind() != TokenKind::Name {
            self.reserved("a name");
        }
        let name = self.take_name();
        if self.eat(Symbol::Colon) {
            return Ok(StmtKind::Label(name));
        }
        if self.is_at(Symbol::OpenParen) {
            return self.call(name);
        }
        let start = name.span;
        let index = self.indices()?.0;
        let target = Target { name, index, span: self.since(start) };
        let op = self.assignment_operator(&target)?;
        let value = self.expression()?;
        self.semicolon()?;
        Ok(StmtKind::Assign(Assign { target, op, value }))
    }

    fn call(&mut self, name: Name) -> Parsed<StmtKind> {
        let start = name.span;
        let (arguments, _) = self.arguments()?;
        if self.is_at(Symbol::OpenBrace) {
            return self.call_with_block(&name);
        }
        let expr = Expr { span: self.since(start), kind: ExprKind::Call(name, arguments) };
        self.semicolon()?;
        Ok(StmtKind::Call(expr))
    }

    /// Takes `=`, `+=` and the like.
    fn assignment_operator(&mut self, target: &Target) -> Parsed<Option<Compound>> {
        let op = match self.kind() {
            TokenKind::Symbol(Symbol::Assign) => None,
            TokenKind::Symbol(Symbol::AddAssign) => Some(Compound::Binary(BinaryOp::Add)),
            TokenKind::Symbol(Symbol::SubAssign) => Some(Compound::Binary(BinaryOp::Sub)),
            TokenKind::Symbol(Symbol::MulAssign) => Some(Compound::Binary(BinaryOp::Mul)),
            TokenKind::Symbol(Symbol::DivAssign) => Some(Compound::Binary(BinaryOp::Div)),
            TokenKind::Symbol(Symbol::RemAssign) => Some(Compound::Binary(BinaryOp::Rem)),
            TokenKind::Symbol(Symbol::AndAssign) => Some(Compound::Binary(BinaryOp::BitAnd)),
            TokenKind::Symbol(Symbol::OrAssign) => Some(Compound::Binary(BinaryOp::BitOr)),
            TokenKind::Symbol(Symbol::XorAssign) => Some(Compound::Binary(BinaryOp::BitXor)),
            TokenKind::Symbol(Symbol::ShiftLeftAssign) => Some(Compound::Shift(Shift::Left)),
            TokenKind::Symbol(Symbol::ShiftRightAssign) => Some(Compound::Shift(Shift::Right)),
            TokenKind::Symbol(Symbol::ColonAssign | Symbol::Eq) => {
                let name = self.shortened(target.span);
                let help = if self.is_at(Symbol::Eq) {
                    format!("to assign, write `{name} = …;`; to wait for it, `assume({name} == …);`")
                } else {
                    format!("to assign, write `{name} = …;`")
                };
                self.expected("`=`", &help);
                None
            }
            TokenKind::Symbol(_) | TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::End => {
                return Err(self.no_assignment(target));
            }
        };
        self.bump();
        Ok(op)
    }
}
