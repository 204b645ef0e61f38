//! Expressions in statements: every shared variable in them is a load, from left to right.

use crate::frontend::ast::{self, ExprKind};
use crate::frontend::hir::{self, Effect, EffectKind, LoadOrder, LocalId, Operand, Place};
use crate::program::{BinaryOp, Domain, Expr, Initial, UnaryOp, Value};
use crate::source::{Diagnostic, Span};
use crate::watch::heed;

use super::body::{Body, Meaning, TargetRef};
use super::calls::Wanted;
use super::constants::range;
use super::typed::{Ty, Typed, binary, builtin, mismatch, shifted, two, unary};
use super::updates;

/// An expression over registers and effects.
pub(super) type Pure = Typed<Operand>;

impl Body<'_, '_> {
    /// The value of an expression. `wanted` is what `any` stands for.
    pub(super) fn value(&mut self, expr: &ast::Expr, wanted: Option<Domain>) -> Pure {
        heed(2);
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value) | ExprKind::Based(value, _) => Typed::new(Expr::Const(*value), Ty::Int, span),
            ExprKind::Bool(value) => Typed::new(Expr::Const(Value::from(*value)), Ty::Bool, span),
            ExprKind::Paren(inner) => self.value(inner, wanted),
            ExprKind::Name(name) => self.variable(&TargetRef { name, index: &[], span }),
            ExprKind::Index(name, index) => self.variable(&TargetRef { name, index, span }),
            ExprKind::Any(range) => self.any(range.as_deref(), wanted, span),
            ExprKind::Unary(op, operand) => {
                let operand = self.value(operand, (*op == UnaryOp::Not).then_some(Domain::Bool));
                unary(self.log, *op, operand, span)
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) if self.needs_flow(expr) => self.decide(expr),
            ExprKind::Binary(op, left, right) => self.operands(*op, (left, right), span),
            ExprKind::Shift(shift, left, right) => {
                let left = self.value(left, None);
                let right = self.value(right, None);
                shifted(self.log, *shift, left, &right, span)
            }
            ExprKind::Conditional(it) => self.select(it, wanted, span),
            ExprKind::Call(name, _) if name.text == "cas" => self.decide(expr),
            ExprKind::Call(name, arguments) => self.call_value(name, arguments, span),
            ExprKind::At(..) | ExprKind::Count(..) | ExprKind::Member(..) => {
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
        if self.is_access(name, "load") {
            return self.ordered_load((name, arguments), span);
        }
        if self.is_access(name, "store") {
            self.log.error(span, "`store` has no value", "write it as a statement: `store(x, 1, release);`");
            return Typed::wrong(span);
        }
        if name.text == "cmpxchg" {
            return match self.compare_exchange((name, arguments), span) {
                Some((effect, domain)) => of_effect(effect, Ty::of(domain)),
                None => Typed::wrong(span),
            };
        }
        if let Some(update) = updates::by_name(&name.text) {
            return match self.update(update, (name, arguments), span) {
                Some((effect, domain)) => of_effect(effect, Ty::of(domain)),
                None => Typed::wrong(span),
            };
        }
        self.called((name, arguments), span, None)
    }

    /// The value of a call, which goes to a register if one is given.
    fn called(&mut self, call: updates::Call<'_>, span: Span, into: Option<LocalId>) -> Pure {
        match self.call(call, span, Wanted::Value(into)) {
            Some(call) => {
                let result = call.result.expect("a function without a value was refused");
                of_effect(Effect { span, kind: EffectKind::Call(call) }, self.registers[result].ty)
            }
            None => Typed::wrong(span),
        }
    }

    /// A boolean that takes several steps to find out.
    fn decide(&mut self, expr: &ast::Expr) -> Pure {
        let (condition, sides) = self.condition(expr);
        self.is_live = sides.any();
        self.foresee(expr.span);
        of_effect(Effect { span: expr.span, kind: EffectKind::Decide(condition) }, Ty::Bool)
    }

    /// `c ? a : b`: only the value that counts is found out.
    fn select(&mut self, it: &ast::Conditional, wanted: Option<Domain>, span: Span) -> Pure {
        let (condition, sides) = self.condition(&it.condition);
        self.is_live = sides.any();
        let then = self.value(&it.then, wanted);
        let ty = then.ty;
        let otherwise = self.value(&it.otherwise, wanted).expect(self.log, ty);
        if ty == Ty::Unknown || otherwise.ty == Ty::Unknown {
            return Typed::wrong(span);
        }
        self.foresee(it.then.span);
        self.foresee(it.otherwise.span);
        let select = hir::Select { condition, then: then.expr, otherwise: otherwise.expr, is_boolean: ty == Ty::Bool };
        of_effect(Effect { span, kind: EffectKind::Select(Box::new(select)) }, ty)
    }

    fn variable(&mut self, target: &TargetRef<'_>) -> Pure {
        let span = target.span;
        match self.resolve(target.name) {
            Meaning::Shared(shared) => match self.place(shared, target) {
                Some(place) => self.load(place, span),
                None => Typed::wrong(span),
            },
            Meaning::Wrong => Typed::wrong(span),
            Meaning::Cells(array) if !target.index.is_empty() => self.local_cell(&array, target),
            Meaning::Cells(_) => self.no_value(target, "is an array", "name a cell"),
            Meaning::Const(..) | Meaning::Register(_) if !target.index.is_empty() => {
                let message = format!("`{}` is not an array", target.name.text);
                self.log.error(span, message, "use it without an index");
                Typed::wrong(span)
            }
            Meaning::Const(value, ty) => Typed::new(Expr::Const(value), ty, span),
            Meaning::Register(register) => {
                let slot = &mut self.registers[register];
                slot.is_read = true;
                Typed::new(Expr::Var(Operand::Local(register)), slot.ty, span)
            }
            Meaning::Thread => self.no_value(target, "is a thread", "use a register or a shared variable"),
            Meaning::Enum => self.no_value(target, "is a type", "use one of its values"),
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

    /// The value of a place in memory.
    pub(super) fn load(&mut self, place: Place, span: Span) -> Pure {
        let domain = self.unit.domain_of(&place);
        if let Place::Fixed(x) = &place
            && let Initial::Value(value) = self.unit.memory().locations()[*x].initial
            && self.globals.is_constant(self.unit.memory(), &place)
        {
            return Typed::new(Expr::Const(value), Ty::of(domain), span);
        }
        self.foresee(span);
        of_effect(Effect { span, kind: EffectKind::Load(place, LoadOrder::Plain) }, Ty::of(domain))
    }

    fn any(&mut self, range: Option<&ast::Range>, wanted: Option<Domain>, span: Span) -> Pure {
        let Some((domain, lo, hi)) = self.any_of(range, wanted, span) else { return Typed::wrong(span) };
        self.foresee(span);
        of_effect(Effect { span, kind: EffectKind::Any(domain, lo, hi) }, Ty::of(domain))
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

    /// The value that a register gets, if it can hold it.
    pub(super) fn assigned(&mut self, register: LocalId, expr: &ast::Expr) -> Option<hir::Expr> {
        if let ExprKind::Paren(inner) = &expr.kind {
            return self.assigned(register, inner);
        }
        let declared = self.registers[register].domain;
        let wanted = declared.or((self.registers[register].ty == Ty::Bool).then_some(Domain::Bool));
        if !matches!(expr.kind, ExprKind::Any(_)) && self.needs_flow(expr) {
            let is_settled = self.settle_type(register, Ty::Bool, expr.span);
            return is_settled.then(|| self.decide(expr).expr);
        }
        let value = match &expr.kind {
            ExprKind::Call(name, arguments)
                if declared.is_none()
                    && updates::by_name(&name.text).is_none()
                    && !matches!(name.text.as_str(), "cas" | "cmpxchg")
                    && !self.is_access(name, "load")
                    && !self.is_access(name, "store")
                    && builtin(&name.text).is_none() =>
            {
                self.called((name, arguments), expr.span, Some(register))
            }
            ExprKind::Any(_)
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Call(..)
            | ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Paren(_)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => self.value(expr, wanted),
        };
        self.put(register, value)
    }

    /// A value for a register, if that can hold it.
    pub(super) fn put(&mut self, register: LocalId, value: Pure) -> Option<hir::Expr> {
        if value.ty == Ty::Unknown || !self.settle_type(register, value.ty, value.span) {
            return None;
        }
        let declared = self.registers[register].domain;
        self.warn_outside(declared, &value);
        self.foresee(value.span);
        Some(value.expr)
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
    pub(super) fn settle_type(&mut self, register: LocalId, ty: Ty, span: Span) -> bool {
        let known = self.registers[register].ty;
        if known == Ty::Unknown {
            self.registers[register].ty = ty;
        }
        let fits = known == ty || known == Ty::Unknown || ty == Ty::Unknown;
        if !fits {
            let diagnostic = mismatch(self.log, known, ty, span);
            self.log.say(diagnostic);
        }
        fits
    }
}

/// What comes of an effect.
fn of_effect(effect: Effect, ty: Ty) -> Pure {
    let span = effect.span;
    Typed::new(Expr::Var(Operand::Effect(Box::new(effect))), ty, span)
}
