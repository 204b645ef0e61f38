//! What the language needs besides, where an order becomes stronger.
//!
//! A machine with store buffers keeps a `seq_cst` store and what follows it apart whatever the order of the loads there
//! is; C11 does so only if those that overtook it are `seq_cst` too. A `release` store tells nothing to a `relaxed`
//! load. So a set of stronger orders brings companions: the loads that overtook the store in the runs that it stops,
//! and the accesses that may read from a store that releases. They cost nothing under TSO and PSO, and whether they are
//! enough for C11 is not decided here.

use std::collections::{BTreeMap, BTreeSet};

use super::clause::overtaking;
use super::{Candidate, CandidateId, Choice, Clause};
use crate::program::{EdgeId, FenceKind, LocationId, Op, Order, Place, Program, Reorder};
use crate::source::Span;
use crate::util::IndexVec;

/// The orders that a set writes, its own and their companions, in the order of the text.
pub fn reordered(
    program: &Program,
    candidates: &IndexVec<CandidateId, Candidate>,
    set: &Choice,
    (clauses, changeable): (&[Clause], &BTreeSet<Span>),
) -> Vec<Reorder> {
    let mut own: BTreeMap<Span, (Order, Order)> = BTreeMap::new();
    let mut asked: BTreeMap<Span, (Order, Order)> = BTreeMap::new();
    for (&id, &kind) in &set.0 {
        let candidate = &candidates[id];
        let Some(order) = &candidate.order else { continue };
        own.insert(candidate.span, (order.from, order.to(kind)));
        let edges: BTreeSet<EdgeId> = candidate.reaches().map(|it| it.0.edge).collect();
        if kind == FenceKind::Full {
            let missed = clauses.iter().filter(|it| it.elements.get(&id).is_some_and(|&least| least <= kind));
            for load in missed.flat_map(|it| overtaking(program, &it.run, &edges)) {
                ask(program, load, Order::SeqCst, &mut asked);
            }
        }
        for reader in readers(program, &edges) {
            ask(program, reader, Order::Acquire, &mut asked);
        }
    }
    let reorder = |is_companion| move |(access, (from, to))| Reorder { access, from, to, failure: None, is_companion };
    let companions = asked
        .into_iter()
        .filter(|(span, (from, to))| from != to && changeable.contains(span) && !own.contains_key(span));
    let companions: Vec<Reorder> = companions.map(reorder(true)).collect();
    let mut all: Vec<Reorder> = own.into_iter().map(reorder(false)).chain(companions).collect();
    all.sort_unstable();
    all
}

/// Notes that an access wants at least this order. An access without an order, or a plain one, has none to change.
fn ask(program: &Program, edge: EdgeId, least: Order, asked: &mut BTreeMap<Span, (Order, Order)>) {
    let edge = &program.edges()[edge];
    if edge.order == Order::Plain {
        return;
    }
    let (_, to) = asked.entry(edge.span).or_insert((edge.order, edge.order));
    *to = to.join(least);
}

/// The accesses of other processes that may read what these edges write.
fn readers(program: &Program, edges: &BTreeSet<EdgeId>) -> Vec<EdgeId> {
    let reads = |op: &Op| match op {
        Op::Load(_, place) | Op::Rmw { place, .. } => cells(program, place),
        Op::Store(..) | Op::Fence(_) | Op::Locked(_) | Op::Assume(_) => Vec::new(),
        Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Vec::new(),
    };
    let writes = |op: &Op| match op {
        Op::Store(place, _) | Op::Rmw { place, .. } => cells(program, place),
        Op::Load(..) | Op::Fence(_) | Op::Locked(_) | Op::Assume(_) => Vec::new(),
        Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Vec::new(),
    };
    let all = &program.edges();
    let may_read = |reader: &EdgeId| {
        edges.iter().any(|&writer| {
            let read = reads(&all[*reader].op);
            all[writer].process != all[*reader].process && writes(&all[writer].op).iter().any(|it| read.contains(it))
        })
    };
    all.indices().filter(may_read).collect()
}

/// The locations that a place may be.
fn cells(program: &Program, place: &Place) -> Vec<LocationId> {
    match place {
        Place::Fixed(location) => vec![*location],
        Place::Cell(array, _) => program.arrays()[*array].cells().collect(),
    }
}
