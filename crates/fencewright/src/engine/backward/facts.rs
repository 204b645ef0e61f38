//! Static facts about processes, found by forward fixpoints over one process each, that prune the backward search.
//!
//! Each has the property that if a configuration violates it, so does every larger one; that makes it sound to drop a
//! constraint that violates it, and to replace a `*` by the only value it allows.
//!
//! | fact | says |
//! |---|---|
//! | lag region | where a process can have anything in its load buffer |
//! | last writes (TSO) | which newest-own messages a buffer can have, in which order: a suffix of the last writes |
//! | pending stores (PSO) | which values a store buffer can hold, and which can be its newest |
//! | single writer | what memory can hold of a location that one process writes, given where that process is |

use std::collections::BTreeSet;

use crate::engine::automaton::{Datum, Letter, LetterEdge, ProcessAutomaton, RegisterFree};
use crate::memory::PsoRmw;
use crate::program::{FenceKind, LocationId, ProcessId};
use crate::util::{BitSet, Idx, IndexVec};

/// What stands between a process and memory besides its view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing: SC and TSO.
    None,
    /// A store buffer for each process and location: PSO.
    PerLocation(PsoRmw),
}

/// The last write to each location since the last drain, oldest first.
type LastWrites = Vec<(LocationId, Datum)>;

/// The facts of all processes.
#[derive(Debug)]
pub(super) struct Facts {
    /// By process.
    pub of: IndexVec<ProcessId, ProcessFacts>,
}

/// The facts of one process, by state.
#[derive(Debug)]
pub(super) struct ProcessFacts {
    /// An operation leaves the state that may wait while the process's view ages: the only place to sample memory.
    pub samples: Vec<bool>,
    /// A read leads to the state.
    pub has_read: Vec<bool>,
    /// The locations that it writes through its buffer.
    pub written: Vec<LocationId>,
    /// The locations that it writes through its buffer and may read before it drains: only of these does it matter
    /// whether an own message is in its load buffer.
    pub reads_back: Vec<BitSet>,
    /// Lag region.
    pub may_lag: Vec<bool>,
    /// Last writes; `None` where there are too many.
    pub last_writes: Option<Vec<BTreeSet<LastWrites>>>,
    /// Pending stores, by location; empty under TSO.
    pub pending: Vec<Vec<Unflushed>>,
    /// Single writer: the locations that only this process writes, and what they can hold in memory.
    pub sole: Vec<(LocationId, Vec<BitSet>)>,
}

/// What the store buffer of a location can hold in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unflushed {
    /// All of it.
    pub any: BitSet,
    /// The newest of it.
    pub newest: BitSet,
}

/// More sequences of last writes than this in a process are not worth it.
const MAX_LAST_WRITES: usize = 20_000;

impl Facts {
    /// The facts of all processes.
    pub(super) fn new(program: &RegisterFree, stage: Stage) -> Self {
        let writers = writers(program);
        let samples: fn(&Letter) -> bool = match stage {
            Stage::None => is_plain_write,
            Stage::PerLocation(_) => is_store_fence,
        };
        let of = program.processes.iter_enumerated().map(|(id, process)| {
            let is_sole = |x: &LocationId| writers[*x].iter().all(|writer| writer == id.index());
            let sole = program.values.indices().filter(is_sole);
            ProcessFacts {
                samples: any_edge(process, &process.outgoing, samples),
                has_read: any_edge(process, &process.incoming, is_read),
                written: written(process),
                reads_back: reads_back(process),
                may_lag: may_lag(process, samples),
                last_writes: if stage == Stage::None { last_writes(process) } else { None },
                pending: match stage {
                    Stage::None => Vec::new(),
                    Stage::PerLocation(rmw) => program.values.indices().map(|x| pending(process, x, rmw)).collect(),
                },
                sole: sole.map(|x| (x, held(process, x, &program.initial[x]))).collect(),
            }
        });
        Self { of: of.collect() }
    }
}

/// Whether a step waits for an empty load buffer.
fn drains(letter: &Letter) -> bool {
    match letter {
        Letter::Fence(FenceKind::Full) | Letter::Atomic(_) => true,
        Letter::Fence(FenceKind::StoreStore) | Letter::Nop | Letter::Read(..) | Letter::Write(..) => false,
    }
}

fn is_plain_write(letter: &Letter) -> bool {
    match letter {
        Letter::Write(..) => true,
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => false,
    }
}

fn is_store_fence(letter: &Letter) -> bool {
    *letter == Letter::Fence(FenceKind::StoreStore)
}

fn is_read(letter: &Letter) -> bool {
    match letter {
        Letter::Read(..) => true,
        Letter::Nop | Letter::Write(..) | Letter::Fence(_) | Letter::Atomic(_) => false,
    }
}

fn any_edge(process: &ProcessAutomaton, edges: &[Vec<u32>], is_it: impl Fn(&Letter) -> bool) -> Vec<bool> {
    edges.iter().map(|edges| edges.iter().any(|&edge| is_it(&process.edges[edge as usize].letter))).collect()
}

fn written(process: &ProcessAutomaton) -> Vec<LocationId> {
    let locations: BTreeSet<LocationId> = process.edges.iter().filter_map(plain_write).collect();
    locations.into_iter().collect()
}

/// The locations that a process writes through its buffer and may read with no drain between, by state.
fn reads_back(process: &ProcessAutomaton) -> Vec<BitSet> {
    let mut at = vec![BitSet::new(); process.states.len()];
    for x in written(process) {
        let reads = |letter: &Letter| matches!(letter, Letter::Read(y, _) if *y == x);
        let will_read = spread(process, &any_edge(process, &process.outgoing, reads), Direction::Backward);
        at.iter_mut().zip(will_read).filter(|(_, will)| *will).for_each(|(at, _)| {
            at.insert(x.index());
        });
    }
    at
}

fn plain_write(edge: &LetterEdge) -> Option<LocationId> {
    match edge.letter {
        Letter::Write(x, _) => Some(x),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => None,
    }
}

/// The processes that write each location.
pub(super) fn writers(program: &RegisterFree) -> IndexVec<LocationId, BitSet> {
    let mut writers = IndexVec::filled(program.values.len(), BitSet::new());
    for (id, process) in program.processes.iter_enumerated() {
        for edge in &process.edges {
            for (x, _) in writes(&edge.letter) {
                writers[x].insert(id.index());
            }
        }
    }
    writers
}

/// What a step writes.
pub(super) fn writes(letter: &Letter) -> Vec<(LocationId, Datum)> {
    match letter {
        Letter::Write(x, value) => vec![(*x, *value)],
        Letter::Atomic(atomic) => atomic.writes.clone(),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) => Vec::new(),
    }
}

/// Lag region: a message is sampled or pushed where the view may age, and is of use only as long as a read may come, or
/// has just come, with no drain between.
fn may_lag(process: &ProcessAutomaton, samples: fn(&Letter) -> bool) -> Vec<bool> {
    let has_lagged = spread(process, &any_edge(process, &process.outgoing, samples), Direction::Forward);
    let will_read = spread(process, &any_edge(process, &process.outgoing, is_read), Direction::Backward);
    let has_read = any_edge(process, &process.incoming, is_read);
    has_lagged.iter().zip(will_read).zip(has_read).map(|((&lagged, will), has)| lagged && (will || has)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// The states that can be reached from some without a drain.
fn spread(process: &ProcessAutomaton, from: &[bool], direction: Direction) -> Vec<bool> {
    let mut reached = from.to_vec();
    let mut todo: Vec<usize> = (0..from.len()).filter(|&state| from[state]).collect();
    while let Some(state) = todo.pop() {
        let edges = match direction {
            Direction::Forward => &process.outgoing[state],
            Direction::Backward => &process.incoming[state],
        };
        for edge in edges.iter().map(|&edge| &process.edges[edge as usize]).filter(|edge| !drains(&edge.letter)) {
            let next = if direction == Direction::Forward { edge.to } else { edge.from } as usize;
            if !reached[next] {
                reached[next] = true;
                todo.push(next);
            }
        }
    }
    reached
}

/// Last writes.
fn last_writes(process: &ProcessAutomaton) -> Option<Vec<BTreeSet<LastWrites>>> {
    let mut at: Vec<BTreeSet<LastWrites>> = vec![BTreeSet::new(); process.states.len()];
    let mut todo: Vec<(usize, LastWrites)> =
        process.initial.keys().map(|&state| (state as usize, LastWrites::new())).collect();
    let mut n_all = 0;
    while let Some((state, writes)) = todo.pop() {
        if !at[state].insert(writes.clone()) {
            continue;
        }
        n_all += 1;
        if n_all > MAX_LAST_WRITES {
            return None;
        }
        for edge in process.outgoing[state].iter().map(|&edge| &process.edges[edge as usize]) {
            let next = match &edge.letter {
                Letter::Write(x, value) => {
                    let mut next: LastWrites = writes.iter().copied().filter(|(y, _)| y != x).collect();
                    next.push((*x, *value));
                    next
                }
                Letter::Fence(_) | Letter::Atomic(_) => LastWrites::new(),
                Letter::Nop | Letter::Read(..) => writes.clone(),
            };
            todo.push((edge.to as usize, next));
        }
    }
    Some(at)
}

/// Pending stores: what was written to a location since the process last waited for its store buffer to be empty.
fn pending(process: &ProcessAutomaton, x: LocationId, rmw: PsoRmw) -> Vec<Unflushed> {
    let mut at = vec![Unflushed::default(); process.states.len()];
    let mut todo: Vec<usize> = process.initial.keys().map(|&state| state as usize).collect();
    let mut seen = vec![false; process.states.len()];
    while let Some(state) = todo.pop() {
        seen[state] = true;
        for edge in process.outgoing[state].iter().map(|&edge| &process.edges[edge as usize]) {
            let next = match &edge.letter {
                Letter::Write(y, value) if *y == x => {
                    let newest: BitSet = [usize::from(*value)].into_iter().collect();
                    let mut any = at[state].any.clone();
                    any.union_with(&newest);
                    Unflushed { any, newest }
                }
                Letter::Fence(_) => Unflushed::default(),
                Letter::Atomic(atomic) if waits_for(atomic.waits_for, x, rmw) => Unflushed::default(),
                Letter::Write(..) | Letter::Atomic(_) | Letter::Nop | Letter::Read(..) => at[state].clone(),
            };
            let to = edge.to as usize;
            let has_grown = at[to].any.union_with(&next.any) | at[to].newest.union_with(&next.newest);
            if has_grown || !seen[to] {
                todo.push(to);
            }
        }
    }
    at
}

/// Whether an atomic step, of one location or of all, waits until no store to a location is pending.
pub(super) fn waits_for(own: Option<LocationId>, x: LocationId, rmw: PsoRmw) -> bool {
    match rmw {
        PsoRmw::All => true,
        PsoRmw::Location => own.is_none_or(|own| own == x),
    }
}

/// Single writer: what memory holds of a location that only this process writes, when none of its stores is pending.
fn held(process: &ProcessAutomaton, x: LocationId, initial: &[Datum]) -> Vec<BitSet> {
    let mut at = vec![BitSet::new(); process.states.len()];
    let starts: BitSet = initial.iter().map(|&value| usize::from(value)).collect();
    let mut todo: Vec<usize> = process.initial.keys().map(|&state| state as usize).collect();
    for &state in &todo {
        at[state] = starts.clone();
    }
    while let Some(state) = todo.pop() {
        for edge in process.outgoing[state].iter().map(|&edge| &process.edges[edge as usize]) {
            let written = writes(&edge.letter).into_iter().find(|write| write.0 == x);
            let next = written.map_or(at[state].clone(), |(_, value)| [usize::from(value)].into_iter().collect());
            if at[edge.to as usize].union_with(&next) {
                todo.push(edge.to as usize);
            }
        }
    }
    at
}
