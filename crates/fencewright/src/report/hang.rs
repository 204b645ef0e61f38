//! A hang in words: who waits for what, and why nobody will ever write it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::analysis::Facts;
use crate::engine::hang::{Waiting, ended, waiting};
use crate::program::{EdgeId, LocationId, ProcessId, Program, PropertyKind};
use crate::report::Violated;
use crate::report::words::shown;
use crate::source::Diagnostic;
use crate::system::{Run, Violation};

/// The warning about a hang that nobody asked for.
pub fn may_hang(program: &Program, run: &Run) -> Diagnostic {
    let violated = violated(program, run);
    let message = format!("{} in some run under {}", violated.text, run.model);
    let help = "`--ask hang` shows it, and whether it is all; `forbid hang except P@l;` names who may wait";
    Diagnostic::warning(violated.span, message).with_label("here").with_help(help)
}

/// Whether a run ends in a hang.
pub(super) fn is_hang(program: &Program, run: &Run) -> bool {
    match run.trace.violation {
        Violation::Property(id) => program.properties()[id].kind == PropertyKind::Hang,
        Violation::Fault(_) => false,
    }
}

/// What the run ends in, at the place where the first thread waits.
pub(super) fn violated(program: &Program, run: &Run) -> Violated {
    let all = waiting(program, run);
    let names: Vec<&str> = all.iter().map(|it| name(program, it.process)).collect();
    let text = match &names[..] {
        [only] => format!("{only} waits for ever"),
        many => format!("{} wait for ever", list(many)),
    };
    let span = all.iter().flat_map(|it| &it.edges).next().map(|&edge| program.edges()[edge].span).unwrap_or_default();
    Violated { kind: "hang", name: None, text, span }
}

/// What happens for ever, a sentence for each thread, and why it stays so.
pub(super) fn sentences(program: &Program, run: &Run) -> Vec<String> {
    let all = waiting(program, run);
    let mut out: Vec<String> = all.iter().map(|it| for_ever(program, it)).collect();
    let ended = ended(program, run);
    let names: Vec<&str> = ended.iter().map(|&it| name(program, it)).collect();
    match &names[..] {
        [] => {}
        [only] => out.push(format!("{only} has ended.")),
        many => out.push(format!("{} have ended.", list(many))),
    }
    let goes_on = |it: &ProcessId| !ended.contains(it) && all.iter().all(|waiting| waiting.process != *it);
    let going: Vec<&str> = program.processes().indices().filter(goes_on).map(|it| name(program, it)).collect();
    match &going[..] {
        [] => {}
        [only] => out.push(format!("{only} goes on, and never writes what is waited for.")),
        many => out.push(format!("{} go on, and never write what is waited for.", list(many))),
    }
    out.extend(why(program, &all));
    out
}

/// `P(0) goes round lines 7 to 8 for ever, reading wake = 0.`
fn for_ever(program: &Program, it: &Waiting) -> String {
    let name = name(program, it.process);
    let lines = lines(program, &it.edges);
    let reads: Vec<String> = it.reads.iter().map(|&(x, value)| holds(program, x, value)).collect();
    match (it.is_blocked, &reads[..]) {
        (true, []) => format!("{name} waits at {lines} for ever."),
        (true, reads) => format!("{name} waits at {lines} for ever, where {}.", list(reads)),
        (false, reads) => format!("{name} goes round {lines} for ever, reading {}.", list(reads)),
    }
}

/// Why what they wait for never comes.
fn why(program: &Program, all: &[Waiting]) -> Vec<String> {
    let writers = &Facts::of(program).writers;
    let read: BTreeSet<LocationId> = all.iter().flat_map(|it| &it.reads).map(|read| read.0).collect();
    let who_writes = |x: LocationId| -> Vec<ProcessId> {
        all.iter().map(|it| it.process).filter(|&process| writers.writes(process, x)).collect()
    };
    let is_each = |it: &Waiting| {
        let others = it.reads.iter().flat_map(|read| who_writes(read.0));
        others.into_iter().any(|other| other != it.process)
    };
    if all.len() > 1 && all.iter().all(is_each) {
        return vec!["This is a deadlock: each waits for what another would have to write first.".to_owned()];
    }
    let nobodys: Vec<&str> =
        read.iter().filter(|&&x| who_writes(x).is_empty()).map(|&x| program.locations()[x].name.as_str()).collect();
    if nobodys.is_empty() { Vec::new() } else { vec![format!("Nobody is left to write {}.", list(&nobodys))] }
}

fn name(program: &Program, process: ProcessId) -> &str {
    &program.processes()[process].name
}

fn holds(program: &Program, x: LocationId, value: i64) -> String {
    let location = &program.locations()[x];
    format!("{} = {}", location.name, shown(value, location.domain))
}

/// `line 7`, `lines 7 to 9`
fn lines(program: &Program, edges: &[EdgeId]) -> String {
    let starts: BTreeMap<u32, String> = edges
        .iter()
        .map(|&edge| program.edges()[edge].span.start)
        .map(|at| (program.source().line_of(at), program.source().line_number(at)))
        .collect();
    match (starts.first_key_value(), starts.last_key_value()) {
        (Some(first), Some(last)) if first != last => format!("lines {} to {}", first.1, last.1),
        (Some((_, only)), _) => format!("line {only}"),
        (None, _) => "its start".to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`
fn list<S: AsRef<str>>(parts: &[S]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// A thread that waits for ever.
#[derive(Serialize)]
pub(super) struct HangJson<'a> {
    thread: &'a str,
    /// The lines that it goes round, or cannot get past.
    r#loop: Vec<u32>,
    reads: BTreeMap<&'a str, i64>,
    blocked: bool,
}

/// The threads that wait for ever, if the run ends in a hang.
pub(super) fn hang_json<'a>(program: &'a Program, run: &Run) -> Option<Vec<HangJson<'a>>> {
    let of = |it: Waiting| {
        let lines = it.edges.iter().map(|&edge| program.source().line_of(program.edges()[edge].span.start));
        HangJson {
            thread: name(program, it.process),
            r#loop: lines.collect::<BTreeSet<_>>().into_iter().collect(),
            reads: it.reads.iter().map(|&(x, value)| (program.locations()[x].name.as_str(), value)).collect(),
            blocked: it.is_blocked,
        }
    };
    is_hang(program, run).then(|| waiting(program, run).into_iter().map(of).collect())
}
