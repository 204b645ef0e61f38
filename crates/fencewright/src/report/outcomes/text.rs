//! Final states for people: one line each, and what is claimed of them.

use std::fmt::Write;

use crate::engine::Verdict;
use crate::program::{Domain, Property, Value};
use crate::report::outcomes::{OutcomeFinding, Shown, WitnessFinding};
use crate::report::trace_text::witness_text;
use crate::report::words;
use crate::report::{Detail, Look};
use crate::source::Style;

/// The final states of a file.
pub(in crate::report) fn outcomes(finding: &OutcomeFinding<'_>, look: Look) -> String {
    let (file, model) = (finding.file, finding.model);
    let Ok(found) = finding.answer else {
        let reason = finding.reason().unwrap_or_default();
        return format!("{file}: {} under {model}: {reason}\n", paint(look.style, "1;33", "unknown"))
            + &advice(finding);
    };
    let count = match (found.values.len(), &found.stopped) {
        (0, None) => "no outcome".to_owned(),
        (1, None) => "1 outcome".to_owned(),
        (n, None) => format!("{n} outcomes"),
        (1, Some(_)) => "at least 1 outcome".to_owned(),
        (n, Some(_)) => format!("at least {n} outcomes"),
    };
    let (color, rest) = match finding.reason() {
        Some(reason) => ("1;33", format!(": {reason}")),
        None if found.values.is_empty() => ("1", ": in no run do all threads end".to_owned()),
        None => ("1", String::new()),
    };
    let mut out = format!("{file}: {} under {model}{rest}\n", paint(look.style, color, &count));
    if look.detail != Detail::Quiet {
        out += &advice(finding);
        out += &states(finding, look.style);
        out += &claims(finding);
    }
    if look.detail == Detail::Verbose {
        let _ =
            writeln!(out, "  {}: {} states looked at, {:.3} s", found.engine, found.stats.explored, finding.seconds);
    }
    out
}

/// Whether a run ends so, and one that does.
pub(in crate::report) fn witness(finding: &WitnessFinding<'_>, look: Look) -> String {
    let (file, model) = (finding.file, finding.model);
    let (word, color) = match finding.verdict() {
        "possible" => ("possible", "1"),
        "impossible" => ("impossible", "1"),
        _ => ("unknown", "1;33"),
    };
    let values: Vec<(&Shown, Value)> = finding.wanted.iter().map(|(it, value)| (it, *value)).collect();
    let state = state(&values);
    let rest = finding.reason().map_or(String::new(), |reason| format!(": {reason}"));
    let mut out = format!("{file}: {} under {model}: {state}{rest}\n", paint(look.style, color, word));
    if look.detail == Detail::Quiet {
        return out;
    }
    if let Some(advice) = finding.advice() {
        let _ = writeln!(out, "  = help: {advice}");
    }
    if let Ok(answer) = finding.answer
        && let Verdict::Unsafe(run) = &answer.verdict
    {
        out += &witness_text(finding.program, run, &state, (look.style, look.width));
    }
    out
}

fn advice(finding: &OutcomeFinding<'_>) -> String {
    finding.advice().map_or(String::new(), |advice| format!("  = help: {advice}\n"))
}

/// One line for each final state; those that are marked are those that the claims are about.
fn states(finding: &OutcomeFinding<'_>, style: Style) -> String {
    let mut out = String::new();
    for values in finding.values() {
        let shown: Vec<(&Shown, Value)> = finding.shown.iter().zip(values.iter().copied()).collect();
        let is_marked = match finding.asked {
            Some(_) => finding.satisfies(values) == Some(1),
            None => finding.properties().any(|it| finding.is_forbidden(it, values)),
        };
        let line = format!("{} {}", if is_marked { "*" } else { " " }, state(&shown));
        let _ = writeln!(out, "{}", if is_marked { paint(style, "1", line.trim_end()) } else { line });
    }
    out
}

/// What the text claims of final states.
fn claims(finding: &OutcomeFinding<'_>) -> String {
    if let Some((asked, n_positive, n_negative)) = finding.asked() {
        let (word, condition, n) = (asked.quantifier.word(), &asked.condition, n_positive + n_negative);
        return format!("  * {word} ({condition}): {n_positive} of {n}\n");
    }
    let mut out = String::new();
    let n_of = |property: &Property| finding.values().filter(|it| finding.is_forbidden(property, it)).count();
    for property in finding.properties().filter(|it| n_of(it) > 0) {
        let line = finding.program.source().line_name(property.span);
        let _ = writeln!(out, "  * forbidden: {} ({line})", property.says(None));
    }
    out
}

/// `P0:EAX=0; x=1;`
fn state(values: &[(&Shown, Value)]) -> String {
    let value = |value: Value, domain: Domain| words::shown(value, domain);
    let parts = values.iter().map(|(it, held)| format!("{}={};", it.name, value(*held, it.domain)));
    parts.collect::<Vec<_>>().join(" ")
}

fn paint(style: Style, color: &str, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Colored => format!("\x1b[{color}m{text}\x1b[0m"),
    }
}
