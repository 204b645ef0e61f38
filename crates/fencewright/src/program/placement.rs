//! Fences laid over a program.

use std::collections::BTreeMap;

use crate::program::{EdgeId, FenceKind};

/// Which side of an edge's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The fence comes first, then the operation.
    Before,
    /// The operation comes first, then the fence.
    After,
}

/// A place for a fence: one side of the operation of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The edge that the fence splits.
    pub edge: EdgeId,
    /// On which side of its operation.
    pub side: Side,
}

/// A set of fences, at most one at a position. The program it lies over does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placement {
    fences: BTreeMap<Position, FenceKind>,
}

impl Placement {
    /// No fences.
    pub const NONE: Self = Self { fences: BTreeMap::new() };

    /// The fence at a position.
    pub fn get(&self, edge: EdgeId, side: Side) -> Option<FenceKind> {
        self.fences.get(&Position { edge, side }).copied()
    }

    /// Puts a fence at a position, in place of the one there.
    pub fn insert(&mut self, position: Position, kind: FenceKind) {
        self.fences.insert(position, kind);
    }

    /// The fences, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Position, FenceKind)> + '_ {
        self.fences.iter().map(|(&position, &kind)| (position, kind))
    }

    /// Whether there are no fences.
    pub fn is_empty(&self) -> bool {
        self.fences.is_empty()
    }
}

impl FromIterator<(Position, FenceKind)> for Placement {
    fn from_iter<It: IntoIterator<Item = (Position, FenceKind)>>(fences: It) -> Self {
        Self { fences: fences.into_iter().collect() }
    }
}
