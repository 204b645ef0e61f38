//! What a bad run says about all fence sets.
//!
//! `docs/fences.md`, "Why the answer is right". A pair of a store and a later access of the same process is
//! *reordered* in a run if the access took effect first: a load that read memory, or a store of its own buffer that
//! reached memory, before the store did; a store that reached memory earlier; an atomic update while the store waited.
//! A fence between the two would have stopped the run, and if a set has no such fence, the run can be adapted to it:
//! keep the times at which stores reach memory, and delay what follows a fence until the stores before it are there.
//! So a set is correct only if it hits the clause of every bad run, whatever set that run was found with.
//!
//! Stores still waiting at the end reach memory afterwards, in program order.
//!
//! An invariant looks at memory at the end of its run. That is as if an observer touched the locations it looks at, and
//! as if each process that it looks at had read there, right before, that nobody has looked yet
//! ([`Program::with_observer`]): a fence before the place where it is would have stopped the run if a store to such a
//! location still waits.
//!
//! Engines let stores wait longer than they have to, and every needless delay would add to the clause. So each store is
//! first taken to reach memory as early as it can with the same values loaded: right after it is issued, after what the
//! process flushed before it, and after the last time that another process touched the location before it did.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Candidate, CandidateId};
use crate::memory::{Internal, Origin};
use crate::program::{EdgeId, FenceKind, LocationId, Op, Position, ProcessId, Program, PropertyKind, Side};
use crate::system::{Action, Effect, Event, Local, Run, Violation};
use crate::util::IndexVec;

/// For each candidate that would have stopped the run, the weakest kind that does.
pub type Elements = BTreeMap<CandidateId, FenceKind>;

/// What the candidates are, as far as clauses care.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// The candidates that may lay a fence at a position, how strong they are then at least, and the strongest fence
    /// that lies there.
    pub candidates: BTreeMap<Position, Vec<(CandidateId, FenceKind, FenceKind)>>,
    /// The kinds of fences that may be used.
    pub kinds: Vec<FenceKind>,
}

/// The clause of a run.
///
/// A run of an instance counts against every set for the program that leaves the number of threads open: what lies over
/// that program lies over each instance.
pub(super) fn clause(program: &Program, choices: &Choices, run: &Run) -> Elements {
    let program = run.program(program);
    let mut elements = Elements::new();
    let origin = |it: &Position| Position { edge: run.origin(it.edge), ..*it };
    let add = |choices: &Choices, positions: &[Position], kind, elements: &mut Elements| {
        let positions: Vec<Position> = positions.iter().map(origin).collect();
        add(choices, &positions, kind, elements);
    };
    let look = Look::of(program, run);
    for process in program.processes().indices() {
        let path = path(program, run, process, &look);
        for (i, visit) in path.iter().enumerate() {
            let Role::Store(time) = visit.role else { continue };
            if time >= run.events.len() && look.processes.contains(&process) {
                let rest = sides(&path[i..]).skip(1).collect::<Vec<_>>();
                add(choices, &rest, FenceKind::Full, &mut elements);
            }
            let overtakes = |late: &&Visit| late.overtakes(time).is_some();
            let is_stopped_by_weak = |late: &&Visit| late.overtakes(time) == Some(FenceKind::StoreStore);
            let last = |test: &dyn Fn(&&Visit) -> bool| (i + 1..path.len()).rev().find(|&late| test(&&path[late]));
            for (kind, late) in
                [(FenceKind::Full, last(&overtakes)), (FenceKind::StoreStore, last(&is_stopped_by_weak))]
            {
                let positions = late.map(|late| between(&path[i..=late])).unwrap_or_default();
                add(choices, &positions, kind, &mut elements);
            }
        }
    }
    elements
}

/// The loads that took effect before an earlier store of the same process by one of these edges reached memory.
pub(super) fn overtaking(program: &Program, run: &Run, stores: &BTreeSet<EdgeId>) -> BTreeSet<EdgeId> {
    let look = Look::of(program, run);
    let mut found = BTreeSet::new();
    for process in program.processes().indices() {
        let path = path(program, run, process, &look);
        for (i, visit) in path.iter().enumerate().filter(|(_, visit)| stores.contains(&visit.edge)) {
            let Role::Store(time) = visit.role else { continue };
            let late = path[i + 1..].iter().filter(|late| late.overtakes(time) == Some(FenceKind::Full));
            found.extend(late.map(|late| late.edge));
        }
    }
    found
}

/// Notes that a fence of this kind, or a stronger one, at one of these positions would have stopped the run.
fn add(choices: &Choices, positions: &[Position], kind: FenceKind, elements: &mut Elements) {
    for &(candidate, from, most) in positions.iter().filter_map(|it| choices.candidates.get(it)).flatten() {
        let suffices = |&&allowed: &&FenceKind| allowed >= kind.max(from) && most >= kind;
        let Some(&weakest) = choices.kinds.iter().filter(suffices).min() else { continue };
        let known = elements.entry(candidate).or_insert(weakest);
        *known = (*known).min(weakest);
    }
}

/// The positions strictly between the first and the last operation.
fn between(path: &[Visit]) -> Vec<Position> {
    let mut positions: Vec<_> = sides(path).skip(1).collect();
    positions.pop();
    positions
}

/// Both sides of each operation.
fn sides(path: &[Visit]) -> impl Iterator<Item = Position> + '_ {
    path.iter().flat_map(|visit| [Side::Before, Side::After].map(|side| Position { edge: visit.edge, side }))
}

/// What an invariant looks at in the end, if the run violates one.
#[derive(Clone, Debug, Default)]
struct Look {
    processes: BTreeSet<ProcessId>,
    locations: BTreeSet<LocationId>,
}

impl Look {
    fn of(program: &Program, run: &Run) -> Self {
        let Violation::Property(id) = run.trace.violation else { return Self::default() };
        let property = &program.properties()[id];
        let situation = run.situation.filter(|_| property.kind == PropertyKind::Invariant);
        let (processes, locations) = situation.map(|it| property.situations[it].observed()).unwrap_or_default();
        Self { processes, locations }
    }
}

/// An operation that a process executed in the run.
#[derive(Clone, Copy, Debug)]
struct Visit {
    edge: EdgeId,
    role: Role,
}

/// What an operation does to memory, and when it takes effect.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// A store that reaches memory then.
    Store(usize),
    /// A load that sees memory as it was then.
    Load(usize),
    /// An atomic update.
    Rmw(usize),
    /// Nothing that fences order, or nothing that could come too early.
    Other,
}

impl Visit {
    /// The weakest kind of fence that forbids this to take effect before an earlier store that reaches memory at the
    /// given time; `None` if it takes effect later anyway.
    fn overtakes(&self, store: usize) -> Option<FenceKind> {
        match self.role {
            Role::Store(time) | Role::Rmw(time) => (store > time).then_some(FenceKind::StoreStore),
            Role::Load(time) => (store > time).then_some(FenceKind::Full),
            Role::Other => None,
        }
    }
}

/// What a process executed, in program order.
fn path(program: &Program, run: &Run, process: ProcessId, look: &Look) -> Vec<Visit> {
    let mut path: Vec<Visit> = Vec::new();
    let mut stores: Vec<Store> = Vec::new();
    // Stores in the buffer, oldest first; and loads that were served from it, with the store they saw.
    let mut waiting: BTreeMap<LocationId, VecDeque<usize>> = BTreeMap::new();
    let mut forwarded: Vec<(usize, usize)> = Vec::new();
    let events = run.events.iter().enumerate().filter(|(_, event)| event.step.process == process);
    for (now, event) in events {
        let edge = match event.step.action {
            Action::Edge { edge, .. } => edge,
            Action::Internal(Internal::Arrives(x)) => {
                let store = waiting.get_mut(&x).and_then(VecDeque::pop_front);
                stores[store.expect("what leaves a buffer was put there")].flushed = now;
                continue;
            }
            Action::Internal(Internal::Marker) | Action::Fence(_) => continue,
        };
        let role = match accessed(program, event, edge) {
            Access::Store(x) => {
                waiting.entry(x).or_default().push_back(stores.len());
                // Until it is known better: after the end, in program order.
                stores.push(Store { visit: path.len(), location: x, issued: now, flushed: run.events.len() + now });
                Role::Other
            }
            Access::Load(x) => {
                forwarded.extend(waiting.get(&x).and_then(VecDeque::back).map(|&store| (path.len(), store)));
                Role::Load(now)
            }
            Access::Rmw => Role::Rmw(now),
            Access::Nothing => Role::Other,
        };
        path.push(Visit { edge, role });
    }
    let times = earliest(run, process, &stores, look);
    for (store, &time) in stores.iter().zip(&times) {
        path[store.visit].role = Role::Store(time);
    }
    for (load, store) in forwarded {
        path[load].role = Role::Load(times[store]);
    }
    path
}

/// A store of a process, and when it was issued and flushed.
#[derive(Clone, Copy, Debug)]
struct Store {
    visit: usize,
    location: LocationId,
    issued: usize,
    flushed: usize,
}

/// For each store the event right after which it may reach memory at the earliest. The stores of a process keep their
/// order, or become simultaneous, which is as good as program order.
fn earliest(run: &Run, process: ProcessId, stores: &[Store], look: &Look) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stores.len()).collect();
    order.sort_by_key(|&i| stores[i].flushed);
    let mut times = vec![0; stores.len()];
    let mut previous = 0;
    for i in order {
        let Store { location, issued, flushed, .. } = stores[i];
        let mut events = (issued..flushed.min(run.events.len())).rev();
        let touched = events.find(|&event| is_touched(&run.events[event], process, location));
        previous = previous.max(issued).max(touched.unwrap_or(0));
        if flushed >= run.events.len() && look.locations.contains(&location) {
            previous = previous.max(run.events.len());
        }
        times[i] = previous;
    }
    times
}

/// Whether another process reads or writes a location in memory, or may do so.
fn is_touched(event: &Event, process: ProcessId, location: LocationId) -> bool {
    let is_touched = match event.effect {
        Effect::Load(x, _, Origin::Memory | Origin::Message(_)) => x == location,
        Effect::Store(x, _, Origin::Memory | Origin::Message(_)) | Effect::Rmw(x, ..) => x == location,
        Effect::Arrived(x, _) => x == location,
        Effect::Locked | Effect::Faulted => true,
        Effect::Local | Effect::Store(.., Origin::OwnBuffer) | Effect::Fence(_) | Effect::MarkerLeft => false,
        // It sees its own store, whatever is in memory.
        Effect::Load(_, _, Origin::OwnBuffer) => false,
    };
    is_touched && event.step.process != process
}

/// What an event reads or writes.
enum Access {
    Store(LocationId),
    Load(LocationId),
    Rmw,
    Nothing,
}

fn accessed(program: &Program, event: &Event, edge: EdgeId) -> Access {
    match event.effect {
        Effect::Store(x, _, Origin::OwnBuffer) => Access::Store(x),
        Effect::Load(x, ..) => Access::Load(x),
        Effect::Rmw(..) => Access::Rmw,
        // Without buffers nothing is early, and a locked block waits for them.
        Effect::Store(..) | Effect::Locked => Access::Nothing,
        Effect::Local | Effect::Fence(_) | Effect::Arrived(..) | Effect::MarkerLeft => Access::Nothing,
        Effect::Faulted => faulted(program, event, edge),
    }
}

/// What an operation read before it went wrong.
fn faulted(program: &Program, event: &Event, edge: EdgeId) -> Access {
    let registers = &event.registers[event.step.process];
    let resolve = |place| Local::new(program, edge).resolve(place, registers).ok();
    match &program.edges()[edge].op {
        Op::Load(_, place) => resolve(place).map_or(Access::Nothing, Access::Load),
        Op::Rmw { place, .. } => resolve(place).map_or(Access::Nothing, |_| Access::Rmw),
        Op::Store(..) | Op::Fence(_) | Op::Locked(_) => Access::Nothing,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Access::Nothing,
    }
}

/// The candidates of each position.
pub(super) fn choices(candidates: &IndexVec<CandidateId, Candidate>, kinds: &[FenceKind]) -> Choices {
    let mut of_position: BTreeMap<Position, Vec<_>> = BTreeMap::new();
    for (id, candidate) in candidates.iter_enumerated() {
        for (position, from, most) in candidate.reaches() {
            of_position.entry(position).or_default().push((id, from, most));
        }
    }
    Choices { candidates: of_position, kinds: kinds.to_vec() }
}
