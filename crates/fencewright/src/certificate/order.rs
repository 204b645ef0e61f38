//! The order on configurations, as `docs/certificates.md` defines it.
//!
//! An own message that no newer own message of its location follows is *newest-own*. A load buffer is above another if
//! it has the same newest-own messages in the same order, and between them the other's letters and perhaps more. A
//! store buffer is above another if both are empty, or both have the same newest store and the other's letters, and
//! perhaps more. Classes and memory are the same.
//!
//! A constraint covers another if every configuration above the second is above the first: wherever the first has a
//! value, the second has it too.

use std::collections::HashMap;

use super::basis::{Cell, Constraint, Message, MessageKind};
use crate::program::ProcessId;
use crate::util::Idx;

/// Whether every configuration of `smaller` is one of `larger`.
pub(super) fn covers(larger: &Constraint, smaller: &Constraint) -> bool {
    larger.classes == smaller.classes
        && larger.memory.iter().zip(&smaller.memory).all(|(a, b)| may_stand_for(*a, *b))
        && larger.classes.indices().all(|process| are_buffers_below((larger, process), (smaller, process)))
}

/// Whether the buffers of a process are above those of another.
pub(super) fn are_buffers_below((larger, p): (&Constraint, ProcessId), (smaller, q): (&Constraint, ProcessId)) -> bool {
    let (stores, others) = (&larger.stores[p], &smaller.stores[q]);
    is_buffer_below(&larger.buffers[p], &smaller.buffers[q])
        && stores.len() == others.len()
        && stores.iter().zip(others).all(|((x, a), (y, b))| x == y && is_store_below(a, b))
}

pub(super) fn may_stand_for(a: Cell, b: Cell) -> bool {
    a.is_none() || a == b
}

fn letter_stands_for(a: Message, b: Message) -> bool {
    a.kind == b.kind && a.location == b.location && may_stand_for(a.value, b.value)
}

/// Whether the message at `i` is newest-own.
pub(super) fn is_newest_own(word: &[Message], i: usize) -> bool {
    word[i].kind == MessageKind::Own && !word[i + 1..].iter().any(|later| later.is_own_of(word[i].location))
}

/// Goes through `b` and matches the letters of `a` as early as it can. That is complete: what a letter matches does not
/// depend on earlier choices, and a newest-own letter has but one partner.
fn is_buffer_below(a: &[Message], b: &[Message]) -> bool {
    let mut matched = 0;
    for (i, &letter) in b.iter().enumerate() {
        let fits = matched < a.len() && letter_stands_for(a[matched], letter);
        let is_newest = matched < a.len() && is_newest_own(a, matched);
        if is_newest_own(b, i) {
            if !fits || !is_newest {
                return false;
            }
            matched += 1;
        } else if fits && !is_newest {
            matched += 1;
        }
    }
    matched == a.len()
}

fn is_store_below(a: &[Cell], b: &[Cell]) -> bool {
    let (Some((newest_a, a)), Some((newest_b, b))) = (a.split_last(), b.split_last()) else { return false };
    let mut rest = b.iter();
    may_stand_for(*newest_a, *newest_b) && a.iter().all(|letter| rest.any(|other| may_stand_for(*letter, *other)))
}

/// A set of constraints, of which one may cover another constraint.
pub(super) trait Covering {
    /// Whether one of them covers the constraint.
    fn covers(&self, constraint: &Constraint) -> bool;
}

/// The elements of a basis, found by what constraints that cover each other have in common.
pub(super) struct Index<'a> {
    by_shape: HashMap<Vec<u32>, Vec<&'a Constraint>>,
}

impl<'a> Index<'a> {
    /// All elements.
    pub(super) fn new(elements: &'a [Constraint]) -> Self {
        let mut by_shape: HashMap<Vec<u32>, Vec<&Constraint>> = HashMap::new();
        for element in elements {
            by_shape.entry(shape(element)).or_default().push(element);
        }
        Self { by_shape }
    }
}

impl Covering for Index<'_> {
    fn covers(&self, constraint: &Constraint) -> bool {
        self.by_shape.get(&shape(constraint)).is_some_and(|all| all.iter().any(|it| covers(it, constraint)))
    }
}

/// Classes, the locations of newest-own messages, and which store buffers are not empty.
fn shape(constraint: &Constraint) -> Vec<u32> {
    let mut out: Vec<u32> = constraint.classes.iter().copied().collect();
    for word in &constraint.buffers {
        let own = (0..word.len()).filter(|&i| is_newest_own(word, i));
        out.extend(own.map(|i| word[i].location.index() as u32));
        out.push(u32::MAX);
    }
    for stores in &constraint.stores {
        out.extend(stores.keys().map(|x| x.index() as u32));
        out.push(u32::MAX);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::basis::{Message, MessageKind};
    use super::{is_buffer_below, is_store_below};
    use crate::program::Value;
    use crate::util::Idx;

    fn see(x: usize, v: Value) -> Message {
        Message { kind: MessageKind::Sample, location: Idx::from_usize(x), value: Some(v) }
    }

    fn own(x: usize, v: impl Into<Option<Value>>) -> Message {
        Message { kind: MessageKind::Own, location: Idx::from_usize(x), value: v.into() }
    }

    fn check(a: &[Message], b: &[Message], expected: bool) {
        assert_eq!(is_buffer_below(a, b), expected, "{a:?} ⊑ {b:?}");
    }

    #[test]
    fn newest_own_messages_are_the_same_and_the_rest_may_be_more() {
        check(&[], &[], true);
        check(&[], &[see(0, 1)], true);
        check(&[], &[own(0, 1)], false);
        check(&[see(1, 0), own(0, 1), see(1, 1)], &[see(2, 0), see(1, 0), own(0, 1), see(2, 1), see(1, 1)], true);
        check(&[own(0, 1)], &[own(0, 2), own(0, 1)], true);
        check(&[own(0, 2)], &[own(0, 2), own(0, 1)], false);
        check(&[own(0, None)], &[own(0, 2)], true);
        check(&[own(0, 2)], &[own(0, None)], false);
        check(&[own(0, 1), own(1, 1)], &[own(1, 1), own(0, 1)], false);
        check(&[see(1, 0), own(0, 1)], &[own(0, 1), see(1, 0)], false);
        check(&[own(0, 2), own(0, 1)], &[own(0, 1)], false);
    }

    #[test]
    fn the_newest_store_is_the_same() {
        assert!(is_store_below(&[Some(1)], &[Some(2), Some(1)]));
        assert!(is_store_below(&[None], &[Some(2), Some(1)]));
        assert!(!is_store_below(&[Some(2)], &[Some(2), Some(1)]));
        assert!(!is_store_below(&[Some(2), Some(1)], &[Some(1)]));
        assert!(!is_store_below(&[], &[Some(1)]));
    }
}
