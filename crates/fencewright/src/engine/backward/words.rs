//! Interned words, shared by all threads of a search.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// An interned word; 0 is the empty one. Which number a word gets depends on which thread comes first, so numbers are
/// good for telling words apart, and for nothing else.
pub type WordId = u32;

/// Threads that intern different words seldom meet.
const N_SHARDS: usize = 64;

/// The words so far.
#[derive(Debug)]
pub struct Words {
    words: boxcar::Vec<Box<[u64]>>,
    ids: Vec<Mutex<HashTable<WordId>>>,
}

impl Words {
    /// The empty word.
    pub const EMPTY: WordId = 0;

    /// Only the empty word is known.
    pub fn new() -> Self {
        let ids = (0..N_SHARDS).map(|_| Mutex::default()).collect();
        let words = Self { words: boxcar::Vec::new(), ids };
        words.words.push(Box::default());
        words
    }

    /// The id of a word.
    pub fn intern(&self, letters: &[u64]) -> WordId {
        // Most buffers are empty: no thread should wait for another to learn that.
        if letters.is_empty() {
            return Self::EMPTY;
        }
        let hash = hash(letters);
        let shard = &self.ids[(hash >> 32) as usize % N_SHARDS];
        let mut ids = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = ids.find(hash, |&id| self.get(id) == letters) {
            return id;
        }
        let id = WordId::try_from(self.words.push(letters.into())).expect("fewer than 2^32 words");
        ids.insert_unique(hash, id, |&id| self::hash(self.get(id)));
        id
    }

    /// The letters of a word, oldest first.
    pub fn get(&self, id: WordId) -> &[u64] {
        &self.words[id as usize]
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::new()
    }
}

/// The finish of `FxHasher` leaves like words close together, which costs comparisons; this spreads them.
fn hash(letters: &[u64]) -> u64 {
    let hash = BuildHasherDefault::<FxHasher>::default().hash_one(letters);
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}
