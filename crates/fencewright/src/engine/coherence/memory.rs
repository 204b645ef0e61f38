//! Memory with abstract store buffers, as a memory model: the program is stepped by the rules of the semantics.
//!
//! Under PSO the buffers of a process are cut into segments by store-store markers; stores join the newest segment and
//! leave the oldest one. A marker that has nothing before it leaves at once, and one that has nothing since the last
//! marker is not put there at all: neither holds anything back that the other marker, or nobody, does not. TSO needs no
//! markers, so there is one segment with one buffer.

use std::collections::BTreeMap;

use crate::engine::coherence::buffer::{Buffer, Store};
use crate::engine::coherence::{Abstraction, Precision};
use crate::memory::{Flush, Model, Operational, Pending, PsoRmw, ReadFrom};
use crate::program::{FenceKind, LocationId, ProcessId, Value};
use crate::util::{Idx, IndexVec};

/// A memory model with abstract store buffers.
#[derive(Clone, Copy, Debug)]
pub struct Coherent {
    /// What the buffers are of.
    pub model: Model,
    /// What an atomic update waits for under PSO.
    pub pso_rmw: PsoRmw,
    /// What is kept of them.
    pub precision: Precision,
}

/// Memory, and what waits for each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CoherentMemory {
    contents: Vec<Value>,
    /// Invariant: the first segment of a process is not empty.
    pending: IndexVec<ProcessId, Vec<Segment>>,
}

/// The buffers between two markers. Invariant: none is empty.
type Segment = BTreeMap<Queue, Buffer>;

/// Which stores wait in one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Queue {
    /// All of a process: TSO.
    All,
    /// Those to one location: PSO.
    Of(LocationId),
}

impl CoherentMemory {
    /// `pd`: whether every behavior from the other is one from here.
    pub fn covers(&self, other: &Self) -> bool {
        let covers = |(mine, its): (&Segment, &Segment)| {
            let same_queues = mine.keys().eq(its.keys());
            same_queues && mine.values().zip(its.values()).all(|(mine, its)| mine.covers(its))
        };
        let all_cover =
            |(mine, its): (&Vec<Segment>, &Vec<Segment>)| mine.len() == its.len() && mine.iter().zip(its).all(covers);
        self.contents == other.contents && self.pending.iter().zip(other.pending.iter()).all(all_cover)
    }

    /// What it has in common with all that it covers and is covered by.
    pub fn outline(&self) -> Self {
        let mut out = self.clone();
        let buffers = out.pending.iter_mut().flatten().flat_map(BTreeMap::values_mut);
        buffers.for_each(|buffer| *buffer = buffer.outline());
        out
    }

    /// The bytes it takes, roughly.
    pub fn bytes(&self) -> usize {
        let segments = self.pending.iter().flatten();
        let stores: usize = segments.flat_map(BTreeMap::values).map(|it| 64 + 16 * it.stores().count()).sum();
        8 * self.contents.len() + 24 * self.pending.len() + stores
    }

    /// A buffer of the oldest segment after something left it.
    fn left(&self, p: ProcessId, queue: Queue, buffer: Buffer) -> Self {
        let mut m = self.clone();
        let segments = &mut m.pending[p];
        if buffer.is_empty() {
            segments[0].remove(&queue);
        } else {
            segments[0].insert(queue, buffer);
        }
        let n_empty = segments.iter().take_while(|segment| segment.is_empty()).count();
        segments.drain(..n_empty);
        m
    }

    fn flushed(&self, p: ProcessId, queue: Queue, (x, value): Store, left: Buffer) -> Self {
        let mut m = self.left(p, queue, left);
        m.contents[x.index()] = value;
        m
    }
}

impl Coherent {
    /// Where stores to a location wait; `None` if they do not.
    fn queue(&self, x: LocationId) -> Option<Queue> {
        match self.model {
            Model::Sc => None,
            Model::Tso => Some(Queue::All),
            Model::Pso => Some(Queue::Of(x)),
        }
    }

    /// The store-store fence under PSO.
    fn mark(&self, m: &CoherentMemory, p: ProcessId) -> CoherentMemory {
        let mut m = m.clone();
        let segments = &mut m.pending[p];
        let separates = segments.last().is_some_and(|segment| !segment.is_empty());
        // There is one marker less than segments.
        if separates && segments.len() <= self.precision.k as usize + 1 {
            segments.push(Segment::new());
        }
        m
    }
}

impl Operational for Coherent {
    type Memory = CoherentMemory;

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> CoherentMemory {
        CoherentMemory { contents, pending: IndexVec::filled(n_processes, Vec::new()) }
    }

    fn load(&self, m: &CoherentMemory, p: ProcessId, x: LocationId) -> (Value, ReadFrom) {
        let newest_in = |segment: &Segment| segment.get(&self.queue(x)?)?.newest(x);
        match m.pending[p].iter().rev().find_map(newest_in) {
            Some(newest) => (newest, ReadFrom::OwnBuffer),
            None => (m.contents[x.index()], ReadFrom::Memory),
        }
    }

    fn store(&self, m: &CoherentMemory, p: ProcessId, x: LocationId, v: Value) -> CoherentMemory {
        let mut m = m.clone();
        let Some(queue) = self.queue(x) else {
            m.contents[x.index()] = v;
            return m;
        };
        let segments = &mut m.pending[p];
        if segments.is_empty() {
            segments.push(Segment::new());
        }
        let newest = segments.last_mut().expect("there is a segment");
        newest.entry(queue).or_default().store((x, v), self.precision);
        m
    }

    fn fence(&self, m: &CoherentMemory, p: ProcessId, kind: FenceKind) -> Option<CoherentMemory> {
        match (kind, self.model) {
            (FenceKind::Full, Model::Sc | Model::Tso | Model::Pso) => m.pending[p].is_empty().then(|| m.clone()),
            (FenceKind::StoreStore, Model::Sc | Model::Tso) => Some(m.clone()),
            (FenceKind::StoreStore, Model::Pso) => Some(self.mark(m, p)),
        }
    }

    fn may_rmw(&self, m: &CoherentMemory, p: ProcessId, x: LocationId) -> bool {
        match (self.model, self.pso_rmw) {
            (Model::Sc | Model::Tso, PsoRmw::Location | PsoRmw::All) | (Model::Pso, PsoRmw::All) => {
                m.pending[p].is_empty()
            }
            // A marker is in all buffers.
            (Model::Pso, PsoRmw::Location) => match &m.pending[p][..] {
                [] => true,
                [only] => !only.contains_key(&Queue::Of(x)),
                [_, _, ..] => false,
            },
        }
    }

    fn may_lock(&self, m: &CoherentMemory, p: ProcessId) -> bool {
        m.pending[p].is_empty()
    }

    fn flushes(&self, m: &CoherentMemory, p: ProcessId) -> Vec<(Flush, CoherentMemory)> {
        let Some(oldest) = m.pending[p].first() else { return Vec::new() };
        let abstraction = self.precision.abstraction;
        let mut out = Vec::new();
        for (&queue, buffer) in oldest {
            for (store, left) in buffer.flushes(abstraction) {
                out.push((Flush::Store(store.0), m.flushed(p, queue, store, left)));
            }
        }
        if abstraction == Abstraction::Set {
            out.extend(guesses(m, p));
        }
        out
    }

    fn contents<'m>(&self, m: &'m CoherentMemory) -> &'m [Value] {
        &m.contents
    }

    fn contents_mut<'m>(&self, m: &'m mut CoherentMemory) -> &'m mut [Value] {
        &mut m.contents
    }

    /// What may wait; how often and in which order is not known.
    fn pending(&self, m: &CoherentMemory, p: ProcessId) -> Vec<Pending> {
        let stores = |segment: &Segment| {
            let stores = segment.values().flat_map(Buffer::stores);
            stores.map(|(x, value)| Pending::Store(x, value)).collect::<Vec<_>>()
        };
        m.pending[p].iter().map(stores).collect::<Vec<_>>().join(&Pending::Marker)
    }
}

/// `set`: steps by which another store turns out to be the newest of its buffer. They change nothing that others see.
fn guesses(m: &CoherentMemory, p: ProcessId) -> Vec<(Flush, CoherentMemory)> {
    let mut out = Vec::new();
    for (i, segment) in m.pending[p].iter().enumerate() {
        for (&queue, buffer) in segment {
            for guess in buffer.guesses() {
                let mut guessed = m.clone();
                guessed.pending[p][i].insert(queue, guess);
                // No store leaves, but steps of the program are all that a path is tried with.
                out.push((Flush::Marker, guessed));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p() -> ProcessId {
        ProcessId::from_usize(0)
    }

    fn x() -> LocationId {
        LocationId::from_usize(0)
    }

    fn y() -> LocationId {
        LocationId::from_usize(1)
    }

    fn pso(k: u32) -> Coherent {
        let precision = Precision { abstraction: Abstraction::Fd, k };
        Coherent { model: Model::Pso, pso_rmw: PsoRmw::Location, precision }
    }

    /// After `x = 1; fence(store); y = 1`.
    fn message(model: Coherent) -> CoherentMemory {
        let m = model.store(&model.initial(vec![0, 0], 1), p(), x(), 1);
        let m = model.fence(&m, p(), FenceKind::StoreStore).expect("a store-store fence does not wait");
        model.store(&m, p(), y(), 1)
    }

    #[test]
    fn a_marker_keeps_stores_in_order() {
        let model = pso(1);
        let mut left = model.flushes(&message(model), p());
        assert_eq!(left.iter().map(|it| it.0).collect::<Vec<_>>(), [Flush::Store(x())]);
        let left = model.flushes(&left.remove(0).1, p());
        assert_eq!(left.iter().map(|it| it.0).collect::<Vec<_>>(), [Flush::Store(y())]);
        assert!(model.may_lock(&left[0].1, p()), "the marker left with what it held back");
    }

    /// Trap T2: a marker is in all buffers, so an update of a location without stores waits, too.
    #[test]
    fn an_update_waits_for_a_marker() {
        let model = pso(1);
        let stored = model.store(&model.initial(vec![0, 0], 1), p(), x(), 1);
        assert!(model.may_rmw(&stored, p(), y()) && !model.may_rmw(&stored, p(), x()));
        let marked = model.fence(&stored, p(), FenceKind::StoreStore).expect("a store-store fence does not wait");
        assert!(!model.may_rmw(&marked, p(), y()));
    }

    #[test]
    fn a_marker_too_many_is_dropped() {
        let kept = |k| {
            let model = pso(k);
            let m = model.fence(&message(model), p(), FenceKind::StoreStore).expect("it does not wait");
            let m = model.store(&m, p(), x(), 0);
            model.pending(&m, p()).iter().filter(|it| **it == Pending::Marker).count()
        };
        assert_eq!([0, 1, 2].map(kept), [1, 2, 2]);
    }

    #[test]
    fn a_marker_that_separates_nothing_is_not_kept() {
        let model = pso(4);
        let marked = |m: &CoherentMemory| model.fence(m, p(), FenceKind::StoreStore).expect("it does not wait");
        let empty = model.initial(vec![0, 0], 1);
        assert_eq!(marked(&empty), empty);
        let once = marked(&message(model));
        assert_eq!(marked(&once), once);
    }
}
