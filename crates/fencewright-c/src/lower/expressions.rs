//! Expressions: what each of them is worth, once its effects are done.

use std::rc::Rc;

use fencewright::frontend::hir::{EffectKind, Expr, First, LocalId, Operand, StmtKind, Update, UpdateOrder};
use fencewright::program::{self, Misuse, UnaryOp as Negation};
use fencewright::source::Span;

use crate::ast::{self, BinaryOp, ExprKind, UnaryOp};
use crate::names;
use crate::types::{Integer, Qualified, Type};

use super::Lowering;
use super::conditions::is_comparison;
use super::places::{Named, Orders, is_in, plus, test};
use super::thread::{IsSet, Storage, VariableId};
use super::value::{Pointer, Points, Value};

impl<'a> Lowering<'a> {
    /// The value of an expression.
    pub(super) fn value(&mut self, it: &'a ast::Expr) -> Option<Value> {
        fencewright::watch::heed(4);
        let span = it.span;
        if is_condition(&it.kind) {
            return self.truth(it);
        }
        match &it.kind {
            ExprKind::Integer { value, bits, is_signed } => self.literal(*value, *bits, *is_signed, span),
            ExprKind::String(_) => Some(text()),
            ExprKind::Float(words) => self.refuse(span, &format!("`{words}` is no integer"), "use integers"),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Unary(op, operand) => {
                let (value, ty) = self.number(operand)?;
                Some(negative(*op, value, ty.promoted()))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = self.operands(left, right, span)?;
                self.binary(*op, left, right, span)
            }
            ExprKind::Conditional(condition, then, otherwise) => self.conditional(condition, then, otherwise, span),
            ExprKind::Assign(op, to, value) => self.assign(*op, to, value, span),
            ExprKind::Step { operand, is_increment, is_prefix } => {
                self.step(operand, if *is_increment { BinaryOp::Add } else { BinaryOp::Sub }, *is_prefix, span)
            }
            ExprKind::Comma(first, second) => {
                self.value(first)?;
                self.value(second)
            }
            ExprKind::Call(function, arguments) => self.call(function, arguments, span),
            ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Compound(..) => self.loaded(it),
            ExprKind::AddressOf(of) => self.address(of),
            ExprKind::Cast(ty, operand) => {
                let ty = self.type_named(ty)?;
                let value = self.value(operand)?;
                self.cast(value, &ty, span)
            }
            ExprKind::SizeOfType(ty) => self.type_named(ty).map(|it| size(self.names.size(&it.ty))),
            ExprKind::SizeOf(of) => self.type_of(of).map(|it| size(self.names.size(&it.ty))),
            ExprKind::Statements(all) => self.statement_expression(all),
            ExprKind::And(..) | ExprKind::Or(..) => self.truth(it),
            ExprKind::Type(_) => self.refuse(span, "a type is no value", "name a value"),
        }
    }

    /// Both operands, from left to right.
    pub(super) fn operands(&mut self, left: &'a ast::Expr, right: &'a ast::Expr, span: Span) -> Option<(Value, Value)> {
        let first = self.mark();
        let value = self.value(left)?;
        let second = self.mark();
        let value = self.settled_before(value, right, span);
        let other = self.value(right)?;
        let (left, right) = (self.touched(first, second), self.touched(second, self.mark()));
        self.in_either_order(&left, &right, span)?;
        Some((value, other))
    }

    /// What is kept where an expression says.
    fn loaded(&mut self, it: &'a ast::Expr) -> Option<Value> {
        if let ExprKind::Deref(of) = &it.kind
            && let Some(name) = self.function_named(of)
        {
            return Some(Value::Function(name));
        }
        let named = self.named(it)?;
        self.load(&named, Orders::of(named.ty()).load, it.span)
    }

    /// The value of an expression that is a number.
    pub(super) fn number(&mut self, it: &'a ast::Expr) -> Option<(Expr, Integer)> {
        let value = self.value(it)?;
        self.as_number(value, it.span)
    }

    /// A value as a number.
    pub(super) fn as_number(&mut self, value: Value, span: Span) -> Option<(Expr, Integer)> {
        match value {
            Value::Number(expr, ty) => Some((expr, ty)),
            Value::Pointer(Pointer { what: Points::Integer(expr), .. }) => {
                Some((expr, Integer { bits: 64, is_signed: true }))
            }
            Value::Pointer(Pointer { what: Points::Null, .. }) => {
                Some((Expr::Const(0), Integer { bits: 64, is_signed: true }))
            }
            Value::Pointer(_) | Value::Function(_) | Value::Structure(_) | Value::Void => {
                self.log.error(span, "this is no number", "a number is needed here");
                None
            }
        }
    }

    fn literal(&mut self, value: u64, bits: u8, is_signed: bool, span: Span) -> Option<Value> {
        // All ones are only ever compared with.
        let number = if value == u64::MAX { Some(-1) } else { i64::try_from(value).ok() };
        match number {
            Some(number) => Some(Value::Number(Expr::Const(number), Integer { bits, is_signed })),
            None => self.refuse(span, &format!("{value} is too large"), "numbers have 63 bits here"),
        }
    }

    fn name(&mut self, name: &ast::Name) -> Option<Value> {
        if self.state.variable(&name.text).is_none() && !self.globals.contains_key(&name.text) {
            if let Some(&value) = self.names.constants.get(&name.text) {
                return Some(Value::int(value));
            }
            if let Some(value) = super::system::constant(&name.text) {
                return Some(Value::int(value));
            }
            if self.functions.contains_key(name.text.as_str()) {
                return Some(Value::Function(name.text.clone()));
            }
        }
        let named = self.by_name(name)?;
        self.load(&named, Orders::of(named.ty()).load, name.span)
    }

    pub(super) fn unknown_name(&mut self, name: &ast::Name) {
        let text = &name.text;
        if self.declared.contains_key(text) {
            return self.log.error(name.span, format!("the function `{text}` has no body"), "define it in this text");
        }
        self.log.error(name.span, format!("unknown name `{text}`"), "declare it, or include the file that does");
    }

    /// The name of a function, if the expression is one.
    pub(super) fn function_named(&mut self, it: &ast::Expr) -> Option<String> {
        let ExprKind::Name(name) = &it.kind else { return None };
        let is_hidden = self.state.variable(&name.text).is_some() || self.globals.contains_key(&name.text);
        (!is_hidden && self.functions.contains_key(name.text.as_str())).then(|| name.text.clone())
    }

    fn address(&mut self, of: &'a ast::Expr) -> Option<Value> {
        if let Some(name) = self.function_named(of) {
            return Some(Value::Function(name));
        }
        let named = self.named(of)?;
        let to = Rc::clone(named.ty());
        let what = match named {
            Named::Target(target) => Points::Known(target),
            Named::Through(it) if it.fields.is_empty() && it.indices.is_empty() => Points::Dynamic(it.pointer),
            Named::Through(it) => Points::Part(Box::new(it)),
        };
        Some(Value::Pointer(Pointer { to, what }))
    }

    /// `a op b`
    pub(super) fn binary(&mut self, op: BinaryOp, left: Value, right: Value, span: Span) -> Option<Value> {
        let is_pointer = |it: &Value| matches!(it, Value::Pointer(it) if !matches!(it.what, Points::Integer(_)));
        if op == BinaryOp::Add && is_pointer(&left) {
            return self.moved(left, right, false, span);
        }
        if op == BinaryOp::Add && is_pointer(&right) {
            return self.moved(right, left, false, span);
        }
        if op == BinaryOp::Sub && is_pointer(&left) && !is_pointer(&right) {
            return self.moved(left, right, true, span);
        }
        let (a, left) = self.as_number(left, span)?;
        let (b, right) = self.as_number(right, span)?;
        let is_shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        let ty = if is_shift { left.promoted() } else { left.common(right) };
        if let (Expr::Const(a), Expr::Const(b)) = (&a, &b)
            && let Some(value) = names::binary(op, *a, *b)
        {
            let value = wrapped(Expr::Const(value), ty);
            self.must_fit(op, &value, ty, span);
            return Some(Value::Number(value, ty));
        }
        let plain = |op| Some(Expr::binary(op, a.clone(), b.clone()));
        let expr = match op {
            BinaryOp::Add => Some(wrapped(plus(a.clone(), b.clone()), ty)),
            BinaryOp::Sub => plain(program::BinaryOp::Sub).map(|it| wrapped(it, ty)),
            BinaryOp::Mul => plain(program::BinaryOp::Mul).map(|it| wrapped(it, ty)),
            BinaryOp::Div => plain(program::BinaryOp::Div),
            BinaryOp::Rem => plain(program::BinaryOp::Rem),
            BinaryOp::BitAnd => plain(program::BinaryOp::BitAnd),
            BinaryOp::BitOr => plain(program::BinaryOp::BitOr),
            BinaryOp::BitXor => plain(program::BinaryOp::BitXor),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => self.shifted(op, a, &b, ty, span),
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual => Some(super::conditions::compared(op, a, b)),
        };
        let expr = expr?;
        self.must_fit(op, &expr, ty, span);
        let ty = if is_comparison(op) { Integer::INT } else { ty };
        Some(Value::Number(expr, ty))
    }

    /// A signed result must not leave its type.
    fn must_fit(&mut self, op: BinaryOp, result: &Expr, ty: Integer, span: Span) {
        let is_sum = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        if !is_sum || !ty.is_signed || ty.bits >= 64 {
            return;
        }
        let (least, most) = (-(1_i64 << (ty.bits - 1)), (1_i64 << (ty.bits - 1)) - 1);
        if matches!(result, Expr::Const(it) if (least..=most).contains(it)) {
            return;
        }
        let is_over = Expr::binary(program::BinaryOp::Le, Expr::Const(least), result.clone());
        let is_under = Expr::binary(program::BinaryOp::Le, result.clone(), Expr::Const(most));
        let fits = Expr::binary(program::BinaryOp::And, is_over, is_under);
        self.state.emit(StmtKind::Check(test(fits, span), Misuse::SignedOverflow), span);
    }

    fn shifted(&mut self, op: BinaryOp, a: Expr, by: &Expr, ty: Integer, span: Span) -> Option<Expr> {
        let Expr::Const(by @ 0..=62) = by else {
            let help = "shift by a constant from 0 to 62";
            self.log.error(span, "a shift by a number that is not known", help);
            return None;
        };
        let power = 1_i64 << by;
        if op == BinaryOp::ShiftLeft {
            return Some(wrapped(Expr::binary(program::BinaryOp::Mul, a, Expr::Const(power)), ty));
        }
        // Without what is shifted out it is a multiple, and division is exact, below zero as well.
        let out = Expr::binary(program::BinaryOp::BitAnd, a.clone(), Expr::Const(power - 1));
        let kept = if ty.is_signed { Expr::binary(program::BinaryOp::Sub, a, out) } else { a };
        Some(Expr::binary(program::BinaryOp::Div, kept, Expr::Const(power)))
    }

    /// A pointer so many elements further on.
    pub(super) fn moved(&mut self, pointer: Value, by: Value, is_back: bool, span: Span) -> Option<Value> {
        let (by, _) = self.as_number(by, span)?;
        let by = match by {
            Expr::Const(by) if is_back => Expr::Const(-by),
            by @ Expr::Const(_) | by @ Expr::Var(_) | by @ Expr::Unary(..) | by @ Expr::Binary(..) if is_back => {
                Expr::unary(Negation::Neg, by)
            }
            by @ Expr::Const(_) | by @ Expr::Var(_) | by @ Expr::Unary(..) | by @ Expr::Binary(..) => by,
        };
        let Value::Pointer(Pointer { to, what }) = pointer else {
            return self.refuse(span, "this is no pointer", "only pointers and arrays have elements");
        };
        let what = match what {
            Points::Known(mut target) if target.is_element => {
                let last = target.indices.pop().expect("an element has an index");
                let index = self.state.settled(plus(last, by), span);
                target.indices.push(index);
                Points::Known(target)
            }
            what if matches!(by, Expr::Const(0)) => what,
            Points::Integer(it) => Points::Integer(plus(it, by)),
            Points::Dynamic(it) => Points::Dynamic(self.moved_within(it, by, &to, span)),
            Points::Null | Points::Known(_) | Points::Part(_) => {
                let help = "index the array by name, or pass it to the function that does";
                return self.refuse(span, "arithmetic on a pointer that is not known to be in an array", help);
            }
        };
        Some(Value::Pointer(Pointer { to, what }))
    }

    /// The same for a pointer that is a number: neighbours have neighbouring numbers, and it stays in its array or gets
    /// right behind it.
    fn moved_within(&mut self, pointer: Expr, by: Expr, to: &Qualified, span: Span) -> Expr {
        self.leave_alone();
        let pointer = self.state.settled(pointer, span);
        let moved = self.state.settled(plus(pointer.clone(), by), span);
        let runs = self.known.numbers.of_type(&to.ty, &self.memory, &self.names);
        let stays = runs.iter().fold(Expr::Const(0), |before, run| {
            let stays = match run.is_pool {
                true => Expr::binary(program::BinaryOp::Eq, moved.clone(), pointer.clone()),
                false => is_in(run, &moved, 1),
            };
            let stays = Expr::binary(program::BinaryOp::And, is_in(run, &pointer, 0), stays);
            Expr::binary(program::BinaryOp::Or, before, stays)
        });
        self.state.emit(StmtKind::Check(test(stays, span), Misuse::OutsideObject), span);
        moved
    }

    fn conditional(
        &mut self,
        condition: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Option<Value> {
        let condition = self.condition(condition)?;
        if let Some(holds) = super::conditions::known(&condition) {
            return self.value(if holds { then } else { otherwise });
        }
        let (ty, result) = (self.type_of(then)?, self.state.temporary(span));
        let other = self.type_of(otherwise)?;
        let ty = if matches!(other.ty, Type::Pointer(_)) && !matches!(ty.ty, Type::Pointer(_)) { other } else { ty };
        self.state.emit(StmtKind::Let(result, First::Constant(0)), span);
        let was_straight = self.branch();
        let mut blocks = Vec::new();
        for side in [then, otherwise] {
            self.state.open();
            let raw = self.value(side).and_then(|value| self.raw(value, &ty, side.span));
            if let Some(raw) = &raw {
                self.state.emit(StmtKind::Assign(result, raw.clone()), side.span);
            }
            blocks.push(self.state.close());
            raw?;
        }
        self.state.is_straight = was_straight;
        let otherwise = blocks.pop()?;
        self.state.emit(StmtKind::If(vec![(condition, blocks.pop()?)], otherwise), span);
        self.state.stable.insert(result);
        Some(self.typed(Expr::Var(Operand::Local(result)), &ty))
    }

    fn assign(&mut self, op: Option<BinaryOp>, to: &'a ast::Expr, value: &'a ast::Expr, span: Span) -> Option<Value> {
        if let Some(op) = op {
            let value = self.value(value)?;
            return self.modify(to, op, &value, true, span);
        }
        let value = self.value(value)?;
        let named = self.named(to)?;
        let value = match value {
            Value::Structure(_) => value,
            value @ Value::Number(..)
            | value @ Value::Pointer(_)
            | value @ Value::Function(_)
            | value @ Value::Void => self.converted(value, &Rc::clone(named.ty())),
        };
        self.store(&named, Orders::of(named.ty()).store, value.clone(), span)?;
        Some(value)
    }

    fn step(&mut self, operand: &'a ast::Expr, op: BinaryOp, is_prefix: bool, span: Span) -> Option<Value> {
        self.modify(operand, op, &Value::int(1), is_prefix, span)
    }

    /// `a op= b`: an atomic variable is changed in one step. The new value or the old one.
    fn modify(&mut self, to: &'a ast::Expr, op: BinaryOp, by: &Value, is_new: bool, span: Span) -> Option<Value> {
        let named = self.named(to)?;
        let ty = Rc::clone(named.ty());
        if ty.is_atomic
            && !self.state.is_alone
            && let Some(fetch) = fetched(op)
        {
            let (by, _) = self.as_number(by.clone(), span)?;
            let old = self.update(&named, UpdateOrder::SeqCst, wrapping(fetch, &ty.ty), &by, span)?;
            let old = self.typed(old, &ty);
            return if is_new {
                let integer = Value::Number(by, ty.ty.integer().unwrap_or(Integer::INT));
                self.binary(op, old, integer, span)
            } else {
                Some(old)
            };
        }
        let old = self.load(&named, Orders::of(&ty).load, span)?;
        let old = self.settled_value(old, span);
        let new = self.binary(op, old.clone(), by.clone(), span)?;
        let new = self.converted(new, &ty);
        self.store(&named, Orders::of(&ty).store, new.clone(), span)?;
        Some(if is_new { new } else { old })
    }

    /// An update in one step, by its old value.
    pub(super) fn update(
        &mut self,
        named: &Named,
        order: UpdateOrder,
        update: Update,
        by: &Expr,
        span: Span,
    ) -> Option<Expr> {
        self.at_each(named, span, &mut |it, target| {
            it.note_access(target, true);
            it.note_write(target);
            let place = it.place(target, span)?;
            let old = it.state.kept(EffectKind::Update(place.clone(), order, update, by.clone()), span);
            Some(it.is_set(target, (old, place), span))
        })
    }

    /// A value that is looked at behind another expression, which may change what it is made of.
    pub(super) fn settled_before(&mut self, value: Value, other: &ast::Expr, span: Span) -> Value {
        if super::typing::may_change(other) { self.settled_value(value, span) } else { value }
    }

    /// A value that nothing changes any more.
    pub(super) fn settled_value(&mut self, value: Value, span: Span) -> Value {
        match value {
            Value::Number(expr, ty) => Value::Number(self.state.settled(expr, span), ty),
            Value::Pointer(Pointer { to, what: Points::Dynamic(expr) }) => {
                Value::Pointer(Pointer { to, what: Points::Dynamic(self.state.settled(expr, span)) })
            }
            value @ Value::Pointer(_)
            | value @ Value::Function(_)
            | value @ Value::Structure(_)
            | value @ Value::Void => value,
        }
    }

    /// The register of a variable; one whose value was known gets one.
    pub(super) fn register_of(&mut self, id: VariableId, span: Span) -> LocalId {
        let variable = &self.state.variables[id.0];
        match variable.storage.clone() {
            Storage::Register(local) => local,
            Storage::Known(value) => {
                let (name, ty) = (variable.name.clone(), Rc::clone(&variable.ty));
                let declared = variable.span;
                let raw = self.raw(value, &ty, span).unwrap_or(Expr::Const(0));
                let local = self.state.thread.register(&name, declared);
                let first = match raw {
                    Expr::Const(value) => First::Constant(value),
                    raw @ Expr::Var(_) | raw @ Expr::Unary(..) | raw @ Expr::Binary(..) => First::Value(raw),
                };
                self.state.emit(StmtKind::Let(local, first), span);
                self.state.variables[id.0].storage = Storage::Register(local);
                if self.state.variables[id.0].is_set == IsSet::Known(false) {
                    let is_set = self.set_register(false, span);
                    self.state.variables[id.0].is_set = IsSet::Register(is_set);
                }
                local
            }
            Storage::Object(_) => unreachable!("a variable in memory is no variable base"),
        }
    }

    /// What cannot be said here.
    pub(super) fn refuse<T>(&mut self, span: Span, message: &str, help: &str) -> Option<T> {
        self.log.error(span, message, help);
        None
    }
}

/// Whether an expression is worth 0 or 1.
fn is_condition(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Unary(UnaryOp::Not, _) | ExprKind::And(..) | ExprKind::Or(..))
        || matches!(kind, ExprKind::Binary(op, ..) if is_comparison(*op))
}

/// A text, of which nothing is known but that it is somewhere.
fn text() -> Value {
    let to = Rc::new(Type::Integer(Integer { bits: 8, is_signed: true }).plain());
    Value::Pointer(Pointer { to, what: Points::Integer(Expr::Const(1)) })
}

fn size(bytes: i64) -> Value {
    Value::Number(Expr::Const(bytes), Integer { bits: 64, is_signed: false })
}

/// The operator of an update in one step.
pub(super) fn fetched(op: BinaryOp) -> Option<program::BinaryOp> {
    match op {
        BinaryOp::Add => Some(program::BinaryOp::Add),
        BinaryOp::Sub => Some(program::BinaryOp::Sub),
        BinaryOp::BitAnd => Some(program::BinaryOp::BitAnd),
        BinaryOp::BitOr => Some(program::BinaryOp::BitOr),
        BinaryOp::BitXor => Some(program::BinaryOp::BitXor),
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual => None,
    }
}

/// The update that applies an operator: a narrow unsigned sum wraps. That a wide one leaves its type is told.
pub(super) fn wrapping(op: program::BinaryOp, ty: &Type) -> Update {
    let is_sum = matches!(op, program::BinaryOp::Add | program::BinaryOp::Sub);
    match ty.integer().filter(|it| is_sum && it.bits <= 16).and_then(Integer::mask) {
        Some(mask) => Update::Wrapping(op, mask),
        None => Update::Fetch(op),
    }
}

fn negative(op: UnaryOp, it: Expr, ty: Integer) -> Value {
    let expr = match (op, it) {
        (_, Expr::Const(it)) => Expr::Const(names::unary(op, it).unwrap_or(0)),
        (UnaryOp::Minus, it) => Expr::unary(Negation::Neg, it),
        // In two's complement.
        (UnaryOp::Complement, it) => {
            Expr::binary(program::BinaryOp::Sub, Expr::unary(Negation::Neg, it), Expr::Const(1))
        }
        (UnaryOp::Plus | UnaryOp::Not, it) => it,
    };
    Value::Number(wrapped(expr, ty), ty)
}

/// What is left of a number in its type: an unsigned one wraps.
pub(super) fn wrapped(expr: Expr, ty: Integer) -> Expr {
    let Some(mask) = ty.mask() else { return expr };
    match expr {
        Expr::Const(it) => Expr::Const(it & mask),
        expr @ Expr::Var(_) | expr @ Expr::Unary(..) | expr @ Expr::Binary(..) => {
            Expr::binary(program::BinaryOp::BitAnd, expr, Expr::Const(mask))
        }
    }
}
