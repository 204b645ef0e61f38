//! The processes as finite automata over letters: local states of one class become one state.
//!
//! The checker lists the local states itself and looks up the class of each. What one local state of a class can do,
//! its class can do; a local step within a class is left out. Hence the map to classes is a simulation, whatever the
//! classes are: a run of the program is a run of the automata, with steps left out that touch neither memory nor
//! buffers. Classes that lump together what matters make the other checks fail, never the verdict wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::memory::{Buffering, PsoRmw};
use crate::program::{FenceKind, LocationId, ProcessId};
use crate::util::{Idx, IndexVec};

use super::basis::{Class, ProcessProof};
use super::locals::{Atomic, Letter, LocalState, Offers, Values, initial_range};
use super::verify::{Failure, Steps};

/// The class of each local state, for each process.
pub(super) type Classes<'a> = IndexVec<ProcessId, &'a BTreeMap<LocalState, Class>>;

/// What is told of processes has their classes.
pub(super) fn classes(proofs: &IndexVec<ProcessId, ProcessProof>) -> Classes<'_> {
    proofs.iter().map(|it| &it.classes).collect()
}

/// All processes over classes.
pub(super) struct Quotient {
    /// The processes, by their places in constraints.
    pub(super) processes: IndexVec<ProcessId, Rc<ProcessQuotient>>,
    /// What each location can hold at the start.
    pub(super) initial: Values,
    /// What stands in front of the load buffers: store buffers by location under PSO, nothing otherwise.
    pub(super) stage: Option<PsoRmw>,
    /// Whether own messages are dropped in every class, and not only after reads.
    pub(super) drops_anywhere: bool,
}

/// One process over classes.
pub(super) struct ProcessQuotient {
    /// Where it can start.
    pub(super) initial: BTreeSet<Class>,
    /// Its edges.
    pub(super) edges: Vec<Edge>,
    /// The edges into each class.
    pub(super) incoming: Vec<Vec<usize>>,
    /// The local states that it can be in, with their classes.
    pub(super) locals: Vec<(LocalState, Class)>,
    /// The locations that it writes through its buffers.
    pub(super) written: BTreeSet<LocationId>,
    /// Classes where it may sample memory.
    pub(super) samples: Vec<bool>,
    /// Classes that a read leads to, where it may drop own messages.
    pub(super) has_read: Vec<bool>,
    /// Lag region: classes where its load buffer need not be empty.
    pub(super) may_lag: Vec<bool>,
}

/// A step between classes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: Class,
    pub(super) to: Class,
    pub(super) letter: Letter,
}

impl Quotient {
    /// Lists the local states of some processes and looks up their classes.
    pub(super) fn new(
        offers: &Offers<'_>,
        cast: &[ProcessId],
        classes: &Classes<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<Self, Failure> {
        let initial = initial_values(offers)?;
        let stage = match offers.buffering {
            Buffering::None | Buffering::Fifo => None,
            Buffering::PerLocation(rmw) => Some(rmw),
        };
        let processes = cast.iter().zip(classes).map(|(&process, classes)| {
            let name = &offers.flow.program.processes()[process].name;
            let quotient = process_quotient(offers, stage, classes, process, steps);
            quotient.map(Rc::new).map_err(|it| it.within(&format!("`{name}`")))
        });
        let processes = processes.collect::<Result<Vec<_>, Failure>>()?.into();
        Ok(Self { processes, initial, stage, drops_anywhere: false })
    }

    /// The same with these processes in the places of constraints, some perhaps several times.
    pub(super) fn with_places(&self, places: impl IntoIterator<Item = ProcessId>) -> Self {
        let processes = places.into_iter().map(|it| Rc::clone(&self.processes[it])).collect();
        Self { processes, initial: self.initial.clone(), ..*self }
    }

    /// Whether an atomic step waits until no store to a location is pending.
    pub(super) fn waits_for(&self, atomic: &Atomic, x: LocationId) -> bool {
        match self.stage {
            None | Some(PsoRmw::All) => true,
            Some(PsoRmw::Location) => atomic.location.is_none_or(|own| own == x),
        }
    }
}

/// Whether a step waits for an empty load buffer.
pub(super) fn drains(letter: &Letter) -> bool {
    match letter {
        Letter::Fence(FenceKind::Full) | Letter::Atomic(_) => true,
        Letter::Fence(FenceKind::StoreStore) | Letter::Nop | Letter::Read(..) | Letter::Write(..) => false,
    }
}

/// The values at the start, which the certificate must list.
fn initial_values(offers: &Offers<'_>) -> Result<Values, Failure> {
    let all = offers.flow.program.locations().iter_enumerated().map(|(x, location)| {
        let (lo, hi) = initial_range(location.initial, location.domain)?;
        let missing = hi.abs_diff(lo) >= offers.values[x].len() as u64;
        if missing || !(lo..=hi).all(|value| offers.values[x].contains(&value)) {
            let name = &location.name;
            return Failure::refused(format!("the values of `{name}` lack one that it can start with"));
        }
        Ok((lo..=hi).collect())
    });
    all.collect::<Result<Vec<_>, Failure>>().map(IndexVec::from)
}

fn process_quotient(
    offers: &Offers<'_>,
    stage: Option<PsoRmw>,
    classes: &BTreeMap<LocalState, Class>,
    process: ProcessId,
    steps: &mut Steps<'_>,
) -> Result<ProcessQuotient, Failure> {
    let class_of = |state: &LocalState| match classes.get(state) {
        Some(&class) => Ok(class),
        None => Failure::refused(format!("it can be in a local state without a class: {state:?}")),
    };
    let (mut seen, mut edges, mut initial) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut todo = Vec::new();
    for start in offers.starts(process)? {
        steps.step(0)?;
        initial.insert(class_of(&start)?);
        if seen.insert(start.clone()) {
            todo.push(start);
        }
    }
    while let Some(state) = todo.pop() {
        steps.step(edges.len() as u64 * 64)?;
        let from = class_of(&state)?;
        for (letter, next) in offers.steps(process, &state)? {
            let to = class_of(&next)?;
            let letter = offers.erased(letter);
            if from != to || letter != Letter::Nop {
                edges.insert(Edge { from, to, letter });
            }
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    let locals = seen.into_iter().map(|state| class_of(&state).map(|class| (state, class)));
    let locals = locals.collect::<Result<Vec<_>, Failure>>()?;
    Ok(finished(locals, initial, edges.into_iter().collect(), classes.len(), stage))
}

fn finished(
    locals: Vec<(LocalState, Class)>,
    initial: BTreeSet<Class>,
    edges: Vec<Edge>,
    n_classes: usize,
    stage: Option<PsoRmw>,
) -> ProcessQuotient {
    let is_waiting: fn(&Letter) -> bool = match stage {
        None => |letter| matches!(letter, Letter::Write(..)),
        Some(_) => |letter| *letter == Letter::Fence(FenceKind::StoreStore),
    };
    let is_read = |letter: &Letter| matches!(letter, Letter::Read(..));
    let mut incoming = vec![Vec::new(); n_classes];
    let (mut samples, mut has_read, mut will_read) =
        (vec![false; n_classes], vec![false; n_classes], vec![false; n_classes]);
    for (i, edge) in edges.iter().enumerate() {
        incoming[edge.to as usize].push(i);
        samples[edge.from as usize] |= is_waiting(&edge.letter);
        has_read[edge.to as usize] |= is_read(&edge.letter);
        will_read[edge.from as usize] |= is_read(&edge.letter);
    }
    let mut has_lagged = samples.clone();
    spread(&edges, &mut has_lagged, |edge| (edge.from, edge.to));
    spread(&edges, &mut will_read, |edge| (edge.to, edge.from));
    let may_lag = (0..n_classes).map(|class| has_lagged[class] && (will_read[class] || has_read[class])).collect();
    let written = edges.iter().filter_map(|edge| match edge.letter {
        Letter::Write(x, _) => Some(x),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => None,
    });
    let written = written.collect();
    ProcessQuotient { initial, edges, incoming, locals, written, samples, has_read, may_lag }
}

/// Spreads a mark along edges that do not drain, until nothing changes.
fn spread(edges: &[Edge], marks: &mut [bool], along: fn(&Edge) -> (Class, Class)) {
    let mut next: Vec<Vec<Class>> = vec![Vec::new(); marks.len()];
    for (from, to) in edges.iter().filter(|edge| !drains(&edge.letter)).map(along) {
        next[from as usize].push(to);
    }
    let mut todo: Vec<usize> = (0..marks.len()).filter(|&class| marks[class]).collect();
    while let Some(class) = todo.pop() {
        for &to in &next[class] {
            if !std::mem::replace(&mut marks[to as usize], true) {
                todo.push(to as usize);
            }
        }
    }
}

/// Checks that classes can be used as indices: they are counted from 0, and there are no more than local states.
pub(super) fn check_classes(classes: &Classes<'_>) -> Result<(), Failure> {
    for (process, classes) in classes.iter_enumerated() {
        let n_classes = classes.len();
        if let Some(class) = classes.values().find(|class| **class as usize >= n_classes) {
            let process = process.index();
            return Failure::refused(format!("process {process} has {n_classes} local states, but a class {class}"));
        }
    }
    Ok(())
}
