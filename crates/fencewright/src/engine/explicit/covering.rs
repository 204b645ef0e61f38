//! The states that no other covers, for an abstraction in which one buffer may stand for all that another stands for.
//!
//! A state covers another if both agree but for their buffers, and each buffer covers the other's. Such states have the
//! same *outline*, so only those are compared; which buffer covers which is computed once for each pair.

use crate::engine::explicit::FastMap;
use crate::engine::explicit::buffers::{BufferId, BufferTable, Waiting};
use crate::engine::explicit::layout::Layout;
use crate::engine::explicit::states::StateSet;

/// The states that no other covers.
#[derive(Debug)]
pub struct Covering<'a> {
    buffers: &'a BufferTable,
    layout: &'a Layout,
    /// By outline.
    kept: FastMap<Box<[u32]>, Vec<u32>>,
    outlines: FastMap<BufferId, BufferId>,
    covers: FastMap<(BufferId, BufferId), bool>,
    /// Invariant: as long as all states that were admitted.
    is_covered: Vec<bool>,
    n_kept: usize,
}

impl<'a> Covering<'a> {
    /// Nothing is kept yet.
    pub fn new(buffers: &'a BufferTable, layout: &'a Layout) -> Self {
        Self {
            buffers,
            layout,
            kept: FastMap::default(),
            outlines: FastMap::default(),
            covers: FastMap::default(),
            is_covered: Vec::new(),
            n_kept: 0,
        }
    }

    /// The state that covers this one; if there is none, it is kept as the next state, and those it covers are not.
    pub fn admit(&mut self, states: &StateSet, state: &[u32]) -> Option<u32> {
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
    pub fn is_covered(&self, number: usize) -> bool {
        self.is_covered[number]
    }

    /// How many states no other covers.
    pub fn n_kept(&self) -> usize {
        self.n_kept
    }

    /// The bytes it takes, roughly.
    pub fn bytes(&self) -> u64 {
        let keys = self.kept.capacity() * (size_of::<(Box<[u32]>, Vec<u32>)>() + 4 * self.layout.n_words());
        (keys + self.is_covered.capacity() * (1 + size_of::<u32>()) + self.covers.capacity() * 16) as u64
    }

    fn outline(&mut self, state: &[u32]) -> Box<[u32]> {
        let mut outline: Box<[u32]> = state.into();
        for word in self.layout.buffers() {
            let id = outline[word];
            let buffers = self.buffers;
            outline[word] = *self.outlines.entry(id).or_insert_with(|| match &*buffers.contents(id) {
                Waiting::Exact(..) => id,
                Waiting::Abstract(rules, segments) => buffers.intern(Waiting::Abstract(*rules, segments.outline())),
            });
        }
        outline
    }

    /// Whether a state covers another of the same outline.
    fn is_over(&mut self, a: &[u32], b: &[u32]) -> bool {
        self.layout.buffers().all(|word| self.covers(a[word], b[word]))
    }

    fn covers(&mut self, a: BufferId, b: BufferId) -> bool {
        let buffers = self.buffers;
        let compute = || match (&*buffers.contents(a), &*buffers.contents(b)) {
            (Waiting::Abstract(_, a), Waiting::Abstract(_, b)) => a.covers(b),
            (Waiting::Exact(..), _) | (_, Waiting::Exact(..)) => false,
        };
        a == b || *self.covers.entry((a, b)).or_insert_with(compute)
    }
}
