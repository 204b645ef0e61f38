//! What memory can hold where all buffers are empty: what somebody wrote there last.
//!
//! Stores of one thread to one location arrive in their order. So once all have arrived, a location holds the last that
//! some thread has stored there, or what it held in the beginning if nobody has. What a thread has stored last is known
//! from where it is, by a look at its own steps alone; and if it has read something else there since, then its store
//! had arrived and was written over, and is not what is left there:
//!
//! ```text
//!    P: busy = 1; … busy = 0; while (turn != 0) { }      where P waits, its last store to `busy` is 0: if nobody else
//!                                                        writes `busy`, nobody waits for it to be 0
//!    P: turn = 1; if (turn == 2) { while (busy) { } }    where P waits, somebody else has written `turn` after it
//! ```

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::engine::automaton::{Datum, Letter, ProcessAutomaton, RegisterFree, StateId};
use crate::program::{LocationId, ProcessId};
use crate::util::{BitSet, Idx, IndexVec};

use super::stuck::Cube;

/// What a thread may have stored last, for each location; the number of values stands for nothing at all, and one more
/// for what is no longer there.
pub(super) type Wrote = Rc<Vec<BitSet>>;

/// With more states times locations than this nothing is found out: it would take longer than the search.
const MAX_SETS: usize = 1 << 17;

/// More combinations than this of what threads have stored last are not looked at.
const MAX_COMBINED: usize = 1_000;

/// What threads may have stored last.
pub(super) struct Written<'a> {
    free: &'a RegisterFree,
    /// In each local state; `None` where that was too much to find out.
    by: Option<IndexVec<ProcessId, Vec<Wrote>>>,
}

impl<'a> Written<'a> {
    pub(super) fn new(free: &'a RegisterFree) -> Self {
        let n_sets = free.n_states().saturating_mul(free.values.len());
        let by = (n_sets <= MAX_SETS).then(|| free.processes.iter().map(|it| last(free, it)).collect());
        Self { free, by }
    }

    /// Nothing is found out.
    pub(super) fn unknown(free: &'a RegisterFree) -> Self {
        Self { free, by: None }
    }

    /// Each that a process may have stored last, in some of its states.
    pub(super) fn of(&self, process: ProcessId, states: &[StateId]) -> BTreeSet<Wrote> {
        let Some(by) = &self.by else { return BTreeSet::new() };
        states.iter().map(|&state| Rc::clone(&by[process][state as usize])).collect()
    }

    /// Whether memory can be like this with all buffers empty, and one of these stored last by each process.
    pub(super) fn is_possible(&self, memory: &Cube, wrote: &[&BTreeSet<Wrote>]) -> bool {
        let n_combined = wrote.iter().fold(1, |n: usize, it| n.saturating_mul(it.len()));
        if self.by.is_none() || n_combined > MAX_COMBINED {
            return true;
        }
        let mut combined: Vec<Vec<&Wrote>> = vec![Vec::new()];
        for one in wrote {
            combined = combined.iter().flat_map(|it| one.iter().map(move |more| [&it[..], &[more]].concat())).collect();
        }
        combined.iter().any(|wrote| memory.iter().all(|(&x, held)| self.may_hold(x, held, wrote)))
    }

    /// Whether a location may hold one of these values.
    fn may_hold(&self, x: LocationId, held: &BTreeSet<Datum>, wrote: &[&Wrote]) -> bool {
        let nothing = self.free.values[x].len();
        let is_untouched = wrote.iter().all(|it| it[x.index()].contains(nothing));
        held.iter().any(|datum| {
            wrote.iter().any(|it| it[x.index()].contains(usize::from(*datum)))
                || (is_untouched && self.free.initial[x].contains(datum))
        })
    }
}

/// What a process may have stored last in each of its states.
fn last(free: &RegisterFree, process: &ProcessAutomaton) -> Vec<Wrote> {
    let mut sets = vec![vec![BitSet::new(); free.values.len()]; process.states.len()];
    let mut todo: Vec<StateId> = process.initial.keys().copied().collect();
    for &state in &todo {
        for (x, values) in free.values.iter_enumerated() {
            sets[state as usize][x.index()].insert(values.len());
        }
    }
    let mut is_reached: BitSet = todo.iter().map(|&state| state as usize).collect();
    while let Some(state) = todo.pop() {
        for &edge in &process.outgoing[state as usize] {
            let edge = &process.edges[edge as usize];
            let mut after = sets[state as usize].clone();
            let only = |datum: Datum| [usize::from(datum)].into_iter().collect();
            match &edge.letter {
                Letter::Nop | Letter::Fence(_) => {}
                Letter::Read(x, datum) => found(free, *x, *datum, &mut after),
                Letter::Write(x, datum) => after[x.index()] = only(*datum),
                Letter::Atomic(atomic) => {
                    atomic.guards.iter().for_each(|(x, datum)| found(free, *x, *datum, &mut after));
                    atomic.writes.iter().for_each(|(x, datum)| after[x.index()] = only(*datum));
                }
            }
            let there = &mut sets[edge.to as usize];
            let grows =
                there.iter_mut().zip(after.iter()).fold(false, |grows, (all, more)| all.union_with(more) | grows);
            if is_reached.insert(edge.to as usize) || grows {
                todo.push(edge.to);
            }
        }
    }
    sets.into_iter().map(Rc::new).collect()
}

/// Something is read: whatever else was stored last is no longer there.
fn found(free: &RegisterFree, x: LocationId, datum: Datum, last: &mut [BitSet]) {
    let (nothing, here) = (free.values[x].len(), &mut last[x.index()]);
    let is_there = |stored: usize| match stored == nothing {
        true => free.initial[x].contains(&datum),
        false => stored == usize::from(datum),
    };
    // What is over stays over.
    let left = |stored: usize| if stored <= nothing && is_there(stored) { stored } else { nothing + 1 };
    *here = here.iter().map(left).collect();
}
