//! Expressions.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::frontend::ast::{Conditional, Expr, ExprKind, Name, Range, Shift, ThreadRef};
use crate::frontend::fw::precedence;
use crate::frontend::fw::token::{Keyword, Symbol, TokenKind};
use crate::program::{BinaryOp, UnaryOp};
use crate::source::{Diagnostic, Span};

/// An expression and how many levels it has. Chains such as `a + b + …` make a tree deep without being nested in the
/// text, and whoever walks the tree must not overflow the stack.
struct Tree {
    expr: Expr,
    height: u32,
}

/// What stands between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Shift(Shift),
}

impl Infix {
    fn level(self) -> u8 {
        match self {
            Self::Binary(op) => precedence::of(op),
            Self::Shift(_) => precedence::SHIFT,
        }
    }
}

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let expr = self.conditional()?.expr;
        if self.is_at(Symbol::Assign) {
            return Err(self.assignment_in_expression());
        }
        Ok(expr)
    }

    /// `c ? a : b`, or anything that binds tighter.
    fn conditional(&mut self) -> Parsed<Tree> {
        let first = self.binary(precedence::OR);
        if self.is_at(Symbol::Question) { self.chosen(first?) } else { first }
    }

    /// `? a : b`, behind the condition. Not part of the function above, whose frames are on the stack once for each
    /// level of nesting.
    #[inline(never)]
    fn chosen(&mut self, condition: Tree) -> Parsed<Tree> {
        self.bump();
        let then = self.nested(Self::conditional)?;
        self.expect(Symbol::Colon, "a conditional expression is `c ? a : b`")?;
        let otherwise = self.nested(Self::conditional)?;
        let height = condition.height.max(then.height).max(otherwise.height);
        let span = condition.expr.span.to(otherwise.expr.span);
        let it = Conditional { condition: condition.expr, then: then.expr, otherwise: otherwise.expr };
        self.tree(span, ExprKind::Conditional(Box::new(it)), height)
    }

    /// `lo..hi`, and the greatest height in it; `what` says what is expected where it starts.
    pub(super) fn range_and_height(&mut self, what: &str) -> Parsed<(Range, u32)> {
        let help = "a range is written `lo..hi`, both ends included, such as `0..3`";
        if !self.may_start_operand() {
            return Err(self.expected(what, help));
        }
        let lo = self.binary(precedence::SUM)?;
        if self.is_at(Symbol::RangeEq) || self.is_at(Symbol::Ellipsis) {
            self.expected("`..`", "write `..`; both ends of a range are always included");
            self.bump();
        } else {
            self.expect(Symbol::Range, help)?;
        }
        let hi = self.binary(precedence::SUM)?;
        Ok((Range { lo: lo.expr, hi: hi.expr }, lo.height.max(hi.height)))
    }

    /// Whether an expression may start here.
    pub(super) fn may_start_operand(&self) -> bool {
        match self.kind() {
            TokenKind::Name | TokenKind::Int(_) => true,
            TokenKind::Keyword(keyword) => matches!(keyword, Keyword::Any | Keyword::True | Keyword::False),
            TokenKind::Symbol(symbol) => {
                matches!(symbol, Symbol::OpenParen | Symbol::Minus | Symbol::Bang | Symbol::Hash)
            }
            TokenKind::End => false,
        }
    }

    fn binary(&mut self, loosest: u8) -> Parsed<Tree> {
        self.nested(|parser| {
            let mut left = parser.prefix()?;
            while let Some(op) = parser.infix() {
                let level = op.level();
                if level < loosest {
                    break;
                }
                parser.bump();
                let right = parser.binary(level + 1)?;
                left = parser.join(op, left, right)?;
                if level == precedence::COMPARISON {
                    parser.check_chain(&left.expr)?;
                }
            }
            Ok(left)
        })
    }

    /// The operator here, if there is one. Those that other languages have are reported and read as what they mean.
    fn infix(&mut self) -> Option<Infix> {
        match self.kind() {
            TokenKind::Symbol(Symbol::ShiftLeft) => Some(Infix::Shift(Shift::Left)),
            TokenKind::Symbol(Symbol::ShiftRight) => Some(Infix::Shift(Shift::Right)),
            TokenKind::Symbol(symbol) => operator(symbol).map(Infix::Binary),
            TokenKind::Name | TokenKind::Keyword(_) => self.foreign_word().map(Infix::Binary),
            TokenKind::Int(_) | TokenKind::End => None,
        }
    }

    fn join(&mut self, op: Infix, left: Tree, right: Tree) -> Parsed<Tree> {
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height);
        let (left, right) = (Box::new(left.expr), Box::new(right.expr));
        let kind = match op {
            Infix::Binary(op) => ExprKind::Binary(op, left, right),
            Infix::Shift(shift) => ExprKind::Shift(shift, left, right),
        };
        self.tree(span, kind, height)
    }

    /// A node over parts of this height.
    fn tree(&mut self, span: Span, kind: ExprKind, height: u32) -> Parsed<Tree> {
        if height >= MAX_DEPTH {
            return Err(self.too_deep(self.current().span));
        }
        Ok(Tree { expr: Expr { span, kind }, height: height + 1 })
    }

    fn prefix(&mut self) -> Parsed<Tree> {
        let start = self.current().span;
        let op = match self.kind() {
            TokenKind::Symbol(Symbol::Minus) => UnaryOp::Neg,
            TokenKind::Symbol(Symbol::Bang) => UnaryOp::Not,
            TokenKind::Symbol(_) | TokenKind::Name | TokenKind::Int(_) | TokenKind::Keyword(_) | TokenKind::End => {
                return self.operand();
            }
        };
        self.bump();
        let inner = self.nested(Self::prefix)?;
        self.tree(self.since(start), ExprKind::Unary(op, Box::new(inner.expr)), inner.height)
    }

    fn operand(&mut self) -> Parsed<Tree> {
        let start = self.current().span;
        let kind = match self.kind() {
            TokenKind::Int(value) if self.text().bytes().all(|it| it.is_ascii_digit()) => ExprKind::Int(value),
            TokenKind::Int(value) => ExprKind::Based(value, self.text().to_owned()),
            TokenKind::Name => return self.named(),
            TokenKind::Keyword(Keyword::True) => ExprKind::Bool(true),
            TokenKind::Keyword(Keyword::False) => ExprKind::Bool(false),
            TokenKind::Keyword(Keyword::Any) => return self.any(),
            TokenKind::Symbol(Symbol::OpenParen) => return self.parenthesized(),
            TokenKind::Symbol(Symbol::Hash) => return self.count(),
            TokenKind::Keyword(_) | TokenKind::Symbol(_) | TokenKind::End => return Err(self.no_operand()),
        };
        self.bump();
        self.tree(start, kind, 0)
    }

    fn any(&mut self) -> Parsed<Tree> {
        let start = self.bump().span;
        if !self.is_at(Symbol::OpenParen) {
            return self.tree(start, ExprKind::Any(None), 0);
        }
        let open = self.bump().span;
        let (range, height) = self.range_and_height("a range")?;
        self.close(Symbol::CloseParen, open)?;
        self.tree(self.since(start), ExprKind::Any(Some(Box::new(range))), height)
    }

    fn parenthesized(&mut self) -> Parsed<Tree> {
        let takes_message = std::mem::take(&mut self.takes_message);
        let open = self.bump().span;
        let inner = self.conditional()?;
        if self.is_at(Symbol::Assign) {
            return Err(self.assignment_in_expression());
        }
        if takes_message {
            self.take_message();
        }
        self.close(Symbol::CloseParen, open)?;
        self.tree(self.since(open), ExprKind::Paren(Box::new(inner.expr)), inner.height)
    }

    /// `, "why"`, if it stands here.
    #[inline(never)]
    fn take_message(&mut self) {
        if self.is_at(Symbol::Comma) && self.is_before(Symbol::Text) {
            self.bump();
            self.message = Some(Name { text: self.text().to_owned(), span: self.bump().span });
        }
    }

    /// What starts with a name: a variable, a cell, a call, or a place or register of a thread.
    fn named(&mut self) -> Parsed<Tree> {
        let name = self.take_name();
        let start = name.span;
        if self.is_at(Symbol::OpenBracket) {
            let (index, height) = self.indices()?;
            return self.tree(self.since(start), ExprKind::Index(name, index), height);
        }
        let call = if self.is_at(Symbol::OpenParen) { Some(self.arguments()?) } else { None };
        if self.is_at(Symbol::At) || self.is_at(Symbol::Dot) {
            return self.of_thread(name, call.unwrap_or_default());
        }
        let span = self.since(start);
        match call {
            Some((arguments, height)) => self.tree(span, ExprKind::Call(name, arguments), height),
            None => self.tree(span, ExprKind::Name(name), 0),
        }
    }

    /// `P(0)@l` or `P(0).r`, from the `@` or `.` on.
    fn of_thread(&mut self, name: Name, (arguments, height): (Vec<Expr>, u32)) -> Parsed<Tree> {
        let span = self.since(name.span);
        let thread = ThreadRef { name, arguments, span };
        let is_place = self.bump().kind == TokenKind::Symbol(Symbol::At);
        let kind = if is_place {
            let label = self.name("a label", "name a label of the thread, such as `P@critical`, or `P@end`")?;
            ExprKind::At(thread, label)
        } else {
            let register = self.name("a register", "name a register of the thread, such as `P.r`")?;
            ExprKind::Member(thread, register, self.indices()?.0)
        };
        self.tree(self.since(span), kind, height)
    }

    /// `#P@l`
    #[inline(never)]
    fn count(&mut self) -> Parsed<Tree> {
        let start = self.bump().span;
        let help = "count the members of a family at a label: `#P@critical >= 2`";
        let name = self.name("a thread", help)?;
        let thread = ThreadRef { span: name.span, name, arguments: Vec::new() };
        self.expect(Symbol::At, help)?;
        let label = self.name("a label", help)?;
        self.tree(self.since(start), ExprKind::Count(thread, label), 0)
    }

    /// `[e]`, `[e][f]`, …, and the greatest height; nothing where no bracket stands.
    pub(super) fn indices(&mut self) -> Parsed<(Vec<Expr>, u32)> {
        let (mut indices, mut height) = (Vec::new(), 0);
        while self.is_at(Symbol::OpenBracket) && (indices.is_empty() || self.current().newlines == 0) {
            let open = self.bump().span;
            let index = self.conditional()?;
            self.close(Symbol::CloseBracket, open)?;
            height = height.max(index.height);
            indices.push(index.expr);
        }
        Ok((indices, height))
    }

    /// `(a, b, …)`, and the greatest height in it.
    pub(super) fn arguments(&mut self) -> Parsed<(Vec<Expr>, u32)> {
        let open = self.bump().span;
        let mut height = 0;
        let arguments = self.list(open, Symbol::CloseParen, |parser| {
            let argument = parser.conditional()?;
            height = height.max(argument.height);
            Ok(argument.expr)
        })?;
        Ok((arguments, height))
    }

    /// `a < b < c` is refused; `left` is the first comparison.
    fn check_chain(&mut self, left: &Expr) -> Parsed<()> {
        let TokenKind::Symbol(symbol) = self.kind() else { return Ok(()) };
        if operator(symbol).is_none_or(|op| precedence::of(op) != precedence::COMPARISON) {
            return Ok(());
        }
        let ExprKind::Binary(_, _, middle) = &left.kind else { return Ok(()) };
        let (first, middle) = (self.shortened(left.span), self.shortened(middle.span));
        let help = format!("compare twice: `{first} && {middle} {} …`", symbol.text());
        let diagnostic = Diagnostic::error(self.current().span, "comparisons do not chain")
            .with_label("a second comparison")
            .and_at(left.span, "the first one")
            .with_help(help);
        Err(self.report(diagnostic))
    }
}

/// The operator that a sign stands for between two operands.
pub(super) fn operator(symbol: Symbol) -> Option<BinaryOp> {
    const OPERATORS: [(Symbol, BinaryOp); 16] = [
        (Symbol::OrOr, BinaryOp::Or),
        (Symbol::AndAnd, BinaryOp::And),
        (Symbol::Eq, BinaryOp::Eq),
        (Symbol::Ne, BinaryOp::Ne),
        (Symbol::Lt, BinaryOp::Lt),
        (Symbol::Le, BinaryOp::Le),
        (Symbol::Gt, BinaryOp::Gt),
        (Symbol::Ge, BinaryOp::Ge),
        (Symbol::Pipe, BinaryOp::BitOr),
        (Symbol::Caret, BinaryOp::BitXor),
        (Symbol::Amp, BinaryOp::BitAnd),
        (Symbol::Plus, BinaryOp::Add),
        (Symbol::Minus, BinaryOp::Sub),
        (Symbol::Star, BinaryOp::Mul),
        (Symbol::Slash, BinaryOp::Div),
        (Symbol::Percent, BinaryOp::Rem),
    ];
    OPERATORS.iter().find(|(written, _)| *written == symbol).map(|&(_, op)| op)
}
