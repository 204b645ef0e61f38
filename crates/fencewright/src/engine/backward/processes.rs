//! Sets of processes, as bits of a word.

use crate::program::ProcessId;
use crate::util::Idx;

/// A set of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Processes(pub u64);

impl Processes {
    /// All that there can be.
    pub(super) const ALL: Self = Self(u64::MAX);

    /// Whether there is none.
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a process is among them.
    pub(super) fn contains(self, process: ProcessId) -> bool {
        self.0 & 1 << process.index() != 0
    }

    /// The set with a process.
    #[must_use]
    pub(super) fn with(self, process: ProcessId) -> Self {
        Self(self.0 | 1 << process.index())
    }

    /// The set without a process.
    #[must_use]
    pub(super) fn without(self, process: ProcessId) -> Self {
        Self(self.0 & !(1 << process.index()))
    }

    /// Those of both.
    #[must_use]
    pub(super) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are in both.
    #[must_use]
    pub(super) const fn among(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl FromIterator<ProcessId> for Processes {
    fn from_iter<I: IntoIterator<Item = ProcessId>>(processes: I) -> Self {
        processes.into_iter().fold(Self::default(), Self::with)
    }
}
