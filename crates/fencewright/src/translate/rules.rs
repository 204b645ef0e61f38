//! What each operation becomes: one rule for each, the same for both ways of writing buffers down.

use crate::memory::{Buffering, PsoRmw};
use crate::program::{BinaryOp, Domain, Expr, FenceKind, LocationId, Micro, Op, Place, RegisterId, RmwVar};
use crate::translate::buffers::{Buffers, free_value};
use crate::translate::logic::{Term, all, any, assume, at_least, branch, equal, not, number, var};
use crate::translate::sizes::Waiting;
use crate::translate::{Repeats, Request};
use crate::util::Idx;

/// What an operation becomes.
#[derive(Debug)]
pub(super) struct Ruled {
    /// What it does where its stores find room.
    pub op: Op,
    /// When they do not, if that can be.
    pub overflows: Option<Term>,
}

impl Ruled {
    fn plain(op: Op) -> Self {
        Self { op, overflows: None }
    }

    fn unless(overflows: Term, body: Vec<Micro>) -> Self {
        let body = assume(not(overflows.clone())).into_iter().chain(body).collect();
        Self { op: Op::Locked(body), overflows: (overflows != number(0)).then_some(overflows) }
    }
}

/// The rules for a process at a point.
pub(super) struct Rules<'a> {
    pub request: &'a Request<'a>,
    pub buffers: &'a Buffers,
    /// What may be pending before the operation.
    pub pending: &'a Waiting,
    /// Where the old value of an atomic update goes for the time of its step, by its domain.
    pub scratch: &'a [(Domain, RegisterId)],
}

impl Rules<'_> {
    pub(super) fn apply(&self, op: &Op) -> Ruled {
        match op {
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Ruled::plain(op.clone()),
            Op::Load(register, place) => Ruled::plain(self.load(*register, place)),
            Op::Store(..) if self.buffers.queues.is_empty() => Ruled::plain(op.clone()),
            Op::Store(place, value) => self.store(place, value),
            Op::Fence(FenceKind::Full) => Ruled::plain(Op::Assume(self.buffers.is_empty(self.pending))),
            Op::Fence(FenceKind::StoreStore) => self.store_fence(),
            Op::Rmw { place, guard, write, into } => {
                let mut body: Vec<Micro> = assume(self.may_update(place)).into_iter().collect();
                body.extend(self.update(place, guard, write.as_ref(), *into));
                Ruled::plain(Op::Locked(body))
            }
            Op::Locked(body) => {
                let is_drained = assume(self.buffers.is_empty(self.pending));
                Ruled::plain(Op::Locked(is_drained.into_iter().chain(body.iter().cloned()).collect()))
            }
        }
    }

    /// `load r, x`: the newest pending store to x, else memory.
    fn load(&self, register: RegisterId, place: &Place) -> Op {
        let from_memory = vec![Micro::Load(register, place.clone())];
        let mut chain = from_memory.clone();
        for (is_it, x) in self.cells(place) {
            let Some(i) = self.buffers.sizes.queue_of(x).filter(|_| self.pending.locations.contains(&x)) else {
                continue;
            };
            for slot in 0..self.pending.stores[i] as usize {
                let queue = &self.buffers.queues[i];
                let holds = queue.holds(x, slot);
                if holds != number(0) {
                    let take = vec![Micro::Assign(register, queue.value(x, slot))];
                    chain = branch(all([is_it.clone(), holds]), take, chain);
                }
            }
        }
        if chain == from_memory { Op::Load(register, place.clone()) } else { Op::Locked(chain) }
    }

    /// `store x, e`: behind what is pending in the queue of x.
    fn store(&self, place: &Place, value: &Term) -> Ruled {
        let mut full = Vec::new();
        let mut chain: Option<Vec<Micro>> = None;
        for (is_it, x) in self.cells(place).into_iter().rev() {
            let i = self.buffers.sizes.queue_of(x).expect("a location that is stored to has a queue");
            let (queue, most) = (&self.buffers.queues[i], self.pending.stores[i]);
            let mut put = queue.put(x, value, most as usize);
            if most == self.buffers.sizes.slots[i] {
                let repeats = self.repeats(x, value, i);
                full.push(all([is_it.clone(), queue.is_full(), not(repeats.clone())]));
                put = branch(repeats, Vec::new(), put);
            }
            // The index is in the array, so that the last cell needs no test.
            chain = Some(match chain {
                None => put,
                Some(others) => branch(is_it, put, others),
            });
        }
        full.reverse();
        let body = self.in_array(place).into_iter().chain(chain.unwrap_or_default()).collect();
        Ruled::unless(any(dedup(full)), body)
    }

    /// Whether a store says what the newest pending one says, and so can be left out.
    fn repeats(&self, x: LocationId, value: &Term, queue: usize) -> Term {
        let (sizes, slots) = (&self.buffers.sizes, &self.buffers.queues[queue]);
        if self.request.repeats == Repeats::Kept || !sizes.own.contains(&x) {
            return number(0);
        }
        let n_slots = sizes.slots[queue] as usize;
        any((0..n_slots).filter(|&slot| slots.holds(x, slot) != number(0)).map(|slot| {
            let is_newest = if slot + 1 < n_slots { not(slots.occupied(slot + 1)) } else { number(1) };
            let now = slots.epoch(slot).zip(self.buffers.epoch).map(|(its, now)| equal(var(its), var(now)));
            all([slots.holds(x, slot), is_newest]
                .into_iter()
                .chain(now)
                .chain([equal(slots.value(x, slot), value.clone())]))
        }))
    }

    /// `fence store-store`: under PSO a new epoch begins, unless the last one has no store pending.
    fn store_fence(&self) -> Ruled {
        let Some(epoch) = self.buffers.epoch.filter(|_| !self.pending.is_nothing()) else {
            return Ruled::plain(Op::Assume(Expr::TRUE));
        };
        let begins = self.buffers.has_epoch(self.pending, |it| equal(it, var(epoch)));
        let last = self.buffers.sizes.epochs;
        let overflows = match self.pending.epochs == last {
            true => all([equal(var(epoch), number(last)), begins.clone()]),
            false => number(0),
        };
        let next = Micro::Assign(epoch, Expr::binary(BinaryOp::Add, var(epoch), number(1)));
        Ruled::unless(overflows, branch(begins, vec![next], Vec::new()))
    }

    /// What an atomic update waits for: markers count, so under PSO nothing of an earlier epoch may be pending.
    fn may_update(&self, place: &Place) -> Term {
        match self.request.buffering {
            Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => {
                return self.buffers.is_empty(self.pending);
            }
            Buffering::PerLocation(PsoRmw::Location) => {}
        }
        let own = self.cells(place).into_iter().filter_map(|(is_it, x)| {
            let i = self.buffers.sizes.queue_of(x)?;
            let most = self.pending.stores[i] as usize;
            (most > 0).then(|| any([not(is_it), self.buffers.queues[i].is_empty(most)]))
        });
        let is_earlier = |it: Term| Expr::binary(BinaryOp::Lt, it, self.buffers.epoch.map_or(number(0), var));
        let earlier = match self.pending.epochs {
            0 => number(0),
            _ => self.buffers.has_epoch(self.pending, is_earlier),
        };
        all(own.chain([not(earlier)]))
    }

    /// The update itself, against memory.
    fn update(
        &self,
        place: &Place,
        guard: &Expr<RmwVar>,
        write: Option<&Expr<RmwVar>>,
        into: Option<RegisterId>,
    ) -> Vec<Micro> {
        let domain = domain_of(self.request, place);
        let old = self.scratch.iter().find(|it| it.0 == domain).expect("each update has a register for its step").1;
        let with_old = |expr: &Expr<RmwVar>| {
            expr.map(&mut |variable| match variable {
                RmwVar::Old => old,
                RmwVar::Register(register) => *register,
            })
        };
        let mut out = vec![Micro::Load(old, place.clone())];
        out.extend(assume(with_old(guard)));
        out.extend(write.map(|write| Micro::Store(place.clone(), with_old(write))));
        out.extend(into.map(|register| Micro::Assign(register, var(old))));
        out.push(Micro::Assign(old, number(free_value(domain))));
        out
    }

    /// The locations that a place may stand for, and when it does.
    fn cells(&self, place: &Place) -> Vec<(Term, LocationId)> {
        match place {
            Place::Fixed(x) => vec![(number(1), *x)],
            Place::Cell(array, index) => {
                let array = &self.request.program.arrays()[*array];
                let position = |x: LocationId| number(x.index() as i64 - array.first.index() as i64);
                array.cells().map(|x| (equal(index.clone(), position(x)), x)).collect()
            }
        }
    }

    /// A violation, if an index is outside its array.
    fn in_array(&self, place: &Place) -> Option<Micro> {
        let Place::Cell(array, index) = place else { return None };
        let len = self.request.program.arrays()[*array].len;
        let is_below = Expr::binary(BinaryOp::Lt, index.clone(), number(len));
        let condition = all([at_least(index.clone(), number(0)), is_below]);
        match index {
            Expr::Const(value) if (0..i64::from(len)).contains(value) => None,
            Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => Some(Micro::Assert(condition)),
        }
    }
}

/// What the location or cell at a place may hold.
pub(super) fn domain_of(request: &Request<'_>, place: &Place) -> Domain {
    let first = match place {
        Place::Fixed(x) => *x,
        Place::Cell(array, _) => request.program.arrays()[*array].first,
    };
    request.program.locations()[first].domain
}

fn dedup(mut terms: Vec<Term>) -> Vec<Term> {
    terms.dedup();
    terms
}
