//! Exhaustive search of the reference semantics, on [packed](crate::engine::packed) states.
//!
//! Exact under SC for finite data. Under TSO and PSO it is exact when no buffer can grow for ever ([`growth`]) or when
//! the program never gets to the bound; otherwise it searches with a growing bound on buffered stores and answers
//! `unsafe`, or an `unknown` that says up to where no violation was found. An `int` program is searched up to a number
//! of states; if that is all of them, the answer is exact too.
//!
//! A model without store buffers is searched as the machine that it is, with the reductions that need no buffers. It is
//! exact, too, when all states were seen: all of them if no loop of the program accesses memory, and otherwise two
//! million, or a gigabyte of them, since nobody knows whether the machine has finitely many (messages are never
//! forgotten).
//!
//! The search itself is [`packed`](crate::engine::packed).

mod finals;

use crate::analysis::{Swap, growth, swaps};
use crate::engine::automaton::{Automaton, LocalSteps, Merging};
use crate::engine::packed::{
    Badness, Budget, Buffered, Component, Discipline, End, MachineStates, Outcome, Sequential, Shared, run_on_threads,
};
use crate::engine::run::{self, Trimming};
use crate::engine::{
    Answer, Card, Engine, Reduction, Repairs, RestsOn, Setting, Stats, StopReason, Takes, Task, Unsupported, Verdict,
    is_enumerable,
};
use crate::memory::{Buffering, Job, Machine, mixed};
use crate::system::{Run, Violation};
use crate::watch::{Monitor, Part};

pub(super) use finals::{Collected, Patience};

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
    /// Or this many bytes.
    pub max_bytes: u64,
}

impl Explicit {
    /// The engine as users get it.
    pub const DEFAULT: Self = Self {
        parallel_from: 30_000,
        shortest_states: 200_000,
        growing_states: 100_000,
        max_states: u64::MAX,
        max_bytes: u64::MAX,
    };

    /// A short look: finds most bugs of small programs, with a shortest run, and proves the smallest of them.
    pub const GLANCE: Self = Self {
        shortest_states: 20_000,
        growing_states: 2_000,
        max_states: 20_000,
        max_bytes: 16 << 20,
        ..Self::DEFAULT
    };

    /// For models whose states grow with every step, and are dear.
    pub const GRAPHS: Self =
        Self { shortest_states: 20_000, max_states: 50_000, max_bytes: 256 << 20, ..Self::DEFAULT };

    /// The same where states may have no end, and take longer.
    pub const SHORT_GLANCE: Self = Self { shortest_states: 10_000, max_states: 4_000, ..Self::GLANCE };
}

/// A program with unbounded data is searched up to this many states.
const UNBOUNDED_DATA_STATES: u64 = 300_000;

/// How far a machine of which nothing is known is searched if the program may access it for ever.
const ENDLESS: Budget = Budget { states: 2_000_000, bytes: 1 << 30, ..Budget::UNLIMITED };

/// The same for execution graphs, which grow with every step, and are looked at in full each time.
const ENDLESS_GRAPHS: Budget = Budget { states: 2_000, bytes: 1 << 30, ..Budget::UNLIMITED };

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
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::States,
    asks_others: false,
};

impl Engine for Explicit {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        is_enumerable(task.program)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        let asked = Asked { engine: *self, task, monitor };
        let dialect = task.options.dialect;
        let (verdict, stats) = match task.model.buffering(dialect) {
            Some(buffering) => {
                let discipline = Discipline::of(buffering);
                let memory = |bound| Buffered::new(task.program, buffering, discipline).with_bound(bound);
                asked.answered(memory, growth::may_grow(task.flow(), buffering), Budget::UNLIMITED)
            }
            None => task.model.with(dialect, asked)?,
        };
        Ok(Answer { engine: self.name(), verdict, stats })
    }
}

/// A question.
#[derive(Clone, Copy)]
struct Asked<'a> {
    engine: Explicit,
    task: &'a Task<'a>,
    monitor: &'a dyn Monitor,
}

impl Asked<'_> {
    /// The answer, with memory like this; whether its buffers need a bound, and how far it is searched.
    fn answered<C, F>(self, memory: F, may_grow: bool, mut budget: Budget) -> (Verdict, Stats)
    where
        C: Component,
        F: Fn(Option<u32>) -> C,
    {
        budget.states = budget.states.min(self.engine.max_states);
        budget.bytes = budget.bytes.min(self.engine.max_bytes);
        if self.task.program.has_unbounded_data() {
            budget.states = budget.states.min(UNBOUNDED_DATA_STATES);
        }
        let Task { program, placement, options, .. } = *self.task;
        let swaps = if options.is_on(Reduction::SYMMETRY) { swaps(program, placement) } else { Vec::new() };
        let mut checker = Checker { asked: self, memory, budget, swaps, stats: Stats::default() };
        let verdict = if may_grow { checker.check_growing() } else { checker.check() };
        (verdict, checker.stats)
    }
}

/// A model of which nothing is known but its machine.
impl Job for Asked<'_> {
    type Output = Result<(Verdict, Stats), Unsupported>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let Task { program, model, .. } = *self.task;
        if let Some(reason) = machine.refuses(program) {
            return Err(Unsupported { reason, help: format!("choose another model than {model}") });
        }
        let has_graphs = model.language().is_some() || model.messaging().is_some() && !mixed(program).is_empty();
        let endless = if has_graphs { ENDLESS_GRAPHS } else { ENDLESS };
        let budget = if growth::may_access_for_ever(self.task.flow()) { endless } else { Budget::UNLIMITED };
        Ok(self.answered(|_| MachineStates::new(&machine, program), false, budget))
    }
}

/// One question being answered.
struct Checker<'a, F> {
    asked: Asked<'a>,
    /// Memory, with a bound on the stores that wait.
    memory: F,
    budget: Budget,
    /// Interchangeable processes.
    swaps: Vec<Swap>,
    stats: Stats,
}

impl<'a, C: Component, F: Fn(Option<u32>) -> C> Checker<'a, F> {
    /// Sees all states.
    fn check(&mut self) -> Verdict {
        let outcome = self.decide(None);
        self.verdict(None, outcome).unwrap_or(Verdict::Safe)
    }

    /// Sees all states within a bound on the stores that wait, and raises it.
    fn check_growing(&mut self) -> Verdict {
        let asked_for = self.asked.task.options.count(&BOUND);
        let mut bound = asked_for.unwrap_or(1);
        loop {
            let outcome = self.decide(Some(bound));
            let (is_exact, n_states) = (!outcome.has_hit_bound, outcome.n_states);
            if let Some(verdict) = self.verdict(Some(bound), outcome) {
                return verdict;
            }
            if is_exact {
                return Verdict::Safe;
            }
            let is_enough = bound >= MAX_BOUND || n_states > self.asked.engine.growing_states;
            if is_enough || asked_for.is_some() {
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
            End::OverBudget if self.asked.task.program.has_unbounded_data() => {
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
        let budget = self.budget;
        let n_threads = self.asked.task.options.threads;
        // A search that may end at its budget stays on one thread, so that it always ends at the same state.
        let may_spread = n_threads > 1 && budget.states == u64::MAX;
        let first = if may_spread { Budget { states: self.asked.engine.parallel_from, ..budget } } else { budget };
        let mut outcome = Sequential::new(&shared).run(first, self.asked.monitor);
        if outcome.end == End::OverBudget && first.states < budget.states {
            outcome = run_on_threads(&shared, n_threads, budget, self.asked.monitor);
        }
        self.stats.explored += outcome.n_states;
        self.stats.kept = outcome.n_states;
        self.stats.bytes = self.stats.bytes.max(outcome.bytes);
        outcome
    }

    /// A shortest run if that is cheap, otherwise the one that the reductions lead to.
    fn find_run(&mut self, bound: Option<u32>, n_states: u64) -> Result<Run, StopReason> {
        let n_states = match self.asked.engine.shortest_states {
            0 => 0,
            least => n_states.saturating_mul(4).max(least),
        };
        let budget = Budget { states: n_states, ..self.budget };
        let plain = self.shared(None, Reducing::Nothing);
        match self.run_in(&plain, budget, self.trimming()) {
            Ok(Some(run)) => {
                self.stats.is_shortest = true;
                return Ok(run);
            }
            Ok(None) => {}
            Err(reason) => return Err(reason),
        }
        let reduced = self.shared(bound, Reducing::Runs);
        let run = self.run_in(&reduced, Budget::UNLIMITED, Trimming::Tried)?;
        run.ok_or_else(|| StopReason::Defect("a violation was found, but no run that reaches it".to_owned()))
    }

    /// What a shortest path leaves to be left out of its run: markers of store-store fences, where there are some, are
    /// no steps of the search.
    fn trimming(&self) -> Trimming {
        match self.asked.task.model.buffering(self.asked.task.options.dialect) {
            Some(Buffering::None | Buffering::Fifo) => Trimming::Needless,
            Some(Buffering::PerLocation(_)) | None => Trimming::Tried,
        }
    }

    fn run_in(
        &mut self,
        shared: &Shared<'_, C>,
        budget: Budget,
        trimming: Trimming,
    ) -> Result<Option<Run>, StopReason> {
        let mut search = Sequential::new(shared);
        let outcome = search.run(budget, self.asked.monitor);
        self.stats.explored += outcome.n_states;
        match outcome.end {
            End::Bad(Badness::Violation(violation)) => self.replayed(&search, violation, trimming).map(Some),
            End::Stopped(reason) => Err(reason),
            End::Bad(Badness::Overflow) | End::Exhausted | End::OverBudget => Ok(None),
        }
    }

    fn replayed(
        &self,
        search: &Sequential<'_, C>,
        violation: Violation,
        trimming: Trimming,
    ) -> Result<Run, StopReason> {
        run::replayed(self.asked.task, search.automaton(), search.path(), violation, trimming)
    }

    fn shared(&self, bound: Option<u32>, reducing: Reducing) -> Shared<'a, C> {
        let options = self.asked.task.options;
        let is_on = |reduction| reducing != Reducing::Nothing && options.is_on(reduction);
        let merging = Merging {
            dead_registers: options.is_on(Reduction::DEAD_REGISTERS),
            local_steps: LocalSteps::if_on(is_on(Reduction::LOCAL_STEPS)),
            bisimilar: false,
        };
        let swaps = match reducing {
            Reducing::Everything => self.swaps.clone(),
            Reducing::Runs | Reducing::Nothing => Vec::new(),
        };
        Shared {
            automaton: Automaton::new(self.asked.task, merging),
            component: (self.memory)(bound),
            runs_ahead: is_on(Reduction::RUN_AHEAD),
            swaps,
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
