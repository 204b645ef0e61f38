//! Whether a program is another one with fences in it.
//!
//! Both are walked in step, the one with its fences laid over it and the other as it is: every operation must be the
//! same, and every bad situation must look at the same points.

use std::collections::BTreeMap;

use crate::program::{FenceKind, Op, Placement, PointId, ProcessId, Program, Side};
use crate::system::{Control, Flow, Move};

/// Where a process is in the program with fences laid over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Control(Control),
    /// Past the one fence before all edges that leave a point.
    Ready(PointId),
}

/// Whether `fenced` is `program` with the fences of `placement`.
pub(super) fn is_fenced(program: &Program, placement: &Placement, fenced: &Program) -> bool {
    let flow = Flow { program, placement };
    let data = |it: &Program| {
        let locations = it.locations().iter().map(|x| (x.name.clone(), x.domain, x.initial)).collect::<Vec<_>>();
        let registers = it.processes().iter().map(|process| {
            let registers = process.registers.iter().map(|r| (r.name.clone(), r.domain, r.initial));
            (process.name.clone(), registers.collect::<Vec<_>>())
        });
        (locations, registers.collect::<Vec<_>>())
    };
    let has_same_properties = program.properties().len() == fenced.properties().len()
        && program.properties().iter().zip(fenced.properties()).all(|(a, b)| {
            let conditions =
                |it: &crate::program::Property| it.situations.iter().map(|it| it.condition.clone()).collect::<Vec<_>>();
            a.kind == b.kind && conditions(a) == conditions(b)
        });
    data(program) == data(fenced)
        && has_same_properties
        && program.processes().indices().all(|process| is_same_process(flow, fenced, process))
}

fn is_same_process(flow: Flow<'_>, fenced: &Program, process: ProcessId) -> bool {
    let entries = [flow.program, fenced].map(|it| it.processes()[process].entry);
    let mut images = BTreeMap::from([(At::Control(Control::At(entries[0])), entries[1])]);
    let mut todo = vec![(At::Control(Control::At(entries[0])), entries[1])];
    while let Some((at, image)) = todo.pop() {
        let moves = moves(flow, at);
        let edges = &fenced.points()[image].edges;
        if moves.len() != edges.len() || !is_seen_alike(flow.program, fenced, process, at, image) {
            return false;
        }
        for ((op, next), edge) in moves.into_iter().zip(edges.iter().map(|&edge| &fenced.edges()[edge])) {
            if op != edge.op
                || *images.entry(next).or_insert_with(|| {
                    todo.push((next, edge.to));
                    edge.to
                }) != edge.to
            {
                return false;
            }
        }
    }
    true
}

/// What a process may do next, fences as operations.
fn moves(flow: Flow<'_>, at: At) -> Vec<(Op, At)> {
    let operation = |(next, control)| match next {
        Move::Edge(edge) => (flow.program.edges()[edge].op.clone(), At::Control(control)),
        Move::Fence(_, kind) => (Op::Fence(kind), At::Control(control)),
    };
    let control = match at {
        At::Control(Control::At(point)) => match common_fence(flow, point) {
            Some(kind) => return vec![(Op::Fence(kind), At::Ready(point))],
            None => Control::At(point),
        },
        At::Control(control) => control,
        At::Ready(point) => {
            let edges = flow.program.points()[point].edges.iter();
            return edges.flat_map(|&edge| flow.moves(Control::Ready(edge))).map(operation).collect();
        }
    };
    flow.moves(control).into_iter().map(operation).collect()
}

/// The fence before all edges that leave a point, if they have the same.
fn common_fence(flow: Flow<'_>, point: PointId) -> Option<FenceKind> {
    let edges = &flow.program.points()[point].edges;
    let first = flow.placement.get(*edges.first()?, Side::Before)?;
    edges.iter().all(|&edge| flow.placement.get(edge, Side::Before) == Some(first)).then_some(first)
}

/// Whether properties, and the end, make no difference between a control state and its image.
fn is_seen_alike(program: &Program, fenced: &Program, process: ProcessId, at: At, image: PointId) -> bool {
    let point = match at {
        At::Control(Control::At(point)) => Some(point),
        At::Control(Control::Ready(_) | Control::Done(_)) | At::Ready(_) => None,
    };
    let named = |program: &Program, point: Option<PointId>| {
        let situations = program.properties().iter().flat_map(|property| &property.situations);
        let is_named = situations.map(|situation| {
            let mut here = situation.at.iter().filter(|it| it.0 == process);
            here.next().map(|(_, points)| point.is_some_and(|point| points.contains(&point)))
        });
        is_named.collect::<Vec<_>>()
    };
    let is_end = point.is_some_and(|point| program.points()[point].is_end);
    is_end == fenced.points()[image].is_end && named(program, point) == named(fenced, Some(image))
}
