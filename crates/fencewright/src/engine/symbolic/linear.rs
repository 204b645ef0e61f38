//! Linear expressions, exactly: every step that needs more than 64 bits is refused.

use crate::engine::symbolic::difference::Sum;
use crate::program::Value;

/// A linear expression over variables `V`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Linear<V> {
    /// Ascending by variable; no coefficient is zero.
    pub coefficients: Vec<(V, Value)>,
    /// What is added.
    pub plus: Value,
}

impl<V: Copy + Ord> Linear<V> {
    /// A constant.
    pub(crate) fn constant(plus: Value) -> Self {
        Self { coefficients: Vec::new(), plus }
    }

    /// A variable.
    pub(crate) fn var(variable: V) -> Self {
        Self { coefficients: vec![(variable, 1)], plus: 0 }
    }

    /// Its value, if it does not depend on variables.
    pub(crate) fn as_constant(&self) -> Option<Value> {
        self.coefficients.is_empty().then_some(self.plus)
    }

    /// The sum that it is, if it is one.
    pub(crate) fn as_sum(&self) -> Option<Sum<V>> {
        match *self.coefficients {
            [] => Some(Sum { var: None, plus: self.plus }),
            [(variable, 1)] => Some(Sum { var: Some(variable), plus: self.plus }),
            _ => None,
        }
    }

    /// `self + factor * other`, if it fits.
    pub(crate) fn plus(&self, other: &Self, factor: Value) -> Option<Self> {
        let mut sum = self.clone();
        sum.plus = sum.plus.checked_add(other.plus.checked_mul(factor)?)?;
        for &(variable, coefficient) in &other.coefficients {
            let more = coefficient.checked_mul(factor)?;
            match sum.coefficients.binary_search_by_key(&variable, |it| it.0) {
                Ok(at) => sum.coefficients[at].1 = sum.coefficients[at].1.checked_add(more)?,
                Err(at) => sum.coefficients.insert(at, (variable, more)),
            }
        }
        sum.coefficients.retain(|it| it.1 != 0);
        Some(sum)
    }

    /// The expression where a variable has this value.
    pub(crate) fn with(&self, variable: V, value: Value) -> Option<Self> {
        let Some(&(_, coefficient)) = self.coefficients.iter().find(|it| it.0 == variable) else {
            return Some(self.clone());
        };
        let coefficients = self.coefficients.iter().copied().filter(|it| it.0 != variable).collect();
        Some(Self { coefficients, plus: self.plus.checked_add(coefficient.checked_mul(value)?)? })
    }
}
