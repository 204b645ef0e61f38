//! Replay: a trace is believed only after the reference semantics has walked it.
//!
//! Replaying also tells what each step did (which value, from where), which is all a report needs to show the run.

use std::fmt;
use std::sync::Arc;

use crate::memory::{Dialect, Job, Machine, Model, Shown};
use crate::program::{
    Domain, EdgeId, Initial, Instance, LocationId, Placement, ProcessId, Program, PropertyKind, Value,
};
use crate::system::{Effect, Graph, Outcome, Start, State, Step, System, Trace, Violation};
use crate::util::IndexVec;

/// A step of a replayed run, and the configuration it leads to.
#[derive(Clone, Debug)]
pub struct Event {
    /// The step.
    pub step: Step,
    /// What it did.
    pub effect: Effect,
    /// What each process has of memory for itself afterwards.
    pub shown: IndexVec<ProcessId, Shown>,
    /// Memory afterwards.
    pub memory: IndexVec<LocationId, Value>,
    /// Registers afterwards.
    pub registers: IndexVec<ProcessId, Vec<Value>>,
}

/// A replayed run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What was replayed.
    pub trace: Trace,
    /// The model.
    pub model: Model,
    /// What happened, step by step.
    pub events: Vec<Event>,
    /// Which situation of the property it ends in, if it violates one.
    pub situation: Option<usize>,
    /// The instance that it is a run of, if the program that was asked about leaves the number of threads open.
    pub instance: Option<Arc<Instance>>,
}

impl Run {
    /// The same run, of an instance of the program that was asked about.
    #[must_use]
    pub fn of_instance(self, instance: Instance) -> Self {
        Self { instance: Some(Arc::new(instance)), ..self }
    }

    /// The edge of the program that was asked about that an edge of the run is a copy of.
    pub fn origin(&self, edge: EdgeId) -> EdgeId {
        self.instance.as_ref().map_or(edge, |it| it.origin(edge))
    }

    /// The program that it is a run of, given the one that was asked about.
    pub fn program<'a>(&'a self, asked: &'a Program) -> &'a Program {
        self.instance.as_ref().map_or(asked, |it| &it.program)
    }
}

/// Why a trace is not a run of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// It does not start as the program starts.
    NotInitial,
    /// This step, counted from 0, is not possible there.
    NotEnabled(usize, Step),
    /// This step goes wrong before the end of the trace, or overflows.
    EndsEarly(usize),
    /// The run exists but does not end in the violation it claims.
    NoViolation,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInitial => write!(f, "the run does not start as the program starts"),
            Self::NotEnabled(i, _) => write!(f, "step {} of the run is not possible there", i + 1),
            Self::EndsEarly(i) => write!(f, "step {} of the run already ends it", i + 1),
            Self::NoViolation => write!(f, "the run does not end in the violation it claims"),
        }
    }
}

/// Walks a trace on the reference semantics.
pub fn replay(
    program: &Program,
    placement: &Placement,
    model: Model,
    dialect: Dialect,
    trace: &Trace,
) -> Result<Run, ReplayError> {
    let (events, situation) = model.with(dialect, Replaying { program, placement, trace })?;
    Ok(Run { trace: trace.clone(), model, events, situation, instance: None })
}

struct Replaying<'a> {
    program: &'a Program,
    placement: &'a Placement,
    trace: &'a Trace,
}

impl Job for Replaying<'_> {
    type Output = Result<Replayed, ReplayError>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        walk(&System::new(self.program, self.placement, machine), self.trace)
    }
}

/// What happened, and the situation it ends in.
type Replayed = (Vec<Event>, Option<usize>);

fn walk<M: Machine>(system: &System<'_, M>, trace: &Trace) -> Result<Replayed, ReplayError> {
    if !is_start(system.flow.program, &trace.start) {
        return Err(ReplayError::NotInitial);
    }
    let mut state = system.initial(&trace.start);
    let mut events = Vec::with_capacity(trace.steps.len());
    for (i, &step) in trace.steps.iter().enumerate() {
        let taken = system.take(&state, step).ok_or(ReplayError::NotEnabled(i, step))?;
        let is_last = i + 1 == trace.steps.len();
        match taken.outcome {
            Outcome::Next(next) => {
                events.push(event(system, step, taken.effect, &next));
                state = next;
            }
            Outcome::Fault(fault) if is_last && trace.violation == Violation::Fault(fault) => {
                events.push(event(system, step, taken.effect, &state));
                return Ok((events, None));
            }
            Outcome::Fault(_) | Outcome::Overflow => return Err(ReplayError::EndsEarly(i)),
        }
    }
    let property = match trace.violation {
        Violation::Property(id) => system.flow.program.properties().get(id).ok_or(ReplayError::NoViolation)?,
        Violation::Fault(_) => return Err(ReplayError::NoViolation),
    };
    let is_told = system.machine.tells(&state.memory, property.kind).is_some();
    if property.kind == PropertyKind::Trace && !is_told {
        let graph = Graph::of(system.flow.program, &trace.start, &events);
        let is_new = system.machine.is_settled(&state.memory) && graph.is_some_and(|it| it.cycle().is_some());
        return if is_new { Ok((events, None)) } else { Err(ReplayError::NoViolation) };
    }
    system.situation(&state, property).map(|it| (events, Some(it))).ok_or(ReplayError::NoViolation)
}

/// Whether the program may start like this.
pub(super) fn is_start(program: &Program, start: &Start) -> bool {
    let fits = |initial: Initial, domain: Domain, value: Value| match initial {
        Initial::Value(only) => value == only,
        Initial::Any => domain.contains(value),
    };
    start.memory.len() == program.locations().len()
        && start.registers.len() == program.processes().len()
        && program.locations().iter().zip(&start.memory).all(|(it, &value)| fits(it.initial, it.domain, value))
        && program.processes().iter().zip(&start.registers).all(|(process, values)| {
            values.len() == process.registers.len()
                && process.registers.iter().zip(values).all(|(it, &value)| fits(it.initial, it.domain, value))
        })
}

/// A step, and what there is after it.
pub(super) fn event<M: Machine>(system: &System<'_, M>, step: Step, effect: Effect, after: &State<M::State>) -> Event {
    Event {
        step,
        effect,
        shown: system.flow.program.processes().indices().map(|p| system.machine.shown(&after.memory, p)).collect(),
        memory: system.contents(&after.memory),
        registers: after.registers.clone(),
    }
}
