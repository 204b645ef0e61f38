//! Multisets as constraints: memory, and for each element its kind, its local state and its buffers.
//!
//! ```text
//!    memory | P q3 ε | P q3 own(x,1) | T q0 ε        there are two such copies of P and this T, and perhaps others
//! ```
//!
//! A constraint covers another if its elements can be matched with different elements of the other, kinds and states
//! equal and buffers below. That is a well-quasi-order (Higman), and larger configurations can do all that smaller ones
//! can: those who are not named need not move.
//!
//! A step of an element is a step of a process in the load-buffer semantics of the listed threads: it is put in the
//! place of the listed process of its kind, beside the elements of which there is one (whose facts tell of memory), and
//! the other copies stay as they are. Elements keep their places in predecessors, a newcomer comes last; so the places
//! name the elements along a path.
//!
//! Where there may be any number of copies, one that is back at its start with empty buffers is left out: there may
//! always be one more that has not moved yet. Where their number is bounded, it stays.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::automaton::Datum;
use crate::engine::backward::bad::Bad;
use crate::engine::backward::facts::Stage;
use crate::engine::backward::key::Key;
use crate::engine::backward::lag::constraint::{ABSENT, Message, is_below};
use crate::engine::backward::lag::proof::ToldElement;
use crate::engine::backward::lag::system::{Draft, LETTER_WEIGHT, LoadBuffers, Out as Before, RuleKind};
use crate::engine::backward::lag::values::Values;
use crate::engine::backward::multiset::kinds::{KindId, Kinds};
use crate::engine::backward::{Indexed, WellStructured, WordId, Words};
use crate::util::Idx;
use crate::watch::heed;

/// A constraint: memory, then so many words for each element; all but kinds and states interned.
pub(super) type Constraint = Box<[u32]>;

/// The words of an element: its kind, its state, its load buffer, and its store buffers if there are any.
const KIND: usize = 0;
const STATE: usize = 1;
const BUFFER: usize = 2;
const STORES: usize = 3;

/// A step of an element, named by its place before the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Whose step it is.
    pub element: u32,
    /// What it does.
    pub kind: RuleKind,
    /// Before the step it was at its start, and is left out there.
    pub fresh: Option<Fresh>,
}

/// An element at its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fresh {
    /// Its kind.
    pub kind: KindId,
    /// Where it starts.
    pub state: u32,
}

/// The load-buffer semantics of multisets.
#[derive(Debug)]
pub(super) struct Multisets<'a> {
    /// Of the listed threads.
    inner: LoadBuffers<'a>,
    kinds: &'a Kinds,
    /// There are no more copies than this of threads whose number is open.
    max_copies: Option<usize>,
    /// How many words an element has.
    n_words: usize,
    /// Whether a constraint was left out because it has too many elements.
    has_met_limit: AtomicBool,
}

impl<'a> Multisets<'a> {
    /// Multisets of the listed threads, with no more than so many copies of those whose number is open.
    pub(super) fn new(inner: LoadBuffers<'a>, kinds: &'a Kinds, max_copies: Option<usize>) -> Self {
        let n_stores = if inner.machine.stage == Stage::None { 0 } else { inner.program.values.len() };
        Self { inner, kinds, max_copies, n_words: STORES + n_stores, has_met_limit: AtomicBool::new(false) }
    }

    /// Whether a constraint was left out because it has too many elements: then nothing is proved.
    pub(super) fn has_met_limit(&self) -> bool {
        self.has_met_limit.load(Ordering::Relaxed)
    }

    /// The elements of a constraint that holds an initial configuration, and its memory.
    pub(super) fn beginning(&self, first: &Constraint) -> (Vec<Fresh>, Vec<Datum>) {
        let cells = self.inner.letters(first[0]);
        let memory = self.inner.program.initial.iter_enumerated().map(|(x, initial)| {
            let cell = Values::from_bits(cells[x.index()]);
            let fits = |&&value: &&Datum| self.inner.encoding.contains(x, cell, value);
            *initial.iter().find(fits).expect("the constraint holds an initial configuration")
        });
        let elements = self.elements(first).map(|it| Fresh { kind: KindId::from_word(it[KIND]), state: it[STATE] });
        (elements.collect(), memory.collect())
    }

    /// How many elements a constraint has.
    pub(super) fn n_elements(&self, constraint: &Constraint) -> usize {
        self.elements(constraint).count()
    }

    /// The semantics of the listed threads.
    pub(super) fn inner(&self) -> &LoadBuffers<'a> {
        &self.inner
    }

    /// A constraint in plain terms.
    pub(super) fn told(&self, constraint: &Constraint) -> ToldElement {
        let letters = |element: &[u32]| {
            let word = self.inner.letters(element[BUFFER]).iter().map(|&letter| Message(letter));
            word.map(|it| self.inner.told_message(it)).collect()
        };
        let memory = self.inner.program.values.indices().zip(self.inner.letters(constraint[0]));
        ToldElement {
            kinds: self.kinds_of(constraint).map(|kind| self.kinds.get(kind).process).collect(),
            states: self.elements(constraint).map(|it| it[STATE]).collect(),
            buffers: self.elements(constraint).map(letters).collect(),
            stores: self.elements(constraint).map(|it| self.inner.told_stores(|x| it[STORES + x.index()])).collect(),
            memory: memory.map(|(x, &bits)| self.inner.told_cell(x, Values::from_bits(bits))).collect(),
        }
    }

    fn elements<'c>(&self, constraint: &'c [u32]) -> impl Iterator<Item = &'c [u32]> + use<'c> {
        constraint[1..].chunks_exact(self.n_words)
    }

    fn kinds_of<'c>(&self, constraint: &'c [u32]) -> impl Iterator<Item = KindId> + Clone + use<'c> {
        constraint[1..].chunks_exact(self.n_words).map(|it| KindId::from_word(it[KIND]))
    }

    /// Whether there are more copies than there may be.
    fn are_too_many(&self, elements: &(impl Iterator<Item = KindId> + Clone)) -> bool {
        self.max_copies.is_some_and(|max| self.kinds.n_copies(elements) > max)
    }

    /// The load-buffer constraint of the elements of which there is one, and of one more.
    fn draft(&self, constraint: &[u32], acting: Option<usize>) -> Draft {
        let mut words = vec![Words::EMPTY; self.inner.memory_word() + 1];
        self.inner.processes().for_each(|process| words[process.index()] = ABSENT);
        for (place, element) in self.elements(constraint).enumerate() {
            let kind = KindId::from_word(element[KIND]);
            if acting == Some(place) || !self.kinds.is_open(kind) {
                self.put(element, kind, &mut words);
            }
        }
        let memory = self.inner.letters(constraint[0]).iter().map(|&bits| Values::from_bits(bits)).collect();
        Draft { words: words.into(), memory }
    }

    /// Puts an element in the place of the listed process of its kind.
    fn put(&self, element: &[u32], kind: KindId, words: &mut [u32]) {
        let process = self.kinds.get(kind).process;
        words[process.index()] = element[STATE];
        words[self.inner.buffer(process)] = element[BUFFER];
        for (x, &store) in self.inner.program.values.indices().zip(&element[STORES..]) {
            words[self.inner.store(process, x)] = store;
        }
    }

    /// The element in the place of the listed process of a kind.
    fn taken(&self, kind: KindId, words: &[u32]) -> Vec<u32> {
        let process = self.kinds.get(kind).process;
        let mut element = vec![kind.to_word(), words[process.index()], words[self.inner.buffer(process)]];
        let n_stores = self.n_words - STORES;
        let stores = self.inner.program.values.indices().take(n_stores);
        element.extend(stores.map(|x| words[self.inner.store(process, x)]));
        element
    }

    /// A constraint in which a step was taken back: the elements of which there is one, and the one that acted, are
    /// those of a load-buffer constraint.
    fn spliced(&self, constraint: &[u32], acting: Option<(usize, KindId)>, words: &[u32]) -> Constraint {
        let mut spliced = Vec::with_capacity(constraint.len() + self.n_words);
        spliced.push(words[self.inner.memory_word()]);
        let mut n_elements = 0;
        for (place, element) in self.elements(constraint).enumerate() {
            let kind = KindId::from_word(element[KIND]);
            if acting.is_some_and(|it| it.0 == place) || !self.kinds.is_open(kind) {
                spliced.extend(self.taken(kind, words));
            } else {
                spliced.extend_from_slice(element);
            }
            n_elements += 1;
        }
        if let Some((_, kind)) = acting.filter(|it| it.0 == n_elements) {
            spliced.extend(self.taken(kind, words));
        }
        spliced.into()
    }

    /// The predecessors by steps of an element.
    fn by_element(&self, of: &Constraint, (place, kind): (usize, KindId), out: &mut Vec<(Rule, Constraint)>) {
        let draft = self.draft(of, Some(place));
        let process = self.kinds.get(kind).process;
        let mut before = Vec::new();
        self.inner.by_edges(&draft, process, &mut before);
        if self.inner.machine.lags {
            self.inner.by_view(&draft, process, &mut before);
        }
        if self.inner.machine.stage != Stage::None {
            self.inner.by_serialization(&draft, process, &mut before);
        }
        self.offer(of, (place, kind), before, out);
    }

    /// The predecessors by steps of somebody who is not named.
    fn by_newcomer(&self, of: &Constraint, kind: KindId, out: &mut Vec<(Rule, Constraint)>) {
        let place = self.kinds_of(of).count();
        let is_full = match self.kinds.is_open(kind) {
            true => self.are_too_many(&self.kinds_of(of).chain([kind])),
            false => self.kinds_of(of).any(|it| it == kind),
        };
        if is_full {
            return;
        }
        let mut before = Vec::new();
        self.inner.newcomer(&self.draft(of, None), self.kinds.get(kind).process, &mut before);
        match place < MAX_ELEMENTS {
            true => self.offer(of, (place, kind), before, out),
            false => self.has_met_limit.store(true, Ordering::Relaxed),
        }
    }

    fn offer(&self, of: &Constraint, acting: (usize, KindId), before: Before, out: &mut Vec<(Rule, Constraint)>) {
        let element = acting.0 as u32;
        out.extend(before.into_iter().map(|(rule, words)| {
            let spliced = self.spliced(of, Some(acting), &words);
            let fresh = self.fresh(&spliced, acting);
            let constraint = if fresh.is_some() { self.without(&spliced, acting.0) } else { spliced };
            (Rule { element, kind: rule.kind, fresh }, constraint)
        }));
    }

    /// Whether an element is at its start, and there may be any number like it.
    fn fresh(&self, constraint: &[u32], (place, kind): (usize, KindId)) -> Option<Fresh> {
        let element = self.elements(constraint).nth(place)?;
        let may_be_left_out = self.max_copies.is_none() && self.kinds.is_open(kind) && self.starts(element);
        may_be_left_out.then_some(Fresh { kind, state: element[STATE] })
    }

    fn without(&self, constraint: &[u32], place: usize) -> Constraint {
        let at = 1 + place * self.n_words;
        [&constraint[..at], &constraint[at + self.n_words..]].concat().into()
    }

    /// Whether an element is at its start, with empty buffers.
    fn starts(&self, element: &[u32]) -> bool {
        let process = self.kinds.get(KindId::from_word(element[KIND])).process;
        self.inner.program.processes[process].initial.contains_key(&element[STATE])
            && element[BUFFER..].iter().all(|&word| word == Words::EMPTY)
    }

    /// The kinds and states of the elements, sorted.
    fn heads(&self, constraint: &[u32]) -> Vec<Head> {
        let mut heads: Vec<_> = self.elements(constraint).map(|it| (it[KIND], it[STATE])).collect();
        heads.sort_unstable();
        heads
    }

    fn bad_constraint(&self, bad: &Bad) -> Option<Constraint> {
        let mut memory = vec![Values::ANY; self.inner.program.values.len()];
        bad.memory.iter().for_each(|&(x, value)| memory[x.index()] = self.inner.encoding.one(x, value));
        let cells: Vec<u64> = memory.iter().map(|it| it.bits()).collect();
        let mut constraint = vec![self.inner.intern_letters(&cells)];
        for &(process, state) in &bad.states {
            constraint.extend([self.kinds.of(process).to_word(), state]);
            constraint.extend(std::iter::repeat_n(Words::EMPTY, self.n_words - BUFFER));
        }
        if self.are_too_many(&self.kinds_of(&constraint)) {
            return None;
        }
        let (_, words) = self.inner.admitted(self.draft(&constraint, None))?;
        Some(self.spliced(&constraint, None, &words))
    }

    /// Whether an element is below another: every element above the second is above the first.
    fn is_element_below(&self, a: &[u32], b: &[u32]) -> bool {
        let process = self.kinds.get(KindId::from_word(a[KIND])).process;
        let stores = self.inner.program.values.indices().zip(a[STORES..].iter().zip(&b[STORES..]));
        a[KIND] == b[KIND]
            && a[STATE] == b[STATE]
            && (a[BUFFER] == b[BUFFER] || is_below(self.inner.letters(a[BUFFER]), self.inner.letters(b[BUFFER])))
            && stores.into_iter().all(|(x, (&a, &b))| self.inner.is_store_below(a, b, process, x))
    }

    /// Whether the elements can be matched with different ones of the others that are above them; a bit for each of
    /// the others that is taken.
    fn is_matched(&self, elements: &[&[u32]], others: &[&[u32]], taken: u64) -> bool {
        let Some((first, rest)) = elements.split_first() else { return true };
        let free = |&(i, _): &(usize, &&[u32])| taken & 1 << i == 0;
        others
            .iter()
            .enumerate()
            .filter(free)
            .any(|(i, other)| self.is_element_below(first, other) && self.is_matched(rest, others, taken | 1 << i))
    }
}

/// The kind and the state of an element.
type Head = (u32, u32);

/// So many elements, the last of them, tell which bucket a constraint is in.
const N_KEYED: usize = 4;

/// The bucket of constraints with so many elements of each kind, of which these are the last.
fn keyed(outline: &[u8], last: &[Head]) -> u64 {
    let mut key = Key::new(0);
    outline.iter().for_each(|&count| key.mix(u64::from(count)));
    last.iter().for_each(|&(kind, state)| key.mix(u64::from(kind) << 32 | u64::from(state)));
    key.get()
}

/// Each choice of so many of some sorted heads, none twice.
fn choose(from: &[Head], n: usize, chosen: &mut Vec<Head>, each: &mut dyn FnMut(&[Head])) {
    if n == 0 {
        return each(chosen);
    }
    heed(1);
    for (i, &head) in from.iter().enumerate().take((from.len() + 1).saturating_sub(n)) {
        if i > 0 && from[i - 1] == head {
            continue;
        }
        chosen.push(head);
        choose(&from[i + 1..], n - 1, chosen, each);
        chosen.pop();
    }
}

/// Constraints have no more elements.
pub(super) const MAX_ELEMENTS: usize = 64;

impl WellStructured for Multisets<'_> {
    type Constraint = Constraint;
    type Rule = Rule;

    fn bad(&self) -> Vec<Constraint> {
        self.inner.bad.iter().filter_map(|bad| self.bad_constraint(bad)).collect()
    }

    fn predecessors(&self, of: &Constraint, out: &mut Vec<(Rule, Constraint)>) {
        let elements: Vec<&[u32]> = self.elements(of).collect();
        for (place, element) in elements.iter().enumerate() {
            // Equal elements have the same predecessors.
            if !elements[..place].contains(element) {
                self.by_element(of, (place, KindId::from_word(element[KIND])), out);
            }
        }
        for (kind, _) in self.kinds.iter() {
            self.by_newcomer(of, kind, out);
        }
    }

    fn entails(&self, smaller: &Constraint, larger: &Constraint) -> bool {
        if larger.len() > smaller.len() || !self.inner.covers_memory(larger[0], smaller[0]) {
            return false;
        }
        let (elements, others): (Vec<_>, Vec<_>) = (self.elements(larger).collect(), self.elements(smaller).collect());
        self.is_matched(&elements, &others, 0)
    }

    fn is_initial(&self, constraint: &Constraint) -> bool {
        self.elements(constraint).all(|it| self.starts(it)) && self.inner.is_initial_memory(constraint[0])
    }
}

impl Indexed for Multisets<'_> {
    /// How many elements there are of each kind.
    type Outline = Box<[u8]>;

    fn outline(&self, constraint: &Constraint) -> Box<[u8]> {
        let mut counts = vec![0; self.kinds.iter().count()];
        self.elements(constraint).for_each(|it| counts[it[KIND] as usize] += 1);
        counts.into()
    }

    fn is_within(&self, smaller: &Box<[u8]>, larger: &Box<[u8]>) -> bool {
        larger.iter().zip(smaller).all(|(larger, smaller)| larger <= smaller)
    }

    fn bucket(&self, constraint: &Constraint, outline: &Box<[u8]>) -> u64 {
        let heads = self.heads(constraint);
        keyed(outline, &heads[heads.len().saturating_sub(N_KEYED)..])
    }

    /// One that covers has a part of the elements, and its last are its key: they may be any behind so many others.
    fn buckets(&self, constraint: &Constraint, outline: &Box<[u8]>, out: &mut Vec<u64>) {
        let n_elements: usize = outline.iter().map(|&count| usize::from(count)).sum();
        let heads = self.heads(constraint);
        let n_keyed = n_elements.min(N_KEYED);
        choose(&heads[n_elements - n_keyed..], n_keyed, &mut Vec::new(), &mut |chosen| {
            out.push(keyed(outline, chosen));
        });
    }

    /// The values that memory does not hold, which states occur and how often, and what the buffers hold: a constraint
    /// that covers has less of all.
    fn signature(&self, constraint: &Constraint) -> u64 {
        let mut signature = self.inner.memory_signature(constraint[0]);
        let mut mark = |word: u64| signature |= 1 << (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        for (place, element) in self.elements(constraint).enumerate() {
            let is_like = |other: &&[u32]| other[..BUFFER] == element[..BUFFER];
            let n_before = self.elements(constraint).take(place).filter(is_like).count() as u64;
            mark(u64::from(element[STATE]) << 16 | u64::from(element[KIND]) << 8 | n_before);
            let word = self.inner.letters(element[BUFFER]).iter().map(|&letter| Message(letter));
            word.for_each(|it| mark(1 << 48 | u64::from(element[KIND]) << 16 | it.location().index() as u64));
        }
        signature
    }

    /// What is still to be done until all elements are at their start with empty buffers, roughly.
    fn weight(&self, constraint: &Constraint) -> u32 {
        let weights = self.elements(constraint).map(|element| {
            let process = self.kinds.get(KindId::from_word(element[KIND])).process;
            let letters: usize = element[BUFFER..].iter().map(|&word: &WordId| self.inner.letters(word).len()).sum();
            self.inner.distances[process][element[STATE] as usize] + letters as u32 * LETTER_WEIGHT + 1
        });
        weights.fold(0, u32::saturating_add)
    }

    fn bytes(&self) -> u64 {
        (1 + 4 * self.n_words) as u64 * 4
    }

    fn work_of_predecessor(&self) -> u32 {
        8
    }
}
