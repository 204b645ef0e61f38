//! Static facts about processes, found by forward fixpoints over one process each, that prune the backward search.
//!
//! Each has the property that if a configuration violates it, so does every larger one; that makes it sound to drop a
//! constraint that violates it, and to replace a `*` by the only value it allows.
//!
//! | fact | says |
//! |---|---|
//! | F1 lag region | where a process can have anything in its load buffer |
//! | F2 last writes | which newest-own messages a buffer can have, in which order: a suffix of the last writes |
//! | F4 single writer | what memory can hold of a location that one process writes, given where that process is |

use std::collections::BTreeSet;

use crate::engine::automaton::{Datum, Letter, LetterEdge, ProcessAutomaton, RegisterFree};
use crate::program::{LocationId, ProcessId};
use crate::util::{BitSet, Idx, IndexVec};

/// The last write to each location since the last drain, oldest first.
type LastWrites = Vec<(LocationId, Datum)>;

/// The facts of all processes.
#[derive(Debug)]
pub struct Facts {
    /// By process.
    pub of: IndexVec<ProcessId, ProcessFacts>,
}

/// The facts of one process, by state.
#[derive(Debug)]
pub struct ProcessFacts {
    /// A plain write leaves the state.
    pub writes_next: Vec<bool>,
    /// A read leads to the state.
    pub has_read: Vec<bool>,
    /// The locations that it writes through its buffer.
    pub written: Vec<LocationId>,
    /// F1.
    pub may_lag: Vec<bool>,
    /// F2; `None` where there are too many.
    pub last_writes: Option<Vec<BTreeSet<LastWrites>>>,
    /// F4: the locations that only this process writes, and what they can hold in memory.
    pub sole: Vec<(LocationId, Vec<BitSet>)>,
}

/// More sequences of last writes than this in a process are not worth it.
const MAX_LAST_WRITES: usize = 20_000;

impl Facts {
    /// The facts of all processes.
    pub fn new(program: &RegisterFree) -> Self {
        let writers = writers(program);
        let of = program.processes.iter_enumerated().map(|(id, process)| {
            let is_sole = |x: &LocationId| writers[*x].iter().all(|writer| writer == id.index());
            let sole = program.values.indices().filter(is_sole);
            ProcessFacts {
                writes_next: any_edge(process, &process.outgoing, is_plain_write),
                has_read: any_edge(process, &process.incoming, is_read),
                written: written(process),
                may_lag: may_lag(process),
                last_writes: last_writes(process),
                sole: sole.map(|x| (x, held(process, x, &program.initial[x]))).collect(),
            }
        });
        Self { of: of.collect() }
    }
}

/// Whether a step waits for an empty buffer.
fn drains(letter: &Letter) -> bool {
    match letter {
        Letter::Fence(_) | Letter::Atomic(_) => true,
        Letter::Nop | Letter::Read(..) | Letter::Write(..) => false,
    }
}

fn is_plain_write(letter: &Letter) -> bool {
    match letter {
        Letter::Write(..) => true,
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => false,
    }
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

fn plain_write(edge: &LetterEdge) -> Option<LocationId> {
    match edge.letter {
        Letter::Write(x, _) => Some(x),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => None,
    }
}

fn writers(program: &RegisterFree) -> IndexVec<LocationId, BitSet> {
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

fn writes(letter: &Letter) -> Vec<(LocationId, Datum)> {
    match letter {
        Letter::Write(x, value) => vec![(*x, *value)],
        Letter::Atomic(atomic) => atomic.writes.clone(),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) => Vec::new(),
    }
}

/// F1: a message is sampled or pushed where a plain write comes next, and is of use only as long as a read may come, or
/// has just come, with no drain between.
fn may_lag(process: &ProcessAutomaton) -> Vec<bool> {
    let has_lagged = spread(process, &any_edge(process, &process.outgoing, is_plain_write), Direction::Forward);
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

/// F2.
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

/// F4: what memory can hold of a location that only this process writes; a write is in memory at once.
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
