//! Zones: sets of integer valuations given by bounds on differences, as a matrix in closed form.
//!
//! ```text
//!    bounds[i][j] = c   says   vᵢ - vⱼ ≤ c;      v₀ is the constant 0
//! ```
//!
//! Dill, _Timing assumptions and verification of finite-state concurrent systems_, 1989. Closed means that no bound can
//! be tightened by adding others, so that inclusion and projection are read off. Over the integers that is exact.

use crate::numeric::Bound;
use crate::watch::heed;

/// A variable plus a constant; variable 0 is the constant 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// The variable.
    pub base: usize,
    /// What is added to it.
    pub plus: i64,
}

impl Term {
    /// A variable.
    pub const fn var(base: usize) -> Self {
        Self { base, plus: 0 }
    }

    /// A constant.
    pub const fn constant(value: i64) -> Self {
        Self { base: 0, plus: value }
    }
}

/// A set of valuations, never empty unless its bounds were weakened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Zone {
    n: usize,
    /// Closed, row by row; zero on the diagonal.
    bounds: Box<[Bound]>,
}

impl Zone {
    /// All valuations of so many variables, the constant 0 among them.
    pub fn all(n: usize) -> Self {
        let mut bounds = vec![Bound::NONE; n * n];
        (0..n).for_each(|i| bounds[i * n + i] = Bound::ZERO);
        Self { n, bounds: bounds.into() }
    }

    /// How many variables there are, the constant 0 among them.
    pub fn n_variables(&self) -> usize {
        self.n
    }

    /// The bound on `vᵢ - vⱼ`.
    pub fn bound(&self, i: usize, j: usize) -> Bound {
        self.bounds[i * self.n + j]
    }

    /// How many differences are bounded.
    pub fn n_bounds(&self) -> usize {
        self.bounds.iter().filter(|bound| bound.is_some()).count()
    }

    /// Adds `vᵢ - vⱼ ≤ c`; false if no valuation is left.
    #[must_use]
    pub fn add(&mut self, i: usize, j: usize, c: Bound) -> bool {
        heed(8);
        if c >= self.bound(i, j) {
            return true;
        }
        if self.bound(j, i).plus(c) < Bound::ZERO {
            return false;
        }
        for a in 0..self.n {
            let to_j = self.bound(a, i).plus(c);
            if to_j.is_some() {
                self.lower_row(a, j, to_j);
            }
        }
        true
    }

    /// Lowers the bounds of `vₐ` against all that `vⱼ` is bounded by.
    fn lower_row(&mut self, a: usize, j: usize, to_j: Bound) {
        for b in 0..self.n {
            let through = to_j.plus(self.bound(j, b));
            let bound = &mut self.bounds[a * self.n + b];
            *bound = through.min(*bound);
        }
    }

    /// Adds `s - t ≤ c`; false if no valuation is left.
    #[must_use]
    pub fn add_difference(&mut self, s: Term, t: Term, c: i64) -> bool {
        let shift = i128::from(t.plus) - i128::from(s.plus);
        let bound = Bound::at_most(c).shifted(shift);
        if s.base == t.base { bound >= Bound::ZERO } else { self.add(s.base, t.base, bound) }
    }

    /// Adds `s = t`; false if no valuation is left.
    #[must_use]
    pub fn equate(&mut self, s: Term, t: Term) -> bool {
        self.add_difference(s, t, 0) && self.add_difference(t, s, 0)
    }

    /// Adds all bounds of another zone, whose variable `i` is `place(i)` here; false if no valuation is left.
    #[must_use]
    pub fn meet(&mut self, other: &Self, place: impl Fn(usize) -> usize) -> bool {
        (0..other.n).all(|i| (0..other.n).all(|j| self.add(place(i), place(j), other.bound(i, j))))
    }

    /// The valuations `v` of `n` variables such that `(terms[0](v), terms[1](v), …)` is in the zone: what holds before
    /// an assignment of the terms if the zone holds after it. `terms[0]` is the constant 0. `None` if there are none.
    pub fn before(&self, n: usize, terms: &[Term]) -> Option<Self> {
        debug_assert_eq!(terms.len(), self.n, "every variable has a term");
        let mut zone = Self::all(n);
        for (i, s) in terms.iter().enumerate() {
            for (j, t) in terms.iter().enumerate() {
                let shift = i128::from(t.plus) - i128::from(s.plus);
                let bound = self.bound(i, j).shifted(shift);
                let there = &mut zone.bounds[s.base * n + t.base];
                *there = bound.min(*there);
            }
        }
        zone.close().then_some(zone)
    }

    /// The valuations `(terms[0](v), terms[1](v), …)` for `v` in the zone: what holds after an assignment of the terms.
    /// `terms[0]` is the constant 0.
    pub fn after(&self, terms: &[Term]) -> Self {
        let bound = |s: Term, t: Term| self.bound(s.base, t.base).shifted(i128::from(s.plus) - i128::from(t.plus));
        let bounds = terms.iter().flat_map(|&s| terms.iter().map(move |&t| bound(s, t))).collect();
        Self { n: terms.len(), bounds }
    }

    /// The same zone with so many more variables behind, of which nothing is known.
    pub fn extended(&self, n_more: usize) -> Self {
        let mut zone = Self::all(self.n + n_more);
        for i in 0..self.n {
            zone.bounds[i * zone.n..][..self.n].copy_from_slice(&self.bounds[i * self.n..][..self.n]);
        }
        zone
    }

    /// Nothing is known of a variable any more.
    pub fn forget(&mut self, variable: usize) {
        for i in (0..self.n).filter(|&i| i != variable) {
            self.bounds[i * self.n + variable] = Bound::NONE;
            self.bounds[variable * self.n + i] = Bound::NONE;
        }
    }

    /// A zone that holds this one, with every bound replaced by a weaker one.
    #[must_use]
    pub fn loosened(&self, weaker: impl Fn(usize, usize, Bound) -> Bound) -> Self {
        let mut zone = self.clone();
        let mut has_changed = false;
        for i in 0..self.n {
            for j in (0..self.n).filter(|&j| j != i) {
                let (bound, weaker) = (self.bound(i, j), weaker(i, j, self.bound(i, j)));
                debug_assert!(weaker >= bound, "a weaker bound is no smaller");
                has_changed |= weaker != bound;
                zone.bounds[i * self.n + j] = weaker;
            }
        }
        let is_kept = !has_changed || zone.close();
        debug_assert!(is_kept, "it holds a zone that is not empty");
        zone
    }

    /// Grows to hold another zone as well.
    pub fn join(&mut self, other: &Self) {
        self.bounds.iter_mut().zip(&other.bounds).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    /// A zone that holds both, without the bounds that the other does not have.
    #[must_use]
    pub fn widened(&self, other: &Self) -> Self {
        Widened::new(self).widened(other)
    }

    /// Whether every valuation of another zone is one of this.
    pub fn includes(&self, other: &Self) -> bool {
        heed(4);
        self.bounds.iter().zip(&other.bounds).all(|(mine, theirs)| mine >= theirs)
    }

    /// A valuation in which the variables that are given have their values; `None` if there is none that fits 64 bits.
    pub fn valuation(&self, given: &[Option<i64>]) -> Option<Vec<i64>> {
        let mut zone = self.clone();
        let mut values = vec![0; self.n];
        let (known, open): (Vec<usize>, Vec<usize>) = (1..self.n).partition(|&i| given[i].is_some());
        for i in known.into_iter().chain(open) {
            values[i] = given[i].or_else(|| zone.smallest(i))?;
            if !zone.equate(Term::var(i), Term::constant(values[i])) {
                return None;
            }
        }
        Some(values)
    }

    /// The value of a variable that is least in magnitude.
    fn smallest(&self, i: usize) -> Option<i64> {
        let most = self.bound(i, 0).value().unwrap_or(i64::MAX);
        let least = self.bound(0, i).value().map_or(Some(i64::MIN), i64::checked_neg)?;
        (least <= most).then(|| 0.clamp(least, most))
    }

    /// Tightens all bounds by each other; false if no valuation is left.
    fn close(&mut self) -> bool {
        heed(64);
        for via in 0..self.n {
            for a in 0..self.n {
                let to_via = self.bound(a, via);
                if a != via && to_via.is_some() {
                    self.lower_row(a, via, to_via);
                }
            }
        }
        (0..self.n).all(|i| self.bound(i, i) >= Bound::ZERO)
    }
}

/// A zone that is widened again and again, which ends: each time a bound is dropped, and none comes back.
///
/// That needs the bounds as they were before they tightened each other.
#[derive(Clone, Debug)]
pub struct Widened {
    /// Not closed.
    bounds: Box<[Bound]>,
}

impl Widened {
    /// Starts with this zone.
    pub fn new(zone: &Zone) -> Self {
        Self { bounds: zone.bounds.clone() }
    }

    /// Drops the bounds that the other zone does not have; what is left.
    pub fn widened(&mut self, other: &Zone) -> Zone {
        for (mine, theirs) in self.bounds.iter_mut().zip(&other.bounds) {
            if theirs > mine {
                *mine = Bound::NONE;
            }
        }
        let mut zone = Zone { n: other.n, bounds: self.bounds.clone() };
        let is_kept = zone.close();
        debug_assert!(is_kept, "it holds a zone that is not empty");
        zone
    }
}

#[cfg(test)]
mod tests;
