//! Constraints: where threads are, and which lists each must be able to read.

use super::lists::{Lists, SetId};
use crate::engine::automaton::StateId;
use crate::engine::backward::WordId;

/// The thread may be anywhere, and nothing is asked of it.
pub(super) const ABSENT: StateId = StateId::MAX;

/// A constraint: the state of each thread, then for each the number of the set of its lists, then that of somebody who
/// takes no step, for what is asked of memory alone.
pub(super) type Constraint = Box<[u32]>;

/// How many threads a constraint is about.
pub(super) fn n_threads(constraint: &[u32]) -> usize {
    (constraint.len() - 1) / 2
}

/// The states of a constraint.
pub(super) fn states(constraint: &[u32]) -> &[StateId] {
    &constraint[..n_threads(constraint)]
}

/// The sets of a constraint.
pub(super) fn sets(constraint: &[u32]) -> &[SetId] {
    &constraint[n_threads(constraint)..]
}

/// A constraint being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub states: Vec<StateId>,
    pub sets: Vec<Vec<WordId>>,
}

impl Draft {
    /// Of a constraint.
    pub(super) fn of(constraint: &[u32], lists: &Lists) -> Self {
        let sets = sets(constraint).iter().map(|&set| lists.set(set).collect());
        Self { states: states(constraint).to_vec(), sets: sets.collect() }
    }

    /// Asks a thread to read a letter before all else.
    pub(super) fn put_before(&mut self, thread: usize, letter: u64, lists: &Lists) {
        let set = &mut self.sets[thread];
        if set.is_empty() {
            set.push(lists.number(vec![letter]));
            return;
        }
        for list in set {
            *list = lists.number([&[letter], lists.list(*list)].concat());
        }
    }

    /// The constraint.
    pub(super) fn finished(self, lists: &Lists) -> Constraint {
        let sets = self.sets.into_iter().map(|set| lists.gather(set));
        self.states.into_iter().chain(sets).collect()
    }
}
