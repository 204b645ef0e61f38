//! A run as one page that needs nothing else: the program, a lane for each thread with its store buffer, memory, and
//! every step to go to.
//!
//! What can be read without scripts (program, steps, what did the damage) is markup; the script draws the state after
//! the step that is looked at from the data beside it. All texts are escaped here, or set as text there.

use std::fmt::Write;

use serde::Serialize;

use crate::memory::Model;
use crate::program::{Program, Value};
use crate::report::blame::{Blame, blame};
use crate::report::steps::{Described, Kind, describe};
use crate::report::trace_text::{Drawing, Fullness, shown};
use crate::report::violated;
use crate::source::Style;
use crate::system::{Effect, Event, Run};
use crate::util::Idx;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");

/// The page of a run of the program in this file.
pub fn trace_page(file: &str, program: &Program, run: &Run) -> String {
    let violated = violated(program, run.trace.violation);
    let line = program.source().line_of(violated.span.start);
    let violated = format!("{} (line {line})", violated.text);
    let drawing = Drawing::new(program, run, Fullness::Compact, Style::Plain);
    let blame = blame(program, run);
    let data = RunData::new(&drawing, &blame, &violated);
    let heading = format!("{file}: unsafe under {}", run.model);
    let start = drawing.start();
    let start = if start.is_empty() { start } else { format!("<p>{}</p>", escaped(start.trim())) };
    fill(&[
        ("title", &escaped(&heading)),
        ("heading", &escaped(&heading)),
        ("violated", &escaped(&violated)),
        ("start", &start),
        ("blame", &escaped(&blame.sentence(program, run))),
        ("source", &source(program)),
        ("steps", &rows(&data, &blame)),
        ("run", &json(&data)),
        ("script", SCRIPT),
    ])
}

/// The page with each `{{name}}` replaced, in one pass: what is put in is not looked at again.
fn fill(parts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(PAGE.len() + SCRIPT.len());
    let mut pieces = PAGE.split("{{");
    out += pieces.next().unwrap_or_default();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").expect("the page closes what it opens");
        let (_, text) = parts.iter().find(|part| part.0 == name).expect("the page asks for what there is");
        out += text;
        out += rest;
    }
    out
}

#[derive(Serialize)]
struct RunData<'a> {
    /// Whether there are store buffers to show.
    buffers: bool,
    violated: &'a str,
    threads: Vec<&'a str>,
    locations: Vec<&'a str>,
    steps: Vec<StepData>,
    /// Before the first step, and after each.
    states: Vec<StateData>,
    delayed: Option<Delayed>,
}

#[derive(Serialize)]
struct StepData {
    thread: usize,
    line: Option<u32>,
    text: String,
    /// The location that a flush is about.
    flushed: Option<usize>,
    #[serde(skip)]
    is_flush: bool,
}

/// A state: by thread, the line it has come to, what its buffer holds, oldest first, and its registers; memory.
#[derive(Clone, Serialize)]
struct StateData {
    lines: Vec<Option<u32>>,
    buffers: Vec<Vec<String>>,
    registers: Vec<String>,
    memory: Vec<String>,
}

/// The store that was delayed and what overtook it, as steps counted from 0.
#[derive(Serialize)]
struct Delayed {
    thread: usize,
    text: String,
    store: usize,
    access: usize,
    until: usize,
}

impl<'a> RunData<'a> {
    fn new(drawing: &Drawing<'a>, blame: &Blame, violated: &'a str) -> Self {
        let (program, run) = (drawing.program, drawing.run);
        let described = describe(program, run);
        let steps: Vec<StepData> = run.events.iter().zip(&described).map(|it| step_data(drawing, it.0, it.1)).collect();
        Self {
            buffers: run.model != Model::Sc,
            violated,
            threads: program.processes().iter().map(|process| process.name.as_str()).collect(),
            locations: program.locations().iter().map(|location| location.name.as_str()).collect(),
            states: states(drawing, &steps),
            delayed: delayed(drawing, blame, &steps),
            steps,
        }
    }
}

fn step_data(drawing: &Drawing<'_>, event: &Event, step: &Described<'_>) -> StepData {
    let program = drawing.program;
    let text = drawing.cell(event, step).or_else(|| step.text(program)).unwrap_or_default();
    let flushed = match event.effect {
        Effect::Flushed(x, _) => Some(x.index()),
        Effect::Local | Effect::Load(..) | Effect::Buffered(..) | Effect::Stored(..) | Effect::Rmw(..) => None,
        Effect::Fence(_) | Effect::Locked | Effect::MarkerFlushed | Effect::Faulted => None,
    };
    StepData {
        thread: event.step.process.index(),
        line: step.position(program).map(|at| at.line),
        text,
        flushed,
        is_flush: step.kind == Kind::Flush,
    }
}

fn states(drawing: &Drawing<'_>, steps: &[StepData]) -> Vec<StateData> {
    let (program, run) = (drawing.program, drawing.run);
    let n_threads = program.processes().len();
    let memory = |values: &mut dyn Iterator<Item = &Value>| {
        values.zip(program.locations()).map(|(&value, location)| shown(value, location.domain)).collect()
    };
    let registers = |values: &mut dyn Iterator<Item = &Vec<Value>>| {
        values.zip(program.processes()).map(|(values, process)| registers(process, values)).collect()
    };
    let start = &run.trace.start;
    let mut state = StateData {
        lines: vec![None; n_threads],
        buffers: vec![Vec::new(); n_threads],
        registers: registers(&mut start.registers.iter()),
        memory: memory(&mut start.memory.iter()),
    };
    let mut states = vec![state.clone()];
    for (event, step) in run.events.iter().zip(steps) {
        state.lines[step.thread] = step.line.or(state.lines[step.thread]);
        state.buffers = event.pending.iter().map(|all| all.iter().map(|&it| drawing.entry(it)).collect()).collect();
        state.registers = registers(&mut event.registers.iter());
        state.memory = memory(&mut event.memory.iter());
        states.push(state.clone());
    }
    states
}

/// The registers that the text names, with their values.
fn registers(process: &crate::program::Process, values: &[Value]) -> String {
    let named = process.registers.iter().zip(values).filter(|(register, _)| !register.name.starts_with('$'));
    let shown = named.map(|(register, &value)| format!("{} = {}", register.name, shown(value, register.domain)));
    shown.collect::<Vec<_>>().join(", ")
}

fn delayed(drawing: &Drawing<'_>, blame: &Blame, steps: &[StepData]) -> Option<Delayed> {
    let Blame::Overtaking(overtaking) = blame else { return None };
    let stored = &drawing.run.events[overtaking.store];
    let newest = stored.pending[stored.step.process].last().map(|&it| drawing.entry(it));
    Some(Delayed {
        thread: steps[overtaking.store].thread,
        text: newest.unwrap_or_default(),
        store: overtaking.store,
        access: overtaking.access,
        until: steps.len(),
    })
}

/// The program, a list item for each line.
fn source(program: &Program) -> String {
    let mut out = String::new();
    for (i, line) in program.source().text().lines().enumerate() {
        let _ = writeln!(out, "<li><span>{}</span><code>{}</code></li>", i + 1, escaped(line));
    }
    out
}

/// The steps, a row for each.
fn rows(data: &RunData<'_>, blame: &Blame) -> String {
    let tag = |i: usize| match blame {
        Blame::Overtaking(it) if it.store == i => " <span class=\"tag\">delayed</span>",
        Blame::Overtaking(it) if it.access == i => " <span class=\"tag\">overtook it</span>",
        Blame::Overtaking(_) | Blame::Nobody { .. } | Blame::Unexamined => "",
    };
    let mut out = String::new();
    for (i, step) in data.steps.iter().enumerate() {
        let class = if step.is_flush { " class=\"flush\"" } else { "" };
        let line = step.line.map_or(String::new(), |line| line.to_string());
        let (thread, text) = (escaped(data.threads[step.thread]), escaped(&step.text));
        let number = i + 1;
        let _ =
            writeln!(out, "<tr{class}><td>{number}</td><td>{thread}</td><td>{line}</td><td>{text}{}</td></tr>", tag(i));
    }
    out
}

/// Text for markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that cannot end the element it stands in.
fn json(data: &RunData<'_>) -> String {
    let json = serde_json::to_string(data).expect("the types hold nothing but JSON");
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
