//! One attempt: search, look at the alarm, refine, and search again.

use std::collections::BTreeSet;

use crate::engine::predicates::along::{Along, along};
use crate::engine::predicates::machine::{Machine, Rising};
use crate::engine::predicates::run;
use crate::engine::predicates::search::{Alarm, End, Problem, Reached};
use crate::engine::predicates::templates::Templates;
use crate::engine::predicates::trace::Solved;
use crate::engine::predicates::waiting::Rules;
use crate::engine::predicates::{Confirming, K};
use crate::engine::{Stats, StopReason, Task, Verdict};
use crate::program::ProcessId;
use crate::watch::{Monitor, Progress, Stop};

/// So many stores are kept in order at first.
const FIRST_K: usize = 1;

/// Nor are more than this.
const LAST_K: usize = 8;

/// No more configurations than this are looked at, over all rounds.
const MAX_EXPLORED: u64 = 1_000_000;

/// One question being answered.
pub(super) struct Refinement<'a> {
    /// The question.
    pub task: &'a Task<'a>,
    /// Who may stop it.
    pub monitor: &'a dyn Monitor,
    /// What is done about runs.
    pub confirming: Confirming,
    /// The program, abstracted.
    pub problem: Problem<'a>,
    /// What is kept of data.
    pub templates: Templates,
    /// What it took so far.
    pub stats: Stats,
}

/// So many stores are kept in order at first.
pub(super) fn first_k(task: &Task<'_>) -> usize {
    task.options.count(&K).map_or(FIRST_K, |k| k as usize)
}

/// How the search for a proof or a run ends.
#[derive(Debug)]
pub(super) enum Outcome {
    /// With this verdict.
    Verdict(Verdict),
    /// This does not rise.
    Falls(Rising),
}

impl Refinement<'_> {
    /// Searches and refines until there is a proof or a run.
    pub(super) fn run(&mut self) -> Outcome {
        loop {
            let mut reached = Reached::default();
            let end = reached.search(&self.problem, &self.templates, &mut self.stats.explored, &Watch(self.monitor));
            self.stats.kept = reached.n_kept();
            self.stats.bytes = self.stats.bytes.max(reached.bytes());
            drop(reached);
            let refined = match end {
                End::Safe => return Outcome::Verdict(Verdict::Safe),
                End::Stopped(reason) => return Outcome::Verdict(Verdict::Unknown(reason)),
                End::Falls(what) => return Outcome::Falls(what),
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
            // What a late process loads is nothing that a run confirms.
            Solved::Integers(_) | Solved::Unsolved if !self.late().is_empty() => self.raise_k(),
            Solved::Integers(_) | Solved::Unsolved => self.refine_buffers(alarm),
        }
    }

    /// The same where the data of an alarm is right.
    fn refine_buffers(&mut self, alarm: &Alarm) -> Result<(), Verdict> {
        let machine = self.problem.machine;
        let with = |k: usize| Machine { rules: Rules { k, ..machine.rules }, ..machine };
        let mut told = None;
        along(&self.problem, (&with(usize::MAX), alarm), self.monitor, &mut |way| {
            told = match self.confirming {
                Confirming::ByRun => run::told(self.task, &self.problem, way).transpose(),
                Confirming::Left => run::is_possible(&self.problem, way).then(|| Err(untold())),
            };
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
        let next = (k + 1..=self.last_k()).find(is_impossible).unwrap_or(k + 1);
        if next > self.last_k() {
            return Err(self.alarm());
        }
        self.problem.machine = with(next);
        Ok(())
    }

    fn last_k(&self) -> usize {
        self.task.options.count(&K).map_or(LAST_K, |k| k as usize)
    }

    /// Keeps one more store in order.
    fn raise_k(&mut self) -> Result<(), Verdict> {
        let rules = &mut self.problem.machine.rules;
        rules.k += 1;
        if rules.k > self.last_k() { Err(self.alarm()) } else { Ok(()) }
    }

    /// There is an alarm, and nothing more to do about it, or no time to.
    fn alarm(&self) -> Verdict {
        let stopped = self.monitor.poll(&Progress { explored: self.stats.explored, ..Progress::default() });
        Verdict::Unknown(stopped.map_or(StopReason::Alarm(self.problem.machine.rules.k as u32), StopReason::from))
    }

    /// The processes some of whose loads find anything.
    pub(super) fn late(&self) -> BTreeSet<ProcessId> {
        let storing = self.problem.machine.storing.iter_enumerated();
        storing.filter(|it| it.1.stale().is_some_and(|stale| !stale.is_empty())).map(|it| it.0).collect()
    }
}

fn untold() -> StopReason {
    StopReason::Unproved("no run is asked for".to_owned())
}

/// Stops a search after so many configurations, or when the other monitor does.
struct Watch<'a>(&'a dyn Monitor);

impl Monitor for Watch<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let is_over = progress.explored >= MAX_EXPLORED;
        self.0.poll(progress).or_else(|| is_over.then_some(Stop::Spent(progress.explored)))
    }
}
