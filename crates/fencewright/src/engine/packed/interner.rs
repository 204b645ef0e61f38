//! Interned things: a word names each, the same word for all threads.

use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use crate::engine::packed::FastMap;

/// The things that were met so far, numbered in the order they came.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    known: RwLock<Known<T>>,
    /// Their sizes, which is asked for while others intern.
    n_things: AtomicUsize,
    n_parts: AtomicU64,
}

#[derive(Debug)]
struct Known<T> {
    all: Vec<Arc<T>>,
    ids: FastMap<Arc<T>, u32>,
}

impl<T: Eq + Hash> Interner<T> {
    /// Nothing is known yet.
    pub(crate) fn new() -> Self {
        let known = RwLock::new(Known { all: Vec::new(), ids: FastMap::default() });
        Self { known, n_things: AtomicUsize::new(0), n_parts: AtomicU64::new(0) }
    }

    /// The word for a thing, which has so many parts.
    pub(crate) fn intern(&self, thing: T, n_parts: usize) -> u32 {
        let thing = Arc::new(thing);
        if let Some(&id) = self.known.read().expect("no thread panics while it interns").ids.get(&thing) {
            return id;
        }
        let mut known = self.known.write().expect("no thread panics while it interns");
        if let Some(&id) = known.ids.get(&thing) {
            return id;
        }
        let id = u32::try_from(known.all.len()).expect("fewer than 2^32 things of a kind");
        known.all.push(thing.clone());
        known.ids.insert(thing, id);
        self.n_things.store(known.all.len(), Ordering::Relaxed);
        self.n_parts.fetch_add(n_parts as u64, Ordering::Relaxed);
        id
    }

    /// What a word stands for.
    pub(crate) fn get(&self, id: u32) -> Arc<T> {
        self.known.read().expect("no thread panics while it interns").all[id as usize].clone()
    }

    /// How many things are known.
    pub(crate) fn len(&self) -> usize {
        self.n_things.load(Ordering::Relaxed)
    }

    /// How many parts they have together.
    pub(crate) fn n_parts(&self) -> u64 {
        self.n_parts.load(Ordering::Relaxed)
    }
}
