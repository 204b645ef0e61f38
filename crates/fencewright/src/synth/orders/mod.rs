//! Which memory orders a program needs: all minimal choices.
//!
//! A choice is a set of [`Element`]s over the program with every order dropped: an acquire, a release, a seq_cst order
//! of an access of the text, a fence. More of them only take executions away, and races, so the correct choices are
//! closed upward, and the loop is that of fences: the cheapest choice that hits every clause is asked about; a bad
//! execution of it is kept under as many further elements as the axioms let it be (no search: its graph is looked at
//! with other orders, [`graph`]), and what is left is a clause that every correct choice hits.

mod element;
mod graph;

use std::collections::BTreeMap;

use super::clause::Elements;
use super::hitting::{Choice, Problem, cheapest};
use super::{CandidateId, Profile};
use crate::engine::data_race::ask_safety;
use crate::engine::{Engine, StopReason, Task, Unsupported, Verdict};
use crate::program::{FenceKind, Placement, Program};
use crate::system::Run;
use crate::util::Idx;
use crate::watch::{Monitor, Progress};

pub use element::{Element, Strength, is_fenced, order_of, own_elements, stronger_elements};

use element::chosen;
use graph::Bad;

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// What the program has: which of it is needed?
    Own,
    /// Every acquire and release; fences where these are not enough.
    All,
}

/// A choice under which the program is correct, and of which nothing can be spared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSet {
    /// What it costs.
    pub cost: u64,
    /// The elements, by number.
    pub elements: Vec<usize>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Orders {
    /// What could be chosen.
    pub elements: Vec<Element>,
    /// The minimal choices, cheapest first.
    pub sets: Vec<OrderSet>,
    /// A run of the program with everything that could be chosen, if no choice is correct.
    pub unfixable: Option<Box<Run>>,
    /// Why there may be more choices, if there may.
    pub stopped: Option<StopReason>,
    /// How many choices an engine was asked about.
    pub n_checks: u64,
}

/// Finds all minimal choices of orders under which a program is correct.
///
/// # Errors
/// The engine does not take the program.
pub fn orders(
    engine: &dyn Engine,
    task: &Task<'_>,
    (offered, profile): (Offered, Profile),
    monitor: &dyn Monitor,
) -> Result<Orders, Unsupported> {
    let elements = match offered {
        Offered::Own => own_elements(task.program),
        Offered::All => stronger_elements(task.program, false),
    };
    let found = Loop::new(engine, task, (elements, profile), monitor).run()?;
    if offered == Offered::All && found.unfixable.is_some() {
        let elements = stronger_elements(task.program, true);
        return Loop::new(engine, task, (elements, profile), monitor).run();
    }
    Ok(found)
}

/// The search for choices.
struct Loop<'a> {
    engine: &'a dyn Engine,
    task: &'a Task<'a>,
    monitor: &'a dyn Monitor,
    profile: Profile,
    elements: Vec<Element>,
    clauses: Vec<Elements>,
    /// Correct choices, and those of which nothing is known.
    blocked: Vec<Choice>,
    found: Orders,
}

/// What a choice comes to.
enum Judged {
    Correct,
    Bad(Elements, Box<Run>),
    Unknown(StopReason),
}

impl<'a> Loop<'a> {
    fn new(
        engine: &'a dyn Engine,
        task: &'a Task<'a>,
        (elements, profile): (Vec<Element>, Profile),
        monitor: &'a dyn Monitor,
    ) -> Self {
        let found =
            Orders { elements: elements.clone(), sets: Vec::new(), unfixable: None, stopped: None, n_checks: 0 };
        Self { engine, task, monitor, profile, elements, clauses: Vec::new(), blocked: Vec::new(), found }
    }

    fn run(mut self) -> Result<Orders, Unsupported> {
        loop {
            let next = match self.next() {
                Ok(Some((_, next))) => next,
                Ok(None) => return Ok(self.found),
                Err(reason) => return Ok(Orders { stopped: Some(reason), ..self.found }),
            };
            let set: Vec<usize> = next.0.keys().map(|id| id.index()).collect();
            self.found.n_checks += 1;
            match self.judged(&set)? {
                Judged::Correct => {
                    let cost = set.iter().map(|&i| self.elements[i].cost(self.task.program, self.profile)).sum();
                    self.found.sets.push(OrderSet { cost, elements: set });
                    self.blocked.push(next);
                }
                Judged::Bad(clause, run) if clause.is_empty() => {
                    return Ok(Orders { unfixable: Some(run), ..self.found });
                }
                Judged::Bad(clause, _) => self.clauses.push(clause),
                Judged::Unknown(reason) => {
                    let is_limit = matches!(reason, StopReason::Timeout | StopReason::Memory | StopReason::Interrupted);
                    self.found.stopped = Some(reason);
                    if is_limit {
                        return Ok(self.found);
                    }
                    self.blocked.push(next);
                }
            }
        }
    }

    /// The cheapest choice that hits all clauses and has not been looked at.
    fn next(&self) -> Result<Option<(u64, Choice)>, StopReason> {
        let clauses: Vec<&Elements> = self.clauses.iter().collect();
        let cost = |id: CandidateId, _: FenceKind| self.elements[id.index()].cost(self.task.program, self.profile);
        let poll = || self.monitor.poll(&Progress::default()).map(StopReason::from);
        let kinds = &[FenceKind::Full];
        cheapest(&Problem { clauses: &clauses, blocked: &self.blocked, cost: &cost, kinds, poll: &poll })
    }

    fn judged(&self, set: &[usize]) -> Result<Judged, Unsupported> {
        let (program, placement) = self.with(set);
        let task = Task { program: &program, placement: &placement, ..*self.task };
        let answer = ask_safety(self.engine, &task, self.monitor)?;
        Ok(match answer.verdict {
            Verdict::Safe => Judged::Correct,
            Verdict::Unknown(reason) => Judged::Unknown(reason),
            Verdict::Unsafe(run) => Judged::Bad(self.clause(set, &task, &run), run),
        })
    }

    /// The program with a choice.
    fn with(&self, set: &[usize]) -> (Program, Placement) {
        chosen(self.task.program, &self.elements, set)
    }

    /// What every correct choice has some of.
    fn clause(&self, set: &[usize], task: &Task<'_>, run: &Run) -> Elements {
        let mut kept: Vec<usize> = set.to_vec();
        if let Some(bad) = Bad::of(self.task.program, task, run) {
            for i in 0..self.elements.len() {
                let more = [&kept[..], &[i]].concat();
                if !kept.contains(&i) && bad.stays_with(&self.elements, &more) {
                    kept = more;
                }
            }
        }
        let all = 0..self.elements.len();
        let left = all.filter(|i| !kept.contains(i)).map(|i| (CandidateId::from_usize(i), FenceKind::Full));
        left.collect::<BTreeMap<_, _>>()
    }
}
