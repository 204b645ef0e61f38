//! RC11: what C11 promises, repaired (no cycles of program order and reads-from).
//!
//! A model of axioms has no memory to look at; what it allows is an [`Execution`] graph, or not ([`Axioms`]). Here it
//! is a machine all the same, and the simplest one: its state *is* the graph so far, and an access may act in every way
//! that the axioms allow of the graph with one event more. That is exact, since every beginning of a graph that they
//! allow, along program order and reads-from, is one that they allow.
//!
//! | file | idea |
//! |---|---|
//! | [`execution`] | execution graphs |
//! | [`relation`] | relations between events |
//! | [`axioms`] | what RC11 says of a graph |

mod axioms;
mod execution;
mod relation;

use crate::memory::{Access, Done, Internal, Machine, Origin, Shown, Update};
use crate::program::{LocationId, Op, Order, ProcessId, Program, PropertyKind, Value};

pub use axioms::{Axioms, ReleaseSequence};
pub use execution::{Act, Event, EventId, Execution, Write};

/// RC11.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rc11 {
    /// How far a release goes on.
    pub sequence: ReleaseSequence,
}

impl Rc11 {
    /// What there is to say of an execution.
    pub fn axioms(self, execution: &Execution) -> Axioms<'_> {
        Axioms::new(execution, self.sequence)
    }

    fn load(self, s: &Execution, p: ProcessId, (x, order): (LocationId, Order)) -> Vec<Done<Execution>> {
        let read = |(at, source): (usize, Write)| {
            let event = Event { act: Act::Read(x, source), order: order.of_read() };
            self.done(Some(s.written(x, source)), at, s.with(p, event, None))
        };
        s.all_writes(x).enumerate().filter_map(read).collect()
    }

    fn store(self, s: &Execution, p: ProcessId, x: LocationId, (value, order): (Value, Order)) -> Vec<Done<Execution>> {
        let write = |(at, after): (usize, Write)| {
            let event = Event { act: Act::Write(x, value), order: order.of_write() };
            self.done(None, at + 1, s.with(p, event, after))
        };
        s.all_writes(x).enumerate().filter_map(write).collect()
    }

    fn update(self, s: &Execution, p: ProcessId, x: LocationId, how: (Update<'_>, Order)) -> Vec<Done<Execution>> {
        let (update, order) = how;
        let updated = |(at, source): (usize, Write)| {
            let old = s.written(x, source);
            let event = match update(old)? {
                Some(new) => Event { act: Act::Update(x, source, new), order },
                None => Event { act: Act::Read(x, source), order: order.of_read() },
            };
            self.done(Some(old), at, s.with(p, event, source))
        };
        s.all_writes(x).enumerate().filter_map(updated).collect()
    }

    fn fence(self, s: &Execution, p: ProcessId, order: Order) -> Vec<Done<Execution>> {
        self.done(None, 0, s.with(p, Event { act: Act::Fence, order }, None)).into_iter().collect()
    }

    /// A way to act, if the axioms allow it.
    fn done(self, read: Option<Value>, at: usize, state: Execution) -> Option<Done<Execution>> {
        let origin = Origin::Message(u32::try_from(at).expect("fewer than 2^32 writes"));
        self.axioms(&state).is_consistent().then_some(Done { read, origin, state })
    }
}

impl Machine for Rc11 {
    type State = Execution;

    fn refuses(&self, program: &Program) -> Option<String> {
        if let Some(edge) = program.edges().iter().find(|edge| matches!(edge.op, Op::Locked(_))) {
            let line = program.source().line_name(edge.span);
            return Some(format!("C11 has no `atomic` blocks ({line})"));
        }
        program.properties().iter().find_map(|property| match property.kind {
            PropertyKind::Invariant => {
                let line = program.source().line_name(property.span);
                Some(format!("C11 does not say what memory holds while threads run ({line})"))
            }
            PropertyKind::Hang => Some("hangs are not decided for what C11 promises".to_owned()),
            PropertyKind::Robust => Some("single situations are not compared for what C11 promises".to_owned()),
            PropertyKind::Control | PropertyKind::Final | PropertyKind::Race | PropertyKind::Trace => None,
        })
    }

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> Execution {
        Execution::new(contents, n_processes)
    }

    fn access(&self, s: &Execution, p: ProcessId, access: Access<'_>) -> Vec<Done<Execution>> {
        match access {
            Access::Load(x, order) => self.load(s, p, (x, order)),
            Access::Store(x, value, order) => self.store(s, p, x, (value, order)),
            Access::Update(x, update, order) => self.update(s, p, x, (update, order)),
            Access::Fence(kind, order) => match order.of_fence(kind) {
                Some(order) => self.fence(s, p, order),
                None => Done::nothing(s.clone()),
            },
        }
    }

    fn internal(&self, _: &Execution, _: ProcessId) -> Vec<(Internal, Execution)> {
        Vec::new()
    }

    fn lock(&self, _: &Execution, _: ProcessId) -> Option<Vec<Value>> {
        None
    }

    fn unlock(&self, s: &Execution, _: ProcessId, _: Vec<Value>) -> Execution {
        s.clone()
    }

    fn is_settled(&self, _: &Execution) -> bool {
        true
    }

    fn value(&self, s: &Execution, x: LocationId) -> Value {
        s.last(x)
    }

    fn shown(&self, s: &Execution, p: ProcessId) -> Shown {
        Shown::View(self.axioms(s).known(p))
    }

    fn hears_acquire(&self) -> bool {
        true
    }

    fn tells(&self, s: &Execution, kind: PropertyKind) -> Option<bool> {
        match kind {
            PropertyKind::Race => Some(self.axioms(s).race().is_some()),
            PropertyKind::Trace => Some(!self.axioms(s).is_sc()),
            PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Final => None,
            PropertyKind::Hang | PropertyKind::Robust => None,
        }
    }
}
