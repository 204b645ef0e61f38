//! A bad execution under other orders.

use std::collections::BTreeMap;

use super::element::{Element, is_fenced, is_open, order_of};
use crate::engine::Task;
use crate::memory::{Act, Event, EventId, Execution, Rc11};
use crate::program::{EdgeId, Op, Order, Program, PropertyKind};
use crate::system::{Action, Run, Violation, executed_with};
use crate::util::Idx;

/// A bad execution, whatever its orders are.
pub(super) struct Bad {
    language: Rc11,
    execution: Execution,
    /// What each thread does: its accesses, and the fences of the text.
    threads: Vec<Vec<Item>>,
    is_race: bool,
}

#[derive(Clone, Copy)]
enum Item {
    Access(EdgeId, EventId),
    Fence(EdgeId),
}

impl Bad {
    /// The execution of a run. `None` where the last access is not in its graph.
    pub(super) fn of(program: &Program, task: &Task<'_>, run: &Run) -> Option<Self> {
        if let Violation::Fault(fault) = run.trace.violation
            && !program.edges()[fault.edge()].op.is_local()
        {
            return None;
        }
        let executed = executed_with(task.program, task.placement, run)?;
        let mut threads = vec![Vec::new(); program.processes().len()];
        for (number, step) in run.trace.steps.iter().enumerate() {
            let Action::Edge { edge, .. } = step.action else { continue };
            let it = &program.edges()[edge];
            let is_fence = matches!(it.op, Op::Fence(_)) || it.is_acquire_fence();
            let event = executed.event(number).filter(|_| !is_fence);
            let item = event.map(|id| Item::Access(edge, id)).or(is_fence.then_some(Item::Fence(edge)));
            threads[step.process.index()].extend(item);
        }
        let is_race = match run.trace.violation {
            Violation::Property(id) => task.program.properties().get(id).is_none_or(|it| it.kind == PropertyKind::Race),
            Violation::Fault(_) => false,
        };
        Some(Self { language: executed.language, execution: executed.execution, threads, is_race })
    }

    /// Whether the axioms allow it under a choice, and it is bad there.
    pub(super) fn stays_with(&self, elements: &[Element], set: &[usize]) -> bool {
        let execution = self.with(elements, set);
        let axioms = self.language.axioms(&execution);
        axioms.is_consistent() && (!self.is_race || axioms.race().is_some())
    }

    /// The same graph with the orders and fences of a choice.
    fn with(&self, elements: &[Element], set: &[usize]) -> Execution {
        let mut next = Execution::new(self.execution.initial.clone(), self.threads.len());
        let mut moved: BTreeMap<EventId, EventId> = BTreeMap::new();
        for (p, items) in self.threads.iter().enumerate() {
            for item in items {
                let fence = |order: Order| Event { act: Act::Fence, order };
                match *item {
                    Item::Fence(edge) => next.threads[p].extend(order_of(elements, set, edge).map(fence)),
                    Item::Access(edge, id) => {
                        next.threads[p].extend(is_fenced(elements, set, edge).then(|| fence(Order::SeqCst)));
                        let place = u32::try_from(next.threads[p].len()).expect("fewer than 2^32 events");
                        moved.insert(id, EventId { place, ..id });
                        next.threads[p].push(self.access(elements, set, edge, id));
                    }
                }
            }
        }
        let at = |id: &EventId| moved[id];
        for event in next.threads.iter_mut().flatten() {
            match &mut event.act {
                Act::Read(_, Some(source)) | Act::Update(_, Some(source), _) => *source = at(source),
                Act::Read(_, None) | Act::Update(_, None, _) | Act::Write(..) | Act::Fence => {}
            }
        }
        next.writes = self.execution.writes.iter().map(|ids| ids.iter().map(at).collect()).collect();
        next
    }

    fn access(&self, elements: &[Element], set: &[usize], edge: EdgeId, id: EventId) -> Event {
        let event = self.execution.event(id);
        if event.order == Order::Plain || !is_open(elements, edge) {
            return event.clone();
        }
        let order = order_of(elements, set, edge).unwrap_or(Order::Relaxed);
        let order = match event.act {
            Act::Read(..) => order.of_read(),
            Act::Write(..) => order.of_write(),
            Act::Update(..) | Act::Fence => order,
        };
        Event { act: event.act.clone(), order }
    }
}
