//! The register-free form of a process, built lazily.
//!
//! A *local state* is a control point with a register valuation. Seen from outside, a process in a local state offers
//! operations on memory whose place and value are constants, and a load or atomic update leads to another local state
//! for each value it may find:
//!
//! ```text
//!    (p3, r=0) ── store flag[0], 1 ──▶ (p4, r=0) ── load turn ──┬─ 0 ─▶ (p6, r=0)
//!                                                               └─ 1 ─▶ (p5, r=1)
//! ```
//!
//! Local states are interned once for all threads ([`Automaton`]); what they offer is computed once per thread and
//! kept ([`Locals`]), so that the inner loop of a search evaluates no expression.
//!
//! Two reductions live here, both exact. *Dead registers* are reset, so that states that differ in nothing that can
//! matter are one. *Local steps* (registers only, not observed by a property) run at once after the step that enabled
//! them: they commute with everything other processes do.
//!
//! | file | idea |
//! |---|---|
//! | [`bisimulation`] | bisimilar states of a process, merged |
//! | [`locals`] | what local states offer, computed once per thread and kept |
//! | [`register_free`] | the register-free form of a whole program |

mod bisimulation;
mod locals;
mod partition;
mod register_free;

use std::hash::BuildHasherDefault;
use std::sync::{Arc, RwLock};

use rustc_hash::FxHasher;

use crate::analysis::{Facts, Observed};
use crate::engine::Task;
use crate::memory::Buffering;
use crate::program::{Op, ProcessId, Value};
use crate::system::{Action, Control, Fault, Flow, Local, Move, Step, Stop};
use crate::watch::note_work;

pub use locals::{Locals, Node, Offer, Reaction, Targets};
pub use register_free::{
    Atomic, Datum, Letter, LetterEdge, ProcessAutomaton, RegisterFree, StateId, StateInfo, Unmade,
};

pub(in crate::engine) type FastMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<FxHasher>>;

/// A local state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LocalState {
    /// The process is here, with these registers.
    Here(ProcessId, Control, Box<[Value]>),
    /// The process went wrong.
    Broken(Fault),
    /// A value of the process needs more than 64 bits.
    Overflown,
}

/// An interned local state. Broken ones carry a mark, so that the search sees them without looking them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(u32);

impl LocalId {
    const BROKEN: u32 = 1 << 31;

    /// The number that stands for it in a state.
    pub const fn to_word(self) -> u32 {
        self.0
    }

    /// The local state that a number stands for.
    pub const fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// Whether the process went wrong.
    pub const fn is_broken(self) -> bool {
        self.0 & Self::BROKEN != 0
    }

    const fn index(self) -> usize {
        (self.0 & !Self::BROKEN) as usize
    }
}

/// What can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merging {
    /// Reset registers that are never read again.
    pub dead_registers: bool,
    /// Run local steps at once.
    pub local_steps: LocalSteps,
    /// Merge bisimilar states of the register-free form.
    pub bisimilar: bool,
}

/// Which local steps are run at once, together with what comes before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalSteps {
    /// None: each is a step of the search.
    None,
    /// Those that lead to one local state, so that every local state comes to rest in one.
    Straight,
    /// All.
    All,
}

impl LocalSteps {
    /// All, or none if that is switched off.
    pub const fn if_on(is_on: bool) -> Self {
        if is_on { Self::All } else { Self::None }
    }

    /// Whether steps that lead to so many local states are run.
    const fn runs(self, n_targets: usize) -> bool {
        match self {
            Self::None => false,
            Self::Straight => n_targets == 1,
            Self::All => true,
        }
    }
}

/// The local states of all processes.
#[derive(Debug)]
pub struct Automaton<'a> {
    flow: Flow<'a>,
    /// How stores wait; `None` where a memory is more than its buffers.
    buffering: Option<Buffering>,
    /// Whether fences are those of a language.
    speaks: bool,
    merging: Merging,
    facts: Arc<Facts>,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    states: Vec<LocalState>,
    ids: FastMap<LocalState, LocalId>,
}

/// More local steps than this in a row are cut into several steps of the search, so that a process that counts for ever
/// on its own does not hold up the others.
const MAX_MERGED: usize = 1_000;

/// What a local state takes that was not known, for [`note_work`].
const WORK_OF_STATE: u32 = 40;

impl<'a> Automaton<'a> {
    /// What is merged.
    pub fn merging(&self) -> Merging {
        self.merging
    }

    /// The automata of a task's processes.
    pub fn new(task: &Task<'a>, merging: Merging) -> Self {
        let flow = Flow { program: task.program, placement: task.placement };
        Self {
            flow,
            buffering: task.model.buffering(task.options.dialect),
            speaks: task.model.language().is_some(),
            merging,
            facts: Facts::of(task.program),
            known: RwLock::default(),
        }
    }

    /// The control flow.
    pub fn flow(&self) -> Flow<'a> {
        self.flow
    }

    /// What properties see.
    pub fn observed(&self) -> &Observed {
        &self.facts.observed
    }

    /// What an id stands for.
    pub fn state(&self, id: LocalId) -> LocalState {
        self.known.read().expect("no thread panics while it interns").states[id.index()].clone()
    }

    /// Where a process can be right after it got to `control` with these registers.
    pub fn arrivals(&self, process: ProcessId, control: Control, registers: Vec<Value>) -> Vec<LocalId> {
        let start = self.normal(process, control, registers);
        self.settled(start).into_iter().map(|state| self.intern(state)).collect()
    }

    /// The id of a local state.
    pub fn intern(&self, state: LocalState) -> LocalId {
        if let Some(&id) = self.known.read().expect("no thread panics while it interns").ids.get(&state) {
            return id;
        }
        note_work(WORK_OF_STATE);
        let mut known = self.known.write().expect("no thread panics while it interns");
        if let Some(&id) = known.ids.get(&state) {
            return id;
        }
        let mark = match state {
            LocalState::Here(..) => 0,
            LocalState::Broken(_) | LocalState::Overflown => LocalId::BROKEN,
        };
        let index = u32::try_from(known.states.len()).ok().filter(|index| index & LocalId::BROKEN == 0);
        let id = LocalId(index.expect("fewer than 2^31 local states") | mark);
        known.states.push(state.clone());
        known.ids.insert(state, id);
        id
    }

    /// The bytes of the tables, roughly.
    pub fn bytes(&self) -> u64 {
        let known = self.known.read().expect("no thread panics while it interns");
        let n_registers = self.flow.program.processes().iter().map(|it| it.registers.len()).max().unwrap_or(0);
        (known.states.len() * (2 * size_of::<LocalState>() + 16 * n_registers + 16)) as u64
    }

    /// The local state with its dead registers reset.
    pub fn normal(&self, process: ProcessId, control: Control, mut registers: Vec<Value>) -> LocalState {
        if self.merging.dead_registers {
            self.facts.live.reset_dead(process, control, &mut registers);
        }
        LocalState::Here(process, control, registers.into())
    }

    /// Whether a move needs neither memory nor buffers, under this model.
    pub fn is_silent(&self, next: Move) -> bool {
        let is_free_fence = |kind| self.buffering.is_some_and(|it| it.ignores(kind));
        match next {
            Move::Fence(_, kind) => is_free_fence(kind),
            Move::Edge(edge) => {
                let it = &self.flow.program.edges()[edge];
                match (&it.op, self.speaks) {
                    (Op::Fence(_) | Op::Assume(_), true) => it.fence_order().is_none(),
                    (Op::Fence(kind), false) => is_free_fence(*kind),
                    (op, _) => op.is_local(),
                }
            }
        }
    }

    /// The outcomes of a silent move, in the order of the semantics.
    pub fn take_silent(&self, next: Move, control: Control, registers: &[Value]) -> Vec<LocalState> {
        let (edge, is_fence) = match next {
            Move::Edge(edge) => (edge, !self.flow.program.edges()[edge].op.is_local()),
            Move::Fence(position, _) => (position.edge, true),
        };
        let local = Local::new(self.flow.program, edge);
        let process = local.edge.process;
        if is_fence {
            return vec![self.normal(process, control, registers.to_vec())];
        }
        local.run(registers).into_iter().map(|outcome| self.landed(process, control, outcome)).collect()
    }

    /// The local state after an operation, which may have gone wrong.
    pub fn landed(&self, process: ProcessId, control: Control, outcome: Result<Vec<Value>, Stop>) -> LocalState {
        match outcome {
            Ok(registers) => self.normal(process, control, registers),
            Err(Stop::Fault(fault)) => LocalState::Broken(fault),
            Err(Stop::Overflow) => LocalState::Overflown,
        }
    }

    /// Runs the local steps of a process: where it can be when it needs memory, is seen by a property, or is stuck.
    ///
    /// A branch that goes round in local steps for ever is dropped if another one gets somewhere: nobody can tell it
    /// from a process that is not scheduled.
    pub fn settled(&self, start: LocalState) -> Vec<LocalState> {
        if self.merging.local_steps == LocalSteps::None {
            return vec![start];
        }
        let walk = self.walk(start.clone());
        let rests: Vec<_> = walk.into_iter().filter(|visit| visit.is_rest).map(|visit| visit.state).collect();
        if rests.is_empty() { vec![start] } else { rests }
    }

    /// The local steps by which [`settled`](Self::settled) gets from one local state to another.
    pub fn path(&self, from: LocalState, to: &LocalState) -> Option<Vec<Step>> {
        if from == *to {
            return Some(Vec::new());
        }
        let walk = self.walk(from);
        let mut at = walk.iter().position(|visit| visit.state == *to)?;
        let mut steps = Vec::new();
        while let Some((parent, step)) = walk[at].from {
            steps.push(step);
            at = parent;
        }
        steps.reverse();
        Some(steps)
    }

    /// The local states that local steps lead to, breadth first.
    fn walk(&self, start: LocalState) -> Vec<Visit> {
        let mut seen = vec![Visit { state: start, from: None, is_rest: false }];
        let mut at = 0;
        while at < seen.len() {
            match self.pass(&seen[at].state) {
                Some(nexts) if seen.len() < MAX_MERGED && self.merging.local_steps.runs(nexts.len()) => {
                    for (step, state) in nexts {
                        if seen.iter().all(|visit| visit.state != state) {
                            seen.push(Visit { state, from: Some((at, step)), is_rest: false });
                        }
                    }
                }
                Some(_) | None => seen[at].is_rest = true,
            }
            at += 1;
        }
        seen
    }

    /// Where the local steps of a state lead, if it may take them at once.
    fn pass(&self, state: &LocalState) -> Option<Vec<(Step, LocalState)>> {
        let LocalState::Here(process, control, registers) = state else { return None };
        let moves = self.flow.moves(*control);
        let may_pass = |&(next, _): &(Move, Control)| {
            self.is_silent(next) && !self.facts.observed.sees(&self.flow, *process, next)
        };
        if self.facts.observed.sees_control(*control) || !moves.iter().all(may_pass) {
            return None;
        }
        let mut nexts = Vec::new();
        for (next, target) in moves {
            let outcomes = self.take_silent(next, target, registers).into_iter().enumerate();
            nexts.extend(outcomes.map(|(choice, state)| (step_of(*process, next, choice), state)));
        }
        (!nexts.is_empty()).then_some(nexts)
    }
}

/// A local state on the way through local steps.
struct Visit {
    state: LocalState,
    /// The visit it was found from, and the step.
    from: Option<(usize, Step)>,
    /// Whether the process stays here.
    is_rest: bool,
}

fn step_of(process: ProcessId, next: Move, choice: usize) -> Step {
    let action = match next {
        Move::Edge(edge) => Action::Edge { edge, choice: u32::try_from(choice).expect("fewer than 2^32 outcomes") },
        Move::Fence(position, _) => Action::Fence(position),
    };
    Step { process, action }
}
