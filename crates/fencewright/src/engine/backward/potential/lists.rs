//! Lists of letters: what a thread must be able to read, one after the other, if nobody writes any more. Sets of such
//! lists are what is asked of a thread.
//!
//! Two lists that ask for the same are made one:
//!
//! * the same message read twice at once is read once, and `last` if one of them is;
//! * behind the last message of a location the same is read again for nothing;
//! * last messages that are read right behind each other may be read in any order.
//!
//! Lists of weak release/acquire have markers, and only the first of these holds of them.
//!
//! A list asks for less than another if its letters are among those of the other, in their order; a set for less than
//! another if each of its lists asks for less than some list of the other. Of a set only the lists are kept that no
//! other one asks for as well; the set without lists asks for nothing.

use super::kinds::{Flavor, is_last, is_letter_below, kind_of};
use crate::engine::backward::{WordId, Words};

/// A set of lists, by its number; 0 is the one that asks for nothing.
pub(super) type SetId = u32;

/// The lists and sets of a search.
#[derive(Debug, Default)]
pub(super) struct Lists {
    words: Words,
    sets: Words,
    flavor: Flavor,
    /// From this kind on letters are markers.
    n_kinds: u32,
}

impl Lists {
    /// No list is known yet but that without letters.
    pub(super) fn new(flavor: Flavor, n_kinds: usize) -> Self {
        Self { flavor, n_kinds: n_kinds as u32, ..Self::default() }
    }

    /// The letters of a list.
    pub(super) fn list(&self, id: WordId) -> &[u64] {
        self.words.get(id)
    }

    /// The lists of a set, in the order of their letters.
    pub(super) fn set(&self, id: SetId) -> impl Iterator<Item = WordId> + '_ {
        self.sets.get(id).iter().map(|&word| word as WordId)
    }

    /// The number of a list of any letters.
    pub(super) fn number(&self, letters: Vec<u64>) -> WordId {
        self.words.intern(&match self.flavor {
            Flavor::Strong => normal(letters),
            Flavor::Weak => weakly_normal(letters, self.n_kinds),
        })
    }

    /// The number of the set that asks for these lists.
    pub(super) fn gather(&self, mut lists: Vec<WordId>) -> SetId {
        lists.retain(|&list| list != Words::EMPTY);
        lists.sort_unstable_by(|a, b| self.list(*a).cmp(self.list(*b)));
        lists.dedup();
        let is_kept = |&list: &WordId| {
            let mut others = lists.iter().filter(|&&other| other != list);
            !others.any(|&other| is_below(self.list(list), self.list(other)))
        };
        let kept: Vec<u64> = lists.iter().copied().filter(is_kept).map(u64::from).collect();
        self.sets.intern(&kept)
    }

    /// Whether a set asks for no more than another.
    pub(super) fn is_below(&self, smaller: SetId, larger: SetId) -> bool {
        smaller == larger
            || self.set(smaller).all(|list| {
                let list = self.list(list);
                self.set(larger).any(|other| is_below(list, self.list(other)))
            })
    }
}

/// Whether a list asks for no more than another.
fn is_below(smaller: &[u64], larger: &[u64]) -> bool {
    if smaller.len() > larger.len() {
        return false;
    }
    let mut left = smaller.iter().copied();
    let mut wanted = left.next();
    for &letter in larger {
        match wanted {
            None => return true,
            Some(it) if is_letter_below(it, letter) => wanted = left.next(),
            Some(_) => {}
        }
    }
    wanted.is_none()
}

/// The list that stands for all that ask for the same.
fn normal(letters: Vec<u64>) -> Vec<u64> {
    let mut letters = letters;
    loop {
        let mut out: Vec<u64> = Vec::with_capacity(letters.len());
        for &letter in &letters {
            let is_known = out.iter().any(|&it| is_last(it) && kind_of(it) == kind_of(letter));
            match out.last_mut() {
                _ if is_known => {}
                Some(before) if kind_of(*before) == kind_of(letter) => *before |= letter,
                Some(_) | None => out.push(letter),
            }
        }
        for run in out.chunk_by_mut(|a, b| is_last(*a) && is_last(*b)) {
            run.sort_unstable();
        }
        if out == letters {
            return out;
        }
        letters = out;
    }
}

/// The same for weak release/acquire; markers beside each other are in order.
fn weakly_normal(letters: Vec<u64>, n_kinds: u32) -> Vec<u64> {
    let mut out: Vec<u64> = Vec::with_capacity(letters.len());
    for letter in letters {
        match out.last_mut() {
            Some(before) if is_letter_below(*before, letter) => *before = letter,
            Some(before) if is_letter_below(letter, *before) => {}
            Some(_) | None => out.push(letter),
        }
    }
    for run in out.chunk_by_mut(|a, b| kind_of(*a) >= n_kinds && kind_of(*b) >= n_kinds) {
        run.sort_unstable();
    }
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{last, plain};
    use super::*;

    #[test]
    fn lists_that_ask_for_the_same_are_one() {
        let (a, b, c) = (0, 1, 2);
        assert_eq!(normal(vec![plain(a), plain(a), plain(b), plain(a)]), [plain(a), plain(b), plain(a)]);
        assert_eq!(normal(vec![plain(a), last(a), plain(a)]), [last(a)]);
        assert_eq!(normal(vec![last(a), plain(b), plain(a)]), [last(a), plain(b)]);
        assert_eq!(normal(vec![plain(a), last(b), last(a), plain(c)]), [last(a), last(b), plain(c)]);
    }

    #[test]
    fn sets_keep_what_asks_for_most() {
        let lists = Lists::default();
        let number = |letters: &[u64]| lists.number(letters.to_vec());
        let (short, long) = (number(&[plain(1)]), number(&[plain(0), last(1)]));
        assert_eq!(lists.gather(vec![short, long, Words::EMPTY]), lists.gather(vec![long]));
        assert!(lists.is_below(lists.gather(vec![short]), lists.gather(vec![long])));
        assert!(!lists.is_below(lists.gather(vec![long]), lists.gather(vec![short])));
        assert!(lists.is_below(lists.gather(vec![]), lists.gather(vec![short])));
    }
}
