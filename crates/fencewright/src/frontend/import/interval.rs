//! Intervals of integers, to see where a value surely stays within a domain.

/// Which integers something may be; either end may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) lo: Option<i64>,
    pub(crate) hi: Option<i64>,
}

impl Interval {
    /// All integers.
    pub(crate) const ALL: Self = Self { lo: None, hi: None };

    /// `lo..hi`, both included.
    pub(crate) fn range(lo: i64, hi: i64) -> Self {
        Self { lo: Some(lo), hi: Some(hi) }
    }

    /// One value.
    pub(crate) fn one(value: i64) -> Self {
        Self::range(value, value)
    }

    /// The value, if there is only one.
    pub(crate) fn constant(self) -> Option<i64> {
        self.lo.filter(|_| self.lo == self.hi)
    }

    /// Whether a value is among them.
    pub(crate) fn contains(self, value: i64) -> bool {
        self.lo.is_none_or(|lo| lo <= value) && self.hi.is_none_or(|hi| value <= hi)
    }

    /// Both ends, if there are both.
    pub(crate) fn ends(self) -> Option<(i64, i64)> {
        self.lo.zip(self.hi)
    }

    /// Whether no value is below the other's.
    pub(crate) fn starts_within(self, other: Self) -> bool {
        other.lo.is_none_or(|lo| self.lo.is_some_and(|it| it >= lo))
    }

    /// Whether no value is above the other's.
    pub(crate) fn ends_within(self, other: Self) -> bool {
        other.hi.is_none_or(|hi| self.hi.is_some_and(|it| it <= hi))
    }

    /// Whether the two have a value in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        let is_below = |a: Self, b: Self| a.hi.zip(b.lo).is_some_and(|(hi, lo)| hi < lo);
        !is_below(self, other) && !is_below(other, self)
    }

    /// The smallest interval that holds both.
    pub(crate) fn hull(self, other: Self) -> Self {
        let lo = self.lo.zip(other.lo).map(|(a, b)| a.min(b));
        let hi = self.hi.zip(other.hi).map(|(a, b)| a.max(b));
        Self { lo, hi }
    }

    /// Sums of a value of each.
    pub(crate) fn plus(self, other: Self) -> Self {
        let add = |a: Option<i64>, b: Option<i64>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
        Self { lo: add(self.lo, other.lo), hi: add(self.hi, other.hi) }
    }

    /// The negated values.
    pub(crate) fn negated(self) -> Self {
        let negate = |it: Option<i64>| it.and_then(i64::checked_neg);
        Self { lo: negate(self.hi), hi: negate(self.lo) }
    }
}

#[cfg(test)]
mod tests {
    use super::Interval;

    #[test]
    fn arithmetic_keeps_all_values() {
        let (a, b) = (Interval::range(0, 3), Interval::range(-1, 1));
        assert_eq!(a.plus(b), Interval::range(-1, 4));
        assert_eq!(a.plus(b.negated()), Interval::range(-1, 4));
        assert_eq!(a.hull(b), Interval::range(-1, 3));
        assert_eq!(a.plus(Interval::ALL), Interval::ALL);
        assert_eq!(Interval::one(i64::MAX).plus(Interval::one(1)), Interval::ALL);
        assert!(a.starts_within(Interval::range(0, 1)) && !a.ends_within(Interval::range(0, 1)));
        assert!(a.meets(b) && !a.meets(Interval::range(4, 5)) && a.meets(Interval::ALL));
        assert_eq!(Interval::one(2).constant(), Some(2));
    }
}
