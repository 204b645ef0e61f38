//! The execution graph of a run: what each access read, and in which order writes reached memory.
//!
//! ```text
//!   program order    what a process does, one after the other
//!   reads from       a write, and who reads what it wrote
//!   before           two writes to a location, as they reach memory
//!   reads before     who reads what a write overwrites, and that write
//! ```
//!
//! A graph is one of sequential consistency if and only if these four together have no cycle: then some order of all
//! accesses explains what everybody read.

use std::collections::{BTreeMap, VecDeque};

use crate::memory::{EventId, Internal, Origin};
use crate::program::{EdgeId, LocationId, Op, ProcessId, Program};
use crate::system::{Action, Block, Effect, Event, Executed, Local, Start, Touched, run_block};
use crate::util::Idx;

/// An execution graph.
#[derive(Clone, Debug)]
pub struct Graph {
    accesses: Vec<Access>,
    /// The writes to each location, in the order in which they reach memory.
    writes: BTreeMap<LocationId, Vec<usize>>,
}

/// What one step of a process does to memory.
#[derive(Clone, Debug)]
struct Access {
    process: ProcessId,
    /// The event of the run.
    event: usize,
    /// What it reads, and whose write that is; `None` is what was there at the start.
    reads: Vec<(LocationId, Option<usize>)>,
}

/// Why one access comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Their process does it first.
    Program,
    /// The other reads what it wrote here.
    ReadsFrom(LocationId),
    /// It writes here first.
    Before(LocationId),
    /// It reads here what the other overwrites.
    ReadsBefore(LocationId),
}

/// One access comes before another: events of the run, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The access that comes first.
    pub from: usize,
    /// The one that comes later.
    pub to: usize,
    /// Why.
    pub why: Why,
}

/// Accesses each of which comes before the next, the last before the first.
pub type Cycle = Vec<Link>;

impl Graph {
    /// The graph of the events of a run; `None` where memory is more than its store buffers. Stores that still wait at
    /// the end reach memory afterwards, in the order in which they were issued.
    pub fn of(program: &Program, start: &Start, events: &[Event]) -> Option<Self> {
        let graph = Self { accesses: Vec::new(), writes: BTreeMap::new() };
        let mut maker = Maker { program, graph, waiting: BTreeMap::new() };
        for (i, event) in events.iter().enumerate() {
            let before = match i.checked_sub(1) {
                Some(last) => (&events[last].registers, &events[last].memory),
                None => (&start.registers, &start.memory),
            };
            let block =
                || Block { registers: before.0[event.step.process].clone(), contents: before.1.as_slice().to_vec() };
            maker.add(i, event, &block)?;
        }
        let mut late: Vec<(LocationId, usize)> =
            maker.waiting.into_iter().flat_map(|((_, x), stores)| stores.into_iter().map(move |it| (x, it))).collect();
        late.sort_by_key(|&(_, store)| store);
        late.into_iter().for_each(|(x, store)| maker.graph.writes.entry(x).or_default().push(store));
        Some(maker.graph)
    }

    /// The same graph without fences, by the events of the run.
    pub fn of_execution(executed: &Executed) -> Self {
        let mut order: Vec<(usize, EventId)> = executed.numbers.iter().map(|(id, number)| (*number, *id)).collect();
        order.sort_unstable();
        order.retain(|(_, id)| executed.execution.event(*id).act.location().is_some());
        let number = |id: EventId| order.iter().position(|it| it.1 == id).expect("it is an access");
        let access = |&(event, id): &(usize, EventId)| {
            let act = &executed.execution.event(id).act;
            let reads = act.location().zip(act.source()).map(|(x, source)| (x, source.map(number)));
            Access { process: id.process, event, reads: reads.into_iter().collect() }
        };
        let writes = executed.execution.writes.iter().enumerate();
        let writes = writes.map(|(x, ids)| (LocationId::from_usize(x), ids.iter().copied().map(number).collect()));
        Self { accesses: order.iter().map(access).collect(), writes: writes.collect() }
    }

    /// A shortest cycle, if there is one: then the graph is none of sequential consistency.
    pub fn cycle(&self) -> Option<Cycle> {
        let next = self.links();
        let starts = 0..self.accesses.len();
        let shortest = starts.filter_map(|start| round(&next, start)).min_by_key(Vec::len)?;
        let event = |access: usize| self.accesses[access].event;
        Some(shortest.into_iter().map(|(from, to, why)| Link { from: event(from), to: event(to), why }).collect())
    }

    /// For each access those that come right after it, and why.
    fn links(&self) -> Vec<Vec<(usize, Why)>> {
        let mut next: Vec<Vec<(usize, Why)>> = vec![Vec::new(); self.accesses.len()];
        let mut last: BTreeMap<ProcessId, usize> = BTreeMap::new();
        for (i, access) in self.accesses.iter().enumerate() {
            if let Some(before) = last.insert(access.process, i) {
                next[before].push((i, Why::Program));
            }
            for &(x, source) in &access.reads {
                let writes = self.writes.get(&x).map_or(&[][..], |it| it);
                let place = source.map(|it| writes.iter().position(|&write| write == it).expect("it is written"));
                if let Some(source) = source {
                    next[source].push((i, Why::ReadsFrom(x)));
                }
                let over = writes.get(place.map_or(0, |it| it + 1)).filter(|&&write| write != i);
                next[i].extend(over.map(|&write| (write, Why::ReadsBefore(x))));
            }
        }
        for (&x, writes) in &self.writes {
            for pair in writes.windows(2) {
                next[pair[0]].push((pair[1], Why::Before(x)));
            }
        }
        next
    }
}

/// A shortest way from an access back to itself.
fn round(next: &[Vec<(usize, Why)>], start: usize) -> Option<Vec<(usize, usize, Why)>> {
    let mut came: Vec<Option<(usize, Why)>> = vec![None; next.len()];
    let mut todo = VecDeque::from([start]);
    while let Some(at) = todo.pop_front() {
        for &(to, why) in &next[at] {
            if came[to].is_none() {
                came[to] = Some((at, why));
                todo.push_back(to);
            }
        }
        if came[start].is_some() {
            break;
        }
    }
    let mut way = Vec::new();
    let mut at = start;
    loop {
        let (from, why) = came[at]?;
        way.push((from, at, why));
        at = from;
        if at == start {
            way.reverse();
            return Some(way);
        }
    }
}

struct Maker<'a> {
    program: &'a Program,
    graph: Graph,
    /// The stores of each process to each location that wait, oldest first.
    waiting: BTreeMap<(ProcessId, LocationId), VecDeque<usize>>,
}

impl Maker<'_> {
    fn add(&mut self, number: usize, event: &Event, before: &dyn Fn() -> Block) -> Option<()> {
        let (process, access) = (event.step.process, self.graph.accesses.len());
        match (event.effect, event.step.action) {
            (Effect::Load(.., Origin::Message(_)) | Effect::Store(.., Origin::Message(_)), _) => return None,
            (Effect::Load(x, _, Origin::Memory), _) => self.push(number, process, vec![(x, self.last(x))]),
            (Effect::Load(x, _, Origin::OwnBuffer), _) => {
                let newest = self.waiting.get(&(process, x)).and_then(VecDeque::back).copied();
                self.push(number, process, vec![(x, newest)]);
            }
            (Effect::Store(x, _, Origin::OwnBuffer), _) => {
                self.waiting.entry((process, x)).or_default().push_back(access);
                self.push(number, process, Vec::new());
            }
            (Effect::Store(x, _, Origin::Memory), _) => {
                self.push(number, process, Vec::new());
                self.write(x, access);
            }
            (Effect::Rmw(x, _, new), _) => {
                self.push(number, process, vec![(x, self.last(x))]);
                new.into_iter().for_each(|_| self.write(x, access));
            }
            (Effect::Locked, Action::Edge { edge, choice }) => {
                let touched = touched(self.program, edge, choice, before())?;
                self.push(number, process, touched.read.iter().map(|&x| (x, self.last(x))).collect());
                touched.written.iter().for_each(|&x| self.write(x, access));
            }
            (Effect::Arrived(..), Action::Internal(Internal::Arrives(x))) => {
                let store = self.waiting.get_mut(&(process, x)).and_then(VecDeque::pop_front)?;
                self.write(x, store);
            }
            (Effect::Local | Effect::Fence(_) | Effect::MarkerLeft, _) => {}
            (Effect::Faulted | Effect::Locked | Effect::Arrived(..), _) => return None,
        }
        Some(())
    }

    fn push(&mut self, event: usize, process: ProcessId, reads: Vec<(LocationId, Option<usize>)>) {
        self.graph.accesses.push(Access { process, event, reads });
    }

    fn last(&self, x: LocationId) -> Option<usize> {
        self.graph.writes.get(&x).and_then(|it| it.last()).copied()
    }

    fn write(&mut self, x: LocationId, access: usize) {
        self.graph.writes.entry(x).or_default().push(access);
    }
}

/// What a locked block touches on one of the ways through it.
fn touched(program: &Program, edge: EdgeId, choice: u32, before: Block) -> Option<Touched> {
    let local = Local::new(program, edge);
    let Op::Locked(body) = &local.edge.op else { return None };
    run_block(&local, body, Touched::from(before)).into_iter().nth(choice as usize)?.ok()
}
