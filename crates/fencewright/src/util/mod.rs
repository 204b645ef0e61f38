//! Small structures that know nothing of programs: typed indices, bit sets.

mod bits;
mod index;

pub use bits::BitSet;
pub use index::{Idx, IndexVec};
