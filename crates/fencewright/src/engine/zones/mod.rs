//! The engine for unbounded integers: the backward search over load buffers, with zones instead of values.
//!
//! A constraint says where processes are, what is in their buffers, and by difference bounds what memory, registers and
//! messages may be together ([`system`] has the rules). Zones are closed under them, so the search is exact where it
//! ends: it may not, since the order on zones is no well-quasi-order. So three searches take turns, one exact and two
//! that *widen*: when many constraints of one shape are kept, the next is replaced by one that drops the bounds in
//! which it differs. What any of them proves is proved. A violation counts only when integers have been found for its
//! whole way ([`run`]) and the reference semantics has walked it
//! ([`walk`](super::symbolic::walk)).
//!
//! What makes it end are facts that are found first, by themselves ([`facts`], [`invariants`]).
//!
//! Load buffers: Abdulla, Atig, Bouajjani, Ngo, LMCS 2018; backward over zones with unbounded data: our own
//! combination.
//!
//! | file | idea |
//! |---|---|
//! | [`admit`] | what facts make of a constraint before it is looked up, and how constraints are widened |
//! | [`bad`] | the bad configurations |
//! | [`constraint`] | constraints |
//! | [`draft`] | a predecessor in the making |
//! | [`facts`] | facts about the flow of one process each, that prune the search |
//! | [`invariants`] | what holds of memory and the registers of each process by itself |
//! | [`run`] | from rules over zones to a run of the store buffers |
//! | [`stage`] | the store stage of PSO over zones |
//! | [`system`] | the load-buffer semantics over zones |

mod admit;
mod bad;
mod constraint;
mod draft;
mod facts;
mod invariants;
mod run;
mod stage;
mod system;

use crate::engine::backward::{End, Search};
use crate::engine::observer::{is_observable, observed};
use crate::engine::symbolic::difference::Arithmetic;
use crate::engine::symbolic::flow::ProcessFlow;
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::refusal::{Asker, needs_integers};
use crate::engine::symbolic::scaled::rescaled;
use crate::engine::symbolic::start::start;
use crate::engine::symbolic::walk;
use crate::engine::symbolic::writers::{Writers, sole_writers};
use crate::engine::{Answer, Card, Engine, Repairs, RestsOn, Stats, StopReason, Task, Unsupported, Verdict};
use crate::numeric::Zone;
use crate::program::{LocationId, ProcessId};
use crate::system::Run;
use crate::util::IndexVec;
use crate::watch::{Monitor, Part, Progress, Stop};

use constraint::Constraint;
use facts::{Machine, ProcessFacts};
use invariants::{Invariants, Premises};
use system::Zones;

/// The engine for unbounded integers.
#[derive(Clone, Copy, Debug)]
pub struct ZonesEngine;

/// The same where nobody asks for a run: an alarm says nothing. It is for programs that pick any integer, of which no
/// run is walked.
#[derive(Clone, Copy, Debug)]
pub struct Proving;

/// What it takes.
const ASKER: Asker = Asker { engine: "zones", arithmetic: Arithmetic::Differences };

/// How many constraints of one shape are kept before the next is widened, in each of the searches.
const WIDENINGS: [Option<usize>; 3] = [None, Some(8), Some(32)];

/// A search has so many constraints to look at before it is the turn of the next, the first time; then twice as many.
const FIRST_TURN: u64 = 1_024;

/// No search looks at more constraints than this.
const MAX_CONSTRAINTS: u64 = 32_768;

static CARD: Card = Card {
    name: ASKER.engine,
    about: "backward search over load buffers and difference bounds; for unbounded integers",
    reductions: &[],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Grid,
    asks_others: false,
};

impl Engine for ZonesEngine {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        task.buffering()?;
        needs_integers(ASKER, task.program)?;
        is_observable(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        observed(task, |task| rescaled((task, ASKER.arithmetic), |task| self.search(task, told, monitor)))
    }
}

impl Engine for Proving {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        ZonesEngine.takes(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        let untold: Telling = |_, _| Err(StopReason::Unproved("no run is asked for".to_owned()));
        observed(task, |task| ZonesEngine.search(task, untold, monitor))
    }
}

/// The run that a search has found.
type Telling = fn(&Task<'_>, &Search<Zones<'_>>) -> Result<Run, StopReason>;

impl ZonesEngine {
    fn search(self, task: &Task<'_>, told: Telling, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let known = match Known::new(task, monitor)? {
            Ok(known) => known,
            Err(reason) => {
                let verdict = Verdict::Unknown(reason);
                return Ok(Answer { engine: self.name(), verdict, stats: Stats::default() });
            }
        };
        let mut searches: Vec<Option<Search<Zones<'_>>>> =
            WIDENINGS.iter().map(|&widen_from| Some(Search::new(known.zones(task, widen_from)))).collect();
        let mut turn = FIRST_TURN;
        loop {
            for at in 0..searches.len() {
                let Some(mut search) = searches[at].take() else { continue };
                let others = searches.iter().flatten().map(|it| it.n_explored).sum();
                let end = search.run_generalizing(task.options.threads, &Turn { monitor, others, until: turn });
                let verdict = match (end, WIDENINGS[at]) {
                    (End::Safe, _) => Some(Verdict::Safe),
                    (End::Stopped(StopReason::Constraints(_)), _) => None,
                    (End::Stopped(reason), _) => Some(Verdict::Unknown(reason)),
                    (End::Unsafe(_), widening) => match (told(task, &search), widening) {
                        (Ok(run), _) => Some(Verdict::Unsafe(Box::new(run))),
                        (Err(StopReason::Defect(_)), None) if known.initial.modulus() > 1 => {
                            // What is picked and not kept may have had a remainder that values around it do not allow.
                            let what = "the remainder of a value that was picked is not kept".to_owned();
                            Some(Verdict::Unknown(StopReason::Unconfirmed(what)))
                        }
                        (Err(reason), None) => Some(Verdict::Unknown(reason)),
                        // The way leads through what was widened; another search has to tell.
                        (Err(_), Some(_)) => continue,
                    },
                };
                if let Some(verdict) = verdict {
                    let explored = others + search.n_explored;
                    let stats = Stats { explored, kept: search.n_kept(), bytes: search.bytes(), is_shortest: false };
                    return Ok(Answer { engine: self.name(), verdict, stats });
                }
                searches[at] = Some(search);
            }
            if turn >= MAX_CONSTRAINTS {
                let explored = searches.iter().flatten().map(|it| it.n_explored).sum();
                let verdict = Verdict::Unknown(StopReason::Diverged(turn));
                return Ok(Answer { engine: self.name(), verdict, stats: Stats { explored, ..Stats::default() } });
            }
            turn *= 2;
        }
    }
}

/// What is known of a program before the search.
struct Known {
    flows: IndexVec<ProcessId, ProcessFlow>,
    facts: IndexVec<ProcessId, ProcessFacts>,
    writers: IndexVec<LocationId, Writers>,
    invariants: Invariants,
    machine: Machine,
    layout: Layout,
    initial: Zone,
    bad: Vec<Constraint>,
}

impl Known {
    fn new(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Result<Self, StopReason>, Unsupported> {
        let program = task.program;
        let machine = Machine::new(task.buffering()?);
        let flows = program.processes().indices().map(|process| ProcessFlow::new(ASKER, task, process));
        let flows: IndexVec<ProcessId, ProcessFlow> = flows.collect::<Result<_, _>>()?;
        let facts = flows.iter_enumerated().map(|(process, flow)| ProcessFacts::new(program, process, flow, machine));
        let facts: IndexVec<ProcessId, ProcessFacts> = facts.collect();
        let writers = sole_writers(program, &flows);
        let layout = Layout::new(program);
        let bad = bad::bad(program, &flows, &layout)?;
        let premises = Premises { program, flows: &flows, facts: &facts, writers: &writers, machine };
        let initial = start(program, &layout);
        let known = Invariants::new(premises, monitor).map(|invariants| (invariants, initial));
        Ok(known.map(|(invariants, initial)| Self { flows, facts, writers, invariants, machine, layout, initial, bad }))
    }

    fn zones<'a>(&'a self, task: &Task<'a>, widen_from: Option<usize>) -> Zones<'a> {
        Zones {
            program: task.program,
            flows: &self.flows,
            facts: &self.facts,
            writers: &self.writers,
            invariants: &self.invariants,
            machine: self.machine,
            layout: &self.layout,
            initial: &self.initial,
            bad: &self.bad,
            widen_from,
        }
    }
}

/// The run that a search has found, replayed.
fn told(task: &Task<'_>, search: &Search<Zones<'_>>) -> Result<Run, StopReason> {
    let first = search.last().expect("the initial constraint was the last to be added");
    let (start, happenings) = run::concrete(search.system(), first, &search.path())?;
    walk::walked(task, &start, &happenings)
}

/// Stops a search when its turn is over, or when the other monitor does.
struct Turn<'a> {
    monitor: &'a dyn Monitor,
    /// How many constraints the other searches have looked at.
    others: u64,
    until: u64,
}

impl Monitor for Turn<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let all = Progress { explored: progress.explored + self.others, ..*progress };
        let is_over = progress.explored >= self.until;
        self.monitor.poll(&all).or_else(|| is_over.then_some(Stop::Spent(self.until)))
    }
}
