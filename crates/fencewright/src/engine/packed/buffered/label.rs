//! Where a store comes from: what inference wants to know of it.

use crate::program::EdgeId;
use crate::system::{Action, Step};
use crate::util::Idx;

/// The edge that stored a value, or nothing where nobody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Label(u32);

impl Label {
    /// Nobody asks.
    pub(crate) const NONE: Self = Self(0);

    /// The label of what a step stores.
    pub(crate) fn of(step: Step) -> Self {
        match step.action {
            Action::Edge { edge, .. } => Self(u32::try_from(edge.index() + 1).expect("fewer than 2^32 edges")),
            Action::Fence(_) | Action::Internal(_) => Self::NONE,
        }
    }

    /// The edge.
    pub(crate) fn edge(self) -> Option<EdgeId> {
        Some(EdgeId::from_usize(self.0.checked_sub(1)? as usize))
    }
}
