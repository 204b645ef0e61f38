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
use crate::engine::backward::WellStructured;
use crate::engine::backward::bad::{Bad, bad_situations};
use crate::engine::backward::facts::{Facts, Stage};
use crate::engine::backward::single_buffer::constraint::{
    ABSENT, Constraint, Message, Processes, STAR, Snapshot, may_be, meet,
};
use crate::program::{LocationId, ProcessId, Program};
use crate::util::{BitSet, Idx, IndexVec};

/// What leads from one configuration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whose step it is.
    pub process: ProcessId,
    /// What it does.
    pub kind: RuleKind,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// An edge that appends nothing.
    Step(u32),
    /// An edge that appends a message, to which these processes move on.
    Append(u32, Processes),
    /// The pointer moves on.
    Update,
}

/// Which reductions are on.
#[derive(Clone, Copy, Debug)]
pub struct Reducing {
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
pub struct SingleBuffer<'a> {
    source: &'a Program,
    program: &'a RegisterFree,
    facts: Facts,
    writers: IndexVec<LocationId, BitSet>,
    reducing: Reducing,
}

/// Where predecessors go.
type Out = Vec<(Rule, Constraint)>;

/// A message that an append has just added, taken off again.
struct Append {
    rule: Rule,
    /// The constraint without the message, its process where it was.
    before: Constraint,
    /// The newest message before, as far as the append tells, with the processes that it took along.
    base: Message,
    /// The location, if the message is own of its process.
    own: Option<LocationId>,
}

impl<'a> SingleBuffer<'a> {
    /// The single-buffer semantics of a program in register-free form.
    pub fn new(source: &'a Program, program: &'a RegisterFree, reducing: Reducing) -> Self {
        let facts = Facts::new(program, Stage::None);
        let writers = writers(program);
        Self { source, program, facts, writers, reducing }
    }

    fn open_snapshot(&self) -> Snapshot {
        IndexVec::filled(self.program.values.len(), STAR)
    }

    /// The predecessors by steps of a process that the constraint leaves open: only appends that matter do, and its
    /// pointer can be moved to the newest message first.
    fn newcomer(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let program = self.program;
        if of.newest().own.is_some() {
            return;
        }
        for (id, edge) in program.processes[process].edges.iter().enumerate() {
            let matters = |&(x, value): &(LocationId, Datum)| of.newest().memory[x] == value;
            if writes(&edge.letter).iter().any(matters) {
                self.by_append(of, process, (id as u32, edge), out);
            }
        }
    }

    /// The predecessors by edges of a process that is present.
    fn by_edges(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let program = self.program;
        let automaton = &program.processes[process];
        let is_drained = of.newest().pointers.contains(process);
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
            if found.iter().all(|&(x, value)| find(&mut before, process, x, value)) {
                self.offer(Rule { process, kind: RuleKind::Step(id) }, before, out);
            }
        }
    }

    /// Write, and atomic steps that write.
    fn by_append(&self, of: &Constraint, process: ProcessId, (id, edge): (u32, &LetterEdge), out: &mut Out) {
        let newest = of.newest();
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
        let mut before = moved(of, process, edge);
        before.word.pop();
        let base = Message { pointers: followers, own: None, memory };
        let rule = Rule { process, kind: RuleKind::Append(id, followers) };
        let append = Append { rule, before, base, own };
        self.onto_known(&append, out);
        self.onto_fresh(&append, out);
    }

    /// Whether all who do not go along with an append have nothing else to do.
    fn may_append(&self, of: &Constraint, process: ProcessId) -> bool {
        let mut others = of.states.iter_enumerated().filter(|(id, state)| *id != process && **state != ABSENT);
        let waits = |(id, state): (ProcessId, &u32)| {
            of.newest().pointers.contains(id) || self.facts.of[id].samples[*state as usize]
        };
        !self.reducing.update_steps || others.all(waits)
    }

    /// The message before the appended one is in the constraint.
    fn onto_known(&self, append: &Append, out: &mut Out) {
        let mut before = append.before.clone();
        let Some(newest) = before.word.last_mut() else { return };
        for (cell, told) in newest.memory.iter_mut().zip(append.base.memory.iter()) {
            let Some(both) = meet(*cell, *told) else { return };
            *cell = both;
        }
        newest.pointers = newest.pointers.union(append.base.pointers);
        self.shadowing(append, before, out);
    }

    /// The message before the appended one is one that does not matter after it.
    fn onto_fresh(&self, append: &Append, out: &mut Out) {
        let mut before = append.before.clone();
        before.word.push(append.base.clone());
        self.shadowing(append, before, out);
    }

    /// An own message may have shadowed an older one, which was own until then: one that is there, or one that does not
    /// matter any more.
    fn shadowing(&self, append: &Append, before: Constraint, out: &mut Out) {
        let process = append.rule.process;
        if let Some(x) = append.own {
            for at in before.pointer(process) + 1..before.word.len() {
                if before.word[at].own.is_none() {
                    let mut known = before.clone();
                    known.word[at].own = Some((process, x));
                    self.offer(append.rule, known, out);
                }
                let mut fresh = before.clone();
                let message =
                    Message { pointers: Processes::default(), own: Some((process, x)), memory: self.open_snapshot() };
                fresh.word.insert(at, message);
                self.offer(append.rule, fresh, out);
            }
        }
        self.offer(append.rule, before, out);
    }

    /// Update: the pointer was one message further left, at a known message or at one that does not matter any more;
    /// the message it moved to may have been own.
    fn by_update(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        if self.reducing.update_steps && !self.facts.of[process].has_read[of.states[process] as usize] {
            return;
        }
        let at = of.pointer(process);
        let mut left = of.clone();
        left.word[at].pointers = left.word[at].pointers.without(process);
        let mut tagged = vec![left.clone()];
        if left.word[at].own.is_none() {
            let is_free = |x: &LocationId| of.word.iter().all(|message| message.own != Some((process, *x)));
            for x in self.facts.of[process].written.iter().copied().filter(is_free) {
                let mut own = left.clone();
                own.word[at].own = Some((process, x));
                tagged.push(own);
            }
        }
        let rule = Rule { process, kind: RuleKind::Update };
        for left in tagged {
            let mut fresh = left.clone();
            let pointers = Processes::default().with(process);
            fresh.word.insert(at, Message { pointers, own: None, memory: self.open_snapshot() });
            self.offer(rule, fresh, out);
            if at > 0 {
                let mut known = left;
                known.word[at - 1].pointers = known.word[at - 1].pointers.with(process);
                self.offer(rule, known, out);
            }
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
        if !is_somebody_absent && !constraint.newest().is_marked() {
            return false;
        }
        let is_fine = self.program.processes.indices().all(|process| {
            let state = constraint.states[process];
            if state == ABSENT {
                return true;
            }
            let is_drained = constraint.newest().pointers.contains(process);
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
        let newest = constraint.word.last_mut().expect("the buffer is never empty");
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
        let word = &constraint.word;
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
                constraint.word[at].memory[x] = value;
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
                is_present.then(|| start.max(constraint.last_write(process, x)))
            });
            let Some(start) = start else { return true };
            let suffix = &mut constraint.word[start..];
            let Some(value) = suffix.iter().try_fold(STAR, |value, message| meet(value, message.memory[x])) else {
                return false;
            };
            suffix.iter_mut().for_each(|message| message.memory[x] = value);
            true
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
            let mut memory = self.open_snapshot();
            cells.into_iter().for_each(|(x, value)| memory[x] = value);
            let newest = Message { pointers: Processes::default(), own: None, memory };
            let mut constraint = Constraint { states, word: vec![newest] };
            constraint.word[0].pointers = constraint.present();
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
        let memory = &constraint.newest().memory;
        let holds = |(x, initial): (LocationId, &Vec<Datum>)| initial.iter().any(|&value| may_be(memory[x], value));
        constraint.word.len() == 1
            && constraint.states.iter_enumerated().all(starts)
            && self.program.initial.iter_enumerated().all(holds)
    }

    fn open(&self, constraint: &Constraint) -> u64 {
        let all = self.program.processes.indices().fold(Processes::default(), Processes::with);
        all.0 & !constraint.present().0
    }

    fn key(&self, constraint: &Constraint, open: u64) -> u64 {
        key_among(constraint, Processes(!open & constraint.present().0))
    }

    fn weight(&self, constraint: &Constraint) -> u32 {
        u32::try_from(constraint.word.len()).unwrap_or(u32::MAX)
    }

    fn bytes(&self) -> u64 {
        // Most buffers are shorter than this.
        const MESSAGES: u64 = 6;
        self.program.processes.len() as u64 * 4 + MESSAGES * (48 + self.program.values.len() as u64 * 2)
    }
}

/// States and marks of some processes, hashed.
fn key_among(constraint: &Constraint, present: Processes) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ present.0;
    let mut mix = |word: u64| hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    for (_, &state) in constraint.states.iter_enumerated().filter(|(process, _)| present.contains(*process)) {
        mix(u64::from(state));
    }
    for message in &constraint.word {
        let pointers = message.pointers.among(present);
        let own = message.own.filter(|own| present.contains(own.0));
        if !pointers.is_empty() || own.is_some() {
            mix(pointers.0);
            mix(own.map_or(u64::MAX, |(process, x)| (process.index() as u64) << 32 | x.index() as u64));
        }
    }
    hash
}

fn moved(of: &Constraint, process: ProcessId, edge: &LetterEdge) -> Constraint {
    let mut before = of.clone();
    before.states[process] = edge.from;
    before
}

/// Makes a process find a value; `false` if it cannot.
fn find(constraint: &mut Constraint, process: ProcessId, x: LocationId, value: Datum) -> bool {
    let at = constraint.last_write(process, x);
    let cell = &mut constraint.word[at].memory[x];
    let may_find = may_be(*cell, value);
    *cell = value;
    may_find
}

/// The snapshot before an append; `None` if it cannot lead here.
fn memory_before(mut memory: Snapshot, letter: &Letter) -> Option<Snapshot> {
    for (x, value) in writes(letter) {
        if !may_be(memory[x], value) {
            return None;
        }
        memory[x] = STAR;
    }
    if let Letter::Atomic(atomic) = letter {
        for &(x, value) in &atomic.guards {
            memory[x] = meet(memory[x], value)?;
        }
    }
    Some(memory)
}

/// What a step writes.
pub fn writes(letter: &Letter) -> Vec<(LocationId, Datum)> {
    match letter {
        Letter::Write(x, value) => vec![(*x, *value)],
        Letter::Atomic(atomic) => atomic.writes.clone(),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) => Vec::new(),
    }
}

fn writers(program: &RegisterFree) -> IndexVec<LocationId, BitSet> {
    let mut writers = IndexVec::filled(program.values.len(), BitSet::new());
    for (process, automaton) in program.processes.iter_enumerated() {
        for (x, _) in automaton.edges.iter().flat_map(|edge| writes(&edge.letter)) {
            writers[x].insert(process.index());
        }
    }
    writers
}
