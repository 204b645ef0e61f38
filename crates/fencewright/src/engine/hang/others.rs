//! Where a thread goes on without ever writing what is waited for.
//!
//! As long as what is waited for stays as it is, a thread finds nothing else there. If no way of such steps leads to
//! one that writes something else, it stays so for ever, whatever the thread finds elsewhere.

use crate::engine::automaton::{Datum, Letter, ProcessAutomaton, StateId};
use crate::program::LocationId;
use crate::util::BitSet;

use super::stuck::Cube;

/// The states from which a process leaves memory like this.
pub(super) fn leaving(process: &ProcessAutomaton, memory: &Cube) -> Vec<StateId> {
    let fits = |(x, datum): &(LocationId, Datum)| memory.get(x).is_none_or(|held| held.contains(datum));
    let is_possible = |letter: &Letter| match letter {
        Letter::Nop | Letter::Write(..) | Letter::Fence(_) => true,
        Letter::Read(x, datum) => fits(&(*x, *datum)),
        Letter::Atomic(atomic) => atomic.guards.iter().all(fits),
    };
    let is_changing = |letter: &Letter| match letter {
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) => false,
        Letter::Write(x, datum) => !fits(&(*x, *datum)),
        Letter::Atomic(atomic) => !atomic.writes.iter().all(fits),
    };
    let possible = process.edges.iter().filter(|edge| is_possible(&edge.letter));
    let mut todo: Vec<StateId> = possible.filter(|edge| is_changing(&edge.letter)).map(|edge| edge.from).collect();
    let mut before: BitSet = todo.iter().map(|&state| state as usize).collect();
    while let Some(state) = todo.pop() {
        for &edge in &process.incoming[state as usize] {
            let edge = &process.edges[edge as usize];
            if is_possible(&edge.letter) && before.insert(edge.from as usize) {
                todo.push(edge.from);
            }
        }
    }
    (0..process.states.len() as StateId).filter(|&state| !before.contains(state as usize)).collect()
}
