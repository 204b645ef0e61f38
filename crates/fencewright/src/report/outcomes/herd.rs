//! Final states as herd logs them, line by line, so that logs can be compared.
//!
//! Witnesses are counted in final states, where herd counts executions; the lines `Time` and `Hash`, which say nothing
//! about the test, are left out. Where there may be more states, the result is that of herd for loops that it cut off,
//! `Loop Ok` or `Loop No`.

use std::fmt::Write;
use std::path::Path;

use crate::frontend::asked::Quantifier;
use crate::report::outcomes::OutcomeFinding;

/// The log of a test; of a program that asks nothing, as herd has it for a test without a condition. Nothing if no
/// engine takes the program.
pub fn herd_log(finding: &OutcomeFinding<'_>) -> Option<String> {
    let outcomes = finding.answer.ok()?;
    let n_states = outcomes.values.len();
    let (quantifier, condition, n_positive) = match finding.asked() {
        Some((asked, n_positive, _)) => (asked.quantifier, asked.condition.as_str(), n_positive),
        None => (Quantifier::Forall, "true", n_states),
    };
    let n_negative = n_states - n_positive;
    let name = name(finding);
    let mut out = format!("Test {name} {}\nStates {n_states}\n", quantifier.kind());
    for values in finding.values() {
        let parts = finding.shown.iter().zip(values).map(|(it, value)| format!("{}={value};", it.herd));
        let _ = writeln!(out, "{}", parts.collect::<Vec<_>>().join(" "));
    }
    let cut_off = if outcomes.stopped.is_some() { "Loop " } else { "" };
    let result = if quantifier.holds(n_positive, n_negative) { "Ok" } else { "No" };
    let (for_it, against) = match quantifier {
        Quantifier::Exists | Quantifier::Forall => (n_positive, n_negative),
        Quantifier::NotExists => (n_negative, n_positive),
    };
    let observed = match (n_positive, n_negative) {
        (0, _) => "Never",
        (_, 0) => "Always",
        (_, _) => "Sometimes",
    };
    let _ = writeln!(out, "{cut_off}{result}\nWitnesses\nPositive: {for_it} Negative: {against}");
    let _ = writeln!(out, "Condition {} ({condition})", quantifier.word());
    let _ = writeln!(out, "Observation {name} {observed} {n_positive} {n_negative}\n");
    Some(out)
}

/// The name of the test, or that of its file.
fn name(finding: &OutcomeFinding<'_>) -> String {
    let stem = || Path::new(finding.file).file_stem().map_or(String::new(), |it| it.to_string_lossy().into_owned());
    let named = finding.asked.map(|it| it.name.clone()).filter(|it| !it.is_empty());
    named.unwrap_or_else(stem)
}
