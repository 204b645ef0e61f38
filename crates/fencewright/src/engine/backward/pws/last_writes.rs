//! The last writes of a process, in groups between store-store fences.
//!
//! The paper's third optimization: a forward analysis of each process says what it can have written last to each
//! location since it last waited for it, and in which order such writes get into the channel. Stores between two
//! store-store fences get there in any order, but before those behind the second fence:
//!
//! ```text
//!    x = 1; y = 1; sfence; z = 1; x = 2;      {y=1} {z=1, x=2}
//! ```
//!
//! What is pending is in the last group. What a process has passed with its pointer is in no later group than what is
//! pending or right of the pointer. If a configuration violates this, so does every larger one.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::automaton::{Datum, Letter, ProcessAutomaton};
use crate::engine::backward::facts::waits_for;
use crate::engine::backward::pws::constraint::Constraint;
use crate::engine::backward::snapshot::may_be;
use crate::memory::PsoRmw;
use crate::program::{FenceKind, LocationId, ProcessId};

/// What a process wrote last, by location.
type Group = BTreeMap<LocationId, Datum>;

/// What a process can have written last.
#[derive(Debug)]
pub(super) struct LastWrites {
    /// By state; the last group is what was written since the last fence, and may be empty.
    at: Vec<BTreeSet<Vec<Group>>>,
}

/// More than this in a process are not worth it.
const MAX_LAST_WRITES: usize = 20_000;

impl LastWrites {
    /// The last writes of a process; `None` if there are too many.
    pub(super) fn new(process: &ProcessAutomaton, rmw: PsoRmw) -> Option<Self> {
        let mut at = vec![BTreeSet::new(); process.states.len()];
        let mut todo: Vec<(usize, Vec<Group>)> =
            process.initial.keys().map(|&state| (state as usize, vec![Group::new()])).collect();
        let mut n_all = 0;
        while let Some((state, groups)) = todo.pop() {
            if !at[state].insert(groups.clone()) {
                continue;
            }
            n_all += 1;
            if n_all > MAX_LAST_WRITES {
                return None;
            }
            for edge in process.outgoing[state].iter().map(|&edge| &process.edges[edge as usize]) {
                todo.push((edge.to as usize, after(&groups, &edge.letter, rmw)));
            }
        }
        Some(Self { at })
    }

    /// Whether a constraint may have what it has of a process pending and own; a `*` that can be but one value becomes
    /// that value.
    pub(super) fn admit(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let seen = Seen::new(constraint, process);
        let candidates = self.at[constraint.states[process] as usize].iter();
        let matching: Vec<&Vec<Group>> = candidates.filter(|groups| seen.fits(groups)).collect();
        let Some(first) = matching.first() else { return false };
        let only = |x: LocationId| {
            let value = value_of(first, x)?;
            matching.iter().all(|groups| value_of(groups, x) == Some(value)).then_some(value)
        };
        for (at, (x, _)) in seen.own {
            if let Some(value) = only(x) {
                constraint.channel.0[at].memory[x] = value;
            }
        }
        for (x, _) in seen.pending {
            if let Some(value) = only(x) {
                let mut stores = constraint.stores.get(process, x).to_vec();
                *stores.last_mut().expect("a store is pending") = value;
                constraint.stores.set(process, x, stores);
            }
        }
        true
    }
}

/// The last writes after a step.
fn after(groups: &[Group], letter: &Letter, rmw: PsoRmw) -> Vec<Group> {
    let (open, sealed) = groups.split_last().expect("there is always a last group");
    match letter {
        Letter::Nop | Letter::Read(..) => groups.to_vec(),
        Letter::Write(x, value) => {
            let without = |group: &Group| group.iter().filter(|write| write.0 != x).map(|(&x, &v)| (x, v)).collect();
            let older = sealed.iter().map(without).filter(|group: &Group| !group.is_empty());
            let mut newest: Group = without(open);
            newest.insert(*x, *value);
            older.chain([newest]).collect()
        }
        Letter::Fence(FenceKind::StoreStore) if open.is_empty() => groups.to_vec(),
        Letter::Fence(FenceKind::StoreStore) => [groups, &[Group::new()]].concat(),
        Letter::Fence(FenceKind::Full) => vec![Group::new()],
        // The pointer has passed all that is serialized; what is pending stays.
        Letter::Atomic(atomic) => {
            let stays = |x: &LocationId| !waits_for(atomic.waits_for, *x, rmw);
            vec![open.iter().filter(|write| stays(write.0)).map(|(&x, &value)| (x, value)).collect()]
        }
    }
}

fn value_of(groups: &[Group], x: LocationId) -> Option<Datum> {
    groups.iter().find_map(|group| group.get(&x).copied())
}

/// What a constraint has of a process.
struct Seen {
    /// Its own messages, from the left: where, of which location, with which value.
    own: Vec<(usize, (LocationId, Datum))>,
    /// Its newest pending stores.
    pending: Vec<(LocationId, Datum)>,
}

impl Seen {
    fn new(constraint: &Constraint, process: ProcessId) -> Self {
        let own = constraint.channel.0.iter().enumerate().filter_map(|(at, message)| {
            let (_, x) = message.own.filter(|own| own.0 == process)?;
            Some((at, (x, message.memory[x])))
        });
        let pending = constraint.stores.of(process).filter_map(|(x, stores)| Some((x, *stores.last()?)));
        Self { own: own.collect(), pending: pending.collect() }
    }

    /// Whether the last writes can have been these.
    fn fits(&self, groups: &[Group]) -> bool {
        let group_of = |&(x, cell): &(LocationId, Datum)| {
            groups.iter().position(|group| group.get(&x).is_some_and(|&value| may_be(cell, value)))
        };
        let own: Option<Vec<usize>> = self.own.iter().map(|(_, write)| group_of(write)).collect();
        let Some(own) = own else { return false };
        let last = groups.len() - 1;
        let is_here = |x: &LocationId| {
            self.own.iter().any(|(_, write)| write.0 == *x) || self.pending.iter().any(|write| write.0 == *x)
        };
        let first_here = own.first().copied().unwrap_or(last);
        own.is_sorted()
            && self.pending.iter().all(|write| group_of(write) == Some(last))
            && groups.iter().skip(first_here + 1).all(|group| group.keys().all(is_here))
    }
}
