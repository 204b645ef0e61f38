//! Constraints: states, the shape of the buffers, and a zone over memory, registers, messages and pending stores.
//!
//! A constraint stands for all configurations that are above one of its own: in a load buffer other messages may lie
//! between its messages, but the *newest-own* ones (no newer own message of the same location) are the same; in the
//! store stage there may be older stores, but not before nothing, and the newest is the same. One covers another if its
//! letters can be found among the other's such that the other's zone, seen through them, is part of its own. Since
//! zones relate letters, it matters which are found, so all ways are tried.

use crate::engine::symbolic::flow::StateId;
use crate::numeric::Zone;
use crate::program::LocationId;

/// A message in a load buffer; its value is a variable of the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Message {
    /// Of this location.
    pub location: LocationId,
    /// The process's own write, not a sample of memory.
    pub is_own: bool,
    /// An own message, and no newer own message of the location follows.
    pub is_newest_own: bool,
}

impl Message {
    /// A sample of memory.
    pub(super) fn sample(location: LocationId) -> Self {
        Self { location, is_own: false, is_newest_own: false }
    }

    /// An own write.
    pub(super) fn own(location: LocationId) -> Self {
        Self { location, is_own: true, is_newest_own: false }
    }

    /// Whether it is an own message of a location.
    pub(super) fn is_own_of(self, x: LocationId) -> bool {
        self.is_own && self.location == x
    }
}

/// The buffers of a process without the values in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Buffers {
    /// The load buffer, oldest first.
    pub messages: Vec<Message>,
    /// The locations of pending stores, ascending, those of one location oldest first; empty without a store stage.
    pub pending: Vec<LocationId>,
}

impl Buffers {
    /// How many variables they take: messages first, then pending stores.
    pub(super) fn len(&self) -> usize {
        self.messages.len() + self.pending.len()
    }

    /// The position of the newest pending store to a location, counted behind the messages.
    pub(super) fn newest_pending(&self, x: LocationId) -> Option<usize> {
        self.pending.iter().rposition(|&y| y == x).map(|at| self.messages.len() + at)
    }

    /// Tells the newest-own messages anew.
    pub(super) fn mark_newest(&mut self) {
        for i in 0..self.messages.len() {
            let Message { location, is_own, .. } = self.messages[i];
            let is_shadowed = self.messages[i + 1..].iter().any(|later| later.is_own_of(location));
            self.messages[i].is_newest_own = is_own && !is_shadowed;
        }
    }

    /// The locations of newest-own messages, oldest first.
    pub(super) fn newest_own(&self) -> impl DoubleEndedIterator<Item = LocationId> {
        self.messages.iter().filter(|it| it.is_newest_own).map(|it| it.location)
    }

    /// Whether a letter of larger buffers has to be found among those of smaller ones.
    fn is_fixed(&self, at: usize) -> bool {
        match at.checked_sub(self.messages.len()) {
            None => self.messages[at].is_newest_own,
            Some(at) => self.pending.get(at + 1) != Some(&self.pending[at]),
        }
    }

    /// Whether letters stand for the same, values aside.
    fn is_like(&self, at: usize, other: &Self, there: usize) -> bool {
        match (at.checked_sub(self.messages.len()), there.checked_sub(other.messages.len())) {
            (None, None) => self.messages[at] == other.messages[there],
            (Some(at), Some(there)) => self.pending[at] == other.pending[there],
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

/// A constraint.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    /// Where each process is.
    pub states: Box<[StateId]>,
    /// The buffers of each process.
    pub buffers: Box<[Buffers]>,
    /// What memory, registers and letters may be together.
    pub zone: Zone,
    /// How many steps lead from here to a bad configuration.
    pub depth: u32,
}

impl Constraint {
    /// The variable of a process's first letter.
    pub(super) fn first_letter(&self, process: usize) -> usize {
        let letters: usize = self.buffers.iter().map(Buffers::len).sum();
        let before: usize = self.buffers[..process].iter().map(Buffers::len).sum();
        self.zone.n_variables() - letters + before
    }

    /// Whether every configuration of the other is one of this; `n_base` variables are no letters.
    pub(super) fn covers(&self, other: &Self, n_base: usize) -> bool {
        if self.states != other.states || self.buffers.iter().zip(&other.buffers).any(|(a, b)| a.len() > b.len()) {
            return false;
        }
        let mut finding = Finding { larger: self, smaller: other, found: (0..n_base).collect() };
        (0..n_base).all(|i| finding.agrees(i)) && finding.find(0, 0, 0)
    }

    /// Whether the buffers have the same shape, so that the zones are over the same variables.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.states == other.states && self.buffers == other.buffers
    }
}

/// Finds the letters of a larger constraint (in the order of sets; it has fewer letters) among those of a smaller one.
struct Finding<'a> {
    larger: &'a Constraint,
    smaller: &'a Constraint,
    /// For each variable of the larger one so far, the variable of the smaller one.
    found: Vec<usize>,
}

impl Finding<'_> {
    /// Whether the bounds of a variable against all before it are no tighter than the other's, and its remainder.
    fn agrees(&self, i: usize) -> bool {
        let (a, b) = (&self.larger.zone, &self.smaller.zone);
        let at = self.found[i];
        if a.remainder(i).is_some_and(|it| b.remainder(at) != Some(it)) {
            return false;
        }
        let mut before = self.found[..i].iter().enumerate();
        before.all(|(j, &there)| a.bound(i, j) >= b.bound(at, there) && a.bound(j, i) >= b.bound(there, at))
    }

    /// Finds the letters from `at` on of a process, from `there` on, and then those of the other processes.
    fn find(&mut self, process: usize, at: usize, there: usize) -> bool {
        let Some(larger) = self.larger.buffers.get(process) else { return true };
        let smaller = &self.smaller.buffers[process];
        if there == smaller.len() {
            return at == larger.len() && self.find(process + 1, 0, 0);
        }
        if at < larger.len() && larger.is_like(at, smaller, there) && larger.is_fixed(at) == smaller.is_fixed(there) {
            self.found.push(self.smaller.first_letter(process) + there);
            if self.agrees(self.found.len() - 1) && self.find(process, at + 1, there + 1) {
                return true;
            }
            self.found.pop();
        }
        !smaller.is_fixed(there) && self.find(process, at, there + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, Constraint, Message};
    use crate::numeric::{Term, Zone};
    use crate::program::LocationId;
    use crate::util::Idx;

    fn x(i: usize) -> LocationId {
        LocationId::from_usize(i)
    }

    /// One process with these buffers, whose letters have these values; `None` is any.
    fn constraint(messages: &[Message], pending: &[usize], values: &[Option<i64>]) -> Constraint {
        let mut buffers = Buffers { messages: messages.to_vec(), pending: pending.iter().map(|&i| x(i)).collect() };
        buffers.mark_newest();
        let mut zone = Zone::all(1 + values.len());
        for (i, value) in values.iter().enumerate() {
            let value = value.map_or(Term::var(1 + i), Term::constant);
            assert!(zone.equate(Term::var(1 + i), value));
        }
        Constraint { states: [0].into(), buffers: [buffers].into(), zone, depth: 0 }
    }

    fn check(larger: &Constraint, smaller: &Constraint, expected: bool) {
        assert_eq!(larger.covers(smaller, 1), expected, "{larger:?}\n{smaller:?}");
    }

    #[test]
    fn messages_may_be_more_but_newest_own_ones_are_the_same() {
        let (own, sample) = (Message::own(x(0)), Message::sample(x(1)));
        let one = constraint(&[own], &[], &[Some(1)]);
        check(&one, &constraint(&[sample, own, sample], &[], &[None, Some(1), None]), true);
        check(&one, &constraint(&[own, own], &[], &[Some(2), Some(1)]), true);
        check(&one, &constraint(&[own, own], &[], &[Some(1), Some(2)]), false);
        check(&constraint(&[], &[], &[]), &one, false);
        check(&constraint(&[], &[], &[]), &constraint(&[sample], &[], &[None]), true);
        // The first sample does not fit, but the second does.
        let two = constraint(&[sample], &[], &[Some(7)]);
        check(&two, &constraint(&[sample, sample], &[], &[Some(3), Some(7)]), true);
        check(&two, &constraint(&[sample, sample], &[], &[Some(3), None]), false);
    }

    #[test]
    fn pending_stores_may_be_more_but_the_newest_is_the_same() {
        let one = constraint(&[], &[0], &[Some(1)]);
        check(&one, &constraint(&[], &[0, 0], &[Some(2), Some(1)]), true);
        check(&one, &constraint(&[], &[0, 0], &[Some(1), Some(2)]), false);
        check(&one, &constraint(&[], &[0, 1], &[Some(1), Some(1)]), false);
        check(&constraint(&[], &[], &[]), &one, false);
    }
}
