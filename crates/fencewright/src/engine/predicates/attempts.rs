//! What is tried, one after the other, until an attempt does not end in an alarm that no run confirms.
//!
//! | attempt | what is assumed |
//! |---|---|
//! | 1 | nothing: stores wait, and one of which only the location is kept leaves with any value |
//! | 2 | stores *rise* ([`waiting`](super::waiting)), to all locations but those to which it turns out that they fall |
//! | 3 | besides, some processes are *late* ([`late`](crate::engine::symbolic::late)): all that can be, then each |
//!
//! With the third, memory is assumed to *grow* where a late process looks, but for the locations where it turns out
//! that it falls: then what is loaded too late is at most what memory holds.
//!
//! A process that is prompt, so that to be late costs nothing, always is.

use std::collections::BTreeSet;

use crate::engine::predicates::machine::{Machine, Rising, Storing};
use crate::engine::predicates::refine::{Outcome, Refinement, first_k};
use crate::engine::predicates::search::Problem;
use crate::engine::predicates::waiting::Rules;
use crate::engine::symbolic::flow::{Act, ProcessFlow, StateId};
use crate::engine::symbolic::late::{loads_in, waiting_states};
use crate::engine::symbolic::writers::Writers;
use crate::engine::{StopReason, Verdict};
use crate::memory::Buffering;
use crate::program::{LocationId, ProcessId};
use crate::util::IndexVec;

/// Which processes may be late.
#[derive(Debug)]
pub(super) struct Lates<'a> {
    flows: &'a IndexVec<ProcessId, ProcessFlow>,
    /// The states in which a store may wait, of processes whose stores can be taken to reach memory at once.
    waiting: IndexVec<ProcessId, Option<BTreeSet<StateId>>>,
    writers: &'a IndexVec<LocationId, Writers>,
}

impl<'a> Lates<'a> {
    /// Those of a program.
    pub(super) fn new(
        buffering: Buffering,
        flows: &'a IndexVec<ProcessId, ProcessFlow>,
        writers: &'a IndexVec<LocationId, Writers>,
    ) -> Self {
        let waiting = flows.iter().map(|flow| waiting_states(flow, buffering));
        Self { flows, waiting: waiting.collect(), writers }
    }

    /// Whether a process loads in some states what others write.
    fn loads_in(&self, process: ProcessId, states: &BTreeSet<StateId>) -> bool {
        loads_in(&self.flows[process], states, |x| self.writers[x].is_only(process))
    }

    /// What becomes of the stores of each process if these are late; prompt ones reach memory at once in any case.
    pub(super) fn storing(&self, late: &BTreeSet<ProcessId>) -> IndexVec<ProcessId, Storing> {
        let storing = self.waiting.iter_enumerated().map(|(process, waiting)| match waiting {
            Some(waiting) if !self.loads_in(process, waiting) => Storing::AtOnce { stale: BTreeSet::new() },
            Some(waiting) if late.contains(&process) => Storing::AtOnce { stale: waiting.clone() },
            Some(_) | None => Storing::Waits,
        });
        storing.collect()
    }

    /// The sets of late processes that are tried: all that can be, then each of them.
    fn sets(&self) -> Vec<BTreeSet<ProcessId>> {
        let can_be = |process: &ProcessId| {
            self.waiting[*process].as_ref().is_some_and(|waiting| self.loads_in(*process, waiting))
        };
        let all: BTreeSet<ProcessId> = self.flows.indices().filter(can_be).collect();
        let each = all.iter().map(|&process| BTreeSet::from([process]));
        match all.len() {
            0 | 1 => each.collect(),
            _ => std::iter::once(all.clone()).chain(each).collect(),
        }
    }
}

/// Whether the abstraction is too coarse.
fn is_alarm(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unknown(StopReason::Alarm(_)))
}

impl Refinement<'_> {
    /// Makes one attempt after the other; what came of the last.
    pub(super) fn answered<T>(mut self, lates: &Lates<'_>, tell: impl FnOnce(Verdict, &Refinement<'_>) -> T) -> T {
        let verdict = match self.run() {
            Outcome::Verdict(verdict) => verdict,
            Outcome::Falls(_) => unreachable!("nothing is said to rise"),
        };
        let machine = self.problem.machine;
        let mut rising = if is_alarm(&verdict) { stored(&machine) } else { return tell(verdict, &self) };
        for late in std::iter::once(BTreeSet::new()).chain(lates.sets()) {
            let storing = lates.storing(&late);
            let mut growing = machine.stale_locations(&storing);
            while !(late.is_empty() && rising.is_empty()) {
                let rules = Rules { k: first_k(self.task), rising: &rising, ..machine.rules };
                let problem = Problem {
                    machine: Machine { rules, storing: &storing, growing: &growing, ..machine },
                    ..self.problem
                };
                let mut again = Refinement { problem, templates: self.templates.clone(), ..self };
                let outcome = again.run();
                self.stats = again.stats;
                match outcome {
                    Outcome::Falls(Rising::Stores(x)) => drop(rising.remove(&x)),
                    Outcome::Falls(Rising::Memory(x)) => drop(growing.remove(&x)),
                    Outcome::Verdict(verdict) if is_alarm(&verdict) => break,
                    Outcome::Verdict(verdict) => return tell(verdict, &again),
                }
            }
        }
        tell(verdict, &self)
    }
}

/// The locations to which processes store whose stores wait.
fn stored(machine: &Machine<'_>) -> BTreeSet<LocationId> {
    let waiting = machine.flows.iter_enumerated().filter(|it| machine.rules_of(it.0).order != Buffering::None);
    let acts = waiting.flat_map(|(_, flow)| &flow.steps).map(|step| step.act);
    let stored = acts.filter_map(|act| match act {
        Act::Store(x, _) => Some(x),
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
    });
    stored.collect()
}
