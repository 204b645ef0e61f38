//! Where stores must be able to reach memory.
//!
//! The paper puts a flush behind every statement that touches memory. Exactly: a point needs none where nothing can be
//! pending, and none where the process has only *silent* steps to do. Those touch only registers that no property
//! names, the point itself is named by none, and one of them can always be taken: an assignment, an assertion, or a
//! test and its opposite.
//!
//! Why that loses nothing: take a run into a violation. A store that reaches memory while its process is at such a
//! point could as well do so after the silent step, which nobody else sees: move that step forward in the run, before
//! the flush. If the process takes no further step in the run, let it take one: what is violated does not change, or it
//! is a violation itself. No loop consists of such points alone, so the process comes to one where it may flush. Where
//! buffers overflow does not change, since no store is moved.

use std::collections::BTreeSet;

use crate::program::{Op, PointId, ProcessId, Program, RegisterId, StateVar};
use crate::translate::Flushes;
use crate::translate::graph::{Graph, NodeId, Step, node};
use crate::translate::logic::not;
use crate::util::IndexVec;
use crate::watch::heed;

/// For each point, whether stores must be able to reach memory there, if any are pending.
pub(super) fn noticed(program: &Program, graph: &Graph, flushes: Flushes) -> IndexVec<NodeId, bool> {
    let mut is_noticed = IndexVec::filled(graph.nodes.len(), true);
    if flushes == Flushes::Everywhere {
        return is_noticed;
    }
    let named = Named::new(program);
    for point in graph.nodes.indices() {
        heed(4);
        let steps: Vec<&Step> = graph.nodes[point].1.iter().map(|&step| &graph.steps[step]).collect();
        if !named.points.contains(&point) && goes_on(&steps) && steps.iter().all(|step| named.is_silent(step)) {
            is_noticed[point] = false;
            is_noticed[point] = returns(graph, &is_noticed, point);
        }
    }
    is_noticed
}

/// What properties speak of.
struct Named {
    points: BTreeSet<NodeId>,
    registers: BTreeSet<(ProcessId, RegisterId)>,
}

impl Named {
    fn new(program: &Program) -> Self {
        let situations = || program.properties().iter().flat_map(|property| &property.situations);
        let points = situations().flat_map(|it| &it.at).flat_map(|(_, points): &(_, Vec<PointId>)| points);
        let mut registers = BTreeSet::new();
        for situation in situations() {
            situation.condition.for_each_var(&mut |variable| match variable {
                StateVar::Register(process, register) => drop(registers.insert((*process, *register))),
                StateVar::Memory(_) => {}
            });
        }
        Self { points: points.map(|&point| node(point)).collect(), registers }
    }

    fn is_silent(&self, step: &Step) -> bool {
        match &step.op {
            Op::Assume(_) | Op::Assert(_) => true,
            Op::Assign(register, _) | Op::Havoc(register, ..) => !self.registers.contains(&(step.process, *register)),
            Op::Load(..) | Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => false,
        }
    }
}

/// Whether one of the steps can always be taken.
fn goes_on(steps: &[&Step]) -> bool {
    let conditions = steps.iter().filter_map(|step| match &step.op {
        Op::Assume(condition) => Some(condition.clone()),
        Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) | Op::Store(..) => None,
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
    });
    let conditions: Vec<_> = conditions.collect();
    let has_opposites = conditions.iter().any(|it| conditions.contains(&not(it.clone())));
    conditions.len() < steps.len() || has_opposites
}

/// Whether a way leads from a point back to it over points where nothing may flush.
fn returns(graph: &Graph, is_noticed: &IndexVec<NodeId, bool>, start: NodeId) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![start];
    while let Some(point) = todo.pop() {
        heed(4);
        for to in graph.nodes[point].1.iter().map(|&step| graph.steps[step].to) {
            if to == start {
                return true;
            }
            if !is_noticed[to] && seen.insert(to) {
                todo.push(to);
            }
        }
    }
    false
}
