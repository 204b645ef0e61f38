//! A walk by hand, for the page: where it has come to, and what may come next.

use serde::Serialize;

use super::data::{StateData, StepData, step_data};
use super::rows;
use crate::program::{Domain, Initial, PointId, Program, Value};
use crate::report::property::violated_in;
use crate::report::steps::{describe, describe_event};
use crate::report::words::{Fullness, Words, own_part};
use crate::source::Span;
use crate::system::{Action, Control, Effect, Event, Next, Start, Walk};
use crate::util::Idx;

/// So many of the possible steps are listed.
const MAX_NEXT: usize = 200;

/// Where a walk has come to, for a page that has the style and the script.
#[derive(Clone, Debug, Serialize)]
pub struct WalkView<'a> {
    buffers: Option<&'static str>,
    /// What the rows of the program are called, where these are not the lines of one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    threads: Vec<&'a str>,
    locations: Vec<&'a str>,
    steps: Vec<StepData>,
    /// The state that the last step came from, if there was a step, and the one it led to.
    states: Vec<PlacedState>,
    /// What may come next.
    pub next: Vec<NextStep>,
    /// How many more steps there are than are listed.
    pub left_out: usize,
    /// What is violated here.
    pub violated: Option<String>,
}

/// A step that may come next.
#[derive(Clone, Debug, Serialize)]
pub struct NextStep {
    /// The thread it is of.
    pub thread: usize,
    /// The row of the line where its statement stands.
    pub line: Option<u32>,
    /// What it does.
    pub text: String,
    /// Whether a buffer does it.
    pub is_flush: bool,
    /// Whether it can be taken: one that makes a value beyond 64 bits cannot.
    pub is_possible: bool,
}

/// A state, and in words where each thread is.
#[derive(Clone, Debug, Serialize)]
struct PlacedState {
    #[serde(flatten)]
    state: StateData,
    places: Vec<String>,
}

/// A value that the program does not give at the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Its name, after that of its thread if it is a register.
    pub name: String,
    /// The values it may have; without an end if there is none.
    pub range: Option<(Value, Value)>,
    /// The one it has.
    pub value: Value,
}

/// The start that gives every `any` its value, in the order of the text; the lowest, or 0, where there are no more
/// values. With it what was given, for others to be chosen.
pub fn variables(program: &Program, values: &[Value]) -> (Start, Vec<Variable>) {
    let mut given = values.iter().copied();
    let mut variables = Vec::new();
    let mut decide = |name: String, initial: Initial, domain: Domain| match initial {
        Initial::Value(value) => value,
        Initial::Any => {
            let range = domain.bounds();
            let value = given.next().unwrap_or(range.map_or(0, |it| it.0));
            variables.push(Variable { name, range, value });
            value
        }
    };
    let memory = program.locations().iter().map(|it| decide(it.name.clone(), it.initial, it.domain)).collect();
    let registers = program.processes().iter().map(|process| {
        let name = |register: &str| format!("{}.{register}", process.name);
        process.registers.iter().map(|it| decide(name(&it.name), it.initial, it.domain)).collect()
    });
    let registers = registers.collect();
    (Start { memory, registers }, variables)
}

/// A walk through the program.
pub fn walk_view<'a>(program: &'a Program, walk: &Walk) -> WalkView<'a> {
    let words = Words { program, fullness: Fullness::Compact };
    let described = describe(program, &walk.start, &walk.events);
    let steps =
        walk.events.iter().zip(&described).map(|(event, step)| named(words, step_data(words, event, step), event));
    let violated = walk.violation.map(|violation| {
        let violated = violated_in(program, violation, walk.situation);
        format!("{} ({})", violated.with_name(), program.source().line_name(violated.span))
    });
    let next = walk.next.iter().take(MAX_NEXT).map(|next| next_step(words, walk, next));
    WalkView {
        buffers: own_part(walk.model),
        names: rows::names(program.source()),
        threads: program.processes().iter().map(|process| process.name.as_str()).collect(),
        locations: program.locations().iter().map(|location| location.name.as_str()).collect(),
        steps: steps.collect(),
        states: states(words, walk),
        next: next.collect(),
        left_out: walk.next.len().saturating_sub(MAX_NEXT),
        violated,
    }
}

/// A step that gives a register a value says which, so that the outcomes of an `any` can be told apart.
fn named(words: Words<'_>, step: StepData, event: &Event) -> StepData {
    match (event.effect, words.local(event)) {
        (Effect::Local, Some(text)) => StepData { text: text.trim_start_matches("· ").to_owned(), ..step },
        _ => step,
    }
}

fn next_step(words: Words<'_>, walk: &Walk, next: &Next) -> NextStep {
    match next {
        Next::Possible(event) => {
            let before = walk.events.last().map_or(&walk.start.memory, |it| &it.memory);
            let step = step_data(words, event, &describe_event(words.program, event, before));
            let StepData { thread, line, text, is_flush, .. } = named(words, step, event);
            NextStep { thread, line, text, is_flush, is_possible: true }
        }
        Next::Overflow(step) => {
            let span = match step.action {
                Action::Edge { edge, .. } => Some(words.program.edges()[edge].span),
                Action::Fence(_) | Action::Internal(_) => None,
            };
            let line = span.map(|span| rows::row_of(words.program.source(), span));
            let text = "a value needs more than 64 bits".to_owned();
            NextStep { thread: step.process.index(), line, text, is_flush: false, is_possible: false }
        }
    }
}

/// The state before the last step, of which only memory is compared, and the one now.
fn states(words: Words<'_>, walk: &Walk) -> Vec<PlacedState> {
    let source = words.program.source();
    let row = |&it: &Control| place_of(words.program, it).map(|span| rows::row_of(source, span));
    let lines: Vec<Option<u32>> = walk.controls.iter().map(row).collect();
    let places: Vec<String> = walk.controls.iter().map(|&it| place(words.program, it)).collect();
    let state = |event: Option<&Event>| match event {
        Some(event) => StateData::after(words, event, lines.clone()),
        None => StateData { lines: lines.clone(), ..StateData::start(words.program, &walk.start) },
    };
    let now = state(walk.events.last());
    let before = walk.events.len().checked_sub(1).map(|last| state(walk.events[..last].last()));
    before.into_iter().chain([now]).map(|state| PlacedState { state, places: places.clone() }).collect()
}

/// The statement that a process comes to next.
fn place_of(program: &Program, control: Control) -> Option<Span> {
    let edge = match control {
        Control::At(point) => *program.points()[point].edges.first()?,
        Control::Ready(edge) | Control::Done(edge) => edge,
    };
    Some(program.edges()[edge].span)
}

/// In words where a thread is: the line it comes to next, and the labels there.
fn place(program: &Program, control: Control) -> String {
    let labels =
        |point: PointId| program.points()[point].labels.iter().map(|it| format!(" · at {it}")).collect::<String>();
    match (control, place_of(program, control).map(|span| program.source().line_name(span))) {
        (Control::At(point), None) if program.points()[point].is_end => format!("ended{}", labels(point)),
        (Control::At(point), None) => format!("stuck{}", labels(point)),
        (Control::At(point), Some(line)) => format!("{line}{}", labels(point)),
        (Control::Ready(_) | Control::Done(_), line) => line.unwrap_or_default(),
    }
}
