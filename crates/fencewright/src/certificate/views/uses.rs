//! Who accesses what.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{LocationId, Op, Order, Place, ProcessId, Program, Value};
use crate::system::Flow;
use crate::util::IndexVec;

use super::super::verify::Failure;

/// So many values of a location, and so many locations, are followed.
const MAX: usize = 64;

/// Who accesses what, of what several threads share.
#[derive(Debug)]
pub(super) struct Uses {
    /// The number and the least value of each atomic location that threads share.
    pub shared: IndexVec<LocationId, Option<(usize, Value)>>,
    pub n_shared: usize,
    /// The number of each access to plain data that threads share: the location, who, and whether it writes.
    pub plain: BTreeMap<(LocationId, ProcessId, bool), usize>,
    /// The threads with a fence that acquires: others never learn what their relaxed reads have found.
    pub acquiring: BTreeSet<ProcessId>,
}

impl Uses {
    /// Who accesses what in a program.
    pub(super) fn of(flow: Flow<'_>) -> Result<Self, Failure> {
        let program = flow.program;
        let accesses = accesses(program);
        let is_shared = |x: LocationId| {
            let mut all = accesses.iter().filter(|it| it.0 == x);
            all.any(|a| a.2 && accesses.iter().any(|b| b.0 == x && b.1 != a.1))
        };
        let mut uses =
            Self { shared: IndexVec::new(), n_shared: 0, plain: BTreeMap::new(), acquiring: acquiring(flow) };
        for (x, location) in program.locations().iter_enumerated() {
            let is_atomic = is_shared(x) && !program.plain().contains(&x);
            let bounds = location.domain.bounds().filter(|_| location.domain.size() <= Some(MAX as u64));
            uses.shared.push(match (is_atomic, bounds) {
                (false, _) => None,
                (true, Some((least, _))) if uses.n_shared < MAX => {
                    uses.n_shared += 1;
                    Some((uses.n_shared - 1, least))
                }
                (true, _) => return Failure::refused("threads share too many locations, or values of one"),
            });
        }
        let plain = accesses.iter().filter(|it| program.plain().contains(&it.0) && is_shared(it.0));
        uses.plain = plain.enumerate().map(|(number, it)| (*it, number)).collect();
        Ok(uses)
    }
}

/// The location, who, and whether it writes.
fn accesses(program: &Program) -> BTreeSet<(LocationId, ProcessId, bool)> {
    let mut all = BTreeSet::new();
    for edge in program.edges() {
        let mut add = |place: &Place, writes: bool| {
            all.extend(program.locations_of(place).into_iter().map(|x| (x, edge.process, writes)));
        };
        match &edge.op {
            Op::Load(_, place) => add(place, false),
            Op::Store(place, _) => add(place, true),
            Op::Rmw { place, write, .. } => {
                add(place, false);
                if write.is_some() {
                    add(place, true);
                }
            }
            Op::Fence(_) | Op::Locked(_) | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => {}
        }
    }
    all
}

fn acquiring(flow: Flow<'_>) -> BTreeSet<ProcessId> {
    let edges = flow.program.edges();
    let own = edges.iter().filter(|it| it.fence_order().is_some_and(Order::acquires)).map(|it| it.process);
    let laid = flow.placement.iter().map(|(position, _)| edges[position.edge].process);
    own.chain(laid).collect()
}

impl Uses {
    /// The number of an access to plain data, if others share the location.
    pub(super) fn plain_access(&self, x: LocationId, process: ProcessId, writes: bool) -> Option<usize> {
        self.plain.get(&(x, process, writes)).copied()
    }

    /// The accesses of others that race with one, if they are not known.
    pub(super) fn conflicts(&self, x: LocationId, process: ProcessId, writes: bool) -> impl Iterator<Item = usize> {
        let of_others = self.plain.iter().filter(move |((y, other, _), _)| *y == x && *other != process);
        of_others.filter(move |((_, _, wrote), _)| *wrote || writes).map(|(_, &number)| number)
    }

    /// A value of a shared location as a bit.
    pub(super) fn bit(&self, x: LocationId, value: Value) -> u64 {
        let (_, least) = self.shared[x].expect("it is shared");
        1 << (value - least)
    }
}
