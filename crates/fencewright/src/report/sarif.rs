//! SARIF 2.1.0, for code scanning and editors: one log, one result per finding, and one for each other property of
//! an unsafe one.
//!
//! | verdict | result |
//! |---|---|
//! | unsafe | an error at the property or statement, the run as a code flow with a thread flow for each thread |
//! | fixed by fences | an error, each minimal set as a fix with its insertions |
//! | unknown | a warning with the reason |
//! | safe, correct | kind `pass` |
//! | wrong input, warnings | a result at the place, and a notification (`sarif_notes`) |
//!
//! A step that has no place of its own, a flush, is shown at the store it belongs to.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value as Json, json};

use crate::analysis::blame::{Blame, blame};
use crate::engine::{Answer, Judged, SAFETY, Verdict};
use crate::frontend::rewrite::Edit;
use crate::memory::Origin;
use crate::program::{LocationId, ProcessId, Program};
use crate::report::steps::{Kind, describe};
use crate::report::trace_text::sentences;
use crate::report::words::{Fullness, Words};
use crate::report::{
    Ending, FenceFinding, Finding, Frame, Look, Report, Tested, Verification, c11, copies, property, race, sarif_notes,
    violated,
};
use crate::source::{Source, Span, path_of};
use crate::synth::{Outcome, Synthesis};
use crate::system::{Effect, Run};

/// For code scanning: one SARIF log.
#[derive(Clone, Copy, Debug)]
pub struct Sarif;

/// Between two results.
const BETWEEN: &str = ",\n";

/// So many minimal sets are offered as fixes.
const MAX_FIXES: usize = 20;

impl Report for Sarif {
    fn name(&self) -> &'static str {
        "sarif"
    }

    fn about(&self) -> &'static str {
        "for code scanning and editors: one SARIF 2.1.0 log"
    }

    fn frame(&self) -> Frame {
        let rule = |id: &str, text: &str| json!({"id": id, "shortDescription": {"text": text}});
        let rules = [
            rule("unsafe", "A run of the memory model violates the program's properties."),
            rule("hang", "In a run of the memory model threads wait for ever."),
            rule("race", "Two accesses to data that is not atomic are not ordered."),
            rule("not-robust", "The program behaves otherwise than under sequential consistency, which is no bug."),
            rule("undecided", "It is not known whether the program is correct under the memory model."),
            rule("safe", "No run of the memory model violates the program's properties."),
            rule("certificate", "A certificate was checked."),
            rule("expectation", "The program's header says what must come out."),
        ];
        let of_notes = sarif_notes::rules();
        let driver = json!({
            "name": "fencewright",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules.iter().chain(&of_notes).collect::<Vec<_>>(),
            "notifications": of_notes,
        });
        let open = format!(
            "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\
             \"tool\":{{\"driver\":{driver}}},\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
        );
        Frame { open, between: BETWEEN.to_owned() }
    }

    fn close(&self, ending: &Ending<'_>) -> String {
        let results: Vec<String> = sarif_notes::results(ending.notes).iter().map(ToString::to_string).collect();
        let first = if ending.n_told > 0 && !results.is_empty() { BETWEEN } else { "" };
        let invocation = sarif_notes::invocation(ending.notes);
        format!("{first}{}\n],\"invocations\":[{invocation}]}}]}}\n", results.join(BETWEEN))
    }

    fn wants_repairs(&self) -> bool {
        true
    }

    fn finding(&self, finding: &Finding<'_>, _look: Look) -> String {
        let model = finding.model;
        let program = finding.program;
        let asked = match finding.question {
            SAFETY => String::new(),
            other => format!(" ({other})"),
        };
        let mut result = match finding.answer {
            Ok(Answer { verdict: Verdict::Unsafe(run), .. }) => unsafe_result(finding.file, program, run),
            Ok(Answer { verdict: Verdict::Safe, .. }) => {
                let shown = finding.shown().map_or(String::new(), |it| format!(": {it}"));
                let every = copies::for_every(program);
                pass(&format!("safe under {model}{every}{asked}{shown}"), &whole(finding.file))
            }
            Ok(Answer { verdict: Verdict::Unknown(_), .. }) | Err(_) => {
                let reason = told(finding.reason(), finding.advice());
                undecided(&format!("undecided under {model}{asked}: {reason}"), &whole(finding.file))
            }
        };
        result["properties"] = json!({
            "model": model.name(), "engine": finding.engine(),
            "command": finding.command.name(), "seconds": finding.seconds,
        });
        let others = other_properties(finding).into_iter().map(|mut it| {
            it["properties"] = result["properties"].clone();
            it.to_string()
        });
        std::iter::once(result.to_string()).chain(others).collect::<Vec<_>>().join(BETWEEN)
    }

    fn fences(&self, finding: &FenceFinding<'_>, _look: Look) -> String {
        let models = finding.under(" and ");
        let mut result = match finding.answer {
            Ok(Synthesis { outcome: Outcome::Correct, .. }) => {
                pass(&format!("correct under {models} without further fences"), &whole(finding.file))
            }
            Ok(Synthesis { outcome: Outcome::Fixed(_), .. }) => fixed(finding),
            Ok(Synthesis { outcome: Outcome::Unfixable(run, _), .. }) => {
                let mut result = unsafe_result(finding.file, finding.program, run);
                let text =
                    format!("{}. No fence set helps: {}", text_of(&result), told(finding.reason(), finding.advice()));
                result["message"] = json!({"text": text});
                result
            }
            Ok(Synthesis { outcome: Outcome::Unknown(_), .. }) | Err(_) => {
                let reason = told(finding.reason(), finding.advice());
                undecided(&format!("fences undecided under {models}: {reason}"), &whole(finding.file))
            }
        };
        result["properties"] = json!({
            "model": finding.under(","), "engine": finding.engine(),
            "command": finding.command.name(), "seconds": finding.seconds,
        });
        result.to_string()
    }

    fn tested(&self, tested: &Tested<'_>, _look: Look) -> String {
        let how = match tested.verdict() {
            "passed" => ("pass", "none"),
            "failed" => ("fail", "error"),
            _ => ("fail", "warning"),
        };
        let mut location = whole(tested.file);
        location["physicalLocation"]["region"]["startLine"] = json!(tested.line);
        result("expectation", how, &tested.sentence(), &location).to_string()
    }

    fn verification(&self, verification: &Verification<'_>, _look: Look) -> String {
        let (verdict, reason) = (verification.verdict(), verification.reason());
        let text = format!("{}: {verdict}{}", verification.path, reason.map_or(String::new(), |it| format!(": {it}")));
        let is_valid = verification.result.is_ok();
        let (kind, level) = if is_valid { ("pass", "none") } else { ("fail", "error") };
        result("certificate", (kind, level), &text, &whole(verification.file)).to_string()
    }
}

/// A reason, and what to do about it.
fn told(reason: Option<String>, advice: Option<&str>) -> String {
    let reason = reason.unwrap_or_else(|| "no reason is known".to_owned());
    advice.map_or(reason.clone(), |advice| format!("{reason} ({advice})"))
}

fn text_of(result: &Json) -> &str {
    result["message"]["text"].as_str().unwrap_or_default()
}

fn result(rule: &str, (kind, level): (&str, &str), text: &str, location: &Json) -> Json {
    json!({"ruleId": rule, "kind": kind, "level": level, "message": {"text": text}, "locations": [location]})
}

fn pass(text: &str, location: &Json) -> Json {
    result("safe", ("pass", "none"), text, location)
}

fn undecided(text: &str, location: &Json) -> Json {
    result("undecided", ("fail", "warning"), text, location)
}

/// A file, as a URI reference: what cannot stand in one is escaped.
pub(super) fn artifact(file: &str) -> Json {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let escape = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    json!({"uri": path_of(file).bytes().map(escape).collect::<String>()})
}

/// The first line of a file: code scanning shows only results that have a place.
fn whole(file: &str) -> Json {
    json!({"physicalLocation": {"artifactLocation": artifact(file), "region": {"startLine": 1}}})
}

fn region(source: &Source, span: Span) -> Json {
    let (start, end) = (source.position(span.start), source.position(span.end));
    json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column})
}

/// A place; `file` is how the main file was named.
fn place(file: &str, program: &Program, span: Span) -> Json {
    let file = program.source().other_name(span.start).unwrap_or(file);
    json!({"physicalLocation": {"artifactLocation": artifact(file), "region": region(program.source(), span)}})
}

fn unsafe_result(file: &str, program: &Program, run: &Run) -> Json {
    let program = run.program(program);
    let violated = violated(program, run);
    let why = blame(program, run);
    let sentences = sentences(program, run).join(" ");
    let (rule, level, word) = match violated.kind {
        "hang" => ("hang", "error", "hangs"),
        "race" => ("race", "error", "races"),
        "robust" => ("not-robust", "note", "not robust"),
        _ => ("unsafe", "error", "unsafe"),
    };
    let text = format!("{word} under {}: {}. {sentences}", run.model, violated.with_name());
    let mut result = result(rule, ("fail", level), &text, &place(file, program, violated.span));
    if let Some((span, text)) = race::other(program, run).or_else(|| c11::other(program, run)) {
        let mut other = place(file, program, span);
        other["id"] = json!(1);
        other["message"] = json!({"text": text});
        result["relatedLocations"] = json!([other]);
    }
    result["codeFlows"] =
        json!([{"message": {"text": "the violating run"}, "threadFlows": flows(file, program, run, &why)}]);
    result
}

/// A result for each property but the one whose violation is told first; none where one verdict is that of all.
fn other_properties(finding: &Finding<'_>) -> Vec<Json> {
    let Ok(Answer { verdict: Verdict::Unsafe(first), .. }) = finding.answer else { return Vec::new() };
    let (file, program, model) = (finding.file, finding.program, finding.model);
    let result = |it: &Judged| match &it.verdict {
        Verdict::Unsafe(run) if run.trace.violation == first.trace.violation => None,
        Verdict::Unsafe(run) => Some(unsafe_result(file, program, run)),
        Verdict::Safe | Verdict::Unknown(_) => {
            let what = property::judged(program, it);
            let text = format!("{} under {model}: {}", property::word(&it.verdict), what.with_name());
            let location = place(file, program, what.span);
            Some(match it.verdict {
                Verdict::Safe => pass(&text, &location),
                Verdict::Unsafe(_) | Verdict::Unknown(_) => undecided(&text, &location),
            })
        }
    };
    finding.properties.iter().filter_map(result).collect()
}

/// The steps of each thread, with their order in the run.
fn flows(file: &str, program: &Program, run: &Run, blame: &Blame) -> Vec<Json> {
    let words = Words { program, fullness: Fullness::Compact };
    let mut pending: BTreeMap<(ProcessId, LocationId), VecDeque<Span>> = BTreeMap::new();
    let mut steps: BTreeMap<ProcessId, Vec<Json>> = BTreeMap::new();
    for (i, (event, step)) in run.events.iter().zip(describe(program, &run.trace.start, &run.events)).enumerate() {
        let process = event.step.process;
        let own = step.edge.map(|edge| program.edges()[edge].span);
        let span = match event.effect {
            Effect::Store(x, _, Origin::OwnBuffer) => {
                pending.entry((process, x)).or_default().extend(own);
                own
            }
            Effect::Arrived(x, _) => pending.entry((process, x)).or_default().pop_front(),
            Effect::Local | Effect::Load(..) | Effect::Store(..) | Effect::Rmw(..) | Effect::Fence(_) => own,
            Effect::Locked | Effect::MarkerLeft | Effect::Faulted => own,
        };
        let text = words.cell(event, &step).or_else(|| step.text(program)).unwrap_or_default();
        let mut location = span.map_or_else(|| json!({}), |span| place(file, program, span));
        location["message"] = json!({"text": text});
        let is_culprit = matches!(blame, Blame::Overtaking(it) if it.store == i || it.access == i)
            || matches!(blame, Blame::Unseen(store) if *store == i);
        let importance = match step.kind {
            _ if is_culprit => "essential",
            Kind::Local => "unimportant",
            Kind::Store | Kind::Load | Kind::Rmw | Kind::Fence | Kind::Locked | Kind::Flush => "important",
        };
        let order = i + 1;
        let entry = json!({"location": location, "executionOrder": order, "importance": importance});
        steps.entry(process).or_default().push(entry);
    }
    let flow = |(process, locations): (ProcessId, Vec<Json>)| {
        let name = &program.processes()[process].name;
        json!({"id": name, "message": {"text": format!("thread {name}")}, "locations": locations})
    };
    steps.into_iter().map(flow).collect()
}

/// The fences that are missing, each minimal set as a fix.
fn fixed(finding: &FenceFinding<'_>) -> Json {
    let program = finding.program;
    let (n_sets, models) = (finding.sets().len(), finding.under(" and "));
    let placement = finding.sets().first().map(|set| set.fences.placement(finding.candidates));
    let first = placement.and_then(|it| it.iter().next().map(|(position, _)| program.edges()[position.edge].span));
    let location = first.map_or_else(|| whole(finding.file), |span| place(finding.file, program, span));
    let sets = if n_sets == 1 { "1 minimal set".to_owned() } else { format!("{n_sets} minimal sets") };
    let more = if finding.answer.is_ok_and(|it| it.is_complete) { "" } else { "; there may be more" };
    let text = format!("unsafe under {models} without fences; {sets} of fences make it correct{more}");
    let mut result = result("unsafe", ("fail", "error"), &text, &location);
    let fixes: Vec<Json> = finding.repairs.iter().take(MAX_FIXES).map(|repair| fix(finding, repair)).collect();
    if !fixes.is_empty() {
        result["fixes"] = Json::Array(fixes);
    }
    result
}

/// The edits of a set, file by file.
fn fix(finding: &FenceFinding<'_>, edits: &[Edit]) -> Json {
    let source = finding.program.source();
    let replacement =
        |edit: &Edit| json!({"deletedRegion": region(source, edit.span()), "insertedContent": {"text": edit.text()}});
    let mut changes: Vec<(&str, Vec<Json>)> = Vec::new();
    for edit in edits {
        let file = source.other_name(edit.span().start).unwrap_or(finding.file);
        match changes.last_mut().filter(|it| it.0 == file) {
            Some((_, replacements)) => replacements.push(replacement(edit)),
            None => changes.push((file, vec![replacement(edit)])),
        }
    }
    let lines: Vec<String> = edits.iter().map(|it| source.line_number(it.span().start)).collect();
    let what = if lines.len() == 1 { "a fence" } else { "fences" };
    let changes = changes
        .into_iter()
        .map(|(file, replacements)| json!({"artifactLocation": artifact(file), "replacements": replacements}));
    json!({
        "description": {"text": format!("insert {what} at line {}", lines.join(", "))},
        "artifactChanges": changes.collect::<Vec<_>>(),
    })
}
