//! Remainders of the variables of a zone: what some of them leave when they are divided by one number.
//!
//! Parity and the place in a ring are remainders, and no bound on a difference says them. A zone with remainders is a
//! set of valuations in which, besides, `vᵢ ≡ rᵢ (mod m)` for those `i` that are *known*; all share the modulus `m`.
//! The constant 0 is known. An assignment `x := y + c` gives `x` the remainder of `y` plus `c`, whatever waits in which
//! buffer, so that a remainder goes with its value through store buffers and memory.

use crate::numeric::Term;

/// What is known of the remainders of variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Remainders {
    /// 1 says nothing.
    modulus: i64,
    /// By variable, from 0 to below the modulus; empty if the modulus is 1.
    known: Box<[Option<i64>]>,
}

impl Remainders {
    /// Nothing can be known.
    pub(super) fn none() -> Self {
        Self { modulus: 1, known: Box::default() }
    }

    /// Nothing is known of so many variables but of the constant 0.
    pub(super) fn new(modulus: i64, n: usize) -> Self {
        if modulus <= 1 {
            return Self::none();
        }
        let known = (0..n).map(|i| (i == 0).then_some(0)).collect();
        Self { modulus, known }
    }

    /// What is divided by.
    pub(super) fn modulus(&self) -> i64 {
        self.modulus
    }

    /// Whether nothing can be known.
    pub(super) fn is_trivial(&self) -> bool {
        self.modulus == 1
    }

    /// The remainder of a variable, if it is known.
    pub(super) fn of(&self, variable: usize) -> Option<i64> {
        self.known.get(variable).copied().flatten()
    }

    /// The remainder of a term, if it is known.
    pub(super) fn of_term(&self, term: Term) -> Option<i64> {
        self.of(term.base).map(|it| (it + term.plus.rem_euclid(self.modulus)) % self.modulus)
    }

    /// A variable has this remainder; false if it has another one.
    #[must_use]
    pub(super) fn set(&mut self, variable: usize, remainder: i64) -> bool {
        let remainder = remainder.rem_euclid(self.modulus);
        *self.known[variable].get_or_insert(remainder) == remainder
    }

    /// Nothing is known of a variable any more.
    pub(super) fn forget(&mut self, variable: usize) {
        if let Some(known) = self.known.get_mut(variable) {
            *known = None;
        }
    }

    /// How many are known.
    pub(super) fn n_known(&self) -> usize {
        self.known.iter().flatten().count()
    }

    /// The same for so many more variables behind.
    pub(super) fn extended(&self, n_more: usize) -> Self {
        if self.is_trivial() {
            return Self::none();
        }
        let known = self.known.iter().copied().chain(std::iter::repeat_n(None, n_more)).collect();
        Self { modulus: self.modulus, known }
    }

    /// What is known after an assignment of the terms.
    pub(super) fn after(&self, terms: &[Term]) -> Self {
        if self.is_trivial() {
            return Self::none();
        }
        Self { modulus: self.modulus, known: terms.iter().map(|&it| self.of_term(it)).collect() }
    }

    /// What is known of `n` variables before an assignment of the terms if this is known after it; `None` if that
    /// cannot be.
    pub(super) fn before(&self, n: usize, terms: &[Term]) -> Option<Self> {
        let mut before = Self::new(self.modulus, n);
        let mut known = terms.iter().enumerate().filter_map(|(i, term)| Some((term, self.of(i)?)));
        known.all(|(term, it)| before.set(term.base, it - term.plus.rem_euclid(self.modulus))).then_some(before)
    }

    /// Only what the other knows as well is left.
    pub(super) fn join(&mut self, other: &Self) {
        for (i, known) in self.known.iter_mut().enumerate() {
            *known = known.filter(|&it| other.of(i) == Some(it));
        }
    }

    /// Whether all that is known here the other knows.
    pub(super) fn includes(&self, other: &Self) -> bool {
        self.known.iter().enumerate().all(|(i, known)| known.is_none() || *known == other.of(i))
    }
}
