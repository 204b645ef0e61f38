//! A run as text: one column per thread, time goes down.
//!
//! ```text
//!        P(0)                          P(1)
//!     8  flag[0] = 1 → buffer
//!    10  reads flag[1] = 0 (memory)
//!     8                                flag[1] = 1 → buffer
//!                                      ⇣ flag[1] = 1 reaches memory
//! ```

use std::fmt::Write;

use crate::analysis::blame::{Blame, blame, edge_of};
use crate::memory::Pending;
use crate::program::{Called, Initial, LocationId, ProcessId, Program};
use crate::report::steps::{Described, Kind, call_text, describe};
use crate::report::words::{Fullness, Words, shown};
use crate::report::{Look, c11, hang, race, robust, violated};
use crate::source::Style;
use crate::system::{Action, Effect, Event, Run};
use crate::util::IndexVec;

/// The widest a line number gets, if the program is one file.
const NUMBER: usize = 4;
/// What is between a line number and the columns.
const GAP: usize = 3;
/// A narrower column is not worth having; a run of more threads is shown as a list.
const MIN_COLUMN: usize = 26;

/// The text of a run, ending in a newline: start, steps, end, and what did the damage.
pub fn trace_text(program: &Program, run: &Run, fullness: Fullness, style: Style) -> String {
    trace_text_within(program, run, fullness, (style, Look::WIDTH))
}

/// The same in lines of so many characters, as far as words can be parted.
pub(super) fn trace_text_within(program: &Program, run: &Run, fullness: Fullness, look: (Style, usize)) -> String {
    let program = run.program(program);
    let drawing = Drawing::new(program, run, fullness, look);
    let sentences: String = sentences(program, run).iter().map(|it| drawing.last(it)).collect();
    drawing.steps() + &drawing.end() + &sentences
}

/// What is said of a run that somebody asked for, and what did the damage.
pub(super) fn sentences(program: &Program, run: &Run) -> Vec<String> {
    let program = run.program(program);
    if let Some(sentences) = c11::sentences(program, run) {
        return sentences;
    }
    let mut sentences = if hang::is_hang(program, run) { hang::sentences(program, run) } else { Vec::new() };
    let is_race = race::is_race(program, run);
    if is_race {
        sentences.extend(race::sentences(program, run));
    }
    sentences.extend(robust::sentences(program, run));
    // A race is one under every model.
    let is_told = |it: &Blame| match it {
        Blame::Overtaking(_) | Blame::Stale(_) | Blame::Unseen(_) => robust::is_told(program, run),
        Blame::Nobody { .. } | Blame::Unexamined => is_race || robust::is_told(program, run),
    };
    let blame = Some(blame(program, run)).filter(|it| !is_told(it));
    sentences.extend(blame.map(|it| it.sentence(program, run)));
    sentences
}

/// The text of a run that ends as somebody asked, in words.
pub(super) fn witness_text(program: &Program, run: &Run, asked: &str, look: (Style, usize)) -> String {
    let drawing = Drawing::new(program, run, Fullness::Compact, look);
    let sentence = match blame(program, run) {
        Blame::Nobody { has_delays: false } => {
            "No store was delayed: this run is possible under sequential consistency.".to_owned()
        }
        Blame::Nobody { has_delays: true } => {
            "The delayed stores do not matter: what was loaded is possible under sequential consistency.".to_owned()
        }
        Blame::Unexamined => "The run is too long to say which reordering it takes.".to_owned(),
        blame @ (Blame::Overtaking(_) | Blame::Unseen(_) | Blame::Stale(_)) => blame.sentence(program, run),
    };
    drawing.steps() + &drawing.indented(&format!("✓ {asked}"), 2) + &drawing.last(&sentence)
}

/// The one column that a step is drawn in, or all of them.
enum Layout {
    /// One column per process that acts, this wide.
    Columns(usize),
    /// The process is named in each row.
    List(usize),
}

/// A run and how it is drawn.
pub(super) struct Drawing<'a> {
    program: &'a Program,
    run: &'a Run,
    words: Words<'a>,
    style: Style,
    /// How many characters fit on a line.
    width: usize,
    layout: Layout,
    /// How wide line numbers are; with the name of their file, where there are several.
    number: usize,
    /// The column of each process that acts.
    columns: IndexVec<ProcessId, Option<usize>>,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(program: &'a Program, run: &'a Run, fullness: Fullness, (style, width): (Style, usize)) -> Self {
        let full = width.max(Look::MIN_WIDTH);
        let acts = |process: ProcessId| run.events.iter().any(|event| event.step.process == process);
        let mut n_columns = 0;
        let columns: IndexVec<ProcessId, Option<usize>> = (program.processes().indices())
            .map(|process| {
                acts(process).then(|| {
                    n_columns += 1;
                    n_columns - 1
                })
            })
            .collect();
        let number = number_width(program, run);
        let width = full.saturating_sub(number + GAP) / n_columns.max(1);
        let names = program.processes().iter().map(|it| it.name.chars().count());
        let layout = if width < MIN_COLUMN { Layout::List(names.max().unwrap_or(0)) } else { Layout::Columns(width) };
        Self { program, run, words: Words { program, fullness }, style, width: full, layout, number, columns }
    }

    /// What each `any` was.
    pub(super) fn start(&self) -> String {
        let start = &self.run.trace.start;
        let is_any = |initial: Initial| initial == Initial::Any;
        let mut parts = Vec::new();
        for (location, &value) in self.program.locations().iter().zip(&start.memory) {
            if is_any(location.initial) {
                parts.push(format!("{} = {}", location.name, shown(value, location.domain)));
            }
        }
        for (process, values) in self.program.processes().iter().zip(&start.registers) {
            for (register, &value) in process.registers.iter().zip(values) {
                if is_any(register.initial) {
                    let value = shown(value, register.domain);
                    parts.push(format!("{}.{} = {value}", process.name, register.name));
                }
            }
        }
        if parts.is_empty() {
            return String::new();
        }
        self.indented(&format!("starts with {}", parts.join(", ")), 2)
    }

    /// How it starts, and its steps.
    fn steps(&self) -> String {
        let (program, run) = (self.program, self.run);
        let mut out = self.start() + &self.heading();
        let mut calls: IndexVec<ProcessId, Option<&Called>> = IndexVec::filled(program.processes().len(), None);
        for (i, step) in describe(program, &run.trace.start, &run.events).iter().enumerate() {
            out += &self.rows(&run.events[i], step, &mut calls[run.events[i].step.process]);
        }
        out
    }

    /// A sentence that sums it up.
    fn last(&self, sentence: &str) -> String {
        let lines = wrapped(sentence, self.width - 2);
        lines.iter().map(|line| format!("  {}\n", self.paint("1", line))).collect()
    }

    fn heading(&self) -> String {
        let Layout::Columns(width) = self.layout else { return String::new() };
        let names = self.program.processes().iter_enumerated().filter(|(id, _)| self.columns[*id].is_some());
        let cells: String = names.map(|(_, it)| format!("{:width$}", it.name)).collect();
        format!("{:>1$}   {2}\n", "line", self.number, self.paint("1", cells.trim_end()))
    }

    /// The rows of a step; none for what changes nothing that can be seen.
    fn rows(&self, event: &Event, step: &Described<'_>, last: &mut Option<&'a Called>) -> String {
        let line = step.span(self.program).map_or(String::new(), |it| self.program.source().line_number(it.start));
        let color = match step.kind {
            Kind::Local => "2",
            Kind::Flush => "36",
            Kind::Store | Kind::Load | Kind::Rmw | Kind::Fence | Kind::Locked => "0",
        };
        let row = self.words.cell(event, step).map(|text| self.row(event.step.process, &line, &text, color));
        let labels = self.labels(event).map(|text| self.row(event.step.process, "", &text, "2"));
        // A function is named where a thread comes to it, or comes to it by another call.
        let call = step.call(self.program);
        let is_new = call.is_some() && call != *last;
        let entered = call.filter(|_| is_new && row.is_some());
        if row.is_some() && step.edge.is_some() {
            *last = call;
        }
        let text = entered.map(|call| format!("· {}", call_text(self.program, call)));
        let entered = text.map(|text| self.row(event.step.process, "", &text, "2"));
        entered.into_iter().chain(row).chain(labels).collect()
    }

    /// A text in the column of its process.
    fn row(&self, process: ProcessId, line: &str, text: &str, color: &str) -> String {
        let (indent, name, width) = match self.layout {
            Layout::Columns(width) => {
                let column = self.columns[process].expect("the process of a step acts");
                (column * width, String::new(), width - 2)
            }
            Layout::List(longest) => {
                let name = format!("{:longest$}  ", self.program.processes()[process].name);
                (0, name, self.width.saturating_sub(self.number + GAP + longest + 2))
            }
        };
        let mut out = String::new();
        for (i, part) in wrapped(text, width).iter().enumerate() {
            let lead = if i == 0 { format!("{line:>0$}   ", self.number) } else { " ".repeat(self.number + GAP) };
            let name = if i == 0 { name.clone() } else { " ".repeat(name.chars().count()) };
            let part = if i == 0 { part.clone() } else { format!("  {part}") };
            let painted = if color == "0" { part } else { self.paint(color, &part) };
            let _ = writeln!(out, "{lead}{name}{:indent$}{painted}", "");
        }
        out
    }

    /// The labels that a step leads to.
    fn labels(&self, event: &Event) -> Option<String> {
        let Action::Edge { edge, .. } = event.step.action else { return None };
        let labels = &self.program.points()[self.program.edges()[edge].to].labels;
        let is_shown = self.words.fullness == Fullness::Full && event.effect != Effect::Faulted && !labels.is_empty();
        is_shown.then(|| format!("· at {}", labels.join(", ")))
    }

    /// What it ended in, and what was left in the buffers.
    fn end(&self) -> String {
        let violated = violated(self.program, self.run);
        let line = self.program.source().line_name(violated.span);
        let mut out = String::new();
        for (i, part) in wrapped(&format!("{} ({line})", violated.with_name()), self.width - 4).iter().enumerate() {
            let lead = if i == 0 { "✗" } else { " " };
            let _ = writeln!(out, "{}", self.paint("1;31", &format!("  {lead} {part}")));
        }
        let Some(last) = self.run.events.last() else { return out };
        for (process, own) in last.shown.iter_enumerated().filter(|it| !it.1.pending().is_empty()) {
            let pending = own.pending();
            let name = &self.program.processes()[process].name;
            out += &self.indented(&format!("still in the buffer of {name}: {}", self.words.buffer(pending)), 4);
        }
        if self.words.fullness == Fullness::Full {
            out += &self.memory(last);
        }
        out
    }

    /// The locations that the run touched, as it leaves them.
    fn memory(&self, last: &Event) -> String {
        let mut touched: Vec<LocationId> = self.run.events.iter().filter_map(|it| location_of(it.effect)).collect();
        touched.sort_unstable();
        touched.dedup();
        let values: Vec<String> =
            touched.iter().map(|&x| self.words.entry(Pending::Store(x, last.memory[x]))).collect();
        if values.is_empty() {
            return String::new();
        }
        self.indented(&format!("memory: {}", values.join(", ")), 4)
    }

    /// The text in lines that fit, all of them indented.
    fn indented(&self, text: &str, indent: usize) -> String {
        wrapped(text, self.width - indent).iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
    }

    fn paint(&self, color: &str, text: &str) -> String {
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Colored => format!("\x1b[{color}m{text}\x1b[0m"),
        }
    }
}

/// How wide the widest line number of a run is.
fn number_width(program: &Program, run: &Run) -> usize {
    let source = program.source();
    if source.files().len() == 1 {
        return NUMBER;
    }
    let places = run.events.iter().filter_map(edge_of).map(|edge| program.edges()[edge].span.start);
    places.map(|byte| source.line_number(byte).chars().count()).max().unwrap_or(0).max(NUMBER)
}

fn location_of(effect: Effect) -> Option<LocationId> {
    match effect {
        Effect::Load(x, ..) | Effect::Store(x, ..) | Effect::Rmw(x, ..) => Some(x),
        Effect::Arrived(x, _) => Some(x),
        Effect::Local | Effect::Fence(_) | Effect::Locked | Effect::MarkerLeft | Effect::Faulted => None,
    }
}

/// The text in lines of at most this many characters, cut at spaces; all lines after the first have room for two more.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let room = if lines.len() > 1 { width.saturating_sub(2) } else { width };
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}
