//! Sequential consistency, watched, as a machine.

use crate::memory::{Access, Done, Internal, Machine, Origin, ReleaseSequence, Shown};
use crate::program::{LocationId, Order, ProcessId, PropertyKind, Value};
use crate::system::Flow;
use crate::util::Idx;

use super::super::verify::Failure;
use super::Shows;
use super::uses::Uses;
use super::watched::{Acting, Alarm, Watched};

/// Sequential consistency, watched.
#[derive(Debug)]
pub(super) struct Views {
    uses: Uses,
    sequence: ReleaseSequence,
    shows: Shows,
}

impl Views {
    /// For a program with fences laid over it.
    pub(super) fn new(flow: Flow<'_>, sequence: ReleaseSequence, shows: Shows) -> Result<Self, Failure> {
        Ok(Self { uses: Uses::of(flow)?, sequence, shows })
    }

    /// The moment after a step.
    fn after(&self, at: &Watched, process: ProcessId, act: impl FnOnce(&mut Acting<'_>)) -> Watched {
        let mut next = at.clone();
        act(&mut Acting { uses: &self.uses, sequence: self.sequence, process, at: &mut next });
        next
    }

    fn done(read: Option<Value>, state: Watched) -> Done<Watched> {
        Done { read, origin: Origin::Memory, state }
    }

    /// The visit ends. What is read is what the step waits for.
    fn alarmed(at: &Watched, alarm: Alarm, read: Option<Value>) -> Done<Watched> {
        let mut end = at.clone();
        end.alarm = Some(alarm);
        Self::done(read, end)
    }

    /// A read of an old value, given as a bit.
    fn old(&self, at: &Watched, process: ProcessId, (x, bit): (LocationId, u32), order: Order) -> Done<Watched> {
        let (slot, least) = self.uses.shared[x].expect("it is shared");
        match self.shows {
            Shows::Robust => Self::alarmed(at, Alarm::Weak, Some(least + Value::from(bit))),
            Shows::Safe | Shows::RaceFree => {
                let state = self.after(at, process, |it| it.read_old(slot, 1 << bit, order));
                Self::done(Some(least + Value::from(bit)), state)
            }
        }
    }

    fn plain(&self, at: &Watched, process: ProcessId, x: LocationId, write: Option<Value>) -> Done<Watched> {
        let mut races = false;
        let mut next = self.after(at, process, |it| races = it.plain(x, write.is_some()));
        let read = write.is_none().then_some(at.contents[x.index()]);
        if races {
            return Self::alarmed(at, Alarm::Race, read);
        }
        next.contents[x.index()] = write.unwrap_or(at.contents[x.index()]);
        Self::done(read, next)
    }

    fn load(&self, at: &Watched, process: ProcessId, x: LocationId, order: Order) -> Vec<Done<Watched>> {
        let value = at.contents[x.index()];
        let Some((slot, _)) = self.uses.shared[x] else { return vec![Self::done(Some(value), at.clone())] };
        let last = Self::done(Some(value), self.after(at, process, |it| it.read(slot, order)));
        let old = bits(at.open(process, slot, order).read).map(|bit| self.old(at, process, (x, bit), order));
        [last].into_iter().chain(old).collect()
    }

    fn store(
        &self,
        at: &Watched,
        process: ProcessId,
        x: LocationId,
        (value, order): (Value, Order),
    ) -> Vec<Done<Watched>> {
        let Some((slot, _)) = self.uses.shared[x] else { return vec![Self::done(None, unshared(at, x, value))] };
        if at.open(process, slot, order).extended != 0 {
            return vec![Self::alarmed(at, Alarm::Weak, None)];
        }
        vec![Self::done(None, self.after(at, process, |it| it.write(x, value, order)))]
    }

    fn update(
        &self,
        at: &Watched,
        process: ProcessId,
        x: LocationId,
        (update, order): (&dyn Fn(Value) -> Option<Option<Value>>, Order),
    ) -> Vec<Done<Watched>> {
        let value = at.contents[x.index()];
        let Some((slot, least)) = self.uses.shared[x] else {
            let new = update(value).map(|new| new.unwrap_or(value));
            return new.map(|new| Self::done(Some(value), unshared(at, x, new))).into_iter().collect();
        };
        let last = update(value).map(|new| {
            let state = self.after(at, process, |it| match new {
                Some(new) => it.update(x, new, order),
                None => it.read(slot, order.of_read()),
            });
            Self::done(Some(value), state)
        });
        let open = at.open(process, slot, order);
        let old = bits(open.read).filter_map(|bit| match update(least + Value::from(bit))? {
            None => Some(self.old(at, process, (x, bit), order.of_read())),
            Some(_) => {
                let read = Some(least + Value::from(bit));
                (open.extended & (1 << bit) != 0).then(|| Self::alarmed(at, Alarm::Weak, read))
            }
        });
        last.into_iter().chain(old).collect()
    }
}

/// A write to what no other thread accesses.
fn unshared(at: &Watched, x: LocationId, value: Value) -> Watched {
    let mut next = at.clone();
    next.contents[x.index()] = value;
    next
}

/// The bits of a word, from the least.
fn bits(word: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |bit| word & (1 << bit) != 0)
}

impl Machine for Views {
    type State = Watched;

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> Watched {
        Watched::new(&self.uses, contents, n_processes, self.sequence)
    }

    fn access(&self, at: &Watched, process: ProcessId, access: Access<'_>) -> Vec<Done<Watched>> {
        if at.alarm.is_some() {
            return Vec::new();
        }
        match access {
            Access::Load(x, Order::Plain) => vec![self.plain(at, process, x, None)],
            Access::Store(x, value, Order::Plain) => vec![self.plain(at, process, x, Some(value))],
            Access::Load(x, order) => self.load(at, process, x, order.of_read()),
            Access::Store(x, value, order) => self.store(at, process, x, (value, order.of_write())),
            Access::Update(x, update, order) => self.update(at, process, x, (update, order)),
            Access::Fence(kind, order) => {
                let fence = order.of_fence(kind);
                let state = self.after(at, process, |it| fence.into_iter().for_each(|order| it.fence(order)));
                vec![Self::done(None, state)]
            }
        }
    }

    fn internal(&self, _: &Watched, _: ProcessId) -> Vec<(Internal, Watched)> {
        Vec::new()
    }

    fn lock(&self, _: &Watched, _: ProcessId) -> Option<Vec<Value>> {
        None
    }

    fn unlock(&self, at: &Watched, _: ProcessId, _: Vec<Value>) -> Watched {
        at.clone()
    }

    fn is_settled(&self, _: &Watched) -> bool {
        true
    }

    fn value(&self, at: &Watched, x: LocationId) -> Value {
        at.contents[x.index()]
    }

    fn shown(&self, _: &Watched, _: ProcessId) -> Shown {
        Shown::View(Vec::new())
    }

    fn hears_acquire(&self) -> bool {
        true
    }

    /// Alarms are told by the state, not as properties: they are always refused.
    fn tells(&self, _: &Watched, kind: PropertyKind) -> Option<bool> {
        matches!(kind, PropertyKind::Race | PropertyKind::Trace).then_some(false)
    }
}
