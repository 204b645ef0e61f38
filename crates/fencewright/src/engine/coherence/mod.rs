//! Partial coherence: forward search over abstract store buffers; `safe` is a proof, an alarm may be false.
//!
//! Kuperstein, Vechev, Yahav, _Partial-Coherence Abstractions for Relaxed Memory Models_, PLDI 2011. Of a store buffer
//! the abstraction keeps the newest value of each location, the `k` oldest stores in order, and the rest as a set:
//!
//! ```text
//!    new ─▶ [ 2 1 2 1 1 3 ] ─▶ memory        newest 2, rest {1, 2}, oldest [1 3]       (k = 2)
//! ```
//!
//! **Why `safe` is a proof.** An abstract buffer stands for every FIFO that begins with its ordered part, continues
//! with stores of the set, each location of it at least once, and in which the last store to a location is the newest
//! one kept for it ([`buffer`]). Initially both are empty. Every rule takes a FIFO and an abstract buffer that stands
//! for it to another such pair: a store, since it goes behind all others in both; a flush, since the oldest store of
//! the FIFO is the first of the ordered part or, if there is none, in the set, and the abstract rules offer both that
//! it is still there afterwards and that it is not. A load finds the same value in both, and one is empty if and only
//! if the other is, so fences, atomic updates, locked blocks and properties of final states see no difference.
//! Control, registers and memory are kept exactly (but for registers that are never read again), so a bad situation
//! that can be reached is reached in the abstraction too.
//!
//! **Why it ends.** With finite data there are finitely many sets and finitely many words up to length `k`.
//!
//! **Store-store fences** under PSO: up to `k + 1` markers of a process are kept in order, with abstract buffers
//! between them; a marker beyond that is dropped ([`memory`]). A marker only ever makes a flush, a fence or an update
//! wait, so dropping it adds behaviors and takes none away.
//!
//! **Alarms.** The path to an alarm is tried on the reference semantics ([`concrete`]); a run that comes out is
//! replayed, and the answer is `unsafe`. Otherwise `k` is raised, and beyond [`MAX_K`] the answer is `unknown`.
//!
//! | abstraction | |
//! |---|---|
//! | `fd` | fully disjunctive: states that differ in their sets are kept apart; a set is exactly what waits |
//! | `pd` | partially disjunctive: a state whose sets are part of another's is dropped; a set is what may wait |
//! | `set` | a set and nothing else: any store of it may be the newest, and no order is kept |
//!
//! Departures. The paper treats PSO; under TSO a buffer holds stores to all locations, with a newest value for each. It
//! prints β("ab") = ⟨a, {a, b}, ε⟩, which must be ⟨b, {a, b}, ε⟩. It has no store-store fences. Its fence inference is
//! not here.

mod buffer;
mod concrete;
mod memory;
mod search;

use crate::engine::{Answer, Engine, Monitor, Reduction, Stats, StopReason, Task, Unsupported, Verdict};
use crate::system::{Run, Trace, starts};

use memory::Coherent;
use search::{End, Search};

/// Forward search over abstract store buffers.
#[derive(Clone, Copy, Debug)]
pub struct Coherence;

/// What is kept of the unordered part of a store buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Abstraction {
    /// A set and nothing else.
    Set,
    /// Fully disjunctive: exactly what waits, and what is newest.
    #[default]
    Fd,
    /// Partially disjunctive: what may wait, and what is newest.
    Pd,
}

impl Abstraction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Set, Self::Fd, Self::Pd];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Fd => "fd",
            Self::Pd => "pd",
        }
    }

    /// What it keeps, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Set => "a set of stores and nothing else",
            Self::Fd => "newest values, the k oldest stores, the rest as a set; different sets are different states",
            Self::Pd => "the same, but a state whose sets are part of another's is dropped",
        }
    }
}

/// How much of a store buffer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// What is kept of the unordered part.
    pub abstraction: Abstraction,
    /// How many of the oldest stores are kept in order.
    pub k: u32,
}

/// The largest `k` that is tried unasked.
pub const MAX_K: u32 = 4;

impl Engine for Coherence {
    fn name(&self) -> &'static str {
        "coherence"
    }

    fn about(&self) -> &'static str {
        "forward search over abstract store buffers; proves, or tries its alarms on the semantics, or does not know"
    }

    fn reductions(&self) -> &'static [Reduction] {
        &[]
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        if starts(task.program).is_none() {
            return Err(Unsupported {
                reason: "an `int` variable starts with `any` value, which cannot be enumerated".to_owned(),
                help: "give it a finite range, or a constant to start with".to_owned(),
            });
        }
        let ks = match (task.options.abstraction, task.options.k) {
            (Abstraction::Set, None | Some(0)) => 0..=0,
            (Abstraction::Set, Some(_)) => {
                return Err(Unsupported {
                    reason: "the abstraction `set` keeps no store in order".to_owned(),
                    help: "leave out `--k`, or choose `--abstraction fd` or `--abstraction pd`".to_owned(),
                });
            }
            (Abstraction::Fd | Abstraction::Pd, None) => 0..=MAX_K,
            (Abstraction::Fd | Abstraction::Pd, Some(k)) => k..=k,
        };
        let mut checker = Checker { task, monitor, stats: Stats::default() };
        let verdict = checker.check(ks);
        Ok(Answer { engine: self.name(), verdict, stats: checker.stats })
    }
}

/// One question being answered.
struct Checker<'a> {
    task: &'a Task<'a>,
    monitor: &'a dyn Monitor,
    stats: Stats,
}

impl Checker<'_> {
    /// Raises `k` until there is a proof or a run.
    fn check(&mut self, ks: std::ops::RangeInclusive<u32>) -> Verdict {
        let last = *ks.end();
        for k in ks {
            match self.search(Precision { abstraction: self.task.options.abstraction, k }) {
                End::Exhausted => return Verdict::Safe,
                End::Stopped(reason) => return Verdict::Unknown(reason),
                End::Alarm(path) => match self.tried(&path) {
                    Ok(None) => {}
                    Ok(Some(run)) => return Verdict::Unsafe(Box::new(run)),
                    Err(reason) => return Verdict::Unknown(reason),
                },
            }
        }
        Verdict::Unknown(StopReason::Alarm(last))
    }

    fn search(&mut self, precision: Precision) -> End {
        let task = self.task;
        let model = Coherent { model: task.model, pso_rmw: task.options.dialect.pso_rmw, precision };
        let mut search = Search::new(task, model, self.stats.explored);
        let end = search.run(self.monitor);
        self.stats.explored += search.n_expanded();
        self.stats.kept = search.n_kept();
        self.stats.bytes = self.stats.bytes.max(search.bytes());
        end
    }

    fn tried(&mut self, path: &Trace) -> Result<Option<Run>, StopReason> {
        let tried = concrete::run_along(self.task, path)?;
        self.stats.explored += tried.n_states;
        Ok(tried.run)
    }
}
