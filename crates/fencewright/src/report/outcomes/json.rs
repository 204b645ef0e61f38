//! Final states for programs.

use serde::{Serialize, Serializer};

use crate::engine::Verdict;
use crate::memory::Model;
use crate::program::Value;
use crate::report::json::{SCHEMA_NAME, StartJson, StatsJson, StepJson, start, trace};
use crate::report::notes::{NoteJson, notes_json};
use crate::report::outcomes::{OutcomeFinding, Shown, WitnessFinding};

/// The name of the verb, and of what it asks.
const NAME: &str = "outcomes";

/// What every object begins with.
#[derive(Serialize)]
struct Head<'a> {
    schema: &'static str,
    command: &'static str,
    question: &'static str,
    file: &'a str,
    model: &'static str,
    engine: &'static str,
    verdict: &'static str,
    reason: Option<String>,
    advice: Option<&'a str>,
}

#[derive(Serialize)]
pub(in crate::report) struct OutcomesLine<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    outcomes: Vec<OutcomeJson<'a>>,
    complete: bool,
    condition: Option<ConditionJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<NoteJson<'a>>,
    stats: StatsJson,
}

#[derive(Serialize)]
pub(in crate::report) struct WitnessLine<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    wanted: Values<'a>,
    start: Option<Vec<StartJson<'a>>>,
    trace: Option<Vec<StepJson<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<NoteJson<'a>>,
    stats: StatsJson,
}

#[derive(Serialize)]
struct OutcomeJson<'a> {
    values: Values<'a>,
    /// Executions are not counted.
    count: Option<u64>,
}

/// What a test claims, and what comes out.
#[derive(Serialize)]
struct ConditionJson<'a> {
    quantifier: &'static str,
    text: &'a str,
    holds: bool,
    positive: usize,
    negative: usize,
}

/// An object with a field for each variable, in the order in which they are shown.
struct Values<'a>(Vec<(&'a str, Value)>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl<'a> Head<'a> {
    fn new(
        (file, model, engine): (&'a str, Model, &'static str),
        (verdict, reason, advice): (&'static str, Option<String>, Option<&'a str>),
    ) -> Self {
        let (schema, command, question, model) = (SCHEMA_NAME, NAME, NAME, model.name());
        Self { schema, command, question, file, model, engine, verdict, reason, advice }
    }
}

impl<'a> OutcomesLine<'a> {
    pub(in crate::report) fn new(finding: &'a OutcomeFinding<'a>) -> Self {
        let name = |it: &'a Shown| it.name.as_str();
        let of = |values: &[Value]| Values(finding.shown.iter().map(name).zip(values.iter().copied()).collect());
        let condition = finding.asked().map(|(asked, positive, negative)| ConditionJson {
            quantifier: asked.quantifier.word(),
            text: &asked.condition,
            holds: asked.quantifier.holds(positive, negative),
            positive,
            negative,
        });
        let stats = finding.answer.map(|it| it.stats).unwrap_or_default();
        let said = (finding.verdict(), finding.reason(), finding.advice());
        Self {
            head: Head::new((finding.file, finding.model, finding.engine()), said),
            outcomes: finding.values().map(|values| OutcomeJson { values: of(values), count: None }).collect(),
            complete: finding.is_complete(),
            condition,
            diagnostics: notes_json(finding.notes),
            stats: StatsJson::of(stats, finding.seconds, finding.peak_rss),
        }
    }
}

impl<'a> WitnessLine<'a> {
    pub(in crate::report) fn new(finding: &'a WitnessFinding<'a>) -> Self {
        let run = match finding.answer.map(|it| &it.verdict) {
            Ok(Verdict::Unsafe(run)) => Some(run),
            Ok(Verdict::Safe | Verdict::Unknown(_)) | Err(_) => None,
        };
        let stats = finding.answer.map(|it| it.stats).unwrap_or_default();
        let engine = finding.answer.map_or_else(|refusal| refusal.engine, |it| it.engine);
        let said = (finding.verdict(), finding.reason(), finding.advice());
        Self {
            head: Head::new((finding.file, finding.model, engine), said),
            wanted: Values(finding.wanted.iter().map(|(it, value)| (it.name.as_str(), *value)).collect()),
            start: run.map(|run| start(finding.program, run)),
            trace: run.map(|run| trace(finding.program, run)),
            diagnostics: notes_json(finding.notes),
            stats: StatsJson::of(stats, finding.seconds, finding.peak_rss),
        }
    }
}
