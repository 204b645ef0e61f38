//! A set of states, each a fixed number of words in one arena, numbered in the order they came.

use hashbrown::HashTable;

/// A set of states.
#[derive(Debug)]
pub struct StateSet {
    n_words: usize,
    words: Vec<u32>,
    index: HashTable<u32>,
}

impl StateSet {
    /// The empty set of states of so many words.
    pub fn new(n_words: usize) -> Self {
        Self { n_words, words: Vec::new(), index: HashTable::new() }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// A state, by its number.
    pub fn get(&self, number: usize) -> &[u32] {
        &self.words[number * self.n_words..(number + 1) * self.n_words]
    }

    /// Adds a state whose hash is known; tells its number if it is new.
    #[inline]
    pub fn insert(&mut self, state: &[u32], hash: u64) -> Option<u32> {
        let (words, n_words) = (&self.words, self.n_words);
        let at = |number: u32| &words[number as usize * n_words..(number as usize + 1) * n_words];
        let entry = self.index.entry(hash, |&number| at(number) == state, |&number| hash_of(at(number)));
        match entry {
            hashbrown::hash_table::Entry::Occupied(_) => None,
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let number = u32::try_from(self.words.len() / n_words.max(1)).expect("fewer than 2^32 states");
                vacant.insert(number);
                self.words.extend_from_slice(state);
                Some(number)
            }
        }
    }

    /// The bytes it takes.
    pub fn bytes(&self) -> u64 {
        (self.words.capacity() * size_of::<u32>() + self.index.allocation_size()) as u64
    }
}

/// The hash of a state: a 128-bit product folded for each two words.
#[inline]
pub fn hash_of(state: &[u32]) -> u64 {
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
    use super::{StateSet, hash_of};

    #[test]
    fn a_state_is_new_once() {
        let mut set = StateSet::new(3);
        for number in 0..1000 {
            let state = [number, number % 7, 1];
            assert_eq!(set.insert(&state, hash_of(&state)), Some(number));
            assert_eq!(set.insert(&state, hash_of(&state)), None);
        }
        assert_eq!((set.len(), set.get(500)), (1000, &[500, 500 % 7, 1][..]));
    }
}
