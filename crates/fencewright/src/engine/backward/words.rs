//! Interned words over numbers.

use crate::engine::automaton::FastMap;

/// An interned word; 0 is the empty one.
pub type WordId = u32;

/// The words so far.
#[derive(Debug)]
pub struct Words {
    words: Vec<Box<[u32]>>,
    ids: FastMap<Box<[u32]>, WordId>,
}

impl Words {
    /// The empty word.
    pub const EMPTY: WordId = 0;

    /// Only the empty word is known.
    pub fn new() -> Self {
        let mut words = Self { words: Vec::new(), ids: FastMap::default() };
        words.intern(Vec::new());
        words
    }

    /// The id of a word.
    pub fn intern(&mut self, letters: Vec<u32>) -> WordId {
        if let Some(&id) = self.ids.get(letters.as_slice()) {
            return id;
        }
        let id = WordId::try_from(self.words.len()).expect("fewer than 2^32 words");
        let letters: Box<[u32]> = letters.into();
        self.words.push(letters.clone());
        self.ids.insert(letters, id);
        id
    }

    /// The letters of a word, oldest first.
    pub fn get(&self, id: WordId) -> &[u32] {
        &self.words[id as usize]
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::new()
    }
}
