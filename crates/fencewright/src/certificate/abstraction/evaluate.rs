//! Expressions over the variables of a configuration, by cases: what is known is split until the value is a sum.
//!
//! ```text
//!    x < y ? …           known ∧ x - y ≤ -1: 1       known ∧ y - x ≤ 0: 0
//!    x * y, x in 0..2    known ∧ x = 0: 0     known ∧ x = 1: y     known ∧ x = 2: 2·y
//! ```
//!
//! The cases together have all valuations that there are, and no others. A comparison of sums that is no bound on a
//! difference is looked at by the few values of a variable, or, if there is none with few, kept as a constraint. A
//! product of variables that both have many values is refused. A remainder by a constant that divides the modulus of
//! the zone is looked at by the remainders of the variables, of which the zone knows most.

use std::collections::BTreeMap;

use crate::certificate::Failure;
use crate::numeric::{Bound, Row, Term};
use crate::program::{BinaryOp, EvalError, Expr, UnaryOp, Value};

use super::data::Data;

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
pub(super) type Cases = Vec<(Data, Option<Sum>)>;

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
pub(super) fn value<V>(expr: &Expr<V>, data: &Data, variable: &impl Fn(&V) -> usize) -> Result<Cases, Failure> {
    match expr {
        Expr::Const(constant) => Ok(vec![(data.clone(), Some(Sum::constant(*constant)))]),
        Expr::Var(it) => Ok(vec![(data.clone(), Some(Sum::variable(variable(it))))]),
        Expr::Unary(UnaryOp::Neg, operand) => {
            each(value(operand, data, variable)?, |data, sum| Ok(vec![(data, Some(Sum::default().plus(-1, &sum)?))]))
        }
        Expr::Unary(UnaryOp::Not, operand) => Ok(truths(truth(operand, data, variable)?, true)),
        Expr::Binary(BinaryOp::And, left, right) => short_circuit((left, right), true, data, variable),
        Expr::Binary(BinaryOp::Or, left, right) => short_circuit((left, right), false, data, variable),
        Expr::Binary(op, left, right) => each(value(left, data, variable)?, |data, left| {
            each(value(right, &data, variable)?, |data, right| combine(*op, &data, &left, &right))
        }),
    }
}

/// Goes on with every case that has a value.
fn each(cases: Cases, mut with: impl FnMut(Data, Sum) -> Result<Cases, Failure>) -> Result<Cases, Failure> {
    let mut out = Vec::new();
    for (data, sum) in cases {
        match sum {
            Some(sum) => out.extend(with(data, sum)?),
            None => out.push((data, None)),
        }
    }
    Ok(out)
}

/// Whether a condition holds, by cases; `None` where it has no value.
pub(super) fn truth<V>(
    condition: &Expr<V>,
    data: &Data,
    variable: &impl Fn(&V) -> usize,
) -> Result<Vec<(Data, Option<bool>)>, Failure> {
    let mut out = Vec::new();
    for (data, sum) in value(condition, data, variable)? {
        match sum {
            None => out.push((data, None)),
            Some(sum) => match sum.as_constant() {
                Some(constant) => out.push((data, Some(constant != 0))),
                None => {
                    out.extend(equal(&data, &sum)?.into_iter().map(|data| (data, Some(false))));
                    out.extend(unequal(&data, &sum)?.into_iter().map(|data| (data, Some(true))));
                }
            },
        }
    }
    Ok(out)
}

/// Truths as the values 0 and 1, perhaps the other way round.
fn truths(cases: Vec<(Data, Option<bool>)>, is_negated: bool) -> Cases {
    let sum = |truth: bool| Sum::constant(Value::from(truth != is_negated));
    cases.into_iter().map(|(data, truth)| (data, truth.map(sum))).collect()
}

/// `&&` where the right side counts if the left is true, `||` where it counts if the left is false.
fn short_circuit<V>(
    (left, right): (&Expr<V>, &Expr<V>),
    counts_if: bool,
    data: &Data,
    variable: &impl Fn(&V) -> usize,
) -> Result<Cases, Failure> {
    let mut out = Vec::new();
    for (data, left) in truth(left, data, variable)? {
        match left {
            Some(left) if left == counts_if => out.extend(value(right, &data, variable)?),
            Some(left) => out.push((data, Some(Sum::constant(Value::from(left))))),
            None => out.push((data, None)),
        }
    }
    Ok(out)
}

/// An operator whose both sides count.
fn combine(op: BinaryOp, data: &Data, left: &Sum, right: &Sum) -> Result<Cases, Failure> {
    let compared = |wanted: Vec<Data>, otherwise: Vec<Data>| {
        let yes = wanted.into_iter().map(|data| (data, Some(Sum::constant(1))));
        yes.chain(otherwise.into_iter().map(|data| (data, Some(Sum::constant(0))))).collect()
    };
    let difference = || left.plus(-1, right);
    let (below, above) = (|| at_most_zero(data, &difference()?), || more_than_zero(data, &difference()?));
    match op {
        BinaryOp::Add => Ok(vec![(data.clone(), Some(left.plus(1, right)?))]),
        BinaryOp::Sub => Ok(vec![(data.clone(), Some(difference()?))]),
        BinaryOp::Mul => multiply(data, left, right),
        BinaryOp::Eq => Ok(compared(equal(data, &difference()?)?, unequal(data, &difference()?)?)),
        BinaryOp::Ne => Ok(compared(unequal(data, &difference()?)?, equal(data, &difference()?)?)),
        BinaryOp::Le => Ok(compared(below()?, above()?)),
        BinaryOp::Gt => Ok(compared(above()?, below()?)),
        BinaryOp::Lt => combine(BinaryOp::Gt, data, right, left),
        BinaryOp::Ge => combine(BinaryOp::Le, data, right, left),
        BinaryOp::Min | BinaryOp::Max => {
            let (low, high) = if op == BinaryOp::Min { (left, right) } else { (right, left) };
            let yes = below()?.into_iter().map(|data| (data, Some(low.clone())));
            Ok(yes.chain(above()?.into_iter().map(|data| (data, Some(high.clone())))).collect())
        }
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            on_constants(op, data, left, right)
        }
        BinaryOp::And | BinaryOp::Or => unreachable!("their right side does not always count"),
    }
}

fn multiply(data: &Data, left: &Sum, right: &Sum) -> Result<Cases, Failure> {
    match (left.as_constant(), right.as_constant()) {
        (Some(factor), _) => Ok(vec![(data.clone(), Some(Sum::default().plus(factor, right)?))]),
        (None, Some(factor)) => Ok(vec![(data.clone(), Some(Sum::default().plus(factor, left)?))]),
        (None, None) => by_value(data, left, right, &mut |data, left, right| multiply(data, left, right)),
    }
}

/// `left % by` or `left & mask`, by the remainders of variables; `None` if it is neither, or the zone keeps none.
fn by_remainder(op: BinaryOp, data: &Data, left: &Sum, right: Value) -> Result<Option<Cases>, Failure> {
    let by = if op == BinaryOp::Rem {
        right.checked_abs().filter(|&it| it > 0)
    } else {
        let is_mask = |it: &Value| op == BinaryOp::BitAnd && u64::try_from(*it).is_ok_and(u64::is_power_of_two);
        right.checked_add(1).filter(is_mask)
    };
    let modulus = data.zone.modulus();
    let Some(by) = by.filter(|by| modulus > 1 && modulus % by == 0) else { return Ok(None) };
    let mut cases = vec![(data.clone(), left.plus.rem_euclid(by))];
    for (&variable, coefficient) in &left.coefficients {
        let mut more = Vec::new();
        for (data, sum) in cases {
            for remainder in 0..modulus {
                let mut data = data.clone();
                if data.add_remainder(variable, remainder) {
                    more.push((data, (sum + coefficient.rem_euclid(by) * (remainder % by)) % by));
                }
            }
        }
        cases = more;
    }
    let mut out = Vec::new();
    for (data, remainder) in cases {
        if remainder == 0 || op == BinaryOp::BitAnd {
            out.push((data, Some(Sum::constant(remainder))));
            continue;
        }
        let is_negative = at_most_zero(&data, &left.plus(1, &Sum::constant(1))?)?;
        out.extend(is_negative.into_iter().map(|data| (data, Some(Sum::constant(remainder - by)))));
        let is_positive = more_than_zero(&data, left)?;
        out.extend(is_positive.into_iter().map(|data| (data, Some(Sum::constant(remainder)))));
    }
    Ok(Some(out))
}

fn on_constants(op: BinaryOp, data: &Data, left: &Sum, right: &Sum) -> Result<Cases, Failure> {
    if let (None, Some(right)) = (left.as_constant(), right.as_constant())
        && let Some(cases) = by_remainder(op, data, left, right)?
    {
        return Ok(cases);
    }
    let (Some(a), Some(b)) = (left.as_constant(), right.as_constant()) else {
        return by_value(data, left, right, &mut |data, left, right| on_constants(op, data, left, right));
    };
    match Expr::<()>::binary(op, Expr::Const(a), Expr::Const(b)).eval(&|()| 0) {
        Ok(value) => Ok(vec![(data.clone(), Some(Sum::constant(value)))]),
        Err(EvalError::DivisionByZero) => Ok(vec![(data.clone(), None)]),
        Err(EvalError::Overflow) => Err(too_large()),
    }
}

type Split<'a> = dyn FnMut(&Data, &Sum, &Sum) -> Result<Cases, Failure> + 'a;

/// Both sides for each value of the variable that has fewest.
fn by_value(data: &Data, left: &Sum, right: &Sum, with: &mut Split<'_>) -> Result<Cases, Failure> {
    let variables = left.coefficients.keys().chain(right.coefficients.keys()).copied();
    let Some(by_value) = values(data, variables) else {
        return Failure::refused("an expression is not linear, and its variables have many values");
    };
    let mut out = Vec::new();
    for (data, variable, value) in by_value {
        out.extend(with(&data, &left.with(variable, value)?, &right.with(variable, value)?)?);
    }
    Ok(out)
}

/// What is known for each value of the one of some variables that has fewest; `None` if all have many.
fn values(data: &Data, variables: impl Iterator<Item = usize>) -> Option<Vec<(Data, usize, Value)>> {
    let range = |variable: usize| {
        let (hi, lo) = (data.zone.bound(variable, 0).value()?, data.zone.bound(0, variable).value()?.checked_neg()?);
        Some((i128::from(hi) - i128::from(lo), variable, lo, hi))
    };
    let (_, variable, lo, hi) = variables.filter_map(range).min().filter(|it| it.0 < MAX_VALUES)?;
    let mut out = Vec::new();
    for value in lo..=hi {
        let mut data = data.clone();
        if data.equate(Term::var(variable), Term::constant(value)) {
            out.push((data, variable, value));
        }
    }
    Some(out)
}

/// Where `sum ≤ 0`, in pieces.
fn at_most_zero(data: &Data, sum: &Sum) -> Result<Vec<Data>, Failure> {
    let most = |coefficient: Value| {
        // `c·v ≤ -plus` for an integer v: `v ≤ ⌊-plus / c⌋`.
        let bound = (-i128::from(sum.plus)).div_euclid(i128::from(coefficient.unsigned_abs()));
        Bound::ZERO.shifted(bound)
    };
    let terms: Vec<(usize, Value)> = sum.coefficients.iter().map(|(&variable, &it)| (variable, it)).collect();
    let mut part = data.clone();
    let is_possible = match terms[..] {
        [] => sum.plus <= 0,
        [(v, c)] if c > 0 => part.add(v, 0, most(c)),
        [(v, c)] => part.add(0, v, most(c)),
        [(v, c), (w, d)] if c > 0 && c.checked_neg() == Some(d) => part.add(v, w, most(c)),
        [(v, c), (w, d)] if d > 0 && d.checked_neg() == Some(c) => part.add(w, v, most(d)),
        _ => {
            let Some(by_value) = values(data, sum.coefficients.keys().copied()) else {
                return Ok(part.constrain(row(sum)?).then_some(part).into_iter().collect());
            };
            let mut out = Vec::new();
            for (data, variable, value) in by_value {
                out.extend(at_most_zero(&data, &sum.with(variable, value)?)?);
            }
            return Ok(out);
        }
    };
    Ok(is_possible.then_some(part).into_iter().collect())
}

/// `sum ≤ 0` as a constraint.
fn row(sum: &Sum) -> Result<Row, Failure> {
    let coefficients = sum.coefficients.iter().map(|(&variable, &it)| (variable, i128::from(it)));
    Row::new(coefficients, -i128::from(sum.plus)).ok_or_else(too_large)
}

/// `sum > 0`, which for integers is `1 - sum ≤ 0`.
fn more_than_zero(data: &Data, sum: &Sum) -> Result<Vec<Data>, Failure> {
    at_most_zero(data, &Sum::constant(1).plus(-1, sum)?)
}

fn equal(data: &Data, sum: &Sum) -> Result<Vec<Data>, Failure> {
    let negated = Sum::default().plus(-1, sum)?;
    let below = at_most_zero(data, sum)?;
    let both = below.iter().map(|data| at_most_zero(data, &negated)).collect::<Result<Vec<_>, _>>()?;
    Ok(both.into_iter().flatten().collect())
}

fn unequal(data: &Data, sum: &Sum) -> Result<Vec<Data>, Failure> {
    let mut pieces = more_than_zero(data, sum)?;
    pieces.extend(more_than_zero(data, &Sum::default().plus(-1, sum)?)?);
    Ok(pieces)
}

/// The pieces in which a sum is in a range, and those in which it is not.
pub(super) fn range_of(data: &Data, sum: &Sum, (lo, hi): (Value, Value)) -> Result<[Vec<Data>; 2], Failure> {
    let over = sum.plus(-1, &Sum::constant(hi))?;
    let under = Sum::constant(lo).plus(-1, sum)?;
    let mut inside = Vec::new();
    for data in at_most_zero(data, &over)? {
        inside.extend(at_most_zero(&data, &under)?);
    }
    let mut outside = more_than_zero(data, &over)?;
    outside.extend(more_than_zero(data, &under)?);
    Ok([inside, outside])
}

/// A sum as a variable plus a constant, by cases; a new variable behind the others, if it is no other.
pub(super) fn term(data: &Data, sum: &Sum) -> Result<Vec<(Data, Term)>, Failure> {
    let mut variables = sum.coefficients.iter();
    match (variables.next(), variables.next()) {
        (None, _) => Ok(vec![(data.clone(), Term::constant(sum.plus))]),
        (Some((&base, 1)), None) => Ok(vec![(data.clone(), Term { base, plus: sum.plus })]),
        _ => {
            let Some(by_value) = values(data, sum.coefficients.keys().copied()) else {
                return Ok(named(data, sum)?.into_iter().collect());
            };
            let mut out = Vec::new();
            for (data, variable, value) in by_value {
                out.extend(term(&data, &sum.with(variable, value)?)?);
            }
            Ok(out)
        }
    }
}

/// A new variable that is a sum; `None` if nothing is left.
fn named(data: &Data, sum: &Sum) -> Result<Option<(Data, Term)>, Failure> {
    let variable = data.zone.n_variables();
    let difference = sum.plus(-1, &Sum::variable(variable))?;
    let mut data = data.extended();
    let is_possible = data.constrain(row(&difference)?) && data.constrain(row(&Sum::default().plus(-1, &difference)?)?);
    Ok(is_possible.then_some((data, Term::var(variable))))
}
