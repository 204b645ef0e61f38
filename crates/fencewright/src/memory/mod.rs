//! The memory models: the reference semantics, one file each.
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
//! A model is a [`Machine`]: what an access may find, and what it makes of the state of memory. Nothing outside knows
//! what such a state is made of. Small and obviously right comes before fast here: every engine is tested against this.
//!
//! | file | idea |
//! |---|---|
//! | [`sc`], [`tso`], [`pso`] | a model each |
//! | [`sra`], [`ra`], [`messages`] | release/acquire: messages and views of them |
//! | [`orders`] | what release/acquire makes of the orders of a language |
//! | [`rc11`] | the model of a language: axioms about execution graphs |
//! | [`model`] | their names, how a name becomes a machine, and how stores wait ([`Buffering`]) |
//! | [`foreign`] | models that were written elsewhere |
//! | [`lent`] | one machine for several systems |

mod foreign;
mod lent;
mod messages;
mod model;
mod orders;
mod pso;
mod ra;
mod rc11;
mod sc;
mod sra;
mod tso;

use std::fmt::Debug;
use std::hash::Hash;

use crate::program::{FenceKind, LocationId, Order, ProcessId, Program, PropertyKind, Value};
use crate::util::Idx;

pub use foreign::{AnyState, Foreign, Named};
pub use lent::Lent;
pub use messages::Messages;
pub use model::{Buffering, Dialect, Job, Messaging, Model, PsoRmw};
pub use orders::{Sequential, is_release_acquire, mixed, sequential, weakened};
pub use pso::{Pso, PsoMemory};
pub use ra::Ra;
pub use rc11::{Act, Axioms, Event, EventId, Execution, Rc11, ReleaseSequence, Write};
pub use sc::{Sc, ScMemory};
pub use sra::Sra;
pub use tso::{Tso, TsoMemory};

/// What an operation asks of memory.
#[derive(Clone, Copy)]
pub enum Access<'a> {
    /// The value of a location.
    Load(LocationId, Order),
    /// To give a location this value.
    Store(LocationId, Value, Order),
    /// To read a location and write it in one step. What is made of the value that is found: `None` waits for another,
    /// `Some(None)` only reads, `Some(Some(v))` writes `v`.
    Update(LocationId, Update<'a>, Order),
    /// To keep what comes before from what comes behind. An acquire fence takes no fence of a machine, and is told only
    /// to who [hears](Machine::hears_acquire) it, as the weakest there is.
    Fence(FenceKind, Order),
}

/// One way an access may act. None at all: the process waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done<S> {
    /// What was read, by a load or an update.
    pub read: Option<Value>,
    /// Where it was read; for a store, where it went.
    pub origin: Origin,
    /// Memory afterwards.
    pub state: S,
}

impl<S> Done<S> {
    /// The one way of what reads nothing and acts on memory.
    fn nothing(state: S) -> Vec<Self> {
        vec![Self { read: None, origin: Origin::Memory, state }]
    }
}

/// What is made of a value by an atomic update; see [`Access::Update`].
type Update<'a> = &'a dyn Fn(Value) -> Option<Option<Value>>;

/// An atomic update of memory proper.
fn updated<S>(contents: &[Value], x: LocationId, update: Update<'_>, with: impl Fn(Vec<Value>) -> S) -> Vec<Done<S>> {
    let old = contents[x.index()];
    let done = |new: Option<Value>| {
        let mut contents = contents.to_vec();
        contents[x.index()] = new.unwrap_or(old);
        Done { read: Some(old), origin: Origin::Memory, state: with(contents) }
    };
    update(old).map(done).into_iter().collect()
}

/// Where a value was found, or went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The process's own store buffer.
    OwnBuffer,
    /// Memory.
    Memory,
    /// The message with this number among those to the location, in modification order.
    Message(u32),
}

/// What memory does by itself for a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Internal {
    /// The oldest store to this location that waits (under TSO also the oldest of all) arrives in memory.
    Arrives(LocationId),
    /// A store-store marker that holds nothing back goes away.
    Marker,
}

/// What a process has of memory for itself, as data: no model draws, and no report knows a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// What waits in its buffers, oldest first (for PSO: by location, between markers).
    Buffer(Vec<Pending>),
    /// The newest message it knows of each location: its number in modification order, and its value.
    View(Vec<(LocationId, u32, Value)>),
}

impl Shown {
    /// What waits in the buffers, where there are some.
    pub fn pending(&self) -> &[Pending] {
        match self {
            Self::Buffer(pending) => pending,
            Self::View(_) => &[],
        }
    }
}

/// What waits in the buffers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pending {
    /// A store.
    Store(LocationId, Value),
    /// A store-store marker; what follows waits for what precedes.
    Marker,
}

impl Pending {
    /// The store, unless it is a marker.
    pub const fn store(self) -> Option<(LocationId, Value)> {
        match self {
            Self::Store(x, value) => Some((x, value)),
            Self::Marker => None,
        }
    }
}

/// A memory model as a machine.
pub trait Machine: Sync {
    /// All that memory is at a moment: contents, buffers, messages, views.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// Why the model has no meaning for a program, if it has none.
    fn refuses(&self, _program: &Program) -> Option<String> {
        None
    }
    /// Nothing is under way, and locations have these values.
    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> Self::State;
    /// The same at the start of a program, for a model that tells its locations apart.
    fn begin(&self, program: &Program, contents: Vec<Value>) -> Self::State {
        self.initial(contents, program.processes().len())
    }
    /// Every way an access by `p` may act; none where it waits.
    fn access(&self, s: &Self::State, p: ProcessId, access: Access<'_>) -> Vec<Done<Self::State>>;
    /// What memory may do by itself for `p`.
    fn internal(&self, s: &Self::State, p: ProcessId) -> Vec<(Internal, Self::State)>;
    /// The values that a locked block of `p` works on; `None` where it waits.
    fn lock(&self, s: &Self::State, p: ProcessId) -> Option<Vec<Value>>;
    /// Memory after a locked block of `p` has left these values.
    fn unlock(&self, s: &Self::State, p: ProcessId, contents: Vec<Value>) -> Self::State;
    /// Whether nothing is under way, so that a property of the end may look.
    fn is_settled(&self, s: &Self::State) -> bool;
    /// What a location holds: in memory proper; the last message in modification order.
    fn value(&self, s: &Self::State, x: LocationId) -> Value;
    /// What `p` has for itself.
    fn shown(&self, s: &Self::State, p: ProcessId) -> Shown;

    /// Whether fences are those of a language: acquire fences mean something, and what a machine has beside an access
    /// does not.
    fn hears_acquire(&self) -> bool {
        false
    }
    /// Whether what has happened violates a property of this kind by itself, where a state tells that.
    fn tells(&self, _: &Self::State, _: PropertyKind) -> Option<bool> {
        None
    }
}
