//! Forms of output, and the only serializable types.
//!
//! ```text
//!   Finding ─▶ steps (what each step did) ─▶ json
//!                    │                  ╲─▶ trace_text ─▶ human
//!                    │                  ╲─▶ page (the run to walk through) ◀── Walk (steps chosen by hand)
//!                    ╰─▶ blame (which reordering did the damage) ─▶ trace_text
//!   FenceFinding ─▶ fences, fences_json
//!   OutcomeFinding, WitnessFinding ─▶ outcomes (text, json, the log of herd)
//!   all of them ─▶ sarif
//!   Verification ─▶ certificates
//!   Diagnostic ─▶ Note (what is said of the input, for machines) ─▶ json, sarif
//!   Placement ─▶ patch (the repaired source)
//! ```
//!
//! A report turns one [`Finding`] into text. It decides nothing: the verdict, the run and the reason are given.

mod c11;
mod certificates;
mod copies;
mod fences;
mod fences_json;
mod graph;
mod hang;
mod human;
mod json;
mod notes;
mod orders;
mod outcomes;
mod page;
pub mod patch;
mod property;
mod race;
mod release_acquire;
mod robust;
mod sarif;
mod sarif_notes;
mod steps;
mod tested;
mod trace_text;
mod vacuous;
mod words;

use crate::engine::data_race::RACE;
use crate::engine::{Answer, Judged, StopReason, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::Program;
use crate::source::Style;

pub use crate::analysis::blame::{Blame, Overtaking, blame};
pub use certificates::Verification;
pub use fences::FenceFinding;
pub use hang::may_hang;
pub use human::Human;
pub use json::{Json, SCHEMA, SCHEMA_NAME};
pub use notes::{Note, Place, WrongInput};
pub use orders::OrdersFinding;
pub use outcomes::{OutcomeFinding, Shown, WitnessFinding, herd_log, parts, shown, variable, without_outcome};
pub use page::{
    NextStep, RUN_SCRIPT, RUN_STYLE, TraceView, Variable, WalkView, trace_page, trace_view, variables, walk_view,
};
pub use property::{Violated, violated};
pub use sarif::Sarif;
pub use tested::Tested;
pub use trace_text::trace_text;
pub use vacuous::vacuous;
pub use words::Fullness;

/// What was found out about one file under one model.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'a> {
    /// What was asked.
    pub command: Command,
    /// The file, as it was named.
    pub file: &'a str,
    /// What the file means.
    pub program: &'a Program,
    /// The memory model.
    pub model: Model,
    /// The name of the question that it answers.
    pub question: &'static str,
    /// What the engine says.
    pub answer: Result<&'a Answer, &'a Refusal>,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that the process ever held, in bytes, where the system tells.
    pub peak_rss: Option<u64>,
    /// Where the certificate is, where one was written.
    pub certificate: Option<&'a str>,
    /// What was said of the input.
    pub notes: &'a [Note],
    /// The verdict of each property, in the order of the text.
    pub properties: &'a [Judged],
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Is it correct?
    Check,
    /// Show a violating run, in full.
    Trace,
    /// Which fences make it correct?
    Fence,
    /// Is it correct, and why?
    Certify,
}

impl Command {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Trace => "trace",
            Self::Fence => "fence",
            Self::Certify => "certify",
        }
    }
}

/// An engine that did not take the task.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The engine.
    pub engine: &'static str,
    /// Why.
    pub unsupported: Unsupported,
}

/// How much is shown, and whether in color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Colors.
    pub style: Style,
    /// How much.
    pub detail: Detail,
    /// How many characters fit on a line.
    pub width: usize,
}

impl Look {
    /// So many fit where nobody knows better.
    pub const WIDTH: usize = 100;
    /// No line is made narrower than this.
    pub const MIN_WIDTH: usize = 60;
}

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The verdict alone.
    Quiet,
    /// The verdict, and a violating run.
    Normal,
    /// What it took besides.
    Verbose,
}

/// What stands around the texts of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Before the first.
    pub open: String,
    /// Between two.
    pub between: String,
}

/// What is known when all findings have been told.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// How many texts were told.
    pub n_told: usize,
    /// All that was said of the input.
    pub notes: &'a [Note],
}

/// One form of output.
pub trait Report: Sync {
    /// Its name, for `--format`.
    fn name(&self) -> &'static str;
    /// What it is for, in one line.
    fn about(&self) -> &'static str;
    /// What the texts of all findings stand in.
    fn frame(&self) -> Frame {
        Frame::default()
    }
    /// What stands after the last of them.
    fn close(&self, ending: &Ending<'_>) -> String {
        let _ = ending;
        String::new()
    }
    /// The text for an expectation that was tested; empty where nobody wants to know.
    fn tested(&self, tested: &Tested<'_>, look: Look) -> String;
    /// The text for input that means nothing; empty where that is told elsewhere.
    fn wrong(&self, wrong: &WrongInput<'_>) -> String {
        let _ = wrong;
        String::new()
    }
    /// Whether it shows how each fence set is written.
    fn wants_repairs(&self) -> bool {
        false
    }
    /// The text for one finding; it ends in a newline where there is no frame.
    fn finding(&self, finding: &Finding<'_>, look: Look) -> String;
    /// The text for what fence synthesis found, ending in a newline.
    fn fences(&self, finding: &FenceFinding<'_>, look: Look) -> String;
    /// The text for the final states of a program; empty where nobody wants to know.
    fn outcomes(&self, finding: &OutcomeFinding<'_>, look: Look) -> String {
        let _ = (finding, look);
        String::new()
    }
    /// The text for a run that ends as was asked for; empty where nobody wants to know.
    fn witness(&self, finding: &WitnessFinding<'_>, look: Look) -> String {
        let _ = (finding, look);
        String::new()
    }
    /// The text for the orders that a program needs; empty where nobody wants to know.
    fn orders(&self, finding: &OrdersFinding<'_>, look: Look) -> String {
        let _ = (finding, look);
        String::new()
    }
    /// The text for what the checker says of a certificate, ending in a newline.
    fn verification(&self, verification: &Verification<'_>, look: Look) -> String;
}

/// Every report. The command line and its help iterate over this list.
pub const ALL: &[&dyn Report] = &[&Human, &Json, &Sarif];

/// The report with this name.
pub fn named(name: &str) -> Option<&'static dyn Report> {
    ALL.iter().copied().find(|report| report.name() == name)
}

impl Finding<'_> {
    /// `safe`, `unsafe` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        self.answer.map_or("unknown", |answer| property::word(&answer.verdict))
    }

    /// The engine that answered, or did not.
    fn engine(&self) -> &'static str {
        match self.answer {
            Ok(answer) => answer.engine,
            Err(refusal) => refusal.engine,
        }
    }

    /// What `safe` has shown, where that is less than the question asks.
    fn shown(&self) -> Option<String> {
        let is_safe = matches!(self.answer, Ok(Answer { verdict: Verdict::Safe, .. }));
        match (is_safe, self.model.language()) {
            (true, Some(_)) => c11::assumed(self.program),
            (true, None) if self.model.messaging().is_some() => release_acquire::assumed(self.program, self.question),
            (true, None) if self.question == RACE => Some(race::shown(self.program, self.model)),
            (true | false, _) => None,
        }
    }

    /// Why there is no answer, if there is none.
    fn reason(&self) -> Option<String> {
        match self.answer {
            Ok(Answer { verdict: Verdict::Unknown(reason), .. }) => Some(reason.to_string()),
            Ok(Answer { verdict: Verdict::Safe | Verdict::Unsafe(_), .. }) => None,
            Err(refusal) => Some(refusal.unsupported.reason.clone()),
        }
    }

    /// What to do about that.
    fn advice(&self) -> Option<&str> {
        match self.answer {
            Ok(Answer { verdict: Verdict::Unknown(reason), .. }) => StopReason::advice(reason),
            Ok(Answer { verdict: Verdict::Safe | Verdict::Unsafe(_), .. }) => None,
            Err(refusal) => Some(refusal.unsupported.help.as_str()).filter(|it| !it.is_empty()),
        }
    }
}
