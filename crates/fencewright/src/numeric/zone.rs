//! Zones: sets of integer valuations given by bounds on differences, as a matrix in closed form.
//!
//! ```text
//!    bounds[i][j] = c   says   vᵢ - vⱼ ≤ c;      v₀ is the constant 0
//! ```
//!
//! Dill, _Timing assumptions and verification of finite-state concurrent systems_, 1989. Closed means that no bound can
//! be tightened by adding others, so that inclusion and projection are read off. Over the integers that is exact.
//!
//! Besides, the remainders of some variables may be known, all by one modulus ([`Remainders`]). Then closed means more:
//! a bound between two of these is one that their difference can have, and what equals one of these up to a constant is
//! one of these. That is reached in one pass for each variable that becomes known. For let `K` be the known ones. Once
//! bounds are closed, those within `K` are all that follows for `K` from the others, since the others have coefficients
//! 1 and any integers. On `K`, where each `v` is `m·q + r`, bounds that are tightened to the next possible difference
//! are bounds on differences of the `q`; sums of such bounds are such bounds. A path between two of `K` through others
//! was no shorter before tightening, so closing again finds no bound within `K` that is not tight. So a zone is empty
//! if and only if that says so, and values can be picked one by one, those of `K` first.

use crate::numeric::Bound;
use crate::numeric::remainders::Remainders;
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
    remainders: Remainders,
}

impl Zone {
    /// All valuations of so many variables, the constant 0 among them.
    pub fn all(n: usize) -> Self {
        let mut bounds = vec![Bound::NONE; n * n];
        (0..n).for_each(|i| bounds[i * n + i] = Bound::ZERO);
        Self { n, bounds: bounds.into(), remainders: Remainders::none() }
    }

    /// The same zone, which keeps the remainders by a number that is not below 1.
    #[must_use]
    pub fn with_modulus(mut self, modulus: i64) -> Self {
        self.keep_remainders(modulus);
        self
    }

    fn keep_remainders(&mut self, modulus: i64) {
        if modulus != self.remainders.modulus() && self.remainders.is_trivial() {
            self.remainders = Remainders::new(modulus, self.n);
            let is_kept = self.settle();
            debug_assert!(is_kept, "no valuation goes by looking at remainders");
        }
    }

    /// All valuations of so many variables that keep to bounds `vᵢ - vⱼ ≤ c` and remainders `vᵢ ≡ r` by a modulus;
    /// `None` if there are none.
    pub fn new(
        n: usize,
        bounds: impl IntoIterator<Item = (usize, usize, Bound)>,
        (modulus, remainders): (i64, impl IntoIterator<Item = (usize, i64)>),
    ) -> Option<Self> {
        let mut zone = Self::all(n);
        zone.remainders = Remainders::new(modulus, n);
        remainders.into_iter().all(|(i, it)| modulus == 1 || zone.remainders.set(i, it)).then_some(())?;
        for (i, j, bound) in bounds {
            let there = &mut zone.bounds[i * n + j];
            *there = bound.min(*there);
        }
        (zone.close() && zone.settle()).then_some(zone)
    }

    /// How many variables there are, the constant 0 among them.
    pub fn n_variables(&self) -> usize {
        self.n
    }

    /// The bound on `vᵢ - vⱼ`.
    pub fn bound(&self, i: usize, j: usize) -> Bound {
        self.bounds[i * self.n + j]
    }

    /// The remainder of `vᵢ`, if it is known.
    pub fn remainder(&self, i: usize) -> Option<i64> {
        self.remainders.of(i)
    }

    /// What remainders are by; 1 if none are kept.
    pub fn modulus(&self) -> i64 {
        self.remainders.modulus()
    }

    /// How many differences are bounded, and remainders known.
    pub fn n_bounds(&self) -> usize {
        self.bounds.iter().filter(|bound| bound.is_some()).count() + self.remainders.n_known()
    }

    /// Adds `vᵢ ≡ remainder`; false if no valuation is left. All remainders of a zone are by one modulus; what is said
    /// by another one is not kept.
    #[must_use]
    pub fn add_remainder(&mut self, i: usize, modulus: i64, remainder: i64) -> bool {
        self.keep_remainders(modulus);
        if self.remainders.modulus() != modulus || modulus == 1 {
            return true;
        }
        let is_new = self.remainders.of(i).is_none();
        self.remainders.set(i, remainder) && (!is_new || self.settle())
    }

    /// Adds `vᵢ - vⱼ ≤ c`; false if no valuation is left.
    #[must_use]
    pub fn add(&mut self, i: usize, j: usize, c: Bound) -> bool {
        heed(1);
        let c = self.tightened(i, j, c);
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
        self.remainders.is_trivial() || self.settle()
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
        self.keep_remainders(other.modulus());
        let mut known = (0..other.n).filter_map(|i| Some((i, other.remainder(i)?)));
        known.all(|(i, it)| self.add_remainder(place(i), other.modulus(), it))
            && (0..other.n).all(|i| (0..other.n).all(|j| self.add(place(i), place(j), other.bound(i, j))))
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
        zone.remainders = self.remainders.before(n, terms)?;
        (zone.close() && zone.settle()).then_some(zone)
    }

    /// The valuations `(terms[0](v), terms[1](v), …)` for `v` in the zone: what holds after an assignment of the terms.
    /// `terms[0]` is the constant 0.
    pub fn after(&self, terms: &[Term]) -> Self {
        let bound = |s: Term, t: Term| self.bound(s.base, t.base).shifted(i128::from(s.plus) - i128::from(t.plus));
        let bounds = terms.iter().flat_map(|&s| terms.iter().map(move |&t| bound(s, t))).collect();
        Self { n: terms.len(), bounds, remainders: self.remainders.after(terms) }
    }

    /// The same zone with so many more variables behind, of which nothing is known.
    pub fn extended(&self, n_more: usize) -> Self {
        let mut zone = Self::all(self.n + n_more);
        for i in 0..self.n {
            zone.bounds[i * zone.n..][..self.n].copy_from_slice(&self.bounds[i * self.n..][..self.n]);
        }
        zone.remainders = self.remainders.extended(n_more);
        zone
    }

    /// Nothing is known of a variable any more.
    pub fn forget(&mut self, variable: usize) {
        for i in (0..self.n).filter(|&i| i != variable) {
            self.bounds[i * self.n + variable] = Bound::NONE;
            self.bounds[variable * self.n + i] = Bound::NONE;
        }
        self.remainders.forget(variable);
    }

    /// A zone that holds this one, with every bound replaced by a weaker one; remainders stay.
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
        let is_kept = !has_changed || (zone.close() && zone.settle());
        debug_assert!(is_kept, "it holds a zone that is not empty");
        zone
    }

    /// Grows to hold another zone as well.
    pub fn join(&mut self, other: &Self) {
        self.bounds.iter_mut().zip(&other.bounds).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
        self.remainders.join(&other.remainders);
    }

    /// A zone that holds both, without the bounds that the other does not have.
    #[must_use]
    pub fn widened(&self, other: &Self) -> Self {
        Widened::new(self).widened(other)
    }

    /// Whether every valuation of another zone is one of this.
    pub fn includes(&self, other: &Self) -> bool {
        heed(1);
        self.bounds.iter().zip(&other.bounds).all(|(mine, theirs)| mine >= theirs)
            && self.remainders.includes(&other.remainders)
    }

    /// A valuation in which the variables that are given have their values; `None` if there is none that fits 64 bits.
    pub fn valuation(&self, given: &[Option<i64>]) -> Option<Vec<i64>> {
        let mut zone = self.clone();
        let mut values = vec![0; self.n];
        let (given_ones, rest): (Vec<usize>, Vec<usize>) = (1..self.n).partition(|&i| given[i].is_some());
        let (known, open): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(|&i| self.remainder(i).is_some());
        for i in given_ones.into_iter().chain(known).chain(open) {
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
        let modulus = self.modulus();
        let Some(remainder) = self.remainder(i) else {
            return (least <= most).then(|| 0.clamp(least, most));
        };
        // Bounds against 0 are tight: they have the remainder themselves.
        let candidates = [remainder, remainder - modulus, least, most].into_iter();
        let fits = |it: &i64| least <= *it && *it <= most && it.rem_euclid(modulus) == remainder;
        candidates.filter(fits).min_by_key(|it| it.unsigned_abs())
    }

    /// The strongest bound on `vᵢ - vⱼ` that follows from one on them and their remainders.
    fn tightened(&self, i: usize, j: usize, bound: Bound) -> Bound {
        let (Some(a), Some(b), Some(value)) = (self.remainder(i), self.remainder(j), bound.value()) else {
            return bound;
        };
        let modulus = self.modulus();
        let over = (value.rem_euclid(modulus) - a + b).rem_euclid(modulus);
        value.checked_sub(over).map_or(bound, Bound::at_most)
    }

    /// Tightens bounds and remainders by each other; false if no valuation is left. Bounds are closed before.
    fn settle(&mut self) -> bool {
        if self.remainders.is_trivial() {
            return true;
        }
        loop {
            self.find_remainders();
            let mut has_changed = false;
            for (i, j) in (0..self.n).flat_map(|i| (0..self.n).map(move |j| (i, j))) {
                let tightened = self.tightened(i, j, self.bound(i, j));
                has_changed |= tightened != self.bound(i, j);
                self.bounds[i * self.n + j] = tightened;
            }
            if !has_changed {
                return true;
            }
            if !self.close() {
                return false;
            }
        }
    }

    /// What is a variable whose remainder is known, up to a constant, has a remainder that is known.
    fn find_remainders(&mut self) {
        let known: Vec<usize> = (0..self.n).filter(|&i| self.remainder(i).is_some()).collect();
        for i in (0..self.n).filter(|&i| self.remainder(i).is_none()).collect::<Vec<_>>() {
            let found = known.iter().find_map(|&j| {
                let (above, below) = (self.bound(i, j).value()?, self.bound(j, i).value()?);
                (above.checked_neg() == Some(below)).then_some(Term { base: j, plus: above })
            });
            if let Some(remainder) = found.and_then(|term| self.remainders.of_term(term)) {
                let is_new = self.remainders.set(i, remainder);
                debug_assert!(is_new, "it was not known");
            }
        }
    }

    /// In steps of [`heed`]: it goes with the cube of the number of variables, of which some thirty are few.
    fn work_of_closing(&self) -> u32 {
        let cube = (self.n as u64).saturating_pow(3) / 256;
        8 + u32::try_from(cube.saturating_sub(128)).unwrap_or(u32::MAX / 2)
    }

    /// Tightens all bounds by each other; false if no valuation is left.
    fn close(&mut self) -> bool {
        heed(self.work_of_closing());
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
    remainders: Remainders,
}

impl Widened {
    /// Starts with this zone.
    pub fn new(zone: &Zone) -> Self {
        Self { bounds: zone.bounds.clone(), remainders: zone.remainders.clone() }
    }

    /// Drops the bounds that the other zone does not have; what is left.
    pub fn widened(&mut self, other: &Zone) -> Zone {
        for (mine, theirs) in self.bounds.iter_mut().zip(&other.bounds) {
            if theirs > mine {
                *mine = Bound::NONE;
            }
        }
        self.remainders.join(&other.remainders);
        let mut zone = Zone { n: other.n, bounds: self.bounds.clone(), remainders: self.remainders.clone() };
        let is_kept = zone.close() && zone.settle();
        debug_assert!(is_kept, "it holds a zone that is not empty");
        zone
    }
}

#[cfg(test)]
mod tests;
