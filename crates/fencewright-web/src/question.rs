//! What every question about a program comes with: its text, and how to look at it.

use std::sync::Arc;
use std::time::Duration;

use fencewright::engine::{self, Engine};
use fencewright::frontend::{self, Frontend};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::{Diagnostic, Severity, Source};
use fencewright::watch::{Limits, LimitsMonitor, heeding};
use serde::{Deserialize, Serialize};

use crate::api::{Refused, Said};
use crate::asked::Asked;
use crate::http::Status;
use crate::server::Settings;

/// So long may it take to read a program.
const READING: Duration = Duration::from_secs(10);

/// A program, as the page sends it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    text: String,
    language: String,
    model: String,
    #[serde(default)]
    engine: Option<String>,
    #[serde(default)]
    ask: Option<String>,
}

/// A program that has a meaning, and how to look at it.
pub(crate) struct Understood {
    /// What it means.
    pub program: Program,
    /// Who read it.
    pub frontend: &'static dyn Frontend,
    /// Constants that got other values.
    pub defines: Vec<(String, i64)>,
    /// The memory model.
    pub model: Model,
    /// Who searches.
    pub engine: &'static dyn Engine,
    /// What is asked.
    pub asked: Asked,
    /// What is worth a look.
    pub warnings: Vec<Mistake>,
}

/// Something about a place of a text; lines and columns count from 1.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Mistake {
    severity: &'static str,
    /// The file it is in, if it is not the one that the page shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u32,
    column: u32,
    message: String,
    label: String,
    help: Option<String>,
}

impl Question {
    /// What it is about.
    ///
    /// # Errors
    /// A name that is not known, or what is wrong with the program.
    pub(crate) fn understand(&self, settings: &Settings) -> Result<Understood, Refused> {
        let unknown = |what: &str, name: &str| Refused::new(Status::BadRequest, format!("unknown {what} `{name}`"));
        let frontend = settings.frontends.iter().copied().find(|it| it.name() == self.language);
        let frontend = frontend.ok_or_else(|| unknown("language", &self.language))?;
        let model = Model::ALL.into_iter().find(|it| it.name() == self.model);
        let model = model.ok_or_else(|| unknown("model", &self.model))?;
        let name = self.engine.as_deref().unwrap_or(engine::AUTO);
        let engine = engine::named(name).ok_or_else(|| unknown("engine", name))?;
        let name = self.ask.as_deref().unwrap_or(engine::SAFETY);
        let asked = Asked::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| unknown("question", name))?;
        let source = Source::new(settings.source.name(), self.text.as_str());
        let limits = Limits { time: Some(READING), bytes: None };
        let lowered = heeding(Arc::new(LimitsMonitor::start(limits, None)), || {
            frontend::parse_with(frontend, &source, &mut settings.source.clone(), &settings.defines)
        });
        let lowered = lowered.map_err(|stop| Refused::new(Status::Unprocessable, format!("not read: {stop}")))?;
        let mistakes = lowered.diagnostics.iter().map(|it| Mistake::new(&lowered.source, it)).collect();
        let Some(program) = lowered.program else {
            let said = Said { diagnostics: mistakes, ..Said::of("the program has mistakes") };
            return Err(Refused { status: Status::Unprocessable, said });
        };
        let defines = settings.defines.clone();
        Ok(Understood { program, frontend, defines, model, engine, asked, warnings: mistakes })
    }
}

impl Mistake {
    fn new(source: &Source, diagnostic: &Diagnostic) -> Self {
        let at = source.position(diagnostic.span.start);
        Self {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            file: source.other_name(diagnostic.span.start).map(str::to_owned),
            line: at.line,
            column: at.column,
            message: diagnostic.message.clone(),
            label: diagnostic.label.clone(),
            help: diagnostic.help.clone(),
        }
    }
}
