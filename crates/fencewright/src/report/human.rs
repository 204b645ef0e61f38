//! For people: the verdict in one line, then the run.

use std::fmt::Write;

use crate::engine::{Answer, SAFETY, Verdict};
use crate::report::trace_text::trace_text_within;
use crate::report::{
    Command, Detail, FenceFinding, Finding, Fullness, Look, OrdersFinding, OutcomeFinding, Report, Tested,
    Verification, WitnessFinding, WrongInput, certificates, copies, fences, orders, outcomes, property, tested,
    violated,
};
use crate::source::Style;

/// For people.
#[derive(Clone, Copy, Debug)]
pub struct Human;

impl Report for Human {
    fn name(&self) -> &'static str {
        "human"
    }

    fn about(&self) -> &'static str {
        "for people: the verdict in one line, then the run"
    }

    fn wrong(&self, wrong: &WrongInput<'_>) -> String {
        let (Some(_), Some(file)) = (wrong.stopped, wrong.file) else { return String::new() };
        let why = wrong.notes.iter().rfind(|note| note.is_error());
        let mut out = format!("{file}: unknown: {}\n", why.map_or("", |it| &it.message));
        if let Some(help) = why.and_then(|it| it.help.as_deref()) {
            let _ = writeln!(out, "  = help: {help}");
        }
        out
    }

    fn finding(&self, finding: &Finding<'_>, look: Look) -> String {
        let mut out = verdict_line(finding, look.style);
        if look.detail != Detail::Quiet {
            if let Some(advice) = finding.advice() {
                let _ = writeln!(out, "  = help: {advice}");
            }
            if let Ok(Answer { verdict: Verdict::Unsafe(run), .. }) = finding.answer {
                let fullness = match finding.command {
                    Command::Check | Command::Fence | Command::Certify => Fullness::Compact,
                    Command::Trace => Fullness::Full,
                };
                out += &trace_text_within(finding.program, run, fullness, (look.style, look.width));
                out += &properties(finding, look.style);
            }
        }
        if let Some(path) = finding.certificate {
            let _ = writeln!(out, "  certificate: {path}");
        }
        if look.detail == Detail::Verbose {
            out += &stats_line(finding);
        }
        out
    }

    fn fences(&self, finding: &FenceFinding<'_>, look: Look) -> String {
        fences::text(finding, look)
    }

    fn outcomes(&self, finding: &OutcomeFinding<'_>, look: Look) -> String {
        outcomes::text::outcomes(finding, look)
    }

    fn witness(&self, finding: &WitnessFinding<'_>, look: Look) -> String {
        outcomes::text::witness(finding, look)
    }

    fn orders(&self, finding: &OrdersFinding<'_>, look: Look) -> String {
        orders::text(finding, look)
    }

    fn tested(&self, tested: &Tested<'_>, look: Look) -> String {
        tested::text(tested, look)
    }

    fn verification(&self, verification: &Verification<'_>, look: Look) -> String {
        certificates::text(verification, look)
    }
}

fn verdict_line(finding: &Finding<'_>, style: Style) -> String {
    let paint = |color: &str, text: &str| match style {
        Style::Plain => text.to_owned(),
        Style::Colored => format!("\x1b[{color}m{text}\x1b[0m"),
    };
    let (word, rest) = match finding.answer {
        Ok(Answer { verdict: Verdict::Safe, .. }) => {
            let shown = finding.shown().map_or(String::new(), |it| format!(": {it}"));
            (paint("1;32", "safe"), copies::for_every(finding.program).to_owned() + &shown)
        }
        Ok(Answer { verdict: Verdict::Unsafe(run), .. }) => {
            let violated = violated(finding.program, run);
            let line = finding.program.source().line_name(violated.span);
            (paint("1;31", "unsafe"), format!("{}: {} ({line})", copies::with(run), violated.with_name()))
        }
        Ok(Answer { verdict: Verdict::Unknown(_), .. }) | Err(_) => {
            (paint("1;33", "unknown"), format!(": {}", finding.reason().unwrap_or_default()))
        }
    };
    let asked = match finding.question {
        SAFETY => String::new(),
        other => format!(" ({other})"),
    };
    format!("{}: {word} under {}{asked}{rest}\n", finding.file, finding.model)
}

/// The verdict of each property, where there is more than one; wrong uses of memory where there are some.
fn properties(finding: &Finding<'_>, style: Style) -> String {
    let judged = finding.properties.iter().map(|it| (it, property::judged(finding.program, it)));
    let told: Vec<_> =
        judged.filter(|(it, what)| what.kind != "memory" || matches!(it.verdict, Verdict::Unsafe(_))).collect();
    if told.len() < 2 {
        return String::new();
    }
    let mut out = "  Each property by itself:\n".to_owned();
    for (it, what) in told {
        let word = property::word(&it.verdict);
        let color = match it.verdict {
            Verdict::Safe => "32",
            Verdict::Unsafe(_) => "31",
            Verdict::Unknown(_) => "33",
        };
        let word = match style {
            Style::Plain => format!("{word:<7}"),
            Style::Colored => format!("\x1b[{color}m{word:<7}\x1b[0m"),
        };
        let _ = writeln!(out, "    {word}  {} ({})", what.with_name(), finding.program.source().line_name(what.span));
    }
    out
}

fn stats_line(finding: &Finding<'_>) -> String {
    let Ok(answer) = finding.answer else { return String::new() };
    let stats = &answer.stats;
    let mut line = format!(
        "  {}: {} states looked at, {} kept in {} ({} B each), {:.3} s",
        answer.engine,
        stats.explored,
        stats.kept,
        bytes(stats.bytes),
        stats.bytes / stats.kept.max(1),
        finding.seconds
    );
    if let Some(peak) = finding.peak_rss {
        let _ = write!(line, ", {} at most", bytes(peak));
    }
    if let Verdict::Unsafe(run) = &answer.verdict {
        let shortest = if stats.is_shortest { "the shortest there is" } else { "perhaps not the shortest" };
        let _ = write!(line, "; {} steps, {shortest}", run.events.len());
    }
    line + "\n"
}

fn bytes(n: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| n >= *size);
    unit.map_or_else(|| format!("{n} B"), |(size, name)| format!("{:.1} {name}", n as f64 / *size as f64))
}
