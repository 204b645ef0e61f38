//! Memory orders, and what machines with store buffers need for them.
//!
//! | order | TSO, PSO |
//! |---|---|
//! | any load | a load |
//! | store `Plain`, `Relaxed` | a store |
//! | store `Release` | store-store fence, store |
//! | store `SeqCst` | store-store fence, store, full fence |
//! | update `Plain`, `Relaxed`, `Acquire` | an update |
//! | update `Release`, `AcqRel`, `SeqCst` | store-store fence, update |
//! | fence `Acquire` | nothing |
//! | fence `Release`, `AcqRel` | store-store fence |
//! | fence `SeqCst` | full fence |
//!
//! A load needs nothing, since loads are not reordered and every `SeqCst` store has left the buffer before what follows
//! it. An update drains what it must by itself; under PSO that is its own location only, hence the fence before it.
//!
//! `Plain` is an access without an order. Models of the language take it for an acquire load, a release store or both,
//! unless the location itself is plain.

use crate::program::{FenceKind, Order};

/// How a load is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadOrder {
    /// As the machine has it, without an order of the language.
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
    /// As the machine has it, without an order of the language.
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
    /// As the machine has it, without an order of the language.
    #[default]
    Plain,
    /// Ordered by nothing.
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

/// How a fence of the language is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceOrder {
    /// Loads before it are acquires.
    Acquire,
    /// Stores behind it are releases.
    Release,
    /// Both.
    AcqRel,
    /// And all such fences have one order.
    SeqCst,
    /// None of the language: all stores of a thread have arrived, as where one is created or has ended.
    Drained,
}

impl LoadOrder {
    /// What models of the language are told.
    pub(super) fn order(self) -> Order {
        match self {
            Self::Plain => Order::default(),
            Self::Relaxed => Order::Relaxed,
            Self::Acquire => Order::Acquire,
            Self::SeqCst => Order::SeqCst,
        }
    }
}

impl StoreOrder {
    /// What models of the language are told.
    pub(super) fn order(self) -> Order {
        match self {
            Self::Plain => Order::default(),
            Self::Relaxed => Order::Relaxed,
            Self::Release => Order::Release,
            Self::SeqCst => Order::SeqCst,
        }
    }

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
            Self::Plain | Self::Relaxed | Self::Acquire => None,
            Self::Release | Self::AcqRel | Self::SeqCst => Some(FenceKind::StoreStore),
        }
    }

    /// What models of the language are told.
    pub(super) fn order(self) -> Order {
        match self {
            Self::Plain => Order::default(),
            Self::Relaxed => Order::Relaxed,
            Self::Acquire => Order::Acquire,
            Self::Release => Order::Release,
            Self::AcqRel => Order::AcqRel,
            Self::SeqCst => Order::SeqCst,
        }
    }
}

impl FenceOrder {
    /// The fence of the machine.
    pub(super) fn kind(self) -> Option<FenceKind> {
        match self {
            Self::Acquire => None,
            Self::Release | Self::AcqRel => Some(FenceKind::StoreStore),
            Self::SeqCst | Self::Drained => Some(FenceKind::Full),
        }
    }

    /// What models of the language are told.
    pub(super) fn order(self) -> Order {
        match self {
            Self::Acquire => Order::Acquire,
            Self::Release => Order::Release,
            Self::AcqRel => Order::AcqRel,
            Self::SeqCst => Order::SeqCst,
            Self::Drained => Order::Relaxed,
        }
    }
}
