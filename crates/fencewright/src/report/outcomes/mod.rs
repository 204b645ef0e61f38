//! Final states, for people, for programs, and as herd logs them.
//!
//! ```text
//!   Program, Asked ─▶ shown (what is seen, and its names)
//!   OutcomeFinding ─▶ text, herd_log, json
//!   WitnessFinding ─▶ text, json
//! ```

mod herd;
pub(super) mod json;
mod names;
pub(super) mod text;

use crate::engine::{Answer, Outcomes, StopReason, Verdict};
use crate::frontend::asked::{Asked, Quantifier};
use crate::memory::Model;
use crate::program::{EdgeId, Program, Property, PropertyKind, StateVar, Value};
use crate::report::{Note, Refusal};
use crate::source::Diagnostic;

pub use herd::herd_log;
pub use names::{Shown, parts, shown, variable};

/// The final states of one file under one model.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeFinding<'a> {
    /// The file, as it was named.
    pub file: &'a str,
    /// What the file means.
    pub program: &'a Program,
    /// The memory model.
    pub model: Model,
    /// What is seen of final states, in the order of their values.
    pub shown: &'a [Shown],
    /// What the file asks about them, if it does.
    pub asked: Option<&'a Asked>,
    /// What was found.
    pub answer: Result<&'a Outcomes, &'a Refusal>,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that the process ever held, in bytes, where the system tells.
    pub peak_rss: Option<u64>,
    /// What was said of the input.
    pub notes: &'a [Note],
}

/// Whether a run of one file under one model ends so.
#[derive(Clone, Copy, Debug)]
pub struct WitnessFinding<'a> {
    /// The file, as it was named.
    pub file: &'a str,
    /// The program with the outcome as its property.
    pub program: &'a Program,
    /// The memory model.
    pub model: Model,
    /// What the run ends with.
    pub wanted: &'a [(Shown, Value)],
    /// What an engine says of the property.
    pub answer: Result<&'a Answer, &'a Refusal>,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that the process ever held, in bytes, where the system tells.
    pub peak_rss: Option<u64>,
    /// What was said of the input.
    pub notes: &'a [Note],
}

/// What is noteworthy about runs that have no outcome.
pub fn without_outcome(program: &Program, outcomes: &Outcomes) -> Vec<Diagnostic> {
    let edges: std::collections::BTreeSet<EdgeId> = outcomes.faults.iter().map(|it| it.edge()).collect();
    let mut spans: Vec<_> = edges.into_iter().map(|edge| program.edges()[edge].span).collect();
    spans.sort_unstable();
    spans.dedup();
    let warning = |span| {
        let help = "such a run goes no further; `fencewright check` shows one";
        Diagnostic::warning(span, "some runs go wrong here, and have no outcome").with_help(help)
    };
    spans.into_iter().map(warning).collect()
}

impl OutcomeFinding<'_> {
    /// `complete` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        if self.is_complete() { "complete" } else { "unknown" }
    }

    fn is_complete(&self) -> bool {
        self.answer.is_ok_and(|it| it.stopped.is_none())
    }

    fn engine(&self) -> &'static str {
        self.answer.map_or_else(|refusal| refusal.engine, |it| it.engine)
    }

    /// Why there may be more.
    fn reason(&self) -> Option<String> {
        match self.answer {
            Ok(outcomes) => outcomes.stopped.as_ref().map(reason),
            Err(refusal) => Some(refusal.unsupported.reason.clone()),
        }
    }

    /// What to do about that.
    fn advice(&self) -> Option<&str> {
        match self.answer {
            Ok(outcomes) => outcomes.stopped.as_ref().and_then(StopReason::advice),
            Err(refusal) => Some(refusal.unsupported.help.as_str()).filter(|it| !it.is_empty()),
        }
    }

    fn values(&self) -> impl Iterator<Item = &[Value]> {
        self.answer.ok().into_iter().flat_map(|it| it.values.iter().map(Vec::as_slice))
    }

    /// The properties that can be told of from what is seen.
    fn properties(&self) -> impl Iterator<Item = &Property> {
        let is_seen = |variable: &StateVar| self.shown.iter().any(|it| it.variable == *variable);
        let can_tell = move |property: &&Property| {
            let mut sees_all = property.kind == PropertyKind::Final;
            for situation in &property.situations {
                situation.condition.for_each_var(&mut |variable| sees_all &= is_seen(variable));
            }
            sees_all
        };
        self.program.properties().iter().filter(can_tell)
    }

    /// Whether a final state is one that a property forbids.
    fn is_forbidden(&self, property: &Property, values: &[Value]) -> bool {
        let value_of = |variable: &StateVar| {
            let i = self.shown.iter().position(|it| it.variable == *variable);
            i.map_or(0, |i| values[i])
        };
        property.situations.iter().any(|it| it.condition.eval(&value_of).is_ok_and(|value| value != 0))
    }

    /// What the file asks, and how many final states satisfy it, and how many do not; if that can be seen.
    fn asked(&self) -> Option<(&Asked, usize, usize)> {
        let asked = self.asked?;
        let n_values = self.values().count();
        let n_positive = self.values().map(|it| self.satisfies(it)).sum::<Option<usize>>()?;
        Some((asked, n_positive, n_values - n_positive))
    }

    /// 1 if a final state satisfies what the file asks, and 0 if not.
    fn satisfies(&self, values: &[Value]) -> Option<usize> {
        let property = self.properties().last()?;
        let is_forbidden = self.is_forbidden(property, values);
        let is_satisfied = match self.asked?.quantifier {
            Quantifier::Exists | Quantifier::NotExists => is_forbidden,
            Quantifier::Forall => !is_forbidden,
        };
        Some(usize::from(is_satisfied))
    }
}

impl WitnessFinding<'_> {
    /// `possible`, `impossible` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match self.answer.map(|it| &it.verdict) {
            Ok(Verdict::Unsafe(_)) => "possible",
            Ok(Verdict::Safe) => "impossible",
            Ok(Verdict::Unknown(_)) | Err(_) => "unknown",
        }
    }

    fn reason(&self) -> Option<String> {
        match self.answer.map(|it| &it.verdict) {
            Ok(Verdict::Unknown(stop)) => Some(reason(stop)),
            Ok(Verdict::Safe | Verdict::Unsafe(_)) => None,
            Err(refusal) => Some(refusal.unsupported.reason.clone()),
        }
    }

    fn advice(&self) -> Option<&str> {
        match self.answer.map(|it| &it.verdict) {
            Ok(Verdict::Unknown(reason)) => reason.advice(),
            Ok(Verdict::Safe | Verdict::Unsafe(_)) => None,
            Err(refusal) => Some(refusal.unsupported.help.as_str()).filter(|it| !it.is_empty()),
        }
    }
}

/// Why there may be more outcomes; where nothing is missing up to some point, up to which.
fn reason(stop: &StopReason) -> String {
    match stop {
        StopReason::BufferBound(n) => format!("with more than {n} buffered stores per thread there may be others"),
        StopReason::UnboundedData(n) => format!("beyond {n} states there may be others; `int` data is unbounded"),
        StopReason::States(n) => format!("beyond {n} states there may be others"),
        StopReason::Unproved(why) => why.clone(),
        StopReason::Timeout | StopReason::Memory | StopReason::Interrupted | StopReason::Constraints(_) => {
            stop.to_string()
        }
        StopReason::Diverged(_) | StopReason::Alarm(_) | StopReason::Unconfirmed(_) => stop.to_string(),
        StopReason::Slots(_) | StopReason::Pool(_) | StopReason::Overflow | StopReason::Defect(_) => stop.to_string(),
    }
}
