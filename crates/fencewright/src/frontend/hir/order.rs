//! Memory orders, and what machines with store buffers need for them.
//!
//! | order | TSO, PSO |
//! |---|---|
//! | any load | a load |
//! | store `Plain`, `Relaxed` | a store |
//! | store `Release` | store-store fence, store |
//! | store `SeqCst` | store-store fence, store, full fence |
//! | update `Relaxed`, `Acquire` | an update |
//! | update `Release`, `AcqRel`, `SeqCst` | store-store fence, update |
//!
//! A load needs nothing, since loads are not reordered and every `SeqCst` store has left the buffer before what follows
//! it. An update drains what it must by itself; under PSO that is its own location only, hence the fence before it.

use crate::program::FenceKind;

/// How a load is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadOrder {
    /// As the machine has it; no atomic access of the language.
    #[default]
    Plain,
    /// An atomic access, ordered by nothing.
    Relaxed,
    /// What the store it reads from was ordered behind is seen.
    Acquire,
    /// And all such accesses have one order.
    SeqCst,
}

/// How a store is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreOrder {
    /// As the machine has it; no atomic access of the language.
    #[default]
    Plain,
    /// An atomic access, ordered by nothing.
    Relaxed,
    /// Behind all accesses before it.
    Release,
    /// And all such accesses have one order.
    SeqCst,
}

/// How an atomic update is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UpdateOrder {
    /// Ordered by nothing.
    #[default]
    Relaxed,
    /// Its load is an acquire.
    Acquire,
    /// Its store is a release.
    Release,
    /// Both.
    AcqRel,
    /// And all such accesses have one order.
    SeqCst,
}

impl StoreOrder {
    /// The fence before the store.
    pub(super) fn before(self) -> Option<FenceKind> {
        match self {
            Self::Plain | Self::Relaxed => None,
            Self::Release | Self::SeqCst => Some(FenceKind::StoreStore),
        }
    }

    /// The fence after the store.
    pub(super) fn after(self) -> Option<FenceKind> {
        match self {
            Self::Plain | Self::Relaxed | Self::Release => None,
            Self::SeqCst => Some(FenceKind::Full),
        }
    }
}

impl UpdateOrder {
    /// The fence before the update.
    pub(super) fn before(self) -> Option<FenceKind> {
        match self {
            Self::Relaxed | Self::Acquire => None,
            Self::Release | Self::AcqRel | Self::SeqCst => Some(FenceKind::StoreStore),
        }
    }
}
