//! What a safe search leaves behind, in plain terms: for certificates.
//!
//! The basis of the search is closed under its rules, the facts prune it, and both are over the states of the
//! register-free form. Here they are told without the search's encoding, and [`Resting`] says in which state a local
//! state of the program comes to rest.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::automaton::{Atomic, Automaton, Letter, LocalState, Merging, RegisterFree, StateId};
use crate::engine::backward::load_buffer::constraint::{ABSENT, Message, STAR};
use crate::engine::backward::load_buffer::facts::ProcessFacts;
use crate::engine::backward::load_buffer::system::{LoadBuffers, Reducing, Stage};
use crate::engine::backward::{End, Search};
use crate::engine::{Monitor, StopReason, Task, Unsupported};
use crate::memory::Model;
use crate::program::{LocationId, ProcessId, Value};
use crate::system::{Control, Fault};
use crate::util::{Idx, IndexVec};

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
    /// F2; `None` where there is none.
    pub last_writes: Option<Vec<BTreeSet<LastWrites>>>,
    /// F3, by location: all values that can be pending, and those that can be the newest. Empty but under PSO.
    pub pending: Vec<Vec<(BTreeSet<Value>, BTreeSet<Value>)>>,
    /// F4.
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
    let stage = match task.model {
        Model::Sc | Model::Tso => Stage::None,
        Model::Pso => Stage::PerLocation(task.options.dialect.pso_rmw),
    };
    let automaton = Automaton::new(task, merging);
    let mut program = RegisterFree::new(task, &automaton)?;
    if task.model == Model::Sc {
        write_at_once(&mut program);
    }
    // A process that is left open may have any buffer, which the rules one by one do not account for.
    let reducing =
        Reducing { view_steps: true, lag_region: true, last_writes: true, single_writer: true, absent: false };
    let mut search = Search::new(LoadBuffers::new(task.program, &program, stage, reducing));
    Ok(match search.run(monitor) {
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

/// Under SC a store reaches memory at once.
fn write_at_once(program: &mut RegisterFree) {
    for process in program.processes.iter_mut() {
        for edge in &mut process.edges {
            if let Letter::Write(x, value) = edge.letter {
                edge.letter = Letter::Atomic(Atomic { guards: Vec::new(), writes: vec![(x, value)], waits_for: None });
            }
        }
    }
}

fn told(program: &RegisterFree, search: &Search<LoadBuffers<'_>>) -> Told {
    let system = search.system();
    let value = |x: LocationId, datum: u32| program.values[x][datum as usize];
    let cell = |x: LocationId, datum: u32| (datum != STAR).then(|| value(x, datum));
    let facts = system.facts().of.iter().map(|facts| told_process(facts, &value)).collect();
    let elements = search.basis().map(|constraint| {
        let processes = || program.processes.indices();
        let locations = || program.values.indices();
        debug_assert!(processes().all(|process| constraint[process.index()] != ABSENT), "no process is left open");
        let message = |it: Message| (it.is_own(), it.location(), cell(it.location(), it.value()));
        let store = |process: ProcessId, x: LocationId| match system.stage {
            Stage::None => Vec::new(),
            Stage::PerLocation(_) => {
                let letters = system.letters(constraint[system.store(process, x)]);
                letters.iter().map(|&letter| cell(x, letter)).collect()
            }
        };
        let stores = |process: ProcessId| {
            let all = locations().map(|x| (x, store(process, x)));
            all.filter(|(_, word)| !word.is_empty()).collect()
        };
        ToldElement {
            states: processes().map(|process| constraint[process.index()]).collect(),
            buffers: processes()
                .map(|process| system.word(constraint, process).into_iter().map(message).collect())
                .collect(),
            stores: processes().map(stores).collect(),
            memory: locations().map(|x| cell(x, constraint[system.memory(x)])).collect(),
        }
    });
    Told { elements: elements.collect(), values: program.values.clone(), processes: facts }
}

fn told_process(facts: &ProcessFacts, value: &impl Fn(LocationId, u32) -> Value) -> ToldProcess {
    let writes = |all: &Vec<(LocationId, u16)>| all.iter().map(|&(x, datum)| (x, value(x, u32::from(datum)))).collect();
    let set = |x: LocationId, bits: &crate::util::BitSet| bits.iter().map(|datum| value(x, datum as u32)).collect();
    ToldProcess {
        last_writes: facts
            .last_writes
            .as_ref()
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
