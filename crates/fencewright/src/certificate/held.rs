//! All that locations can hold: what their ranges allow, if those are narrow; otherwise what they hold at the start,
//! and all that threads can write there that never find anything else.
//!
//! ```text
//!    flag: int = 0     P: flag = 1; …; flag = 0       {0}  ──▶  {0, 1}  ──▶  {0, 1}
//! ```

use std::collections::BTreeSet;

use crate::memory::Buffering;
use crate::program::{LocationId, Placement, Program, Value};
use crate::system::Flow;

use super::locals::{LocalState, Offers, Values, initial_range};
use super::verify::{Failure, Steps};

/// A range of more values than this is not tried value by value.
const MAX_VALUES: usize = 1024;

/// A location that may come to hold more values than this, beyond its range, may come to hold any.
const MAX_FOUND: usize = 64;

/// A thread with more local states than this may write anything.
const MAX_LOCALS: usize = 20_000;

/// All that locations can hold.
///
/// # Errors
/// A location can hold too much to list.
pub(super) fn held(program: &Program, steps: &mut Steps<'_>) -> Result<Values, Failure> {
    let is_narrow = |x: LocationId| program.locations()[x].domain.size().is_some_and(|size| size <= MAX_VALUES as u64);
    let first =
        program.locations().iter_enumerated().map(|(x, it)| match it.domain.bounds().filter(|_| is_narrow(x)) {
            Some((lo, hi)) => Ok((lo..=hi).collect()),
            None => initial_range(it.initial, it.domain).and_then(|(lo, hi)| few(program, x, lo..=hi)),
        });
    let mut values: Values = first.collect::<Result<_, Failure>>()?;
    if program.locations().indices().all(is_narrow) {
        return Ok(values);
    }
    loop {
        let written = written(program, &values, steps)?;
        let mut has_grown = false;
        for (x, value) in written.into_iter().filter(|it| !is_narrow(it.0)) {
            has_grown |= values[x].insert(value);
            few(program, x, values[x].iter().copied())?;
        }
        if !has_grown {
            return Ok(values);
        }
    }
}

fn few(program: &Program, x: LocationId, values: impl Iterator<Item = Value>) -> Result<BTreeSet<Value>, Failure> {
    let few: BTreeSet<Value> = values.take(MAX_FOUND + 1).collect();
    match few.len() > MAX_FOUND {
        true => Failure::refused(format!("`{}` holds too many values to try each", program.locations()[x].name)),
        false => Ok(few),
    }
}

/// What threads write that find these values.
fn written(
    program: &Program,
    values: &Values,
    steps: &mut Steps<'_>,
) -> Result<BTreeSet<(LocationId, Value)>, Failure> {
    let flow = Flow { program, placement: &Placement::NONE };
    let offers = Offers { flow, buffering: Buffering::Fifo, values, foreign: &BTreeSet::new() };
    let mut out = BTreeSet::new();
    for process in program.processes().indices() {
        let mut seen: BTreeSet<LocalState> = BTreeSet::new();
        let mut todo: Vec<LocalState> = Vec::new();
        for start in offers.starts(process)? {
            steps.step(seen.len() as u64 * 64)?;
            seen.insert(start.clone());
            todo.push(start);
        }
        while let Some(state) = todo.pop() {
            steps.step(seen.len() as u64 * 64)?;
            for (letter, next) in offers.offered(&state)? {
                out.extend(letter.writes());
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
            if seen.len() > MAX_LOCALS {
                return Failure::refused("a thread has too many local states to list");
            }
        }
    }
    Ok(out)
}
