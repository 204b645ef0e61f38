//! Total store order: one FIFO buffer of stores per process.
//!
//! Owens, Sarkar, Sewell, _A Better x86 Memory Model: x86-TSO_, TPHOLs 2009, the abstract machine. Departure: the bus
//! lock is one step (`rmw`, locked block), since what it protects is one step here.

use std::collections::VecDeque;

use crate::memory::{Access, Done, Internal, Machine, Origin, Pending, Shown, updated};
use crate::program::{FenceKind, LocationId, ProcessId, Value};
use crate::util::{Idx, IndexVec};

/// Total store order.
#[derive(Clone, Copy, Debug)]
pub struct Tso;

/// Memory, and a FIFO of stores for each process, oldest in front.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TsoMemory {
    contents: Vec<Value>,
    buffers: IndexVec<ProcessId, VecDeque<(LocationId, Value)>>,
}

impl TsoMemory {
    /// The newest store of `p` to `x`, or memory.
    fn load(&self, p: ProcessId, x: LocationId) -> (Value, Origin) {
        match self.buffers[p].iter().rev().find(|store| store.0 == x) {
            Some(&(_, newest)) => (newest, Origin::OwnBuffer),
            None => (self.contents[x.index()], Origin::Memory),
        }
    }

    fn with_store(&self, p: ProcessId, x: LocationId, v: Value) -> Self {
        let mut m = self.clone();
        m.buffers[p].push_back((x, v));
        m
    }

    fn may_pass(&self, p: ProcessId, fence: FenceKind) -> bool {
        match fence {
            FenceKind::Full => self.buffers[p].is_empty(),
            // Stores leave the buffer in order anyway.
            FenceKind::StoreStore => true,
        }
    }

    fn with_contents(&self, contents: Vec<Value>) -> Self {
        Self { contents, buffers: self.buffers.clone() }
    }
}

impl Machine for Tso {
    type State = TsoMemory;

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> TsoMemory {
        TsoMemory { contents, buffers: IndexVec::filled(n_processes, VecDeque::new()) }
    }

    fn access(&self, m: &TsoMemory, p: ProcessId, access: Access<'_>) -> Vec<Done<TsoMemory>> {
        match access {
            Access::Load(x, _) => {
                let (value, origin) = m.load(p, x);
                vec![Done { read: Some(value), origin, state: m.clone() }]
            }
            Access::Store(x, v, _) => {
                vec![Done { read: None, origin: Origin::OwnBuffer, state: m.with_store(p, x, v) }]
            }
            Access::Update(..) if !m.buffers[p].is_empty() => Vec::new(),
            Access::Update(x, update, _) => updated(&m.contents, x, update, |contents| m.with_contents(contents)),
            Access::Fence(kind, _) if m.may_pass(p, kind) => Done::nothing(m.clone()),
            Access::Fence(..) => Vec::new(),
        }
    }

    fn internal(&self, m: &TsoMemory, p: ProcessId) -> Vec<(Internal, TsoMemory)> {
        let mut m = m.clone();
        let oldest = m.buffers[p].pop_front();
        oldest
            .map(|(x, v)| {
                m.contents[x.index()] = v;
                (Internal::Arrives(x), m)
            })
            .into_iter()
            .collect()
    }

    fn lock(&self, m: &TsoMemory, p: ProcessId) -> Option<Vec<Value>> {
        m.buffers[p].is_empty().then(|| m.contents.clone())
    }

    fn unlock(&self, m: &TsoMemory, _p: ProcessId, contents: Vec<Value>) -> TsoMemory {
        m.with_contents(contents)
    }

    fn is_settled(&self, m: &TsoMemory) -> bool {
        m.buffers.iter().all(VecDeque::is_empty)
    }

    fn value(&self, m: &TsoMemory, x: LocationId) -> Value {
        m.contents[x.index()]
    }

    fn shown(&self, m: &TsoMemory, p: ProcessId) -> Shown {
        Shown::Buffer(m.buffers[p].iter().map(|&(x, v)| Pending::Store(x, v)).collect())
    }
}
