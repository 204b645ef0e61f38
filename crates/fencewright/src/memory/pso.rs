//! Partial store order: one FIFO buffer of stores per process and location, with store-store markers.
//!
//! SPARC Architecture Manual v8, appendix K; the markers as in the PSO paper (partial write serialisation), section 2:
//! a store-store fence puts a marker into all buffers of its process, and the marker leaves all of them at once when it
//! is the oldest in each. A load looks through markers; whatever waits for an empty buffer waits for markers too.

use std::collections::VecDeque;

use crate::memory::{Flush, Operational, Pending, PsoRmw, ReadFrom};
use crate::program::{FenceKind, LocationId, ProcessId, Value};
use crate::util::{Idx, IndexVec};

/// Partial store order.
#[derive(Clone, Copy, Debug)]
pub struct Pso {
    /// What an atomic update waits for.
    pub rmw: PsoRmw,
}

/// Memory, and a FIFO for each process and location, oldest in front.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PsoMemory {
    contents: Vec<Value>,
    buffers: IndexVec<ProcessId, IndexVec<LocationId, Buffer>>,
}

type Buffer = VecDeque<Entry>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry {
    Store(Value),
    Marker,
}

impl PsoMemory {
    fn is_drained(&self, p: ProcessId) -> bool {
        self.buffers[p].iter().all(VecDeque::is_empty)
    }

    /// The oldest store of one buffer goes to memory.
    fn flush_store(&self, p: ProcessId, x: LocationId) -> Option<Self> {
        let &Entry::Store(value) = self.buffers[p][x].front()? else { return None };
        let mut m = self.clone();
        m.buffers[p][x].pop_front();
        m.contents[x.index()] = value;
        Some(m)
    }

    /// A marker that is the oldest entry of every buffer leaves.
    fn flush_marker(&self, p: ProcessId) -> Option<Self> {
        let is_oldest = |buffer: &Buffer| buffer.front() == Some(&Entry::Marker);
        if self.buffers[p].is_empty() || !self.buffers[p].iter().all(is_oldest) {
            return None;
        }
        let mut m = self.clone();
        for buffer in m.buffers[p].iter_mut() {
            buffer.pop_front();
        }
        Some(m)
    }
}

impl Operational for Pso {
    type Memory = PsoMemory;

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> PsoMemory {
        let empty = IndexVec::filled(contents.len(), Buffer::new());
        PsoMemory { contents, buffers: IndexVec::filled(n_processes, empty) }
    }

    fn load(&self, m: &PsoMemory, p: ProcessId, x: LocationId) -> (Value, ReadFrom) {
        let newest = m.buffers[p][x].iter().rev().find_map(|entry| match entry {
            Entry::Store(value) => Some(*value),
            Entry::Marker => None,
        });
        match newest {
            Some(value) => (value, ReadFrom::OwnBuffer),
            None => (m.contents[x.index()], ReadFrom::Memory),
        }
    }

    fn store(&self, m: &PsoMemory, p: ProcessId, x: LocationId, v: Value) -> PsoMemory {
        let mut m = m.clone();
        m.buffers[p][x].push_back(Entry::Store(v));
        m
    }

    fn fence(&self, m: &PsoMemory, p: ProcessId, kind: FenceKind) -> Option<PsoMemory> {
        match kind {
            FenceKind::Full => m.is_drained(p).then(|| m.clone()),
            FenceKind::StoreStore => {
                let mut m = m.clone();
                for buffer in m.buffers[p].iter_mut() {
                    buffer.push_back(Entry::Marker);
                }
                Some(m)
            }
        }
    }

    fn may_rmw(&self, m: &PsoMemory, p: ProcessId, x: LocationId) -> bool {
        match self.rmw {
            PsoRmw::Location => m.buffers[p][x].is_empty(),
            PsoRmw::All => m.is_drained(p),
        }
    }

    fn may_lock(&self, m: &PsoMemory, p: ProcessId) -> bool {
        m.is_drained(p)
    }

    fn flushes(&self, m: &PsoMemory, p: ProcessId) -> Vec<(Flush, PsoMemory)> {
        let stores = m.buffers[p].indices().filter_map(|x| Some((Flush::Store(x), m.flush_store(p, x)?)));
        let marker = m.flush_marker(p).map(|m| (Flush::Marker, m));
        stores.chain(marker).collect()
    }

    fn contents<'m>(&self, m: &'m PsoMemory) -> &'m [Value] {
        &m.contents
    }

    fn contents_mut<'m>(&self, m: &'m mut PsoMemory) -> &'m mut [Value] {
        &mut m.contents
    }

    fn pending(&self, m: &PsoMemory, p: ProcessId) -> Vec<Pending> {
        let mut epochs: Vec<Vec<Pending>> = vec![Vec::new()];
        for (x, buffer) in m.buffers[p].iter_enumerated() {
            let mut epoch = 0;
            for entry in buffer {
                match entry {
                    Entry::Store(value) => epochs[epoch].push(Pending::Store(x, *value)),
                    Entry::Marker => epoch += 1,
                }
                if epoch == epochs.len() {
                    epochs.push(Vec::new());
                }
            }
        }
        epochs.join(&Pending::Marker)
    }
}
