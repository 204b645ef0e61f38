//! Sequential consistency: every operation acts on memory at once.
//!
//! Lamport, _How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs_, 1979.

use crate::memory::{Flush, Operational, Pending, ReadFrom};
use crate::program::{FenceKind, LocationId, ProcessId, Value};
use crate::util::Idx;

/// Sequential consistency.
#[derive(Clone, Copy, Debug)]
pub struct Sc;

/// Memory; there are no buffers.
pub type ScMemory = Vec<Value>;

impl Operational for Sc {
    type Memory = ScMemory;

    fn initial(&self, contents: Vec<Value>, _n_processes: usize) -> ScMemory {
        contents
    }

    fn load(&self, m: &ScMemory, _p: ProcessId, x: LocationId) -> (Value, ReadFrom) {
        (m[x.index()], ReadFrom::Memory)
    }

    fn store(&self, m: &ScMemory, _p: ProcessId, x: LocationId, v: Value) -> ScMemory {
        let mut m = m.clone();
        m[x.index()] = v;
        m
    }

    fn fence(&self, m: &ScMemory, _p: ProcessId, kind: FenceKind) -> Option<ScMemory> {
        match kind {
            FenceKind::Full | FenceKind::StoreStore => Some(m.clone()),
        }
    }

    fn may_rmw(&self, _m: &ScMemory, _p: ProcessId, _x: LocationId) -> bool {
        true
    }

    fn may_lock(&self, _m: &ScMemory, _p: ProcessId) -> bool {
        true
    }

    fn flushes(&self, _m: &ScMemory, _p: ProcessId) -> Vec<(Flush, ScMemory)> {
        Vec::new()
    }

    fn contents<'m>(&self, m: &'m ScMemory) -> &'m [Value] {
        m
    }

    fn contents_mut<'m>(&self, m: &'m mut ScMemory) -> &'m mut [Value] {
        m
    }

    fn pending(&self, _m: &ScMemory, _p: ProcessId) -> Vec<Pending> {
        Vec::new()
    }
}
