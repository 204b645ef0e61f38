//! From a path of the search to a replayed run.
//!
//! The search leaves out what the semantics does by steps of its own: local steps, which it runs at once, and, where it
//! searches store buffers, the leaving of store-store markers that hold nothing back. Those steps are put in here. A
//! run that was found with reductions may also take steps it does not need; those are left out.

use crate::engine::automaton::{Automaton, LocalId};
use crate::engine::{StopReason, Task};
use crate::memory::{Internal, Job, Machine};
use crate::program::{Position, ProcessId, Side};
use crate::system::{Action, Control, Outcome, ReplayError, Run, Start, State, Step, System, Trace, Violation, replay};
use crate::util::Idx;

/// Runs longer than this are not shortened: each attempt replays the whole run.
const MAX_TRIMMED: usize = 200;

/// A step, and the local state in which its process comes to rest after it.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    /// The step; local steps that follow it are left out.
    pub step: Step,
    /// Where its process comes to rest; `None` where it does not move.
    pub rest: Option<LocalId>,
    /// The edge of the register-free form that it is, if it was found there.
    pub edge: Option<u32>,
}

/// What the search knows of a run.
#[derive(Clone, Debug)]
pub struct Path {
    /// How it starts.
    pub start: Start,
    /// Where processes come to rest at the start.
    pub rests: Vec<LocalId>,
    /// What happens.
    pub steps: Vec<Logged>,
}

/// Whether steps of a run may be needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trimming {
    /// They may: each is left out if the run is one without it.
    Tried,
    /// They are not: no run is shorter.
    Needless,
}

/// The run that a path stands for, replayed on the reference semantics.
pub(super) fn replayed(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    path: Path,
    violation: Violation,
    trimming: Trimming,
) -> Result<Run, StopReason> {
    let steps = task.model.with(task.options.dialect, Completing { task, automaton, path: &path });
    let trace = Trace { start: path.start, steps, violation };
    match trimming {
        Trimming::Tried => confirmed(task, &trace),
        Trimming::Needless => believed(task, &trace),
    }
}

/// The run that a trace is, replayed on the reference semantics, without steps that it does not need.
pub(super) fn confirmed(task: &Task<'_>, trace: &Trace) -> Result<Run, StopReason> {
    Ok(trimmed(task, believed(task, trace)?))
}

fn believed(task: &Task<'_>, trace: &Trace) -> Result<Run, StopReason> {
    replay_task(task, trace).map_err(|error| StopReason::Defect(error.to_string()))
}

fn replay_task(task: &Task<'_>, trace: &Trace) -> Result<Run, ReplayError> {
    replay(task.program, task.placement, task.model, task.options.dialect, trace)
}

struct Completing<'a> {
    task: &'a Task<'a>,
    automaton: &'a Automaton<'a>,
    path: &'a Path,
}

impl Job for Completing<'_> {
    type Output = Vec<Step>;

    fn run<M: Machine>(self, machine: M) -> Vec<Step> {
        let Self { task, automaton, path } = self;
        let system = System::new(task.program, task.placement, machine);
        let state = Some(system.initial(&path.start));
        let leaves_out_markers = task.model.buffering(task.options.dialect).is_some();
        let walker = Walker { system: &system, automaton, leaves_out_markers, state, steps: Vec::new() };
        complete(walker, path)
    }
}

/// All steps of a path that was found on a machine, where markers are steps of the path or there are none.
pub(super) fn completed<M: Machine>(system: &System<'_, M>, automaton: &Automaton<'_>, path: &Path) -> Vec<Step> {
    let state = Some(system.initial(&path.start));
    complete(Walker { system, automaton, leaves_out_markers: false, state, steps: Vec::new() }, path)
}

/// All steps of a path.
fn complete<M: Machine>(mut walker: Walker<'_, M>, path: &Path) -> Vec<Step> {
    for (i, &rest) in path.rests.iter().enumerate() {
        walker.settle(ProcessId::from_usize(i), rest);
    }
    for logged in &path.steps {
        walker.take(logged.step);
        if let Some(rest) = logged.rest {
            walker.settle(logged.step.process, rest);
        }
    }
    walker.steps
}

struct Walker<'a, M: Machine> {
    system: &'a System<'a, M>,
    automaton: &'a Automaton<'a>,
    /// Whether the path does not tell when a marker leaves: whoever searches store buffers lets it leave at once.
    leaves_out_markers: bool,
    /// `None` once a step went wrong.
    state: Option<State<M::State>>,
    steps: Vec<Step>,
}

impl<M: Machine> Walker<'_, M> {
    /// Takes a step, and where that is left out lets a marker leave that holds nothing back any more.
    fn take(&mut self, step: Step) {
        self.steps.push(step);
        let Some(state) = &self.state else { return };
        self.state = self.system.take(state, step).and_then(|taken| match taken.outcome {
            Outcome::Next(next) => Some(next),
            Outcome::Fault(_) | Outcome::Overflow => None,
        });
        if !self.leaves_out_markers {
            return;
        }
        let marker = Step { process: step.process, action: Action::Internal(Internal::Marker) };
        let may_leave = |state| self.system.take(state, marker).is_some();
        if self.state.as_ref().is_some_and(may_leave) {
            self.take(marker);
        }
    }

    /// Takes the local steps that bring a process to rest.
    fn settle(&mut self, process: ProcessId, rest: LocalId) {
        let Some(state) = &self.state else { return };
        let here = self.automaton.normal(process, state.controls[process], state.registers[process].clone());
        let steps = self.automaton.path(here, &self.automaton.state(rest)).unwrap_or_default();
        steps.into_iter().for_each(|step| self.take(step));
    }
}

/// The run without the steps that it does not need, tried from the end.
fn trimmed(task: &Task<'_>, run: Run) -> Run {
    let mut best = run;
    if best.trace.steps.len() > MAX_TRIMMED {
        return best;
    }
    for i in (0..best.trace.steps.len()).rev() {
        if !may_be_spared(task, &best.trace, i) {
            continue;
        }
        let mut shorter = best.trace.clone();
        shorter.steps.remove(i);
        if let Ok(run) = replay_task(task, &shorter) {
            best = run;
        }
    }
    best
}

/// Whether a run may do without a step, as far as can be seen without walking it: its process must be where its next
/// step wants it, and a property of the end wants nothing to wait.
fn may_be_spared(task: &Task<'_>, trace: &Trace, i: usize) -> bool {
    let Step { process, action } = trace.steps[i];
    match starts_at(task, action) {
        Some(here) => {
            let mut later = trace.steps[i + 1..].iter().filter(|step| step.process == process);
            later.find_map(|step| starts_at(task, step.action)).is_none_or(|next| next == here)
        }
        None => match trace.violation {
            Violation::Property(id) => task.program.properties()[id].kind.is_due(false),
            Violation::Fault(_) => true,
        },
    }
}

/// Where a process is when it takes a step of its own.
fn starts_at(task: &Task<'_>, action: Action) -> Option<Control> {
    match action {
        Action::Edge { edge, .. } => Some(match task.placement.get(edge, Side::Before) {
            Some(_) => Control::Ready(edge),
            None => Control::At(task.program.edges()[edge].from),
        }),
        Action::Fence(Position { edge, side: Side::Before }) => Some(Control::At(task.program.edges()[edge].from)),
        Action::Fence(Position { edge, side: Side::After }) => Some(Control::Done(edge)),
        Action::Internal(_) => None,
    }
}
