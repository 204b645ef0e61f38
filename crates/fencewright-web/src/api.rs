//! The questions of the page, one function each. What is looked at is always in the question; only checks live on
//! between two of them.

use fencewright::engine::portfolio::Auto;
use fencewright::engine::{self, Engine};
use fencewright::frontend::rewrite::Edit;
use fencewright::memory::{Dialect, Model};
use fencewright::report::patch::Patched;
use fencewright::report::{Variable, variables, walk_view};
use fencewright::source::Source;
use fencewright::system::{self, WalkError};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::asked::Asked;
use crate::http::Status;
use crate::jobs::{Aim, JobId, Report};
use crate::question::{Mistake, Question};
use crate::server::{Settings, Shared};

/// No walk is longer, since each step shows all of memory.
const MAX_STEPS: usize = 2_000;

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) struct Refused {
    /// How the protocol calls it.
    pub status: Status,
    /// What is said about it.
    pub said: Said,
}

/// What is said about a question that has no answer.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Said {
    /// What is wrong.
    pub error: String,
    /// What to do.
    pub help: Option<String>,
    /// What is wrong with the program, and where.
    pub diagnostics: Vec<Mistake>,
}

impl Said {
    /// A sentence.
    pub(crate) fn of(error: impl Into<String>) -> Self {
        Self { error: error.into(), ..Self::default() }
    }
}

impl Refused {
    /// A refusal that needs no help.
    pub(crate) fn new(status: Status, error: impl Into<String>) -> Self {
        Self { status, said: Said::of(error) }
    }
}

/// What the page starts with.
#[derive(Debug, Serialize)]
pub(crate) struct Session<'a> {
    file: &'a str,
    text: &'a str,
    language: &'static str,
    languages: Vec<&'static str>,
    model: &'static str,
    models: Vec<&'static str>,
    engines: Vec<Choice>,
    questions: Vec<Choice>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Choice {
    name: &'static str,
    about: &'static str,
}

/// What the page starts with.
pub(crate) fn session(settings: &Settings) -> Session<'_> {
    let engines = std::iter::once(&Auto as &dyn Engine).chain(engine::ALL.iter().copied());
    Session {
        file: settings.source.name(),
        text: settings.source.text(),
        language: settings.frontend.name(),
        languages: settings.frontends.iter().map(|it| it.name()).collect(),
        model: settings.model.name(),
        models: Model::ALL.map(Model::name).to_vec(),
        engines: engines.map(|it| Choice { name: it.name(), about: it.card().about }).collect(),
        questions: Asked::ALL.map(|it| Choice { name: it.name(), about: it.about() }).to_vec(),
    }
}

/// What is wrong with a program, or worth a look.
#[derive(Debug, Serialize)]
pub(crate) struct Looked {
    diagnostics: Vec<Mistake>,
}

/// What is wrong with the program, and where?
pub(crate) fn read(shared: &Shared, question: &Question) -> Result<Looked, Refused> {
    match question.understand(&shared.settings) {
        Ok(understood) => Ok(Looked { diagnostics: understood.warnings }),
        Err(Refused { status: Status::Unprocessable, said }) => Ok(Looked { diagnostics: said.diagnostics }),
        Err(refused) => Err(refused),
    }
}

/// A check that has begun.
#[derive(Debug, Serialize)]
pub(crate) struct Begun {
    job: JobId,
    warnings: Vec<Mistake>,
}

/// Is the program correct? The answer comes with [`job`].
pub(crate) fn check(shared: &Shared, question: &Question) -> Result<Begun, Refused> {
    begin(shared, question, Aim::Check)
}

/// Which fences make it correct? The answer comes with [`job`].
pub(crate) fn fence(shared: &Shared, question: &Question) -> Result<Begun, Refused> {
    begin(shared, question, Aim::Fence)
}

fn begin(shared: &Shared, question: &Question, aim: Aim) -> Result<Begun, Refused> {
    let mut understood = question.understand(&shared.settings)?;
    let warnings = std::mem::take(&mut understood.warnings);
    let started = shared.jobs.start(aim, understood);
    let job = started.map_err(|busy| Refused::new(Status::TooMany, busy.to_string()))?;
    Ok(Begun { job, warnings })
}

/// A check that is asked about.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    job: JobId,
}

/// How far a check has come, or what it found.
pub(crate) fn job(shared: &Shared, which: &Which) -> Result<Report, Refused> {
    shared.jobs.report(which.job).ok_or_else(gone)
}

/// Stops a check; [`job`] then says how far it came.
pub(crate) fn cancel(shared: &Shared, which: &Which) -> Result<Json, Refused> {
    shared.jobs.cancel(which.job).map(|()| Json::Object(serde_json::Map::new())).ok_or_else(gone)
}

fn gone() -> Refused {
    Refused::new(Status::NotFound, "that check is gone; ask again")
}

/// One of the sets that a search for fences found.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    job: JobId,
    set: usize,
}

/// A program with fences.
#[derive(Debug, Serialize)]
pub(crate) struct Repaired {
    text: String,
    language: &'static str,
    /// The lines that hold what was inserted; none where an imported program was printed anew.
    inserted: Vec<u32>,
    diff: Option<String>,
}

/// The program with one of the sets in it.
pub(crate) fn repair(shared: &Shared, chosen: &Chosen) -> Result<Repaired, Refused> {
    let found = shared.jobs.fences(chosen.job).ok_or_else(gone)?;
    let patched = found.patched(chosen.set).ok_or_else(|| Refused::new(Status::NotFound, "there is no such set"))?;
    let patched = patched.map_err(|unwritable| Refused {
        status: Status::Unprocessable,
        said: Said { help: Some(unwritable.help), ..Said::of(unwritable.message) },
    })?;
    let Patched { text, language, diff, edits, .. } = patched;
    let here: Vec<Edit> = edits.into_iter().filter(|it| it.span().start <= found.main().end()).collect();
    let inserted = inserted_lines(&text, &here);
    Ok(Repaired { text, language, inserted, diff })
}

/// The lines of a text that hold what was written into it.
fn inserted_lines(text: &str, edits: &[Edit]) -> Vec<u32> {
    let source = Source::new("", text);
    let mut lines = Vec::new();
    // What was written before, and what was there instead.
    let (mut written, mut gone) = (0, 0);
    for (span, new) in edits.iter().map(|it| (it.span(), it.text())) {
        let start = span.start as usize + written - gone;
        let blank = new.len() - new.trim_start().len();
        let end = start + new.trim_end().len();
        let line = |byte: usize| source.line_of(u32::try_from(byte).unwrap_or(u32::MAX));
        lines.extend(line(start + blank)..=line(end.max(1) - 1));
        written += new.len();
        gone += (span.end - span.start) as usize;
    }
    lines
}

/// A place in the state space: the program, the values it starts with, and the steps taken.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wander {
    program: Question,
    #[serde(default)]
    values: Vec<i64>,
    #[serde(default)]
    choices: Vec<usize>,
}

/// What is there.
#[derive(Debug, Serialize)]
pub(crate) struct Wandered {
    variables: Vec<Variable>,
    walk: Json,
}

/// What is at a place in the state space, and which steps lead on.
pub(crate) fn walk(shared: &Shared, wander: &Wander) -> Result<Wandered, Refused> {
    if wander.choices.len() > MAX_STEPS {
        return Err(Refused::new(Status::Unprocessable, format!("a walk has at most {MAX_STEPS} steps")));
    }
    let understood = wander.program.understand(&shared.settings)?;
    let program = &understood.program;
    let (start, variables) = variables(program, &wander.values);
    let walked = system::walk(program, understood.model, Dialect::default(), &start, &wander.choices);
    let walked = walked.map_err(|error| {
        let place = match error {
            WalkError::TooManyOutcomes(edge) => Some(program.source().line_name(program.edges()[edge].span)),
            WalkError::NotInitial | WalkError::NoChoice(_) => None,
        };
        let place = place.map_or(String::new(), |line| format!(" ({line})"));
        Refused::new(Status::Unprocessable, format!("{error}{place}"))
    })?;
    let walk = serde_json::to_value(walk_view(program, &walked)).expect("the types hold nothing but JSON");
    Ok(Wandered { variables, walk })
}

#[cfg(test)]
mod tests {
    use fencewright::frontend::rewrite::Edit;

    use super::inserted_lines;

    fn check(text: &str, insertions: &[(u32, &str)], expected: &[u32]) {
        let edits: Vec<Edit> =
            insertions.iter().map(|&(at, text)| Edit::Insert { at, text: text.to_owned() }).collect();
        assert_eq!(inserted_lines(text, &edits), expected);
    }

    #[test]
    fn a_line_of_its_own_is_found() {
        check("a;\n  fence;\nb;\n", &[(2, "\n  fence;")], &[2]);
    }

    #[test]
    fn the_second_is_shifted_by_the_first() {
        check("a;\nfence;\nb;\nfence;\n", &[(2, "\nfence;"), (5, "\nfence;")], &[2, 4]);
    }

    #[test]
    fn two_may_meet_and_stand_before_a_statement() {
        check("fence;\nfence(store);\na;\n", &[(0, "fence;\nfence(store);\n")], &[1, 2]);
        check("a; fence; b;\n", &[(2, " fence;")], &[1]);
    }
}
