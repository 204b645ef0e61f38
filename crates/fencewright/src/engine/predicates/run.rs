//! From a way through the exact machine to a run: integers are chosen for it, and the reference semantics walks it.

use crate::engine::predicates::machine::{Machine, Rule, RuleKind, Storing};
use crate::engine::predicates::search::{Alarm, Problem};
use crate::engine::predicates::trace::{Solved, Ssa, Versions};
use crate::engine::symbolic::flow::Act;
use crate::engine::symbolic::walk::{Happening, What, walked};
use crate::engine::{StopReason, Task};
use crate::memory::Buffering;
use crate::program::{ProcessId, Value};
use crate::system::{Run, Start};

/// The run that a way of the exact machine is, replayed; `None` if there are no integers for it.
pub(super) fn told(task: &Task<'_>, problem: &Problem<'_>, alarm: &Alarm) -> Result<Option<Run>, StopReason> {
    let machine = Machine { rules: problem.machine.rules.exact(), ..problem.machine };
    let (ssa, versions) = ssa(&machine, problem, alarm).ok_or_else(mismatch)?;
    let values = match ssa.solved(machine.layout) {
        Solved::Integers(values) => values,
        Solved::Refuted(_) | Solved::Unsolved => return Ok(None),
    };
    let values: Option<Vec<Value>> = values.into_iter().map(|value| Value::try_from(value).ok()).collect();
    let told = Told { machine, values: values.ok_or(StopReason::Overflow)? };
    let first: Vec<usize> = (0..machine.layout.n_base()).collect();
    let memory = machine.program.locations().indices().map(|x| told.values[first[machine.layout.location(x)]]);
    let registers = machine.program.processes().indices().map(|process| told.registers(process, &first));
    let start = Start { memory: memory.collect(), registers: registers.collect() };
    let happenings: Vec<Happening> = alarm
        .rules
        .iter()
        .zip(&versions)
        .flat_map(|(rule, after)| {
            let happens = |what: What| Happening { process: rule.process, what };
            match rule.kind {
                RuleKind::Leaves(x, _) => vec![happens(What::Arrives(x))],
                RuleKind::Step(id) => {
                    let moves = happens(told.moves(rule.process, id, after));
                    std::iter::once(moves).chain(told.reaches_at_once(task, *rule).map(happens)).collect()
                }
            }
        })
        .collect();
    walked(task, &start, &happenings).map(Some)
}

/// Whether there are integers for a way of the exact machine.
pub(super) fn is_possible(problem: &Problem<'_>, alarm: &Alarm) -> bool {
    let machine = Machine { rules: problem.machine.rules.exact(), ..problem.machine };
    ssa(&machine, problem, alarm).is_some_and(|it| matches!(it.0.solved(machine.layout), Solved::Integers(_)))
}

/// A way as differences, and the versions of variables behind each step; `None` if the machine cannot go it.
pub(super) fn ssa(machine: &Machine<'_>, problem: &Problem<'_>, alarm: &Alarm) -> Option<(Ssa, Vec<Versions>)> {
    let mut at = machine.initial();
    let mut ssa = Ssa::new(problem.initial, &at);
    let mut versions = Vec::new();
    for rule in &alarm.rules {
        let transition = machine.transitions_of(&at, rule.process).into_iter().find(|it| it.rule == *rule)?;
        versions.push(ssa.take(&transition));
        at = transition.to;
    }
    ssa.end(&alarm.end);
    Some((ssa, versions))
}

struct Told<'a> {
    machine: Machine<'a>,
    /// Of nodes.
    values: Vec<Value>,
}

impl Told<'_> {
    fn registers(&self, process: ProcessId, versions: &[usize]) -> Vec<Value> {
        let registers = self.machine.program.processes()[process].registers.indices();
        registers.map(|it| self.values[versions[self.machine.layout.register(process, it)]]).collect()
    }

    /// What follows at once where a step has stored and the machine did not let the store wait.
    fn reaches_at_once(&self, task: &Task<'_>, rule: Rule) -> Option<What> {
        let RuleKind::Step(id) = rule.kind else { return None };
        match self.machine.flows[rule.process].steps[id as usize].act {
            Act::Store(x, _)
                if self.machine.storing[rule.process] != Storing::Waits && task.buffering() != Ok(Buffering::None) =>
            {
                Some(What::Arrives(x))
            }
            Act::Local | Act::Load(_) | Act::Store(..) | Act::Fence(_) | Act::Atomic(_) => None,
        }
    }

    fn moves(&self, process: ProcessId, id: u32, after: &Versions) -> What {
        let flow = &self.machine.flows[process];
        let step = &flow.steps[id as usize];
        let registers = (step.to != flow.fault()).then(|| self.registers(process, &after.variables));
        let picks = after.picked.iter().map(|&node| self.values[node]).collect();
        What::Moves { moves: step.moves.clone(), picks, registers }
    }
}

fn mismatch() -> StopReason {
    StopReason::Defect("a way of `predicates` that was found to be possible is not".to_owned())
}
