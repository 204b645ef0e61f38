//! Exhaustive search of the reference semantics, on compact states.
//!
//! Exact under SC for finite data. Under TSO and PSO it is exact when no buffer can grow for ever (`analysis::growth`)
//! or when the program never gets to the bound; otherwise it searches with a growing bound on buffered stores and
//! answers `unsafe`, or an `unknown` that says up to where no violation was found. An `int` program is searched up to a
//! number of states; if that is all of them, the answer is exact too.
//!
//! | file | idea |
//! |---|---|
//! | [`layout`] | a state is a few words: interned local states, interned buffers, packed memory |
//! | [`buffers`] | interned store buffers |
//! | [`expand`] | the successors of a state; steps that may run ahead |
//! | [`symmetry`] | interchangeable processes |
//! | [`covering`] | states that stand for others |
//! | [`states`], [`search`], [`sequential`], [`parallel`] | the search |
//!
//! The engine `coherence` searches with the same states, over buffers of which less is kept.

mod buffers;
mod covering;
mod expand;
mod layout;
mod parallel;
mod search;
mod sequential;
mod states;
mod symmetry;

use std::hash::BuildHasherDefault;

use rustc_hash::FxHasher;

use crate::analysis::{growth, swaps};
use crate::engine::automaton::{Automaton, Merging};
use crate::engine::{
    Answer, Card, Engine, Reduction, Repairs, Setting, Stats, StopReason, Takes, Task, Unsupported, Verdict,
    starts_are_finite,
};
use crate::memory::Buffering;
use crate::system::{Flow, Run, Violation};
use crate::watch::Monitor;

pub(in crate::engine) use buffers::{BufferId, BufferTable, Leaving, Stored, Waiting};
pub(in crate::engine) use covering::Covering;
pub(in crate::engine) use expand::{Badness, Expander, Shared, Sink};
pub(in crate::engine) use layout::Layout;
pub(in crate::engine) use search::{Budget, End, Outcome, POLL_EVERY};
pub(in crate::engine) use sequential::Sequential;
pub(in crate::engine) use states::{StateSet, hash_of};

type FastMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<FxHasher>>;

/// Exhaustive search of the reference semantics.
#[derive(Clone, Copy, Debug)]
pub struct Explicit {
    /// Below this many states one thread is faster than several.
    pub parallel_from: u64,
    /// At least this many states may be spent on showing a shortest run; 0 shows the run that the reductions lead to.
    pub shortest_states: u64,
    /// The bound on buffered stores grows until a round takes more states than this.
    pub growing_states: u64,
    /// A round is given up beyond this many states.
    pub max_states: u64,
}

impl Explicit {
    /// The engine as users get it.
    pub const DEFAULT: Self =
        Self { parallel_from: 30_000, shortest_states: 200_000, growing_states: 100_000, max_states: u64::MAX };

    /// A short look: finds most bugs of small programs, with a shortest run, and proves the smallest of them.
    pub const GLANCE: Self = Self { growing_states: 2_000, max_states: 20_000, ..Self::DEFAULT };
}

/// A program with unbounded data is searched up to this many states.
const UNBOUNDED_DATA_STATES: u64 = 300_000;

/// The largest bound that is tried unasked.
const MAX_BOUND: u32 = 32;

/// How far store buffers are searched.
pub const BOUND: Setting = Setting {
    flag: "bound",
    value_name: "N",
    about: "search store buffers up to this length, whatever it costs",
    takes: Takes::Count(0, u32::MAX),
};

static CARD: Card = Card {
    name: "explicit",
    about: "exhaustive search of the reference semantics; exact when buffers are bounded, otherwise finds bugs",
    reductions: &[Reduction::DEAD_REGISTERS, Reduction::LOCAL_STEPS, Reduction::RUN_AHEAD, Reduction::SYMMETRY],
    settings: &[&BOUND],
    repairs: Repairs::ByRuns,
    asks_others: false,
};

impl Engine for Explicit {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        starts_are_finite(task.program)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.takes(task)?;
        let mut checker =
            Checker { engine: *self, task, buffering: task.buffering()?, monitor, stats: Stats::default() };
        let verdict = checker.check();
        Ok(Answer { engine: self.name(), verdict, stats: checker.stats })
    }
}

/// One question being answered.
struct Checker<'a> {
    engine: Explicit,
    task: &'a Task<'a>,
    buffering: Buffering,
    monitor: &'a dyn Monitor,
    stats: Stats,
}

impl<'a> Checker<'a> {
    fn check(&mut self) -> Verdict {
        if !growth::may_grow(Flow { program: self.task.program, placement: self.task.placement }, self.buffering) {
            let outcome = self.decide(None);
            return self.verdict(None, outcome).unwrap_or(Verdict::Safe);
        }
        let mut bound = self.task.options.count(&BOUND).unwrap_or(1);
        loop {
            let outcome = self.decide(Some(bound));
            let (is_exact, n_states) = (!outcome.has_hit_bound, outcome.n_states);
            if let Some(verdict) = self.verdict(Some(bound), outcome) {
                return verdict;
            }
            if is_exact {
                return Verdict::Safe;
            }
            let is_enough = bound >= MAX_BOUND || n_states > self.engine.growing_states;
            if is_enough || self.task.options.count(&BOUND).is_some() {
                return Verdict::Unknown(StopReason::BufferBound(bound));
            }
            bound += 1;
        }
    }

    /// The verdict of a round that did not see all states within its bound, or saw a bad one.
    fn verdict(&mut self, bound: Option<u32>, outcome: Outcome) -> Option<Verdict> {
        match outcome.end {
            End::Exhausted => None,
            End::Stopped(reason) => Some(Verdict::Unknown(reason)),
            End::OverBudget if self.task.program.has_unbounded_data() => {
                Some(Verdict::Unknown(StopReason::UnboundedData(outcome.n_states)))
            }
            End::OverBudget => Some(Verdict::Unknown(StopReason::States(outcome.n_states))),
            End::Bad(Badness::Overflow) => Some(Verdict::Unknown(StopReason::Overflow)),
            End::Bad(Badness::Violation(_)) => Some(match self.find_run(bound, outcome.n_states) {
                Ok(run) => Verdict::Unsafe(Box::new(run)),
                Err(reason) => Verdict::Unknown(reason),
            }),
        }
    }

    /// Looks for a bad state with all reductions.
    fn decide(&mut self, bound: Option<u32>) -> Outcome {
        let shared = self.shared(bound, Reducing::Everything);
        let is_unbounded = self.task.program.has_unbounded_data();
        let all = self.engine.max_states.min(if is_unbounded { UNBOUNDED_DATA_STATES } else { u64::MAX });
        let budget = Budget { states: all, ..Budget::UNLIMITED };
        let n_threads = self.task.options.threads;
        // A search that may end at its budget stays on one thread, so that it always ends at the same state.
        let may_spread = n_threads > 1 && all == u64::MAX;
        let first = if may_spread { Budget { states: self.engine.parallel_from, ..budget } } else { budget };
        let mut outcome = Sequential::new(&shared).run(first, self.monitor);
        if outcome.end == End::OverBudget && first.states < all {
            outcome = parallel::run(&shared, n_threads, budget, self.monitor);
        }
        self.stats.explored += outcome.n_states;
        self.stats.kept = outcome.n_states;
        self.stats.bytes = self.stats.bytes.max(outcome.bytes);
        outcome
    }

    /// A shortest run if that is cheap, otherwise the one that the reductions lead to.
    fn find_run(&mut self, bound: Option<u32>, n_states: u64) -> Result<Run, StopReason> {
        let n_states = match self.engine.shortest_states {
            0 => 0,
            least => n_states.saturating_mul(4).max(least),
        };
        let budget = Budget { states: n_states, ..Budget::UNLIMITED };
        let plain = self.shared(None, Reducing::Nothing);
        match self.run_in(&plain, budget) {
            Ok(Some(run)) => {
                self.stats.is_shortest = true;
                return Ok(run);
            }
            Ok(None) => {}
            Err(reason) => return Err(reason),
        }
        let reduced = self.shared(bound, Reducing::Runs);
        let run = self.run_in(&reduced, Budget::UNLIMITED)?;
        run.ok_or_else(|| StopReason::Defect("a violation was found, but no run that reaches it".to_owned()))
    }

    fn run_in(&mut self, shared: &Shared<'_>, budget: Budget) -> Result<Option<Run>, StopReason> {
        let mut search = Sequential::new(shared);
        let outcome = search.run(budget, self.monitor);
        self.stats.explored += outcome.n_states;
        match outcome.end {
            End::Bad(Badness::Violation(violation)) => self.replayed(&search, violation).map(Some),
            End::Stopped(reason) => Err(reason),
            End::Bad(Badness::Overflow) | End::Exhausted | End::OverBudget => Ok(None),
        }
    }

    fn replayed(&self, search: &Sequential<'_>, violation: Violation) -> Result<Run, StopReason> {
        crate::engine::run::replayed(self.task, search.automaton(), search.path(), violation)
    }

    fn shared(&self, bound: Option<u32>, reducing: Reducing) -> Shared<'a> {
        let options = self.task.options;
        let is_on = |reduction| reducing != Reducing::Nothing && options.is_on(reduction);
        let merging = Merging {
            dead_registers: options.is_on(Reduction::DEAD_REGISTERS),
            local_steps: is_on(Reduction::LOCAL_STEPS),
            bisimilar: false,
        };
        let swaps = match reducing {
            Reducing::Everything if options.is_on(Reduction::SYMMETRY) => swaps(self.task.program, self.task.placement),
            Reducing::Everything | Reducing::Runs | Reducing::Nothing => Vec::new(),
        };
        Shared {
            automaton: Automaton::new(self.task, merging),
            buffers: BufferTable::new(Waiting::nothing(self.buffering)),
            layout: Layout::new(self.task.program, self.buffering),
            buffering: self.buffering,
            bound,
            runs_ahead: is_on(Reduction::RUN_AHEAD),
            swaps,
            has_labels: false,
            has_covering: false,
        }
    }
}

/// Which reductions a search uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reducing {
    /// All: to decide.
    Everything,
    /// Those that keep processes apart, so that a run can be told.
    Runs,
    /// None that changes the number of steps: for a shortest run.
    Nothing,
}
