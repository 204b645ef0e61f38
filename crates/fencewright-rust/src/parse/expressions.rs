//! Expressions, blocks and statements.

use std::rc::Rc;

use crate::ast::{Arm, Binary, Block, Closure, Expr, ExprKind, Method, Stmt, StmtKind, Unary};

use super::{Convert, name_of};

impl Convert {
    /// An expression; what is not supported is told where it is used.
    pub(super) fn expr(&mut self, it: &syn::Expr) -> Option<Expr> {
        let mark = self.diagnostics.len();
        self.known_expr(it).or_else(|| self.refused(mark))
    }

    /// What was said since a mark, as something that must not be reached.
    fn refused(&mut self, mark: usize) -> Option<Expr> {
        let first = self.diagnostics.drain(mark..).next()?;
        let kind = ExprKind::Refused(first.message, first.help.unwrap_or_default());
        Some(Expr { kind, span: first.span })
    }

    fn known_expr(&mut self, it: &syn::Expr) -> Option<Expr> {
        let span = self.span(it);
        let kind = match it {
            syn::Expr::Paren(it) => return self.expr(&it.expr),
            syn::Expr::Group(it) => return self.expr(&it.expr),
            syn::Expr::Lit(it) => return self.literal(&it.lit),
            syn::Expr::Macro(it) => return self.macro_call(&it.mac),
            syn::Expr::Unsafe(it) => ExprKind::Block(None, self.block(&it.block)?),
            syn::Expr::Const(it) => ExprKind::Block(None, self.block(&it.block)?),
            syn::Expr::Block(it) => ExprKind::Block(label(it.label.as_ref()), self.block(&it.block)?),
            syn::Expr::Path(it) => ExprKind::Path(self.path(&it.path, it.qself.as_ref())),
            syn::Expr::Unary(it) => {
                let op = match it.op {
                    syn::UnOp::Deref(_) => Unary::Deref,
                    syn::UnOp::Not(_) => Unary::Not,
                    _ => Unary::Negative,
                };
                ExprKind::Unary(op, self.boxed(&it.expr)?)
            }
            syn::Expr::Binary(it) => return self.binary(it, span),
            syn::Expr::Assign(it) => ExprKind::Assign(self.boxed(&it.left)?, self.boxed(&it.right)?),
            syn::Expr::Reference(it) => ExprKind::Reference(self.boxed(&it.expr)?),
            syn::Expr::RawAddr(it) => ExprKind::Reference(self.boxed(&it.expr)?),
            syn::Expr::Field(it) => ExprKind::Field(self.boxed(&it.base)?, self.member(&it.member)),
            syn::Expr::Index(it) => ExprKind::Index(self.boxed(&it.expr)?, self.boxed(&it.index)?),
            syn::Expr::Call(it) => ExprKind::Call(self.boxed(&it.func)?, self.list(it.args.iter())?),
            syn::Expr::MethodCall(it) => {
                let (receiver, name) = (self.expr(&it.receiver)?, self.name(&it.method));
                let arguments = self.list(it.args.iter())?;
                ExprKind::Method(Box::new(Method { receiver, name, arguments }))
            }
            syn::Expr::Cast(it) => ExprKind::Cast(self.boxed(&it.expr)?, self.ty(&it.ty)),
            syn::Expr::Closure(it) => return self.closure(it),
            syn::Expr::Try(it) => ExprKind::Try(self.boxed(&it.expr)?),
            syn::Expr::Tuple(it) => ExprKind::Tuple(self.list(it.elems.iter())?),
            syn::Expr::Array(it) => ExprKind::Array(self.list(it.elems.iter())?),
            syn::Expr::Repeat(it) => ExprKind::Repeat(self.boxed(&it.expr)?, self.boxed(&it.len)?),
            syn::Expr::Struct(it) => return self.structure(it),
            syn::Expr::Range(it) => {
                let start = self.optional(it.start.as_deref())?.map(Box::new);
                let end = self.optional(it.end.as_deref())?.map(Box::new);
                ExprKind::Range(start, end, matches!(it.limits, syn::RangeLimits::Closed(_)))
            }
            it => return self.control(it),
        };
        Some(Expr { kind, span })
    }

    fn control(&mut self, it: &syn::Expr) -> Option<Expr> {
        let span = self.span(it);
        let kind = match it {
            syn::Expr::If(it) => {
                let otherwise = match &it.else_branch {
                    Some((_, otherwise)) => Some(self.boxed(otherwise)?),
                    None => None,
                };
                ExprKind::If(self.boxed(&it.cond)?, self.block(&it.then_branch)?, otherwise)
            }
            syn::Expr::Let(it) => ExprKind::Let(Box::new(self.pat(&it.pat)?), self.boxed(&it.expr)?),
            syn::Expr::Match(it) => {
                let subject = self.boxed(&it.expr)?;
                let arms: Vec<Option<Arm>> = it.arms.iter().map(|it| self.arm(it)).collect();
                ExprKind::Match(subject, arms.into_iter().collect::<Option<Vec<_>>>()?)
            }
            syn::Expr::Loop(it) => ExprKind::Loop(label(it.label.as_ref()), self.block(&it.body)?),
            syn::Expr::While(it) => {
                ExprKind::While(label(it.label.as_ref()), self.boxed(&it.cond)?, self.block(&it.body)?)
            }
            syn::Expr::ForLoop(it) => {
                let pat = Box::new(self.pat(&it.pat)?);
                ExprKind::For(label(it.label.as_ref()), pat, self.boxed(&it.expr)?, self.block(&it.body)?)
            }
            syn::Expr::Break(it) => {
                let value = self.optional(it.expr.as_deref())?.map(Box::new);
                ExprKind::Break(it.label.as_ref().map(|it| name_of(&it.ident)), value)
            }
            syn::Expr::Continue(it) => ExprKind::Continue(it.label.as_ref().map(|it| name_of(&it.ident))),
            syn::Expr::Return(it) => ExprKind::Return(self.optional(it.expr.as_deref())?.map(Box::new)),
            syn::Expr::Async(_) | syn::Expr::Await(_) => {
                return self.refuse(span, "`async` is not supported", "check what threads do: `thread::spawn`");
            }
            _ => return self.refuse(span, "this expression is not supported", "write it in another way"),
        };
        Some(Expr { kind, span })
    }

    fn boxed(&mut self, it: &syn::Expr) -> Option<Box<Expr>> {
        self.expr(it).map(Box::new)
    }

    fn list<'p>(&mut self, all: impl Iterator<Item = &'p syn::Expr>) -> Option<Vec<Expr>> {
        let all: Vec<Option<Expr>> = all.map(|it| self.expr(it)).collect();
        all.into_iter().collect()
    }

    fn arm(&mut self, it: &syn::Arm) -> Option<Arm> {
        // A guard stands in the pattern.
        let (pat, guard) = match &it.pat {
            syn::Pat::Guard(guarded) => (self.pat(&guarded.pat)?, Some(self.expr(&guarded.guard)?)),
            pat => (self.pat(pat)?, None),
        };
        Some(Arm { pat, guard, body: self.expr(&it.body)? })
    }

    fn closure(&mut self, it: &syn::ExprClosure) -> Option<Expr> {
        let span = self.span(it);
        if it.asyncness.is_some() {
            return self.refuse(span, "`async` is not supported", "check what threads do: `thread::spawn`");
        }
        let parameters = self.pats(it.inputs.iter())?;
        let (body, is_move) = (self.expr(&it.body)?, it.capture.is_some());
        Some(Expr { kind: ExprKind::Closure(Rc::new(Closure { parameters, body, is_move, span })), span })
    }

    fn structure(&mut self, it: &syn::ExprStruct) -> Option<Expr> {
        let span = self.span(it);
        let path = self.path(&it.path, it.qself.as_ref());
        let mut fields = Vec::new();
        for field in &it.fields {
            let name = self.member(&field.member);
            fields.push((name, self.expr(&field.expr)?));
        }
        let rest = self.optional(it.rest.as_deref())?.map(Box::new);
        Some(Expr { kind: ExprKind::Struct(path, fields, rest), span })
    }

    fn binary(&mut self, it: &syn::ExprBinary, span: fencewright::source::Span) -> Option<Expr> {
        let (left, right) = (self.boxed(&it.left)?, self.boxed(&it.right)?);
        let kind = match operator(&it.op) {
            Some((op, false)) => ExprKind::Binary(op, left, right),
            Some((op, true)) => ExprKind::AssignBy(op, left, right),
            None => return self.refuse(span, "this operator is not supported", "write it in another way"),
        };
        Some(Expr { kind, span })
    }

    pub(super) fn block(&mut self, it: &syn::Block) -> Option<Block> {
        let span = self.place(it.brace_token.span.join());
        let mut statements = Vec::new();
        let (mut value, mut is_wrong) = (None, false);
        for (at, stmt) in it.stmts.iter().enumerate() {
            let is_last = at + 1 == it.stmts.len();
            match stmt {
                syn::Stmt::Expr(expr, None) if is_last => match self.expr(expr) {
                    Some(expr) => value = Some(Box::new(expr)),
                    None => is_wrong = true,
                },
                syn::Stmt::Macro(it) if is_last && it.semi_token.is_none() => {
                    let mark = self.diagnostics.len();
                    value = self.macro_call(&it.mac).or_else(|| self.refused(mark)).map(Box::new);
                }
                stmt => {
                    let mark = self.diagnostics.len();
                    let refused = |it: &mut Self| {
                        let expr = it.refused(mark)?;
                        Some(Stmt { span: expr.span, kind: StmtKind::Expr(expr) })
                    };
                    match self.statement(stmt).or_else(|| refused(self)) {
                        Some(stmt) => statements.push(stmt),
                        None => is_wrong = true,
                    }
                }
            }
        }
        (!is_wrong).then_some(Block { statements, value, span })
    }

    fn statement(&mut self, it: &syn::Stmt) -> Option<Stmt> {
        let span = self.span(it);
        let kind = match it {
            syn::Stmt::Local(it) => {
                let pat = self.pat(&it.pat)?;
                let (mut value, mut otherwise) = (None, None);
                if let Some(init) = &it.init {
                    value = Some(self.expr(&init.expr)?);
                    if let Some((_, diverge)) = &init.diverge {
                        let span = self.span(diverge);
                        let body = self.boxed(diverge)?;
                        otherwise = Some(Block { statements: Vec::new(), value: Some(body), span });
                    }
                }
                StmtKind::Let(pat, value, otherwise)
            }
            syn::Stmt::Item(item) => {
                let mut found = Vec::new();
                self.items(std::slice::from_ref(item), &mut found, &mut Vec::new());
                self.inner.append(&mut found);
                StmtKind::Item
            }
            syn::Stmt::Expr(it, _) => StmtKind::Expr(self.expr(it)?),
            syn::Stmt::Macro(it) => StmtKind::Expr(self.macro_call(&it.mac)?),
        };
        Some(Stmt { kind, span })
    }
}

fn label(it: Option<&syn::Label>) -> Option<String> {
    it.map(|it| name_of(&it.name.ident))
}

/// The operator, and whether it assigns.
fn operator(op: &syn::BinOp) -> Option<(Binary, bool)> {
    use syn::BinOp as Op;
    Some(match op {
        Op::Add(_) => (Binary::Add, false),
        Op::Sub(_) => (Binary::Sub, false),
        Op::Mul(_) => (Binary::Mul, false),
        Op::Div(_) => (Binary::Div, false),
        Op::Rem(_) => (Binary::Rem, false),
        Op::And(_) => (Binary::And, false),
        Op::Or(_) => (Binary::Or, false),
        Op::BitXor(_) => (Binary::BitXor, false),
        Op::BitAnd(_) => (Binary::BitAnd, false),
        Op::BitOr(_) => (Binary::BitOr, false),
        Op::Shl(_) => (Binary::Shl, false),
        Op::Shr(_) => (Binary::Shr, false),
        Op::Eq(_) => (Binary::Eq, false),
        Op::Lt(_) => (Binary::Lt, false),
        Op::Le(_) => (Binary::Le, false),
        Op::Ne(_) => (Binary::Ne, false),
        Op::Ge(_) => (Binary::Ge, false),
        Op::Gt(_) => (Binary::Gt, false),
        Op::AddAssign(_) => (Binary::Add, true),
        Op::SubAssign(_) => (Binary::Sub, true),
        Op::MulAssign(_) => (Binary::Mul, true),
        Op::DivAssign(_) => (Binary::Div, true),
        Op::RemAssign(_) => (Binary::Rem, true),
        Op::BitXorAssign(_) => (Binary::BitXor, true),
        Op::BitAndAssign(_) => (Binary::BitAnd, true),
        Op::BitOrAssign(_) => (Binary::BitOr, true),
        Op::ShlAssign(_) => (Binary::Shl, true),
        Op::ShrAssign(_) => (Binary::Shr, true),
        _ => return None,
    })
}
