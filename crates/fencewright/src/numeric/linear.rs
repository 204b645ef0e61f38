//! Sums of multiples of variables, and what comparing two of them says.

use crate::numeric::Row;

/// `Σ coefficient · variable + constant`; variable 0 is the constant 0 and does not occur.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Linear {
    /// Ascending by variable; none is zero.
    coefficients: Vec<(usize, i128)>,
    constant: i128,
}

impl Linear {
    /// A constant.
    pub const fn constant(constant: i128) -> Self {
        Self { coefficients: Vec::new(), constant }
    }

    /// A variable.
    pub fn var(variable: usize) -> Self {
        debug_assert_ne!(variable, 0, "variable 0 is the constant 0");
        Self { coefficients: vec![(variable, 1)], constant: 0 }
    }

    /// The constant that it is, if it has no variable.
    pub fn as_constant(&self) -> Option<i128> {
        self.coefficients.is_empty().then_some(self.constant)
    }

    /// The variable that it is with a constant added, and that constant; variable 0 if there is none.
    pub fn as_shifted(&self) -> Option<(usize, i64)> {
        let base = match self.coefficients.as_slice() {
            [] => 0,
            [(variable, 1)] => *variable,
            _ => return None,
        };
        Some((base, i64::try_from(self.constant).ok()?))
    }

    /// The value where variables have these values; `None` where 128 bits are not enough. The value of variable 0 is
    /// what the constant is taken times: 1, or a common denominator.
    pub fn at(&self, values: &[i128]) -> Option<i128> {
        let constant = self.constant.checked_mul(values[0]);
        self.coefficients.iter().fold(constant, |sum, &(variable, coefficient)| {
            sum?.checked_add(coefficient.checked_mul(values[variable])?)
        })
    }

    /// So many times this.
    pub fn times(&self, factor: i128) -> Option<Self> {
        Self::constant(0).plus(self, factor)
    }

    /// This and so many times another; `None` where 128 bits are not enough.
    pub fn plus(&self, other: &Self, times: i128) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(times)?)?;
        for &(variable, coefficient) in &other.coefficients {
            let more = coefficient.checked_mul(times)?;
            match sum.coefficients.binary_search_by_key(&variable, |it| it.0) {
                Ok(at) => sum.coefficients[at].1 = sum.coefficients[at].1.checked_add(more)?,
                Err(at) => sum.coefficients.insert(at, (variable, more)),
            }
        }
        sum.coefficients.retain(|it| it.1 != 0);
        Some(sum)
    }

    /// `self ≤ other + more`; `None` where 128 bits are not enough.
    pub fn at_most(&self, other: &Self, more: i128) -> Option<Row> {
        let difference = self.plus(other, -1)?;
        let bound = more.checked_sub(difference.constant)?;
        Row::new(difference.coefficients, bound)
    }
}
