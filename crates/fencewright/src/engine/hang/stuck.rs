//! Where a thread is stuck, and what memory must hold for that.
//!
//! Memory is as it is and stays so. A thread is stuck in a local state if nothing it can do there is possible, or if it
//! can go round for ever without changing memory, reading some of it. All it needs of memory is what it reads, and what
//! it writes again over the same:
//!
//! ```text
//!    while (wake == 0) { }             q ⟲ r(wake,0)                  stuck where wake = 0
//!    while (swap(l, 1) == 1) { }       q ⟲ rw(l,1,1)                  stuck where l = 1
//!    assume(go == 1);                  q ── r(go,1) ──▶ q'            stuck where go ≠ 1
//! ```
//!
//! An `assume` that does not hold is a wait: what was read for it is read again. So a load that leads nowhere is not
//! taken, and where a load is all there is, the thread is stuck before it.
//!
//! The ways to go round are found by splitting: in a strongly connected part of what may change nothing, a location is
//! taken to hold one of the values that are read there, or not to be read at all, until no location has two values.
//! The fewer locations, the more memories: a part that reads less stands for those around it, since a thread that goes
//! round there can also go round here.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Unsupported;
use crate::engine::automaton::{Datum, Letter, LetterEdge, ProcessAutomaton, RegisterFree, StateId, Unmade};
use crate::program::{LocationId, ProcessId, Program};
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

/// More parts than this are not looked at.
const MAX_PARTS: usize = 100_000;

/// Where a process may be stuck.
pub(super) fn stuck(
    source: &Program,
    program: &RegisterFree,
    process: ProcessId,
    monitor: &dyn Monitor,
) -> Result<Vec<Stuck>, Unmade> {
    let automaton = &program.processes[process];
    let edges = taken(source, automaton);
    let mut out = BTreeSet::new();
    for state in 0..automaton.states.len() as StateId {
        if is_under_way(source, automaton, state) {
            blocked(program, automaton, &edges[state as usize], state, &mut out)?;
        }
    }
    let silent = edges.iter().flatten().copied().filter(|&edge| needs(&automaton.edges[edge as usize]).is_some());
    let mut rounds = Rounds { automaton, seen: BTreeMap::new(), monitor, out };
    rounds.split(&silent.collect::<Vec<_>>())?;
    Ok(rounds.out.into_iter().collect())
}

/// Whether a process that is here has neither ended nor gone wrong.
fn is_under_way(source: &Program, automaton: &ProcessAutomaton, state: StateId) -> bool {
    let info = &automaton.states[state as usize];
    info.fault.is_none() && info.point.is_none_or(|point| !source.points()[point].is_end)
}

/// The edges that are taken from each state: those that look but lead nowhere are not.
fn taken(source: &Program, automaton: &ProcessAutomaton) -> Vec<Vec<u32>> {
    let mut edges = automaton.outgoing.clone();
    let leads_nowhere =
        |edges: &[Vec<u32>], state: StateId| edges[state as usize].is_empty() && is_under_way(source, automaton, state);
    let mut todo: Vec<StateId> = (0..edges.len() as StateId).filter(|&it| leads_nowhere(&edges, it)).collect();
    while let Some(nowhere) = todo.pop() {
        for &edge in &automaton.incoming[nowhere as usize] {
            let LetterEdge { from, letter, .. } = &automaton.edges[edge as usize];
            let is_new = edges[*from as usize].contains(&edge);
            if looks_only(letter) && is_new {
                edges[*from as usize].retain(|it| *it != edge);
                if leads_nowhere(&edges, *from) {
                    todo.push(*from);
                }
            }
        }
    }
    edges
}

/// Whether a step leaves nothing behind but what the thread knows.
fn looks_only(letter: &Letter) -> bool {
    match letter {
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) => true,
        Letter::Atomic(atomic) => atomic.writes.is_empty(),
        Letter::Write(..) => false,
    }
}

/// What memory must hold for a step to change nothing of it; `None` if it always does.
fn needs(edge: &LetterEdge) -> Option<BTreeMap<LocationId, Datum>> {
    match &edge.letter {
        Letter::Nop | Letter::Fence(_) => Some(BTreeMap::new()),
        Letter::Read(x, value) | Letter::Write(x, value) => Some(BTreeMap::from([(*x, *value)])),
        Letter::Atomic(atomic) => {
            let mut all = BTreeMap::new();
            let pairs = atomic.guards.iter().chain(&atomic.writes);
            pairs.copied().all(|(x, value)| *all.entry(x).or_insert(value) == value).then_some(all)
        }
    }
}

/// What memory must hold for a step to be possible; nothing for one that always is.
fn guards(letter: &Letter) -> Vec<(LocationId, Datum)> {
    match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => Vec::new(),
        Letter::Read(x, value) => vec![(*x, *value)],
        Letter::Atomic(atomic) => atomic.guards.clone(),
    }
}

/// The memories in which none of these edges is possible.
fn blocked(
    program: &RegisterFree,
    automaton: &ProcessAutomaton,
    edges: &[u32],
    state: StateId,
    out: &mut BTreeSet<Stuck>,
) -> Result<(), Unmade> {
    let mut cubes = vec![Cube::new()];
    for &edge in edges {
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

/// Finds the ways to go round.
struct Rounds<'a> {
    automaton: &'a ProcessAutomaton,
    /// The edges of the parts that were looked at, and whether there is a way to go round in them.
    seen: BTreeMap<Vec<u32>, bool>,
    monitor: &'a dyn Monitor,
    out: BTreeSet<Stuck>,
}

impl Rounds<'_> {
    /// Looks at the strongly connected parts of some edges; whether there is a way to go round.
    fn split(&mut self, edges: &[u32]) -> Result<bool, Unmade> {
        let mut found = false;
        for part in self.parts(edges) {
            found |= self.part(part)?;
        }
        Ok(found)
    }

    /// The edges of each strongly connected part.
    fn parts(&self, edges: &[u32]) -> Vec<Vec<u32>> {
        let ends = |&edge: &u32| [self.automaton.edges[edge as usize].from, self.automaton.edges[edge as usize].to];
        let states: Vec<StateId> = edges.iter().flat_map(ends).collect::<BTreeSet<_>>().into_iter().collect();
        let number = |state: StateId| states.binary_search(&state).expect("it is an end of one of the edges");
        let mut next = vec![Vec::new(); states.len()];
        for edge in edges {
            let [from, to] = ends(edge);
            next[number(from)].push(number(to));
        }
        let heads = components(&next);
        let mut parts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for edge in edges {
            let [from, to] = ends(edge).map(|state| heads[number(state)]);
            if from == to {
                parts.entry(from).or_default().push(*edge);
            }
        }
        parts.into_values().collect()
    }

    fn part(&mut self, edges: Vec<u32>) -> Result<bool, Unmade> {
        let letter = |edge: &u32| &self.automaton.edges[*edge as usize].letter;
        if !edges.iter().any(|edge| matches!(letter(edge), Letter::Read(..) | Letter::Atomic(_))) {
            return Ok(false);
        }
        if let Some(&found) = self.seen.get(&edges) {
            return Ok(found);
        }
        if self.seen.len() >= MAX_PARTS {
            return Err(too_many().into());
        }
        if let Some(stop) = self.monitor.poll(&Progress::default()) {
            return Err(Unmade::Stopped(stop));
        }
        let found = self.ways(&edges)?;
        self.seen.insert(edges, found);
        Ok(found)
    }

    /// Whether there is a way to go round in a part, which reads.
    fn ways(&mut self, edges: &[u32]) -> Result<bool, Unmade> {
        let automaton = self.automaton;
        let need = |edge: &u32| needs(&automaton.edges[*edge as usize]).unwrap_or_default();
        let mut held = Cube::new();
        for (x, value) in edges.iter().flat_map(need) {
            held.entry(x).or_default().insert(value);
        }
        let of = |x: LocationId, value: Option<Datum>| -> Vec<u32> {
            let fits = |edge: &&u32| need(edge).get(&x).is_none_or(|it| Some(*it) == value);
            edges.iter().filter(fits).copied().collect()
        };
        let mut found = false;
        for &x in held.keys() {
            found |= self.split(&of(x, None))?;
        }
        match held.iter().find(|(_, values)| values.len() > 1) {
            Some((&x, values)) => {
                for &value in values {
                    found |= self.split(&of(x, Some(value)))?;
                }
            }
            // What reads less is also here, and stands for it.
            None if found => {}
            None => {
                self.emit(edges, held);
                found = true;
            }
        }
        Ok(found)
    }

    fn emit(&mut self, edges: &[u32], memory: Cube) {
        let states = edges.iter().map(|&edge| self.automaton.edges[edge as usize].from);
        let round: Vec<StateId> = states.collect::<BTreeSet<_>>().into_iter().collect();
        // The states of a program without fences laid over it are at points.
        if let Some(&state) = round.first() {
            self.out.insert(Stuck { state, memory, round });
        }
    }
}

/// Where each process may be stuck.
pub(super) fn all_stuck(
    source: &Program,
    program: &RegisterFree,
    monitor: &dyn Monitor,
) -> Result<IndexVec<ProcessId, Vec<Stuck>>, Unmade> {
    let all = program.processes.indices().map(|process| stuck(source, program, process, monitor));
    all.collect::<Result<Vec<_>, _>>().map(IndexVec::from)
}
