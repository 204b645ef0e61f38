//! Upper bounds whose arithmetic cannot overflow.
//!
//! A bound is a 64-bit integer or none. Where a sum needs more than 64 bits, the result is a *weaker* bound: none
//! above, the least integer below. So a set described by bounds can only grow by it; whoever proves something of all
//! its members proves it of those that count.

/// An upper bound, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound(i64);

impl Bound {
    /// No bound: greater than every other.
    pub const NONE: Self = Self(i64::MAX);
    /// At most zero.
    pub const ZERO: Self = Self(0);

    /// At most this.
    pub const fn at_most(value: i64) -> Self {
        Self(value)
    }

    /// The bound, if there is one.
    pub fn value(self) -> Option<i64> {
        self.is_some().then_some(self.0)
    }

    /// Whether there is a bound.
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    /// The bound of a sum of two things that have these bounds; weaker where 64 bits are not enough.
    pub fn plus(self, other: Self) -> Self {
        if self.is_some() && other.is_some() { Self(self.0.saturating_add(other.0)) } else { Self::NONE }
    }

    /// The bound of something that is so much greater; weaker where 64 bits are not enough.
    pub fn shifted(self, by: i128) -> Self {
        let Some(value) = self.value() else { return Self::NONE };
        // Both ends of the clamp are weaker than what they stand for.
        Self((i128::from(value) + by).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::Bound;

    #[test]
    fn what_does_not_fit_becomes_weaker() {
        let (most, least) = (Bound::at_most(i64::MAX - 1), Bound::at_most(i64::MIN));
        assert_eq!(most.plus(most), Bound::NONE);
        assert_eq!(least.plus(least), least);
        assert_eq!(least.plus(Bound::NONE), Bound::NONE);
        assert_eq!(Bound::NONE.shifted(-5), Bound::NONE);
        assert_eq!(most.shifted(1), Bound::NONE);
        assert_eq!(least.shifted(-1), least);
        assert_eq!(most.shifted(2 * i128::from(i64::MIN)), Bound::at_most(i64::MIN));
        assert_eq!(Bound::at_most(3).plus(Bound::at_most(-5)), Bound::at_most(-2));
    }
}
