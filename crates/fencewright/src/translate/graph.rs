//! A program with the fences of a placement laid into it, as a plain graph: what the translation reads.

use crate::index_type;
use crate::program::{Edge, EdgeId, FenceKind, Op, Placement, PointId, ProcessId, Program, Side};
use crate::source::Span;
use crate::translate::Origin;
use crate::util::{Idx, IndexVec};

index_type!(
    /// A step.
    pub(crate) StepId
);
index_type!(
    /// A point: those of the program come first, then those between a fence of the placement and its edge.
    pub(crate) NodeId
);

/// An edge, or a fence of the placement.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub process: ProcessId,
    pub from: NodeId,
    pub to: NodeId,
    pub op: Op,
    pub span: Span,
    pub origin: Origin,
}

/// The steps of all processes.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub steps: IndexVec<StepId, Step>,
    /// For each point, its process and the steps that leave it, in order.
    pub nodes: IndexVec<NodeId, (ProcessId, Vec<StepId>)>,
}

impl Graph {
    pub(super) fn new(program: &Program, placement: &Placement) -> Self {
        let nodes = program.points().iter().map(|point| (point.process, Vec::new())).collect();
        let mut graph = Self { steps: IndexVec::new(), nodes };
        for (id, edge) in program.edges().iter_enumerated() {
            graph.lay(id, edge, placement);
        }
        graph
    }

    fn lay(&mut self, id: EdgeId, edge: &Edge, placement: &Placement) {
        let fence = |side| placement.get(id, side).map(|kind: FenceKind| (Op::Fence(kind), Origin::Fence(id)));
        let ops = [fence(Side::Before), Some((edge.op.clone(), Origin::Edge(id))), fence(Side::After)];
        let mut ops = ops.into_iter().flatten().peekable();
        let mut from = node(edge.from);
        while let Some((op, origin)) = ops.next() {
            let is_last = ops.peek().is_none();
            let to = if is_last { node(edge.to) } else { self.nodes.push((edge.process, Vec::new())) };
            let step = self.steps.push(Step { process: edge.process, from, to, op, span: edge.span, origin });
            self.nodes[from].1.push(step);
            from = to;
        }
    }

    /// The steps of a process.
    pub(super) fn steps_of(&self, process: ProcessId) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| step.process == process)
    }
}

/// A point of the program as one of the graph.
pub(super) fn node(point: PointId) -> NodeId {
    NodeId::from_usize(point.index())
}
