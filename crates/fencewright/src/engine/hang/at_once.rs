//! Where threads can be at once, as far as locations tell that are only ever written by atomic steps.
//!
//! Nothing waits in a buffer for such a location, so what all threads make of it is sequentially consistent, whatever
//! the model. With anything to be found in all other locations, few states tell in which places threads are at once:
//!
//! ```text
//!    P, Q: old = swap(tail, mine); while (cell[old]) { }     P waits for the cell of Q and Q for that of P: but one of
//!                                                            them was first at `tail`, and found neither there
//! ```
//!
//! A step that touches no such location is possible wherever its thread is, so it is enough to look at threads that
//! have just touched one, and at where each can go from there by itself.

use crate::engine::automaton::{Datum, Letter, ProcessAutomaton, RegisterFree, StateId};
use crate::engine::packed::{StateSet, hash_of};
use crate::program::{LocationId, ProcessId};
use crate::util::{BitSet, Idx, IndexVec};

/// With more states than this nothing is found out: it would take longer than the search.
const MAX_STATES: usize = 4_000;

/// What a thread can do by itself, from a state in which it has just touched what is only written at once.
#[derive(Clone, Default)]
struct Alone {
    reach: BitSet,
    /// What it can touch next.
    touching: Vec<u32>,
}

/// Where threads can be at once.
pub(super) struct AtOnce {
    alone: IndexVec<ProcessId, Vec<Option<Alone>>>,
    /// Every combination of states in which threads have just touched something, and what it holds then.
    landed: StateSet,
}

impl AtOnce {
    /// `None` where that says nothing, or is too much to find out.
    pub(super) fn new(free: &RegisterFree) -> Option<Self> {
        let counted = counted(free);
        if counted.is_empty() {
            return None;
        }
        let alone = free.processes.iter().map(|it| vec![None; it.states.len()]).collect();
        let mut found = Self { alone, landed: StateSet::new(free.processes.len() + counted.len()) };
        found.start(free, &counted)?;
        let mut at = 0;
        while at < found.landed.len() {
            let state = found.landed.get(at).to_vec();
            for (process, automaton) in free.processes.iter_enumerated() {
                let here = state[process.index()];
                let alone = found.alone[process][here as usize].get_or_insert_with(|| alone_from(automaton, here, &counted));
                for &edge in &alone.touching {
                    let edge = &automaton.edges[edge as usize];
                    let (vector, cells) = state.split_at(free.processes.len());
                    if let Some(cells) = after(&edge.letter, cells, &counted) {
                        let mut next = [vector, &cells[..]].concat();
                        next[process.index()] = edge.to;
                        let _ = found.landed.add(&next, hash_of(&next));
                    }
                }
            }
            if found.landed.len() > MAX_STATES {
                return None;
            }
            at += 1;
        }
        Some(found)
    }

    /// Every combination of first states and first contents.
    fn start(&mut self, free: &RegisterFree, counted: &[LocationId]) -> Option<()> {
        let locals = free.processes.iter().map(|it| it.initial.keys().copied().collect::<Vec<u32>>());
        let cells = counted.iter().map(|&x| free.initial[x].iter().map(|&datum| u32::from(datum)).collect());
        let mut all = vec![Vec::new()];
        for choices in locals.chain(cells) {
            let with = |before: &Vec<u32>, one: &u32| [&before[..], &[*one]].concat();
            all = all.iter().flat_map(|before| choices.iter().map(move |one| with(before, one))).collect();
            if all.len() > MAX_STATES {
                return None;
            }
        }
        for state in all {
            let _ = self.landed.add(&state, hash_of(&state));
        }
        Some(())
    }

    /// Whether all threads can be in one of these states each, at once.
    pub(super) fn is_possible(&self, states: &[&BitSet]) -> bool {
        let may_be = |(process, alone): (ProcessId, &Vec<Option<Alone>>), here: u32| {
            let reach = alone[here as usize].as_ref().map(|it| &it.reach);
            reach.is_some_and(|reach| states[process.index()].iter().any(|state| reach.contains(state)))
        };
        (0..self.landed.len()).any(|number| {
            let state = self.landed.get(number);
            self.alone.iter_enumerated().all(|it| may_be(it, state[it.0.index()]))
        })
    }
}

/// The locations that atomic steps write, and nothing else.
fn counted(free: &RegisterFree) -> Vec<LocationId> {
    let letters = || free.processes.iter().flat_map(|it| it.edges.iter().map(|edge| &edge.letter));
    let mut updated: BitSet = BitSet::new();
    for letter in letters() {
        if let Letter::Atomic(atomic) = letter {
            updated.union_with(&atomic.writes.iter().map(|(x, _)| x.index()).collect());
        }
    }
    for letter in letters() {
        if let Letter::Write(x, _) = letter {
            updated.remove(x.index());
        }
    }
    free.values.indices().filter(|x| updated.contains(x.index())).collect()
}

fn touches(letter: &Letter, counted: &[LocationId]) -> bool {
    match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => false,
        Letter::Read(x, _) => counted.contains(x),
        Letter::Atomic(atomic) => atomic.guards.iter().chain(&atomic.writes).any(|(x, _)| counted.contains(x)),
    }
}

fn alone_from(process: &ProcessAutomaton, state: StateId, counted: &[LocationId]) -> Alone {
    let mut alone = Alone { reach: [state as usize].into_iter().collect(), touching: Vec::new() };
    let mut todo = vec![state];
    while let Some(here) = todo.pop() {
        for &id in &process.outgoing[here as usize] {
            let edge = &process.edges[id as usize];
            if touches(&edge.letter, counted) {
                alone.touching.push(id);
            } else if alone.reach.insert(edge.to as usize) {
                todo.push(edge.to);
            }
        }
    }
    alone
}

/// What is held after a step; `None` where it needs something else.
fn after(letter: &Letter, cells: &[u32], counted: &[LocationId]) -> Option<Vec<u32>> {
    let place = |x: &LocationId| counted.iter().position(|it| it == x);
    let holds = |(x, datum): &(LocationId, Datum)| place(x).is_none_or(|it| cells[it] == u32::from(*datum));
    let mut next = cells.to_vec();
    match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => {}
        Letter::Read(x, datum) if !holds(&(*x, *datum)) => return None,
        Letter::Read(..) => {}
        Letter::Atomic(atomic) => {
            if !atomic.guards.iter().all(holds) {
                return None;
            }
            for (x, datum) in &atomic.writes {
                if let Some(it) = place(x) {
                    next[it] = u32::from(*datum);
                }
            }
        }
    }
    Some(next)
}
