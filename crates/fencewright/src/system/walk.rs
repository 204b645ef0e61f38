//! A run by hand: from a start, one chosen step after another, and what may come next.
//!
//! Nothing is kept between two walks: a place in the state space is the list of choices that leads there, so going back
//! is a shorter list.

use std::fmt;

use crate::memory::{Dialect, Job, Machine, Model};
use crate::program::{EdgeId, Micro, Op, Placement, ProcessId, Program};
use crate::system::replay::{Event, event, is_start};
use crate::system::{Control, Move, Outcome, Start, State, Step, System, Transition, Violation};
use crate::util::IndexVec;

/// An operation with more outcomes (`any` of a wide range) is not listed.
const MAX_OUTCOMES: i128 = 10_000;

/// Where a walk has come to.
#[derive(Clone, Debug)]
pub struct Walk {
    /// How it starts.
    pub start: Start,
    /// The model.
    pub model: Model,
    /// What happened so far.
    pub events: Vec<Event>,
    /// Where each process is now.
    pub controls: IndexVec<ProcessId, Control>,
    /// What may come next, in the order of the semantics; nothing once a step has gone wrong.
    pub next: Vec<Next>,
    /// What is violated here.
    pub violation: Option<Violation>,
    /// Which situation of the property that is violated this is.
    pub situation: Option<usize>,
}

/// A step that may come next.
#[derive(Clone, Debug)]
pub enum Next {
    /// It leads on, or goes wrong: what it does.
    Possible(Event),
    /// It makes a value beyond 64 bits; the semantics goes on, this tool cannot.
    Overflow(Step),
}

/// Why there is no such walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The program does not start with these values.
    NotInitial,
    /// The choice with this number, counted from 0, is not there.
    NoChoice(usize),
    /// An operation has more outcomes than can be listed.
    TooManyOutcomes(EdgeId),
}

impl fmt::Display for WalkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInitial => write!(f, "the program does not start with these values"),
            Self::NoChoice(i) => write!(f, "step {} is not possible there", i + 1),
            Self::TooManyOutcomes(_) => write!(f, "an `any` stands for more than {MAX_OUTCOMES} values"),
        }
    }
}

/// Goes from a start through the chosen steps, each the number of one that is possible there. The only fences are those
/// of the program.
///
/// # Errors
/// There is no such start or step, or there are too many to list.
pub fn walk(
    program: &Program,
    model: Model,
    dialect: Dialect,
    start: &Start,
    choices: &[usize],
) -> Result<Walk, WalkError> {
    if !is_start(program, start) {
        return Err(WalkError::NotInitial);
    }
    let empty = Walk {
        start: start.clone(),
        model,
        events: Vec::new(),
        controls: IndexVec::default(),
        next: Vec::new(),
        violation: None,
        situation: None,
    };
    model.with(dialect, Walking { program, walk: empty, choices })
}

struct Walking<'a> {
    program: &'a Program,
    walk: Walk,
    choices: &'a [usize],
}

impl Job for Walking<'_> {
    type Output = Result<Walk, WalkError>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        go(&System::new(self.program, &Placement::NONE, machine), self.walk, self.choices)
    }
}

fn go<M: Machine>(system: &System<'_, M>, mut walk: Walk, choices: &[usize]) -> Result<Walk, WalkError> {
    let mut state = system.initial(&walk.start);
    for (i, &choice) in choices.iter().enumerate() {
        let chosen = transitions(system, &state)?.into_iter().nth(choice).filter(|_| walk.violation.is_none());
        let Transition { step, effect, outcome } = chosen.ok_or(WalkError::NoChoice(i))?;
        match outcome {
            Outcome::Next(next) => {
                walk.events.push(event(system, step, effect, &next));
                state = next;
            }
            Outcome::Fault(fault) => {
                walk.events.push(event(system, step, effect, &state));
                walk.violation = Some(Violation::Fault(fault));
            }
            Outcome::Overflow => return Err(WalkError::NoChoice(i)),
        }
    }
    if walk.violation.is_none() {
        let violated = system.violated(&state);
        walk.situation = violated.and_then(|id| system.situation(&state, &system.flow.program.properties()[id]));
        walk.violation = violated.map(Violation::Property);
        let next = transitions(system, &state)?.into_iter();
        walk.next = next.map(|transition| looked_at(system, &state, &transition)).collect();
    }
    walk.controls = state.controls;
    Ok(walk)
}

fn looked_at<M: Machine>(system: &System<'_, M>, state: &State<M::State>, taken: &Transition<M::State>) -> Next {
    match &taken.outcome {
        Outcome::Next(next) => Next::Possible(event(system, taken.step, taken.effect, next)),
        Outcome::Fault(_) => Next::Possible(event(system, taken.step, taken.effect, state)),
        Outcome::Overflow => Next::Overflow(taken.step),
    }
}

/// Every step, unless there are too many.
fn transitions<M: Machine>(
    system: &System<'_, M>,
    state: &State<M::State>,
) -> Result<Vec<Transition<M::State>>, WalkError> {
    let moves = state.controls.iter().flat_map(|&control| system.flow.moves(control));
    for (next, _) in moves {
        if let Move::Edge(edge) = next
            && n_outcomes(&system.flow.program.edges()[edge].op) > MAX_OUTCOMES
        {
            return Err(WalkError::TooManyOutcomes(edge));
        }
    }
    Ok(system.transitions(state))
}

/// No operation has more outcomes than this.
fn n_outcomes(op: &Op) -> i128 {
    match op {
        Op::Havoc(_, lo, hi) => width(*lo, *hi),
        Op::Locked(body) => n_of_block(body),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Load(..) | Op::Store(..) => 1,
        Op::Rmw { .. } | Op::Fence(_) => 1,
    }
}

fn n_of_block(block: &[Micro]) -> i128 {
    let of = |micro: &Micro| match micro {
        Micro::Havoc(_, lo, hi) => width(*lo, *hi),
        Micro::Choose(ways) => ways.iter().map(|way| n_of_block(way)).fold(0, i128::saturating_add),
        Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Load(..) | Micro::Store(..) => 1,
    };
    block.iter().map(of).fold(1, i128::saturating_mul)
}

fn width(lo: i64, hi: i64) -> i128 {
    i128::from(hi) - i128::from(lo) + 1
}
