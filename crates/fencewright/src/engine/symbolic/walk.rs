//! What happens in a run, walked on the reference semantics step by step, and replayed.

use crate::engine::run::confirmed;
use crate::engine::{StopReason, Task};
use crate::memory::{Internal, Job, Machine};
use crate::program::{LocationId, Op, ProcessId, PropertyId, Value};
use crate::system::{Action, Fault, Move, Outcome, Run, Start, State, Step, System, Trace, Violation};
use crate::util::Idx;

/// What happens in a run.
#[derive(Debug)]
pub(crate) struct Happening {
    /// Who.
    pub process: ProcessId,
    /// What.
    pub what: What,
}

/// What happens.
#[derive(Debug)]
pub(crate) enum What {
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
    Arrives(LocationId),
}

/// The run in which these things happen, replayed.
pub(crate) fn walked(task: &Task<'_>, start: &Start, happenings: &[Happening]) -> Result<Run, StopReason> {
    let program = task.program;
    let (steps, fault) = task.model.with(task.options.dialect, Walking { task, start, happenings })?;
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

struct Walking<'a> {
    task: &'a Task<'a>,
    start: &'a Start,
    happenings: &'a [Happening],
}

impl Job for Walking<'_> {
    type Output = Result<(Vec<Step>, Option<Fault>), StopReason>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        walk(&System::new(self.task.program, self.task.placement, machine), self.start, self.happenings)
    }
}

/// All steps, up to the first that goes wrong.
fn walk<M: Machine>(
    system: &System<'_, M>,
    start: &Start,
    happenings: &[Happening],
) -> Result<(Vec<Step>, Option<Fault>), StopReason> {
    let mut walker = Walker { system, state: system.initial(start), steps: Vec::new() };
    for (i, Happening { process, what }) in happenings.iter().enumerate() {
        match what {
            What::Arrives(x) => {
                let step = Step { process: *process, action: Action::Internal(Internal::Arrives(*x)) };
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
        let marker = Step { process: *process, action: Action::Internal(Internal::Marker) };
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

struct Walker<'a, M: Machine> {
    system: &'a System<'a, M>,
    state: State<M::State>,
    steps: Vec<Step>,
}

/// Steps, and what they lead to.
type Way<M> = (Vec<Step>, Result<State<M>, Fault>);

impl<M: Machine> Walker<'_, M> {
    /// Takes a step that is possible.
    fn take(&mut self, step: Step) -> Option<()> {
        match self.system.take(&self.state, step)?.outcome {
            Outcome::Next(next) => self.state = next,
            Outcome::Fault(_) | Outcome::Overflow => return None,
        }
        self.steps.push(step);
        Some(())
    }

    /// A way through moves that leads to what is wanted, whatever it has to pick.
    fn way(&self, state: &State<M::State>, moves: &[Move], wanted: &Wanted<'_>) -> Option<Way<M::State>> {
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
    fn is_picked(&self, taken: Move, next: &State<M::State>, wanted: &Wanted<'_>) -> bool {
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
        (Action::Edge { .. } | Action::Fence(_) | Action::Internal(_), _) => false,
    }
}
