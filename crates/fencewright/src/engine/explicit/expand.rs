//! The successors of a state.
//!
//! Every state that is kept is expanded in full: all steps of all processes, all flushes. Before a successor is
//! handed on, steps that *may run ahead* are taken at once: a buffered store, a fence that passes, a load of what
//! nobody else writes, when it is all that its process can do and no property sees it. Such a step commutes with all
//! that other processes and buffers can ever do (a persistent set of one step), and as kept states are expanded in
//! full, no process waits for ever.

use std::rc::Rc;

use crate::analysis::Swap;
use crate::engine::automaton::{Automaton, LocalId, LocalState, Locals, Node, Offer, Targets};
use crate::engine::coherence::Label;
use crate::engine::explicit::buffers::{BufferId, BufferNode, BufferTable, Buffers, EMPTY, Leaving, Stored};
use crate::engine::explicit::layout::Layout;
use crate::engine::explicit::symmetry::Canonizer;
use crate::engine::run::Logged;
use crate::memory::{Buffering, Internal, PsoRmw};
use crate::program::{EdgeId, FenceKind, LocationId, Op, ProcessId, PropertyId, PropertyKind, StateVar, Value};
use crate::system::{Action, Block, Control, Local, Step, Violation, run_block};
use crate::util::Idx;

/// Takes the successors of a state.
pub trait Sink {
    /// A successor, and the steps that lead to it if they were asked for. `false` ends the expansion.
    fn take(&mut self, expander: &mut Expander<'_>, successor: &[u32]) -> bool;
}

/// What the expansion of states shares between threads.
#[derive(Debug)]
pub struct Shared<'a> {
    /// The local states.
    pub automaton: Automaton<'a>,
    /// The store buffers.
    pub buffers: BufferTable,
    /// Where things are in a state.
    pub layout: Layout,
    /// How stores wait.
    pub buffering: Buffering,
    /// How many stores a process may have pending; beyond that it waits.
    pub bound: Option<u32>,
    /// Whether steps may run ahead.
    pub runs_ahead: bool,
    /// Interchangeable processes.
    pub swaps: Vec<Swap>,
    /// Whether a buffer knows where its stores come from.
    pub has_labels: bool,
    /// Whether a state is left out if another covers it.
    pub has_covering: bool,
}

/// The most steps that run ahead before a state is kept.
const MAX_AHEAD: usize = 64;

/// Computes successors; one per thread.
#[derive(Debug)]
pub struct Expander<'a> {
    shared: &'a Shared<'a>,
    locals: Locals<'a>,
    buffers: Buffers<'a>,
    /// Whether a process had to wait because of the bound.
    pub has_hit_bound: bool,
    /// The steps to the current successor, if somebody wants them.
    log: Option<Vec<Logged>>,
    /// Where processes came to rest at the start, if somebody wants it.
    rests: Vec<LocalId>,
    canonizer: Option<Canonizer<'a>>,
    next: Vec<u32>,
}

impl<'a> Expander<'a> {
    /// Nothing is known yet.
    pub fn new(shared: &'a Shared<'a>) -> Self {
        Self {
            shared,
            locals: Locals::new(&shared.automaton, shared.layout.is_buffered()),
            buffers: Buffers::new(&shared.buffers),
            has_hit_bound: false,
            log: None,
            rests: Vec::new(),
            canonizer: (!shared.swaps.is_empty()).then(|| Canonizer::new(shared)),
            next: vec![0; shared.layout.n_words()],
        }
    }

    /// From now on remembers the steps that lead to each successor.
    pub fn with_log(mut self) -> Self {
        self.log = Some(Vec::new());
        self
    }

    /// The steps to the successor that is being handed on.
    pub fn log(&self) -> &[Logged] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Where processes came to rest at the start that was handed on last.
    pub fn rests(&self) -> &[LocalId] {
        &self.rests
    }

    /// Hands all successors of a state to the sink.
    pub fn expand(&mut self, state: &[u32], sink: &mut impl Sink) {
        for process in (0..self.shared.layout.n_processes()).map(ProcessId::from_usize) {
            let node = self.locals.node(LocalId::from_word(state[self.shared.layout.local(process)]));
            for offer in &node.offers {
                if !self.take_offer(state, process, &node, offer, sink) {
                    return;
                }
            }
            if self.shared.layout.is_buffered() && !self.flush_each(state, process, sink) {
                return;
            }
        }
    }

    fn flush_each(&mut self, state: &[u32], process: ProcessId, sink: &mut impl Sink) -> bool {
        let word = self.shared.layout.buffer(process);
        if state[word] == EMPTY {
            return true;
        }
        let buffer = self.buffers.node(state[word]);
        buffer.flushes.iter().all(|&Leaving { store, rest }| {
            self.next.copy_from_slice(state);
            let flush = store.map_or(Internal::Marker, |(x, _)| Internal::Arrives(x));
            self.note_first(Step { process, action: Action::Internal(flush) }, None);
            self.next[word] = rest;
            if let Some((x, value)) = store {
                self.shared.layout.set(&mut self.next, x, value);
            }
            self.hand_on(sink)
        })
    }

    fn take_offer(
        &mut self,
        state: &[u32],
        process: ProcessId,
        node: &Node,
        offer: &Offer,
        sink: &mut impl Sink,
    ) -> bool {
        if let Offer::Locked(edge, control) = offer {
            return self.take_locked(state, node, (*edge, *control), sink);
        }
        self.next.copy_from_slice(state);
        let Some((step, targets)) = self.apply(process, node, offer) else { return true };
        match targets.single() {
            Some(target) => {
                self.note_first(step, Some(target));
                self.next[self.shared.layout.local(process)] = target.to_word();
                self.hand_on(sink)
            }
            None => {
                let changed = self.next.clone();
                self.locals.list(targets).iter().all(|target| {
                    self.note_first(step, Some(*target));
                    self.next.copy_from_slice(&changed);
                    self.next[self.shared.layout.local(process)] = target.to_word();
                    self.hand_on(sink)
                })
            }
        }
    }

    /// Applies an operation to memory and buffers of `next`; tells where the process goes, or `None` if it has to wait.
    #[inline]
    fn apply(&mut self, process: ProcessId, node: &Node, offer: &Offer) -> Option<(Step, Targets)> {
        match offer {
            Offer::Silent(step, targets) => Some((*step, *targets)),
            Offer::Load(step, x, reacting) => {
                let value = self.view(process, *x);
                Some((*step, self.locals.react(node, reacting, value).targets))
            }
            Offer::Store(step, x, value, targets) => {
                let label = if self.shared.has_labels { Label::of(*step) } else { Label::NONE };
                self.apply_store(process, (*x, *value), label).then_some((*step, *targets))
            }
            Offer::Rmw(step, x, reacting) => {
                if !self.may_rmw(process, *x) {
                    return None;
                }
                let reaction = self.locals.react(node, reacting, self.shared.layout.get(&self.next, *x));
                if reaction.targets.is_blocked() {
                    return None;
                }
                if let Some(value) = reaction.write {
                    self.shared.layout.set(&mut self.next, *x, value);
                }
                Some((*step, reaction.targets))
            }
            Offer::Fence(step, kind, targets) => self.apply_fence(process, *kind).then_some((*step, *targets)),
            Offer::Locked(..) => None,
        }
    }

    fn buffer_of(&mut self, process: ProcessId) -> (BufferId, Rc<BufferNode>) {
        let id = self.next[self.shared.layout.buffer(process)];
        (id, self.buffers.node(id))
    }

    /// The value that a process sees of a location.
    #[inline]
    fn view(&mut self, process: ProcessId, x: LocationId) -> Value {
        if self.shared.layout.is_buffered() && self.next[self.shared.layout.buffer(process)] != EMPTY {
            let (_, buffer) = self.buffer_of(process);
            if let Some(value) = buffer.newest(x) {
                return value;
            }
        }
        self.shared.layout.get(&self.next, x)
    }

    fn apply_store(&mut self, process: ProcessId, (x, value): Stored, label: Label) -> bool {
        if !self.shared.layout.is_buffered() {
            self.shared.layout.set(&mut self.next, x, value);
            return true;
        }
        let (id, buffer) = self.buffer_of(process);
        if self.shared.bound.is_some_and(|bound| buffer.n_stores >= bound) {
            self.has_hit_bound = true;
            return false;
        }
        self.next[self.shared.layout.buffer(process)] = self.buffers.push(id, &buffer, (x, value), label);
        true
    }

    fn apply_fence(&mut self, process: ProcessId, kind: FenceKind) -> bool {
        let (id, buffer) = self.buffer_of(process);
        match kind {
            FenceKind::Full => id == EMPTY,
            FenceKind::StoreStore => {
                self.next[self.shared.layout.buffer(process)] = self.buffers.mark(id, &buffer);
                true
            }
        }
    }

    fn may_rmw(&mut self, process: ProcessId, x: LocationId) -> bool {
        match self.shared.buffering {
            Buffering::None => true,
            Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => {
                self.next[self.shared.layout.buffer(process)] == EMPTY
            }
            Buffering::PerLocation(PsoRmw::Location) => self.buffer_of(process).1.is_drained_of(x),
        }
    }

    fn take_locked(
        &mut self,
        state: &[u32],
        node: &Node,
        (edge, control): (EdgeId, Control),
        sink: &mut impl Sink,
    ) -> bool {
        let layout = &self.shared.layout;
        let process = node.process;
        if layout.is_buffered() && state[layout.buffer(process)] != EMPTY {
            return true;
        }
        let local = Local::new(self.shared.automaton.flow().program, edge);
        let Op::Locked(body) = &local.edge.op else { unreachable!("the offer is a locked block") };
        let start = Block { registers: node.registers.to_vec(), contents: layout.contents(state) };
        run_block(&local, body, start).into_iter().enumerate().all(|(choice, end)| {
            let choice = u32::try_from(choice).expect("fewer than 2^32 outcomes");
            let step = Step { process, action: Action::Edge { edge, choice } };
            let contents = end.as_ref().map_or(Vec::new(), |block| block.contents.clone());
            let landed = self.shared.automaton.landed(process, control, end.map(|block| block.registers));
            self.shared.automaton.settled(landed).into_iter().all(|target: LocalState| {
                let target = self.shared.automaton.intern(target);
                self.next.copy_from_slice(state);
                self.note_first(step, Some(target));
                for (i, &value) in contents.iter().enumerate() {
                    layout.set(&mut self.next, LocationId::from_usize(i), value);
                }
                self.next[layout.local(process)] = target.to_word();
                self.hand_on(sink)
            })
        })
    }

    #[inline]
    fn note_first(&mut self, step: Step, rest: Option<LocalId>) {
        if let Some(log) = &mut self.log {
            log.clear();
            log.push(Logged { step, rest, edge: None });
        }
    }

    #[inline]
    fn hand_on(&mut self, sink: &mut impl Sink) -> bool {
        if self.shared.runs_ahead {
            self.run_ahead();
        }
        let mut next = std::mem::take(&mut self.next);
        if let Some(canonizer) = &mut self.canonizer {
            canonizer.canonize(&mut next);
        }
        let goes_on = sink.take(self, &next);
        self.next = next;
        goes_on
    }

    /// Takes the steps of `next` that may run ahead.
    fn run_ahead(&mut self) {
        let mut n_steps = 0;
        let mut process = 0;
        let mut idle = 0;
        let n_processes = self.shared.layout.n_processes();
        while idle < n_processes && n_steps < MAX_AHEAD {
            if self.step_ahead(ProcessId::from_usize(process)) {
                n_steps += 1;
                idle = 0;
            } else {
                idle += 1;
                process = (process + 1) % n_processes;
            }
        }
    }

    fn step_ahead(&mut self, process: ProcessId) -> bool {
        let word = self.shared.layout.local(process);
        let id = LocalId::from_word(self.next[word]);
        if id.is_broken() {
            return false;
        }
        let node = self.locals.node(id);
        if !node.may_run_ahead {
            return false;
        }
        let at_bound = self.has_hit_bound;
        let applied = self.apply(process, &node, &node.offers[0]);
        // A store that waits here is looked at again when the state is expanded.
        self.has_hit_bound = at_bound;
        let Some((step, targets)) = applied else { return false };
        let Some(target) = targets.single() else { return false };
        if let Some(log) = &mut self.log {
            log.push(Logged { step, rest: Some(target), edge: None });
        }
        self.next[word] = target.to_word();
        true
    }

    /// The states that the program can start in, each with the choice of initial values it stands for.
    pub fn start(&mut self, start: &crate::system::Start, sink: &mut impl Sink) {
        let program = self.shared.automaton.flow().program;
        let mut states = vec![vec![0; self.shared.layout.n_words()]];
        for (x, &value) in start.memory.iter_enumerated() {
            self.shared.layout.set(&mut states[0], x, value);
        }
        for (process, registers) in start.registers.iter_enumerated() {
            let entry = Control::At(program.processes()[process].entry);
            let arrivals = self.shared.automaton.arrivals(process, entry, registers.clone());
            let with = |state: &Vec<u32>, id: LocalId| {
                let mut state = state.clone();
                state[self.shared.layout.local(process)] = id.to_word();
                state
            };
            states = states.iter().flat_map(|state| arrivals.iter().map(move |&id| with(state, id))).collect();
        }
        for state in states {
            if let Some(log) = &mut self.log {
                log.clear();
                let words = &state[..self.shared.layout.n_processes()];
                self.rests = words.iter().map(|&word| LocalId::from_word(word)).collect();
            }
            self.next.copy_from_slice(&state);
            if !self.hand_on(sink) {
                return;
            }
        }
    }

    /// What is wrong with a state, if something is.
    pub fn violation(&mut self, state: &[u32]) -> Option<Badness> {
        let layout = &self.shared.layout;
        let mut mask = u64::MAX;
        for &word in &state[..layout.n_processes()] {
            let id = LocalId::from_word(word);
            if id.is_broken() {
                return Some(match self.shared.automaton.state(id) {
                    LocalState::Broken(fault) => Badness::Violation(Violation::Fault(fault)),
                    LocalState::Overflown | LocalState::Here(..) => Badness::Overflow,
                });
            }
            mask &= self.locals.node(id).situations;
        }
        if mask == 0 {
            return None;
        }
        self.violated(state).map(|id| Badness::Violation(Violation::Property(id)))
    }

    #[cold]
    fn violated(&mut self, state: &[u32]) -> Option<PropertyId> {
        let layout = &self.shared.layout;
        let n = layout.n_processes();
        let is_drained = !layout.is_buffered() || state[n..2 * n].iter().all(|&id| id == EMPTY);
        let nodes: Vec<_> = state[..n].iter().map(|&word| self.locals.node(LocalId::from_word(word))).collect();
        let program = self.shared.automaton.flow().program;
        let value_of = |variable: &StateVar| match variable {
            StateVar::Register(process, register) => nodes[process.index()].registers[register.index()],
            StateVar::Memory(x) => layout.get(state, *x),
        };
        let mut properties = program.properties().iter_enumerated();
        properties.find_map(|(id, property)| {
            let is_time = match property.kind {
                PropertyKind::Control => true,
                PropertyKind::Final => is_drained,
            };
            let is_bad = property.situations.iter().any(|situation| {
                let is_there = situation
                    .at
                    .iter()
                    .all(|(process, points)| nodes[process.index()].point.is_some_and(|point| points.contains(&point)));
                is_there && situation.condition.eval(&value_of).is_ok_and(|value| value != 0)
            });
            (is_time && is_bad).then_some(id)
        })
    }
}

/// What is wrong with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Badness {
    /// The program goes wrong.
    Violation(Violation),
    /// The tool cannot hold a value.
    Overflow,
}
