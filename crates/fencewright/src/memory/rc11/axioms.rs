//! What RC11 says of an execution graph, relation by relation.
//!
//! Lahav, Vafeiadis, Kang, Hur, Dreyer, _Repairing Sequential Consistency in C/C++11_, PLDI 2017, with an update as one
//! event and, unless that is chosen otherwise, the release sequences of C++20. In its words:
//!
//! | | |
//! |---|---|
//! | `rs` | `[W rlx+]; (rf; U)*` (C++20), `[W]; po|loc?; [W rlx+]; (rf; U)*` (C11) |
//! | `sw` | `[rel+]; ([F]; po)?; rs; rf; [R rlx+]; (po; [F])?; [acq+]` |
//! | `hb` | `(po ∪ sw)⁺`, initial writes first |
//! | `eco` | `(rf ∪ mo ∪ fr)⁺` |
//! | coherence | `hb; eco?` irreflexive |
//! | atomicity | an update comes right after its source in `mo` |
//! | no thin air | `po ∪ rf` acyclic |
//! | `scb` | `po ∪ po|≠loc; hb; po|≠loc ∪ hb|loc ∪ mo ∪ fr` |
//! | `psc` | `([Esc] ∪ [Fsc]; hb?); scb; ([Esc] ∪ hb?; [Fsc])  ∪  [Fsc]; (hb ∪ hb; eco; hb); [Fsc]`, acyclic |
//! | SC | `po ∪ rf ∪ mo ∪ fr` acyclic |
//! | race | two accesses to a location, one a write, one plain, by two threads, that `hb` does not order |

use crate::program::{LocationId, Order, ProcessId, Value};
use crate::util::Idx;

use super::execution::{Act, EventId, Execution, Write};
use super::relation::Relation;

/// How far a release goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReleaseSequence {
    /// Updates carry it on (C++20).
    #[default]
    Updates,
    /// So do later stores of its own thread (C11).
    OwnStores,
}

/// What there is to say of an execution.
pub struct Axioms<'a> {
    execution: &'a Execution,
    nodes: Vec<Node>,
    po: Relation,
    rf: Relation,
    mo: Relation,
    fr: Relation,
    hb: Relation,
    eco: Relation,
}

/// An event, or an initial write.
struct Node {
    id: Option<EventId>,
    act: Act,
    order: Order,
}

impl Node {
    fn reads(&self) -> bool {
        self.act.source().is_some()
    }

    fn writes(&self) -> bool {
        self.act.written().is_some()
    }

    fn is_fence(&self) -> bool {
        self.act == Act::Fence
    }

    fn is_atomic(&self) -> bool {
        self.order != Order::Plain
    }
}

impl<'a> Axioms<'a> {
    /// Looks at an execution.
    pub fn new(execution: &'a Execution, sequence: ReleaseSequence) -> Self {
        let nodes = nodes(execution);
        let n = nodes.len();
        let po = Relation::of(n, |a, b| match (nodes[a].id, nodes[b].id) {
            (None, after) => after.is_some(),
            (Some(a), Some(b)) => a.process == b.process && a.place < b.place,
            (Some(_), None) => false,
        });
        let rf = Relation::of(n, |a, b| {
            nodes[a].act.location() == nodes[b].act.location()
                && nodes[a].writes()
                && nodes[b].act.source() == Some(nodes[a].id)
        });
        let mo = Relation::of(n, |a, b| {
            let at =
                |node: &Node| node.act.location().filter(|_| node.writes()).map(|x| (x, place(execution, x, node)));
            matches!((at(&nodes[a]), at(&nodes[b])), (Some((x, i)), Some((y, j))) if x == y && i < j)
        });
        let fr = rf.inverse().then(&mo).only(|a, b| a != b);
        let sw = synchronizes(&nodes, (&po, &rf), sequence);
        let hb = po.clone().or(&sw).closure();
        let eco = rf.clone().or(&mo).or(&fr).closure();
        Self { execution, nodes, po, rf, mo, fr, hb, eco }
    }

    /// Whether RC11 allows it.
    pub fn is_consistent(&self) -> bool {
        self.is_coherent() && self.is_atomic() && !self.is_out_of_thin_air() && self.psc().closure().is_irreflexive()
    }

    fn is_coherent(&self) -> bool {
        self.hb.is_irreflexive() && self.hb.then(&self.eco).is_irreflexive()
    }

    fn is_atomic(&self) -> bool {
        let is_update = |node: &Node| node.reads() && node.writes();
        let next = |a: usize, b: usize| self.mo.has(a, b) && (0..self.nodes.len()).all(|c| !self.between(a, c, b));
        let updates = (0..self.nodes.len()).filter(|&b| is_update(&self.nodes[b]));
        updates.into_iter().all(|b| (0..self.nodes.len()).any(|a| self.rf.has(a, b) && next(a, b)))
    }

    fn between(&self, a: usize, c: usize, b: usize) -> bool {
        self.mo.has(a, c) && self.mo.has(c, b)
    }

    fn is_out_of_thin_air(&self) -> bool {
        !self.po.clone().or(&self.rf).closure().is_irreflexive()
    }

    fn psc(&self) -> Relation {
        let n = self.nodes.len();
        let is_sc = |a: usize| self.nodes[a].order == Order::SeqCst;
        let fences = Relation::on(n, |a| is_sc(a) && self.nodes[a].is_fence());
        let accesses = Relation::on(n, |a| is_sc(a) && !self.nodes[a].is_fence());
        let hb_maybe = self.hb.clone().maybe();
        let from = accesses.clone().or(&fences.then(&hb_maybe));
        let to = accesses.or(&hb_maybe.then(&fences));
        let base = from.then(&self.scb()).then(&to);
        let between = self.hb.clone().or(&self.hb.then(&self.eco).then(&self.hb));
        base.or(&fences.then(&between).then(&fences))
    }

    fn scb(&self) -> Relation {
        let is_same = |a: usize, b: usize| {
            let (x, y) = (self.nodes[a].act.location(), self.nodes[b].act.location());
            x.is_some() && x == y
        };
        let elsewhere = self.po.clone().only(|a, b| !is_same(a, b));
        let around = elsewhere.then(&self.hb).then(&elsewhere);
        let same = self.hb.clone().only(is_same);
        self.po.clone().or(&around).or(&same).or(&self.mo).or(&self.fr)
    }

    /// Whether sequential consistency has it, too.
    pub fn is_sc(&self) -> bool {
        self.po.clone().or(&self.rf).or(&self.mo).or(&self.fr).closure().is_irreflexive()
    }

    /// The first two accesses that race, if some do.
    pub fn race(&self) -> Option<(EventId, EventId)> {
        let n = self.nodes.len();
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        pairs.filter(|&(a, b)| self.races(a, b)).find_map(|(a, b)| self.nodes[a].id.zip(self.nodes[b].id))
    }

    fn races(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.nodes[a], &self.nodes[b]);
        let process = |node: &Node| node.id.map(|it| it.process);
        process(one).is_some()
            && process(other).is_some()
            && process(one) != process(other)
            && one.act.location().is_some()
            && one.act.location() == other.act.location()
            && (one.writes() || other.writes())
            && !(one.is_atomic() && other.is_atomic())
            && !self.hb.has(a, b)
            && !self.hb.has(b, a)
    }

    /// Whether an event happens before another.
    pub fn happens_before(&self, first: EventId, second: EventId) -> bool {
        let node = |id: EventId| self.nodes.iter().position(|it| it.id == Some(id)).expect("it is an event");
        self.hb.has(node(first), node(second))
    }

    /// The newest write to each location that happens before what a thread does next: its place in modification order,
    /// and what it wrote.
    pub fn known(&self, process: ProcessId) -> Vec<(LocationId, u32, Value)> {
        let last = self.nodes.iter().rposition(|it| it.id.is_some_and(|id| id.process == process));
        let is_known = |write: Write| match (write, last) {
            (None, _) => true,
            (Some(_), None) => false,
            (write, Some(last)) => {
                let node = self.nodes.iter().position(|it| it.id == write).expect("it is an event");
                node == last || self.hb.has(node, last)
            }
        };
        let newest = |x: LocationId| {
            let writes: Vec<Write> = self.execution.all_writes(x).collect();
            let at = writes.iter().rposition(|&write| is_known(write)).unwrap_or(0);
            (x, u32::try_from(at).expect("fewer than 2^32 writes"), self.execution.written(x, writes[at]))
        };
        (0..self.execution.initial.len()).map(LocationId::from_usize).map(newest).collect()
    }
}

/// Initial writes first, then the events of each thread.
fn nodes(execution: &Execution) -> Vec<Node> {
    let initial = execution.initial.iter().enumerate().map(|(x, &value)| Node {
        id: None,
        act: Act::Write(LocationId::from_usize(x), value),
        order: Order::Plain,
    });
    let threads = execution.threads.iter().enumerate().flat_map(|(p, events)| {
        let id = move |place: usize| EventId {
            process: ProcessId::from_usize(p),
            place: u32::try_from(place).expect("fewer than 2^32 events"),
        };
        let node = move |(place, event): (usize, &super::Event)| Node {
            id: Some(id(place)),
            act: event.act.clone(),
            order: event.order,
        };
        events.iter().enumerate().map(node)
    });
    initial.chain(threads).collect()
}

/// The place of a write in modification order; the initial one is first.
fn place(execution: &Execution, x: LocationId, node: &Node) -> usize {
    let order = &execution.writes[x.index()];
    node.id.map_or(0, |id| 1 + order.iter().position(|&it| it == id).expect("it is a write to it"))
}

/// `sw`
fn synchronizes(nodes: &[Node], (po, rf): (&Relation, &Relation), sequence: ReleaseSequence) -> Relation {
    let n = nodes.len();
    let on = |is_member: &dyn Fn(&Node) -> bool| Relation::on(n, |a| is_member(&nodes[a]));
    let fences = on(&Node::is_fence);
    let released = on(&|it| it.order.releases() && (it.writes() || it.is_fence()));
    let acquired = on(&|it| it.order.acquires() && (it.reads() || it.is_fence()));
    let writes = on(&|it| it.writes() && it.is_atomic());
    let reads = on(&|it| it.reads() && it.is_atomic());
    let updates = on(&|it| it.reads() && it.writes());
    let start = match sequence {
        ReleaseSequence::Updates => writes,
        ReleaseSequence::OwnStores => {
            let is_same = |a: usize, b: usize| {
                nodes[a].act.location().is_some() && nodes[a].act.location() == nodes[b].act.location()
            };
            let own = po.clone().only(|a, b| is_same(a, b) && nodes[a].id.is_some());
            on(&Node::writes).then(&own.maybe()).then(&writes)
        }
    };
    let sequence = start.then(&rf.then(&updates).closure().maybe());
    let before = fences.then(po).maybe();
    let behind = po.then(&fences).maybe();
    released.then(&before).then(&sequence).then(rf).then(&reads).then(&behind).then(&acquired)
}
