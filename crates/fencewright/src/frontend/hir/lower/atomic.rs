//! Atomic blocks: their statements are lowered like any others, to an automaton without cycles, which is then folded
//! into one locked step. Where the automaton branches, the branches are folded up to the point where all of them meet
//! again.

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::hir::Block;
use crate::frontend::said::Said;
use crate::program::{Expr, Micro, Op};
use crate::source::Span;
use crate::watch::heed;

use super::cfg::{Arc, Cfg, Node};
use super::walk::Walk;

impl Walk<'_> {
    /// An atomic block.
    pub(super) fn atomic(&mut self, block: &Block, span: Span) {
        let before = self.cursor;
        let n_arcs = self.cfg.arcs.len();
        let start = self.cfg.node();
        self.cfg.reach(start);
        self.cursor = start;
        self.is_atomic = true;
        self.block(block);
        self.is_atomic = false;
        let arcs = self.cfg.arcs.split_off(n_arcs);
        let exit = self.cfg.find(self.cursor);
        let mut folder = Folder::new(&self.cfg, &arcs, exit);
        let body = folder.path(self.said, self.cfg.find(start), exit, span);
        self.cursor = before;
        self.step(Op::Locked(body), span);
    }
}

/// Folds an automaton without cycles.
struct Folder<'c> {
    out: BTreeMap<Node, Vec<(&'c Op, Node)>>,
    /// How far a node is from the exit: the longest path. Greater than that of all its successors.
    height: BTreeMap<Node, usize>,
}

impl<'c> Folder<'c> {
    fn new(cfg: &Cfg, arcs: &'c [Arc], exit: Node) -> Self {
        let mut out: BTreeMap<Node, Vec<(&'c Op, Node)>> = BTreeMap::new();
        for arc in arcs {
            out.entry(cfg.find(arc.from)).or_default().push((&arc.op, cfg.find(arc.to)));
        }
        let mut height = BTreeMap::from([(exit, 0)]);
        let nodes: Vec<Node> = out.keys().copied().collect();
        for node in nodes {
            measure(&out, &mut height, node);
        }
        Self { out, height }
    }

    fn height(&self, node: Node) -> usize {
        self.height.get(&node).copied().unwrap_or(1)
    }

    /// What happens from `from` until `to`.
    fn path(&mut self, said: &mut Said, from: Node, to: Node, span: Span) -> Vec<Micro> {
        let mut path = Vec::new();
        let mut node = from;
        while node != to && said.spend_edge(span) {
            heed(8);
            let out = self.out.get(&node).cloned().unwrap_or_default();
            match out.as_slice() {
                [] => {
                    path.push(Micro::Assume(Expr::Const(0)));
                    break;
                }
                [(op, next)] => {
                    path.extend(micro(op));
                    node = *next;
                }
                branches => {
                    let meet = self.meet(node, to);
                    let fold = |&(op, next): &(&Op, Node)| {
                        let mut branch: Vec<Micro> = micro(op).into_iter().collect();
                        branch.extend(self.path(said, next, meet, span));
                        branch
                    };
                    path.push(Micro::Choose(branches.iter().map(fold).collect()));
                    node = meet;
                }
            }
        }
        path
    }

    /// The first node that all paths from `node` to `to` go through; paths that block are left out.
    fn meet(&self, node: Node, to: Node) -> Node {
        // The front moves down by height; when it is one node, all paths go through it.
        let mut front: Vec<Node> = self.successors(node);
        while front.len() > 1 {
            heed(8);
            front.sort_by_key(|&it| (self.height(it), it));
            front.dedup();
            let Some(highest) = front.pop() else { break };
            if front.is_empty() {
                return highest;
            }
            if highest != to {
                front.extend(self.successors(highest));
            }
        }
        front.first().copied().unwrap_or(to)
    }

    /// The next nodes; a node where the path blocks is no next node.
    fn successors(&self, node: Node) -> Vec<Node> {
        let next = self.out.get(&node).into_iter().flatten().map(|it| it.1);
        next.filter(|it| self.height.contains_key(it)).collect()
    }
}

/// Finds the heights of a node and of all behind it; a node that does not lead to the exit gets none.
fn measure(out: &BTreeMap<Node, Vec<(&Op, Node)>>, height: &mut BTreeMap<Node, usize>, start: Node) {
    let mut todo = vec![(start, Visit::Enter)];
    let mut entered = BTreeSet::new();
    while let Some((node, visit)) = todo.pop() {
        heed(4);
        let next = out.get(&node).map_or(&[][..], Vec::as_slice);
        match visit {
            Visit::Enter if height.contains_key(&node) || !entered.insert(node) => {}
            Visit::Enter => {
                todo.push((node, Visit::Leave));
                todo.extend(next.iter().map(|it| (it.1, Visit::Enter)));
            }
            Visit::Leave => {
                let highest = next.iter().filter_map(|it| height.get(&it.1)).max().copied();
                if let Some(highest) = highest {
                    height.insert(node, highest + 1);
                }
            }
        }
    }
}

/// Whether a node is met on the way down or on the way up.
enum Visit {
    Enter,
    Leave,
}

/// An operation as a part of a locked step; what does nothing is left out.
fn micro(op: &Op) -> Option<Micro> {
    match op {
        Op::Assume(Expr::Const(1)) => None,
        Op::Assume(expr) => Some(Micro::Assume(expr.clone())),
        Op::Assert(expr) => Some(Micro::Assert(expr.clone())),
        Op::Assign(register, expr) => Some(Micro::Assign(*register, expr.clone())),
        Op::Havoc(register, lo, hi) => Some(Micro::Havoc(*register, *lo, *hi)),
        Op::Load(register, place) => Some(Micro::Load(*register, place.clone())),
        Op::Store(place, expr) => Some(Micro::Store(place.clone(), expr.clone())),
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => unreachable!("an atomic block is one step"),
    }
}
