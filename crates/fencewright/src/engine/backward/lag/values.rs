//! Sets of values of a location, in one word.
//!
//! ```text
//!    few values:   one bit each          {0,2} = …0101
//!    many values:  one of them, or any   {7}   = mark | 7
//! ```
//!
//! Constraints speak of sets so that a loop that waits for `x != 0` is one step back, not one for each value.

use crate::engine::automaton::Datum;
use crate::program::LocationId;
use crate::util::{BitSet, IndexVec};

/// A set of values; empty sets do not occur in constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::engine::backward) struct Values(u64);

/// The bits of a set.
pub(in crate::engine::backward) const BITS: u32 = 48;

/// Set in the only value of a location with many.
const MARK: u64 = 1 << (BITS - 1);

/// A location with no more values than this has a bit for each.
const FEW: usize = BITS as usize - 1;

impl Values {
    /// Every value.
    pub(in crate::engine::backward) const ANY: Self = Self((1 << BITS) - 1);

    /// The set with these bits.
    pub(in crate::engine::backward) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Its bits.
    pub(in crate::engine::backward) const fn bits(self) -> u64 {
        self.0
    }

    /// The values that are in both, unless there are none.
    pub(in crate::engine::backward) fn meet(self, other: Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Self::ANY, it) | (it, Self::ANY) => Some(it),
            (a, b) if (a.0 | b.0) & MARK != 0 => None,
            (a, b) => (a.0 & b.0 != 0).then_some(Self(a.0 & b.0)),
        }
    }

    /// The values that are not in it, of a location with so many, folded into so many bits: a set that covers this one
    /// has no others.
    pub(in crate::engine::backward) const fn excluded(self, n_values: usize, n_bits: u32) -> u64 {
        let all = if n_values <= FEW { (1 << n_values) - 1 } else { MARK - 1 };
        let excluded = match self {
            Self::ANY => 0,
            Self(bits) if bits & MARK != 0 => all,
            Self(bits) => all & !bits,
        };
        (excluded | excluded >> n_bits) & ((1 << n_bits) - 1)
    }

    /// Whether all of the other's values are its own.
    pub(in crate::engine::backward) fn covers(self, other: Self) -> bool {
        self == Self::ANY || self.meet(other) == Some(other)
    }
}

/// How sets of values of each location are written.
#[derive(Debug)]
pub(in crate::engine::backward) struct Encoding {
    /// How many values there are.
    n_values: IndexVec<LocationId, usize>,
}

impl Encoding {
    /// For locations that hold so many values each.
    pub(in crate::engine::backward) fn new(n_values: IndexVec<LocationId, usize>) -> Self {
        Self { n_values }
    }

    /// Whether a set of this location may be more than one value and less than any.
    pub(in crate::engine::backward) fn has_sets(&self, x: LocationId) -> bool {
        self.n_values[x] <= FEW
    }

    /// Only this value.
    pub(in crate::engine::backward) fn one(&self, x: LocationId, value: Datum) -> Values {
        if self.n_values[x] == 1 {
            Values::ANY
        } else if self.has_sets(x) {
            Values(1 << value)
        } else {
            Values(MARK | u64::from(value))
        }
    }

    /// All of these values, or more where there is no word for just these.
    pub(in crate::engine::backward) fn all(&self, x: LocationId, values: &BitSet) -> Values {
        let n_all = values.iter().count();
        match values.iter().next() {
            Some(only) if n_all == 1 => self.one(x, only as Datum),
            _ if !self.has_sets(x) || n_all == self.n_values[x] => Values::ANY,
            _ => Values(values.iter().fold(0, |bits, value| bits | 1 << value)),
        }
    }

    /// Both sets together; the location has sets.
    pub(in crate::engine::backward) fn join(&self, x: LocationId, a: Values, b: Values) -> Values {
        let both = a.0 | b.0;
        if both.count_ones() as usize >= self.n_values[x] { Values::ANY } else { Values(both) }
    }

    /// The set with each value replaced.
    pub(in crate::engine::backward) fn renamed(&self, x: LocationId, values: Values, to: &[Datum]) -> Values {
        match values {
            Values::ANY => values,
            Values(bits) if bits & MARK != 0 => Values(MARK | u64::from(to[(bits & !MARK) as usize])),
            Values(bits) => {
                let set = (0..self.n_values[x]).filter(|value| bits & 1 << value != 0);
                Values(set.fold(0, |all, value| all | 1 << to[value]))
            }
        }
    }

    /// Whether this value is in the set.
    pub(in crate::engine::backward) fn contains(&self, x: LocationId, values: Values, value: Datum) -> bool {
        values.covers(self.one(x, value))
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, Values};
    use crate::program::LocationId;
    use crate::util::Idx;

    #[test]
    fn sets_of_few_and_of_many_values() {
        let [lone, few, many] = [0, 1, 2].map(LocationId::from_usize);
        let encoding = Encoding::new(vec![1, 3, 1000].into());
        assert_eq!(encoding.one(lone, 0), Values::ANY);
        let two = encoding.all(few, &[0, 2].into_iter().collect());
        assert_eq!(two.meet(encoding.one(few, 1)), None);
        assert_eq!(two.meet(encoding.one(few, 2)), Some(encoding.one(few, 2)));
        assert!(two.covers(encoding.one(few, 0)) && !encoding.one(few, 0).covers(two) && !two.covers(Values::ANY));
        assert_eq!(encoding.join(few, two, encoding.one(few, 1)), Values::ANY);
        let seven = encoding.one(many, 7);
        assert_eq!(seven.meet(encoding.one(many, 8)), None);
        assert_eq!(seven.meet(Values::ANY), Some(seven));
        assert!(encoding.contains(many, seven, 7) && !encoding.contains(many, seven, 8));
        assert_eq!(encoding.all(many, &[7, 8].into_iter().collect()), Values::ANY);
    }
}
