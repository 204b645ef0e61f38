//! Constraints of the single-buffer semantics, and the order on them.
//!
//! A configuration has a local state for each process, one buffer of messages for all, oldest first, and for each
//! process a pointer into the buffer. A message is a snapshot of memory after a write. A process takes its pointer's
//! message for memory; messages right of it are writes that have not reached it. What else matters of a message is
//!
//! - which processes point at it,
//! - whether it is *own* of a process and location: the newest write of that process to that location, right of its
//!   pointer, which is where the process reads the location,
//! - whether it is the newest message of all, on which the next write builds.
//!
//! These are its *marks*. A header `(p,x)` that is not such a mark never matters again: pointers move right only, so a
//! write that is shadowed or left behind stays so. In the order, marked messages are the same, with the same marks; of
//! the others there may be more:
//!
//! ```text
//!    [x=0]p,q  [x=1]own(p,x)   ⊑   [x=0]p,q  [x=2]  [x=1]own(p,x)
//!    [x=0]p,q  [x=1]own(p,x)   ⋢   [x=0]p  [x=2]q  [x=1]own(p,x)
//! ```
//!
//! The newest message is always marked: its writer either points at it or has it as own. The paper compares all
//! headers; this order relates more, and everything that the paper says of its order holds of it too.
//!
//! A constraint stands for all configurations above it. `*` in a snapshot stands for any value; a process may be
//! *absent*, which stands for any local state and any marks of it. Messages left of all pointers are left out.

use crate::engine::automaton::{Datum, StateId};
use crate::program::{LocationId, ProcessId};
use crate::util::{Idx, IndexVec};

/// Any value.
pub const STAR: Datum = Datum::MAX;

/// Any local state, any marks.
pub const ABSENT: StateId = StateId::MAX;

/// Memory after some write; a cell may be [`STAR`].
pub type Snapshot = IndexVec<LocationId, Datum>;

/// A message of the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The processes that point at it.
    pub pointers: Processes,
    /// Whose newest write it is, to which location.
    pub own: Option<(ProcessId, LocationId)>,
    /// Memory after it.
    pub memory: Snapshot,
}

impl Message {
    /// Whether anything tells it from a message that nobody sees.
    pub fn is_marked(&self) -> bool {
        !self.pointers.is_empty() || self.own.is_some()
    }
}

/// A set of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processes(pub u64);

impl Processes {
    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a process is among them.
    pub fn contains(self, process: ProcessId) -> bool {
        self.0 & 1 << process.index() != 0
    }

    /// The set with a process.
    #[must_use]
    pub fn with(self, process: ProcessId) -> Self {
        Self(self.0 | 1 << process.index())
    }

    /// The set without a process.
    #[must_use]
    pub fn without(self, process: ProcessId) -> Self {
        Self(self.0 & !(1 << process.index()))
    }

    /// Those of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are in both.
    #[must_use]
    pub const fn among(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// A constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Where each process is, or [`ABSENT`].
    pub states: IndexVec<ProcessId, StateId>,
    /// The buffer from the oldest pointer on; never empty.
    pub word: Vec<Message>,
}

impl Constraint {
    /// The processes that are not absent.
    pub fn present(&self) -> Processes {
        let present = self.states.iter_enumerated().filter(|(_, state)| **state != ABSENT);
        present.fold(Processes::default(), |all, (process, _)| all.with(process))
    }

    /// Where a process that is present points.
    pub fn pointer(&self, process: ProcessId) -> usize {
        let points = |message: &Message| message.pointers.contains(process);
        self.word.iter().position(points).expect("a process that is present points somewhere")
    }

    /// Where a process that is present reads a location.
    pub fn last_write(&self, process: ProcessId, x: LocationId) -> usize {
        let own = self.word.iter().position(|message| message.own == Some((process, x)));
        own.unwrap_or_else(|| self.pointer(process))
    }

    /// The newest message.
    pub fn newest(&self) -> &Message {
        self.word.last().expect("the buffer is never empty")
    }

    /// Whether it stands for all that `other` stands for.
    pub fn covers(&self, other: &Self) -> bool {
        let states = self.states.iter().zip(other.states.iter());
        states.into_iter().all(|(&mine, &its)| mine == ABSENT || mine == its)
            && generalizes(&self.newest().memory, &other.newest().memory)
            && is_below(&self.word, &other.word, self.present())
    }
}

/// Whether a cell may hold a value.
pub const fn may_be(cell: Datum, value: Datum) -> bool {
    cell == STAR || cell == value
}

/// What both cells allow.
pub fn meet(a: Datum, b: Datum) -> Option<Datum> {
    match (a, b) {
        (STAR, cell) | (cell, STAR) => Some(cell),
        (a, b) => (a == b).then_some(a),
    }
}

fn generalizes(general: &Snapshot, special: &Snapshot) -> bool {
    general.iter().zip(special.iter()).all(|(&general, &special)| may_be(general, special))
}

/// Whether a word embeds into another, marks of present processes and the newest message onto their likes.
fn is_below(general: &[Message], special: &[Message], present: Processes) -> bool {
    let mut special = special.iter().enumerate().map(|(i, message)| (message, i + 1 == special.len()));
    for (i, wanted) in general.iter().enumerate() {
        let is_newest = i + 1 == general.len();
        loop {
            let Some((message, is_newest_too)) = special.next() else { return false };
            let pointers = message.pointers.among(present);
            let own = message.own.filter(|own| present.contains(own.0));
            let has_same_marks = pointers == wanted.pointers && own == wanted.own && is_newest == is_newest_too;
            if has_same_marks && generalizes(&wanted.memory, &message.memory) {
                break;
            }
            if !pointers.is_empty() || own.is_some() || is_newest_too {
                return false;
            }
        }
    }
    true
}
