//! The translated program, put together: registers, points, edges, properties.

use crate::program::{
    Array, Builder, Domain, Edge, EdgeId, Expr, Initial, LocationId, Micro, Op, Order, PointId, ProcessId, Property,
    PropertyId, PropertyKind, PropertyWords, RegisterId, Situation, StateVar,
};
use crate::source::Span;
use crate::translate::buffers::{Buffers, Registers};
use crate::translate::graph::{Graph, NodeId, StepId, node};
use crate::translate::logic::{Term, all};
use crate::translate::noticed::noticed;
use crate::translate::rules::{Rules, domain_of};
use crate::translate::sizes::Sizes;
use crate::translate::{Origin, Overflow, Request, Role, Translated};
use crate::util::{Idx, IndexVec};

pub(super) fn build(request: &Request<'_>) -> Translated {
    let graph = Graph::new(request.program, request.placement);
    let is_noticed = noticed(request.program, &graph, request.flushes);
    let mut builder = Builder::like(request.program);
    locations(request, &mut builder);
    let mut maker = Maker {
        request,
        graph: &graph,
        is_noticed,
        builder,
        origins: IndexVec::new(),
        original_points: IndexVec::new(),
        points: IndexVec::filled(graph.nodes.len(), PointId::from_usize(0)),
        ends: IndexVec::filled(graph.nodes.len(), None),
        overflows: Vec::new(),
        conditions: IndexVec::new(),
    };
    let (mut roles, mut slots) = (IndexVec::new(), IndexVec::new());
    for process in request.program.processes().indices() {
        let (process_roles, n_slots) = maker.process(process);
        roles.push(process_roles);
        slots.push(n_slots);
    }
    let overflow = maker.properties();
    let Maker { builder, origins, original_points: points, .. } = maker;
    let (buffering, method) = (request.buffering, request.method);
    let has_order = |edge: &Edge| edge.order != Order::default();
    let leaves_out_orders = !request.program.plain().is_empty() || request.program.edges().iter().any(has_order);
    let program = builder.finish();
    Translated { program, buffering, method, origins, points, roles, overflow, slots, leaves_out_orders }
}

/// The shared memory of the original, with the same ids.
fn locations(request: &Request<'_>, builder: &mut Builder) {
    let originals = request.program.locations();
    let array_of =
        |x: LocationId| request.program.arrays().iter().find(|array: &&Array| array.cells().any(|it| it == x));
    for (x, location) in originals.iter_enumerated() {
        match array_of(x) {
            Some(array) if array.first == x => {
                let cells: Vec<Initial> = array.cells().map(|cell| originals[cell].initial).collect();
                let mut pattern = location.clone();
                pattern.name.clone_from(&array.name);
                builder.array(&pattern, &cells);
            }
            Some(_) => {}
            None => drop(builder.location(location.clone())),
        }
    }
}

struct Maker<'a> {
    request: &'a Request<'a>,
    graph: &'a Graph,
    is_noticed: IndexVec<NodeId, bool>,
    builder: Builder,
    origins: IndexVec<EdgeId, Origin>,
    original_points: IndexVec<PointId, Option<PointId>>,
    /// The points made so far.
    points: IndexVec<NodeId, PointId>,
    /// Where a process has ended *and* has nothing pending, if that is not the end point itself.
    ends: IndexVec<NodeId, Option<PointId>>,
    /// For processes whose buffers may overflow, where they are then.
    overflows: Vec<(ProcessId, PointId)>,
    /// For each process, when its buffers are empty.
    conditions: IndexVec<ProcessId, Term>,
}

impl Maker<'_> {
    fn process(&mut self, process: ProcessId) -> (Vec<(RegisterId, Role)>, u32) {
        let original = &self.request.program.processes()[process];
        let made = self.builder.process(original.name.clone(), original.template, original.span);
        self.original_points.push(Some(original.entry));
        assert_eq!(made, process, "processes keep their ids");
        for register in &original.registers {
            self.builder.register(process, register.clone());
        }
        let sizes = Sizes::new(self.request, self.graph, process);
        let n_slots = sizes.slots.iter().copied().max().unwrap_or(0);
        let domains = update_domains(self.request, self.graph, process);
        let mut registers = Registers { builder: &mut self.builder, process, span: original.span, roles: Vec::new() };
        let buffers = Buffers::new(self.request, sizes, &mut registers);
        let scratch: Vec<(Domain, RegisterId)> =
            domains.into_iter().map(|domain| (domain, registers.add("old", domain, Role::Scratch))).collect();
        let roles = registers.roles;
        self.conditions.push(buffers.is_empty(&buffers.most()));
        self.lay_points(process, &buffers);
        for (id, _) in self.graph.steps.iter_enumerated().filter(|it| it.1.process == process) {
            self.step(id, &buffers, &scratch);
        }
        (roles, n_slots)
    }

    /// The points of a process with their labels, and the edges by which stores get from them to memory.
    fn lay_points(&mut self, process: ProcessId, buffers: &Buffers) {
        let originals = self.request.program.points();
        let original = &self.request.program.processes()[process];
        let entry = self.builder.so_far().processes()[process].entry;
        for at in self.graph.nodes.indices().filter(|&at| self.graph.nodes[at].0 == process) {
            let id = (at.index() < originals.len()).then(|| PointId::from_usize(at.index()));
            let point = if id == Some(original.entry) { entry } else { self.point(process, id) };
            self.points[at] = point;
            let data = id.map(|id| &originals[id]);
            data.into_iter().flat_map(|it| &it.labels).for_each(|label| self.builder.label(point, label.as_str()));
            let pending = buffers.sizes.at(at);
            if self.is_noticed[at] {
                for (may_leave, leave) in buffers.flushes(&pending) {
                    let body = [Micro::Assume(may_leave)].into_iter().chain(leave).collect();
                    self.edge(point, point, Op::Locked(body), original.span, Origin::Arrival);
                }
            }
            match data.is_some_and(|it| it.is_end) {
                true if pending.is_nothing() => self.builder.end(point),
                true => {
                    let end = self.point(process, id);
                    self.builder.end(end);
                    let is_drained = Op::Assume(buffers.is_empty(&pending));
                    self.edge(point, end, is_drained, original.span, Origin::Drained);
                    self.ends[at] = Some(end);
                }
                false => {}
            }
        }
    }

    fn step(&mut self, id: StepId, buffers: &Buffers, scratch: &[(Domain, RegisterId)]) {
        let step = &self.graph.steps[id];
        let pending = buffers.sizes.at(step.from);
        let ruled = Rules { request: self.request, buffers, pending: &pending, scratch }.apply(&step.op);
        let (from, to) = (self.points[step.from], self.points[step.to]);
        self.edge(from, to, ruled.op, step.span, step.origin);
        if let Some(overflows) = ruled.overflows {
            let to = self.overflow_of(step.process);
            let edge = match step.origin {
                Origin::Edge(edge) | Origin::Fence(edge) | Origin::Overflow(edge) => edge,
                Origin::Arrival | Origin::Drained => unreachable!("steps are edges and fences"),
            };
            self.edge(from, to, Op::Assume(overflows), step.span, Origin::Overflow(edge));
        }
    }

    fn overflow_of(&mut self, process: ProcessId) -> PointId {
        if let Some(known) = self.overflows.iter().find(|it| it.0 == process) {
            return known.1;
        }
        let point = self.point(process, None);
        self.builder.label(point, "overflow");
        self.overflows.push((process, point));
        point
    }

    fn point(&mut self, process: ProcessId, original: Option<PointId>) -> PointId {
        let point = self.builder.point(process);
        let noted = self.original_points.push(original);
        assert_eq!(point, noted, "each point has an original, or is known to have none");
        point
    }

    fn edge(&mut self, from: PointId, to: PointId, op: Op, span: Span, origin: Origin) {
        let edge = self.builder.edge(from, op, to, span);
        let noted = self.origins.push(origin);
        assert_eq!(edge, noted, "each edge has an origin");
    }

    fn properties(&mut self) -> Option<PropertyId> {
        for property in self.request.program.properties() {
            let situations = property.situations.iter().map(|it| self.situation(property.kind, it)).collect();
            self.builder.property(Property { situations, ..property.clone() });
        }
        self.request.program.hints().iter().for_each(|hint| self.builder.hint(hint.clone()));
        if self.overflows.is_empty() || self.request.overflow == Overflow::Stop {
            return None;
        }
        let situation = |&(process, point): &(ProcessId, PointId)| Situation {
            at: vec![(process, vec![point])],
            condition: Expr::TRUE,
        };
        let id = PropertyId::from_usize(self.request.program.properties().len());
        self.builder.property(Property {
            kind: PropertyKind::Control,
            situations: self.overflows.iter().map(situation).collect(),
            text: "a store buffer overflows".to_owned(),
            words: PropertyWords::default(),
            span: self.request.program.processes()[self.overflows[0].0].span,
        });
        Some(id)
    }

    fn situation(&self, kind: PropertyKind, original: &Situation) -> Situation {
        let at = original.at.iter().map(|(process, points)| {
            let points = points.iter().flat_map(|&point| match (kind, self.ends[node(point)]) {
                (PropertyKind::Final | PropertyKind::Hang, Some(end)) => vec![end],
                (_, Some(end)) => vec![self.points[node(point)], end],
                (_, None) => vec![self.points[node(point)]],
            });
            (*process, points.collect())
        });
        let at: Vec<(ProcessId, Vec<PointId>)> = at.collect();
        let condition = match kind {
            PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Race => original.condition.clone(),
            PropertyKind::Robust | PropertyKind::Trace => original.condition.clone(),
            PropertyKind::Final | PropertyKind::Hang => {
                // The buffer of a process that has ended is empty.
                let has_ended = |process: ProcessId| {
                    let points = original.points_of(process);
                    points.is_some_and(|points| points.iter().all(|&point| self.ends[node(point)].is_some()))
                };
                let others = self.conditions.iter_enumerated().filter(|it| !has_ended(it.0));
                let is_drained =
                    others.map(|(process, term)| term.map(&mut |register| StateVar::Register(process, *register)));
                all([original.condition.clone()].into_iter().chain(is_drained))
            }
        };
        Situation { at, condition }
    }
}

/// What the locations hold that a process updates atomically, each domain once.
fn update_domains(request: &Request<'_>, graph: &Graph, process: ProcessId) -> Vec<Domain> {
    let domains = graph.steps_of(process).filter_map(|step| match &step.op {
        Op::Rmw { place, .. } => Some(domain_of(request, place)),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
        Op::Load(..) | Op::Store(..) | Op::Fence(_) | Op::Locked(_) => None,
    });
    let mut domains: Vec<Domain> = domains.collect();
    domains.sort_unstable();
    domains.dedup();
    domains
}
