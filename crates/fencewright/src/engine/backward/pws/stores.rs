//! The store buffers of PSO, one for each process and location, and the order on them.
//!
//! A smaller buffer is a subword of a larger one, with the same newest store; an empty one is only below an empty one,
//! since fences and reads tell empty buffers from others.

use std::collections::BTreeMap;

use crate::engine::automaton::Datum;
use crate::engine::backward::snapshot::may_be;
use crate::program::{LocationId, ProcessId};

/// The store buffers that are not empty, each oldest store first; a store may be `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stores(BTreeMap<(ProcessId, LocationId), Vec<Datum>>);

impl Stores {
    /// The buffer of a process and location.
    pub(super) fn get(&self, process: ProcessId, x: LocationId) -> &[Datum] {
        self.0.get(&(process, x)).map_or(&[], Vec::as_slice)
    }

    /// Replaces the buffer of a process and location.
    pub(super) fn set(&mut self, process: ProcessId, x: LocationId, stores: Vec<Datum>) {
        if stores.is_empty() {
            self.0.remove(&(process, x));
        } else {
            self.0.insert((process, x), stores);
        }
    }

    /// Whether a store of a process to a location is pending.
    pub(super) fn is_pending(&self, process: ProcessId, x: LocationId) -> bool {
        self.0.contains_key(&(process, x))
    }

    /// Whether no store is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The buffers of a process that are not empty.
    pub(super) fn of(&self, process: ProcessId) -> impl Iterator<Item = (LocationId, &[Datum])> {
        let all = self.0.iter().filter(move |(key, _)| key.0 == process);
        all.map(|(key, stores)| (key.1, stores.as_slice()))
    }

    /// The processes and locations whose buffers are not empty: stores that are below each other have the same.
    pub(super) fn pending(&self) -> impl Iterator<Item = (ProcessId, LocationId)> {
        self.0.keys().copied()
    }

    /// How many stores are pending.
    pub(super) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Whether it is below others.
    pub(super) fn is_below(&self, larger: &Self) -> bool {
        let buffers = || self.0.iter().zip(&larger.0);
        self.0.len() == larger.0.len()
            && buffers().all(|(small, large)| small.0 == large.0)
            && buffers().all(|(small, large)| is_subword(small.1, large.1))
    }
}

/// Whether a word embeds into another, the newest letter onto the newest.
fn is_subword(small: &[Datum], large: &[Datum]) -> bool {
    let (Some((newest, small)), Some((newest_too, large))) = (small.split_last(), large.split_last()) else {
        return small.is_empty() && large.is_empty();
    };
    let mut rest = large.iter();
    may_be(*newest, *newest_too) && small.iter().all(|&letter| rest.any(|&candidate| may_be(letter, candidate)))
}
