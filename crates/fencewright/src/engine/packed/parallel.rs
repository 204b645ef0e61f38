//! Breadth-first search on several threads.
//!
//! Each thread owns the states whose hash falls to it. A level is expanded by all at once, states of others go into
//! their mail, and the level ends when all mail is read:
//!
//! ```text
//!   thread 0 ──expand──▶ mine: keep    ┐        ┌ read mail: keep
//!                        other: mail  ─┼─ wait ─┤                 ─ wait ─ … next level
//!   thread 1 ──expand──▶ mine: keep    ┘        └ read mail: keep
//! ```
//!
//! The set of states of a level does not depend on the number of threads, nor does the answer. Which bad state is seen
//! first does, so a run is always told by the search on one thread.

use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};

use crate::engine::packed::component::Component;
use crate::engine::packed::expand::{Badness, Expander, Shared, Sink};
use crate::engine::packed::search::{Budget, End, MAX_STATES, Outcome};
use crate::engine::packed::states::{Batch, StateSet, hash_of};
use crate::system::starts;
use crate::watch::{Monitor, Progress};

/// Searches on so many threads until a bad state, the end, or a limit.
pub(crate) fn run<C: Component>(
    shared: &Shared<'_, C>,
    n_threads: usize,
    budget: Budget,
    monitor: &dyn Monitor,
) -> Outcome {
    let mail = (0..n_threads * n_threads).map(|_| Mutex::default()).collect();
    let crew = Crew {
        shared,
        n_threads,
        budget,
        monitor,
        mail,
        barrier: Barrier::new(n_threads),
        end: Mutex::new(None),
        is_over: AtomicBool::new(false),
        reports: (0..n_threads).map(|_| AtomicU64::new(0)).collect(),
        n_states: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
        has_hit_bound: AtomicBool::new(false),
    };
    std::thread::scope(|scope| {
        for own in 0..n_threads {
            let crew = &crew;
            scope.spawn(move || crew.work(own));
        }
    });
    let n_states = crew.n_states.into_inner();
    Outcome {
        end: crew.end.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or(End::Exhausted),
        n_states,
        n_kept: n_states,
        bytes: crew.bytes.into_inner() + shared.bytes(),
        has_hit_bound: crew.has_hit_bound.into_inner(),
    }
}

/// A thread's report that the search is over.
const OVER: u64 = u64::MAX;

/// What the threads share.
struct Crew<'a, C> {
    shared: &'a Shared<'a, C>,
    n_threads: usize,
    budget: Budget,
    monitor: &'a dyn Monitor,
    /// Words of states on their way, by sender and receiver.
    mail: Vec<Mutex<Vec<u32>>>,
    barrier: Barrier,
    /// The first reason to end.
    end: Mutex<Option<End>>,
    is_over: AtomicBool,
    /// What each thread has for the next level, or [`OVER`].
    reports: Vec<AtomicU64>,
    n_states: AtomicU64,
    bytes: AtomicU64,
    has_hit_bound: AtomicBool,
}

/// The states of one thread.
struct Shard {
    own: usize,
    n_threads: usize,
    states: StateSet,
    batch: Batch,
    outboxes: Vec<Vec<u32>>,
    bad: Option<Badness>,
}

impl<C: Component> Sink<C> for Shard {
    #[inline]
    fn take(&mut self, expander: &mut Expander<'_, C>, successor: &[u32]) -> bool {
        let hash = hash_of(successor);
        // The table uses the lowest and the highest bits.
        let owner = (hash >> 24) as u32 as usize % self.n_threads;
        if owner == self.own {
            self.keep(expander, successor, hash);
        } else {
            self.outboxes[owner].extend_from_slice(successor);
        }
        true
    }
}

impl Shard {
    fn keep<C: Component>(&mut self, expander: &mut Expander<'_, C>, state: &[u32], hash: u64) {
        if self.batch.push(state, hash) {
            self.settle(expander);
        }
    }

    /// Puts the batch into the set.
    fn settle<C: Component>(&mut self, expander: &mut Expander<'_, C>) {
        black_box(self.states.touch(&self.batch));
        for i in 0..self.batch.len() {
            if self.states.insert(&self.batch, i).is_some() && self.bad.is_none() {
                self.bad = expander.violation(self.batch.get(i));
            }
        }
        self.batch.clear();
    }
}

impl<C: Component> Crew<'_, C> {
    fn work(&self, own: usize) {
        let mut expander = Expander::new(self.shared);
        let n_words = self.shared.n_words();
        let outboxes = vec![Vec::new(); self.n_threads];
        let (states, batch) = (StateSet::new(n_words), Batch::new(n_words));
        let mut shard = Shard { own, n_threads: self.n_threads, states, batch, outboxes, bad: None };
        for start in starts(self.shared.automaton.flow().program).into_iter().flatten() {
            expander.start(&start, &mut shard);
        }
        shard.settle(&mut expander);
        // Every thread has generated all initial states, and kept its own.
        shard.outboxes.iter_mut().for_each(Vec::clear);
        let mut level = 0..shard.states.len();
        let mut depth = 0;
        while self.goes_on(&shard, level.len()) {
            depth += 1;
            self.expand_level(&mut expander, &mut shard, level.clone(), depth);
            self.exchange(&mut expander, &mut shard);
            level = level.end..shard.states.len();
        }
        self.has_hit_bound.fetch_or(expander.has_hit_bound(), Ordering::Relaxed);
        self.n_states.fetch_add(shard.states.len() as u64, Ordering::Relaxed);
        self.bytes.fetch_add(shard.states.bytes(), Ordering::Relaxed);
    }

    /// Waits for all threads; whether there is another level. All threads get the same answer, because what it depends
    /// on is written only before this wait and not again before the next.
    fn goes_on(&self, shard: &Shard, n_new: usize) -> bool {
        if let Some(bad) = shard.bad {
            self.finish(End::Bad(bad));
        }
        let report = if self.is_over.load(Ordering::Relaxed) { OVER } else { n_new as u64 };
        self.reports[shard.own].store(report, Ordering::Relaxed);
        self.barrier.wait();
        let reports = self.reports.iter().map(|report| report.load(Ordering::Relaxed));
        reports.clone().all(|report| report != OVER) && reports.sum::<u64>() > 0
    }

    fn expand_level(&self, expander: &mut Expander<'_, C>, shard: &mut Shard, level: Range<usize>, depth: u64) {
        let mut state = vec![0; self.shared.n_words()];
        for (i, number) in level.enumerate() {
            if i.is_multiple_of(C::POLL_EVERY) {
                self.poll(shard, number, depth);
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            state.copy_from_slice(shard.states.get(number));
            expander.expand(&state, shard);
        }
    }

    /// Hands over what belongs to others, and keeps what they hand over.
    fn exchange(&self, expander: &mut Expander<'_, C>, shard: &mut Shard) {
        for (receiver, outbox) in shard.outboxes.iter_mut().enumerate() {
            std::mem::swap(outbox, &mut self.mail_from(shard.own, receiver));
        }
        self.barrier.wait();
        let own = shard.own;
        for sender in (0..self.n_threads).filter(|&sender| sender != own) {
            let mut words = self.mail_from(sender, own);
            for state in words.chunks_exact(self.shared.n_words()) {
                shard.keep(expander, state, hash_of(state));
            }
            words.clear();
        }
        shard.settle(expander);
    }

    fn mail_from(&self, sender: usize, receiver: usize) -> MutexGuard<'_, Vec<u32>> {
        self.mail[sender * self.n_threads + receiver].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, shard: &Shard, number: usize, depth: u64) {
        // The other threads have about as much as this one.
        let scale = |n: usize| (n * self.n_threads) as u64;
        let n_states = scale(shard.states.len());
        let bytes = shard.states.bytes() * self.n_threads as u64 + self.shared.bytes();
        let progress = Progress { explored: scale(number), queued: n_states - scale(number), depth, bytes };
        let is_large = n_states > self.budget.states.min(MAX_STATES) || bytes > self.budget.bytes;
        if is_large || depth > self.budget.depth {
            self.finish(End::OverBudget);
        } else if let Some(reason) = self.monitor.poll(&progress) {
            self.finish(End::Stopped(reason.into()));
        }
    }

    fn finish(&self, end: End) {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
        self.is_over.store(true, Ordering::Relaxed);
    }
}
