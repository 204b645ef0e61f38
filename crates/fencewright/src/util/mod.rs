//! Small structures that know nothing of programs: typed indices, bit sets, Boolean functions.

mod bdd;
mod bits;
mod index;

pub use bdd::{Bdd, Formula};
pub use bits::BitSet;
pub use index::{Idx, IndexVec};
