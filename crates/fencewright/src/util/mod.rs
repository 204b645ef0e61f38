//! Small structures that know nothing of programs: typed indices, bit sets, Boolean functions, components of graphs,
//! answers kept.

mod bdd;
mod bits;
mod components;
mod index;
mod memo;

pub use bdd::{Bdd, Formula};
pub use bits::BitSet;
pub use components::components;
pub use index::{Idx, IndexVec};
pub use memo::Memo;
