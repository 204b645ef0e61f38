//! The constraints so far: those of which none covers another, indexed so that few have to be compared.
//!
//! ```text
//!    bucket  ⟶  signatures and numbers of constraints, ascending
//! ```
//!
//! A constraint can only be covered from a few buckets: its own, and one for each larger outline, of which there are
//! few. In a bucket, signatures spare most comparisons. Reading is for all threads at once; only
//! [`add`](Antichain::add) changes anything.

use crate::engine::automaton::FastMap;
use crate::engine::backward::{Generalizing, Indexed};
use crate::watch::{heed, note_work};

/// What a look at a signature takes and what a comparison of two constraints takes, of a step of work ([`heed`]) in
/// parts of so many.
const PARTS: u32 = 32;
const OF_A_LOOK: u32 = 1;
const OF_A_COMPARISON: u32 = 8;

/// So many parts are told at once.
const TOLD_AT_ONCE: u32 = 64 * PARTS;

/// Looks and comparisons that nobody was told of; they are when it goes.
struct Compared(u32);

impl Compared {
    /// A look at a signature, and a comparison of constraints if it may be that one covers the other.
    fn one(&mut self, may: bool, compare: impl FnOnce() -> bool) -> bool {
        self.0 += if may { OF_A_LOOK + OF_A_COMPARISON } else { OF_A_LOOK };
        if self.0 >= TOLD_AT_ONCE {
            heed(self.0 / PARTS);
            self.0 %= PARTS;
        }
        may && compare()
    }
}

impl Drop for Compared {
    fn drop(&mut self) {
        note_work((self.0 + PARTS / 2) / PARTS);
    }
}

/// The constraints so far.
#[derive(Debug)]
pub(super) struct Antichain<S: Indexed> {
    kept: Vec<Kept<S>>,
    buckets: FastMap<u64, Vec<Entry>>,
    /// Those that occur.
    outlines: Vec<S::Outline>,
    n_alive: u64,
}

/// A constraint in its bucket.
#[derive(Clone, Copy, Debug)]
struct Entry {
    signature: u64,
    number: u32,
}

impl Entry {
    /// Whether it may be that one with this signature is covered.
    const fn may_cover(self, signature: u64) -> bool {
        self.signature & !signature == 0
    }

    /// Whether it may be that one with this signature covers it.
    const fn may_be_covered(self, signature: u64) -> bool {
        signature & !self.signature == 0
    }
}

#[derive(Debug)]
struct Kept<S: Indexed> {
    constraint: S::Constraint,
    /// The successor it was found from, and the rule that leads there.
    next: Option<(u32, S::Rule)>,
    /// A constraint that covers it came later; it stays only to tell runs.
    is_covered: bool,
}

/// A constraint that nothing covered when it was looked up.
#[derive(Debug)]
pub(super) struct Newcomer<S: Indexed> {
    /// The constraint.
    pub constraint: S::Constraint,
    /// The successor it was found from, and the rule that leads there.
    pub next: Option<(u32, S::Rule)>,
    /// Lighter constraints are looked at first.
    pub weight: u32,
    outline: S::Outline,
    bucket: u64,
    /// Where constraints are that may cover it, for each outline that was known when it was looked up.
    covering: Vec<u64>,
    /// How many outlines were known.
    n_outlines: usize,
    signature: u64,
    /// What it covers.
    covers: Vec<u32>,
    /// How many constraints there were when it was looked up.
    n_seen: u32,
}

impl<S: Indexed> Antichain<S> {
    /// Nothing is known yet.
    pub(super) fn new() -> Self {
        Self { kept: Vec::new(), buckets: FastMap::default(), outlines: Vec::new(), n_alive: 0 }
    }

    /// How many constraints cover each other not.
    pub(super) fn n_alive(&self) -> u64 {
        self.n_alive
    }

    /// How many constraints there have been.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// A constraint by its number.
    pub(super) fn get(&self, number: u32) -> &S::Constraint {
        &self.kept[number as usize].constraint
    }

    /// Whether another one covers it.
    pub(super) fn is_covered(&self, number: u32) -> bool {
        self.kept[number as usize].is_covered
    }

    /// The successor it was found from.
    pub(super) fn next(&self, number: u32) -> Option<(u32, S::Rule)> {
        self.kept[number as usize].next
    }

    /// The constraints that no other covers.
    pub(super) fn alive(&self) -> impl Iterator<Item = &S::Constraint> {
        self.kept.iter().filter(|kept| !kept.is_covered).map(|kept| &kept.constraint)
    }

    /// Looks a constraint up; `None` if it is covered.
    pub(super) fn look_up(
        &self,
        system: &S,
        constraint: S::Constraint,
        next: Option<(u32, S::Rule)>,
    ) -> Option<Newcomer<S>> {
        let outline = system.outline(&constraint);
        let bucket = system.bucket(&constraint, &outline);
        let signature = system.signature(&constraint);
        let own = (&outline, bucket);
        let covering = self.outlines.iter().filter_map(|larger| Self::covering(system, &constraint, own, larger));
        let covering = covering.collect();
        let mut newcomer = Newcomer {
            constraint,
            next,
            weight: 0,
            outline,
            bucket,
            covering,
            n_outlines: self.outlines.len(),
            signature,
            covers: Vec::new(),
            n_seen: 0,
        };
        if newcomer.covering.iter().any(|&bucket| self.is_covered_in(system, &newcomer, bucket)) {
            return None;
        }
        newcomer.covers = self.covered_since(system, &newcomer);
        newcomer.n_seen = self.kept.len() as u32;
        newcomer.weight = system.weight(&newcomer.constraint);
        Some(newcomer)
    }

    /// What is to be kept in place of a constraint that nothing covers, if not itself.
    pub(super) fn generalized(&self, system: &S, newcomer: &Newcomer<S>) -> Option<S::Constraint>
    where
        S: Generalizing,
    {
        let bucket = self.buckets.get(&newcomer.bucket).map_or(&[][..], Vec::as_slice);
        system.generalized(&newcomer.constraint, &mut bucket.iter().map(|entry| self.get(entry.number)))
    }

    /// Adds a constraint unless one that came after it was looked up covers it; its number.
    pub(super) fn add(&mut self, system: &S, newcomer: Newcomer<S>) -> Option<u32> {
        let own = (&newcomer.outline, newcomer.bucket);
        let new = self.outlines[newcomer.n_outlines..].iter();
        let new = new.filter_map(|larger| Self::covering(system, &newcomer.constraint, own, larger));
        if newcomer.covering.iter().copied().chain(new).any(|bucket| self.is_covered_in(system, &newcomer, bucket)) {
            return None;
        }
        let later = self.covered_since(system, &newcomer);
        let Newcomer { constraint, next, outline, bucket, signature, mut covers, .. } = newcomer;
        covers.extend(later);
        self.drop_covered(bucket, &covers);
        let number = u32::try_from(self.kept.len()).expect("fewer than 2^32 constraints");
        self.buckets.entry(bucket).or_default().push(Entry { signature, number });
        self.kept.push(Kept { constraint, next, is_covered: false });
        self.n_alive += 1;
        if !self.outlines.contains(&outline) {
            self.outlines.push(outline);
        }
        Some(number)
    }

    /// The constraints of a bucket that came after one was looked up.
    fn since(&self, key: u64, n_seen: u32) -> impl Iterator<Item = Entry> {
        let bucket = self.buckets.get(&key).map_or(&[][..], Vec::as_slice);
        bucket.iter().rev().copied().take_while(move |entry| entry.number >= n_seen)
    }

    /// Where constraints with an outline are that may cover one with another outline.
    fn covering(
        system: &S,
        constraint: &S::Constraint,
        (own, bucket): (&S::Outline, u64),
        larger: &S::Outline,
    ) -> Option<u64> {
        let is_own = larger == own;
        let may_cover = is_own || system.is_within(own, larger);
        may_cover.then(|| if is_own { bucket } else { system.bucket(constraint, larger) })
    }

    fn is_covered_in(&self, system: &S, newcomer: &Newcomer<S>, key: u64) -> bool {
        let mut compared = Compared(0);
        self.since(key, newcomer.n_seen).any(|entry| {
            let may = entry.may_cover(newcomer.signature);
            compared.one(may, || system.entails(&newcomer.constraint, self.get(entry.number)))
        })
    }

    fn covered_since(&self, system: &S, newcomer: &Newcomer<S>) -> Vec<u32> {
        let mut compared = Compared(0);
        let is_below = |entry: &Entry| {
            let may = entry.may_be_covered(newcomer.signature);
            compared.one(may, || system.entails(self.get(entry.number), &newcomer.constraint))
        };
        self.since(newcomer.bucket, newcomer.n_seen).filter(is_below).map(|entry| entry.number).collect()
    }

    fn drop_covered(&mut self, key: u64, covered: &[u32]) {
        let mut is_any = false;
        for &number in covered {
            let kept = &mut self.kept[number as usize];
            self.n_alive -= u64::from(!kept.is_covered);
            is_any |= !kept.is_covered;
            kept.is_covered = true;
        }
        if is_any && let Some(bucket) = self.buckets.get_mut(&key) {
            bucket.retain(|entry| !self.kept[entry.number as usize].is_covered);
        }
    }
}
