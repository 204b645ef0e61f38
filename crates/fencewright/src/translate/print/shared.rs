//! What the languages have in common. In C and Promela where a process is is told by a variable, so that one place can
//! look at all of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{BinaryOp, Domain, EdgeId, Expr, Micro, Op, Place, PointId, ProcessId, Program, RegisterId};
use crate::source::{Diagnostic, Span};
use crate::translate::print::flow::Node;
use crate::translate::{Origin, Translated};

/// The points that properties name.
pub(super) fn named_points(program: &Program) -> BTreeSet<PointId> {
    let situations = program.properties().iter().flat_map(|property| &property.situations);
    situations.flat_map(|it| &it.at).flat_map(|it| it.1.iter().copied()).collect()
}

/// Numbers for the points that properties name, from 1 within each process; 0 is anywhere else.
pub(super) fn codes(program: &Program) -> BTreeMap<PointId, usize> {
    let mut counts: BTreeMap<ProcessId, usize> = BTreeMap::new();
    let points = named_points(program).into_iter().map(|point| {
        let count = counts.entry(program.points()[point].process).or_default();
        *count += 1;
        (point, *count)
    });
    points.collect()
}

/// What an edge does to the variable that tells where its process is.
pub(super) fn arrival(program: &Program, codes: &BTreeMap<PointId, usize>, edge: EdgeId) -> Option<usize> {
    let edge = &program.edges()[edge];
    let [from, to] = [edge.from, edge.to].map(|point| codes.get(&point).copied().unwrap_or(0));
    (from != to).then_some(to)
}

/// The points that statements jump to.
pub(super) fn targets(nodes: &[Node]) -> BTreeSet<PointId> {
    let mut out = BTreeSet::new();
    for node in nodes {
        match node {
            Node::Goto(point) => drop(out.insert(*point)),
            Node::If(_, then, _, otherwise) => out.extend(targets(then).into_iter().chain(targets(otherwise))),
            Node::Choose(branches) => branches.iter().for_each(|branch| out.extend(targets(branch))),
            Node::Label(_) | Node::Arrivals(_) | Node::Edge(_) | Node::End | Node::Stuck => {}
        }
    }
    out
}

/// The different ways in which stores of a process may reach memory, each with a number, and which one each point has.
pub(super) struct FlushKinds {
    /// For each kind, the edges of one point that has it.
    pub kinds: Vec<Vec<EdgeId>>,
    /// The kind of each point.
    pub of: BTreeMap<PointId, usize>,
}

impl FlushKinds {
    pub(super) fn new(translated: &Translated, process: ProcessId) -> Self {
        let program = &translated.program;
        let mut out = Self { kinds: Vec::new(), of: BTreeMap::new() };
        for (id, point) in program.points().iter_enumerated().filter(|it| it.1.process == process) {
            let is_flush = |edge: &&EdgeId| translated.origins[**edge] == Origin::Arrival;
            let edges: Vec<EdgeId> = point.edges.iter().filter(is_flush).copied().collect();
            if edges.is_empty() {
                continue;
            }
            let ops = |edges: &[EdgeId]| edges.iter().map(|&edge| &program.edges()[edge].op).collect::<Vec<_>>();
            let known = out.kinds.iter().position(|kind| ops(kind) == ops(&edges));
            let kind = known.unwrap_or(out.kinds.len());
            if known.is_none() {
                out.kinds.push(edges);
            }
            out.of.insert(id, kind);
        }
        out
    }
}

/// What a value must satisfy to be in a finite range, unless it obviously is: its bounds.
pub(super) fn to_check(
    program: &Program,
    process: ProcessId,
    value: &Expr<RegisterId>,
    domain: Domain,
) -> Option<(i64, i64)> {
    let Domain::Range(lo, hi) = domain else { return None };
    let registers = &program.processes()[process].registers;
    let known = match value {
        Expr::Const(value) => Some((*value, *value)),
        Expr::Var(register) => registers[*register].domain.bounds(),
        Expr::Unary(..) | Expr::Binary(..) => None,
    };
    (!known.is_some_and(|known| lo <= known.0 && known.1 <= hi)).then_some((lo, hi))
}

/// Refuses what other languages mean differently: division by what may be zero.
pub(super) fn check_divisions(translated: &Translated) -> Result<(), Diagnostic> {
    let program = &translated.program;
    for edge in program.edges() {
        let mut ops = Vec::new();
        match &edge.op {
            Op::Assume(it) | Op::Assert(it) | Op::Assign(_, it) => ops.push(it),
            Op::Load(_, place) => ops.extend(index(place)),
            Op::Store(place, it) => ops.extend(index(place).into_iter().chain([it])),
            Op::Locked(body) => collect(body, &mut ops),
            Op::Havoc(..) | Op::Fence(_) | Op::Rmw { .. } => {}
        }
        if ops.into_iter().any(divides) {
            return Err(division(edge.span));
        }
    }
    Ok(())
}

fn division(span: Span) -> Diagnostic {
    let message = "division by what may be zero: other tools do not make that a violation";
    Diagnostic::error(span, message).with_help("divide by a constant, or translate with `--to fw`")
}

fn collect<'p>(body: &'p [Micro], out: &mut Vec<&'p Expr<RegisterId>>) {
    for micro in body {
        match micro {
            Micro::Assume(it) | Micro::Assert(it) | Micro::Assign(_, it) => out.push(it),
            Micro::Load(_, place) => out.extend(index(place)),
            Micro::Store(place, it) => out.extend(index(place).into_iter().chain([it])),
            Micro::Choose(branches) => branches.iter().for_each(|branch| collect(branch, out)),
            Micro::Havoc(..) => {}
        }
    }
}

fn index(place: &Place) -> Option<&Expr<RegisterId>> {
    match place {
        Place::Fixed(_) => None,
        Place::Cell(_, index) => Some(index),
    }
}

fn divides(it: &Expr<RegisterId>) -> bool {
    match it {
        Expr::Const(_) | Expr::Var(_) => false,
        Expr::Unary(_, operand) => divides(operand),
        Expr::Binary(op, left, right) => {
            let is_division = matches!(op, BinaryOp::Div | BinaryOp::Rem);
            let is_by_zero = !matches!(&**right, Expr::Const(value) if *value != 0);
            (is_division && is_by_zero) || divides(left) || divides(right)
        }
    }
}
