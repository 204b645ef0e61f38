//! Bases for some threads at a time, against any behavior of the others, as a proof; where data is unbounded, grids.
//!
//! The search is asked about the projected program, and its states are told for the local states of the program itself:
//! the checker erases letters where the projection has registers that may hold anything, and these are dead at every
//! point of the program.

use std::collections::{BTreeMap, BTreeSet};

use crate::certificate::abstraction::{Predicate, Site};
use crate::certificate::basis::Class;
use crate::certificate::{
    Abstraction, Basis, Claim, Constraint, LocalState, ProcessProof, Projected, Proof, Reason, Waiting, foreign,
    local_states,
};
use crate::engine::automaton::Merging;
use crate::engine::backward::Resting;
use crate::engine::backward::load_buffer::proof::{Sought, Told, seek as search};
use crate::engine::predicates::{Confirming, Predicates};
use crate::engine::projection::{MAX_KEPT, goals, next, updates};
use crate::engine::{Engine, RestsOn, StopReason, Task};
use crate::program::{LocationId, Placement, ProcessId, Program, Projection, RegisterId, StateVar, Value};
use crate::system::{Control, Flow};
use crate::util::{Idx, IndexVec};
use crate::watch::Monitor;

use super::basis::{element, process_proof};
use super::grid::seen;
use super::mergings::MERGINGS;
use super::{Capped, Scaled, checked, observed, reason};

/// Asks the load-buffer search about projections.
pub(super) struct Prover;

/// A search of a projection looks at no more constraints.
const MAX_CONSTRAINTS: u64 = 200_000;

impl super::Prover for Prover {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Projections
    }

    fn proves(&self, task: &Task<'_>, _before: &[StopReason]) -> bool {
        updates(task).is_ok()
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        let all = observed(task, |task| {
            let mut all: Vec<Projected> = Vec::new();
            for goal in goals(task.program) {
                if !all.iter().any(|it| goal.is_subset(&it.kept)) {
                    all.push(shown(task, goal, Given::NOTHING, monitor)?);
                }
            }
            Ok(all)
        })?;
        let proof = Proof::Projections(all);
        let claim = Claim::Safe(task.placement.clone(), proof.clone());
        match checked(task, claim, monitor) {
            Ok(_) => Ok(proof),
            Err(StopReason::Defect(why)) => Err(StopReason::Unproved(why)),
            Err(reason) => Err(reason),
        }
    }
}

/// What is given beside the threads that are kept.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    /// Threads that are never kept.
    pub dropped: &'a BTreeSet<ProcessId>,
    /// Locations of which nothing is known, whoever writes them.
    pub foreign: &'a BTreeSet<LocationId>,
}

impl Given<'static> {
    const NOTHING: Self = Self { dropped: &BTreeSet::new(), foreign: &BTreeSet::new() };
}

impl Given<'_> {
    /// All locations of which nothing is known.
    fn all_foreign(&self, task: &Task<'_>, kept: &BTreeSet<ProcessId>) -> BTreeSet<LocationId> {
        foreign(task.program, kept).union(self.foreign).copied().collect()
    }
}

/// A basis for some threads, or for one more as long as there is an alarm.
pub(super) fn shown(
    task: &Task<'_>,
    mut kept: BTreeSet<ProcessId>,
    given: Given<'_>,
    monitor: &dyn Monitor,
) -> Result<Projected, StopReason> {
    let unproved = || StopReason::Unproved("threads by themselves do not show it".to_owned());
    loop {
        if kept.len() > MAX_KEPT + usize::from(task.program.has_invariants()) {
            return Err(unproved());
        }
        match why(task, &kept, given, monitor)? {
            Some(why) => return Ok(Projected { kept, why }),
            None => drop(kept.insert(next(task.program, &kept, given.dropped).ok_or_else(unproved)?)),
        }
    }
}

/// A basis, or a grid where data is unbounded, unless there is an alarm.
fn why(
    task: &Task<'_>,
    kept: &BTreeSet<ProcessId>,
    given: Given<'_>,
    monitor: &dyn Monitor,
) -> Result<Option<Reason>, StopReason> {
    let updates = updates(task).map_err(|it| StopReason::Unproved(it.reason))?;
    let projection = task.program.projection(task.placement, kept, updates, given.foreign);
    let projected = Task { program: &projection.program, placement: &Placement::NONE, ..*task };
    let seeking = Seeking { task, kept, given, projection: &projection };
    let basis = match projection.picks_integers {
        true => Err(StopReason::Unproved("other threads write what has no range".to_owned())),
        false => seeking.with_classes(&projected, monitor),
    };
    match basis {
        Err(StopReason::Constraints(_) | StopReason::Unproved(_)) if Predicates.takes(&projected).is_ok() => {
            match seen(&projected, Confirming::Left, &Capped { monitor, max: MAX_CONSTRAINTS }) {
                Err(StopReason::Unproved(_)) => Ok(None),
                found => Ok(found?.map(|grid| Reason::Abstraction(of_program(task.program, kept, grid)))),
            }
        }
        basis => Ok(basis?.map(Reason::Basis)),
    }
}

/// States of the search that local states of the program rest in, counted.
type Numbers = BTreeMap<Class, Class>;

/// The same proof of a process, with its classes numbered anew.
fn numbered(proof: ProcessProof, number: &Numbers) -> ProcessProof {
    fn by_class<T>(all: BTreeMap<Class, T>, number: &Numbers) -> BTreeMap<Class, T> {
        all.into_iter().filter_map(|(class, it)| Some((*number.get(&class)?, it))).collect()
    }
    let pending = |all: BTreeMap<(Class, LocationId), Waiting>| {
        all.into_iter().filter_map(|((class, x), it)| Some(((*number.get(&class)?, x), it))).collect()
    };
    ProcessProof {
        classes: proof.classes.into_iter().map(|(state, class)| (state, number[&class])).collect(),
        last_writes: proof.last_writes.map(|all| by_class(all, number)),
        pending: proof.pending.map(pending),
        sole: proof.sole.into_iter().map(|(x, held)| (x, by_class(held, number))).collect(),
    }
}

/// The same element, unless a process is where only the projection has a state: between what stands for one step.
fn at_rest(element: Constraint, numbers: &IndexVec<ProcessId, Numbers>) -> Option<Constraint> {
    let classes = element.classes.iter().zip(numbers).map(|(class, number)| number.get(class).copied());
    let classes = classes.collect::<Option<_>>()?;
    Some(Constraint { classes, ..element })
}

/// A projection that is asked about.
struct Seeking<'a> {
    task: &'a Task<'a>,
    kept: &'a BTreeSet<ProcessId>,
    given: Given<'a>,
    projection: &'a Projection,
}

enum Found {
    Basis(Basis),
    /// States of the search are no map on local states.
    NoMap,
    Alarm,
}

impl Seeking<'_> {
    /// A basis, unless there is an alarm: from the first search whose states are a map on local states.
    fn with_classes(&self, projected: &Task<'_>, monitor: &dyn Monitor) -> Result<Option<Basis>, StopReason> {
        // Registers that are not there in the program are dead wherever it is.
        for merging in MERGINGS.into_iter().filter(|it| it.dead_registers) {
            match self.seek(projected, merging, monitor)? {
                Found::Alarm => return Ok(None),
                Found::Basis(basis) => return Ok(Some(basis)),
                Found::NoMap => {}
            }
        }
        Err(StopReason::Unproved("local states have no classes".to_owned()))
    }

    fn seek(&self, projected: &Task<'_>, merging: Merging, monitor: &dyn Monitor) -> Result<Found, StopReason> {
        let capped = Capped { monitor, max: MAX_CONSTRAINTS };
        match search(projected, merging, &capped) {
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
        for x in self.given.all_foreign(self.task, self.kept) {
            let (lo, hi) = program.locations()[x].domain.bounds().expect("foreign locations have a range");
            values[x] = (lo..=hi).collect();
        }
        let buffering = self.task.buffering().map_err(|it| StopReason::Unproved(it.reason))?;
        let flow = Flow { program, placement: self.task.placement };
        let of: Vec<ProcessId> = self.kept.iter().copied().collect();
        let locals = local_states(flow, &of, buffering, &values, &Scaled(monitor))
            .map_err(|failure| reason(failure, StopReason::Unproved))?;
        let (mut processes, mut numbers) = (IndexVec::new(), IndexVec::new());
        for (place, states) in locals.iter().enumerate() {
            let place = ProcessId::from_usize(place);
            let Some(classes) = projected_classes(self.projection, place, states, resting) else {
                return Ok(Found::NoMap);
            };
            let used: BTreeSet<Class> = classes.values().copied().collect();
            let number: Numbers = used.into_iter().zip(0..).collect();
            processes.push(numbered(process_proof(&told.processes[place], classes), &number));
            numbers.push(number);
        }
        let elements = told.elements.iter().filter_map(|told| at_rest(element(told), &numbers)).collect();
        Ok(Found::Basis(Basis { values, processes, elements }))
    }
}

/// A grid of a projection in the words of the program. What is only there in the projection is left out; the checker
/// tells whether it was needed.
fn of_program(program: &Program, kept: &BTreeSet<ProcessId>, grid: Abstraction) -> Abstraction {
    let of: IndexVec<ProcessId, ProcessId> = kept.iter().copied().collect();
    let register = |place: ProcessId, register: RegisterId| {
        let is_there = register.index() < program.processes()[of[place]].registers.len();
        is_there.then_some((of[place], register))
    };
    let site = |site: Site| match site {
        Site::Memory(x) => Some(Site::Memory(x)),
        Site::Register(place, it) => register(place, it).map(|(process, it)| Site::Register(process, it)),
        Site::Newest(place, at) => Some(Site::Newest(of[place], at)),
        Site::Last(place, x) => Some(Site::Last(of[place], x)),
    };
    let predicate = |Predicate { coefficients, bound }: Predicate| {
        let named = coefficients.into_iter().map(|(factor, at)| Some((factor, site(at)?)));
        Some(Predicate { coefficients: named.collect::<Option<_>>()?, bound })
    };
    let variable = |it: StateVar| match it {
        StateVar::Memory(x) => Some(StateVar::Memory(x)),
        StateVar::Register(place, it) => register(place, it).map(|(process, it)| StateVar::Register(process, it)),
    };
    Abstraction {
        predicates: grid.predicates.into_iter().filter_map(predicate).collect(),
        late: grid.late.into_iter().map(|place| of[place]).collect(),
        scales: grid.scales.into_iter().filter_map(|(it, scale)| Some((variable(it)?, scale))).collect(),
        ..grid
    }
}

/// The states in which local states of the program come to rest in a projection.
pub(super) fn projected_classes(
    projection: &Projection,
    place: ProcessId,
    states: &BTreeSet<LocalState>,
    resting: &Resting<'_>,
) -> Option<BTreeMap<LocalState, Class>> {
    let registers = &projection.program.processes()[place].registers;
    let class = |state: &LocalState| match state {
        LocalState::Here(control, values) => {
            let point = match control {
                Control::At(point) => projection.points.get(point),
                Control::Ready(edge) => projection.ready.get(edge),
                Control::Done(edge) => projection.done.get(edge),
            };
            let mut values = values.clone();
            values.resize(registers.len(), 0);
            resting.here(place, Control::At(*point?), values)
        }
        // Whatever goes wrong is as bad.
        LocalState::Broken(_) => resting.any_broken(place),
    };
    states.iter().map(|state| class(state).map(|class| (state.clone(), class))).collect()
}
