//! What a hang is like, found out from the end of its run: each thread alone, with memory as it is.

use std::collections::BTreeSet;

use crate::memory::{Dialect, Job, Machine, Model};
use crate::program::{EdgeId, LocationId, Op, Place, Placement, PointId, ProcessId, Program, Value};
use crate::system::{Action, Control, Effect, Move, Outcome, Run, State, System};
use crate::util::{IndexVec, components};

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which.
    pub process: ProcessId,
    /// What it does for ever; if it does nothing, what it cannot get past.
    pub edges: Vec<EdgeId>,
    /// What it finds in memory there.
    pub reads: Vec<(LocationId, Value)>,
    /// Whether it does nothing any more.
    pub is_blocked: bool,
}

impl Waiting {
    /// Whether it goes on for ever, without getting anywhere.
    pub fn goes_round(&self) -> bool {
        !self.is_blocked
    }
}

/// A thread goes through no more states than this on its own.
const MAX_STATES: usize = 10_000;

/// The threads that wait for ever at the end of a run that hangs.
pub fn waiting(program: &Program, run: &Run) -> Vec<Waiting> {
    // Nothing is buffered, and nothing that is done changes memory: all models are alike.
    Model::STRONGEST.with(Dialect::default(), Told { program, run })
}

/// Where each process is at the end of a run.
fn points(program: &Program, run: &Run) -> IndexVec<ProcessId, PointId> {
    let mut points: IndexVec<ProcessId, PointId> = program.processes().iter().map(|it| it.entry).collect();
    for step in &run.trace.steps {
        if let Action::Edge { edge, .. } = step.action {
            points[step.process] = program.edges()[edge].to;
        }
    }
    points
}

/// The threads that have ended at the end of a run.
pub fn ended(program: &Program, run: &Run) -> Vec<ProcessId> {
    let points = points(program, run);
    program.processes().indices().filter(|&process| program.points()[points[process]].is_end).collect()
}

struct Told<'a> {
    program: &'a Program,
    run: &'a Run,
}

impl Job for Told<'_> {
    type Output = Vec<Waiting>;

    fn run<M: Machine>(self, machine: M) -> Vec<Waiting> {
        let Self { program, run } = self;
        let points = points(program, run);
        let (memory, registers) = match run.events.last() {
            Some(last) => (&last.memory, &last.registers),
            None => (&run.trace.start.memory, &run.trace.start.registers),
        };
        let no_fences = Placement::NONE;
        let system = System::new(program, &no_fences, machine);
        let end = State {
            controls: points.iter().map(|&point| Control::At(point)).collect(),
            registers: registers.clone(),
            memory: system.machine.initial(memory.as_slice().to_vec(), program.processes().len()),
        };
        let is_under_way = |process: &ProcessId| !program.points()[points[*process]].is_end;
        program.processes().indices().filter(is_under_way).filter_map(|process| alone(&system, &end, process)).collect()
    }
}

/// A step from one state to another, by their numbers.
type Step = (usize, usize, EdgeId, Effect);

/// What a thread can do on its own without changing memory.
struct Silently<S> {
    states: Vec<S>,
    steps: Vec<Step>,
    /// Where nothing is possible any more, although it has not ended.
    dead_ends: BTreeSet<usize>,
    /// Whether it could also change memory.
    changes: bool,
}

fn silently<M: Machine>(
    system: &System<'_, M>,
    end: &State<M::State>,
    process: ProcessId,
) -> Silently<State<M::State>> {
    let mut found =
        Silently { states: vec![end.clone()], steps: Vec::new(), dead_ends: BTreeSet::new(), changes: false };
    let mut next = 0;
    while next < found.states.len() && found.states.len() < MAX_STATES {
        let state = &found.states[next];
        let possible: Vec<_> = system.transitions(state).into_iter().filter(|it| it.step.process == process).collect();
        let has_ended = state.controls[process].point().is_some_and(|it| system.flow.program.points()[it].is_end);
        if possible.is_empty() && !has_ended {
            found.dead_ends.insert(next);
        }
        for it in possible {
            let (Action::Edge { edge, .. }, Outcome::Next(to)) = (it.step.action, it.outcome) else { continue };
            found.changes |= to.memory != end.memory;
            if to.memory == end.memory {
                let number = found.states.iter().position(|known| *known == to).unwrap_or_else(|| {
                    found.states.push(to);
                    found.states.len() - 1
                });
                found.steps.push((next, number, edge, it.effect));
            }
        }
        next += 1;
    }
    found
}

/// What a thread does for ever; `None` if it does not wait.
fn alone<M: Machine>(system: &System<'_, M>, end: &State<M::State>, process: ProcessId) -> Option<Waiting> {
    let Silently { states, steps, dead_ends, changes } = silently(system, end, process);
    let mut graph = vec![Vec::new(); states.len()];
    steps.iter().for_each(|&(from, to, ..)| graph[from].push(to));
    let heads = components(&graph);
    // Registers that are not read again may have to come round first.
    let first_round = steps.iter().find(|(from, to, ..)| heads[*from] == heads[*to]).map(|step| heads[step.0]);
    let is_in_it = |&&(from, to, ..): &&Step| first_round.is_some_and(|it| heads[from] == it && heads[to] == it);
    let round: Vec<_> = steps.iter().filter(is_in_it).collect();
    let is_blocked = round.is_empty();
    // It tries what it cannot get past; where it could also go elsewhere, it has chosen this.
    let leads_nowhere = |step: &&Step| !changes || dead_ends.contains(&step.1);
    let tried = if is_blocked { steps.iter().filter(leads_nowhere).collect() } else { round };
    let is_here = is_blocked && (!changes || dead_ends.contains(&0));
    let first = || system.flow.moves(end.controls[process]).into_iter().filter_map(|(it, _)| edge_of(it));
    let edges: BTreeSet<EdgeId> =
        tried.iter().map(|step| step.2).chain(is_here.then(first).into_iter().flatten()).collect();
    let mut reads: BTreeSet<(LocationId, Value)> = tried.iter().filter_map(|step| read(step.3)).collect();
    if is_here {
        let looked_at = first().filter_map(|edge| place_of(&system.flow.program.edges()[edge].op));
        reads.extend(looked_at.map(|x| (x, system.machine.value(&end.memory, x))));
    }
    // Who can only change memory or end, or goes round without reading, goes on.
    let goes_on = if is_blocked { dead_ends.is_empty() } else { reads.is_empty() };
    let (edges, reads) = (edges.into_iter().collect(), reads.into_iter().collect());
    (!goes_on).then_some(Waiting { process, edges, reads, is_blocked })
}

fn edge_of(next: Move) -> Option<EdgeId> {
    match next {
        Move::Edge(edge) => Some(edge),
        Move::Fence(..) => None,
    }
}

/// The location that an operation looks at, if it is always the same.
fn place_of(op: &Op) -> Option<LocationId> {
    match op {
        Op::Load(_, Place::Fixed(x)) | Op::Rmw { place: Place::Fixed(x), .. } => Some(*x),
        Op::Load(..) | Op::Rmw { .. } | Op::Locked(_) | Op::Store(..) | Op::Fence(_) => None,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
    }
}

fn read(effect: Effect) -> Option<(LocationId, Value)> {
    match effect {
        Effect::Load(x, value, _) | Effect::Rmw(x, value, _) => Some((x, value)),
        Effect::Local | Effect::Store(..) | Effect::Fence(_) | Effect::Locked => None,
        Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => None,
    }
}
