//! Stores that race: two to one location, of which neither happens before the other.
//!
//! Take a race and leave out all that happens before neither store, and both: what is left is a run of strong
//! release/acquire to where both threads stand before their stores (the location is updated only with its last value,
//! and two updates never race). So races are one more set of bad situations for the same search. Without any, every
//! modification order is part of happens-before, and release/acquire is strong release/acquire. Where all accesses of a
//! location are seq_cst, stores come into modification order as they happen anyway.

use super::constraint::{ABSENT, states};
use super::kinds::{Act, Flavor, Kinds};
use super::system::{Potentials, Reducing};
use crate::engine::StopReason;
use crate::engine::automaton::{Datum, RegisterFree, StateId};
use crate::engine::backward::bad::Bad;
use crate::engine::backward::{End, Search};
use crate::program::{EdgeId, LocationId, ProcessId};
use crate::system::Action;
use crate::util::Idx;
use crate::watch::{Monitor, Progress};

/// What a bad situation takes, roughly.
const BYTES: u64 = 256;

/// A thread before a store: its state, where, the value that must be there, and the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Before {
    process: ProcessId,
    state: StateId,
    place: u32,
    found: Option<Datum>,
    edge: EdgeId,
}

/// Two stores that race, if there are such.
pub(super) fn racing(
    program: &RegisterFree,
    ordered: &[bool],
    reducing: Reducing,
    n_threads: usize,
    monitor: &dyn Monitor,
) -> Result<Option<[EdgeId; 2]>, StopReason> {
    let all = stores(program, ordered);
    let bad = race_situations(program, ordered, monitor)?;
    let reducing = Reducing { absent: true, symmetry: false, flavor: Flavor::Strong, ..reducing };
    let mut search = Search::new(Potentials::new(program, ordered, bad, reducing));
    match search.run(n_threads, monitor) {
        End::Safe => Ok(None),
        End::Stopped(reason) => Err(reason),
        End::Unsafe(_) => {
            let path = search.path();
            let end = path.last().map(|it| it.1).or(search.last()).expect("a race was found");
            let is_there = |it: &Before| states(end)[it.process.index()] == it.state;
            let absent = states(end).iter().filter(|&&state| state == ABSENT).count();
            let found = pairs(&all).find(|(one, other)| is_there(one) && is_there(other));
            let defect = || StopReason::Defect(format!("a race of {absent} threads is none"));
            found.map(|(one, other)| Some([one.edge, other.edge])).ok_or_else(defect)
        }
    }
}

/// Two threads before stores that race, whatever the others do.
pub(super) fn race_situations(
    program: &RegisterFree,
    ordered: &[bool],
    monitor: &dyn Monitor,
) -> Result<Vec<Bad>, StopReason> {
    let all = stores(program, ordered);
    let n_pairs = pairs(&all).count() as u64;
    if let Some(stop) = monitor.poll(&Progress { bytes: n_pairs * BYTES, ..Progress::default() }) {
        return Err(stop.into());
    }
    let bad = pairs(&all).map(|(one, other)| Bad {
        states: vec![(one.process, one.state), (other.process, other.state)],
        memory: other.found.map(|value| (LocationId::from_usize(one.place as usize), value)).into_iter().collect(),
    });
    Ok(bad.collect())
}

/// All that stores, but fences, and but where stores come into modification order as they happen.
fn stores(program: &RegisterFree, ordered: &[bool]) -> Vec<Before> {
    let kinds = Kinds::new(program, ordered, Flavor::Strong, true);
    let mut out = Vec::new();
    for (process, automaton) in program.processes.iter_enumerated() {
        for (edge, act) in automaton.edges.iter().zip(&kinds.acts[process]) {
            let (place, found) = match *act {
                Act::Write(x, _) => (x, None),
                Act::Update(x, old, _) => (x, Some(old)),
                Act::Nop | Act::Read(..) | Act::Find(..) => continue,
            };
            let Action::Edge { edge: id, .. } = edge.step.action else { continue };
            let before = Before { process, state: edge.from, place, found, edge: id };
            if (place as usize) < program.values.len() && !kinds.is_ordered(place) && !out.contains(&before) {
                out.push(before);
            }
        }
    }
    out
}

/// Pairs of different threads of which the first only writes.
fn pairs(all: &[Before]) -> impl Iterator<Item = (Before, Before)> + '_ {
    all.iter().filter(|it| it.found.is_none()).flat_map(move |one| {
        let others = all.iter().filter(move |other| other.process != one.process && other.place == one.place);
        // Two that only write are a pair once.
        others
            .filter(move |other| other.found.is_some() || one.process < other.process)
            .map(move |other| (*one, *other))
    })
}
