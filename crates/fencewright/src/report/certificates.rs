//! What the checker says of a certificate.

use serde::Serialize;

use super::json::SCHEMA_NAME;
use super::notes::{Note, NoteJson, notes_json};
use crate::certificate::{Certificate, Claim, Failure};
use crate::report::Look;
use crate::source::Style;

/// What the checker says of a certificate.
#[derive(Clone, Copy, Debug)]
pub struct Verification<'a> {
    /// The program's file, as it was named.
    pub file: &'a str,
    /// The certificate's file, as it was named.
    pub path: &'a str,
    /// The certificate.
    pub certificate: &'a Certificate,
    /// What the checker says.
    pub result: &'a Result<(), Failure>,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that the process ever held, in bytes, where the system tells.
    pub peak_rss: Option<u64>,
    /// What was said of the input.
    pub notes: &'a [Note],
}

impl Verification<'_> {
    fn claim(&self) -> &'static str {
        match self.certificate.claim {
            Claim::Safe(..) => "safe",
            Claim::Unsafe(..) => "unsafe",
            Claim::Fences(_) => "fences",
        }
    }

    pub(super) fn verdict(&self) -> &'static str {
        match self.result {
            Ok(()) => "valid",
            Err(Failure::Refused(_)) => "refused",
            Err(Failure::Stopped(_)) => "unknown",
        }
    }

    pub(super) fn reason(&self) -> Option<String> {
        match self.result {
            Ok(()) => None,
            Err(Failure::Refused(why)) => Some(why.clone()),
            Err(Failure::Stopped(stop)) => Some(stop.to_string()),
        }
    }
}

/// For people.
pub(super) fn text(verification: &Verification<'_>, look: Look) -> String {
    let color = match verification.result {
        Ok(()) => "1;32",
        Err(Failure::Refused(_)) => "1;31",
        Err(Failure::Stopped(_)) => "1;33",
    };
    let verdict = match look.style {
        Style::Plain => verification.verdict().to_owned(),
        Style::Colored => format!("\x1b[{color}m{}\x1b[0m", verification.verdict()),
    };
    let Verification { file, path, certificate, .. } = verification;
    let model = certificate.subject.model;
    let said = match certificate.claim {
        Claim::Safe(..) | Claim::Unsafe(..) => format!("{file} is {} under {model}", verification.claim()),
        Claim::Fences(_) => format!("the fences of {file} under {model}"),
    };
    match verification.reason() {
        None => format!("{path}: {verdict}: {said}\n"),
        Some(reason) => format!("{path}: {verdict}: {reason}\n"),
    }
}

/// For programs.
#[derive(Serialize)]
pub(super) struct VerifyLine<'a> {
    schema: &'static str,
    command: &'static str,
    file: &'a str,
    certificate: &'a str,
    model: &'static str,
    engine: &'static str,
    claim: &'static str,
    verdict: &'static str,
    reason: Option<String>,
    property: Option<()>,
    trace: Option<()>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<NoteJson<'a>>,
    stats: StatsJson,
}

#[derive(Serialize)]
struct StatsJson {
    seconds: f64,
    explored: u64,
    peak_rss_bytes: Option<u64>,
}

impl<'a> VerifyLine<'a> {
    pub(super) fn new(verification: &'a Verification<'a>) -> Self {
        Self {
            schema: SCHEMA_NAME,
            command: "verify",
            file: verification.file,
            certificate: verification.path,
            model: verification.certificate.subject.model.name(),
            engine: "checker",
            claim: verification.claim(),
            verdict: verification.verdict(),
            reason: verification.reason(),
            property: None,
            trace: None,
            diagnostics: notes_json(verification.notes),
            stats: StatsJson {
                seconds: (verification.seconds * 1e6).round() / 1e6,
                explored: 0,
                peak_rss_bytes: verification.peak_rss,
            },
        }
    }
}
