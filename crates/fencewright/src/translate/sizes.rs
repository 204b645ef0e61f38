//! How many stores may be pending at each point: the most on any path since the buffers were last drained.
//!
//! A process has one queue of stores under TSO and one for each location that it stores to under PSO. A full fence, a
//! locked block and (by the dialect) an atomic update wait for queues to be empty; a store adds one. The greatest sum
//! over all paths is a fixed point; a sum greater than the number of steps must come from a loop, so there is no
//! greatest. Epochs are counted alike: a store-store fence begins one, unless nothing can be pending.

use crate::memory::{Buffering, PsoRmw};
use crate::program::{FenceKind, LocationId, Op, Place, ProcessId};
use crate::translate::graph::{Graph, NodeId, Step, node};
use crate::translate::repeats::is_own;
use crate::translate::{DEFAULT_BOUND, MAX_SLOTS, Request};
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

/// Stands for "there is no greatest number".
const ENDLESS: u32 = u32::MAX;

/// What may be pending at a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    /// For each queue, the most stores.
    pub stores: Vec<u32>,
    /// The most epochs begun; only under PSO.
    pub epochs: u32,
    /// The locations to which a store may be pending, ascending.
    pub locations: Vec<LocationId>,
}

impl Waiting {
    fn nothing(n_queues: usize) -> Self {
        Self { stores: vec![0; n_queues], ..Self::default() }
    }

    /// Whether nothing can be pending.
    pub(super) fn is_nothing(&self) -> bool {
        self.stores.iter().all(|&n| n == 0)
    }

    fn join(&mut self, other: &Self) {
        self.stores.iter_mut().zip(&other.stores).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
        self.epochs = self.epochs.max(other.epochs);
        self.locations.extend(&other.locations);
        self.locations.sort_unstable();
        self.locations.dedup();
    }

    fn cap(&mut self, most: u32) {
        let cap = |n: &mut u32| *n = if *n > most { ENDLESS } else { *n };
        self.stores.iter_mut().for_each(cap);
        cap(&mut self.epochs);
    }
}

/// The queues of a process and what may be in them.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// For each queue, the locations whose stores it holds.
    pub queues: Vec<Vec<LocationId>>,
    /// For each queue, how many slots it has.
    pub slots: Vec<u32>,
    /// How many epochs may begin while something is pending.
    pub epochs: u32,
    /// For each location, the deepest slot that a store to it may get, from 0.
    deepest: Vec<usize>,
    /// The locations that the process stores to and no other process writes.
    pub own: Vec<LocationId>,
    /// What may be pending at each point that control can reach. Capped by `slots` and `epochs`.
    pub pending: IndexVec<NodeId, Option<Waiting>>,
}

impl Sizes {
    pub(super) fn new(request: &Request<'_>, graph: &Graph, process: ProcessId) -> Self {
        let queues = queues(request, graph, process);
        let mut pending = Analysis { request, graph, queues: &queues, process }.run();
        let reached = || pending.iter().flatten();
        let most = |i: usize| reached().map(|it| it.stores[i]).max().unwrap_or(0);
        let slots: Vec<u32> = (0..queues.len()).map(|i| limited(most(i), request.bound).max(1)).collect();
        let epochs = limited(reached().map(|it| it.epochs).max().unwrap_or(0), request.bound);
        for it in pending.iter_mut().flatten() {
            it.stores.iter_mut().zip(&slots).for_each(|(n, &slots)| *n = slots.min(*n));
            it.epochs = epochs.min(it.epochs);
        }
        let deepest = vec![0; request.program.locations().len()];
        let is_own = |x: &LocationId| is_own(request.program, graph, process, *x);
        let own = queues.iter().flatten().copied().filter(is_own).collect();
        let mut sizes = Self { queues, slots, epochs, deepest, own, pending };
        graph.steps_of(process).for_each(|step| sizes.deepen(request, step));
        sizes
    }

    fn deepen(&mut self, request: &Request<'_>, step: &Step) {
        let Op::Store(place, _) = &step.op else { return };
        for x in request.program.locations_of(place) {
            let Some(queue) = self.queue_of(x) else { continue };
            let slot = self.at(step.from).stores[queue].min(self.slots[queue].saturating_sub(1)) as usize;
            self.deepest[x.index()] = self.deepest[x.index()].max(slot);
        }
    }

    /// The queue that holds stores to a location, if the process stores to it.
    pub(super) fn queue_of(&self, x: LocationId) -> Option<usize> {
        self.queues.iter().position(|locations| locations.contains(&x))
    }

    /// The deepest slot that a store to a location may get, from 0.
    pub(super) fn deepest(&self, x: LocationId) -> usize {
        self.deepest[x.index()]
    }

    /// What may be pending at a point.
    pub(super) fn at(&self, node: NodeId) -> Waiting {
        self.pending[node].clone().unwrap_or_else(|| Waiting::nothing(self.queues.len()))
    }
}

fn limited(most: u32, bound: Option<u32>) -> u32 {
    let default = if most == ENDLESS { DEFAULT_BOUND } else { MAX_SLOTS };
    most.min(bound.unwrap_or(default)).min(MAX_SLOTS)
}

fn queues(request: &Request<'_>, graph: &Graph, process: ProcessId) -> Vec<Vec<LocationId>> {
    let stored = graph.steps_of(process).filter_map(|step| match &step.op {
        Op::Store(place, _) => Some(request.program.locations_of(place)),
        Op::Load(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
    });
    let mut stored: Vec<LocationId> = stored.flatten().collect();
    stored.sort_unstable();
    stored.dedup();
    match request.buffering {
        Buffering::None => Vec::new(),
        Buffering::Fifo if stored.is_empty() => Vec::new(),
        Buffering::Fifo => vec![stored],
        Buffering::PerLocation(_) => stored.into_iter().map(|x| vec![x]).collect(),
    }
}

struct Analysis<'a> {
    request: &'a Request<'a>,
    graph: &'a Graph,
    queues: &'a [Vec<LocationId>],
    process: ProcessId,
}

impl Analysis<'_> {
    fn run(&self) -> IndexVec<NodeId, Option<Waiting>> {
        let most = u32::try_from(self.graph.steps_of(self.process).count()).unwrap_or(ENDLESS - 1);
        let entry = node(self.request.program.processes()[self.process].entry);
        let mut pending = IndexVec::filled(self.graph.nodes.len(), None);
        pending[entry] = Some(Waiting::nothing(self.queues.len()));
        let mut todo = vec![entry];
        while let Some(node) = todo.pop() {
            for &step in &self.graph.nodes[node].1 {
                heed(8 + 2 * self.queues.len() as u32);
                let step = &self.graph.steps[step];
                let before = pending[node].as_ref().expect("only points that were reached are looked at");
                let mut after = self.after(before, step);
                if let Some(known) = &pending[step.to] {
                    after.join(known);
                }
                after.cap(most);
                if pending[step.to].as_ref() != Some(&after) {
                    pending[step.to] = Some(after);
                    todo.push(step.to);
                }
            }
        }
        pending
    }

    fn after(&self, before: &Waiting, step: &Step) -> Waiting {
        let mut after = before.clone();
        match &step.op {
            Op::Store(place, _) => self.store(&mut after, place),
            Op::Fence(FenceKind::Full) | Op::Locked(_) => return Waiting::nothing(self.queues.len()),
            Op::Fence(FenceKind::StoreStore) => {
                let begins = matches!(self.request.buffering, Buffering::PerLocation(_)) && !before.is_nothing();
                after.epochs = after.epochs.saturating_add(u32::from(begins));
            }
            Op::Rmw { place, .. } => match self.request.buffering {
                Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => {
                    return Waiting::nothing(self.queues.len());
                }
                Buffering::PerLocation(PsoRmw::Location) => self.drain(&mut after, place),
            },
            Op::Load(..) | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => {}
        }
        after
    }

    fn store(&self, pending: &mut Waiting, place: &Place) {
        let locations = self.request.program.locations_of(place);
        for (n, _) in pending.stores.iter_mut().zip(self.queues).filter(|it| locations.iter().any(|x| it.1.contains(x)))
        {
            *n = n.saturating_add(1);
        }
        if !self.queues.is_empty() {
            pending.locations.extend(locations);
            pending.locations.sort_unstable();
            pending.locations.dedup();
        }
    }

    /// An atomic update of one location waits for its queue; one of several may have waited for any.
    fn drain(&self, pending: &mut Waiting, place: &Place) {
        let [x] = self.request.program.locations_of(place)[..] else { return };
        pending.locations.retain(|&it| it != x);
        for (n, locations) in pending.stores.iter_mut().zip(self.queues) {
            *n = if locations.contains(&x) { 0 } else { *n };
        }
        if pending.is_nothing() {
            pending.epochs = 0;
        }
    }
}
