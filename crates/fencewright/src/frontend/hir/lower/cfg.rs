//! A control-flow automaton in the making.
//!
//! Joins cost nothing: two nodes that turn out to be one control point are united (union-find), so that `break`, `goto`
//! and the ends of blocks add no edge. A label must not come to name a point that is reached past it, so a labeled node
//! is not united with a join but connected to it by an edge that does nothing.

use std::collections::BTreeSet;
use std::sync::Arc as Shared;

use crate::program::{Called, Domain, Expr, Initial, Misuse, Op, Order, Place, RegisterId};
use crate::source::Span;
use crate::util::{Idx, IndexVec};

use crate::frontend::hir::LocalId;
use crate::watch::heed;

crate::index_type!(
    /// A control point in the making.
    pub(crate) Node
);

/// A register in the making.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub name: String,
    pub is_boolean: bool,
    /// The declared domain; otherwise it is inferred.
    pub domain: Option<Domain>,
    /// Set if the register's first assignment became its initial value.
    pub initial: Option<Initial>,
    /// What it is in the tree; none if the text does not name it.
    pub local: Option<LocalId>,
    /// The function that it is declared in, if that was inlined.
    pub scope: Option<String>,
    pub span: Span,
}

/// An edge in the making.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    pub from: Node,
    pub op: Op,
    pub order: Order,
    pub to: Node,
    pub span: Span,
    pub call: Option<Shared<Called>>,
    /// What it means that it fails, for an assertion that the text does not have.
    pub misuse: Option<Misuse>,
    /// What comes to be.
    pub allocates: Option<Place>,
}

#[derive(Clone, Debug)]
struct NodeData {
    parent: Node,
    labels: Vec<String>,
    is_reached: bool,
}

/// The automaton of one process.
#[derive(Debug)]
pub(super) struct Cfg {
    nodes: IndexVec<Node, NodeData>,
    /// In the order of the text.
    pub arcs: Vec<Arc>,
    pub slots: IndexVec<RegisterId, Slot>,
    pub entry: Node,
    /// Where the process has ended.
    pub end: Option<Node>,
    /// The registers of what the tree declares.
    pub locals: IndexVec<LocalId, Option<RegisterId>>,
    /// The statements that wait for a condition.
    pub waits: Vec<Span>,
    /// Where something is taken for an integer without bounds.
    pub unbounded: Vec<Span>,
    /// Whether there is any number of threads like this: what one of them does once is done any number of times.
    pub has_any_number: bool,
    /// The call that arcs come from now.
    pub call: Option<Shared<Called>>,
    /// The function that registers are declared in now.
    pub scope: Option<String>,
}

impl Cfg {
    /// An automaton with an entry.
    pub(super) fn new() -> Self {
        let mut cfg = Self {
            nodes: IndexVec::new(),
            arcs: Vec::new(),
            slots: IndexVec::new(),
            entry: Node::from_usize(0),
            end: None,
            locals: IndexVec::new(),
            waits: Vec::new(),
            unbounded: Vec::new(),
            has_any_number: false,
            call: None,
            scope: None,
        };
        cfg.entry = cfg.node();
        cfg.reach(cfg.entry);
        cfg
    }

    /// How many nodes there are, united ones counted apart.
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// A node that nothing leads to.
    pub(super) fn node(&mut self) -> Node {
        let parent = self.nodes.next_index();
        self.nodes.push(NodeData { parent, labels: Vec::new(), is_reached: false })
    }

    /// The node that stands for all that were united with this one.
    pub(super) fn find(&self, mut node: Node) -> Node {
        while self.nodes[node].parent != node {
            node = self.nodes[node].parent;
        }
        node
    }

    /// Makes two nodes one.
    pub(super) fn unite(&mut self, a: Node, b: Node) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        // The older node stays, which keeps chains short: frontiers are young.
        let (root, child) = (a.min(b), a.max(b));
        let labels = std::mem::take(&mut self.nodes[child].labels);
        self.nodes[child].parent = root;
        self.nodes[root].labels.extend(labels);
        self.nodes[root].is_reached |= self.nodes[child].is_reached;
    }

    /// Names a node.
    pub(super) fn label(&mut self, node: Node, label: &str) {
        let root = self.find(node);
        self.nodes[root].labels.push(label.to_owned());
    }

    /// The labels of a node.
    pub(super) fn labels(&self, node: Node) -> &[String] {
        &self.nodes[self.find(node)].labels
    }

    /// Whether something seems to lead here.
    pub(super) fn is_reached(&self, node: Node) -> bool {
        self.nodes[self.find(node)].is_reached
    }

    /// Notes that something leads here.
    pub(super) fn reach(&mut self, node: Node) {
        let root = self.find(node);
        self.nodes[root].is_reached = true;
    }

    /// Appends an arc.
    pub(super) fn arc(&mut self, from: Node, (op, order): (Op, Order), to: Node, span: Span) {
        if self.is_reached(from) {
            self.reach(to);
        }
        let call = self.call.clone();
        self.arcs.push(Arc { from, op, order, to, span, call, misuse: None, allocates: None });
    }

    /// Copies of these nodes instead, with arcs between them; the end has one.
    pub(super) fn replace(&mut self, nodes: &[Node], entry: Node, arcs: Vec<Arc>) {
        let copy = |(copy, &of): (usize, &Node)| {
            let labels = self.nodes[of].labels.clone();
            NodeData { parent: Node::from_usize(copy), labels, is_reached: true }
        };
        let copies = nodes.iter().enumerate().map(copy).collect();
        self.end = self.end.and_then(|end| nodes.iter().position(|&it| it == end)).map(Node::from_usize);
        (self.nodes, self.entry, self.arcs) = (copies, entry, arcs);
        self.simplify();
    }

    /// Drops what cannot be reached, and edges that do nothing where that changes nothing.
    pub(super) fn simplify(&mut self) {
        self.settle();
        self.drop_unreachable();
        while self.drop_one_round() {
            self.settle();
        }
        self.end = self.end.map(|end| self.find(end)).filter(|&end| self.is_entered(end));
    }

    /// Lets all arcs name representatives.
    fn settle(&mut self) {
        let mut arcs = std::mem::take(&mut self.arcs);
        for arc in &mut arcs {
            heed(1);
            arc.from = self.find(arc.from);
            arc.to = self.find(arc.to);
        }
        self.arcs = arcs;
        self.entry = self.find(self.entry);
        self.end = self.end.map(|end| self.find(end));
    }

    fn is_entered(&self, node: Node) -> bool {
        node == self.entry || self.arcs.iter().any(|arc| arc.to == node)
    }

    fn drop_unreachable(&mut self) {
        let mut successors: IndexVec<Node, Vec<Node>> = IndexVec::filled(self.nodes.len(), Vec::new());
        for arc in &self.arcs {
            successors[arc.from].push(arc.to);
        }
        let mut is_seen: IndexVec<Node, bool> = IndexVec::filled(self.nodes.len(), false);
        is_seen[self.entry] = true;
        let mut todo = vec![self.entry];
        while let Some(node) = todo.pop() {
            heed(1);
            for &next in &successors[node] {
                if !std::mem::replace(&mut is_seen[next], true) {
                    todo.push(next);
                }
            }
        }
        self.arcs.retain(|arc| is_seen[arc.from]);
    }

    /// Drops edges that do nothing; whether there were any.
    ///
    /// `p ─▶ q` may go if nothing else leaves `p` (then `p` is as good as `q`) or nothing else enters `q` (then `q`'s
    /// edges may as well leave `p`), provided the node that gives up its identity has no label.
    fn drop_one_round(&mut self) -> bool {
        let n_before = self.arcs.len();
        let mut n_out: IndexVec<Node, u32> = IndexVec::filled(self.nodes.len(), 0);
        let mut n_in: IndexVec<Node, u32> = IndexVec::filled(self.nodes.len(), 0);
        let mut idle = BTreeSet::new();
        self.arcs.retain(|arc| !is_idle(arc) || arc.from != arc.to && idle.insert((arc.from, arc.to)));
        for arc in &self.arcs {
            n_out[arc.from] += 1;
            n_in[arc.to] += 1;
        }
        let mut touched: IndexVec<Node, bool> = IndexVec::filled(self.nodes.len(), false);
        for i in 0..self.arcs.len() {
            heed(1);
            let (from, to) = (self.arcs[i].from, self.arcs[i].to);
            if !is_idle(&self.arcs[i]) || touched[from] || touched[to] {
                continue;
            }
            let before = n_out[from] == 1 && self.labels(from).is_empty();
            let is_special = to == self.entry || Some(to) == self.end;
            let after = n_in[to] == 1 && n_out[to] > 0 && !is_special && self.labels(to).is_empty();
            if before || after {
                (touched[from], touched[to]) = (true, true);
                self.unite(from, to);
            }
        }
        let arcs = std::mem::take(&mut self.arcs);
        self.arcs = arcs.into_iter().filter(|arc| !is_idle(arc) || self.find(arc.from) != self.find(arc.to)).collect();
        self.arcs.len() < n_before
    }
}

/// Whether an operation does nothing and never blocks; with an order of its own it is a fence.
fn is_idle(arc: &Arc) -> bool {
    arc.op == Op::Assume(Expr::TRUE) && arc.order == Order::default() && arc.allocates.is_none()
}
