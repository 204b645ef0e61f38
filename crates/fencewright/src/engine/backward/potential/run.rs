//! From rules to a run of the reference semantics.
//!
//! The rules are followed forward on messages that know their writers. A read takes the *first* message in modification
//! order that is of the right kind and not behind the view of its thread: of all of them it tells the thread least.

use super::kinds::{Act, Kind, Kinds, Place, Writer};
use super::system::{Potentials, Rule};
use crate::engine::automaton::{Automaton, Datum, LocalState, RegisterFree, StateId};
use crate::engine::backward::timeline::{Beginning, Timeline};
use crate::engine::run::{Logged, Path};
use crate::engine::{StopReason, Task};
use crate::memory::Messaging;
use crate::program::{Op, ProcessId, Value};
use crate::system::{Action, Fault, Local};
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

/// How a run begins: the states of threads, and what locations hold.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub states: IndexVec<ProcessId, StateId>,
    pub memory: Vec<Datum>,
}

/// What messages each rule passes over, if all are put at the end.
pub(super) fn appended(system: &Potentials<'_>, begun: &Begun, rules: &[Rule]) -> Option<Vec<Passed>> {
    let mut history = History::new(&system.kinds, begun);
    let act = |rule: &Rule| system.kinds.acts[rule.process][rule.edge as usize];
    rules.iter().map(|rule| history.take(&system.kinds, rule, act(rule))).collect()
}

/// More ways than this are not tried.
const MAX_TRIES: usize = 20_000;

/// The same, if there is a way to insert messages so that all rules can be followed.
pub(super) fn inserted(system: &Potentials<'_>, begun: &Begun, rules: &[Rule]) -> Option<Vec<Passed>> {
    let act = |rule: &Rule| system.kinds.acts[rule.process][rule.edge as usize];
    let start = History::new(&system.kinds, begun);
    let mut open = vec![vec![(Vec::new(), start)]];
    for _ in 0..MAX_TRIES {
        heed(8);
        let Some((_, history)) = open.last().and_then(|ways| ways.last()) else {
            open.pop();
            open.last_mut()?.pop();
            continue;
        };
        let Some(rule) = rules.get(open.len() - 1) else {
            return open.into_iter().skip(1).map(|mut ways| ways.pop().map(|it| it.0)).collect();
        };
        let mut ways = history.ways(&system.kinds, rule, act(rule));
        ways.reverse();
        open.push(ways);
    }
    None
}

/// The path that rules stand for, and what it goes wrong with.
pub(super) fn followed(system: &Potentials<'_>, begun: Begun, rules: &[Rule]) -> (Path, Option<Fault>) {
    let mut timeline = Timeline::default();
    for (now, rule) in rules.iter().enumerate() {
        timeline.edge((now, 0, now), system.program, rule.process, rule.edge);
    }
    let memory = begun.memory.into_iter().take(system.program.values.len()).collect();
    timeline.path(&Beginning { states: begun.states, memory }, system.program)
}

/// The messages that a step passes over, oldest first, from the first that its thread may read: the value of each, and
/// whether something might be put right behind it. Nothing for what there is but one way of.
pub(super) type Passed = Vec<(Datum, bool)>;

/// A message: its kind, and how far its writer knew.
#[derive(Clone, Debug)]
struct Message {
    writer: Writer,
    value: Datum,
    view: Vec<usize>,
    is_glued: bool,
}

/// All messages so far.
#[derive(Clone)]
pub(super) struct History {
    messages: Vec<Vec<Message>>,
    views: Vec<Vec<usize>>,
    /// The places that have an order of their own.
    is_ordered: Vec<bool>,
}

impl History {
    /// One message to each location.
    pub(super) fn new(kinds: &Kinds, begun: &Begun) -> Self {
        let (memory, n_threads) = (&begun.memory, begun.states.len());
        let view = vec![0; memory.len() + 1];
        let first = |value| Message { writer: Writer::Nobody, value, view: view.clone(), is_glued: false };
        let messages = memory.iter().copied().chain([0]).map(|value| vec![first(value)]);
        let is_ordered = (0..=memory.len() as Place).map(|x| kinds.is_ordered(x)).collect();
        Self { messages: messages.collect(), views: vec![view.clone(); n_threads], is_ordered }
    }

    fn take(&mut self, kinds: &Kinds, rule: &Rule, act: Act) -> Option<Passed> {
        let thread = rule.process;
        match act {
            Act::Nop => Some(Vec::new()),
            Act::Read(x, _) => {
                let kind = kinds.get(rule.source?);
                let (view, messages) = (self.views[thread.index()][x as usize], &self.messages[x as usize]);
                let at = (view..messages.len()).find(|&at| is_of(kind, &messages[at]))?;
                let passed = self.passed(thread, x, at);
                self.learn(thread, x, at);
                Some(passed)
            }
            Act::Find(x, value) => {
                let last = self.messages[x as usize].len() - 1;
                let is_there = self.messages[x as usize][last].value == value;
                self.learn(thread, x, last);
                is_there.then(Vec::new)
            }
            Act::Write(x, value) => {
                let last = self.messages[x as usize].len() - 1;
                let passed = self.passed(thread, x, last);
                self.insert(thread, x, last, (value, false));
                Some(passed)
            }
            Act::Update(x, old, new) => {
                let last = self.messages[x as usize].len() - 1;
                let passed = (self.messages[x as usize][last].value == old).then(|| self.passed(thread, x, last));
                self.learn(thread, x, last);
                self.insert(thread, x, last, (new, true));
                passed
            }
        }
    }

    /// Every way to take a rule if messages may be inserted: what is passed over, and what comes of it. Those that put
    /// a message furthest behind come first.
    pub(super) fn ways(&self, kinds: &Kinds, rule: &Rule, act: Act) -> Vec<(Passed, Self)> {
        let (thread, place) = match act {
            Act::Nop => return vec![(Vec::new(), self.clone())],
            Act::Read(x, _) | Act::Find(x, _) | Act::Write(x, _) | Act::Update(x, ..) => (rule.process, x),
        };
        let messages = &self.messages[place as usize];
        let view = self.first(thread, place);
        let is_open = |at: usize| messages.get(at + 1).is_none_or(|next| !next.is_glued);
        let is_source = |at: usize| rule.source.is_some_and(|kind| is_of(kinds.get(kind), &messages[at]));
        let mut ways = Vec::new();
        for at in (view..messages.len()).rev() {
            let mut next = self.clone();
            match act {
                Act::Read(x, _) | Act::Find(x, _) if is_source(at) => next.learn(thread, x, at),
                Act::Write(x, value) if is_open(at) => next.insert(thread, x, at, (value, false)),
                Act::Update(x, _, new) if is_source(at) && is_open(at) => {
                    next.learn(thread, x, at);
                    next.insert(thread, x, at, (new, true));
                }
                Act::Nop | Act::Read(..) | Act::Find(..) | Act::Write(..) | Act::Update(..) => continue,
            }
            ways.push((self.passed(thread, place, at), next));
        }
        // Of messages that may be read, the first tells least.
        if matches!(act, Act::Read(..)) {
            ways.reverse();
        }
        ways
    }

    /// The first message that a thread may act on.
    fn first(&self, thread: ProcessId, x: Place) -> usize {
        match self.is_ordered[x as usize] {
            true => self.messages[x as usize].len() - 1,
            false => self.views[thread.index()][x as usize],
        }
    }

    /// The messages that a thread passes over that acts on one.
    fn passed(&self, thread: ProcessId, x: Place, at: usize) -> Passed {
        let messages = &self.messages[x as usize];
        (self.first(thread, x)..at).map(|it| (messages[it].value, !messages[it + 1].is_glued)).collect()
    }

    fn learn(&mut self, thread: ProcessId, x: Place, at: usize) {
        let view = &self.messages[x as usize][at].view;
        self.views[thread.index()].iter_mut().zip(view).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
    }

    /// Puts a message right behind another one; those behind it move up.
    fn insert(&mut self, thread: ProcessId, x: Place, behind: usize, (value, is_glued): (Datum, bool)) {
        let at = behind + 1;
        let of_messages = self.messages.iter_mut().flatten().map(|message| &mut message.view);
        of_messages.chain(&mut self.views).for_each(|view| view[x as usize] += usize::from(view[x as usize] >= at));
        let view = &mut self.views[thread.index()];
        view[x as usize] = at;
        let message = Message { writer: Writer::Thread(thread), value, view: view.clone(), is_glued };
        self.messages[x as usize].insert(at, message);
    }
}

fn is_of(kind: Kind, message: &Message) -> bool {
    message.value == kind.value && (kind.writer == Writer::Somebody || kind.writer == message.writer)
}

/// The steps of a path with the numbers of the ways that they take, in the order of the semantics.
pub(super) fn chosen(
    task: &Task<'_>,
    (automaton, program): (&Automaton<'_>, &RegisterFree),
    (mut path, passed): (Path, &[Passed]),
) -> Result<Path, StopReason> {
    let lost = |what: &str| StopReason::Defect(what.to_owned());
    let messaging = task.model.messaging().ok_or_else(|| lost("there are no messages"))?;
    let mut rests = path.rests.clone();
    for (logged, passed) in path.steps.iter_mut().zip(passed) {
        let process = logged.step.process;
        let LocalState::Here(_, _, registers) = automaton.state(rests[process.index()]) else {
            return Err(lost("a thread went on that went wrong"));
        };
        number(task, program, messaging, (logged, passed, &registers)).ok_or_else(|| lost("a place is none"))?;
        rests[process.index()] = logged.rest.unwrap_or(rests[process.index()]);
    }
    Ok(path)
}

/// Numbers the way of a step.
fn number(
    task: &Task<'_>,
    program: &RegisterFree,
    messaging: Messaging,
    (logged, passed, registers): (&mut Logged, &Passed, &[Value]),
) -> Option<()> {
    let Action::Edge { edge, choice } = &mut logged.step.action else { return Some(()) };
    let local = Local::new(task.program, *edge);
    let may_follow = |is_open: bool| match messaging {
        Messaging::Appended => false,
        Messaging::Inserted => is_open,
    };
    let n_before = match &local.edge.op {
        Op::Load(..) => passed.len(),
        Op::Store(..) => passed.iter().filter(|it| may_follow(it.1)).count(),
        Op::Rmw { place, .. } => {
            let x = local.resolve(place, registers).ok()?;
            let is_way = |&&(value, is_open): &&(Datum, bool)| match local.update(
                registers,
                x,
                program.values[x][usize::from(value)],
            ) {
                None => false,
                Some(Ok(updated)) => updated.new.is_none() || may_follow(is_open),
                Some(Err(_)) => true,
            };
            passed.iter().filter(is_way).count()
        }
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) | Op::Locked(_) => {
            return Some(());
        }
    };
    *choice = u32::try_from(n_before).ok()?;
    Some(())
}
