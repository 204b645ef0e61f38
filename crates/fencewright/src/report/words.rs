//! What steps, values and buffers are called, for people.

use crate::analysis::blame::edge_of;
use crate::memory::{Buffering, Dialect, Model, Pending, Shown};
use crate::program::{Domain, FenceKind, LocationId, Op, Program, Value};
use crate::report::steps::{Described, Kind, Where};
use crate::system::Event;
use crate::util::Idx;

/// So many entries of a buffer are shown.
const MAX_ENTRIES: usize = 4;

/// What a process has of memory for itself under a model; nothing under SC.
pub(super) fn own_part(model: Model) -> Option<&'static str> {
    match model.buffering(Dialect::default()) {
        Some(Buffering::None) => None,
        Some(Buffering::Fifo | Buffering::PerLocation(_)) => Some("Store buffer"),
        None => Some("View"),
    }
}

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fullness {
    /// What touches memory.
    Compact,
    /// Registers, labels, the contents of buffers, and memory at the end besides.
    Full,
}

/// The words for the steps of a program.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) program: &'a Program,
    pub(super) fullness: Fullness,
}

impl Words<'_> {
    /// What a step did; nothing for what changes nothing that can be seen.
    pub(super) fn cell(&self, event: &Event, step: &Described<'_>) -> Option<String> {
        let location = step.location.unwrap_or_default();
        let value = step.value.map_or(String::new(), |value| self.value_of(location, value));
        let text = match (step.kind, step.place) {
            _ if step.is_fault => format!("{} ✗", step.text(self.program).unwrap_or_default()),
            (Kind::Store, _) if step.is_allocation(self.program) => format!("allocates {location}"),
            (Kind::Store, Some(Where::Buffer)) => {
                let buffer = match self.fullness {
                    Fullness::Compact => String::new(),
                    Fullness::Full => format!(" {}", self.buffer(event.shown[event.step.process].pending())),
                };
                format!("{location} = {value} → buffer{buffer}")
            }
            (Kind::Store, Some(Where::Message(n))) => format!("{location} = {value} → message {n} of {location}"),
            (Kind::Store, _) => format!("{location} = {value} → memory"),
            (Kind::Load, Some(Where::OwnBuffer)) => format!("reads {location} = {value} (from its own buffer)"),
            (Kind::Load, Some(Where::Message(n))) => format!("reads {location} = {value} (message {n})"),
            (Kind::Load, _) => format!("reads {location} = {value} (from memory)"),
            (Kind::Rmw, _) => {
                let old = step.old.map_or(String::new(), |old| self.value_of(location, old));
                if old == value {
                    format!("atomic: reads {location} = {old}")
                } else {
                    format!("atomic: {location} = {old} → {value}")
                }
            }
            (Kind::Fence, _) => fence_text(step.fence, &event.shown[event.step.process]).to_owned(),
            (Kind::Locked, _) => {
                let changed = step.changed.iter().map(|&(x, value)| format!(" {x} = {}", self.value_of(x, value)));
                format!("atomic block:{}", changed.collect::<Vec<_>>().join(","))
            }
            (Kind::Flush, _) if step.fence.is_some() => "⇣ the store fence is passed".to_owned(),
            (Kind::Flush, _) => format!("⇣ {location} = {value} reaches memory"),
            (Kind::Local, _) if step.order(self.program).is_some() => "fence".to_owned(),
            (Kind::Local, _) if self.fullness == Fullness::Full => return self.local(event),
            (Kind::Local, _) => return None,
        };
        Some(step.order(self.program).map_or(text.clone(), |order| format!("{text} [{}]", order.name())))
    }

    /// A step that gives a register of the text another value is shown; the rest is control flow.
    pub(super) fn local(&self, event: &Event) -> Option<String> {
        let edge = edge_of(event)?;
        let register = match &self.program.edges()[edge].op {
            Op::Assign(register, _) | Op::Havoc(register, ..) => *register,
            Op::Assume(_) | Op::Assert(_) | Op::Load(..) | Op::Store(..) => return None,
            Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => return None,
        };
        let process = event.step.process;
        let declared = &self.program.processes()[process].registers[register];
        let value = shown(event.registers[process][register.index()], declared.domain);
        (!declared.name.starts_with('$')).then(|| format!("· {} = {value}", declared.name))
    }

    fn value_of(&self, location: &str, value: Value) -> String {
        let declared = self.program.locations().iter().find(|it| it.name == location);
        shown(value, declared.map_or(Domain::Int, |it| it.domain))
    }

    /// The contents of a buffer, oldest first; of a long one the newest.
    pub(super) fn buffer(&self, pending: &[Pending]) -> String {
        let entries: Vec<String> = pending.iter().map(|it| self.entry(*it)).collect();
        let (lead, from) = match entries.len().checked_sub(MAX_ENTRIES + 1) {
            Some(more) => (format!("… {} more, ", more + 1), more + 1),
            None => (String::new(), 0),
        };
        format!("[{lead}{}]", entries[from..].join(", "))
    }

    /// An entry of a buffer.
    pub(super) fn entry(&self, pending: Pending) -> String {
        match pending {
            Pending::Store(x, value) => {
                format!("{}={}", self.name(x), shown(value, self.program.locations()[x].domain))
            }
            Pending::Marker => "|".to_owned(),
        }
    }

    /// What a process has for itself, an entry each.
    pub(super) fn entries(&self, own: &Shown) -> Vec<String> {
        match own {
            Shown::Buffer(pending) => pending.iter().map(|&it| self.entry(it)).collect(),
            Shown::View(newest) => {
                let entry = |&(x, n, value)| format!("{} (message {n})", self.entry(Pending::Store(x, value)));
                newest.iter().map(entry).collect()
            }
        }
    }

    fn name(&self, x: LocationId) -> &str {
        &self.program.locations()[x].name
    }
}

/// A store fence waits in the buffer only where stores do that it keeps in order.
fn fence_text(kind: Option<FenceKind>, own: &Shown) -> &'static str {
    match kind {
        _ if matches!(own, Shown::View(_)) => "fence",
        Some(FenceKind::StoreStore) if own.pending().last() == Some(&Pending::Marker) => "store fence → buffer",
        Some(FenceKind::StoreStore) => "store fence",
        Some(FenceKind::Full) | None => "fence: the buffer is empty",
    }
}

/// A value as the program writes it.
pub(super) fn shown(value: Value, domain: Domain) -> String {
    match domain {
        Domain::Bool => (value != 0).to_string(),
        Domain::Range(..) | Domain::Int => value.to_string(),
    }
}
