//! The values that a variable may have, as far as a description of them says.

use crate::numeric::Bound;

/// From the least to the greatest value, where there are such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The least value.
    pub least: Option<i128>,
    /// The greatest value.
    pub most: Option<i128>,
}

impl Range {
    /// All integers.
    pub const ALL: Self = Self { least: None, most: None };

    /// Just this value.
    pub const fn just(value: i128) -> Self {
        Self { least: Some(value), most: Some(value) }
    }

    /// `least..most`, both included.
    pub fn from_to(least: i64, most: i64) -> Self {
        Self { least: Some(least.into()), most: Some(most.into()) }
    }

    /// Both ends, if there are both and they fit 64 bits.
    pub fn ends(self) -> Option<(i64, i64)> {
        Some((i64::try_from(self.least?).ok()?, i64::try_from(self.most?).ok()?))
    }

    /// The value, if there is only one.
    pub fn constant(self) -> Option<i64> {
        self.ends().filter(|(least, most)| least == most).map(|(least, _)| least)
    }

    /// Whether a value is in here.
    pub fn contains(self, value: i64) -> bool {
        let value = i128::from(value);
        self.least.is_none_or(|least| least <= value) && self.most.is_none_or(|most| value <= most)
    }

    /// Whether no value from here is below all of the other's.
    pub fn starts_within(self, other: Self) -> bool {
        other.least.is_none_or(|least| self.least.is_some_and(|it| it >= least))
    }

    /// Whether no value from here is above all of the other's.
    pub fn ends_within(self, other: Self) -> bool {
        other.most.is_none_or(|most| self.most.is_some_and(|it| it <= most))
    }

    /// Whether the two have a value in common.
    pub fn meets(self, other: Self) -> bool {
        let is_below = |a: Self, b: Self| a.most.zip(b.least).is_some_and(|(most, least)| most < least);
        !is_below(self, other) && !is_below(other, self)
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        let least = self.least.zip(other.least).map(|(a, b)| a.min(b));
        let most = self.most.zip(other.most).map(|(a, b)| a.max(b));
        Self { least, most }
    }

    /// The same, without an end that does not fit 64 bits.
    #[must_use]
    pub fn in_64_bits(self) -> Self {
        let fits = |end: &i128| i64::try_from(*end).is_ok();
        Self { least: self.least.filter(fits), most: self.most.filter(fits) }
    }

    /// What upper bounds on a variable and on its opposite say.
    pub fn of(above: Bound, below: Bound) -> Self {
        Self { least: below.value().map(|it| -i128::from(it)), most: above.value().map(i128::from) }
    }

    /// What the opposite of a value from here may be.
    #[must_use]
    pub fn negated(self) -> Self {
        let opposite = |end: Option<i128>| end.and_then(i128::checked_neg);
        Self { least: opposite(self.most), most: opposite(self.least) }
    }

    /// What the sum of a value from here and one from there may be.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.minus(other.negated())
    }

    /// What the difference of a value from here and one from there may be.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let minus = |a: Option<i128>, b: Option<i128>| a?.checked_sub(b?);
        Self { least: minus(self.least, other.most), most: minus(self.most, other.least) }
    }

    /// The least that a multiple of a value from here can be.
    pub fn least_multiple(self, coefficient: i128) -> Option<i128> {
        let end = if coefficient > 0 { self.least } else { self.most };
        coefficient.checked_mul(end?)
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn arithmetic_keeps_all_values() {
        let (a, b) = (Range::from_to(0, 3), Range::from_to(-1, 1));
        assert_eq!(a.plus(b), Range::from_to(-1, 4));
        assert_eq!(a.minus(b), Range::from_to(-1, 4));
        assert_eq!(a.hull(b), Range::from_to(-1, 3));
        assert_eq!(a.plus(Range::ALL), Range::ALL);
        assert_eq!(Range::just(i64::MAX.into()).plus(Range::just(1)).in_64_bits(), Range::ALL);
        assert!(a.starts_within(Range::from_to(0, 1)) && !a.ends_within(Range::from_to(0, 1)));
        assert!(a.meets(b) && !a.meets(Range::from_to(4, 5)) && a.meets(Range::ALL));
        assert_eq!(Range::just(2).constant(), Some(2));
    }
}
