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
use crate::engine::data_race::{ask_safety, beside_race};
use crate::engine::{Engine, StopReason, Task, Unsupported, Verdict};
use crate::program::{FenceKind, Program};
use crate::system::Run;
use crate::util::Idx;
use crate::watch::{Monitor, Progress};

pub use element::{Element, Given, Strength, chosen, is_fenced, order_of, own_elements, stronger_elements};

use graph::Bad;

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// What the program has: which of it is needed?
    Own,
    /// Every acquire and release; fences where these are not enough.
    All,
    /// What the program has, and every acquire and release; seq_cst, then fences, where these are not enough.
    Stronger,
}

/// A choice under which the program is correct, and of which nothing can be spared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSet {
    /// What it costs, beside what every choice has.
    pub cost: u64,
    /// The elements, by number, with those that every choice has.
    pub elements: Vec<usize>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Orders {
    /// What could be chosen.
    pub elements: Vec<Element>,
    /// The minimal choices, cheapest first.
    pub sets: Vec<OrderSet>,
    /// Set if no choice is correct.
    pub unfixable: Option<Unfixable>,
    /// Why there may be more choices, if there may.
    pub stopped: Option<StopReason>,
    /// How many choices an engine was asked about.
    pub n_checks: u64,
}

/// Not even the program with everything that could be chosen is correct.
#[derive(Clone, Debug)]
pub struct Unfixable {
    /// That program; where races are always violations, with races as a property.
    pub program: Program,
    /// A run of it.
    pub run: Box<Run>,
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
    let program = &*task.program.with_allocations();
    let task = &Task { program, ..*task };
    let stronger = |given: Given| stronger_elements(program, given);
    let ladder = match offered {
        Offered::Own => {
            return Loop::new(engine, task, (own_elements(program), profile), monitor).run()?.shown();
        }
        Offered::All => &[Given::Orders, Given::Fences][..],
        Offered::Stronger => &[Given::Orders, Given::SeqCst, Given::Fences],
    };
    let (last, first) = ladder.split_last().expect("something is given");
    let asked = |given: &Given| {
        let mut asked = Loop::new(engine, task, (stronger(*given), profile), monitor);
        if offered == Offered::Stronger {
            asked.keep(&own_elements(program));
        }
        asked.run()
    };
    for given in first {
        if let Ended::Found(found) = asked(given)? {
            return Ok(found);
        }
    }
    asked(last)?.shown()
}

/// The search for choices.
struct Loop<'a> {
    engine: &'a dyn Engine,
    task: &'a Task<'a>,
    monitor: &'a dyn Monitor,
    profile: Profile,
    elements: Vec<Element>,
    /// What every choice has.
    kept: Vec<usize>,
    clauses: Vec<Elements>,
    /// Correct choices, and those of which nothing is known.
    blocked: Vec<Choice>,
    found: Orders,
}

/// How a search ends.
enum Ended<'a> {
    Found(Orders),
    /// No choice is correct: this run stays bad, whatever else is chosen.
    Hopeless(Loop<'a>, Vec<usize>, Box<Run>),
}

impl Ended<'_> {
    /// If there is no hope, a run of the program with everything that could be chosen shows it. That of a lesser choice
    /// stays bad, too, but its steps may be others there.
    fn shown(self) -> Result<Orders, Unsupported> {
        let (asked, set, run) = match self {
            Self::Found(found) => return Ok(found),
            Self::Hopeless(asked, set, run) => (asked, set, run),
        };
        let all: Vec<usize> = (0..asked.elements.len()).collect();
        let judged = if set.len() == all.len() { Judged::Bad(Elements::new(), run) } else { asked.judged(&all)? };
        let (unfixable, stopped) = match judged {
            Judged::Bad(_, run) => {
                let (program, _) = chosen(asked.task.program, &asked.elements, &all);
                let program = beside_race(&program, asked.task.model).unwrap_or(program);
                (Some(Unfixable { program, run }), None)
            }
            Judged::Unknown(reason) => (None, Some(reason)),
            Judged::Correct => {
                let reason = "an execution that the axioms allow was not found".to_owned();
                (None, Some(StopReason::Defect(reason)))
            }
        };
        Ok(Orders { unfixable, stopped, ..asked.found })
    }
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
        let (kept, clauses, blocked) = (Vec::new(), Vec::new(), Vec::new());
        Self { engine, task, monitor, profile, elements, kept, clauses, blocked, found }
    }

    /// Every choice has these: of what may be given, what the text says already.
    fn keep(&mut self, own: &[Element]) {
        let is_own = |it: &Element| own.iter().any(|own| own.span == it.span && own.strength == it.strength);
        self.kept = (0..self.elements.len()).filter(|&i| is_own(&self.elements[i])).collect();
    }

    fn run(mut self) -> Result<Ended<'a>, Unsupported> {
        loop {
            let next = match self.next() {
                Ok(Some((_, next))) => next,
                Ok(None) => return Ok(Ended::Found(self.found)),
                Err(reason) => return Ok(Ended::Found(Orders { stopped: Some(reason), ..self.found })),
            };
            let new = next.0.keys().map(|id| id.index());
            let cost = new.clone().map(|i| self.elements[i].cost(self.task.program, self.profile)).sum();
            let set: Vec<usize> = new.chain(self.kept.iter().copied()).collect();
            self.found.n_checks += 1;
            match self.judged(&set)? {
                Judged::Correct => {
                    self.found.sets.push(OrderSet { cost, elements: set });
                    self.blocked.push(next);
                }
                Judged::Bad(clause, run) if clause.is_empty() => {
                    return Ok(Ended::Hopeless(self, set, run));
                }
                Judged::Bad(clause, _) => self.clauses.push(clause),
                Judged::Unknown(reason) => {
                    let is_limit = matches!(reason, StopReason::Timeout | StopReason::Memory | StopReason::Interrupted);
                    self.found.stopped = Some(reason);
                    if is_limit {
                        return Ok(Ended::Found(self.found));
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
        let (program, placement) = chosen(self.task.program, &self.elements, set);
        let task = Task { program: &program, placement: &placement, ..*self.task };
        let answer = ask_safety(self.engine, &task, self.monitor)?;
        Ok(match answer.verdict {
            Verdict::Safe => Judged::Correct,
            Verdict::Unknown(reason) => Judged::Unknown(reason),
            Verdict::Unsafe(run) => Judged::Bad(self.clause(set, &task, &run), run),
        })
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
