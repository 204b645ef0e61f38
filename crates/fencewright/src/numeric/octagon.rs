//! Octagons: bounds on variables, differences and sums of two.
//!
//! Miné, _The octagon abstract domain_, 2006. Each variable `x` stands twice, as `x` and as `-x`, and a matrix bounds
//! the differences of these literals, so that `x + y ≤ c` is one of them, and `x ≤ c` says that `x - (-x) ≤ 2c`.
//!
//! ```text
//!    bounds[i][j] = c   says   lᵢ - lⱼ ≤ c;      l₂ₖ = xₖ₊₁,  l₂ₖ₊₁ = -xₖ₊₁
//! ```
//!
//! Closed over the integers as Bagnara, Hill and Zaffanella have it (_Weakly-relational shapes for numeric
//! abstractions_, 2009): shortest paths, then bounds on one variable rounded to even numbers, then half the sum of two
//! such bounds against each entry. An entry that 64 bits do not hold is weaker than it could be.

use crate::numeric::{Bound, Domain, Linear, Range, Row, Thresholds};
use crate::watch::heed;

/// A set of valuations, never empty unless its bounds were weakened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Octagon {
    /// How many literals: two for each variable but the constant 0.
    n: usize,
    /// Closed, row by row; zero on the diagonal. The same for `(i, j)` as for the opposites `(j̄, ī)`.
    bounds: Box<[Bound]>,
}

/// The literal of a variable with a sign.
fn literal(variable: usize, is_positive: bool) -> usize {
    2 * (variable - 1) + usize::from(!is_positive)
}

/// The literal with the other sign.
fn opposite(literal: usize) -> usize {
    literal ^ 1
}

/// Twice a number, as a bound.
fn doubled(value: i128) -> Bound {
    Bound::ZERO.shifted(value.saturating_mul(2))
}

/// Half of a bound on twice something.
fn halved(bound: Bound) -> Bound {
    bound.value().map_or(Bound::NONE, |value| Bound::at_most(value.div_euclid(2)))
}

impl Octagon {
    fn bound(&self, i: usize, j: usize) -> Bound {
        self.bounds[i * self.n + j]
    }

    fn lower(&mut self, i: usize, j: usize, bound: Bound) {
        let here = &mut self.bounds[i * self.n + j];
        *here = bound.min(*here);
    }

    /// Adds `lᵢ - lⱼ ≤ c`, which is `l_j̄ - l_ī ≤ c` as well; false if no valuation is left.
    fn add(&mut self, i: usize, j: usize, c: Bound) -> bool {
        if c >= self.bound(i, j) {
            return true;
        }
        if self.bound(j, i).plus(c) < Bound::ZERO {
            return false;
        }
        self.shorten(i, j, c);
        self.shorten(opposite(j), opposite(i), c);
        self.tighten()
    }

    /// Lets all paths lead over one more edge.
    fn shorten(&mut self, i: usize, j: usize, c: Bound) {
        heed(32);
        for a in 0..self.n {
            let to_j = self.bound(a, i).plus(c);
            if to_j.is_some() {
                for b in 0..self.n {
                    self.lower(a, b, to_j.plus(self.bound(j, b)));
                }
            }
        }
    }

    /// Shortest paths; false if no valuation is left.
    fn close(&mut self) -> bool {
        heed(64);
        for via in 0..self.n {
            for a in 0..self.n {
                let to_via = self.bound(a, via);
                if to_via.is_some() {
                    for b in 0..self.n {
                        self.lower(a, b, to_via.plus(self.bound(via, b)));
                    }
                }
            }
        }
        self.tighten()
    }

    /// What follows from shortest paths because variables are integers; false if no valuation is left.
    fn tighten(&mut self) -> bool {
        for i in 0..self.n {
            if let Some(value) = self.bound(i, opposite(i)).value() {
                self.lower(i, opposite(i), Bound::at_most(value - value.rem_euclid(2)));
            }
        }
        let is_possible = |i: usize| {
            self.bound(i, i) >= Bound::ZERO
                && self.bound(i, opposite(i)).plus(self.bound(opposite(i), i)) >= Bound::ZERO
        };
        if !(0..self.n).all(is_possible) {
            return false;
        }
        for i in 0..self.n {
            let mine = halved(self.bound(i, opposite(i)));
            for j in (0..self.n).filter(|&j| j != i) {
                self.lower(i, j, mine.plus(halved(self.bound(opposite(j), j))));
            }
        }
        true
    }

    /// A variable gets the value of one, or of the constant 0, with a constant added. Closed stays closed: each bound
    /// is one between literals that were there, shifted, or half of one.
    fn shift(&mut self, variable: usize, base: usize, plus: i64) {
        let old = self.clone();
        let (lit, plus) = (literal(variable, true), i128::from(plus));
        // The literal that one of the variable stands for now, and what is added to it.
        let before = |i: usize| match i {
            i if i / 2 != lit / 2 => (Some(i), 0),
            i if base == 0 => (None, if i == lit { plus } else { -plus }),
            i => (Some(literal(base, i == lit)), if i == lit { plus } else { -plus }),
        };
        for i in 0..self.n {
            for j in (0..self.n).filter(|&j| j != i && (i / 2 == lit / 2 || j / 2 == lit / 2)) {
                let ((a, added), (b, taken)) = (before(i), before(j));
                let bound = match (a, b) {
                    (Some(a), Some(b)) => old.bound(a, b),
                    (Some(a), None) => halved(old.bound(a, opposite(a))),
                    (None, Some(b)) => halved(old.bound(opposite(b), b)),
                    (None, None) => Bound::ZERO,
                };
                self.bounds[i * self.n + j] = bound.shifted(added - taken);
            }
        }
    }

    /// What one term of a constraint, or two that have the same factor, is bounded by, given the ranges of the others.
    fn assume_terms(&mut self, row: &Row, some: &[usize]) -> bool {
        let terms: Vec<(usize, i128)> = some.iter().map(|&at| row.coefficients()[at]).collect();
        let factor = terms[0].1.abs();
        if terms.iter().any(|it| it.1.abs() != factor) {
            return true;
        }
        let Some(rest) = row.rest(|it| self.range(it), some) else { return true };
        let most = rest.div_euclid(factor);
        let of = |at: usize| literal(terms[at].0, terms[at].1 > 0);
        match terms.len() {
            1 => self.add(of(0), opposite(of(0)), doubled(most)),
            _ => self.add(of(0), opposite(of(1)), Bound::ZERO.shifted(most)),
        }
    }
}

impl Domain for Octagon {
    fn all(n: usize) -> Self {
        let n = 2 * (n - 1);
        let mut bounds = vec![Bound::NONE; n * n];
        (0..n).for_each(|i| bounds[i * n + i] = Bound::ZERO);
        Self { n, bounds: bounds.into() }
    }

    fn assume(&mut self, row: &Row) -> bool {
        let n = row.coefficients().len();
        (n > 0 || row.bound() >= 0)
            && (0..n)
                .all(|at| self.assume_terms(row, &[at]) && (0..at).all(|other| self.assume_terms(row, &[at, other])))
    }

    fn meet(&mut self, other: &Self) -> bool {
        self.bounds.iter_mut().zip(&other.bounds).for_each(|(mine, theirs)| *mine = (*mine).min(*theirs));
        self.close()
    }

    fn forget(&mut self, variable: usize) {
        for mine in [literal(variable, true), literal(variable, false)] {
            for i in (0..self.n).filter(|&i| i != mine) {
                self.bounds[i * self.n + mine] = Bound::NONE;
                self.bounds[mine * self.n + i] = Bound::NONE;
            }
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        let place = |i: usize| match i / 2 + 1 {
            variable if variable == a => literal(b, i.is_multiple_of(2)),
            variable if variable == b => literal(a, i.is_multiple_of(2)),
            _ => i,
        };
        let pairs = (0..self.n).flat_map(|i| (0..self.n).map(move |j| (i, j)));
        self.bounds = pairs.map(|(i, j)| self.bound(place(i), place(j))).collect();
    }

    fn assign(&mut self, variable: usize, value: &Linear, spare: usize) -> bool {
        let Some((base, plus)) = value.as_shifted() else { return self.assign_any(variable, value, spare) };
        self.shift(variable, base, plus);
        true
    }

    fn join(&mut self, other: &Self) {
        self.bounds.iter_mut().zip(&other.bounds).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    fn widen(&mut self, other: &Self, thresholds: &Thresholds) {
        for i in 0..self.n {
            for j in 0..self.n {
                let (mine, theirs) = (self.bound(i, j), other.bound(i, j));
                self.bounds[i * self.n + j] = if j == opposite(i) {
                    // Both are even, or weaker than they could be.
                    let widened = thresholds.widened(halved(mine), halved(theirs));
                    widened.value().map_or(Bound::NONE, |value| doubled(i128::from(value)).max(mine).max(theirs))
                } else {
                    thresholds.widened(mine, theirs)
                };
            }
        }
        let is_kept = self.close();
        debug_assert!(is_kept, "it holds an octagon that is not empty");
    }

    fn includes(&self, other: &Self) -> bool {
        self.bounds.iter().zip(&other.bounds).all(|(mine, theirs)| mine >= theirs)
    }

    fn range(&self, variable: usize) -> Range {
        if variable == 0 {
            return Range::just(0);
        }
        let [above, below] = [true, false].map(|sign| literal(variable, sign));
        Range::of(halved(self.bound(above, below)), halved(self.bound(below, above)))
    }

    fn difference(&self, a: usize, b: usize) -> Range {
        match (a, b) {
            (a, b) if a == b => Range::just(0),
            (a, 0) => self.range(a),
            (0, b) => self.range(b).negated(),
            _ => {
                let [a, b] = [a, b].map(|variable| literal(variable, true));
                Range::of(self.bound(a, b), self.bound(b, a))
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let pairs = (0..self.n).flat_map(|i| (0..self.n).map(move |j| (i, j)));
        // Of each constraint and its mirror image one.
        let once = pairs.filter(|&(i, j)| i != j && (i, j) <= (opposite(j), opposite(i)));
        let sign = |i: usize| if i.is_multiple_of(2) { 1 } else { -1 };
        let row = |(i, j): (usize, usize)| {
            let bound = i128::from(self.bound(i, j).value()?);
            Row::new([(i / 2 + 1, sign(i)), (j / 2 + 1, -sign(j))], bound)
        };
        once.filter_map(row).collect()
    }

    fn bytes(n: usize) -> usize {
        4 * n * n * size_of::<Bound>()
    }
}
