//! What waits in the store buffers of a process: `k` stores exactly, the rest as a summary.
//!
//! ```text
//!    newest k:   new ─▶ [ x2 y1 │ {x, z} ] ─▶ memory      y1 and x2 in order, behind stores to x and z in any order
//!    oldest k:   new ─▶ [ {x, z} │ y1 x2 ] ─▶ memory      the other way around
//! ```
//!
//! The summary is a set of locations with the value of the last store to each. It stands for every word of stores to
//! these locations in which each occurs and the last one has that value. So while the summary is next to leave, a store
//! of it to `x` reaches memory with *any* value and `x` stays, or it is the last, with the value that is known, and `x`
//! goes. Under PSO all that is said by location; with the newest kept, `k` counts the stores to one location.
//!
//! Stores to `x` may *rise*: then none is made with a smaller value than one that waits in the same buffer. Where that
//! is so, what waits is in order, a value is kept that no store of the summary is below, and one that leaves is between
//! that value and the last.
//!
//! A store-store marker stands between stores that are kept exactly. Whatever is in the summary does not wait for it
//! and it does not wait for the summary: a marker only ever delays, so that adds runs and takes none away. A marker
//! that holds nothing back leaves at once.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Buffering, PsoRmw};
use crate::numeric::Term;
use crate::program::LocationId;

/// Which stores are kept exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Keep {
    /// Those that came last.
    #[default]
    Newest,
    /// Those that leave first.
    Oldest,
}

impl Keep {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Newest, Self::Oldest];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
        }
    }

    /// What it is, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Newest => "those that came last, as in the paper's tool",
            Self::Oldest => "those that leave first, as in the paper's text",
        }
    }
}

/// How store buffers behave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// In which order stores leave.
    pub order: Buffering,
    /// Which stores are kept exactly.
    pub keep: Keep,
    /// How many.
    pub k: usize,
    /// The locations to which stores rise.
    pub rising: &'a BTreeSet<LocationId>,
}

impl Rules<'_> {
    /// The same with nothing summed up.
    pub(super) fn exact(self) -> Self {
        Self { k: usize::MAX, ..self }
    }
}

/// An entry that is kept exactly, values aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Entry {
    /// A store to this location.
    Store(LocationId),
    /// A store-store fence.
    Marker,
}

/// What waits, values aside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Oldest first; under PSO those between two markers by location.
    pub exact: Vec<Entry>,
    /// Ascending; whether they rise.
    pub summary: Vec<(LocationId, bool)>,
}

impl Shape {
    /// How many values wait.
    pub(super) fn n_values(&self) -> usize {
        let n_exact = self.exact.iter().filter(|it| **it != Entry::Marker).count();
        n_exact + self.summary.iter().map(|&(_, rises)| 1 + usize::from(rises)).sum::<usize>()
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.summary.is_empty()
    }
}

/// What waits, with values.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    exact: Vec<Held>,
    summary: BTreeMap<LocationId, Summed>,
}

/// The stores to a location that are summed up.
#[derive(Clone, Copy, Debug)]
struct Summed {
    last: Term,
    /// None of them is below this, if they rise.
    first: Option<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Store(LocationId, Term),
    Marker,
}

/// How a store leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// It was kept exactly.
    Exact,
    /// From the summary, where its location stays; with any value.
    Some,
    /// From the summary, the last one.
    Last,
}

/// The value of a store that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// This one.
    Is(Term),
    /// Any, as the variable that was given for it.
    Any,
    /// Any from one to another, as the variable that was given for it.
    Between(Term, Term),
}

/// A store that may leave.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    /// How.
    pub how: How,
    /// To where.
    pub location: LocationId,
    /// With this value.
    pub value: Value,
    /// What waits afterwards.
    pub rest: Waiting,
}

impl Held {
    fn is_to(self, x: LocationId) -> bool {
        match self {
            Self::Store(y, _) => x == y,
            Self::Marker => false,
        }
    }
}

impl Waiting {
    /// What waits in this shape, whose values are these.
    pub(super) fn new(shape: &Shape, mut values: impl Iterator<Item = Term>) -> Self {
        let mut value = || values.next().expect("a shape has so many values");
        let exact = shape.exact.iter().map(|entry| match entry {
            Entry::Store(x) => Held::Store(*x, value()),
            Entry::Marker => Held::Marker,
        });
        let exact = exact.collect();
        let summary = shape.summary.iter().map(|&(x, rises)| {
            let last = value();
            (x, Summed { last, first: rises.then(&mut value) })
        });
        let summary = summary.collect();
        Self { exact, summary }
    }

    /// Its shape.
    pub(super) fn shape(&self) -> Shape {
        let exact = self.exact.iter().map(|it| match it {
            Held::Store(x, _) => Entry::Store(*x),
            Held::Marker => Entry::Marker,
        });
        let summary = self.summary.iter().map(|(&x, it)| (x, it.first.is_some()));
        Shape { exact: exact.collect(), summary: summary.collect() }
    }

    /// Its values, in the order of its shape.
    pub(super) fn values(&self) -> impl Iterator<Item = Term> {
        let exact = self.exact.iter().filter_map(|it| match it {
            Held::Store(_, value) => Some(*value),
            Held::Marker => None,
        });
        exact.chain(self.summary.values().flat_map(|it| std::iter::once(it.last).chain(it.first)))
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.summary.is_empty()
    }

    /// Whether an atomic step may act that waits for its own location, or for all.
    pub(super) fn may_act(&self, own: Option<LocationId>, rules: Rules<'_>) -> bool {
        match (rules.order, own) {
            (Buffering::PerLocation(PsoRmw::Location), Some(x)) => {
                let waits_for = |it: &Held| it.is_to(x) || *it == Held::Marker;
                !self.summary.contains_key(&x) && !self.exact.iter().any(waits_for)
            }
            (Buffering::PerLocation(_) | Buffering::Fifo | Buffering::None, _) => self.is_empty(),
        }
    }

    /// What a load finds here.
    pub(super) fn load(&self, x: LocationId, keep: Keep) -> Option<Term> {
        let exact = || self.exact.iter().rev().find(|it| it.is_to(x)).and_then(|it| it.value());
        let summed = || self.summary.get(&x).map(|it| it.last);
        match keep {
            Keep::Newest => exact().or_else(summed),
            Keep::Oldest => summed().or_else(exact),
        }
    }

    /// A store comes.
    pub(super) fn store(&mut self, x: LocationId, value: Term, rules: Rules<'_>) {
        match rules.keep {
            Keep::Newest => {
                self.append(x, value, rules.order);
                if self.n_counted(x, rules.order) > rules.k {
                    self.sum_up_oldest(x, rules);
                }
            }
            Keep::Oldest if self.is_summed(x, rules.order) || self.n_counted(x, rules.order) >= rules.k => {
                self.sum_up(x, value, rules);
            }
            Keep::Oldest => self.append(x, value, rules.order),
        }
    }

    /// A store-store fence.
    pub(super) fn mark(&mut self, order: Buffering) {
        match order {
            Buffering::None | Buffering::Fifo => {}
            Buffering::PerLocation(_) => {
                self.exact.push(Held::Marker);
                self.settle();
            }
        }
    }

    /// The stores that may leave next; a value that is not known is this variable.
    pub(super) fn leaving(&self, rules: Rules<'_>, any: Term) -> Vec<Leaving> {
        let mut out = Vec::new();
        let exact_first = rules.keep == Keep::Oldest;
        let first = self.exact.iter().position(|it| *it == Held::Marker).unwrap_or(self.exact.len());
        for (at, pending) in self.exact[..first].iter().enumerate() {
            let Held::Store(x, _) = *pending else { continue };
            let is_oldest = match rules.order {
                Buffering::None | Buffering::Fifo => at == 0,
                Buffering::PerLocation(_) => !self.exact[..at].iter().any(|it| it.is_to(x)),
            };
            if is_oldest && (exact_first || !self.is_summed(x, rules.order)) {
                out.push(self.leaving_exact(at));
            }
        }
        for &x in self.summary.keys() {
            if !exact_first || self.n_counted(x, rules.order) == 0 {
                out.extend(self.leaving_summary(x, any));
            }
        }
        out
    }

    fn leaving_exact(&self, at: usize) -> Leaving {
        let mut rest = self.clone();
        let pending = rest.exact.remove(at);
        rest.settle();
        match pending {
            Held::Store(location, value) => Leaving { how: How::Exact, location, value: Value::Is(value), rest },
            Held::Marker => unreachable!("only stores leave"),
        }
    }

    fn leaving_summary(&self, location: LocationId, any: Term) -> [Leaving; 2] {
        let (mut without, mut with) = (self.clone(), self.clone());
        without.summary.remove(&location);
        let Summed { last, first } = self.summary[&location];
        with.summary.insert(location, Summed { last, first: first.map(|_| any) });
        let some = first.map_or(Value::Any, |first| Value::Between(first, last));
        [
            Leaving { how: How::Last, location, value: Value::Is(last), rest: without },
            Leaving { how: How::Some, location, value: some, rest: with },
        ]
    }

    /// The stores of which `k` are kept: to the same location under PSO.
    fn n_counted(&self, x: LocationId, order: Buffering) -> usize {
        let is_counted = |it: &&Held| match order {
            Buffering::None | Buffering::Fifo => **it != Held::Marker,
            Buffering::PerLocation(_) => it.is_to(x),
        };
        self.exact.iter().filter(is_counted).count()
    }

    /// Whether some of them are summed up.
    fn is_summed(&self, x: LocationId, order: Buffering) -> bool {
        match order {
            Buffering::None | Buffering::Fifo => !self.summary.is_empty(),
            Buffering::PerLocation(_) => self.summary.contains_key(&x),
        }
    }

    fn append(&mut self, x: LocationId, value: Term, order: Buffering) {
        let at = match order {
            Buffering::None | Buffering::Fifo => self.exact.len(),
            Buffering::PerLocation(_) => {
                let comes_before = |it: &Held| match it {
                    Held::Store(y, _) => *y <= x,
                    Held::Marker => true,
                };
                self.exact.iter().rposition(comes_before).map_or(0, |at| at + 1)
            }
        };
        self.exact.insert(at, Held::Store(x, value));
    }

    fn sum_up_oldest(&mut self, x: LocationId, rules: Rules<'_>) {
        let is_counted = |it: &Held| match rules.order {
            Buffering::None | Buffering::Fifo => *it != Held::Marker,
            Buffering::PerLocation(_) => it.is_to(x),
        };
        let Some(at) = self.exact.iter().position(is_counted) else { return };
        if let Held::Store(y, value) = self.exact.remove(at) {
            self.sum_up(y, value, rules);
        }
        self.settle();
    }

    /// A store is the last of the summary.
    fn sum_up(&mut self, x: LocationId, last: Term, rules: Rules<'_>) {
        let first = self.summary.get(&x).map_or(Some(last), |it| it.first);
        self.summary.insert(x, Summed { last, first: first.filter(|_| rules.rising.contains(&x)) });
    }

    /// Markers leave that hold nothing back.
    fn settle(&mut self) {
        self.exact.dedup_by(|a, b| *a == Held::Marker && *b == Held::Marker);
        if self.exact.first() == Some(&Held::Marker) {
            self.exact.remove(0);
        }
    }
}

impl Held {
    fn value(self) -> Option<Term> {
        match self {
            Self::Store(_, value) => Some(value),
            Self::Marker => None,
        }
    }
}

#[cfg(test)]
mod tests;
