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

/// So many signatures are looked at before anybody is told: the loop over them counts nothing.
const LOOKED_AT_ONCE: usize = 128;

/// Looks and comparisons that nobody was told of; they are when it goes.
struct Compared(u32);

impl Compared {
    fn note(&mut self, n_looks: usize, n_comparisons: u32) {
        self.0 += n_looks as u32 * OF_A_LOOK + n_comparisons * OF_A_COMPARISON;
        if self.0 >= TOLD_AT_ONCE {
            heed(self.0 / PARTS);
            self.0 %= PARTS;
        }
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
    /// Where it is found.
    face: Face<S>,
    /// Others that stand for the same as it, and where they are found.
    others: Vec<(S::Constraint, Face<S>)>,
    /// How many outlines were known when it was looked up.
    n_outlines: usize,
    /// What it covers.
    covers: Vec<(u64, u32)>,
    /// How many constraints there were when it was looked up.
    n_seen: u32,
}

/// What is compared of a constraint before itself.
#[derive(Debug)]
struct Face<S: Indexed> {
    outline: S::Outline,
    bucket: u64,
    /// Where constraints are that may cover it, for each outline that was known when it was looked up.
    covering: Vec<u64>,
    signature: u64,
}

impl<S: Indexed> Newcomer<S> {
    /// Itself, and those that stand for the same.
    fn faces(&self) -> impl Iterator<Item = (&S::Constraint, &Face<S>)> {
        std::iter::once((&self.constraint, &self.face)).chain(self.others.iter().map(|it| (&it.0, &it.1)))
    }
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
        let face = self.face(system, &constraint);
        let (n_outlines, covers) = (self.outlines.len(), Vec::new());
        let mut newcomer =
            Newcomer { constraint, next, weight: 0, face, others: Vec::new(), n_outlines, covers, n_seen: 0 };
        if self.is_covered_since(system, &newcomer) {
            return None;
        }
        for other in system.images(&newcomer.constraint) {
            let face = self.face(system, &other);
            newcomer.others.push((other, face));
        }
        if !newcomer.others.is_empty() && self.is_covered_since(system, &newcomer) {
            return None;
        }
        newcomer.covers = self.covered_since(system, &newcomer);
        newcomer.n_seen = self.kept.len() as u32;
        newcomer.weight = system.weight(&newcomer.constraint);
        Some(newcomer)
    }

    fn face(&self, system: &S, constraint: &S::Constraint) -> Face<S> {
        let outline = system.outline(constraint);
        let bucket = system.bucket(constraint, &outline);
        let signature = system.signature(constraint);
        let own = (&outline, bucket);
        let covering = Self::covering(system, constraint, own, &self.outlines);
        Face { outline, bucket, covering, signature }
    }

    /// What is to be kept in place of a constraint that nothing covers, if not itself.
    pub(super) fn generalized(&self, system: &S, newcomer: &Newcomer<S>) -> Option<S::Constraint>
    where
        S: Generalizing,
    {
        let bucket = self.buckets.get(&newcomer.face.bucket).map_or(&[][..], Vec::as_slice);
        system.generalized(&newcomer.constraint, &mut bucket.iter().map(|entry| self.get(entry.number)))
    }

    /// Adds a constraint unless one that came after it was looked up covers it; its number.
    pub(super) fn add(&mut self, system: &S, newcomer: Newcomer<S>) -> Option<u32> {
        if self.is_covered_since(system, &newcomer) {
            return None;
        }
        let later = self.covered_since(system, &newcomer);
        let Newcomer { constraint, next, face, mut covers, .. } = newcomer;
        let Face { outline, bucket, signature, .. } = face;
        covers.extend(later);
        self.drop_covered(&covers);
        let number = u32::try_from(self.kept.len()).expect("fewer than 2^32 constraints");
        self.buckets.entry(bucket).or_default().push(Entry { signature, number });
        self.kept.push(Kept { constraint, next, is_covered: false });
        self.n_alive += 1;
        if !self.outlines.contains(&outline) {
            self.outlines.push(outline);
        }
        Some(number)
    }

    /// The constraints of a bucket that came after one was looked up, the latest last.
    fn since(&self, key: u64, n_seen: u32) -> &[Entry] {
        let bucket = self.buckets.get(&key).map_or(&[][..], Vec::as_slice);
        let n_since = match n_seen {
            0 => bucket.len(),
            _ => bucket.iter().rev().take_while(|entry| entry.number >= n_seen).count(),
        };
        &bucket[bucket.len() - n_since..]
    }

    /// Where constraints with some outlines are that may cover one with another outline.
    fn covering(
        system: &S,
        constraint: &S::Constraint,
        (own, bucket): (&S::Outline, u64),
        outlines: &[S::Outline],
    ) -> Vec<u64> {
        let mut out = Vec::with_capacity(outlines.len());
        for larger in outlines {
            if larger == own {
                out.push(bucket);
            } else if system.is_within(own, larger) {
                system.buckets(constraint, larger, &mut out);
            }
        }
        out
    }

    /// Whether one that came after it was looked up covers it, or another that stands for the same.
    fn is_covered_since(&self, system: &S, newcomer: &Newcomer<S>) -> bool {
        let is_covered = |constraint, face| self.is_face_covered(system, (constraint, face), newcomer);
        is_covered(&newcomer.constraint, &newcomer.face) || newcomer.others.iter().any(|it| is_covered(&it.0, &it.1))
    }

    fn is_face_covered(&self, system: &S, (it, face): (&S::Constraint, &Face<S>), newcomer: &Newcomer<S>) -> bool {
        let is_covered = |&bucket: &u64| self.is_covered_in(system, (it, face.signature), bucket, newcomer.n_seen);
        if face.covering.iter().any(is_covered) {
            return true;
        }
        let outlines = &self.outlines[newcomer.n_outlines..];
        !outlines.is_empty()
            && Self::covering(system, it, (&face.outline, face.bucket), outlines).iter().any(is_covered)
    }

    fn is_covered_in(&self, system: &S, (constraint, signature): (&S::Constraint, u64), key: u64, n_seen: u32) -> bool {
        let since = self.since(key, n_seen);
        if since.is_empty() {
            return false;
        }
        let mut compared = Compared(0);
        for entries in since.rchunks(LOOKED_AT_ONCE) {
            let mut n_comparisons = 0;
            let found = entries.iter().rev().position(|entry| {
                entry.may_cover(signature) && {
                    n_comparisons += 1;
                    system.entails(constraint, self.get(entry.number))
                }
            });
            compared.note(found.map_or(entries.len(), |at| at + 1), n_comparisons);
            if found.is_some() {
                return true;
            }
        }
        false
    }

    /// What it covers, or another that stands for the same, each with its bucket.
    fn covered_since(&self, system: &S, newcomer: &Newcomer<S>) -> Vec<(u64, u32)> {
        let mut compared = Compared(0);
        let mut covered = Vec::new();
        for (constraint, face) in newcomer.faces() {
            for entries in self.since(face.bucket, newcomer.n_seen).rchunks(LOOKED_AT_ONCE) {
                let mut n_comparisons = 0;
                for entry in entries.iter().rev().filter(|entry| entry.may_be_covered(face.signature)) {
                    n_comparisons += 1;
                    if system.entails(self.get(entry.number), constraint) {
                        covered.push((face.bucket, entry.number));
                    }
                }
                compared.note(entries.len(), n_comparisons);
            }
        }
        covered
    }

    fn drop_covered(&mut self, covered: &[(u64, u32)]) {
        let mut keys = Vec::new();
        for &(key, number) in covered {
            let was_covered = std::mem::replace(&mut self.kept[number as usize].is_covered, true);
            if !was_covered {
                self.n_alive -= 1;
                keys.push(key);
            }
        }
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            if let Some(bucket) = self.buckets.get_mut(&key) {
                bucket.retain(|entry| !self.kept[entry.number as usize].is_covered);
            }
        }
    }
}
