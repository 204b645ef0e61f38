//! Expressions over the variables of a zone, by cases: in each, the zone is split until the value is a sum.
//!
//! ```text
//!    x < y ? …           zone ∧ x - y ≤ -1: 1        zone ∧ y - x ≤ 0: 0
//!    x * y, x in 0..2    zone ∧ x = 0: 0      zone ∧ x = 1: y      zone ∧ x = 2: 2·y
//! ```
//!
//! The cases together have all valuations of the zone, and no others. What needs neither a bound on a difference nor
//! the few values of a variable is refused.

use std::collections::BTreeMap;

use crate::certificate::Failure;
use crate::numeric::{Bound, Term, Zone};
use crate::program::{BinaryOp, EvalError, Expr, UnaryOp, Value};

/// A variable with more values than this is not looked at value by value.
const MAX_VALUES: i128 = 256;

/// `plus + Σ coefficient · variable`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    /// No coefficient is zero.
    coefficients: BTreeMap<usize, Value>,
    plus: Value,
}

/// A value by cases; `None` where it has none, because of a division by zero.
pub(super) type Cases = Vec<(Zone, Option<Sum>)>;

impl Sum {
    fn constant(plus: Value) -> Self {
        Self { coefficients: BTreeMap::new(), plus }
    }

    fn variable(variable: usize) -> Self {
        let coefficients = if variable == 0 { BTreeMap::new() } else { BTreeMap::from([(variable, 1)]) };
        Self { coefficients, plus: 0 }
    }

    fn as_constant(&self) -> Option<Value> {
        self.coefficients.is_empty().then_some(self.plus)
    }

    /// `self + factor · other`
    fn plus(&self, factor: Value, other: &Self) -> Result<Self, Failure> {
        let fits = |it: Option<Value>| it.ok_or_else(too_large);
        let mut sum = self.clone();
        sum.plus = fits(other.plus.checked_mul(factor).and_then(|it| it.checked_add(sum.plus)))?;
        for (&variable, &coefficient) in &other.coefficients {
            let mine = sum.coefficients.entry(variable).or_default();
            *mine = fits(coefficient.checked_mul(factor).and_then(|it| it.checked_add(*mine)))?;
        }
        sum.coefficients.retain(|_, coefficient| *coefficient != 0);
        Ok(sum)
    }

    /// The sum where a variable has this value.
    fn with(&self, variable: usize, value: Value) -> Result<Self, Failure> {
        let mut rest = self.clone();
        let coefficient = rest.coefficients.remove(&variable).unwrap_or(0);
        rest.plus(coefficient, &Self::constant(value))
    }
}

fn too_large() -> Failure {
    Failure::Refused("a constant needs more than 64 bits".to_owned())
}

/// The value of an expression, by cases.
pub(super) fn value<V>(expr: &Expr<V>, zone: &Zone, variable: &impl Fn(&V) -> usize) -> Result<Cases, Failure> {
    match expr {
        Expr::Const(constant) => Ok(vec![(zone.clone(), Some(Sum::constant(*constant)))]),
        Expr::Var(it) => Ok(vec![(zone.clone(), Some(Sum::variable(variable(it))))]),
        Expr::Unary(UnaryOp::Neg, operand) => {
            each(value(operand, zone, variable)?, |zone, sum| Ok(vec![(zone, Some(Sum::default().plus(-1, &sum)?))]))
        }
        Expr::Unary(UnaryOp::Not, operand) => Ok(truths(truth(operand, zone, variable)?, true)),
        Expr::Binary(BinaryOp::And, left, right) => short_circuit((left, right), true, zone, variable),
        Expr::Binary(BinaryOp::Or, left, right) => short_circuit((left, right), false, zone, variable),
        Expr::Binary(op, left, right) => each(value(left, zone, variable)?, |zone, left| {
            each(value(right, &zone, variable)?, |zone, right| combine(*op, &zone, &left, &right))
        }),
    }
}

/// Goes on with every case that has a value.
fn each(cases: Cases, mut with: impl FnMut(Zone, Sum) -> Result<Cases, Failure>) -> Result<Cases, Failure> {
    let mut out = Vec::new();
    for (zone, sum) in cases {
        match sum {
            Some(sum) => out.extend(with(zone, sum)?),
            None => out.push((zone, None)),
        }
    }
    Ok(out)
}

/// Whether a condition holds, by cases; `None` where it has no value.
pub(super) fn truth<V>(
    condition: &Expr<V>,
    zone: &Zone,
    variable: &impl Fn(&V) -> usize,
) -> Result<Vec<(Zone, Option<bool>)>, Failure> {
    let mut out = Vec::new();
    for (zone, sum) in value(condition, zone, variable)? {
        match sum {
            None => out.push((zone, None)),
            Some(sum) => match sum.as_constant() {
                Some(constant) => out.push((zone, Some(constant != 0))),
                None => {
                    out.extend(equal(&zone, &sum)?.into_iter().map(|zone| (zone, Some(false))));
                    out.extend(unequal(&zone, &sum)?.into_iter().map(|zone| (zone, Some(true))));
                }
            },
        }
    }
    Ok(out)
}

/// Truths as the values 0 and 1, perhaps the other way round.
fn truths(cases: Vec<(Zone, Option<bool>)>, is_negated: bool) -> Cases {
    let sum = |truth: bool| Sum::constant(Value::from(truth != is_negated));
    cases.into_iter().map(|(zone, truth)| (zone, truth.map(sum))).collect()
}

/// `&&` where the right side counts if the left is true, `||` where it counts if the left is false.
fn short_circuit<V>(
    (left, right): (&Expr<V>, &Expr<V>),
    counts_if: bool,
    zone: &Zone,
    variable: &impl Fn(&V) -> usize,
) -> Result<Cases, Failure> {
    let mut out = Vec::new();
    for (zone, left) in truth(left, zone, variable)? {
        match left {
            Some(left) if left == counts_if => out.extend(value(right, &zone, variable)?),
            Some(left) => out.push((zone, Some(Sum::constant(Value::from(left))))),
            None => out.push((zone, None)),
        }
    }
    Ok(out)
}

/// An operator whose both sides count.
fn combine(op: BinaryOp, zone: &Zone, left: &Sum, right: &Sum) -> Result<Cases, Failure> {
    let compared = |wanted: Vec<Zone>, otherwise: Vec<Zone>| {
        let yes = wanted.into_iter().map(|zone| (zone, Some(Sum::constant(1))));
        yes.chain(otherwise.into_iter().map(|zone| (zone, Some(Sum::constant(0))))).collect()
    };
    let difference = || left.plus(-1, right);
    let (below, above) = (|| at_most_zero(zone, &difference()?), || more_than_zero(zone, &difference()?));
    match op {
        BinaryOp::Add => Ok(vec![(zone.clone(), Some(left.plus(1, right)?))]),
        BinaryOp::Sub => Ok(vec![(zone.clone(), Some(difference()?))]),
        BinaryOp::Mul => multiply(zone, left, right),
        BinaryOp::Eq => Ok(compared(equal(zone, &difference()?)?, unequal(zone, &difference()?)?)),
        BinaryOp::Ne => Ok(compared(unequal(zone, &difference()?)?, equal(zone, &difference()?)?)),
        BinaryOp::Le => Ok(compared(below()?, above()?)),
        BinaryOp::Gt => Ok(compared(above()?, below()?)),
        BinaryOp::Lt => combine(BinaryOp::Gt, zone, right, left),
        BinaryOp::Ge => combine(BinaryOp::Le, zone, right, left),
        BinaryOp::Min | BinaryOp::Max => {
            let (low, high) = if op == BinaryOp::Min { (left, right) } else { (right, left) };
            let yes = below()?.into_iter().map(|zone| (zone, Some(low.clone())));
            Ok(yes.chain(above()?.into_iter().map(|zone| (zone, Some(high.clone())))).collect())
        }
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            on_constants(op, zone, left, right)
        }
        BinaryOp::And | BinaryOp::Or => unreachable!("their right side does not always count"),
    }
}

fn multiply(zone: &Zone, left: &Sum, right: &Sum) -> Result<Cases, Failure> {
    match (left.as_constant(), right.as_constant()) {
        (Some(factor), _) => Ok(vec![(zone.clone(), Some(Sum::default().plus(factor, right)?))]),
        (None, Some(factor)) => Ok(vec![(zone.clone(), Some(Sum::default().plus(factor, left)?))]),
        (None, None) => by_value(zone, left, right, &mut |zone, left, right| multiply(zone, left, right)),
    }
}

fn on_constants(op: BinaryOp, zone: &Zone, left: &Sum, right: &Sum) -> Result<Cases, Failure> {
    let (Some(a), Some(b)) = (left.as_constant(), right.as_constant()) else {
        return by_value(zone, left, right, &mut |zone, left, right| on_constants(op, zone, left, right));
    };
    match Expr::<()>::binary(op, Expr::Const(a), Expr::Const(b)).eval(&|()| 0) {
        Ok(value) => Ok(vec![(zone.clone(), Some(Sum::constant(value)))]),
        Err(EvalError::DivisionByZero) => Ok(vec![(zone.clone(), None)]),
        Err(EvalError::Overflow) => Err(too_large()),
    }
}

type Split<'a> = dyn FnMut(&Zone, &Sum, &Sum) -> Result<Cases, Failure> + 'a;

/// Both sides for each value of the variable that has fewest.
fn by_value(zone: &Zone, left: &Sum, right: &Sum, with: &mut Split<'_>) -> Result<Cases, Failure> {
    let variables = left.coefficients.keys().chain(right.coefficients.keys()).copied();
    let mut out = Vec::new();
    for (zone, variable, value) in values(zone, variables)? {
        out.extend(with(&zone, &left.with(variable, value)?, &right.with(variable, value)?)?);
    }
    Ok(out)
}

/// The zone for each value of the one of some variables that has fewest.
fn values(zone: &Zone, variables: impl Iterator<Item = usize>) -> Result<Vec<(Zone, usize, Value)>, Failure> {
    let range = |variable: usize| {
        let (hi, lo) = (zone.bound(variable, 0).value()?, zone.bound(0, variable).value()?.checked_neg()?);
        Some((i128::from(hi) - i128::from(lo), variable, lo, hi))
    };
    let fewest = variables.filter_map(range).min().filter(|it| it.0 < MAX_VALUES);
    let Some((_, variable, lo, hi)) = fewest else {
        return Failure::refused("an expression needs more than bounds on differences of two variables");
    };
    let mut out = Vec::new();
    for value in lo..=hi {
        let mut zone = zone.clone();
        if zone.equate(Term::var(variable), Term::constant(value)) {
            out.push((zone, variable, value));
        }
    }
    Ok(out)
}

/// The part of a zone in which `sum ≤ 0`, in pieces.
fn at_most_zero(zone: &Zone, sum: &Sum) -> Result<Vec<Zone>, Failure> {
    let most = |coefficient: Value| {
        // `c·v ≤ -plus` for an integer v: `v ≤ ⌊-plus / c⌋`.
        let bound = (-i128::from(sum.plus)).div_euclid(i128::from(coefficient.unsigned_abs()));
        Bound::ZERO.shifted(bound)
    };
    let terms: Vec<(usize, Value)> = sum.coefficients.iter().map(|(&variable, &it)| (variable, it)).collect();
    let mut part = zone.clone();
    let is_possible = match terms[..] {
        [] => sum.plus <= 0,
        [(v, c)] if c > 0 => part.add(v, 0, most(c)),
        [(v, c)] => part.add(0, v, most(c)),
        [(v, c), (w, d)] if c > 0 && c.checked_neg() == Some(d) => part.add(v, w, most(c)),
        [(v, c), (w, d)] if d > 0 && d.checked_neg() == Some(c) => part.add(w, v, most(d)),
        _ => {
            let mut out = Vec::new();
            for (zone, variable, value) in values(zone, sum.coefficients.keys().copied())? {
                out.extend(at_most_zero(&zone, &sum.with(variable, value)?)?);
            }
            return Ok(out);
        }
    };
    Ok(is_possible.then_some(part).into_iter().collect())
}

/// `sum > 0`, which for integers is `1 - sum ≤ 0`.
fn more_than_zero(zone: &Zone, sum: &Sum) -> Result<Vec<Zone>, Failure> {
    at_most_zero(zone, &Sum::constant(1).plus(-1, sum)?)
}

fn equal(zone: &Zone, sum: &Sum) -> Result<Vec<Zone>, Failure> {
    let negated = Sum::default().plus(-1, sum)?;
    let below = at_most_zero(zone, sum)?;
    let both = below.iter().map(|zone| at_most_zero(zone, &negated)).collect::<Result<Vec<_>, _>>()?;
    Ok(both.into_iter().flatten().collect())
}

fn unequal(zone: &Zone, sum: &Sum) -> Result<Vec<Zone>, Failure> {
    let mut pieces = more_than_zero(zone, sum)?;
    pieces.extend(more_than_zero(zone, &Sum::default().plus(-1, sum)?)?);
    Ok(pieces)
}

/// The pieces of a zone in which a sum is in a range, and those in which it is not.
pub(super) fn range_of(zone: &Zone, sum: &Sum, (lo, hi): (Value, Value)) -> Result<[Vec<Zone>; 2], Failure> {
    let over = sum.plus(-1, &Sum::constant(hi))?;
    let under = Sum::constant(lo).plus(-1, sum)?;
    let mut inside = Vec::new();
    for zone in at_most_zero(zone, &over)? {
        inside.extend(at_most_zero(&zone, &under)?);
    }
    let mut outside = more_than_zero(zone, &over)?;
    outside.extend(more_than_zero(zone, &under)?);
    Ok([inside, outside])
}

/// A sum as a variable plus a constant, by cases.
pub(super) fn term(zone: &Zone, sum: &Sum) -> Result<Vec<(Zone, Term)>, Failure> {
    let mut variables = sum.coefficients.iter();
    match (variables.next(), variables.next()) {
        (None, _) => Ok(vec![(zone.clone(), Term::constant(sum.plus))]),
        (Some((&base, 1)), None) => Ok(vec![(zone.clone(), Term { base, plus: sum.plus })]),
        _ => {
            let mut out = Vec::new();
            for (zone, variable, value) in values(zone, sum.coefficients.keys().copied())? {
                out.extend(term(&zone, &sum.with(variable, value)?)?);
            }
            Ok(out)
        }
    }
}
