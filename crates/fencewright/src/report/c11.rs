//! Runs under what a language promises, in words: the step that sequential consistency does not have, the way by which
//! every sequential order would forbid it, and the link that is missing there.

use crate::analysis::loads_before_stores;
use crate::engine::data_race::RACE;
use crate::memory::{Act, EventId, Write};
use crate::program::{EdgeId, LocationId, Order, Program, PropertyKind};
use crate::report::Violated;
use crate::report::graph::{EventJson, GraphJson, ModificationJson};
use crate::report::words::shown;
use crate::source::Span;
use crate::system::{Action, Effect, Executed, Graph, Link, Run, Violation, Why, executed};

/// What a run ends in, if it is a race or an execution that sequential consistency does not have.
pub(super) fn violated(program: &Program, run: &Run) -> Option<Violated> {
    let told = Told::of(program, run)?;
    match told.kind? {
        PropertyKind::Race => {
            let (first, second) = told.race()?;
            let text = format!(
                "{} of {} by {} races with the {} by {}",
                told.noun(second),
                told.location(second),
                told.name(second),
                told.noun(first),
                told.name(first)
            );
            Some(Violated { kind: RACE, name: None, text, span: program.edges()[told.edge(second)?].span })
        }
        PropertyKind::Trace => {
            let circle = told.circle()?;
            let last = circle.first()?.from;
            let text = format!("{} {}", told.name(last), told.does(last));
            Some(Violated { kind: "robust", name: None, text, span: program.edges()[told.edge(last)?].span })
        }
        PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Final => None,
        PropertyKind::Hang | PropertyKind::Robust => None,
    }
}

/// What `safe` rests on: RC11 lets no load come after a later store, and machines do.
pub(super) fn assumed(program: &Program) -> Option<String> {
    let mut lines: Vec<u32> = (loads_before_stores(program).into_iter())
        .map(|edge| program.source().line_of(program.edges()[edge].span.start))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    let which = match &lines[..] {
        [] => return None,
        [line] => format!("the relaxed load in line {line} comes"),
        lines => format!("the relaxed loads in lines {} come", lines.join(", ")),
    };
    Some(format!("by RC11, which excludes load buffering; {which} before stores, and ARM and POWER may reorder them"))
}

/// What is weak about a run, and why the language allows it; `None` for a model that is none of a language.
pub(super) fn sentences(program: &Program, run: &Run) -> Option<Vec<String>> {
    let told = Told::of(program, run)?;
    let mut out = Vec::new();
    if let (Some(PropertyKind::Race), Some((first, second))) = (told.kind, told.race()) {
        out.push(format!(
            "Nothing orders the {} of {} by {} ({}) before the {} by {} ({}).",
            told.noun(first),
            told.location(first),
            told.name(first),
            told.line_of(first),
            told.noun(second),
            told.name(second),
            told.line_of(second)
        ));
        out.extend(told.unheard(first, second));
    }
    match told.circle() {
        Some(circle) => out.extend(told.weak(&circle)),
        None if told.kind == Some(PropertyKind::Race) => {}
        None => out.push("Sequential consistency has this execution, too: no order of memory is to blame.".to_owned()),
    }
    if told.kind == Some(PropertyKind::Trace) {
        out.push("Not robust is no bug by itself: reordering shows, whether it hurts or not.".to_owned());
    }
    Some(out)
}

/// The other access of a race, and where it stands.
pub(super) fn other(program: &Program, run: &Run) -> Option<(Span, String)> {
    let told = Told::of(program, run)?;
    let (first, _) = told.race().filter(|_| told.kind == Some(PropertyKind::Race))?;
    let text = format!("the {} of {} by {}", told.noun(first), told.location(first), told.name(first));
    Some((program.edges()[told.edge(first)?].span, text))
}

struct Told<'a> {
    program: &'a Program,
    run: &'a Run,
    executed: Executed,
    kind: Option<PropertyKind>,
}

impl<'a> Told<'a> {
    fn of(program: &'a Program, run: &'a Run) -> Option<Self> {
        let kind = match run.trace.violation {
            Violation::Property(id) => Some(program.properties()[id].kind),
            Violation::Fault(_) => None,
        };
        Some(Self { program, run, executed: executed(program, run)?, kind })
    }

    /// The two accesses that race, in the order of the run.
    fn race(&self) -> Option<(usize, usize)> {
        let (a, b) = self.executed.language.axioms(&self.executed.execution).race()?;
        let (a, b) = (self.executed.numbers[&a], self.executed.numbers[&b]);
        Some((a.min(b), a.max(b)))
    }

    /// The circle that sequential consistency forbids, from its last event on.
    fn circle(&self) -> Option<Vec<Link>> {
        let mut circle = Graph::of_execution(&self.executed).cycle()?;
        // The last event reads or writes below another: what made the circle.
        let weak = |link: &Link| matches!(link.why, Why::ReadsBefore(_) | Why::Before(_)) && link.from > link.to;
        let start = circle.iter().enumerate().filter(|it| weak(it.1)).max_by_key(|it| it.1.from)?.0;
        circle.rotate_left(start);
        Some(circle)
    }

    fn edge(&self, number: usize) -> Option<EdgeId> {
        match self.run.events[number].step.action {
            Action::Edge { edge, .. } => Some(edge),
            Action::Fence(_) | Action::Internal(_) => None,
        }
    }

    fn line_of(&self, number: usize) -> String {
        let span = self.edge(number).map(|edge| self.program.edges()[edge].span).unwrap_or_default();
        self.program.source().line_name(span)
    }

    fn name(&self, number: usize) -> &'a str {
        &self.program.processes()[self.run.events[number].step.process].name
    }

    fn location(&self, number: usize) -> &'a str {
        match self.run.events[number].effect {
            Effect::Load(x, ..) | Effect::Store(x, ..) | Effect::Rmw(x, ..) => &self.program.locations()[x].name,
            Effect::Local | Effect::Fence(_) | Effect::Locked => "memory",
            Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => "memory",
        }
    }

    fn value(&self, x: LocationId, value: i64) -> String {
        shown(value, self.program.locations()[x].domain)
    }

    fn noun(&self, number: usize) -> &'static str {
        if self.edge(number).is_some_and(|edge| self.program.edges()[edge].allocates.is_some()) {
            return "allocation";
        }
        if matches!(self.run.events[number].effect, Effect::Load(..)) { "read" } else { "write" }
    }

    /// `reads x = 0`
    fn does(&self, number: usize) -> String {
        let name = |x: LocationId| &self.program.locations()[x].name;
        match self.run.events[number].effect {
            Effect::Load(x, value, _) | Effect::Rmw(x, value, None) => {
                format!("reads {} = {}", name(x), self.value(x, value))
            }
            Effect::Store(x, value, _) => format!("writes {} = {} below another write", name(x), self.value(x, value)),
            Effect::Rmw(x, old, Some(_)) => format!("updates {} = {}", name(x), self.value(x, old)),
            Effect::Local | Effect::Fence(_) | Effect::Locked => "acts".to_owned(),
            Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => "acts".to_owned(),
        }
    }

    /// The weak step, what forbids it under sequential consistency, and what is missing.
    fn weak(&self, circle: &[Link]) -> Vec<String> {
        let (Some(first), rest) = (circle.first(), &circle[1..]) else { return Vec::new() };
        let (weak, passed) = (first.from, first.to);
        let newer = match self.run.events[passed].effect {
            Effect::Store(x, value, _) | Effect::Rmw(x, _, Some(value)) => {
                format!("{} = {}", self.program.locations()[x].name, self.value(x, value))
            }
            Effect::Load(..) | Effect::Rmw(_, _, None) | Effect::Local | Effect::Fence(_) | Effect::Locked => {
                self.location(passed).to_owned()
            }
            Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => self.location(passed).to_owned(),
        };
        let mut out = vec![format!(
            "{} {} ({}), although {}'s {newer} ({}) comes before that in every sequential order: {}.",
            self.name(weak),
            self.does(weak),
            self.line_of(weak),
            self.name(passed),
            self.line_of(passed),
            self.way(passed, rest)
        )];
        out.push(format!("RC11 allows it: {}", self.missing(rest)));
        out
    }

    fn way(&self, start: usize, links: &[Link]) -> String {
        let mut way = self.line_of(start);
        for link in links {
            let how = match link.why {
                Why::Program => "then",
                Why::ReadsFrom(_) => "read by",
                Why::Before(_) => "overwritten by",
                Why::ReadsBefore(_) => "which reads what is overwritten by",
            };
            way += &format!(", {how} {}", self.line_of(link.to));
        }
        way
    }

    /// The first link of the way that the language does not have.
    fn missing(&self, way: &[Link]) -> String {
        let axioms = self.executed.language.axioms(&self.executed.execution);
        let id = |number: usize| self.executed.event(number).expect("it is an access");
        let unheard = way
            .iter()
            .find(|link| matches!(link.why, Why::ReadsFrom(_)) && !axioms.happens_before(id(link.from), id(link.to)));
        if let Some(link) = unheard {
            return self.cause(link.from, link.to);
        }
        let lines: Vec<String> = way
            .iter()
            .filter(|link| link.why == Why::Program)
            .map(|link| format!("between {} and {}", self.line_of(link.from), self.line_of(link.to)))
            .collect();
        match lines.is_empty() {
            true => "nothing else orders these accesses.".to_owned(),
            false => format!("there is no seq_cst fence {}.", lines.join(", nor ")),
        }
    }

    /// Why a read tells the reader nothing.
    fn cause(&self, write: usize, read: usize) -> String {
        let order = |number: usize| self.edge(number).map_or(Order::Relaxed, |edge| self.program.edges()[edge].order);
        let (from, to) = (self.name(write), self.name(read));
        match (order(write).releases(), order(read).acquires()) {
            (_, false) => format!(
                "{} is `{}`, so it tells {to} nothing of what {from} did before {}.",
                self.line_of(read),
                order(read).of_read().name(),
                self.line_of(write)
            ),
            (false, true) => format!(
                "{} is `{}`, so it tells nobody what {from} did before it.",
                self.line_of(write),
                order(write).of_write().name()
            ),
            (true, true) => "what is read here does not come from the release.".to_owned(),
        }
    }

    /// What would have ordered two accesses: a value that went from one thread to the other.
    fn unheard(&self, first: usize, second: usize) -> Option<String> {
        let axioms = self.executed.language.axioms(&self.executed.execution);
        let (a, b) = (self.executed.event(first)?, self.executed.event(second)?);
        let numbers = &self.executed.numbers;
        let pair = numbers.iter().find_map(|(id, &number)| {
            let act = &self.executed.execution.event(*id).act;
            let source = act.source().flatten()?;
            let is_between = id.process == b.process && id.place < b.place;
            let is_from = source.process == a.process && source.place > a.place;
            (is_between && is_from && !axioms.happens_before(source, *id)).then_some((numbers[&source], number))
        });
        pair.map(|(write, read)| {
            let cause = self.cause(write, read);
            let mut letters = cause.chars();
            letters.next().map_or(String::new(), |it| it.to_uppercase().chain(letters).collect())
        })
    }
}

/// The execution graph of a run, if its model is one of a language.
pub(super) fn graph_json<'a>(program: &'a Program, run: &'a Run) -> Option<GraphJson<'a>> {
    let told = Told::of(program, run)?;
    let mut order: Vec<(usize, EventId)> = told.executed.numbers.iter().map(|(id, number)| (*number, *id)).collect();
    order.sort_unstable();
    let place = |id: EventId| order.iter().position(|it| it.1 == id).expect("it is an event");
    let execution = &told.executed.execution;
    let reads = order.iter().enumerate().filter_map(|(i, (_, id))| {
        let source: Write = execution.event(*id).act.source()?;
        source.map(|source| (place(source), i))
    });
    let locations = program.locations().iter_enumerated().zip(&execution.writes);
    let locations = locations.filter(|it| !it.1.is_empty());
    let modification = locations.map(|((_, location), writes)| ModificationJson {
        location: &location.name,
        events: writes.iter().map(|&id| place(id)).collect(),
    });
    let (reads_from, modification_order) = (reads.collect(), modification.collect());
    let events = order.iter().map(|&(number, id)| told.event_json(number, id)).collect();
    Some(GraphJson { events, reads_from, modification_order })
}

impl<'a> Told<'a> {
    fn event_json(&self, number: usize, id: EventId) -> EventJson<'a> {
        let execution = &self.executed.execution;
        let event = execution.event(id);
        let location = event.act.location();
        let at = self.edge(number).map(|edge| self.program.edges()[edge].span.start).unwrap_or_default();
        EventJson {
            process: self.name(number),
            kind: match event.act {
                Act::Read(..) => "read",
                Act::Write(..) => "write",
                Act::Update(..) => "update",
                Act::Fence => "fence",
            },
            order: event.order.name(),
            line: self.program.source().line_of(at),
            location: location.map(|x| self.program.locations()[x].name.as_str()),
            read: location.zip(event.act.source()).map(|(x, source)| execution.written(x, source)),
            written: event.act.written(),
        }
    }
}
