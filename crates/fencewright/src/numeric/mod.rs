//! Exact arithmetic over unbounded integers: sets of valuations that differences and linear constraints describe.
//!
//! A [`Zone`] is a set of valuations of integer variables, given by upper bounds on differences and by remainders; a
//! [`Term`] is a variable plus a constant; a [`Row`] is a linear constraint, and [`Linear`] what is compared in it.
//! [`Domain`] is what abstract interpretation asks of a description of such sets; zones, [`Intervals`], [`Octagon`] and
//! [`Polyhedron`] give it. Nothing here knows programs.

mod bound;
mod cone;
mod domain;
mod interval;
mod linear;
mod octagon;
mod polyhedron;
mod range;
mod remainders;
mod row;
mod zone;

pub use bound::Bound;
pub use domain::{Domain, Thresholds};
pub use interval::Intervals;
pub use linear::Linear;
pub use octagon::Octagon;
pub use polyhedron::Polyhedron;
pub use range::Range;
pub use row::{Row, entails, excludes, refutation};
pub use zone::{Term, Widened, Zone};
