//! What the checker says of a certificate.

use serde::Serialize;

use super::copies;
use super::json::SCHEMA_NAME;
use super::notes::{Note, NoteJson, notes_json};
use crate::certificate::{Certificate, Claim, Failure, FenceClaim, FenceOutcome, Question, Subject};
use crate::memory::PsoRmw;
use crate::program::{By, FencePlace, Placement, Program, Side};
use crate::report::Look;
use crate::source::Style;
use crate::util::Idx;

/// What the checker says of a certificate.
#[derive(Clone, Copy, Debug)]
pub struct Verification<'a> {
    /// The program's file, as it was named.
    pub file: &'a str,
    /// The certificate's file, as it was named.
    pub path: &'a str,
    /// The program.
    pub program: &'a Program,
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

    /// What is shown if the certificate is valid: no more than that, and of which program.
    fn shown(&self) -> String {
        let Self { file, certificate, .. } = self;
        let Subject { model, pso_rmw, .. } = certificate.subject;
        let under = match pso_rmw {
            PsoRmw::Location => format!("under {model}"),
            PsoRmw::All => format!("under {model}, where an atomic update waits for all stores"),
        };
        let (says, would) = self.says();
        match &certificate.claim {
            Claim::Safe(..) | Claim::Unsafe(..) => match certificate.claim.laid_over() {
                None => format!("{file} {says} {under}{}{}", self.exceptions(), self.copies()),
                Some(placement) => format!(
                    "with further fences ({}) the program would {would} {under}{}; this says nothing of {file} as \
                     it is",
                    fences_in_words(self.program, placement),
                    self.exceptions()
                ),
            },
            Claim::Fences(claim) => {
                let against = match certificate.subject.question {
                    Question::Safety => "",
                    Question::Hang(_) => " against hangs",
                    Question::Race(_) => " against races",
                    Question::Robust | Question::RobustTrace => " that make it robust",
                };
                format!("the fences of {file}{against} {under}{}: {}", self.exceptions(), sets_in_words(claim))
            }
        }
    }

    /// How many threads it is said of, where the program leaves that open.
    fn copies(&self) -> String {
        match &self.certificate.claim {
            Claim::Safe(..) => copies::for_every(self.program).to_owned(),
            Claim::Unsafe(_, witness) if self.program.is_open() => {
                let n_copies: usize = witness.copies.values().sum();
                format!(", with {n_copies} {}", if n_copies == 1 { "copy" } else { "copies" })
            }
            Claim::Unsafe(..) | Claim::Fences(_) => String::new(),
        }
    }

    /// What is said of the program, and what would be.
    fn says(&self) -> (&'static str, &'static str) {
        let is_safe = matches!(self.certificate.claim, Claim::Safe(..));
        match (&self.certificate.subject.question, is_safe) {
            (Question::Safety, true) => ("is safe", "be safe"),
            (Question::Safety, false) => ("is unsafe", "be unsafe"),
            (Question::Hang(_), true) => ("has no hang", "have no hang"),
            (Question::Hang(_), false) => ("hangs", "hang"),
            (Question::Race(_), true) if self.certificate.subject.model.language().is_some() => {
                ("has no race", "have no race")
            }
            (Question::Race(_), true) => (
                "has no race in any sequentially consistent run, and no two accesses at once",
                "have no race in any sequentially consistent run, and no two accesses at once",
            ),
            (Question::Race(_), false) => ("has a race", "have a race"),
            (Question::Robust, true) => ("is robust", "be robust"),
            (Question::RobustTrace, true) => ("is robust by traces", "be robust by traces"),
            (Question::Robust | Question::RobustTrace, false) => ("is not robust", "not be robust"),
        }
    }

    /// Who may wait.
    fn exceptions(&self) -> String {
        match &self.certificate.subject.question {
            Question::Hang(may_wait) if !may_wait.is_empty() => {
                let places: Vec<String> = may_wait.iter().map(|(thread, label)| format!("{thread}@{label}")).collect();
                format!(", where it may wait at {}", places.join(", "))
            }
            Question::Safety | Question::Hang(_) | Question::Race(_) => String::new(),
            Question::Robust | Question::RobustTrace => String::new(),
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

/// `full after line 3, store-store before line 7`
fn fences_in_words(program: &Program, placement: &Placement) -> String {
    let words = placement.iter().map(|(position, kind)| {
        let side = match position.side {
            Side::Before => "before",
            Side::After => "after",
        };
        // A refused certificate may name any edge.
        match program.edges().get(position.edge) {
            Some(edge) => format!("{} {side} {}", kind.name(), program.source().line_name(edge.span)),
            None => format!("{} {side} edge {}", kind.name(), position.edge.index()),
        }
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What a claim about fences says.
fn sets_in_words(claim: &FenceClaim) -> String {
    let place = match &claim.place {
        FencePlace::AfterStores => "after stores".to_owned(),
        FencePlace::BeforeLoads => "before loads".to_owned(),
        FencePlace::Anywhere => "anywhere".to_owned(),
        FencePlace::Labels(labels) => format!("at {}", labels.join(", ")),
    };
    let kinds: Vec<&str> = claim.kinds.iter().map(|kind| kind.name()).collect();
    let by = match claim.by {
        By::Source => "the same for all members of a family",
        By::Process => "for each process apart",
    };
    let outcome = match &claim.outcome {
        FenceOutcome::Correct(_) => "none is needed".to_owned(),
        FenceOutcome::Fixed { is_complete: true, sets, .. } => format!("{} minimal, and no others", n_sets(sets.len())),
        FenceOutcome::Fixed { is_complete: false, sets, .. } => format!("{} minimal, perhaps more", n_sets(sets.len())),
        FenceOutcome::Unfixable(model, _) => format!("no set is enough, by a run under {model}"),
    };
    format!("{outcome} ({} {place}, {by})", kinds.join(" or "))
}

fn n_sets(n: usize) -> String {
    if n == 1 { "1 set is".to_owned() } else { format!("{n} sets are") }
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
    let (path, said) = (verification.path, verification.shown());
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
    question: &'static str,
    engine: &'static str,
    claim: &'static str,
    /// What is shown, in words; of the program as it is only if no fences lie over it.
    shown: Option<String>,
    laid_over: usize,
    tool: &'a str,
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
            question: verification.certificate.subject.question.name(),
            engine: "checker",
            claim: verification.claim(),
            shown: verification.result.is_ok().then(|| verification.shown()),
            laid_over: verification.certificate.claim.laid_over().map_or(0, |it| it.iter().count()),
            tool: &verification.certificate.subject.tool,
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
