//! The control vectors of sequential consistency: where all threads can be at once, with their registers.
//!
//! Local steps commute with all that others do, so it is enough to look at threads that have *landed*: at the start, or
//! right behind an access. Where a thread can go from there by itself, it can go while the others stay. A vector is
//! known if each thread can get to its place by itself from where it has landed, in some vector that was explored.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use rustc_hash::FxHasher;

use crate::engine::automaton::{Datum, Letter, ProcessAutomaton, RegisterFree, StateId, Unmade};
use crate::engine::packed::{StateSet, hash_of};
use crate::program::ProcessId;
use crate::util::{BitSet, Idx, IndexVec};
use crate::watch::{Monitor, Progress, heed};

/// A local state for each process.
pub(super) type Vector = Vec<StateId>;

/// What a process can do from its local states.
pub(super) struct Alone {
    /// Where it can go by itself, from each state where it lands; the state is among them.
    pub reach: Vec<Vec<StateId>>,
    /// The accesses it can come to by itself, from each state where it lands.
    pub accesses: Vec<Vec<u32>>,
}

/// What sequential consistency reaches.
pub(super) struct Known {
    pub alone: IndexVec<ProcessId, Alone>,
    /// All vectors of processes that have landed, in the order they were found.
    pub landed: Vec<Vector>,
    all: HashSet<Vector, BuildHasherDefault<FxHasher>>,
    /// Where processes land from which they can get to a state by themselves.
    from: IndexVec<ProcessId, Vec<Vec<StateId>>>,
}

/// The monitor is asked after so many states.
const POLL_EVERY: usize = 512;

impl Known {
    /// Explores sequential consistency.
    pub(super) fn new(free: &RegisterFree, monitor: &dyn Monitor) -> Result<Self, Unmade> {
        let alone: IndexVec<ProcessId, Alone> = free.processes.iter().map(alone).collect();
        let mut states = StateSet::new(free.processes.len() + free.values.len());
        firsts(free, &mut states, monitor)?;
        let (mut landed, mut all) = (Vec::new(), HashSet::default());
        let mut at = 0;
        while at < states.len() {
            let state = states.get(at).to_vec();
            let vector = &state[..free.processes.len()];
            if at.is_multiple_of(POLL_EVERY) {
                let bytes = states.bytes() + (landed.len() * vector.len() * 12) as u64;
                poll((at, states.len()), bytes, monitor)?;
            }
            if !all.contains(vector) {
                all.insert(vector.to_vec());
                landed.push(vector.to_vec());
            }
            for (process, automaton) in free.processes.iter_enumerated() {
                for &edge in &alone[process].accesses[state[process.index()] as usize] {
                    let edge = &automaton.edges[edge as usize];
                    if let Some(next) = after(&state, free.processes.len(), process, (&edge.letter, edge.to)) {
                        let _ = states.add(&next, hash_of(&next));
                    }
                }
            }
            at += 1;
        }
        let from = free.processes.indices().map(|process| landings(&alone[process], process, &landed)).collect();
        Ok(Self { alone, landed, all, from })
    }

    /// Whether sequential consistency reaches a vector.
    pub(super) fn contains(&self, vector: &Vector) -> bool {
        if self.all.contains(vector) {
            return true;
        }
        let here = |process: ProcessId| &self.from[process][vector[process.index()] as usize];
        let n_combined = self.from.indices().fold(1, |n: usize, it| n.saturating_mul(here(it).len()));
        if n_combined > self.landed.len() {
            let is_there =
                |it: &Vector| self.from.indices().all(|process| here(process).contains(&it[process.index()]));
            return self.landed.iter().any(is_there);
        }
        let mut some: Vec<Vector> = vec![Vec::new()];
        for here in self.from.indices().map(here) {
            some = some.iter().flat_map(|it| here.iter().map(move |&state| [&it[..], &[state]].concat())).collect();
        }
        some.iter().any(|it| self.all.contains(it))
    }

    /// Where a process lands from which it can get to one of these states by itself.
    pub(super) fn from(&self, process: ProcessId, states: &BitSet) -> BitSet {
        states.iter().flat_map(|state| &self.from[process][state]).map(|&it| it as usize).collect()
    }
}

fn poll((explored, known): (usize, usize), bytes: u64, monitor: &dyn Monitor) -> Result<(), Unmade> {
    let queued = (known - explored) as u64;
    let progress = Progress { explored: explored as u64, queued, bytes, ..Progress::default() };
    monitor.poll(&progress).map_or(Ok(()), |stop| Err(Unmade::Stopped(stop)))
}

fn alone(process: &ProcessAutomaton) -> Alone {
    let accesses = process.edges.iter().filter(|edge| edge.letter != Letter::Nop).map(|edge| edge.to);
    let landings: BitSet = process.initial.keys().copied().chain(accesses).map(|state| state as usize).collect();
    let of = |state: StateId| match landings.contains(state as usize) {
        true => by_itself(process, state),
        false => (Vec::new(), Vec::new()),
    };
    let (reach, accesses) = (0..process.states.len() as StateId).map(of).unzip();
    Alone { reach, accesses }
}

/// Where a process can go by itself from a state, and the accesses it can come to.
fn by_itself(process: &ProcessAutomaton, state: StateId) -> (Vec<StateId>, Vec<u32>) {
    let (mut reach, mut accesses) = (vec![state], Vec::new());
    let mut seen: BitSet = [state as usize].into_iter().collect();
    let mut at = 0;
    while let Some(&here) = reach.get(at) {
        heed(1);
        for &id in &process.outgoing[here as usize] {
            let edge = &process.edges[id as usize];
            if edge.letter != Letter::Nop {
                accesses.push(id);
            } else if seen.insert(edge.to as usize) {
                reach.push(edge.to);
            }
        }
        at += 1;
    }
    (reach, accesses)
}

/// For each state where the process lands from which it can get there by itself.
fn landings(alone: &Alone, process: ProcessId, landed: &[Vector]) -> Vec<Vec<StateId>> {
    let all: BitSet = landed.iter().map(|vector| vector[process.index()] as usize).collect();
    let mut from = vec![Vec::new(); alone.reach.len()];
    for landing in all.iter() {
        for &state in &alone.reach[landing] {
            from[state as usize].push(landing as StateId);
        }
    }
    from
}

/// Every combination of first states and first contents.
fn firsts(free: &RegisterFree, states: &mut StateSet, monitor: &dyn Monitor) -> Result<(), Unmade> {
    let locals = free.processes.iter().map(|it| it.initial.keys().copied().collect::<Vec<u32>>());
    let cells = free.initial.iter().map(|it| it.iter().map(|&datum| u32::from(datum)).collect());
    let choices: Vec<Vec<u32>> = locals.chain(cells).collect();
    let mut chosen = vec![0; choices.len()];
    loop {
        let state: Vec<u32> = choices.iter().zip(&chosen).map(|(all, &which)| all[which]).collect();
        let _ = states.add(&state, hash_of(&state));
        if states.len().is_multiple_of(POLL_EVERY) {
            poll((0, states.len()), states.bytes(), monitor)?;
        }
        let Some(place) = (0..choices.len()).rev().find(|&i| chosen[i] + 1 < choices[i].len()) else { return Ok(()) };
        chosen[place] += 1;
        chosen[place + 1..].fill(0);
    }
}

/// The state after an access; `None` where memory holds something else.
fn after(state: &[u32], n_processes: usize, process: ProcessId, (letter, to): (&Letter, StateId)) -> Option<Vec<u32>> {
    let mut next = state.to_vec();
    let (vector, memory) = next.split_at_mut(n_processes);
    vector[process.index()] = to;
    let holds = |memory: &[u32], x: usize, datum: Datum| memory[x] == u32::from(datum);
    match letter {
        Letter::Read(x, datum) if !holds(memory, x.index(), *datum) => return None,
        Letter::Nop | Letter::Fence(_) | Letter::Read(..) => {}
        Letter::Write(x, datum) => memory[x.index()] = u32::from(*datum),
        Letter::Atomic(atomic) => {
            if !atomic.guards.iter().all(|(x, datum)| holds(memory, x.index(), *datum)) {
                return None;
            }
            atomic.writes.iter().for_each(|(x, datum)| memory[x.index()] = u32::from(*datum));
        }
    }
    Some(next)
}
