//! A race in words: both accesses, and what would have ordered them.

use serde::Serialize;

use crate::engine::data_race::{Accessed, Missing, RACE, Told, told};
use crate::memory::Model;
use crate::program::{EdgeId, Program, PropertyKind};
use crate::report::Violated;
use crate::source::Span;
use crate::system::{Run, Violation};

/// Whether a run ends in a race.
pub(super) fn is_race(program: &Program, run: &Run) -> bool {
    match run.trace.violation {
        Violation::Property(id) => program.properties()[id].kind == PropertyKind::Race,
        Violation::Fault(_) => false,
    }
}

/// What `safe` has shown.
pub(super) fn shown(program: &Program, model: Model) -> String {
    if program.plain().is_empty() {
        return "no plain data: nothing can race".to_owned();
    }
    let under_sc = "no race in any sequentially consistent run";
    match model == Model::STRONGEST {
        true => under_sc.to_owned(),
        false => format!("{under_sc}, and no two accesses at once under {model}"),
    }
}

/// What the run ends in, at the access that is about to happen.
pub(super) fn violated(program: &Program, run: &Run) -> Option<Violated> {
    let told = told(program, run).filter(|_| is_race(program, run))?;
    let (first, second) = (&told.first, &told.second);
    let location = &program.locations()[told.location].name;
    let text = match told.is_at_once {
        true => format!(
            "{} of {location} by {} and by {} at once",
            both(first, second),
            name(program, first),
            name(program, second)
        ),
        false => format!(
            "{} of {location} by {} races with the {} by {}",
            noun(program, second),
            name(program, second),
            noun(program, first),
            name(program, first)
        ),
    };
    Some(Violated { kind: RACE, name: None, text, span: program.edges()[second.edge].span })
}

/// Where the other access stands, and what it is.
pub(super) fn other(program: &Program, run: &Run) -> Option<(Span, String)> {
    let told = told(program, run)?;
    let location = &program.locations()[told.location].name;
    let text = format!("the {} of {location} by {}", noun(program, &told.first), name(program, &told.first));
    Some((program.edges()[told.first.edge].span, text))
}

/// Both accesses, and why nothing orders them.
pub(super) fn sentences(program: &Program, run: &Run) -> Vec<String> {
    let Some(told) = told(program, run) else { return Vec::new() };
    let Told { first, second, .. } = &told;
    let location = &program.locations()[told.location].name;
    let (one, other) = (name(program, first), name(program, second));
    let (at, also) = (line(program, first.edge), line(program, second.edge));
    if told.is_at_once {
        let (does, too) = (verb(first), verb(second));
        return vec![format!(
            "{one} is about to {does} {location} ({at}) and {other} to {too} it ({also}): nothing orders them."
        )];
    }
    let mut out = vec![format!(
        "Nothing orders the {} of {location} by {one} ({at}) before the {} by {other} ({also}).",
        noun(program, first),
        noun(program, second)
    )];
    match &told.missing {
        Some(missing) => out.extend(causes(program, missing, (one, other))),
        None => out.push(format!("{other} has read nothing since then that {one} wrote after it.")),
    }
    out
}

/// Which order is too weak.
fn causes(program: &Program, missing: &Missing, (one, other): (&str, &str)) -> Vec<String> {
    let location = &program.locations()[missing.location].name;
    let order = |edge: EdgeId| program.edges()[edge].order.name();
    let mut out = Vec::new();
    if missing.is_unreleased {
        let (at, order) = (line(program, missing.write), order(missing.write));
        out.push(format!("{one} wrote {location} ({at}) with `{order}`: that tells nobody what it did before."));
    }
    if missing.is_unacquired {
        let (at, order) = (line(program, missing.read), order(missing.read));
        out.push(format!("{other} read {location} ({at}) with `{order}`: that tells it nothing of what {one} did."));
    }
    out
}

fn name<'p>(program: &'p Program, it: &Accessed) -> &'p str {
    &program.processes()[it.process].name
}

fn line(program: &Program, edge: EdgeId) -> String {
    program.source().line_name(program.edges()[edge].span)
}

fn noun(program: &Program, it: &Accessed) -> &'static str {
    match program.edges()[it.edge].allocates {
        Some(_) => "allocation",
        None => verb(it),
    }
}

fn verb(it: &Accessed) -> &'static str {
    if it.writes { "write" } else { "read" }
}

fn both(first: &Accessed, second: &Accessed) -> &'static str {
    if first.writes && second.writes { "two writes" } else { "a read and a write" }
}

/// A race.
#[derive(Serialize)]
pub(super) struct RaceJson<'a> {
    location: &'a str,
    /// Both are about to happen.
    at_once: bool,
    accesses: [AccessJson<'a>; 2],
    /// Why nothing orders them.
    why: Vec<String>,
}

#[derive(Serialize)]
struct AccessJson<'a> {
    thread: &'a str,
    access: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u32,
}

/// The race that a run ends in, if it ends in one.
pub(super) fn race_json<'a>(program: &'a Program, run: &Run) -> Option<RaceJson<'a>> {
    let told = told(program, run)?;
    let access = |it: &Accessed| {
        let at = program.edges()[it.edge].span.start;
        let (file, line) = (program.source().other_name(at), program.source().line_of(at));
        AccessJson { thread: name(program, it), access: verb(it), file, line }
    };
    Some(RaceJson {
        location: &program.locations()[told.location].name,
        at_once: told.is_at_once,
        accesses: [access(&told.first), access(&told.second)],
        why: sentences(program, run),
    })
}
