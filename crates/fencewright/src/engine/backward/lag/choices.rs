//! Edges of a process that differ only in the value they find, taken as one.
//!
//! ```text
//!    q1 ── r(x,1) ──▶ q2        q1 ── r(x,{1,2}) ──▶ q2
//!      └── r(x,2) ──────▶ ⟹
//! ```
//!
//! Which of the edges it was is found again when a run is told: the values are concrete then.

use crate::engine::automaton::{Atomic, FastMap, Letter, ProcessAutomaton, StateId};
use crate::engine::backward::lag::values::{Encoding, Values};
use crate::program::{FenceKind, LocationId};

/// Edges taken as one.
#[derive(Debug)]
pub(in crate::engine::backward) struct Choice {
    /// Where they start.
    pub from: StateId,
    /// What they do.
    pub act: Act,
    /// The edges.
    pub edges: Vec<u32>,
}

/// What edges do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine::backward) enum Act {
    /// Nothing that others see.
    Nop,
    /// Reads one of these values.
    Read(LocationId, Values),
    /// Writes this value into the buffer.
    Write(LocationId, Values),
    /// Passes a fence.
    Fence(FenceKind),
    /// Reads and writes memory in one step.
    Atomic(AtomicAct),
}

/// An atomic step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine::backward) struct AtomicAct {
    /// What it finds in memory.
    pub guards: Vec<(LocationId, Values)>,
    /// What it writes to memory, each location once.
    pub writes: Vec<(LocationId, Values)>,
    /// As in [`Atomic`].
    pub waits_for: Option<LocationId>,
}

/// The choices of a process.
#[derive(Debug)]
pub(in crate::engine::backward) struct Choices {
    /// All of them.
    pub all: Vec<Choice>,
    /// Those that lead to each state.
    pub incoming: Vec<Vec<u32>>,
}

impl Choices {
    /// The edges of a process; with `merge`, those that may be are taken as one.
    pub(in crate::engine::backward) fn new(process: &ProcessAutomaton, encoding: &Encoding, merge: bool) -> Self {
        let mut choices = Self { all: Vec::new(), incoming: vec![Vec::new(); process.states.len()] };
        let mut leading: FastMap<(StateId, StateId), Vec<u32>> = FastMap::default();
        for (id, edge) in process.edges.iter().enumerate() {
            let act = act(&edge.letter, encoding);
            let like = leading.entry((edge.from, edge.to)).or_default();
            let joined = like.iter().find_map(|&other| {
                let other = other as usize;
                let joined = merge.then(|| joined(&choices.all[other].act, &act, encoding)).flatten();
                joined.map(|joined| (other, joined))
            });
            match joined {
                Some((other, joined)) => {
                    choices.all[other].act = joined;
                    choices.all[other].edges.push(id as u32);
                }
                None => {
                    let number = choices.all.len() as u32;
                    like.push(number);
                    choices.incoming[edge.to as usize].push(number);
                    choices.all.push(Choice { from: edge.from, act, edges: vec![id as u32] });
                }
            }
        }
        choices
    }
}

fn act(letter: &Letter, encoding: &Encoding) -> Act {
    let values = |pairs: &[(LocationId, u16)]| pairs.iter().map(|&(x, value)| (x, encoding.one(x, value))).collect();
    match letter {
        Letter::Nop => Act::Nop,
        Letter::Read(x, value) => Act::Read(*x, encoding.one(*x, *value)),
        Letter::Write(x, value) => Act::Write(*x, encoding.one(*x, *value)),
        Letter::Fence(kind) => Act::Fence(*kind),
        Letter::Atomic(Atomic { guards, writes, waits_for }) => {
            Act::Atomic(AtomicAct { guards: values(guards), writes: values(writes), waits_for: *waits_for })
        }
    }
}

/// One act for two that differ in no more than what they find at one location.
fn joined(a: &Act, b: &Act, encoding: &Encoding) -> Option<Act> {
    match (a, b) {
        (Act::Read(x, found), Act::Read(y, other)) if x == y && encoding.has_sets(*x) => {
            Some(Act::Read(*x, encoding.join(*x, *found, *other)))
        }
        (Act::Atomic(a), Act::Atomic(b)) if a.writes == b.writes && a.waits_for == b.waits_for => {
            match (a.guards.as_slice(), b.guards.as_slice()) {
                (&[(x, found)], &[(y, other)]) if x == y && encoding.has_sets(x) => {
                    Some(Act::Atomic(AtomicAct { guards: vec![(x, encoding.join(x, found, other))], ..a.clone() }))
                }
                _ => None,
            }
        }
        _ => (a == b).then(|| a.clone()),
    }
}
