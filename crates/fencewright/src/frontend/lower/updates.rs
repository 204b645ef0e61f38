//! Atomic updates: `cas`, `swap`, `fetch_add`, ….

use crate::frontend::ast::{self, ExprKind};
use crate::program::{BinaryOp, Domain, Expr, Op, Place, RegisterId, RmwVar};
use crate::source::Span;

use super::body::{Body, Meaning, TargetRef};
use super::cfg::Node;
use super::expressions::Pure;
use super::typed::{Ty, Typed, wrong_count};

/// What an update other than `cas` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// The argument.
    Swap,
    /// The old value and the argument, combined.
    Fetch(BinaryOp),
}

/// Where the old value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Into {
    Nowhere,
    Temporary,
    /// There, if it holds all values of the location; otherwise to a temporary.
    Register(RegisterId),
}

impl Update {
    /// The update of this name.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "swap" => Self::Swap,
            "fetch_add" => Self::Fetch(BinaryOp::Add),
            "fetch_sub" => Self::Fetch(BinaryOp::Sub),
            "fetch_and" => Self::Fetch(BinaryOp::BitAnd),
            "fetch_or" => Self::Fetch(BinaryOp::BitOr),
            "fetch_xor" => Self::Fetch(BinaryOp::BitXor),
            "fetch_min" => Self::Fetch(BinaryOp::Min),
            "fetch_max" => Self::Fetch(BinaryOp::Max),
            _ => return None,
        })
    }
}

/// A name and its arguments.
pub(super) type Call<'e> = (&'e ast::Name, &'e [ast::Expr]);

impl Body<'_, '_> {
    /// `swap(x, v)`, `fetch_add(x, v)`, …: the old value.
    pub(super) fn update(&mut self, update: Update, (name, arguments): Call<'_>, span: Span, into: Into) -> Pure {
        let [variable, argument] = arguments else {
            wrong_count(self.log, name, arguments.len(), 2);
            return Typed::wrong(span);
        };
        let Some((place, domain)) = self.updated(name, variable, span) else { return Typed::wrong(span) };
        if let (Update::Fetch(_), Domain::Bool) = (update, domain) {
            let message = format!("`{}` works on integers", name.text);
            self.log.error(variable.span, message, "use `swap` or `cas` for a boolean");
            return Typed::wrong(span);
        }
        let argument = self.value_of(argument, domain);
        if argument.ty == Ty::Unknown {
            return Typed::wrong(span);
        }
        let write = match update {
            Update::Swap => {
                self.warn_outside(Some(domain), &argument);
                over_rmw(&argument.expr)
            }
            Update::Fetch(op) => Expr::binary(op, Expr::Var(RmwVar::Old), over_rmw(&argument.expr)),
        };
        let into = match into {
            Into::Nowhere => None,
            Into::Register(register) if self.slot(register).domain.is_none_or(|it| it == domain) => {
                if !self.settle_type(register, Ty::of(domain), span) {
                    return Typed::wrong(span);
                }
                Some(register)
            }
            Into::Register(_) | Into::Temporary => Some(self.temporary(Some(domain), Ty::of(domain), span)),
        };
        self.step(Op::Rmw { place, guard: Expr::TRUE, write: Some(write), into }, span);
        Typed::new(into.map_or(Expr::Const(0), Expr::Var), Ty::of(domain), span)
    }

    /// `cas(x, old, new)`, one edge for each outcome. The cursor is used up.
    pub(super) fn cas(&mut self, (name, arguments): Call<'_>, span: Span, yes: Option<Node>, no: Option<Node>) {
        let parts = self.cas_parts((name, arguments), span);
        let Some((place, old, new)) = parts else {
            for node in [yes, no].into_iter().flatten() {
                self.arc(Op::Assume(Expr::TRUE), node, span);
            }
            return;
        };
        let compare = |op| Expr::binary(op, Expr::Var(RmwVar::Old), over_rmw(&old));
        if let Some(node) = yes {
            let (place, guard) = (place.clone(), compare(BinaryOp::Eq));
            self.arc(Op::Rmw { place, guard, write: Some(over_rmw(&new)), into: None }, node, span);
        }
        if let Some(node) = no {
            self.arc(Op::Rmw { place, guard: compare(BinaryOp::Ne), write: None, into: None }, node, span);
        }
    }

    fn cas_parts(
        &mut self,
        (name, arguments): Call<'_>,
        span: Span,
    ) -> Option<(Place, Expr<RegisterId>, Expr<RegisterId>)> {
        let [variable, old, new] = arguments else {
            wrong_count(self.log, name, arguments.len(), 3);
            return None;
        };
        let (place, domain) = self.updated(name, variable, span)?;
        let old = self.value_of(old, domain);
        let new = self.value_of(new, domain);
        self.warn_outside(Some(domain), &new);
        (old.ty != Ty::Unknown && new.ty != Ty::Unknown).then_some((place, old.expr, new.expr))
    }

    /// The place that an update acts on.
    fn updated(&mut self, update: &ast::Name, variable: &ast::Expr, span: Span) -> Option<(Place, Domain)> {
        if self.is_atomic {
            self.refuse_in_atomic(&update.text, span);
            return None;
        }
        let target = match &variable.kind {
            ExprKind::Name(name) => Some(TargetRef { name, index: None, span: variable.span }),
            ExprKind::Index(name, index) => Some(TargetRef { name, index: Some(index), span: variable.span }),
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Any(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Paren(_)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Member(..) => None,
        };
        let meaning = target.map(|target| (target, self.resolve(target.name)));
        match meaning {
            Some((target, Meaning::Shared(shared))) => {
                let place = self.place(shared, &target)?;
                let domain = self.domain_of(&place);
                Some((place, domain))
            }
            Some((_, Meaning::Wrong)) => None,
            Some((_, Meaning::Const(..) | Meaning::Register(_) | Meaning::Thread | Meaning::Function(_))) | None => {
                let message = format!("`{}` needs a shared variable or array cell", update.text);
                let help =
                    format!("`{}` is neither; only shared memory is updated atomically", self.log.text(variable.span));
                self.log.error(variable.span, message, help);
                None
            }
        }
    }
}

fn over_rmw(expr: &Expr<RegisterId>) -> Expr<RmwVar> {
    expr.map(&mut |register| RmwVar::Register(*register))
}
