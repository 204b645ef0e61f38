//! Memory behind store buffers of which less is kept.
//!
//! Rules are those of the machines of the models; only what waits is another thing ([`Waiting`]), so that what arrives
//! in memory may be one of several.

use crate::memory::{Access, Buffering, Done, Internal, Machine, Origin, PsoRmw, Shown};
use crate::program::{FenceKind, LocationId, ProcessId, Value};
use crate::util::{Idx, IndexVec};

use super::waiting::Waiting;

/// Memory behind buffers of which `k` stores are kept in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blurred {
    pub(super) buffering: Buffering,
    pub(super) k: usize,
}

/// What memory holds, and what waits for each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BlurredMemory {
    contents: Vec<Value>,
    waiting: IndexVec<ProcessId, Waiting>,
}

impl BlurredMemory {
    fn load(&self, p: ProcessId, x: LocationId) -> (Value, Origin) {
        match self.waiting[p].newest(x) {
            Some(value) => (value, Origin::OwnBuffer),
            None => (self.contents[x.index()], Origin::Memory),
        }
    }

    fn with_contents(&self, contents: Vec<Value>) -> Self {
        Self { contents, waiting: self.waiting.clone() }
    }

    fn with_value(&self, x: LocationId, value: Value) -> Self {
        let mut out = self.clone();
        out.contents[x.index()] = value;
        out
    }

    fn with_waiting(&self, p: ProcessId, waiting: Waiting) -> Self {
        let mut out = self.clone();
        out.waiting[p] = waiting;
        out
    }
}

impl Blurred {
    fn may_update(self, m: &BlurredMemory, p: ProcessId, x: LocationId) -> bool {
        match self.buffering {
            // A marker is in all buffers of its process.
            Buffering::PerLocation(PsoRmw::Location) => !m.waiting[p].has_marker() && m.waiting[p].newest(x).is_none(),
            Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => m.waiting[p].is_empty(),
        }
    }

    fn stored(self, m: &BlurredMemory, p: ProcessId, x: LocationId, value: Value) -> Done<BlurredMemory> {
        let queue = match self.buffering {
            Buffering::None => {
                return Done { read: None, origin: Origin::Memory, state: m.with_value(x, value) };
            }
            Buffering::Fifo => None,
            Buffering::PerLocation(_) => Some(x),
        };
        let state = m.with_waiting(p, m.waiting[p].with_store(queue, (x, value), self.k));
        Done { read: None, origin: Origin::OwnBuffer, state }
    }

    /// Behind a fence; `None` where it waits.
    fn fenced(self, m: &BlurredMemory, p: ProcessId, kind: FenceKind) -> Option<BlurredMemory> {
        match (kind, self.buffering) {
            (FenceKind::Full, _) => m.waiting[p].is_empty().then(|| m.clone()),
            // Stores leave the buffer in order anyway.
            (FenceKind::StoreStore, Buffering::None | Buffering::Fifo) => Some(m.clone()),
            (FenceKind::StoreStore, Buffering::PerLocation(_)) => {
                Some(m.with_waiting(p, m.waiting[p].with_marker(self.k)))
            }
        }
    }
}

impl Machine for Blurred {
    type State = BlurredMemory;

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> BlurredMemory {
        BlurredMemory { contents, waiting: IndexVec::filled(n_processes, Waiting::default()) }
    }

    fn access(&self, m: &BlurredMemory, p: ProcessId, access: Access<'_>) -> Vec<Done<BlurredMemory>> {
        match access {
            Access::Load(x, _) => {
                let (value, origin) = m.load(p, x);
                vec![Done { read: Some(value), origin, state: m.clone() }]
            }
            Access::Store(x, value, _) => vec![self.stored(m, p, x, value)],
            Access::Update(x, update, _) if self.may_update(m, p, x) => {
                let old = m.contents[x.index()];
                let done = |new: Option<Value>| {
                    let state = new.map_or_else(|| m.clone(), |new| m.with_value(x, new));
                    Done { read: Some(old), origin: Origin::Memory, state }
                };
                update(old).map(done).into_iter().collect()
            }
            Access::Update(..) => Vec::new(),
            Access::Fence(kind, _) => {
                let passed = self.fenced(m, p, kind).into_iter();
                passed.map(|state| Done { read: None, origin: Origin::Memory, state }).collect()
            }
        }
    }

    fn internal(&self, m: &BlurredMemory, p: ProcessId) -> Vec<(Internal, BlurredMemory)> {
        let arriving = m.waiting[p].arriving().into_iter();
        arriving
            .map(|((x, value), rest)| (Internal::Arrives(x), m.with_value(x, value).with_waiting(p, rest)))
            .collect()
    }

    fn lock(&self, m: &BlurredMemory, p: ProcessId) -> Option<Vec<Value>> {
        m.waiting[p].is_empty().then(|| m.contents.clone())
    }

    fn unlock(&self, m: &BlurredMemory, _p: ProcessId, contents: Vec<Value>) -> BlurredMemory {
        m.with_contents(contents)
    }

    fn is_settled(&self, m: &BlurredMemory) -> bool {
        m.waiting.iter().all(Waiting::is_empty)
    }

    fn value(&self, m: &BlurredMemory, x: LocationId) -> Value {
        m.contents[x.index()]
    }

    /// Nobody looks at it.
    fn shown(&self, _m: &BlurredMemory, _p: ProcessId) -> Shown {
        Shown::Buffer(Vec::new())
    }
}
