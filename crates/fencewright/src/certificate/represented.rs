//! Any number of threads with an index, by their representatives.
//!
//! The front end makes representatives of the text that the checker is handed: programs in which threads with an odd
//! index are told apart, and those with an even one stand for any number of others. That what holds of representatives,
//! whatever the others do, holds for every number of threads is argued in `docs/theory/any-number.md`. Here it is
//! checked that each thing that may go wrong is known in a projection of a representative, that none of these keeps a
//! thread that stands for others, and each projection itself, with what any thread may write *arbitrary*.

use std::collections::BTreeSet;

use crate::program::{Indexed, LocationId, Placement, ProcessId, Program, PropertyKind};
use crate::util::Idx;

use super::Subject;
use super::abstraction::Known;
use super::bad::is_known;
use super::projections::{Projected, check_each, known};
use super::verify::{Failure, Steps, observed};

/// Checks a proof by projections of each representative.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    all: &[Vec<Projected>],
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let Some(indexed) = program.indexed() else {
        return Failure::refused("representatives are of any number of threads with an index");
    };
    if indexed.representatives.is_empty() || indexed.representatives.len() != all.len() {
        return Failure::refused("it does not have a proof for each representative of the program");
    }
    for ((n_told_apart, representative), projections) in (1..).zip(&indexed.representatives).zip(all) {
        let Some(laid) = program.placement_over(placement, representative) else {
            return Failure::refused("fences differ from thread to thread, of which there is any number");
        };
        let watched = observed(representative, &laid)?;
        let represented = Represented { indexed, representative, watched: &watched, n_told_apart };
        let here = |failure: Failure| failure.within(&format!("representative {n_told_apart}"));
        represented.check_complete(projections).map_err(here)?;
        let arbitrary = arbitrary(&watched, indexed);
        check_each((&watched, &laid), subject, (projections, &arbitrary), steps).map_err(here)?;
    }
    Ok(())
}

/// A representative: as it is, and with an observer if there are invariants.
struct Represented<'a> {
    indexed: &'a Indexed,
    representative: &'a Program,
    watched: &'a Program,
    n_told_apart: usize,
}

impl Represented<'_> {
    /// Nobody is kept who stands for others; in the first one each other thread is kept, and what is said of threads
    /// that are told apart here is known.
    fn check_complete(&self, all: &[Projected]) -> Result<(), Failure> {
        let processes = self.watched.processes();
        let is_told = |process: ProcessId| {
            self.watched.index_of(process, &self.indexed.families).is_none_or(|index| index % 2 == 1)
        };
        for &process in all.iter().flat_map(|it| &it.kept) {
            if process.index() >= processes.len() {
                return Failure::refused(format!("there is no process {}", process.index()));
            }
            if !is_told(process) {
                return Failure::refused(format!("it keeps `{}`, which stands for others", processes[process].name));
            }
        }
        let left_out = |&it: &ProcessId| is_told(it) && !all.iter().any(|projected| projected.kept.contains(&it));
        match processes.indices().find(left_out).filter(|_| self.n_told_apart == 1) {
            Some(process) => Failure::refused(format!("no projection keeps `{}`", processes[process].name)),
            None => self.check_situations(all),
        }
    }

    fn check_situations(&self, all: &[Projected]) -> Result<(), Failure> {
        let arbitrary = arbitrary(self.watched, self.indexed);
        let knows: Vec<Known> = all.iter().map(|it| known(self.watched, &it.kept, &arbitrary)).collect();
        let properties = self.representative.properties().iter_enumerated().zip(self.watched.properties());
        for ((id, asked), property) in properties {
            match property.kind {
                PropertyKind::Control => {}
                PropertyKind::Final
                | PropertyKind::Invariant
                | PropertyKind::Hang
                | PropertyKind::Race
                | PropertyKind::Robust
                | PropertyKind::Trace => return Failure::refused("representatives show where threads do not get"),
            }
            for (said, situation) in asked.situations.iter().zip(&property.situations) {
                let is_shown = knows.iter().any(|it| is_known(property, situation, &it.threads, &it.foreign));
                if self.is_due(&self.representative.indices_of(said, self.indexed))? && !is_shown {
                    let id = id.index();
                    return Failure::refused(format!("property {id}: no projection knows of one of its situations"));
                }
            }
        }
        Ok(())
    }

    /// Whether what is said of these indices is to be shown here. What is said of others is the same with other
    /// numbers.
    fn is_due(&self, indices: &BTreeSet<usize>) -> Result<bool, Failure> {
        if indices.len() > self.indexed.representatives.len() {
            return Failure::refused("a property is about more threads than are told apart");
        }
        Ok(indices.len().max(1) == self.n_told_apart && indices.iter().all(|index| index % 2 == 1))
    }
}

/// What any thread with an index may write, besides cells that only their threads write; and of those, the cells of
/// threads that stand for others.
pub fn arbitrary(program: &Program, indexed: &Indexed) -> BTreeSet<LocationId> {
    let of_family = |process| program.index_of(process, &indexed.families);
    let writes = |x: LocationId| {
        let edges = program.edges().iter().filter(move |edge| program.may_write(&edge.op, x));
        edges.filter_map(move |edge| of_family(edge.process))
    };
    let arrays = || program.arrays().iter().filter(|it| indexed.arrays.contains(&it.name));
    let is_own = |x: LocationId| {
        arrays().find_map(|array| {
            let index = array.cells().position(|cell| cell == x)?;
            let by_owners = array.cells().enumerate().all(|(owner, cell)| writes(cell).all(|writer| writer == owner));
            Some(by_owners && index % 2 == 1)
        })
    };
    let is_arbitrary = |&x: &LocationId| match is_own(x) {
        Some(is_own) => !is_own,
        None => writes(x).next().is_some(),
    };
    program.locations().indices().filter(is_arbitrary).collect()
}
