//! Some threads at a time, against any behavior of the others.
//!
//! The projection is the checker's own: letters that touch a *foreign* location, one that a dropped thread may write,
//! are erased (`Offers::erased`). A load of it finds any value of its range, a store to it is forgotten, and what waits
//! for the whole buffer still does.
//!
//! Take a run of the program up to the first thing that goes wrong in it. So far, nobody has left the range of a
//! location. Leave out the steps of the dropped threads, foreign stores in buffers, and foreign memory: what remains is
//! a run of the kept threads over erased letters, since fences and updates wait for fewer stores, and what is found in
//! other locations comes from kept threads alone. So if each thing that may go wrong is *known* in one projection,
//! which keeps the threads that it is about and all writers of what it looks at, and no projection reaches what is
//! known in it, nothing goes wrong.
//!
//! A projection is shown by a basis, or, where data is unbounded, through a grid ([`abstraction`]). The argument is the
//! same; there a foreign location has no variable, and each rule says what is left of it.

use std::collections::BTreeSet;

use crate::memory::{Messaging, weakened};
use crate::program::{LocationId, Placement, ProcessId, Program, PropertyKind};
use crate::system::Flow;
use crate::util::Idx;

use super::Subject;
use super::abstraction::{self, Abstraction, Known};
use super::bad::is_known;
use super::basis::Basis;
use super::closed::check_kept;
use super::locals::Offers;
use super::potentials::{self, Potentials};
use super::verify::{Failure, Steps};

/// A proof for some threads against any behavior of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projected<W = Reason> {
    /// The threads.
    pub kept: BTreeSet<ProcessId>,
    /// The proof.
    pub why: W,
}

/// Why some threads reach nothing bad, whatever the others do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing that leads to it is initial; the processes are the kept threads, in their order.
    Basis(Basis),
    /// Seen through this, it is not reached; processes are named as in the program.
    Abstraction(Abstraction),
}

/// Checks a proof by projections.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    all: &[Projected],
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    check_complete(program, all)?;
    check_each((program, placement), subject, (all, &BTreeSet::new()), steps)
}

/// Checks a proof by projections for release/acquire. What is left of a graph without the dropped threads, and without
/// the foreign locations, is a graph of the others, so the argument is the same; an update of a foreign location orders
/// nothing then.
pub(super) fn check_potentials(
    program: &Program,
    placement: &Placement,
    messaging: Messaging,
    all: &[Projected<Potentials>],
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let weakened = weakened(program);
    let program = weakened.as_ref().unwrap_or(program);
    check_complete(program, all)?;
    for (i, projected) in all.iter().enumerate() {
        let foreign = foreign(program, &projected.kept);
        let kept: Vec<ProcessId> = projected.kept.iter().copied().collect();
        if projected.why.values.len() != program.locations().len() {
            return Failure::refused("it does not have the locations of the program");
        }
        let offers = potentials::offers(Flow { program, placement }, &projected.why, &foreign);
        let checked = check_values(&offers)
            .and_then(|()| potentials::check_kept(&offers, &kept, messaging, &projected.why, steps));
        checked.map_err(|it| it.within(&format!("projection {}", i + 1)))?;
    }
    Ok(())
}

/// Checks each projection by itself; some locations are foreign, whoever writes them.
pub(super) fn check_each(
    (program, placement): (&Program, &Placement),
    subject: &Subject,
    (all, arbitrary): (&[Projected], &BTreeSet<LocationId>),
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    for (i, projected) in all.iter().enumerate() {
        let known = known(program, &projected.kept, arbitrary);
        let flow = Flow { program, placement };
        let checked = match &projected.why {
            Reason::Basis(basis) => check_basis(flow, subject, (basis, &known), steps),
            Reason::Abstraction(grid) => abstraction::check_kept(flow, subject, (grid, &known), steps),
        };
        checked.map_err(|it| it.within(&format!("projection {}", i + 1)))?;
    }
    Ok(())
}

fn check_basis(
    flow: Flow<'_>,
    subject: &Subject,
    (basis, Known { threads, foreign }): (&Basis, &Known),
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let values = &basis.values;
    if values.len() != flow.program.locations().len() {
        return Failure::refused("it does not have the locations of the program");
    }
    let offers = Offers { flow, buffering: subject.buffering()?, values, foreign };
    check_values(&offers)?;
    check_kept(&offers, threads, basis, steps)
}

/// Some threads, where some locations are foreign, whoever writes them.
pub(super) fn known(program: &Program, kept: &BTreeSet<ProcessId>, arbitrary: &BTreeSet<LocationId>) -> Known {
    let foreign = foreign(program, kept).union(arbitrary).copied().collect();
    Known { threads: kept.iter().copied().collect(), foreign }
}

/// The locations that threads may write that are not kept.
pub fn foreign(program: &Program, kept: &BTreeSet<ProcessId>) -> BTreeSet<LocationId> {
    let dropped = || program.edges().iter().filter(|edge| !kept.contains(&edge.process));
    program.locations().indices().filter(|&x| dropped().any(|edge| program.may_write(&edge.op, x))).collect()
}

/// Each thread is kept in one of them, and each situation is known in one.
fn check_complete<B>(program: &Program, all: &[Projected<B>]) -> Result<(), Failure> {
    let n_processes = program.processes().len();
    if let Some(process) = all.iter().flat_map(|it| &it.kept).find(|it| it.index() >= n_processes) {
        return Failure::refused(format!("there is no process {}", process.index()));
    }
    for (process, it) in program.processes().iter_enumerated() {
        if !all.iter().any(|projected| projected.kept.contains(&process)) {
            return Failure::refused(format!("no projection keeps `{}`", it.name));
        }
    }
    let knows: Vec<Known> = all.iter().map(|it| known(program, &it.kept, &BTreeSet::new())).collect();
    for (id, property) in program.properties().iter_enumerated() {
        match property.kind {
            PropertyKind::Control | PropertyKind::Final => {}
            PropertyKind::Invariant
            | PropertyKind::Hang
            | PropertyKind::Race
            | PropertyKind::Robust
            | PropertyKind::Trace => {
                return Failure::refused("projections show where threads do not get, and what they do not end with");
            }
        }
        let is_shown = |situation| knows.iter().any(|it| is_known(property, situation, &it.threads, &it.foreign));
        if !property.situations.iter().all(is_shown) {
            return Failure::refused(format!("property {}: no projection knows of one of its situations", id.index()));
        }
    }
    Ok(())
}

/// Foreign locations may hold everything in their range.
fn check_values(offers: &Offers<'_>) -> Result<(), Failure> {
    for &x in offers.foreign {
        let location = &offers.flow.program.locations()[x];
        let name = &location.name;
        let Some((lo, hi)) = location.domain.bounds() else {
            return Failure::refused(format!("other threads write `{name}`, which has no range"));
        };
        let values = &offers.values[x];
        if hi.abs_diff(lo) >= values.len() as u64 || !(lo..=hi).all(|value| values.contains(&value)) {
            return Failure::refused(format!("other threads write `{name}`, and its values lack one of its range"));
        }
    }
    Ok(())
}
