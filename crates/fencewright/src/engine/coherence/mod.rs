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
//! between them; a marker beyond that is dropped ([`segments`]). A marker only ever makes a flush, a fence or an update
//! wait, so dropping it adds behaviors and takes none away.
//!
//! **Alarms.** The path to an alarm is tried on the reference semantics ([`concrete`]); a run that comes out is
//! replayed, and the answer is `unsafe`. Otherwise `k` is raised, and beyond [`MAX_K`] the answer is `unknown`.
//!
//! **Unbounded integers** may be cut off before the search ([`values`]); an alarm is then looked into without that.
//!
//! | abstraction | |
//! |---|---|
//! | `fd` | fully disjunctive: states that differ in their sets are kept apart; a set is exactly what waits |
//! | `pd` | partially disjunctive: a state whose sets are part of another's is dropped; a set is what may wait |
//! | `set` | a set and nothing else: any store of it may be the newest, and no order is kept |
//!
//! Departures. The paper treats PSO; under TSO a buffer holds stores to all locations, with a newest value for each. It
//! prints β("ab") = ⟨a, {a, b}, ε⟩, which must be ⟨b, {a, b}, ε⟩. It has no store-store fences.
//!
//! **Reductions.** Those of the engine `explicit`, which searches on the same [states](crate::engine::packed). Each
//! leaves out runs of the exact system, and whether it applies depends only on what is kept exactly: local states,
//! whether a buffer is empty, and what a load finds. So the abstraction of the reduced system covers the reduced
//! system.
//!
//! | file | idea |
//! |---|---|
//! | [`buffer`] | one abstract buffer and its rules |
//! | [`segments`] | all that waits for a process: buffers between markers |
//! | [`concrete`] | from the path of an alarm to a run |
//! | [`values`] | unbounded integers, cut off |
//! | [`avoid`](mod@avoid), [`cuts`] | fences that keep bad states from being reached |

mod avoid;
mod buffer;
mod concrete;
mod cuts;
mod segments;
mod values;

use std::ops::RangeInclusive;

use crate::analysis::swaps;
use crate::engine::automaton::{Automaton, LocalSteps, Merging};
use crate::engine::packed::{Badness, Budget, Buffered, End as SearchEnd, Outcome, Sequential, Shared};
use crate::engine::{
    Answer, Card, Engine, Options, Reduction, Repairs, RestsOn, Setting, Stats, StopReason, Takes, Task, Unsupported,
    Verdict, is_enumerable,
};
use crate::memory::Buffering;
use crate::system::{Run, starts};
use crate::watch::{Monitor, Part};

use concrete::Alarm;
use segments::Coherent;

pub use avoid::{Avoided, avoid};
pub use cuts::Places;
pub use values::{CutOff, Values, cut_off, least, reach};

/// Forward search over abstract store buffers.
#[derive(Clone, Debug)]
pub struct Coherence {
    /// How many stores are kept in order, if nobody says.
    pub ks: RangeInclusive<u32>,
    /// A search is given up beyond this many states.
    pub max_states: u64,
    /// The path of an alarm is given up beyond this many states of the semantics; with 0 it is not tried.
    pub max_tried: usize,
}

impl Coherence {
    /// The engine as users get it.
    pub const DEFAULT: Self = Self { ks: 0..=MAX_K, max_states: 20_000_000, max_tried: 20_000 };

    /// For an avoid formula. Over the examples it takes half as many states with `k` = 2 as with 1; beyond 2 little is
    /// gained, and a loop that stores has four times as many with each step.
    pub const INFERRING: Self = Self { ks: 2..=MAX_K, ..Self::DEFAULT };

    /// For proofs only, however long they take: alarms are for others to look into.
    pub const PROVING: Self = Self { max_tried: 0, ..Self::DEFAULT };

    /// A short look, for proofs only.
    pub const GLANCE: Self = Self { ks: 1..=2, max_states: 5_000, max_tried: 0 };
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Precision {
    /// What is kept of the unordered part.
    pub abstraction: Abstraction,
    /// How many of the oldest stores are kept in order.
    pub k: u32,
}

/// The largest `k` that is tried unasked.
pub const MAX_K: u32 = 4;

/// The most states of a program with unbounded data.
const UNBOUNDED_DATA_STATES: u64 = 300_000;

/// And up to this many different buffers: a set of values that has no end has ever more successors.
const UNBOUNDED_DATA_BUFFERS: usize = 1_000;

/// The most states of the program itself, when an alarm with integers cut off is looked into.
const MAX_TRIED_EXACTLY: u64 = 50_000;

/// What is kept of store buffers.
pub const ABSTRACTION: Setting = Setting {
    flag: "abstraction",
    value_name: "WHAT",
    about: "what is kept of store buffers, beside the oldest stores [default: fd]",
    takes: Takes::OneOf(&[
        (Abstraction::Set.name(), Abstraction::Set.about()),
        (Abstraction::Fd.name(), Abstraction::Fd.about()),
        (Abstraction::Pd.name(), Abstraction::Pd.about()),
    ]),
};

/// How many stores are kept in order.
pub const K: Setting = Setting {
    flag: "k",
    value_name: "N",
    about: "how many stores of a buffer are kept in order, the oldest [default: as many as it takes, up to 4]",
    takes: Takes::Count(0, 64),
};

/// What is kept of unbounded integers.
pub const VALUES: Setting = Setting {
    flag: "values",
    value_name: "WHAT",
    about: "what is kept of unbounded integers [default: exact]",
    takes: Takes::OneOf(&[
        (Values::Exact.name(), Values::Exact.about()),
        (Values::Intervals.name(), Values::Intervals.about()),
    ]),
};

static CARD: Card = Card {
    name: "coherence",
    about: "forward search over abstract store buffers; proves, or tries its alarms on the semantics, or does not know",
    reductions: &[Reduction::LOCAL_STEPS, Reduction::RUN_AHEAD, Reduction::SYMMETRY],
    settings: &[&ABSTRACTION, &K, &VALUES],
    contradiction,
    repairs: Repairs::ByAvoiding,
    rests_on: RestsOn::Buffers,
    asks_others: false,
};

/// A set has no order.
fn contradiction(options: &Options) -> Option<Unsupported> {
    let is_set = options.choice(&ABSTRACTION, &Abstraction::ALL, Abstraction::name) == Abstraction::Set;
    (is_set && options.count(&K).is_some_and(|k| k > 0)).then(|| Unsupported {
        reason: "`--abstraction set` keeps no store in order, so `--k` can only be 0".to_owned(),
        help: "leave out `--k`, or choose `--abstraction fd` or `--abstraction pd`".to_owned(),
    })
}

impl Engine for Coherence {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        task.buffering()?;
        Ok(())
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        task.is_closed()?;
        match is_cut_off(task) {
            true => self.check_cut_off(task, monitor),
            false => self.check_exactly(task, monitor),
        }
    }
}

impl Coherence {
    /// A proof with integers cut off, or what comes out without that in a few states.
    fn check_cut_off(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let CutOff { program, placement, .. } = cut_off(task, reach(task.program))?;
        let rough = Self { max_tried: 0, ..self.clone() };
        let mut answer = rough.check_exactly(&Task { program: &program, placement: &placement, ..*task }, monitor)?;
        let is_alarm = matches!(answer.verdict, Verdict::Unknown(StopReason::Alarm(_) | StopReason::Overflow));
        if !is_alarm || self.max_tried == 0 || starts(task.program).is_none() {
            return Ok(answer);
        }
        let short = Self { max_states: self.max_states.min(MAX_TRIED_EXACTLY), ..self.clone() };
        let exact = short.check_exactly(task, monitor)?;
        answer.stats.explored += exact.stats.explored;
        let is_open = match &exact.verdict {
            Verdict::Safe | Verdict::Unsafe(_) => false,
            Verdict::Unknown(reason) => {
                matches!(reason, StopReason::States(_) | StopReason::UnboundedData(_) | StopReason::Alarm(_))
            }
        };
        if !is_open {
            answer.verdict = exact.verdict;
            answer.stats.kept = exact.stats.kept;
        }
        Ok(answer)
    }

    fn check_exactly(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let ks = self.ks_for(task)?;
        let mut checker =
            Checker { engine: self, task, buffering: task.buffering()?, monitor, stats: Stats::default() };
        let verdict = checker.check(ks);
        Ok(Answer { engine: self.name(), verdict, stats: checker.stats })
    }

    /// How many stores are kept in order, one after the other.
    fn ks_for(&self, task: &Task<'_>) -> Result<RangeInclusive<u32>, Unsupported> {
        is_enumerable(task.program)?;
        match (abstraction(task), task.options.count(&K)) {
            (Abstraction::Set, None | Some(0)) => Ok(0..=0),
            (Abstraction::Set, Some(_)) => Err(Unsupported {
                reason: "the abstraction `set` keeps no store in order".to_owned(),
                help: "leave out `--k`, or choose `--abstraction fd` or `--abstraction pd`".to_owned(),
            }),
            (Abstraction::Fd | Abstraction::Pd, None) => Ok(self.ks.clone()),
            (Abstraction::Fd | Abstraction::Pd, Some(k)) => Ok(k..=k),
        }
    }
}

/// Whether integers are to be cut off, and there are such.
fn is_cut_off(task: &Task<'_>) -> bool {
    let values = task.options.choice(&VALUES, &Values::ALL, Values::name);
    values == Values::Intervals && task.program.has_unbounded_data()
}

/// What is kept of the unordered part of a buffer.
fn abstraction(task: &Task<'_>) -> Abstraction {
    task.options.choice(&ABSTRACTION, &Abstraction::ALL, Abstraction::name)
}

/// Memory behind buffers of which less is kept.
type Memory = Buffered<Coherent>;

/// What a search shares with itself; the abstraction is that of the task.
fn shared<'a>(task: &Task<'a>, buffering: Buffering, k: u32, reducing: Reducing) -> Shared<'a, Memory> {
    let precision = Precision { abstraction: abstraction(task), k };
    let rules = Coherent { buffering, precision, has_labels: reducing == Reducing::Labels };
    let is_on = |reduction| task.options.is_on(reduction);
    let merging = Merging {
        dead_registers: true,
        local_steps: LocalSteps::if_on(is_on(Reduction::LOCAL_STEPS)),
        bisimilar: false,
    };
    Shared {
        automaton: Automaton::new(task, merging),
        component: Buffered::new(task.program, buffering, rules),
        runs_ahead: match reducing {
            Reducing::Everything | Reducing::Runs => is_on(Reduction::RUN_AHEAD),
            Reducing::Orders | Reducing::Labels => false,
        },
        swaps: match reducing {
            Reducing::Everything if is_on(Reduction::SYMMETRY) => swaps(task.program, task.placement),
            Reducing::Everything | Reducing::Runs | Reducing::Orders | Reducing::Labels => Vec::new(),
        },
    }
}

/// Which reductions a search uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reducing {
    /// All: to decide.
    Everything,
    /// Those that keep processes apart, so that a path can be told.
    Runs,
    /// Those that also keep every order of stores and flushes: another path may be a run where the first is none.
    Orders,
    /// The same, and stores know where they come from, so that it can be told what a fence would stop.
    Labels,
}

/// One question being answered.
struct Checker<'a> {
    engine: &'a Coherence,
    task: &'a Task<'a>,
    buffering: Buffering,
    monitor: &'a dyn Monitor,
    stats: Stats,
}

impl Checker<'_> {
    /// Raises `k` until there is a proof or a run.
    fn check(&mut self, ks: RangeInclusive<u32>) -> Verdict {
        let last = *ks.end();
        for k in ks {
            let found = match self.search(&shared(self.task, self.buffering, k, Reducing::Everything)) {
                Ok(None) => return Verdict::Safe,
                Ok(Some(Badness::Overflow)) => return Verdict::Unknown(StopReason::Overflow),
                Ok(Some(Badness::Violation(_))) => self.tried(k, k == last),
                Err(reason) => return Verdict::Unknown(reason),
            };
            match found {
                Ok(None) => {}
                Ok(Some(run)) => return Verdict::Unsafe(Box::new(run)),
                Err(reason) => return Verdict::Unknown(reason),
            }
        }
        Verdict::Unknown(StopReason::Alarm(last))
    }

    /// What is wrong with a state that can be reached, if anything is.
    fn search(&mut self, shared: &Shared<'_, Memory>) -> Result<Option<Badness>, StopReason> {
        let outcome = self.run(&mut Sequential::new(shared));
        self.stats.kept = outcome.n_kept;
        self.stats.bytes = self.stats.bytes.max(outcome.bytes);
        self.ended(outcome)
    }

    fn run(&mut self, search: &mut Sequential<'_, Memory>) -> Outcome {
        let is_unbounded = self.task.program.has_unbounded_data();
        let states = self.engine.max_states.min(if is_unbounded { UNBOUNDED_DATA_STATES } else { u64::MAX });
        let interned = if is_unbounded { UNBOUNDED_DATA_BUFFERS } else { usize::MAX };
        let outcome = search.run(Budget { states, interned, ..Budget::UNLIMITED }, self.monitor);
        self.stats.explored += outcome.n_states;
        outcome
    }

    fn ended(&self, outcome: Outcome) -> Result<Option<Badness>, StopReason> {
        match outcome.end {
            SearchEnd::Exhausted => Ok(None),
            SearchEnd::Bad(badness) => Ok(Some(badness)),
            SearchEnd::Stopped(reason) => Err(reason),
            SearchEnd::OverBudget if self.task.program.has_unbounded_data() => {
                Err(StopReason::UnboundedData(outcome.n_states))
            }
            SearchEnd::OverBudget => Err(StopReason::States(outcome.n_states)),
        }
    }

    /// Looks for a run along the path of an alarm, and along another path before giving up.
    fn tried(&mut self, k: u32, is_last: bool) -> Result<Option<Run>, StopReason> {
        if self.engine.max_tried == 0 {
            return Ok(None);
        }
        match self.tried_with(k, Reducing::Runs)? {
            None if is_last => match self.tried_with(k, Reducing::Orders) {
                // There is an alarm all the same.
                Err(StopReason::States(_) | StopReason::UnboundedData(_)) => Ok(None),
                found => found,
            },
            found => Ok(found),
        }
    }

    fn tried_with(&mut self, k: u32, reducing: Reducing) -> Result<Option<Run>, StopReason> {
        let shared = shared(self.task, self.buffering, k, reducing);
        let mut search = Sequential::new(&shared);
        let outcome = self.run(&mut search);
        let Some(Badness::Violation(violation)) = self.ended(outcome)? else {
            return Err(StopReason::Defect("an alarm is gone when less is reduced".to_owned()));
        };
        let alarm = Alarm { path: search.path(), violation };
        let tried = concrete::run_along(self.task, &shared.automaton, &alarm, self.engine.max_tried, self.monitor)?;
        self.stats.explored += tried.n_states;
        Ok(tried.run)
    }
}
