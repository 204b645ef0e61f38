//! A set of states, each a fixed number of words in one arena, numbered in the order they came.
//!
//! States are looked up in batches. A large set does not fit the cache, so a lookup waits for memory twice: for the
//! table, and for the state it points at. A batch first touches all its table entries, then all the states they point
//! at, then decides; the processor overlaps the waits of each round.

/// A set of states.
#[derive(Debug)]
pub(crate) struct StateSet {
    n_words: usize,
    words: Vec<u32>,
    /// Open addressing, linear probing; a power of two of entries, at most three quarters of them taken. An entry is
    /// the upper half of the hash, and the state's number plus one; 0 is free.
    table: Vec<u64>,
}

/// States on their way into a set.
#[derive(Debug)]
pub(crate) struct Batch {
    n_words: usize,
    words: Vec<u32>,
    hashes: Vec<u64>,
}

/// How many states make a batch: enough to overlap, few enough to stay in the nearest cache.
const BATCH: usize = 64;

impl Batch {
    /// The empty batch of states of so many words.
    pub(crate) fn new(n_words: usize) -> Self {
        Self { n_words, words: Vec::with_capacity(BATCH * n_words), hashes: Vec::with_capacity(BATCH) }
    }

    /// Adds a state whose hash is known; tells whether the batch is full.
    #[inline]
    pub(crate) fn push(&mut self, state: &[u32], hash: u64) -> bool {
        self.words.extend_from_slice(state);
        self.hashes.push(hash);
        self.hashes.len() >= BATCH
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// A state.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> &[u32] {
        &self.words[i * self.n_words..(i + 1) * self.n_words]
    }

    /// Forgets all states.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.hashes.clear();
    }
}

impl StateSet {
    /// The empty set of states of so many words; at least one.
    pub(crate) fn new(n_words: usize) -> Self {
        assert!(n_words > 0, "a program has a process, so a state has a word");
        Self { n_words, words: Vec::new(), table: vec![0; 64] }
    }

    /// How many states there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.words.len() / self.n_words
    }

    /// A state, by its number.
    #[inline]
    pub(crate) fn get(&self, number: usize) -> &[u32] {
        &self.words[number * self.n_words..(number + 1) * self.n_words]
    }

    /// Brings what the states of a batch will need near to the processor. Without effect on the set; the result only
    /// keeps the loads from being left out.
    pub(crate) fn touch(&self, batch: &Batch) -> u32 {
        let mask = self.table.len() - 1;
        let mut entries = [0; BATCH];
        for (entry, &hash) in entries.iter_mut().zip(&batch.hashes) {
            *entry = self.table[hash as usize & mask];
        }
        let numbers = entries.iter().zip(&batch.hashes).filter(|(entry, hash)| **entry >> 32 == **hash >> 32);
        let firsts =
            numbers.filter_map(|(&entry, _)| self.words.get((entry as u32 as usize).checked_sub(1)? * self.n_words));
        firsts.fold(0, |sum, first| sum ^ first)
    }

    /// Adds a state of a batch; tells its number if it is new.
    #[inline]
    pub(crate) fn insert(&mut self, batch: &Batch, i: usize) -> Option<u32> {
        self.add(batch.get(i), batch.hashes[i]).ok()
    }

    /// Adds a state whose hash is known; tells its number, as an error if it is there already.
    #[inline]
    pub(crate) fn add(&mut self, state: &[u32], hash: u64) -> Result<u32, u32> {
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.table[at];
            if entry == 0 {
                break;
            }
            if entry >> 32 == hash >> 32 && self.get(entry as u32 as usize - 1) == state {
                return Err(entry as u32 - 1);
            }
            at = (at + 1) & mask;
        }
        let number = u32::try_from(self.len()).expect("the search stops before 2^32 states");
        self.table[at] = hash >> 32 << 32 | u64::from(number + 1);
        self.words.extend_from_slice(state);
        if self.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        Ok(number)
    }

    #[cold]
    fn grow(&mut self) {
        let n_entries = self.table.len() * 2;
        let mask = n_entries - 1;
        self.table.clear();
        self.table.resize(n_entries, 0);
        for (number, state) in self.words.chunks_exact(self.n_words).enumerate() {
            let hash = hash_of(state);
            let mut at = hash as usize & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = hash >> 32 << 32 | (number as u64 + 1);
        }
    }

    /// The bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.words.capacity() * size_of::<u32>() + self.table.capacity() * size_of::<u64>()) as u64
    }
}

/// The hash of a state: a 128-bit product folded for each two words.
#[inline]
pub(crate) fn hash_of(state: &[u32]) -> u64 {
    const KEY: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0x243f_6a88_85a3_08d3_u64;
    let mut pairs = state.chunks_exact(2);
    for pair in &mut pairs {
        hash = fold(hash ^ (u64::from(pair[0]) << 32 | u64::from(pair[1])), KEY);
    }
    if let [last] = pairs.remainder() {
        hash = fold(hash ^ u64::from(*last), KEY);
    }
    fold(hash, 0xd6e8_feb8_6659_fd93)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::{Batch, StateSet, hash_of};

    #[test]
    fn a_state_is_new_once() {
        let mut set = StateSet::new(3);
        for number in 0..1000 {
            let state = [number, number % 7, 1];
            let mut batch = Batch::new(3);
            batch.push(&state, hash_of(&state));
            batch.push(&state, hash_of(&state));
            set.touch(&batch);
            assert_eq!(set.insert(&batch, 0), Some(number));
            assert_eq!(set.insert(&batch, 1), None);
        }
        assert_eq!((set.len(), set.get(500)), (1000, &[500, 500 % 7, 1][..]));
    }
}
