//! Interned things: a word names each, the same word for all threads.

use std::hash::Hash;
use std::sync::{Arc, RwLock};

use crate::engine::packed::FastMap;

/// The things that were met so far, numbered in the order they came.
#[derive(Debug)]
pub struct Interner<T> {
    known: RwLock<Known<T>>,
}

#[derive(Debug)]
struct Known<T> {
    all: Vec<Arc<T>>,
    ids: FastMap<Arc<T>, u32>,
}

impl<T: Eq + Hash> Interner<T> {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self { known: RwLock::new(Known { all: Vec::new(), ids: FastMap::default() }) }
    }

    /// The word for a thing.
    pub fn intern(&self, thing: T) -> u32 {
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
        id
    }

    /// What a word stands for.
    pub fn get(&self, id: u32) -> Arc<T> {
        self.known.read().expect("no thread panics while it interns").all[id as usize].clone()
    }

    /// How many things are known.
    pub fn len(&self) -> usize {
        self.known.read().expect("no thread panics while it interns").all.len()
    }
}
