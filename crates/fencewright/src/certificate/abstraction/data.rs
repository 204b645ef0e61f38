//! What is known of the values in a configuration: a zone, and linear constraints that no zone can say.
//!
//! Nothing is computed with the constraints but what follows from them exactly ([`entails`]), or what they leave of the
//! zone. Where a value is overwritten that a constraint speaks of, the constraint goes, unless the value is still
//! somewhere else: to know less only adds configurations.

use crate::numeric::{Bound, Row, Term, Zone, entails, excludes};

/// What is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Data {
    pub(super) zone: Zone,
    /// Ascending.
    rows: Vec<Row>,
}

impl Data {
    /// What a zone says.
    pub(super) fn new(zone: Zone) -> Self {
        Self { zone, rows: Vec::new() }
    }

    /// Adds `vᵢ - vⱼ ≤ c`; false if nothing is left.
    #[must_use]
    pub(super) fn add(&mut self, i: usize, j: usize, c: Bound) -> bool {
        self.zone.add(i, j, c) && self.is_possible()
    }

    /// Adds `vᵢ ≡ remainder`, by the modulus of the zone; false if nothing is left.
    #[must_use]
    pub(super) fn add_remainder(&mut self, i: usize, remainder: i64) -> bool {
        self.zone.add_remainder(i, self.zone.modulus(), remainder) && self.is_possible()
    }

    /// Adds `s = t`; false if nothing is left.
    #[must_use]
    pub(super) fn equate(&mut self, s: Term, t: Term) -> bool {
        self.zone.equate(s, t) && self.is_possible()
    }

    /// Adds a constraint; false if nothing is left.
    #[must_use]
    pub(super) fn constrain(&mut self, row: Row) -> bool {
        self.rows.push(row);
        self.settle();
        let narrowed = self.rows.iter().all(|row| row.narrow(&mut self.zone));
        narrowed && self.is_possible()
    }

    fn is_possible(&self) -> bool {
        self.rows.is_empty() || !excludes(&self.zone, &self.rows)
    }

    fn settle(&mut self) {
        self.rows.sort_unstable();
        self.rows.dedup();
    }

    /// The same with a variable more behind, of which nothing is known.
    pub(super) fn extended(&self) -> Self {
        Self { zone: self.zone.extended(1), rows: self.rows.clone() }
    }

    /// What is known after an assignment of the terms.
    pub(super) fn after(&self, terms: &[Term]) -> Self {
        // Each variable before it is one after it plus a constant, if it is anywhere.
        let found = |variable: usize| {
            let is_there = |term: &Term| term.base == variable;
            let at = terms.iter().position(is_there)?;
            Some((at, -i128::from(terms[at].plus)))
        };
        let rows = self.rows.iter().filter_map(|row| self.moved(row, &found));
        let mut after = Self { zone: self.zone.after(terms), rows: rows.collect() };
        after.settle();
        after
    }

    /// Nothing is known of a variable any more.
    pub(super) fn forget(&mut self, variable: usize) {
        let found = |it: usize| (it != variable).then_some((it, 0));
        let rows: Vec<Row> = self.rows.iter().filter_map(|row| self.moved(row, &found)).collect();
        self.zone.forget(variable);
        self.rows = rows;
        self.settle();
    }

    /// A constraint on variables that may have gone elsewhere, each plus a constant; `None` if one is nowhere.
    fn moved(&self, row: &Row, found: &impl Fn(usize) -> Option<(usize, i128)>) -> Option<Row> {
        let mut bound = row.bound();
        let mut coefficients = Vec::new();
        for &(variable, coefficient) in row.coefficients() {
            let (to, plus) = found(variable).or_else(|| self.copy(variable, found))?;
            bound = bound.checked_sub(coefficient.checked_mul(plus)?)?;
            coefficients.push((to, coefficient));
        }
        Row::new(coefficients, bound)
    }

    /// Where something goes that is a variable up to a constant.
    fn copy(&self, variable: usize, found: &impl Fn(usize) -> Option<(usize, i128)>) -> Option<(usize, i128)> {
        (0..self.zone.n_variables()).filter(|&other| other != variable).find_map(|other| {
            let above = i128::from(self.zone.bound(variable, other).value()?);
            let below = -i128::from(self.zone.bound(other, variable).value()?);
            let (to, plus) = found(other)?;
            (above == below).then_some((to, plus + above))
        })
    }

    /// Whether all that another stands for, this does.
    pub(super) fn includes(&self, other: &Self) -> bool {
        self.rows.iter().all(|row| other.rows.binary_search(row).is_ok()) && self.zone.includes(&other.zone)
    }

    /// The constraints.
    #[cfg(test)]
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Less: another zone, which holds this one, and of some constraints those that follow.
    pub(super) fn weakened(&self, zone: Zone, rows: impl Iterator<Item = Row>) -> Self {
        let follows = |row: &Row| entails(&self.zone, &self.rows, row);
        let mut data = Self { zone, rows: rows.filter(follows).collect() };
        data.settle();
        data
    }
}

#[cfg(test)]
mod tests {
    use super::Data;
    use crate::numeric::{Bound, Row, Term, Zone};

    fn row(coefficients: &[(usize, i128)], bound: i128) -> Row {
        Row::new(coefficients.iter().copied(), bound).expect("it fits")
    }

    /// `v₁ + v₂ ≤ 3`
    fn sum_at_most_three() -> Data {
        let mut data = Data::new(Zone::all(4));
        assert!(data.constrain(row(&[(1, 1), (2, 1)], 3)));
        data
    }

    #[test]
    fn what_contradicts_a_constraint_leaves_nothing() {
        let mut data = sum_at_most_three();
        assert!(data.add(0, 1, Bound::at_most(-2)), "v₁ ≥ 2");
        assert!(!data.add(0, 2, Bound::at_most(-2)), "v₂ ≥ 2");
        assert!(!sum_at_most_three().constrain(row(&[(1, -1), (2, -1)], -4)), "v₁ + v₂ ≥ 4");
    }

    #[test]
    fn a_constraint_follows_its_variables() {
        // (v₁, v₂, v₃) := (v₂ + 1, v₁, v₁)
        let terms = [Term::constant(0), Term { base: 2, plus: 1 }, Term::var(1), Term::var(1)];
        let after = sum_at_most_three().after(&terms);
        let known = after.weakened(Zone::all(4), [row(&[(1, 1), (2, 1)], 4), row(&[(1, 1), (2, 1)], 3)].into_iter());
        assert_eq!(known.rows, [row(&[(1, 1), (2, 1)], 4)]);
    }

    #[test]
    fn a_constraint_outlives_a_variable_that_has_a_copy() {
        let mut data = sum_at_most_three();
        assert!(data.equate(Term::var(3), Term { base: 1, plus: 5 }));
        data.forget(1);
        assert_eq!(data.rows, [row(&[(2, 1), (3, 1)], 8)]);
        data.forget(2);
        assert_eq!(data.rows, []);
    }

    #[test]
    fn who_knows_less_includes_who_knows_more() {
        let (all, some) = (Data::new(Zone::all(4)), sum_at_most_three());
        assert!(all.includes(&some) && !some.includes(&all));
    }
}
