//! One state for all that differ only in which of some interchangeable processes is which.
//!
//! Neighboring processes are swapped as long as that makes the state smaller (local states first, then buffers, then
//! memory, compared by contents, so that the choice does not depend on the order in which threads intern things). Any
//! state reached by verified swaps is a sound representative; if it is not the least one, a little reduction is lost.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::analysis::Swap;
use crate::engine::automaton::{Automaton, LocalId, LocalState};
use crate::engine::explicit::FastMap;
use crate::engine::explicit::buffers::{BufferId, BufferTable, Discipline, Waiting};
use crate::engine::explicit::expand::Shared;
use crate::engine::explicit::layout::Layout;
use crate::memory::Pending;
use crate::program::{ProcessId, Value};
use crate::system::Control;
use crate::util::Idx;

/// Brings states into canonical form; one per thread.
#[derive(Debug)]
pub struct Canonizer<'a> {
    automaton: &'a Automaton<'a>,
    buffers: &'a BufferTable,
    layout: &'a Layout,
    swaps: Vec<Swapper<'a>>,
    keys: FastMap<u32, Rc<Key>>,
    image: Vec<u32>,
}

/// What local states are compared by.
type Key = (Control, Box<[Value]>);

/// A swap, with what it does to interned things.
#[derive(Debug)]
struct Swapper<'a> {
    swap: &'a Swap,
    locals: FastMap<u32, u32>,
    buffers: FastMap<BufferId, BufferId>,
}

impl<'a> Canonizer<'a> {
    /// A canonizer for verified swaps.
    pub fn new(shared: &'a Shared<'a>) -> Self {
        let swapper = |swap| Swapper { swap, locals: FastMap::default(), buffers: FastMap::default() };
        Self {
            automaton: &shared.automaton,
            buffers: &shared.buffers,
            layout: &shared.layout,
            swaps: shared.swaps.iter().map(swapper).collect(),
            keys: FastMap::default(),
            image: vec![0; shared.layout.n_words()],
        }
    }

    /// Swaps processes of a state while that makes it smaller.
    pub fn canonize(&mut self, state: &mut [u32]) {
        let is_broken = |&word: &u32| LocalId::from_word(word).is_broken();
        if state[..self.layout.n_processes()].iter().any(is_broken) {
            return;
        }
        // Each pass moves the least process of a class to its place.
        for _ in 0..self.layout.n_processes() {
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
        let (first, second) = (state[self.layout.local(swap.first)], state[self.layout.local(swap.second)]);
        let image = self.local_image(i, second);
        match self.compare_locals(image, first) {
            Ordering::Greater => false,
            Ordering::Less => {
                self.swap_if(i, state, |_, _, _| true);
                true
            }
            Ordering::Equal => self.swap_if(i, state, Self::is_smaller),
        }
    }

    /// Swaps if the state after it, compared with the one before, is wanted.
    fn swap_if(&mut self, i: usize, state: &mut [u32], is_wanted: impl Fn(&Self, &[u32], &[u32]) -> bool) -> bool {
        let mut image = std::mem::take(&mut self.image);
        self.swap_into(i, state, &mut image);
        let is_swapped = is_wanted(self, &image, state);
        if is_swapped {
            state.copy_from_slice(&image);
        }
        self.image = image;
        is_swapped
    }

    /// Whether the first buffer that differs is smaller, or memory is if none does.
    fn is_smaller(&self, a: &[u32], b: &[u32]) -> bool {
        let memory = self.layout.memory();
        let buffers = self.layout.n_processes()..memory.start;
        match buffers.into_iter().find(|&word| a[word] != b[word]) {
            Some(word) => self.buffers.contents(a[word]) < self.buffers.contents(b[word]),
            None => a[memory.clone()] < b[memory],
        }
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
        let (layout, swap) = (self.layout, self.swaps[i].swap);
        image.copy_from_slice(state);
        for (x, &to) in swap.locations.iter_enumerated() {
            if x != to {
                layout.set(image, to, layout.get(state, x));
            }
        }
        for process in (0..layout.n_processes()).map(ProcessId::from_usize) {
            let to = swap.process(process);
            if to != process {
                image[layout.local(to)] = self.local_image(i, state[layout.local(process)]);
            }
            if layout.is_buffered() {
                image[layout.buffer(to)] = self.buffer_image(i, state[layout.buffer(process)]);
            }
        }
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

    fn buffer_image(&mut self, i: usize, id: BufferId) -> BufferId {
        let (buffers, swapper) = (self.buffers, &mut self.swaps[i]);
        let swap = swapper.swap;
        *swapper.buffers.entry(id).or_insert_with(|| {
            buffers.intern(match &*buffers.contents(id) {
                Waiting::Exact(discipline, contents) => Waiting::Exact(*discipline, image(*discipline, contents, swap)),
                Waiting::Abstract(rules, segments) => Waiting::Abstract(*rules, segments.renamed(&swap.locations)),
            })
        })
    }
}

/// What waits after a swap.
fn image(discipline: Discipline, contents: &[Pending], swap: &Swap) -> Vec<Pending> {
    let mut contents = contents.to_vec();
    for pending in &mut contents {
        if let Pending::Store(x, _) = pending {
            *x = swap.locations[*x];
        }
    }
    match discipline {
        Discipline::Fifo => {}
        Discipline::PerLocation => {
            let epochs = contents.split_mut(|pending| *pending == Pending::Marker);
            // Stable: stores to one location stay in order.
            epochs.for_each(|epoch| epoch.sort_by_key(location_of));
        }
    }
    contents
}

fn location_of(pending: &Pending) -> Option<crate::program::LocationId> {
    match pending {
        Pending::Store(x, _) => Some(*x),
        Pending::Marker => None,
    }
}
