//! Exact arithmetic over unbounded integers: sets of valuations that differences and linear constraints describe.
//!
//! A [`Zone`] is a set of valuations of integer variables, given by upper bounds on differences; a [`Term`] is a
//! variable plus a constant; a [`Row`] is a linear constraint. Nothing here knows programs.

mod bound;
mod row;
mod zone;

pub use bound::Bound;
pub use row::{Row, entails, excludes, refutation};
pub use zone::{Term, Widened, Zone};
