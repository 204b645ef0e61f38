//! Store buffers before memory, as words of a packed state.
//!
//! ```text
//!   │ buffer of P₀ │ … │ memory, packed by the bit │
//!   └─ one word each ──┴────── a few words ────────┘
//! ```
//!
//! Buffers are interned, so a word names all that waits for a process; where stores do not wait (SC) there are none.
//! What is kept of a buffer, and what it can do, is a matter of its [`Rules`]: those of the semantics ([`Discipline`]),
//! or of an engine that keeps less.
//!
//! | file | idea |
//! |---|---|
//! | [`rules`], [`label`] | what a store buffer may do, whatever is kept of it |
//! | [`exact`] | the rules of the semantics |
//! | [`table`] | interned buffers |
//! | [`cells`] | memory by the bit |
//! | [`mirror`] | buffers and memory when processes change places |
//! | [`covers`] | buffers that stand for others |

mod cells;
mod covers;
mod exact;
mod label;
mod mirror;
mod rules;
mod table;

use std::rc::Rc;
use std::sync::Arc;

use crate::analysis::Swap;
use crate::engine::automaton::{Reaction, Targets};
use crate::engine::packed::component::{Asked, Component};
use crate::engine::packed::covering::Covers;
use crate::engine::packed::symmetry::Mirror;
use crate::memory::{Buffering, Internal, PsoRmw};
use crate::program::{FenceKind, LocationId, ProcessId, Program, Value};
use crate::util::Idx;

use cells::Cells;
use covers::BufferCovers;
use mirror::BufferMirror;
use table::{BufferNode, BufferTable, EMPTY, Nodes};

pub(crate) use crate::engine::packed::component::Stored;
pub(crate) use exact::Discipline;
pub(crate) use label::Label;
pub(crate) use rules::{Leaving, Rules};
pub(crate) use table::BufferId;

/// Store buffers before memory.
#[derive(Debug)]
pub(crate) struct Buffered<R: Rules> {
    buffering: Buffering,
    /// Whether there are buffers at all: asked at each access.
    has_buffers: bool,
    /// How many stores a process may have pending; beyond that it waits.
    bound: Option<u32>,
    buffers: BufferTable<R>,
    memory: Cells,
}

/// What one thread knows of buffers.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    nodes: Nodes,
    has_hit_bound: bool,
}

impl<R: Rules> Buffered<R> {
    /// Memory of a program whose stores wait like this; these are the rules.
    pub(crate) fn new(program: &Program, buffering: Buffering, rules: R) -> Self {
        let has_buffers = buffering != Buffering::None;
        let n_buffers = if has_buffers { program.processes().len() } else { 0 };
        let memory = Cells::new(program, n_buffers);
        Self { buffering, has_buffers, bound: None, buffers: BufferTable::new(rules), memory }
    }

    /// The same with a bound on the stores that a process may have pending.
    pub(crate) fn with_bound(self, bound: Option<u32>) -> Self {
        Self { bound, ..self }
    }

    /// How stores wait.
    pub(crate) fn buffering(&self) -> Buffering {
        self.buffering
    }

    /// The rules of the buffers.
    pub(crate) fn rules(&self) -> &R {
        self.buffers.rules()
    }

    /// The buffer of a process, where there are some.
    pub(crate) fn buffer(&self, words: &[u32], process: ProcessId) -> Option<BufferId> {
        self.has_buffers.then(|| words[process.index()])
    }

    /// What waits in a buffer.
    pub(crate) fn waiting(&self, id: BufferId) -> Arc<R::Waiting> {
        self.buffers.waiting(id)
    }

    #[inline]
    fn node(&self, hand: &mut Hand, words: &[u32], process: ProcessId) -> Rc<BufferNode> {
        self.buffers.node(&mut hand.nodes, words[process.index()])
    }

    /// Whether nothing waits for a process.
    #[inline]
    fn is_drained(&self, words: &[u32], process: ProcessId) -> bool {
        !self.has_buffers || words[process.index()] == EMPTY
    }

    fn may_update(&self, hand: &mut Hand, words: &[u32], process: ProcessId, x: LocationId) -> bool {
        self.is_drained(words, process)
            || match self.buffering {
                Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => false,
                Buffering::PerLocation(PsoRmw::Location) => self.node(hand, words, process).is_drained_of(x),
            }
    }
}

impl<R: Rules> Component for Buffered<R> {
    const BRANCHES: bool = false;
    const RUNS_AHEAD: bool = true;
    const POLL_EVERY: usize = 4_096;
    type Hand = Hand;

    fn n_words(&self) -> usize {
        self.memory.words().end
    }

    fn start(&self, contents: &[Value], words: &mut [u32]) {
        words.fill(EMPTY);
        self.memory.set_all(words, contents);
    }

    /// The newest store of the process, or memory.
    #[inline]
    fn load(&self, hand: &mut Hand, words: &mut [u32], asked: Asked, x: LocationId) -> Option<Value> {
        let process = asked.step.process;
        if !self.is_drained(words, process)
            && let Some(newest) = self.node(hand, words, process).newest(x)
        {
            return Some(newest);
        }
        Some(self.memory.get(words, x))
    }

    #[inline]
    fn store(&self, hand: &mut Hand, words: &mut [u32], asked: Asked, (x, value): Stored) -> bool {
        if !self.has_buffers {
            self.memory.set(words, x, value);
            return true;
        }
        let process = asked.step.process;
        let node = self.node(hand, words, process);
        if self.bound.is_some_and(|bound| node.n_stores >= bound) {
            hand.has_hit_bound = true;
            return false;
        }
        let label = self.rules().label(asked.step);
        words[process.index()] = self.buffers.push(words[process.index()], &node, (x, value), label);
        true
    }

    #[inline]
    fn update(
        &self,
        hand: &mut Hand,
        words: &mut [u32],
        asked: Asked,
        x: LocationId,
        mut react: impl FnMut(Value) -> Reaction,
    ) -> Option<Targets> {
        if !self.may_update(hand, words, asked.step.process, x) {
            return None;
        }
        let reaction = react(self.memory.get(words, x));
        if reaction.targets.is_blocked() {
            return None;
        }
        if let Some(value) = reaction.write {
            self.memory.set(words, x, value);
        }
        Some(reaction.targets)
    }

    fn fence(&self, hand: &mut Hand, words: &mut [u32], asked: Asked, kind: FenceKind) -> bool {
        let process = asked.step.process;
        match kind {
            FenceKind::Full => self.is_drained(words, process),
            FenceKind::StoreStore => {
                let node = self.node(hand, words, process);
                words[process.index()] = self.buffers.mark(words[process.index()], &node);
                true
            }
        }
    }

    #[inline]
    fn n_internal(&self, hand: &mut Hand, words: &[u32], process: ProcessId) -> usize {
        if self.is_drained(words, process) { 0 } else { self.node(hand, words, process).flushes.len() }
    }

    #[inline]
    fn internal(&self, hand: &mut Hand, words: &mut [u32], process: ProcessId, i: usize) -> Internal {
        let leaving = self.node(hand, words, process).flushes[i];
        words[process.index()] = leaving.rest;
        match leaving.store {
            Some((x, value)) => {
                self.memory.set(words, x, value);
                Internal::Arrives(x)
            }
            None => Internal::Marker,
        }
    }

    fn lock(&self, words: &[u32], process: ProcessId) -> Option<Vec<Value>> {
        self.is_drained(words, process).then(|| self.memory.contents(words))
    }

    fn unlock(&self, words: &mut [u32], _process: ProcessId, contents: Vec<Value>) {
        self.memory.set_all(words, &contents);
    }

    fn is_settled(&self, words: &[u32]) -> bool {
        words[..self.memory.words().start].iter().all(|&buffer| buffer == EMPTY)
    }

    fn value(&self, words: &[u32], x: LocationId) -> Value {
        self.memory.get(words, x)
    }

    fn n_interned(&self) -> usize {
        self.buffers.len()
    }

    fn bytes(&self) -> u64 {
        self.buffers.bytes()
    }

    #[inline]
    fn acts(&self) -> bool {
        self.has_buffers
    }

    fn stores_wait(&self) -> bool {
        self.has_buffers
    }

    fn has_hit_bound(hand: &Hand) -> bool {
        hand.has_hit_bound
    }

    fn mirror<'a>(&'a self, swaps: &'a [Swap]) -> Option<Box<dyn Mirror + 'a>> {
        Some(Box::new(BufferMirror::new(&self.buffers, &self.memory, swaps)))
    }

    fn covering(&self) -> Option<Box<dyn Covers + '_>> {
        let n_buffers = self.memory.words().start;
        self.rules().has_covering().then(|| Box::new(BufferCovers::new(&self.buffers, n_buffers)) as Box<dyn Covers>)
    }
}
