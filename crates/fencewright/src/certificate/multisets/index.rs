//! The order on multisets: different members are above those of an element.

use std::collections::HashMap;

use crate::program::ProcessId;
use crate::util::IndexVec;

use super::super::basis::{Class, Constraint};
use super::super::order::{Covering, are_buffers_below, may_stand_for};
use super::Gathering;

/// The kind and the class of a member.
type Head = (ProcessId, Class);

/// The elements of a basis, by the kinds and classes of their members.
pub(super) struct Index<'a> {
    by_heads: HashMap<Vec<Head>, Vec<&'a Gathering>>,
}

/// Of constraints with more members, all elements are looked at.
const MAX_CHOSEN: usize = 12;

impl<'a> Index<'a> {
    /// All elements.
    pub(super) fn new(elements: &'a [Gathering]) -> Self {
        let mut by_heads: HashMap<Vec<Head>, Vec<&Gathering>> = HashMap::new();
        for element in elements {
            by_heads.entry(heads(&element.members, &element.kinds)).or_default().push(element);
        }
        Self { by_heads }
    }
}

fn heads(members: &Constraint, kinds: &IndexVec<ProcessId, ProcessId>) -> Vec<Head> {
    let mut heads: Vec<Head> = kinds.iter().copied().zip(members.classes.iter().copied()).collect();
    heads.sort_unstable();
    heads
}

/// The elements, for constraints with members of these kinds.
pub(super) struct Among<'a> {
    pub(super) index: &'a Index<'a>,
    pub(super) kinds: &'a IndexVec<ProcessId, ProcessId>,
}

impl Covering for Among<'_> {
    fn covers(&self, constraint: &Constraint) -> bool {
        let heads = heads(constraint, self.kinds);
        let is_covered_by = |element: &&Gathering| self.is_covered_by(element, constraint);
        if heads.len() > MAX_CHOSEN {
            return self.index.by_heads.values().flatten().any(&is_covered_by);
        }
        (0..1_usize << heads.len()).any(|chosen| {
            let part = heads.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, head)| *head);
            let found = self.index.by_heads.get(&part.collect::<Vec<_>>());
            found.is_some_and(|all| all.iter().any(&is_covered_by))
        })
    }
}

impl Among<'_> {
    fn is_covered_by(&self, element: &Gathering, constraint: &Constraint) -> bool {
        let mut memory = element.members.memory.iter().zip(&constraint.memory);
        let places: Vec<ProcessId> = element.kinds.indices().collect();
        memory.all(|(a, b)| may_stand_for(*a, *b)) && self.is_matched(element, &places, constraint, &mut Vec::new())
    }

    /// Whether these members have different ones above them, none of which is taken.
    fn is_matched(
        &self,
        element: &Gathering,
        places: &[ProcessId],
        constraint: &Constraint,
        taken: &mut Vec<ProcessId>,
    ) -> bool {
        let Some((&first, rest)) = places.split_first() else { return true };
        self.kinds.indices().any(|other| {
            let fits = !taken.contains(&other)
                && element.kinds[first] == self.kinds[other]
                && element.members.classes[first] == constraint.classes[other]
                && are_buffers_below((&element.members, first), (constraint, other));
            if !fits {
                return false;
            }
            taken.push(other);
            let is_matched = self.is_matched(element, rest, constraint, taken);
            taken.pop();
            is_matched
        })
    }
}
