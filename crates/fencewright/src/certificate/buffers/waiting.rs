//! What waits for a process: the oldest stores in order, of the rest the values, and the newest to each location.
//!
//! ```text
//!    new ─▶ [ 2 1 2 1 1 3 ] ─▶ memory        newest 2, rest {1, 2}, oldest [1 3]       (k = 2)
//! ```
//!
//! A queue stands for every FIFO `oldest · w` in which `w` has, for each location of the rest, stores of exactly its
//! values, each at least once, and the newest last. What happens to such a FIFO happens here:
//!
//! | what happens | here |
//! |---|---|
//! | a store comes | behind the oldest, if nothing else waits and there are fewer than `k`; else into the rest |
//! | the first store leaves, one of the oldest | it leaves; the rest waits for that |
//! | the same, there is no such, and `w` has its value at its location once more | nothing else changes |
//! | the same, and `w` has it no more | the value goes; that of the newest only as the last to its location |
//!
//! The last row: if the value of the newest goes, `w` has no store to the location any more, since the last of them
//! would be the newest, and have its value.
//!
//! Under PSO there is one queue for each location, and store-store fences put markers between. A marker with nothing
//! before it would leave at once, one behind another marker with nothing between holds nothing back that the other does
//! not, and one more than `k + 1` is dropped. A marker only ever makes others wait, so this adds behaviors and takes
//! none away, and it changes neither what a load finds nor whether a store waits.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{LocationId, Value};

/// A store.
pub(super) type Store = (LocationId, Value);

/// What waits for a process, between markers, oldest first. Invariant: something waits in the first part; no queue is
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Waiting(Vec<Part>);

/// The queues between two markers: one under TSO, one for each location under PSO.
type Part = BTreeMap<Option<LocationId>, Queue>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Queue {
    oldest: Vec<Store>,
    rest: BTreeMap<LocationId, Rest>,
}

/// The stores to a location whose order is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rest {
    newest: Value,
    /// With the newest.
    values: BTreeSet<Value>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_marker(&self) -> bool {
        self.0.len() > 1
    }

    /// The newest store to a location.
    pub(super) fn newest(&self, x: LocationId) -> Option<Value> {
        self.0.iter().rev().flat_map(BTreeMap::values).find_map(|queue| queue.newest(x))
    }

    /// With one more store in a queue.
    pub(super) fn with_store(&self, queue: Option<LocationId>, store: Store, k: usize) -> Self {
        let mut out = self.clone();
        if out.0.is_empty() {
            out.0.push(Part::new());
        }
        let newest = out.0.last_mut().expect("there is a part");
        newest.entry(queue).or_default().store(store, k);
        out
    }

    /// Behind a store-store fence.
    pub(super) fn with_marker(&self, k: usize) -> Self {
        let mut out = self.clone();
        let separates = out.0.last().is_some_and(|part| !part.is_empty());
        if separates && self.0.len() <= k.saturating_add(1) {
            out.0.push(Part::new());
        }
        out
    }

    /// What can arrive in memory, and what waits then.
    pub(super) fn arriving(&self) -> Vec<(Store, Self)> {
        let mut out = Vec::new();
        for (&at, queue) in self.0.first().into_iter().flatten() {
            for (store, left) in queue.leaving() {
                out.push((store, self.after(at, left)));
            }
        }
        out
    }

    fn after(&self, at: Option<LocationId>, left: Queue) -> Self {
        let mut out = self.clone();
        match left.is_empty() {
            true => out.0[0].remove(&at),
            false => out.0[0].insert(at, left),
        };
        // What the first markers held back is free.
        let n_empty = out.0.iter().take_while(|part| part.is_empty()).count();
        out.0.drain(..n_empty);
        out
    }
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.oldest.is_empty() && self.rest.is_empty()
    }

    fn newest(&self, x: LocationId) -> Option<Value> {
        let oldest = || self.oldest.iter().rev().find(|store| store.0 == x).map(|store| store.1);
        self.rest.get(&x).map(|rest| rest.newest).or_else(oldest)
    }

    fn store(&mut self, (x, value): Store, k: usize) {
        if self.rest.is_empty() && self.oldest.len() < k {
            return self.oldest.push((x, value));
        }
        let rest = self.rest.entry(x).or_insert_with(|| Rest { newest: value, values: BTreeSet::new() });
        rest.newest = value;
        rest.values.insert(value);
    }

    /// What can leave, and what is left.
    fn leaving(&self) -> Vec<(Store, Self)> {
        if let Some((first, others)) = self.oldest.split_first() {
            return vec![(*first, Self { oldest: others.to_vec(), rest: self.rest.clone() })];
        }
        let mut out = Vec::new();
        for (&x, rest) in &self.rest {
            for &value in &rest.values {
                out.push(((x, value), self.clone()));
                if value != rest.newest || rest.values.len() == 1 {
                    out.push(((x, value), self.without(x, value)));
                }
            }
        }
        out
    }

    fn without(&self, x: LocationId, value: Value) -> Self {
        let mut out = self.clone();
        if let Some(rest) = out.rest.get_mut(&x) {
            rest.values.remove(&value);
            if rest.values.is_empty() {
                out.rest.remove(&x);
            }
        }
        out
    }
}
