//! What a safe search leaves behind, in plain terms: for certificates.
//!
//! The basis of a search is closed under its rules, the facts prune it, and both are over the states of the
//! register-free form. Here they are told without the search's encoding.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::StopReason;
use crate::engine::automaton::{Datum, StateId};
use crate::engine::backward::Resting;
use crate::engine::backward::facts::{ProcessFacts, Stage};
use crate::engine::backward::lag::constraint::Message;
use crate::engine::backward::lag::system::{LoadBuffers, Machine};
use crate::engine::backward::lag::values::Values;
use crate::program::{LocationId, ProcessId, Value};
use crate::util::{BitSet, Idx, IndexVec};

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
    /// Who each of them is, where it is a multiset: the listed process that stands for its kind.
    pub kinds: Vec<ProcessId>,
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

/// The values and the facts of a search; the elements are still to come.
pub(in crate::engine::backward) fn told_facts(system: &LoadBuffers<'_>) -> Told {
    let value = |x: LocationId, datum: usize| system.program.values[x][datum];
    let facts = system.facts().of.iter().map(|facts| told_process(facts, system.machine, &value)).collect();
    Told { elements: Vec::new(), values: system.program.values.clone(), processes: facts }
}

impl LoadBuffers<'_> {
    /// The only value that is left of a location; nothing if any is.
    pub(in crate::engine::backward) fn told_cell(&self, x: LocationId, values: Values) -> Cell {
        let known = &self.program.values[x];
        let only = (0..known.len()).find(|&datum| self.encoding.contains(x, values, datum as Datum));
        only.filter(|_| values != Values::ANY).map(|datum| known[datum])
    }

    /// Whether a message is an own one, its location, its value.
    pub(in crate::engine::backward) fn told_message(&self, it: Message) -> (bool, LocationId, Cell) {
        let x = it.location();
        // A sample has a value; where it can be any, the location has but one.
        let sampled = || (!it.is_own()).then(|| self.program.values[x][0]);
        (it.is_own(), x, self.told_cell(x, it.values()).or_else(sampled))
    }

    /// The store buffers that are not empty, of words for each location.
    pub(in crate::engine::backward) fn told_stores(
        &self,
        word: impl Fn(LocationId) -> u32,
    ) -> BTreeMap<LocationId, Vec<Cell>> {
        if self.machine.stage == Stage::None {
            return BTreeMap::new();
        }
        let all = self.program.values.indices().map(|x| {
            let letters = self.letters(word(x));
            (x, letters.iter().map(|&letter| self.told_cell(x, Values::from_bits(letter))).collect())
        });
        all.filter(|(_, word): &(_, Vec<Cell>)| !word.is_empty()).collect()
    }
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
