//! A store buffer of which the newest `k` stores are known.
//!
//! ```text
//!    new ─▶ [ x=2 y=1 │ {x=1, z=3} ] ─▶ memory       newest in order │ older, by location
//! ```
//!
//! It stands for every buffer in which the newest stores are these, in this order, and before them, in any order and
//! number, stores to exactly the locations of the older part, the last one to each with the value that is known.
//!
//! | what happens | here |
//! |---|---|
//! | a store comes | it is the newest; if there are more than `k`, the oldest of those becomes the last older one |
//! | an older store to x leaves, and another to x is left | memory(x): any value; nothing else changes |
//! | the same, where stores to x *rise* | memory(x): a value from the first to the last; that is the first then |
//! | the last older store to x leaves | memory(x): its value; x goes |
//! | one of the newest leaves | only when nothing older has to leave before it |
//! | a load of x | the newest store to x; of the older part, the last one |
//!
//! Stores to x rise if none of them is made with a smaller value than that of another which waits in the same buffer.
//! The certificate says of which locations that is so, and every store that is made is looked at. Then what waits is in
//! order, and a value is kept that none of the older stores is below.
//!
//! Under PSO all that is said of the stores to one location. Then a store-store fence is a marker among the newest:
//! what is behind it waits for those of the newest that are before it, but not for older ones. A marker only ever makes
//! a store wait, so one that is forgotten takes no behaviour away; it is when nothing is before it.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Buffering, PsoRmw};
use crate::numeric::Term;
use crate::program::LocationId;

/// What waits, values aside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Oldest first; `None` is a marker.
    newest: Vec<Option<LocationId>>,
    /// Ascending; whether they rise.
    older: Vec<(LocationId, bool)>,
}

/// What waits.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    newest: Vec<Entry>,
    older: BTreeMap<LocationId, Older>,
}

/// The older stores to a location.
#[derive(Clone, Copy, Debug)]
struct Older {
    /// None of them is below this, if they rise.
    first: Option<Term>,
    last: Term,
}

/// What buffers do.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) machine: Buffering,
    /// So many of the newest stores are kept in order.
    pub(super) k: usize,
    /// The locations to which stores rise.
    pub(super) rising: &'a BTreeSet<LocationId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Store(LocationId, Term),
    Marker,
}

/// A store that leaves.
pub(super) struct Leaving {
    pub(super) location: LocationId,
    pub(super) value: Leaves,
    pub(super) rest: Buffer,
}

/// With which value.
pub(super) enum Leaves {
    /// This one.
    With(Term),
    /// Any, as the variable that was given for it.
    Any,
    /// Any from the first to the last of these, as the variable that was given for it.
    Between(Term, Term),
}

impl Shape {
    pub(super) fn n_values(&self) -> usize {
        self.n_newest() + self.older.iter().map(|&(_, rises)| 1 + usize::from(rises)).sum::<usize>()
    }

    fn n_newest(&self) -> usize {
        self.newest.iter().flatten().count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.newest.is_empty() && self.older.is_empty()
    }

    /// The place among the values of one of the newest stores, counted from the oldest of them.
    pub(super) fn newest_place(&self, at: usize) -> Option<usize> {
        (at < self.n_newest()).then_some(at)
    }

    /// The place among the values of the last older store to a location.
    pub(super) fn last_place(&self, x: LocationId) -> Option<usize> {
        let at = self.older.iter().position(|it| it.0 == x)?;
        let before: usize = self.older[..at].iter().map(|&(_, rises)| 1 + usize::from(rises)).sum();
        Some(self.n_newest() + before)
    }

    /// A buffer of this shape whose values are the variables from `first` on.
    pub(super) fn buffer(&self, first: usize) -> Buffer {
        let mut variables = (first..).map(Term::var);
        let mut next = || variables.next().expect("there is no last variable");
        let newest = self.newest.iter().map(|it| it.map_or(Entry::Marker, |x| Entry::Store(x, next()))).collect();
        let older = self.older.iter().map(|&(x, rises)| {
            let last = next();
            (x, Older { first: rises.then(&mut next), last })
        });
        let older = older.collect();
        Buffer { newest, older }
    }
}

impl Entry {
    fn is_to(&self, x: LocationId) -> bool {
        match self {
            Self::Store(y, _) => *y == x,
            Self::Marker => false,
        }
    }
}

impl Buffer {
    pub(super) fn shape(&self) -> Shape {
        let location = |entry: &Entry| match entry {
            Entry::Store(x, _) => Some(*x),
            Entry::Marker => None,
        };
        let older = self.older.iter().map(|(&x, older)| (x, older.first.is_some()));
        Shape { newest: self.newest.iter().map(location).collect(), older: older.collect() }
    }

    /// Its values, in the order of its shape.
    pub(super) fn values(&self) -> Vec<Term> {
        let value = |entry: &Entry| match entry {
            Entry::Store(_, value) => Some(*value),
            Entry::Marker => None,
        };
        let older = self.older.values().flat_map(|it| std::iter::once(it.last).chain(it.first));
        self.newest.iter().filter_map(value).chain(older).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.newest.is_empty() && self.older.is_empty()
    }

    /// What a load finds, if a store to the location waits.
    pub(super) fn load(&self, x: LocationId) -> Option<Term> {
        let newest = self.newest.iter().rev().find_map(|entry| match entry {
            Entry::Store(y, value) if *y == x => Some(*value),
            Entry::Store(..) | Entry::Marker => None,
        });
        newest.or_else(|| self.older.get(&x).map(|it| it.last))
    }

    /// Whether an atomic update of a location need not wait. Where a marker waits here, one waits in every buffer.
    pub(super) fn lets_update(&self, x: LocationId, machine: Buffering) -> bool {
        match machine {
            Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => self.is_empty(),
            Buffering::PerLocation(PsoRmw::Location) => {
                self.load(x).is_none() && self.newest.iter().all(|entry| *entry != Entry::Marker)
            }
        }
    }

    /// A store comes.
    pub(super) fn store(&mut self, x: LocationId, value: Term, rules: Rules<'_>) {
        self.newest.push(Entry::Store(x, value));
        let is_counted = |entry: &Entry| match rules.machine {
            Buffering::None | Buffering::Fifo => *entry != Entry::Marker,
            Buffering::PerLocation(_) => entry.is_to(x),
        };
        if self.newest.iter().filter(|entry| is_counted(entry)).count() > rules.k {
            let oldest = self.newest.iter().position(is_counted).expect("there are more than k");
            if let Entry::Store(y, last) = self.newest.remove(oldest) {
                let first = self.older.get(&y).map_or(Some(last), |older| older.first);
                self.older.insert(y, Older { first: first.filter(|_| rules.rising.contains(&y)), last });
            }
        }
        self.tidy(rules.machine);
    }

    /// A store-store fence under PSO.
    pub(super) fn mark(&mut self, machine: Buffering) {
        self.newest.push(Entry::Marker);
        self.tidy(machine);
    }

    /// Forgets markers with nothing before them, or only another; and the order of stores that none has.
    fn tidy(&mut self, machine: Buffering) {
        self.newest.dedup_by(|a, b| *a == Entry::Marker && *b == Entry::Marker);
        if self.newest.first() == Some(&Entry::Marker) {
            self.newest.remove(0);
        }
        let location = |entry: &Entry| match entry {
            Entry::Store(x, _) => Some(*x),
            Entry::Marker => None,
        };
        match machine {
            Buffering::None | Buffering::Fifo => {}
            Buffering::PerLocation(_) => {
                self.newest.split_mut(|entry| *entry == Entry::Marker).for_each(|part| part.sort_by_key(location));
            }
        }
    }

    /// Every store that may leave; a value that is not known is this variable.
    pub(super) fn leaving(&self, machine: Buffering, any: Term) -> Vec<Leaving> {
        let mut out = Vec::new();
        for (&location, &Older { first, last }) in &self.older {
            let mut rest = self.clone();
            rest.older.insert(location, Older { first: first.map(|_| any), last });
            let value = first.map_or(Leaves::Any, |first| Leaves::Between(first, last));
            out.push(Leaving { location, value, rest });
            let mut rest = self.clone();
            rest.older.remove(&location);
            out.push(Leaving { location, value: Leaves::With(last), rest });
        }
        for (at, entry) in self.newest.iter().enumerate() {
            let Entry::Store(location, value) = *entry else { break };
            let is_next = match machine {
                Buffering::None | Buffering::Fifo => at == 0 && self.older.is_empty(),
                Buffering::PerLocation(_) => {
                    let has_older = self.newest[..at].iter().any(|it| it.is_to(location));
                    !has_older && !self.older.contains_key(&location)
                }
            };
            if is_next {
                let mut rest = self.clone();
                rest.newest.remove(at);
                rest.tidy(machine);
                out.push(Leaving { location, value: Leaves::With(value), rest });
            }
        }
        out
    }
}
