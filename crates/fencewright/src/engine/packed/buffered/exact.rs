//! Store buffers as the semantics has them.
//!
//! Under TSO the contents are the FIFO. Under PSO they are kept as *epochs* between store-store markers, each sorted by
//! location, which is all that PSO distinguishes:
//!
//! ```text
//!    FIFO of x:  1 ★ 2            ⟨x1 y3 │ x2⟩
//!    FIFO of y:  3 ★
//! ```
//!
//! A marker with nothing before it is oldest in all FIFOs and leaves at once, and a marker behind a marker adds
//! nothing; both are dropped here.

use crate::engine::packed::buffered::{Label, Leaving, Rules};
use crate::engine::packed::component::Stored;
use crate::memory::Buffering;
use crate::program::{LocationId, Value};
use crate::util::IndexVec;

/// What waits in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Entry {
    /// A store.
    Store(LocationId, Value),
    /// A store-store marker; what follows waits for what precedes.
    Marker,
}

/// How stores leave a buffer: the rules of the semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    /// In the order they came (TSO).
    Fifo,
    /// In order by location, and across locations only where a marker says so (PSO).
    PerLocation,
}

impl Discipline {
    /// How stores that wait like this leave.
    pub(crate) const fn of(buffering: Buffering) -> Self {
        match buffering {
            Buffering::None | Buffering::Fifo => Self::Fifo,
            Buffering::PerLocation(_) => Self::PerLocation,
        }
    }

    /// Where among the stores that wait a new one goes.
    fn place(self, waiting: &[Entry], x: LocationId) -> usize {
        match self {
            Self::Fifo => waiting.len(),
            Self::PerLocation => {
                let marker = waiting.iter().rposition(|pending| *pending == Entry::Marker);
                let epoch = marker.map_or(0, |marker| marker + 1);
                let is_before = |pending: &Entry| match pending {
                    Entry::Store(y, _) => *y <= x,
                    Entry::Marker => true,
                };
                epoch + waiting[epoch..].partition_point(is_before)
            }
        }
    }

    /// How many of the oldest may leave, but for stores that wait for others to their location.
    fn n_candidates(self, waiting: &[Entry]) -> usize {
        match self {
            Self::Fifo => waiting.len().min(1),
            Self::PerLocation => waiting.iter().position(|pending| *pending == Entry::Marker).unwrap_or(waiting.len()),
        }
    }
}

impl Rules for Discipline {
    /// Stores and markers, oldest first.
    type Waiting = Vec<Entry>;

    fn nothing(&self) -> Vec<Entry> {
        Vec::new()
    }

    fn with_store(&self, waiting: &Vec<Entry>, (x, value): Stored, _label: Label) -> Vec<Entry> {
        let mut longer = waiting.clone();
        longer.insert(self.place(waiting, x), Entry::Store(x, value));
        longer
    }

    fn with_marker(&self, waiting: &Vec<Entry>) -> Vec<Entry> {
        let mut marked = waiting.clone();
        if marked.last().is_some_and(|last| *last != Entry::Marker) {
            marked.push(Entry::Marker);
        }
        marked
    }

    fn flushes(&self, waiting: &Vec<Entry>) -> Vec<Leaving<Vec<Entry>>> {
        let mut out: Vec<Leaving<Vec<Entry>>> = Vec::new();
        for (i, pending) in waiting[..self.n_candidates(waiting)].iter().enumerate() {
            let &Entry::Store(x, value) = pending else { continue };
            if out.last().and_then(|last| last.store).is_some_and(|last| last.0 == x) {
                continue;
            }
            let mut rest = waiting.clone();
            rest.remove(i);
            if rest.first() == Some(&Entry::Marker) {
                rest.remove(0);
            }
            out.push(Leaving { store: Some((x, value)), rest });
        }
        out
    }

    fn newest(&self, waiting: &Vec<Entry>) -> Vec<Stored> {
        let mut newest: Vec<Stored> = Vec::new();
        for pending in waiting.iter().rev() {
            if let &Entry::Store(x, value) = pending
                && newest.iter().all(|known| known.0 != x)
            {
                newest.push((x, value));
            }
        }
        newest
    }

    fn has_marker(&self, waiting: &Vec<Entry>) -> bool {
        waiting.contains(&Entry::Marker)
    }

    fn n_stores(&self, waiting: &Vec<Entry>) -> usize {
        waiting.iter().filter(|pending| **pending != Entry::Marker).count()
    }

    fn n_parts(&self, waiting: &Vec<Entry>) -> usize {
        waiting.len()
    }

    fn renamed(&self, waiting: &Vec<Entry>, to: &IndexVec<LocationId, LocationId>) -> Vec<Entry> {
        let mut renamed = waiting.clone();
        for pending in &mut renamed {
            if let Entry::Store(x, _) = pending {
                *x = to[*x];
            }
        }
        match self {
            Self::Fifo => {}
            Self::PerLocation => {
                let epochs = renamed.split_mut(|pending| *pending == Entry::Marker);
                // Stable: stores to one location stay in order.
                epochs.for_each(|epoch| epoch.sort_by_key(location_of));
            }
        }
        renamed
    }
}

fn location_of(pending: &Entry) -> Option<LocationId> {
    match pending {
        Entry::Store(x, _) => Some(*x),
        Entry::Marker => None,
    }
}
