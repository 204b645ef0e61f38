//! A way through the machine as one conjunction of differences: is it feasible, with which integers, and if not, why.
//!
//! Every value on the way is a node: what memory and registers start with, what is picked, and what is assigned. A
//! guard, a range and an assignment of a sum are edges `u - w ≤ c` that know at which step they came; a copy is the
//! same node again. The way is infeasible if and only if the edges have a negative cycle, over the integers too.
//!
//! **Refinement.** Cut the way behind step `i`. The edges of the cycle that came up to there fall into runs
//! `u → … → w`, and each run says `u - w ≤ Σ`. Those are true behind step `i` on the way, they follow from those of the
//! step before and the step itself, and at the end they cannot be. And `u` and `w` are on both sides of the cut, so
//! they are values of variables there. So if every `Σ` is a threshold, the abstract search cannot go this way again: a
//! sequence interpolant, read off the cycle. That the same node is the same value needs the threshold 0, which is
//! always there ([`templates`](super::templates)).

use crate::engine::predicates::machine::{Guard, Transition};
use crate::numeric::{Bound, Zone};
use crate::program::Value;

/// A way, as differences.
#[derive(Debug)]
pub struct Ssa {
    /// The node of each variable, now.
    now: Vec<usize>,
    n_nodes: usize,
    edges: Vec<Edge>,
    n_steps: usize,
}

/// `left - right ≤ bound`, by nodes; node 0 is the constant 0.
#[derive(Clone, Copy, Debug)]
struct Edge {
    left: usize,
    right: usize,
    bound: i128,
    /// The step that it came with; 0 is the start.
    step: usize,
}

/// A threshold that keeps an infeasible way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Whether it bounds one variable, not a difference.
    pub is_single: bool,
    /// The threshold.
    pub threshold: Value,
}

/// The nodes of all variables behind a step, and of what it picked.
#[derive(Clone, Debug)]
pub struct Versions {
    /// Of variables.
    pub variables: Vec<usize>,
    /// Of what was picked.
    pub picked: Vec<usize>,
}

impl Ssa {
    /// The start.
    pub fn new(initial: &Zone) -> Self {
        let n = initial.n_variables();
        let mut ssa = Self { now: (0..n).collect(), n_nodes: n, edges: Vec::new(), n_steps: 0 };
        for i in 1..n {
            ssa.add(i, 0, initial.bound(i, 0));
            ssa.add(0, i, initial.bound(0, i));
        }
        ssa
    }

    /// Another step.
    pub fn take(&mut self, transition: &Transition) -> Versions {
        self.n_steps += 1;
        let mut before = self.now.clone();
        let picked: Vec<usize> = (0..transition.n_picked).map(|_| self.node()).collect();
        before.extend(&picked);
        self.require(&transition.guards, &before);
        self.now.clear();
        for term in &transition.terms {
            let node = match term.plus {
                0 => before[term.base],
                plus => self.sum(before[term.base], plus),
            };
            self.now.push(node);
        }
        Versions { variables: self.now.clone(), picked }
    }

    /// In the end this holds.
    pub fn end(&mut self, guards: &[Guard]) {
        self.n_steps += 1;
        let now = self.now.clone();
        self.require(guards, &now);
    }

    /// A value for each node, if the way is feasible; otherwise thresholds that keep it out.
    pub fn solved(&self) -> Result<Vec<i128>, Vec<Wanted>> {
        // The shortest beginning that is infeasible says most about why.
        let mut last = None;
        for step in 0..=self.n_steps {
            match self.distances(step) {
                Ok(distances) => last = Some(distances),
                Err(cycle) => return Err(self.thresholds(&cycle)),
            }
        }
        let distances = last.unwrap_or_default();
        Ok(distances.iter().map(|it| it - distances[0]).collect())
    }

    fn node(&mut self) -> usize {
        self.n_nodes += 1;
        self.n_nodes - 1
    }

    /// A new node that is another one plus a constant.
    fn sum(&mut self, of: usize, plus: Value) -> usize {
        let node = self.node();
        self.add(node, of, Bound::at_most(plus));
        self.add(of, node, Bound::ZERO.shifted(-i128::from(plus)));
        node
    }

    fn require(&mut self, guards: &[Guard], nodes: &[usize]) {
        for guard in guards {
            self.add(nodes[guard.left], nodes[guard.right], guard.bound);
        }
    }

    fn add(&mut self, left: usize, right: usize, bound: Bound) {
        if let Some(bound) = bound.value() {
            self.edges.push(Edge { left, right, bound: i128::from(bound), step: self.n_steps });
        }
    }

    /// Shortest distances over the edges up to a step (Bellman and Ford), or a negative cycle, each edge of which leads
    /// from where the one before it ends.
    fn distances(&self, step: usize) -> Result<Vec<i128>, Vec<Edge>> {
        let mut distance = vec![0_i128; self.n_nodes];
        let mut parents: Vec<Option<Edge>> = vec![None; self.n_nodes];
        let edges: Vec<Edge> = self.edges.iter().copied().filter(|edge| edge.step <= step).collect();
        loop {
            let mut has_changed = false;
            for &edge in &edges {
                let through = distance[edge.right] + edge.bound;
                if through < distance[edge.left] {
                    distance[edge.left] = through;
                    parents[edge.left] = Some(edge);
                    has_changed = true;
                }
            }
            if let Some(cycle) = cycle(&parents) {
                return Err(cycle);
            }
            if !has_changed {
                return Ok(distance);
            }
        }
    }

    /// The bounds of all runs of a cycle, for all cuts.
    fn thresholds(&self, cycle: &[Edge]) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for cut in 0..self.n_steps {
            let is_early = |edge: &Edge| edge.step <= cut;
            // Start with an edge behind the cut, so that no run goes around.
            let Some(first) = cycle.iter().position(|edge| !is_early(edge)) else { break };
            let around: Vec<Edge> = [&cycle[first..], &cycle[..first]].concat();
            for run in around.split(|edge| !is_early(edge)).filter(|run| !run.is_empty()) {
                let (left, right) = (run[0].left, run[run.len() - 1].right);
                let sum: i128 = run.iter().map(|edge| edge.bound).sum();
                if let Ok(threshold) = Value::try_from(sum) {
                    wanted.push(Wanted { is_single: left == 0 || right == 0, threshold });
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}

/// A cycle among parents, if there is one; then it is negative.
fn cycle(parents: &[Option<Edge>]) -> Option<Vec<Edge>> {
    // Which walk came by a node first.
    let mut seen: Vec<Option<usize>> = vec![None; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while seen[at].is_none() {
            seen[at] = Some(start);
            let Some(edge) = parents[at] else { break };
            at = edge.right;
        }
        if seen[at] == Some(start) && parents[at].is_some() {
            let mut cycle = Vec::new();
            let first = at;
            while let Some(edge) = parents[at] {
                cycle.push(edge);
                at = edge.right;
                if at == first {
                    return Some(cycle);
                }
            }
        }
    }
    None
}
