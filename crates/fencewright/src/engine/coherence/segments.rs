//! All that the abstraction keeps of what waits for a process.
//!
//! Under PSO the buffers of a process are cut into segments by store-store markers; stores join the newest segment and
//! leave the oldest one. A marker that has nothing before it leaves at once, and one that has nothing since the last
//! marker is not put there at all: neither holds anything back that the other marker, or nobody, does not. TSO needs no
//! markers, so there is one segment with one buffer.

use crate::engine::coherence::buffer::{Buffer, Datum};
use crate::engine::coherence::{Abstraction, Precision};
use crate::engine::packed::{Label, Leaving, Rules, Stored};
use crate::memory::Buffering;
use crate::program::LocationId;
use crate::system::Step;
use crate::util::IndexVec;

/// Which buffers there are, and what is kept of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coherent {
    /// How stores wait.
    pub buffering: Buffering,
    /// What is kept of them.
    pub precision: Precision,
    /// Whether a store is kept with where it comes from.
    pub has_labels: bool,
}

/// What waits for a process. Invariant: the first segment is not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Segments(Vec<Segment>);

/// The buffers between two markers. Invariant: none is empty; they are sorted by what waits in them.
type Segment = Vec<(Queue, Buffer)>;

/// Which stores wait in one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Queue {
    /// All of a process: TSO.
    All,
    /// Those to one location: PSO.
    Of(LocationId),
}

impl Coherent {
    /// Where stores to a location wait.
    fn queue(self, x: LocationId) -> Queue {
        match self.buffering {
            Buffering::None | Buffering::Fifo => Queue::All,
            Buffering::PerLocation(_) => Queue::Of(x),
        }
    }
}

impl Rules for Coherent {
    type Waiting = Segments;

    fn nothing(&self) -> Segments {
        Segments::EMPTY
    }

    fn with_store(&self, waiting: &Segments, (x, value): Stored, label: Label) -> Segments {
        waiting.with_store(x, (value, label), *self)
    }

    fn with_marker(&self, waiting: &Segments) -> Segments {
        waiting.with_marker(*self)
    }

    fn flushes(&self, waiting: &Segments) -> Vec<Leaving<Segments>> {
        waiting.flushes(*self)
    }

    fn newest(&self, waiting: &Segments) -> Vec<Stored> {
        waiting.newest()
    }

    fn has_marker(&self, waiting: &Segments) -> bool {
        waiting.n_markers() > 0
    }

    /// The abstraction does not count them.
    fn n_stores(&self, _waiting: &Segments) -> usize {
        0
    }

    fn n_parts(&self, waiting: &Segments) -> usize {
        waiting.0.iter().flatten().map(|(_, buffer)| 1 + buffer.n_parts()).sum()
    }

    fn renamed(&self, waiting: &Segments, to: &IndexVec<LocationId, LocationId>) -> Segments {
        waiting.renamed(to)
    }

    fn label(&self, step: Step) -> Label {
        if self.has_labels { Label::of(step) } else { Label::NONE }
    }

    fn has_covering(&self) -> bool {
        self.precision.abstraction == Abstraction::Pd
    }

    fn covers(&self, a: &Segments, b: &Segments) -> bool {
        a.covers(b)
    }

    fn outline(&self, waiting: &Segments) -> Segments {
        waiting.outline()
    }
}

impl Segments {
    /// Nothing waits.
    pub(super) const EMPTY: Self = Self(Vec::new());

    /// After one more store.
    pub(super) fn with_store(&self, x: LocationId, datum: Datum, rules: Coherent) -> Self {
        let mut out = self.clone();
        if out.0.is_empty() {
            out.0.push(Segment::new());
        }
        let newest = out.0.last_mut().expect("there is a segment");
        let queue = rules.queue(x);
        let at = newest.binary_search_by_key(&queue, |it| it.0).unwrap_or_else(|at| {
            newest.insert(at, (queue, Buffer::default()));
            at
        });
        newest[at].1.store((x, datum), rules.precision);
        out
    }

    /// After a store-store fence under PSO.
    pub(super) fn with_marker(&self, rules: Coherent) -> Self {
        let mut out = self.clone();
        let separates = out.0.last().is_some_and(|segment| !segment.is_empty());
        if separates && self.n_markers() <= rules.precision.k as usize {
            out.0.push(Segment::new());
        }
        out
    }

    /// What can leave, and what remains.
    pub(super) fn flushes(&self, rules: Coherent) -> Vec<Leaving<Self>> {
        let Some(oldest) = self.0.first() else { return Vec::new() };
        let abstraction = rules.precision.abstraction;
        let mut out = Vec::new();
        for (at, (_, buffer)) in oldest.iter().enumerate() {
            for ((x, (value, _)), left) in buffer.flushes(abstraction) {
                out.push(Leaving { store: Some((x, value)), rest: self.after_flush(at, left) });
            }
        }
        if abstraction == Abstraction::Set {
            out.extend(self.guesses().into_iter().map(|rest| Leaving { store: None, rest }));
        }
        out
    }

    /// The newest store to each location that has one.
    pub(super) fn newest(&self) -> Vec<Stored> {
        let mut newest: Vec<Stored> = Vec::new();
        for segment in self.0.iter().rev() {
            for (x, (value, _)) in segment.iter().flat_map(|(_, buffer)| buffer.newest()) {
                if newest.iter().all(|known| known.0 != x) {
                    newest.push((x, value));
                }
            }
        }
        newest
    }

    /// How many markers are kept.
    pub(super) fn n_markers(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// The operations of which a store is sure to wait.
    pub(super) fn sure_labels(&self, abstraction: Abstraction) -> impl Iterator<Item = Label> + '_ {
        self.0.iter().flatten().flat_map(move |(_, buffer)| buffer.sure_labels(abstraction))
    }

    /// With other names for the locations.
    pub(super) fn renamed(&self, to: &IndexVec<LocationId, LocationId>) -> Self {
        let queue = |queue: Queue| match queue {
            Queue::All => Queue::All,
            Queue::Of(x) => Queue::Of(to[x]),
        };
        let segment = |segment: &Segment| {
            let mut out: Segment = segment.iter().map(|(it, buffer)| (queue(*it), buffer.renamed(|x| to[x]))).collect();
            out.sort();
            out
        };
        Self(self.0.iter().map(segment).collect())
    }

    /// `pd`: whether every behavior from the other is one from here.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let covers = |(mine, its): (&Segment, &Segment)| {
            let pairs = || mine.iter().zip(its);
            mine.len() == its.len() && pairs().all(|(mine, its)| mine.0 == its.0 && mine.1.covers(&its.1))
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(covers)
    }

    /// What it has in common with all that it covers and is covered by.
    pub(super) fn outline(&self) -> Self {
        let outline = |segment: &Segment| segment.iter().map(|(queue, it)| (*queue, it.outline())).collect();
        Self(self.0.iter().map(outline).collect())
    }

    /// After something left a buffer of the oldest segment.
    fn after_flush(&self, at: usize, left: Buffer) -> Self {
        let mut out = self.clone();
        if left.is_empty() {
            out.0[0].remove(at);
        } else {
            out.0[0][at].1 = left;
        }
        let n_empty = out.0.iter().take_while(|segment| segment.is_empty()).count();
        out.0.drain(..n_empty);
        out
    }

    /// `set`: another store turns out to be the newest of its buffer. That changes nothing that others see.
    fn guesses(&self) -> Vec<Self> {
        let mut out = Vec::new();
        for (i, segment) in self.0.iter().enumerate() {
            for (at, (_, buffer)) in segment.iter().enumerate() {
                for guess in buffer.guesses() {
                    let mut guessed = self.clone();
                    guessed.0[i][at].1 = guess;
                    out.push(guessed);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PsoRmw;
    use crate::util::Idx;

    fn x() -> LocationId {
        LocationId::from_usize(0)
    }

    fn y() -> LocationId {
        LocationId::from_usize(1)
    }

    fn pso(k: u32) -> Coherent {
        Coherent {
            buffering: Buffering::PerLocation(PsoRmw::Location),
            precision: Precision { abstraction: Abstraction::Fd, k },
            has_labels: false,
        }
    }

    fn stored(segments: &Segments, x: LocationId, rules: Coherent) -> Segments {
        segments.with_store(x, (1, Label::NONE), rules)
    }

    /// After `x = 1; fence(store); y = 1`.
    fn message(rules: Coherent) -> Segments {
        stored(&stored(&Segments::EMPTY, x(), rules).with_marker(rules), y(), rules)
    }

    #[test]
    fn a_marker_keeps_stores_in_order() {
        let rules = pso(1);
        let first = message(rules).flushes(rules);
        assert_eq!(first.iter().map(|it| it.store).collect::<Vec<_>>(), [Some((x(), 1))]);
        let second = first[0].rest.flushes(rules);
        assert_eq!(second.iter().map(|it| it.store).collect::<Vec<_>>(), [Some((y(), 1))]);
        assert_eq!(second[0].rest, Segments::EMPTY, "the marker left with what it held back");
    }

    #[test]
    fn a_marker_too_many_is_dropped() {
        let kept = |k| {
            let rules = pso(k);
            stored(&message(rules).with_marker(rules), x(), rules).n_markers()
        };
        assert_eq!([0, 1, 2].map(kept), [1, 2, 2]);
    }

    #[test]
    fn a_marker_that_separates_nothing_is_not_kept() {
        let rules = pso(4);
        assert_eq!(Segments::EMPTY.with_marker(rules), Segments::EMPTY);
        let once = message(rules).with_marker(rules);
        assert_eq!(once.with_marker(rules), once);
    }

    #[test]
    fn an_image_is_sorted_again() {
        let rules = pso(1);
        let both = |first, second| stored(&stored(&Segments::EMPTY, first, rules), second, rules);
        let swap = [y(), x()].into_iter().collect();
        assert_eq!(both(x(), y()).renamed(&swap), both(y(), x()));
        assert_eq!(message(rules).renamed(&swap).flushes(rules)[0].store, Some((y(), 1)));
    }
}
