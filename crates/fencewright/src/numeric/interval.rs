//! Intervals: each variable has its range, and nothing is known of two together.

use crate::numeric::{Bound, Domain, Range, Row, Thresholds};

/// For each variable, bounds on it and on its opposite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervals(Vec<[Bound; 2]>);

impl Domain for Intervals {
    fn all(n: usize) -> Self {
        let mut bounds = vec![[Bound::NONE; 2]; n];
        bounds[0] = [Bound::ZERO; 2];
        Self(bounds)
    }

    fn assume(&mut self, row: &Row) -> bool {
        if row.coefficients().is_empty() {
            return row.bound() >= 0;
        }
        row.coefficients().iter().enumerate().all(|(at, &(variable, coefficient))| {
            let Some(rest) = row.rest(|it| self.range(it), &[at]) else { return true };
            let side = usize::from(coefficient < 0);
            let bounds = &mut self.0[variable];
            bounds[side] = bounds[side].min(Bound::ZERO.shifted(rest.div_euclid(coefficient.abs())));
            bounds[0].plus(bounds[1]) >= Bound::ZERO
        })
    }

    fn meet(&mut self, other: &Self) -> bool {
        self.0.iter_mut().zip(&other.0).all(|(mine, theirs)| {
            *mine = [mine[0].min(theirs[0]), mine[1].min(theirs[1])];
            mine[0].plus(mine[1]) >= Bound::ZERO
        })
    }

    fn forget(&mut self, variable: usize) {
        self.0[variable] = [Bound::NONE; 2];
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.0.swap(a, b);
    }

    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = [mine[0].max(theirs[0]), mine[1].max(theirs[1])];
        }
    }

    fn widen(&mut self, other: &Self, thresholds: &Thresholds) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = [0, 1].map(|side| thresholds.widened(mine[side], theirs[side]));
        }
    }

    fn includes(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine[0] >= theirs[0] && mine[1] >= theirs[1])
    }

    fn range(&self, variable: usize) -> Range {
        let [above, below] = self.0[variable];
        Range::of(above, below)
    }

    fn difference(&self, a: usize, b: usize) -> Range {
        if a == b { Range::just(0) } else { self.range(a).minus(self.range(b)) }
    }

    fn rows(&self) -> Vec<Row> {
        let sides = (1..self.0.len()).flat_map(|variable| [(variable, 0, 1), (variable, 1, -1)]);
        let row = |(variable, side, sign): (usize, usize, i128)| {
            Row::new([(variable, sign)], i128::from(self.0[variable][side].value()?))
        };
        sides.filter_map(row).collect()
    }

    fn bytes(n: usize) -> usize {
        2 * n * size_of::<Bound>()
    }
}
