//! Interchangeable processes, found on the register-free form and verified there.
//!
//! A *renaming* permutes processes, their states, locations, and the values of each location. If it maps every edge to
//! an edge, the start to the start, and what is bad to what is bad, then two constraints that differ by it are one. A
//! renaming is looked for by walking two processes in step, which settles what goes where; then all of it is checked,
//! so that programs that merely look symmetric (an order of identities, a fence on one side only) are refused.
//!
//! ```text
//!    P0:  q0 ─ w(mem[0],1) ─▶ q1 ─ arw(lock,2,0) ─▶ …          mem[0] ⟷ mem[1],
//!    P1:  q0 ─ w(mem[1],1) ─▶ q1 ─ arw(lock,2,1) ─▶ …    ⟹     value 0 of lock ⟷ value 1 of lock
//! ```

use std::collections::BTreeSet;

use crate::engine::automaton::{Atomic, Datum, Letter, RegisterFree, StateId};
use crate::engine::backward::bad::Bad;
use crate::program::{LocationId, ProcessId};
use crate::util::{Idx, IndexVec};

/// A permutation of processes with all that belongs to them, which maps a program onto itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Renaming {
    /// Where each process goes.
    pub processes: IndexVec<ProcessId, ProcessId>,
    /// Where each process comes from.
    pub origins: IndexVec<ProcessId, ProcessId>,
    /// Where the states of each process go, among those of its image.
    pub states: IndexVec<ProcessId, Vec<StateId>>,
    /// Where each location goes.
    pub locations: IndexVec<LocationId, LocationId>,
    /// Where the values of each location go, among those of its image.
    pub values: IndexVec<LocationId, Vec<Datum>>,
}

/// Larger programs are not walked: each step may have to be taken back.
const MAX_EDGES: usize = 4_000;

/// The walk gives up after so many steps.
const MAX_STEPS: usize = 100_000;

/// No more renamings than this are kept.
const MAX_RENAMINGS: usize = 720;

impl Renaming {
    fn identity(program: &RegisterFree) -> Self {
        let counted = |n: usize| (0..n as StateId).collect();
        Self {
            processes: program.processes.indices().collect(),
            origins: program.processes.indices().collect(),
            states: program.processes.iter().map(|process| counted(process.states.len())).collect(),
            locations: program.values.indices().collect(),
            values: program.values.iter().map(|values| (0..values.len() as Datum).collect()).collect(),
        }
    }

    /// This renaming, and then another.
    #[must_use]
    pub(super) fn then(&self, other: &Self) -> Self {
        let states = self.states.iter_enumerated().map(|(process, states)| {
            let further = &other.states[self.processes[process]];
            states.iter().map(|&state| further[state as usize]).collect()
        });
        let values = self.values.iter_enumerated().map(|(x, values)| {
            let further = &other.values[self.locations[x]];
            values.iter().map(|&value| further[usize::from(value)]).collect()
        });
        Self {
            processes: self.processes.iter().map(|&process| other.processes[process]).collect(),
            origins: other.origins.iter().map(|&process| self.origins[process]).collect(),
            states: states.collect(),
            locations: self.locations.iter().map(|&x| other.locations[x]).collect(),
            values: values.collect(),
        }
    }

    fn pair(&self, &(x, value): &(LocationId, Datum)) -> (LocationId, Datum) {
        (self.locations[x], self.values[x][usize::from(value)])
    }

    /// What a letter becomes, locations in their order.
    pub(super) fn letter(&self, letter: &Letter) -> Letter {
        let pairs = |pairs: &[(LocationId, Datum)]| pairs.iter().map(|pair| self.pair(pair)).collect();
        let letter = match letter {
            Letter::Nop | Letter::Fence(_) => letter.clone(),
            &Letter::Read(x, value) => Letter::Read(self.locations[x], self.values[x][usize::from(value)]),
            &Letter::Write(x, value) => Letter::Write(self.locations[x], self.values[x][usize::from(value)]),
            Letter::Atomic(Atomic { guards, writes, waits_for }) => Letter::Atomic(Atomic {
                guards: pairs(guards),
                writes: pairs(writes),
                waits_for: waits_for.map(|x| self.locations[x]),
            }),
        };
        letter.ordered()
    }

    fn bad(&self, bad: &Bad) -> Bad {
        let state =
            |&(process, state): &(ProcessId, StateId)| (self.processes[process], self.states[process][state as usize]);
        let mut image = Bad {
            states: bad.states.iter().map(state).collect(),
            memory: bad.memory.iter().map(|pair| self.pair(pair)).collect(),
        };
        image.states.sort_unstable();
        image.memory.sort_unstable();
        image
    }
}

/// All renamings that verified swaps of neighboring processes lead to; the first changes nothing.
pub(super) fn renamings(program: &RegisterFree, bad: &[Bad]) -> Vec<Renaming> {
    let identity = Renaming::identity(program);
    let processes: Vec<ProcessId> = program.processes.indices().collect();
    let n_edges: usize = program.processes.iter().map(|process| process.edges.len()).sum();
    if n_edges > MAX_EDGES {
        return vec![identity];
    }
    let swaps: Vec<Renaming> =
        processes.windows(2).filter_map(|pair| swap(program, bad, &identity, (pair[0], pair[1]))).collect();
    let mut all = vec![identity];
    let mut next = 0;
    while next < all.len() {
        for swap in &swaps {
            let image = all[next].then(swap);
            if !all.contains(&image) {
                all.push(image);
            }
        }
        next += 1;
        if all.len() > MAX_RENAMINGS {
            all.truncate(1);
        }
    }
    all
}

/// The swap of two processes, if there is one.
fn swap(
    program: &RegisterFree,
    bad: &[Bad],
    identity: &Renaming,
    (first, second): (ProcessId, ProcessId),
) -> Option<Renaming> {
    let mut processes = identity.processes.clone();
    (processes[first], processes[second]) = (second, first);
    let has_same_shape = |process: ProcessId| {
        let [a, b] = [process, processes[process]].map(|process| &program.processes[process]);
        a.states.len() == b.states.len() && a.edges.len() == b.edges.len() && a.initial.len() == b.initial.len()
    };
    if !program.processes.indices().all(has_same_shape) {
        return None;
    }
    let found = Walk::new(program, processes).found()?;
    is_verified(program, bad, &found).then_some(found)
}

/// Whether edges go to edges, the start to the start, and what is bad to what is bad.
fn is_verified(program: &RegisterFree, bad: &[Bad], renaming: &Renaming) -> bool {
    let keeps_edges = program.processes.iter_enumerated().all(|(process, automaton)| {
        let (states, image) = (&renaming.states[process], &program.processes[renaming.processes[process]]);
        let edges: BTreeSet<_> =
            image.edges.iter().map(|edge| (edge.from, edge.to, edge.letter.clone().ordered())).collect();
        let goes = |state: StateId| states[state as usize];
        let mut images =
            automaton.edges.iter().map(|edge| (goes(edge.from), goes(edge.to), renaming.letter(&edge.letter)));
        images.all(|edge| edges.contains(&edge))
            && automaton.initial.keys().all(|&state| image.initial.contains_key(&goes(state)))
            && is_permutation(states.iter().map(|&state| state as usize))
    });
    let keeps_memory = program.initial.iter_enumerated().all(|(x, initial)| {
        let image: BTreeSet<Datum> = program.initial[renaming.locations[x]].iter().copied().collect();
        let values = &renaming.values[x];
        program.values[x].len() == program.values[renaming.locations[x]].len()
            && initial.iter().map(|&value| values[usize::from(value)]).collect::<BTreeSet<_>>() == image
            && is_permutation(values.iter().map(|&value| usize::from(value)))
    });
    let known: BTreeSet<_> = bad.iter().map(ordered).collect();
    keeps_edges
        && keeps_memory
        && is_permutation(renaming.locations.iter().map(|x| x.index()))
        && bad.iter().all(|bad| known.contains(&ordered(&renaming.bad(bad))))
}

type Ordered = (Vec<(ProcessId, StateId)>, Vec<(LocationId, Datum)>);

fn ordered(bad: &Bad) -> Ordered {
    let (mut states, mut memory) = (bad.states.clone(), bad.memory.clone());
    states.sort_unstable();
    memory.sort_unstable();
    (states, memory)
}

fn is_permutation(images: impl ExactSizeIterator<Item = usize>) -> bool {
    let n = images.len();
    let images: BTreeSet<usize> = images.collect();
    images.len() == n && images.iter().all(|&image| image < n)
}

/// An injective partial map.
#[derive(Clone, Debug)]
struct Partial {
    to: Vec<Option<usize>>,
    from: Vec<Option<usize>>,
}

impl Partial {
    fn new(n: usize) -> Self {
        Self { to: vec![None; n], from: vec![None; n] }
    }

    /// Makes `a` go to `b`; `None` if one of them is taken, otherwise whether that is new.
    fn bind(&mut self, a: usize, b: usize) -> Option<bool> {
        match (self.to.get(a)?, self.from.get(b)?) {
            (Some(image), _) if *image == b => Some(false),
            (None, None) => {
                self.to[a] = Some(b);
                self.from[b] = Some(a);
                Some(true)
            }
            (Some(_), _) | (None, Some(_)) => None,
        }
    }

    fn unbind(&mut self, a: usize) {
        let b = self.to[a].take().expect("it was bound");
        self.from[b] = None;
    }

    /// What was never met goes to what nothing goes to.
    fn completed(&self) -> Vec<usize> {
        let mut all = self.clone();
        for a in 0..all.to.len() {
            if all.to[a].is_none() {
                let is_free = |b: &usize| all.from[*b].is_none();
                let b = Some(a).filter(is_free).or_else(|| (0..all.from.len()).find(is_free));
                all.bind(a, b.expect("as many are free"));
            }
        }
        all.to.into_iter().flatten().collect()
    }
}

/// What was bound, to be taken back.
#[derive(Clone, Copy, Debug)]
enum Bound {
    State(ProcessId, usize),
    Location(usize),
    Value(LocationId, usize),
}

/// Two processes walked in step, and the others with themselves.
struct Walk<'a> {
    program: &'a RegisterFree,
    processes: IndexVec<ProcessId, ProcessId>,
    states: IndexVec<ProcessId, Partial>,
    locations: Partial,
    values: IndexVec<LocationId, Partial>,
    trail: Vec<Bound>,
    /// States whose image is known, in the order in which it became known.
    reached: Vec<(ProcessId, StateId)>,
    n_steps: usize,
}

impl<'a> Walk<'a> {
    fn new(program: &'a RegisterFree, processes: IndexVec<ProcessId, ProcessId>) -> Self {
        Self {
            program,
            processes,
            states: program.processes.iter().map(|process| Partial::new(process.states.len())).collect(),
            locations: Partial::new(program.values.len()),
            values: program.values.iter().map(|values| Partial::new(values.len())).collect(),
            trail: Vec::new(),
            reached: Vec::new(),
            n_steps: 0,
        }
    }

    fn found(mut self) -> Option<Renaming> {
        if !self.walk(0, 0, 0) {
            return None;
        }
        let locations: Vec<LocationId> = self.locations.completed().into_iter().map(LocationId::from_usize).collect();
        let datum = |values: Vec<usize>| values.into_iter().map(|value| value as Datum).collect();
        let states = |states: Vec<usize>| states.into_iter().map(|state| state as StateId).collect();
        Some(Renaming {
            // A swap goes where it comes from.
            origins: self.processes.clone(),
            processes: self.processes,
            states: self.states.iter().map(|partial| states(partial.completed())).collect(),
            locations: locations.into(),
            values: self.values.iter().map(|partial| datum(partial.completed())).collect(),
        })
    }

    /// Finds images for all edges, from the given one of the given state on, so many processes being begun.
    fn walk(&mut self, at: usize, edge: usize, n_begun: usize) -> bool {
        let Some(&(process, state)) = self.reached.get(at) else { return self.begin(at, n_begun) };
        let (automaton, image) = (&self.program.processes[process], &self.program.processes[self.processes[process]]);
        let to = self.states[process].to[state as usize].expect("the state was reached");
        let (here, there) = (&automaton.outgoing[state as usize], &image.outgoing[to]);
        let (info, other) = (&automaton.states[state as usize], &image.states[to]);
        if here.len() != there.len() || info.fault.is_some() != other.fault.is_some() {
            return false;
        }
        let Some(&taken) = here.get(edge) else { return self.walk(at + 1, 0, n_begun) };
        // The edge at the same place is tried first: most often it is the one.
        let candidates = (edge..there.len()).chain(0..edge).map(|i| there[i] as usize);
        for candidate in candidates {
            self.n_steps += 1;
            if self.n_steps > MAX_STEPS {
                return false;
            }
            let (n_bound, n_reached) = (self.trail.len(), self.reached.len());
            let (a, b) = (&automaton.edges[taken as usize], &image.edges[candidate]);
            if self.unify(&a.letter, &b.letter)
                && self.bind_state(process, a.to, b.to)
                && self.walk(at, edge + 1, n_begun)
            {
                return true;
            }
            self.take_back(n_bound, n_reached);
        }
        false
    }

    /// Goes on with the next process. Those that are swapped come first: they settle most.
    fn begin(&mut self, at: usize, n_begun: usize) -> bool {
        let is_moved = |process: &ProcessId| self.processes[*process] != *process;
        let (moved, fixed): (Vec<_>, Vec<_>) = self.program.processes.indices().partition(is_moved);
        let Some(&process) = moved.iter().chain(&fixed).nth(n_begun) else { return true };
        let starts = [process, self.processes[process]].map(|process| self.program.processes[process].initial.keys());
        let [a, b] = starts;
        let (n_bound, n_reached) = (self.trail.len(), self.reached.len());
        if a.zip(b).all(|(&a, &b)| self.bind_state(process, a, b)) && self.walk(at, 0, n_begun + 1) {
            return true;
        }
        self.take_back(n_bound, n_reached);
        false
    }

    fn take_back(&mut self, n_bound: usize, n_reached: usize) {
        self.reached.truncate(n_reached);
        for bound in self.trail.split_off(n_bound) {
            match bound {
                Bound::State(process, state) => self.states[process].unbind(state),
                Bound::Location(x) => self.locations.unbind(x),
                Bound::Value(x, value) => self.values[x].unbind(value),
            }
        }
    }

    fn bind_state(&mut self, process: ProcessId, a: StateId, b: StateId) -> bool {
        let Some(is_new) = self.states[process].bind(a as usize, b as usize) else { return false };
        if is_new {
            self.trail.push(Bound::State(process, a as usize));
            self.reached.push((process, a));
        }
        true
    }

    fn unify(&mut self, a: &Letter, b: &Letter) -> bool {
        match (a, b) {
            (Letter::Nop, Letter::Nop) => true,
            (Letter::Fence(a), Letter::Fence(b)) => a == b,
            (&Letter::Read(x, v), &Letter::Read(y, w)) | (&Letter::Write(x, v), &Letter::Write(y, w)) => {
                self.bind_pair((x, v), (y, w))
            }
            (Letter::Atomic(a), Letter::Atomic(b)) => {
                a.guards.len() == b.guards.len()
                    && a.writes.len() == b.writes.len()
                    && a.waits_for.is_some() == b.waits_for.is_some()
                    && a.writes.iter().zip(&b.writes).all(|(&a, &b)| self.bind_pair(a, b))
                    && a.guards.iter().zip(&b.guards).all(|(&a, &b)| self.bind_pair(a, b))
            }
            _ => false,
        }
    }

    fn bind_pair(&mut self, (x, v): (LocationId, Datum), (y, w): (LocationId, Datum)) -> bool {
        if self.program.values[x].len() != self.program.values[y].len() {
            return false;
        }
        let Some(is_new) = self.locations.bind(x.index(), y.index()) else { return false };
        if is_new {
            self.trail.push(Bound::Location(x.index()));
            let starts = self.program.initial[x].iter().zip(&self.program.initial[y]);
            let is_single = self.program.initial[x].len() == 1 && self.program.initial[y].len() == 1;
            for (&v, &w) in starts.filter(|_| is_single) {
                if !self.bind_value(x, v, w) {
                    return false;
                }
            }
        }
        self.bind_value(x, v, w)
    }

    fn bind_value(&mut self, x: LocationId, v: Datum, w: Datum) -> bool {
        let Some(is_new) = self.values[x].bind(usize::from(v), usize::from(w)) else { return false };
        if is_new {
            self.trail.push(Bound::Value(x, usize::from(v)));
        }
        true
    }
}
