//! Potentials for some threads at a time, against any behavior of the others, as a proof: what
//! [`projections`](super::projections) are for store buffers.

use std::collections::{BTreeMap, BTreeSet};

use crate::certificate::basis::Class;
use crate::certificate::potentials::{Element, Potentials, Strength};
use crate::certificate::{Claim, Projected, Proof, foreign, local_states};
use crate::engine::automaton::Merging;
use crate::engine::backward::Resting;
use crate::engine::backward::potential::proof::{About, Sought, Told, seek as search};
use crate::engine::projection::{MAX_KEPT, goals, next, updates};
use crate::engine::{RestsOn, StopReason, Task};
use crate::memory::{Buffering, weakened};
use crate::program::{LocationId, Placement, ProcessId, Projection, Value};
use crate::system::Flow;
use crate::util::{Idx, IndexVec};
use crate::watch::Monitor;

use super::mergings::MERGINGS;
use super::potentials::element;
use super::projections::projected_classes;
use super::{Capped, Scaled, checked, reason};

/// Asks the search over what threads can still read about projections.
pub(super) struct Prover;

/// A search of a projection looks at no more constraints.
const MAX_CONSTRAINTS: u64 = 200_000;

impl super::Prover for Prover {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Projections
    }

    fn proves(&self, task: &Task<'_>, _before: &[StopReason]) -> bool {
        task.model.messaging().is_some() && !task.program.has_invariants() && updates(task).is_ok()
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        let weakened = weakened(task.program);
        let weak = Task { program: weakened.as_ref().unwrap_or(task.program), ..*task };
        let mut all: Vec<Projected<Potentials>> = Vec::new();
        for goal in goals(weak.program) {
            if !all.iter().any(|it| goal.is_subset(&it.kept)) {
                all.push(shown(&weak, goal, monitor)?);
            }
        }
        let proof = Proof::ProjectedPotentials(all);
        match checked(task, Claim::Safe(task.placement.clone(), proof.clone()), monitor) {
            Ok(_) => Ok(proof),
            Err(StopReason::Defect(why)) => Err(StopReason::Unproved(why)),
            Err(reason) => Err(reason),
        }
    }
}

/// A basis for some threads, or for one more as long as there is an alarm.
fn shown(
    task: &Task<'_>,
    mut kept: BTreeSet<ProcessId>,
    monitor: &dyn Monitor,
) -> Result<Projected<Potentials>, StopReason> {
    let unproved = || StopReason::Unproved("threads by themselves do not show it".to_owned());
    while kept.len() <= MAX_KEPT {
        if let Some(basis) = with_classes(task, &kept, monitor)? {
            return Ok(Projected { kept, why: basis });
        }
        kept.insert(next(task.program, &kept, &BTreeSet::new()).ok_or_else(unproved)?);
    }
    Err(unproved())
}

/// A basis, unless there is an alarm: from the first search whose states are a map on local states.
fn with_classes(
    task: &Task<'_>,
    kept: &BTreeSet<ProcessId>,
    monitor: &dyn Monitor,
) -> Result<Option<Potentials>, StopReason> {
    let unproved = |why: &str| StopReason::Unproved(why.to_owned());
    let updates = updates(task).map_err(|it| StopReason::Unproved(it.reason))?;
    let projection = task.program.projection(task.placement, kept, updates, &BTreeSet::new());
    if projection.picks_integers {
        return Err(unproved("other threads write what has no range"));
    }
    // Registers that are not there in the program are dead wherever it is.
    for merging in MERGINGS.into_iter().filter(|it| it.dead_registers) {
        match (Seeking { task, kept, projection: &projection }).seek(merging, monitor)? {
            Found::Alarm => return Ok(None),
            Found::Basis(basis) => return Ok(Some(basis)),
            Found::NoMap => {}
        }
    }
    Err(unproved("local states have no classes"))
}

enum Found {
    Basis(Potentials),
    /// States of the search are no map on local states.
    NoMap,
    Alarm,
}

/// A projection that is asked about.
struct Seeking<'a> {
    task: &'a Task<'a>,
    kept: &'a BTreeSet<ProcessId>,
    projection: &'a Projection,
}

impl Seeking<'_> {
    fn seek(&self, merging: Merging, monitor: &dyn Monitor) -> Result<Found, StopReason> {
        let projected = Task { program: &self.projection.program, placement: &Placement::NONE, ..*self.task };
        match search(&projected, About::Strong, merging, &Capped { monitor, max: MAX_CONSTRAINTS }) {
            Err(unsupported) => Err(StopReason::Unproved(unsupported.reason)),
            Ok(Sought::Stopped(reason)) => Err(reason),
            Ok(Sought::Unsafe) => Ok(Found::Alarm),
            Ok(Sought::Safe(told, resting)) => self.basis(&told, &resting, monitor),
        }
    }

    fn basis(&self, told: &Told, resting: &Resting<'_>, monitor: &dyn Monitor) -> Result<Found, StopReason> {
        let program = self.task.program;
        let mut values: IndexVec<LocationId, BTreeSet<Value>> =
            told.values.iter().map(|values| values.iter().copied().collect()).collect();
        for x in foreign(program, self.kept) {
            let (lo, hi) = program.locations()[x].domain.bounds().expect("foreign locations have a range");
            values[x] = (lo..=hi).collect();
        }
        let flow = Flow { program, placement: self.task.placement };
        let of: Vec<ProcessId> = self.kept.iter().copied().collect();
        let locals = local_states(flow, &of, Buffering::Fifo, &values, &Scaled(monitor))
            .map_err(|failure| reason(failure, StopReason::Unproved))?;
        let (mut of_processes, mut numbers) = (IndexVec::new(), IndexVec::new());
        for (place, states) in locals.iter().enumerate() {
            let classes = projected_classes(self.projection, ProcessId::from_usize(place), states, resting);
            let Some(classes) = classes else { return Ok(Found::NoMap) };
            let used: BTreeSet<Class> = classes.values().copied().collect();
            let number: BTreeMap<Class, Class> = used.into_iter().zip(0..).collect();
            of_processes.push(classes.into_iter().map(|(state, class)| (state, number[&class])).collect());
            numbers.push(number);
        }
        let elements = told.elements.iter().filter_map(|told| at_rest(element(told), &numbers)).collect();
        let strength = Strength::Strong;
        Ok(Found::Basis(Potentials { strength, values, classes: of_processes, elements }))
    }
}

/// The same element, unless a process is where only the projection has a state: between what stands for one step.
fn at_rest(element: Element, numbers: &IndexVec<ProcessId, BTreeMap<Class, Class>>) -> Option<Element> {
    let mut classes = IndexVec::new();
    for (class, number) in element.classes.iter().zip(numbers) {
        classes.push(match class {
            Some(class) => Some(*number.get(class)?),
            None => None,
        });
    }
    Some(Element { classes, ..element })
}
