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
    /// Just this value.
    pub const fn just(value: i128) -> Self {
        Self { least: Some(value), most: Some(value) }
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
