//! The states that no other covers, for a component in which one memory may stand for all that another stands for.
//!
//! A state covers another if their local states agree, and its memory [covers](Covers) the other's. Such states have
//! the same *outline*, so only those are compared.

use std::fmt::Debug;

use crate::engine::packed::FastMap;
use crate::engine::packed::component::Component;
use crate::engine::packed::expand::Shared;
use crate::engine::packed::states::StateSet;

/// Which memory stands for which; one per thread.
pub(crate) trait Covers: Debug {
    /// Replaces memory by what it has in common with all that it covers and is covered by.
    fn outline(&mut self, words: &mut [u32]);
    /// Whether memory stands for all that other memory of the same outline stands for.
    fn covers(&mut self, a: &[u32], b: &[u32]) -> bool;
    /// The bytes it takes, roughly.
    fn bytes(&self) -> u64;
}

/// The states that no other covers.
#[derive(Debug)]
pub(crate) struct Covering<'a> {
    memory: Box<dyn Covers + 'a>,
    n_processes: usize,
    n_words: usize,
    /// By outline.
    kept: FastMap<Box<[u32]>, Vec<u32>>,
    /// Invariant: as long as all states that were admitted.
    is_covered: Vec<bool>,
    n_kept: usize,
}

impl<'a> Covering<'a> {
    /// Nothing is kept yet; `None` if no memory stands for another.
    pub(crate) fn new<C: Component>(shared: &'a Shared<'a, C>) -> Option<Self> {
        Some(Self {
            memory: shared.component.covering()?,
            n_processes: shared.n_processes(),
            n_words: shared.n_words(),
            kept: FastMap::default(),
            is_covered: Vec::new(),
            n_kept: 0,
        })
    }

    /// The state that covers this one; if there is none, it is kept as the next state, and those it covers are not.
    pub(crate) fn admit(&mut self, states: &StateSet, state: &[u32]) -> Option<u32> {
        let outline = self.outline(state);
        let mut members = self.kept.remove(&outline).unwrap_or_default();
        let coverer = members.iter().copied().find(|&it| self.is_over(states.get(it as usize), state));
        if coverer.is_none() {
            let before = members.len();
            members.retain(|&it| {
                let is_covered = self.is_over(state, states.get(it as usize));
                self.is_covered[it as usize] |= is_covered;
                !is_covered
            });
            self.n_kept = self.n_kept + members.len() + 1 - before;
            members.push(u32::try_from(states.len()).expect("the search stops before 2^32 states"));
            self.is_covered.push(false);
        }
        self.kept.insert(outline, members);
        coverer
    }

    /// Whether another state covers this one.
    pub(crate) fn is_covered(&self, number: usize) -> bool {
        self.is_covered[number]
    }

    /// How many states no other covers.
    pub(crate) fn n_kept(&self) -> usize {
        self.n_kept
    }

    /// The bytes it takes, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        let keys = self.kept.capacity() * (size_of::<(Box<[u32]>, Vec<u32>)>() + 4 * self.n_words);
        (keys + self.is_covered.capacity() * (1 + size_of::<u32>())) as u64 + self.memory.bytes()
    }

    fn outline(&mut self, state: &[u32]) -> Box<[u32]> {
        let mut outline: Box<[u32]> = state.into();
        self.memory.outline(&mut outline[self.n_processes..]);
        outline
    }

    /// Whether a state covers another of the same outline.
    fn is_over(&mut self, a: &[u32], b: &[u32]) -> bool {
        self.memory.covers(&a[self.n_processes..], &b[self.n_processes..])
    }
}
