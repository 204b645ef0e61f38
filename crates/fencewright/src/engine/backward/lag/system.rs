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
//! write goes into it; taking its oldest store out is what "write" is above. Under SC nothing is ever pushed.
//!
//! Abdulla, Atig, Bouajjani, Ngo, _A load-buffer semantics for total store ordering_, LMCS 2018. Departures: the
//! derived rules (immediate write, read from memory), and with them a normal form of runs in which a process samples
//! only where a plain write comes next, and drops an own message only where a read has just come.

use crate::engine::automaton::{ProcessAutomaton, RegisterFree, StateId};
use crate::engine::backward::bad::{Bad, announce, bad_situations};
use crate::engine::backward::facts::{Facts, Stage};
use crate::engine::backward::lag::choices::{Act, AtomicAct, Choices};
use crate::engine::backward::lag::constraint::{ABSENT, Message, is_below, mark_newest};
use crate::engine::backward::lag::read_back::{Edge, OwnWrites, own_writes};
use crate::engine::backward::lag::sharpen::{Sharpening, sharpenings};
use crate::engine::backward::lag::turning::{Turn, Turning};
use crate::engine::backward::lag::values::{Encoding, Values};
use crate::engine::backward::symmetry::renamings;
use crate::engine::backward::{Indexed, WellStructured, WordId, Words};
use crate::memory::Buffering;
use crate::program::{FenceKind, LocationId, ProcessId, Program};
use crate::util::{Idx, IndexVec};
use crate::watch::{Monitor, Stop, heed};

/// A constraint: a local state and a buffer for each process, the store stage, memory; all but states interned.
pub(in crate::engine::backward) type Constraint = Box<[u32]>;

/// A constraint whose memory is not interned yet.
#[derive(Clone, Debug)]
pub(in crate::engine::backward) struct Draft {
    /// As in a constraint; the last word is of no meaning.
    pub words: Constraint,
    /// What each location may hold.
    pub memory: Vec<Values>,
}

impl Draft {
    /// The same with a process in another state.
    pub(in crate::engine::backward) fn moved(&self, process: ProcessId, to: StateId) -> Self {
        let mut moved = self.clone();
        moved.words[process.index()] = to;
        moved
    }
}

/// Where predecessors go.
pub(in crate::engine::backward) type Out = Vec<(Rule, Constraint)>;

/// What leads from one configuration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::backward) struct Rule {
    /// Whose step it is.
    pub process: ProcessId,
    /// What it does.
    pub kind: RuleKind,
    /// How the constraint before it was renamed when it was found.
    pub turn: Turn,
}

impl Rule {
    /// A rule; nothing is renamed.
    pub(in crate::engine::backward) const fn new(process: ProcessId, kind: RuleKind) -> Self {
        Self { process, kind, turn: Turn::NONE }
    }
}

/// The rules; edges are named by their [`Choice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::backward) enum RuleKind {
    /// An edge that leaves memory and buffer alone, whatever they hold.
    Nop(u32),
    /// A read of the newest own message, or of the newest store in the stage.
    ReadOwn(u32),
    /// A read of the oldest message.
    ReadHead(u32),
    /// A write that pushes an own message.
    Write(u32),
    /// A write into the store stage.
    Store(u32),
    /// Stores leave the stage, up to one with one of these values; all of them if it is the last.
    Serialize {
        /// Of this location.
        location: LocationId,
        /// The values.
        values: Values,
        /// Whether nothing stays behind.
        is_last: bool,
        /// Whether own messages are pushed.
        pushes: bool,
    },
    /// An edge with an empty buffer: a read from memory, an immediate write, a fence, an atomic step.
    Drained(u32),
    /// A sample of memory.
    Propagate(LocationId),
    /// Drops messages up to the newest own one of a location.
    Delete(LocationId),
}

/// Which reductions are on.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::backward) struct Reducing {
    /// Sample only before writes, drop own messages only after reads.
    pub view_steps: bool,
    /// Lag region.
    pub lag_region: bool,
    /// Last writes under TSO, pending stores under PSO.
    pub last_writes: bool,
    /// Single writer.
    pub single_writer: bool,
    /// Processes that are not needed are left open.
    pub absent: bool,
    /// Edges that differ only in the value they find are one, and facts leave sets of values.
    pub value_sets: bool,
    /// Own writes matter only as long as their process may read them back, or wait for them.
    pub read_back: bool,
    /// Constraints that differ in which of like processes is which are one.
    pub symmetry: bool,
}

impl Reducing {
    /// For a search of the threads that a program lists. Which stores a process that is left open has pending would
    /// have to be guessed, which is not worth it where there are few processes.
    pub(in crate::engine::backward) fn for_listed(self, machine: Machine) -> Self {
        Self { absent: self.absent && machine.stage == Stage::None, ..self }
    }
}

/// What the memory model lets a process do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::backward) struct Machine {
    /// Whether its view may lag behind memory.
    pub lags: bool,
    /// What stands in front.
    pub stage: Stage,
}

impl Machine {
    /// What a process may do whose stores wait like this.
    pub(in crate::engine::backward) fn of(buffering: Buffering) -> Self {
        match buffering {
            Buffering::None => Self { lags: false, stage: Stage::None },
            Buffering::Fifo => Self { lags: true, stage: Stage::None },
            Buffering::PerLocation(rmw) => Self { lags: true, stage: Stage::PerLocation(rmw) },
        }
    }
}

/// The load-buffer semantics of a program.
#[derive(Debug)]
pub(in crate::engine::backward) struct LoadBuffers<'a> {
    pub(in crate::engine::backward) program: &'a RegisterFree,
    pub(in crate::engine::backward) bad: Vec<Bad>,
    pub(in crate::engine::backward) choices: IndexVec<ProcessId, Choices>,
    pub(in crate::engine::backward) encoding: Encoding,
    facts: Facts,
    own: IndexVec<ProcessId, OwnWrites>,
    sharpenings: IndexVec<ProcessId, Sharpening>,
    reducing: Reducing,
    pub(in crate::engine::backward) machine: Machine,
    turning: Turning,
    words: Words,
    n_processes: usize,
    /// How many edges lead from a start to each state, at least.
    pub(in crate::engine::backward) distances: IndexVec<ProcessId, Vec<u32>>,
}

impl<'a> LoadBuffers<'a> {
    /// The load-buffer semantics of a program in register-free form.
    ///
    /// # Errors
    /// The bad situations are too many for the monitor.
    pub(in crate::engine::backward) fn new(
        source: &Program,
        program: &'a RegisterFree,
        machine: Machine,
        reducing: Reducing,
        monitor: &dyn Monitor,
    ) -> Result<Self, Stop> {
        let encoding = Encoding::new(program.values.iter().map(Vec::len).collect());
        let choices = program.processes.iter().map(|it| Choices::new(it, &encoding, reducing.value_sets));
        announce(source, program, reducing.absent, monitor)?;
        let bad = bad_situations(source, program, reducing.absent);
        let facts = Facts::new(program, machine.stage);
        let own = own_writes(program, &facts, &bad, machine.stage, reducing);
        let renamings = if reducing.symmetry { renamings(program, &bad) } else { Vec::new() };
        Ok(Self {
            program,
            bad,
            choices: choices.collect(),
            sharpenings: sharpenings(&facts, &own, &encoding),
            encoding,
            facts,
            own,
            reducing,
            machine,
            turning: Turning::new(renamings),
            words: Words::new(),
            n_processes: program.processes.len(),
            distances: program.processes.iter().map(ProcessAutomaton::distances).collect(),
        })
    }

    pub(in crate::engine::backward) fn processes(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.n_processes).map(ProcessId::from_usize)
    }

    pub(in crate::engine::backward) fn buffer(&self, process: ProcessId) -> usize {
        self.n_processes + process.index()
    }

    /// The word that names the store buffer of a process and location.
    pub(in crate::engine::backward) fn store(&self, process: ProcessId, x: LocationId) -> usize {
        2 * self.n_processes + process.index() * self.program.values.len() + x.index()
    }

    /// The word that names memory: the last.
    pub(in crate::engine::backward) fn memory_word(&self) -> usize {
        self.n_processes * (2 + if self.machine.stage == Stage::None { 0 } else { self.program.values.len() })
    }

    /// What memory may hold.
    pub(in crate::engine::backward) fn memory(&self, constraint: &[u32]) -> Vec<Values> {
        self.letters(constraint[self.memory_word()]).iter().map(|&bits| Values::from_bits(bits)).collect()
    }

    fn draft(&self, constraint: &[u32]) -> Draft {
        Draft { words: constraint.into(), memory: self.memory(constraint) }
    }

    /// Whether no store of a process is pending in the stage.
    pub(in crate::engine::backward) fn is_staged_empty(&self, words: &[u32], process: ProcessId) -> bool {
        let mut locations = self.program.values.indices();
        self.machine.stage == Stage::None || locations.all(|x| words[self.store(process, x)] == Words::EMPTY)
    }

    /// The letters of an interned word.
    pub(in crate::engine::backward) fn letters(&self, id: WordId) -> &[u64] {
        self.words.get(id)
    }

    /// The id of a word.
    pub(in crate::engine::backward) fn intern_letters(&self, letters: &[u64]) -> WordId {
        self.words.intern(letters)
    }

    pub(in crate::engine::backward) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(in crate::engine::backward) fn own(&self, process: ProcessId) -> &OwnWrites {
        &self.own[process]
    }

    pub(in crate::engine::backward) fn sharpening(&self, process: ProcessId) -> &Sharpening {
        &self.sharpenings[process]
    }

    pub(in crate::engine::backward) fn turning(&self) -> &Turning {
        &self.turning
    }

    pub(in crate::engine::backward) fn reducing(&self) -> Reducing {
        self.reducing
    }

    pub(in crate::engine::backward) fn word(&self, words: &[u32], process: ProcessId) -> Vec<Message> {
        self.letters(words[self.buffer(process)]).iter().map(|&letter| Message(letter)).collect()
    }

    pub(in crate::engine::backward) fn intern(&self, mut word: Vec<Message>) -> WordId {
        mark_newest(&mut word);
        let letters: Vec<u64> = word.into_iter().map(|message| message.0).collect();
        self.words.intern(&letters)
    }

    /// The predecessors by edges of a process.
    pub(in crate::engine::backward) fn by_edges(&self, of: &Draft, process: ProcessId, out: &mut Out) {
        let choices = &self.choices[process];
        let state = of.words[process.index()];
        let word = self.word(&of.words, process);
        for &id in &choices.incoming[state as usize] {
            let choice = &choices.all[id as usize];
            let forgotten = self.own[process].forgotten(choice.from, state);
            let edge = Edge { id, process, from: choice.from, to: state, forgotten };
            let drained = Rule::new(process, RuleKind::Drained(id));
            match &choice.act {
                Act::Nop => self.by_nop(&edge, of, out),
                &Act::Read(x, values) if self.is_staged(&of.words, process, x) => {
                    self.by_staged_read(&edge, (x, values), of, out);
                }
                &Act::Read(x, values) => self.by_read(&edge, &word, (x, values), of, out),
                &Act::Write(x, value) => match self.machine.stage {
                    Stage::None => self.by_write(&edge, &word, (x, value), of, out),
                    Stage::PerLocation(_) => self.by_staged_write(&edge, (x, value), of, out),
                },
                Act::Fence(FenceKind::StoreStore) if self.is_staged_empty(&of.words, process) => {
                    self.by_nop(&edge, of, out);
                }
                Act::Fence(FenceKind::Full) if word.is_empty() && self.is_staged_empty(&of.words, process) => {
                    self.offer(drained, edge.before(of), out);
                }
                Act::Atomic(atomic) if word.is_empty() && self.may_act(&of.words, process, atomic) => {
                    if let Some(before) = before_atomic(edge.before(of), atomic) {
                        self.offer(drained, before, out);
                    }
                }
                Act::Fence(_) | Act::Atomic(_) => {}
            }
        }
    }

    /// Adds a predecessor unless a fact excludes it.
    pub(in crate::engine::backward) fn offer(&self, rule: Rule, before: Draft, out: &mut Out) {
        heed(8);
        out.extend(self.admitted(before).map(|(turn, constraint)| (Rule { turn, ..rule }, constraint)));
    }
}

/// Memory before an atomic step; `None` if it cannot lead here.
pub(in crate::engine::backward) fn before_atomic(mut before: Draft, atomic: &AtomicAct) -> Option<Draft> {
    for (x, value) in &atomic.writes {
        let cell = &mut before.memory[x.index()];
        cell.meet(*value)?;
        *cell = Values::ANY;
    }
    for (x, values) in &atomic.guards {
        let cell = &mut before.memory[x.index()];
        *cell = cell.meet(*values)?;
    }
    Some(before)
}

/// A letter of a buffer weighs as much as so many edges: two gives the fewest constraints on the way to a violation in
/// most of the papers' programs, from a third to a half of those with letters alone.
pub(in crate::engine::backward) const LETTER_WEIGHT: u32 = 2;

/// The bits of a signature that tell of memory.
const MEMORY_BITS: u32 = 40;

impl WellStructured for LoadBuffers<'_> {
    type Constraint = Constraint;
    type Rule = Rule;

    fn bad(&self) -> Vec<Constraint> {
        let drafts = self.bad.iter().map(|bad| {
            let mut words = vec![Words::EMPTY; self.memory_word() + 1];
            words[..self.n_processes].fill(ABSENT);
            bad.states.iter().for_each(|&(process, state)| words[process.index()] = state);
            let mut memory = vec![Values::ANY; self.program.values.len()];
            bad.memory.iter().for_each(|&(x, value)| memory[x.index()] = self.encoding.one(x, value));
            Draft { words: words.into(), memory }
        });
        drafts.filter_map(|draft| self.admitted(draft)).map(|(_, constraint)| constraint).collect()
    }

    fn predecessors(&self, of: &Constraint, out: &mut Out) {
        let of = self.draft(of);
        for process in self.processes() {
            if of.words[process.index()] == ABSENT {
                self.newcomer(&of, process, out);
            } else {
                self.by_edges(&of, process, out);
                if self.machine.lags {
                    self.by_view(&of, process, out);
                }
                if self.machine.stage != Stage::None {
                    self.by_serialization(&of, process, out);
                }
            }
        }
    }

    fn entails(&self, smaller: &Constraint, larger: &Constraint) -> bool {
        self.is_memory_below(larger, smaller)
            && self.processes().all(|process| {
                let state = process.index();
                let word = self.buffer(process);
                larger[state] == ABSENT
                    || larger[state] == smaller[state]
                        && (larger[word] == smaller[word]
                            || is_below(self.letters(larger[word]), self.letters(smaller[word])))
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
        self.processes().all(starts) && self.is_initial_memory(constraint[self.memory_word()])
    }
}

impl Indexed for LoadBuffers<'_> {
    /// The processes that are left open, as a set of bits.
    type Outline = u64;

    fn outline(&self, constraint: &Constraint) -> u64 {
        let absent = self.processes().filter(|process| constraint[process.index()] == ABSENT);
        absent.map(|process| 1 << process.index()).sum()
    }

    fn is_within(&self, smaller: &u64, larger: &u64) -> bool {
        larger & smaller == *smaller
    }

    fn bucket(&self, constraint: &Constraint, &open: &u64) -> u64 {
        let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ open;
        let mut mix = |word: u32| hash = (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        for process in self.processes().filter(|process| open & 1 << process.index() == 0) {
            mix(constraint[process.index()]);
            let word = self.letters(constraint[self.buffer(process)]).iter().map(|&letter| Message(letter));
            word.filter(|message| message.is_newest_own()).for_each(|it| mix(it.location().index() as u32));
            mix(u32::MAX);
            if self.machine.stage != Stage::None {
                let locations = self.program.values.indices().filter(|&x| !self.own[process].is_blind(x));
                let staged = locations.map(|x| constraint[self.store(process, x)] != Words::EMPTY);
                staged.for_each(|is_staged| mix(u32::from(is_staged)));
            }
        }
        hash
    }

    /// The values that memory does not hold, and what the buffers hold: a constraint that covers has less of both.
    fn signature(&self, constraint: &Constraint) -> u64 {
        let mut signature = self.memory_signature(constraint[self.memory_word()]);
        for process in self.processes().filter(|process| constraint[process.index()] != ABSENT) {
            let word = self.letters(constraint[self.buffer(process)]).iter().map(|&letter| Message(letter));
            for message in word.filter(|message| !message.is_newest_own()) {
                let letter = process.index() * 5 + message.location().index() * 2 + usize::from(message.is_own());
                signature |= 1 << (MEMORY_BITS + letter as u32 % (64 - MEMORY_BITS));
            }
        }
        signature
    }

    /// Most of it goes by process, and every word is copied.
    fn work_of_predecessor(&self) -> u32 {
        u32::try_from(4 * self.n_processes + self.memory_word() / 4).unwrap_or(u32::MAX)
    }

    /// What is still to be done until all processes are at their start with empty buffers, roughly.
    fn weight(&self, constraint: &Constraint) -> u32 {
        let words = self.n_processes..self.memory_word();
        let lengths = words.map(|word| self.letters(constraint[word]).len());
        let present = self.processes().filter(|process| constraint[process.index()] != ABSENT);
        let distances = present.map(|process| self.distances[process][constraint[process.index()] as usize]);
        let length = u32::try_from(lengths.sum::<usize>()).unwrap_or(u32::MAX);
        length.saturating_mul(LETTER_WEIGHT).saturating_add(distances.sum())
    }

    fn bytes(&self) -> u64 {
        (self.memory_word() + 1) as u64 * 4
    }
}

impl LoadBuffers<'_> {
    /// Whether all memory of an interned `b` is memory of `a`.
    #[inline]
    pub(in crate::engine::backward) fn covers_memory(&self, a: WordId, b: WordId) -> bool {
        let covers = |(&a, &b): (&u64, &u64)| Values::from_bits(a).covers(Values::from_bits(b));
        a == b || self.letters(a).iter().zip(self.letters(b)).all(covers)
    }

    /// The values that memory does not hold, in a few bits: memory that covers it has no others.
    pub(in crate::engine::backward) fn memory_signature(&self, memory: WordId) -> u64 {
        let mut signature = 0;
        let mut at = 0;
        for (&cell, values) in self.letters(memory).iter().zip(self.program.values.iter()) {
            signature |= Values::from_bits(cell).excluded(values.len(), MEMORY_BITS).rotate_left(at);
            at = (at + values.len() as u32) % MEMORY_BITS;
        }
        // What was rotated beyond the bits of memory comes round again.
        (signature | signature >> MEMORY_BITS) & ((1 << MEMORY_BITS) - 1)
    }

    /// Whether memory may be what it is at the start.
    pub(in crate::engine::backward) fn is_initial_memory(&self, memory: WordId) -> bool {
        let memory = self.letters(memory);
        self.program.initial.iter_enumerated().all(|(x, initial)| {
            let cell = Values::from_bits(memory[x.index()]);
            initial.iter().any(|&value| self.encoding.contains(x, cell, value))
        })
    }

    /// Whether all memory of `b` is memory of `a`.
    #[inline]
    fn is_memory_below(&self, a: &[u32], b: &[u32]) -> bool {
        // Memory is the last word.
        a.last() == b.last() || self.covers_memory(a[a.len() - 1], b[b.len() - 1])
    }
}
