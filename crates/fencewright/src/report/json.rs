//! One JSON object per finding, on one line; for programs.
//!
//! The types here are the format: a field is never renamed within one schema. `schema.json` beside this file describes
//! them; a test holds every output against it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::engine::{Answer, Judged, Stats, Verdict};
use crate::program::{FenceKind, Initial, Order, Program};
use crate::report::certificates::VerifyLine;
use crate::report::fences_json::FenceLine;
use crate::report::graph::{GraphJson, graph_json};
use crate::report::hang::{HangJson, hang_json};
use crate::report::notes::{NoteJson, WrongLine, notes_json};
use crate::report::orders::OrdersLine;
use crate::report::outcomes::json::{OutcomesLine, WitnessLine};
use crate::report::race::{RaceJson, race_json};
use crate::report::steps::{Described, Kind, Where, describe};
use crate::report::tested::TestLine;
use crate::report::{
    FenceFinding, Finding, Look, OrdersFinding, OutcomeFinding, Report, Tested, Verification, Violated, WitnessFinding,
    WrongInput, copies, property, violated,
};
use crate::system::Run;

/// The name of the format, in every object.
pub const SCHEMA_NAME: &str = "fencewright/1";

/// The JSON schema of the format.
pub const SCHEMA: &str = include_str!("schema.json");

/// For programs: one object per file and model, one per line.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl Report for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "for programs: one object per file and model, one per line"
    }

    fn finding(&self, finding: &Finding<'_>, _look: Look) -> String {
        line(&CheckLine::new(finding))
    }

    fn fences(&self, finding: &FenceFinding<'_>, _look: Look) -> String {
        line(&FenceLine::new(finding))
    }

    fn outcomes(&self, finding: &OutcomeFinding<'_>, _look: Look) -> String {
        line(&OutcomesLine::new(finding))
    }

    fn witness(&self, finding: &WitnessFinding<'_>, _look: Look) -> String {
        line(&WitnessLine::new(finding))
    }

    fn orders(&self, finding: &OrdersFinding<'_>, _look: Look) -> String {
        line(&OrdersLine::new(finding))
    }

    fn tested(&self, tested: &Tested<'_>, _look: Look) -> String {
        line(&TestLine::new(tested))
    }

    fn verification(&self, verification: &Verification<'_>, _look: Look) -> String {
        line(&VerifyLine::new(verification))
    }

    fn wrong(&self, wrong: &WrongInput<'_>) -> String {
        line(&WrongLine::new(wrong))
    }
}

fn line(object: &impl Serialize) -> String {
    let mut line = serde_json::to_string(object).expect("the types hold nothing but JSON");
    line.push('\n');
    line
}

#[derive(Serialize)]
struct CheckLine<'a> {
    schema: &'static str,
    command: &'static str,
    file: &'a str,
    model: &'static str,
    question: &'static str,
    engine: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<BTreeMap<&'a str, usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fewer_might_do: Option<bool>,
    reason: Option<String>,
    advice: Option<&'a str>,
    property: Option<PropertyJson<'a>>,
    properties: Vec<PropertyJson<'a>>,
    start: Option<Vec<StartJson<'a>>>,
    trace: Option<Vec<StepJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hang: Option<Vec<HangJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    race: Option<RaceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<GraphJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<NoteJson<'a>>,
    stats: StatsJson,
}

#[derive(Serialize)]
pub(super) struct PropertyJson<'a> {
    kind: &'static str,
    name: Option<String>,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
}

/// What an `any` was at the start of the run.
#[derive(Serialize)]
pub(super) struct StartJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a str>,
    name: &'a str,
    value: i64,
}

#[derive(Serialize)]
pub(super) struct StepJson<'a> {
    step: usize,
    process: &'a str,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<WriteJson<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fault: bool,
}

/// The call that a step is executed for.
#[derive(Serialize)]
struct CallJson<'a> {
    function: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u32,
}

/// What a locked block wrote.
#[derive(Serialize)]
struct WriteJson<'a> {
    location: &'a str,
    value: i64,
}

#[derive(Serialize)]
pub(super) struct StatsJson {
    seconds: f64,
    explored: u64,
    kept: u64,
    bytes: u64,
    shortest: bool,
    peak_rss_bytes: Option<u64>,
}

impl<'a> CheckLine<'a> {
    fn new(finding: &'a Finding<'a>) -> Self {
        let program = finding.program;
        let run = match finding.answer {
            Ok(Answer { verdict: Verdict::Unsafe(run), .. }) => Some(run),
            Ok(Answer { verdict: Verdict::Safe | Verdict::Unknown(_), .. }) | Err(_) => None,
        };
        let shown = run.map_or(program, |run| run.program(program));
        Self {
            schema: SCHEMA_NAME,
            command: finding.command.name(),
            file: finding.file,
            model: finding.model.name(),
            question: finding.question,
            engine: finding.engine(),
            verdict: finding.verdict(),
            threads: copies::threads(program),
            copies: run.and_then(|run| copies::counts(run)),
            fewer_might_do: run.and_then(|run| copies::fewer_might_do(run)),
            reason: finding.reason(),
            advice: finding.advice(),
            property: run.map(|run| PropertyJson::new(program, run)),
            properties: finding.properties.iter().map(|it| PropertyJson::judged(program, it)).collect(),
            start: run.map(|run| start(shown, run)),
            trace: run.map(|run| trace(shown, run)),
            hang: run.and_then(|run| hang_json(shown, run)),
            race: run.and_then(|run| race_json(shown, run)),
            graph: run.and_then(|run| graph_json(shown, run)),
            shown: finding.shown(),
            certificate: finding.certificate,
            diagnostics: notes_json(finding.notes),
            stats: StatsJson::new(finding),
        }
    }
}

impl<'a> PropertyJson<'a> {
    pub(super) fn new(program: &'a Program, run: &Run) -> Self {
        Self::of(program, violated(program, run), None)
    }

    fn judged(program: &'a Program, judged: &Judged) -> Self {
        Self::of(program, property::judged(program, judged), Some(property::word(&judged.verdict)))
    }

    fn of(program: &'a Program, it: Violated, verdict: Option<&'static str>) -> Self {
        let (source, at) = (program.source(), it.span.start);
        let (file, line) = (source.other_name(at), source.line_of(at));
        Self { kind: it.kind, name: it.name, text: it.text, file, line, verdict }
    }
}

impl StatsJson {
    fn new(finding: &Finding<'_>) -> Self {
        let stats = finding.answer.map(|answer| answer.stats).unwrap_or_default();
        Self::of(stats, finding.seconds, finding.peak_rss)
    }

    pub(super) fn of(stats: Stats, seconds: f64, peak_rss_bytes: Option<u64>) -> Self {
        Self {
            // Microseconds are more than the clock is good for, and keep the line short.
            seconds: (seconds * 1e6).round() / 1e6,
            explored: stats.explored,
            kept: stats.kept,
            bytes: stats.bytes,
            shortest: stats.is_shortest,
            peak_rss_bytes,
        }
    }
}

pub(super) fn start<'a>(program: &'a Program, run: &Run) -> Vec<StartJson<'a>> {
    let is_any = |initial: Initial| initial == Initial::Any;
    let memory = program.locations().iter().zip(&run.trace.start.memory);
    let memory = memory.filter(|(it, _)| is_any(it.initial));
    let mut all: Vec<StartJson<'a>> =
        memory.map(|(it, &value)| StartJson { process: None, name: &it.name, value }).collect();
    for (process, values) in program.processes().iter().zip(&run.trace.start.registers) {
        let registers = process.registers.iter().zip(values).filter(|(it, _)| is_any(it.initial));
        all.extend(registers.map(|(it, &value)| StartJson { process: Some(&process.name), name: &it.name, value }));
    }
    all
}

pub(super) fn trace<'a>(program: &'a Program, run: &Run) -> Vec<StepJson<'a>> {
    let steps = describe(program, &run.trace.start, &run.events);
    steps.iter().enumerate().map(|(i, it)| StepJson::new(program, i + 1, it)).collect()
}

impl<'a> StepJson<'a> {
    fn new(program: &'a Program, step: usize, it: &Described<'a>) -> Self {
        let at = it.span(program).map(|span| span.start);
        let position = at.map(|at| program.source().position(at));
        Self {
            step,
            process: it.process,
            action: action(it.kind),
            file: at.and_then(|at| program.source().other_name(at)),
            line: position.map(|at| at.line),
            column: position.map(|at| at.column),
            location: it.location,
            value: it.value,
            old: it.old,
            effect: it.place.filter(|_| it.kind != Kind::Rmw).map(effect),
            message: it.place.filter(|_| it.kind != Kind::Rmw).and_then(message),
            kind: it.fence.map(FenceKind::name),
            order: it.order(program).map(Order::name),
            text: it.text(program),
            call: it.call(program).map(|call| CallJson {
                function: &call.function,
                file: program.source().other_name(call.span.start),
                line: program.source().line_of(call.span.start),
            }),
            writes: it.changed.iter().map(|&(location, value)| WriteJson { location, value }).collect(),
            fault: it.is_fault,
        }
    }
}

fn action(kind: Kind) -> &'static str {
    match kind {
        Kind::Store => "store",
        Kind::Load => "load",
        Kind::Rmw => "rmw",
        Kind::Fence => "fence",
        Kind::Locked => "locked",
        Kind::Local => "local",
        Kind::Flush => "flush",
    }
}

/// Which message of its location it was, in modification order.
fn message(place: Where) -> Option<u32> {
    match place {
        Where::Message(number) => Some(number),
        Where::Buffer | Where::OwnBuffer | Where::Memory => None,
    }
}

fn effect(place: Where) -> &'static str {
    match place {
        Where::Buffer => "buffer",
        Where::OwnBuffer => "own-buffer",
        Where::Memory => "memory",
        Where::Message(_) => "message",
    }
}
