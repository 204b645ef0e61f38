//! Happens-before along one run, by vector clocks.
//!
//! A clock says for each thread how many of its accesses to plain data are ordered before whoever has the clock. What
//! the watched program keeps in bits for all runs, this keeps in numbers for one; neither knows of the other.

use std::collections::BTreeMap;

use crate::engine::data_race::knowledge::{Access, fence_order};
use crate::program::{EdgeId, LocationId, Micro, Op, Order, ProcessId, Program, Value};
use crate::system::{Action, Block, Effect, Event, Local, Run, run_block};
use crate::util::{Idx, IndexVec};

type Clock = IndexVec<ProcessId, u32>;

/// An access to plain data that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub process: ProcessId,
    pub edge: EdgeId,
    pub access: Access,
    /// Which step of the run it was.
    pub event: usize,
    time: u32,
}

/// What a step does to a location.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Read,
    Write,
    /// Reads; and writes, or does not.
    Update(bool),
}

/// All clocks at a moment.
#[derive(Clone)]
pub(super) struct Clocks<'a> {
    program: &'a Program,
    threads: IndexVec<ProcessId, Clock>,
    /// What comes with the value of an atomic location.
    locations: IndexVec<LocationId, Clock>,
    released: IndexVec<ProcessId, Clock>,
    seen: IndexVec<ProcessId, Clock>,
    blocks: Clock,
    /// The last write, and each thread's last read.
    past: BTreeMap<(LocationId, Access, ProcessId), Past>,
    n_events: usize,
}

impl<'a> Clocks<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        let n = program.processes().len();
        let zero: Clock = IndexVec::filled(n, 0);
        let mut threads: IndexVec<ProcessId, Clock> = IndexVec::filled(n, zero.clone());
        // What a thread has done, others do not know at first.
        program.processes().indices().for_each(|p| threads[p][p] = 1);
        Self {
            program,
            threads,
            locations: IndexVec::filled(program.locations().len(), zero.clone()),
            released: IndexVec::filled(n, zero.clone()),
            seen: IndexVec::filled(n, zero.clone()),
            blocks: zero,
            past: BTreeMap::new(),
            n_events: 0,
        }
    }

    /// The clocks at the end of a run.
    pub(super) fn after(program: &'a Program, run: &Run) -> Self {
        let mut clocks = Self::new(program);
        for (i, event) in run.events.iter().enumerate() {
            let before = i.checked_sub(1).map(|before| &run.events[before]);
            let registers = before.map_or(&run.trace.start.registers, |it| &it.registers);
            let memory = before.map_or(&run.trace.start.memory, |it| &it.memory);
            let p = event.step.process;
            let start = Block { registers: registers[p].clone(), contents: memory.as_slice().to_vec() };
            if let Action::Edge { edge, choice } = event.step.action {
                let acts = acts(program, event, edge, choice, start);
                clocks.step(edge, &acts);
            }
            clocks.n_events += 1;
        }
        clocks
    }

    /// Does a step; the first access that one of its own is not ordered behind.
    pub(super) fn step(&mut self, edge: EdgeId, acts: &[(LocationId, Act)]) -> Option<(LocationId, Access, Past)> {
        let it = &self.program.edges()[edge];
        let p = it.process;
        let is_block = matches!(it.op, Op::Locked(_));
        if is_block {
            join(&mut self.threads[p], &self.blocks);
        }
        if let Some(order) = fence_order(&it.op, it.order) {
            self.fence(p, order);
        }
        let order = if is_block { Order::default() } else { it.order };
        let mut found = None;
        for &(x, act) in acts {
            if self.program.plain().contains(&x) {
                let access = if matches!(act, Act::Read) { Access::Read } else { Access::Write };
                found = found.or(self.raced(p, x, access).map(|past| (x, access, past)));
                self.happens(p, x, access, edge);
            } else {
                self.synchronizes(p, x, act, order);
            }
        }
        if is_block {
            join(&mut self.blocks, &self.threads[p]);
            self.threads[p][p] += 1;
        }
        found
    }

    fn fence(&mut self, p: ProcessId, order: Order) {
        if order.acquires() {
            join(&mut self.threads[p], &self.seen[p]);
        }
        if order.releases() {
            self.released[p] = self.threads[p].clone();
            self.threads[p][p] += 1;
        }
    }

    fn synchronizes(&mut self, p: ProcessId, x: LocationId, act: Act, order: Order) {
        let (reads, writes) = match act {
            Act::Read => (true, false),
            Act::Write => (false, true),
            Act::Update(writes) => (true, writes),
        };
        if reads {
            let into = if order.acquires() { &mut self.threads[p] } else { &mut self.seen[p] };
            join(into, &self.locations[x]);
        }
        if writes {
            let told = if order.releases() { &self.threads[p] } else { &self.released[p] };
            match reads {
                true => join(&mut self.locations[x], told),
                false => self.locations[x].clone_from(told),
            }
            self.threads[p][p] += 1;
        }
    }

    /// The last access that one is not ordered behind.
    fn raced(&self, p: ProcessId, x: LocationId, access: Access) -> Option<Past> {
        let conflicts = |past: &&Past| past.access == Access::Write || access == Access::Write;
        let unordered = |past: &&Past| past.process != p && past.time > self.threads[p][past.process];
        let all = self.past.range((x, Access::Read, ProcessId::from_usize(0))..).take_while(|it| it.0.0 == x);
        all.map(|it| it.1).filter(conflicts).filter(unordered).max_by_key(|past| past.event).copied()
    }

    fn happens(&mut self, p: ProcessId, x: LocationId, access: Access, edge: EdgeId) {
        let past = Past { process: p, edge, access, event: self.n_events, time: self.threads[p][p] };
        self.past.insert((x, access, p), past);
    }
}

fn join(into: &mut Clock, from: &Clock) {
    into.iter_mut().zip(from).for_each(|(a, &b)| *a = (*a).max(b));
}

/// What a step of a run did to which locations, in order.
fn acts(program: &Program, event: &Event, edge: EdgeId, choice: u32, start: Block) -> Vec<(LocationId, Act)> {
    match event.effect {
        Effect::Load(x, ..) => vec![(x, Act::Read)],
        Effect::Store(x, ..) => vec![(x, Act::Write)],
        Effect::Rmw(x, _, new) => vec![(x, Act::Update(new.is_some()))],
        Effect::Locked => ways(program, edge, start).into_iter().nth(choice as usize).unwrap_or_default(),
        Effect::Local | Effect::Fence(_) | Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => Vec::new(),
    }
}

/// What an edge may do to which locations: each of its ways, in the order of the semantics.
pub(super) fn ways(program: &Program, edge: EdgeId, start: Block) -> Vec<Vec<(LocationId, Act)>> {
    let local = Local::new(program, edge);
    let body = match &program.edges()[edge].op {
        Op::Locked(body) => body.clone(),
        Op::Load(register, place) => vec![Micro::Load(*register, place.clone())],
        Op::Store(place, value) => vec![Micro::Store(place.clone(), value.clone())],
        Op::Rmw { .. } | Op::Fence(_) | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Vec::new(),
    };
    let mut way = vec![(Some(start), Vec::new())];
    follow(&local, &body, &mut way);
    way.into_iter().map(|it| it.1).collect()
}

/// A way through a block so far; what went wrong goes no further.
type Way = (Option<Block>, Vec<(LocationId, Act)>);

fn follow(local: &Local<'_>, body: &[Micro], all: &mut Vec<Way>) {
    for micro in body {
        let mut next = Vec::new();
        for (block, acts) in all.drain(..) {
            let Some(block) = block else {
                next.push((None, acts));
                continue;
            };
            if let Micro::Choose(branches) = micro {
                for branch in branches {
                    let mut inside = vec![(Some(block.clone()), acts.clone())];
                    follow(local, branch, &mut inside);
                    next.extend(inside);
                }
                continue;
            }
            let done = act_of(local, micro, &block.registers);
            let acts: Vec<_> = acts.into_iter().chain(done).collect();
            let ends = run_block(local, std::slice::from_ref(micro), block);
            next.extend(ends.into_iter().map(|end| (end.ok(), acts.clone())));
        }
        *all = next;
    }
}

fn act_of(local: &Local<'_>, micro: &Micro, registers: &[Value]) -> Option<(LocationId, Act)> {
    let (place, act) = match micro {
        Micro::Load(_, place) => (place, Act::Read),
        Micro::Store(place, _) => (place, Act::Write),
        Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Choose(_) => return None,
    };
    local.resolve(place, registers).ok().map(|x| (x, act))
}
