//! Which orders a program needs, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::memory::Model;
use crate::program::{Order, Program};
use crate::report::json::SCHEMA_NAME;
use crate::report::notes::{NoteJson, notes_json};
use crate::report::trace_text::trace_text_within;
use crate::report::{Detail, Fullness, Look, Note, Refusal, violated};
use crate::source::Span;
use crate::synth::orders::{Element, Offered, OrderSet, Orders, Strength, Unfixable, is_fenced, order_of};

/// What was found out about the orders of one file.
#[derive(Clone, Copy, Debug)]
pub struct OrdersFinding<'a> {
    /// The file, as it was named.
    pub file: &'a str,
    /// What the file means.
    pub program: &'a Program,
    /// What the language promises.
    pub model: Model,
    /// What could be chosen.
    pub offered: Offered,
    /// What was found.
    pub answer: Result<&'a Orders, &'a Refusal>,
    /// The first choice as a unified diff, if it is wanted.
    pub diff: Option<&'a str>,
    /// How long it took.
    pub seconds: f64,
    /// What was said of the input.
    pub notes: &'a [Note],
}

impl OrdersFinding<'_> {
    /// `found`, `unfixable` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match self.answer {
            Ok(orders) if !orders.sets.is_empty() => "found",
            Ok(orders) if orders.unfixable.is_some() => "unfixable",
            Ok(_) | Err(_) => "unknown",
        }
    }

    fn reason(&self) -> Option<String> {
        match self.answer {
            Ok(orders) => orders.stopped.as_ref().map(ToString::to_string),
            Err(refusal) => Some(refusal.unsupported.reason.clone()),
        }
    }
}

/// A place of the text, and what a choice makes of it.
struct Chosen {
    span: Span,
    /// The order that stands there, if there is one.
    from: Option<Order>,
    /// The order that it needs; `None` for a fence that it does not need.
    to: Option<Order>,
    is_fence: bool,
}

/// Every place that could be chosen, in the order of the text.
fn places(program: &Program, elements: &[Element], set: &OrderSet) -> Vec<Chosen> {
    let mut all: BTreeMap<(Span, bool), Chosen> = BTreeMap::new();
    for element in elements {
        let is_fence = element.strength.is_of_fence();
        let to = match element.strength {
            Strength::FenceBefore => is_fenced(elements, &set.elements, element.edges[0]).then_some(Order::SeqCst),
            Strength::FenceAcquire | Strength::FenceRelease | Strength::FenceSeqCst => {
                order_of(elements, &set.elements, element.edges[0])
            }
            Strength::Acquire | Strength::Release | Strength::SeqCst => {
                Some(order_of(elements, &set.elements, element.edges[0]).unwrap_or(Order::Relaxed))
            }
        };
        let from = own(program, element);
        all.entry((element.span, !is_fence)).or_insert(Chosen { span: element.span, from, to, is_fence });
    }
    all.into_values().filter(|it| it.from.is_some() || it.to.is_some()).collect()
}

/// What stands in the text.
fn own(program: &Program, element: &Element) -> Option<Order> {
    match element.strength {
        Strength::FenceBefore => None,
        Strength::FenceAcquire | Strength::FenceRelease | Strength::FenceSeqCst => {
            program.edges()[element.edges[0]].fence_order()
        }
        Strength::Acquire | Strength::Release | Strength::SeqCst => {
            let edges = element.edges.iter().map(|&edge| &program.edges()[edge]);
            edges.map(|edge| edge.order.of(&edge.op)).reduce(Order::join)
        }
    }
}

/// What was found, for people.
pub(super) fn text(finding: &OrdersFinding<'_>, look: Look) -> String {
    let head = format!("{}: {}", finding.file, headline(finding));
    let mut out = format!("{head}\n");
    if look.detail == Detail::Quiet {
        return out;
    }
    match finding.answer {
        Err(refusal) => {
            let _ = writeln!(out, "  = help: {}", refusal.unsupported.help);
        }
        Ok(orders) => {
            for (i, set) in orders.sets.iter().enumerate() {
                if i > 0 {
                    let _ = writeln!(out, "  or, at a cost of {}:", set.cost);
                }
                places(finding.program, &orders.elements, set).iter().for_each(|it| out += &line(finding, it));
            }
            if let (true, Some(Unfixable { program, run })) = (orders.sets.is_empty(), &orders.unfixable) {
                let found = violated(program, run);
                let _ = writeln!(out, "  with all of them: {}", found.with_name());
                out += &trace_text_within(program, run, Fullness::Compact, (look.style, look.width));
                if finding.offered == Offered::Own {
                    out += "  = help: `--from stronger` looks for what it lacks\n";
                }
            } else if !orders.sets.is_empty() && orders.stopped.is_none() {
                out += "  No other minimal choice exists.\n";
            }
        }
    }
    out
}

fn headline(finding: &OrdersFinding<'_>) -> String {
    let model = finding.model;
    match (finding.answer, finding.verdict()) {
        (Ok(orders), "found") => {
            let (n, cost) = (orders.sets.len(), orders.sets[0].cost);
            let choices = if n == 1 { "1 minimal choice".to_owned() } else { format!("{n} minimal choices") };
            let more = finding.reason().map(|it| format!(", perhaps more: {it}")).unwrap_or_default();
            format!("{choices} of orders under {model}, at a cost of {cost}{more}")
        }
        (_, "unfixable") => match finding.offered {
            Offered::Own => format!("not correct under {model} as it is"),
            Offered::All | Offered::Stronger => format!("no orders make it correct under {model}"),
        },
        (_, _) => format!("unknown under {model}: {}", finding.reason().unwrap_or_default()),
    }
}

/// `    12 |  store(lock, false, release);    release, as it is`
fn line(finding: &OrdersFinding<'_>, it: &Chosen) -> String {
    let source = finding.program.source();
    let what = match (it.from, it.to, it.is_fence) {
        (Some(Order::Relaxed), Some(Order::Relaxed), false) => "relaxed is enough".to_owned(),
        (Some(from), Some(to), _) if from == to => format!("{} is needed", to.name()),
        (Some(from), Some(to), _) => format!("{} → {}", from.name(), to.name()),
        (Some(from), None, _) => format!("fence({}) is not needed", from.name()),
        (None, Some(to), _) => format!("+ fence({}) before it", to.name()),
        (None, None, _) => String::new(),
    };
    let at = it.span.start;
    let (_, text) = source.file_of(at).line(source.line_of(at));
    format!("  {:>4} | {:<60} {what}\n", source.line_number(at), text.trim())
}

#[derive(Serialize)]
pub(super) struct OrdersLine<'a> {
    schema: &'static str,
    command: &'static str,
    file: &'a str,
    model: &'static str,
    verdict: &'static str,
    reason: Option<String>,
    complete: bool,
    order_sets: Vec<SetJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<NoteJson<'a>>,
    stats: OrdersStats,
}

#[derive(Serialize)]
struct SetJson {
    cost: u64,
    orders: Vec<OrderJson>,
}

#[derive(Serialize)]
struct OrderJson {
    line: u32,
    column: u32,
    kind: &'static str,
    from: Option<&'static str>,
    to: Option<&'static str>,
}

#[derive(Serialize)]
struct OrdersStats {
    seconds: f64,
    checks: u64,
}

impl<'a> OrdersLine<'a> {
    pub(super) fn new(finding: &'a OrdersFinding<'a>) -> Self {
        let sets = finding.answer.map_or(&[][..], |it| &it.sets);
        let of = |set: &OrderSet| {
            let elements = finding.answer.map_or(&[][..], |it| &it.elements);
            let all = places(finding.program, elements, set);
            SetJson { cost: set.cost, orders: all.iter().map(|it| order_json(finding.program, it)).collect() }
        };
        Self {
            schema: SCHEMA_NAME,
            command: "orders",
            file: finding.file,
            model: finding.model.name(),
            verdict: finding.verdict(),
            reason: finding.reason(),
            complete: finding.answer.is_ok_and(|it| it.stopped.is_none()),
            order_sets: sets.iter().map(of).collect(),
            diff: finding.diff,
            diagnostics: notes_json(finding.notes),
            stats: OrdersStats { seconds: finding.seconds, checks: finding.answer.map_or(0, |it| it.n_checks) },
        }
    }
}

fn order_json(program: &Program, it: &Chosen) -> OrderJson {
    let (source, at) = (program.source(), it.span.start);
    OrderJson {
        line: source.line_of(at),
        column: source.position(at).column,
        kind: if it.is_fence { "fence" } else { "order" },
        from: it.from.map(Order::name),
        to: it.to.map(Order::name),
    }
}
