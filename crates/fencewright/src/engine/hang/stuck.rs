//! Where a thread is stuck, and what memory must hold for that.
//!
//! Memory is as it is and stays so. A thread is stuck in a local state if nothing it can do there is possible, or if it
//! can go round for ever without changing memory, reading some of it. All it needs of memory is what it reads, and what
//! it writes again over the same:
//!
//! ```text
//!    while (wake == 0) { }             q ⟲ r(wake,0)                             stuck where wake = 0
//!    while (swap(l, 1) == 1) { }       q ⟲ rw(l,1,1)                             stuck where l = 1
//!    assume(go == 1);                  q ── r(go,0) ──▶ q' ── again ──▶ q        stuck where go = 0
//! ```
//!
//! An `assume` is a wait: where it does not hold, what was read for it is read again, from its first load on.
//!
//! The ways to go round are found by splitting: in a strongly connected part of what may change nothing, a location is
//! taken to hold one of the values that are read there, or not to be read at all, until no location has two values.
//! The fewer locations, the more memories: a part that reads less stands for those around it, since a thread that goes
//! round there can also go round here.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Unsupported;
use crate::engine::automaton::{Datum, Letter, LetterEdge, ProcessAutomaton, RegisterFree, StateId, Unmade};
use crate::program::{LocationId, PointId, ProcessId, Program};
use crate::source::Span;
use crate::system::Action;
use crate::util::{IndexVec, components};
use crate::watch::{Monitor, Progress};

/// What some locations hold: one of these values each.
pub(super) type Cube = BTreeMap<LocationId, BTreeSet<Datum>>;

/// A local state in which a thread is stuck if memory is so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stuck {
    pub state: StateId,
    pub memory: Cube,
    /// Where it goes round; only the state itself if nothing is possible there.
    pub round: Vec<StateId>,
}

/// A step that changes nothing of memory, if memory holds what it needs.
#[derive(Clone, Debug)]
struct Silent {
    from: StateId,
    to: StateId,
    needs: BTreeMap<LocationId, Datum>,
    reads: bool,
}

/// More parts than this are not looked at.
const MAX_PARTS: usize = 100_000;

/// Where each process may be stuck, given at which points it may wait.
pub(super) fn all_stuck(
    source: &Program,
    program: &RegisterFree,
    may_wait: &dyn Fn(ProcessId, PointId) -> bool,
    monitor: &dyn Monitor,
) -> Result<IndexVec<ProcessId, Vec<Stuck>>, Unmade> {
    let all = program.processes.indices().map(|process| stuck(source, program, (process, may_wait), monitor));
    all.collect::<Result<Vec<_>, _>>().map(IndexVec::from)
}

fn stuck(
    source: &Program,
    program: &RegisterFree,
    (process, may_wait): (ProcessId, &dyn Fn(ProcessId, PointId) -> bool),
    monitor: &dyn Monitor,
) -> Result<Vec<Stuck>, Unmade> {
    let automaton = &program.processes[process];
    let again = again(source, automaton);
    let waits: BTreeSet<StateId> = again.iter().map(|step| step.from).collect();
    let mut out = BTreeSet::new();
    for state in 0..automaton.states.len() as StateId {
        if is_under_way(source, automaton, state) && !waits.contains(&state) {
            blocked(program, automaton, state, &mut out)?;
        }
    }
    let steps: Vec<Silent> = automaton.edges.iter().filter_map(silent).chain(again).collect();
    let all: Vec<usize> = (0..steps.len()).collect();
    let is_fine = |state: StateId| automaton.states[state as usize].point.is_some_and(|it| may_wait(process, it));
    let elsewhere: Vec<usize> = all.iter().copied().filter(|&step| !is_fine(steps[step].from)).collect();
    let mut rounds = Rounds { steps, seen: BTreeMap::new(), monitor, looked: 0, out };
    rounds.split(&all)?;
    // Who can also go round without coming by where it may wait is not meant to.
    if elsewhere.len() < all.len() {
        rounds.split(&elsewhere)?;
    }
    Ok(rounds.out.into_iter().collect())
}

/// Whether a process that is here has neither ended nor gone wrong.
fn is_under_way(source: &Program, automaton: &ProcessAutomaton, state: StateId) -> bool {
    let info = &automaton.states[state as usize];
    info.fault.is_none() && info.point.is_none_or(|point| !source.points()[point].is_end)
}

/// From where an `assume` does not hold back to its first load.
fn again(source: &Program, automaton: &ProcessAutomaton) -> Vec<Silent> {
    let mut steps = Vec::new();
    for state in 0..automaton.states.len() as StateId {
        if is_under_way(source, automaton, state)
            && automaton.outgoing[state as usize].is_empty()
            && let Some(wait) = automaton.states[state as usize].point.and_then(|point| wait_at(source, point))
        {
            let first = starts(source, automaton, wait, state).into_iter().filter(|&it| it != state);
            steps.extend(first.map(|to| Silent { from: state, to, needs: BTreeMap::new(), reads: false }));
        }
    }
    steps
}

/// The `assume` that a point belongs to.
fn wait_at(source: &Program, point: PointId) -> Option<Span> {
    let edge = &source.edges()[*source.points()[point].edges.first()?];
    source.waits().iter().copied().find(|wait| wait.start <= edge.span.start && edge.span.end <= wait.end)
}

/// Where a wait began that has come to a state.
fn starts(source: &Program, automaton: &ProcessAutomaton, wait: Span, state: StateId) -> BTreeSet<StateId> {
    let belongs = |edge: &LetterEdge| match edge.step.action {
        Action::Edge { edge, .. } => {
            let span = source.edges()[edge].span;
            wait.start <= span.start && span.end <= wait.end
        }
        Action::Fence(_) | Action::Internal(_) => false,
    };
    let mut starts = BTreeSet::new();
    let mut seen = BTreeSet::from([state]);
    let mut todo = vec![state];
    while let Some(at) = todo.pop() {
        let incoming = automaton.incoming[at as usize].iter().map(|&edge| &automaton.edges[edge as usize]);
        let (within, outside): (Vec<_>, Vec<_>) = incoming.partition(|edge| belongs(edge));
        if !outside.is_empty() || within.is_empty() || automaton.initial.contains_key(&at) {
            starts.insert(at);
        }
        todo.extend(within.into_iter().map(|edge| edge.from).filter(|&from| seen.insert(from)));
    }
    starts
}

/// An edge as a step that changes nothing, unless it always does.
fn silent(edge: &LetterEdge) -> Option<Silent> {
    let (needs, reads) = match &edge.letter {
        Letter::Nop | Letter::Fence(_) => (BTreeMap::new(), false),
        Letter::Read(x, value) => (BTreeMap::from([(*x, *value)]), true),
        Letter::Write(x, value) => (BTreeMap::from([(*x, *value)]), false),
        Letter::Atomic(atomic) => {
            let mut all = BTreeMap::new();
            let mut pairs = atomic.guards.iter().chain(&atomic.writes).copied();
            let is_one = pairs.all(|(x, value)| *all.entry(x).or_insert(value) == value);
            is_one.then_some((all, true))?
        }
    };
    Some(Silent { from: edge.from, to: edge.to, needs, reads })
}

/// What memory must hold for a step to be possible; nothing for one that always is.
fn guards(letter: &Letter) -> Vec<(LocationId, Datum)> {
    match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => Vec::new(),
        Letter::Read(x, value) => vec![(*x, *value)],
        Letter::Atomic(atomic) => atomic.guards.clone(),
    }
}

/// The memories in which nothing is possible in a state.
fn blocked(
    program: &RegisterFree,
    automaton: &ProcessAutomaton,
    state: StateId,
    out: &mut BTreeSet<Stuck>,
) -> Result<(), Unmade> {
    let mut cubes = vec![Cube::new()];
    for &edge in &automaton.outgoing[state as usize] {
        let guards = guards(&automaton.edges[edge as usize].letter);
        // One of them must fail.
        let fails = |cube: &Cube, &(x, value): &(LocationId, Datum)| {
            let mut cube = cube.clone();
            let held = cube.entry(x).or_insert_with(|| (0..program.values[x].len() as Datum).collect());
            held.remove(&value);
            (!held.is_empty()).then_some(cube)
        };
        let next: BTreeSet<Cube> =
            cubes.iter().flat_map(|cube| guards.iter().filter_map(move |guard| fails(cube, guard))).collect();
        cubes = next.into_iter().collect();
        if cubes.len() > MAX_PARTS {
            return Err(too_many().into());
        }
    }
    out.extend(cubes.into_iter().map(|memory| Stuck { state, memory, round: vec![state] }));
    Ok(())
}

fn too_many() -> Unsupported {
    let reason = "a thread can be stuck in too many ways".to_owned();
    Unsupported { reason, help: "give variables smaller ranges".to_owned() }
}

/// Finds the ways to go round; parts are lists of steps, by number.
struct Rounds<'a> {
    steps: Vec<Silent>,
    /// The parts that were looked at, and whether there is a way to go round in them.
    seen: BTreeMap<Vec<usize>, bool>,
    monitor: &'a dyn Monitor,
    /// So many steps have been looked at, each once for every part that it is in.
    looked: u64,
    out: BTreeSet<Stuck>,
}

impl Rounds<'_> {
    /// Looks at the strongly connected parts of some steps; whether there is a way to go round.
    fn split(&mut self, steps: &[usize]) -> Result<bool, Unmade> {
        let mut found = false;
        for part in self.parts(steps) {
            found |= self.part(part)?;
        }
        Ok(found)
    }

    /// The steps of each strongly connected part.
    fn parts(&self, steps: &[usize]) -> Vec<Vec<usize>> {
        let ends = |step: &usize| [self.steps[*step].from, self.steps[*step].to];
        let states: Vec<StateId> = steps.iter().flat_map(ends).collect::<BTreeSet<_>>().into_iter().collect();
        let number = |state: StateId| states.binary_search(&state).expect("it is an end of one of the steps");
        let mut next = vec![Vec::new(); states.len()];
        for step in steps {
            let [from, to] = ends(step);
            next[number(from)].push(number(to));
        }
        let heads = components(&next);
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for step in steps {
            let [from, to] = ends(step).map(|state| heads[number(state)]);
            if from == to {
                parts.entry(from).or_default().push(*step);
            }
        }
        parts.into_values().collect()
    }

    fn part(&mut self, steps: Vec<usize>) -> Result<bool, Unmade> {
        if !steps.iter().any(|&step| self.steps[step].reads) {
            return Ok(false);
        }
        if let Some(&found) = self.seen.get(&steps) {
            return Ok(found);
        }
        if self.seen.len() >= MAX_PARTS {
            return Err(too_many().into());
        }
        self.looked += steps.len() as u64;
        if let Some(stop) = self.monitor.poll(&Progress { explored: self.looked, ..Progress::default() }) {
            return Err(Unmade::Stopped(stop));
        }
        let found = self.ways(&steps)?;
        self.seen.insert(steps, found);
        Ok(found)
    }

    /// Whether there is a way to go round in a part, which reads.
    fn ways(&mut self, steps: &[usize]) -> Result<bool, Unmade> {
        let mut held = Cube::new();
        for (&x, &value) in steps.iter().flat_map(|&step| &self.steps[step].needs) {
            held.entry(x).or_default().insert(value);
        }
        let mut found = false;
        for &x in held.keys() {
            found |= self.split(&self.fitting(steps, x, None))?;
        }
        match held.iter().find(|(_, values)| values.len() > 1) {
            Some((&x, values)) => {
                for &value in values {
                    found |= self.split(&self.fitting(steps, x, Some(value)))?;
                }
            }
            // What reads less is also here, and stands for it.
            None if found => {}
            None => {
                self.emit(steps, held);
                found = true;
            }
        }
        Ok(found)
    }

    /// The steps that need nothing of a location, or that it holds this value.
    fn fitting(&self, steps: &[usize], x: LocationId, value: Option<Datum>) -> Vec<usize> {
        let fits = |step: &&usize| self.steps[**step].needs.get(&x).is_none_or(|it| Some(*it) == value);
        steps.iter().filter(fits).copied().collect()
    }

    fn emit(&mut self, steps: &[usize], memory: Cube) {
        let round: BTreeSet<StateId> = steps.iter().map(|&step| self.steps[step].from).collect();
        let round: Vec<StateId> = round.into_iter().collect();
        if let Some(&state) = round.first() {
            self.out.insert(Stuck { state, memory, round });
        }
    }
}
