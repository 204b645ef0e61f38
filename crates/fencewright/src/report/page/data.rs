//! What the script draws: the steps of a run and the states between them.

use serde::Serialize;

use super::rows;
use crate::analysis::Facts;
use crate::analysis::blame::Blame;
use crate::program::{LocationId, PointId, Process, ProcessId, Program, RegisterId, Value};
use crate::report::steps::{Described, Kind, call_text, describe};
use crate::report::words::{Fullness, Words, own_part, shown};
use crate::system::{Action, Effect, Event, Run, Start};
use crate::util::{Idx, IndexVec};

/// The steps of a run and the states between them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RunData<'a> {
    /// What threads have for themselves that is to be shown.
    pub buffers: Option<&'static str>,
    pub violated: &'a str,
    /// What the rows of the program are called, where these are not the lines of one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    pub threads: Vec<&'a str>,
    pub locations: Vec<&'a str>,
    pub steps: Vec<StepData>,
    /// Before the first step, and after each.
    pub states: Vec<StateData>,
    pub delayed: Option<Delayed>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct StepData {
    pub thread: usize,
    /// The row of its line.
    pub line: Option<u32>,
    pub text: String,
    /// The call that it is executed for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The location that a flush is about.
    pub flushed: Option<usize>,
    #[serde(skip)]
    pub is_flush: bool,
}

/// A state: by thread, the row of the line it has come to, what its buffer holds, oldest first, and its registers;
/// memory.
#[derive(Clone, Debug, Serialize)]
pub(super) struct StateData {
    pub lines: Vec<Option<u32>>,
    pub buffers: Vec<Vec<String>>,
    pub registers: Vec<String>,
    pub memory: Vec<String>,
}

/// The store that was delayed and what overtook it, as steps counted from 0.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Delayed {
    thread: usize,
    text: String,
    store: usize,
    access: usize,
    until: usize,
}

impl<'a> RunData<'a> {
    /// The data of a whole run.
    pub(super) fn of_run(program: &'a Program, run: &Run, blame: &Blame, violated: &'a str) -> Self {
        let words = Words { program, fullness: Fullness::Compact };
        let described = describe(program, &run.trace.start, &run.events);
        let steps: Vec<StepData> = run.events.iter().zip(&described).map(|it| step_data(words, it.0, it.1)).collect();
        Self {
            buffers: own_part(run.model),
            violated,
            names: rows::names(program.source()),
            threads: program.processes().iter().map(|process| process.name.as_str()).collect(),
            locations: program.locations().iter().map(|location| location.name.as_str()).collect(),
            states: states(words, run, &steps),
            delayed: delayed(words, run, blame),
            steps,
        }
    }

    /// What a row of the program is called.
    pub(super) fn row_name(&self, row: u32) -> String {
        let name = self.names.as_ref().and_then(|names| names.get(row as usize - 1));
        name.cloned().unwrap_or_else(|| row.to_string())
    }
}

pub(super) fn step_data(words: Words<'_>, event: &Event, step: &Described<'_>) -> StepData {
    let program = words.program;
    let text = words.cell(event, step).or_else(|| step.text(program)).unwrap_or_default();
    let flushed = match event.effect {
        Effect::Arrived(x, _) => Some(x.index()),
        Effect::Local | Effect::Load(..) | Effect::Store(..) | Effect::Rmw(..) => None,
        Effect::Fence(_) | Effect::Locked | Effect::MarkerLeft | Effect::Faulted => None,
    };
    StepData {
        thread: event.step.process.index(),
        line: step.span(program).map(|span| rows::row_of(program.source(), span)),
        text,
        call: step.call(program).map(|call| call_text(program, call)),
        flushed,
        is_flush: step.kind == Kind::Flush,
    }
}

impl StateData {
    /// Before the first step.
    pub(super) fn start(program: &Program, start: &Start) -> Self {
        let n_threads = program.processes().len();
        Self {
            lines: vec![None; n_threads],
            buffers: vec![Vec::new(); n_threads],
            registers: registers(program, &start.registers, &entries(program)),
            memory: memory(program, &start.memory),
        }
    }

    /// After a step; the lines, and where the threads are, are those it was told.
    pub(super) fn after(words: Words<'_>, event: &Event, lines: Vec<Option<u32>>, points: &[PointId]) -> Self {
        Self {
            lines,
            buffers: event.shown.iter().map(|own| words.entries(own)).collect(),
            registers: registers(words.program, &event.registers, points),
            memory: memory(words.program, &event.memory),
        }
    }
}

fn states(words: Words<'_>, run: &Run, steps: &[StepData]) -> Vec<StateData> {
    let mut states = vec![StateData::start(words.program, &run.trace.start)];
    let mut points = entries(words.program);
    for (event, step) in run.events.iter().zip(steps) {
        let mut lines = states.last().map(|it| it.lines.clone()).unwrap_or_default();
        lines[step.thread] = step.line.or(lines[step.thread]);
        if let Action::Edge { edge, .. } = event.step.action
            && event.effect != Effect::Faulted
        {
            points[step.thread] = words.program.edges()[edge].to;
        }
        states.push(StateData::after(words, event, lines, &points));
    }
    states
}

fn memory(program: &Program, values: &IndexVec<LocationId, Value>) -> Vec<String> {
    values.iter().zip(program.locations()).map(|(&value, location)| shown(value, location.domain)).collect()
}

/// Where the threads start.
pub(super) fn entries(program: &Program) -> Vec<PointId> {
    program.processes().iter().map(|process| process.entry).collect()
}

fn registers(program: &Program, values: &IndexVec<ProcessId, Vec<Value>>, points: &[PointId]) -> Vec<String> {
    let facts = Facts::of(program);
    let of_process = |((values, process), &point): ((&Vec<Value>, &Process), &PointId)| {
        named_registers(process, values, &|register| facts.live.is_live(point, register))
    };
    values.iter().zip(program.processes()).zip(points).map(of_process).collect()
}

/// The registers that the text names and that may still be read, with their values.
fn named_registers(process: &Process, values: &[Value], is_live: &dyn Fn(RegisterId) -> bool) -> String {
    let named = process.registers.iter_enumerated().zip(values).filter(|((id, register), _)| {
        let is_named = !register.name.starts_with('$');
        is_named && is_live(*id)
    });
    let shown = named
        .map(|((id, register), &value)| format!("{} = {}", process.scoped_name(id), shown(value, register.domain)));
    shown.collect::<Vec<_>>().join(", ")
}

fn delayed(words: Words<'_>, run: &Run, blame: &Blame) -> Option<Delayed> {
    let Blame::Overtaking(overtaking) = blame else { return None };
    let stored = &run.events[overtaking.store];
    let newest = stored.shown[stored.step.process].pending().last().map(|&it| words.entry(it));
    Some(Delayed {
        thread: stored.step.process.index(),
        text: newest.unwrap_or_default(),
        store: overtaking.store,
        access: overtaking.access,
        until: run.events.len(),
    })
}
