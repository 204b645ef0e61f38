//! The static facts as sets of values: what they leave of a constraint.

use std::collections::BTreeSet;

use crate::engine::automaton::{Datum, StateId};
use crate::engine::backward::facts::Facts;
use crate::engine::backward::lag::read_back::OwnWrites;
use crate::engine::backward::lag::values::{Encoding, Values};
use crate::program::{LocationId, ProcessId};
use crate::util::{BitSet, Idx, IndexVec};

/// The values that a fact allows.
#[derive(Clone, Debug)]
pub(in crate::engine::backward) struct Allowed {
    values: Values,
    /// The same, exactly.
    data: BitSet,
}

impl Allowed {
    fn new(x: LocationId, data: &BitSet, encoding: &Encoding) -> Self {
        Self { values: encoding.all(x, data), data: data.clone() }
    }
}

/// The last write to each location, oldest first.
pub(in crate::engine::backward) type LastWrites = Vec<(LocationId, Values)>;

/// The facts of one process, by state.
#[derive(Debug)]
pub(in crate::engine::backward) struct Sharpening {
    /// Last writes: sequences of last writes that count; `None` where there are too many.
    pub last_writes: Option<Vec<Vec<LastWrites>>>,
    /// Pending stores, by location: what may be pending, and what may be the newest of it.
    pub pending: Vec<Vec<(Allowed, Allowed)>>,
    /// Single writer, for the locations that only this process writes.
    pub sole: Vec<(LocationId, Vec<Allowed>)>,
}

/// The facts of all processes as sets of values.
pub(in crate::engine::backward) fn sharpenings(
    facts: &Facts,
    own: &IndexVec<ProcessId, OwnWrites>,
    encoding: &Encoding,
) -> IndexVec<ProcessId, Sharpening> {
    let allowed = |x: LocationId, data: &BitSet| Allowed::new(x, data, encoding);
    let of = facts.of.iter_enumerated().map(|(process, facts)| Sharpening {
        last_writes: facts.last_writes.as_ref().map(|by_state| {
            let by_state = by_state.iter().enumerate();
            by_state.map(|(state, all)| counted(state as StateId, all, &own[process], encoding)).collect()
        }),
        pending: facts
            .pending
            .iter()
            .enumerate()
            .map(|(x, by_state)| {
                let x = LocationId::from_usize(x);
                by_state.iter().map(|pending| (allowed(x, &pending.any), allowed(x, &pending.newest))).collect()
            })
            .collect(),
        sole: facts
            .sole
            .iter()
            .map(|(x, by_state)| (*x, by_state.iter().map(|data| allowed(*x, data)).collect()))
            .collect(),
    });
    of.collect()
}

/// The sequences of last writes in a state, of locations whose own messages count there.
fn counted(
    state: StateId,
    sequences: &BTreeSet<Vec<(LocationId, Datum)>>,
    own: &OwnWrites,
    encoding: &Encoding,
) -> Vec<LastWrites> {
    let counted = sequences.iter().map(|writes| {
        let counted = writes.iter().filter(|write| own.counts(state, write.0));
        counted.copied().collect()
    });
    let counted: BTreeSet<Vec<(LocationId, Datum)>> = counted.collect();
    let sequence = |writes: &Vec<(LocationId, Datum)>| -> LastWrites {
        writes.iter().map(|&(x, value)| (x, encoding.one(x, value))).collect()
    };
    counted.iter().map(sequence).collect()
}

/// What a fact leaves of a set of values; `None` if nothing. With `sets` off, a set stays one value or any.
pub(in crate::engine::backward) fn sharpened(
    x: LocationId,
    values: Values,
    allowed: &Allowed,
    encoding: &Encoding,
    sets: bool,
) -> Option<Values> {
    if encoding.has_sets(x) && sets {
        return values.meet(allowed.values).filter(|_| allowed.data.iter().next().is_some());
    }
    let mut fitting = allowed.data.iter().filter(|&value| encoding.contains(x, values, value as Datum));
    let first = fitting.next()?;
    Some(if fitting.next().is_none() { encoding.one(x, first as Datum) } else { values })
}
