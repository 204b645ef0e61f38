//! What a safe search leaves behind, in plain terms: for certificates.
//!
//! The basis of the search is closed under its rules, the facts prune it, and both are over the states of the
//! register-free form. Here they are told without the search's encoding, and [`Resting`] says in which state a local
//! state of the program comes to rest.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::automaton::{Automaton, Datum, LocalState, Merging, RegisterFree, StateId, Unmade};
use crate::engine::backward::facts::{ProcessFacts, Stage};
use crate::engine::backward::lag::constraint::{ABSENT, Message};
use crate::engine::backward::lag::system::{LoadBuffers, Machine, Reducing};
use crate::engine::backward::lag::values::Values;
use crate::engine::backward::{End, Search};
use crate::engine::{StopReason, Task, Unsupported};
use crate::program::{LocationId, ProcessId, Value};
use crate::system::{Control, Fault};
use crate::util::{BitSet, Idx, IndexVec};
use crate::watch::Monitor;

/// A value, or any.
pub type Cell = Option<Value>;

/// What a safe search leaves behind.
#[derive(Clone, Debug)]
pub struct Told {
    /// What each location can hold.
    pub values: IndexVec<LocationId, Vec<Value>>,
    /// The processes.
    pub processes: IndexVec<ProcessId, ToldProcess>,
    /// The basis.
    pub elements: Vec<ToldElement>,
}

/// The last write to each location since the last drain, oldest first.
pub type LastWrites = Vec<(LocationId, Value)>;

/// The facts of a process, by state.
#[derive(Clone, Debug)]
pub struct ToldProcess {
    /// Last writes; `None` where there is none.
    pub last_writes: Option<Vec<BTreeSet<LastWrites>>>,
    /// Pending stores, by location: all values that can be pending, and those that can be the newest. Empty but under
    /// PSO.
    pub pending: Vec<Vec<(BTreeSet<Value>, BTreeSet<Value>)>>,
    /// Single writer.
    pub sole: BTreeMap<LocationId, Vec<BTreeSet<Value>>>,
}

/// An element of the basis.
#[derive(Clone, Debug)]
pub struct ToldElement {
    /// The state of each process.
    pub states: Vec<StateId>,
    /// The load buffers: whether the message is an own one, its location, its value.
    pub buffers: Vec<Vec<(bool, LocationId, Cell)>>,
    /// The store buffers that are not empty.
    pub stores: Vec<BTreeMap<LocationId, Vec<Cell>>>,
    /// Memory.
    pub memory: Vec<Cell>,
}

/// How a search for a proof ended.
#[derive(Debug)]
pub enum Sought<'a> {
    /// With a basis over states, and the way to them from local states.
    Safe(Box<Told>, Box<Resting<'a>>),
    /// A bad situation can be reached.
    Unsafe,
    /// The search was stopped.
    Stopped(StopReason),
}

/// Tells in which state of the search a local state comes to rest.
#[derive(Debug)]
pub struct Resting<'a> {
    automaton: Automaton<'a>,
    ids: IndexVec<ProcessId, BTreeMap<u32, StateId>>,
}

impl Resting<'_> {
    /// The state of a process that is here; `None` if it can be several, or none that the search knows.
    pub fn here(&self, process: ProcessId, control: Control, registers: Vec<Value>) -> Option<StateId> {
        self.rest(process, self.automaton.normal(process, control, registers))
    }

    /// The state of a process that went wrong.
    pub fn broken(&self, process: ProcessId, fault: Fault) -> Option<StateId> {
        self.rest(process, LocalState::Broken(fault))
    }

    fn rest(&self, process: ProcessId, start: LocalState) -> Option<StateId> {
        let [only] = &self.automaton.settled(start)[..] else { return None };
        self.ids[process].get(&self.automaton.intern(only.clone()).to_word()).copied()
    }
}

/// Searches for a proof.
///
/// # Errors
/// The engine does not take the task.
pub fn seek<'a>(task: &Task<'a>, merging: Merging, monitor: &dyn Monitor) -> Result<Sought<'a>, Unsupported> {
    task.is_closed()?;
    let machine = Machine::of(task.buffering()?);
    let automaton = Automaton::new(task, merging);
    let program = match RegisterFree::new(task, &automaton, monitor) {
        Ok(program) => program,
        Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
        Err(Unmade::Stopped(stop)) => return Ok(Sought::Stopped(stop.into())),
    };
    // A process that is left open may have any buffer, a renamed constraint may be any of its like, a set of values any
    // of them, and own writes that are left out may be anywhere: none of that is closed rule by rule.
    let reducing = Reducing {
        view_steps: true,
        lag_region: true,
        last_writes: true,
        single_writer: true,
        absent: false,
        value_sets: false,
        read_back: false,
        symmetry: false,
    };
    let mut search = match LoadBuffers::new(task.program, &program, machine, reducing, monitor) {
        Ok(system) => Search::new(system),
        Err(stop) => return Ok(Sought::Stopped(stop.into())),
    };
    Ok(match search.run(task.options.threads, monitor) {
        End::Unsafe(_) => Sought::Unsafe,
        End::Stopped(reason) => Sought::Stopped(reason),
        End::Safe => {
            let told = told(&program, &search);
            let ids = program.processes.iter().map(|process| {
                let states = process.states.iter().enumerate();
                states.map(|(id, info)| (info.local.to_word(), id as StateId)).collect()
            });
            let ids = ids.collect();
            Sought::Safe(Box::new(told), Box::new(Resting { automaton, ids }))
        }
    })
}

fn told(program: &RegisterFree, search: &Search<LoadBuffers<'_>>) -> Told {
    let system = search.system();
    let value = |x: LocationId, datum: usize| program.values[x][datum];
    let cell = |x: LocationId, values: Values| {
        let only = (0..program.values[x].len()).find(|&datum| system.encoding.contains(x, values, datum as Datum));
        only.filter(|_| values != Values::ANY).map(|datum| value(x, datum))
    };
    let facts = system.facts().of.iter().map(|facts| told_process(facts, system.machine, &value)).collect();
    let elements = search.basis().map(|constraint| {
        let processes = || program.processes.indices();
        let locations = || program.values.indices();
        debug_assert!(processes().all(|process| constraint[process.index()] != ABSENT), "no process is left open");
        let message = |it: Message| {
            let x = it.location();
            // A sample has a value; where it can be any, the location has but one.
            let sampled = || (!it.is_own()).then(|| value(x, 0));
            (it.is_own(), x, cell(x, it.values()).or_else(sampled))
        };
        let store = |process: ProcessId, x: LocationId| match system.machine.stage {
            Stage::None => Vec::new(),
            Stage::PerLocation(_) => {
                let letters = system.letters(constraint[system.store(process, x)]);
                letters.iter().map(|&letter| cell(x, Values::from_bits(letter))).collect()
            }
        };
        let stores = |process: ProcessId| {
            let all = locations().map(|x| (x, store(process, x)));
            all.filter(|(_, word)| !word.is_empty()).collect()
        };
        let memory = system.memory(constraint);
        ToldElement {
            states: processes().map(|process| constraint[process.index()]).collect(),
            buffers: processes()
                .map(|process| system.word(constraint, process).into_iter().map(message).collect())
                .collect(),
            stores: processes().map(stores).collect(),
            memory: locations().map(|x| cell(x, memory[x.index()])).collect(),
        }
    });
    Told { elements: elements.collect(), values: program.values.clone(), processes: facts }
}

fn told_process(facts: &ProcessFacts, machine: Machine, value: &impl Fn(LocationId, usize) -> Value) -> ToldProcess {
    let writes =
        |all: &Vec<(LocationId, Datum)>| all.iter().map(|&(x, datum)| (x, value(x, usize::from(datum)))).collect();
    let set = |x: LocationId, bits: &BitSet| bits.iter().map(|datum| value(x, datum)).collect();
    ToldProcess {
        // Where no view lags there are no own messages to tell of.
        last_writes: facts
            .last_writes
            .as_ref()
            .filter(|_| machine.lags)
            .map(|states| states.iter().map(|all| all.iter().map(writes).collect()).collect()),
        pending: (0..facts.pending.len())
            .map(|x| {
                let x: LocationId = Idx::from_usize(x);
                facts.pending[x.index()].iter().map(|it| (set(x, &it.any), set(x, &it.newest))).collect()
            })
            .collect(),
        sole: facts.sole.iter().map(|(x, held)| (*x, held.iter().map(|bits| set(*x, bits)).collect())).collect(),
    }
}
