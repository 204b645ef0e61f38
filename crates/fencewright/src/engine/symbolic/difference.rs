//! Expressions as difference constraints: what a zone can say.
//!
//! ```text
//!    condition  ⟶  disjunction of conjunctions of  x - y ≤ c
//!    value      ⟶  cases, each a conjunction and a value  x + c
//! ```
//!
//! `≠` is two cases, and so are `min` and `max`; a boolean is 1 in some cases and 0 in the others. What is no
//! difference is split by the values of a variable with a small range, if it has one. Otherwise it is a linear
//! constraint for those who take such ([`Arithmetic`]), and [`Beyond`] the others.

use crate::engine::symbolic::division::is_commutative;
use crate::engine::symbolic::linear::Linear;
use crate::program::{BinaryOp, Expr, UnaryOp, Value};

/// A variable plus a constant, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sum<V> {
    /// The variable, if there is one.
    pub var: Option<V>,
    /// What is added.
    pub plus: Value,
}

impl<V> Sum<V> {
    /// A variable.
    pub(crate) const fn var(variable: V) -> Self {
        Self { var: Some(variable), plus: 0 }
    }
}

/// `left - right ≤ bound`, where no variable stands for 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AtMost<V> {
    /// What is bounded.
    pub left: Option<V>,
    /// Relative to this.
    pub right: Option<V>,
    /// By this.
    pub bound: Value,
}

/// `variable ≡ remainder (mod modulus)`; all of a program have the same modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Remainder<V> {
    /// What is divided.
    pub variable: V,
    /// By this.
    pub modulus: Value,
    /// What is left, from 0 to below the modulus.
    pub remainder: Value,
}

impl<V: Copy> Remainder<V> {
    /// The same of another name for the variable.
    pub(crate) fn of<W>(&self, name: impl Fn(V) -> W) -> Remainder<W> {
        Remainder { variable: name(self.variable), modulus: self.modulus, remainder: self.remainder }
    }
}

/// All of them hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conjunction<V> {
    /// Differences.
    pub differences: Vec<AtMost<V>>,
    /// Remainders.
    pub remainders: Vec<Remainder<V>>,
    /// These are at most 0; none for those who take differences only.
    pub rows: Vec<Linear<V>>,
}

impl<V> Default for Conjunction<V> {
    fn default() -> Self {
        Self { differences: Vec::new(), remainders: Vec::new(), rows: Vec::new() }
    }
}

impl<V: Clone> Conjunction<V> {
    /// Both hold.
    #[must_use]
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            differences: [&self.differences[..], &other.differences].concat(),
            remainders: [&self.remainders[..], &other.remainders].concat(),
            rows: [&self.rows[..], &other.rows].concat(),
        }
    }
}

/// A linear expression, and when it is the value.
pub(crate) type Case<V> = (Conjunction<V>, Linear<V>);

/// What arithmetic is taken where no range is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// Conditions `x - y ≤ c` and values `x + c`.
    Differences,
    /// All linear conditions and values.
    Linear,
}

/// An expression that cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beyond;

/// More cases than this are not worth it.
const MAX_CASES: usize = 1_024;

/// A variable with more values than this is not split.
pub(super) const MAX_SPLIT: Value = 32;

/// Turns expressions into differences.
pub(crate) struct Differences<'a, V> {
    /// The least and greatest value of a variable, if there are such.
    pub domain: &'a dyn Fn(V) -> Option<(Value, Value)>,
    /// What is taken besides differences.
    pub arithmetic: Arithmetic,
    /// What remainders are by; 1 if there are none.
    pub modulus: Value,
}

/// Whether a linear expression may be refused, so that it is split.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    MayRefuse,
    Last,
}

impl<V: Copy + Ord> Differences<'_, V> {
    /// The values of an expression, by cases that exclude each other and leave nothing out.
    pub(crate) fn values(&self, expr: &Expr<V>) -> Result<Vec<Case<V>>, Beyond> {
        let mut cases = Vec::new();
        for (when, value) in self.linear(expr)? {
            self.split(&when, &value, &mut |when, value, choice| {
                let is_taken = choice == Choice::Last || value.as_sum().is_some();
                if is_taken {
                    cases.push((when, value));
                }
                Ok(is_taken)
            })?;
        }
        limited(cases)
    }

    /// When a condition holds, or does not.
    pub(crate) fn holds(&self, expr: &Expr<V>, wanted: bool) -> Result<Vec<Conjunction<V>>, Beyond> {
        match expr {
            Expr::Unary(UnaryOp::Not, operand) => self.holds(operand, !wanted),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                // The value of the left side that decides, whatever the right side is.
                let decisive = *op == BinaryOp::Or;
                let open = self.both(left, !decisive, right, wanted)?;
                let decided = if wanted == decisive { self.holds(left, decisive)? } else { Vec::new() };
                limited([decided, open].concat())
            }
            Expr::Binary(op, left, right) if op.is_boolean() => {
                let mut all = Vec::new();
                for (when, difference) in self.difference(left, right)? {
                    all.extend(self.compare(when, &difference, *op, wanted)?);
                }
                limited(all)
            }
            Expr::Const(_) | Expr::Var(_) | Expr::Unary(UnaryOp::Neg, _) | Expr::Binary(..) => {
                let mut all = Vec::new();
                for (when, value) in self.linear(expr)? {
                    all.extend(self.compare(when, &value, BinaryOp::Ne, wanted)?);
                }
                limited(all)
            }
        }
    }

    fn both(&self, left: &Expr<V>, l: bool, right: &Expr<V>, r: bool) -> Result<Vec<Conjunction<V>>, Beyond> {
        let (lefts, rights) = (self.holds(left, l)?, self.holds(right, r)?);
        limited(lefts.iter().flat_map(|left| rights.iter().map(move |right| left.and(right))).collect())
    }

    /// The cases of `left - right`.
    fn difference(&self, left: &Expr<V>, right: &Expr<V>) -> Result<Vec<Case<V>>, Beyond> {
        let (lefts, rights) = (self.linear(left)?, self.linear(right)?);
        pairs(&lefts, &rights, |left, right| left.plus(right, -1).ok_or(Beyond))
    }

    /// When `difference op 0` has the wanted value.
    pub(super) fn compare(
        &self,
        when: Conjunction<V>,
        difference: &Linear<V>,
        op: BinaryOp,
        wanted: bool,
    ) -> Result<Vec<Conjunction<V>>, Beyond> {
        // Each alternative bounds the difference from above, or its negation, or both.
        let (at_most, at_least): (Option<Value>, Option<Value>) = match (op, wanted) {
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) => (Some(0), None),
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (Some(-1), None),
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => (None, Some(0)),
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (None, Some(1)),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => (Some(0), Some(0)),
            _ => {
                let mut below = self.compare(when.clone(), difference, BinaryOp::Lt, true)?;
                below.extend(self.compare(when, difference, BinaryOp::Gt, true)?);
                return Ok(below);
            }
        };
        let mut all = Vec::new();
        self.split(&when, difference, &mut |mut when, value, choice| {
            let negated = Linear::constant(0).plus(&value, -1).ok_or(Beyond)?;
            let sides = [(at_most, &value), (at_least.map(|least| -least), &negated)];
            for (bound, side) in sides.into_iter().filter_map(|(bound, side)| bound.map(|bound| (bound, side))) {
                match bounded(side, bound)? {
                    Bounded::Always => {}
                    Bounded::Never => return Ok(true),
                    Bounded::If(atom) => when.differences.push(atom),
                    Bounded::NoDifference if choice == Choice::MayRefuse => return Ok(false),
                    Bounded::NoDifference => {
                        when.rows.push(side.plus(&Linear::constant(bound), -1).ok_or(Beyond)?);
                    }
                }
            }
            all.push(when);
            Ok(true)
        })?;
        Ok(all)
    }

    /// Calls `take` with a linear expression, or, as long as it refuses, with its cases by the values of a variable.
    fn split(
        &self,
        when: &Conjunction<V>,
        value: &Linear<V>,
        take: &mut dyn FnMut(Conjunction<V>, Linear<V>, Choice) -> Result<bool, Beyond>,
    ) -> Result<(), Beyond> {
        if take(when.clone(), value.clone(), Choice::MayRefuse)? {
            return Ok(());
        }
        let Some((variable, (lo, hi))) = self.smallest(value) else {
            let is_taken = self.arithmetic == Arithmetic::Linear && take(when.clone(), value.clone(), Choice::Last)?;
            return is_taken.then_some(()).ok_or(Beyond);
        };
        for known in lo..=hi {
            let value = value.with(variable, known).ok_or(Beyond)?;
            let mut when = when.clone();
            when.differences.extend(is(variable, known)?);
            self.split(&when, &value, take)?;
        }
        Ok(())
    }

    /// The variable of an expression that has the fewest values, if they are few.
    pub(super) fn smallest(&self, value: &Linear<V>) -> Option<(V, (Value, Value))> {
        let variables = value.coefficients.iter().filter_map(|&(it, _)| Some((it, (self.domain)(it)?)));
        let size = |(_, (lo, hi)): &(V, (Value, Value))| hi.saturating_sub(*lo);
        variables.min_by_key(size).filter(|it| size(it) <= MAX_SPLIT)
    }

    /// The linear expressions that an expression is, by cases.
    fn linear(&self, expr: &Expr<V>) -> Result<Vec<Case<V>>, Beyond> {
        match expr {
            Expr::Const(value) => Ok(vec![(Conjunction::default(), Linear::constant(*value))]),
            Expr::Var(variable) => Ok(vec![(Conjunction::default(), Linear::var(*variable))]),
            Expr::Unary(UnaryOp::Neg, operand) => {
                let negated = |it: &Linear<V>| Linear::constant(0).plus(it, -1).ok_or(Beyond);
                self.linear(operand)?.into_iter().map(|(when, it)| Ok((when, negated(&it)?))).collect()
            }
            Expr::Unary(UnaryOp::Not, _) => self.truth(expr),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                // As it is evaluated: what the right side is, unless the left side decides.
                let decisive = *op == BinaryOp::Or;
                let decided = self.holds(left, decisive)?.into_iter();
                let mut cases: Vec<_> = decided.map(|when| (when, Linear::constant(Value::from(decisive)))).collect();
                let rights = self.linear(right)?;
                for open in self.holds(left, !decisive)? {
                    let with = |(when, value): &Case<V>| (open.and(when), value.clone());
                    cases.extend(rights.iter().map(with));
                }
                limited(cases)
            }
            Expr::Binary(op, left, right) => {
                let (lefts, rights) = (self.linear(left)?, self.linear(right)?);
                match op {
                    BinaryOp::Add => pairs(&lefts, &rights, |l, r| l.plus(r, 1).ok_or(Beyond)),
                    BinaryOp::Sub => pairs(&lefts, &rights, |l, r| l.plus(r, -1).ok_or(Beyond)),
                    BinaryOp::Min | BinaryOp::Max => self.extreme(&lefts, &rights, *op),
                    BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => self.applied(&lefts, &rights, *op),
                    BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => self.applied(&lefts, &rights, *op),
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => self.truth(expr),
                    BinaryOp::Gt | BinaryOp::Ge | BinaryOp::And | BinaryOp::Or => self.truth(expr),
                }
            }
        }
    }

    /// A condition as 0 or 1.
    fn truth(&self, expr: &Expr<V>) -> Result<Vec<Case<V>>, Beyond> {
        let mut cases = Vec::new();
        for wanted in [true, false] {
            let value = Linear::constant(Value::from(wanted));
            cases.extend(self.holds(expr, wanted)?.into_iter().map(|when| (when, value.clone())));
        }
        Ok(cases)
    }

    /// The smaller or the greater of two.
    fn extreme(&self, lefts: &[Case<V>], rights: &[Case<V>], op: BinaryOp) -> Result<Vec<Case<V>>, Beyond> {
        let mut cases = Vec::new();
        for ((when_left, left), (when_right, right)) in lefts.iter().flat_map(|l| rights.iter().map(move |r| (l, r))) {
            let when = when_left.and(when_right);
            let difference = left.plus(right, -1).ok_or(Beyond)?;
            for left_is_less in [true, false] {
                let value = if left_is_less == (op == BinaryOp::Min) { left } else { right };
                let order = self.compare(when.clone(), &difference, BinaryOp::Le, left_is_less)?;
                cases.extend(order.into_iter().map(|when| (when, value.clone())));
            }
        }
        limited(cases)
    }

    /// An operator that is linear only if one side is a constant, or not at all: sides are split as far as needed, or
    /// looked at by quotients or remainders.
    fn applied(&self, lefts: &[Case<V>], rights: &[Case<V>], op: BinaryOp) -> Result<Vec<Case<V>>, Beyond> {
        let mut cases = Vec::new();
        for ((when_left, left), (when_right, right)) in lefts.iter().flat_map(|l| rights.iter().map(move |r| (l, r))) {
            let when = when_left.and(when_right);
            self.split(&when, left, &mut |when, left, _| {
                let mut is_taken = true;
                self.split(&when, right, &mut |when, right, _| {
                    let value = match (left.as_constant(), right.as_constant()) {
                        (Some(l), Some(r)) => Linear::constant(op.apply(l, r).map_err(|_| Beyond)?),
                        (Some(l), None) if op == BinaryOp::Mul => Linear::constant(0).plus(&right, l).ok_or(Beyond)?,
                        (None, Some(r)) if op == BinaryOp::Mul => Linear::constant(0).plus(&left, r).ok_or(Beyond)?,
                        (None, Some(r)) if self.smallest(&left).is_none() => {
                            let divided = self.divided(&when, &left, op, r)?;
                            is_taken = divided.is_some();
                            cases.extend(divided.into_iter().flatten());
                            return Ok(true);
                        }
                        (None, _) => {
                            is_taken = false;
                            return Ok(true);
                        }
                        (Some(l), None) if is_commutative(op) && self.smallest(&right).is_none() => {
                            let divided = self.divided(&when, &right, op, l)?;
                            let is_taken = divided.is_some();
                            cases.extend(divided.into_iter().flatten());
                            return Ok(is_taken);
                        }
                        (Some(_), None) => return Ok(false),
                    };
                    cases.push((when, value));
                    Ok(true)
                })?;
                Ok(is_taken)
            })?;
        }
        limited(cases)
    }
}

/// `side ≤ bound` as a difference.
enum Bounded<V> {
    Always,
    Never,
    If(AtMost<V>),
    NoDifference,
}

fn bounded<V: Copy>(side: &Linear<V>, bound: Value) -> Result<Bounded<V>, Beyond> {
    let bound = bound.checked_sub(side.plus).ok_or(Beyond)?;
    Ok(match *side.coefficients {
        [] if bound >= 0 => Bounded::Always,
        [] => Bounded::Never,
        [(variable, factor)] if factor > 0 => {
            Bounded::If(AtMost { left: Some(variable), right: None, bound: bound.div_euclid(factor) })
        }
        [(variable, factor)] => {
            let factor = factor.checked_neg().ok_or(Beyond)?;
            Bounded::If(AtMost { left: None, right: Some(variable), bound: bound.div_euclid(factor) })
        }
        [(x, 1), (y, -1)] | [(y, -1), (x, 1)] => Bounded::If(AtMost { left: Some(x), right: Some(y), bound }),
        [(x, a), (y, b)] if a == -b && a > 0 => {
            Bounded::If(AtMost { left: Some(x), right: Some(y), bound: bound.div_euclid(a) })
        }
        [(x, a), (y, b)] if a == -b => {
            Bounded::If(AtMost { left: Some(y), right: Some(x), bound: bound.div_euclid(b) })
        }
        _ => Bounded::NoDifference,
    })
}

/// A variable has this value.
fn is<V: Copy>(variable: V, value: Value) -> Result<[AtMost<V>; 2], Beyond> {
    let negated = value.checked_neg().ok_or(Beyond)?;
    Ok([
        AtMost { left: Some(variable), right: None, bound: value },
        AtMost { left: None, right: Some(variable), bound: negated },
    ])
}

fn pairs<V: Copy>(
    lefts: &[Case<V>],
    rights: &[Case<V>],
    combine: impl Fn(&Linear<V>, &Linear<V>) -> Result<Linear<V>, Beyond>,
) -> Result<Vec<Case<V>>, Beyond> {
    let mut cases = Vec::new();
    for (when_left, left) in lefts {
        for (when_right, right) in rights {
            cases.push((when_left.and(when_right), combine(left, right)?));
        }
    }
    limited(cases)
}

pub(super) fn limited<T>(cases: Vec<T>) -> Result<Vec<T>, Beyond> {
    if cases.len() <= MAX_CASES { Ok(cases) } else { Err(Beyond) }
}

#[cfg(test)]
mod tests;
