//! One state for all that differ only in which of some interchangeable processes is which.
//!
//! Neighboring processes are swapped as long as that makes the state smaller (local states first, then memory, compared
//! by contents, so that the choice does not depend on the order in which threads intern things). Any state reached by
//! verified swaps is a sound representative; if it is not the least one, a little reduction is lost.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::rc::Rc;

use crate::analysis::Swap;
use crate::engine::automaton::{Automaton, LocalId, LocalState};
use crate::engine::packed::FastMap;
use crate::engine::packed::component::Component;
use crate::engine::packed::expand::Shared;
use crate::program::Value;
use crate::system::Control;
use crate::util::Idx;

/// Memory when processes change places, and locations with them: what a component must know for this reduction.
pub(crate) trait Mirror: Debug {
    /// What memory looks like after the `i`-th swap.
    fn swap_into(&mut self, i: usize, words: &[u32], image: &mut [u32]);
    /// Whether memory is smaller than other memory, by contents.
    fn is_smaller(&self, a: &[u32], b: &[u32]) -> bool;
}

/// Brings states into canonical form; one per thread.
#[derive(Debug)]
pub(super) struct Canonizer<'a> {
    automaton: &'a Automaton<'a>,
    n_processes: usize,
    memory: Box<dyn Mirror + 'a>,
    swaps: Vec<Swapper<'a>>,
    keys: FastMap<u32, Rc<Key>>,
    image: Vec<u32>,
}

/// What local states are compared by.
type Key = (Control, Box<[Value]>);

/// A swap, with what it does to local states.
#[derive(Debug)]
struct Swapper<'a> {
    swap: &'a Swap,
    locals: FastMap<u32, u32>,
}

impl<'a> Canonizer<'a> {
    /// A canonizer for verified swaps, if there are some, and memory knows what to do with them.
    pub(super) fn new<C: Component>(shared: &'a Shared<'a, C>) -> Option<Self> {
        if shared.swaps.is_empty() {
            return None;
        }
        Some(Self {
            automaton: &shared.automaton,
            n_processes: shared.n_processes(),
            memory: shared.component.mirror(&shared.swaps)?,
            swaps: shared.swaps.iter().map(|swap| Swapper { swap, locals: FastMap::default() }).collect(),
            keys: FastMap::default(),
            image: vec![0; shared.n_words()],
        })
    }

    /// Swaps processes of a state while that makes it smaller.
    pub(super) fn canonize(&mut self, state: &mut [u32]) {
        let is_broken = |&word: &u32| LocalId::from_word(word).is_broken();
        if state[..self.n_processes].iter().any(is_broken) {
            return;
        }
        // Each pass moves the least process of a class to its place.
        for _ in 0..self.n_processes {
            let mut has_changed = false;
            for i in 0..self.swaps.len() {
                has_changed |= self.improve(i, state);
            }
            if !has_changed {
                return;
            }
        }
    }

    fn improve(&mut self, i: usize, state: &mut [u32]) -> bool {
        let swap = self.swaps[i].swap;
        let (first, second) = (state[swap.first.index()], state[swap.second.index()]);
        let image = self.local_image(i, second);
        match self.compare_locals(image, first) {
            Ordering::Greater => false,
            Ordering::Less => {
                self.swap_if(i, state, |_, _, _| true);
                true
            }
            Ordering::Equal => self.swap_if(i, state, |memory, after, before| memory.is_smaller(after, before)),
        }
    }

    /// Swaps if memory after it, compared with memory before, is wanted.
    fn swap_if(
        &mut self,
        i: usize,
        state: &mut [u32],
        is_wanted: impl Fn(&dyn Mirror, &[u32], &[u32]) -> bool,
    ) -> bool {
        let mut image = std::mem::take(&mut self.image);
        self.swap_into(i, state, &mut image);
        let is_swapped = is_wanted(&*self.memory, &image[self.n_processes..], &state[self.n_processes..]);
        if is_swapped {
            state.copy_from_slice(&image);
        }
        self.image = image;
        is_swapped
    }

    /// Compares by contents.
    fn compare_locals(&mut self, a: u32, b: u32) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (a, b) = (self.local_key(a), self.local_key(b));
        a.cmp(&b)
    }

    fn local_key(&mut self, word: u32) -> Rc<Key> {
        let automaton = self.automaton;
        let make = || match automaton.state(LocalId::from_word(word)) {
            LocalState::Here(_, control, registers) => Rc::new((control, registers)),
            LocalState::Broken(_) | LocalState::Overflown => unreachable!("broken states are left as they are"),
        };
        Rc::clone(self.keys.entry(word).or_insert_with(make))
    }

    fn swap_into(&mut self, i: usize, state: &[u32], image: &mut [u32]) {
        let swap = self.swaps[i].swap;
        let (locals, memory) = image.split_at_mut(self.n_processes);
        locals.copy_from_slice(&state[..self.n_processes]);
        locals[swap.second.index()] = self.local_image(i, state[swap.first.index()]);
        locals[swap.first.index()] = self.local_image(i, state[swap.second.index()]);
        self.memory.swap_into(i, &state[self.n_processes..], memory);
    }

    fn local_image(&mut self, i: usize, word: u32) -> u32 {
        let (automaton, swapper) = (self.automaton, &mut self.swaps[i]);
        let swap = swapper.swap;
        *swapper.locals.entry(word).or_insert_with(|| match automaton.state(LocalId::from_word(word)) {
            LocalState::Here(process, control, registers) => {
                let control = match control {
                    Control::At(point) => Control::At(swap.points[point]),
                    Control::Ready(edge) => Control::Ready(swap.edges[edge]),
                    Control::Done(edge) => Control::Done(swap.edges[edge]),
                };
                automaton.intern(LocalState::Here(swap.process(process), control, registers)).to_word()
            }
            LocalState::Broken(_) | LocalState::Overflown => word,
        })
    }
}
