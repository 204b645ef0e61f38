//! Whether a program is another one with fences in it.
//!
//! Both are walked in step, the one with its fences laid over it and the other as it is: every operation must be the
//! same, and every bad situation must look at the same points.

use std::collections::BTreeMap;

use crate::program::{Op, Placement, PointId, Position, ProcessId, Program, Side};
use crate::system::{Control, Flow, Move};

/// Where a process is in the program with fences laid over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    Control(Control),
    /// Past the one fence before all edges that leave a point.
    Ready(PointId),
}

impl At {
    pub(super) fn of(point: PointId) -> Self {
        Self::Control(Control::At(point))
    }

    /// The point where it is, if it is not past a fence there.
    pub(super) fn point(self) -> Option<PointId> {
        match self {
            Self::Control(Control::At(point)) => Some(point),
            Self::Control(Control::Ready(_) | Control::Done(_)) | Self::Ready(_) => None,
        }
    }
}

/// Whether `fenced` is `program` with the fences of `placement`.
pub(super) fn is_fenced(program: &Program, placement: &Placement, fenced: &Program) -> bool {
    let flow = Flow { program, placement };
    has_same_data(program, fenced)
        && program.processes().indices().all(|process| is_same_process(flow, fenced, process))
}

/// Whether programs have the same locations, registers and conditions.
pub(super) fn has_same_data(program: &Program, fenced: &Program) -> bool {
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
    data(program) == data(fenced) && has_same_properties
}

fn is_same_process(flow: Flow<'_>, fenced: &Program, process: ProcessId) -> bool {
    let entries = [flow.program, fenced].map(|it| it.processes()[process].entry);
    let mut images = BTreeMap::from([(At::Control(Control::At(entries[0])), entries[1])]);
    let mut todo = vec![(At::Control(Control::At(entries[0])), entries[1])];
    while let Some((at, image)) = todo.pop() {
        let moves = operations(flow, at);
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
fn operations(flow: Flow<'_>, at: At) -> Vec<(Op, At)> {
    let operation = |(next, at)| match next {
        Move::Edge(edge) => (flow.program.edges()[edge].op.clone(), at),
        Move::Fence(_, kind) => (Op::Fence(kind), at),
    };
    moves(flow, at).into_iter().map(operation).collect()
}

/// What a process may do next; one fence where all ways have the same before them.
pub(super) fn moves(flow: Flow<'_>, at: At) -> Vec<(Move, At)> {
    let operation = |(next, control)| (next, At::Control(control));
    let control = match at {
        At::Control(Control::At(point)) => match common_fence(flow, point) {
            Some(fence) => return vec![(fence, At::Ready(point))],
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
fn common_fence(flow: Flow<'_>, point: PointId) -> Option<Move> {
    let edges = &flow.program.points()[point].edges;
    let edge = *edges.first()?;
    let kind = flow.placement.get(edge, Side::Before)?;
    let is_common = edges.iter().all(|&edge| flow.placement.get(edge, Side::Before) == Some(kind));
    is_common.then_some(Move::Fence(Position { edge, side: Side::Before }, kind))
}

/// Whether properties, and the end, make no difference between a control state and its image.
fn is_seen_alike(program: &Program, fenced: &Program, process: ProcessId, at: At, image: PointId) -> bool {
    let is_end = at.point().is_some_and(|point| program.points()[point].is_end);
    is_end == fenced.points()[image].is_end
        && is_named(program, process, at.point()) == is_named(fenced, process, Some(image))
}

/// Whether each situation of a property, if it names a process, names it at a point.
pub(super) fn is_named(program: &Program, process: ProcessId, point: Option<PointId>) -> Vec<Option<bool>> {
    let situations = program.properties().iter().flat_map(|property| &property.situations);
    let is_named = situations.map(|situation| {
        let mut here = situation.at.iter().filter(|it| it.0 == process);
        here.next().map(|(_, points)| point.is_some_and(|point| points.contains(&point)))
    });
    is_named.collect()
}
