//! The constraints so far: those of which none covers another, indexed so that few have to be compared.
//!
//! ```text
//!    (processes left open, key)  ⟶  bucket: signatures and numbers of constraints, ascending
//! ```
//!
//! A constraint can only be covered from a few buckets: its own, and one for each larger set of processes left open. In
//! a bucket, signatures spare most comparisons. Reading is for all threads at once; only [`add`](Antichain::add)
//! changes anything.

use crate::engine::automaton::FastMap;
use crate::engine::backward::WellStructured;

/// The constraints so far.
#[derive(Debug)]
pub struct Antichain<S: WellStructured> {
    kept: Vec<Kept<S>>,
    buckets: FastMap<u64, Vec<Entry>>,
    /// Sets of processes left open that occur.
    opens: Vec<u64>,
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
struct Kept<S: WellStructured> {
    constraint: S::Constraint,
    /// The successor it was found from, and the rule that leads there.
    next: Option<(u32, S::Rule)>,
    /// A constraint that covers it came later; it stays only to tell runs.
    is_covered: bool,
}

/// A constraint that nothing covered when it was looked up.
#[derive(Debug)]
pub struct Newcomer<S: WellStructured> {
    /// The constraint.
    pub constraint: S::Constraint,
    /// The successor it was found from, and the rule that leads there.
    pub next: Option<(u32, S::Rule)>,
    /// Lighter constraints are looked at first.
    pub weight: u32,
    open: u64,
    key: u64,
    /// Where constraints are that may cover it, for each set of open processes that was known when it was looked up.
    covering: Vec<u64>,
    /// How many such sets were known.
    n_opens: usize,
    signature: u64,
    /// What it covers.
    covers: Vec<u32>,
    /// How many constraints there were when it was looked up.
    n_seen: u32,
}

impl<S: WellStructured> Antichain<S> {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self { kept: Vec::new(), buckets: FastMap::default(), opens: Vec::new(), n_alive: 0 }
    }

    /// How many constraints cover each other not.
    pub fn n_alive(&self) -> u64 {
        self.n_alive
    }

    /// How many constraints there have been.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// A constraint by its number.
    pub fn get(&self, number: u32) -> &S::Constraint {
        &self.kept[number as usize].constraint
    }

    /// Whether another one covers it.
    pub fn is_covered(&self, number: u32) -> bool {
        self.kept[number as usize].is_covered
    }

    /// The successor it was found from.
    pub fn next(&self, number: u32) -> Option<(u32, S::Rule)> {
        self.kept[number as usize].next
    }

    /// The constraints that no other covers.
    pub fn alive(&self) -> impl Iterator<Item = &S::Constraint> {
        self.kept.iter().filter(|kept| !kept.is_covered).map(|kept| &kept.constraint)
    }

    /// Looks a constraint up; `None` if it is covered.
    pub fn look_up(&self, system: &S, constraint: S::Constraint, next: Option<(u32, S::Rule)>) -> Option<Newcomer<S>> {
        let open = system.open(&constraint);
        let key = system.key(&constraint, open);
        let signature = system.signature(&constraint);
        let covering = self.opens.iter().map(|&larger| Self::covering_key(system, &constraint, (open, key), larger));
        let covering = covering.flatten().collect();
        let mut newcomer = Newcomer {
            constraint,
            next,
            weight: 0,
            open,
            key,
            covering,
            n_opens: self.opens.len(),
            signature,
            covers: Vec::new(),
            n_seen: 0,
        };
        if newcomer.covering.iter().any(|&key| self.is_covered_in(system, &newcomer, key)) {
            return None;
        }
        newcomer.covers = self.covered_since(system, &newcomer);
        newcomer.n_seen = self.kept.len() as u32;
        newcomer.weight = system.weight(&newcomer.constraint);
        Some(newcomer)
    }

    /// What is to be kept in place of a constraint that nothing covers, if not itself.
    pub fn generalized(&self, system: &S, newcomer: &Newcomer<S>) -> Option<S::Constraint> {
        let bucket = self.buckets.get(&newcomer.key).map_or(&[][..], Vec::as_slice);
        system.generalized(&newcomer.constraint, &mut bucket.iter().map(|entry| self.get(entry.number)))
    }

    /// Adds a constraint unless one that came after it was looked up covers it; its number.
    pub fn add(&mut self, system: &S, newcomer: Newcomer<S>) -> Option<u32> {
        let n_new = self.opens.len().saturating_sub(newcomer.n_opens);
        let new = self.opens[self.opens.len() - n_new..].iter();
        let place = (newcomer.open, newcomer.key);
        let new = new.filter_map(|&larger| Self::covering_key(system, &newcomer.constraint, place, larger));
        if newcomer.covering.iter().copied().chain(new).any(|key| self.is_covered_in(system, &newcomer, key)) {
            return None;
        }
        let later = self.covered_since(system, &newcomer);
        let Newcomer { constraint, next, open, key, signature, mut covers, .. } = newcomer;
        covers.extend(later);
        self.drop_covered(key, &covers);
        let number = u32::try_from(self.kept.len()).expect("fewer than 2^32 constraints");
        self.buckets.entry(key).or_default().push(Entry { signature, number });
        self.kept.push(Kept { constraint, next, is_covered: false });
        self.n_alive += 1;
        if !self.opens.contains(&open) {
            self.opens.push(open);
        }
        Some(number)
    }

    /// The constraints of a bucket that came after one was looked up.
    fn since(&self, key: u64, n_seen: u32) -> impl Iterator<Item = Entry> {
        let bucket = self.buckets.get(&key).map_or(&[][..], Vec::as_slice);
        bucket.iter().rev().copied().take_while(move |entry| entry.number >= n_seen)
    }

    /// Where a constraint is that leaves these processes open and may cover one that leaves others open.
    fn covering_key(system: &S, constraint: &S::Constraint, (open, key): (u64, u64), larger: u64) -> Option<u64> {
        (larger & open == open).then(|| if larger == open { key } else { system.key(constraint, larger) })
    }

    fn is_covered_in(&self, system: &S, newcomer: &Newcomer<S>, key: u64) -> bool {
        let mut candidates = self.since(key, newcomer.n_seen).filter(|entry| entry.may_cover(newcomer.signature));
        candidates.any(|entry| system.entails(&newcomer.constraint, self.get(entry.number)))
    }

    fn covered_since(&self, system: &S, newcomer: &Newcomer<S>) -> Vec<u32> {
        let candidates = self.since(newcomer.key, newcomer.n_seen).map(|entry| (entry, entry.number));
        let is_below = |(entry, number): &(Entry, u32)| {
            entry.may_be_covered(newcomer.signature) && system.entails(self.get(*number), &newcomer.constraint)
        };
        candidates.filter(is_below).map(|(_, number)| number).collect()
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
