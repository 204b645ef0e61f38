//! What each step of a replayed run did, as reports show it.

use crate::analysis::blame::edge_of;
use crate::memory::Origin;
use crate::program::{Called, EdgeId, FenceKind, LocationId, Op, Order, Program, Value};
use crate::report::property::statement;
use crate::source::Span;
use crate::system::{Effect, Event, Start};
use crate::util::IndexVec;

type Memory = IndexVec<LocationId, Value>;

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Store,
    Load,
    Rmw,
    Fence,
    Locked,
    Local,
    Flush,
}

/// Where a store went, or a load found its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    Buffer,
    OwnBuffer,
    Memory,
    Message(u32),
}

/// One step, in the names of the program.
#[derive(Clone, Debug)]
pub(super) struct Described<'a> {
    pub process: &'a str,
    pub kind: Kind,
    /// The edge it belongs to; a flush belongs to none.
    pub edge: Option<EdgeId>,
    pub location: Option<&'a str>,
    /// The value stored, loaded, or left in memory.
    pub value: Option<i64>,
    /// What an atomic update found.
    pub old: Option<i64>,
    pub place: Option<Where>,
    pub fence: Option<FenceKind>,
    /// What a locked block left changed in memory.
    pub changed: Vec<(&'a str, i64)>,
    pub is_fault: bool,
}

impl Described<'_> {
    /// Where its statement stands.
    pub(super) fn span(&self, program: &Program) -> Option<Span> {
        self.edge.map(|edge| program.edges()[edge].span)
    }

    /// The order that the text gives it.
    pub(super) fn order(&self, program: &Program) -> Option<Order> {
        let edge = &program.edges()[self.edge?];
        match (&edge.op, edge.order) {
            (_, Order::Plain) => None,
            // This is all that the machine has of the order of an access beside it.
            (Op::Fence(_), Order::Relaxed) => None,
            (Op::Load(..) | Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Assume(_), order) => {
                (order != Order::default()).then_some(order)
            }
            (Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Locked(_), _) => None,
        }
    }

    /// Whether it stands for memory that comes to be, which writes nothing that the text knows of.
    pub(super) fn is_allocation(&self, program: &Program) -> bool {
        self.edge.is_some_and(|edge| program.edges()[edge].allocates.is_some())
    }

    /// The call that its statement is executed for, if it stands in a function.
    pub(super) fn call<'p>(&self, program: &'p Program) -> Option<&'p Called> {
        self.edge.and_then(|edge| program.edges()[edge].call.as_deref())
    }

    /// Its statement.
    pub(super) fn text(&self, program: &Program) -> Option<String> {
        self.edge.map(|edge| statement(program, edge))
    }
}

/// `push from line 31`, and from where that was called.
pub(super) fn call_text(program: &Program, call: &Called) -> String {
    let own = format!("{} from {}", call.function, program.source().line_name(call.span));
    call.within.as_ref().map_or(own.clone(), |outer| format!("{own}, in {}", call_text(program, outer)))
}

/// The steps of a run from its start on.
pub(super) fn describe<'a>(program: &'a Program, start: &Start, events: &[Event]) -> Vec<Described<'a>> {
    let before = std::iter::once(&start.memory).chain(events.iter().map(|event| &event.memory));
    events.iter().zip(before).map(|(event, before)| describe_event(program, event, before)).collect()
}

/// One step, from what memory held before it.
pub(super) fn describe_event<'a>(program: &'a Program, event: &Event, before: &Memory) -> Described<'a> {
    let name = |location| Some(program.locations()[location].name.as_str());
    let plain = Described {
        process: &program.processes()[event.step.process].name,
        kind: Kind::Local,
        edge: edge_of(event),
        location: None,
        value: None,
        old: None,
        place: None,
        fence: None,
        changed: Vec::new(),
        is_fault: false,
    };
    let at = |kind, location, value, place| Described {
        kind,
        location: name(location),
        value: Some(value),
        place: Some(place),
        ..plain.clone()
    };
    match event.effect {
        Effect::Local => plain,
        Effect::Load(x, value, Origin::OwnBuffer) => at(Kind::Load, x, value, Where::OwnBuffer),
        Effect::Load(x, value, Origin::Memory) => at(Kind::Load, x, value, Where::Memory),
        Effect::Load(x, value, Origin::Message(n)) => at(Kind::Load, x, value, Where::Message(n)),
        Effect::Store(x, value, Origin::OwnBuffer) => at(Kind::Store, x, value, Where::Buffer),
        Effect::Store(x, value, Origin::Memory) => at(Kind::Store, x, value, Where::Memory),
        Effect::Store(x, value, Origin::Message(n)) => at(Kind::Store, x, value, Where::Message(n)),
        Effect::Rmw(x, old, new) => Described { old: Some(old), ..at(Kind::Rmw, x, new.unwrap_or(old), Where::Memory) },
        Effect::Fence(kind) => Described { kind: Kind::Fence, fence: Some(kind), ..plain },
        Effect::Locked => Described { kind: Kind::Locked, changed: changed(program, before, &event.memory), ..plain },
        Effect::Arrived(x, value) => Described { kind: Kind::Flush, location: name(x), value: Some(value), ..plain },
        Effect::MarkerLeft => Described { kind: Kind::Flush, fence: Some(FenceKind::StoreStore), ..plain },
        Effect::Faulted => {
            let kind = plain.edge.map_or(Kind::Local, |edge| kind_of(&program.edges()[edge].op));
            Described { kind, is_fault: true, ..plain }
        }
    }
}

fn changed<'a>(program: &'a Program, before: &Memory, after: &Memory) -> Vec<(&'a str, i64)> {
    let changed = program.locations().iter_enumerated().filter(|(x, _)| before[*x] != after[*x]);
    changed.map(|(x, it)| (it.name.as_str(), after[x])).collect()
}

fn kind_of(op: &Op) -> Kind {
    match op {
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Kind::Local,
        Op::Load(..) => Kind::Load,
        Op::Store(..) => Kind::Store,
        Op::Rmw { .. } => Kind::Rmw,
        Op::Fence(_) => Kind::Fence,
        Op::Locked(_) => Kind::Locked,
    }
}
