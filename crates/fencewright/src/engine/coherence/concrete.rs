//! From the path of an alarm to a run, if there is one that takes the same steps of the program in the same order.
//!
//! What leaves the buffers is not taken from the path, where it is abstract: every flush that the semantics allows is
//! tried between the steps of the program. So the search is complete for the path, and small: its states differ in how
//! far the path is taken and in what is still buffered.

use std::collections::HashSet;

use crate::engine::automaton::{Automaton, LocalId};
use crate::engine::run::{Logged, Path, Trimming, replayed};
use crate::engine::{StopReason, Task};
use crate::memory::{Internal, Job, Machine};
use crate::program::ProcessId;
use crate::system::{Action, Outcome, Run, State, Step, System, Violation};
use crate::util::Idx;
use crate::watch::{Monitor, Progress};

/// What came of a path.
#[derive(Debug)]
pub(super) struct Tried {
    /// A replayed run with the steps of the path.
    pub run: Option<Run>,
    /// How many states it took.
    pub n_states: u64,
}

/// A path of the abstract search that ends badly.
#[derive(Clone, Debug)]
pub(super) struct Alarm {
    /// What happens.
    pub path: Path,
    /// How it ends.
    pub violation: Violation,
}

/// The monitor is asked after so many states.
const POLL_EVERY: u64 = 64;

/// Looks for a run along a path, in so many states; an error is a defect of the engine.
pub(super) fn run_along(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    alarm: &Alarm,
    max_states: usize,
    monitor: &dyn Monitor,
) -> Result<Tried, StopReason> {
    let trying = Trying { task, automaton, alarm, max_states, monitor };
    let (steps, n_states) = task.model.with(task.options.dialect, trying)?;
    let run = steps.map(|steps| told(task, automaton, alarm, steps)).transpose()?;
    Ok(Tried { run, n_states: n_states as u64 })
}

struct Trying<'a> {
    task: &'a Task<'a>,
    automaton: &'a Automaton<'a>,
    alarm: &'a Alarm,
    max_states: usize,
    monitor: &'a dyn Monitor,
}

/// The steps of a run, if there is one, and how many states it took.
type Searched = (Option<Vec<Step>>, usize);

impl Job for Trying<'_> {
    type Output = Result<Searched, StopReason>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let system = System::new(self.task.program, self.task.placement, machine);
        Along::new(system, self.automaton, self.alarm).search(self.max_states, self.monitor)
    }
}

/// The run of these steps, replayed.
fn told(task: &Task<'_>, automaton: &Automaton<'_>, alarm: &Alarm, steps: Vec<Step>) -> Result<Run, StopReason> {
    let steps = steps.into_iter().map(|step| Logged { step, rest: None, edge: None }).collect();
    let path = Path { start: alarm.path.start.clone(), rests: Vec::new(), steps };
    replayed(task, automaton, path, alarm.violation, Trimming::Tried)
}

/// A search along a path.
struct Along<'a, M: Machine> {
    system: System<'a, M>,
    automaton: &'a Automaton<'a>,
    violation: Violation,
    /// The steps of the program, in order; local steps that follow one are left out.
    wanted: Vec<Logged>,
    /// The local steps that bring all processes to rest at the start.
    prelude: Vec<Step>,
    /// Whether they go wrong as they should.
    is_bad_at_once: bool,
    visits: Vec<Visit<M::State>>,
    seen: HashSet<(usize, State<M::State>)>,
}

/// So many steps of the path are taken, and this is the state.
struct Visit<M> {
    n_taken: usize,
    state: State<M>,
    /// The visit before, and the steps from there.
    from: Option<(usize, Vec<Step>)>,
}

/// Where steps lead.
enum Landed<M> {
    Here(State<M>),
    /// It goes wrong as it should.
    Bad,
    Nowhere,
}

impl<'a, M: Machine> Along<'a, M> {
    fn new(system: System<'a, M>, automaton: &'a Automaton<'a>, alarm: &Alarm) -> Self {
        let is_flush = |logged: &Logged| matches!(logged.step.action, Action::Internal(_));
        let wanted = alarm.path.steps.iter().copied().filter(|logged| !is_flush(logged)).collect();
        let mut along = Self {
            system,
            automaton,
            violation: alarm.violation,
            wanted,
            prelude: Vec::new(),
            is_bad_at_once: false,
            visits: Vec::new(),
            seen: HashSet::new(),
        };
        along.start(alarm);
        along
    }

    /// The first visit: all processes have come to rest.
    fn start(&mut self, alarm: &Alarm) {
        let mut state = self.system.initial(&alarm.path.start);
        let mut steps = Vec::new();
        for (i, &rest) in alarm.path.rests.iter().enumerate() {
            match self.settle(state, ProcessId::from_usize(i), rest, &mut steps) {
                Landed::Here(settled) => state = settled,
                Landed::Bad => {
                    self.is_bad_at_once = true;
                    self.prelude = steps;
                    return;
                }
                Landed::Nowhere => return,
            }
        }
        self.prelude = steps;
        self.seen.insert((0, state.clone()));
        self.visits.push(Visit { n_taken: 0, state, from: None });
    }

    /// The steps of a run, without the leaving of markers; and how many states it took.
    fn search(mut self, max_states: usize, monitor: &dyn Monitor) -> Result<Searched, StopReason> {
        if self.is_bad_at_once {
            return Ok((Some(self.prelude), 0));
        }
        let mut todo: Vec<usize> = (0..self.visits.len()).collect();
        for n_popped in 0_u64.. {
            let Some(at) = todo.pop() else { break };
            // These states are not what the abstract search counts.
            if n_popped.is_multiple_of(POLL_EVERY)
                && let Some(stop) = monitor.poll(&Progress::default())
            {
                return Err(stop.into());
            }
            if self.is_bad(at) {
                return Ok((Some(self.steps_to(at)), self.visits.len()));
            }
            if self.visits.len() > max_states {
                break;
            }
            let before = self.visits.len();
            if let Some(last) = self.expand(at) {
                let mut steps = self.steps_to(at);
                steps.extend(last);
                return Ok((Some(steps), self.visits.len()));
            }
            todo.extend(before..self.visits.len());
        }
        Ok((None, self.visits.len()))
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

    /// Adds what comes next; the last steps of the run if they go wrong as they should.
    fn expand(&mut self, at: usize) -> Option<Vec<Step>> {
        let Visit { n_taken, state, .. } = &self.visits[at];
        let n_taken = *n_taken;
        let next = self.wanted.get(n_taken).copied();
        for (step, outcome) in self.system.steps(state) {
            let wanted = match step.action {
                Action::Internal(_) => None,
                Action::Edge { .. } | Action::Fence(_) => match next {
                    Some(next) if next.step == step => Some(next),
                    Some(_) | None => continue,
                },
            };
            let mut steps = vec![step];
            let landed = match (self.landed(outcome), wanted.and_then(|it| it.rest)) {
                (Landed::Here(state), Some(rest)) => self.settle(state, step.process, rest, &mut steps),
                (landed, _) => landed,
            };
            match landed {
                Landed::Here(state) => self.visit(n_taken + usize::from(wanted.is_some()), state, at, steps),
                Landed::Bad => return Some(steps),
                Landed::Nowhere => {}
            }
        }
        None
    }

    fn visit(&mut self, n_taken: usize, state: State<M::State>, from: usize, steps: Vec<Step>) {
        if self.seen.insert((n_taken, state.clone())) {
            self.visits.push(Visit { n_taken, state, from: Some((from, steps)) });
        }
    }

    fn landed(&self, outcome: Outcome<State<M::State>>) -> Landed<M::State> {
        match outcome {
            Outcome::Next(state) => Landed::Here(state),
            Outcome::Fault(fault) if self.violation == Violation::Fault(fault) => Landed::Bad,
            Outcome::Fault(_) | Outcome::Overflow => Landed::Nowhere,
        }
    }

    /// Takes the local steps that bring a process to rest, and notes them.
    fn settle(
        &self,
        mut state: State<M::State>,
        process: ProcessId,
        rest: LocalId,
        steps: &mut Vec<Step>,
    ) -> Landed<M::State> {
        let here = self.automaton.normal(process, state.controls[process], state.registers[process].clone());
        let Some(path) = self.automaton.path(here, &self.automaton.state(rest)) else { return Landed::Nowhere };
        for step in path {
            steps.push(step);
            let taken = self.system.take(&state, step);
            match taken.map_or(Landed::Nowhere, |taken| self.landed(taken.outcome)) {
                Landed::Here(next) => state = next,
                landed @ (Landed::Bad | Landed::Nowhere) => return landed,
            }
        }
        Landed::Here(state)
    }

    /// The steps to a visit. Markers are left out: whoever tells the run lets them leave as soon as they can.
    fn steps_to(&self, mut at: usize) -> Vec<Step> {
        let mut parts = Vec::new();
        while let Some((from, steps)) = &self.visits[at].from {
            parts.push(steps);
            at = *from;
        }
        parts.push(&self.prelude);
        let steps = parts.into_iter().rev().flatten().copied();
        steps.filter(|step| step.action != Action::Internal(Internal::Marker)).collect()
    }
}
