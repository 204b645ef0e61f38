//! A run, as the semantics sees it: how it starts, its steps, and what it ends in.

use crate::memory::{Internal, Origin};
use crate::program::{ArrayId, EdgeId, FenceKind, LocationId, Position, ProcessId, PropertyId, RegisterId, Value};
use crate::util::IndexVec;

/// Initial values, with every `any` decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Of memory.
    pub memory: IndexVec<LocationId, Value>,
    /// Of registers.
    pub registers: IndexVec<ProcessId, Vec<Value>>,
}

/// One step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// Who.
    pub process: ProcessId,
    /// What.
    pub action: Action,
}

/// What a process, or its buffer, does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The operation of an edge.
    Edge {
        /// Which.
        edge: EdgeId,
        /// Which of its outcomes, in the order of the semantics; 0 where there is but one.
        choice: u32,
    },
    /// A fence of the placement.
    Fence(Position),
    /// What memory does by itself.
    Internal(Internal),
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Registers and control only.
    Local,
    /// A load found this value there.
    Load(LocationId, Value, Origin),
    /// A store of this value went there.
    Store(LocationId, Value, Origin),
    /// An atomic update found this, and wrote this.
    Rmw(LocationId, Value, Option<Value>),
    /// A fence was passed.
    Fence(FenceKind),
    /// A locked block ran.
    Locked,
    /// A store that had waited arrived in memory.
    Arrived(LocationId, Value),
    /// A store-store marker went away.
    MarkerLeft,
    /// The step went wrong.
    Faulted,
}

/// A violation inside a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// An assertion does not hold.
    Assertion(EdgeId),
    /// A value outside the range of a location.
    LocationRange(EdgeId, LocationId, Value),
    /// A value outside the range of a register.
    RegisterRange(EdgeId, RegisterId, Value),
    /// An index outside an array.
    Index(EdgeId, ArrayId, Value),
    /// A division by zero.
    DivisionByZero(EdgeId),
}

impl Fault {
    /// The edge that does it.
    pub fn edge(self) -> EdgeId {
        match self {
            Self::Assertion(edge)
            | Self::LocationRange(edge, ..)
            | Self::RegisterRange(edge, ..)
            | Self::Index(edge, ..)
            | Self::DivisionByZero(edge) => edge,
        }
    }
}

/// What a bad run ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Violation {
    /// The last configuration is one that a property forbids.
    Property(PropertyId),
    /// The last step goes wrong.
    Fault(Fault),
}

/// A bad run. [`replay`](super::replay) tells whether it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// How it starts.
    pub start: Start,
    /// What happens.
    pub steps: Vec<Step>,
    /// What it ends in.
    pub violation: Violation,
}
