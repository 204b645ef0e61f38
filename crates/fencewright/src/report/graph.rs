//! Runs as execution graphs: who reads from whom, and the writes to each location in their order.
//!
//! Where memory is messages, a run says all of it. The view of a thread behind its step is the place of the message
//! that it wrote or read: writing comes between those before and those behind it, reading is from what is there then.

use serde::Serialize;

use crate::analysis::blame::edge_of;
use crate::memory::Shown;
use crate::program::{LocationId, Order, Program};
use crate::report::c11;
use crate::system::{Effect, Event, Run};
use crate::util::{Idx, IndexVec};

/// An execution graph.
#[derive(Serialize)]
pub(super) struct GraphJson<'a> {
    pub events: Vec<EventJson<'a>>,
    /// Who reads from whom: numbers of events. What was there at the start has none.
    pub reads_from: Vec<(usize, usize)>,
    /// The writes to each location, in modification order.
    pub modification_order: Vec<ModificationJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct EventJson<'a> {
    pub process: &'a str,
    pub kind: &'static str,
    pub order: &'static str,
    pub line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<i64>,
}

#[derive(Serialize)]
pub(super) struct ModificationJson<'a> {
    pub location: &'a str,
    pub events: Vec<usize>,
}

/// The execution graph of a run, if memory is messages or an execution.
pub(super) fn graph_json<'a>(program: &'a Program, run: &'a Run) -> Option<GraphJson<'a>> {
    if run.model.language().is_some() {
        return c11::graph_json(program, run);
    }
    run.model.messaging()?;
    let at_start: IndexVec<LocationId, Vec<Option<usize>>> = program.locations().iter().map(|_| vec![None]).collect();
    let mut made = Making { program, events: Vec::new(), reads_from: Vec::new(), messages: at_start };
    run.events.iter().for_each(|event| made.event(event));
    Some(made.graph())
}

/// A graph in the making.
struct Making<'a> {
    program: &'a Program,
    events: Vec<EventJson<'a>>,
    reads_from: Vec<(usize, usize)>,
    /// The messages of each location; nobody wrote the first.
    messages: IndexVec<LocationId, Vec<Option<usize>>>,
}

impl<'a> Making<'a> {
    fn event(&mut self, event: &Event) {
        let (kind, x, read, written) = match event.effect {
            Effect::Load(x, value, _) | Effect::Rmw(x, value, None) => ("read", Some(x), Some(value), None),
            Effect::Store(x, value, _) => ("write", Some(x), None, Some(value)),
            Effect::Rmw(x, old, Some(new)) => ("update", Some(x), Some(old), Some(new)),
            Effect::Fence(_) => ("fence", None, None, None),
            Effect::Local | Effect::Locked | Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => return,
        };
        let Some(edge) = edge_of(event).map(|edge| &self.program.edges()[edge]) else { return };
        let number = self.events.len();
        self.events.push(EventJson {
            process: &self.program.processes()[event.step.process].name,
            kind,
            order: order(event, edge.order).name(),
            line: self.program.source().line_of(edge.span.start),
            location: x.map(|x| self.program.locations()[x].name.as_str()),
            read,
            written,
        });
        let Some((x, place)) = x.and_then(|x| Some((x, place(event, x)?))) else { return };
        let messages = &mut self.messages[x];
        if written.is_some() {
            messages.insert(place, Some(number));
        }
        if read.is_some() {
            // An update comes right behind what it has read.
            let source = messages[if written.is_some() { place - 1 } else { place }];
            self.reads_from.extend(source.map(|source| (source, number)));
        }
    }

    fn graph(self) -> GraphJson<'a> {
        let of_location = self.program.locations().iter().zip(&self.messages);
        let modification_order = of_location.filter(|(_, messages)| messages.len() > 1).map(|(location, messages)| {
            ModificationJson { location: &location.name, events: messages.iter().copied().flatten().collect() }
        });
        GraphJson { modification_order: modification_order.collect(), events: self.events, reads_from: self.reads_from }
    }
}

/// What the order of the text is for a step.
fn order(event: &Event, order: Order) -> Order {
    match event.effect {
        Effect::Load(..) | Effect::Rmw(_, _, None) => order.of_read(),
        Effect::Store(..) => order.of_write(),
        Effect::Fence(kind) => order.of_fence(kind).unwrap_or(order),
        Effect::Rmw(..) | Effect::Local | Effect::Locked => order,
        Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => order,
    }
}

/// Where the message that a step wrote or read is among those of its location.
fn place(event: &Event, x: LocationId) -> Option<usize> {
    match &event.shown[event.step.process] {
        Shown::View(view) => view.get(x.index()).map(|it| it.1 as usize),
        Shown::Buffer(_) => None,
    }
}
