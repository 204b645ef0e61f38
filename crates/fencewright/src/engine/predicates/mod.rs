//! Predicate abstraction with refinement: forward search over abstract buffers and abstract data, and what to do about
//! an alarm.
//!
//! Abdulla, Atig, Chen, Leonardsson, Rezine, _Automatic Fence Insertion in Integer Programs via Predicate Abstraction_,
//! SAS 2012. Of store buffers `k` stores are kept in order ([`waiting`]), of data those bounds on variables and
//! differences whose constants are thresholds ([`templates`]); control is exact ([`machine`]). With `k` and thresholds
//! fixed there are finitely many configurations, and if none of those that are reached is bad, the program is safe
//! ([`search`]). Otherwise the way to the bad one is looked at:
//!
//! | the steps of the program on it are possible | then |
//! |---|---|
//! | with each store reaching memory at once, or later, as the model allows ([`along`]) | `unsafe`, with a run |
//! | only in abstract buffers | `k` is raised |
//! | only on abstract data | a negative cycle gives more thresholds ([`trace`]) |
//!
//! Where that does not help, something is assumed of stores that wait, and checked ([`attempts`]).
//!
//! Stores leave as soon as they can in the run that is shown, so a violation of SC is shown as a run of SC.
//!
//! Departures. The paper starts with `true`, we with the initial values (it would refine for ever on `assert(x == 0)`
//! otherwise). Its Fig. 7 writes `b_{p,i}` where `b_{p,i+1}` is meant. It needs an interpolating solver; here
//! predicates are templates, and cycles of differences give interpolants. A value that was stored last (`lw_{p,x}`) is
//! a variable only while a store to `x` waits. PSO is our own.

mod along;
mod attempts;
mod bad;
mod machine;
mod refine;
mod run;
mod search;
mod site;
mod templates;
mod trace;
mod waiting;

use std::collections::BTreeSet;

use crate::engine::observer::{is_observable, observed};
use crate::engine::symbolic::difference::Arithmetic;
use crate::engine::symbolic::flow::ProcessFlow;
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::live::live;
use crate::engine::symbolic::refusal::{Asker, needs_integers};
use crate::engine::symbolic::scaled::{in_other_units, rescaled};
use crate::engine::symbolic::situation::conditions;
use crate::engine::symbolic::start::start;
use crate::engine::symbolic::writers::sole_writers;
use crate::engine::{Answer, Card, Engine, Repairs, RestsOn, Setting, Stats, Takes, Task, Unsupported, Verdict};
use crate::program::{LocationId, ProcessId, Program, RegisterId, Scales, Value};
use crate::util::IndexVec;
use crate::watch::{Monitor, Part};

use attempts::Lates;
use bad::{Bad, condition};
use machine::Machine;
use refine::{Refinement, first_k};
use search::Problem;
use templates::Templates;
use waiting::Rules;

pub use site::{Predicate, Site};
pub use waiting::Keep;

/// The engine with predicates.
#[derive(Clone, Copy, Debug)]
pub struct Predicates;

/// What it takes.
const ASKER: Asker = Asker { engine: "predicates", arithmetic: Arithmetic::Linear };

/// How many stores are kept in order.
pub const K: Setting = Setting {
    flag: "k",
    value_name: "N",
    about: "how many stores of a buffer are kept in order, the newest [default: up to 8]",
    takes: Takes::Count(0, 64),
};

/// Which stores these are.
pub const KEEP: Setting = Setting {
    flag: "keep",
    value_name: "WHICH",
    about: "which stores are kept in order [default: newest]",
    takes: Takes::OneOf(&[(Keep::Newest.name(), Keep::Newest.about()), (Keep::Oldest.name(), Keep::Oldest.about())]),
};

const HINT: Setting =
    Setting { flag: "predicate", value_name: "EXPR", about: "a predicate to start with", takes: Takes::Program };
const HINTS: Setting =
    Setting { flag: "predicates", value_name: "FILE", about: "a file of such predicates", takes: Takes::Program };

static CARD: Card = Card {
    name: ASKER.engine,
    about: "forward search over abstract buffers and predicates, refined by its false alarms; for unbounded integers",
    reductions: &[],
    settings: &[&K, &KEEP, &HINT, &HINTS],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Grid,
    asks_others: false,
};

impl Engine for Predicates {
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
        task.is_closed()?;
        let answer = |verdict, stats| Answer { engine: ASKER.engine, verdict, stats };
        let keep = task.options.choice(&KEEP, &Keep::ALL, Keep::name);
        let check = |task: &Task<'_>| {
            refined((task, keep, Confirming::ByRun), monitor, |verdict, refinement| answer(verdict, refinement.stats))
        };
        observed(task, |task| rescaled((task, ASKER.arithmetic), check))
    }
}

/// What is done about a bad run that is no fault of the abstraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirming {
    /// The semantics walks it.
    ByRun,
    /// Nothing, and the answer is that it is unknown: of a program that picks any integer no run is walked.
    Left,
}

/// A grid through which a program was seen to be safe.
#[derive(Clone, Debug)]
pub struct Grid {
    /// So many of the newest stores are kept in order.
    pub k: u32,
    /// Thresholds of bounds on one variable.
    pub single: BTreeSet<Value>,
    /// Thresholds of bounds on differences.
    pub pair: BTreeSet<Value>,
    /// What remainders are by; 1 if none are kept.
    pub modulus: Value,
    /// What is no difference.
    pub predicates: Vec<Predicate>,
    /// The locations to which stores rise.
    pub rising: BTreeSet<LocationId>,
    /// The processes whose stores reach memory at once, and some of whose loads find anything.
    pub late: BTreeSet<ProcessId>,
    /// The locations of which memory never holds less than before.
    pub growing: BTreeSet<LocationId>,
    /// By how much variables were multiplied before.
    pub scales: Scales,
}

impl Predicates {
    /// The grid through which a program is seen to be safe, or what it is otherwise.
    ///
    /// # Errors
    /// The engine does not take the task.
    pub fn grid(
        task: &Task<'_>,
        confirming: Confirming,
        monitor: &dyn Monitor,
    ) -> Result<Result<Grid, Verdict>, Unsupported> {
        let scaled = in_other_units(task.program, ASKER.arithmetic);
        let program = scaled.as_ref().map_or(task.program, |it| &it.0);
        let scales = scaled.as_ref().map_or_else(Scales::new, |it| it.1.clone());
        let task = Task { program, ..*task };
        refined((&task, Keep::Newest, confirming), monitor, |verdict, refinement| match verdict {
            Verdict::Safe => {
                let (single, pair) = refinement.templates.thresholds();
                let Rules { k, rising, .. } = refinement.problem.machine.rules;
                Ok(Grid {
                    k: u32::try_from(k).unwrap_or(u32::MAX),
                    single: single.clone(),
                    pair: pair.clone(),
                    modulus: refinement.problem.initial.modulus(),
                    predicates: refinement.templates.predicates().to_vec(),
                    rising: rising.clone(),
                    late: refinement.late(),
                    growing: refinement.problem.machine.growing.clone(),
                    scales,
                })
            }
            Verdict::Unsafe(_) | Verdict::Unknown(_) => Err(verdict),
        })
    }
}

/// Answers a question, and tells how.
fn refined<T>(
    (task, keep, confirming): (&Task<'_>, Keep, Confirming),
    monitor: &dyn Monitor,
    tell: impl FnOnce(Verdict, &Refinement<'_>) -> T,
) -> Result<T, Unsupported> {
    needs_integers(ASKER, task.program)?;
    let buffering = task.buffering()?;
    let flows = task.program.processes().indices().map(|process| ProcessFlow::new(ASKER, task, process));
    let flows: IndexVec<ProcessId, ProcessFlow> = flows.collect::<Result<_, _>>()?;
    let layout = Layout::new(task.program);
    let writers = sole_writers(task.program, &flows);
    let lates = Lates::new(buffering, &flows, &writers);
    let storing = lates.storing(&BTreeSet::new());
    let none = BTreeSet::new();
    let rules = Rules { order: buffering, keep, k: first_k(task), rising: &none };
    let machine = Machine {
        program: task.program,
        flows: &flows,
        layout: &layout,
        rules,
        storing: &storing,
        writers: &writers,
        growing: &none,
    };
    let bad = Bad::new(&machine)?;
    let mut templates = Templates::new(&machine, &bad);
    for hint in task.program.hints() {
        // One that is not linear is left to engines that can use it.
        for case in conditions(task.program, hint, ASKER.arithmetic).unwrap_or_default() {
            templates.want_condition(&condition(&layout, &case), &layout);
        }
    }
    let initial = start(task.program, &layout);
    let dead = flows.iter_enumerated().map(|(process, flow)| dead(task.program, process, flow)).collect();
    let problem = Problem { machine, bad: &bad, initial: &initial, dead: &dead };
    let first = Refinement { task, monitor, confirming, problem, templates, stats: Stats::default() };
    Ok(first.answered(&lates, tell))
}

/// By state of a process, the registers that do not matter any more.
fn dead(program: &Program, process: ProcessId, flow: &ProcessFlow) -> Vec<Vec<RegisterId>> {
    let registers = &program.processes()[process].registers;
    let dead = |live: BTreeSet<RegisterId>| registers.indices().filter(|register| !live.contains(register)).collect();
    live(program, process, flow).into_iter().map(dead).collect()
}
