//! What happens in a run, walked on the reference semantics step by step, and replayed.

use crate::engine::run::confirmed;
use crate::engine::{StopReason, Task};
use crate::memory::{Flush, Model, Operational, Pso, Sc, Tso};
use crate::program::{LocationId, Op, ProcessId, PropertyId, Value};
use crate::system::{Action, Fault, Move, Outcome, Run, Start, State, Step, System, Trace, Violation};
use crate::util::Idx;

/// What happens in a run.
#[derive(Debug)]
pub struct Happening {
    /// Who.
    pub process: ProcessId,
    /// What.
    pub what: What,
}

/// What happens.
#[derive(Debug)]
pub enum What {
    /// A step of the flow: these moves, which lead to these registers.
    Moves {
        /// The moves.
        moves: Vec<Move>,
        /// What havocs pick.
        picks: Vec<Value>,
        /// The registers afterwards; `None` if the last move goes wrong.
        registers: Option<Vec<Value>>,
    },
    /// A store reaches memory.
    Flush(LocationId),
}

/// The run in which these things happen, replayed.
pub fn walked(task: &Task<'_>, start: &Start, happenings: &[Happening]) -> Result<Run, StopReason> {
    let (program, placement) = (task.program, task.placement);
    let (steps, fault) = match task.model {
        Model::Sc => walk(&System::new(program, placement, Sc), start, happenings),
        Model::Tso => walk(&System::new(program, placement, Tso), start, happenings),
        Model::Pso => {
            let pso = Pso { rmw: task.options.dialect.pso_rmw };
            walk(&System::new(program, placement, pso), start, happenings)
        }
    }?;
    let properties = (0..program.properties().len()).map(PropertyId::from_usize);
    let violations: Vec<Violation> = match fault {
        Some(fault) => vec![Violation::Fault(fault)],
        None => properties.map(Violation::Property).collect(),
    };
    let mut last = StopReason::Defect("no property is violated at the end of the run".to_owned());
    for violation in violations {
        match confirmed(task, &Trace { start: start.clone(), steps: steps.clone(), violation }) {
            Ok(run) => return Ok(run),
            Err(reason) => last = reason,
        }
    }
    Err(last)
}

/// All steps, up to the first that goes wrong.
fn walk<O: Operational>(
    system: &System<'_, O>,
    start: &Start,
    happenings: &[Happening],
) -> Result<(Vec<Step>, Option<Fault>), StopReason> {
    let mut walker = Walker { system, state: system.initial(start), steps: Vec::new() };
    for (i, Happening { process, what }) in happenings.iter().enumerate() {
        match what {
            What::Flush(x) => {
                let step = Step { process: *process, action: Action::Flush(Flush::Store(*x)) };
                walker.take(step).ok_or_else(|| refused(i))?;
            }
            What::Moves { moves, picks, registers } => {
                let wanted = Wanted { process: *process, picks, registers: registers.as_deref() };
                let (steps, end) = walker.way(&walker.state, moves, &wanted).ok_or_else(|| refused(i))?;
                walker.steps.extend(steps);
                match end {
                    Ok(state) => walker.state = state,
                    Err(fault) => return Ok((walker.steps, Some(fault))),
                }
            }
        }
        let marker = Step { process: *process, action: Action::Flush(Flush::Marker) };
        while walker.take(marker).is_some() {}
    }
    Ok((walker.steps, None))
}

fn refused(i: usize) -> StopReason {
    StopReason::Defect(format!("what happens at {i} of the run that was found is not possible there"))
}

/// What a way through some moves must come to.
struct Wanted<'a> {
    process: ProcessId,
    picks: &'a [Value],
    registers: Option<&'a [Value]>,
}

struct Walker<'a, O: Operational> {
    system: &'a System<'a, O>,
    state: State<O::Memory>,
    steps: Vec<Step>,
}

/// Steps, and what they lead to.
type Way<M> = (Vec<Step>, Result<State<M>, Fault>);

impl<O: Operational> Walker<'_, O> {
    /// Takes a step that is possible.
    fn take(&mut self, step: Step) -> Option<()> {
        let found = self.system.steps(&self.state).into_iter().find(|candidate| candidate.0 == step)?;
        match found.1 {
            Outcome::Next(next) => self.state = next,
            Outcome::Fault(_) | Outcome::Overflow => return None,
        }
        self.steps.push(step);
        Some(())
    }

    /// A way through moves that leads to what is wanted, whatever it has to pick.
    fn way(&self, state: &State<O::Memory>, moves: &[Move], wanted: &Wanted<'_>) -> Option<Way<O::Memory>> {
        let Some((first, rest)) = moves.split_first() else {
            let is_it = wanted.registers.is_some_and(|wanted_now| state.registers[wanted.process] == wanted_now);
            return is_it.then(|| (Vec::new(), Ok(state.clone())));
        };
        let steps = self.system.steps(state).into_iter().filter(|(step, _)| step.process == wanted.process);
        steps.filter(|(step, _)| is_move(step.action, *first)).find_map(|(step, outcome)| match outcome {
            Outcome::Next(next) if self.is_picked(*first, &next, wanted) => {
                let (steps, end) = self.way(&next, rest, wanted)?;
                Some(([&[step], &steps[..]].concat(), end))
            }
            Outcome::Fault(fault) if rest.is_empty() && wanted.registers.is_none() => Some((vec![step], Err(fault))),
            Outcome::Next(_) | Outcome::Fault(_) | Outcome::Overflow => None,
        })
    }

    /// Whether a havoc has picked something that havocs of the way pick; others pick nothing.
    fn is_picked(&self, taken: Move, next: &State<O::Memory>, wanted: &Wanted<'_>) -> bool {
        let Move::Edge(edge) = taken else { return true };
        match &self.system.flow.program.edges()[edge].op {
            Op::Havoc(register, ..) => wanted.picks.contains(&next.registers[wanted.process][register.index()]),
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Load(..) | Op::Store(..) => true,
            Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => true,
        }
    }
}

fn is_move(action: Action, wanted: Move) -> bool {
    match (action, wanted) {
        (Action::Edge { edge, .. }, Move::Edge(wanted)) => edge == wanted,
        (Action::Fence(position), Move::Fence(wanted, _)) => position == wanted,
        (Action::Edge { .. } | Action::Fence(_) | Action::Flush(_), _) => false,
    }
}
