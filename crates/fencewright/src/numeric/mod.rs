//! Exact arithmetic over unbounded integers: sets of valuations that difference constraints describe.
//!
//! A [`Zone`] is a set of valuations of integer variables, given by upper bounds on differences; a [`Term`] is a
//! variable plus a constant. Nothing here knows programs.

mod bound;
mod zone;

pub use bound::Bound;
pub use zone::{Term, Widened, Zone};
