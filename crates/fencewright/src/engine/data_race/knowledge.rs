//! Who knows of an access to plain data: the ghost state of happens-before, a bit for each who may know.
//!
//! A race is two accesses, so it is enough to follow one access of a run at a time, the first of the two. Which one is
//! left open: while nothing is followed, any access that somebody else may conflict with is followed, or is not. It is
//! followed until its location is written again. If that write is ordered behind it, then whatever races with the
//! access from then on races with the write as well, which may be followed in its stead; if not, that was the race.
//!
//! What may know of the access is a *holder*. Its bit says that the access is ordered before whoever looks at it:
//!
//! | holder | what the access is ordered before |
//! |---|---|
//! | a thread | its next step |
//! | an atomic location | whoever acquires its value: what was released with it, and what updates kept |
//! | the last release fence of a thread | the fence, and so its relaxed stores since |
//! | what relaxed loads of a thread have seen | its next acquire fence |
//! | the atomic blocks | the next of them: they are in one order |
//!
//! While nothing is followed there is nothing to know, and no bit is set. Holders that no run can need are left out.
//!
//! Where the number of threads is left open, nobody can take from all of them at once what they know. So there an
//! access is followed for ever, one of a run, and what a thread knows are bits of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Unsupported;
use crate::program::{LocationId, Micro, Op, Order, Place, ProcessId, Program};
use crate::util::IndexVec;

/// More bits than this are too many.
const MAX_BITS: usize = 4_000;

/// How a location is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    Read,
    Write,
}

/// How long an access is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// Until its location is written again; then another one may be.
    UntilWritten,
    /// To the end of the run.
    ForEver,
}

/// What carries knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    Thread(ProcessId),
    Location(LocationId),
    Released(ProcessId),
    Seen(ProcessId),
    Blocks,
}

impl Holder {
    /// Whether it is one of a thread.
    pub(super) fn is_own(self) -> bool {
        match self {
            Self::Thread(_) | Self::Released(_) | Self::Seen(_) => true,
            Self::Location(_) | Self::Blocks => false,
        }
    }
}

/// What is remembered, besides what the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ghost {
    /// Whether an access is followed.
    Following,
    /// Which access to a location is: none, a read, a write.
    Followed(LocationId),
    /// Whether it is known here.
    Knows(Holder),
}

/// What there is to remember.
#[derive(Debug)]
pub(super) struct Knowledge {
    /// Who accesses the plain locations that threads contend for.
    contended: BTreeMap<LocationId, BTreeSet<(ProcessId, Access)>>,
    holders: Vec<Holder>,
    following: Following,
    /// The number of each ghost in memory.
    numbers: BTreeMap<Ghost, usize>,
}

impl Knowledge {
    /// What there is to know in a program.
    pub(super) fn new(program: &Program) -> Result<Self, Unsupported> {
        let is_open = program.open_templates().next().is_some();
        let following = if is_open { Following::ForEver } else { Following::UntilWritten };
        let uses = Uses::of(program);
        let mut contended = BTreeMap::new();
        for &x in program.plain() {
            let accesses = uses.of_location(x);
            let is_contended = accesses.iter().any(|&(p, access)| conflicts(accesses, p, access));
            if is_contended && !contended.contains_key(&x) {
                contended.extend(together(program, x).map(|x| (x, uses.of_location(x).clone())));
            }
        }
        let holders = uses.holders(program);
        let n_bits = 1 + 2 * contended.len() + holders.len();
        if n_bits > MAX_BITS {
            let reason = format!("too much plain data to follow: {} places, {n_bits} bits", contended.len());
            let help = format!("leave `plain` to fewer locations: {MAX_BITS} bits are followed");
            return Err(Unsupported { reason, help });
        }
        let places = contended.keys().map(|&x| Ghost::Followed(x));
        let is_in_memory = |it: &&Holder| following == Following::UntilWritten || !it.is_own();
        let knowing = holders.iter().filter(is_in_memory).map(|&it| Ghost::Knows(it));
        let ghosts = [Ghost::Following].into_iter().chain(places).chain(knowing);
        let numbers = ghosts.enumerate().map(|(i, ghost)| (ghost, i)).collect();
        Ok(Self { contended, holders, following, numbers })
    }

    /// Whether there is nothing to follow.
    pub(super) fn is_empty(&self) -> bool {
        self.contended.is_empty()
    }

    /// What is remembered, in the order of the numbers.
    pub(super) fn ghosts(&self) -> Vec<Ghost> {
        let mut all: Vec<_> = self.numbers.iter().map(|(&ghost, &number)| (number, ghost)).collect();
        all.sort_unstable();
        all.into_iter().map(|it| it.1).collect()
    }

    /// The number of what is remembered, if it is. Those of the cells of an array come one behind the other.
    pub(super) fn number(&self, ghost: Ghost) -> Option<usize> {
        self.numbers.get(&ghost).copied()
    }

    pub(super) fn holders(&self) -> impl Iterator<Item = Holder> + '_ {
        self.holders.iter().copied()
    }

    /// Whether somebody may know there.
    pub(super) fn has(&self, holder: Holder) -> bool {
        self.holders.contains(&holder)
    }

    /// How long an access is followed.
    pub(super) fn following(&self) -> Following {
        self.following
    }

    /// Whether an access may conflict with one of another thread.
    pub(super) fn may_conflict(&self, p: ProcessId, x: LocationId, access: Access) -> bool {
        self.contended.get(&x).is_some_and(|accesses| conflicts(accesses, p, access))
    }
}

/// A location, with the other cells of its array.
fn together(program: &Program, x: LocationId) -> impl Iterator<Item = LocationId> {
    let array = program.array_of(x).map(|it| it.cells().collect::<Vec<_>>());
    array.unwrap_or_else(|| vec![x]).into_iter()
}

/// Whether one of these accesses is another thread's, and conflicts with one.
fn conflicts(accesses: &BTreeSet<(ProcessId, Access)>, p: ProcessId, access: Access) -> bool {
    accesses.iter().any(|&(q, other)| q != p && (access == Access::Write || other == Access::Write))
}

/// Who does what in a program.
struct Uses {
    accesses: IndexVec<LocationId, BTreeSet<(ProcessId, Access)>>,
    /// The threads with release fences, and those with acquire fences.
    releases: BTreeSet<ProcessId>,
    acquires: BTreeSet<ProcessId>,
    has_blocks: bool,
}

impl Uses {
    fn of(program: &Program) -> Self {
        let (releases, acquires) = (BTreeSet::new(), BTreeSet::new());
        let accesses = IndexVec::filled(program.locations().len(), BTreeSet::new());
        let mut uses = Self { accesses, releases, acquires, has_blocks: false };
        for edge in program.edges() {
            each_access(&edge.op, &mut |place, access| {
                for x in program.locations_of(place) {
                    uses.accesses[x].insert((edge.process, access));
                }
            });
            if let Some(order) = fence_order(&edge.op, edge.order) {
                if order.releases() {
                    uses.releases.insert(edge.process);
                }
                if order.acquires() {
                    uses.acquires.insert(edge.process);
                }
            }
            uses.has_blocks |= matches!(edge.op, Op::Locked(_));
        }
        uses
    }

    /// Who accesses a location, and how.
    fn of_location(&self, x: LocationId) -> &BTreeSet<(ProcessId, Access)> {
        &self.accesses[x]
    }

    fn holders(&self, program: &Program) -> Vec<Holder> {
        let threads = program.processes().indices().map(Holder::Thread);
        let is_carrier = |x: LocationId| {
            let of = |access: Access| self.of_location(x).iter().filter(move |it| it.1 == access);
            !program.plain().contains(&x) && of(Access::Read).any(|p| of(Access::Write).any(|q| p.0 != q.0))
        };
        let mut carriers = BTreeSet::new();
        for x in program.locations().indices().filter(|&x| is_carrier(x)) {
            if !carriers.contains(&x) {
                carriers.extend(together(program, x));
            }
        }
        let locations = carriers.into_iter().map(Holder::Location);
        let released = self.releases.iter().copied().map(Holder::Released);
        let seen = self.acquires.iter().copied().map(Holder::Seen);
        let blocks = self.has_blocks.then_some(Holder::Blocks);
        threads.chain(locations).chain(released).chain(seen).chain(blocks).collect()
    }
}

/// The order of a fence of the language; none for what is no such fence.
pub(super) fn fence_order(op: &Op, order: Order) -> Option<Order> {
    match (op, order) {
        (Op::Fence(_), Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst) => Some(order),
        (Op::Assume(_), Order::Acquire) => Some(order),
        (Op::Fence(_), Order::Plain | Order::Relaxed) => None,
        (Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..), _) => None,
        (Op::Load(..) | Op::Store(..) | Op::Rmw { .. } | Op::Locked(_), _) => None,
    }
}

/// Every access of an operation.
pub(super) fn each_access<'o>(op: &'o Op, visit: &mut impl FnMut(&'o Place, Access)) {
    match op {
        Op::Load(_, place) => visit(place, Access::Read),
        Op::Store(place, _) => visit(place, Access::Write),
        Op::Rmw { place, write, .. } => {
            visit(place, Access::Read);
            if write.is_some() {
                visit(place, Access::Write);
            }
        }
        Op::Locked(body) => body.iter().for_each(|micro| each_part(micro, visit)),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => {}
    }
}

fn each_part<'o>(micro: &'o Micro, visit: &mut impl FnMut(&'o Place, Access)) {
    match micro {
        Micro::Load(_, place) => visit(place, Access::Read),
        Micro::Store(place, _) => visit(place, Access::Write),
        Micro::Choose(branches) => branches.iter().flatten().for_each(|micro| each_part(micro, visit)),
        Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => {}
    }
}
