//! What a packed state knows beside the local states of processes: memory, and what is under way to it.
//!
//! A component has some words of each state to itself and changes them in place. It may act in several ways where the
//! program does one thing (under release/acquire a load may read one of several messages). These are asked for one
//! after the other, from 0, and are numbered as [`System::transitions`](crate::system::System::transitions) numbers
//! them: so the path of a search over any component is a run that can be replayed.

use std::fmt::Debug;

use crate::analysis::Swap;
use crate::engine::automaton::{Reaction, Targets};
use crate::engine::packed::covering::Covers;
use crate::engine::packed::symmetry::Mirror;
use crate::memory::Internal;
use crate::program::{FenceKind, LocationId, ProcessId, PropertyKind, Value};
use crate::system::Step;

/// A location, and the value that is stored there.
pub(crate) type Stored = (LocationId, Value);

/// An access of a process: where it is in the program, and which of the ways in which it may act.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// The step that it is.
    pub step: Step,
    /// The way; 0 unless the component [branches](Component::BRANCHES).
    pub way: u32,
}

/// Memory as words of a packed state. What changes nothing when it has to wait says so by `None` or `false`, and leaves
/// the words in any condition.
pub(crate) trait Component: Debug + Sync {
    /// Whether an access may act in several ways; otherwise nobody asks for a second.
    const BRANCHES: bool;
    /// Whether a store, a fence that passes, and a load of what nobody else writes commute with all that others do, so
    /// that they may run ahead. That is an argument about store buffers.
    const RUNS_AHEAD: bool;
    /// After how many states somebody has to look at the limits: fewer where a state may be large.
    const POLL_EVERY: usize;
    /// What one thread remembers, so that it need not ask the others.
    type Hand: Debug + Default;

    /// How many words of a state it has.
    fn n_words(&self) -> usize;
    /// Nothing is under way, and locations have these values.
    fn start(&self, contents: &[Value], words: &mut [u32]);
    /// A load.
    fn load(&self, hand: &mut Self::Hand, words: &mut [u32], asked: Asked, x: LocationId) -> Option<Value>;
    /// A store.
    fn store(&self, hand: &mut Self::Hand, words: &mut [u32], asked: Asked, stored: Stored) -> bool;
    /// An atomic update; what the process makes of the value it finds, and where that takes it.
    fn update(
        &self,
        hand: &mut Self::Hand,
        words: &mut [u32],
        asked: Asked,
        x: LocationId,
        react: impl FnMut(Value) -> Reaction,
    ) -> Option<Targets>;
    /// A fence.
    fn fence(&self, hand: &mut Self::Hand, words: &mut [u32], asked: Asked, kind: FenceKind) -> bool;
    /// How many things memory may do by itself for a process.
    fn n_internal(&self, hand: &mut Self::Hand, words: &[u32], process: ProcessId) -> usize;
    /// Does the `i`-th of them. They are asked for in order, right after their number was.
    fn internal(&self, hand: &mut Self::Hand, words: &mut [u32], process: ProcessId, i: usize) -> Internal;
    /// The values that a locked block works on.
    fn lock(&self, words: &[u32], process: ProcessId) -> Option<Vec<Value>>;
    /// A locked block has left these values.
    fn unlock(&self, words: &mut [u32], process: ProcessId, contents: Vec<Value>);
    /// Whether nothing is under way.
    fn is_settled(&self, words: &[u32]) -> bool;
    /// What a location holds.
    fn value(&self, words: &[u32], x: LocationId) -> Value;
    /// Whether what has happened violates a property of this kind by itself, where memory tells that.
    fn tells(&self, _words: &[u32], _kind: PropertyKind) -> Option<bool> {
        None
    }
    /// How many things its words may name so far.
    fn n_interned(&self) -> usize;
    /// The bytes of its tables, roughly.
    fn bytes(&self) -> u64;

    /// Whether it ever does something by itself.
    fn acts(&self) -> bool {
        true
    }
    /// Whether a store waits in the process's own buffer.
    fn stores_wait(&self) -> bool {
        false
    }
    /// Whether a process had to wait because its buffer is bounded.
    fn has_hit_bound(_hand: &Self::Hand) -> bool {
        false
    }
    /// What memory looks like when processes change places, where that can be told.
    fn mirror<'a>(&'a self, _swaps: &'a [Swap]) -> Option<Box<dyn Mirror + 'a>> {
        None
    }
    /// Which memory stands for which, where one stands for others.
    fn covering(&self) -> Option<Box<dyn Covers + '_>> {
        None
    }
}
