//! A state of the search: memory as sequential consistency has it, and beside it what threads know.

use crate::engine::views::shape::Shape;
use crate::program::Value;

/// What the last step was that sequential consistency does not have, or that races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Alarm {
    /// A read of an old write.
    Read,
    /// A write below another one.
    Write,
    /// An update of an old write.
    Update,
    /// Two accesses to plain data that nothing orders.
    Race,
}

/// The place of a location and an old value of it, and what a read of that learns.
pub(super) type Old = ((usize, u32), Box<[u64]>);

/// Memory, and what threads know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Known {
    pub contents: Box<[Value]>,
    /// As the [`Shape`] says.
    pub words: Box<[u64]>,
    /// What a read of an old value learns at least, by place of the location and value: of those that some thread may
    /// still read. Ascending; empty where old values are not read.
    pub old: Vec<Old>,
    pub alarm: Option<Alarm>,
}

/// Knows nothing: all that was ever written may still be read.
pub(super) const NOTHING: u64 = u64::MAX;

impl Known {
    /// At the start there is nothing old, so everybody knows all.
    pub(super) fn new(shape: &Shape, contents: Vec<Value>) -> Self {
        let mut words = vec![NOTHING; shape.n_words].into_boxed_slice();
        let all = if shape.n_slots == 64 { u64::MAX } else { (1 << shape.n_slots) - 1 };
        let (v, u, len) = (shape.parts.v, &shape.parts.u, shape.view_len());
        for thread in &shape.threads {
            words[thread.known] = all;
            for at in [Some(thread.cur), thread.acq].into_iter().flatten() {
                words[at + v..at + v + len].fill(0);
                words[at + u.start..at + u.end].fill(0);
            }
        }
        for (slot, location) in shape.locations.iter().enumerate() {
            words[location.met] = all;
            words[location.wrote] = all;
            words[location.msg + v + 2 * slot..][..2].fill(0);
        }
        words[shape.last_sc] = 0;
        Self { contents: contents.into(), words, old: Vec::new(), alarm: None }
    }

    /// `into ⊔= from`, for so many words: who knows two things may read what both leave open.
    pub(super) fn join(&mut self, into: usize, from: usize, len: usize) {
        for i in 0..len {
            self.words[into + i] &= self.words[from + i];
        }
    }

    pub(super) fn copy(&mut self, into: usize, from: usize, len: usize) {
        self.words.copy_within(from..from + len, into);
    }

    pub(super) fn forget(&mut self, at: usize, len: usize) {
        self.words[at..at + len].fill(NOTHING);
    }
}
