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
//! Stores leave as soon as they can in the run that is shown, so a violation of SC is shown as a run of SC.
//!
//! Departures. The paper starts with `true`, we with the initial values (it would refine for ever on `assert(x == 0)`
//! otherwise). Its Fig. 7 writes `b_{p,i}` where `b_{p,i+1}` is meant. It needs an interpolating solver; here
//! predicates are templates, and cycles of differences give interpolants. A value that was stored last (`lw_{p,x}`) is
//! a variable only while a store to `x` waits. PSO is our own.

mod along;
mod bad;
mod machine;
mod run;
mod search;
mod site;
mod templates;
mod trace;
mod waiting;

use std::collections::BTreeSet;

use crate::engine::symbolic::difference::Arithmetic;
use crate::engine::symbolic::flow::{Act, ProcessFlow};
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::live::live;
use crate::engine::symbolic::prompt::is_prompt;
use crate::engine::symbolic::refusal::{Asker, needs_integers};
use crate::engine::symbolic::situation::conditions;
use crate::engine::symbolic::start::start;
use crate::engine::{Answer, Engine, Monitor, Progress, Reduction, Stats, StopReason, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::{LocationId, ProcessId, Program, RegisterId, Value};
use crate::util::IndexVec;

use along::{Along, along};
use bad::{Bad, condition};
use machine::Machine;
use search::{Alarm, End, Problem, Reached};
use templates::Templates;
use trace::Solved;
use waiting::{Order, Rules};

pub use site::{Predicate, Site};
pub use waiting::Keep;

/// The engine with predicates.
#[derive(Clone, Copy, Debug)]
pub struct Predicates {
    /// Which stores are kept in order.
    pub keep: Keep,
}

/// What it takes.
const ASKER: Asker = Asker { engine: "predicates", arithmetic: Arithmetic::Linear };

/// So many stores are kept in order at first.
const FIRST_K: usize = 1;

/// Nor are more than this.
const LAST_K: usize = 8;

/// No more configurations than this are looked at, over all rounds.
const MAX_EXPLORED: u64 = 1_000_000;

impl Predicates {
    /// As the paper's tool has it.
    pub const DEFAULT: Self = Self { keep: Keep::Newest };
}

impl Engine for Predicates {
    fn name(&self) -> &'static str {
        ASKER.engine
    }

    fn about(&self) -> &'static str {
        "forward search over abstract buffers and predicates, refined by its false alarms; for unbounded integers"
    }

    fn reductions(&self) -> &'static [Reduction] {
        &[]
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.refined(task, monitor, |verdict, refinement| Answer {
            engine: ASKER.engine,
            verdict,
            stats: refinement.stats.clone(),
        })
    }
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
    /// What is no difference.
    pub predicates: Vec<Predicate>,
    /// The locations to which stores rise.
    pub rising: BTreeSet<LocationId>,
}

impl Predicates {
    /// The grid through which a program is seen to be safe, or why it is not.
    ///
    /// # Errors
    /// The engine does not take the task.
    pub fn grid(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Result<Grid, StopReason>, Unsupported> {
        Self::DEFAULT.refined(task, monitor, |verdict, refinement| match verdict {
            Verdict::Safe => {
                let (single, pair) = refinement.templates.thresholds();
                let Rules { k, rising, .. } = refinement.problem.machine.rules;
                Ok(Grid {
                    k: u32::try_from(k).unwrap_or(u32::MAX),
                    single: single.clone(),
                    pair: pair.clone(),
                    predicates: refinement.templates.predicates().to_vec(),
                    rising: rising.clone(),
                })
            }
            Verdict::Unsafe(_) => Err(StopReason::Defect("a program that was found safe has a bad run".to_owned())),
            Verdict::Unknown(reason) => Err(reason),
        })
    }

    /// Answers a question, and tells how.
    fn refined<T>(
        &self,
        task: &Task<'_>,
        monitor: &dyn Monitor,
        tell: impl FnOnce(Verdict, &Refinement<'_>) -> T,
    ) -> Result<T, Unsupported> {
        needs_integers(ASKER, task.program)?;
        let flows = task.program.processes().indices().map(|process| ProcessFlow::new(ASKER, task, process));
        let flows: IndexVec<ProcessId, ProcessFlow> = flows.collect::<Result<_, _>>()?;
        let layout = Layout::new(task.program);
        let prompt = flows.iter().map(|flow| is_prompt(flow, task.model, task.options.dialect.pso_rmw)).collect();
        let none = BTreeSet::new();
        let rules = Rules { order: order(task), keep: self.keep, k: first_k(task), rising: &none };
        let machine = Machine { program: task.program, flows: &flows, layout: &layout, rules, prompt: &prompt };
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
        let last_k = task.options.k.map_or(LAST_K, |k| k as usize);
        let plain = Refinement { task, monitor, problem, templates, last_k, stats: Stats::default() };
        Ok(plain.run_with_rising(tell))
    }
}

/// So many stores are kept in order at first.
fn first_k(task: &Task<'_>) -> usize {
    task.options.k.map_or(FIRST_K, |k| k as usize)
}

fn order(task: &Task<'_>) -> Order {
    match task.model {
        Model::Sc => Order::Sc,
        Model::Tso => Order::Tso,
        Model::Pso => Order::Pso(task.options.dialect.pso_rmw),
    }
}

/// The locations to which processes store whose stores wait.
fn stored(machine: &Machine<'_>) -> BTreeSet<LocationId> {
    let waiting = machine.flows.iter_enumerated().filter(|it| machine.rules_of(it.0).order != Order::Sc);
    let acts = waiting.flat_map(|(_, flow)| &flow.steps).map(|step| step.act);
    let stored = acts.filter_map(|act| match act {
        Act::Store(x, _) => Some(x),
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
    });
    stored.collect()
}

/// By state of a process, the registers that do not matter any more.
fn dead(program: &Program, process: ProcessId, flow: &ProcessFlow) -> Vec<Vec<RegisterId>> {
    let registers = &program.processes()[process].registers;
    let dead = |live: BTreeSet<RegisterId>| registers.indices().filter(|register| !live.contains(register)).collect();
    live(program, process, flow).into_iter().map(dead).collect()
}

/// One question being answered.
struct Refinement<'a> {
    task: &'a Task<'a>,
    monitor: &'a dyn Monitor,
    problem: Problem<'a>,
    templates: Templates,
    last_k: usize,
    stats: Stats,
}

/// How the search for a proof or a run ends.
enum Outcome {
    Verdict(Verdict),
    /// Stores to a location do not rise.
    Falls(LocationId),
}

impl Refinement<'_> {
    /// Searches and refines; where that raises an alarm that no run confirms, again with locations to which stores
    /// rise: all to which processes store, without those to which it turns out that they fall.
    fn run_with_rising<T>(mut self, tell: impl FnOnce(Verdict, &Refinement<'_>) -> T) -> T {
        let verdict = match self.run() {
            Outcome::Verdict(verdict) => verdict,
            Outcome::Falls(_) => unreachable!("stores to no location are said to rise"),
        };
        let machine = self.problem.machine;
        let mut rising = stored(&machine);
        while matches!(verdict, Verdict::Unknown(StopReason::Alarm(_))) && !rising.is_empty() {
            let rules = Rules { k: first_k(self.task), rising: &rising, ..machine.rules };
            let problem = Problem { machine: Machine { rules, ..machine }, ..self.problem };
            let (templates, stats) = (self.templates.clone(), self.stats.clone());
            let mut again = Refinement { problem, templates, stats, ..self };
            match again.run() {
                Outcome::Verdict(verdict) => return tell(verdict, &again),
                Outcome::Falls(x) => {
                    self.stats = again.stats;
                    rising.remove(&x);
                }
            }
        }
        tell(verdict, &self)
    }

    /// Searches and refines until there is a proof or a run.
    fn run(&mut self) -> Outcome {
        loop {
            let mut reached = Reached::default();
            let end = reached.search(&self.problem, &self.templates, &mut self.stats.explored, &Watch(self.monitor));
            self.stats.kept = reached.n_kept();
            self.stats.bytes = self.stats.bytes.max(reached.bytes());
            drop(reached);
            let refined = match end {
                End::Safe => return Outcome::Verdict(Verdict::Safe),
                End::Stopped(reason) => return Outcome::Verdict(Verdict::Unknown(reason)),
                End::Falls(x) => return Outcome::Falls(x),
                End::Alarm(alarm) => self.refine(&alarm),
            };
            if let Err(verdict) = refined {
                return Outcome::Verdict(verdict);
            }
        }
    }

    /// Sees to it that an alarm is not raised again; a verdict if it is true, or if nothing can be done about it.
    fn refine(&mut self, alarm: &Alarm) -> Result<(), Verdict> {
        let mismatch = || Verdict::Unknown(StopReason::Defect("`predicates` cannot go its own way again".to_owned()));
        let (ssa, _) = run::ssa(&self.problem.machine, &self.problem, alarm).ok_or_else(mismatch)?;
        match ssa.solved(self.problem.machine.layout) {
            Solved::Refuted(wanted) => {
                let n_new = wanted.into_iter().filter(|it| self.templates.want(it.clone())).count();
                (n_new > 0).then_some(()).ok_or_else(|| self.alarm())
            }
            Solved::Integers(_) | Solved::Unsolved => self.refine_buffers(alarm),
        }
    }

    /// The same where the data of an alarm is right.
    fn refine_buffers(&mut self, alarm: &Alarm) -> Result<(), Verdict> {
        let machine = self.problem.machine;
        let with = |k: usize| Machine { rules: Rules { k, ..machine.rules }, ..machine };
        let mut told = None;
        along(&self.problem, (&with(usize::MAX), alarm), self.monitor, &mut |way| {
            told = run::told(self.task, &self.problem, way).transpose();
            told.is_some()
        });
        match told {
            Some(Ok(run)) => return Err(Verdict::Unsafe(Box::new(run))),
            Some(Err(reason)) => return Err(Verdict::Unknown(reason)),
            None => {}
        }
        let k = machine.rules.k;
        let is_impossible =
            |&k: &usize| along(&self.problem, (&with(k), alarm), self.monitor, &mut |_| true) == Along::Impossible;
        let next = (k + 1..=self.last_k).find(is_impossible).unwrap_or(k + 1);
        if next > self.last_k {
            return Err(self.alarm());
        }
        self.problem.machine = with(next);
        Ok(())
    }

    /// There is an alarm, and nothing more to do about it, or no time to.
    fn alarm(&self) -> Verdict {
        let stopped = self.monitor.poll(&Progress { explored: self.stats.explored, ..Progress::default() });
        Verdict::Unknown(stopped.unwrap_or(StopReason::Alarm(self.problem.machine.rules.k as u32)))
    }
}

/// Stops a search after so many configurations, or when the other monitor does.
struct Watch<'a>(&'a dyn Monitor);

impl Monitor for Watch<'_> {
    fn poll(&self, progress: &Progress) -> Option<StopReason> {
        let is_over = progress.explored >= MAX_EXPLORED;
        self.0.poll(progress).or_else(|| is_over.then_some(StopReason::Diverged(progress.explored)))
    }
}
