//! A program under a model with fences laid over it, stepped.
//!
//! A fence of a [`Placement`] splits its edge; the control points this makes exist only here:
//!
//! ```text
//!            edge e                       fence        e         fence
//!   At(a) ───────────▶ At(b)      At(a) ───────▶ Ready(e) ───▶ Done(e) ───────▶ At(b)
//!                                        before                        after
//! ```
//!
//! [`System::steps`] lists every step of a configuration and what it leads to. Nothing here searches.

mod execute;
mod executed;
mod graph;
mod layout;
mod members;
mod prompt;
mod replay;
mod trace;
mod walk;

use crate::memory::{Access, Internal, Machine};
use crate::program::{EdgeId, FenceKind, Order, Placement, PointId, Position, ProcessId, Program, Side};
use crate::program::{Initial, LocationId, Property, PropertyId, Situation, StateVar, Value};
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

pub use execute::{Block, Inside, Local, Stop, Touched, Updated, run_block};
pub use executed::{Executed, executed, executed_with};
pub use graph::{Cycle, Graph, Link, Why};
pub use members::{Dead, Find, Halt, Member, Members, Part, Stride, Waits};
pub use prompt::promptly;
pub use replay::{Event, ReplayError, Run, replay};
pub use trace::{Action, Effect, Fault, Start, Step, Trace, Violation};
pub use walk::{Next, Walk, WalkError, walk};

/// Where a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// At a point of the program.
    At(PointId),
    /// Past the fence before this edge; the edge comes next.
    Ready(EdgeId),
    /// Past this edge's operation; the fence after it comes next.
    Done(EdgeId),
}

impl Control {
    /// The point of the program, unless control is beside a fence.
    pub const fn point(self) -> Option<PointId> {
        match self {
            Self::At(point) => Some(point),
            Self::Ready(_) | Self::Done(_) => None,
        }
    }
}

/// What a process may try next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// The operation of an edge.
    Edge(EdgeId),
    /// A fence of the placement.
    Fence(Position, FenceKind),
}

/// What processes may try, and where that takes them: the control flow of a program with fences laid over it.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    /// The program.
    pub program: &'a Program,
    /// The fences over it.
    pub placement: &'a Placement,
}

impl Flow<'_> {
    /// What a process may try next, and where control goes if it succeeds.
    pub fn moves(&self, control: Control) -> Vec<(Move, Control)> {
        match control {
            Control::At(point) => self.program.points()[point].edges.iter().map(|&edge| self.start_of(edge)).collect(),
            Control::Ready(edge) => vec![(Move::Edge(edge), self.behind(edge))],
            Control::Done(edge) => {
                let position = Position { edge, side: Side::After };
                let kind = self.placement.get(edge, Side::After).expect("control is `Done` only where a fence follows");
                vec![(Move::Fence(position, kind), Control::At(self.program.edges()[edge].to))]
            }
        }
    }

    fn start_of(&self, edge: EdgeId) -> (Move, Control) {
        match self.placement.get(edge, Side::Before) {
            Some(kind) => (Move::Fence(Position { edge, side: Side::Before }, kind), Control::Ready(edge)),
            None => (Move::Edge(edge), self.behind(edge)),
        }
    }

    fn behind(&self, edge: EdgeId) -> Control {
        match self.placement.get(edge, Side::After) {
            Some(_) => Control::Done(edge),
            None => Control::At(self.program.edges()[edge].to),
        }
    }
}

/// A configuration: control, registers, memory with buffers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<M> {
    /// Where each process is.
    pub controls: IndexVec<ProcessId, Control>,
    /// The registers of each process.
    pub registers: IndexVec<ProcessId, Vec<Value>>,
    /// Memory and buffers.
    pub memory: M,
}

/// What a step leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<S> {
    /// Another configuration.
    Next(S),
    /// A violation inside the step: an assertion, a range, an index, a division.
    Fault(Fault),
    /// A value beyond 64 bits; the semantics goes on, this tool cannot.
    Overflow,
}

/// A step from a configuration.
#[derive(Clone, Debug)]
pub struct Transition<S> {
    /// The step.
    pub step: Step,
    /// What it does.
    pub effect: Effect,
    /// What it leads to.
    pub outcome: Outcome<State<S>>,
}

/// A program under a model with fences laid over it.
#[derive(Clone, Copy, Debug)]
pub struct System<'a, M> {
    /// Control flow.
    pub flow: Flow<'a>,
    /// The memory model.
    pub machine: M,
}

impl<'a, M: Machine> System<'a, M> {
    /// The program under the model.
    pub fn new(program: &'a Program, placement: &'a Placement, machine: M) -> Self {
        Self { flow: Flow { program, placement }, machine }
    }

    /// The configuration that starts with these values of memory and registers.
    pub fn initial(&self, start: &Start) -> State<M::State> {
        let processes = self.flow.program.processes();
        State {
            controls: processes.iter().map(|process| Control::At(process.entry)).collect(),
            registers: start.registers.clone(),
            memory: self.machine.begin(self.flow.program, start.memory.as_slice().to_vec()),
        }
    }

    /// Every step from a configuration, in a fixed order, with what it leads to.
    pub fn steps(&self, state: &State<M::State>) -> Vec<(Step, Outcome<State<M::State>>)> {
        self.transitions(state).into_iter().map(|it| (it.step, it.outcome)).collect()
    }

    /// Every step of one process and of what waits for it, in the same order.
    pub fn steps_of(
        &self,
        state: &State<M::State>,
        process: ProcessId,
    ) -> impl Iterator<Item = (Step, Outcome<State<M::State>>)> + use<M> {
        heed(16);
        let mut out = Vec::new();
        self.transitions_of(state, process, &mut out);
        out.into_iter().map(|it| (it.step, it.outcome))
    }

    /// The same, with what each step does.
    pub fn transitions(&self, state: &State<M::State>) -> Vec<Transition<M::State>> {
        heed(16);
        let mut out = Vec::new();
        for process in self.flow.program.processes().indices() {
            self.transitions_of(state, process, &mut out);
        }
        out
    }

    /// A step, if it is possible.
    pub fn take(&self, state: &State<M::State>, step: Step) -> Option<Transition<M::State>> {
        let mut out = Vec::new();
        self.flow.program.processes().get(step.process)?;
        self.transitions_of(state, step.process, &mut out);
        out.into_iter().find(|candidate| candidate.step == step)
    }

    fn transitions_of(&self, state: &State<M::State>, process: ProcessId, out: &mut Vec<Transition<M::State>>) {
        for (next, control) in self.flow.moves(state.controls[process]) {
            match next {
                Move::Edge(edge) => self.take_edge(state, edge, control, out),
                Move::Fence(position, kind) => {
                    let fence = Access::Fence(kind, Order::default());
                    let step = Step { process, action: Action::Fence(position) };
                    out.extend(self.machine.access(&state.memory, process, fence).into_iter().map(|done| {
                        let outcome = Outcome::Next(moved(state, process, control, done.state));
                        Transition { step, effect: Effect::Fence(kind), outcome }
                    }));
                }
            }
        }
        for (internal, memory) in self.machine.internal(&state.memory, process) {
            let effect = match internal {
                Internal::Arrives(x) => Effect::Arrived(x, self.machine.value(&memory, x)),
                Internal::Marker => Effect::MarkerLeft,
            };
            let step = Step { process, action: Action::Internal(internal) };
            out.push(Transition { step, effect, outcome: Outcome::Next(State { memory, ..state.clone() }) });
        }
    }

    fn take_edge(&self, state: &State<M::State>, edge: EdgeId, control: Control, out: &mut Vec<Transition<M::State>>) {
        let process = self.flow.program.edges()[edge].process;
        let outcomes = execute::outcomes(self, state, edge);
        out.extend(outcomes.into_iter().enumerate().map(|(choice, (effect, outcome))| {
            let action = Action::Edge { edge, choice: u32::try_from(choice).expect("fewer than 2^32 outcomes") };
            let (effect, outcome) = match outcome {
                Ok((registers, memory)) => {
                    let mut next = moved(state, process, control, memory);
                    next.registers[process] = registers;
                    (effect, Outcome::Next(next))
                }
                // The place it would have acted on need not exist.
                Err(Stop::Fault(fault)) => (Effect::Faulted, Outcome::Fault(fault)),
                Err(Stop::Overflow) => (Effect::Faulted, Outcome::Overflow),
            };
            Transition { step: Step { process, action }, effect, outcome }
        }));
    }

    /// What all locations hold.
    pub fn contents(&self, memory: &M::State) -> IndexVec<LocationId, Value> {
        self.flow.program.locations().indices().map(|x| self.machine.value(memory, x)).collect()
    }

    /// The first property that the configuration violates.
    pub fn violated(&self, state: &State<M::State>) -> Option<PropertyId> {
        let mut properties = self.flow.program.properties().iter_enumerated();
        properties.find_map(|(id, property)| self.violates(state, property).then_some(id))
    }

    /// Whether the configuration violates a property.
    pub fn violates(&self, state: &State<M::State>, property: &Property) -> bool {
        self.situation(state, property).is_some()
    }

    /// Which situation of a property the configuration is in.
    pub fn situation(&self, state: &State<M::State>, property: &Property) -> Option<usize> {
        let is_time = || property.kind.is_due(self.machine.is_settled(&state.memory));
        let is_due = self.machine.tells(&state.memory, property.kind).unwrap_or_else(is_time);
        let mut situations = property.situations.iter().filter(|_| is_due);
        situations.position(|situation| self.holds(state, situation))
    }

    fn holds(&self, state: &State<M::State>, situation: &Situation) -> bool {
        let mut controls = state.controls.iter_enumerated();
        let is_there = controls.all(|(process, control)| situation.admits(process, control.point()));
        let value_of = |variable: &StateVar| match variable {
            StateVar::Register(process, register) => state.registers[*process][register.index()],
            StateVar::Memory(location) => self.machine.value(&state.memory, *location),
        };
        // A condition without a value (division by zero, overflow) does not hold.
        is_there && situation.condition.eval(&value_of).is_ok_and(|value| value != 0)
    }
}

/// More ways to start than this are not listed.
pub const MAX_STARTS: u64 = 1 << 20;

/// Every way the program may start, where `any` ranges over finite domains and there are at most [`MAX_STARTS`]; `None`
/// otherwise.
pub fn starts(program: &Program) -> Option<impl Iterator<Item = Start> + use<>> {
    let memory = program.locations().iter().map(|it| choices(it.initial, it.domain));
    let processes = program.processes().iter();
    let registers = processes.flat_map(|process| process.registers.iter().map(|it| choices(it.initial, it.domain)));
    let ranges: Vec<(Value, Value)> = memory.chain(registers).collect::<Option<_>>()?;
    let n_locations = program.locations().len();
    let n_registers: Vec<usize> = program.processes().iter().map(|process| process.registers.len()).collect();
    Some(valuations(ranges)?.map(move |values| {
        let (memory, mut rest) = values.split_at(n_locations);
        let registers = n_registers.iter().map(|&n| {
            let (mine, others) = rest.split_at(n);
            rest = others;
            mine.to_vec()
        });
        Start { memory: memory.to_vec().into(), registers: registers.collect() }
    }))
}

/// Every way the registers of a process may start; `None` as for [`starts`].
pub fn register_starts(program: &Program, process: ProcessId) -> Option<impl Iterator<Item = Vec<Value>> + use<>> {
    let registers = program.processes()[process].registers.iter();
    valuations(registers.map(|it| choices(it.initial, it.domain)).collect::<Option<_>>()?)
}

/// The least and the greatest first value.
fn choices(initial: Initial, domain: crate::program::Domain) -> Option<(Value, Value)> {
    match initial {
        Initial::Value(value) => Some((value, value)),
        Initial::Any => domain.bounds(),
    }
}

/// All valuations of variables with these ranges, unless they are too many.
fn valuations(ranges: Vec<(Value, Value)>) -> Option<impl Iterator<Item = Vec<Value>>> {
    let widths = ranges.iter().map(|&(lo, hi)| (i128::from(hi) - i128::from(lo) + 1).unsigned_abs());
    let n_valuations = widths.fold(1, u128::saturating_mul);
    if n_valuations > u128::from(MAX_STARTS) {
        return None;
    }
    let mut next = Some(ranges.iter().map(|range| range.0).collect::<Vec<_>>());
    Some(std::iter::from_fn(move || {
        let current = next.take()?;
        next = successor(&current, &ranges);
        Some(current)
    }))
}

/// The next valuation in lexicographic order, the last variable fastest.
fn successor(current: &[Value], ranges: &[(Value, Value)]) -> Option<Vec<Value>> {
    let mut next = current.to_vec();
    for (value, &(lo, hi)) in next.iter_mut().zip(ranges).rev() {
        if *value < hi {
            *value += 1;
            return Some(next);
        }
        *value = lo;
    }
    None
}

fn moved<M>(state: &State<M>, process: ProcessId, control: Control, memory: M) -> State<M> {
    let mut controls = state.controls.clone();
    controls[process] = control;
    State { controls, registers: state.registers.clone(), memory }
}
