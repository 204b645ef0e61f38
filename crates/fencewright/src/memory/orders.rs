//! What release/acquire makes of the orders of a language.
//!
//! | access | under release/acquire |
//! |---|---|
//! | `acquire` load, `release` store, `acq_rel` update, without an order | itself |
//! | `relaxed` load, behind which an acquire fence comes before anything but loads of the same | an acquire load |
//! | `relaxed` store right behind a release fence | a release store |
//! | `acquire` update that writes a value which nobody reads, as a lock does | an `acq_rel` update |
//! | plain | as any other: before the first race a plain load finds the one store that is left to it |
//! | `seq_cst`, of a location that nobody accesses otherwise ([`Sequential::Always`]) | acts on the last message |
//! | `seq_cst`, of another location ([`Sequential::Sometimes`]) | as far as RC11 allows what has happened so far |
//! | anything else | refused |
//!
//! All but the last but one are what RC11 has by themselves. For the seq_cst accesses of a location that has no others,
//! let S be the order in which these and seq_cst fences happen here. Program order and reads-from between two of them
//! are among what RC11 puts in order, so its order of them never goes against happens-before, and events can happen
//! along both; each load then finds the last store of its location, each store comes behind all others. The other way
//! round, whatever RC11 puts in order goes forward in S.
//!
//! Where a location has both, RC11 orders seq_cst accesses against happens-before, and no messages tell of that. The
//! machine keeps the execution graph beside its messages then, and asks the axioms. Searches that have no such graph
//! take these accesses as release and acquire, which allows more ([`weakened`]), so that what is safe then is safe; a
//! run is believed if the machine has it.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{Edge, EdgeId, Expr, LocationId, Op, Order, Place, PointId, Program, RmwVar};
use crate::util::IndexVec;

/// Whether the accesses of a location are seq_cst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sequential {
    /// None is.
    #[default]
    Never,
    /// All are: they act on the last message.
    Always,
    /// Some are: the axioms say what these may do.
    Sometimes,
}

/// The place that an edge accesses.
fn accessed(edge: &Edge) -> Option<&Place> {
    match &edge.op {
        Op::Load(_, place) | Op::Store(place, _) | Op::Rmw { place, .. } => Some(place),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) | Op::Locked(_) => None,
    }
}

/// Whether the accesses of each location are seq_cst.
pub fn sequential(program: &Program) -> IndexVec<LocationId, Sequential> {
    let mut found: IndexVec<LocationId, [bool; 2]> = IndexVec::filled(program.locations().len(), [false; 2]);
    for edge in program.edges() {
        let Some(place) = accessed(edge) else { continue };
        let is_ordered = edge.order == Order::SeqCst;
        program.locations_of(place).into_iter().for_each(|x| found[x][usize::from(is_ordered)] = true);
    }
    let of = |(x, found): (LocationId, &[bool; 2])| match found {
        _ if program.plain().contains(&x) => Sequential::Never,
        [_, false] => Sequential::Never,
        [false, true] => Sequential::Always,
        [true, true] => Sequential::Sometimes,
    };
    found.iter_enumerated().map(of).collect()
}

/// The seq_cst accesses of locations that have others, too.
pub fn mixed(program: &Program) -> Vec<EdgeId> {
    let sequential = sequential(program);
    let is_mixed = |edge: &Edge| {
        let places = accessed(edge).map(|place| program.locations_of(place)).unwrap_or_default();
        edge.order == Order::SeqCst && places.iter().any(|&x| sequential[x] == Sequential::Sometimes)
    };
    program.edges().iter_enumerated().filter(|(_, edge)| is_mixed(edge)).map(|(id, _)| id).collect()
}

/// A program that does at least what RC11 allows this one, with messages alone, and without the fences that stand
/// beside accesses for machines with store buffers. Its edges and their ways are the same. Nothing if it is the same
/// program.
pub fn weakened(program: &Program) -> Option<Program> {
    let orders: BTreeMap<EdgeId, Order> = mixed(program).into_iter().map(|edge| (edge, Order::AcqRel)).collect();
    let is_companion = |edge: &Edge| matches!(edge.op, Op::Fence(_)) && edge.fence_order().is_none();
    let is_other = !orders.is_empty() || program.edges().iter().any(is_companion);
    is_other.then(|| program.with_orders(&orders).without_companions())
}

/// Whether all accesses are release and acquire by themselves.
pub fn is_release_acquire(program: &Program) -> bool {
    program.edges().iter().all(|edge| {
        let is_plain = accessed(edge).is_some_and(|place| program.is_plain(place));
        let is_known = match &edge.op {
            Op::Load(..) | Op::Rmw { write: None, .. } => edge.order.of_read() == Order::Acquire,
            Op::Store(..) => edge.order.of_write() == Order::Release,
            Op::Rmw { write: Some(_), .. } => edge.order == Order::AcqRel,
            Op::Locked(_) => false,
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => true,
        };
        is_known && !is_plain
    })
}

/// What an access is under release/acquire, by the fences beside it.
pub(super) fn taken(program: &Program, id: EdgeId) -> Order {
    let edge = &program.edges()[id];
    let Some(place) = accessed(edge) else { return edge.order };
    if program.is_plain(place) {
        return Order::Plain;
    }
    match (&edge.op, edge.order) {
        (Op::Load(..), Order::Relaxed) if is_fenced_behind(program, place, edge.to) => Order::Acquire,
        (Op::Store(..), Order::Relaxed) if is_fenced_before(program, edge.from) => Order::Release,
        (Op::Rmw { write: Some(value), .. }, Order::Acquire) if is_unread(program, place, value) => Order::AcqRel,
        (op, order) => order.of(op),
    }
}

/// Whether nobody ever reads a value that an update writes, as in a lock that others wait for: what it would tell does
/// not matter then.
fn is_unread(program: &Program, place: &Place, value: &Expr<RmwVar>) -> bool {
    let &Expr::Const(value) = value else { return false };
    let written = program.locations_of(place);
    let may_read = |edge: &Edge| match &edge.op {
        Op::Load(..) => true,
        Op::Rmw { guard, .. } => {
            let mut is_open = false;
            guard.for_each_var(&mut |var| is_open |= *var != RmwVar::Old);
            is_open || guard.eval(&|_| value).is_ok_and(|holds| holds != 0)
        }
        Op::Store(..) | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => false,
        Op::Locked(_) => true,
    };
    let is_one = |place: &Place| program.locations_of(place).iter().any(|x| written.contains(x));
    let is_there = |edge: &Edge| accessed(edge).is_some_and(is_one);
    !program.edges().iter().filter(|edge| is_there(edge)).any(may_read)
}

fn acquires(edge: &Edge) -> bool {
    edge.fence_order().is_some_and(Order::acquires)
}

fn releases(edge: &Edge) -> bool {
    edge.fence_order().is_some_and(Order::releases)
}

/// Whether, from a point on, an acquire fence comes before any access but relaxed loads of the same place. Those learn
/// nothing of that place that they would not have to respect anyway. A place that is computed may be another then.
fn is_fenced_behind(program: &Program, place: &Place, from: PointId) -> bool {
    let (mut seen, mut todo) = (BTreeSet::from([from]), vec![from]);
    while let Some(point) = todo.pop() {
        for &next in &program.points()[point].edges {
            let edge = &program.edges()[next];
            let is_load = matches!(&edge.op, Op::Load(_, other) if other == place) && edge.order == Order::Relaxed;
            let is_same = is_load && matches!(place, Place::Fixed(_));
            match (acquires(edge), edge.op.is_local() || is_same) {
                (true, _) => {}
                (false, true) if seen.insert(edge.to) => todo.push(edge.to),
                (false, true) => {}
                (false, false) => return false,
            }
        }
    }
    true
}

/// Whether, before a point, nothing comes between it and a release fence.
fn is_fenced_before(program: &Program, to: PointId) -> bool {
    let process = program.points()[to].process;
    let (mut seen, mut todo) = (BTreeSet::from([to]), vec![to]);
    while let Some(point) = todo.pop() {
        if program.processes()[process].entry == point {
            return false;
        }
        for edge in program.edges().iter().filter(|edge| edge.to == point) {
            match (releases(edge), edge.op.is_local()) {
                (true, _) => {}
                (false, true) if seen.insert(edge.from) => todo.push(edge.from),
                (false, true) => {}
                (false, false) => return false,
            }
        }
    }
    true
}
