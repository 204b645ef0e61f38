//! All final states, by a search that goes on whatever it finds.
//!
//! Of the reductions, symmetry is left out, as it would show one final state for several. The others keep every final
//! state: nothing can happen in one, and what is seen of it is seen by a property of the task (see
//! [`Outcomes`](crate::engine::Outcomes)).

use super::{BOUND, ENDLESS, Explicit, MAX_BOUND, UNBOUNDED_DATA_STATES};
use crate::analysis::growth;
use crate::engine::automaton::{Automaton, LocalSteps, Merging};
use crate::engine::packed::{
    Budget, Buffered, Component, Discipline, End, Finals, MachineStates, Outcome, Sequential, Shared,
};
use crate::engine::{Engine, Reduction, Stats, StopReason, Task, Unsupported};
use crate::memory::{Job, Machine};
use crate::program::StateVar;
use crate::watch::{Monitor, Part};

/// What a search for all final states came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collected {
    /// The final states, and what goes wrong elsewhere.
    pub finals: Finals,
    /// Why there may be more; `None` if these are all.
    pub stopped: Option<StopReason>,
    /// What it took.
    pub stats: Stats,
}

/// How long the bound on buffered stores is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as the engine would: nobody else is asked.
    All,
    /// Until it has brought nothing new for so many rounds: then somebody is asked who need not bound them.
    Rounds(u32),
}

impl Explicit {
    /// All final states of a task, with the values of these variables. A property of the program must see each of them.
    pub(crate) fn finals(
        &self,
        task: &Task<'_>,
        (shown, patience): (&[StateVar], Patience),
        monitor: &dyn Monitor,
    ) -> Result<Collected, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        let asked = Collecting { engine: *self, task, shown, patience, monitor };
        let dialect = task.options.dialect;
        match task.model.buffering(dialect) {
            Some(buffering) => {
                let discipline = Discipline::of(buffering);
                let memory = |bound| Buffered::new(task.program, buffering, discipline).with_bound(bound);
                let may_grow = growth::may_grow(task.flow(), buffering);
                Ok(asked.collected(memory, may_grow, Budget::UNLIMITED))
            }
            None => task.model.with(dialect, asked),
        }
    }
}

/// A search for all final states.
#[derive(Clone, Copy)]
struct Collecting<'a> {
    engine: Explicit,
    task: &'a Task<'a>,
    shown: &'a [StateVar],
    patience: Patience,
    monitor: &'a dyn Monitor,
}

/// A model of which nothing is known but its machine.
impl Job for Collecting<'_> {
    type Output = Result<Collected, Unsupported>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let Task { program, model, .. } = *self.task;
        if let Some(reason) = machine.refuses(program) {
            return Err(Unsupported { reason, help: format!("choose another model than {model}") });
        }
        let budget = if growth::may_access_for_ever(self.task.flow()) { ENDLESS } else { Budget::UNLIMITED };
        Ok(self.collected(|_| MachineStates::new(&machine, program), false, budget))
    }
}

impl Collecting<'_> {
    /// The final states, with memory like this; whether its buffers need a bound, and how far it is searched.
    fn collected<C, F>(self, memory: F, may_grow: bool, mut budget: Budget) -> Collected
    where
        C: Component,
        F: Fn(Option<u32>) -> C,
    {
        if self.task.program.has_unbounded_data() {
            budget.states = budget.states.min(UNBOUNDED_DATA_STATES);
        }
        let mut all = Collected { finals: Finals::new(self.shown), ..Collected::default() };
        if may_grow {
            self.collect_growing(memory, budget, &mut all);
        } else {
            let outcome = self.round(memory(None), budget, &mut all);
            all.stopped = self.stopped(&outcome);
        }
        if all.stopped.is_none() && all.finals.has_overflown {
            all.stopped = Some(StopReason::Overflow);
        }
        all
    }

    /// Collects within a bound on the stores that wait, and raises it. What a smaller one let find is found again.
    fn collect_growing<C: Component>(self, memory: impl Fn(Option<u32>) -> C, budget: Budget, all: &mut Collected) {
        let asked_for = self.task.options.count(&BOUND);
        let mut bound = asked_for.unwrap_or(1);
        let mut n_idle = 0;
        loop {
            let n_before = all.finals.values.len();
            let outcome = self.round(memory(Some(bound)), budget, all);
            all.stopped = self.stopped(&outcome);
            if all.stopped.is_some() || !outcome.has_hit_bound {
                return;
            }
            n_idle = if all.finals.values.len() > n_before { 0 } else { n_idle + 1 };
            let is_enough = bound >= MAX_BOUND || outcome.n_states > self.engine.growing_states;
            let is_idle = match self.patience {
                Patience::All => false,
                Patience::Rounds(n) => n_idle >= n,
            };
            if is_enough || is_idle || asked_for.is_some() {
                all.stopped = Some(StopReason::BufferBound(bound));
                return;
            }
            bound += 1;
        }
    }

    fn round<C: Component>(self, component: C, budget: Budget, all: &mut Collected) -> Outcome {
        let options = self.task.options;
        let merging = Merging {
            dead_registers: options.is_on(Reduction::DEAD_REGISTERS),
            local_steps: LocalSteps::if_on(options.is_on(Reduction::LOCAL_STEPS)),
            bisimilar: false,
        };
        let shared = Shared {
            automaton: Automaton::new(self.task, merging),
            component,
            runs_ahead: options.is_on(Reduction::RUN_AHEAD),
            swaps: Vec::new(),
        };
        let mut search = Sequential::collecting(&shared, self.shown);
        let outcome = search.run(budget, self.monitor);
        let found = search.into_finals().unwrap_or_default();
        all.finals.values.extend(found.values);
        all.finals.faults.extend(found.faults);
        all.finals.has_overflown |= found.has_overflown;
        all.stats.explored += outcome.n_states;
        all.stats.kept = outcome.n_states;
        all.stats.bytes = all.stats.bytes.max(outcome.bytes);
        outcome
    }

    /// Why a round did not see all states within its bound, if it did not.
    fn stopped(self, outcome: &Outcome) -> Option<StopReason> {
        match &outcome.end {
            End::Exhausted | End::Bad(_) => None,
            End::Stopped(reason) => Some(reason.clone()),
            End::OverBudget if self.task.program.has_unbounded_data() => {
                Some(StopReason::UnboundedData(outcome.n_states))
            }
            End::OverBudget => Some(StopReason::States(outcome.n_states)),
        }
    }
}
