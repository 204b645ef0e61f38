//! A run as one page that needs nothing else: the program, a lane for each thread with its store buffer, memory, and
//! every step to go to.
//!
//! ```text
//!   page.html ⊃ page.css, run.html (markup of a run), data (its states), page.js (draws them)
//! ```
//!
//! What can be read without scripts (program, steps, what did the damage) is markup; the script draws the state after
//! the step that is looked at from the data beside it. All texts are escaped here, or set as text there. Another page
//! takes the parts: [`trace_view`] for a run, [`walk_view`] for a walk by hand, [`RUN_STYLE`] and [`RUN_SCRIPT`].

mod data;
mod rows;
mod walk;

use std::fmt::Write;

use serde_json::Value as Json;

use crate::analysis::blame::{Blame, blame};
use crate::engine::Judged;
use crate::program::Program;
use crate::report::trace_text::{Drawing, sentences};
use crate::report::words::Fullness;
use crate::report::{Look, property, violated};
use crate::source::Style;
use crate::system::Run;
use data::RunData;

pub use walk::{NextStep, Variable, WalkView, variables, walk_view};

/// The style of a run.
pub const RUN_STYLE: &str = include_str!("page.css");
/// The script that draws a run: `fencewright.show(data, root)`, where the markup is below `root`.
pub const RUN_SCRIPT: &str = include_str!("page.js");
const PAGE: &str = include_str!("page.html");
const MARKUP: &str = include_str!("run.html");

/// A run, for a page that has the style and the script.
#[derive(Clone, Debug)]
pub struct TraceView {
    /// What can be read; its texts are escaped.
    pub markup: String,
    /// What the script draws.
    pub data: Json,
}

/// The page of a run of the program in this file.
pub fn trace_page(file: &str, program: &Program, run: &Run, properties: &[Judged]) -> String {
    let view = trace_view(program, run, properties);
    let title = escaped(&format!("{file}: unsafe under {}", run.model));
    let parts = [
        ("title", title.as_str()),
        ("style", RUN_STYLE),
        ("markup", &view.markup),
        ("run", &json(&view.data)),
        ("script", RUN_SCRIPT),
    ];
    fill(PAGE, &parts)
}

/// A run of the program, for a page that has the style and the script.
pub fn trace_view(program: &Program, run: &Run, properties: &[Judged]) -> TraceView {
    let program = run.program(program);
    let violated = violated(program, run);
    let line = program.source().line_name(violated.span);
    let violated = format!("{} ({line})", violated.with_name());
    let blame = blame(program, run);
    let data = RunData::of_run(program, run, &blame, &violated);
    let start = Drawing::new(program, run, Fullness::Compact, (Style::Plain, Look::WIDTH)).start();
    let start = if start.is_empty() { start } else { format!("<p>{}</p>", escaped(start.trim())) };
    let parts = [
        ("violated", escaped(&violated)),
        ("properties", listed(program, properties)),
        ("start", start),
        ("blame", escaped(&sentences(program, run).join(" "))),
        ("source", rows::markup(program)),
        ("steps", steps(&data, &blame)),
    ];
    let markup = fill(MARKUP, &parts.each_ref().map(|(name, text)| (*name, text.as_str())));
    TraceView { markup, data: serde_json::to_value(&data).expect("the types hold nothing but JSON") }
}

/// The verdict of each property, where there is more than one.
fn listed(program: &Program, properties: &[Judged]) -> String {
    if properties.len() < 2 {
        return String::new();
    }
    let item = |it: &Judged| {
        let (word, what) = (property::word(&it.verdict), property::judged(program, it));
        let line = program.source().line_name(what.span);
        format!("<li class=\"{word}\">{word}: {} ({})</li>\n", escaped(&what.with_name()), escaped(&line))
    };
    let items: String = properties.iter().map(item).collect();
    format!("<ul class=\"properties\" aria-label=\"Each property by itself\">\n{items}</ul>\n")
}

/// A page with each `{{name}}` replaced, in one pass: what is put in is not looked at again.
fn fill(page: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(page.len() + parts.iter().map(|it| it.1.len()).sum::<usize>());
    let mut pieces = page.split("{{");
    out += pieces.next().unwrap_or_default();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").expect("the page closes what it opens");
        let (_, text) = parts.iter().find(|part| part.0 == name).expect("the page asks for what there is");
        out += text;
        out += rest;
    }
    out
}

/// The steps, a row for each.
fn steps(data: &RunData<'_>, blame: &Blame) -> String {
    let tag = |i: usize| match blame {
        Blame::Overtaking(it) if it.store == i => " <span class=\"tag\">delayed</span>",
        Blame::Overtaking(it) if it.access == i => " <span class=\"tag\">overtook it</span>",
        Blame::Unseen(store) if *store == i => " <span class=\"tag\">delayed</span>",
        Blame::Stale(Some(load)) if *load == i => " <span class=\"tag\">older message</span>",
        Blame::Overtaking(_) | Blame::Unseen(_) | Blame::Nobody { .. } | Blame::Stale(_) | Blame::Unexamined => "",
    };
    let mut out = String::new();
    for (i, step) in data.steps.iter().enumerate() {
        let class = if step.is_flush { " class=\"flush\"" } else { "" };
        let line = step.line.map_or(String::new(), |line| data.row_name(line));
        let (thread, text) = (escaped(data.threads[step.thread]), escaped(&step.text));
        let number = i + 1;
        let call =
            step.call.as_ref().map_or(String::new(), |it| format!(" <span class=\"call\">{}</span>", escaped(it)));
        let _ = writeln!(
            out,
            "<tr{class}><td>{number}</td><td>{thread}</td><td>{line}</td><td>{text}{call}{}</td></tr>",
            tag(i)
        );
    }
    out
}

/// Text for markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON that cannot end the element it stands in.
fn json(data: &Json) -> String {
    data.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
