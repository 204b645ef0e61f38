//! What an expression may be in a set of states, case by case.
//!
//! A case is a part of the states and a value that holds in it. Variables that are kept exactly are constants, so that
//! most expressions have one case. What is not linear in the numbers is known by its range only. Everything is meant
//! over all integers: a value beyond 64 bits is a value.

use crate::engine::numeric::layout::{Kind, Layout, Variable};
use crate::numeric::{Domain, Linear, Range, Row};
use crate::program::{BinaryOp, EvalError, Expr, UnaryOp, Value};
use crate::util::IndexVec;

/// States that agree on what is kept exactly, and a description of their numbers.
#[derive(Clone, Debug)]
pub(super) struct Cell<D> {
    /// Zero for variables that are numbers.
    pub exact: IndexVec<Variable, Value>,
    pub numbers: D,
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// It is this sum.
    Sum(Linear),
    /// It is somewhere here.
    Between(Range),
}

const ANYTHING: Found = Found::Between(Range { least: None, most: None });

/// What may go wrong inside a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    Assertion,
    Range,
    Index,
    Division,
}

/// Evaluates, and notes what may go wrong.
pub(super) struct Evaluator<'a> {
    pub layout: &'a Layout,
    pub troubles: Vec<Trouble>,
}

/// Part of the states in which something holds, and part in which it does not; both together are all of them.
#[derive(Debug)]
pub(super) struct Split<D> {
    pub yes: Vec<Cell<D>>,
    pub no: Vec<Cell<D>>,
}

impl<D: Domain> Cell<D> {
    /// The states that keep to some constraints. One that needs too many bits is left out, which keeps more states.
    pub(super) fn with(&self, rows: &[Option<Row>]) -> Option<Self> {
        let mut cell = self.clone();
        rows.iter().flatten().all(|row| cell.numbers.assume(row)).then_some(cell)
    }

    /// The states in which a sum is from one number to another.
    pub(super) fn between(&self, sum: &Linear, least: Option<i128>, most: Option<i128>) -> Option<Self> {
        let above = least.and_then(|least| Linear::constant(least).at_most(sum, 0));
        let below = most.and_then(|most| sum.at_most(&Linear::constant(most), 0));
        self.with(&[above, below])
    }
}

impl Evaluator<'_> {
    /// What a variable holds.
    pub(super) fn value_of<D>(&self, cell: &Cell<D>, variable: Variable) -> Linear {
        match self.layout.variables[variable].kind {
            Kind::Exact => Linear::constant(i128::from(cell.exact[variable])),
            Kind::Number(dimension) => Linear::var(dimension),
        }
    }

    /// The cases of an expression.
    pub(super) fn cases<D: Domain, V>(
        &mut self,
        cell: Cell<D>,
        expr: &Expr<V>,
        place: &impl Fn(&V) -> Variable,
    ) -> Vec<(Cell<D>, Found)> {
        match expr {
            Expr::Const(value) => vec![(cell, Found::Sum(Linear::constant(i128::from(*value))))],
            Expr::Var(variable) => {
                let value = self.value_of(&cell, place(variable));
                vec![(cell, Found::Sum(value))]
            }
            Expr::Unary(UnaryOp::Neg, operand) => {
                let cases = self.cases(cell, operand, place).into_iter();
                cases.map(|(cell, found)| (cell, negated(found))).collect()
            }
            Expr::Unary(UnaryOp::Not, operand) => {
                let split = self.split(cell, operand, place);
                decided(Split { yes: split.no, no: split.yes })
            }
            // The right operand of a short-circuit operator counts only where the left one does not decide.
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let split = self.split(cell, left, place);
                let is_and = *op == BinaryOp::And;
                let (open, closed) = if is_and { (split.yes, split.no) } else { (split.no, split.yes) };
                let mut cases = with_constant(closed, i128::from(!is_and));
                open.into_iter().for_each(|cell| cases.extend(self.cases(cell, right, place)));
                cases
            }
            Expr::Binary(op, left, right) => {
                let mut out = Vec::new();
                for (cell, left) in self.cases(cell, left, place) {
                    for (cell, right) in self.cases(cell, right, place) {
                        out.extend(self.binary(cell, *op, &left, &right));
                    }
                }
                out
            }
        }
    }

    /// Where a condition holds, and where it does not.
    pub(super) fn split<D: Domain, V>(
        &mut self,
        cell: Cell<D>,
        condition: &Expr<V>,
        place: &impl Fn(&V) -> Variable,
    ) -> Split<D> {
        let mut split = Split { yes: Vec::new(), no: Vec::new() };
        for (cell, found) in self.cases(cell, condition, place) {
            match found {
                Found::Sum(sum) => match sum.as_constant() {
                    Some(0) => split.no.push(cell),
                    Some(_) => split.yes.push(cell),
                    None => {
                        split.yes.extend(cell.between(&sum, None, Some(-1)));
                        split.yes.extend(cell.between(&sum, Some(1), None));
                        split.no.extend(cell.between(&sum, Some(0), Some(0)));
                    }
                },
                Found::Between(_) => {
                    split.yes.push(cell.clone());
                    split.no.push(cell);
                }
            }
        }
        split
    }

    fn binary<D: Domain>(&mut self, cell: Cell<D>, op: BinaryOp, left: &Found, right: &Found) -> Vec<(Cell<D>, Found)> {
        let constant = |found: &Found| match found {
            Found::Sum(sum) => sum.as_constant().and_then(|it| Value::try_from(it).ok()),
            Found::Between(_) => None,
        };
        if let (Some(left), Some(right)) = (constant(left), constant(right)) {
            match op.apply(left, right) {
                Ok(value) => return vec![(cell, Found::Sum(Linear::constant(i128::from(value))))],
                Err(EvalError::DivisionByZero) => {
                    self.troubles.push(Trouble::Division);
                    return Vec::new();
                }
                // Beyond 64 bits the general way is right.
                Err(EvalError::Overflow) => {}
            }
        }
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => vec![(cell, arithmetic(op, left, right))],
            BinaryOp::Div | BinaryOp::Rem => self.quotient(cell, op, left, right),
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => vec![(cell, ANYTHING)],
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                decided(compared(cell, op, left, right))
            }
            BinaryOp::Min | BinaryOp::Max => extreme(cell, op, left, right),
            BinaryOp::And | BinaryOp::Or => unreachable!("operators that short-circuit are evaluated elsewhere"),
        }
    }

    fn quotient<D: Domain>(
        &mut self,
        cell: Cell<D>,
        op: BinaryOp,
        left: &Found,
        right: &Found,
    ) -> Vec<(Cell<D>, Found)> {
        let may_be_zero = match right {
            Found::Sum(sum) => cell.between(sum, Some(0), Some(0)).is_some(),
            Found::Between(_) => true,
        };
        if may_be_zero {
            self.troubles.push(Trouble::Division);
        }
        let divisor = match right {
            Found::Sum(sum) => sum.as_constant(),
            Found::Between(_) => None,
        };
        let found = match (op, divisor) {
            (_, Some(0)) => return Vec::new(),
            (BinaryOp::Rem, Some(divisor)) => {
                let most = divisor.checked_abs().map(|it| it - 1);
                // A remainder has the sign of what is divided.
                let may_be = |least, most| match left {
                    Found::Sum(sum) => cell.between(sum, least, most).is_some(),
                    Found::Between(_) => true,
                };
                let least = if may_be(None, Some(-1)) { most.map(|it| -it) } else { Some(0) };
                Found::Between(Range { least, most: if may_be(Some(1), None) { most } else { Some(0) } })
            }
            _ => ANYTHING,
        };
        vec![(cell, found)]
    }
}

fn negated(found: Found) -> Found {
    match found {
        Found::Sum(sum) => sum.times(-1).map_or(ANYTHING, Found::Sum),
        Found::Between(_) => ANYTHING,
    }
}

/// A sum, difference or product.
fn arithmetic(op: BinaryOp, left: &Found, right: &Found) -> Found {
    let (Found::Sum(left), Found::Sum(right)) = (left, right) else { return ANYTHING };
    let sum = if op == BinaryOp::Mul {
        match (left.as_constant(), right.as_constant()) {
            (Some(factor), _) => right.times(factor),
            (None, Some(factor)) => left.times(factor),
            (None, None) => None,
        }
    } else {
        left.plus(right, if op == BinaryOp::Add { 1 } else { -1 })
    };
    sum.map_or(ANYTHING, Found::Sum)
}

fn with_constant<D>(cells: Vec<Cell<D>>, value: i128) -> Vec<(Cell<D>, Found)> {
    cells.into_iter().map(|cell| (cell, Found::Sum(Linear::constant(value)))).collect()
}

fn decided<D>(split: Split<D>) -> Vec<(Cell<D>, Found)> {
    let mut cases = with_constant(split.yes, 1);
    cases.extend(with_constant(split.no, 0));
    cases
}

/// Where a comparison holds, and where it does not.
fn compared<D: Domain>(cell: Cell<D>, op: BinaryOp, left: &Found, right: &Found) -> Split<D> {
    let (Found::Sum(left), Found::Sum(right)) = (left, right) else {
        return Split { yes: vec![cell.clone()], no: vec![cell] };
    };
    let below = || cell.with(&[left.at_most(right, -1)]);
    let above = || cell.with(&[right.at_most(left, -1)]);
    let (yes, no): (Vec<_>, Vec<_>) = match op {
        BinaryOp::Lt => (vec![below()], vec![cell.with(&[right.at_most(left, 0)])]),
        BinaryOp::Ge => (vec![cell.with(&[right.at_most(left, 0)])], vec![below()]),
        BinaryOp::Gt => (vec![above()], vec![cell.with(&[left.at_most(right, 0)])]),
        BinaryOp::Le => (vec![cell.with(&[left.at_most(right, 0)])], vec![above()]),
        BinaryOp::Ne => (vec![below(), above()], vec![equal(&cell, left, right)]),
        BinaryOp::Eq => (vec![equal(&cell, left, right)], vec![below(), above()]),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::And
        | BinaryOp::Or => {
            unreachable!("only comparisons are compared")
        }
    };
    Split { yes: yes.into_iter().flatten().collect(), no: no.into_iter().flatten().collect() }
}

fn equal<D: Domain>(cell: &Cell<D>, left: &Linear, right: &Linear) -> Option<Cell<D>> {
    cell.with(&[left.at_most(right, 0), right.at_most(left, 0)])
}

/// The smaller or the greater of two.
fn extreme<D: Domain>(cell: Cell<D>, op: BinaryOp, left: &Found, right: &Found) -> Vec<(Cell<D>, Found)> {
    let (Found::Sum(_), Found::Sum(_)) = (left, right) else { return vec![(cell, ANYTHING)] };
    let split = compared(cell, BinaryOp::Le, left, right);
    let (smaller, greater) = if op == BinaryOp::Min { (left, right) } else { (right, left) };
    let yes = split.yes.into_iter().map(|cell| (cell, smaller.clone()));
    yes.chain(split.no.into_iter().map(|cell| (cell, greater.clone()))).collect()
}
