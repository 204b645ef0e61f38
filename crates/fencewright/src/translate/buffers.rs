//! The store buffers of a process as registers, whichever way they are written down.

use std::fmt::Debug;

use crate::memory::Buffering;
use crate::program::{Builder, Domain, Initial, LocationId, Micro, ProcessId, Register, RegisterId, Value};
use crate::source::Span;
use crate::translate::direct::DirectQueue;
use crate::translate::guided::GuidedQueue;
use crate::translate::logic::{Term, all, any, at_least, branch, not, number, var};
use crate::translate::sizes::{Sizes, Waiting};
use crate::translate::{Method, Request, Role};

/// One FIFO of stores. Slots are counted from 0, the oldest store has the lowest; `most` is how many stores may be
/// pending, as far as is known, so that nothing need be said of slots beyond.
pub(super) trait Queue: Debug {
    /// Whether a slot holds a store.
    fn occupied(&self, slot: usize) -> Term;
    /// Whether a slot holds a store to a location.
    fn holds(&self, x: LocationId, slot: usize) -> Term;
    /// The value of a slot that holds a store to a location.
    fn value(&self, x: LocationId, slot: usize) -> Term;
    /// Whether no store is pending.
    fn is_empty(&self, most: usize) -> Term;
    /// Whether there is no slot left.
    fn is_full(&self) -> Term;
    /// Appends a store to a queue that is not full.
    fn put(&self, x: LocationId, value: &Term, most: usize) -> Vec<Micro>;
    /// When the store in a slot is the oldest, and for this location; and how it leaves for memory. `None` if it never
    /// is.
    fn take(&self, x: LocationId, slot: usize, most: usize) -> Option<(Term, Vec<Micro>)>;
    /// The epoch of the store in a slot, where epochs are told apart.
    fn epoch(&self, slot: usize) -> Option<RegisterId>;
}

/// The buffers of a process.
#[derive(Debug)]
pub(super) struct Buffers {
    pub queues: Vec<Box<dyn Queue>>,
    pub sizes: Sizes,
    /// The epoch that stores belong to now.
    pub epoch: Option<RegisterId>,
}

impl Buffers {
    pub(super) fn new(request: &Request<'_>, sizes: Sizes, registers: &mut Registers<'_>) -> Self {
        let epoch = (sizes.epochs > 0).then(|| {
            let domain = Domain::Range(0, sizes.epochs.into());
            registers.add("epoch", domain, Role::Epoch)
        });
        let mut queues: Vec<Box<dyn Queue>> = Vec::new();
        for (i, locations) in sizes.queues.iter().enumerate() {
            let name = match request.buffering {
                Buffering::None | Buffering::Fifo => String::new(),
                Buffering::PerLocation(_) => {
                    format!("_{}", identifier(&request.program.locations()[locations[0]].name))
                }
            };
            let shape = Shape {
                request,
                locations,
                slots: sizes.slots[i] as usize,
                name: &name,
                epoch: epoch_of(&sizes, epoch),
            };
            queues.push(match request.method {
                Method::Direct => Box::new(DirectQueue::new(&shape, registers)),
                Method::Guided => Box::new(GuidedQueue::new(&shape, &sizes, registers)),
            });
        }
        Self { queues, sizes, epoch }
    }

    /// What may be pending anywhere.
    pub(super) fn most(&self) -> Waiting {
        let locations = self.sizes.queues.iter().flatten().copied().collect();
        Waiting { stores: self.sizes.slots.clone(), epochs: self.sizes.epochs, locations }
    }

    /// Whether nothing is pending, of what may be.
    pub(super) fn is_empty(&self, pending: &Waiting) -> Term {
        all(self.with(pending).map(|(queue, most)| queue.is_empty(most)))
    }

    /// Whether some pending store has an epoch of which this holds.
    pub(super) fn has_epoch(&self, pending: &Waiting, holds: impl Fn(Term) -> Term) -> Term {
        let slots = self.with(pending).flat_map(|(queue, most)| (0..most).map(move |slot| (queue, slot)));
        any(slots.filter_map(|(queue, slot)| Some(all([queue.occupied(slot), holds(var(queue.epoch(slot)?))]))))
    }

    /// Every way a store may leave for memory: when, and what happens.
    pub(super) fn flushes(&self, pending: &Waiting) -> Vec<(Term, Vec<Micro>)> {
        let mut out = Vec::new();
        for (i, queue) in self.queues.iter().enumerate() {
            let most = pending.stores[i] as usize;
            for &x in self.sizes.queues[i].iter().filter(|x| pending.locations.contains(x)) {
                for slot in 0..most {
                    let Some((is_oldest, mut leave)) = queue.take(x, slot, most) else { continue };
                    let may_leave = all([is_oldest, self.is_first(pending, i, slot)]);
                    leave.extend(self.epochs_end(pending));
                    out.push((may_leave, leave));
                }
            }
        }
        out
    }

    /// Whether no store of an earlier epoch than the oldest of a queue is pending elsewhere.
    fn is_first(&self, pending: &Waiting, queue: usize, slot: usize) -> Term {
        let Some(mine) = self.queues[queue].epoch(slot).filter(|_| pending.epochs > 0) else { return number(1) };
        let others = self.queues.iter().enumerate().filter(|it| it.0 != queue);
        all(others.flat_map(|(j, other)| {
            (0..pending.stores[j] as usize).filter_map(move |slot| {
                let theirs = var(other.epoch(slot)?);
                Some(any([not(other.occupied(slot)), at_least(theirs, var(mine))]))
            })
        }))
    }

    /// When nothing is pending, epochs are counted from 0 again.
    fn epochs_end(&self, pending: &Waiting) -> Vec<Micro> {
        match self.epoch.filter(|_| pending.epochs > 0) {
            Some(epoch) => branch(self.is_empty(pending), vec![Micro::Assign(epoch, number(0))], Vec::new()),
            None => Vec::new(),
        }
    }

    fn with(&self, pending: &Waiting) -> impl Iterator<Item = (&dyn Queue, usize)> {
        let most: Vec<usize> = pending.stores.iter().map(|&n| n as usize).collect();
        self.queues.iter().map(AsRef::as_ref).zip(most).filter(|it| it.1 > 0)
    }
}

fn epoch_of(sizes: &Sizes, epoch: Option<RegisterId>) -> Option<(RegisterId, Value)> {
    epoch.map(|epoch| (epoch, Value::from(sizes.epochs)))
}

/// What a queue is to be like.
pub(super) struct Shape<'a> {
    pub request: &'a Request<'a>,
    pub locations: &'a [LocationId],
    pub slots: usize,
    /// What tells its registers from those of other queues.
    pub name: &'a str,
    /// The register of the epoch that stores belong to now, and the greatest epoch.
    pub epoch: Option<(RegisterId, Value)>,
}

impl Shape<'_> {
    /// The registers for the epochs of the slots.
    pub(super) fn epochs(&self, registers: &mut Registers<'_>) -> Vec<RegisterId> {
        let Some((_, last)) = self.epoch else { return Vec::new() };
        let name = |slot: usize| format!("epoch{}_{}", self.name, slot + 1);
        (0..self.slots).map(|slot| registers.add(&name(slot), Domain::Range(0, last), Role::Epoch)).collect()
    }
}

/// The registers of a process, to which more are added.
pub(super) struct Registers<'b> {
    pub builder: &'b mut Builder,
    pub process: ProcessId,
    pub span: Span,
    pub roles: Vec<(RegisterId, Role)>,
}

impl Registers<'_> {
    pub(super) fn add(&mut self, name: &str, domain: Domain, role: Role) -> RegisterId {
        let taken = |name: &str| {
            let known = &self.builder.so_far().processes()[self.process].registers;
            known.iter().any(|register| register.name == name)
        };
        let names = std::iter::once(name.to_owned()).chain((2..).map(|i| format!("{name}_v{i}")));
        let name = names.into_iter().find(|name| !taken(name)).expect("there is always another name");
        let initial = Initial::Value(free_value(domain));
        let register = self.builder.register(self.process, Register { name, domain, initial, span: self.span });
        self.roles.push((register, role));
        register
    }
}

/// What a slot holds that is free.
pub(super) fn free_value(domain: Domain) -> Value {
    domain.bounds().map_or(0, |(lo, hi)| 0.clamp(lo, hi))
}

/// The name of a location as part of the name of a register.
pub(super) fn identifier(name: &str) -> String {
    name.replace('[', "_").replace(']', "")
}
