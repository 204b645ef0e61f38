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
use crate::memory::{Buffering, Pending};
use crate::program::LocationId;
use crate::util::IndexVec;

/// How stores leave a buffer: the rules of the semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// In the order they came (TSO).
    Fifo,
    /// In order by location, and across locations only where a marker says so (PSO).
    PerLocation,
}

impl Discipline {
    /// How stores that wait like this leave.
    pub const fn of(buffering: Buffering) -> Self {
        match buffering {
            Buffering::None | Buffering::Fifo => Self::Fifo,
            Buffering::PerLocation(_) => Self::PerLocation,
        }
    }

    /// Where among the stores that wait a new one goes.
    fn place(self, waiting: &[Pending], x: LocationId) -> usize {
        match self {
            Self::Fifo => waiting.len(),
            Self::PerLocation => {
                let marker = waiting.iter().rposition(|pending| *pending == Pending::Marker);
                let epoch = marker.map_or(0, |marker| marker + 1);
                let is_before = |pending: &Pending| match pending {
                    Pending::Store(y, _) => *y <= x,
                    Pending::Marker => true,
                };
                epoch + waiting[epoch..].partition_point(is_before)
            }
        }
    }

    /// How many of the oldest may leave, but for stores that wait for others to their location.
    fn n_candidates(self, waiting: &[Pending]) -> usize {
        match self {
            Self::Fifo => waiting.len().min(1),
            Self::PerLocation => {
                waiting.iter().position(|pending| *pending == Pending::Marker).unwrap_or(waiting.len())
            }
        }
    }
}

impl Rules for Discipline {
    /// Stores and markers, oldest first.
    type Waiting = Vec<Pending>;

    fn nothing(&self) -> Vec<Pending> {
        Vec::new()
    }

    fn with_store(&self, waiting: &Vec<Pending>, (x, value): Stored, _label: Label) -> Vec<Pending> {
        let mut longer = waiting.clone();
        longer.insert(self.place(waiting, x), Pending::Store(x, value));
        longer
    }

    fn with_marker(&self, waiting: &Vec<Pending>) -> Vec<Pending> {
        let mut marked = waiting.clone();
        if marked.last().is_some_and(|last| *last != Pending::Marker) {
            marked.push(Pending::Marker);
        }
        marked
    }

    fn flushes(&self, waiting: &Vec<Pending>) -> Vec<Leaving<Vec<Pending>>> {
        let mut out: Vec<Leaving<Vec<Pending>>> = Vec::new();
        for (i, pending) in waiting[..self.n_candidates(waiting)].iter().enumerate() {
            let &Pending::Store(x, value) = pending else { continue };
            if out.last().and_then(|last| last.store).is_some_and(|last| last.0 == x) {
                continue;
            }
            let mut rest = waiting.clone();
            rest.remove(i);
            if rest.first() == Some(&Pending::Marker) {
                rest.remove(0);
            }
            out.push(Leaving { store: Some((x, value)), rest });
        }
        out
    }

    fn newest(&self, waiting: &Vec<Pending>) -> Vec<Stored> {
        let mut newest: Vec<Stored> = Vec::new();
        for pending in waiting.iter().rev() {
            if let &Pending::Store(x, value) = pending
                && newest.iter().all(|known| known.0 != x)
            {
                newest.push((x, value));
            }
        }
        newest
    }

    fn has_marker(&self, waiting: &Vec<Pending>) -> bool {
        waiting.contains(&Pending::Marker)
    }

    fn n_stores(&self, waiting: &Vec<Pending>) -> usize {
        waiting.iter().filter(|pending| **pending != Pending::Marker).count()
    }

    fn renamed(&self, waiting: &Vec<Pending>, to: &IndexVec<LocationId, LocationId>) -> Vec<Pending> {
        let mut renamed = waiting.clone();
        for pending in &mut renamed {
            if let Pending::Store(x, _) = pending {
                *x = to[*x];
            }
        }
        match self {
            Self::Fifo => {}
            Self::PerLocation => {
                let epochs = renamed.split_mut(|pending| *pending == Pending::Marker);
                // Stable: stores to one location stay in order.
                epochs.for_each(|epoch| epoch.sort_by_key(location_of));
            }
        }
        renamed
    }
}

fn location_of(pending: &Pending) -> Option<LocationId> {
    match pending {
        Pending::Store(x, _) => Some(*x),
        Pending::Marker => None,
    }
}
