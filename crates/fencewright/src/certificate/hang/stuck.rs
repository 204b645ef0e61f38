//! Where a thread is stuck, for each content of the locations that matter there.
//!
//! It cannot go on from a state if none of its steps from there is possible, and goes round within a part of its states
//! each of which is reached from each other. So what memory holds is tried for each such part apart, and only where
//! steps from that part touch it:
//!
//! ```text
//!   a ──▶ b ⇄ c ──▶ d        parts {a}, {b, c}, {d}; {b, c} is tried with what the steps from b and c touch
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::program::{LocationId, Value};
use crate::util::components;

use super::super::locals::{Letter, LocalState, Values};
use super::super::verify::{Failure, Steps};
use super::{Held, Thread};

/// So many contents of what a thread touches, times its steps, are tried at most.
const MAX_TRIED: usize = 50_000_000;

/// The states in which a thread is stuck, for each content of memory, and whether it may be stuck there.
pub(super) fn stuck(
    thread: &Thread<'_>,
    values: &Values,
    counter: &mut Steps<'_>,
) -> Result<BTreeMap<(Held, bool), BTreeSet<usize>>, Failure> {
    let parts = Part::all(thread);
    let n_tried = parts.iter().map(|it| it.n_tried(values)).fold(0, usize::saturating_add);
    if n_tried > MAX_TRIED {
        return Failure::refused("a thread touches too much memory to try all that it may hold");
    }
    let mut out: BTreeMap<(Held, bool), BTreeSet<usize>> = BTreeMap::new();
    for part in parts {
        for ((state, is_fine), memories) in part.stuck(values, counter)? {
            for memory in fewer(memories, &part.touched, values) {
                out.entry((memory, is_fine)).or_default().insert(state);
            }
        }
    }
    Ok(out)
}

/// Some states, each of which is reached from each other.
struct Part<'a> {
    thread: &'a Thread<'a>,
    /// In order.
    states: Vec<usize>,
    /// From one of them, whether to another of them or not.
    steps: Vec<&'a (usize, Letter, usize)>,
    /// Like those.
    again: Vec<(usize, usize)>,
    /// By the steps.
    touched: BTreeSet<LocationId>,
}

impl<'a> Part<'a> {
    /// All parts of the states of a thread.
    fn all(thread: &'a Thread<'a>) -> Vec<Self> {
        let mut next = vec![Vec::new(); thread.locals.len()];
        thread.steps.iter().for_each(|(from, _, to)| next[*from].push(*to));
        thread.again.iter().for_each(|(from, to)| next[*from].push(*to));
        let heads = components(&next);
        let empty = |_| Part { thread, states: vec![], steps: vec![], again: vec![], touched: BTreeSet::new() };
        let mut parts: Vec<Part<'a>> = heads.iter().map(empty).collect();
        heads.iter().enumerate().for_each(|(state, &head)| parts[head].states.push(state));
        thread.again.iter().for_each(|it| parts[heads[it.0]].again.push(*it));
        for step in &thread.steps {
            let part = &mut parts[heads[step.0]];
            part.steps.push(step);
            part.touched.extend(touched(&step.1));
        }
        parts.retain(|it| !it.states.is_empty());
        parts
    }

    /// How much is tried.
    fn n_tried(&self, values: &Values) -> usize {
        let sizes = self.touched.iter().map(|&x| values[x].len());
        sizes.fold(self.steps.len().max(1), usize::saturating_mul)
    }

    /// The states in which it is stuck and whether it may be, with the contents of memory.
    fn stuck(
        &self,
        values: &Values,
        counter: &mut Steps<'_>,
    ) -> Result<BTreeMap<(usize, bool), BTreeSet<Held>>, Failure> {
        let mut all = vec![Held::new()];
        for &x in &self.touched {
            let with = |held: &Held, value: Value| held.iter().map(|it| (*it.0, *it.1)).chain([(x, value)]).collect();
            all = all.iter().flat_map(|held| values[x].iter().map(move |&value| with(held, value))).collect();
        }
        let mut found: BTreeMap<(usize, bool), BTreeSet<Held>> = BTreeMap::new();
        // Many contents of memory allow the same steps.
        let mut known: HashMap<Vec<Can>, BTreeSet<(usize, bool)>> = HashMap::new();
        for memory in all {
            counter.step((known.len() * self.steps.len()) as u64)?;
            let can: Vec<Can> = self.steps.iter().map(|it| Can::be_done(&it.1, &memory)).collect();
            if !known.contains_key(&can) {
                let stuck = self.stuck_under(&can);
                known.insert(can.clone(), stuck);
            }
            for &(state, is_fine) in &known[&can] {
                found.entry((state, is_fine)).or_default().insert(memory.clone());
            }
        }
        Ok(found)
    }

    /// The states in which it is stuck while memory allows these steps, and whether it may be.
    fn stuck_under(&self, can: &[Can]) -> BTreeSet<(usize, bool)> {
        let thread = self.thread;
        let done = self.steps.iter().zip(can).filter(|it| *it.1 != Can::Not).map(|it| it.0.0);
        let is_left: BTreeSet<usize> = done.chain(self.again.iter().map(|it| it.0)).collect();
        let is_here = |state: usize| matches!(thread.locals[state], LocalState::Here(..)) && !thread.is_end(state);
        let blocked = self.states.iter().copied().filter(|&it| is_here(it) && !is_left.contains(&it));
        let mut out: BTreeSet<(usize, bool)> = blocked.map(|it| (it, thread.may_wait[it])).collect();
        // Who can go round without coming by where it may wait, may not.
        out.extend(self.rounds(can, &|state| !thread.may_wait[state]).into_iter().flatten().map(|it| (it, false)));
        let fine = self.rounds(can, &|_| true).into_iter().filter(|it| it.iter().any(|&it| thread.may_wait[it]));
        out.extend(fine.flatten().map(|it| (it, true)));
        out
    }

    /// The steps that change nothing of memory, and whether they read.
    fn silent<'s>(&'s self, can: &'s [Can]) -> impl Iterator<Item = (usize, usize, bool)> + 's {
        let steps = self.steps.iter().zip(can).filter(|it| *it.1 == Can::Silently);
        let again = self.again.iter().map(|&(from, to)| (from, to, false));
        steps.map(|((from, letter, to), _)| (*from, *to, reads(letter))).chain(again)
    }

    /// The parts of some states in which it can go round for ever, reading, without changing memory.
    fn rounds(&self, can: &[Can], is_in: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let place = |state: usize| self.states.binary_search(&state).ok().filter(|_| is_in(state));
        let within = |(from, to, reads)| Some((place(from)?, place(to)?, reads));
        let all: Vec<(usize, usize, bool)> = self.silent(can).filter_map(within).collect();
        let mut next = vec![Vec::new(); self.states.len()];
        all.iter().for_each(|it| next[it.0].push(it.1));
        let heads = components(&next);
        let reading: BTreeSet<usize> =
            all.iter().filter(|it| it.2 && heads[it.0] == heads[it.1]).map(|it| heads[it.0]).collect();
        let mut parts: BTreeMap<usize, Vec<usize>> = reading.into_iter().map(|head| (head, Vec::new())).collect();
        for (&state, head) in self.states.iter().zip(heads) {
            if let Some(part) = parts.get_mut(&head) {
                part.push(state);
            }
        }
        parts.into_values().collect()
    }
}

/// The same contents in fewer words: what holds for each value of a location is said without the location.
fn fewer(memories: BTreeSet<Held>, touched: &BTreeSet<LocationId>, values: &Values) -> BTreeSet<Held> {
    let mut all = memories;
    for x in touched {
        let mut without: BTreeMap<Held, usize> = BTreeMap::new();
        for memory in all.iter().filter(|it| it.contains_key(x)) {
            *without.entry(rest(memory, *x)).or_default() += 1;
        }
        without.retain(|_, n_values| *n_values == values[*x].len());
        let is_said = |memory: &Held| memory.contains_key(x) && without.contains_key(&rest(memory, *x));
        all = all.iter().filter(|it| !is_said(it)).cloned().chain(without.keys().cloned()).collect();
    }
    all
}

fn rest(memory: &Held, x: LocationId) -> Held {
    memory.iter().filter(|it| *it.0 != x).map(|it| (*it.0, *it.1)).collect()
}

fn touched(letter: &Letter) -> Vec<LocationId> {
    match letter {
        Letter::Nop | Letter::Fence(_) => Vec::new(),
        Letter::Read(x, _) | Letter::Write(x, _) => vec![*x],
        Letter::Atomic(atomic) => atomic.guards.iter().chain(&atomic.writes).map(|it| it.0).collect(),
    }
}

/// Whether a step can be taken while memory holds something and no store waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Can {
    /// It cannot.
    Not,
    /// And memory holds the same afterwards.
    Silently,
    /// And memory changes.
    Changing,
}

impl Can {
    fn be_done(letter: &Letter, memory: &Held) -> Self {
        match (is_possible_in(letter, memory), changes_nothing(letter, memory)) {
            (false, _) => Self::Not,
            (true, true) => Self::Silently,
            (true, false) => Self::Changing,
        }
    }
}

/// Whether a step can be taken while memory holds this and no store waits.
fn is_possible_in(letter: &Letter, memory: &Held) -> bool {
    match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => true,
        Letter::Read(x, value) => memory[x] == *value,
        Letter::Atomic(atomic) => atomic.guards.iter().all(|(x, value)| memory[x] == *value),
    }
}

/// Whether memory holds the same after a step.
fn changes_nothing(letter: &Letter, memory: &Held) -> bool {
    match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Read(..) => true,
        Letter::Write(x, value) => memory[x] == *value,
        Letter::Atomic(atomic) => atomic.writes.iter().all(|(x, value)| memory[x] == *value),
    }
}

fn reads(letter: &Letter) -> bool {
    matches!(letter, Letter::Read(..) | Letter::Atomic(_))
}
