//! Buffers and memory when processes change places, and locations with them.

use crate::analysis::Swap;
use crate::engine::packed::FastMap;
use crate::engine::packed::buffered::Rules;
use crate::engine::packed::buffered::cells::Cells;
use crate::engine::packed::buffered::table::{BufferId, BufferTable};
use crate::engine::packed::symmetry::Mirror;
use crate::program::ProcessId;
use crate::util::Idx;

/// Images of buffers and memory; one per thread.
#[derive(Debug)]
pub(super) struct BufferMirror<'a, R: Rules> {
    buffers: &'a BufferTable<R>,
    memory: &'a Cells,
    swaps: Vec<Images<'a>>,
}

/// A swap, with what it does to buffers.
#[derive(Debug)]
struct Images<'a> {
    swap: &'a Swap,
    /// No location changes its place, so buffers hold the same afterwards.
    moves_no_location: bool,
    /// Those that were asked for.
    buffers: FastMap<BufferId, BufferId>,
}

impl<'a> Images<'a> {
    fn new(swap: &'a Swap) -> Self {
        let moves_no_location = swap.locations.iter_enumerated().all(|(x, &to)| x == to);
        Self { swap, moves_no_location, buffers: FastMap::default() }
    }
}

impl<'a, R: Rules> BufferMirror<'a, R> {
    /// For these swaps.
    pub(super) fn new(buffers: &'a BufferTable<R>, memory: &'a Cells, swaps: &'a [Swap]) -> Self {
        Self { buffers, memory, swaps: swaps.iter().map(Images::new).collect() }
    }
}

impl<R: Rules> Mirror for BufferMirror<'_, R> {
    fn swap_into(&mut self, i: usize, words: &[u32], image: &mut [u32]) {
        let (memory, buffers) = (self.memory, self.buffers);
        let Images { swap, moves_no_location, buffers: images } = &mut self.swaps[i];
        image.copy_from_slice(words);
        if *moves_no_location {
            // There may be no buffers.
            return match &mut image[..memory.words().start] {
                [] => {}
                buffers => buffers.swap(swap.first.index(), swap.second.index()),
            };
        }
        for (x, &to) in swap.locations.iter_enumerated() {
            if x != to {
                memory.set(image, to, memory.get(words, x));
            }
        }
        for process in (0..memory.words().start).map(ProcessId::from_usize) {
            let id = words[process.index()];
            let renamed = || buffers.intern(buffers.rules().renamed(&buffers.waiting(id), &swap.locations));
            image[swap.process(process).index()] = *images.entry(id).or_insert_with(renamed);
        }
    }

    /// Whether the first buffer that differs is smaller, or memory is if none does.
    fn is_smaller(&self, a: &[u32], b: &[u32]) -> bool {
        let memory = self.memory.words();
        match (0..memory.start).find(|&word| a[word] != b[word]) {
            Some(word) => self.buffers.waiting(a[word]) < self.buffers.waiting(b[word]),
            None => a[memory.clone()] < b[memory],
        }
    }
}
