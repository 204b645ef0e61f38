//! Who knows of which accesses to plain data: the ghost state of happens-before, in so many bits.
//!
//! Of all accesses to a plain location only the last write counts, and each thread's last read since: as long as
//! there was no race, all others are ordered before these. Each is an *item*, one bit. What carries knowledge is a
//! *holder*, a word with a bit for each item, which says that the access (if there was one) is ordered before whoever
//! looks at it:
//!
//! | holder | holds what is ordered before |
//! |---|---|
//! | a thread | its next step |
//! | an atomic location | whoever acquires its value: what was released with it, and what updates kept |
//! | the last release fence of a thread | the fence, and so its relaxed stores since |
//! | what relaxed loads of a thread have seen | its next acquire fence |
//! | the atomic blocks | the next of them: they are in one order |
//!
//! Holders and items that no run can need are left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Unsupported;
use crate::program::{LocationId, Micro, Op, Order, Place, ProcessId, Program, Value};

/// More items than this do not fit a word.
const MAX_ITEMS: usize = 60;
/// More bits than this are too many.
const MAX_BITS: usize = 4_000;

/// How a location is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    Read,
    Write,
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

/// Which items and holders there are.
#[derive(Debug)]
pub(super) struct Knowledge {
    /// The bit of the last write of each location that threads contend for.
    writes: BTreeMap<LocationId, Value>,
    /// The bits of the last reads.
    reads: BTreeMap<(LocationId, ProcessId), Value>,
    /// In the order of their words.
    pub holders: Vec<Holder>,
}

impl Knowledge {
    /// What there is to know in a program.
    pub(super) fn new(program: &Program) -> Result<Self, Unsupported> {
        let uses = Uses::of(program);
        let mut knowledge = Self { writes: BTreeMap::new(), reads: BTreeMap::new(), holders: Vec::new() };
        let mut n_items = 0;
        let mut item = || {
            n_items += 1;
            1 << (n_items - 1).min(MAX_ITEMS)
        };
        for &x in program.plain() {
            let (readers, writers) = (uses.of_location(x, Access::Read), uses.of_location(x, Access::Write));
            let is_others = |p: ProcessId| writers.iter().any(|&writer| writer != p);
            let contend = readers.iter().chain(&writers).any(|&p| is_others(p));
            if contend {
                knowledge.writes.insert(x, item());
                for &reader in readers.iter().filter(|&&p| is_others(p)) {
                    knowledge.reads.insert((x, reader), item());
                }
            }
        }
        knowledge.holders = uses.holders(program);
        let n_bits = n_items * knowledge.holders.len();
        if n_items > MAX_ITEMS || n_bits > MAX_BITS {
            let reason = format!("too much plain data to follow: {n_items} accesses in {n_bits} bits");
            let help = format!("leave `plain` to fewer locations: {MAX_ITEMS} accesses, {MAX_BITS} bits are followed");
            return Err(Unsupported { reason, help });
        }
        Ok(knowledge)
    }

    /// Whether there is a word for this.
    pub(super) fn has(&self, holder: Holder) -> bool {
        self.holders.contains(&holder)
    }

    /// All that there is to know.
    pub(super) fn everything(&self) -> Value {
        self.writes.values().chain(self.reads.values()).fold(0, |all, bit| all | bit)
    }

    /// What is new with an access: the item itself, and the reads that a write leaves nothing to know of.
    pub(super) fn renewed(&self, p: ProcessId, x: LocationId, access: Access) -> (Value, Value) {
        match access {
            Access::Read => (self.reads.get(&(x, p)).copied().unwrap_or(0), 0),
            Access::Write => (self.writes.get(&x).copied().unwrap_or(0), self.reads_of(x, |_| true)),
        }
    }

    /// What an access needs to know.
    pub(super) fn needed(&self, p: ProcessId, x: LocationId, access: Access) -> Value {
        let write = self.writes.get(&x).copied().unwrap_or(0);
        match access {
            Access::Read => write,
            Access::Write => write | self.reads_of(x, |reader| reader != p),
        }
    }

    fn reads_of(&self, x: LocationId, of: impl Fn(ProcessId) -> bool) -> Value {
        let all = self.reads.iter().filter(|((read, reader), _)| *read == x && of(*reader));
        all.fold(0, |all, (_, bit)| all | bit)
    }
}

/// Who does what in a program.
struct Uses {
    accesses: BTreeSet<(LocationId, Access, ProcessId)>,
    /// The threads with release fences, and those with acquire fences.
    releases: BTreeSet<ProcessId>,
    acquires: BTreeSet<ProcessId>,
    has_blocks: bool,
}

impl Uses {
    fn of(program: &Program) -> Self {
        let (releases, acquires) = (BTreeSet::new(), BTreeSet::new());
        let mut uses = Self { accesses: BTreeSet::new(), releases, acquires, has_blocks: false };
        for edge in program.edges() {
            each_access(&edge.op, &mut |place, access| {
                let locations = program.locations_of(place);
                uses.accesses.extend(locations.into_iter().map(|x| (x, access, edge.process)));
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

    fn of_location(&self, x: LocationId, access: Access) -> Vec<ProcessId> {
        self.accesses.iter().filter(|it| (it.0, it.1) == (x, access)).map(|it| it.2).collect()
    }

    fn holders(&self, program: &Program) -> Vec<Holder> {
        let threads = program.processes().indices().map(Holder::Thread);
        let is_carrier = |x: LocationId| {
            let readers = self.of_location(x, Access::Read);
            let writers = self.of_location(x, Access::Write);
            !program.plain().contains(&x) && readers.iter().any(|p| writers.iter().any(|q| p != q))
        };
        let locations = program.locations().indices().filter(|&x| is_carrier(x)).map(Holder::Location);
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
