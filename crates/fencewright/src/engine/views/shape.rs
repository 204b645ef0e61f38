//! What is kept of views for a program, and where: parts that the program cannot need have no place.
//!
//! ```text
//!   a view        │ A, B of the first location │ A, B of the second │ …      bit v: a write of the v-th value is open
//!   knowledge     │ v │ f │ e │ s │ u │        views; u has a bit for each access to plain data
//!   a state       │ known under SC │ cur, acq, rel of threads │ msg, EW, ER of locations │ s, ES of seq_cst accesses │
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use crate::engine::Unsupported;
use crate::memory::ReleaseSequence;
use crate::program::{LocationId, Op, Order, Place, ProcessId, Program, Value};
use crate::system::Flow;
use crate::util::{Idx, IndexVec};

/// So many values of a location, and so many locations, fit a word.
const MAX: usize = 64;

/// What is made of seq_cst accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Psc {
    /// Less order than there is: what is silent is silent.
    Weaker,
    /// More order than there is.
    Stronger,
}

/// What is kept, and where.
#[derive(Debug)]
pub(super) struct Shape {
    pub psc: Psc,
    /// For each location that several threads access and some write: its place in views, and its least value.
    pub slots: IndexVec<LocationId, Option<(usize, Value)>>,
    pub n_slots: usize,
    /// The bit of each access to plain data in `u`.
    pub plain: BTreeMap<(LocationId, bool, ProcessId), usize>,
    /// Where the parts of knowledge are.
    pub parts: Parts,
    pub threads: Vec<ThreadShape>,
    pub locations: Vec<LocationShape>,
    /// A bit for each location: its last write was a seq_cst one.
    pub last_sc: usize,
    pub n_words: usize,
    /// Where all knowledge is.
    pub knowledge: Vec<usize>,
    /// Where all other views are.
    pub views: Vec<usize>,
}

/// Where the parts of knowledge are within it.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub v: usize,
    pub f: Option<usize>,
    pub e: Option<usize>,
    pub s: Option<usize>,
    pub u: Range<usize>,
    pub n_words: usize,
}

/// What a thread has.
#[derive(Debug)]
pub(super) struct ThreadShape {
    pub known: usize,
    pub cur: usize,
    pub acq: Option<usize>,
    pub rel: Option<usize>,
    /// What its release stores to each location told, where its later stores tell that, too.
    pub own: Vec<usize>,
    pub s: Option<usize>,
}

/// What a location has.
#[derive(Debug)]
pub(super) struct LocationShape {
    /// What was known to some access of it, and to its last write.
    pub met: usize,
    pub wrote: usize,
    pub msg: usize,
    /// Views of fences before a next read, and besides before a next write.
    pub ew: Option<usize>,
    pub er: Option<usize>,
    /// The same of seq_cst accesses.
    pub es_w: Option<usize>,
    pub es_r: Option<usize>,
}

impl Shape {
    /// What is to be kept for a program.
    pub(super) fn new(flow: Flow<'_>, sequence: ReleaseSequence, psc: Psc) -> Result<Self, Unsupported> {
        let (program, uses) = (flow.program, Uses::of(flow));
        let slots = slots(program, &uses)?;
        let n_slots = slots.iter().flatten().count();
        let plain = uses.plain(program);
        let has_views = uses.has_sc_fence || (psc == Psc::Stronger && uses.has_sc_access);
        let mut room = Room::new(n_slots);
        let parts = Parts::new(n_slots, plain.len(), has_views, psc == Psc::Stronger && uses.has_sc_access);
        let has_order = psc == Psc::Weaker && uses.has_sc_access;
        let threads = (0..program.processes().len()).map(|p| {
            let (acquires, releases) = (uses.acquire_fences[p], uses.release_fences[p]);
            ThreadShape {
                known: room.word(),
                cur: room.knowledge(&parts),
                acq: acquires.then(|| room.knowledge(&parts)),
                rel: releases.then(|| room.knowledge(&parts)),
                own: match sequence {
                    ReleaseSequence::Updates => Vec::new(),
                    ReleaseSequence::OwnStores => (0..n_slots).map(|_| room.knowledge(&parts)).collect(),
                },
                s: has_order.then(|| room.view()),
            }
        });
        let threads = threads.collect();
        let locations = (0..n_slots).map(|_| LocationShape {
            met: room.word(),
            wrote: room.word(),
            msg: room.knowledge(&parts),
            ew: has_views.then(|| room.view()),
            er: has_views.then(|| room.view()),
            es_w: has_order.then(|| room.view()),
            es_r: has_order.then(|| room.view()),
        });
        let locations = locations.collect();
        let last_sc = room.word();
        let Room { n_words, knowledge, views, .. } = room;
        Ok(Self { psc, slots, n_slots, plain, parts, threads, locations, last_sc, n_words, knowledge, views })
    }

    /// The offsets of the views within knowledge.
    pub(super) fn view_parts(&self) -> impl Iterator<Item = usize> + '_ {
        [Some(self.parts.v), self.parts.f, self.parts.e, self.parts.s].into_iter().flatten()
    }

    /// The words of a view.
    pub(super) fn view_len(&self) -> usize {
        2 * self.n_slots
    }
}

impl Parts {
    fn new(n_slots: usize, n_plain: usize, has_fences: bool, has_order: bool) -> Self {
        let view = 2 * n_slots;
        let mut end = view;
        let mut next = |is_kept: bool| {
            is_kept.then(|| {
                end += view;
                end - view
            })
        };
        let (f, e, s) = (next(has_fences), next(has_fences), next(has_order));
        let u = end..end + n_plain.div_ceil(MAX);
        Self { v: 0, f, e, s, n_words: u.end, u }
    }
}

/// Hands out places.
struct Room {
    view: usize,
    n_words: usize,
    knowledge: Vec<usize>,
    views: Vec<usize>,
}

impl Room {
    fn new(n_slots: usize) -> Self {
        Self { view: 2 * n_slots, n_words: 0, knowledge: Vec::new(), views: Vec::new() }
    }

    fn take(&mut self, n_words: usize) -> usize {
        self.n_words += n_words;
        self.n_words - n_words
    }

    fn word(&mut self) -> usize {
        self.take(1)
    }

    fn knowledge(&mut self, parts: &Parts) -> usize {
        let at = self.take(parts.n_words);
        self.knowledge.push(at);
        at
    }

    fn view(&mut self) -> usize {
        let at = self.take(self.view);
        self.views.push(at);
        at
    }
}

/// Who does what in a program.
struct Uses {
    /// By location: who reads, and who writes.
    readers: IndexVec<LocationId, Vec<ProcessId>>,
    writers: IndexVec<LocationId, Vec<ProcessId>>,
    acquire_fences: Vec<bool>,
    release_fences: Vec<bool>,
    has_sc_fence: bool,
    has_sc_access: bool,
}

impl Uses {
    fn of(flow: Flow<'_>) -> Self {
        let program = flow.program;
        let nobody: IndexVec<LocationId, Vec<ProcessId>> = program.locations().iter().map(|_| Vec::new()).collect();
        let no_fences = vec![false; program.processes().len()];
        let mut uses = Self {
            readers: nobody.clone(),
            writers: nobody,
            acquire_fences: no_fences.clone(),
            release_fences: no_fences,
            has_sc_fence: false,
            has_sc_access: false,
        };
        for edge in program.edges() {
            match &edge.op {
                Op::Load(_, place) => uses.access(program, edge.process, place, (true, false)),
                Op::Store(place, _) => uses.access(program, edge.process, place, (false, true)),
                Op::Rmw { place, write, .. } => uses.access(program, edge.process, place, (true, write.is_some())),
                Op::Fence(kind) => edge.order.of_fence(*kind).into_iter().for_each(|it| uses.fence(edge.process, it)),
                Op::Assume(_) if edge.is_acquire_fence() => uses.fence(edge.process, Order::Acquire),
                Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Locked(_) => {}
            }
            let is_access = matches!(edge.op, Op::Load(..) | Op::Store(..) | Op::Rmw { .. });
            uses.has_sc_access |= is_access && edge.order == Order::SeqCst;
        }
        for (position, kind) in flow.placement.iter() {
            let order = Order::default().of_fence(kind);
            order.into_iter().for_each(|it| uses.fence(program.edges()[position.edge].process, it));
        }
        uses
    }

    fn access(&mut self, program: &Program, p: ProcessId, place: &Place, (reads, writes): (bool, bool)) {
        for x in program.locations_of(place) {
            for (all, does) in [(&mut self.readers, reads), (&mut self.writers, writes)] {
                if does && !all[x].contains(&p) {
                    all[x].push(p);
                }
            }
        }
    }

    fn fence(&mut self, p: ProcessId, order: Order) {
        self.acquire_fences[p.index()] |= order.acquires();
        self.release_fences[p.index()] |= order.releases();
        self.has_sc_fence |= order == Order::SeqCst;
    }

    /// Whether a thread accesses a location that another one writes.
    fn is_contended(&self, x: LocationId) -> bool {
        let mut all = self.readers[x].iter().chain(&self.writers[x]);
        all.any(|p| self.writers[x].iter().any(|q| p != q))
    }

    fn plain(&self, program: &Program) -> BTreeMap<(LocationId, bool, ProcessId), usize> {
        let contended = program.plain().iter().filter(|&&x| self.is_contended(x));
        let all = contended.flat_map(|&x| {
            let of = move |writes: bool, who: &[ProcessId]| who.iter().map(|&p| (x, writes, p)).collect::<Vec<_>>();
            [of(false, &self.readers[x]), of(true, &self.writers[x])].concat()
        });
        all.enumerate().map(|(bit, access)| (access, bit)).collect()
    }
}

/// The places of locations in views.
fn slots(program: &Program, uses: &Uses) -> Result<IndexVec<LocationId, Option<(usize, Value)>>, Unsupported> {
    let mut n_slots = 0;
    let mut slots = IndexVec::new();
    for (x, location) in program.locations().iter_enumerated() {
        if program.plain().contains(&x) || !uses.is_contended(x) {
            slots.push(None);
            continue;
        }
        let Some((least, _)) = location.domain.bounds().filter(|_| location.domain.size() <= Some(MAX as u64)) else {
            return Err(too_wide(&location.name, location.domain.size()));
        };
        slots.push(Some((n_slots, least)));
        n_slots += 1;
    }
    if n_slots > MAX {
        let reason = format!("threads share {n_slots} atomic locations; views of {MAX} are followed");
        return Err(Unsupported { reason, help: "share fewer of them, such as a smaller array".to_owned() });
    }
    Ok(slots)
}

fn too_wide(name: &str, size: Option<u64>) -> Unsupported {
    let many = size.map_or("unboundedly many values".to_owned(), |size| format!("{size} values"));
    Unsupported {
        reason: format!("`{name}` may hold {many}; views keep sets of up to {MAX} values of a location"),
        help: format!("give it a range of at most {MAX} values, such as `0..{}`", MAX - 1),
    }
}
