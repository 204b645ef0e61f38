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
//! A constraint stands for all configurations above it. `*` stands for any value, in memory and in own messages; a
//! process may be *absent*, which stands for any local state and buffer of it.

use std::fmt;

use crate::engine::automaton::Datum;
use crate::program::LocationId;
use crate::util::Idx;

/// Any value.
pub const STAR: u32 = Datum::MAX as u32;

/// Any local state, any buffer.
pub const ABSENT: u32 = u32::MAX;

/// A message of a load buffer, in one word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message(pub u32);

impl Message {
    const OWN: u32 = 1 << 31;

    /// `(x,v)`
    pub fn sample(x: LocationId, value: u32) -> Self {
        Self((x.index() as u32) << 16 | value)
    }

    /// `own(x,v)`
    pub fn own(x: LocationId, value: u32) -> Self {
        Self(Self::OWN | (x.index() as u32) << 16 | value)
    }

    /// Whether it is an own message.
    pub const fn is_own(self) -> bool {
        self.0 & Self::OWN != 0
    }

    /// Its location.
    pub fn location(self) -> LocationId {
        LocationId::from_usize((self.0 >> 16 & 0x7fff) as usize)
    }

    /// Its value, or [`STAR`].
    pub const fn value(self) -> u32 {
        self.0 & 0xffff
    }

    /// Whether it is an own message of this location.
    pub fn is_own_of(self, x: LocationId) -> bool {
        self.is_own() && self.location() == x
    }

    /// Whether every message that `other` stands for is one that this stands for.
    pub const fn covers(self, other: Self) -> bool {
        self.0 == other.0 || (self.value() == STAR && self.0 >> 16 == other.0 >> 16)
    }

    /// The same message with this value.
    #[must_use]
    pub const fn with_value(self, value: u32) -> Self {
        Self(self.0 & !0xffff | value)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = if self.is_own() { "own" } else { "" };
        write!(f, "{own}(x{},{})", self.location().index(), self.value())
    }
}

/// Whether a value that may be `*` can be this one.
pub const fn may_be(value: u32, wanted: u32) -> bool {
    value == STAR || value == wanted
}

/// The positions of newest-own messages, ascending.
pub fn newest_own(word: &[Message]) -> Vec<usize> {
    let is_newest = |i: &usize| {
        let message = word[*i];
        message.is_own() && !word[i + 1..].iter().any(|later| later.is_own_of(message.location()))
    };
    (0..word.len()).filter(is_newest).collect()
}

/// `a ⊑ b`: every buffer above `b` is above `a`.
pub fn is_below(a: &[Message], b: &[Message]) -> bool {
    if a.len() > b.len() {
        return false;
    }
    let (own_a, own_b) = (newest_own(a), newest_own(b));
    let is_same = |(&i, &j): (&usize, &usize)| a[i].covers(b[j]);
    if own_a.len() != own_b.len() || !own_a.iter().zip(&own_b).all(is_same) {
        return false;
    }
    let starts = |own: &[usize]| std::iter::once(0).chain(own.iter().map(|i| i + 1)).collect::<Vec<_>>();
    let ends = |own: &[usize], len| own.iter().copied().chain([len]).collect::<Vec<_>>();
    let segments_a = starts(&own_a).into_iter().zip(ends(&own_a, a.len()));
    let segments_b = starts(&own_b).into_iter().zip(ends(&own_b, b.len()));
    segments_a.zip(segments_b).all(|((i, j), (k, l))| is_subword(&a[i..j], &b[k..l]))
}

/// Greedy matching is complete: what a letter matches does not depend on earlier choices.
fn is_subword(a: &[Message], b: &[Message]) -> bool {
    let mut rest = b.iter();
    a.iter().all(|letter| rest.any(|candidate| letter.covers(*candidate)))
}

#[cfg(test)]
mod tests {
    use super::{Message, STAR, is_below};
    use crate::util::Idx;

    fn s(x: usize, v: u32) -> Message {
        Message::sample(Idx::from_usize(x), v)
    }

    fn o(x: usize, v: u32) -> Message {
        Message::own(Idx::from_usize(x), v)
    }

    fn check(a: &[Message], b: &[Message], expected: bool) {
        assert_eq!(is_below(a, b), expected, "{a:?} ⊑ {b:?}");
    }

    #[test]
    fn newest_own_messages_are_kept_and_the_rest_may_grow() {
        check(&[], &[s(0, 1)], true);
        check(&[], &[o(0, 1)], false);
        check(&[s(1, 0), o(0, 1), s(1, 1)], &[s(2, 0), s(1, 0), o(0, 1), s(2, 1), s(1, 1)], true);
        check(&[o(0, 1)], &[o(0, 2), o(0, 1)], true);
        check(&[o(0, 2)], &[o(0, 2), o(0, 1)], false);
        check(&[o(0, STAR)], &[o(0, 2)], true);
        check(&[o(0, 2)], &[o(0, STAR)], false);
        check(&[o(0, 1), o(1, 1)], &[o(1, 1), o(0, 1)], false);
        check(&[s(1, 0), o(0, 1)], &[o(0, 1), s(1, 0)], false);
    }
}
