//! What expressions may come to, case by case: one row for each valuation of their variables.

use std::collections::BTreeSet;

use super::interval::{INFINITY, Interval, Outcome, eval};
use crate::engine::Unsupported;
use crate::program::{BinaryOp, Domain, Expr, Initial, Micro, RegisterId, Value};

/// How integers are cut off: those below `-m` are `-m - 1`, those above `m` are `m + 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cases {
    /// The greatest value that is itself.
    pub m: Value,
}

/// Expressions over the same variables, for each valuation of them.
#[derive(Debug)]
pub(super) struct Rows<V> {
    cases: Cases,
    variables: Vec<V>,
    rows: Vec<Row>,
}

/// One valuation.
#[derive(Debug)]
pub(super) struct Row {
    /// Of each variable.
    values: Vec<Value>,
    /// What each expression may come to.
    pub outcomes: Vec<Outcome>,
}

/// More cases than this are not listed.
const MAX_ROWS: usize = 4_096;

impl Cases {
    /// What stands for a value.
    pub(super) fn code(self, value: Value) -> Value {
        value.clamp(-self.m - 1, self.m + 1)
    }

    /// What stands for the values of a domain.
    pub(super) fn domain(self, domain: Domain) -> Domain {
        match domain {
            Domain::Bool | Domain::Range(..) => domain,
            Domain::Int => Domain::Range(-self.m - 1, self.m + 1),
        }
    }

    /// What stands for the value at the start.
    pub(super) fn initial(self, domain: Domain, initial: Initial) -> Initial {
        match (domain, initial) {
            (Domain::Int, Initial::Value(value)) => Initial::Value(self.code(value)),
            (Domain::Bool | Domain::Range(..) | Domain::Int, initial) => initial,
        }
    }

    /// The cases of some expressions.
    pub(super) fn rows<V: Clone + Ord>(
        self,
        exprs: &[&Expr<V>],
        domain_of: &impl Fn(&V) -> Domain,
    ) -> Result<Rows<V>, Unsupported> {
        let mut variables: BTreeSet<V> = BTreeSet::new();
        exprs.iter().for_each(|expr| {
            expr.for_each_var(&mut |variable| {
                variables.insert(variable.clone());
            });
        });
        let variables: Vec<V> = variables.into_iter().collect();
        let mut valuations: Vec<Vec<Value>> = vec![Vec::new()];
        for variable in &variables {
            let codes = self.codes(domain_of(variable))?;
            let with = |values: &Vec<Value>, code: Value| values.iter().copied().chain([code]).collect();
            let longer = valuations.iter().flat_map(|values| codes.iter().map(move |&code| with(values, code)));
            valuations = longer.take(MAX_ROWS + 1).collect();
            if valuations.len() > MAX_ROWS {
                return Err(too_many());
            }
        }
        let row = |values: Vec<Value>| {
            let interval_of = |variable: &V| {
                let at = variables.binary_search(variable).expect("all variables are listed");
                self.interval(values[at], domain_of(variable))
            };
            let outcomes = exprs.iter().map(|expr| eval(expr, &interval_of)).collect();
            Row { values, outcomes }
        };
        let rows = valuations.into_iter().map(row).collect();
        Ok(Rows { cases: self, variables, rows })
    }

    /// Whether a value that stands in a domain may come out.
    pub(super) fn may_be(self, outcome: Outcome, value: Value, domain: Domain) -> bool {
        outcome.value.meets(self.interval(value, domain))
    }

    /// Whether something may come out that is not in a domain.
    pub(super) fn may_leave(outcome: Outcome, domain: Domain) -> bool {
        let outside = |(lo, hi): (Value, Value)| outcome.value.lo < lo.into() || outcome.value.hi > hi.into();
        domain.bounds().is_some_and(outside)
    }

    /// The values that a value of a domain stands for.
    fn interval(self, value: Value, domain: Domain) -> Interval {
        match domain {
            Domain::Int if value > self.m => Interval { lo: value.into(), hi: INFINITY },
            Domain::Int if value < -self.m => Interval { lo: -INFINITY, hi: value.into() },
            Domain::Bool | Domain::Range(..) | Domain::Int => Interval::of(value),
        }
    }

    fn codes(self, domain: Domain) -> Result<Vec<Value>, Unsupported> {
        let (lo, hi) = self.domain(domain).bounds().expect("integers are cut off");
        if hi.abs_diff(lo) >= MAX_ROWS as u64 { Err(too_many()) } else { Ok((lo..=hi).collect()) }
    }
}

impl<V: Clone> Rows<V> {
    /// The condition that a row is one of these; `None` if there are none.
    pub(super) fn where_it(&self, is_it: impl Fn(&Row) -> bool) -> Option<Expr<V>> {
        let chosen: Vec<&Row> = self.rows.iter().filter(|row| is_it(row)).collect();
        if chosen.len() == self.rows.len() {
            return Some(Expr::TRUE);
        }
        let is_row = |row: &Row| {
            let equals = |(variable, &value): (&V, &Value)| {
                Expr::binary(BinaryOp::Eq, Expr::Var(variable.clone()), Expr::Const(value))
            };
            let all = self.variables.iter().zip(&row.values).map(equals);
            all.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or(Expr::TRUE)
        };
        balanced(&chosen.into_iter().map(is_row).collect::<Vec<_>>())
    }

    /// The values in a domain that an expression may come to.
    pub(super) fn values_of(&self, expr: usize, domain: Domain) -> Result<Vec<Value>, Unsupported> {
        let mut codes = self.cases.codes(domain)?;
        codes.retain(|&code| self.rows.iter().any(|row| self.cases.may_be(row.outcomes[expr], code, domain)));
        Ok(codes)
    }
}

impl Rows<RegisterId> {
    /// The ways of an assumption.
    pub(super) fn conditions(&self) -> Vec<Vec<Micro>> {
        let holds = self.where_it(|row| row.outcomes[0].value.may_hold()).map(|it| vec![Micro::Assume(it)]);
        holds.into_iter().chain(self.failures(|row| row.outcomes[0].may_fail)).collect()
    }

    /// When the condition of an assertion must hold.
    pub(super) fn must_hold(&self) -> Expr<RegisterId> {
        let must = |row: &Row| !row.outcomes[0].may_fail && !row.outcomes[0].value.may_be_zero();
        self.where_it(must).unwrap_or(Expr::Const(0))
    }

    /// The ways in which the expression is put somewhere.
    pub(super) fn results(
        &self,
        domain: Domain,
        put: &dyn Fn(Expr<RegisterId>) -> Micro,
    ) -> Result<Vec<Vec<Micro>>, Unsupported> {
        let values = self.values_of(0, domain)?.into_iter();
        let ways = values.filter_map(|value| {
            let guard = self.where_it(|row| self.cases.may_be(row.outcomes[0], value, domain))?;
            Some(vec![Micro::Assume(guard), put(Expr::Const(value))])
        });
        let fails = |row: &Row| row.outcomes[0].may_fail || Cases::may_leave(row.outcomes[0], domain);
        Ok(ways.chain(self.failures(fails)).collect())
    }

    fn failures(&self, is_it: impl Fn(&Row) -> bool) -> Option<Vec<Micro>> {
        Some(vec![Micro::Assume(self.where_it(is_it)?), Micro::Assert(Expr::Const(0))])
    }
}

/// One of these, without depth.
fn balanced<V: Clone>(all: &[Expr<V>]) -> Option<Expr<V>> {
    match all {
        [] => None,
        [one] => Some(one.clone()),
        _ => {
            let (a, b) = all.split_at(all.len() / 2);
            Some(Expr::binary(BinaryOp::Or, balanced(a)?, balanced(b)?))
        }
    }
}

fn too_many() -> Unsupported {
    Unsupported {
        reason: "an expression with an `int` has too many cases for `--values intervals`".to_owned(),
        help: "give the variables beside it smaller ranges, or use `--values exact`".to_owned(),
    }
}
