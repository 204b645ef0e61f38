//! Partial store order: one FIFO buffer of stores per process and location, with store-store markers.
//!
//! SPARC Architecture Manual v8, appendix K; the markers as in the PSO paper (partial write serialisation), section 2:
//! a store-store fence puts a marker into all buffers of its process, and the marker leaves all of them at once when it
//! is the oldest in each. A load looks through markers; whatever waits for an empty buffer waits for markers too.

use std::collections::VecDeque;

use crate::memory::{Access, Done, Internal, Machine, Origin, Pending, PsoRmw, Shown, updated};
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

    /// The newest store of `p` to `x`, or memory.
    fn load(&self, p: ProcessId, x: LocationId) -> (Value, Origin) {
        let newest = self.buffers[p][x].iter().rev().find_map(|entry| match entry {
            Entry::Store(value) => Some(*value),
            Entry::Marker => None,
        });
        match newest {
            Some(value) => (value, Origin::OwnBuffer),
            None => (self.contents[x.index()], Origin::Memory),
        }
    }

    fn with_store(&self, p: ProcessId, x: LocationId, v: Value) -> Self {
        let mut m = self.clone();
        m.buffers[p][x].push_back(Entry::Store(v));
        m
    }

    /// Behind a fence; `None` where it waits.
    fn fenced(&self, p: ProcessId, kind: FenceKind) -> Option<Self> {
        match kind {
            FenceKind::Full => self.is_drained(p).then(|| self.clone()),
            FenceKind::StoreStore => {
                let mut m = self.clone();
                for buffer in m.buffers[p].iter_mut() {
                    buffer.push_back(Entry::Marker);
                }
                Some(m)
            }
        }
    }

    fn with_contents(&self, contents: Vec<Value>) -> Self {
        Self { contents, buffers: self.buffers.clone() }
    }
}

impl Pso {
    fn may_update(self, m: &PsoMemory, p: ProcessId, x: LocationId) -> bool {
        match self.rmw {
            PsoRmw::Location => m.buffers[p][x].is_empty(),
            PsoRmw::All => m.is_drained(p),
        }
    }
}

impl Machine for Pso {
    type State = PsoMemory;

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> PsoMemory {
        let empty = IndexVec::filled(contents.len(), Buffer::new());
        PsoMemory { contents, buffers: IndexVec::filled(n_processes, empty) }
    }

    fn access(&self, m: &PsoMemory, p: ProcessId, access: Access<'_>) -> Vec<Done<PsoMemory>> {
        match access {
            Access::Load(x, _) => {
                let (value, origin) = m.load(p, x);
                vec![Done { read: Some(value), origin, state: m.clone() }]
            }
            Access::Store(x, v, _) => {
                vec![Done { read: None, origin: Origin::OwnBuffer, state: m.with_store(p, x, v) }]
            }
            Access::Update(x, ..) if !self.may_update(m, p, x) => Vec::new(),
            Access::Update(x, update, _) => updated(&m.contents, x, update, |contents| m.with_contents(contents)),
            Access::Fence(kind, _) => m.fenced(p, kind).map_or_else(Vec::new, Done::nothing),
        }
    }

    fn internal(&self, m: &PsoMemory, p: ProcessId) -> Vec<(Internal, PsoMemory)> {
        let stores = m.buffers[p].indices().filter_map(|x| Some((Internal::Arrives(x), m.flush_store(p, x)?)));
        let marker = m.flush_marker(p).map(|m| (Internal::Marker, m));
        stores.chain(marker).collect()
    }

    fn lock(&self, m: &PsoMemory, p: ProcessId) -> Option<Vec<Value>> {
        m.is_drained(p).then(|| m.contents.clone())
    }

    fn unlock(&self, m: &PsoMemory, _p: ProcessId, contents: Vec<Value>) -> PsoMemory {
        m.with_contents(contents)
    }

    fn is_settled(&self, m: &PsoMemory) -> bool {
        m.buffers.indices().all(|p| m.is_drained(p))
    }

    fn value(&self, m: &PsoMemory, x: LocationId) -> Value {
        m.contents[x.index()]
    }

    fn shown(&self, m: &PsoMemory, p: ProcessId) -> Shown {
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
        Shown::Buffer(epochs.join(&Pending::Marker))
    }
}
