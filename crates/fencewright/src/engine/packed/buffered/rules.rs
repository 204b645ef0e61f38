//! What store buffers may do, whatever is kept of them.

use std::fmt::Debug;
use std::hash::Hash;

use crate::engine::packed::buffered::Label;
use crate::engine::packed::component::Stored;
use crate::program::LocationId;
use crate::system::Step;
use crate::util::IndexVec;

/// The rules of store buffers. A store is *pushed* behind what waits, a store-store fence puts a *marker* there, and a
/// store *leaves* for memory.
pub(crate) trait Rules: Debug + Sync {
    /// What is kept of all that waits for a process. Its order is arbitrary, but fixed.
    type Waiting: Clone + Debug + Ord + Hash + Send + Sync;

    /// Nothing waits.
    fn nothing(&self) -> Self::Waiting;
    /// After one more store.
    fn with_store(&self, waiting: &Self::Waiting, stored: Stored, label: Label) -> Self::Waiting;
    /// After a store-store fence.
    fn with_marker(&self, waiting: &Self::Waiting) -> Self::Waiting;
    /// What can leave, and what remains.
    fn flushes(&self, waiting: &Self::Waiting) -> Vec<Leaving<Self::Waiting>>;
    /// The newest store to each location that has one.
    fn newest(&self, waiting: &Self::Waiting) -> Vec<Stored>;
    /// Whether there is a marker.
    fn has_marker(&self, waiting: &Self::Waiting) -> bool;
    /// How many stores there are; 0 if that is not kept.
    fn n_stores(&self, waiting: &Self::Waiting) -> usize;
    /// How many parts it is kept in, for its size.
    fn n_parts(&self, waiting: &Self::Waiting) -> usize;
    /// With other names for the locations.
    fn renamed(&self, waiting: &Self::Waiting, to: &IndexVec<LocationId, LocationId>) -> Self::Waiting;

    /// What is kept of where a store comes from.
    #[inline]
    fn label(&self, _step: Step) -> Label {
        Label::NONE
    }
    /// Whether some buffers stand for all that others stand for.
    fn has_covering(&self) -> bool {
        false
    }
    /// Whether a buffer stands for all that another stands for.
    fn covers(&self, a: &Self::Waiting, b: &Self::Waiting) -> bool {
        a == b
    }
    /// What a buffer has in common with all that it covers and is covered by.
    fn outline(&self, waiting: &Self::Waiting) -> Self::Waiting {
        waiting.clone()
    }
}

/// Something that a buffer can do on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaving<B> {
    /// What goes to memory; nothing where only what is known of the buffer changes.
    pub store: Option<Stored>,
    /// What remains.
    pub rest: B,
}
