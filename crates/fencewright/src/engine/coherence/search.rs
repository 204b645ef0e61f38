//! Breadth-first search of the abstract states; under `pd` those that no other covers.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::engine::automaton::{LiveRegisters, Observed};
use crate::engine::coherence::Abstraction;
use crate::engine::coherence::memory::{Coherent, CoherentMemory};
use crate::engine::{Monitor, Progress, StopReason, Task};
use crate::system::{Outcome, Start, State, Step, System, Trace, Violation, starts};

/// A search is given up beyond this many states.
const MAX_STATES: usize = 5_000_000;

/// The same, for a program with unbounded data.
const UNBOUNDED_DATA_STATES: usize = 300_000;

/// The monitor is asked every so many states.
const POLL_EVERY: usize = 256;

type AbstractState = State<CoherentMemory>;

/// How a search ends.
#[derive(Debug)]
pub enum End {
    /// No bad situation is reachable.
    Exhausted,
    /// The abstraction reaches one by this path, which need not be a run.
    Alarm(Box<Trace>),
    /// Nothing is known.
    Stopped(StopReason),
}

/// A search of the abstract states.
#[derive(Debug)]
pub struct Search<'a> {
    system: System<'a, Coherent>,
    live: LiveRegisters,
    /// States of earlier rounds, for the monitor.
    explored_before: u64,
    states: Vec<AbstractState>,
    /// Invariant: as long as `states`.
    origins: Vec<Origin>,
    /// The states that no other covers, by the hash of their outlines.
    kept: HashTable<usize>,
    /// Invariant: as long as `states`.
    is_covered: Vec<bool>,
    n_expanded: usize,
    bytes: usize,
}

/// Where a state was found.
#[derive(Debug)]
enum Origin {
    Start(Box<Start>),
    From(usize, Step),
}

impl<'a> Search<'a> {
    /// Nothing is found yet.
    pub fn new(task: &Task<'a>, model: Coherent, explored_before: u64) -> Self {
        let system = System::new(task.program, task.placement, model);
        Self {
            system,
            live: LiveRegisters::new(&system.flow, &Observed::new(task.program)),
            explored_before,
            states: Vec::new(),
            origins: Vec::new(),
            kept: HashTable::new(),
            is_covered: Vec::new(),
            n_expanded: 0,
            bytes: 0,
        }
    }

    /// Searches until an alarm, the end, or a limit.
    pub fn run(&mut self, monitor: &dyn Monitor) -> End {
        for start in starts(self.system.flow.program).into_iter().flatten() {
            let state = self.system.initial(&start);
            if let Some(alarm) = self.add(state, Origin::Start(Box::new(start))) {
                return alarm;
            }
        }
        let mut next = 0;
        while next < self.states.len() {
            if next % POLL_EVERY == 0
                && let Some(reason) = self.poll(monitor)
            {
                return End::Stopped(reason);
            }
            if !self.is_covered[next] {
                self.n_expanded += 1;
                if let Some(end) = self.expand(next) {
                    return end;
                }
            }
            next += 1;
        }
        End::Exhausted
    }

    /// How many states were looked at.
    pub fn n_expanded(&self) -> u64 {
        self.n_expanded as u64
    }

    /// How many states no other covers.
    pub fn n_kept(&self) -> u64 {
        self.kept.len() as u64
    }

    /// The bytes of the tables, roughly.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    fn poll(&self, monitor: &dyn Monitor) -> Option<StopReason> {
        let progress = Progress {
            explored: self.explored_before + self.n_expanded(),
            queued: (self.states.len() - self.n_expanded) as u64,
            depth: 0,
            bytes: self.bytes(),
        };
        let n_states = self.states.len();
        let budget = || match self.system.flow.program.has_unbounded_data() {
            true if n_states > UNBOUNDED_DATA_STATES => Some(StopReason::UnboundedData(n_states as u64)),
            false if n_states > MAX_STATES => Some(StopReason::States(n_states as u64)),
            true | false => None,
        };
        monitor.poll(&progress).or_else(budget)
    }

    fn expand(&mut self, number: usize) -> Option<End> {
        for (step, outcome) in self.system.steps(&self.states[number]) {
            match outcome {
                Outcome::Next(mut state) => {
                    let control = state.controls[step.process];
                    self.live.reset_dead(step.process, control, &mut state.registers[step.process]);
                    if let Some(alarm) = self.add(state, Origin::From(number, step)) {
                        return Some(alarm);
                    }
                }
                Outcome::Fault(fault) => {
                    let mut path = self.path(number, Violation::Fault(fault));
                    path.steps.push(step);
                    return Some(End::Alarm(Box::new(path)));
                }
                Outcome::Overflow => return Some(End::Stopped(StopReason::Overflow)),
            }
        }
        None
    }

    /// Keeps a state unless it is covered; an alarm if it is bad.
    fn add(&mut self, state: AbstractState, origin: Origin) -> Option<End> {
        let hash = self.hash_of(&state);
        if self.kept.find(hash, |&it| self.covers(&self.states[it], &state)).is_some() {
            return None;
        }
        while let Ok(entry) = self.kept.find_entry(hash, |&it| covers(&self.system.model, &state, &self.states[it])) {
            let (covered, _) = entry.remove();
            self.is_covered[covered] = true;
        }
        let number = self.states.len();
        let violated = self.system.violated(&state);
        self.bytes += size_of::<AbstractState>() + 64 + 48 * state.controls.len() + state.memory.bytes();
        self.states.push(state);
        self.origins.push(origin);
        self.is_covered.push(false);
        let Self { kept, states, system, .. } = self;
        kept.insert_unique(hash, number, |&it| hash_of(&system.model, &states[it]));
        violated.map(|property| End::Alarm(Box::new(self.path(number, Violation::Property(property)))))
    }

    fn hash_of(&self, state: &AbstractState) -> u64 {
        hash_of(&self.system.model, state)
    }

    fn covers(&self, state: &AbstractState, other: &AbstractState) -> bool {
        covers(&self.system.model, state, other)
    }

    /// How a state was found.
    fn path(&self, number: usize, violation: Violation) -> Trace {
        let mut steps = Vec::new();
        let mut at = number;
        loop {
            match &self.origins[at] {
                Origin::From(from, step) => {
                    steps.push(*step);
                    at = *from;
                }
                Origin::Start(start) => {
                    steps.reverse();
                    return Trace { start: (**start).clone(), steps, violation };
                }
            }
        }
    }
}

/// The same for states of which one covers the other.
fn hash_of(model: &Coherent, state: &AbstractState) -> u64 {
    let mut hasher = FxHasher::default();
    state.controls.hash(&mut hasher);
    state.registers.hash(&mut hasher);
    match model.precision.abstraction {
        Abstraction::Set | Abstraction::Fd => state.memory.hash(&mut hasher),
        Abstraction::Pd => state.memory.outline().hash(&mut hasher),
    }
    hasher.finish()
}

/// Whether every behavior from the second state is one from the first.
fn covers(model: &Coherent, state: &AbstractState, other: &AbstractState) -> bool {
    let has_memory = match model.precision.abstraction {
        Abstraction::Set | Abstraction::Fd => state.memory == other.memory,
        Abstraction::Pd => state.memory.covers(&other.memory),
    };
    has_memory && state.controls == other.controls && state.registers == other.registers
}
