//! Where threads can be at once, as far as locations say to which nobody has a plain store.
//!
//! No store to such a location ever waits in a buffer: whoever reads it finds what the last atomic step has left there.
//! So a walk through all threads, with these locations as they are and anything in the others, comes by every
//! combination of local states that a run of the model comes to:
//!
//! ```text
//!    P: p = swap(last, 0); while (busy[p]) { }       whoever swaps second waits for the first: never both for each
//!    Q: q = swap(last, 1); while (busy[q]) { }       other, whatever is stored to `busy`, and when
//! ```

use std::collections::HashSet;

use crate::engine::automaton::{Datum, Letter, LetterEdge, RegisterFree, StateId, Unmade};
use crate::program::LocationId;
use crate::util::{BitSet, Idx};
use crate::watch::{Monitor, Progress};

/// More combinations than this are not worth it.
const MAX_COMBINATIONS: usize = 20_000;

/// So many are looked up for one situation.
const MAX_COMBINED: usize = 1_000;

/// The monitor is asked after so many combinations.
const POLL_EVERY: usize = 256;

/// Where threads can be at once.
pub(super) struct Together {
    /// The local state of each thread; `None` where that was not found out.
    known: Option<HashSet<Vec<StateId>>>,
}

/// The local states of all threads, and what the locations hold.
type Combination = (Vec<StateId>, Vec<Datum>);

impl Together {
    pub(super) fn new(free: &RegisterFree, monitor: &dyn Monitor) -> Result<Self, Unmade> {
        let stored: BitSet = letters(free).filter_map(stored_to).collect();
        let is_kept = |x: &LocationId| !stored.contains(x.index());
        let kept: Vec<LocationId> = free.values.indices().filter(is_kept).collect();
        let walk = Walk { free, kept };
        if !letters(free).any(|letter| walk.changes(letter)) {
            return Ok(Self::unknown());
        }
        let known = walk.all(monitor)?;
        Ok(Self { known: known.map(|all| all.into_iter().map(|it| it.0).collect()) })
    }

    /// Nothing is found out.
    pub(super) fn unknown() -> Self {
        Self { known: None }
    }

    /// Each combination of these states of the threads in which they can be at once; `None` where that is not known, or
    /// takes long to find out.
    pub(super) fn of(&self, states: &[&[StateId]]) -> Option<Vec<Vec<StateId>>> {
        let known = self.known.as_ref()?;
        let n_combined = states.iter().fold(1, |n: usize, it| n.saturating_mul(it.len()));
        if n_combined > MAX_COMBINED {
            return None;
        }
        let mut all: Vec<Vec<StateId>> = vec![Vec::new()];
        for one in states {
            all = all.iter().flat_map(|it| one.iter().map(move |&more| [&it[..], &[more]].concat())).collect();
        }
        all.retain(|it| known.contains(it));
        Some(all)
    }
}

fn letters(free: &RegisterFree) -> impl Iterator<Item = &Letter> {
    free.processes.iter().flat_map(|it| &it.edges).map(|edge| &edge.letter)
}

/// The location of a plain store.
fn stored_to(letter: &Letter) -> Option<usize> {
    match letter {
        Letter::Write(x, _) => Some(x.index()),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => None,
    }
}

struct Walk<'a> {
    free: &'a RegisterFree,
    /// The locations to which nobody has a plain store.
    kept: Vec<LocationId>,
}

impl Walk<'_> {
    fn changes(&self, letter: &Letter) -> bool {
        match letter {
            Letter::Atomic(atomic) => atomic.writes.iter().any(|(x, _)| self.kept.contains(x)),
            Letter::Nop | Letter::Read(..) | Letter::Write(..) | Letter::Fence(_) => false,
        }
    }

    /// All that is come by; `None` if that is much.
    fn all(&self, monitor: &dyn Monitor) -> Result<Option<HashSet<Combination>>, Unmade> {
        let Some(starts) = self.starts() else { return Ok(None) };
        let mut seen: HashSet<Combination> = starts.iter().cloned().collect();
        let mut todo = starts;
        while let Some(at) = todo.pop() {
            if todo.len().is_multiple_of(POLL_EVERY) {
                let explored = seen.len() as u64;
                let progress = Progress { explored, bytes: explored * 64, ..Progress::default() };
                monitor.poll(&progress).map_or(Ok(()), |stop| Err(Unmade::Stopped(stop)))?;
            }
            for next in self.next(&at) {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
            if seen.len() > MAX_COMBINATIONS {
                return Ok(None);
            }
        }
        Ok(Some(seen))
    }

    fn starts(&self) -> Option<Vec<Combination>> {
        let mut all: Vec<Combination> = vec![(Vec::new(), Vec::new())];
        for process in &self.free.processes {
            let with = |(states, held): &Combination, state| ([&states[..], &[state]].concat(), held.clone());
            all = all.iter().flat_map(|it| process.initial.keys().map(|&state| with(it, state))).collect();
            (all.len() <= MAX_COMBINATIONS).then_some(())?;
        }
        for &x in &self.kept {
            let with = |(states, held): &Combination, datum| (states.clone(), [&held[..], &[datum]].concat());
            all = all.iter().flat_map(|it| self.free.initial[x].iter().map(|&datum| with(it, datum))).collect();
            (all.len() <= MAX_COMBINATIONS).then_some(())?;
        }
        Some(all)
    }

    fn next(&self, (states, held): &Combination) -> Vec<Combination> {
        let mut out = Vec::new();
        for (number, (process, &state)) in self.free.processes.iter().zip(states).enumerate() {
            for edge in process.outgoing[state as usize].iter().map(|&edge| &process.edges[edge as usize]) {
                out.extend(self.after(edge, held).map(|held| {
                    let mut states = states.clone();
                    states[number] = edge.to;
                    (states, held)
                }));
            }
        }
        out
    }

    /// What the locations hold after a step, if it is possible.
    fn after(&self, edge: &LetterEdge, held: &[Datum]) -> Option<Vec<Datum>> {
        let number = |x: LocationId| self.kept.binary_search(&x).ok();
        let finds = |&(x, datum): &(LocationId, Datum)| number(x).is_none_or(|number| held[number] == datum);
        let mut after = held.to_vec();
        match &edge.letter {
            Letter::Nop | Letter::Write(..) | Letter::Fence(_) => {}
            Letter::Read(x, datum) => finds(&(*x, *datum)).then_some(())?,
            Letter::Atomic(atomic) => {
                atomic.guards.iter().all(finds).then_some(())?;
                for &(x, datum) in &atomic.writes {
                    if let Some(number) = number(x) {
                        after[number] = datum;
                    }
                }
            }
        }
        Some(after)
    }
}
