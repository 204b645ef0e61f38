//! What is new against sequential consistency, in words.

use crate::memory::{Internal, Model};
use crate::program::{EdgeId, LocationId, Op, ProcessId, Program, PropertyKind, RegisterId, Situation, StateVar};
use crate::report::Violated;
use crate::report::words::shown;
use crate::source::Span;
use crate::system::{Action, Effect, Graph, Run, Violation, Why};
use crate::util::Idx;

/// What is said of every run that is new.
const NO_BUG: &str = "Not robust is no bug by itself: reordering shows, whether it hurts or not.";

/// What kind of robustness a run breaks, if it breaks one.
fn kind(program: &Program, run: &Run) -> Option<PropertyKind> {
    match run.trace.violation {
        Violation::Property(id) => match program.properties()[id].kind {
            kind @ (PropertyKind::Robust | PropertyKind::Trace) => Some(kind),
            PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Race => None,
            PropertyKind::Final | PropertyKind::Hang => None,
        },
        Violation::Fault(_) => None,
    }
}

/// Whether the sentences say which access overtook which.
pub(super) fn is_told(program: &Program, run: &Run) -> bool {
    kind(program, run) == Some(PropertyKind::Trace)
}

/// What is new, at the place where it becomes so.
pub(super) fn violated(program: &Program, run: &Run) -> Option<Violated> {
    let is_trace = kind(program, run)? == PropertyKind::Trace;
    let (text, span) = if is_trace { overtaking(program, run)? } else { place(program, run)? };
    Some(Violated { kind: "robust", name: None, text, span })
}

/// The same in full.
pub(super) fn sentences(program: &Program, run: &Run) -> Vec<String> {
    let what = match kind(program, run) {
        Some(PropertyKind::Trace) => circle(program, run),
        Some(_) => place(program, run).map(|(text, _)| {
            let (model, sc) = (run.model, Model::STRONGEST);
            format!("Under {model} {text}; under {sc} that never happens.")
        }),
        None => return Vec::new(),
    };
    what.into_iter().chain([NO_BUG.to_owned()]).collect()
}

/// Where the threads are, in the situation that is new: `P is behind line 7 with r = 0 while Q is behind line 12`.
fn place(program: &Program, run: &Run) -> Option<(String, Span)> {
    let Violation::Property(id) = run.trace.violation else { return None };
    let situation = program.properties()[id].situations.get(run.situation?)?;
    let of = |process: ProcessId| {
        let name = &program.processes()[process].name;
        let holds = held(program, run, situation, process);
        let with = if holds.is_empty() { String::new() } else { format!(" with {}", holds.join(" and ")) };
        match last_edge(run, process) {
            Some(edge) => format!("{name} is behind line {}{with}", line(program, edge)),
            None => format!("{name} is at its start{with}"),
        }
    };
    let all: Vec<String> = situation.at.iter().map(|(process, _)| of(*process)).collect();
    let mover = run.trace.steps.last().and_then(|step| last_edge(run, step.process));
    Some((all.join(" while "), mover.map(|edge| program.edges()[edge].span).unwrap_or_default()))
}

/// What registers of a process the situation names, and hold.
fn held(program: &Program, run: &Run, situation: &Situation, process: ProcessId) -> Vec<String> {
    let mut named = Vec::new();
    situation.condition.for_each_var(&mut |variable| match variable {
        StateVar::Register(owner, register) if *owner == process => named.push(*register),
        StateVar::Register(..) | StateVar::Memory(_) => {}
    });
    let registers = run.events.last().map_or(&run.trace.start.registers, |it| &it.registers);
    let of = |register: &RegisterId| {
        let it = &program.processes()[process].registers[*register];
        let value = shown(registers[process][register.index()], it.domain);
        match it.name.starts_with('$') {
            true => format!("{} read as {value}", loaded(program, run, process, *register).unwrap_or("memory")),
            false => format!("{} = {value}", it.name),
        }
    };
    named.iter().map(of).collect()
}

/// The location that a register was last loaded from.
fn loaded<'a>(program: &'a Program, run: &Run, process: ProcessId, register: RegisterId) -> Option<&'a str> {
    run.events.iter().rev().filter(|event| event.step.process == process).find_map(|event| {
        let (_, x) = accessed(event.effect)?;
        let into = match &program.edges()[edge(event.step.action)?].op {
            Op::Load(into, _) => Some(*into),
            Op::Rmw { into, .. } => *into,
            Op::Store(..) | Op::Fence(_) | Op::Locked(_) => None,
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
        };
        (into == Some(register)).then_some(program.locations()[x].name.as_str())
    })
}

fn last_edge(run: &Run, process: ProcessId) -> Option<EdgeId> {
    let mut own = run.trace.steps.iter().rev().filter(|step| step.process == process);
    own.find_map(|step| edge(step.action))
}

fn edge(action: Action) -> Option<EdgeId> {
    match action {
        Action::Edge { edge, .. } => Some(edge),
        Action::Fence(_) | Action::Internal(_) => None,
    }
}

fn line(program: &Program, edge: EdgeId) -> String {
    program.source().line_number(program.edges()[edge].span.start)
}

/// The accesses of a thread that are part of the circle, first and last: events of the run, by number.
struct Part {
    process: ProcessId,
    first: usize,
    last: usize,
}

/// The circle of a run that is none of sequential consistency, from the store that is overtaken on.
fn parts(program: &Program, run: &Run) -> Option<Vec<Part>> {
    let cycle = Graph::of(program, &run.trace.start, &run.events)?.cycle()?;
    let begin = cycle.iter().position(|link| link.why != Why::Program)?;
    let mut parts: Vec<Part> = Vec::new();
    for link in cycle[begin..].iter().chain(&cycle[..begin]) {
        match parts.last_mut() {
            Some(part) if link.why == Why::Program => part.last = link.to,
            Some(_) | None => {
                let process = run.events[link.to].step.process;
                parts.push(Part { process, first: link.to, last: link.to });
            }
        }
    }
    let is_overtaken = |part: &Part| part.first < part.last && arrival(run, part.first) > arrival(run, part.last);
    let overtaken = parts.iter().position(is_overtaken)?;
    parts.rotate_left(overtaken);
    Some(parts)
}

/// The event at which an access takes effect: a store when it gets to memory.
fn arrival(run: &Run, store: usize) -> usize {
    let Effect::Store(x, ..) = run.events[store].effect else { return store };
    let process = run.events[store].step.process;
    let is_store = |i: &usize| {
        run.events[*i].step.process == process && matches!(run.events[*i].effect, Effect::Store(y, ..) if y == x)
    };
    let n_before = (0..store).filter(is_store).count();
    let is_arrival = |i: &usize| {
        let step = run.events[*i].step;
        step.process == process && step.action == Action::Internal(Internal::Arrives(x))
    };
    (0..run.events.len()).filter(is_arrival).nth(n_before).unwrap_or(run.events.len())
}

/// `P reads y (line 7) before its store to x (line 5) is visible`
fn overtaking(program: &Program, run: &Run) -> Option<(String, Span)> {
    let attacker = parts(program, run)?.into_iter().next()?;
    let name = &program.processes()[attacker.process].name;
    let late = format!("its store to {}", named(program, run, attacker.first));
    let text = if matches!(run.events[attacker.last].effect, Effect::Store(..)) {
        format!("the store of {name} to {} is visible before {late}", named(program, run, attacker.last))
    } else {
        format!("{name} {} before {late} is visible", done(program, run, attacker.last, ""))
    };
    let edge = edge(run.events[attacker.last].step.action)?;
    Some((text, program.edges()[edge].span))
}

/// The whole circle: what overtakes what, and what the others make of it.
fn circle(program: &Program, run: &Run) -> Option<String> {
    let parts = parts(program, run)?;
    let (text, _) = overtaking(program, run)?;
    let others: Vec<String> = parts[1..]
        .iter()
        .enumerate()
        .map(|(i, part)| {
            let old = if i + 2 == parts.len() { "the old " } else { "" };
            let name = &program.processes()[part.process].name;
            let last = done(program, run, part.last, old);
            match part.first == part.last {
                true => format!("{name} then {last}"),
                false => format!("{name} then {} and {last}", done(program, run, part.first, "")),
            }
        })
        .collect();
    Some(format!("{}; {}. No order of all accesses explains that.", capital(&text), others.join(", ")))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `reads y (line 7)`
fn done(program: &Program, run: &Run, event: usize, old: &str) -> String {
    let name = named(program, run, event);
    match accessed(run.events[event].effect) {
        Some((verb @ "writes", _)) => format!("{verb} {name}"),
        Some((verb, _)) => format!("{verb} {old}{name}"),
        None => format!("runs the block at {name}"),
    }
}

/// `y (line 7)`; of a block only the line.
fn named(program: &Program, run: &Run, event: usize) -> String {
    let event = &run.events[event];
    let at = edge(event.step.action).map_or(String::new(), |edge| format!("line {}", line(program, edge)));
    match accessed(event.effect) {
        Some((_, x)) => format!("{} ({at})", program.locations()[x].name),
        None => at,
    }
}

/// What is done to one location, and to which.
fn accessed(effect: Effect) -> Option<(&'static str, LocationId)> {
    match effect {
        Effect::Load(x, ..) => Some(("reads", x)),
        Effect::Store(x, ..) => Some(("writes", x)),
        Effect::Rmw(x, ..) => Some(("updates", x)),
        Effect::Locked | Effect::Local | Effect::Fence(_) => None,
        Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => None,
    }
}
