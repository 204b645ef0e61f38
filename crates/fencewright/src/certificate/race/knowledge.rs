//! Who knows of which access to plain data.
//!
//! Of a plain location the last write counts, and each thread's last read since: as long as nothing has raced, all
//! accesses before are ordered before these. Kept is who does *not* know of them: an access is ordered before whoever
//! knows. What knows is a thread (what is ordered before its next step), an atomic location (before whoever acquires
//! its value), the last release fence of a thread, what its relaxed loads have seen, and the atomic blocks, which are
//! in one order. At the start everybody knows everything, since nothing has happened.
//!
//! | step of p | |
//! |---|---|
//! | acquiring load of x, relaxed | p knows what x knows; what p has seen does |
//! | releasing store to x, relaxed | x knows what p knows, and no more; what the last release fence of p knows |
//! | update | both, and x still knows what it knew |
//! | acquire fence, release fence | p knows what it has seen; the fence knows what p knows |
//! | access to plain data | p must know all that it conflicts with; then only p knows of it |

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{LocationId, Order, ProcessId, Program};

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Read,
    Write,
    /// Both at once.
    Update,
}

/// What knows of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Holder {
    Thread(ProcessId),
    Location(LocationId),
    Released(ProcessId),
    Seen(ProcessId),
    Blocks,
}

/// The last write of a location, or the last read of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Item {
    Write(LocationId),
    Read(LocationId, ProcessId),
}

/// What each does not know. Invariant: no set is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Knowledge(BTreeMap<Holder, BTreeSet<Item>>);

impl Knowledge {
    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.values().map(|items| 64 + 32 * items.len() as u64).sum()
    }

    /// An access of a process; false if it races.
    #[must_use]
    pub(super) fn accesses(&mut self, program: &Program, p: ProcessId, x: LocationId, act: Act, order: Order) -> bool {
        if program.plain().contains(&x) {
            let is_ordered = self.is_ordered(p, x, act);
            self.happens(program, p, x, act);
            return is_ordered;
        }
        if act != Act::Write {
            let to = if order.acquires() { Holder::Thread(p) } else { Holder::Seen(p) };
            self.join(to, Holder::Location(x));
        }
        let from = if order.releases() { Holder::Thread(p) } else { Holder::Released(p) };
        match act {
            Act::Read => {}
            Act::Write => self.copy(Holder::Location(x), from),
            Act::Update => self.join(Holder::Location(x), from),
        }
        true
    }

    pub(super) fn fence(&mut self, p: ProcessId, order: Order) {
        if order.acquires() {
            self.join(Holder::Thread(p), Holder::Seen(p));
        }
        if order.releases() {
            self.copy(Holder::Released(p), Holder::Thread(p));
        }
    }

    pub(super) fn enters_block(&mut self, p: ProcessId) {
        self.join(Holder::Thread(p), Holder::Blocks);
    }

    pub(super) fn leaves_block(&mut self, p: ProcessId) {
        self.join(Holder::Blocks, Holder::Thread(p));
    }

    /// Whether a process knows of all that an access conflicts with.
    fn is_ordered(&self, p: ProcessId, x: LocationId, act: Act) -> bool {
        let conflicts = |item: &Item| match *item {
            Item::Write(y) => y == x,
            Item::Read(y, q) => y == x && q != p && act != Act::Read,
        };
        self.0.get(&Holder::Thread(p)).is_none_or(|unknown| !unknown.iter().any(conflicts))
    }

    /// An access to plain data, of which only the process knows. Behind a write, reads before it no longer count.
    fn happens(&mut self, program: &Program, p: ProcessId, x: LocationId, act: Act) {
        let item = if act == Act::Read { Item::Read(x, p) } else { Item::Write(x) };
        if act != Act::Read {
            let is_void = |item: &Item| matches!(item, Item::Read(y, _) if *y == x);
            self.0.values_mut().for_each(|unknown| unknown.retain(|item| !is_void(item)));
        }
        let threads = || program.processes().indices();
        let all = threads().flat_map(|q| [Holder::Thread(q), Holder::Released(q), Holder::Seen(q)]);
        let atomic = program.locations().indices().filter(|y| !program.plain().contains(y)).map(Holder::Location);
        for holder in all.chain(atomic).chain([Holder::Blocks]).filter(|it| *it != Holder::Thread(p)) {
            self.0.entry(holder).or_default().insert(item);
        }
        if let Some(unknown) = self.0.get_mut(&Holder::Thread(p)) {
            unknown.remove(&item);
        }
        self.0.retain(|_, unknown| !unknown.is_empty());
    }

    /// One gets to know what another knows.
    fn join(&mut self, to: Holder, from: Holder) {
        let Some(unknown) = self.0.remove(&to) else { return };
        let left: BTreeSet<Item> = match self.0.get(&from) {
            Some(also) => unknown.intersection(also).copied().collect(),
            None => BTreeSet::new(),
        };
        if !left.is_empty() {
            self.0.insert(to, left);
        }
    }

    /// One knows what another knows, and no more.
    fn copy(&mut self, to: Holder, from: Holder) {
        match self.0.get(&from).cloned() {
            Some(unknown) => self.0.insert(to, unknown),
            None => self.0.remove(&to),
        };
    }
}
