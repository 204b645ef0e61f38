//! A channel of memory snapshots with a pointer into it for each process, the order on channels, and what a channel was
//! before it changed.
//!
//! A message is a snapshot of memory after a write. A process takes its pointer's message for memory; messages right of
//! it are writes that have not reached it. What else matters of a message is
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
//! The papers compare all headers; this order relates more, and everything that they say of theirs holds of it too.
//! Messages left of all pointers are left out.

use crate::engine::automaton::Datum;
use crate::engine::backward::processes::Processes;
use crate::engine::backward::snapshot::{STAR, Snapshot, generalizes, may_be, meet};
use crate::program::{LocationId, ProcessId};
use crate::util::{Idx, IndexVec};

/// The messages from the oldest pointer on, oldest first; never empty, except between two rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Channel(pub Vec<Message>);

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The processes that point at it.
    pub pointers: Processes,
    /// Whose newest write it is, to which location.
    pub own: Option<(ProcessId, LocationId)>,
    /// Memory after it.
    pub memory: Snapshot,
}

impl Message {
    /// Whether anything tells it from a message that nobody sees.
    pub(super) fn is_marked(&self) -> bool {
        !self.pointers.is_empty() || self.own.is_some()
    }
}

impl Channel {
    /// A channel of one message, at which these processes point.
    pub(super) fn of_one(pointers: Processes, memory: Snapshot) -> Self {
        Self(vec![Message { pointers, own: None, memory }])
    }

    /// Where a process that points somewhere points.
    pub(super) fn pointer(&self, process: ProcessId) -> usize {
        let points = |message: &Message| message.pointers.contains(process);
        self.0.iter().position(points).expect("a process that is present points somewhere")
    }

    /// The own message of a process and location.
    pub(super) fn own(&self, process: ProcessId, x: LocationId) -> Option<usize> {
        self.0.iter().position(|message| message.own == Some((process, x)))
    }

    /// Where a process that points somewhere reads a location.
    pub(super) fn last_write(&self, process: ProcessId, x: LocationId) -> usize {
        self.own(process, x).unwrap_or_else(|| self.pointer(process))
    }

    /// The newest message.
    pub(super) fn newest(&self) -> &Message {
        self.0.last().expect("the channel is never empty")
    }

    /// The newest message, to be changed.
    pub(super) fn newest_mut(&mut self) -> &mut Message {
        self.0.last_mut().expect("the channel is never empty")
    }

    /// Whether all messages have reached a process.
    pub(super) fn is_drained(&self, process: ProcessId) -> bool {
        self.newest().pointers.contains(process)
    }

    /// Makes a process find a value; `false` if it cannot.
    pub(super) fn find(&mut self, process: ProcessId, x: LocationId, value: Datum) -> bool {
        let at = self.last_write(process, x);
        let cell = &mut self.0[at].memory[x];
        let may_find = may_be(*cell, value);
        *cell = value;
        may_find
    }

    /// Whether it is below another channel, the marks of these processes and the newest message onto their likes.
    pub(super) fn is_below(&self, larger: &Self, present: Processes) -> bool {
        generalizes(&self.newest().memory, &larger.newest().memory) && self.embeds_into(larger, present)
    }

    fn embeds_into(&self, larger: &Self, present: Processes) -> bool {
        let mut candidates = larger.0.iter().enumerate().map(|(i, message)| (message, i + 1 == larger.0.len()));
        for (i, wanted) in self.0.iter().enumerate() {
            let is_newest = i + 1 == self.0.len();
            loop {
                let Some((message, is_newest_too)) = candidates.next() else { return false };
                let (pointers, own) = message.marks(present);
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

    /// The marks of some processes as numbers, from the oldest message on: channels below each other have the same.
    pub(super) fn marks(&self, present: Processes) -> impl Iterator<Item = [u64; 2]> {
        let marks = self.0.iter().map(move |message| message.marks(present));
        marks.filter(|(pointers, own)| !pointers.is_empty() || own.is_some()).map(|(pointers, own)| {
            let own = own.map_or(u64::MAX, |(process, x)| (process.index() as u64) << 32 | x.index() as u64);
            [pointers.0, own]
        })
    }

    /// What it can have been before a message was appended, of which the newest message before is known so far, with
    /// the processes that the append took along: that message is in the channel, or does not matter any more.
    pub(super) fn before_append(&self, base: &Message) -> Vec<Self> {
        let mut fresh = self.clone();
        assert!(fresh.0.pop().is_some(), "the appended message is there");
        let mut known = fresh.clone();
        fresh.0.push(base.clone());
        let is_known = known.0.last_mut().is_some_and(|newest| {
            newest.pointers = newest.pointers.union(base.pointers);
            let mut cells = newest.memory.iter_mut().zip(base.memory.iter());
            cells.all(|(cell, told)| meet(*cell, *told).map(|both| *cell = both).is_some())
        });
        if is_known { vec![known, fresh] } else { vec![fresh] }
    }

    /// What it can have been before a newer write of a process to a location shadowed its own message: one that is
    /// there, or one that does not matter any more.
    pub(super) fn before_shadowing(&self, process: ProcessId, x: LocationId) -> Vec<Self> {
        let mut out = Vec::new();
        for at in self.pointer(process) + 1..self.0.len() {
            if self.0[at].own.is_none() {
                let mut known = self.clone();
                known.0[at].own = Some((process, x));
                out.push(known);
            }
            let mut fresh = self.clone();
            let memory = self.open_snapshot();
            fresh.0.insert(at, Message { pointers: Processes::default(), own: Some((process, x)), memory });
            out.push(fresh);
        }
        out
    }

    /// What it can have been before a process moved its pointer by one message: it was at a message that is there, or
    /// at one that does not matter any more, and the message it moved to may have been own of one of these locations.
    pub(super) fn before_update(&self, process: ProcessId, own: impl Iterator<Item = LocationId>) -> Vec<Self> {
        let at = self.pointer(process);
        let mut left = self.clone();
        left.0[at].pointers = left.0[at].pointers.without(process);
        let mut tagged = vec![left.clone()];
        if left.0[at].own.is_none() {
            for x in own.filter(|x| self.own(process, *x).is_none()) {
                let mut owned = left.clone();
                owned.0[at].own = Some((process, x));
                tagged.push(owned);
            }
        }
        let mut out = Vec::new();
        for left in tagged {
            let mut fresh = left.clone();
            let pointers = Processes::default().with(process);
            fresh.0.insert(at, Message { pointers, own: None, memory: self.open_snapshot() });
            out.push(fresh);
            if at > 0 {
                let mut known = left;
                known.0[at - 1].pointers = known.0[at - 1].pointers.with(process);
                out.push(known);
            }
        }
        out
    }

    /// Makes all messages from one on agree on a location; `false` if they cannot.
    pub(super) fn agree(&mut self, start: usize, x: LocationId) -> bool {
        let suffix = &mut self.0[start..];
        let Some(value) = suffix.iter().try_fold(STAR, |value, message| meet(value, message.memory[x])) else {
            return false;
        };
        suffix.iter_mut().for_each(|message| message.memory[x] = value);
        true
    }

    fn open_snapshot(&self) -> Snapshot {
        IndexVec::filled(self.newest().memory.len(), STAR)
    }
}

impl Message {
    /// The marks of some processes.
    fn marks(&self, present: Processes) -> (Processes, Option<(ProcessId, LocationId)>) {
        (self.pointers.among(present), self.own.filter(|own| present.contains(own.0)))
    }
}
