//! From the path of an alarm to a run, if there is one that takes the same steps of the program in the same order.
//!
//! What leaves the buffers is not taken from the path, where it is abstract: every flush that the semantics allows is
//! tried between the steps of the program. So the search is complete for the path, and small: its states differ in how
//! far the path is taken and in what is still buffered.

use std::collections::HashSet;

use crate::engine::automaton::{Automaton, Merging};
use crate::engine::run::{Logged, Path, replayed};
use crate::engine::{StopReason, Task};
use crate::memory::{Flush, Model, Operational, Pso, Sc, Tso};
use crate::system::{Action, Outcome, Run, State, Step, System, Trace, Violation};

/// A path is given up beyond this many states.
const MAX_STATES: usize = 20_000;

/// What came of a path.
#[derive(Debug)]
pub struct Tried {
    /// A replayed run with the steps of the path.
    pub run: Option<Run>,
    /// How many states it took.
    pub n_states: u64,
}

/// Looks for a run along a path; an error is a defect of the engine.
pub fn run_along(task: &Task<'_>, path: &Trace) -> Result<Tried, StopReason> {
    let (program, placement) = (task.program, task.placement);
    let (steps, n_states) = match task.model {
        Model::Sc => Along::new(System::new(program, placement, Sc), path).search(),
        Model::Tso => Along::new(System::new(program, placement, Tso), path).search(),
        Model::Pso => {
            let pso = Pso { rmw: task.options.dialect.pso_rmw };
            Along::new(System::new(program, placement, pso), path).search()
        }
    };
    let run = steps.map(|steps| told(task, path, steps)).transpose()?;
    Ok(Tried { run, n_states: n_states as u64 })
}

/// The run of these steps, replayed.
fn told(task: &Task<'_>, path: &Trace, steps: Vec<Step>) -> Result<Run, StopReason> {
    let plain = Merging { dead_registers: false, local_steps: false, bisimilar: false };
    let steps = steps.into_iter().map(|step| Logged { step, rest: None, edge: None }).collect();
    let path_of_run = Path { start: path.start.clone(), rests: Vec::new(), steps };
    replayed(task, &Automaton::new(task, plain), path_of_run, path.violation)
}

/// A search along a path.
struct Along<'a, O: Operational> {
    system: System<'a, O>,
    violation: Violation,
    /// The steps of the program, in order.
    wanted: Vec<Step>,
    visits: Vec<Visit<O::Memory>>,
    seen: HashSet<(usize, State<O::Memory>)>,
}

/// So many steps of the path are taken, and this is the state.
struct Visit<M> {
    n_taken: usize,
    state: State<M>,
    /// The visit before, and the step from there.
    from: Option<(usize, Step)>,
}

impl<'a, O: Operational> Along<'a, O> {
    fn new(system: System<'a, O>, path: &Trace) -> Self {
        let is_flush = |step: &Step| matches!(step.action, Action::Flush(_));
        let wanted = path.steps.iter().copied().filter(|step| !is_flush(step)).collect();
        let first = Visit { n_taken: 0, state: system.initial(&path.start), from: None };
        let seen = HashSet::from([(0, first.state.clone())]);
        Self { system, violation: path.violation, wanted, visits: vec![first], seen }
    }

    /// The steps of a run, without the leaving of markers; and how many states it took.
    fn search(mut self) -> (Option<Vec<Step>>, usize) {
        let mut todo = vec![0];
        while let Some(at) = todo.pop() {
            if self.is_bad(at) {
                return (Some(self.steps_to(at)), self.visits.len());
            }
            if self.visits.len() > MAX_STATES {
                break;
            }
            let before = self.visits.len();
            if let Some(last) = self.expand(at) {
                let mut steps = self.steps_to(at);
                steps.push(last);
                return (Some(steps), self.visits.len());
            }
            todo.extend(before..self.visits.len());
        }
        (None, self.visits.len())
    }

    fn is_bad(&self, at: usize) -> bool {
        let Visit { n_taken, state, .. } = &self.visits[at];
        match self.violation {
            Violation::Property(id) => {
                *n_taken == self.wanted.len() && self.system.violates(state, &self.system.flow.program.properties()[id])
            }
            Violation::Fault(_) => false,
        }
    }

    /// Adds what comes next; the last step of the run if that goes wrong as it should.
    fn expand(&mut self, at: usize) -> Option<Step> {
        let Visit { n_taken, state, .. } = &self.visits[at];
        let n_taken = *n_taken;
        let next = self.wanted.get(n_taken).copied();
        for (step, outcome) in self.system.steps(state) {
            let n_taken = match step.action {
                Action::Flush(_) => n_taken,
                Action::Edge { .. } | Action::Fence(_) if Some(step) == next => n_taken + 1,
                Action::Edge { .. } | Action::Fence(_) => continue,
            };
            match outcome {
                Outcome::Next(state) => {
                    if self.seen.insert((n_taken, state.clone())) {
                        self.visits.push(Visit { n_taken, state, from: Some((at, step)) });
                    }
                }
                Outcome::Fault(fault) if self.violation == Violation::Fault(fault) => return Some(step),
                Outcome::Fault(_) | Outcome::Overflow => {}
            }
        }
        None
    }

    /// The steps to a visit. Markers are left out: whoever tells the run lets them leave as soon as they can.
    fn steps_to(&self, mut at: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some((from, step)) = self.visits[at].from {
            if step.action != Action::Flush(Flush::Marker) {
                steps.push(step);
            }
            at = from;
        }
        steps.reverse();
        steps
    }
}
