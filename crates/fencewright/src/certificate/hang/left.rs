//! What threads leave in memory, from their text: once all buffers are empty, a location holds what some thread has
//! stored there last, or what it held at the start if nobody has.
//!
//! ```text
//!    flag = 1; …; flag = 0;       at the end flag was last set to 0, so if nobody else writes it, it is 0
//! ```

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::certificate::locals::initial_range;
use crate::program::{BinaryOp, Expr, LocationId, Op, Place, PointId, ProcessId, Program, StateVar, Value};

use crate::util::Idx;

use super::ways::Step;

/// What a thread has stored last to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Last {
    /// Nothing.
    Never,
    Stored(Value),
    /// Something of which nothing is known.
    Unknown,
}

/// What a thread may have stored last at each point that it can come to.
pub(super) struct Left {
    at: BTreeMap<PointId, Vec<BTreeSet<Last>>>,
}

impl Left {
    pub(super) fn new(program: &Program, process: ProcessId, steps: &[Step]) -> Self {
        let entry = program.processes()[process].entry;
        let nothing = vec![BTreeSet::from([Last::Never]); program.locations().len()];
        let mut at = BTreeMap::from([(entry, nothing)]);
        let mut todo = vec![entry];
        while let Some(point) = todo.pop() {
            for step in steps.iter().filter(|step| step.from == point) {
                let after = after(program, &step.op, at[&point].clone());
                let known = at.entry(step.to);
                let is_new = matches!(known, Entry::Vacant(_));
                let known = known.or_insert_with(|| vec![BTreeSet::new(); after.len()]);
                let has_grown = known.iter_mut().zip(after).fold(is_new, |has_grown, (all, more)| {
                    let n_before = all.len();
                    all.extend(more);
                    has_grown || all.len() > n_before
                });
                if has_grown {
                    todo.push(step.to);
                }
            }
        }
        Self { at }
    }

    /// What it may have stored last to a location at some of these points; `None` if it comes to none of them.
    fn last(&self, points: &[PointId], x: LocationId) -> Option<BTreeSet<Last>> {
        let there = points.iter().filter_map(|point| self.at.get(point));
        there.map(|sets| sets[x.index()].clone()).reduce(|a, b| a.into_iter().chain(b).collect())
    }
}

/// What memory holds if threads are at these points and all buffers are empty, as conditions on the locations; `None`
/// if one of them never gets there.
pub(super) fn left(program: &Program, threads: &[(&Left, &[PointId])]) -> Option<Vec<Expr<StateVar>>> {
    let mut out = Vec::new();
    for (x, location) in program.locations().iter_enumerated() {
        let lasts = threads.iter().map(|(left, points)| left.last(points, x)).collect::<Option<Vec<_>>>()?;
        let stored = lasts.iter().flatten().map(|last| match last {
            Last::Stored(value) => Some(Some(*value)),
            Last::Never => Some(None),
            Last::Unknown => None,
        });
        let Some(stored) = stored.collect::<Option<BTreeSet<Option<Value>>>>() else { continue };
        let held = Expr::Var(StateVar::Memory(x));
        let is = |value: Value| Expr::binary(BinaryOp::Eq, held.clone(), Expr::Const(value));
        let mut cases: Vec<Expr<StateVar>> = stored.into_iter().flatten().map(is).collect();
        if lasts.iter().all(|it| it.contains(&Last::Never)) {
            match initial_range(location.initial, location.domain) {
                Ok((lo, hi)) if lo == hi => cases.push(is(lo)),
                _ => continue,
            }
        }
        out.extend(cases.into_iter().reduce(|a, b| Expr::binary(BinaryOp::Or, a, b)));
    }
    Some(out)
}

/// What was stored last behind a step.
fn after(program: &Program, op: &Op, mut last: Vec<BTreeSet<Last>>) -> Vec<BTreeSet<Last>> {
    match op {
        Op::Store(place, value) => stored(program, place, constant(value), &mut last),
        Op::Rmw { place, write: Some(value), .. } => stored(program, place, constant(value), &mut last),
        Op::Locked(_) => {
            let written = program.locations().indices().filter(|&x| program.may_write(op, x));
            written.for_each(|x| last[x.index()].extend([Last::Unknown]));
        }
        Op::Rmw { write: None, .. } | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) => {}
        Op::Havoc(..) | Op::Load(..) | Op::Fence(_) => {}
    }
    last
}

fn stored(program: &Program, place: &Place, value: Last, last: &mut [BTreeSet<Last>]) {
    match place {
        Place::Fixed(x) => last[x.index()] = BTreeSet::from([value]),
        Place::Cell(array, _) => program.arrays()[*array].cells().for_each(|x| last[x.index()].extend([value])),
    }
}

fn constant<V>(value: &Expr<V>) -> Last {
    match value {
        Expr::Const(value) => Last::Stored(*value),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => Last::Unknown,
    }
}
