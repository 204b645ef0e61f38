//! A channel on concrete values, from its first message on: what a path of a search is executed on.
//!
//! The position of a message is the time at which the store buffers flush it, and the position of a process's pointer
//! is the time at which it takes a step:
//!
//! ```text
//!    message j                        ⟶  flushed at the beginning of time j
//!    step of a process that is at k   ⟶  at time k, in the order of the path
//!    atomic step that appends j       ⟶  at the beginning of time j: it is its own flush
//! ```
//!
//! Sorted by these times, the steps are a run of the store buffers: all that a process sees at time k is message k,
//! which is memory then, and its own writes right of k, which are stored and not yet flushed.

use crate::engine::automaton::Datum;
use crate::engine::backward::channel::{Channel, Message};
use crate::engine::backward::processes::Processes;
use crate::engine::backward::snapshot::Snapshot;
use crate::engine::backward::timeline::Time;
use crate::program::{LocationId, ProcessId};
use crate::util::IndexVec;

/// A channel on concrete values.
#[derive(Debug)]
pub(super) struct History {
    /// Snapshots with their headers, oldest first; atomic steps have none, since nobody reads them as own.
    messages: Vec<(Snapshot, Option<(ProcessId, LocationId)>)>,
    pointers: IndexVec<ProcessId, usize>,
}

impl History {
    /// One message, at which all so many processes point.
    pub(super) fn new(memory: Snapshot, n_processes: usize) -> Self {
        Self { messages: vec![(memory, None)], pointers: IndexVec::filled(n_processes, 0) }
    }

    /// When a process that takes a step does so, and appends nothing.
    pub(super) fn view(&self, process: ProcessId, now: usize) -> Time {
        (self.pointers[process], 1, now)
    }

    /// When the next message is flushed.
    pub(super) fn next_flush(&self, now: usize) -> Time {
        (self.messages.len(), 0, now)
    }

    /// Appends a message.
    pub(super) fn append(&mut self, written: &[(LocationId, Datum)], header: Option<(ProcessId, LocationId)>) {
        let mut memory = self.messages[self.messages.len() - 1].0.clone();
        for &(x, value) in written {
            memory[x] = value;
        }
        self.messages.push((memory, header));
    }

    /// Moves pointers to the newest message.
    pub(super) fn catch_up(&mut self, processes: Processes) {
        let newest = self.messages.len() - 1;
        for process in self.pointers.indices().filter(|process| processes.contains(*process)) {
            self.pointers[process] = newest;
        }
    }

    /// Moves a pointer to the next message, if there is one.
    pub(super) fn update(&mut self, process: ProcessId) -> bool {
        let is_there = self.pointers[process] + 1 < self.messages.len();
        self.pointers[process] += usize::from(is_there);
        is_there
    }

    /// The channel with its marks, of which those that are shadowed by pending stores are left out.
    pub(super) fn channel(&self, is_pending: impl Fn(ProcessId, LocationId) -> bool) -> Channel {
        let messages = self.messages.iter().enumerate().map(|(at, (memory, header))| {
            let is_own = |header: &(ProcessId, LocationId)| {
                let mut later = self.messages[at + 1..].iter();
                at > self.pointers[header.0] && !is_pending(header.0, header.1) && later.all(|it| it.1 != Some(*header))
            };
            let pointers = self.pointers.iter_enumerated().filter(|(_, pointer)| **pointer == at);
            let pointers = pointers.map(|(process, _)| process).collect();
            Message { pointers, own: header.filter(is_own), memory: memory.clone() }
        });
        Channel(messages.collect())
    }
}
