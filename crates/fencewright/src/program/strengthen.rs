//! Candidates that are no new line of the text: an order that becomes stronger.
//!
//! | access | becomes | lays |
//! |---|---|---|
//! | store `relaxed` | `release` | a store-store fence before it |
//! | store `relaxed`, `release` | `seq_cst` | that, and a full fence after it |
//! | update `relaxed`, `acquire` | `acq_rel` | a store-store fence before it |
//!
//! So the strength of such a candidate is a kind of fence like that of any other, and a stronger one includes a weaker
//! one. What the order of the text has already is not laid once more.

use std::collections::{BTreeMap, BTreeSet};

use super::candidates::{owner, weigh};
use crate::program::{By, Candidate, CandidateId, FenceKind, Op, Order, Position, ProcessId, Program, Side};
use crate::source::Span;
use crate::util::IndexVec;

/// An order that can be made stronger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strengthening {
    /// The order as it is.
    pub from: Order,
    /// Whether the access is an update.
    pub is_update: bool,
    /// Where the store-store fence lies that every stronger order has.
    pub before: Vec<Position>,
}

impl Strengthening {
    /// The order that means a fence of this kind.
    pub fn to(&self, kind: FenceKind) -> Order {
        match kind {
            FenceKind::StoreStore if self.is_update => Order::AcqRel,
            FenceKind::StoreStore => Order::Release,
            FenceKind::Full => Order::SeqCst,
        }
    }
}

/// An order to be written in place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reorder {
    /// The access, as its edge has it.
    pub access: Span,
    /// Its order as it is.
    pub from: Order,
    /// The one that it gets.
    pub to: Order,
    /// The one that it gets for where it fails, if that changes.
    pub failure: Option<Order>,
    /// Whether only the language needs it, and no machine with store buffers.
    pub is_companion: bool,
}

/// What may be changed in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Orders only.
    Orders,
    /// Lines are inserted, and nothing else.
    Fences,
    /// An order where it can be changed, a line elsewhere.
    #[default]
    Both,
}

/// The candidates of a text in which the orders of some accesses can be changed, beside those that are fences. A fence
/// that an order can stand for is left out.
pub fn with_orders(
    program: &Program,
    fences: IndexVec<CandidateId, Candidate>,
    (changeable, by): (&BTreeSet<Span>, By),
    repair: Repair,
) -> IndexVec<CandidateId, Candidate> {
    if repair == Repair::Fences {
        return fences;
    }
    let mut all = orders(program, changeable, by);
    let covered: BTreeSet<Position> = all.iter().flat_map(|it| it.positions.iter().copied()).collect();
    if repair == Repair::Both {
        all.extend(fences.iter().filter(|it| !it.positions.iter().all(|at| covered.contains(at))).cloned());
    }
    all.sort_by_key(|it| (it.span.start, it.side, it.first()));
    all.into_iter().collect()
}

/// The copies of an access of the text, by process where each has its own.
type Key = (Option<ProcessId>, Span, bool);

/// Where the fences of an access lie that it does not have yet.
struct Access {
    from: Order,
    before: Vec<Position>,
    after: Vec<Position>,
}

/// One candidate for each access of the text whose order can become stronger.
fn orders(program: &Program, changeable: &BTreeSet<Span>, by: By) -> Vec<Candidate> {
    let mut groups: BTreeMap<Key, Access> = BTreeMap::new();
    for (edge, it) in program.edges().iter_enumerated() {
        let is_update = match it.op {
            Op::Store(..) => false,
            Op::Rmw { .. } => true,
            Op::Load(..) | Op::Fence(_) | Op::Locked(_) | Op::Assume(_) | Op::Assert(_) => continue,
            Op::Assign(..) | Op::Havoc(..) => continue,
        };
        let is_weak = it.order == Order::Relaxed || it.order == Order::Acquire || it.order == Order::Release;
        if !is_weak || (is_update && it.order.releases()) || !changeable.contains(&it.span) {
            continue;
        }
        let key = ((by == By::Process).then_some(it.process), it.span, is_update);
        let access = groups.entry(key).or_insert(Access { from: it.order, before: Vec::new(), after: Vec::new() });
        if !it.order.releases() {
            access.before.push(Position { edge, side: Side::Before });
        }
        if !is_update {
            access.after.push(Position { edge, side: Side::After });
        }
    }
    let weigh = weigh(program);
    let candidate = |((process, span, is_update), Access { from, before, after }): (Key, Access)| {
        let touched = if after.is_empty() { &before } else { &after };
        let (owner, weight) = (owner(program, process, touched), weigh(touched));
        let order = Some(Strengthening { from, is_update, before });
        Candidate { span, side: Side::After, owner, weight, positions: after, order }
    };
    groups.into_iter().map(candidate).collect()
}
