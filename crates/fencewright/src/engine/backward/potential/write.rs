//! What must have been so before a thread wrote a message.
//!
//! ```text
//!   after:   a list of another thread   …  o  C      the new message is read at the o
//!   before:                             …     C      the rest was readable for that thread,
//!            and for the writer               C      and for the writer, whose view the message has
//! ```
//!
//! A list need not be cut where a letter of the new message's kind is: an older one of the kind may be meant.
//!
//! Strong release/acquire: behind the cut no older message of the location can be read, nor can the writer itself read
//! one; and no older one is the last any more.
//!
//! Weak release/acquire: behind the cut, and for the writer, older messages of the location can be read if they were
//! not in the past of the writer; a *marker* before them asks for that. Who reads the new message to update it is the
//! same thread in all lists.

use super::constraint::Draft;
use super::kinds::{Flavor, KindId, Kinds, Letter, Writer, claim_of, is_last, kind_of};
use super::lists::Lists;
use crate::engine::backward::WordId;
use crate::util::Idx;
use crate::watch::heed;

/// What becomes of a list before the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Before {
    list: WordId,
    /// What the writer must be able to read as well, if the new message is read.
    for_writer: Option<WordId>,
    /// Who may update the new message, if that is said; 0 otherwise.
    updater: u64,
}

/// A list with more than one choice, or with another than to stay.
struct Choice {
    set: usize,
    at: usize,
    ways: Vec<Before>,
}

/// What is left of a list behind the new message.
struct Rest {
    letters: Vec<Letter>,
    /// Whether messages of the location are left.
    has_older: bool,
    updater: u64,
}

/// A write of a message of a kind by a thread.
pub(super) struct Written<'a> {
    pub kinds: &'a Kinds,
    pub lists: &'a Lists,
    pub flavor: Flavor,
    pub thread: usize,
    pub kind: KindId,
}

/// The one of whom two say that it may update a message; nothing if they contradict each other.
const fn agreed(one: u64, other: u64) -> Option<u64> {
    match (one, other) {
        (0, it) | (it, 0) => Some(it),
        (one, other) if one == other => Some(one),
        _ => None,
    }
}

impl Written<'_> {
    /// Appends what must have been so before; with `must_be_read` only where somebody reads the new message.
    pub(super) fn before(&self, after: &Draft, must_be_read: bool, out: &mut Vec<Draft>) {
        let mut own = after.clone();
        let mut updater = 0;
        for list in &mut own.sets[self.thread] {
            let Some(rest) = self.rest(self.lists.list(*list)) else { return };
            let Some(both) = agreed(updater, rest.updater) else { return };
            updater = both;
            *list = self.for_writer(rest);
        }
        let Some(choices) = self.choices(after) else { return };
        if must_be_read && choices.is_empty() {
            return;
        }
        let mut digits = vec![0; choices.len()];
        loop {
            heed(1);
            let chosen = || choices.iter().zip(&digits).map(|(choice, &digit)| (choice, choice.ways[digit]));
            let is_read = || chosen().any(|(_, way)| way.for_writer.is_some());
            let is_agreed = chosen().try_fold(updater, |all, (_, way)| agreed(all, way.updater)).is_some();
            if is_agreed && (!must_be_read || is_read()) {
                let mut before = own.clone();
                for (choice, way) in chosen() {
                    before.sets[choice.set][choice.at] = way.list;
                    before.sets[self.thread].extend(way.for_writer);
                }
                out.push(before);
            }
            let may_turn = |&at: &usize| digits[at] + 1 < choices[at].ways.len();
            let Some(turning) = (0..digits.len()).rev().find(may_turn) else { return };
            digits[turning] += 1;
            digits[turning + 1..].fill(0);
        }
    }

    /// The choices of all lists; nothing if a list has none.
    fn choices(&self, after: &Draft) -> Option<Vec<Choice>> {
        let mut choices = Vec::new();
        for (set, lists) in after.sets.iter().enumerate().filter(|(set, _)| *set != self.thread) {
            for (at, &list) in lists.iter().enumerate() {
                let ways = self.ways(list);
                match ways[..] {
                    [] => return None,
                    [Before { for_writer: None, .. }] => {}
                    _ => choices.push(Choice { set, at, ways }),
                }
            }
        }
        Some(choices)
    }

    /// What a list of another thread may have been.
    fn ways(&self, list: WordId) -> Vec<Before> {
        let letters = self.lists.list(list);
        let is_claimed = |letter: &Letter| self.is_there(*letter) && is_last(*letter);
        let claimed = match self.flavor {
            Flavor::Strong => letters.iter().position(is_claimed),
            Flavor::Weak => None,
        };
        let mut ways = Vec::new();
        if claimed.is_none() {
            ways.push(Before { list, for_writer: None, updater: 0 });
        }
        for at in 0..letters.len().min(claimed.map_or(usize::MAX, |at| at + 1)) {
            if kind_of(letters[at]) == self.kind {
                ways.extend(self.cut(&letters[..at], letters[at], &letters[at + 1..]));
            }
        }
        ways
    }

    /// A list of another thread that reads the new message at a letter, without that.
    fn cut(&self, head: &[Letter], letter: Letter, tail: &[Letter]) -> Option<Before> {
        let rest = self.rest(tail)?;
        let updater = match self.flavor {
            Flavor::Strong => 0,
            Flavor::Weak => agreed(claim_of(letter), rest.updater)?,
        };
        let list = self.number([head, &rest.letters].concat());
        Some(Before { list, for_writer: Some(self.for_writer(rest)), updater })
    }

    /// What is left of what is read behind the new message; nothing if it cannot be read there.
    fn rest(&self, letters: &[Letter]) -> Option<Rest> {
        let mut rest = Rest { letters: Vec::with_capacity(letters.len() + 1), has_older: false, updater: 0 };
        let mut is_marked = false;
        for &letter in letters {
            if !self.is_there(letter) {
                is_marked |= self.kinds.marked(letter).is_some_and(|place| place == self.place());
                rest.letters.push(letter);
            } else if kind_of(letter) == self.kind {
                // Behind a marker nothing is read that is in the past there.
                if is_marked {
                    return None;
                }
                if self.flavor == Flavor::Weak {
                    rest.updater = agreed(rest.updater, claim_of(letter))?;
                }
            } else if self.is_concurrent(letter) {
                rest.has_older = true;
                rest.letters.push(letter);
            } else {
                return None;
            }
        }
        Some(rest)
    }

    /// Whether a message of the location may still be read behind the new one.
    fn is_concurrent(&self, letter: Letter) -> bool {
        let is_past = match self.kinds.get(kind_of(letter)).writer {
            Writer::Nobody => true,
            Writer::Thread(process) => process.index() == self.thread,
            Writer::Somebody => true,
        };
        self.flavor == Flavor::Weak && !is_past
    }

    /// What the writer must have been able to read, if somebody goes on so behind its message.
    fn for_writer(&self, rest: Rest) -> WordId {
        let marker = rest.has_older.then(|| self.kinds.marker(self.place()));
        self.number(marker.into_iter().chain(rest.letters).collect())
    }

    /// The number of a list without markers that nothing of their location follows.
    fn number(&self, mut letters: Vec<Letter>) -> WordId {
        if self.flavor == Flavor::Weak {
            let mut at = 0;
            while at < letters.len() {
                let place = self.kinds.marked(letters[at]);
                let follows = || letters[at + 1..].iter().any(|&it| self.kinds.place_of(it) == place);
                if place.is_some() && !follows() {
                    letters.remove(at);
                } else {
                    at += 1;
                }
            }
        }
        self.lists.number(letters)
    }

    fn place(&self) -> u32 {
        self.kinds.get(self.kind).place
    }

    fn is_there(&self, letter: Letter) -> bool {
        self.kinds.place_of(letter) == Some(self.place())
    }
}
