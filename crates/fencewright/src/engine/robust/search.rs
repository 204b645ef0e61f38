//! All attacks at once: a breadth-first search of sequential consistency, with an attack under way or none.
//!
//! A state is a word for the local state of each process, one for memory, and one for the attack.

use crate::engine::automaton::{Automaton, LocalId, LocalState, Locals, Node, Offer, Targets};
use crate::engine::packed::{Interner, StateSet, hash_of};
use crate::engine::run::{Logged, Path};
use crate::engine::{Stats, StopReason, Task};
use crate::memory::{Buffering, Internal};
use crate::program::{EdgeId, FenceKind, LocationId, Op, ProcessId, Side, Value};
use crate::system::{Action, Block, Control, Fault, Flow, Local, Start, Step, Touched, run_block, starts};
use crate::util::Idx;
use crate::watch::{Monitor, Progress};

use super::attack::{Attack, Touching};
use super::promising::Promising;

/// How a search ends.
pub(super) enum End {
    /// No attack is possible.
    Exhausted,
    /// This one is.
    Attacked(Path),
    /// A run goes wrong.
    Broken(Path, Fault),
    /// Nothing is known.
    Stopped(StopReason),
}

/// With unbounded data there may be no end of states.
const MAX_UNBOUNDED: usize = 1_000_000;

/// The monitor is asked after so many states.
const POLL_EVERY: usize = 256;

/// No attack.
const PEACE: u32 = 0;

/// The search.
pub(super) struct Search<'a> {
    task: &'a Task<'a>,
    buffering: Buffering,
    promising: Promising,
    automaton: &'a Automaton<'a>,
    locals: Locals<'a>,
    memories: Interner<Vec<Value>>,
    /// The first stands for no attack.
    attacks: Interner<Option<Attack>>,
    states: StateSet,
    /// For each state the one that it was first reached from, and as the how-manieth of its successors; for a first
    /// state, [`ROOT`] and the number of the start.
    parents: Vec<(u32, u32)>,
}

const ROOT: u32 = u32::MAX;

/// What a state is made of.
struct Parts {
    words: Vec<u32>,
    memory: Vec<Value>,
    attack: Option<Attack>,
}

/// A successor of a state, and how it is reached.
struct Next {
    words: Vec<u32>,
    step: Step,
    /// Where its process comes to rest.
    rest: LocalId,
    stored: Stored,
    is_done: bool,
}

/// Where a store of a step goes, and whether it reaches memory at once.
type Stored = Option<(LocationId, bool)>;

/// What a step does beside moving its process.
struct Deed {
    step: Step,
    /// What it writes in memory.
    writes: Vec<(LocationId, Value)>,
    attack: Option<Attack>,
    stored: Stored,
}

/// The way to a state.
struct Way {
    path: Path,
    /// The stores of the attacker that have not arrived, oldest first.
    delayed: Vec<Logged>,
}

impl<'a> Search<'a> {
    pub(super) fn new(task: &'a Task<'a>, buffering: Buffering, automaton: &'a Automaton<'a>) -> Self {
        let attacks = Interner::new();
        attacks.intern(None, 0);
        Self {
            task,
            buffering,
            promising: Promising::new(Flow { program: task.program, placement: task.placement }, buffering),
            automaton,
            locals: Locals::new(automaton, false),
            memories: Interner::new(),
            attacks,
            states: StateSet::new(task.program.processes().len() + 2),
            parents: Vec::new(),
        }
    }

    /// Looks for an attack; how that ends, and what it took.
    pub(super) fn run(mut self, monitor: &dyn Monitor) -> (End, Stats) {
        let end = self.search(monitor);
        let (n_states, bytes) = (self.states.len() as u64, self.bytes());
        (end, Stats { explored: n_states, kept: n_states, bytes, is_shortest: false })
    }

    fn search(&mut self, monitor: &dyn Monitor) -> End {
        for (number, start) in starts(self.task.program).into_iter().flatten().enumerate() {
            if number.is_multiple_of(POLL_EVERY)
                && let Some(reason) = self.poll(0, monitor)
            {
                return End::Stopped(reason);
            }
            for words in self.firsts(&start) {
                if let Some(end) = self.broken_start(&words, &start) {
                    return end;
                }
                if self.states.add(&words, hash_of(&words)).is_ok() {
                    self.parents.push((ROOT, number as u32));
                }
            }
        }
        let mut at = 0;
        while at < self.states.len() {
            if at.is_multiple_of(POLL_EVERY)
                && let Some(reason) = self.poll(at, monitor)
            {
                return End::Stopped(reason);
            }
            for (i, next) in self.successors(at).into_iter().enumerate() {
                if next.is_done || next.rest.is_broken() {
                    return self.ended(at, &next);
                }
                if self.states.add(&next.words, hash_of(&next.words)).is_ok() {
                    self.parents.push((at as u32, i as u32));
                }
            }
            at += 1;
        }
        End::Exhausted
    }

    fn poll(&self, explored: usize, monitor: &dyn Monitor) -> Option<StopReason> {
        let n_states = self.states.len();
        let queued = (n_states - explored) as u64;
        let progress = Progress { explored: explored as u64, queued, bytes: self.bytes(), ..Progress::default() };
        if self.task.program.has_unbounded_data() && n_states > MAX_UNBOUNDED {
            return Some(StopReason::UnboundedData(n_states as u64));
        }
        if n_states > (u32::MAX / 2) as usize {
            return Some(StopReason::States(n_states as u64));
        }
        monitor.poll(&progress).map(StopReason::from)
    }

    fn bytes(&self) -> u64 {
        let things = self.memories.n_parts() * 16 + (self.memories.len() + self.attacks.len()) as u64 * 256;
        self.states.bytes() + (self.parents.capacity() * 8) as u64 + self.automaton.bytes() + things
    }

    /// The first states of a start: local steps may lead to several.
    fn firsts(&self, start: &Start) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for (process, registers) in start.registers.iter_enumerated() {
            let entry = Control::At(self.task.program.processes()[process].entry);
            let arrivals = self.automaton.arrivals(process, entry, registers.clone());
            let with = |words: &Vec<u32>, id: &LocalId| [&words[..], &[id.to_word()]].concat();
            all = all.iter().flat_map(|words| arrivals.iter().map(move |id| with(words, id))).collect();
        }
        let memory = self.memories.intern(start.memory.as_slice().to_vec(), start.memory.len());
        all.iter_mut().for_each(|words| words.extend([memory, PEACE]));
        all
    }

    /// A process that goes wrong before it does anything else.
    fn broken_start(&self, words: &[u32], start: &Start) -> Option<End> {
        let locals = words[..words.len() - 2].iter().map(|&word| LocalId::from_word(word));
        let broken = locals.clone().find(|it| it.is_broken())?;
        Some(match self.automaton.state(broken) {
            LocalState::Broken(fault) => {
                // Those behind it need not move.
                let rests = locals.take_while(|&it| it != broken).chain([broken]).collect();
                End::Broken(Path { start: start.clone(), rests, steps: Vec::new() }, fault)
            }
            LocalState::Overflown | LocalState::Here(..) => End::Stopped(StopReason::Overflow),
        })
    }

    fn parts(&self, number: usize) -> Parts {
        let words = self.states.get(number).to_vec();
        let [.., memory, attack] = words[..] else { unreachable!("a state has these words") };
        Parts {
            memory: self.memories.get(memory).as_ref().clone(),
            attack: self.attacks.get(attack).as_ref().clone(),
            words,
        }
    }

    fn successors(&mut self, number: usize) -> Vec<Next> {
        let state = self.parts(number);
        let mut out = Vec::new();
        for process in self.task.program.processes().indices() {
            let node = self.locals.node(LocalId::from_word(state.words[process.index()]));
            for offer in &node.offers {
                self.take(&state, &node, offer, &mut out);
            }
        }
        out
    }

    fn take(&mut self, state: &Parts, node: &Node, offer: &Offer, out: &mut Vec<Next>) {
        let attack = &state.attack;
        let attacking = attack.as_ref().filter(|it| it.attacker == node.process);
        if attacking.is_some_and(|it| !it.goes_on(self.buffering)) {
            return;
        }
        match offer {
            Offer::Silent(step, targets) => self.land(state, still(*step, attack.clone()), *targets, out),
            Offer::Fence(step, kind, targets) => {
                let next = match (attacking, kind) {
                    (Some(_), FenceKind::Full) => return,
                    (Some(attacking), FenceKind::StoreStore) => Some(attacking.sealed()),
                    (None, _) => attack.clone(),
                };
                self.land(state, still(*step, next), *targets, out);
            }
            Offer::Load(step, x, reacting) => {
                let own = attacking.and_then(|it| it.own(*x));
                let touching = Touching { reads: Vec::from_iter(own.is_none().then_some(*x)), writes: Vec::new() };
                let Some(next) = touched(state, node.process, &touching) else { return };
                let value = own.unwrap_or(state.memory[x.index()]);
                let targets = self.locals.react(node, reacting, value).targets;
                self.land(state, still(*step, next), targets, out);
            }
            Offer::Store(step, x, value, targets) => self.store(state, (*step, *x, *value), *targets, out),
            Offer::Rmw(step, x, reacting) => {
                if attacking.is_some_and(|it| !it.may_update(self.buffering, *x)) {
                    return;
                }
                let reaction = self.locals.react(node, reacting, state.memory[x.index()]);
                let written = Vec::from_iter(reaction.write.map(|value| (*x, value)));
                let touching = Touching { reads: vec![*x], writes: written.iter().map(|it| it.0).collect() };
                let Some(next) = touched(state, node.process, &touching) else { return };
                if !reaction.targets.is_blocked() {
                    let deed = Deed { step: *step, writes: written, attack: next, stored: None };
                    self.land(state, deed, reaction.targets, out);
                }
            }
            // It waits for all buffers.
            Offer::Locked(..) if attacking.is_some() => {}
            Offer::Locked(edge, control) => self.lock(state, node, (*edge, *control), out),
        }
    }

    fn store(&mut self, state: &Parts, store: (Step, LocationId, Value), targets: Targets, out: &mut Vec<Next>) {
        let (step, x, value) = store;
        let at_once = |attack| Deed { step, writes: vec![(x, value)], attack, stored: Some((x, true)) };
        let later = |attack| Deed { stored: Some((x, false)), ..still(step, Some(attack)) };
        let touching = Touching { reads: Vec::new(), writes: vec![x] };
        match &state.attack {
            None => {
                self.land(state, at_once(None), targets, out);
                if self.may_show(step, x) {
                    self.land(state, later(Attack::begun(step.process, x, value)), targets, out);
                }
            }
            Some(attack) if attack.attacker == step.process => {
                self.land(state, later(attack.delaying(x, value)), targets, out);
                if attack.may_store(self.buffering, x) {
                    self.land(state, at_once(Some(attack.overtaken(&touching))), targets, out);
                }
            }
            Some(attack) => {
                if let Some(next) = attack.joined(step.process, &touching) {
                    self.land(state, at_once(Some(next)), targets, out);
                }
            }
        }
    }

    /// Whether an attack may begin with a store.
    fn may_show(&self, step: Step, x: LocationId) -> bool {
        let Action::Edge { edge, .. } = step.action else { return true };
        let behind = match self.task.placement.get(edge, Side::After) {
            Some(_) => Control::Done(edge),
            None => Control::At(self.task.program.edges()[edge].to),
        };
        self.promising.may_show(step.process, x, behind)
    }

    fn lock(&mut self, state: &Parts, node: &Node, (edge, control): (EdgeId, Control), out: &mut Vec<Next>) {
        let local = Local::new(self.task.program, edge);
        let Op::Locked(body) = &local.edge.op else { unreachable!("the offer is a locked block") };
        let start = Block { registers: node.registers.to_vec(), contents: state.memory.clone() };
        for (choice, end) in run_block(&local, body, Touched::from(start)).into_iter().enumerate() {
            let (mut touching, mut writes) = (Touching::default(), Vec::new());
            if let Ok(end) = &end {
                touching.reads.extend(&end.read);
                touching.writes.extend(&end.written);
                writes.extend(end.written.iter().map(|&x| (x, end.block.contents[x.index()])));
            }
            // What goes wrong is told whether it matters or not; a block that touches nothing is a local step.
            let is_silent = touching.reads.is_empty() && touching.writes.is_empty();
            let next = if is_silent { Some(state.attack.clone()) } else { touched(state, node.process, &touching) };
            let Some(attack) = next else { continue };
            let choice = u32::try_from(choice).expect("fewer than 2^32 outcomes");
            let step = Step { process: node.process, action: Action::Edge { edge, choice } };
            let landed = self.automaton.landed(node.process, control, end.map(|it| it.block.registers));
            let settled = self.automaton.settled(landed).into_iter();
            let rests: Vec<LocalId> = settled.map(|it| self.automaton.intern(it)).collect();
            self.rest(state, Deed { step, writes, attack, stored: None }, &rests, out);
        }
    }

    fn land(&mut self, state: &Parts, deed: Deed, targets: Targets, out: &mut Vec<Next>) {
        match targets.single() {
            Some(only) => self.rest(state, deed, &[only], out),
            None => self.rest(state, deed, &self.locals.list(targets), out),
        }
    }

    /// Notes a step, for each local state in which its process may come to rest.
    fn rest(&self, state: &Parts, deed: Deed, rests: &[LocalId], out: &mut Vec<Next>) {
        let Deed { step, writes, attack, stored } = deed;
        let is_done = attack.as_ref().is_some_and(Attack::is_done);
        let mut words = state.words.clone();
        let n_processes = words.len() - 2;
        if !writes.is_empty() {
            let mut memory = state.memory.clone();
            writes.iter().for_each(|&(x, value)| memory[x.index()] = value);
            let n_locations = memory.len();
            words[n_processes] = self.memories.intern(memory, n_locations);
        }
        if attack != state.attack {
            words[n_processes + 1] = self.attacks.intern(attack, 1);
        }
        out.extend(rests.iter().map(|&rest| {
            let mut words = words.clone();
            words[step.process.index()] = rest.to_word();
            Next { words, step, rest, stored, is_done }
        }));
    }

    /// The search ends with a successor of a state.
    fn ended(&mut self, number: usize, last: &Next) -> End {
        let Way { mut path, mut delayed } = self.way(number);
        push(&mut path, &mut delayed, last);
        match self.automaton.state(last.rest) {
            LocalState::Broken(fault) => End::Broken(path, fault),
            LocalState::Overflown => End::Stopped(StopReason::Overflow),
            LocalState::Here(..) => {
                path.steps.extend(delayed);
                End::Attacked(path)
            }
        }
    }

    fn way(&mut self, number: usize) -> Way {
        let mut numbers = vec![number];
        while let Some(&at) = numbers.last()
            && self.parents[at].0 != ROOT
        {
            numbers.push(self.parents[at].0 as usize);
        }
        numbers.reverse();
        let first = numbers[0];
        let start = starts(self.task.program).and_then(|mut all| all.nth(self.parents[first].1 as usize));
        let words = self.states.get(first);
        let rests = words[..words.len() - 2].iter().map(|&word| LocalId::from_word(word)).collect();
        let start = start.expect("the program starts like this");
        let (mut path, mut delayed) = (Path { start, rests, steps: Vec::new() }, Vec::new());
        for pair in numbers.windows(2) {
            let next = self.successors(pair[0]).into_iter().nth(self.parents[pair[1]].1 as usize);
            push(&mut path, &mut delayed, &next.expect("it was reached like this"));
        }
        Way { path, delayed }
    }
}

/// A step of a path.
fn push(path: &mut Path, delayed: &mut Vec<Logged>, next: &Next) {
    path.steps.push(Logged { step: next.step, rest: Some(next.rest), edge: None });
    match next.stored {
        Some((x, true)) => path.steps.push(arrival(next.step.process, x)),
        Some((x, false)) => delayed.push(arrival(next.step.process, x)),
        None => {}
    }
}

/// A store reaches memory.
fn arrival(process: ProcessId, x: LocationId) -> Logged {
    let step = Step { process, action: Action::Internal(Internal::Arrives(x)) };
    Logged { step, rest: None, edge: None }
}

/// A step that leaves memory alone.
fn still(step: Step, attack: Option<Attack>) -> Deed {
    Deed { step, writes: Vec::new(), attack, stored: None }
}

/// The attack after a process has touched memory; `None` where it should not.
fn touched(state: &Parts, process: ProcessId, touching: &Touching) -> Option<Option<Attack>> {
    match &state.attack {
        None => Some(None),
        Some(attack) if attack.attacker == process => Some(Some(attack.overtaken(touching))),
        Some(attack) => attack.joined(process, touching).map(Some),
    }
}
