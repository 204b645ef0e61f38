//! Sequential consistency: every access acts on memory at once.
//!
//! Lamport, _How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs_, 1979.

use crate::memory::{Access, Done, Internal, Machine, Origin, Shown, updated};
use crate::program::{LocationId, ProcessId, Value};
use crate::util::Idx;

/// Sequential consistency.
#[derive(Clone, Copy, Debug)]
pub struct Sc;

/// Memory; there are no buffers.
pub type ScMemory = Vec<Value>;

impl Machine for Sc {
    type State = ScMemory;

    fn initial(&self, contents: Vec<Value>, _n_processes: usize) -> ScMemory {
        contents
    }

    fn access(&self, m: &ScMemory, _p: ProcessId, access: Access<'_>) -> Vec<Done<ScMemory>> {
        match access {
            Access::Load(x, _) => vec![Done { read: Some(m[x.index()]), origin: Origin::Memory, state: m.clone() }],
            Access::Store(x, v, _) => {
                let mut state = m.clone();
                state[x.index()] = v;
                Done::nothing(state)
            }
            Access::Update(x, update, _) => updated(m, x, update, |contents| contents),
            Access::Fence(..) => Done::nothing(m.clone()),
        }
    }

    fn internal(&self, _m: &ScMemory, _p: ProcessId) -> Vec<(Internal, ScMemory)> {
        Vec::new()
    }

    fn lock(&self, m: &ScMemory, _p: ProcessId) -> Option<Vec<Value>> {
        Some(m.clone())
    }

    fn unlock(&self, _m: &ScMemory, _p: ProcessId, contents: Vec<Value>) -> ScMemory {
        contents
    }

    fn is_settled(&self, _m: &ScMemory) -> bool {
        true
    }

    fn value(&self, m: &ScMemory, x: LocationId) -> Value {
        m[x.index()]
    }

    fn shown(&self, _m: &ScMemory, _p: ProcessId) -> Shown {
        Shown::Buffer(Vec::new())
    }
}
