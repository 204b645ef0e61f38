//! A set of small numbers, one bit each.

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set.
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// Adds a number and tells whether it is new.
    pub fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Whether the number is in the set.
    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Adds all of `other` and tells whether anything was new.
    pub fn union_with(&mut self, other: &Self) -> bool {
        if other.words.len() > self.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut has_grown = false;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            has_grown |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        has_grown
    }

    /// Takes out what is not in `other`.
    pub fn intersect_with(&mut self, other: &Self) {
        self.words.truncate(other.words.len());
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine &= theirs);
    }

    /// Whether `other` has all of it.
    pub fn is_subset(&self, other: &Self) -> bool {
        let theirs = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter().zip(theirs).all(|(mine, theirs)| mine & !theirs == 0)
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(i, &word)| (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| i * 64 + bit))
    }
}

impl FromIterator<usize> for BitSet {
    fn from_iter<It: IntoIterator<Item = usize>>(numbers: It) -> Self {
        let mut set = Self::new();
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::BitSet;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let mut set: BitSet = [3, 64, 200].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
        set.remove(64);
        assert!(set.contains(3) && !set.contains(64) && !set.contains(100_000));
        assert!(set.union_with(&[1].into_iter().collect()));
        assert!(!set.union_with(&[1, 200].into_iter().collect()));
        assert!(set.is_subset(&[0, 1, 3, 200, 400].into_iter().collect()));
        assert!(!set.is_subset(&[1, 3].into_iter().collect()));
        set.intersect_with(&[1, 3, 64].into_iter().collect());
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 3]);
    }
}
