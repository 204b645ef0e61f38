//! What a breadth-first search over states is asked, and what it answers.

use crate::engine::StopReason;
use crate::engine::packed::expand::Badness;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No more states.
    Exhausted,
    /// A bad state was found.
    Bad(Badness),
    /// The search was stopped.
    Stopped(StopReason),
    /// The budget of states was used up.
    OverBudget,
}

/// What a search did.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// How it ended.
    pub end: End,
    /// How many states were found.
    pub n_states: u64,
    /// How many of them no other covers.
    pub n_kept: u64,
    /// The bytes they took.
    pub bytes: u64,
    /// Whether a process had to wait because its buffer was full.
    pub has_hit_bound: bool,
}

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// How many states it may keep.
    pub states: u64,
    /// How many things its component may meet: some buffers have many successors, each with another buffer.
    pub interned: usize,
    /// How many bytes it may take.
    pub bytes: u64,
    /// How many levels it may go down.
    pub depth: u64,
}

impl Budget {
    /// As far as it takes.
    pub(crate) const UNLIMITED: Self =
        Self { states: u64::MAX, interned: usize::MAX, bytes: u64::MAX, depth: u64::MAX };
}

/// States are counted by 32 bits.
pub(super) const MAX_STATES: u64 = u32::MAX as u64 - 1;
