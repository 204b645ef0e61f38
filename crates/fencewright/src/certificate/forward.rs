//! The rules of the load-buffer semantics, forward.
//!
//! | rule | condition | effect |
//! |---|---|---|
//! | nop | – | – |
//! | read `x,v`, store | a store to x is pending: the newest is v | – |
//! | read `x,v`, own | no store to x is pending, the newest own(x,·) is v | – |
//! | read `x,v`, head | neither, and the oldest message is (x,v) | – |
//! | read `x,v`, memory | no store to x is pending, load buffer empty, memory(x) = v | – |
//! | write `x,v` (TSO) | – | memory(x) := v; push own(x,v) |
//! | write `x,v` at once (TSO) | load buffer empty | memory(x) := v |
//! | write `x,v` (PSO) | – | append v to the store buffer of x |
//! | serialize `x` (PSO) | v is the oldest in the store buffer of x | take it out; memory(x) := v; push own(x,v) |
//! | serialize `x` at once (PSO) | the same, load buffer empty | take it out; memory(x) := v |
//! | sample `x` | a write (PSO: a store-store fence) leaves the class | push (x, memory(x)) |
//! | drop | a read leads to the class; the oldest message is an own one | take it out |
//! | store-store fence (PSO) | store buffers empty | – |
//! | full fence | store buffers and load buffer empty | – |
//! | atomic | load buffer and the store buffers it waits for empty, guards hold in memory | memory changes |
//!
//! On a constraint a rule gives its image if it is possible in all configurations of it, and nothing otherwise.

use std::fmt;

use crate::program::{FenceKind, LocationId, ProcessId, Value};
use crate::util::Idx;

use super::basis::{Cell, Constraint, Message, MessageKind};
use super::locals::{Atomic, Letter};
use super::quotient::{Edge, Quotient};

/// A rule, for one process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule<'a> {
    /// A step of the process.
    Edge(&'a Edge, Way),
    /// The oldest store to a location leaves the stage.
    Serialize(LocationId, Way),
    /// Memory is sampled.
    Sample(LocationId),
    /// The oldest message, an own one, is dropped.
    Drop,
}

/// Whether what is written leaves an own message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It does.
    Pushing,
    /// It does not.
    AtOnce,
}

impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edge(edge, way) => write!(f, "{}{way}, from class {}", edge.letter, edge.from),
            Self::Serialize(x, way) => write!(f, "a store to location {} that leaves its buffer{way}", x.index()),
            Self::Sample(x) => write!(f, "a sample of location {}", x.index()),
            Self::Drop => write!(f, "dropping its oldest message"),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pushing => "",
            Self::AtOnce => " at once",
        })
    }
}

/// The image of a constraint, if the rule is possible in all its configurations.
pub(super) fn forward(quotient: &Quotient, from: &Constraint, p: ProcessId, rule: Rule<'_>) -> Option<Constraint> {
    let mut to = from.clone();
    match rule {
        Rule::Edge(edge, way) => {
            if from.classes[p] != edge.from || !step(quotient, &mut to, p, &edge.letter, way) {
                return None;
            }
            to.classes[p] = edge.to;
        }
        Rule::Serialize(x, way) => {
            let word = to.stores[p].get_mut(&x)?;
            let value = word.remove(0);
            if word.is_empty() {
                to.stores[p].remove(&x);
            }
            if !write(&mut to, p, x, value, way) {
                return None;
            }
        }
        Rule::Sample(x) => {
            let value = Some(from.memory[x]?);
            if !quotient.processes[p].samples[from.classes[p] as usize] {
                return None;
            }
            to.buffers[p].push(Message { kind: MessageKind::Sample, location: x, value });
        }
        Rule::Drop => {
            let is_own = to.buffers[p].first().is_some_and(|message| message.kind == MessageKind::Own);
            let may_drop = quotient.drops_anywhere || quotient.processes[p].has_read[from.classes[p] as usize];
            if !is_own || !may_drop {
                return None;
            }
            to.buffers[p].remove(0);
        }
    }
    Some(to)
}

/// What a letter does; `false` where it is not possible.
fn step(quotient: &Quotient, to: &mut Constraint, p: ProcessId, letter: &Letter, way: Way) -> bool {
    match letter {
        Letter::Nop => true,
        Letter::Read(x, value) => reads(to, p, *x) == Some(*value),
        Letter::Write(x, value) => match quotient.stage {
            None => write(to, p, *x, Some(*value), way),
            Some(_) => {
                to.stores[p].entry(*x).or_default().push(Some(*value));
                true
            }
        },
        Letter::Fence(FenceKind::StoreStore) => to.stores[p].is_empty(),
        Letter::Fence(FenceKind::Full) => to.stores[p].is_empty() && to.buffers[p].is_empty(),
        Letter::Atomic(atomic) => act(quotient, to, p, atomic),
    }
}

/// What a read finds; `None` where that depends, or where it has to wait.
fn reads(from: &Constraint, p: ProcessId, x: LocationId) -> Option<Value> {
    if let Some(word) = from.stores[p].get(&x) {
        return word.last().copied().flatten();
    }
    let buffer = &from.buffers[p];
    if let Some(own) = buffer.iter().rev().find(|message| message.is_own_of(x)) {
        return own.value;
    }
    match buffer.first() {
        None => from.memory[x],
        Some(oldest) if oldest.kind == MessageKind::Sample && oldest.location == x => oldest.value,
        Some(_) => None,
    }
}

fn write(to: &mut Constraint, p: ProcessId, x: LocationId, value: Cell, way: Way) -> bool {
    to.memory[x] = value;
    match way {
        Way::Pushing => to.buffers[p].push(Message { kind: MessageKind::Own, location: x, value }),
        Way::AtOnce => return to.buffers[p].is_empty(),
    }
    true
}

fn act(quotient: &Quotient, to: &mut Constraint, p: ProcessId, atomic: &Atomic) -> bool {
    let may_act = to.buffers[p].is_empty()
        && to.stores[p].keys().all(|&x| !quotient.waits_for(atomic, x))
        && atomic.guards.iter().all(|(x, value)| to.memory[*x] == Some(*value));
    for (x, value) in &atomic.writes {
        to.memory[*x] = Some(*value);
    }
    may_act
}
