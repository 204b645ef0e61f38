//! What fence synthesis found, for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::copies;
use super::fences::FenceFinding;
use super::json::{PropertyJson, SCHEMA_NAME, StartJson, StepJson, start, trace};
use super::notes::{NoteJson, notes_json};
use super::property::statement;
use crate::frontend::rewrite::Reorder;
use crate::program::{Program, Side};
use crate::synth::{FenceSet, Outcome, Synthesis};

/// One line of output.
#[derive(Serialize)]
pub(super) struct FenceLine<'a> {
    schema: &'static str,
    command: &'static str,
    file: &'a str,
    model: String,
    models: Vec<&'static str>,
    question: &'a str,
    engine: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<BTreeMap<&'a str, usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fewer_might_do: Option<bool>,
    complete: bool,
    reason: Option<String>,
    advice: Option<&'a str>,
    fence_sets: Vec<SetJson<'a>>,
    property: Option<PropertyJson<'a>>,
    start: Option<Vec<StartJson<'a>>>,
    trace: Option<Vec<StepJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<NoteJson<'a>>,
    stats: StatsJson,
}

#[derive(Serialize)]
struct SetJson<'a> {
    cost: u64,
    fences: Vec<FenceJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<OrderJson<'a>>,
}

/// An order that is written in place of another.
#[derive(Serialize)]
struct OrderJson<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    kind: &'static str,
    from: &'static str,
    to: &'static str,
    companion: bool,
}

#[derive(Serialize)]
struct FenceJson<'a> {
    process: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u32,
    column: u32,
    position: &'static str,
    kind: &'static str,
    text: String,
}

#[derive(Serialize)]
struct StatsJson {
    seconds: f64,
    checks: u64,
    clauses: usize,
    explored: u64,
    peak_rss_bytes: Option<u64>,
}

impl<'a> FenceLine<'a> {
    pub(super) fn new(finding: &'a FenceFinding<'a>) -> Self {
        let program = finding.program;
        let run = match finding.answer {
            Ok(Synthesis { outcome: Outcome::Unfixable(run, _), .. }) => Some(run),
            Ok(_) | Err(_) => None,
        };
        let synthesis = finding.answer.ok();
        let empty = SetJson { cost: 0, fences: Vec::new(), edits: Vec::new() };
        let fence_sets = match synthesis.map(|it| &it.outcome) {
            Some(Outcome::Correct) => vec![empty],
            Some(Outcome::Fixed(_) | Outcome::Unfixable(..) | Outcome::Unknown(_)) | None => {
                finding.sets().iter().enumerate().map(|(i, set)| set_json(finding, i, set)).collect()
            }
        };
        Self {
            schema: SCHEMA_NAME,
            command: finding.command.name(),
            file: finding.file,
            model: finding.under(","),
            models: finding.models.iter().map(|model| model.name()).collect(),
            question: finding.question,
            engine: finding.engine(),
            verdict: finding.verdict(),
            threads: copies::threads(program),
            copies: run.and_then(|run| copies::counts(run)),
            fewer_might_do: run.and_then(|run| copies::fewer_might_do(run)),
            complete: synthesis.is_some_and(|it| it.is_complete),
            reason: finding.reason(),
            advice: finding.advice(),
            fence_sets,
            property: run.map(|run| PropertyJson::new(program, run)),
            start: run.map(|run| start(run.program(program), run)),
            trace: run.map(|run| trace(run.program(program), run)),
            diff: finding.diff,
            certificate: finding.certificate,
            diagnostics: notes_json(finding.notes),
            stats: StatsJson {
                seconds: (finding.seconds * 1e6).round() / 1e6,
                checks: synthesis.map_or(0, |it| it.checks),
                clauses: synthesis.map_or(0, |it| it.clauses.len()),
                explored: synthesis.map_or(0, |it| it.explored),
                peak_rss_bytes: finding.peak_rss,
            },
        }
    }
}

fn set_json<'a>(finding: &FenceFinding<'a>, i: usize, set: &FenceSet) -> SetJson<'a> {
    let fences = set.fences.0.iter().map(|(&candidate, &kind)| {
        let candidate = &finding.candidates[candidate];
        let at = finding.program.source().position(candidate.span.start);
        FenceJson {
            process: &candidate.owner,
            file: finding.program.source().other_name(candidate.span.start),
            line: at.line,
            column: at.column,
            position: match candidate.side {
                Side::Before => "before",
                Side::After => "after",
            },
            kind: kind.name(),
            text: statement(finding.program, candidate.first().edge),
        }
    });
    let orders = finding.orders.get(i).map_or(&[][..], |it| it);
    let edits = orders.iter().map(|it| order_json(finding.program, it)).collect();
    SetJson { cost: set.cost, fences: fences.collect(), edits }
}

fn order_json<'a>(program: &'a Program, order: &Reorder) -> OrderJson<'a> {
    let (source, start) = (program.source(), order.access.start);
    let at = source.position(start);
    OrderJson {
        file: source.other_name(start).unwrap_or(source.main().path()),
        line: at.line,
        column: at.column,
        kind: "order",
        from: order.from.name(),
        to: order.to.name(),
        companion: order.is_companion,
    }
}
