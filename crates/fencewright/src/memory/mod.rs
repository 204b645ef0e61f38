//! The memory models: the reference semantics, one file each, one method per rule.
//!
//! ```text
//!            SC            TSO                        PSO
//!         P₀    P₁      P₀       P₁            P₀            P₁
//!         │     │       ▼        ▼            ▼ ▼ ▼         ▼ ▼ ▼
//!         │     │     [x1 y1]  [y1]          [x][y][z]     [x][y][z]
//!         ▼     ▼       ▼        ▼            ▼ ▼ ▼         ▼ ▼ ▼
//!        ──memory──    ───memory───          ───────memory───────
//! ```
//!
//! Small and obviously right comes before fast here: every engine is tested against this.

mod pso;
mod sc;
mod tso;

use std::fmt;
use std::hash::Hash;

use crate::program::{FenceKind, LocationId, ProcessId, Value};

pub use pso::{Pso, PsoMemory};
pub use sc::{Sc, ScMemory};
pub use tso::{Tso, TsoMemory};

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Sequential consistency: no buffers.
    Sc,
    /// Total store order: one FIFO of stores per process.
    Tso,
    /// Partial store order: one FIFO of stores per process and location.
    Pso,
}

impl Model {
    /// All of them, from the strongest to the weakest.
    pub const ALL: [Self; 3] = [Self::Sc, Self::Tso, Self::Pso];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Tso => "tso",
            Self::Pso => "pso",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an atomic update waits for under PSO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PsoRmw {
    /// The buffer of its own location is empty (SPARC).
    #[default]
    Location,
    /// All buffers of the process are empty (x86-like atomics).
    All,
}

/// Where a load found its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadFrom {
    /// In the process's own store buffer.
    OwnBuffer,
    /// In memory.
    Memory,
}

/// What leaves the buffers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flush {
    /// The oldest store to this location (under TSO also the oldest of all) goes to memory.
    Store(LocationId),
    /// A store-store marker that is oldest everywhere goes away.
    Marker,
}

/// What waits in the buffers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pending {
    /// A store.
    Store(LocationId, Value),
    /// A store-store marker; what follows waits for what precedes.
    Marker,
}

/// A model is its rules. A rule that yields nothing makes the process wait.
pub trait Operational {
    /// Memory proper and the store buffers.
    type Memory: Clone + Eq + Hash + fmt::Debug;

    /// Empty buffers over these contents of memory.
    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> Self::Memory;
    /// `load x` by `p`: the value it sees, and where.
    fn load(&self, m: &Self::Memory, p: ProcessId, x: LocationId) -> (Value, ReadFrom);
    /// `store x, v` by `p`.
    fn store(&self, m: &Self::Memory, p: ProcessId, x: LocationId, v: Value) -> Self::Memory;
    /// A fence of `p`.
    fn fence(&self, m: &Self::Memory, p: ProcessId, kind: FenceKind) -> Option<Self::Memory>;
    /// Whether an atomic update of `x` by `p` may act now.
    fn may_rmw(&self, m: &Self::Memory, p: ProcessId, x: LocationId) -> bool;
    /// Whether a locked block of `p` may act now.
    fn may_lock(&self, m: &Self::Memory, p: ProcessId) -> bool;
    /// What can leave the buffers of `p` now.
    fn flushes(&self, m: &Self::Memory, p: ProcessId) -> Vec<(Flush, Self::Memory)>;

    /// The contents of memory proper.
    fn contents<'m>(&self, m: &'m Self::Memory) -> &'m [Value];
    /// The contents of memory proper, for an atomic step to change.
    fn contents_mut<'m>(&self, m: &'m mut Self::Memory) -> &'m mut [Value];
    /// What waits in the buffers of `p`, oldest first (for PSO: by location, between markers).
    fn pending(&self, m: &Self::Memory, p: ProcessId) -> Vec<Pending>;
}
