//! The search: batches of constraints, lightest first, whose predecessors all threads compute and look up at once.
//!
//! ```text
//!    queue ─▶ batch ─┬─ thread: predecessors, not covered ─┬─▶ added one by one, in the order of the batch
//!                    └─ thread: predecessors, not covered ─┘
//! ```
//!
//! What a batch holds does not depend on the number of threads, nor then does anything that is kept or told.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::engine::StopReason;
use crate::engine::backward::antichain::{Antichain, Newcomer};
use crate::engine::backward::{Generalizing, Indexed, WellStructured};
use crate::watch::{Monitor, Progress, heed};

/// A batch is no more than this part of the queue, and of what was looked at before, so that little is looked at that
/// better constraints would have spared, and small searches go one by one.
const PART_OF_QUEUE: usize = 4;
const PART_OF_EXPLORED: usize = 64;

/// More than this at once gains nothing.
const MAX_BATCH: usize = 4_096;

/// Threads take so many constraints of a batch at a time; of less, batches are not worth it.
const CHUNK: usize = 32;

/// The monitor is asked after so many bad constraints.
const BAD_PER_POLL: usize = 1_024;

/// How a search ended.
#[derive(Clone, Debug)]
pub enum End<R> {
    /// No initial configuration can reach a bad one.
    Safe,
    /// The rules that lead from an initial configuration to a bad one, in order.
    Unsafe(Vec<R>),
    /// The search was stopped.
    Stopped(StopReason),
}

/// A search of a system.
#[derive(Debug)]
pub struct Search<S: Indexed> {
    system: S,
    antichain: Antichain<S>,
    /// Lightest first, oldest first among equals.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    /// How many were looked at.
    pub n_explored: u64,
}

/// What is kept in place of a constraint, if not itself.
type Larger<S> = fn(&Search<S>, &Newcomer<S>) -> Option<<S as WellStructured>::Constraint>;

impl<S: Indexed> Search<S> {
    /// Nothing is found yet.
    pub fn new(system: S) -> Self {
        Self { system, antichain: Antichain::new(), queue: BinaryHeap::new(), n_explored: 0 }
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// How many constraints are in the antichain.
    pub fn n_kept(&self) -> u64 {
        self.antichain.n_alive()
    }

    /// The constraint that was added last.
    pub fn last(&self) -> Option<&S::Constraint> {
        self.last_number().map(|number| self.antichain.get(number))
    }

    fn last_number(&self) -> Option<u32> {
        self.antichain.len().checked_sub(1).map(|number| number as u32)
    }

    /// From the constraint that was added last to a bad one: each rule, and the constraint it leads to.
    pub fn path(&self) -> Vec<(S::Rule, &S::Constraint)> {
        let mut path = Vec::new();
        let mut at = self.last_number();
        while let Some((next, rule)) = at.and_then(|number| self.antichain.next(number)) {
            path.push((rule, self.antichain.get(next)));
            at = Some(next);
        }
        path
    }

    /// The bytes of the tables, roughly.
    pub fn bytes(&self) -> u64 {
        self.antichain.len() as u64 * (self.system.bytes() + 40)
    }

    /// The constraints of the antichain.
    pub fn basis(&self) -> impl Iterator<Item = &S::Constraint> {
        self.antichain.alive()
    }

    /// Searches on so many threads until the basis is complete, an initial configuration is in it, or a limit is met.
    /// After a limit it may be called again and goes on.
    pub fn run(&mut self, n_threads: usize, monitor: &dyn Monitor) -> End<S::Rule> {
        self.run_with(n_threads, monitor, |_, _| None)
    }

    /// The same, with larger constraints in place of those that are found.
    pub fn run_generalizing(&mut self, n_threads: usize, monitor: &dyn Monitor) -> End<S::Rule>
    where
        S: Generalizing,
    {
        self.run_with(n_threads, monitor, |search, newcomer| search.antichain.generalized(&search.system, newcomer))
    }

    fn run_with(&mut self, n_threads: usize, monitor: &dyn Monitor, larger: Larger<S>) -> End<S::Rule> {
        if self.antichain.len() == 0 {
            for (number, constraint) in self.system.bad().into_iter().enumerate() {
                if number.is_multiple_of(BAD_PER_POLL)
                    && let Some(reason) = monitor.poll(&self.progress())
                {
                    self.forget();
                    return End::Stopped(reason.into());
                }
                let newcomer = self.antichain.look_up(&self.system, constraint, None);
                if newcomer.is_some_and(|newcomer| self.add(newcomer)) {
                    return self.told();
                }
            }
        }
        let mut polled_at = self.n_explored;
        loop {
            let batch = self.batch();
            if batch.is_empty() {
                return End::Safe;
            }
            self.n_explored += batch.len() as u64;
            if self.n_explored >= polled_at + self.system.poll_every() {
                polled_at = self.n_explored;
                if let Some(reason) = monitor.poll(&self.progress()) {
                    self.put_back(&batch);
                    return End::Stopped(reason.into());
                }
            }
            for newcomer in self.expand(&batch, n_threads, larger) {
                if self.add(newcomer) {
                    return self.told();
                }
            }
        }
    }

    /// Nothing was found yet: a search that was stopped while it began begins again.
    fn forget(&mut self) {
        (self.antichain, self.queue) = (Antichain::new(), BinaryHeap::new());
    }

    /// A batch is not looked at now.
    fn put_back(&mut self, batch: &[u32]) {
        let weight = |&number: &u32| Reverse((self.system.weight(self.antichain.get(number)), number));
        self.queue.extend(batch.iter().map(weight));
        self.n_explored -= batch.len() as u64;
    }

    fn progress(&self) -> Progress {
        let queued = self.queue.len() as u64;
        Progress { explored: self.n_explored, queued, depth: 0, bytes: self.bytes() }
    }

    /// The constraints to look at next.
    fn batch(&mut self) -> Vec<u32> {
        let explored = usize::try_from(self.n_explored).unwrap_or(usize::MAX);
        let size = match (self.queue.len() / PART_OF_QUEUE).min(explored / PART_OF_EXPLORED) {
            ..CHUNK => 1,
            size => size.min(MAX_BATCH),
        };
        let mut batch = Vec::with_capacity(size);
        while batch.len() < size
            && let Some(Reverse((_, number))) = self.queue.pop()
        {
            if !self.antichain.is_covered(number) {
                batch.push(number);
            }
        }
        batch
    }

    /// The predecessors of a batch that nothing covers, in order.
    fn expand(&self, batch: &[u32], n_threads: usize, larger: Larger<S>) -> Vec<Newcomer<S>> {
        let n_threads = n_threads.min(batch.len() / CHUNK);
        if n_threads <= 1 {
            return self.expand_chunk(batch, larger);
        }
        let chunks: Vec<&[u32]> = batch.chunks(CHUNK).collect();
        let results: Vec<Mutex<Vec<Newcomer<S>>>> = chunks.iter().map(|_| Mutex::default()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let i = next.fetch_add(1, Ordering::Relaxed)
                && let Some(chunk) = chunks.get(i)
            {
                *results[i].lock().unwrap_or_else(PoisonError::into_inner) = self.expand_chunk(chunk, larger);
            }
        };
        std::thread::scope(|scope| {
            (1..n_threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        results.into_iter().flat_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    fn expand_chunk(&self, chunk: &[u32], larger: Larger<S>) -> Vec<Newcomer<S>> {
        let mut newcomers = Vec::new();
        let mut predecessors = Vec::new();
        for &number in chunk {
            self.system.predecessors(self.antichain.get(number), &mut predecessors);
            let not_covered = predecessors.drain(..).filter_map(|(rule, constraint)| {
                heed(self.system.work_of_predecessor());
                let newcomer = self.antichain.look_up(&self.system, constraint, Some((number, rule)))?;
                match larger(self, &newcomer) {
                    Some(larger) => self.antichain.look_up(&self.system, larger, Some((number, rule))),
                    None => Some(newcomer),
                }
            });
            newcomers.extend(not_covered);
        }
        newcomers
    }

    /// Adds a constraint unless it is covered; whether an initial configuration is in it.
    fn add(&mut self, newcomer: Newcomer<S>) -> bool {
        let weight = newcomer.weight;
        let Some(number) = self.antichain.add(&self.system, newcomer) else { return false };
        self.queue.push(Reverse((weight, number)));
        self.system.is_initial(self.antichain.get(number))
    }

    fn told(&self) -> End<S::Rule> {
        End::Unsafe(self.path().into_iter().map(|(rule, _)| rule).collect())
    }
}
