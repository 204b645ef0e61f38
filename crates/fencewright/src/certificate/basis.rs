//! The proof of a safe claim: classes of local states, facts about them, and the basis.
//!
//! A *class* stands for local states of one process that the proof does not tell apart. A [`Constraint`] has a class,
//! a load buffer and store buffers for each process, and memory, and stands for all configurations above it in the
//! order (`order`). `None` is `*`, any value.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{LocationId, ProcessId, Value};
use crate::util::IndexVec;

use super::LocalState;

/// A class of local states, counted within its process.
pub type Class = u32;

/// A value, or any.
pub type Cell = Option<Value>;

/// The last write to each location since the last drain, oldest first.
pub type LastWrites = Vec<(LocationId, Value)>;

/// A proof that no bad situation can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// What each location can hold.
    pub values: IndexVec<LocationId, BTreeSet<Value>>,
    /// The processes.
    pub processes: IndexVec<ProcessId, ProcessProof>,
    /// From these and from nothing else a bad situation can be reached.
    pub elements: Vec<Constraint>,
}

/// What the proof says of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessProof {
    /// The class of each local state.
    pub classes: BTreeMap<LocalState, Class>,
    /// Last writes (TSO): the newest-own messages are a suffix of one of these; `None` where nothing is claimed.
    pub last_writes: Option<BTreeMap<Class, BTreeSet<LastWrites>>>,
    /// Pending stores (PSO): what a store buffer can hold; nothing where there is no entry. `None` where nothing is
    /// claimed.
    pub pending: Option<BTreeMap<(Class, LocationId), Waiting>>,
    /// Single writer: locations that no other process writes, and what they can hold by class.
    pub sole: BTreeMap<LocationId, BTreeMap<Class, BTreeSet<Value>>>,
}

/// What a store buffer can hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// All of it.
    pub any: BTreeSet<Value>,
    /// The newest of it.
    pub newest: BTreeSet<Value>,
}

/// A set of configurations: all that are above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// Where each process is.
    pub classes: IndexVec<ProcessId, Class>,
    /// The load buffers, oldest first.
    pub buffers: IndexVec<ProcessId, Vec<Message>>,
    /// The store buffers under PSO, oldest first; those that are empty have no entry.
    pub stores: IndexVec<ProcessId, BTreeMap<LocationId, Vec<Cell>>>,
    /// Memory.
    pub memory: IndexVec<LocationId, Cell>,
}

/// A message of a load buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// Which kind.
    pub kind: MessageKind,
    /// The location.
    pub location: LocationId,
    /// The value; a sample has one.
    pub value: Cell,
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// Memory held this when it was looked at.
    Sample,
    /// The process wrote this itself.
    Own,
}

impl Message {
    /// Whether it is an own message of this location.
    pub fn is_own_of(self, x: LocationId) -> bool {
        self.kind == MessageKind::Own && self.location == x
    }
}
