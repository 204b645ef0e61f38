//! Numeric domains: descriptions of sets of integer valuations that an abstract interpreter computes with.
//!
//! Cousot and Cousot, _Abstract interpretation_, POPL 1977. Every operation gives a description of *at least* the
//! valuations that it should; how many more is what tells the domains apart. No description is empty: what would be
//! reports that nothing is left, and is thrown away. Variable 0 is the constant 0.

use std::collections::BTreeSet;
use std::fmt;

use crate::numeric::{Bound, Linear, Range, Row, Term, Zone};

/// A set of integer valuations, described.
pub trait Domain: Clone + fmt::Debug {
    /// All valuations of so many variables, the constant 0 among them.
    fn all(n: usize) -> Self;
    /// Leaves out valuations that do not keep to a constraint; false if none is left.
    #[must_use]
    fn assume(&mut self, row: &Row) -> bool;
    /// Leaves out valuations that another set does not have; false if none is left.
    #[must_use]
    fn meet(&mut self, other: &Self) -> bool;
    /// Nothing is known of a variable any more.
    fn forget(&mut self, variable: usize);
    /// Each of two variables gets the value of the other.
    fn swap(&mut self, a: usize, b: usize);
    /// Grows to hold another set as well.
    fn join(&mut self, other: &Self);
    /// The same, with what grows growing to a threshold at once.
    fn widen(&mut self, other: &Self, thresholds: &Thresholds);
    /// Whether every valuation of another set is seen to be one of this.
    fn includes(&self, other: &Self) -> bool;
    /// The values that a variable may have.
    fn range(&self, variable: usize) -> Range;
    /// The values that the difference of two variables may have.
    fn difference(&self, a: usize, b: usize) -> Range;
    /// Constraints that say the same.
    fn rows(&self) -> Vec<Row>;
    /// About how many bytes a description of so many variables takes.
    fn bytes(n: usize) -> usize;

    /// A variable gets the value of a sum. Nothing is known of `spare`, neither before nor afterwards. False if there
    /// is no valuation.
    #[must_use]
    fn assign(&mut self, variable: usize, value: &Linear, spare: usize) -> bool {
        self.assign_any(variable, value, spare)
    }

    /// The same, for any sum: the new value is put beside the old one, which is then forgotten.
    #[must_use]
    fn assign_any(&mut self, variable: usize, value: &Linear, spare: usize) -> bool {
        let new = Linear::var(spare);
        let rows = [new.at_most(value, 0), value.at_most(&new, 0)];
        // A constraint that needs too many bits is left out, which says less.
        let is_possible = rows.into_iter().flatten().all(|row| self.assume(&row));
        self.forget(variable);
        self.swap(variable, spare);
        is_possible
    }
}

/// Constants at which widening stops first.
#[derive(Clone, Debug, Default)]
pub struct Thresholds(BTreeSet<i64>);

impl Thresholds {
    /// These and their neighbors, and the opposites of both.
    pub fn around(constants: impl IntoIterator<Item = i64>) -> Self {
        let near = |constant: i64| [constant.saturating_sub(1), constant, constant.saturating_add(1)];
        let all = constants.into_iter().flat_map(near);
        Self(all.flat_map(|it| [it, it.saturating_neg()]).collect())
    }

    /// What a bound grows to that is to be this at least.
    pub fn above(&self, bound: Bound) -> Bound {
        let next = bound.value().and_then(|value| self.0.range(value..).next());
        next.map_or(Bound::NONE, |&next| Bound::at_most(next))
    }

    /// What a bound becomes that is to hold another.
    pub fn widened(&self, mine: Bound, theirs: Bound) -> Bound {
        if theirs <= mine { mine } else { self.above(theirs) }
    }
}

impl Domain for Zone {
    fn all(n: usize) -> Self {
        Self::all(n)
    }

    fn assume(&mut self, row: &Row) -> bool {
        row.narrow(self)
    }

    fn meet(&mut self, other: &Self) -> bool {
        Self::meet(self, other, |variable| variable)
    }

    fn forget(&mut self, variable: usize) {
        Self::forget(self, variable);
    }

    fn swap(&mut self, a: usize, b: usize) {
        let mut terms: Vec<Term> = (0..self.n_variables()).map(Term::var).collect();
        terms.swap(a, b);
        *self = self.after(&terms);
    }

    fn assign(&mut self, variable: usize, value: &Linear, spare: usize) -> bool {
        let Some((base, plus)) = value.as_shifted() else { return self.assign_any(variable, value, spare) };
        let mut terms: Vec<Term> = (0..self.n_variables()).map(Term::var).collect();
        terms[variable] = Term { base, plus };
        *self = self.after(&terms);
        true
    }

    fn join(&mut self, other: &Self) {
        Self::join(self, other);
    }

    fn widen(&mut self, other: &Self, thresholds: &Thresholds) {
        *self = self.loosened(|i, j, mine| thresholds.widened(mine, other.bound(i, j)));
    }

    fn includes(&self, other: &Self) -> bool {
        Self::includes(self, other)
    }

    fn range(&self, variable: usize) -> Range {
        self.difference(variable, 0)
    }

    fn difference(&self, a: usize, b: usize) -> Range {
        Range::of(self.bound(a, b), self.bound(b, a))
    }

    fn rows(&self) -> Vec<Row> {
        let pairs = (0..self.n_variables()).flat_map(|i| (0..self.n_variables()).map(move |j| (i, j)));
        let row = |(i, j): (usize, usize)| Row::new([(i, 1), (j, -1)], i128::from(self.bound(i, j).value()?));
        pairs.filter(|(i, j)| i != j).filter_map(row).collect()
    }

    fn bytes(n: usize) -> usize {
        n * n * size_of::<Bound>()
    }
}

#[cfg(test)]
mod tests;
