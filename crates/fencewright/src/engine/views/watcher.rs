//! Sequential consistency, watched: a machine that sees when the language would let a thread do more.
//!
//! An access acts as memory says. Beside that there is a way for each thing that RC11 allows and sequential consistency
//! does not, where the thread knows of the last write in every sequential order (`docs/theory/rc11.md`): it ends in an
//! [`Alarm`], or, where old values may be read, goes on.

use crate::engine::views::rules::Rules;
use crate::engine::views::shape::{Psc, Shape};
use crate::engine::views::state::{Alarm, Known};
use crate::memory::{Access, Done, Internal, Machine, Origin, Shown};
use crate::program::{LocationId, Order, ProcessId, PropertyKind, Value};
use crate::util::Idx;

/// What is made of what sequential consistency does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Everything is an alarm.
    Robust,
    /// Old values are read; writes and updates below others are alarms.
    WeakReads,
    /// Old values are read; writes and updates below others are left out: what is found may be real, and silence says
    /// nothing.
    Hunting,
}

/// Sequential consistency, watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watcher<'s> {
    pub shape: &'s Shape,
    pub mode: Mode,
}

/// Marks what sequential consistency does not have.
const WEAK: Origin = Origin::Message(0);

impl Watcher<'_> {
    /// Whether a way to act is one that sequential consistency does not have.
    pub(super) fn is_weak(origin: Origin) -> bool {
        origin == WEAK
    }

    fn rules<'a>(&'a self, p: ProcessId, s: &'a mut Known) -> Rules<'a> {
        Rules { shape: self.shape, p, s, remembers: self.mode != Mode::Robust }
    }

    /// The state after a step of the thread.
    fn after(&self, s: &Known, p: ProcessId, act: impl FnOnce(&mut Rules<'_>)) -> Known {
        let mut next = s.clone();
        act(&mut self.rules(p, &mut next));
        next
    }

    fn alarmed(s: &Known, alarm: Alarm, read: Option<Value>) -> Done<Known> {
        Done { read, origin: WEAK, state: Known { alarm: Some(alarm), ..s.clone() } }
    }

    /// The values of old writes that are open to a thread, to read and to write behind; nothing where the thread does
    /// not know of the last write in every sequential order.
    fn open(&self, s: &Known, p: ProcessId, slot: usize, order: Order) -> (u64, u64) {
        let thread = &self.shape.threads[p.index()];
        if s.words[thread.known] & (1 << slot) == 0 {
            return (0, 0);
        }
        let at = |view: usize| (s.words[view + 2 * slot], s.words[view + 2 * slot + 1]);
        let (mut a, mut b) = at(thread.cur + self.shape.parts.v);
        let ordered = match self.shape.psc {
            Psc::Weaker => thread.s,
            Psc::Stronger => self.shape.parts.s.map(|s| thread.cur + s),
        };
        if let (Order::SeqCst, Some(ordered)) = (order, ordered) {
            let (also_a, also_b) = at(ordered);
            (a, b) = (a & also_a, b & also_b);
        }
        (a, b)
    }

    fn plain(&self, s: &Known, p: ProcessId, x: LocationId, write: Option<Value>) -> Vec<Done<Known>> {
        let mut next = s.clone();
        if self.rules(p, &mut next).plain(x, write.is_some()) {
            // The access itself is one of sequential consistency.
            let alarmed = Self::alarmed(s, Alarm::Race, write.is_none().then_some(s.contents[x.index()]));
            return vec![Done { origin: Origin::Memory, ..alarmed }];
        }
        let read = write.is_none().then_some(s.contents[x.index()]);
        next.contents[x.index()] = write.unwrap_or(s.contents[x.index()]);
        vec![Done { read, origin: Origin::Memory, state: next }]
    }

    /// A read of an old value: an alarm, or a step.
    fn old(&self, s: &Known, p: ProcessId, (slot, value): (usize, u32), (read, order): (Value, Order)) -> Done<Known> {
        match self.mode {
            Mode::Robust => Self::alarmed(s, Alarm::Read, Some(read)),
            Mode::WeakReads | Mode::Hunting => {
                let state = self.after(s, p, |rules| rules.read_old(slot, value, order));
                Done { read: Some(read), origin: WEAK, state }
            }
        }
    }

    fn load(&self, s: &Known, p: ProcessId, x: LocationId, order: Order) -> Vec<Done<Known>> {
        let value = s.contents[x.index()];
        let Some((slot, least)) = self.shape.slots[x] else {
            return vec![Done { read: Some(value), origin: Origin::Memory, state: s.clone() }];
        };
        let state = self.after(s, p, |rules| rules.read(slot, order));
        let (a, _) = self.open(s, p, slot, order);
        let old = bits(a).map(|bit| self.old(s, p, (slot, bit), (least + Value::from(bit), order)));
        [Done { read: Some(value), origin: Origin::Memory, state }].into_iter().chain(old).collect()
    }

    fn store(&self, s: &Known, p: ProcessId, x: LocationId, (value, order): (Value, Order)) -> Vec<Done<Known>> {
        let Some((slot, _)) = self.shape.slots[x] else { return vec![unshared(s, x, None, value)] };
        let state = self.after(s, p, |rules| rules.write((x, slot), value, order));
        let (_, b) = self.open(s, p, slot, order);
        let is_alarm = b != 0 && self.mode != Mode::Hunting;
        let alarm = is_alarm.then(|| Self::alarmed(s, Alarm::Write, None));
        [Done { read: None, origin: Origin::Memory, state }].into_iter().chain(alarm).collect()
    }

    fn update(
        &self,
        s: &Known,
        p: ProcessId,
        x: LocationId,
        (update, order): (&dyn Fn(Value) -> Option<Option<Value>>, Order),
    ) -> Vec<Done<Known>> {
        let old = s.contents[x.index()];
        let Some((slot, least)) = self.shape.slots[x] else {
            return update(old).map(|new| unshared(s, x, Some(old), new.unwrap_or(old))).into_iter().collect();
        };
        let in_memory = update(old).map(|new| {
            let state = self.after(s, p, |rules| match new {
                Some(new) => rules.update((x, slot), new, order),
                None => rules.read(slot, order.of_read()),
            });
            Done { read: Some(old), origin: Origin::Memory, state }
        });
        let (a, b) = self.open(s, p, slot, order);
        let weak = bits(a).filter_map(|bit| {
            let read = least + Value::from(bit);
            match update(read)? {
                None => Some(self.old(s, p, (slot, bit), (read, order.of_read()))),
                Some(_) if b & (1 << bit) == 0 || self.mode == Mode::Hunting => None,
                Some(_) => Some(Self::alarmed(s, Alarm::Update, Some(read))),
            }
        });
        in_memory.into_iter().chain(weak).collect()
    }
}

/// A write to what no other thread accesses.
fn unshared(s: &Known, x: LocationId, read: Option<Value>, value: Value) -> Done<Known> {
    let mut state = s.clone();
    state.contents[x.index()] = value;
    Done { read, origin: Origin::Memory, state }
}

/// The bits of a word, from the least.
fn bits(word: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |bit| word & (1 << bit) != 0)
}

impl Machine for Watcher<'_> {
    type State = Known;

    fn initial(&self, contents: Vec<Value>, _: usize) -> Known {
        Known::new(self.shape, contents)
    }

    fn access(&self, s: &Known, p: ProcessId, access: Access<'_>) -> Vec<Done<Known>> {
        if s.alarm.is_some() {
            return Vec::new();
        }
        match access {
            Access::Load(x, Order::Plain) => self.plain(s, p, x, None),
            Access::Store(x, value, Order::Plain) => self.plain(s, p, x, Some(value)),
            Access::Load(x, order) => self.load(s, p, x, order.of_read()),
            Access::Store(x, value, order) => self.store(s, p, x, (value, order.of_write())),
            Access::Update(x, update, order) => self.update(s, p, x, (update, order)),
            Access::Fence(kind, order) => {
                let state = self.after(s, p, |rules| order.of_fence(kind).into_iter().for_each(|it| rules.fence(it)));
                vec![Done { read: None, origin: Origin::Memory, state }]
            }
        }
    }

    fn internal(&self, _: &Known, _: ProcessId) -> Vec<(Internal, Known)> {
        Vec::new()
    }

    fn lock(&self, _: &Known, _: ProcessId) -> Option<Vec<Value>> {
        None
    }

    fn unlock(&self, s: &Known, _: ProcessId, _: Vec<Value>) -> Known {
        s.clone()
    }

    fn is_settled(&self, _: &Known) -> bool {
        true
    }

    fn value(&self, s: &Known, x: LocationId) -> Value {
        s.contents[x.index()]
    }

    fn shown(&self, _: &Known, _: ProcessId) -> Shown {
        Shown::View(Vec::new())
    }

    fn hears_acquire(&self) -> bool {
        true
    }

    fn tells(&self, s: &Known, kind: PropertyKind) -> Option<bool> {
        match (kind, s.alarm) {
            (PropertyKind::Race, alarm) => Some(alarm == Some(Alarm::Race)),
            (PropertyKind::Trace, alarm) => Some(alarm.is_some_and(|it| it != Alarm::Race)),
            (_, Some(_)) => Some(false),
            (_, None) => None,
        }
    }
}
