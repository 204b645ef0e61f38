//! The single-buffer semantics as a well-structured system: bad constraints, predecessors, order.
//!
//! | rule | condition | effect |
//! |---|---|---|
//! | write `x,v` | – | append the newest snapshot with x := v; it is own(x) |
//! | update | pointer not at the newest message | the pointer moves one message on |
//! | read `x,v` | the own(x) message, or else the pointer's, has x = v | – |
//! | fence | pointer at the newest message | – |
//! | atomic | pointer at the newest message, guards hold there | append all writes as one message, pointer follows |
//!
//! Abdulla, Atig, Chen, Leonardsson, Rezine, _Counter-example guided fence insertion under TSO_, TACAS 2012.
//! Departures: the order compares only headers that matter ([`constraint`](super::constraint)); an append takes along
//! any processes that point at the newest message (= the append, then their updates); an atomic step that writes
//! nothing appends nothing.
//!
//! Reads, fences, updates and local steps need messages that are there and add none, so they may be taken as soon as
//! their process comes to them, and updates before local steps and writes. In runs of that form an update that does not
//! go along with an append comes after a read, and a thread that does not go along with the append of another has
//! nothing left to do but to write.

use crate::engine::automaton::{Atomic, Datum, Letter, LetterEdge, RegisterFree};
use crate::engine::backward::bad::{Bad, bad_situations};
use crate::engine::backward::channel::{Channel, Message};
use crate::engine::backward::facts::{Facts, Stage, writers, writes};
use crate::engine::backward::key::Key;
use crate::engine::backward::processes::Processes;
use crate::engine::backward::single_buffer::constraint::{ABSENT, Constraint};
use crate::engine::backward::snapshot::{STAR, may_be, memory_before};
use crate::engine::backward::{Indexed, WellStructured};
use crate::program::{LocationId, ProcessId, Program};
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
    /// An edge that appends nothing.
    Step(u32),
    /// An edge that appends a message, to which these processes move on.
    Append(u32, Processes),
    /// The pointer moves on.
    Update,
}

/// Which reductions are on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reducing {
    /// Updates after reads or along with an append only; whoever lets others append will write.
    pub update_steps: bool,
    /// Pointers lag only between a write and a read.
    pub lag_region: bool,
    /// Own messages are the last writes.
    pub last_writes: bool,
    /// What one process writes holds, in the newest message, what it wrote last.
    pub single_writer: bool,
    /// Right of the last write to a location all messages agree on it.
    pub suffix_equality: bool,
    /// Processes that are not needed are left open.
    pub absent: bool,
}

/// The single-buffer semantics of a program.
#[derive(Debug)]
pub(super) struct SingleBuffer<'a> {
    source: &'a Program,
    program: &'a RegisterFree,
    facts: Facts,
    writers: IndexVec<LocationId, BitSet>,
    reducing: Reducing,
}

/// Where predecessors go.
type Out = Vec<(Rule, Constraint)>;

impl<'a> SingleBuffer<'a> {
    /// The single-buffer semantics of a program in register-free form.
    pub(super) fn new(source: &'a Program, program: &'a RegisterFree, reducing: Reducing) -> Self {
        let facts = Facts::new(program, Stage::None);
        let writers = writers(program);
        Self { source, program, facts, writers, reducing }
    }

    /// The predecessors by steps of a process that the constraint leaves open: only appends that matter do, and its
    /// pointer can be moved to the newest message first.
    fn newcomer(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let program = self.program;
        if of.channel.newest().own.is_some() {
            return;
        }
        for (id, edge) in program.processes[process].edges.iter().enumerate() {
            let matters = |&(x, value): &(LocationId, Datum)| of.channel.newest().memory[x] == value;
            if writes(&edge.letter).iter().any(matters) {
                self.by_append(of, process, (id as u32, edge), out);
            }
        }
    }

    /// The predecessors by edges of a process that is present.
    fn by_edges(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let program = self.program;
        let automaton = &program.processes[process];
        let is_drained = of.channel.is_drained(process);
        for &id in &automaton.incoming[of.states[process] as usize] {
            let edge = &automaton.edges[id as usize];
            let mut before = moved(of, process, edge);
            let found: &[(LocationId, Datum)] = match &edge.letter {
                Letter::Nop => &[],
                Letter::Read(x, value) => &[(*x, *value)],
                Letter::Fence(_) if is_drained => &[],
                Letter::Atomic(Atomic { guards, writes, .. }) if is_drained && writes.is_empty() => guards,
                Letter::Write(..) => {
                    self.by_append(of, process, (id, edge), out);
                    continue;
                }
                Letter::Atomic(atomic) if is_drained && !atomic.writes.is_empty() => {
                    self.by_append(of, process, (id, edge), out);
                    continue;
                }
                Letter::Fence(_) | Letter::Atomic(_) => continue,
            };
            if found.iter().all(|&(x, value)| before.channel.find(process, x, value)) {
                self.offer(Rule { process, kind: RuleKind::Step(id) }, before, out);
            }
        }
    }

    /// Write, and atomic steps that write.
    fn by_append(&self, of: &Constraint, process: ProcessId, (id, edge): (u32, &LetterEdge), out: &mut Out) {
        let newest = of.channel.newest();
        let is_absent = of.states[process] == ABSENT;
        let is_drained = is_absent || newest.pointers.contains(process);
        let own = match (&edge.letter, is_drained) {
            (Letter::Write(x, _), false) => Some(*x),
            (Letter::Write(..) | Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_), _) => None,
        };
        if newest.own != own.map(|x| (process, x)) || !self.may_append(of, process) {
            return;
        }
        let Some(memory) = memory_before(newest.memory.clone(), &edge.letter) else { return };
        let followers = if is_drained { newest.pointers.with(process) } else { newest.pointers };
        let base = Message { pointers: followers, own: None, memory };
        let rule = Rule { process, kind: RuleKind::Append(id, followers) };
        let before = moved(of, process, edge);
        for channel in of.channel.before_append(&base) {
            let shadowed = own.map_or_else(Vec::new, |x| channel.before_shadowing(process, x));
            for channel in shadowed.into_iter().chain([channel]) {
                self.offer(rule, Constraint { channel, ..before.clone() }, out);
            }
        }
    }

    /// Whether all who do not go along with an append have nothing else to do.
    fn may_append(&self, of: &Constraint, process: ProcessId) -> bool {
        let mut others = of.states.iter_enumerated().filter(|(id, state)| *id != process && **state != ABSENT);
        let waits = |(id, state): (ProcessId, &u32)| {
            of.channel.newest().pointers.contains(id) || self.facts.of[id].samples[*state as usize]
        };
        !self.reducing.update_steps || others.all(waits)
    }

    /// Update.
    fn by_update(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        if self.reducing.update_steps && !self.facts.of[process].has_read[of.states[process] as usize] {
            return;
        }
        let written = self.facts.of[process].written.iter().copied();
        for channel in of.channel.before_update(process, written) {
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
        let is_somebody_absent = constraint.states.iter().any(|state| *state == ABSENT);
        if !is_somebody_absent && !constraint.channel.newest().is_marked() {
            return false;
        }
        let is_fine = self.program.processes.indices().all(|process| {
            let state = constraint.states[process];
            if state == ABSENT {
                return true;
            }
            let is_drained = constraint.channel.is_drained(process);
            let facts = &self.facts.of[process];
            let may_lag = is_drained || !self.reducing.lag_region || facts.may_lag[state as usize];
            may_lag
                && (!self.reducing.last_writes || is_drained || self.admit_own(constraint, process))
                && (!self.reducing.single_writer || self.admit_newest(constraint, process))
        });
        is_fine && (!self.reducing.suffix_equality || self.admit_suffixes(constraint))
    }

    /// The newest message holds, of what only this process writes, what it can have written last.
    fn admit_newest(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let state = constraint.states[process] as usize;
        let newest = constraint.channel.newest_mut();
        self.facts.of[process].sole.iter().all(|(x, held)| {
            let cell = &mut newest.memory[*x];
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

    /// The own messages are a suffix of some last writes; a `*` that can be but one value is that value.
    fn admit_own(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let Some(last_writes) = &self.facts.of[process].last_writes else { return true };
        let word = &constraint.channel.0;
        let own: Vec<(usize, LocationId)> = word
            .iter()
            .enumerate()
            .filter_map(|(at, message)| message.own.filter(|own| own.0 == process).map(|own| (at, own.1)))
            .collect();
        let matching = last_writes[constraint.states[process] as usize].iter().filter_map(|writes| {
            let suffix = &writes[writes.len().checked_sub(own.len())?..];
            let fits = |(&(at, x), &(y, value)): (&(usize, LocationId), &(LocationId, Datum))| {
                x == y && may_be(word[at].memory[x], value)
            };
            own.iter().zip(suffix).all(fits).then_some(suffix)
        });
        let matching: Vec<_> = matching.collect();
        let Some(first) = matching.first() else { return false };
        let only = |i: usize| matching.iter().all(|suffix| suffix[i] == first[i]).then(|| first[i].1);
        let known: Vec<_> = (0..own.len()).map(only).collect();
        for (&(at, x), value) in own.iter().zip(known) {
            if let Some(value) = value {
                constraint.channel.0[at].memory[x] = value;
            }
        }
        true
    }

    /// Right of where all its writers read a location, nobody has written it: all messages agree on it.
    fn admit_suffixes(&self, constraint: &mut Constraint) -> bool {
        self.writers.iter_enumerated().all(|(x, writers)| {
            let mut writers = writers.iter().map(ProcessId::from_usize);
            let start = writers.try_fold(0, |start, process| {
                let is_present = constraint.states[process] != ABSENT;
                is_present.then(|| start.max(constraint.channel.last_write(process, x)))
            });
            start.is_none_or(|start| constraint.channel.agree(start, x))
        })
    }
}

impl WellStructured for SingleBuffer<'_> {
    type Constraint = Constraint;
    type Rule = Rule;

    /// A bad configuration can move all its pointers to the newest message.
    fn bad(&self) -> Vec<Constraint> {
        let mut out = Vec::new();
        for Bad { states: named, memory: cells } in bad_situations(self.source, self.program, self.reducing.absent) {
            let mut states = IndexVec::filled(self.program.processes.len(), ABSENT);
            named.into_iter().for_each(|(process, state)| states[process] = state);
            let mut memory = IndexVec::filled(self.program.values.len(), STAR);
            cells.into_iter().for_each(|(x, value)| memory[x] = value);
            let mut constraint = Constraint { states, channel: Channel::of_one(Processes::default(), memory) };
            constraint.channel.newest_mut().pointers = constraint.present();
            if self.admit(&mut constraint) {
                out.push(constraint);
            }
        }
        out
    }

    fn predecessors(&self, of: &Constraint, out: &mut Out) {
        for process in self.program.processes.indices() {
            if of.states[process] == ABSENT {
                self.newcomer(of, process, out);
            } else {
                self.by_edges(of, process, out);
                self.by_update(of, process, out);
            }
        }
    }

    fn entails(&self, smaller: &Constraint, larger: &Constraint) -> bool {
        larger.covers(smaller)
    }

    fn is_initial(&self, constraint: &Constraint) -> bool {
        let starts = |(process, state): (ProcessId, &u32)| {
            *state == ABSENT || self.program.processes[process].initial.contains_key(state)
        };
        let memory = &constraint.channel.newest().memory;
        let holds = |(x, initial): (LocationId, &Vec<Datum>)| initial.iter().any(|&value| may_be(memory[x], value));
        constraint.channel.0.len() == 1
            && constraint.states.iter_enumerated().all(starts)
            && self.program.initial.iter_enumerated().all(holds)
    }
}

impl Indexed for SingleBuffer<'_> {
    /// The processes that are left open, as a set of bits.
    type Outline = u64;

    fn outline(&self, constraint: &Constraint) -> u64 {
        let all: Processes = self.program.processes.indices().collect();
        all.0 & !constraint.present().0
    }

    fn is_within(&self, smaller: &u64, larger: &u64) -> bool {
        larger & smaller == *smaller
    }

    fn bucket(&self, constraint: &Constraint, open: &u64) -> u64 {
        key_among(constraint, Processes(!open & constraint.present().0))
    }

    fn weight(&self, constraint: &Constraint) -> u32 {
        u32::try_from(constraint.channel.0.len()).unwrap_or(u32::MAX)
    }

    fn bytes(&self) -> u64 {
        // Most buffers are shorter than this.
        const MESSAGES: u64 = 6;
        self.program.processes.len() as u64 * 4 + MESSAGES * (48 + self.program.values.len() as u64 * 2)
    }
}

/// States and marks of some processes, hashed.
fn key_among(constraint: &Constraint, present: Processes) -> u64 {
    let mut key = Key::new(present.0);
    for (_, &state) in constraint.states.iter_enumerated().filter(|(process, _)| present.contains(*process)) {
        key.mix(u64::from(state));
    }
    constraint.channel.marks(present).flatten().for_each(|mark| key.mix(mark));
    key.get()
}

fn moved(of: &Constraint, process: ProcessId, edge: &LetterEdge) -> Constraint {
    let mut before = of.clone();
    before.states[process] = edge.from;
    before
}
