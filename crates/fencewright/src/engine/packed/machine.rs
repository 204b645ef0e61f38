//! The states of a machine, interned: the component for a memory of which nothing else is known.
//!
//! One word names all that memory is. Nothing is left out, so a search over it is exact for whatever the model is; and
//! nothing is known about the model, so no step runs ahead and no processes are interchangeable. A machine may have
//! infinitely many states, and ever larger ones (messages are never forgotten): then the search ends at its budget.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::vec::IntoIter;

use crate::engine::automaton::{Reaction, Targets};
use crate::engine::packed::component::{Asked, Component, Stored};
use crate::engine::packed::interner::Interner;
use crate::memory::{Access, Done, Internal, Machine};
use crate::program::{FenceKind, LocationId, Order, ProcessId, Program, PropertyKind, Value};
use crate::system::{Action, Step};

/// The states of a machine that a search has met.
pub(crate) struct MachineStates<'a, M: Machine> {
    machine: &'a M,
    program: &'a Program,
    states: Interner<M::State>,
}

impl<'a, M: Machine> MachineStates<'a, M> {
    /// None is known yet.
    pub(crate) fn new(machine: &'a M, program: &'a Program) -> Self {
        Self { machine, program, states: Interner::new() }
    }

    fn state(&self, words: &[u32]) -> Arc<M::State> {
        self.states.get(words[0])
    }

    /// The ways of an access.
    fn ways(&self, words: &[u32], step: Step, access: Access<'_>) -> IntoIter<Done<M::State>> {
        self.machine.access(&self.state(words), step.process, access).into_iter()
    }

    /// The next way, as the state of the words.
    fn take(&self, hand: &mut Ways<M::State>, words: &mut [u32]) -> Option<Option<Value>> {
        let done = hand.accesses.next()?;
        words[0] = self.states.intern(done.state, 1);
        Some(done.read)
    }

    /// The order that the program asks for of an access.
    fn order_at(&self, step: Step, x: LocationId) -> Order {
        match step.action {
            Action::Edge { edge, .. } => self.program.order_at(edge, x),
            Action::Fence(_) | Action::Internal(_) => Order::default(),
        }
    }

    /// The order of a fence; one of a placement is as strong as one without an order.
    fn order(&self, step: Step) -> Order {
        match step.action {
            Action::Edge { edge, .. } => self.program.edges()[edge].order,
            Action::Fence(_) | Action::Internal(_) => Order::default(),
        }
    }
}

impl<M: Machine> fmt::Debug for MachineStates<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineStates").field("states", &self.states).finish_non_exhaustive()
    }
}

/// The ways that were not asked for yet: of the last access, and of memory itself.
#[derive(Debug)]
pub(crate) struct Ways<S> {
    accesses: IntoIter<Done<S>>,
    internal: IntoIter<(Internal, S)>,
}

impl<S> Default for Ways<S> {
    fn default() -> Self {
        Self { accesses: Vec::new().into_iter(), internal: Vec::new().into_iter() }
    }
}

impl<M: Machine> Component for MachineStates<'_, M> {
    const BRANCHES: bool = true;
    const RUNS_AHEAD: bool = false;
    const POLL_EVERY: usize = 256;
    type Hand = Ways<M::State>;

    fn n_words(&self) -> usize {
        1
    }

    fn start(&self, contents: &[Value], words: &mut [u32]) {
        words[0] = self.states.intern(self.machine.begin(self.program, contents.to_vec()), 1);
    }

    fn load(&self, hand: &mut Self::Hand, words: &mut [u32], asked: Asked, x: LocationId) -> Option<Value> {
        if asked.way == 0 {
            hand.accesses = self.ways(words, asked.step, Access::Load(x, self.order_at(asked.step, x)));
        }
        self.take(hand, words).map(|read| read.expect("a load reads"))
    }

    fn store(&self, hand: &mut Self::Hand, words: &mut [u32], asked: Asked, (x, value): Stored) -> bool {
        if asked.way == 0 {
            hand.accesses = self.ways(words, asked.step, Access::Store(x, value, self.order_at(asked.step, x)));
        }
        self.take(hand, words).is_some()
    }

    fn update(
        &self,
        hand: &mut Self::Hand,
        words: &mut [u32],
        asked: Asked,
        x: LocationId,
        mut react: impl FnMut(Value) -> Reaction,
    ) -> Option<Targets> {
        if asked.way == 0 {
            let react = RefCell::new(&mut react);
            let update = |old: Value| {
                let reaction = react.borrow_mut()(old);
                (!reaction.targets.is_blocked()).then_some(reaction.write)
            };
            hand.accesses = self.ways(words, asked.step, Access::Update(x, &update, self.order_at(asked.step, x)));
        }
        // Ways that the program does not take have no number.
        while let Some(read) = self.take(hand, words) {
            let targets = react(read.expect("an update reads")).targets;
            if !targets.is_blocked() {
                return Some(targets);
            }
        }
        None
    }

    fn fence(&self, hand: &mut Self::Hand, words: &mut [u32], asked: Asked, kind: FenceKind) -> bool {
        if asked.way == 0 {
            hand.accesses = self.ways(words, asked.step, Access::Fence(kind, self.order(asked.step)));
        }
        self.take(hand, words).is_some()
    }

    fn n_internal(&self, hand: &mut Self::Hand, words: &[u32], process: ProcessId) -> usize {
        hand.internal = self.machine.internal(&self.state(words), process).into_iter();
        hand.internal.len()
    }

    fn internal(&self, hand: &mut Self::Hand, words: &mut [u32], _process: ProcessId, _i: usize) -> Internal {
        let (what, state) = hand.internal.next().expect("as many as were counted");
        words[0] = self.states.intern(state, 1);
        what
    }

    fn lock(&self, words: &[u32], process: ProcessId) -> Option<Vec<Value>> {
        self.machine.lock(&self.state(words), process)
    }

    fn unlock(&self, words: &mut [u32], process: ProcessId, contents: Vec<Value>) {
        words[0] = self.states.intern(self.machine.unlock(&self.state(words), process, contents), 1);
    }

    fn is_settled(&self, words: &[u32]) -> bool {
        self.machine.is_settled(&self.state(words))
    }

    fn value(&self, words: &[u32], x: LocationId) -> Value {
        self.machine.value(&self.state(words), x)
    }

    fn tells(&self, words: &[u32], kind: PropertyKind) -> Option<bool> {
        self.machine.tells(&self.state(words), kind)
    }

    fn n_interned(&self) -> usize {
        self.states.len()
    }

    /// Nobody knows what a state is made of, but all of it is written out for debugging, at about a byte for a byte.
    fn bytes(&self) -> u64 {
        let n_states = self.states.len();
        let Some(newest) = n_states.checked_sub(1) else { return 0 };
        let written = format!("{:?}", self.states.get(u32::try_from(newest).expect("it is named by a word")));
        n_states as u64 * (written.len() as u64 + 64)
    }
}
