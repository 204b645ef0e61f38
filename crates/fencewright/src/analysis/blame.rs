//! Which reordering did the damage.
//!
//! Shasha, Snir, _Efficient and correct execution of parallel programs that share memory_, TOPLAS 1988: the loads of a
//! run can be explained under sequential consistency exactly if program order and the order of conflicting accesses
//! have no cycle. A cycle must go, somewhere, from an access back to an earlier store of the same process that took
//! effect later. That pair is what we name. Stores still in a buffer at the end reach memory later, in any order.
//!
//! An invariant looks at memory when the run ends, which is one more access, and each process that it looks at is where
//! it is before that.
//!
//! Departure: a locked block counts as reading every location that it may read, so in its company a cycle may be found
//! where there is none. The other way round is exact: without a cycle the run is possible under SC.

use std::collections::{BTreeMap, VecDeque};

use crate::memory::{Internal, Origin, Shown};
use crate::program::{EdgeId, LocationId, Micro, Op, Program, PropertyKind, Value};
use crate::system::{Action, Effect, Event, Local, Run, Violation};
use crate::util::Idx;

/// Of a longer run only the end is looked at, so that no run keeps anyone waiting.
const MAX_ACCESSES: usize = 2_000;

/// What explains a bad run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// An access took effect before an earlier store of its process, and others could tell.
    Overtaking(Overtaking),
    /// The store of this event had not reached memory when a property looked at it, although its process was beyond it.
    Unseen(usize),
    /// The same loads are possible without any reordering.
    Nobody {
        /// Whether stores were delayed at all.
        has_delays: bool,
    },
    /// A model with views: this load, if one is known, found a message that was not the last.
    Stale(Option<usize>),
    /// The run is too long to tell.
    Unexamined,
}

/// An access that took effect before an earlier store of its process. Events are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaking {
    /// The event of the store that was delayed.
    pub store: usize,
    /// The event of the access that overtook it: a load, a store or an atomic update.
    pub access: usize,
    /// When that took effect: for a store, the event of its flush.
    pub effect: usize,
}

/// What explains a bad run.
pub fn blame(program: &Program, run: &Run) -> Blame {
    let program = run.program(program);
    if run.events.iter().flat_map(|event| &event.shown).any(|own| matches!(own, Shown::View(_))) {
        return Blame::Stale(run.events.iter().position(is_stale));
    }
    let nodes = accesses(program, run);
    let has_delays = (0..nodes.len()).any(|late| !overtaken(&nodes, late).is_empty());
    // Only if what happened needs no reordering does it matter what would have happened next.
    let orders = [Unflushed::Unordered, Unflushed::ByProcess];
    let found = orders.into_iter().find_map(|unflushed| Graph::new(&nodes, run.events.len(), unflushed).overtaking());
    match found {
        Some(overtaking) if overtaking.access >= run.events.len() => Blame::Unseen(overtaking.store),
        Some(overtaking) => Blame::Overtaking(overtaking),
        None if nodes.len() > MAX_ACCESSES => Blame::Unexamined,
        None => Blame::Nobody { has_delays },
    }
}

/// Whether a load found a message although there was one behind it with another value.
fn is_stale(event: &Event) -> bool {
    matches!(event.effect, Effect::Load(x, value, Origin::Message(_)) if event.memory[x] != value)
}

/// An access to memory.
#[derive(Clone, Debug)]
struct Node {
    event: usize,
    process: usize,
    /// When it takes effect; beyond the last event for a store that is still in a buffer at the end.
    time: usize,
    reads: Vec<LocationId>,
    writes: Vec<LocationId>,
    /// The node whose store it found in its own buffer.
    own_store: Option<usize>,
}

/// In which order stores that are still in a buffer at the end will reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unflushed {
    /// Nothing is assumed.
    Unordered,
    /// Process by process.
    ByProcess,
}

/// Accesses with program order, which costs nothing to follow, and the order of conflicting accesses.
struct Graph<'a> {
    /// In the order of the events, hence in program order for each process.
    nodes: &'a [Node],
    edges: Vec<Vec<Arc>>,
}

#[derive(Clone, Copy)]
struct Arc {
    to: usize,
    cost: usize,
}

impl<'a> Graph<'a> {
    fn new(nodes: &'a [Node], n_events: usize, unflushed: Unflushed) -> Self {
        let mut graph = Self { edges: vec![Vec::new(); nodes.len()], nodes };
        graph.add_program_order();
        graph.add_look(n_events);
        graph.add_conflicts(|a, b| {
            let are_open = nodes[a].time > n_events && nodes[b].time > n_events;
            unflushed == Unflushed::ByProcess || !are_open
        });
        graph
    }

    /// Who is looked at is where it is before somebody looks.
    fn add_look(&mut self, n_events: usize) {
        let Some(look) = self.nodes.len().checked_sub(1) else { return };
        for i in (0..look).filter(|&i| self.nodes[i].event >= n_events) {
            self.edges[i].push(Arc { to: look, cost: 1 });
        }
    }

    fn add_program_order(&mut self) {
        let mut last = BTreeMap::new();
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(previous) = last.insert(node.process, i) {
                self.edges[previous].push(Arc { to: i, cost: 0 });
            }
        }
    }

    /// For each location: writes in the order in which they take effect, each read after the write it sees and before
    /// the later ones.
    fn add_conflicts(&mut self, is_ordered: impl Fn(usize, usize) -> bool) {
        let mut writes: BTreeMap<LocationId, Vec<usize>> = BTreeMap::new();
        for (i, node) in self.nodes.iter().enumerate() {
            node.writes.iter().for_each(|&x| writes.entry(x).or_default().push(i));
        }
        for order in writes.values_mut() {
            order.sort_by_key(|&i| self.nodes[i].time);
            for (n, &write) in order.iter().enumerate() {
                self.before_all(write, write, &order[n + 1..], &is_ordered);
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            for x in &node.reads {
                let order = writes.get(x).map_or(&[][..], Vec::as_slice);
                // What it sees took effect before it, or waits in its own buffer.
                let seen_until = node.own_store.map_or(node.time, |store| self.nodes[store].time + 1);
                let n_seen = order.partition_point(|&write| self.nodes[write].time < seen_until);
                if let (Some(&seen), None) = (order[..n_seen].last(), node.own_store) {
                    self.edges[seen].push(Arc { to: i, cost: 1 });
                }
                self.before_all(i, node.own_store.unwrap_or(i), &order[n_seen..], &is_ordered);
            }
        }
    }

    /// One access comes before these writes, as far as `like` is ordered before them; the first that is settled stands
    /// for those after it.
    fn before_all(&mut self, access: usize, like: usize, writes: &[usize], is_ordered: impl Fn(usize, usize) -> bool) {
        let mut previous = None;
        for &write in writes.iter().filter(|&&write| write != access) {
            let is_implied = previous.is_some_and(|it| is_ordered(it, write));
            if is_implied {
                return;
            }
            if is_ordered(like, write) {
                self.edges[access].push(Arc { to: write, cost: 1 });
                previous = Some(write);
            }
        }
    }

    /// The access and the delayed store with the shortest way back from the one to the other.
    fn overtaking(&self) -> Option<Overtaking> {
        let mut best: Option<(usize, Overtaking)> = None;
        for late in self.nodes.len().saturating_sub(MAX_ACCESSES)..self.nodes.len() {
            let access = &self.nodes[late];
            let delayed = overtaken(self.nodes, late);
            let distances = if delayed.is_empty() { Vec::new() } else { self.distances(late) };
            // Program order costs nothing, so of equals the last access and the first store are where the way leaves
            // the process and comes back.
            for early in delayed.into_iter().rev() {
                let Some(distance) = distances[early] else { continue };
                if best.is_none_or(|(least, _)| distance <= least) {
                    let store = self.nodes[early].event;
                    best = Some((distance, Overtaking { store, access: access.event, effect: access.time }));
                }
            }
        }
        best.map(|it| it.1)
    }

    /// How many conflicts lead from one access to each other.
    fn distances(&self, from: usize) -> Vec<Option<usize>> {
        let mut distances: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((i, distance)) = queue.pop_front() {
            if distances[i].is_some() {
                continue;
            }
            distances[i] = Some(distance);
            for arc in &self.edges[i] {
                match arc.cost {
                    0 => queue.push_front((arc.to, distance)),
                    cost => queue.push_back((arc.to, distance + cost)),
                }
            }
        }
        distances
    }
}

/// The earlier stores of the same process that take effect later than an access.
fn overtaken(nodes: &[Node], late: usize) -> Vec<usize> {
    let access = &nodes[late];
    let is_overtaken = |early: &usize| nodes[*early].process == access.process && nodes[*early].time > access.time;
    (0..late).filter(is_overtaken).collect()
}

/// The accesses of a run, each with the time when it takes effect.
fn accesses(program: &Program, run: &Run) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    // Stores in buffers, oldest first, for each process and location.
    let mut waiting: BTreeMap<(usize, LocationId), VecDeque<usize>> = BTreeMap::new();
    for (i, event) in run.events.iter().enumerate() {
        let process = event.step.process.index();
        if let (Action::Internal(Internal::Arrives(x)), Effect::Arrived(..)) = (event.step.action, event.effect) {
            let store = waiting.get_mut(&(process, x)).and_then(VecDeque::pop_front);
            nodes[store.expect("what leaves a buffer was put there")].time = i;
            continue;
        }
        let Some((reads, writes)) = touched(program, run, i) else { continue };
        let own = reads.first().and_then(|&x| waiting.get(&(process, x))?.back().copied());
        if let Effect::Store(x, _, Origin::OwnBuffer) = event.effect {
            waiting.entry((process, x)).or_default().push_back(nodes.len());
        }
        nodes.push(Node { event: i, process, time: i, reads, writes, own_store: own });
    }
    let end = run.events.len();
    for (late, &store) in waiting.values().flatten().enumerate() {
        nodes[store].time = end + 1 + late;
    }
    nodes.extend(look(program, run));
    nodes
}

/// What an invariant looks at: each process that it looks at is where it is, and then, last, memory holds what it does.
fn look(program: &Program, run: &Run) -> Vec<Node> {
    let Violation::Property(id) = run.trace.violation else { return Vec::new() };
    let property = &program.properties()[id];
    let situation = run.situation.filter(|_| property.kind == PropertyKind::Invariant);
    let Some((processes, locations)) = situation.map(|it| property.situations[it].observed()) else {
        return Vec::new();
    };
    let (event, time) = (run.events.len(), run.events.len());
    let node = |process, reads| Node { event, process, time, reads, writes: Vec::new(), own_store: None };
    let there = processes.into_iter().map(|process| node(process.index(), Vec::new()));
    let look = node(program.processes().len(), locations.into_iter().collect());
    there.chain([look]).collect()
}

/// What an event reads and writes, now or when it leaves the buffer.
fn touched(program: &Program, run: &Run, i: usize) -> Option<(Vec<LocationId>, Vec<LocationId>)> {
    let event = &run.events[i];
    match event.effect {
        Effect::Local | Effect::Fence(_) | Effect::Arrived(..) | Effect::MarkerLeft => None,
        Effect::Load(x, ..) => Some((vec![x], Vec::new())),
        Effect::Store(x, ..) => Some((Vec::new(), vec![x])),
        Effect::Rmw(x, _, new) => Some((vec![x], new.map(|_| x).into_iter().collect())),
        Effect::Locked => {
            let before = if i == 0 { &run.trace.start.memory } else { &run.events[i - 1].memory };
            let is_changed = |x: &LocationId| before[*x] != event.memory[*x];
            Some((read_by(program, event), event.memory.indices().filter(is_changed).collect()))
        }
        Effect::Faulted => Some((read_by(program, event), Vec::new())),
    }
}

/// The locations that the operation of an event reads or, for a locked block, may read.
fn read_by(program: &Program, event: &Event) -> Vec<LocationId> {
    let Action::Edge { edge, .. } = event.step.action else { return Vec::new() };
    match &program.edges()[edge].op {
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Store(..) | Op::Fence(_) => Vec::new(),
        Op::Load(_, place) | Op::Rmw { place, .. } => {
            let registers: &[Value] = &event.registers[event.step.process];
            Local::new(program, edge).resolve(place, registers).ok().into_iter().collect()
        }
        Op::Locked(body) => {
            let mut all = Vec::new();
            body.iter().for_each(|micro| read_by_micro(program, micro, &mut all));
            all
        }
    }
}

fn read_by_micro(program: &Program, micro: &Micro, all: &mut Vec<LocationId>) {
    match micro {
        Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Store(..) => {}
        Micro::Load(_, place) => all.extend(program.locations_of(place)),
        Micro::Choose(branches) => {
            branches.iter().flatten().for_each(|micro| read_by_micro(program, micro, all));
        }
    }
}

impl Overtaking {
    /// One sentence for people.
    pub fn sentence(&self, program: &Program, run: &Run) -> String {
        let program = run.program(program);
        let line = |i: usize| {
            let edge = edge_of(&run.events[i]).expect("an access belongs to an edge");
            program.source().line_name(program.edges()[edge].span)
        };
        let event = &run.events[self.access];
        let process = &program.processes()[event.step.process].name;
        let Effect::Store(delayed, _, Origin::OwnBuffer) = run.events[self.store].effect else {
            unreachable!("only a buffered store is delayed")
        };
        let name = |x: LocationId| format!("{} ({})", program.locations()[x].name, line(self.access));
        let store = format!("its store to {} ({})", program.locations()[delayed].name, line(self.store));
        match event.effect {
            Effect::Load(x, _, Origin::OwnBuffer) if x == delayed => {
                format!("{process} loaded {} from {store} before that reached memory: others saw it later.", name(x))
            }
            Effect::Load(x, ..) => {
                let x = name(x);
                format!("{process} loaded {x} while {store} was still in its buffer: the load overtook the store.")
            }
            Effect::Store(x, _, Origin::OwnBuffer) => {
                let x = name(x);
                format!(
                    "{process}'s store to {x} reached memory before {store}: the later store overtook the earlier one."
                )
            }
            Effect::Rmw(x, ..) => {
                let x = name(x);
                format!("{process} updated {x} while {store} was still in its buffer: the update overtook the store.")
            }
            Effect::Local | Effect::Store(..) | Effect::Fence(_) | Effect::Locked | Effect::Arrived(..) => {
                unreachable!("it never takes effect before an earlier store")
            }
            Effect::MarkerLeft => unreachable!("a marker is no access"),
            Effect::Faulted => {
                let at = line(self.access);
                format!("{process} went on ({at}) while {store} was still in its buffer.")
            }
        }
    }
}

impl Blame {
    /// One sentence for people.
    pub fn sentence(&self, program: &Program, run: &Run) -> String {
        let program = run.program(program);
        match self {
            Self::Overtaking(overtaking) => overtaking.sentence(program, run),
            Self::Unseen(store) => {
                let event = &run.events[*store];
                let process = &program.processes()[event.step.process].name;
                let line = edge_of(event).map(|edge| program.source().line_name(program.edges()[edge].span));
                let at = line.map_or(String::new(), |line| format!(" ({line})"));
                let Effect::Store(x, ..) = event.effect else { unreachable!("only a store is delayed") };
                let x = &program.locations()[x].name;
                format!("{process} had gone on while its store to {x}{at} was still in its buffer.")
            }
            Self::Stale(Some(load)) => stale(program, run, *load),
            Self::Stale(None) => "What each thread knew of memory is shown beside its steps.".to_owned(),
            Self::Unexamined => "The run is too long to say which reordering did the damage.".to_owned(),
            Self::Nobody { has_delays: false } => {
                "No store was delayed: this run is possible under sequential consistency; fences cannot help."
                    .to_owned()
            }
            Self::Nobody { has_delays: true } => "The delayed stores do no harm: what was loaded is possible under \
                                                  sequential consistency; fences cannot help."
                .to_owned(),
        }
    }
}

/// What is said of a load that found an older message: which newer one there was, and that nothing told of it.
fn stale(program: &Program, run: &Run, load: usize) -> String {
    let name = |event: &Event| &program.processes()[event.step.process].name;
    let at = |event: &Event| {
        let line = edge_of(event).map(|edge| program.source().line_name(program.edges()[edge].span));
        line.map_or(String::new(), |line| format!(" ({line})"))
    };
    let event = &run.events[load];
    let newer = match event.effect {
        Effect::Load(x, ..) | Effect::Rmw(x, _, None) => run.events[..load].iter().rev().find_map(|it| {
            // What a location holds is its last message.
            let (Effect::Store(y, value, _) | Effect::Rmw(y, _, Some(value))) = it.effect else { return None };
            (y == x && value == event.memory[x]).then(|| {
                let x = &program.locations()[x].name;
                format!("{}'s {x} = {value}{}", name(it), at(it))
            })
        }),
        Effect::Store(..) | Effect::Rmw(..) | Effect::Local | Effect::Fence(_) | Effect::Locked => None,
        Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => None,
    };
    let newer = newer.unwrap_or_else(|| "the newer one".to_owned());
    format!("{} read an older message{}: nothing it had read told it of {newer}.", name(event), at(event))
}

/// The edge that an event belongs to; a flush belongs to none.
pub(crate) fn edge_of(event: &Event) -> Option<EdgeId> {
    match event.step.action {
        Action::Edge { edge, .. } => Some(edge),
        Action::Fence(position) => Some(position.edge),
        Action::Internal(Internal::Arrives(_) | Internal::Marker) => None,
    }
}
