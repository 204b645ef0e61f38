//! Robust buffers (the paper's Fig. 5): a store keeps its slot until it leaves; one flag for each slot and location.
//!
//! A store goes behind the last that is pending, so a slot is free for use again only when all behind it are. Flags and
//! values of one slot and several locations are registers of their own, so that a value keeps its name.

use crate::program::{Domain, LocationId, Micro, Place, RegisterId};
use crate::translate::Role;
use crate::translate::buffers::{Queue, Registers, Shape, free_value, identifier};
use crate::translate::logic::{Term, all, any, branch, not, number, var};
use crate::translate::sizes::Sizes;

/// A queue whose stores keep their slots.
#[derive(Debug)]
pub(super) struct GuidedQueue {
    /// For each slot, the locations whose stores may get there. Invariant: at most one flag of a slot is set.
    slots: Vec<Vec<Cell>>,
    epoch: Option<RegisterId>,
    epochs: Vec<RegisterId>,
}

/// A location in a slot.
#[derive(Debug)]
struct Cell {
    x: LocationId,
    flag: RegisterId,
    value: RegisterId,
    domain: Domain,
}

impl GuidedQueue {
    pub(super) fn new(shape: &Shape<'_>, sizes: &Sizes, registers: &mut Registers<'_>) -> Self {
        let locations = shape.request.program.locations();
        let mut slots = Vec::new();
        for slot in 0..shape.slots {
            let reached = shape.locations.iter().filter(|&&x| slot <= sizes.deepest(x));
            let cell = |&x: &LocationId| {
                let (name, domain) = (identifier(&locations[x].name), locations[x].domain);
                let flag = registers.add(&format!("has_{name}_{}", slot + 1), Domain::Bool, Role::Flag);
                let value = registers.add(&format!("{name}_{}", slot + 1), domain, Role::Value);
                Cell { x, flag, value, domain }
            };
            slots.push(reached.map(cell).collect());
        }
        Self { slots, epoch: shape.epoch.map(|it| it.0), epochs: shape.epochs(registers) }
    }

    fn cell(&self, x: LocationId, slot: usize) -> Option<&Cell> {
        self.slots[slot].iter().find(|cell| cell.x == x)
    }

    fn put_at(&self, x: LocationId, slot: usize, value: &Term) -> Vec<Micro> {
        let cell = self.cell(x, slot).expect("there are cells for all stores");
        let mut out = vec![Micro::Assign(cell.value, value.clone()), Micro::Assign(cell.flag, number(1))];
        if let (Some(&epoch), Some(now)) = (self.epochs.get(slot), self.epoch) {
            out.push(Micro::Assign(epoch, var(now)));
        }
        out
    }
}

impl Queue for GuidedQueue {
    fn occupied(&self, slot: usize) -> Term {
        any(self.slots[slot].iter().map(|cell| var(cell.flag)))
    }

    fn holds(&self, x: LocationId, slot: usize) -> Term {
        self.cell(x, slot).map_or(number(0), |cell| var(cell.flag))
    }

    fn value(&self, x: LocationId, slot: usize) -> Term {
        self.cell(x, slot).map_or(number(0), |cell| var(cell.value))
    }

    fn is_empty(&self, most: usize) -> Term {
        not(any(self.slots[..most].iter().flatten().map(|cell| var(cell.flag))))
    }

    fn is_full(&self) -> Term {
        self.slots.len().checked_sub(1).map_or(number(1), |last| self.occupied(last))
    }

    fn put(&self, x: LocationId, value: &Term, most: usize) -> Vec<Micro> {
        let last = most.min(self.slots.len() - 1);
        let first = self.put_at(x, 0, value);
        (1..=last).fold(first, |below, slot| branch(self.occupied(slot - 1), self.put_at(x, slot, value), below))
    }

    fn take(&self, x: LocationId, slot: usize, _most: usize) -> Option<(Term, Vec<Micro>)> {
        let cell = self.cell(x, slot)?;
        let is_oldest = all([var(cell.flag)].into_iter().chain((0..slot).map(|below| not(self.occupied(below)))));
        let mut leave = vec![
            Micro::Store(Place::Fixed(x), var(cell.value)),
            Micro::Assign(cell.flag, number(0)),
            Micro::Assign(cell.value, number(free_value(cell.domain))),
        ];
        leave.extend(self.epochs.get(slot).map(|&epoch| Micro::Assign(epoch, number(0))));
        Some((is_oldest, leave))
    }

    fn epoch(&self, slot: usize) -> Option<RegisterId> {
        self.epochs.get(slot).copied()
    }
}
