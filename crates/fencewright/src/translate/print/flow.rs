//! The control flow of a process as statements: what follows is written behind, a test and its opposite as `if`, and
//! the rest with labels and jumps.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{EdgeId, Expr, Op, PointId, ProcessId, Program, RegisterId, UnaryOp};
use crate::translate::{Origin, Translated};
use crate::watch::heed;

/// Deeper than this, branches jump.
const MAX_DEPTH: usize = 8;

/// A statement.
#[derive(Debug)]
pub(super) enum Node {
    /// The name of a point.
    Label(PointId),
    /// Any number of stores reach memory, by the edges from the point to itself.
    Arrivals(PointId),
    /// An edge.
    Edge(EdgeId),
    /// A test: the edge if it holds, then what follows; the edge if it does not, then what follows.
    If(EdgeId, Vec<Self>, EdgeId, Vec<Self>),
    /// One of these; each begins with its edge.
    Choose(Vec<Vec<Self>>),
    /// Control goes on elsewhere.
    Goto(PointId),
    /// The process has ended.
    End,
    /// The process is stuck here, and nothing is pending.
    Stuck,
}

/// The statements of a process. Points in `named` get their labels even if nothing jumps there.
pub(super) fn statements(translated: &Translated, process: ProcessId, named: &BTreeSet<PointId>) -> Vec<Node> {
    let program = &translated.program;
    let mut n_ways_in: BTreeMap<PointId, usize> = BTreeMap::new();
    let entry = program.processes()[process].entry;
    *n_ways_in.entry(entry).or_default() += 1;
    for (_, edge) in program.edges().iter_enumerated().filter(|it| it.1.process == process && it.1.from != it.1.to) {
        *n_ways_in.entry(edge.to).or_default() += 1;
    }
    // An edge of the original from a point to itself is a jump.
    let is_jump =
        |id: EdgeId| program.edges()[id].from == program.edges()[id].to && translated.origins[id] != Origin::Arrival;
    for (id, edge) in program.edges().iter_enumerated().filter(|it| it.1.process == process) {
        *n_ways_in.entry(edge.to).or_default() += usize::from(is_jump(id));
    }
    let mut layout = Layout { translated, program, named, n_ways_in, todo: vec![entry], is_laid: BTreeSet::new() };
    let mut out = Vec::new();
    while let Some(point) = layout.todo.pop() {
        if !layout.is_laid.contains(&point) {
            layout.chain(point, 0, &mut out);
        }
    }
    out
}

/// The condition of a test, if the two edges are a test and its opposite.
pub(super) fn test<'p>(program: &'p Program, edges: &[EdgeId]) -> Option<&'p Expr<RegisterId>> {
    let [yes, no] = edges else { return None };
    match (&program.edges()[*yes].op, &program.edges()[*no].op) {
        (Op::Assume(c), Op::Assume(Expr::Unary(UnaryOp::Not, d))) if c == &**d => Some(c),
        _ => None,
    }
}

struct Layout<'a> {
    translated: &'a Translated,
    program: &'a Program,
    named: &'a BTreeSet<PointId>,
    n_ways_in: BTreeMap<PointId, usize>,
    todo: Vec<PointId>,
    is_laid: BTreeSet<PointId>,
}

impl Layout<'_> {
    /// A point and what follows it, as far as that has a place of its own here.
    fn chain(&mut self, start: PointId, depth: usize, out: &mut Vec<Node>) {
        let mut point = start;
        loop {
            self.is_laid.insert(point);
            if self.needs_label(point)
                || (point == start && depth == 0 && self.n_ways_in[&point] > 0 && !out.is_empty())
            {
                out.push(Node::Label(point));
            }
            let is_flush = |id: &EdgeId| self.translated.origins[*id] == Origin::Arrival;
            let edges: Vec<EdgeId> = self.program.points()[point].edges.clone();
            let (flushes, edges): (Vec<_>, Vec<_>) = edges.into_iter().partition(is_flush);
            if !flushes.is_empty() {
                out.push(Node::Arrivals(point));
            }
            match edges[..] {
                [] if self.program.points()[point].is_end => return out.push(Node::End),
                [] => return out.push(Node::Stuck),
                [edge] => {
                    out.push(Node::Edge(edge));
                    let to = self.program.edges()[edge].to;
                    if self.is_laid.contains(&to) {
                        return out.push(Node::Goto(to));
                    }
                    if self.n_ways_in[&to] > 1 && depth > 0 {
                        self.todo.push(to);
                        return out.push(Node::Goto(to));
                    }
                    point = to;
                }
                [..] => return self.branches(&edges, depth, out),
            }
        }
    }

    fn branches(&mut self, edges: &[EdgeId], depth: usize, out: &mut Vec<Node>) {
        if test(self.program, edges).is_some() {
            let [yes, no] = [edges[0], edges[1]].map(|edge| self.behind(edge, depth));
            return out.push(Node::If(edges[0], yes, edges[1], no));
        }
        let mut branches = Vec::new();
        for &edge in edges {
            let mut branch = vec![Node::Edge(edge)];
            branch.extend(self.behind(edge, depth));
            branches.push(branch);
        }
        out.push(Node::Choose(branches));
    }

    /// What follows an edge of several.
    fn behind(&mut self, edge: EdgeId, depth: usize) -> Vec<Node> {
        heed(4);
        let to = self.program.edges()[edge].to;
        let mut out = Vec::new();
        if self.is_laid.contains(&to) || self.n_ways_in[&to] > 1 || depth >= MAX_DEPTH {
            self.todo.push(to);
            out.push(Node::Goto(to));
            // A jump from here too, whatever it was counted as.
            *self.n_ways_in.entry(to).or_default() += 1;
        } else {
            self.chain(to, depth + 1, &mut out);
        }
        out
    }

    fn needs_label(&self, point: PointId) -> bool {
        self.named.contains(&point) || self.n_ways_in[&point] > 1
    }
}
