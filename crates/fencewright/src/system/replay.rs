//! Replay: a trace is believed only after the reference semantics has walked it.
//!
//! Replaying also tells what each step did (which value, from where), which is all a report needs to show the run.

use std::fmt;

use crate::memory::{Flush, Model, Operational, Pending, Pso, ReadFrom, Sc, Tso};
use crate::program::{Domain, FenceKind, Initial, LocationId, Op, Placement, ProcessId, Program, Value};
use crate::system::{Action, Dialect, Local, Outcome, Start, State, Step, System, Trace, Violation};
use crate::util::{Idx, IndexVec};

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Registers and control only.
    Local,
    /// A load found this value there.
    Load(LocationId, Value, ReadFrom),
    /// A store went into the process's buffer.
    Buffered(LocationId, Value),
    /// A store went to memory (SC).
    Stored(LocationId, Value),
    /// An atomic update found this, and wrote this.
    Rmw(LocationId, Value, Option<Value>),
    /// A fence was passed.
    Fence(FenceKind),
    /// A locked block ran.
    Locked,
    /// A store left the buffer for memory.
    Flushed(LocationId, Value),
    /// A store-store marker left the buffers.
    MarkerFlushed,
    /// The step went wrong.
    Faulted,
}

/// A step of a replayed run, and the configuration it leads to.
#[derive(Clone, Debug)]
pub struct Event {
    /// The step.
    pub step: Step,
    /// What it did.
    pub effect: Effect,
    /// What waits in the buffers of each process afterwards.
    pub pending: IndexVec<ProcessId, Vec<Pending>>,
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
    let events = match model {
        Model::Sc => walk(&System::new(program, placement, Sc), trace),
        Model::Tso => walk(&System::new(program, placement, Tso), trace),
        Model::Pso => walk(&System::new(program, placement, Pso { rmw: dialect.pso_rmw }), trace),
    }?;
    Ok(Run { trace: trace.clone(), model, events })
}

fn walk<O: Operational>(system: &System<'_, O>, trace: &Trace) -> Result<Vec<Event>, ReplayError> {
    if !is_start(system.flow.program, &trace.start) {
        return Err(ReplayError::NotInitial);
    }
    let mut state = system.initial(&trace.start);
    let mut events = Vec::with_capacity(trace.steps.len());
    for (i, &step) in trace.steps.iter().enumerate() {
        let found = system.steps(&state).into_iter().find(|candidate| candidate.0 == step);
        let (_, outcome) = found.ok_or(ReplayError::NotEnabled(i, step))?;
        let is_last = i + 1 == trace.steps.len();
        match outcome {
            Outcome::Next(next) => {
                events.push(event(system, step, effect(system, &state, step, &next), &next));
                state = next;
            }
            Outcome::Fault(fault) if is_last && trace.violation == Violation::Fault(fault) => {
                // The place it would have acted on need not exist.
                events.push(event(system, step, Effect::Faulted, &state));
                return Ok(events);
            }
            Outcome::Fault(_) | Outcome::Overflow => return Err(ReplayError::EndsEarly(i)),
        }
    }
    let is_bad = |id| system.flow.program.properties().get(id).is_some_and(|it| system.violates(&state, it));
    match trace.violation {
        Violation::Property(id) if is_bad(id) => Ok(events),
        Violation::Property(_) | Violation::Fault(_) => Err(ReplayError::NoViolation),
    }
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
pub(super) fn event<O: Operational>(
    system: &System<'_, O>,
    step: Step,
    effect: Effect,
    after: &State<O::Memory>,
) -> Event {
    let processes = system.flow.program.processes();
    Event {
        step,
        effect,
        pending: processes.indices().map(|p| system.model.pending(&after.memory, p)).collect(),
        memory: system.model.contents(&after.memory).to_vec().into(),
        registers: after.registers.clone(),
    }
}

/// What a step did that leads from one configuration to the other.
pub(super) fn effect<O: Operational>(
    system: &System<'_, O>,
    before: &State<O::Memory>,
    step: Step,
    after: &State<O::Memory>,
) -> Effect {
    let model = &system.model;
    let process = step.process;
    let edge = match step.action {
        Action::Edge { edge, .. } => edge,
        Action::Fence(position) => {
            let kind = system.flow.placement.get(position.edge, position.side);
            return Effect::Fence(kind.expect("the step was enabled, so the fence is there"));
        }
        Action::Flush(Flush::Store(x)) => return Effect::Flushed(x, model.contents(&after.memory)[x.index()]),
        Action::Flush(Flush::Marker) => return Effect::MarkerFlushed,
    };
    let local = Local::new(system.flow.program, edge);
    let registers = &before.registers[process];
    let resolve = |place| local.resolve(place, registers).expect("the step was enabled, so the place exists");
    match &local.edge.op {
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Effect::Local,
        Op::Load(_, place) => {
            let x = resolve(place);
            let (value, from) = model.load(&before.memory, process, x);
            Effect::Load(x, value, from)
        }
        Op::Store(place, _) => {
            let x = resolve(place);
            let (value, from) = model.load(&after.memory, process, x);
            match from {
                ReadFrom::OwnBuffer => Effect::Buffered(x, value),
                ReadFrom::Memory => Effect::Stored(x, value),
            }
        }
        Op::Rmw { place, write, .. } => {
            let x = resolve(place);
            let old = model.contents(&before.memory)[x.index()];
            Effect::Rmw(x, old, write.as_ref().map(|_| model.contents(&after.memory)[x.index()]))
        }
        Op::Fence(kind) => Effect::Fence(*kind),
        Op::Locked(_) => Effect::Locked,
    }
}
