//! Partial write serialization as a well-structured system: bad constraints, predecessors, order.
//!
//! | rule | condition | effect |
//! |---|---|---|
//! | write `x,v` | – | append v to the store buffer of x |
//! | serialize `x` | the store buffer of x holds v as its oldest | take v out; append the newest snapshot with x := v |
//! | update | pointer not at the newest message | the pointer moves one message on |
//! | read `x,v` | v is newest in the store buffer of x | – |
//! | | or that is empty, and the own(x) message, or else the pointer's, has x = v | – |
//! | store-store fence | all store buffers of the process are empty | – |
//! | full fence | the same, and pointer at the newest message | – |
//! | atomic update of `x` | the store buffer of x is empty, pointer at the newest message | append, pointer follows |
//! | locked block | as for a full fence | append all writes as one message, pointer follows |
//!
//! Atomic steps have guards besides, which hold in the newest message. In the dialect in which an atomic update drains
//! all locations, it waits as a locked block does.
//!
//! Lång, _Sound and Complete Reachability Analysis under PSO_, Uppsala 2013. Departures: the order compares only what
//! matters ([`constraint`](super::constraint)); an append takes along any processes that point at the newest message
//! (= the append, then their updates); an atomic step that writes nothing appends nothing; and the restriction of
//! updates is another one, as follows.
//!
//! All but serializations and atomic steps append nothing and need only messages that are there, so they may be taken
//! as soon as their process comes to them, and updates before the others. In runs of that form an update that does not
//! go along with an append comes after a read, and a process that does not go along with an append is one that waits
//! before a store-store fence. The paper has it the other way round: stores are serialized right after a write, and
//! reads come late, from a pointer that lags. Both forms reach everything; a search that asks for both at once, "lag
//! only at a fence" and "serialize only after a write", does not.

use crate::engine::automaton::{Atomic, Datum, Letter, LetterEdge, RegisterFree};
use crate::engine::backward::bad::{Bad, bad_situations};
use crate::engine::backward::channel::{Channel, Message};
use crate::engine::backward::facts::{Facts, Stage, waits_for, writers};
use crate::engine::backward::key::Key;
use crate::engine::backward::processes::Processes;
use crate::engine::backward::pws::constraint::Constraint;
use crate::engine::backward::pws::last_writes::LastWrites;
use crate::engine::backward::pws::stores::Stores;
use crate::engine::backward::snapshot::{STAR, may_be, memory_before};
use crate::engine::backward::{Indexed, WellStructured};
use crate::memory::PsoRmw;
use crate::program::{FenceKind, LocationId, ProcessId, Program};
use crate::util::{BitSet, Idx, IndexVec};

/// What leads from one configuration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Whose step it is.
    pub process: ProcessId,
    /// What it does.
    pub kind: RuleKind,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// An edge that appends no message.
    Step(u32),
    /// An atomic edge that appends a message, to which these processes move on.
    Append(u32, Processes),
    /// A store goes from its buffer to the channel, and these processes move on to it.
    Serialize(LocationId, Processes),
    /// The pointer moves on.
    Update,
}

/// Which reductions are on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reducing {
    /// Updates after reads or along with an append only; whoever lets others append waits before a fence.
    pub update_steps: bool,
    /// Pointers lag only between a store-store fence and a read.
    pub lag_region: bool,
    /// What is pending or own are the last writes.
    pub last_writes: bool,
    /// What one process writes holds, in the newest message, what it wrote last.
    pub single_writer: bool,
    /// Right of the last write to a location all messages agree on it.
    pub suffix_equality: bool,
}

/// Partial write serialization of a program.
#[derive(Debug)]
pub(super) struct PartialWriteSerialization<'a> {
    source: &'a Program,
    program: &'a RegisterFree,
    rmw: PsoRmw,
    facts: Facts,
    last_writes: IndexVec<ProcessId, Option<LastWrites>>,
    writers: IndexVec<LocationId, BitSet>,
    reducing: Reducing,
}

/// Where predecessors go.
type Out = Vec<(Rule, Constraint)>;

impl<'a> PartialWriteSerialization<'a> {
    /// Partial write serialization of a program in register-free form.
    pub(super) fn new(source: &'a Program, program: &'a RegisterFree, rmw: PsoRmw, reducing: Reducing) -> Self {
        let facts = Facts::new(program, Stage::PerLocation(rmw));
        let last_writes = program.processes.iter().map(|process| LastWrites::new(process, rmw)).collect();
        Self { source, program, rmw, facts, last_writes, writers: writers(program), reducing }
    }

    /// The predecessors by edges of a process.
    fn by_edges(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let automaton = &self.program.processes[process];
        let is_stored = of.stores.of(process).next().is_some();
        let is_drained = of.channel.is_drained(process);
        for &id in &automaton.incoming[of.states[process] as usize] {
            let edge = &automaton.edges[id as usize];
            let mut before = of.clone();
            before.states[process] = edge.from;
            let step = Rule { process, kind: RuleKind::Step(id) };
            match &edge.letter {
                Letter::Nop => self.offer(step, before, out),
                Letter::Read(x, value) => {
                    if before.find(process, *x, *value) {
                        self.offer(step, before, out);
                    }
                }
                Letter::Write(x, value) => self.by_write(step, (*x, *value), before, out),
                Letter::Fence(FenceKind::StoreStore) if !is_stored => self.offer(step, before, out),
                Letter::Fence(FenceKind::Full) if !is_stored && is_drained => self.offer(step, before, out),
                Letter::Atomic(atomic) if is_drained && self.may_act(of, process, atomic) => {
                    self.by_atomic(before, (process, id), (edge, atomic), out);
                }
                Letter::Fence(_) | Letter::Atomic(_) => {}
            }
        }
    }

    /// Whether no store is pending for which an atomic step waits.
    fn may_act(&self, of: &Constraint, process: ProcessId, atomic: &Atomic) -> bool {
        of.stores.of(process).all(|(x, _)| !waits_for(atomic.waits_for, x, self.rmw))
    }

    /// Write: what is stored now is the newest. It may have come after another store to its location that does not
    /// matter any more; or, if none was pending, have shadowed an own message.
    fn by_write(&self, rule: Rule, (x, value): (LocationId, Datum), mut before: Constraint, out: &mut Out) {
        let process = rule.process;
        let mut older = before.stores.get(process, x).to_vec();
        if older.pop().is_none_or(|newest| !may_be(newest, value)) {
            return;
        }
        let mut hiding = before.clone();
        hiding.stores.set(process, x, [&older[..], &[STAR]].concat());
        self.offer(rule, hiding, out);
        if older.is_empty() {
            for channel in before.channel.before_shadowing(process, x) {
                let mut shadowing = Constraint { channel, ..before.clone() };
                shadowing.stores.set(process, x, Vec::new());
                self.offer(rule, shadowing, out);
            }
        }
        before.stores.set(process, x, older);
        self.offer(rule, before, out);
    }

    /// Atomic steps.
    fn by_atomic(
        &self,
        mut before: Constraint,
        (process, id): (ProcessId, u32),
        (edge, atomic): (&LetterEdge, &Atomic),
        out: &mut Out,
    ) {
        if atomic.writes.is_empty() {
            if atomic.guards.iter().all(|&(x, value)| before.channel.find(process, x, value)) {
                self.offer(Rule { process, kind: RuleKind::Step(id) }, before, out);
            }
            return;
        }
        let newest = before.channel.newest();
        let followers = newest.pointers;
        if newest.own.is_some() || !self.may_append(&before, followers) {
            return;
        }
        let Some(memory) = memory_before(newest.memory.clone(), &edge.letter) else { return };
        let rule = Rule { process, kind: RuleKind::Append(id, followers) };
        self.by_append(rule, &before, &Message { pointers: followers, own: None, memory }, out);
    }

    /// Serialize: the newest message is own of the process and location if no store is left behind, unless the process
    /// goes along.
    fn by_serialization(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let newest = of.channel.newest();
        let followers = newest.pointers;
        if !self.may_append(of, followers) {
            return;
        }
        for &x in &self.facts.of[process].written {
            let later = of.stores.get(process, x);
            let is_own = later.is_empty() && !followers.contains(process);
            if newest.own != is_own.then_some((process, x)) {
                continue;
            }
            let mut before = of.clone();
            before.stores.set(process, x, [&[newest.memory[x]], later].concat());
            let mut memory = newest.memory.clone();
            memory[x] = STAR;
            let rule = Rule { process, kind: RuleKind::Serialize(x, followers) };
            self.by_append(rule, &before, &Message { pointers: followers, own: None, memory }, out);
        }
    }

    /// Before a message was appended; the newest message was this, as far as the append tells.
    fn by_append(&self, rule: Rule, before: &Constraint, base: &Message, out: &mut Out) {
        for channel in before.channel.before_append(base) {
            self.offer(rule, Constraint { channel, ..before.clone() }, out);
        }
    }

    /// Whether all who do not go along with an append wait before a store-store fence.
    fn may_append(&self, of: &Constraint, followers: Processes) -> bool {
        let waits = |(process, &state): (ProcessId, &u32)| {
            followers.contains(process) || self.facts.of[process].samples[state as usize]
        };
        !self.reducing.update_steps || of.states.iter_enumerated().all(waits)
    }

    /// Update.
    fn by_update(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        if self.reducing.update_steps && !self.facts.of[process].has_read[of.states[process] as usize] {
            return;
        }
        let written = self.facts.of[process].written.iter().copied();
        let serialized = written.filter(|x| !of.stores.is_pending(process, *x));
        for channel in of.channel.before_update(process, serialized) {
            let rule = Rule { process, kind: RuleKind::Update };
            self.offer(rule, Constraint { channel, ..of.clone() }, out);
        }
    }

    /// Adds a predecessor unless a fact excludes it.
    fn offer(&self, rule: Rule, mut before: Constraint, out: &mut Out) {
        if self.admit(&mut before) {
            out.push((rule, before));
        }
    }

    /// Sharpens a constraint by the facts; `false` if they exclude it.
    fn admit(&self, constraint: &mut Constraint) -> bool {
        // Whoever appended the newest message points at it, has it as own, or has more to come.
        if !constraint.channel.newest().is_marked() && constraint.stores.is_empty() {
            return false;
        }
        let is_fine = self.program.processes.indices().all(|process| {
            let state = constraint.states[process] as usize;
            let may_lag = !self.reducing.lag_region || self.facts.of[process].may_lag[state];
            (may_lag || constraint.channel.is_drained(process))
                && (!self.reducing.last_writes || self.admit_last_writes(constraint, process))
                && (!self.reducing.single_writer || self.admit_newest(constraint, process))
        });
        is_fine && (!self.reducing.suffix_equality || self.admit_suffixes(constraint))
    }

    /// What is pending was written since the process last waited for it; the newest of it, and what is own, was written
    /// last.
    fn admit_last_writes(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let pending = &self.facts.of[process].pending;
        let state = constraint.states[process] as usize;
        let is_fine = constraint.stores.of(process).all(|(x, stores)| {
            let any = &pending[x.index()][state].any;
            stores.iter().all(|&store| any.iter().any(|value| may_be(store, value as Datum)))
        });
        is_fine && self.last_writes[process].as_ref().is_none_or(|it| it.admit(constraint, process))
    }

    /// The newest message holds, of what only this process writes and has not pending, what it can have written last.
    fn admit_newest(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let state = constraint.states[process] as usize;
        self.facts.of[process].sole.iter().all(|(x, held)| {
            let cell = &mut constraint.channel.newest_mut().memory[*x];
            if constraint.stores.is_pending(process, *x) {
                return true;
            }
            if *cell != STAR {
                return held[state].contains(usize::from(*cell));
            }
            let mut possible = held[state].iter();
            if let (Some(only), None) = (possible.next(), possible.next()) {
                *cell = only as Datum;
            }
            true
        })
    }

    /// Right of where all its writers read a location of which they have nothing pending, nobody has written it: all
    /// messages agree on it.
    fn admit_suffixes(&self, constraint: &mut Constraint) -> bool {
        self.writers.iter_enumerated().all(|(x, writers)| {
            let mut writers = writers.iter().map(ProcessId::from_usize);
            let start = writers.try_fold(0, |start, process| {
                let is_serialized = !constraint.stores.is_pending(process, x);
                is_serialized.then(|| start.max(constraint.channel.last_write(process, x)))
            });
            start.is_none_or(|start| constraint.channel.agree(start, x))
        })
    }
}

impl WellStructured for PartialWriteSerialization<'_> {
    type Constraint = Constraint;
    type Rule = Rule;

    /// A bad configuration can serialize all stores and move all pointers to the newest message.
    fn bad(&self) -> Vec<Constraint> {
        let mut out = Vec::new();
        // No process is left open: which stores it has pending would have to be guessed.
        for Bad { states: named, memory: cells } in bad_situations(self.source, self.program, false) {
            let mut states = IndexVec::filled(self.program.processes.len(), 0);
            named.into_iter().for_each(|(process, state)| states[process] = state);
            let mut memory = IndexVec::filled(self.program.values.len(), STAR);
            cells.into_iter().for_each(|(x, value)| memory[x] = value);
            let channel = Channel::of_one(self.program.processes.indices().collect(), memory);
            let mut constraint = Constraint { states, stores: Stores::default(), channel };
            if self.admit(&mut constraint) {
                out.push(constraint);
            }
        }
        out
    }

    fn predecessors(&self, of: &Constraint, out: &mut Out) {
        for process in self.program.processes.indices() {
            self.by_edges(of, process, out);
            self.by_serialization(of, process, out);
            self.by_update(of, process, out);
        }
    }

    fn entails(&self, smaller: &Constraint, larger: &Constraint) -> bool {
        larger.covers(smaller)
    }

    fn is_initial(&self, constraint: &Constraint) -> bool {
        let starts = |(process, state)| self.program.processes[process].initial.contains_key(state);
        let memory = &constraint.channel.newest().memory;
        let holds = |(x, initial): (LocationId, &Vec<Datum>)| initial.iter().any(|&value| may_be(memory[x], value));
        constraint.stores.is_empty()
            && constraint.channel.0.len() == 1
            && constraint.states.iter_enumerated().all(starts)
            && self.program.initial.iter_enumerated().all(holds)
    }
}

impl Indexed for PartialWriteSerialization<'_> {
    /// No process is left open.
    type Outline = ();

    fn outline(&self, _constraint: &Constraint) {}

    fn is_within(&self, (): &(), (): &()) -> bool {
        true
    }

    fn bucket(&self, constraint: &Constraint, (): &()) -> u64 {
        let mut key = Key::new(0);
        constraint.states.iter().for_each(|&state| key.mix(u64::from(state)));
        for (process, x) in constraint.stores.pending() {
            key.mix((process.index() as u64) << 32 | x.index() as u64);
        }
        key.mix(u64::MAX);
        constraint.channel.marks(Processes::ALL).flatten().for_each(|mark| key.mix(mark));
        key.get()
    }

    fn weight(&self, constraint: &Constraint) -> u32 {
        u32::try_from(constraint.channel.0.len() + constraint.stores.len()).unwrap_or(u32::MAX)
    }

    fn bytes(&self) -> u64 {
        // Most channels are shorter than this, and few stores are pending.
        const MESSAGES: u64 = 3;
        const STORES: u64 = 500;
        self.program.processes.len() as u64 * 4 + STORES + MESSAGES * (48 + self.program.values.len() as u64 * 2)
    }
}
