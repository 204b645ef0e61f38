//! Fence synthesis: which fences make a program correct.
//!
//! ```text
//!    candidates ──▶ cheapest set that hits ──▶ engine ──▶ safe: a minimal set; look for others
//!                   all clauses (hitting)         ╰─────▶ unsafe: the clause of its run ─╮
//!                        ▲                                                               │
//!                        ╰───────────────────────────────────────────────────────────────╯
//! ```
//!
//! Implicit hitting sets: the correct sets are exactly those that hit the `clause` of every bad run. A set that hits
//! all clauses known so far is checked; its bad run gives a clause that it does not hit. A set found safe is minimal,
//! because every smaller set misses a clause. All minimal sets are listed when no set is left that hits all clauses
//! and includes none of them.
//!
//! Under a model without store buffers the clause of a run is what is left when its set has grown as far as it stays
//! unsafe (`grow`).
//!
//! The clauses may also come from one search with fences that may be there or not (`labelled`), and the first sets from
//! what an abstraction says that fences avoid (`avoid`). An engine that only proves takes fences away from all of them
//! (`weaken`).

mod avoid;
mod clause;
mod companions;
mod cost;
mod decide;
mod grow;
mod hitting;
mod labelled;
pub mod orders;
mod weaken;

use std::ops::ControlFlow;

use crate::engine::{Engine, Repairs, StopReason, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::{FenceKind, Placement};
use crate::system::Run;
use crate::util::IndexVec;
use crate::watch::{Monitor, Progress, Stop};

pub use crate::program::{
    By, Candidate, CandidateId, FencePlace as Place, Repair, UnknownLabel, candidates, with_orders,
};
pub use clause::Elements;
pub use companions::reordered;
pub use cost::{CostError, Costs, Profile};
pub use hitting::Choice;

/// Which fences are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Where they may stand.
    pub candidates: &'a IndexVec<CandidateId, Candidate>,
    /// Which kinds may be used.
    pub kinds: &'a [FenceKind],
    /// What they cost.
    pub costs: &'a Costs,
    /// How many sets.
    pub wanted: Wanted,
    /// How they are found.
    pub method: Method,
}

impl<'a> Request<'a> {
    /// Every minimal set of fences of all kinds at these places, by whichever method fits the engine.
    pub const fn all(candidates: &'a IndexVec<CandidateId, Candidate>) -> Self {
        let (kinds, costs) = (&FenceKind::ALL, Costs::NONE);
        Self { candidates, kinds, costs, wanted: Wanted::All, method: Method::Auto }
    }
}

/// How fence sets are found. The sets are the same, where all are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The loop, which is quicker on almost all programs that were measured (`docs/fences.md`); with the engine
    /// `coherence`, the avoid formula; with `numeric`, from all fences down where the loop finds no set.
    Auto,
    /// A run at a time: each set that is checked and found unsafe gives a clause.
    Loop,
    /// All clauses at once, from a search with fences that may be there or not.
    Labelled,
    /// First the sets that avoid all bad states of an abstraction, then the loop for what is missing.
    Avoid,
    /// One set: from all fences down, as long as a proof goes through. For engines that only prove.
    Prune,
}

/// How many sets are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Every minimal set.
    All,
    /// One minimal set: with few fences, whatever they cost.
    First,
    /// A cheapest set.
    Cheapest,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The engine that answered.
    pub engine: &'static str,
    /// The answer.
    pub outcome: Outcome,
    /// Whether all minimal sets are listed.
    pub is_complete: bool,
    /// Why not, if the search had to stop or an engine could not decide some sets.
    pub stopped: Option<StopReason>,
    /// Why nothing less is enough: every correct set hits all of these.
    pub clauses: Vec<Clause>,
    /// How often the engine was asked.
    pub checks: u64,
    /// States (or constraints) it looked at.
    pub explored: u64,
    /// How many full fences the smallest set has that an avoid formula asks for, if one was made and can be met.
    pub inferred: Option<usize>,
}

impl Synthesis {
    /// Nothing is known, because a limit was reached before anyone could say anything.
    pub fn stopped(engine: &'static str, stop: Stop) -> Self {
        let reason = StopReason::from(stop);
        Self {
            engine,
            outcome: Outcome::Unknown(reason.clone()),
            is_complete: false,
            stopped: Some(reason),
            clauses: Vec::new(),
            checks: 0,
            explored: 0,
            inferred: None,
        }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No fence is needed.
    Correct,
    /// Each of these was proved correct, and no fence of it can be dropped or weakened, save where an engine could not
    /// decide what is left then (`stopped`). At least one, cheapest first.
    Fixed(Vec<FenceSet>),
    /// No set of these candidates is correct; the run shows it.
    Unfixable(Box<Run>, Why),
    /// Nothing was found before the search had to stop.
    Unknown(StopReason),
}

/// Why no set is correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The run is one of sequential consistency.
    UnsafeUnderSc,
    /// No candidate lies where it would stop the run.
    NoCandidate,
}

/// A set of fences.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FenceSet {
    /// What it costs.
    pub cost: u64,
    /// The fences.
    pub fences: Choice,
}

/// A bad run and the fences that would have stopped it.
#[derive(Clone, Debug)]
pub struct Clause {
    /// For each candidate, the weakest kind that would have.
    pub elements: Elements,
    /// The run; it was replayed with the fences of the set that was being checked.
    pub run: Box<Run>,
}

impl Choice {
    /// The fences at their positions.
    pub fn placement(&self, candidates: &IndexVec<CandidateId, Candidate>) -> Placement {
        self.lay_over(candidates, &Placement::NONE)
    }

    fn lay_over(&self, candidates: &IndexVec<CandidateId, Candidate>, base: &Placement) -> Placement {
        let mut placement = base.clone();
        for (&candidate, &kind) in &self.0 {
            for (position, kind) in candidates[candidate].lays(kind) {
                let known = placement.get(position.edge, position.side);
                placement.insert(position, known.map_or(kind, |known| known.max(kind)));
            }
        }
        placement
    }
}

/// Finds fences that make the task's program correct, over those that the task lays over it.
///
/// # Errors
/// The engine does not take the task, or the method does not.
pub fn synthesize(
    engine: &dyn Engine,
    task: &Task<'_>,
    request: &Request<'_>,
    monitor: &dyn Monitor,
) -> Result<Synthesis, Unsupported> {
    synthesize_under(engine, task, &[task.model], request, monitor)
}

/// Finds fences that make the task's program correct under every one of these models, whichever the task names.
///
/// A set is correct if it is under each of them, so a bad run of any of them gives a clause that counts.
///
/// # Errors
/// The engine does not take the task under one of the models, or the method does not.
pub fn synthesize_under(
    engine: &dyn Engine,
    task: &Task<'_>,
    models: &[Model],
    request: &Request<'_>,
    monitor: &dyn Monitor,
) -> Result<Synthesis, Unsupported> {
    let mut search = Search::new(engine, (task, models), request, monitor);
    Ok(match search.run()? {
        Some(outcome) => search.finish(outcome),
        None => search.conclude(),
    })
}

/// Whether another set would fare no better.
fn ends_all(reason: &StopReason) -> bool {
    match reason {
        StopReason::Timeout | StopReason::Memory | StopReason::Interrupted | StopReason::Defect(_) => true,
        StopReason::BufferBound(_) | StopReason::UnboundedData(_) => false,
        StopReason::States(_) | StopReason::Constraints(_) | StopReason::Overflow => false,
        StopReason::Alarm(_) | StopReason::Diverged(_) | StopReason::Unproved(_) => false,
        StopReason::Unconfirmed(_) | StopReason::Slots(_) | StopReason::Pool(_) => false,
    }
}

struct Search<'a> {
    engine: &'a dyn Engine,
    task: &'a Task<'a>,
    /// A set must be safe under each.
    models: &'a [Model],
    request: &'a Request<'a>,
    monitor: &'a dyn Monitor,
    /// Whether the avoid formula is asked first, and the exact engines where an abstraction does not know.
    infers: bool,
    /// Whether fences are dropped from all of them, if nothing else gives a set.
    prunes: bool,
    choices: clause::Choices,
    kinds: Vec<FenceKind>,
    clauses: Vec<Clause>,
    found: Vec<FenceSet>,
    undecided: Vec<Choice>,
    stopped: Option<StopReason>,
    answered: &'static str,
    checks: u64,
    explored: u64,
    inferred: Option<usize>,
}

/// Whether there is more to do; if not, the answer, or nothing if it is to be drawn from what was found.
type Flow = ControlFlow<Option<Outcome>>;

impl<'a> Search<'a> {
    fn new(
        engine: &'a dyn Engine,
        (task, models): (&'a Task<'a>, &'a [Model]),
        request: &'a Request<'a>,
        monitor: &'a dyn Monitor,
    ) -> Self {
        let mut kinds = request.kinds.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        Self {
            engine,
            task,
            models,
            request,
            monitor,
            infers: match request.method {
                Method::Avoid => true,
                Method::Auto => engine.card().repairs == Repairs::ByAvoiding,
                Method::Loop | Method::Labelled | Method::Prune => false,
            },
            prunes: match request.method {
                Method::Prune => true,
                Method::Auto => engine.card().repairs == Repairs::ByPruning,
                Method::Loop | Method::Labelled | Method::Avoid => false,
            },
            choices: clause::choices(request.candidates, &kinds),
            kinds,
            clauses: Vec::new(),
            found: Vec::new(),
            undecided: Vec::new(),
            stopped: None,
            answered: engine.name(),
            checks: 0,
            explored: 0,
            inferred: None,
        }
    }

    fn run(&mut self) -> Result<Option<Outcome>, Unsupported> {
        if let Some(run) = self.run_under_sc() {
            return Ok(Some(Outcome::Unfixable(run, Why::UnsafeUnderSc)));
        }
        let flow = if self.request.method == Method::Prune { self.prune()? } else { self.search()? };
        let outcome = flow.break_value().flatten();
        let is_open =
            outcome.is_none() && self.found.is_empty() && self.stopped.as_ref().is_some_and(|it| !ends_all(it));
        if is_open && self.prunes && self.request.method != Method::Prune {
            return Ok(self.prune()?.break_value().flatten());
        }
        Ok(outcome)
    }

    fn search(&mut self) -> Result<Flow, Unsupported> {
        // Without any fence, which is often safe; if not, the run is the first.
        let mut flow = if self.infers { self.infer()? } else { self.round()? };
        if flow.is_continue() && self.request.method == Method::Labelled {
            flow = self.learn_all()?;
        }
        while flow.is_continue() {
            flow = self.round()?;
        }
        Ok(flow)
    }

    /// Checks a set that hits all clauses so far.
    fn round(&mut self) -> Result<Flow, Unsupported> {
        let (cost, fences) = match self.next() {
            Ok(Some(next)) => next,
            Ok(None) => return Ok(Flow::Break(None)),
            Err(reason) => return Ok(self.end(reason)),
        };
        if self.request.wanted == Wanted::Cheapest && self.found.iter().any(|known| known.cost <= cost) {
            return Ok(Flow::Break(None));
        }
        if let Some(reason) = self.poll() {
            return Ok(self.end(reason));
        }
        let verdict = self.decide(&fences)?;
        Ok(match verdict {
            Verdict::Safe if fences.0.is_empty() => Flow::Break(Some(Outcome::Correct)),
            Verdict::Safe => {
                self.found.push(FenceSet { cost, fences });
                match self.request.wanted {
                    Wanted::All => Flow::Continue(()),
                    Wanted::First | Wanted::Cheapest => Flow::Break(None),
                }
            }
            Verdict::Unsafe(run) => self.learn(&fences, run),
            Verdict::Unknown(reason) => {
                // What includes it might be safe, but could not be called minimal.
                self.undecided.push(fences);
                let is_final = ends_all(&reason);
                let end = self.end(reason);
                if is_final { end } else { Flow::Continue(()) }
            }
        })
    }

    /// Notes why not everything is known.
    fn end(&mut self, reason: StopReason) -> Flow {
        self.stopped = Some(reason);
        Flow::Break(None)
    }

    fn poll(&self) -> Option<StopReason> {
        let progress = Progress { explored: self.explored, ..Progress::default() };
        self.monitor.poll(&progress).map(StopReason::from)
    }

    /// Adds the clause of a bad run.
    fn learn(&mut self, fences: &Choice, run: Box<Run>) -> Flow {
        let elements = match run.model.messaging() {
            Some(_) => match self.grown(fences, run.model) {
                Ok(elements) => elements,
                Err(reason) => return self.end(reason),
            },
            None => clause::clause(self.task.program, &self.choices, &run),
        };
        if elements.is_empty() {
            return Flow::Break(Some(Outcome::Unfixable(run, Why::NoCandidate)));
        }
        if fences.hits(&elements) {
            let what = "a run passes a fence that should have stopped it".to_owned();
            return self.end(StopReason::Defect(what));
        }
        self.clauses.push(Clause { elements, run });
        Flow::Continue(())
    }

    /// The cheapest set that no clause refutes and that includes none already decided, with its real cost.
    fn next(&self) -> Result<Option<(u64, Choice)>, StopReason> {
        let real = |candidate, kind| self.cost(candidate, kind);
        let few = |_, kind: FenceKind| 1 + kind as u64;
        let cost: &dyn Fn(CandidateId, FenceKind) -> u64 = match self.request.wanted {
            Wanted::All | Wanted::Cheapest => &real,
            Wanted::First => &few,
        };
        let clauses: Vec<_> = self.clauses.iter().map(|clause| &clause.elements).collect();
        let found = self.found.iter().map(|set| &set.fences);
        let blocked: Vec<_> = found.chain(&self.undecided).cloned().collect();
        let poll = || self.poll();
        let problem = hitting::Problem { clauses: &clauses, blocked: &blocked, cost, kinds: &self.kinds, poll: &poll };
        let cheapest = hitting::cheapest(&problem)?;
        Ok(cheapest.map(|(_, fences)| {
            let costs = fences.0.iter().map(|(&candidate, &kind)| self.cost(candidate, kind));
            (costs.fold(0, u64::saturating_add), fences)
        }))
    }

    fn cost(&self, candidate: CandidateId, kind: FenceKind) -> u64 {
        self.request.costs.of(self.task.program, &self.request.candidates[candidate], kind)
    }

    fn conclude(mut self) -> Synthesis {
        let mut sets = std::mem::take(&mut self.found);
        // At equal cost, an order that changes comes before a line that is new.
        let n_lines = |set: &FenceSet| {
            let candidates = set.fences.0.keys().map(|&id| &self.request.candidates[id]);
            candidates.filter(|it| it.order.is_none()).count()
        };
        sets.sort_by(|a, b| (a.cost, n_lines(a), a).cmp(&(b.cost, n_lines(b), b)));
        self.found.clone_from(&sets);
        let is_complete = self.stopped.is_none()
            && match self.next() {
                Ok(next) => next.is_none(),
                Err(reason) => {
                    self.stopped = Some(reason);
                    false
                }
            };
        let outcome = match &self.stopped {
            Some(reason @ StopReason::Defect(_)) => Outcome::Unknown(reason.clone()),
            Some(reason) if sets.is_empty() => Outcome::Unknown(reason.clone()),
            None | Some(_) => Outcome::Fixed(sets),
        };
        Synthesis { is_complete, ..self.finish(outcome) }
    }

    fn finish(self, outcome: Outcome) -> Synthesis {
        Synthesis {
            engine: self.answered,
            outcome,
            is_complete: true,
            stopped: self.stopped,
            clauses: self.clauses,
            checks: self.checks,
            explored: self.explored,
            inferred: self.inferred,
        }
    }
}
