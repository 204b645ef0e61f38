//! Execution graphs: who did what, who read from whom, in which order the writes to each location are.
//!
//! A graph is written down in one way only, whatever order its events came in: events by thread and place, and the
//! writes to each location in modification order. So equal graphs are equal values.

use crate::program::{LocationId, Order, ProcessId, Value};
use crate::util::Idx;

/// An event: a thread, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// Whose.
    pub process: ProcessId,
    /// Which of its events, from 0.
    pub place: u32,
}

/// A write: an event, or what was there at the start.
pub type Write = Option<EventId>;

/// What an event does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Reads a location, from a write to it.
    Read(LocationId, Write),
    /// Writes a value to it.
    Write(LocationId, Value),
    /// Reads it, and writes a value, in one step.
    Update(LocationId, Write, Value),
    /// A fence.
    Fence,
}

impl Act {
    /// The location.
    pub fn location(&self) -> Option<LocationId> {
        match *self {
            Self::Read(x, _) | Self::Write(x, _) | Self::Update(x, ..) => Some(x),
            Self::Fence => None,
        }
    }

    /// The write that it reads from, if it reads.
    pub fn source(&self) -> Option<Write> {
        match *self {
            Self::Read(_, source) | Self::Update(_, source, _) => Some(source),
            Self::Write(..) | Self::Fence => None,
        }
    }

    /// What it writes, if it writes.
    pub fn written(&self) -> Option<Value> {
        match *self {
            Self::Write(_, value) | Self::Update(_, _, value) => Some(value),
            Self::Read(..) | Self::Fence => None,
        }
    }
}

/// An event of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What it does.
    pub act: Act,
    /// Its order.
    pub order: Order,
}

/// An execution graph. Initial writes are no events; they come before everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Execution {
    /// What locations held at the start.
    pub initial: Vec<Value>,
    /// The events of each thread, in program order.
    pub threads: Vec<Vec<Event>>,
    /// The writes to each location, in modification order, without the initial one.
    pub writes: Vec<Vec<EventId>>,
}

impl Execution {
    /// Nothing has happened yet.
    pub fn new(initial: Vec<Value>, n_processes: usize) -> Self {
        Self { writes: vec![Vec::new(); initial.len()], threads: vec![Vec::new(); n_processes], initial }
    }

    /// An event.
    pub fn event(&self, id: EventId) -> &Event {
        &self.threads[id.process.index()][id.place as usize]
    }

    /// All writes to a location, in modification order.
    pub fn all_writes(&self, x: LocationId) -> impl Iterator<Item = Write> + '_ {
        std::iter::once(None).chain(self.writes[x.index()].iter().copied().map(Some))
    }

    /// What a write wrote.
    pub fn written(&self, x: LocationId, write: Write) -> Value {
        let value = write.map(|it| self.event(it).act.written().expect("it is a write"));
        value.unwrap_or(self.initial[x.index()])
    }

    /// What the last write to a location wrote.
    pub fn last(&self, x: LocationId) -> Value {
        self.written(x, self.writes[x.index()].last().copied())
    }

    /// The same with one more event of a thread; a write comes right after another one in modification order.
    #[must_use]
    pub fn with(&self, process: ProcessId, event: Event, after: Write) -> Self {
        let mut next = self.clone();
        let place = u32::try_from(self.threads[process.index()].len()).expect("fewer than 2^32 events");
        if let (Some(x), true) = (event.act.location(), event.act.written().is_some()) {
            let order = &mut next.writes[x.index()];
            let before = after.map(|it| order.iter().position(|&other| other == it).expect("it is a write to it") + 1);
            order.insert(before.unwrap_or(0), EventId { process, place });
        }
        next.threads[process.index()].push(event);
        next
    }
}
