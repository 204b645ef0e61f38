//! What fence synthesis found, for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::engine::StopReason;
use crate::frontend::rewrite::{Edit, Reorder, Spelling};
use crate::memory::Model;
use crate::program::{FenceKind, Program, Side};
use crate::report::trace_text::trace_text_within;
use crate::report::{Command, Detail, Fullness, Look, Note, Refusal, copies, violated};
use crate::source::{Span, Style};
use crate::synth::{Candidate, CandidateId, FenceSet, Outcome, Synthesis, Why};
use crate::util::IndexVec;

/// What fence synthesis found out about one file: under one model, or for several together.
#[derive(Clone, Copy, Debug)]
pub struct FenceFinding<'a> {
    /// What was asked.
    pub command: Command,
    /// The file, as it was named.
    pub file: &'a str,
    /// What the file means.
    pub program: &'a Program,
    /// The memory models; a set is right under every one of them.
    pub models: &'a [Model],
    /// The questions that it answers together, by name.
    pub question: &'a str,
    /// Where fences were allowed.
    pub candidates: &'a IndexVec<CandidateId, Candidate>,
    /// What was found.
    pub answer: Result<&'a Synthesis, &'a Refusal>,
    /// The first set as a unified diff, where that was asked for.
    pub diff: Option<&'a str>,
    /// How the sets are written into the text, where that was asked for.
    pub repairs: &'a [Vec<Edit>],
    /// The orders that each set writes; nothing where no order can be changed.
    pub orders: &'a [Vec<Reorder>],
    /// How fences are spelled in the language of the file.
    pub spelling: Spelling,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that the process ever held, in bytes, where the system tells.
    pub peak_rss: Option<u64>,
    /// Where the certificate is, where one was written.
    pub certificate: Option<&'a str>,
    /// What was said of the input.
    pub notes: &'a [Note],
}

impl FenceFinding<'_> {
    /// The models, for people and for machines by what stands between two.
    pub(super) fn under(&self, between: &str) -> String {
        self.models.iter().map(|model| model.name()).collect::<Vec<_>>().join(between)
    }

    /// The engine that answered, or did not.
    pub(super) fn engine(&self) -> &'static str {
        match self.answer {
            Ok(synthesis) => synthesis.engine,
            Err(refusal) => refusal.engine,
        }
    }

    /// `correct`, `fixed`, `unfixable` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match self.answer.map(|it| &it.outcome) {
            Ok(Outcome::Correct) => "correct",
            Ok(Outcome::Fixed(_)) => "fixed",
            Ok(Outcome::Unfixable(..)) => "unfixable",
            Ok(Outcome::Unknown(_)) | Err(_) => "unknown",
        }
    }

    /// Why there is no answer, or not all of it.
    pub(super) fn reason(&self) -> Option<String> {
        match self.answer {
            Ok(Synthesis { outcome: Outcome::Unknown(reason), .. }) => Some(reason.to_string()),
            Ok(Synthesis { outcome: Outcome::Unfixable(_, Why::UnsafeUnderSc), .. }) => {
                Some("unsafe under sequential consistency".to_owned())
            }
            Ok(Synthesis { outcome: Outcome::Unfixable(_, Why::NoCandidate), .. }) => {
                Some("no fence at these places stops the run".to_owned())
            }
            Ok(Synthesis { stopped, .. }) => stopped.as_ref().map(ToString::to_string),
            Err(refusal) => Some(refusal.unsupported.reason.clone()),
        }
    }

    /// What to do about that.
    pub(super) fn advice(&self) -> Option<&str> {
        match self.answer {
            Ok(Synthesis { outcome: Outcome::Unfixable(_, Why::UnsafeUnderSc), .. }) => None,
            Ok(Synthesis { outcome: Outcome::Unfixable(_, Why::NoCandidate), .. }) => {
                Some("allow other places with `--place anywhere`, and all kinds")
            }
            Ok(Synthesis { stopped, .. }) => stopped.as_ref().and_then(StopReason::advice),
            Err(refusal) => Some(refusal.unsupported.help.as_str()).filter(|it| !it.is_empty()),
        }
    }

    /// The sets found.
    pub(super) fn sets(&self) -> &[FenceSet] {
        match self.answer.map(|it| &it.outcome) {
            Ok(Outcome::Fixed(sets)) => sets,
            Ok(Outcome::Correct | Outcome::Unfixable(..) | Outcome::Unknown(_)) | Err(_) => &[],
        }
    }
}

/// The text for people.
pub(super) fn text(finding: &FenceFinding<'_>, look: Look) -> String {
    let mut out = verdict_line(finding, look.style);
    if look.detail != Detail::Quiet {
        let sets = finding.sets();
        for (i, set) in sets.iter().enumerate() {
            if sets.len() > 1 {
                let _ = writeln!(out, "  set {} of {}, cost {}:", i + 1, sets.len(), set.cost);
            }
            let orders = finding.orders.get(i).map_or(&[][..], |it| it);
            out += &set_text(finding, set, look.style);
            orders.iter().for_each(|it| out += &order_text(finding.program, it, look.style));
        }
        out += &reach(finding);
        if let Some(advice) = finding.advice() {
            let _ = writeln!(out, "  = help: {advice}");
        }
        if let Ok(Synthesis { outcome: Outcome::Unfixable(run, _), .. }) = finding.answer {
            out += &trace_text_within(finding.program, run, Fullness::Compact, (look.style, look.width));
        }
    }
    if let Some(path) = finding.certificate {
        let _ = writeln!(out, "  certificate: {path}");
    }
    if let (Detail::Verbose, Ok(synthesis)) = (look.detail, finding.answer) {
        let _ = writeln!(
            out,
            "  {}: {} checks, {} states looked at, {} clauses, {:.3} s",
            synthesis.engine,
            synthesis.checks,
            synthesis.explored,
            synthesis.clauses.len(),
            finding.seconds
        );
    }
    out
}

fn verdict_line(finding: &FenceFinding<'_>, style: Style) -> String {
    let color = match finding.verdict() {
        "correct" | "fixed" => "1;32",
        "unfixable" => "1;31",
        _ => "1;33",
    };
    let rest = match finding.answer.map(|it| &it.outcome) {
        Ok(Outcome::Correct) => format!("{}: no fence is needed", copies::for_every(finding.program)),
        Ok(Outcome::Fixed(sets)) => {
            let smallest = sets.iter().map(|set| set.fences.0.len()).min().unwrap_or(0);
            let ways = if sets.len() == 1 { String::new() } else { format!(", in {} ways", sets.len()) };
            let at_least = if sets.iter().any(|set| set.fences.0.len() > smallest) { " or more" } else { "" };
            let has_orders = finding.candidates.iter().any(|it| it.order.is_some());
            let what = if has_orders { "change" } else { "fence" };
            let every = copies::for_every(finding.program);
            format!(" by {smallest}{at_least} {what}{}{ways}{every}", if smallest == 1 { "" } else { "s" })
        }
        Ok(Outcome::Unfixable(run, why)) => {
            let violated = violated(finding.program, run);
            let line = finding.program.source().line_name(violated.span);
            let bad = format!("{} ({line}){}", violated.with_name(), copies::with(run));
            match why {
                Why::UnsafeUnderSc => format!(": no fence helps, it is unsafe under sc: {bad}"),
                Why::NoCandidate if finding.models.len() > 1 => {
                    format!(": no fence at these places prevents {bad} under {}", run.model)
                }
                Why::NoCandidate => format!(": no fence at these places prevents {bad}"),
            }
        }
        Ok(Outcome::Unknown(_)) | Err(_) => format!(": {}", finding.reason().unwrap_or_default()),
    };
    format!("{}: {} under {}{rest}\n", finding.file, paint(style, color, finding.verdict()), finding.under(" and "))
}

fn paint(style: Style, color: &str, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Colored => format!("\x1b[{color}m{text}\x1b[0m"),
    }
}

/// A fence in the text, and who gets it.
type Shown = (Span, Side, FenceKind);

/// The lines of a set, each fence as it would be written.
fn set_text(finding: &FenceFinding<'_>, set: &FenceSet, style: Style) -> String {
    let source = finding.program.source();
    let mut shown: BTreeMap<Shown, Vec<&str>> = BTreeMap::new();
    for (&candidate, &kind) in &set.fences.0 {
        let it = &finding.candidates[candidate];
        if it.order.is_some() {
            continue;
        }
        shown.entry((it.span, it.side, kind)).or_default().push(&it.owner);
    }
    let mut out = String::new();
    for ((span, side, kind), owners) in shown {
        let byte = if side == Side::After { span.end.max(1) - 1 } else { span.start };
        let file = source.file_of(byte);
        let (_, text) = file.line(file.line_of(byte));
        let indent = &text[..text.len() - text.trim_start().len()];
        let code = format!("{:>6} | {text}\n", source.line_number(byte));
        let notes = [beside(source.slice(span), text, side), for_whom(finding.program, &owners)];
        let notes = notes.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let notes = if notes.is_empty() { notes } else { format!("    // {notes}") };
        let fence = paint(style, "32", &format!("     + | {indent}{}{notes}", finding.spelling.of(kind))) + "\n";
        out += &match side {
            Side::Before => fence + &code,
            Side::After => code + &fence,
        };
    }
    out
}

/// An order that is written in place of another.
fn order_text(program: &Program, order: &Reorder, style: Style) -> String {
    let source = program.source();
    let file = source.file_of(order.access.start);
    let (_, text) = file.line(file.line_of(order.access.start));
    let indent = &text[..text.len() - text.trim_start().len()];
    let why = if order.is_companion { "    // needed by C11, free on x86" } else { "" };
    let change = format!("     ~ | {indent}{} instead of {}{why}", order.to.name(), order.from.name());
    format!("{:>6} | {text}\n{}\n", source.line_number(order.access.start), paint(style, "32", &change))
}

/// Which part of the line the fence belongs to, where the line is more than the statement.
fn beside(operation: &str, line: &str, side: Side) -> Option<String> {
    let code = line.split("//").next().unwrap_or(line).trim();
    let code = if operation.ends_with(';') { code } else { code.trim_end_matches(';') };
    let last = operation.lines().last().unwrap_or(operation).trim();
    let side = match side {
        Side::Before => "before",
        Side::After => "after",
    };
    (code != last).then(|| format!("{side} `{}`", operation.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Which members of a family get the fence, where not all of them share it.
fn for_whom(program: &Program, owners: &[&str]) -> Option<String> {
    let is_member =
        |owner: &&str| program.processes().iter().any(|it| it.name == **owner && *program.family(it) != **owner);
    owners.iter().any(is_member).then(|| format!("in {}", owners.join(", ")))
}

/// What the list of sets leaves open.
fn reach(finding: &FenceFinding<'_>) -> String {
    let Ok(Synthesis { outcome: Outcome::Fixed(sets), is_complete, stopped, .. }) = finding.answer else {
        return String::new();
    };
    let sentence = match (is_complete, stopped) {
        (true, _) if sets.len() == 1 => "No other minimal set exists.".to_owned(),
        (true, _) => "These are all the minimal sets.".to_owned(),
        (false, Some(reason)) => format!("There may be other sets; some could not be decided: {reason}."),
        (false, None) => "There may be other sets.".to_owned(),
    };
    format!("  {sentence}\n")
}
