//! An abstract store buffer: the oldest stores in order, then a set of stores whose newest is known, per location.
//!
//! It stands for the FIFOs `oldest · w` where `w` has the locations of the set, its stores are in the set (`fd`, `set`:
//! each at least once), and its last store to a location is the newest one kept (`set`: any of the set). The rules:
//!
//! | rule | |
//! |---|---|
//! | STORE-H | while the set is empty and fewer than `k` are in order, a store goes behind those |
//! | STORE-S | otherwise it goes into the set, even if flushes have made room before that: it is newer than the set |
//! | FLUSH-H | the oldest store leaves the ordered part; the set waits for that to be empty |
//! | FLUSH-SN | a store of the set goes to memory, and the same store is in the buffer once more |
//! | FLUSH-SD | a store of the set goes to memory and leaves the set; not the newest while its location has others |
//! | FLUSH-NE, FLUSH-E | `pd`: any store of the set, which stays as it is; the newest, with which its location leaves |
//!
//! The newest store to a location leaves last. FLUSH-SD on it while others remain would let the buffer forget that.

use crate::engine::coherence::{Abstraction, Precision};
use crate::engine::packed::Label;
use crate::program::{LocationId, Value};

/// What is stored, and by which operation; the rules do not tell the two apart.
pub(super) type Datum = (Value, Label);

/// A store that waits.
pub(super) type Store = (LocationId, Datum);

/// An abstract store buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Buffer {
    oldest: Vec<Store>,
    /// Invariant: by location, each once.
    rest: Vec<Unordered>,
}

/// The stores to one location whose order is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Unordered {
    location: LocationId,
    newest: Datum,
    /// Invariant: sorted; `newest` is one of them.
    values: Vec<Datum>,
}

impl Buffer {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.oldest.is_empty() && self.rest.is_empty()
    }

    /// How many stores and values it is kept in.
    pub(super) fn n_parts(&self) -> usize {
        self.oldest.len() + self.rest.iter().map(|it| 2 + it.values.len()).sum::<usize>()
    }

    /// The newest store to each location that has one, which is what a load by the owner finds.
    pub(super) fn newest(&self) -> Vec<Store> {
        let mut newest: Vec<Store> = self.rest.iter().map(|it| (it.location, it.newest)).collect();
        for store in self.oldest.iter().rev() {
            if newest.iter().all(|known| known.0 != store.0) {
                newest.push(*store);
            }
        }
        newest
    }

    /// STORE-H, STORE-S.
    pub(super) fn store(&mut self, (x, value): Store, precision: Precision) {
        if self.rest.is_empty() && self.oldest.len() < precision.k as usize {
            self.oldest.push((x, value));
            return;
        }
        match self.rest.binary_search_by_key(&x, |it| it.location) {
            Ok(i) => self.rest[i].store(value),
            Err(i) => self.rest.insert(i, Unordered { location: x, newest: value, values: vec![value] }),
        }
    }

    /// What can leave, and what remains.
    pub(super) fn flushes(&self, abstraction: Abstraction) -> Vec<(Store, Self)> {
        if let Some((&first, others)) = self.oldest.split_first() {
            return vec![(first, Self { oldest: others.to_vec(), rest: self.rest.clone() })];
        }
        let mut out = Vec::new();
        for (i, unordered) in self.rest.iter().enumerate() {
            for &value in &unordered.values {
                let store = (unordered.location, value);
                out.push((store, self.clone()));
                out.extend(unordered.without(value, abstraction).map(|left| (store, self.with(i, left))));
            }
        }
        out
    }

    /// `set`: any store of the set may turn out to be the newest.
    pub(super) fn guesses(&self) -> Vec<Self> {
        let mut out = Vec::new();
        for (i, unordered) in self.rest.iter().enumerate() {
            for &newest in unordered.values.iter().filter(|&&value| value != unordered.newest) {
                out.push(self.with(i, Unordered { newest, ..unordered.clone() }));
            }
        }
        out
    }

    /// `pd`: whether it stands for every FIFO that the other stands for.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.oldest == other.oldest
            && self.rest.len() == other.rest.len()
            && self.rest.iter().zip(&other.rest).all(|(mine, its)| mine.covers(its))
    }

    /// What it has in common with all that it covers and is covered by.
    pub(super) fn outline(&self) -> Self {
        let outline = |it: &Unordered| Unordered { values: vec![it.newest], ..*it };
        Self { oldest: self.oldest.clone(), rest: self.rest.iter().map(outline).collect() }
    }

    /// The operations of which a store is sure to wait.
    pub(super) fn sure_labels(&self, abstraction: Abstraction) -> impl Iterator<Item = Label> + '_ {
        let sure = move |it: &Unordered| match abstraction {
            Abstraction::Set | Abstraction::Fd => it.values.clone(),
            // The set is what may wait, but the newest of it does.
            Abstraction::Pd => vec![it.newest],
        };
        self.oldest.iter().map(|store| store.1.1).chain(self.rest.iter().flat_map(sure).map(|it| it.1))
    }

    /// With other names for the locations.
    pub(super) fn renamed(&self, to: impl Fn(LocationId) -> LocationId) -> Self {
        let oldest = self.oldest.iter().map(|store| (to(store.0), store.1)).collect();
        let rest = self.rest.iter().map(|it| Unordered { location: to(it.location), ..it.clone() });
        let mut rest: Vec<_> = rest.collect();
        rest.sort();
        Self { oldest, rest }
    }

    /// With other unordered stores at one location; none of them is none of the location.
    fn with(&self, i: usize, unordered: Unordered) -> Self {
        let mut out = self.clone();
        if unordered.values.is_empty() {
            out.rest.remove(i);
        } else {
            out.rest[i] = unordered;
        }
        out
    }
}

impl Unordered {
    fn store(&mut self, value: Datum) {
        self.newest = value;
        if let Err(i) = self.values.binary_search(&value) {
            self.values.insert(i, value);
        }
    }

    /// What is left when a value is in the buffer no more; `None` where that cannot be.
    fn without(&self, value: Datum, abstraction: Abstraction) -> Option<Self> {
        let is_newest = value == self.newest;
        let values = match abstraction {
            Abstraction::Set | Abstraction::Fd if is_newest && self.values.len() > 1 => return None,
            Abstraction::Set | Abstraction::Fd => self.values.iter().copied().filter(|&it| it != value).collect(),
            Abstraction::Pd if is_newest => Vec::new(),
            // Covered by what stays as it is.
            Abstraction::Pd => return None,
        };
        Some(Self { values, ..*self })
    }

    fn covers(&self, other: &Self) -> bool {
        let has = |value: &Datum| self.values.binary_search(value).is_ok();
        self.location == other.location && self.newest == other.newest && other.values.iter().all(has)
    }
}

#[cfg(test)]
mod tests;
