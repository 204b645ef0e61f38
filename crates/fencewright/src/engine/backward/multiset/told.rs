//! From rules about elements to a run of an instance.
//!
//! ```text
//!    elements, rules ──▶ a run of an instance of the program that was searched: every listed copy is there, so that
//!                        automata are those of the search
//!                    ──▶ the same of the program that was asked about, without an observer, with as many copies as the
//!                        violation takes
//! ```
//!
//! Both are replayed, so nothing here has to be believed.

use std::collections::BTreeMap;

use crate::engine::automaton::{ProcessAutomaton, RegisterFree, Unmade};
use crate::engine::backward::End;
use crate::engine::backward::lag::run::warp;
use crate::engine::backward::lag::system::{LoadBuffers, Machine, Reducing, Rule};
use crate::engine::backward::multiset::kinds::{Kinds, are_alike};
use crate::engine::backward::multiset::{Found, Multiset};
use crate::engine::backward::timeline::Beginning;
use crate::engine::backward::told::{automaton, told};
use crate::engine::run::confirmed;
use crate::engine::{StopReason, Task, Unsupported, Verdict};
use crate::program::{CopyCounts, EdgeId, Position, ProcessId, Program};
use crate::system::{Action, Fault, Run, Start, Step, Trace, Violation};
use crate::util::IndexVec;
use crate::watch::Monitor;

/// What was searched: the task, with an observer if there are invariants, and its register-free form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Searched<'s, 'a> {
    pub task: &'s Task<'a>,
    pub program: &'s RegisterFree,
    pub kinds: &'s Kinds,
}

/// The verdict for a violation, with a run of the program that was asked about.
pub(super) fn verdict(
    asked: &Task<'_>,
    searched: Searched<'_, '_>,
    (found, fewer_might_do): (&Found, bool),
    monitor: &dyn Monitor,
) -> Result<Verdict, Unsupported> {
    let counts = counts(asked.program, searched.kinds, found);
    let n_listed = |template| searched.task.program.instances(template).count();
    let all = counts.iter().map(|(&template, &n)| (template, n.max(n_listed(template)))).collect();
    let large = searched.task.program.instance(&all);
    let placement = large.placement(searched.task.placement);
    let task = Task { program: &large.program, placement: &placement, ..*asked };
    let run = match run_of(&task, searched, found, monitor)? {
        Ok(run) => run,
        Err(reason) => return Ok(Verdict::Unknown(reason)),
    };
    let instance = asked.program.instance(&counts).or_fewer(fewer_might_do);
    let placement = instance.placement(asked.placement);
    let task = Task { program: &instance.program, placement: &placement, ..*asked };
    let mut last = StopReason::Defect("a step of the run is of no thread of the program".to_owned());
    for trace in restricted(&large.program, &instance.program, &run) {
        match confirmed(&task, &trace) {
            Ok(run) => return Ok(Verdict::Unsafe(Box::new(run.of_instance(instance)))),
            Err(reason) => last = reason,
        }
    }
    Ok(Verdict::Unknown(last))
}

/// How many copies of each thread the violation takes.
fn counts(program: &Program, kinds: &Kinds, found: &Found) -> CopyCounts {
    let n_elements = |template| found.elements.iter().filter(|it| kinds.get(it.kind).template == template).count();
    program.open_templates().map(|template| (template, n_elements(template).max(1))).collect()
}

/// The run of an instance of the program that was searched.
fn run_of(
    task: &Task<'_>,
    searched: Searched<'_, '_>,
    found: &Found,
    monitor: &dyn Monitor,
) -> Result<Result<Run, StopReason>, Unsupported> {
    let End::Unsafe(rules) = &found.end else { unreachable!("there is a violation") };
    let automaton = automaton(task)?;
    let program = match RegisterFree::new(task, &automaton, monitor) {
        Ok(program) => program,
        Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
        Err(Unmade::Stopped(stop)) => return Ok(Err(stop.into())),
    };
    let Some(processes) = named(task.program, &program, searched, found) else {
        return Ok(Err(StopReason::Defect("a copy of a thread is unlike the others".to_owned())));
    };
    let reducing = Reducing { absent: true, ..Multiset.reducing(searched.task) };
    let machine = Machine::of(task.buffering()?);
    let system = match LoadBuffers::new(task.program, &program, machine, reducing, monitor) {
        Ok(system) => system,
        Err(stop) => return Ok(Err(stop.into())),
    };
    let first = |automaton: &ProcessAutomaton| *automaton.initial.keys().next().expect("a process starts somewhere");
    let mut states: IndexVec<ProcessId, u32> = program.processes.iter().map(first).collect();
    for (&process, element) in processes.iter().zip(&found.elements) {
        states[process] = element.state;
    }
    let beginning = Beginning { states, memory: found.memory.iter().copied().collect() };
    let rules: Vec<Rule> = rules.iter().map(|it| Rule::new(processes[it.element as usize], it.kind)).collect();
    let (path, fault) = warp(&system, &beginning, &rules);
    Ok(told(task, &automaton, &program, path, fault))
}

/// The process that each element is; nothing if one is unlike what was searched.
fn named(
    instance: &Program,
    program: &RegisterFree,
    searched: Searched<'_, '_>,
    found: &Found,
) -> Option<Vec<ProcessId>> {
    let mut named: Vec<ProcessId> = Vec::new();
    for element in &found.elements {
        let kind = searched.kinds.get(element.kind);
        let listed = &searched.task.program.processes()[kind.process];
        let is_it = |process: &ProcessId| match searched.kinds.is_open(element.kind) {
            true => !named.contains(process),
            false => instance.processes()[*process].name == listed.name,
        };
        let process = instance.instances(kind.template).find(is_it)?;
        if !are_alike(&searched.program.processes[kind.process], &program.processes[process]) {
            return None;
        }
        named.push(process);
    }
    (searched.program.values == program.values && searched.program.initial == program.initial).then_some(named)
}

/// A run as one of a program that has some of its processes, and of them the first edges: up to where somebody else
/// steps, and without the steps of others.
fn restricted(from: &Program, to: &Program, run: &Run) -> Vec<Trace> {
    let ids: BTreeMap<&str, ProcessId> = to.processes().iter_enumerated().map(|(id, it)| (&*it.name, id)).collect();
    let process = |it: ProcessId| ids.get(from.processes()[it].name.as_str()).copied();
    let edges_of = |program: &Program, process: ProcessId| -> Vec<EdgeId> {
        program.edges().iter_enumerated().filter(|(_, it)| it.process == process).map(|(id, _)| id).collect()
    };
    let pairs = from.processes().indices().filter_map(|it| Some((it, process(it)?)));
    let edges: BTreeMap<EdgeId, EdgeId> =
        pairs.flat_map(|(a, b)| edges_of(from, a).into_iter().zip(edges_of(to, b))).collect();
    let action = |action: Action| match action {
        Action::Edge { edge, choice } => edges.get(&edge).map(|&edge| Action::Edge { edge, choice }),
        Action::Fence(Position { edge, side }) => edges.get(&edge).map(|&edge| Action::Fence(Position { edge, side })),
        Action::Internal(it) => Some(Action::Internal(it)),
    };
    let Trace { start, steps, violation } = &run.trace;
    let kept = |steps: &[Step]| -> Vec<Step> {
        steps.iter().filter_map(|it| Some(Step { process: process(it.process)?, action: action(it.action)? })).collect()
    };
    let violation = match *violation {
        Violation::Property(id) => Some(Violation::Property(id)),
        Violation::Fault(fault) => edges.get(&fault.edge()).map(|&edge| Violation::Fault(at(fault, edge))),
    };
    let Some(violation) = violation else { return Vec::new() };
    let registers = to.processes().iter().map(|it| {
        let (id, _) = from.processes().iter_enumerated().find(|(_, other)| other.name == it.name)?;
        start.registers[id].get(..it.registers.len()).map(<[_]>::to_vec)
    });
    let Some(registers) = registers.collect::<Option<_>>() else { return Vec::new() };
    let memory = start.memory.iter().take(to.locations().len()).copied().collect();
    let start = Start { memory, registers };
    let cut = steps.iter().position(|it| process(it.process).is_none());
    let ends = cut.into_iter().chain([steps.len()]);
    ends.map(|n| Trace { start: start.clone(), steps: kept(&steps[..n]), violation }).collect()
}

/// The same fault of another edge.
fn at(fault: Fault, edge: EdgeId) -> Fault {
    match fault {
        Fault::Assertion(_) => Fault::Assertion(edge),
        Fault::LocationRange(_, x, value) => Fault::LocationRange(edge, x, value),
        Fault::RegisterRange(_, register, value) => Fault::RegisterRange(edge, register, value),
        Fault::Index(_, array, value) => Fault::Index(edge, array, value),
        Fault::DivisionByZero(_) => Fault::DivisionByZero(edge),
    }
}
