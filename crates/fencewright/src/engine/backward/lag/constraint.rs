//! Constraints of the load-buffer semantics, and the order on them.
//!
//! A configuration has a local state and a load buffer for each process, and memory. A load buffer holds messages,
//! oldest first: `(x,v)`, "memory had x=v when this was sampled", and `own(x,v)`, "my own write of x, which in TSO may
//! still be in my store buffer at my current view". An own message that no newer own message of its location follows is
//! *newest-own*. In the order, newest-own messages must be the same and in the same order, everything else between them
//! may be more:
//!
//! ```text
//!    (y,0) own(x,1) (y,1)   ⊑   (y,0) (z,0) own(x,1) own(y,2)… no: own(y,2) is newest-own on the right only
//!    (y,0) own(x,1) (y,1)   ⊑   (z,0) (y,0) own(x,1) (z,1) (y,1)
//! ```
//!
//! A constraint stands for all configurations above it. It has sets of values where configurations have values, and a
//! process may be *absent*, which stands for any local state and buffer of it.

use std::fmt;

use crate::engine::backward::lag::values::{BITS, Values};
use crate::program::LocationId;
use crate::util::Idx;

/// Any local state, any buffer.
pub(in crate::engine::backward) const ABSENT: u32 = u32::MAX;

/// A message of a load buffer, in one word: marks, location, values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::engine::backward) struct Message(pub u64);

impl Message {
    const OWN: u64 = 1 << 63;
    const NEWEST: u64 = 1 << 62;
    const VALUES: u64 = (1 << BITS) - 1;

    /// Programs with more locations than this do not fit.
    pub(in crate::engine::backward) const MAX_LOCATIONS: usize = 1 << (62 - BITS);

    /// `(x,v)`
    pub(in crate::engine::backward) fn sample(x: LocationId, values: Values) -> Self {
        Self((x.index() as u64) << BITS | values.bits())
    }

    /// `own(x,v)`
    pub(in crate::engine::backward) fn own(x: LocationId, values: Values) -> Self {
        Self(Self::OWN | Self::sample(x, values).0)
    }

    /// Whether it is an own message.
    pub(in crate::engine::backward) const fn is_own(self) -> bool {
        self.0 & Self::OWN != 0
    }

    /// Whether it is marked as an own message that no newer one of its location follows.
    pub(in crate::engine::backward) const fn is_newest_own(self) -> bool {
        self.0 & Self::NEWEST != 0
    }

    /// Its location.
    pub(in crate::engine::backward) fn location(self) -> LocationId {
        LocationId::from_usize((self.0 & !(Self::OWN | Self::NEWEST)) as usize >> BITS)
    }

    /// Its values.
    pub(in crate::engine::backward) const fn values(self) -> Values {
        Values::from_bits(self.0 & Self::VALUES)
    }

    /// Whether it is an own message of this location.
    pub(in crate::engine::backward) fn is_own_of(self, x: LocationId) -> bool {
        self.is_own() && self.location() == x
    }

    /// Whether every message that `other` stands for is one that this stands for, whatever follows them.
    pub(in crate::engine::backward) fn covers(self, other: Self) -> bool {
        let kind = |message: Self| message.0 & !(Self::NEWEST | Self::VALUES);
        kind(self) == kind(other) && self.values().covers(other.values())
    }

    /// The same message with these values.
    #[must_use]
    pub(in crate::engine::backward) const fn with_values(self, values: Values) -> Self {
        Self(self.0 & !Self::VALUES | values.bits())
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = if self.is_own() { "own" } else { "" };
        write!(f, "{own}(x{},{:b})", self.location().index(), self.values().bits())
    }
}

/// Marks the newest-own messages of a buffer.
pub(in crate::engine::backward) fn mark_newest(word: &mut [Message]) {
    for i in 0..word.len() {
        let message = word[i];
        let is_newest = message.is_own() && !word[i + 1..].iter().any(|later| later.is_own_of(message.location()));
        word[i].0 = if is_newest { message.0 | Message::NEWEST } else { message.0 & !Message::NEWEST };
    }
}

/// `a ⊑ b` for marked buffers: every buffer above `b` is above `a`.
///
/// Greedy matching is complete: what a letter matches does not depend on earlier choices.
pub(in crate::engine::backward) fn is_below(a: &[u64], b: &[u64]) -> bool {
    if a.len() > b.len() {
        return false;
    }
    let mut wanted = a.iter().map(|&letter| Message(letter)).peekable();
    for letter in b.iter().map(|&letter| Message(letter)) {
        let is_it = |wanted: &Message| wanted.is_newest_own() == letter.is_newest_own() && wanted.covers(letter);
        if wanted.next_if(is_it).is_none() && letter.is_newest_own() {
            return false;
        }
    }
    wanted.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{Message, is_below, mark_newest};
    use crate::engine::backward::lag::values::Values;
    use crate::util::Idx;

    fn s(x: usize, v: u32) -> Message {
        Message::sample(Idx::from_usize(x), Values::from_bits(1 << v))
    }

    fn o(x: usize, v: u32) -> Message {
        Message::own(Idx::from_usize(x), Values::from_bits(1 << v))
    }

    fn check(a: &[Message], b: &[Message], expected: bool) {
        let letters = |word: &[Message]| {
            let mut word = word.to_vec();
            mark_newest(&mut word);
            word.iter().map(|message| message.0).collect::<Vec<_>>()
        };
        assert_eq!(is_below(&letters(a), &letters(b)), expected, "{a:?} ⊑ {b:?}");
    }

    #[test]
    fn newest_own_messages_are_kept_and_the_rest_may_grow() {
        let any = Message::own(Idx::from_usize(0), Values::ANY);
        check(&[], &[s(0, 1)], true);
        check(&[], &[o(0, 1)], false);
        check(&[s(1, 0), o(0, 1), s(1, 1)], &[s(2, 0), s(1, 0), o(0, 1), s(2, 1), s(1, 1)], true);
        check(&[o(0, 1)], &[o(0, 2), o(0, 1)], true);
        check(&[o(0, 2)], &[o(0, 2), o(0, 1)], false);
        check(&[any], &[o(0, 2)], true);
        check(&[o(0, 2)], &[any], false);
        check(&[o(0, 1), o(1, 1)], &[o(1, 1), o(0, 1)], false);
        check(&[s(1, 0), o(0, 1)], &[o(0, 1), s(1, 0)], false);
    }
}
