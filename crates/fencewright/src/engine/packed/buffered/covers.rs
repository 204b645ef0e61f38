//! Buffers that stand for all that others stand for; which buffer covers which is computed once for each pair.

use crate::engine::packed::FastMap;
use crate::engine::packed::buffered::Rules;
use crate::engine::packed::buffered::table::{BufferId, BufferTable};
use crate::engine::packed::covering::Covers;

/// Which memory stands for which: they agree but for their buffers, and each buffer covers the other's.
#[derive(Debug)]
pub(super) struct BufferCovers<'a, R: Rules> {
    buffers: &'a BufferTable<R>,
    n_buffers: usize,
    outlines: FastMap<BufferId, BufferId>,
    covers: FastMap<(BufferId, BufferId), bool>,
}

impl<'a, R: Rules> BufferCovers<'a, R> {
    /// Nothing is computed yet.
    pub(super) fn new(buffers: &'a BufferTable<R>, n_buffers: usize) -> Self {
        Self { buffers, n_buffers, outlines: FastMap::default(), covers: FastMap::default() }
    }
}

impl<R: Rules> Covers for BufferCovers<'_, R> {
    fn outline(&mut self, words: &mut [u32]) {
        let buffers = self.buffers;
        for word in &mut words[..self.n_buffers] {
            let id = *word;
            let outline = || buffers.intern(buffers.rules().outline(&buffers.waiting(id)));
            *word = *self.outlines.entry(id).or_insert_with(outline);
        }
    }

    fn covers(&mut self, a: &[u32], b: &[u32]) -> bool {
        let buffers = self.buffers;
        a[..self.n_buffers].iter().zip(&b[..self.n_buffers]).all(|(&a, &b)| {
            let compute = || buffers.rules().covers(&buffers.waiting(a), &buffers.waiting(b));
            a == b || *self.covers.entry((a, b)).or_insert_with(compute)
        })
    }

    fn bytes(&self) -> u64 {
        (self.covers.capacity() * 16) as u64
    }
}
