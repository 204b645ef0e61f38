//! Memory as under sequential consistency, what threads and messages know, and what steps do to it.
//!
//! One step, one method; the table is in `docs/theory/rc11.md`.

use std::collections::BTreeMap;

use crate::memory::ReleaseSequence;
use crate::program::{LocationId, Order, ProcessId, Value};
use crate::util::Idx;

use super::knowledge::{Knowledge, Open, View};
use super::uses::Uses;

/// A moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Watched {
    pub contents: Vec<Value>,
    /// Why the visit ends here.
    pub alarm: Option<Alarm>,
    threads: Vec<Thread>,
    locations: Vec<Location>,
    /// What a read of an old value of a location learns, for those that somebody may read.
    old: BTreeMap<(usize, u64), Knowledge>,
}

/// What must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Alarm {
    /// Accesses to plain data race.
    Race,
    /// A store may come below another one, or an old value be read where none may be.
    Weak,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    /// The locations whose last write comes before, in every sequential order.
    sequential: u64,
    now: Knowledge,
    /// What an acquire fence would make of it.
    acquired: Option<Knowledge>,
    /// What the last release fence knew.
    released: Knowledge,
    /// What its last release store to each location knew, if later stores go on telling that.
    told: Vec<Knowledge>,
    /// What its seq_cst accesses know.
    ordered: View,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Location {
    /// The locations whose last write comes, in every sequential order, before some access, and before the last write.
    accessed: u64,
    written: u64,
    /// What the last message tells.
    message: Knowledge,
    /// What fences know that come before a next read, and that come before a next write besides.
    before_read: View,
    before_write: View,
    /// The same of seq_cst accesses, and whether the last write was one.
    ordered_read: View,
    ordered_write: View,
    is_last_ordered: bool,
}

/// Who acts, and on what terms.
pub(super) struct Acting<'a> {
    pub uses: &'a Uses,
    pub sequence: ReleaseSequence,
    pub process: ProcessId,
    pub at: &'a mut Watched,
}

impl Watched {
    /// Everybody knows all that was there at the start.
    pub(super) fn new(uses: &Uses, contents: Vec<Value>, n_processes: usize, sequence: ReleaseSequence) -> Self {
        let (n, n_plain) = (uses.n_shared, uses.plain.len());
        let nothing = Knowledge::nothing(n, n_plain);
        let all = if n == 64 { u64::MAX } else { (1 << n) - 1 };
        let threads = (0..n_processes).map(|p| Thread {
            sequential: all,
            now: Knowledge::at_start(n, n_plain),
            acquired: uses.acquiring.contains(&ProcessId::from_usize(p)).then(|| Knowledge::at_start(n, n_plain)),
            released: nothing.clone(),
            told: match sequence {
                ReleaseSequence::Updates => Vec::new(),
                ReleaseSequence::OwnStores => vec![nothing.clone(); n],
            },
            ordered: View::nothing(n),
        });
        let locations = (0..n).map(|x| {
            let mut message = nothing.clone();
            message.seen.settle(x);
            let view = View::nothing(n);
            Location {
                accessed: all,
                written: all,
                message,
                before_read: view.clone(),
                before_write: view.clone(),
                ordered_read: view.clone(),
                ordered_write: view,
                is_last_ordered: false,
            }
        });
        let (threads, locations) = (threads.collect(), locations.collect());
        Self { contents, alarm: None, threads, locations, old: BTreeMap::new() }
    }

    /// Why the visit must not come here.
    pub(super) fn refused(&self) -> Option<&'static str> {
        self.alarm.map(|alarm| match alarm {
            Alarm::Race => "accesses to plain data race",
            Alarm::Weak => "a store or update may come below another, or an old value be read",
        })
    }

    /// The old values of a location that are open to a thread: none where it does not know of the last write in every
    /// sequential order.
    pub(super) fn open(&self, process: ProcessId, x: usize, order: Order) -> Open {
        let thread = &self.threads[process.index()];
        if thread.sequential & (1 << x) == 0 {
            return Open { read: 0, extended: 0 };
        }
        let open = thread.now.seen.at(x);
        if order == Order::SeqCst { open.and(thread.ordered.at(x)) } else { open }
    }

    fn views(&mut self) -> impl Iterator<Item = &mut View> {
        let of_threads = self.threads.iter_mut().map(|it| &mut it.ordered);
        let of_locations = self
            .locations
            .iter_mut()
            .flat_map(|it| [&mut it.before_read, &mut it.before_write, &mut it.ordered_read, &mut it.ordered_write]);
        of_threads.chain(of_locations)
    }

    fn knowledge(&mut self) -> impl Iterator<Item = &mut Knowledge> {
        let of_threads = self
            .threads
            .iter_mut()
            .flat_map(|it| [&mut it.now, &mut it.released].into_iter().chain(it.acquired.as_mut()).chain(&mut it.told));
        let of_locations = self.locations.iter_mut().map(|it| &mut it.message);
        of_threads.chain(of_locations).chain(self.old.values_mut())
    }
}

impl Acting<'_> {
    fn thread(&mut self) -> &mut Thread {
        &mut self.at.threads[self.process.index()]
    }

    /// What the thread knows, and what it would know behind an acquire fence.
    fn own(&mut self) -> impl Iterator<Item = &mut Knowledge> {
        let thread = self.thread();
        [&mut thread.now].into_iter().chain(thread.acquired.as_mut())
    }

    /// A read of the last write.
    pub(super) fn read(&mut self, x: usize, order: Order) {
        let Location { written, message, before_read, .. } = self.at.locations[x].clone();
        self.thread().sequential |= written;
        let known = self.thread().sequential;
        self.own().for_each(|it| it.seen.settle(x));
        self.learn(&message, order);
        self.own().for_each(|it| it.met.learn(&before_read));
        let fences = self.thread().now.fences.clone();
        let location = &mut self.at.locations[x];
        location.accessed |= known;
        location.before_write.learn(&fences);
        if order == Order::SeqCst {
            let (is_last, before) = (location.is_last_ordered, location.ordered_read.clone());
            let thread = self.thread();
            if is_last {
                thread.ordered.learn(&before);
            }
            let ordered = thread.ordered.clone();
            self.at.locations[x].ordered_write.learn(&ordered);
        }
        self.forget();
    }

    /// A read of an old value: memory stays, and so does what sequential consistency orders.
    pub(super) fn read_old(&mut self, x: usize, value: u64, order: Order) {
        let old = self.at.old.get(&(x, value)).cloned().expect("what may be read is remembered");
        self.own().for_each(|it| it.seen.learn_at(x, &old.seen));
        self.learn(&old, order);
        self.forget();
    }

    /// A write.
    pub(super) fn write(&mut self, x: LocationId, value: Value, order: Order) {
        self.put(x, value, (order, true));
        self.forget();
    }

    /// An update: it learns what it reads, nothing comes between, and the release sequence goes on.
    pub(super) fn update(&mut self, x: LocationId, value: Value, order: Order) {
        let slot = self.slot(x);
        let before = self.at.locations[slot].message.clone();
        self.learn(&before, order);
        self.put(x, value, (order, false));
        self.at.locations[slot].message.learn(&before);
        self.forget();
    }

    /// A fence of the language.
    pub(super) fn fence(&mut self, order: Order) {
        let thread = self.thread();
        if let (true, Some(acquired)) = (order.acquires(), &thread.acquired) {
            thread.now = acquired.clone();
        }
        if order == Order::SeqCst {
            let met = thread.now.met.clone();
            thread.now.seen.learn(&met);
            (thread.now.fences, thread.now.met) = (thread.now.seen.clone(), thread.now.seen.clone());
            thread.acquired = thread.acquired.is_some().then(|| thread.now.clone());
        }
        if order.releases() {
            thread.released = thread.now.clone();
        }
        self.forget();
    }

    /// An access to plain data; whether it races.
    pub(super) fn plain(&mut self, x: LocationId, writes: bool) -> bool {
        let (uses, process) = (self.uses, self.process);
        let unseen = &self.thread().now.unseen;
        if uses.conflicts(x, process, writes).any(|it| unseen[it / 64] & (1 << (it % 64)) != 0) {
            return true;
        }
        if let Some(number) = uses.plain_access(x, process, writes) {
            let (word, bit) = (number / 64, 1_u64 << (number % 64));
            self.at.knowledge().for_each(|it| it.unseen[word] |= bit);
            self.own().for_each(|it| it.unseen[word] &= !bit);
        }
        false
    }

    fn slot(&self, x: LocationId) -> usize {
        self.uses.shared[x].expect("it is shared").0
    }

    /// What a message tells: a relaxed read learns it at the next acquire fence.
    fn learn(&mut self, told: &Knowledge, order: Order) {
        let thread = self.thread();
        thread.acquired.iter_mut().for_each(|it| it.learn(told));
        if order.acquires() {
            thread.now.learn(told);
        }
    }

    /// What a write and an update have in common.
    fn put(&mut self, x: LocationId, value: Value, (order, is_extended): (Order, bool)) {
        let slot = self.slot(x);
        let bit = 1 << slot;
        let known = self.thread().sequential | self.at.locations[slot].accessed | bit;
        self.at.threads.iter_mut().for_each(|it| it.sequential &= !bit);
        for it in &mut self.at.locations {
            (it.accessed, it.written) = (it.accessed & !bit, it.written & !bit);
        }
        self.thread().sequential = known;
        (self.at.locations[slot].accessed, self.at.locations[slot].written) = (known, known);
        self.outdate(x, is_extended);
        self.own().for_each(|it| it.seen.settle(slot));
        self.at.contents[x.index()] = value;
        self.pass_fences(slot);
        self.tell(slot, order);
        self.order(slot, order);
    }

    /// What memory holds becomes old in every view there is, and what a read of it learns is remembered: the least that
    /// some write of that value tells.
    fn outdate(&mut self, x: LocationId, is_extended: bool) {
        let (slot, value) = (self.slot(x), self.uses.bit(x, self.at.contents[x.index()]));
        let message = self.at.locations[slot].message.clone();
        let old = self.at.old.entry((slot, value)).or_insert_with(|| message.clone());
        old.blur(&message);
        self.at.knowledge().for_each(|it| it.outdate(slot, value, is_extended));
        self.at.views().for_each(|it| it.outdate(slot, value, is_extended));
    }

    /// Fences before earlier accesses come before this write, and before what comes behind it.
    fn pass_fences(&mut self, slot: usize) {
        let nothing = View::nothing(self.uses.n_shared);
        let location = &mut self.at.locations[slot];
        let mut before = std::mem::replace(&mut location.before_write, nothing);
        before.learn(&location.before_read);
        self.own().for_each(|it| it.met.learn(&before));
        before.learn(&self.thread().now.fences.clone());
        self.at.locations[slot].before_read = before;
    }

    /// What the new message tells.
    fn tell(&mut self, slot: usize, order: Order) {
        let sequence = self.sequence;
        let thread = self.thread();
        let mut message = if order.releases() { thread.now.clone() } else { thread.released.clone() };
        if sequence == ReleaseSequence::OwnStores {
            if order.releases() {
                thread.told[slot] = thread.now.clone();
            }
            message.learn(&thread.told[slot]);
        }
        message.seen.settle(slot);
        self.at.locations[slot].message = message;
    }

    /// The order of seq_cst accesses, as far as program order and the order of each location make it.
    fn order(&mut self, slot: usize, order: Order) {
        let nothing = View::nothing(self.uses.n_shared);
        let location = &mut self.at.locations[slot];
        let reads = std::mem::replace(&mut location.ordered_write, nothing);
        location.ordered_read.learn(&reads);
        location.is_last_ordered = order == Order::SeqCst;
        if order == Order::SeqCst {
            let before = location.ordered_read.clone();
            let thread = self.thread();
            thread.ordered.learn(&before);
            thread.ordered.settle(slot);
            let ordered = thread.ordered.clone();
            self.at.locations[slot].ordered_read = ordered;
        }
    }

    /// Old values that nobody may read any more.
    fn forget(&mut self) {
        let Watched { threads, old, .. } = &mut *self.at;
        old.retain(|(x, value), _| threads.iter().any(|it| it.now.seen.at(*x).read & value != 0));
    }
}
