//! What is left in memory once all buffers are empty: what somebody has stored there last.
//!
//! Stores of one thread to one location arrive in their order. So once all have arrived, a location holds the last that
//! some thread has stored there, or what it held at the start if nobody has. Of a thread's last store, or of what was
//! there at the start, nothing is left if the thread has since read something else: it reads its own store while that
//! waits, so that had arrived, and somebody has written over it.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::certificate::locals::{Letter, Values, initial_range};
use crate::certificate::verify::{Failure, Steps};
use crate::program::{LocationId, Program, Value};
use crate::util::Idx;

use super::{Held, Thread};

/// What a thread has stored last to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Last {
    /// Nothing, and what was there at the start may still be.
    Never,
    /// This, and it may still be there.
    Stored(Value),
    /// Whatever it was, or what was there at the start, it is no longer there.
    Gone,
}

/// What a thread may have stored last, for each location.
pub(super) type Lasts = Rc<Vec<BTreeSet<Last>>>;

/// With more than this, for all local states and locations of a thread, nothing is found out.
const MAX_SETS: usize = 1 << 20;

/// More combinations than this are not looked at.
const MAX_COMBINED: usize = 1_000;

/// What a thread may have stored last, in each of its local states; `None` if that is too much to find out.
pub(super) fn lasts(
    thread: &Thread<'_>,
    values: &Values,
    n_starts: usize,
    counter: &mut Steps<'_>,
) -> Result<Option<Vec<Lasts>>, Failure> {
    let (n_states, n_locations) = (thread.locals.len(), values.len());
    if n_states.saturating_mul(n_locations) > MAX_SETS {
        return Ok(None);
    }
    let mut sets = vec![vec![BTreeSet::new(); n_locations]; n_states];
    sets[..n_starts].iter_mut().flatten().for_each(|set| *set = BTreeSet::from([Last::Never]));
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n_states];
    thread.steps.iter().enumerate().for_each(|(number, step)| next[step.0].push(number));
    let mut todo: Vec<usize> = (0..n_starts).collect();
    let mut is_reached: Vec<bool> = (0..n_states).map(|state| state < n_starts).collect();
    while let Some(state) = todo.pop() {
        for &number in &next[state] {
            counter.step((n_states * n_locations * 64) as u64)?;
            let (_, letter, to) = &thread.steps[number];
            let mut after = sets[state].clone();
            act(thread.program, letter, &mut after)?;
            let grows = sets[*to].iter_mut().zip(after).fold(false, |grows, (all, more)| {
                let n_before = all.len();
                all.extend(more);
                grows || all.len() > n_before
            });
            if grows || !is_reached[*to] {
                is_reached[*to] = true;
                todo.push(*to);
            }
        }
    }
    Ok(Some(sets.into_iter().map(Rc::new).collect()))
}

/// What was stored last after a step.
fn act(program: &Program, letter: &Letter, last: &mut [BTreeSet<Last>]) -> Result<(), Failure> {
    match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => {}
        Letter::Read(x, value) => finds(program, *x, *value, &mut last[x.index()])?,
        Letter::Atomic(atomic) => {
            for (x, value) in &atomic.guards {
                finds(program, *x, *value, &mut last[x.index()])?;
            }
        }
    }
    letter.writes().iter().for_each(|(x, value)| last[x.index()] = BTreeSet::from([Last::Stored(*value)]));
    Ok(())
}

fn finds(program: &Program, x: LocationId, value: Value, last: &mut BTreeSet<Last>) -> Result<(), Failure> {
    let location = &program.locations()[x];
    let (lo, hi) = initial_range(location.initial, location.domain)?;
    let left = |it: &Last| match it {
        Last::Never if lo <= value && value <= hi => Last::Never,
        Last::Stored(stored) if *stored == value => *it,
        Last::Never | Last::Stored(_) | Last::Gone => Last::Gone,
    };
    *last = last.iter().map(left).collect();
    Ok(())
}

/// Whether memory can be like this, with all buffers empty and one of these stored last by each thread.
pub(super) fn is_possible(program: &Program, memory: &Held, threads: &[&BTreeSet<Lasts>]) -> Result<bool, Failure> {
    let n_combined = threads.iter().fold(1, |n: usize, it| n.saturating_mul(it.len()));
    if n_combined > MAX_COMBINED {
        return Ok(true);
    }
    let mut combined: Vec<Vec<&Lasts>> = vec![Vec::new()];
    for one in threads {
        combined = combined.iter().flat_map(|it| one.iter().map(move |more| [&it[..], &[more]].concat())).collect();
    }
    for lasts in combined {
        let mut may_be = true;
        for (&x, &value) in memory {
            let location = &program.locations()[x];
            let (lo, hi) = initial_range(location.initial, location.domain)?;
            let is_stored = lasts.iter().any(|it| it[x.index()].contains(&Last::Stored(value)));
            let is_first = lo <= value && value <= hi && lasts.iter().all(|it| it[x.index()].contains(&Last::Never));
            may_be &= is_stored || is_first;
        }
        if may_be {
            return Ok(true);
        }
    }
    Ok(false)
}
