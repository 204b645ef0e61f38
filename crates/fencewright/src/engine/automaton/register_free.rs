//! The register-free form of a whole program: each process as a finite automaton over reads, writes, fences and atomic
//! steps of constants, with the map back to source edges.
//!
//! ```text
//!   q3 ── w(flag[0],1) ──▶ q4 ── r(turn,0) ──▶ q6
//!                             └─ r(turn,1) ──▶ q5
//! ```
//!
//! Values and states are found together: a location can hold its initial values and what some reachable edge writes,
//! and only those values are read. What cannot be reached this way is never built. Bisimilar states are merged
//! ([`bisimulation`](super::bisimulation)).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::engine::automaton::bisimulation::{Unmerged, merged, unmerged};
use crate::engine::automaton::{Automaton, FastMap, LocalId, LocalState, Locals, Offer, Targets};
use crate::engine::run::Path;
use crate::engine::{Answer, Stats, Task, Unsupported, Verdict, steps_are_narrow};
use crate::program::{Domain, EdgeId, FenceKind, Initial, LocationId, Micro, Op, PointId, ProcessId, Program, Value};
use crate::system::{Action, Block, Control, Fault, Local, Step, register_starts, run_block};
use crate::util::{Idx, IndexVec};
use crate::watch::{Monitor, Progress, Stop, note_work};

/// A state of a process, counted within it.
pub type StateId = u32;

/// A value of a location, as an index into [`RegisterFree::values`].
pub type Datum = u16;

/// All processes in register-free form.
#[derive(Debug)]
pub struct RegisterFree {
    /// What each location can hold, ascending.
    pub values: IndexVec<LocationId, Vec<Value>>,
    /// What each location can hold at the start.
    pub initial: IndexVec<LocationId, Vec<Datum>>,
    /// The processes.
    pub processes: IndexVec<ProcessId, ProcessAutomaton>,
    /// The processes before bisimilar states were merged; empty if they were not.
    pub(in crate::engine) unmerged: IndexVec<ProcessId, Unmerged>,
}

/// One process in register-free form.
#[derive(Debug, Default)]
pub struct ProcessAutomaton {
    /// The states.
    pub states: Vec<StateInfo>,
    /// Where it can start, each with registers that lead there.
    pub initial: BTreeMap<StateId, Vec<Value>>,
    /// The edges.
    pub edges: Vec<LetterEdge>,
    /// The edges that lead to each state.
    pub incoming: Vec<Vec<u32>>,
    /// The edges that leave each state.
    pub outgoing: Vec<Vec<u32>>,
}

impl ProcessAutomaton {
    /// How many edges lead from where it can start to each state, at least.
    pub fn distances(&self) -> Vec<u32> {
        let mut distances = vec![None; self.states.len()];
        let mut queue: VecDeque<(StateId, u32)> = self.initial.keys().map(|&state| (state, 0)).collect();
        while let Some((state, distance)) = queue.pop_front() {
            if distances[state as usize].is_none() {
                distances[state as usize] = Some(distance);
                let edges = self.outgoing[state as usize].iter().map(|&edge| &self.edges[edge as usize]);
                queue.extend(edges.map(|edge| (edge.to, distance + 1)));
            }
        }
        distances.into_iter().map(Option::unwrap_or_default).collect()
    }
}

/// What a state stands for.
#[derive(Clone, Debug)]
pub struct StateInfo {
    /// The local state.
    pub local: LocalId,
    /// The point of the program, unless it is between a fence and its edge or broken.
    pub point: Option<PointId>,
    /// The registers; empty if broken.
    pub registers: Box<[Value]>,
    /// What went wrong, if the process went wrong.
    pub fault: Option<Fault>,
}

/// An edge over a letter.
#[derive(Clone, Debug)]
pub struct LetterEdge {
    /// Where it starts.
    pub from: StateId,
    /// Where it leads.
    pub to: StateId,
    /// What it does.
    pub letter: Letter,
    /// The step of the semantics it stands for; local steps that follow it are left out.
    pub step: Step,
}

/// What an edge does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Letter {
    /// Nothing that others see.
    Nop,
    /// Reads this value.
    Read(LocationId, Datum),
    /// Writes this value into the buffer.
    Write(LocationId, Datum),
    /// Passes a fence that has an effect under the model.
    Fence(FenceKind),
    /// Reads and writes memory in one step.
    Atomic(Atomic),
}

impl Letter {
    /// The same letter, naming locations in their order.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        if let Self::Atomic(atomic) = &mut self {
            atomic.guards.sort_unstable();
            atomic.writes.sort_unstable();
        }
        self
    }
}

/// An atomic step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Atomic {
    /// What it finds in memory.
    pub guards: Vec<(LocationId, Datum)>,
    /// What it writes to memory, each location once.
    pub writes: Vec<(LocationId, Datum)>,
    /// Whether it waits for all buffers (a locked block), or only for that of this location (an update, under PSO).
    pub waits_for: Option<LocationId>,
}

/// A location that holds more values than this is too large.
const MAX_VALUES: usize = 4_096;

/// An unbounded location that holds more values than this may hold any.
const MAX_INTEGERS: usize = 64;

/// More states than this are too many.
const MAX_STATES: usize = 200_000;

/// A locked block that reads more combinations of values than this is too large.
const MAX_VALUATIONS: usize = 4_096;

impl RegisterFree {
    /// The register-free form of a task's program.
    ///
    /// # Errors
    /// There are too many values or states, or the monitor has had enough.
    pub fn new<'a>(task: &Task<'a>, automaton: &'a Automaton<'a>, monitor: &dyn Monitor) -> Result<Self, Unmade> {
        steps_are_narrow(task.program)?;
        let mut held: IndexVec<LocationId, BTreeSet<Value>> = IndexVec::new();
        for location in task.program.locations() {
            held.push(initial_values(location.initial, location.domain)?);
        }
        let mut locals = Locals::new(automaton, true);
        loop {
            let drafts =
                Maker { program: task.program, automaton, locals: &mut locals, held: &held, monitor }.make()?;
            let n_values = held.iter().map(BTreeSet::len).sum::<usize>();
            for &(x, value) in drafts.iter().flat_map(|draft| &draft.written) {
                held[x].insert(value);
            }
            if held.iter().map(BTreeSet::len).sum::<usize>() == n_values {
                return Ok(finish(task.program, automaton.merging().bisimilar, &held, &drafts)?);
            }
            let too_many = |x: LocationId| match task.program.locations()[x].domain {
                Domain::Int => held[x].len() > MAX_INTEGERS,
                Domain::Bool | Domain::Range(..) => held[x].len() > MAX_VALUES,
            };
            if task.program.locations().indices().any(too_many) {
                return Err(too_large("a shared variable holds too many values").into());
            }
        }
    }

    /// A path through these processes as one through the states that were merged.
    pub fn unmerged(&self, path: Path) -> Option<Path> {
        if self.unmerged.is_empty() { Some(path) } else { unmerged(&self.processes, &self.unmerged, path) }
    }

    /// The local states of a process, each with the state that stands for it.
    pub fn standing(&self, process: ProcessId) -> Vec<(LocalId, StateId)> {
        match self.unmerged.as_slice().get(process.index()) {
            Some(before) => before.classes().collect(),
            None => self.processes[process].states.iter().map(|info| info.local).zip(0..).collect(),
        }
    }

    /// The number of states of all processes.
    pub fn n_states(&self) -> usize {
        self.processes.iter().map(|process| process.states.len()).sum()
    }
}

fn initial_values(initial: Initial, domain: Domain) -> Result<BTreeSet<Value>, Unsupported> {
    match (initial, domain.bounds()) {
        (Initial::Value(value), _) => Ok(BTreeSet::from([value])),
        (Initial::Any, Some((lo, hi))) if hi.abs_diff(lo) < u64::from(Datum::MAX) => Ok((lo..=hi).collect()),
        (Initial::Any, _) => Err(too_large("a variable starts with any of too many values")),
    }
}

fn too_large(reason: &str) -> Unsupported {
    let help = "give variables smaller ranges, or use `--engine explicit` to hunt for bugs";
    Unsupported { reason: reason.to_owned(), help: help.to_owned() }
}

/// An edge whose values are not numbered yet.
struct DraftEdge {
    from: StateId,
    to: StateId,
    letter: DraftLetter,
    step: Step,
}

enum DraftLetter {
    Nop,
    Read(LocationId, Value),
    Write(LocationId, Value),
    Fence(FenceKind),
    Atomic(Vec<(LocationId, Value)>, Vec<(LocationId, Value)>, Option<LocationId>),
}

/// A process whose values are not numbered yet.
#[derive(Default)]
struct Draft {
    states: Vec<StateInfo>,
    ids: FastMap<u32, StateId>,
    initial: BTreeMap<StateId, Vec<Value>>,
    edges: Vec<DraftEdge>,
    written: Vec<(LocationId, Value)>,
}

/// Builds all processes for given contents of memory.
struct Maker<'m, 'a> {
    program: &'a Program,
    automaton: &'a Automaton<'a>,
    locals: &'m mut Locals<'a>,
    held: &'m IndexVec<LocationId, BTreeSet<Value>>,
    monitor: &'m dyn Monitor,
}

/// Why there is no register-free form.
#[derive(Debug)]
pub enum Unmade {
    /// It would be too large.
    Unsupported(Unsupported),
    /// The monitor has had enough.
    Stopped(Stop),
}

impl From<Unsupported> for Unmade {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported)
    }
}

impl Unmade {
    /// What an engine says then.
    ///
    /// # Errors
    /// The program is not for it.
    pub fn answered(self, engine: &'static str) -> Result<Answer, Unsupported> {
        match self {
            Self::Unsupported(unsupported) => Err(unsupported),
            Self::Stopped(stop) => {
                Ok(Answer { engine, verdict: Verdict::Unknown(stop.into()), stats: Stats::default() })
            }
        }
    }
}

/// What a state takes, for [`note_work`].
const WORK_OF_STATE: u32 = 10;

/// The monitor is asked after so many states.
const POLL_EVERY: usize = 64;

impl Maker<'_, '_> {
    fn make(&mut self) -> Result<IndexVec<ProcessId, Draft>, Unmade> {
        let mut drafts: IndexVec<ProcessId, Draft> =
            self.program.processes().iter().map(|_| Draft::default()).collect();
        let mut registers: Vec<(ProcessId, Vec<Value>)> = Vec::new();
        for process in self.program.processes().indices() {
            let starts = register_starts(self.program, process);
            let starts = starts.ok_or_else(|| too_large("registers start with too many combinations of values"))?;
            registers.extend(starts.map(|values| (process, values)));
        }
        for (process, values) in registers {
            let entry = Control::At(self.program.processes()[process].entry);
            for local in self.automaton.arrivals(process, entry, values.clone()) {
                let id = self.state(&mut drafts[process], local)?;
                drafts[process].initial.entry(id).or_insert_with(|| values.clone());
            }
        }
        for draft in drafts.iter_mut() {
            let mut next = 0;
            while next < draft.states.len() {
                if next.is_multiple_of(POLL_EVERY) {
                    self.poll(draft)?;
                }
                self.expand(draft, next as StateId)?;
                next += 1;
            }
        }
        Ok(drafts)
    }

    fn poll(&self, draft: &Draft) -> Result<(), Unmade> {
        // Local states are not what a search counts.
        let bytes = self.automaton.bytes() + (draft.edges.len() * size_of::<DraftEdge>()) as u64;
        let progress = Progress { bytes, ..Progress::default() };
        self.monitor.poll(&progress).map_or(Ok(()), |stop| Err(Unmade::Stopped(stop)))
    }

    fn state(&self, draft: &mut Draft, local: LocalId) -> Result<StateId, Unsupported> {
        if let Some(&id) = draft.ids.get(&local.to_word()) {
            return Ok(id);
        }
        if draft.states.len() >= MAX_STATES {
            return Err(too_large("a thread has too many local states"));
        }
        let (point, registers, fault) = match self.automaton.state(local) {
            LocalState::Here(_, Control::At(point), registers) => (Some(point), registers, None),
            LocalState::Here(_, Control::Ready(_) | Control::Done(_), registers) => (None, registers, None),
            LocalState::Broken(fault) => (None, Box::default(), Some(fault)),
            LocalState::Overflown => return Err(too_large("a value may need more than 64 bits")),
        };
        let id = draft.states.len() as StateId;
        draft.states.push(StateInfo { local, point, registers, fault });
        draft.ids.insert(local.to_word(), id);
        Ok(id)
    }

    fn expand(&mut self, draft: &mut Draft, from: StateId) -> Result<(), Unsupported> {
        let local = draft.states[from as usize].local;
        if local.is_broken() {
            return Ok(());
        }
        note_work(WORK_OF_STATE);
        let node = self.locals.node(local);
        for offer in &node.offers {
            match offer {
                Offer::Silent(step, targets) => self.add(draft, from, *step, *targets, || DraftLetter::Nop)?,
                Offer::Store(step, x, value, targets) => {
                    draft.written.push((*x, *value));
                    self.add(draft, from, *step, *targets, || DraftLetter::Write(*x, *value))?;
                }
                Offer::Fence(step, kind, targets) => {
                    self.add(draft, from, *step, *targets, || DraftLetter::Fence(*kind))?;
                }
                Offer::Load(step, x, reacting) => {
                    for &value in &self.held[*x] {
                        let targets = self.locals.react(&node, reacting, value).targets;
                        self.add(draft, from, *step, targets, || DraftLetter::Read(*x, value))?;
                    }
                }
                Offer::Rmw(step, x, reacting) => {
                    for &value in &self.held[*x] {
                        let reaction = self.locals.react(&node, reacting, value);
                        if reaction.targets.is_blocked() {
                            continue;
                        }
                        let writes: Vec<_> = reaction.write.map(|new| (*x, new)).into_iter().collect();
                        draft.written.extend(&writes);
                        let letter = || DraftLetter::Atomic(vec![(*x, value)], writes.clone(), Some(*x));
                        self.add(draft, from, *step, reaction.targets, letter)?;
                    }
                }
                Offer::Locked(edge, control) => self.add_locked(draft, from, *edge, *control)?,
            }
        }
        Ok(())
    }

    fn add(
        &self,
        draft: &mut Draft,
        from: StateId,
        step: Step,
        targets: Targets,
        letter: impl Fn() -> DraftLetter,
    ) -> Result<(), Unsupported> {
        let locals: Vec<LocalId> = match targets.single() {
            Some(only) => vec![only],
            None => self.locals.list(targets).to_vec(),
        };
        for local in locals {
            note_work(1);
            let to = self.state(draft, local)?;
            draft.edges.push(DraftEdge { from, to, letter: letter(), step });
        }
        Ok(())
    }

    /// A locked block is one atomic step for each combination of values that it may find.
    fn add_locked(&self, draft: &mut Draft, from: StateId, edge: EdgeId, control: Control) -> Result<(), Unsupported> {
        let local = Local::new(self.program, edge);
        let Op::Locked(body) = &local.edge.op else { unreachable!("the offer is a locked block") };
        let mut read = BTreeSet::new();
        read_by(self.program, body, &mut read);
        let read: Vec<LocationId> = read.into_iter().collect();
        let registers = draft.states[from as usize].registers.to_vec();
        for found in valuations(self.held, &read)? {
            note_work(WORK_OF_STATE);
            let mut contents = vec![UNTOUCHED; self.program.locations().len()];
            for (x, value) in read.iter().zip(&found) {
                contents[x.index()] = *value;
            }
            let start = Block { registers: registers.clone(), contents: contents.clone() };
            for (choice, end) in run_block(&local, body, start).into_iter().enumerate() {
                let choice = u32::try_from(choice).expect("fewer than 2^32 outcomes");
                let step = Step { process: local.edge.process, action: Action::Edge { edge, choice } };
                let after = end.as_ref().map_or(contents.clone(), |block| block.contents.clone());
                let changed = self.program.locations().indices().filter(|x| after[x.index()] != contents[x.index()]);
                let writes: Vec<_> = changed.map(|x| (x, after[x.index()])).collect();
                draft.written.extend(&writes);
                let landed = self.automaton.landed(local.edge.process, control, end.map(|block| block.registers));
                let guards: Vec<_> = read.iter().copied().zip(found.iter().copied()).collect();
                for target in self.automaton.settled(landed) {
                    let to = self.state(draft, self.automaton.intern(target))?;
                    let letter = DraftLetter::Atomic(guards.clone(), writes.clone(), None);
                    draft.edges.push(DraftEdge { from, to, letter, step });
                }
            }
        }
        Ok(())
    }
}

/// Stands for the contents of a location that a locked block does not read; no domain that is small enough to be
/// enumerated holds it.
const UNTOUCHED: Value = Value::MIN;

fn read_by(program: &Program, body: &[Micro], out: &mut BTreeSet<LocationId>) {
    for micro in body {
        match micro {
            Micro::Load(_, place) => out.extend(program.locations_of(place)),
            Micro::Choose(branches) => branches.iter().for_each(|branch| read_by(program, branch, out)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Store(..) => {}
        }
    }
}

/// Every combination of values of some locations.
fn valuations(
    held: &IndexVec<LocationId, BTreeSet<Value>>,
    locations: &[LocationId],
) -> Result<Vec<Vec<Value>>, Unsupported> {
    let mut out = vec![Vec::new()];
    for &x in locations {
        out = out.iter().flat_map(|found| held[x].iter().map(move |&value| [&found[..], &[value]].concat())).collect();
        if out.len() > MAX_VALUATIONS {
            return Err(too_large("an `atomic` block reads too many combinations of values"));
        }
    }
    Ok(out)
}

fn finish(
    program: &Program,
    merges: bool,
    held: &IndexVec<LocationId, BTreeSet<Value>>,
    drafts: &IndexVec<ProcessId, Draft>,
) -> Result<RegisterFree, Unsupported> {
    let values: IndexVec<LocationId, Vec<Value>> = held.iter().map(|values| values.iter().copied().collect()).collect();
    let datum = |x: LocationId, value: Value| -> Datum {
        let index = values[x].binary_search(&value).expect("the values of a location are closed under writes");
        Datum::try_from(index).expect("few values: checked when they were collected")
    };
    let initial = program.locations().iter_enumerated().map(|(x, location)| {
        let starts = initial_values(location.initial, location.domain)?;
        Ok(starts.into_iter().map(|value| datum(x, value)).collect())
    });
    let initial: IndexVec<LocationId, Vec<Datum>> = initial.collect::<Result<Vec<_>, Unsupported>>()?.into();
    let built = drafts.iter_enumerated().map(|(id, draft)| (id, finished(draft, &datum)));
    if !merges {
        let processes = built.map(|(_, process)| process).collect();
        return Ok(RegisterFree { initial, processes, values, unmerged: IndexVec::new() });
    }
    let (mut processes, mut unmerged) = (IndexVec::new(), IndexVec::new());
    for (id, process) in built {
        let (merged, before) = merged(program, id, process);
        processes.push(merged);
        unmerged.push(before);
    }
    Ok(RegisterFree { initial, processes, values, unmerged })
}

fn finished(draft: &Draft, datum: &impl Fn(LocationId, Value) -> Datum) -> ProcessAutomaton {
    let pairs = |pairs: &[(LocationId, Value)]| pairs.iter().map(|&(x, value)| (x, datum(x, value))).collect();
    let mut process = ProcessAutomaton {
        states: draft.states.clone(),
        initial: draft.initial.clone(),
        edges: Vec::new(),
        incoming: vec![Vec::new(); draft.states.len()],
        outgoing: vec![Vec::new(); draft.states.len()],
    };
    for edge in &draft.edges {
        let letter = match &edge.letter {
            DraftLetter::Nop => Letter::Nop,
            DraftLetter::Read(x, value) => Letter::Read(*x, datum(*x, *value)),
            DraftLetter::Write(x, value) => Letter::Write(*x, datum(*x, *value)),
            DraftLetter::Fence(kind) => Letter::Fence(*kind),
            DraftLetter::Atomic(guards, writes, waits_for) => {
                Letter::Atomic(Atomic { guards: pairs(guards), writes: pairs(writes), waits_for: *waits_for })
            }
        };
        let id = u32::try_from(process.edges.len()).expect("fewer than 2^32 edges");
        process.incoming[edge.to as usize].push(id);
        process.outgoing[edge.from as usize].push(id);
        process.edges.push(LetterEdge { from: edge.from, to: edge.to, letter, step: edge.step });
    }
    process
}
