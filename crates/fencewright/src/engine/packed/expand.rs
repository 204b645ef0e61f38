//! The successors of a state.
//!
//! Every state that is kept is expanded in full: all steps of all processes, in all ways, and all that memory does by
//! itself. Before a successor is handed on, steps that *may run ahead* are taken at once: a buffered store, a fence
//! that passes, a load of what nobody else writes, when it is all that its process can do and no property sees it. Such
//! a step commutes with all that other processes and buffers can ever do (a persistent set of one step), and as kept
//! states are expanded in full, no process waits for ever.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::analysis::Swap;
use crate::engine::automaton::{Automaton, LocalId, LocalState, Locals, Node, Offer, Targets};
use crate::engine::packed::component::{Asked, Component};
use crate::engine::packed::symmetry::Canonizer;
use crate::engine::run::Logged;
use crate::program::{EdgeId, Op, ProcessId, PropertyId, StateVar, Value};
use crate::system::{Action, Block, Control, Local, Start, Step, Stop, Violation, run_block};
use crate::util::Idx;

/// Takes the successors of a state.
pub(crate) trait Sink<C: Component> {
    /// A successor, and the steps that lead to it if they were asked for. `false` ends the expansion.
    fn take(&mut self, expander: &mut Expander<'_, C>, successor: &[u32]) -> bool;
}

/// What the expansion of states shares between threads.
#[derive(Debug)]
pub(crate) struct Shared<'a, C> {
    /// The local states.
    pub automaton: Automaton<'a>,
    /// Memory.
    pub component: C,
    /// Whether steps may run ahead, if that is sound for the component.
    pub runs_ahead: bool,
    /// Interchangeable processes, for a component that knows what they share.
    pub swaps: Vec<Swap>,
}

impl<C: Component> Shared<'_, C> {
    /// How many processes there are; each has a word of a state.
    #[inline]
    pub(crate) fn n_processes(&self) -> usize {
        self.automaton.flow().program.processes().len()
    }

    /// How many words a state has.
    pub(crate) fn n_words(&self) -> usize {
        self.n_processes() + self.component.n_words()
    }

    /// The bytes of the tables, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        self.automaton.bytes() + self.component.bytes()
    }
}

/// The most steps that run ahead before a state is kept.
const MAX_AHEAD: usize = 64;

/// Computes successors; one per thread.
#[derive(Debug)]
pub(crate) struct Expander<'a, C: Component> {
    shared: &'a Shared<'a, C>,
    n_processes: usize,
    locals: Locals<'a>,
    hand: C::Hand,
    /// The steps to the current successor, if somebody wants them.
    log: Option<Vec<Logged>>,
    /// Where processes came to rest at the start, if somebody wants it.
    rests: Vec<LocalId>,
    canonizer: Option<Canonizer<'a>>,
    /// Where blocks have led from local states, by what they left in the registers.
    landings: FxHashMap<(LocalId, EdgeId), Vec<Landing>>,
    next: Vec<u32>,
}

/// What a block left in the registers, and where its process came to rest.
type Landing = (Vec<Value>, Rc<[LocalId]>);

/// So many ways of a block are remembered for a local state.
const MAX_LANDINGS: usize = 64;

impl<'a, C: Component> Expander<'a, C> {
    /// Nothing is known yet.
    pub(crate) fn new(shared: &'a Shared<'a, C>) -> Self {
        Self {
            shared,
            n_processes: shared.n_processes(),
            locals: Locals::new(&shared.automaton, shared.component.stores_wait()),
            hand: C::Hand::default(),
            log: None,
            rests: Vec::new(),
            canonizer: Canonizer::new(shared),
            landings: FxHashMap::default(),
            next: vec![0; shared.n_words()],
        }
    }

    /// From now on remembers the steps that lead to each successor.
    pub(crate) fn with_log(mut self) -> Self {
        self.log = Some(Vec::new());
        self
    }

    /// The steps to the successor that is being handed on.
    pub(crate) fn log(&self) -> &[Logged] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Where processes came to rest at the start that was handed on last.
    pub(crate) fn rests(&self) -> &[LocalId] {
        &self.rests
    }

    /// Whether a process had to wait because its buffer is bounded.
    pub(crate) fn has_hit_bound(&self) -> bool {
        C::has_hit_bound(&self.hand)
    }

    /// Hands all successors of a state to the sink.
    pub(crate) fn expand(&mut self, state: &[u32], sink: &mut impl Sink<C>) {
        for process in (0..self.n_processes).map(ProcessId::from_usize) {
            let node = self.locals.node(LocalId::from_word(state[process.index()]));
            for offer in &node.offers {
                if !self.take_offer(state, &node, offer, sink) {
                    return;
                }
            }
            if self.shared.component.acts() && !self.take_internal(state, process, sink) {
                return;
            }
        }
    }

    /// What memory does by itself for a process.
    fn take_internal(&mut self, state: &[u32], process: ProcessId, sink: &mut impl Sink<C>) -> bool {
        let component = &self.shared.component;
        let n_internal = component.n_internal(&mut self.hand, &state[self.n_processes..], process);
        (0..n_internal).all(|i| {
            self.next.copy_from_slice(state);
            let words = &mut self.next[self.n_processes..];
            let internal = component.internal(&mut self.hand, words, process, i);
            self.note_first(Step { process, action: Action::Internal(internal) }, None);
            self.hand_on(sink)
        })
    }

    fn take_offer(&mut self, state: &[u32], node: &Node, offer: &Offer, sink: &mut impl Sink<C>) -> bool {
        if let Offer::Locked(edge, control) = offer {
            return self.take_locked(state, node, (*edge, *control), sink);
        }
        let mut way = 0;
        loop {
            self.next.copy_from_slice(state);
            let Some((step, targets)) = self.apply(node, offer, way) else { return true };
            if !self.land(step, targets, sink) {
                return false;
            }
            if !C::BRANCHES {
                return true;
            }
            way += 1;
        }
    }

    /// Hands on `next` for each local state in which the process of a step may come to rest.
    #[inline]
    fn land(&mut self, step: Step, targets: Targets, sink: &mut impl Sink<C>) -> bool {
        let word = step.process.index();
        match targets.single() {
            Some(target) => {
                self.note_first(step, Some(target));
                self.next[word] = target.to_word();
                self.hand_on(sink)
            }
            None => {
                let changed = self.next.clone();
                self.locals.list(targets).iter().all(|target| {
                    self.note_first(step, Some(*target));
                    self.next.copy_from_slice(&changed);
                    self.next[word] = target.to_word();
                    self.hand_on(sink)
                })
            }
        }
    }

    /// Applies an operation to the memory of `next`; tells where the process goes, or `None` if it has to wait, or has
    /// no such way.
    #[inline]
    fn apply(&mut self, node: &Node, offer: &Offer, way: u32) -> Option<(Step, Targets)> {
        let (component, hand) = (&self.shared.component, &mut self.hand);
        let words = &mut self.next[self.n_processes..];
        match offer {
            Offer::Silent(step, targets) => (way == 0).then_some((*step, *targets)),
            Offer::Load(step, x, reacting) => {
                let step = in_way::<C>(*step, way);
                let value = component.load(hand, words, Asked { step, way }, *x)?;
                Some((step, self.locals.react(node, reacting, value).targets))
            }
            Offer::Store(step, x, value, targets) => {
                let step = in_way::<C>(*step, way);
                component.store(hand, words, Asked { step, way }, (*x, *value)).then_some((step, *targets))
            }
            Offer::Rmw(step, x, reacting) => {
                let (step, locals) = (in_way::<C>(*step, way), &mut self.locals);
                let react = |value| locals.react(node, reacting, value);
                component.update(hand, words, Asked { step, way }, *x, react).map(|targets| (step, targets))
            }
            Offer::Fence(step, kind, targets) => {
                let step = in_way::<C>(*step, way);
                component.fence(hand, words, Asked { step, way }, *kind).then_some((step, *targets))
            }
            Offer::Locked(..) => None,
        }
    }

    fn take_locked(
        &mut self,
        state: &[u32],
        node: &Node,
        (edge, control): (EdgeId, Control),
        sink: &mut impl Sink<C>,
    ) -> bool {
        let Shared { automaton, component, .. } = self.shared;
        let (process, n_processes) = (node.process, self.n_processes);
        let Some(contents) = component.lock(&state[n_processes..], process) else { return true };
        let local = Local::new(automaton.flow().program, edge);
        let Op::Locked(body) = &local.edge.op else { unreachable!("the offer is a locked block") };
        let start = Block { registers: node.registers.to_vec(), contents };
        let from = (LocalId::from_word(state[process.index()]), edge);
        run_block(&local, body, start).into_iter().enumerate().all(|(choice, end)| {
            let choice = u32::try_from(choice).expect("fewer than 2^32 outcomes");
            let step = Step { process, action: Action::Edge { edge, choice } };
            let (targets, contents) = match end {
                Ok(Block { registers, contents }) => (self.landing(from, control, registers), Some(contents)),
                // What goes wrong inside leaves memory as it was.
                Err(stop) => (self.rests_of(process, control, Err(stop)), None),
            };
            self.next.copy_from_slice(state);
            if let Some(contents) = contents {
                component.unlock(&mut self.next[n_processes..], process, contents);
            }
            let changed = self.next.clone();
            targets.iter().all(|&target| {
                self.next.copy_from_slice(&changed);
                self.note_first(step, Some(target));
                self.next[process.index()] = target.to_word();
                self.hand_on(sink)
            })
        })
    }

    /// Where a process comes to rest behind a block that left this in its registers.
    fn landing(&mut self, from: (LocalId, EdgeId), control: Control, registers: Vec<Value>) -> Rc<[LocalId]> {
        let known = self.landings.get(&from);
        if let Some((_, targets)) = known.and_then(|all| all.iter().find(|it| it.0 == registers)) {
            return Rc::clone(targets);
        }
        let process = self.shared.automaton.flow().program.edges()[from.1].process;
        let targets = self.rests_of(process, control, Ok(registers.clone()));
        let known = self.landings.entry(from).or_default();
        if known.len() < MAX_LANDINGS {
            known.push((registers, Rc::clone(&targets)));
        }
        targets
    }

    fn rests_of(&self, process: ProcessId, control: Control, end: Result<Vec<Value>, Stop>) -> Rc<[LocalId]> {
        let automaton = &self.shared.automaton;
        let landed = automaton.landed(process, control, end);
        automaton.settled(landed).into_iter().map(|target| automaton.intern(target)).collect()
    }

    #[inline]
    fn note_first(&mut self, step: Step, rest: Option<LocalId>) {
        if let Some(log) = &mut self.log {
            log.clear();
            log.push(Logged { step, rest, edge: None });
        }
    }

    #[inline]
    fn hand_on(&mut self, sink: &mut impl Sink<C>) -> bool {
        if C::RUNS_AHEAD && self.shared.runs_ahead {
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
        let n_processes = self.n_processes;
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
        let id = LocalId::from_word(self.next[process.index()]);
        if id.is_broken() {
            return false;
        }
        let node = self.locals.node(id);
        if !node.may_run_ahead {
            return false;
        }
        let Some((step, targets)) = self.apply(&node, &node.offers[0], 0) else { return false };
        let Some(target) = targets.single() else { return false };
        if let Some(log) = &mut self.log {
            log.push(Logged { step, rest: Some(target), edge: None });
        }
        self.next[process.index()] = target.to_word();
        true
    }

    /// The states that the program can start in, each with the choice of initial values it stands for.
    pub(crate) fn start(&mut self, start: &Start, sink: &mut impl Sink<C>) {
        let program = self.shared.automaton.flow().program;
        let mut states = vec![vec![0; self.next.len()]];
        self.shared.component.start(start.memory.as_slice(), &mut states[0][self.n_processes..]);
        for (process, registers) in start.registers.iter_enumerated() {
            let entry = Control::At(program.processes()[process].entry);
            let arrivals = self.shared.automaton.arrivals(process, entry, registers.clone());
            let with = |state: &Vec<u32>, id: LocalId| {
                let mut state = state.clone();
                state[process.index()] = id.to_word();
                state
            };
            states = states.iter().flat_map(|state| arrivals.iter().map(move |&id| with(state, id))).collect();
        }
        for state in states {
            if let Some(log) = &mut self.log {
                log.clear();
                let words = &state[..self.n_processes];
                self.rests = words.iter().map(|&word| LocalId::from_word(word)).collect();
            }
            self.next.copy_from_slice(&state);
            if !self.hand_on(sink) {
                return;
            }
        }
    }

    /// What is wrong with a state, if something is.
    pub(crate) fn violation(&mut self, state: &[u32]) -> Option<Badness> {
        let mut mask = u64::MAX;
        for &word in &state[..self.n_processes] {
            let id = LocalId::from_word(word);
            if id.is_broken() {
                return Some(self.badness(id));
            }
            mask &= self.locals.node(id).situations;
        }
        if mask == 0 {
            return None;
        }
        self.violated(state).map(|id| Badness::Violation(Violation::Property(id)))
    }

    /// What went wrong with a process, if something did.
    pub(crate) fn broken(&self, state: &[u32]) -> Option<Badness> {
        let mut ids = state[..self.n_processes].iter().map(|&word| LocalId::from_word(word));
        ids.find(|id| id.is_broken()).map(|id| self.badness(id))
    }

    fn badness(&self, broken: LocalId) -> Badness {
        match self.shared.automaton.state(broken) {
            LocalState::Broken(fault) => Badness::Violation(Violation::Fault(fault)),
            LocalState::Overflown | LocalState::Here(..) => Badness::Overflow,
        }
    }

    /// The values of variables, if all processes have ended and nothing is under way.
    pub(crate) fn final_values(&mut self, state: &[u32], variables: &[StateVar]) -> Option<Vec<Value>> {
        let (words, memory) = state.split_at(self.n_processes);
        let Shared { automaton, component, .. } = self.shared;
        if !component.is_settled(memory) {
            return None;
        }
        let points = automaton.flow().program.points();
        let mut nodes = Vec::with_capacity(words.len());
        for &word in words {
            let node = self.locals.node(LocalId::from_word(word));
            node.point.filter(|&point| points[point].is_end)?;
            nodes.push(node);
        }
        Some(variables.iter().map(|variable| value(&nodes, (component, memory), variable)).collect())
    }

    #[cold]
    fn violated(&mut self, state: &[u32]) -> Option<PropertyId> {
        let (words, memory) = state.split_at(self.n_processes);
        let component = &self.shared.component;
        let nodes: Vec<_> = words.iter().map(|&word| self.locals.node(LocalId::from_word(word))).collect();
        let program = self.shared.automaton.flow().program;
        let value_of = |variable: &StateVar| value(&nodes, (component, memory), variable);
        let mut properties = program.properties().iter_enumerated();
        properties.find_map(|(id, property)| {
            let is_due = |is_settled| property.kind.is_due(is_settled);
            let is_time = || is_due(false) || (is_due(true) && component.is_settled(memory));
            let is_bad = property.situations.iter().any(|situation| {
                let is_there = situation
                    .at
                    .iter()
                    .all(|(process, points)| nodes[process.index()].point.is_some_and(|point| points.contains(&point)));
                is_there && situation.condition.eval(&value_of).is_ok_and(|value| value != 0)
            });
            (is_bad && component.tells(memory, property.kind).unwrap_or_else(is_time)).then_some(id)
        })
    }
}

/// The value of a variable, given the local states of all processes and memory.
fn value<C: Component>(nodes: &[Rc<Node>], (component, memory): (&C, &[u32]), variable: &StateVar) -> Value {
    match variable {
        StateVar::Register(process, register) => nodes[process.index()].registers[register.index()],
        StateVar::Memory(x) => component.value(memory, *x),
    }
}

/// The step in which an access acts in one of its ways.
#[inline]
fn in_way<C: Component>(step: Step, way: u32) -> Step {
    match step.action {
        Action::Edge { .. } if !C::BRANCHES => step,
        Action::Edge { edge, .. } => Step { action: Action::Edge { edge, choice: way }, ..step },
        Action::Fence(_) | Action::Internal(_) => step,
    }
}

/// What is wrong with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Badness {
    /// The program goes wrong.
    Violation(Violation),
    /// The tool cannot hold a value.
    Overflow,
}
