//! Expressions in statements: every shared variable in them is a load, from left to right.

use crate::frontend::ast::{self, ExprKind};
use crate::program::{BinaryOp, Domain, Expr, Op, Place, RegisterId, UnaryOp, Value};
use crate::source::{Diagnostic, Span};

use super::body::{Body, Meaning, TargetRef};
use super::calls::Wanted;
use super::constants::range;
use super::typed::{Ty, Typed, binary, builtin, mismatch, two, unary};
use super::updates::{Into, Update};

/// An expression over registers.
pub(super) type Pure = Typed<RegisterId>;

impl Body<'_, '_> {
    /// The value of an expression; its loads and calls go before the cursor. `wanted` is what `any` stands for.
    pub(super) fn value(&mut self, expr: &ast::Expr, wanted: Option<Domain>) -> Pure {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value) => Typed::new(Expr::Const(*value), Ty::Int, span),
            ExprKind::Bool(value) => Typed::new(Expr::Const(Value::from(*value)), Ty::Bool, span),
            ExprKind::Paren(inner) => self.value(inner, wanted),
            ExprKind::Name(name) => self.variable(&TargetRef { name, index: None, span }),
            ExprKind::Index(name, index) => self.variable(&TargetRef { name, index: Some(index), span }),
            ExprKind::Any(range) => self.any(range.as_deref(), wanted, span),
            ExprKind::Unary(op, operand) => {
                let operand = self.value(operand, (*op == UnaryOp::Not).then_some(Domain::Bool));
                unary(self.log, *op, operand, span)
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) if self.needs_flow(expr) => self.decide(expr, None),
            ExprKind::Binary(op, left, right) => self.operands(*op, (left, right), span),
            ExprKind::Call(name, _) if name.text == "cas" => self.decide(expr, None),
            ExprKind::Call(name, arguments) => self.call_value(name, arguments, span),
            ExprKind::At(..) | ExprKind::Member(..) => {
                let text = self.log.text(span);
                let message = format!("`{text}` has no meaning here");
                self.log.error(span, message, "`@` and `.` belong in `forbid`; a thread sees its own registers only");
                Typed::wrong(span)
            }
        }
    }

    /// A value that must have a type.
    pub(super) fn value_of(&mut self, expr: &ast::Expr, domain: Domain) -> Pure {
        self.value(expr, Some(domain)).expect(self.log, Ty::of(domain))
    }

    fn operands(&mut self, op: BinaryOp, (left, right): (&ast::Expr, &ast::Expr), span: Span) -> Pure {
        let wanted = matches!(op, BinaryOp::And | BinaryOp::Or).then_some(Domain::Bool);
        let left = self.value(left, wanted);
        let right = self.value(right, wanted);
        binary(self.log, op, left, right, span)
    }

    /// A call that gives a value.
    fn call_value(&mut self, name: &ast::Name, arguments: &[ast::Expr], span: Span) -> Pure {
        if let Some(op) = builtin(&name.text) {
            let Some((left, right)) = two(self.log, name, arguments) else { return Typed::wrong(span) };
            return self.operands(op, (left, right), span);
        }
        if let Some(update) = Update::by_name(&name.text) {
            return self.update(update, (name, arguments), span, Into::Temporary);
        }
        self.call((name, arguments), span, Wanted::Value(None))
    }

    /// A boolean that takes several steps to find out.
    fn decide(&mut self, expr: &ast::Expr, into: Option<RegisterId>) -> Pure {
        let result = into.unwrap_or_else(|| self.temporary(Some(Domain::Bool), Ty::Bool, expr.span));
        let (yes, no, after) = (self.cfg.node(), self.cfg.node(), self.cfg.node());
        self.condition(expr, Some(yes), Some(no));
        for (node, value) in [(yes, 1), (no, 0)] {
            self.cursor = node;
            self.step(Op::Assign(result, Expr::Const(value)), expr.span);
            self.merge(after);
        }
        Typed::new(Expr::Var(result), Ty::Bool, expr.span)
    }

    fn variable(&mut self, target: &TargetRef<'_>) -> Pure {
        let span = target.span;
        match self.resolve(target.name) {
            Meaning::Shared(shared) => match self.place(shared, target) {
                Some(place) => self.load(place, span),
                None => Typed::wrong(span),
            },
            Meaning::Wrong => Typed::wrong(span),
            Meaning::Const(..) | Meaning::Register(_) if target.index.is_some() => {
                let message = format!("`{}` is not an array", target.name.text);
                self.log.error(span, message, "use it without an index");
                Typed::wrong(span)
            }
            Meaning::Const(value, ty) => Typed::new(Expr::Const(value), ty, span),
            Meaning::Register(register) => {
                self.slot(register).is_read = true;
                let ty = self.slot(register).ty;
                Typed::new(Expr::Var(register), ty, span)
            }
            Meaning::Thread => self.no_value(target, "is a thread", "use a register or a shared variable"),
            Meaning::Function(_) => {
                let help = format!("call it: `{}(…)`", target.name.text);
                self.no_value(target, "is a function", &help)
            }
        }
    }

    fn no_value(&mut self, target: &TargetRef<'_>, is: &str, help: &str) -> Pure {
        self.log.error(target.span, format!("`{}` {is} and has no value", target.name.text), help);
        Typed::wrong(target.span)
    }

    fn load(&mut self, place: Place, span: Span) -> Pure {
        let domain = self.domain_of(&place);
        let register = self.temporary(Some(domain), Ty::of(domain), span);
        self.step(Op::Load(register, place), span);
        Typed::new(Expr::Var(register), Ty::of(domain), span)
    }

    fn any(&mut self, range: Option<&ast::Range>, wanted: Option<Domain>, span: Span) -> Pure {
        let Some((domain, lo, hi)) = self.any_of(range, wanted, span) else { return Typed::wrong(span) };
        let register = self.temporary(Some(domain), Ty::of(domain), span);
        self.step(Op::Havoc(register, lo, hi), span);
        Typed::new(Expr::Var(register), Ty::of(domain), span)
    }

    /// The values that `any` stands for.
    fn any_of(
        &mut self,
        own: Option<&ast::Range>,
        wanted: Option<Domain>,
        span: Span,
    ) -> Option<(Domain, Value, Value)> {
        if let Some(own) = own {
            let environment = self.environment();
            let (lo, hi) = range(self.log, &environment, own, "one value at least")?;
            return Some((Domain::Range(lo, hi), lo, hi));
        }
        let bounds = wanted.and_then(|domain| domain.bounds().map(|(lo, hi)| (domain, lo, hi)));
        if bounds.is_none() {
            self.log.error(span, "`any` of what?", "say the range: `any(0..3)`, or declare that of the variable");
        }
        bounds
    }

    /// Gives a register the value of an expression; without a step between where that changes nothing.
    pub(super) fn assign_register(&mut self, register: RegisterId, expr: &ast::Expr, statement: Span) {
        if let ExprKind::Paren(inner) = &expr.kind {
            return self.assign_register(register, inner, statement);
        }
        let declared = self.slot(register).domain;
        let wanted = declared.or((self.slot(register).ty == Ty::Bool).then_some(Domain::Bool));
        if !matches!(expr.kind, ExprKind::Any(_)) && self.needs_flow(expr) {
            if self.settle_type(register, Ty::Bool, expr.span) {
                self.decide(expr, Some(register));
            }
            return;
        }
        let value = match &expr.kind {
            ExprKind::Any(range) => return self.assign_any(register, range.as_deref(), expr.span, statement),
            ExprKind::Name(name) => return self.assign_variable(register, expr, (name, None), statement),
            ExprKind::Index(name, index) => {
                return self.assign_variable(register, expr, (name, Some(index)), statement);
            }
            ExprKind::Call(name, arguments) => match Update::by_name(&name.text) {
                Some(update) => self.update(update, (name, arguments), expr.span, Into::Register(register)),
                None if declared.is_none() && name.text != "cas" && builtin(&name.text).is_none() => {
                    self.call((name, arguments), expr.span, Wanted::Value(Some(register)))
                }
                None => self.value(expr, wanted),
            },
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Paren(_)
            | ExprKind::At(..)
            | ExprKind::Member(..) => self.value(expr, wanted),
        };
        self.put(register, value, statement);
    }

    fn assign_any(&mut self, register: RegisterId, range: Option<&ast::Range>, span: Span, statement: Span) {
        let declared = self.slot(register).domain;
        let wanted = declared.or((self.slot(register).ty == Ty::Bool).then_some(Domain::Bool));
        let Some((domain, lo, hi)) = self.any_of(range, wanted, span) else { return };
        if !self.settle_type(register, Ty::of(domain), span) {
            return;
        }
        if declared.is_none_or(|it| it.contains(lo) && it.contains(hi)) {
            return self.step(Op::Havoc(register, lo, hi), statement);
        }
        let value = self.any(range, wanted, span);
        self.put(register, value, statement);
    }

    fn assign_variable(
        &mut self,
        register: RegisterId,
        expr: &ast::Expr,
        (name, index): (&ast::Name, Option<&ast::Expr>),
        statement: Span,
    ) {
        let target = TargetRef { name, index, span: expr.span };
        if let Meaning::Shared(shared) = self.resolve(name) {
            let Some(place) = self.place(shared, &target) else { return };
            let domain = self.domain_of(&place);
            if !self.settle_type(register, Ty::of(domain), expr.span) {
                return;
            }
            if self.slot(register).domain.is_none_or(|declared| declared == domain) {
                return self.step(Op::Load(register, place), expr.span);
            }
            let value = self.load(place, expr.span);
            return self.put(register, value, statement);
        }
        let value = self.variable(&target);
        self.put(register, value, statement);
    }

    /// Assigns a value that is computed already.
    pub(super) fn put(&mut self, register: RegisterId, value: Pure, statement: Span) {
        // A call may have left its value in the register itself.
        let is_there = value.expr == Expr::Var(register);
        if is_there || value.ty == Ty::Unknown || !self.settle_type(register, value.ty, value.span) {
            return;
        }
        let declared = self.slot(register).domain;
        self.warn_outside(declared, &value);
        self.step(Op::Assign(register, value.expr), statement);
    }

    /// Warns of a constant that its target can never hold.
    pub(super) fn warn_outside(&mut self, domain: Option<Domain>, value: &Pure) {
        let Some((lo, hi)) = domain.and_then(Domain::bounds) else { return };
        let Some(constant) = value.constant().filter(|it| !(lo..=hi).contains(it)) else { return };
        let message = format!("the value {constant} is never in `{lo}..{hi}`");
        let warning = Diagnostic::warning(value.span, message);
        self.log.say(warning.with_help("reaching this is a violation: widen the range or mend the value"));
    }

    /// Gives a register its type if it has none yet; false if it has another, which is reported.
    pub(super) fn settle_type(&mut self, register: RegisterId, ty: Ty, span: Span) -> bool {
        let known = self.slot(register).ty;
        if known == Ty::Unknown {
            self.slot(register).ty = ty;
        }
        let fits = known == ty || known == Ty::Unknown || ty == Ty::Unknown;
        if !fits {
            let diagnostic = mismatch(self.log, known, ty, span);
            self.log.say(diagnostic);
        }
        fits
    }
}
