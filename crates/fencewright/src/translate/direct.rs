//! Buffers as they are (the paper's Fig. 4): a counter, and slots that move up by one when the first has left.
//!
//! Under TSO a slot says which location its store is for; its value ranges over what any of them may hold, so a store
//! checks the range of its location first, and booleans are kept as 0 and 1 beside numbers.

use crate::program::{BinaryOp, Domain, Expr, LocationId, Micro, Place, RegisterId, Value};
use crate::translate::Role;
use crate::translate::buffers::{Queue, Registers, Shape, free_value};
use crate::translate::logic::{Term, all, at_least, branch, equal, number, var};

/// A queue whose stores move up.
#[derive(Debug)]
pub(super) struct DirectQueue {
    /// Whose stores it holds, and what they may be.
    locations: Vec<(LocationId, Domain)>,
    /// What all of them may be together.
    domain: Domain,
    count: RegisterId,
    /// For each slot, the number of the location in `locations`; none if there is only one.
    targets: Vec<RegisterId>,
    values: Vec<RegisterId>,
    epoch: Option<RegisterId>,
    epochs: Vec<RegisterId>,
}

impl DirectQueue {
    pub(super) fn new(shape: &Shape<'_>, registers: &mut Registers<'_>) -> Self {
        let domain_of = |&x: &LocationId| (x, shape.request.program.locations()[x].domain);
        let locations: Vec<_> = shape.locations.iter().map(domain_of).collect();
        let domain = locations.iter().map(|it| it.1).reduce(union).unwrap_or(Domain::Bool);
        let count = Domain::Range(0, Value::try_from(shape.slots).unwrap_or(Value::MAX));
        let count = registers.add(&format!("count{}", shape.name), count, Role::Count);
        let last = Value::try_from(locations.len()).unwrap_or(Value::MAX) - 1;
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        for slot in 1..=shape.slots {
            if last > 0 {
                targets.push(registers.add(&format!("target_{slot}"), Domain::Range(0, last), Role::Target));
            }
            values.push(registers.add(&format!("value{}_{slot}", shape.name), domain, Role::Value));
        }
        let epochs = shape.epochs(registers);
        Self { locations, domain, count, targets, values, epoch: shape.epoch.map(|it| it.0), epochs }
    }

    fn domain_of(&self, x: LocationId) -> Domain {
        self.locations.iter().find(|it| it.0 == x).map_or(self.domain, |it| it.1)
    }

    fn number_of(&self, x: LocationId) -> Value {
        let position = self.locations.iter().position(|it| it.0 == x).unwrap_or(0);
        Value::try_from(position).unwrap_or(Value::MAX)
    }

    fn is_for(&self, x: LocationId, slot: usize) -> Term {
        self.targets.get(slot).map_or(number(1), |&target| equal(var(target), number(self.number_of(x))))
    }

    fn put_at(&self, x: LocationId, slot: usize, value: &Term) -> Vec<Micro> {
        let mut out: Vec<Micro> = Vec::new();
        out.extend(self.targets.get(slot).map(|&target| Micro::Assign(target, number(self.number_of(x)))));
        let is_kept_as_number = self.domain_of(x) == Domain::Bool && self.domain != Domain::Bool;
        let assign = |value: Term| vec![Micro::Assign(self.values[slot], value)];
        out.extend(match is_kept_as_number {
            true => branch(value.clone(), assign(number(1)), assign(number(0))),
            false => assign(value.clone()),
        });
        if let (Some(&epoch), Some(now)) = (self.epochs.get(slot), self.epoch) {
            out.push(Micro::Assign(epoch, var(now)));
        }
        out
    }

    /// A violation, if the location cannot hold the value but the slot can.
    fn check_range(&self, x: LocationId, value: &Term) -> Option<Micro> {
        let domain = self.domain_of(x);
        let (lo, hi) = domain.bounds().filter(|_| domain != self.domain && domain != Domain::Bool)?;
        let is_below = Expr::binary(BinaryOp::Le, value.clone(), number(hi));
        Some(Micro::Assert(all([at_least(value.clone(), number(lo)), is_below])))
    }
}

impl Queue for DirectQueue {
    fn occupied(&self, slot: usize) -> Term {
        at_least(var(self.count), number(Value::try_from(slot).unwrap_or(Value::MAX) + 1))
    }

    fn holds(&self, x: LocationId, slot: usize) -> Term {
        all([self.occupied(slot), self.is_for(x, slot)])
    }

    fn value(&self, x: LocationId, slot: usize) -> Term {
        let value = var(self.values[slot]);
        let is_kept_as_number = self.domain_of(x) == Domain::Bool && self.domain != Domain::Bool;
        if is_kept_as_number { equal(value, number(1)) } else { value }
    }

    fn is_empty(&self, _most: usize) -> Term {
        equal(var(self.count), number(0))
    }

    fn is_full(&self) -> Term {
        equal(var(self.count), number(Value::try_from(self.values.len()).unwrap_or(Value::MAX)))
    }

    fn put(&self, x: LocationId, value: &Term, most: usize) -> Vec<Micro> {
        let last = most.min(self.values.len() - 1);
        let is_count = |slot: usize| equal(var(self.count), number(Value::try_from(slot).unwrap_or(Value::MAX)));
        let deepest = self.put_at(x, last, value);
        let chain =
            (0..last).rev().fold(deepest, |deeper, slot| branch(is_count(slot), self.put_at(x, slot, value), deeper));
        let mut out: Vec<Micro> = self.check_range(x, value).into_iter().chain(chain).collect();
        out.push(Micro::Assign(self.count, Expr::binary(BinaryOp::Add, var(self.count), number(1))));
        out
    }

    fn take(&self, x: LocationId, slot: usize, most: usize) -> Option<(Term, Vec<Micro>)> {
        if slot > 0 {
            return None;
        }
        let mut leave = vec![Micro::Store(Place::Fixed(x), self.value(x, 0))];
        let free = [(&self.targets, 0), (&self.values, free_value(self.domain)), (&self.epochs, 0)];
        for (registers, free) in free.iter().filter(|it| !it.0.is_empty()) {
            // Slots beyond the count are free, so that moving them changes nothing.
            leave.extend(registers[..most].windows(2).map(|pair| Micro::Assign(pair[0], var(pair[1]))));
            leave.push(Micro::Assign(registers[most - 1], number(*free)));
        }
        leave.push(Micro::Assign(self.count, Expr::binary(BinaryOp::Sub, var(self.count), number(1))));
        Some((self.holds(x, 0), leave))
    }

    fn epoch(&self, slot: usize) -> Option<RegisterId> {
        self.epochs.get(slot).copied()
    }
}

fn union(left: Domain, right: Domain) -> Domain {
    match (left, right, left.bounds(), right.bounds()) {
        (Domain::Bool, Domain::Bool, ..) => Domain::Bool,
        (_, _, Some(left), Some(right)) => Domain::Range(left.0.min(right.0), left.1.max(right.1)),
        (_, _, None, _) | (_, _, _, None) => Domain::Int,
    }
}
