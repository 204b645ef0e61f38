//! The order of an access: what C11 and Rust programs ask of each, and what models of the language tell apart.
//!
//! Models with store buffers know fences only; for them a front end turns an order into the fences that a compiler
//! would emit for it. Such a fence is `Relaxed`: it says nothing beside the order of the access that it stands beside.
//! An acquire fence takes no fence of a machine; it is a step that does nothing, and has its order.

use std::collections::BTreeMap;

use crate::program::{Edge, EdgeId, Expr, FenceKind, Op, Program};
use crate::util::Memo;

/// The order of an access or a fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Not atomic: a race on it is a violation.
    Plain,
    /// Atomic, and nothing more.
    Relaxed,
    /// What comes behind stays behind.
    Acquire,
    /// What comes before stays before.
    Release,
    /// Each access as strong as release and acquire make it: what an access without an order is.
    #[default]
    AcqRel,
    /// All of these are in one order.
    SeqCst,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Plain, Self::Relaxed, Self::Acquire, Self::Release, Self::AcqRel, Self::SeqCst];

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        }
    }

    /// The weakest order that is as strong as both.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Acquire, Self::Release) | (Self::Release, Self::Acquire) => Self::AcqRel,
            (one, other) => one.max(other),
        }
    }

    /// What is left of it for a read, such as that of an update that does not write.
    #[must_use]
    pub const fn of_read(self) -> Self {
        match self {
            Self::Plain | Self::Relaxed | Self::Acquire | Self::SeqCst => self,
            Self::Release => Self::Relaxed,
            Self::AcqRel => Self::Acquire,
        }
    }

    /// What is left of it for a write.
    #[must_use]
    pub const fn of_write(self) -> Self {
        match self {
            Self::Plain | Self::Relaxed | Self::Release | Self::SeqCst => self,
            Self::Acquire => Self::Relaxed,
            Self::AcqRel => Self::Release,
        }
    }

    /// What is left of it for an operation.
    #[must_use]
    pub const fn of(self, op: &Op) -> Self {
        match op {
            Op::Load(..) | Op::Rmw { write: None, .. } => self.of_read(),
            Op::Store(..) => self.of_write(),
            Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) | Op::Assume(_) => self,
            Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => self,
        }
    }

    /// What a fence of a machine with this order is in the language; nothing if it only stands beside an access. A full
    /// one without an order is the strongest that the language has.
    pub const fn of_fence(self, kind: FenceKind) -> Option<Self> {
        match (kind, self) {
            (_, Self::Plain | Self::Relaxed) => None,
            (FenceKind::Full, Self::Acquire | Self::Release | Self::AcqRel | Self::SeqCst) => Some(Self::SeqCst),
            (FenceKind::StoreStore, Self::Acquire | Self::Release | Self::AcqRel | Self::SeqCst) => Some(self),
        }
    }

    /// Whether a read with this order learns what the writer knew.
    pub const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether a write with this order tells what the writer knows.
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

impl Program {
    /// The same program with other orders of some edges. A fence that is no longer seq_cst is no full one.
    #[must_use]
    pub fn with_orders(&self, orders: &BTreeMap<EdgeId, Order>) -> Self {
        let edges = self.edges.iter_enumerated().map(|(id, edge)| {
            let Some(&order) = orders.get(&id) else { return edge.clone() };
            let op = match (&edge.op, order) {
                (Op::Fence(_), Order::Acquire | Order::Release | Order::AcqRel) => Op::Fence(FenceKind::StoreStore),
                (op, _) => op.clone(),
            };
            Edge { order, op, ..edge.clone() }
        });
        Self { edges: edges.collect(), memo: Memo::default(), ..self.clone() }
    }

    /// The same program without the fences that stand beside accesses for machines with store buffers. Each is a step
    /// that does nothing, so that an edge means the same in both.
    #[must_use]
    pub fn without_companions(&self) -> Self {
        let edges = self.edges.iter().map(|edge| {
            let is_companion = matches!(&edge.op, Op::Fence(kind) if edge.order.of_fence(*kind).is_none());
            let nothing = || Edge { op: Op::Assume(Expr::TRUE), order: Order::Relaxed, ..edge.clone() };
            if is_companion { nothing() } else { edge.clone() }
        });
        Self { edges: edges.collect(), memo: Memo::default(), ..self.clone() }
    }
}
