//! The load-buffer semantics as a well-structured system: bad constraints, predecessors, order.
//!
//! | rule | condition | effect |
//! |---|---|---|
//! | write `x,v` | – | memory(x) := v; push own(x,v) at the newest end |
//! | immediate write `x,v` | buffer empty | memory(x) := v (= write, then delete) |
//! | propagate `x` | – | push (x, memory(x)) at the newest end |
//! | delete | buffer not empty | drop the oldest message |
//! | read `x,v`, own | the newest own(x,·) has value v | – |
//! | read `x,v`, head | no own(x,·), and the oldest message is (x,v) | – |
//! | read `x,v`, memory | buffer empty, memory(x) = v | – (= propagate, read, delete) |
//! | fence | buffer empty | – |
//! | atomic | buffer empty, guards hold in memory | memory changes |
//!
//! Under PSO a *store stage* stands in front: a store buffer for each process and location ([`stage`](super::stage)). A
//! write goes into it; taking its oldest store out is what "write" is above.
//!
//! Abdulla, Atig, Bouajjani, Ngo, _A load-buffer semantics for total store ordering_, LMCS 2018. Departures: the
//! derived rules (immediate write, read from memory), and with them a normal form of runs in which a process samples
//! only where a plain write comes next, and drops an own message only where a read has just come.

use crate::engine::automaton::{Atomic, FastMap, Letter, LetterEdge, RegisterFree};
use crate::engine::backward::load_buffer::bad::bad_constraints;
use crate::engine::backward::load_buffer::constraint::{ABSENT, Message, STAR, is_below, may_be, newest_own};
use crate::engine::backward::load_buffer::facts::Facts;
use crate::engine::backward::{WellStructured, WordId, Words};
use crate::memory::PsoRmw;
use crate::program::{FenceKind, LocationId, ProcessId, Program};
use crate::util::Idx;

/// A constraint: a local state and a buffer for each process, then memory, one word each.
pub type Constraint = Box<[u32]>;

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
    /// An edge that leaves memory and buffer alone, whatever they hold.
    Nop(u32),
    /// A read of the newest own message.
    ReadOwn(u32),
    /// A read of the oldest message.
    ReadHead(u32),
    /// A write that pushes an own message.
    Write(u32),
    /// A write into the store stage.
    Store(u32),
    /// Stores leave the stage, up to one with this value (or `*`); all of them if it is the last.
    Serialize {
        /// Of this location.
        location: LocationId,
        /// The value.
        value: u32,
        /// Whether nothing stays behind.
        is_last: bool,
        /// Whether own messages are pushed.
        pushes: bool,
    },
    /// An edge with an empty buffer: a read from memory, an immediate write, a fence, an atomic step.
    Drained(u32),
    /// A sample of memory.
    Propagate(LocationId),
    /// Drops messages up to the oldest newest-own one.
    Delete,
}

/// What stands in front of the load buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing: TSO.
    None,
    /// A store buffer for each process and location: PSO.
    PerLocation(PsoRmw),
}

/// Which reductions are on.
#[derive(Clone, Copy, Debug)]
pub struct Reducing {
    /// Sample only before writes, drop own messages only after reads.
    pub view_steps: bool,
    /// F1.
    pub lag_region: bool,
    /// F2 under TSO, F3 under PSO.
    pub last_writes: bool,
    /// F4.
    pub single_writer: bool,
    /// Processes that are not needed are left open.
    pub absent: bool,
}

/// The load-buffer semantics of a program.
#[derive(Debug)]
pub struct LoadBuffers<'a> {
    source: &'a Program,
    pub(super) program: &'a RegisterFree,
    facts: Facts,
    reducing: Reducing,
    pub(super) stage: Stage,
    words: Words,
    below: FastMap<(WordId, WordId), bool>,
    /// Sets of absent processes that occur.
    absences: Vec<u64>,
    n_processes: usize,
}

impl<'a> LoadBuffers<'a> {
    /// The load-buffer semantics of a program in register-free form.
    pub fn new(source: &'a Program, program: &'a RegisterFree, stage: Stage, reducing: Reducing) -> Self {
        // Which stores a process that is left open has pending would have to be guessed.
        let absent = reducing.absent && stage == Stage::None;
        Self {
            source,
            program,
            facts: Facts::new(program, stage),
            reducing: Reducing { absent, ..reducing },
            stage,
            words: Words::new(),
            below: FastMap::default(),
            absences: Vec::new(),
            n_processes: program.processes.len(),
        }
    }

    fn processes(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.n_processes).map(ProcessId::from_usize)
    }

    pub(super) fn buffer(&self, process: ProcessId) -> usize {
        self.n_processes + process.index()
    }

    /// The word that names the store buffer of a process and location.
    pub(super) fn store(&self, process: ProcessId, x: LocationId) -> usize {
        2 * self.n_processes + process.index() * self.program.values.len() + x.index()
    }

    /// The words before memory.
    pub(super) fn n_before_memory(&self) -> usize {
        self.n_processes * (2 + if self.stage == Stage::None { 0 } else { self.program.values.len() })
    }

    pub(super) fn memory(&self, x: LocationId) -> usize {
        self.n_before_memory() + x.index()
    }

    /// Whether no store of a process is pending in the stage.
    pub(super) fn is_staged_empty(&self, constraint: &[u32], process: ProcessId) -> bool {
        let locations = self.program.values.indices();
        self.stage == Stage::None || locations.into_iter().all(|x| constraint[self.store(process, x)] == Words::EMPTY)
    }

    /// The letters of an interned word.
    pub(super) fn letters(&self, id: WordId) -> &[u32] {
        self.words.get(id)
    }

    /// The id of a word of values.
    pub(super) fn intern_letters(&mut self, letters: Vec<u32>) -> WordId {
        self.words.intern(letters)
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) fn word(&self, constraint: &[u32], process: ProcessId) -> Vec<Message> {
        self.words.get(constraint[self.buffer(process)]).iter().map(|&letter| Message(letter)).collect()
    }

    fn intern(&mut self, word: &[Message]) -> WordId {
        self.words.intern(word.iter().map(|message| message.0).collect())
    }

    /// The predecessors by steps of a process that the constraint leaves open: only what changes memory matters, and
    /// its buffer can be emptied first.
    fn newcomer(&mut self, of: &[u32], process: ProcessId, out: &mut Vec<(Rule, Constraint)>) {
        let program = self.program;
        for (id, edge) in program.processes[process].edges.iter().enumerate() {
            let kind = RuleKind::Drained(id as u32);
            match &edge.letter {
                Letter::Write(x, value) if of[self.memory(*x)] == u32::from(*value) => {
                    let mut before = self.moved(of, process, edge);
                    before[self.memory(*x)] = STAR;
                    self.offer(Rule { process, kind }, before, out);
                }
                Letter::Atomic(atomic) if self.matters(of, atomic) => {
                    let before = self.moved(of, process, edge);
                    if let Some(before) = self.before_atomic(before, atomic) {
                        self.offer(Rule { process, kind }, before, out);
                    }
                }
                Letter::Write(..) | Letter::Atomic(_) | Letter::Nop | Letter::Read(..) | Letter::Fence(_) => {}
            }
        }
    }

    fn matters(&self, of: &[u32], atomic: &Atomic) -> bool {
        atomic.writes.iter().any(|(x, value)| of[self.memory(*x)] == u32::from(*value))
    }

    fn moved(&self, of: &[u32], process: ProcessId, edge: &LetterEdge) -> Constraint {
        let mut before: Constraint = of.into();
        before[process.index()] = edge.from;
        before
    }

    /// Memory before an atomic step; `None` if it cannot lead here.
    fn before_atomic(&self, mut before: Constraint, atomic: &Atomic) -> Option<Constraint> {
        for (x, value) in &atomic.writes {
            let cell = &mut before[self.memory(*x)];
            if !may_be(*cell, u32::from(*value)) {
                return None;
            }
            *cell = STAR;
        }
        for (x, value) in &atomic.guards {
            let cell = &mut before[self.memory(*x)];
            if !may_be(*cell, u32::from(*value)) {
                return None;
            }
            *cell = u32::from(*value);
        }
        Some(before)
    }

    /// The predecessors by edges of a process.
    fn by_edges(&mut self, of: &[u32], process: ProcessId, out: &mut Vec<(Rule, Constraint)>) {
        let program = self.program;
        let automaton = &program.processes[process];
        let word = self.word(of, process);
        for &id in &automaton.incoming[of[process.index()] as usize] {
            let edge = &automaton.edges[id as usize];
            let before = self.moved(of, process, edge);
            let drained = Rule { process, kind: RuleKind::Drained(id) };
            match &edge.letter {
                Letter::Nop => self.offer(Rule { process, kind: RuleKind::Nop(id) }, before, out),
                Letter::Read(x, value) => {
                    let read = (*x, u32::from(*value));
                    if self.is_staged(of, process, *x) {
                        self.by_staged_read((id, process), read, before, out);
                    } else {
                        self.by_read((id, process), &word, read, before, out);
                    }
                }
                Letter::Write(x, value) => match self.stage {
                    Stage::None => self.by_write((id, process), &word, (*x, u32::from(*value)), before, out),
                    Stage::PerLocation(_) => {
                        self.by_staged_write((id, process), (*x, u32::from(*value)), &before, out);
                    }
                },
                Letter::Fence(FenceKind::StoreStore) if self.is_staged_empty(of, process) => {
                    self.offer(Rule { process, kind: RuleKind::Nop(id) }, before, out);
                }
                Letter::Fence(FenceKind::Full) if word.is_empty() && self.is_staged_empty(of, process) => {
                    self.offer(drained, before, out);
                }
                Letter::Atomic(atomic) if word.is_empty() && self.may_act(of, process, atomic) => {
                    if let Some(before) = self.before_atomic(before, atomic) {
                        self.offer(drained, before, out);
                    }
                }
                Letter::Fence(_) | Letter::Atomic(_) => {}
            }
        }
    }

    fn by_read(
        &mut self,
        (id, process): (u32, ProcessId),
        word: &[Message],
        (x, value): (LocationId, u32),
        before: Constraint,
        out: &mut Vec<(Rule, Constraint)>,
    ) {
        let buffer = self.buffer(process);
        if let Some(at) = word.iter().rposition(|message| message.is_own_of(x)) {
            if may_be(word[at].value(), value) {
                let mut word = word.to_vec();
                word[at] = word[at].with_value(value);
                let mut before = before;
                before[buffer] = self.intern(&word);
                self.offer(Rule { process, kind: RuleKind::ReadOwn(id) }, before, out);
            }
            return;
        }
        let cell = self.memory(x);
        if word.is_empty() && may_be(before[cell], value) {
            let mut before = before.clone();
            before[cell] = value;
            self.offer(Rule { process, kind: RuleKind::Drained(id) }, before, out);
        }
        let sample = Message::sample(x, value);
        let mut before = before;
        if word.first() != Some(&sample) {
            before[buffer] = self.intern(&[&[sample], word].concat());
        }
        self.offer(Rule { process, kind: RuleKind::ReadHead(id) }, before, out);
    }

    fn by_write(
        &mut self,
        (id, process): (u32, ProcessId),
        word: &[Message],
        (x, value): (LocationId, u32),
        mut before: Constraint,
        out: &mut Vec<(Rule, Constraint)>,
    ) {
        let (buffer, cell) = (self.buffer(process), self.memory(x));
        if !may_be(before[cell], value) {
            return;
        }
        before[cell] = STAR;
        let Some((newest, rest)) = word.split_last() else {
            return self.offer(Rule { process, kind: RuleKind::Drained(id) }, before, out);
        };
        if !newest.is_own_of(x) || !may_be(newest.value(), value) {
            return;
        }
        let rule = Rule { process, kind: RuleKind::Write(id) };
        self.before_own(rule, buffer, rest, &before, x, out);
    }

    /// The buffers before an own message of `x` was pushed behind `rest`.
    pub(super) fn before_own(
        &mut self,
        rule: Rule,
        buffer: usize,
        rest: &[Message],
        before: &[u32],
        x: LocationId,
        out: &mut Vec<(Rule, Constraint)>,
    ) {
        let mut plain: Constraint = before.into();
        plain[buffer] = self.intern(rest);
        self.offer(rule, plain, out);
        // The write may have shadowed an older one, which was newest-own until then.
        let first = rest.iter().rposition(|message| message.is_own_of(x)).map_or(0, |at| at + 1);
        for at in first..=rest.len() {
            let mut word = rest.to_vec();
            word.insert(at, Message::own(x, STAR));
            let mut shadowing: Constraint = before.into();
            shadowing[buffer] = self.intern(&word);
            self.offer(rule, shadowing, out);
        }
    }

    /// The predecessors by samples and deletions.
    fn by_view(&mut self, of: &[u32], process: ProcessId, out: &mut Vec<(Rule, Constraint)>) {
        let state = of[process.index()] as usize;
        let buffer = self.buffer(process);
        let word = self.word(of, process);
        let is_everywhere = !self.reducing.view_steps;
        if let Some((newest, rest)) = word.split_last()
            && !newest.is_own()
            && (is_everywhere || self.facts.of[process].samples[state])
            && may_be(of[self.memory(newest.location())], newest.value())
        {
            let mut before: Constraint = of.into();
            before[self.memory(newest.location())] = newest.value();
            before[buffer] = self.intern(rest);
            self.offer(Rule { process, kind: RuleKind::Propagate(newest.location()) }, before, out);
        }
        if is_everywhere || self.facts.of[process].has_read[state] {
            for x in self.facts.of[process].written.clone() {
                if word.iter().all(|message| !message.is_own_of(x)) {
                    let mut before: Constraint = of.into();
                    before[buffer] = self.intern(&[&[Message::own(x, STAR)], &word[..]].concat());
                    self.offer(Rule { process, kind: RuleKind::Delete }, before, out);
                }
            }
        }
    }

    /// Adds a predecessor unless a fact excludes it.
    pub(super) fn offer(&mut self, rule: Rule, mut before: Constraint, out: &mut Vec<(Rule, Constraint)>) {
        if self.admit(&mut before) {
            out.push((rule, before));
        }
    }

    /// Sharpens a constraint by the facts; `false` if they exclude it.
    fn admit(&mut self, constraint: &mut [u32]) -> bool {
        self.processes().all(|process| {
            let state = constraint[process.index()];
            if state == ABSENT {
                return true;
            }
            let has_messages = constraint[self.buffer(process)] != Words::EMPTY;
            let may_lag = !has_messages || !self.reducing.lag_region || self.facts.of[process].may_lag[state as usize];
            may_lag
                && (!self.reducing.single_writer || self.admit_memory(constraint, process, state as usize))
                && (!self.reducing.last_writes || !has_messages || self.admit_own(constraint, process))
                && (!self.reducing.last_writes || self.admit_pending(constraint, process, state as usize))
        })
    }

    /// F4: memory that only this process writes holds what it can have written last.
    fn admit_memory(&self, constraint: &mut [u32], process: ProcessId, state: usize) -> bool {
        self.facts.of[process].sole.iter().all(|(x, held)| {
            if self.is_staged(constraint, process, *x) {
                return true;
            }
            let cell = &mut constraint[self.n_before_memory() + x.index()];
            if *cell != STAR {
                return held[state].contains(*cell as usize);
            }
            let mut possible = held[state].iter();
            if let (Some(only), None) = (possible.next(), possible.next()) {
                *cell = only as u32;
            }
            true
        })
    }

    /// F2: the newest-own messages are a suffix of some last writes; a `*` that can be but one value is that value.
    fn admit_own(&mut self, constraint: &mut [u32], process: ProcessId) -> bool {
        let mut word = self.word(constraint, process);
        let own = newest_own(&word);
        let Some(last_writes) = &self.facts.of[process].last_writes else { return true };
        let matching = last_writes[constraint[process.index()] as usize].iter().filter_map(|writes| {
            let suffix = &writes[writes.len().checked_sub(own.len())?..];
            let fits = |(&at, &(x, value)): (&usize, &(LocationId, u16))| {
                word[at].location() == x && may_be(word[at].value(), u32::from(value))
            };
            own.iter().zip(suffix).all(fits).then_some(suffix)
        });
        let matching: Vec<_> = matching.collect();
        let Some(first) = matching.first() else { return false };
        let only = |i: usize| matching.iter().all(|suffix| suffix[i] == first[i]).then(|| u32::from(first[i].1));
        let known: Vec<_> = (0..own.len()).map(only).collect();
        for (&at, value) in own.iter().zip(known) {
            if let Some(value) = value {
                word[at] = word[at].with_value(value);
            }
        }
        let buffer = self.buffer(process);
        constraint[buffer] = self.intern(&word);
        true
    }

    fn absence(&self, constraint: &[u32]) -> u64 {
        let absent = self.processes().filter(|process| constraint[process.index()] == ABSENT);
        absent.map(|process| 1 << process.index()).sum()
    }

    fn key_with(&self, constraint: &[u32], absence: u64) -> u64 {
        let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ absence;
        let mut mix = |word: u32| hash = (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        for process in self.processes().filter(|process| absence & 1 << process.index() == 0) {
            mix(constraint[process.index()]);
            let word = self.word(constraint, process);
            newest_own(&word).into_iter().for_each(|at| mix(word[at].location().index() as u32));
            mix(u32::MAX);
            if self.stage != Stage::None {
                let staged = self.program.values.indices().map(|x| constraint[self.store(process, x)] != Words::EMPTY);
                staged.for_each(|is_staged| mix(u32::from(is_staged)));
            }
        }
        hash
    }
}

impl WellStructured for LoadBuffers<'_> {
    type Constraint = Constraint;
    type Rule = Rule;

    fn bad(&mut self) -> Vec<Constraint> {
        let all = bad_constraints(self.source, self.program, self.n_before_memory(), self.reducing.absent);
        let admitted: Vec<_> = all.into_iter().filter_map(|mut it| self.admit(&mut it).then_some(it)).collect();
        for constraint in &admitted {
            let absence = self.absence(constraint);
            if !self.absences.contains(&absence) {
                self.absences.push(absence);
            }
        }
        admitted
    }

    fn predecessors(&mut self, of: &Constraint, out: &mut Vec<(Rule, Constraint)>) {
        for process in self.processes() {
            if of[process.index()] == ABSENT {
                self.newcomer(of, process, out);
            } else {
                self.by_edges(of, process, out);
                self.by_view(of, process, out);
                if self.stage != Stage::None {
                    self.by_serialization(of, process, out);
                }
            }
        }
        let joined: Vec<u64> = out.iter().map(|(_, before)| self.absence(before)).collect();
        for absence in joined {
            if !self.absences.contains(&absence) {
                self.absences.push(absence);
            }
        }
    }

    fn entails(&mut self, smaller: &Constraint, larger: &Constraint) -> bool {
        let cells = self.n_before_memory()..smaller.len();
        if !cells.into_iter().all(|cell| larger[cell] == STAR || larger[cell] == smaller[cell]) {
            return false;
        }
        self.processes().all(|process| {
            let state = process.index();
            if larger[state] == ABSENT {
                return true;
            }
            let (a, b) = (larger[self.buffer(process)], smaller[self.buffer(process)]);
            larger[state] == smaller[state]
                && (a == b || self.is_word_below(a, b))
                && self.is_stage_below(larger, smaller, process)
        })
    }

    fn is_initial(&self, constraint: &Constraint) -> bool {
        let starts = |process: ProcessId| {
            let state = constraint[process.index()];
            state == ABSENT
                || (self.program.processes[process].initial.contains_key(&state)
                    && constraint[self.buffer(process)] == Words::EMPTY
                    && self.is_staged_empty(constraint, process))
        };
        let holds = |(x, initial): (LocationId, &Vec<u16>)| {
            let cell = constraint[self.memory(x)];
            cell == STAR || initial.iter().any(|&value| u32::from(value) == cell)
        };
        self.processes().all(starts) && self.program.initial.iter_enumerated().all(holds)
    }

    fn key(&self, constraint: &Constraint) -> u64 {
        self.key_with(constraint, self.absence(constraint))
    }

    fn covering_keys(&self, constraint: &Constraint, out: &mut Vec<u64>) {
        let absence = self.absence(constraint);
        let candidates = self.absences.iter().filter(|candidate| **candidate & absence == absence);
        out.extend(candidates.map(|&candidate| self.key_with(constraint, candidate)));
    }

    fn weight(&self, constraint: &Constraint) -> u32 {
        let words = self.n_processes..self.n_before_memory();
        let lengths = words.map(|word| self.words.get(constraint[word]).len());
        u32::try_from(lengths.sum::<usize>()).unwrap_or(u32::MAX)
    }

    fn bytes(&self) -> u64 {
        (self.n_before_memory() + self.program.values.len()) as u64 * 4
    }
}

impl LoadBuffers<'_> {
    fn is_word_below(&mut self, a: WordId, b: WordId) -> bool {
        let words = &self.words;
        *self.below.entry((a, b)).or_insert_with(|| {
            let messages = |id| words.get(id).iter().map(|&letter| Message(letter)).collect::<Vec<_>>();
            is_below(&messages(a), &messages(b))
        })
    }
}
