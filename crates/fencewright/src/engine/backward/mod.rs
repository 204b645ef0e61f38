//! The backward search of well-structured transition systems, written once.
//!
//! Abdulla, Čerāns, Jonsson, Tsay, _General decidability theorems for infinite-state systems_, LICS 1996: if larger
//! configurations can do all that smaller ones can, the set of configurations that can reach a bad one is upward closed
//! and has a finite basis. The search computes that basis: from the bad constraints it adds minimal predecessors until
//! nothing new comes, or an initial configuration is among them.
//!
//! ```text
//!    bad ◀── pre ── c₁ ◀── pre ── c₂ …      kept: an antichain; a constraint below which another is kept adds nothing
//! ```

pub mod load_buffer;
pub mod single_buffer;
mod words;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use crate::engine::automaton::FastMap;
use crate::engine::{Monitor, Progress, StopReason};

pub use words::{WordId, Words};

/// What the search needs to know of a system.
pub trait WellStructured {
    /// A finite description of an upward-closed set.
    type Constraint: Clone + fmt::Debug;
    /// What leads from a predecessor to its successor.
    type Rule: Copy + fmt::Debug;

    /// The bad configurations.
    fn bad(&mut self) -> Vec<Self::Constraint>;
    /// Appends the minimal predecessors, each with the rule that leads back.
    fn predecessors(&mut self, of: &Self::Constraint, out: &mut Vec<(Self::Rule, Self::Constraint)>);
    /// Whether every configuration of `smaller` is one of `larger`.
    fn entails(&mut self, smaller: &Self::Constraint, larger: &Self::Constraint) -> bool;
    /// Whether an initial configuration is in the set.
    fn is_initial(&self, constraint: &Self::Constraint) -> bool;
    /// Constraints under different keys do not entail each other, except as [`covering_keys`](Self::covering_keys)
    /// says.
    fn key(&self, constraint: &Self::Constraint) -> u64;
    /// Appends the keys under which a constraint that covers this one can be.
    fn covering_keys(&self, constraint: &Self::Constraint, out: &mut Vec<u64>);
    /// Lighter constraints are looked at first.
    fn weight(&self, constraint: &Self::Constraint) -> u32;
    /// The bytes of one constraint, roughly.
    fn bytes(&self) -> u64;
}

/// How a search ended.
#[derive(Clone, Debug)]
pub enum End<R> {
    /// No initial configuration can reach a bad one.
    Safe,
    /// The rules that lead from an initial configuration to a bad one, in order, and the first constraint's number.
    Unsafe(Vec<R>),
    /// The search was stopped.
    Stopped(StopReason),
}

/// The constraints so far.
#[derive(Debug)]
pub struct Search<S: WellStructured> {
    system: S,
    kept: Vec<Kept<S>>,
    buckets: FastMap<u64, Vec<u32>>,
    /// Lightest first, oldest first among equals.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    /// How many were looked at.
    pub n_explored: u64,
    n_alive: u64,
}

#[derive(Debug)]
struct Kept<S: WellStructured> {
    constraint: S::Constraint,
    /// The successor it was found from, and the rule that leads there.
    next: Option<(u32, S::Rule)>,
    /// A lighter constraint that covers it came later; it stays only to tell runs.
    is_covered: bool,
}

impl<S: WellStructured> Search<S> {
    /// Nothing is found yet.
    pub fn new(system: S) -> Self {
        Self {
            system,
            kept: Vec::new(),
            buckets: FastMap::default(),
            queue: BinaryHeap::new(),
            n_explored: 0,
            n_alive: 0,
        }
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// How many constraints are in the antichain.
    pub fn n_kept(&self) -> u64 {
        self.n_alive
    }

    /// The constraint that was added last.
    pub fn last(&self) -> Option<&S::Constraint> {
        self.kept.last().map(|kept| &kept.constraint)
    }

    /// From the constraint that was added last to a bad one: each rule, and the constraint it leads to.
    pub fn path(&self) -> Vec<(S::Rule, &S::Constraint)> {
        let mut path = Vec::new();
        let mut at = self.kept.last();
        while let Some((next, rule)) = at.and_then(|kept| kept.next) {
            let kept = &self.kept[next as usize];
            path.push((rule, &kept.constraint));
            at = Some(kept);
        }
        path
    }

    /// The bytes of the tables, roughly.
    pub fn bytes(&self) -> u64 {
        self.kept.len() as u64 * (self.system.bytes() + 40)
    }

    /// The constraints of the antichain.
    pub fn basis(&self) -> impl Iterator<Item = &S::Constraint> {
        self.kept.iter().filter(|kept| !kept.is_covered).map(|kept| &kept.constraint)
    }

    /// Searches until the basis is complete, an initial configuration is in it, or a limit is met.
    pub fn run(&mut self, monitor: &dyn Monitor) -> End<S::Rule> {
        for constraint in self.system.bad() {
            if let Some(end) = self.add(constraint, None) {
                return end;
            }
        }
        let mut predecessors = Vec::new();
        while let Some(Reverse((_, number))) = self.queue.pop() {
            if self.kept[number as usize].is_covered {
                continue;
            }
            self.n_explored += 1;
            if self.n_explored.is_multiple_of(256)
                && let Some(reason) = monitor.poll(&self.progress())
            {
                return End::Stopped(reason);
            }
            let constraint = self.kept[number as usize].constraint.clone();
            self.system.predecessors(&constraint, &mut predecessors);
            for (rule, predecessor) in predecessors.drain(..) {
                if let Some(end) = self.add(predecessor, Some((number, rule))) {
                    return end;
                }
            }
        }
        End::Safe
    }

    fn progress(&self) -> Progress {
        let queued = self.queue.len() as u64;
        Progress { explored: self.n_explored, queued, depth: 0, bytes: self.bytes() }
    }

    /// Adds a constraint unless it is covered; tells the run if it holds an initial configuration.
    fn add(&mut self, constraint: S::Constraint, next: Option<(u32, S::Rule)>) -> Option<End<S::Rule>> {
        let mut keys = Vec::new();
        self.system.covering_keys(&constraint, &mut keys);
        for key in keys {
            let Some(bucket) = self.buckets.get(&key) else { continue };
            for &other in bucket {
                if self.system.entails(&constraint, &self.kept[other as usize].constraint) {
                    return None;
                }
            }
        }
        let key = self.system.key(&constraint);
        self.drop_covered(key, &constraint);
        let number = u32::try_from(self.kept.len()).expect("fewer than 2^32 constraints");
        let is_initial = self.system.is_initial(&constraint);
        self.queue.push(Reverse((self.system.weight(&constraint), number)));
        self.buckets.entry(key).or_default().push(number);
        self.kept.push(Kept { constraint, next, is_covered: false });
        self.n_alive += 1;
        is_initial.then(|| End::Unsafe(self.rules_from(number)))
    }

    fn drop_covered(&mut self, key: u64, by: &S::Constraint) {
        let Some(bucket) = self.buckets.get_mut(&key) else { return };
        let (system, kept, n_alive) = (&mut self.system, &mut self.kept, &mut self.n_alive);
        bucket.retain(|&other| {
            let other = &mut kept[other as usize];
            other.is_covered = system.entails(&other.constraint, by);
            *n_alive -= u64::from(other.is_covered);
            !other.is_covered
        });
    }

    fn rules_from(&self, number: u32) -> Vec<S::Rule> {
        let mut rules = Vec::new();
        let mut at = number;
        while let Some((next, rule)) = self.kept[at as usize].next {
            rules.push(rule);
            at = next;
        }
        rules
    }
}
