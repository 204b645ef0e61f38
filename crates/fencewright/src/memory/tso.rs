//! Total store order: one FIFO buffer of stores per process.
//!
//! Owens, Sarkar, Sewell, _A Better x86 Memory Model: x86-TSO_, TPHOLs 2009, the abstract machine. Departure: the bus
//! lock is one step (`rmw`, locked block), since what it protects is one step here.

use std::collections::VecDeque;

use crate::memory::{Flush, Operational, Pending, ReadFrom};
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

impl Operational for Tso {
    type Memory = TsoMemory;

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> TsoMemory {
        TsoMemory { contents, buffers: IndexVec::filled(n_processes, VecDeque::new()) }
    }

    fn load(&self, m: &TsoMemory, p: ProcessId, x: LocationId) -> (Value, ReadFrom) {
        match m.buffers[p].iter().rev().find(|store| store.0 == x) {
            Some(&(_, newest)) => (newest, ReadFrom::OwnBuffer),
            None => (m.contents[x.index()], ReadFrom::Memory),
        }
    }

    fn store(&self, m: &TsoMemory, p: ProcessId, x: LocationId, v: Value) -> TsoMemory {
        let mut m = m.clone();
        m.buffers[p].push_back((x, v));
        m
    }

    fn fence(&self, m: &TsoMemory, p: ProcessId, kind: FenceKind) -> Option<TsoMemory> {
        let may_pass = match kind {
            FenceKind::Full => m.buffers[p].is_empty(),
            // Stores leave the buffer in order anyway.
            FenceKind::StoreStore => true,
        };
        may_pass.then(|| m.clone())
    }

    fn may_rmw(&self, m: &TsoMemory, p: ProcessId, _x: LocationId) -> bool {
        m.buffers[p].is_empty()
    }

    fn may_lock(&self, m: &TsoMemory, p: ProcessId) -> bool {
        m.buffers[p].is_empty()
    }

    fn flushes(&self, m: &TsoMemory, p: ProcessId) -> Vec<(Flush, TsoMemory)> {
        let mut m = m.clone();
        let oldest = m.buffers[p].pop_front();
        oldest
            .map(|(x, v)| {
                m.contents[x.index()] = v;
                (Flush::Store(x), m)
            })
            .into_iter()
            .collect()
    }

    fn contents<'m>(&self, m: &'m TsoMemory) -> &'m [Value] {
        &m.contents
    }

    fn contents_mut<'m>(&self, m: &'m mut TsoMemory) -> &'m mut [Value] {
        &mut m.contents
    }

    fn pending(&self, m: &TsoMemory, p: ProcessId) -> Vec<Pending> {
        m.buffers[p].iter().map(|&(x, v)| Pending::Store(x, v)).collect()
    }
}
